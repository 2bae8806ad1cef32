//! The tests, one at a time: first without a mutant, then those that can notice a mutant, for each.

use std::collections::BTreeSet;
use std::error::Error;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use std::{fs, thread};

use crate::sites::{Site, Source};

/// Tests of sources and of the repository, not of behaviour.
const SKIPPED: [&str; 5] = ["audit::", "layers::", "lemmas::", "packages::", "words::"];

/// Tests that take no longer than this run for all mutants before others do.
const FAST: Duration = Duration::from_millis(1500);

/// A test: where it is, how long it takes, and the mutants whose places it reaches. It cannot notice another.
struct Test<'a> {
    program: &'a Path,
    name: String,
    time: Duration,
    reached: BTreeSet<usize>,
}

/// How a test ended.
enum End {
    Passed,
    Failed,
    Crashed,
    OutOfTime,
}

/// What the tests are run for.
pub(crate) struct Run<'a> {
    pub(crate) programs: &'a [PathBuf],
    pub(crate) sources: &'a [Source],
    /// Parts of the names of tests; all tests where there are none.
    pub(crate) tests: &'a [String],
    /// A folder for the notes of tests.
    pub(crate) target: &'a Path,
}

impl Run<'_> {
    /// Runs the tests without a mutant, then for each, and prints which mutants were caught.
    pub(crate) fn all(&self, mutants: &[Site], only: &[usize]) -> Result<(), Failure> {
        let start = Instant::now();
        let mut tests = self.survey()?;
        println!("{} tests pass without a mutant, in {:.0} s", tests.len(), start.elapsed().as_secs_f64());
        // The fastest first: most mutants fail many tests. What is left then has the rest.
        tests.sort_by_key(|test| test.time);
        let (fast, slow) = tests.split_at(tests.partition_point(|test| test.time <= FAST));
        let chosen: Vec<_> = (0..mutants.len()).filter(|n| only.is_empty() || only.contains(n)).collect();
        let counts = [const { AtomicUsize::new(0) }; 4];
        let say = |n: usize, count: usize, how: &str| {
            counts[count].fetch_add(1, Ordering::Relaxed);
            let Source { path, text } = &self.sources[mutants[n].source];
            let Site { line, range, mutated, .. } = &mutants[n];
            println!("{n}: {}:{line}: `{}` -> `{mutated}`: {how}", path.display(), &text[range.clone()]);
        };
        let left = Mutex::new(Vec::new());
        each(&chosen, |&n| {
            match caught(fast, n)? {
                Some((count, how)) => say(n, count, &how),
                None => left.lock().map_err(|_| "poisoned")?.push(n),
            }
            Ok(())
        })?;
        let mut left = left.into_inner().map_err(|_| "poisoned")?;
        left.sort_unstable();
        println!("{} mutants are left for the slow tests: {left:?}", left.len());
        each(&left, |&n| {
            let reached = tests.iter().filter(|test| test.reached.contains(&n)).count();
            match caught(slow, n)? {
                Some((count, how)) => say(n, count, &how),
                None => say(n, 3, &format!("SURVIVED the {reached} tests that reach it")),
            }
            Ok(())
        })?;
        let [failed, crashed, out_of_time, survived] = counts.map(AtomicUsize::into_inner);
        println!("caught by tests {failed}, crashes {crashed}, time {out_of_time}; survived {survived}");
        Ok(())
    }

    /// Runs each test without a mutant; notes its time, and which mutants it reaches.
    fn survey(&self) -> Result<Vec<Test<'_>>, Failure> {
        let mut names = Vec::new();
        for program in self.programs {
            let listed = Command::new(program).arg("--list").output()?;
            for name in String::from_utf8(listed.stdout)?.lines().filter_map(|line| line.strip_suffix(": test")) {
                let chosen = self.tests.is_empty() || self.tests.iter().any(|part| name.contains(part));
                if chosen && !SKIPPED.iter().any(|skipped| name.starts_with(skipped)) {
                    names.push((program, name.to_owned()));
                }
            }
        }
        let tests = Mutex::new(Vec::new());
        let notes = std::path::absolute(self.target)?.join("reached");
        fs::create_dir_all(&notes)?;
        each(&names, |(program, name)| {
            let file = program.file_name().ok_or("no name")?.to_string_lossy();
            let note = notes.join(format!("{file}.{}", name.replace("::", ".")));
            let test = match known(program, name, &note)? {
                Some(test) => test,
                None => {
                    // Under another name until it is whole: another run may read notes.
                    let part = note.with_added_extension(std::process::id().to_string());
                    let start = Instant::now();
                    let asked = ("GATHER_MUTANTS_ASKED", part.as_os_str());
                    let ended = run(program, name, asked, Duration::from_secs(1200))?;
                    if !ended.is_some_and(|status| status.success()) {
                        return Err(format!("{name} fails without a mutant").into());
                    }
                    let mut file = fs::OpenOptions::new().create(true).append(true).open(&part)?;
                    writeln!(file, "ms {}", start.elapsed().as_millis())?;
                    fs::rename(&part, &note)?;
                    known(program, name, &note)?.ok_or("a note is lost")?
                }
            };
            tests.lock().map_err(|_| "poisoned")?.push(test);
            Ok(())
        })?;
        Ok(tests.into_inner().map_err(|_| "poisoned")?)
    }
}

