//! Functions that are compiled for each of the levels that are found at run time.

#![forbid(unsafe_code)]

use crate::types::level::Level;

/// A function for each level.
#[derive(Clone, Copy, Debug)]
pub struct ByLevel<F> {
    /// Where the target itself has a level, this one is compiled for it.
    pub(crate) scalar: F,
    #[cfg(target_arch = "x86_64")]
    pub(crate) avx2: F,
    #[cfg(target_arch = "x86_64")]
    pub(crate) avx512: F,
}

/// A [`ByLevel`] of functions named by level. Those of x86-64 may be missing on other targets. The function of AVX2
/// serves AVX-512 too where that has none. `fn F` is a [`LevelFn`](crate::kernels::isa::LevelFn), compiled for each.
macro_rules! by_level {
    (fn $level_fn:ty) => {
        by_level!($crate::kernels::isa::scalar::<$level_fn>, $crate::kernels::isa::avx2::<$level_fn>)
    };
    ($scalar:expr, $avx2:expr) => {
        by_level!($scalar, $avx2, $avx2)
    };
    ($scalar:expr, $avx2:expr, $avx512:expr) => {
        $crate::kernels::by_level::ByLevel {
            scalar: $scalar,
            #[cfg(target_arch = "x86_64")]
            avx2: $avx2,
            #[cfg(target_arch = "x86_64")]
            avx512: $avx512,
        }
    };
}
pub(crate) use by_level;

impl<F> ByLevel<F> {
    /// The function for a level.
    pub(crate) fn get(&self, level: Level) -> &F {
        match level {
            #[cfg(target_arch = "x86_64")]
            Level::Avx2 => &self.avx2,
            #[cfg(target_arch = "x86_64")]
            Level::Avx512 => &self.avx512,
            _ => &self.scalar,
        }
    }
}

impl<F: Copy> ByLevel<F> {
    /// One function for all levels.
    pub(crate) const fn all(function: F) -> Self {
        by_level!(function, function)
    }

    /// The results of `each`.
    pub(crate) fn map<G>(self, each: impl Fn(F) -> G) -> ByLevel<G> {
        by_level!(each(self.scalar), each(self.avx2), each(self.avx512))
    }

    /// The function for a level.
    pub(crate) fn at(&self, level: Level) -> F {
        *self.get(level)
    }
}
