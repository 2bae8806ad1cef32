//! The tests, once for each mutant.

use std::error::Error;
use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use crate::sites::{Site, Source};

/// How a mutant was noticed.
enum Caught {
    Test(String),
    Crash,
    Time,
}

/// The tests that are run for each mutant.
pub(crate) struct Run<'a> {
    pub(crate) programs: &'a [PathBuf],
    pub(crate) sources: &'a [Source],
    /// Parts of the names of tests; all tests where there are none.
    pub(crate) tests: &'a [String],
}

impl Run<'_> {
    /// Runs the tests without a mutant, then for each, and prints which mutants were caught.
    pub(crate) fn all(&self, mutants: &[Site], only: &[usize]) -> Result<(), Box<dyn Error>> {
        let mut usual = Vec::new();
        for program in self.programs {
            let start = Instant::now();
            if let Some(Caught::Test(name)) = self.caught(program, usize::MAX, Duration::from_secs(3600))? {
                return Err(format!("{name} fails without a mutant").into());
            }
            usual.push(start.elapsed());
            println!("{}: {:.0} s without a mutant", program.display(), start.elapsed().as_secs_f64());
        }
        let chosen = |n: &usize| only.is_empty() || only.contains(n);
        let (mut by_test, mut by_crash, mut by_time, mut survived) = (0, 0, 0, 0);
        for (n, site) in mutants.iter().enumerate().filter(|(n, _)| chosen(n)) {
            let mut result = None;
            for (program, usual) in self.programs.iter().zip(&usual) {
                result = self.caught(program, n, *usual * 4 + Duration::from_secs(20))?;
                if result.is_some() {
                    break;
                }
            }
            let how = match result {
                Some(Caught::Test(name)) => {
                    by_test += 1;
                    format!("caught by {name}")
                }
                Some(Caught::Crash) => {
                    by_crash += 1;
                    "caught by a crash".into()
                }
                Some(Caught::Time) => {
                    by_time += 1;
                    "caught by time".into()
                }
                None => {
                    survived += 1;
                    "SURVIVED".into()
                }
            };
            let Source { path, text } = &self.sources[site.source];
            let file = path.display().to_string();
            let file = file.rsplit("gather-core/src/").next().unwrap_or_default();
            println!("{n}: {file}:{}: `{}` -> `{}`: {how}", site.line, &text[site.range.clone()], site.mutated);
        }
        println!("caught by tests {by_test}, crashes {by_crash}, time {by_time}; survived {survived}");
        Ok(())
    }

    /// Runs a test program with a mutant, up to the first test that fails.
    fn caught(&self, program: &PathBuf, n: usize, limit: Duration) -> Result<Option<Caught>, Box<dyn Error>> {
        // Random cases for a second a test. Audits and layers read sources, not behaviour.
        let mut child = Command::new(program)
            .args(["--skip", "audit::", "--skip", "layers::", "--skip", "words::"])
            .args(self.tests)
            .env("GATHER_MUTANT", n.to_string())
            .env("GATHER_FUZZ_SECONDS", "1")
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let (sender, lines) = channel();
        let output = BufReader::new(child.stdout.take().ok_or("no output")?);
        let reader =
            std::thread::spawn(move || output.lines().map_while(Result::ok).try_for_each(|line| sender.send(line)));
        let end = Instant::now() + limit;
        let result = loop {
            match lines.recv_timeout(end.saturating_duration_since(Instant::now())) {
                Ok(line) if line.ends_with("... FAILED") => {
                    let name = line.trim_start_matches("test ").trim_end_matches(" ... FAILED");
                    break Some(Caught::Test(name.to_owned()));
                }
                Ok(_) => {}
                Err(RecvTimeoutError::Timeout) => break Some(Caught::Time),
                Err(RecvTimeoutError::Disconnected) => {
                    break if child.wait()?.success() { None } else { Some(Caught::Crash) };
                }
            }
        };
        stop(&mut child)?;
        reader.join().map_err(|_| "the reader panicked")?.ok();
        Ok(result)
    }
}

/// Ends a program that may have ended.
fn stop(child: &mut Child) -> Result<(), Box<dyn Error>> {
    if child.try_wait()?.is_none() {
        child.kill()?;
        child.wait()?;
    }
    Ok(())
}