/// Runs the tests that reach a mutant, up to the first that notices it; returns a counter and words for it.
fn caught(tests: &[Test<'_>], n: usize) -> Result<Option<(usize, String)>, Failure> {
    for test in tests.iter().filter(|test| test.reached.contains(&n)) {
        let name = &test.name;
        match test.run(n)? {
            End::Passed => {}
            End::Failed => return Ok(Some((0, format!("caught by {name}")))),
            End::Crashed => return Ok(Some((1, format!("caught by a crash of {name}")))),
            End::OutOfTime => return Ok(Some((2, format!("caught by the time of {name}")))),
        }
    }
    Ok(None)
}

/// What a note says of a test, unless the program is newer.
fn known<'a>(program: &'a Path, name: &str, note: &Path) -> Result<Option<Test<'a>>, Failure> {
    if !note.exists() || note.metadata()?.modified()? < program.metadata()?.modified()? {
        return Ok(None);
    }
    let (mut time, mut reached) = (None, BTreeSet::new());
    for line in fs::read_to_string(note)?.lines() {
        match line.strip_prefix("ms ") {
            Some(ms) => time = Some(Duration::from_millis(ms.parse()?)),
            None => _ = reached.insert(line.parse()?),
        }
    }
    Ok(time.map(|time| Test { program, name: name.into(), time, reached }))
}

impl Test<'_> {
    /// Runs the test with a mutant.
    fn run(&self, n: usize) -> Result<End, Failure> {
        let limit = self.time * 4 + Duration::from_secs(60);
        let ended = run(self.program, &self.name, ("GATHER_MUTANT", n.to_string().as_ref()), limit)?;
        Ok(match ended {
            None => End::OutOfTime,
            Some(status) if status.success() => End::Passed,
            // What libtest exits with where a test failed.
            Some(status) if status.code() == Some(101) => End::Failed,
            Some(_) => End::Crashed,
        })
    }
}

/// An error that threads can hand on.
type Failure = Box<dyn Error + Send + Sync>;

/// Runs one test of a program, with a limit to its memory; returns nothing where it ran out of time and was stopped.
fn run(
    program: &Path,
    name: &str,
    (variable, value): (&str, &std::ffi::OsStr),
    limit: Duration,
) -> Result<Option<ExitStatus>, Failure> {
    // 8 GiB. Random cases for a second a test.
    let mut child = Command::new("sh")
        .args(["-c", "ulimit -v 8388608; exec \"$@\"", "sh"])
        .arg(program)
        .args(["--exact", name])
        .env(variable, value)
        .env("GATHER_FUZZ_SECONDS", "1")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()?;
    let end = Instant::now() + limit;
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if Instant::now() > end {
            child.kill()?;
            child.wait()?;
            return Ok(None);
        }
        thread::sleep(Duration::from_millis(2));
    }
}

/// Calls a function with each item, on as many threads as the machine has processors; returns the first error.
fn each<T: Sync>(items: &[T], act: impl Fn(&T) -> Result<(), Failure> + Sync) -> Result<(), Failure> {
    let (next, error) = (AtomicUsize::new(0), Mutex::new(None));
    let threads = thread::available_parallelism().map_or(1, usize::from);
    let work = || {
        while let Some(item) = items.get(next.fetch_add(1, Ordering::Relaxed)) {
            if let Err(failed) = act(item) {
                next.store(items.len(), Ordering::Relaxed);
                error.lock().expect("no thread panics with it").get_or_insert(failed);
            }
        }
    };
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(work);
        }
    });
    error.into_inner().expect("no thread panicked").map_or(Ok(()), Err)
}
