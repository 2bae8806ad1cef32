//! The command line that several programs share.

use lexopt::{Arg, ValueExt};

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
