//! Levels: the instruction sets of kernels, detected once at run time, or forced.

#![forbid(unsafe_code)]

use core::ops::Deref;

use crate::types::declare::closed_set;
use crate::types::error::Error;
use crate::types::method::Method;

/// Whether an x86-64 machine has all the given features; without `std`, whether the target has them.
#[cfg(all(target_arch = "x86_64", feature = "std"))]
macro_rules! has {
    ($($feature:tt)*) => { $(std::arch::is_x86_feature_detected!($feature))&&* };
}
#[cfg(not(all(target_arch = "x86_64", feature = "std")))]
macro_rules! has {
    ($($feature:literal)*) => { cfg!(all(target_arch = "x86_64", $(target_feature = $feature),*)) };
}

closed_set! {
/// The instruction set that a kernel may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Level {
    /// The baseline instructions of the target.
    Scalar = "scalar",
    /// AVX2 on x86-64, with FMA, F16C, BMI1, BMI2 and POPCNT, as in x86-64-v3: Intel from Haswell on, AMD from
    /// Excavator and Zen on.
    Avx2 = "avx2",
    /// AVX-512 on x86-64, with F, BW, VL, DQ, VBMI and VBMI2, and all of AVX2: Intel's processors from Ice Lake on,
    /// AMD's from Zen 4 on. Alder Lake and its successors in laptops and desktops have AVX-512 switched off.
    Avx512 = "avx512",
    /// NEON on aarch64, which every aarch64 machine has. Whether a target has NEON is known at compile time.
    Neon = "neon",
    /// The vector instructions of WebAssembly, for modules compiled with the feature `simd128`.
    Simd128 = "simd128",
}
/// Every level of every architecture, the least first. A machine has levels of its own architecture only.
pub const ALL;
/// The level's name, as `GATHER_LEVEL` spells it.
pub const fn name;
}

impl Level {
    /// Whether this machine has the level.
    #[must_use]
    pub fn is_available(self) -> bool {
        match self {
            Level::Scalar => true,
            Level::Avx2 => has!("avx2" "fma" "f16c" "bmi1" "bmi2" "popcnt"),
            Level::Avx512 => {
                Level::Avx2.is_available()
                    && has!("avx512f" "avx512bw" "avx512vl" "avx512dq" "avx512vbmi" "avx512vbmi2")
            }
            Level::Neon => cfg!(all(target_arch = "aarch64", target_endian = "little", target_feature = "neon")),
            Level::Simd128 => cfg!(all(target_arch = "wasm32", target_feature = "simd128")),
        }
    }

    /// Whether the level is the fallback of machines without AVX2. On x86-64 the scalar level has one kernel per index
    /// type, for rows of any length and loop nests of any rank, and two methods. `--cfg gather_whole_scalar` compiles
    /// all kernels there, as on other architectures.
    pub(crate) const fn is_fallback(self) -> bool {
        matches!(self, Level::Scalar) && cfg!(all(target_arch = "x86_64", not(gather_whole_scalar)))
    }

    /// The method that runs in place of `method`: the fallback moves rows one by one, or in blocks.
    pub(crate) const fn runs_as(self, method: Method) -> Method {
        match method {
            Method::Direct | Method::Panels => method,
            _ if self.is_fallback() => Method::Blocks,
            _ => method,
        }
    }

    /// Whether the level has [`Method::Gathered`](crate::Method::Gathered).
    pub(crate) const fn gathers(self) -> bool {
        match self {
            Level::Scalar | Level::Neon | Level::Simd128 => false,
            Level::Avx2 | Level::Avx512 => true,
        }
    }

    /// The level of calls without a forced level: the level named by the environment variable `GATHER_LEVEL` (such as
    /// `scalar`; read once, with the feature `std`), else the best level of this machine.
    ///
    /// If the variable names no level, or a level that this machine lacks, every call without a forced level fails
    /// with [`Error::UnknownLevel`] or [`Error::LevelUnavailable`]. This function then returns the best level.
    #[must_use]
    pub fn preferred() -> Self {
        choice::get().unwrap_or_else(|_| Self::best())
    }

    fn best() -> Self {
        Self::ALL.iter().copied().rfind(|level| level.is_available()).unwrap_or(Level::Scalar)
    }

    /// The forced level if there is one, else the preferred level.
    ///
    /// # Errors
    /// [`Error::LevelUnavailable`]; without a forced level also [`Error::UnknownLevel`].
    #[inline(always)]
    pub(crate) fn resolve(forced: Option<Level>) -> Result<Available, Error> {
        match forced {
            Some(level) => level.checked().map(Available),
            None => choice::get().map(Available),
        }
    }

    /// Whether calls without a forced level may use AVX2, which is in every level of x86-64 but `Scalar`.
    #[cfg(target_arch = "x86_64")]
    #[inline]
    pub(crate) fn has_avx2() -> bool {
        choice::chosen().unwrap_or_else(Self::finds_avx2) != Level::Scalar
    }

    /// The slow path: the first call, and every call if the environment names no level of this machine.
    #[cfg(target_arch = "x86_64")]
    #[cold]
    #[inline(never)]
    fn finds_avx2() -> Level {
        choice::get().unwrap_or(Level::Scalar)
    }

