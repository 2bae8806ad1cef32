//! The command line that several programs share.

use std::process::ExitCode;
use std::time::Duration;

use lexopt::{Arg, ValueExt};

use crate::pin;

/// What a program times, and how long.
pub struct Bench {
    /// A part of the names of workloads.
    pub filter: String,
    /// The time for each.
    pub budget: Duration,
}

impl Bench {
    /// Reads the command line of a program, pins the thread to a CPU, and says on which.
    ///
    /// # Errors
    /// The status to exit with, for a wrong command line, after it was said what is wrong.
    pub fn pinned(program: &str) -> Result<Self, ExitCode> {
        let (filter, seconds) = filter_and_seconds().map_err(|error| {
            eprintln!("{program}: {error} (usage: {program} [FILTER] [--seconds S])");
            ExitCode::from(2)
        })?;
        match pin::to_one_cpu() {
            Ok(cpu) => eprintln!("{program}: on CPU {cpu}"),
            Err(why) => eprintln!("{program}: not pinned to a CPU: {why}"),
        }
        Ok(Bench { filter, budget: Duration::from_secs_f64(seconds) })
    }
}

/// A part of the names of workloads, empty for all, and `--seconds`, the time for each: 1 unless it is given.
///
/// # Errors
/// Those of `lexopt`: an unknown option, or a value that is not a number.
pub fn filter_and_seconds() -> Result<(String, f64), lexopt::Error> {
    let (mut filter, mut seconds) = (String::new(), 1.0);
    let mut parser = lexopt::Parser::from_env();
    while let Some(arg) = parser.next()? {
        match arg {
            Arg::Value(value) => filter = value.string()?,
            Arg::Long("seconds") => seconds = parser.value()?.parse()?,
            other => return Err(other.unexpected()),
        }
    }
    Ok((filter, seconds))
}
