//! Runs conformance cases: `conformance DIR...` takes every `.jsonl` file of each folder.
//!
//! Prints `N passed, M failed, K skipped` for each file and in total, each failure with its id, what was expected and
//! what came, and the skipped by reason. Exit status 1 when a case failed, 2 when the cases cannot be read.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::ExitCode;

use gather_tests::cases::{self, Case};
use gather_tests::faces::{self, Outcome};
use lexopt::Arg;

/// Outcomes counted.
#[derive(Default)]
struct Tally {
    passed: usize,
    failed: usize,
    skipped: BTreeMap<&'static str, usize>,
}

impl Tally {
    fn skipped(&self) -> usize {
        self.skipped.values().sum()
    }

    fn add(&mut self, other: &Tally) {
        self.passed += other.passed;
        self.failed += other.failed;
        for (reason, count) in &other.skipped {
            *self.skipped.entry(reason).or_default() += count;
        }
    }
}

impl std::fmt::Display for Tally {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} passed, {} failed, {} skipped", self.passed, self.failed, self.skipped())
    }
}

fn main() -> ExitCode {
    match run() {
        Ok(0) => ExitCode::SUCCESS,
        Ok(_) => ExitCode::from(1),
        Err(message) => {
            eprintln!("conformance: {message}");
            ExitCode::from(2)
        }
    }
}

/// Runs every folder on the command line; returns the number of failures.
fn run() -> Result<usize, String> {
    let folders = folders().map_err(|error| error.to_string())?;
    if folders.is_empty() {
        return Err("name at least one folder: conformance DIR...".into());
    }
    // A panic is a failure of its case, reported as such.
    std::panic::set_hook(Box::new(|_| {}));
    let mut total = Tally::default();
    for folder in folders {
        for (file, cases) in cases::read_folder(&folder)? {
            let tally = run_file(&cases);
            println!("{file}: {tally}");
            total.add(&tally);
        }
    }
    for (reason, count) in &total.skipped {
        println!("skipped {count}: {reason}");
    }
    println!("total: {total}");
    Ok(total.failed)
}

fn folders() -> Result<Vec<PathBuf>, lexopt::Error> {
    let mut folders = Vec::new();
    let mut parser = lexopt::Parser::from_env();
    while let Some(arg) = parser.next()? {
        match arg {
            Arg::Value(folder) => folders.push(folder.into()),
            other => return Err(other.unexpected()),
        }
    }
    Ok(folders)
}

fn run_file(cases: &[Case]) -> Tally {
    let mut tally = Tally::default();
    for case in cases {
        match faces::run(case) {
            Outcome::Passed => tally.passed += 1,
            Outcome::Skipped(reason) => *tally.skipped.entry(reason).or_default() += 1,
            Outcome::Failed(message) => {
                tally.failed += 1;
                println!("FAILED {} ({} {}): {message}", case.id, case.op, case.profile);
            }
        }
    }
    tally
}
