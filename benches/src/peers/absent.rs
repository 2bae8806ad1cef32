//! A peer whose feature is off.

use super::{NotRun, Peer, Ready};
use crate::case::Case;

/// The peer of a feature.
pub(super) struct Absent(pub(super) &'static str);

impl Peer for Absent {
    fn name(&self) -> &'static str {
        self.0
    }

    fn version(&self) -> String {
        "none".into()
    }

    fn unequal(&self) -> &'static str {
        "not built in"
    }

    fn missing(&self) -> Option<String> {
        Some(format!("build with --features {}", self.0))
    }

    fn prepare<'a>(&self, _: &'a Case, _: usize) -> Result<Ready<'a>, NotRun> {
        Err(NotRun::NotSet("its feature".into()))
    }
}
