//! Levels: which instructions a kernel may use, found once at run time, or forced.

#![forbid(unsafe_code)]

use core::fmt;

use crate::error::Error;

/// The instructions that a kernel may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Level {
    /// What every machine of the target has.
    Scalar,
    /// AVX2 on x86-64.
    Avx2,
}

impl Level {
    /// Every level, the least first.
    pub const ALL: [Level; 2] = [Level::Scalar, Level::Avx2];

    /// The level's name, as `GATHER_LEVEL` spells it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Level::Scalar => "scalar",
            Level::Avx2 => "avx2",
        }
    }

    /// Whether this machine has it.
    #[must_use]
    pub fn is_available(self) -> bool {
        match self {
            Level::Scalar => true,
            Level::Avx2 => has_avx2(),
        }
    }

    /// The level that calls use unless one is forced on them: the one that the environment variable `GATHER_LEVEL`
    /// names (`scalar` or `avx2`; read once, with the feature `std`) if this machine has it, else the best it has.
    #[must_use]
    pub fn preferred() -> Self {
        forced_by_environment().unwrap_or(if has_avx2() { Level::Avx2 } else { Level::Scalar })
    }

    /// The forced level if there is one, else the preferred.
    ///
    /// # Errors
    /// [`Error::LevelUnavailable`].
    #[inline]
    pub(crate) fn resolve(forced: Option<Level>) -> Result<Level, Error> {
        match forced {
            None => Ok(Level::preferred()),
            Some(level) if level.is_available() => Ok(level),
            Some(level) => Err(Error::LevelUnavailable { level }),
        }
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

#[cfg(all(target_arch = "x86_64", feature = "std"))]
fn has_avx2() -> bool {
    std::arch::is_x86_feature_detected!("avx2")
}

#[cfg(not(all(target_arch = "x86_64", feature = "std")))]
fn has_avx2() -> bool {
    cfg!(all(target_arch = "x86_64", target_feature = "avx2"))
}

#[cfg(feature = "std")]
fn forced_by_environment() -> Option<Level> {
    static FORCED: std::sync::OnceLock<Option<Level>> = std::sync::OnceLock::new();
    *FORCED.get_or_init(|| {
        let name = std::env::var("GATHER_LEVEL").ok()?;
        Level::ALL.into_iter().find(|level| level.name() == name && level.is_available())
    })
}

#[cfg(not(feature = "std"))]
fn forced_by_environment() -> Option<Level> {
    None
}