    #[inline(always)]
    fn checked(self) -> Result<Level, Error> {
        if self.is_available() { Ok(self) } else { Err(Error::LevelUnavailable { level: self }) }
    }
}

/// A level that this machine has. Made by [`Level::resolve`] only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Available(Level);

impl Deref for Available {
    type Target = Level;

    #[inline(always)]
    fn deref(&self) -> &Level {
        &self.0
    }
}

/// The level of calls without a forced level, chosen once per process.
#[cfg(feature = "std")]
mod choice {
    use std::sync::OnceLock;
    use std::sync::atomic::{AtomicU8, Ordering};

    use crate::types::error::{Error, echoed};
    use crate::types::level::Level;

    /// `1 + position` of the level in [`Level::ALL`]; 0 before the choice, and after an error.
    static CHOSEN: AtomicU8 = AtomicU8::new(0);

    static CHOICE: OnceLock<Result<Level, Error>> = OnceLock::new();

    /// The choice, by one load and a branch per level. Only `CHOSEN` is read, so relaxed ordering suffices.
    #[inline]
    pub(super) fn get() -> Result<Level, Error> {
        chosen().map_or_else(choose, Ok)
    }

    /// The choice, or `None` before it.
    #[inline]
    pub(super) fn chosen() -> Option<Level> {
        Level::ALL.get(usize::from(CHOSEN.load(Ordering::Relaxed)).wrapping_sub(1)).copied()
    }

    #[cold]
    #[inline(never)]
    fn choose() -> Result<Level, Error> {
        let choice = CHOICE.get_or_init(|| match std::env::var_os("GATHER_LEVEL") {
            None => Ok(Level::best()),
            Some(name) => named(&name.to_string_lossy()),
        });
        if let Ok(level) = choice {
            let place = Level::ALL.iter().position(|other| other == level);
            CHOSEN.store(place.map_or(0, |place| place as u8 + 1), Ordering::Relaxed);
        }
        choice.clone()
    }

    /// The level named by a value of the variable.
    fn named(name: &str) -> Result<Level, Error> {
        let level = Level::ALL.iter().copied().find(|level| level.name() == name);
        level.ok_or_else(|| Error::UnknownLevel { name: echoed(name) })?.checked()
    }
}

/// The level of calls without a forced level, fixed by the target.
#[cfg(not(feature = "std"))]
mod choice {
    use crate::types::error::Error;
    use crate::types::level::Level;

    #[inline]
    pub(super) fn get() -> Result<Level, Error> {
        Ok(Level::best())
    }

    #[inline]
    #[cfg(target_arch = "x86_64")]
    pub(super) fn chosen() -> Option<Level> {
        Some(Level::best())
    }
}

#[cfg(all(test, feature = "std"))]
pub(crate) mod tests {
    use std::process::Command;

    use super::*;

    /// Set for child processes of the test, to the expected result of their calls.
    const EXPECTED: &str = "GATHER_CORE_TESTS_LEVEL";

    /// A command that runs this test in a new process, under the emulator named by `GATHER_TESTS_RUNNER` if it is set.
    pub(crate) fn this_test() -> Command {
        let test = std::env::current_exe().unwrap();
        let runner = std::env::var("GATHER_TESTS_RUNNER").unwrap_or_default();
        let mut words = runner.split_whitespace();
        let Some(emulator) = words.next() else { return Command::new(test) };
        let mut process = Command::new(emulator);
        process.args(words).arg(test);
        process
    }

    /// Each value of the variable, in a new process, decides for good or is refused for good.
    #[test]
    #[cfg_attr(target_family = "wasm", ignore = "needs processes")]
    fn the_environment_forces_a_level_or_is_refused() {
        if let Ok(expected) = std::env::var(EXPECTED) {
            for _ in 0..3 {
                let chosen = Level::resolve(None).map(|level| *level);
                assert_eq!(chosen.clone().map_or_else(|error| error.to_string(), |level| level.to_string()), expected);
                assert_eq!(Level::preferred(), chosen.unwrap_or_else(|_| Level::best()));
                assert_eq!(Level::resolve(Some(Level::Scalar)).map(|level| *level), Ok(Level::Scalar));
            }
            return;
        }
        let unknown =
            ["AVX2", "", "none"].map(|name| (Some(name), Error::UnknownLevel { name: name.into() }.to_string()));
        let levels = Level::ALL.iter().map(|level| {
            let expected = level.checked().map_or_else(|error| error.to_string(), |level| level.to_string());
            (Some(level.name()), expected)
        });
        for (value, expected) in [(None, Level::best().to_string())].into_iter().chain(levels).chain(unknown) {
            let mut process = this_test();
            process.args(["--exact", "types::level::tests::the_environment_forces_a_level_or_is_refused"]);
            process.env_remove("GATHER_LEVEL").envs(value.map(|value| ("GATHER_LEVEL", value)));
            let output = process.env(EXPECTED, &expected).output().unwrap();
            assert!(output.status.success(), "{value:?}: {}", String::from_utf8_lossy(&output.stdout));
            assert!(String::from_utf8_lossy(&output.stdout).contains("1 passed"));
        }
    }
}
