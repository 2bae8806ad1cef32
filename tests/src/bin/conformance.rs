//! Runs conformance cases: `conformance DIR...` takes every `.jsonl` file of each folder.
//!
//! For each file it prints `N passed, M failed, K skipped`, and each failure with its id, what was expected and what
//! came. A summary says how many of the cases that passed come from outside and from where, how many from this
//! repository's own oracle, and what was skipped, by reason and operator. The exit status is 1 when a case failed and 2
//! when the cases cannot be read.

use std::path::PathBuf;
use std::process::ExitCode;
use std::thread::Builder;

use gather_tests::cases::{self, Case};
use gather_tests::faces;
use gather_tests::tally::Tally;
use lexopt::Arg;
use rayon::{ThreadBuilder, ThreadPoolBuilder};

fn main() -> ExitCode {
    match in_pool(run) {
        Ok(0) => ExitCode::SUCCESS,
        Ok(_) => ExitCode::from(1),
        Err(message) => {
            eprintln!("conformance: {message}");
            ExitCode::from(2)
        }
    }
}

/// Does some work in a pool whose threads are joined before the program ends: an emulator has faulted at the end of one
/// that still had some. Where there are no threads, the work is done without a pool.
fn in_pool<R: Send>(work: fn() -> R) -> R {
    let mut threads = Vec::new();
    let spawn = |worker: ThreadBuilder| {
        threads.push(Builder::new().spawn(|| worker.run())?);
        Ok(())
    };
    let Ok(pool) = ThreadPoolBuilder::new().spawn_handler(spawn).build() else { return work() };
    let result = pool.install(work);
    drop(pool);
    threads.into_iter().for_each(|thread| thread.join().expect("a worker does not panic"));
    result
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
            tally.failed.iter().for_each(|failure| println!("FAILED {failure}"));
            println!("{file}: {}", tally.line());
            total.add(tally);
        }
    }
    println!("{total}");
    Ok(total.failed.len())
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
    cases.iter().for_each(|case| tally.count(case, faces::run(case)));
    tally
}
