//! Environment variables with the paths of native engines' libraries. `benches/native/setup.sh` prints them.

use std::env;
use std::path::PathBuf;

use super::NotRun;

/// What to set if a variable is not.
pub(super) fn missing(variable: &str) -> Option<String> {
    env::var_os(variable).is_none().then(|| format!("set {variable}, see benches/native/setup.sh"))
}

/// The path in a variable.
pub(super) fn path(variable: &str) -> Result<PathBuf, NotRun> {
    env::var_os(variable).map(PathBuf::from).ok_or_else(|| NotRun::NotSet(format!("{variable} is not set")))
}
