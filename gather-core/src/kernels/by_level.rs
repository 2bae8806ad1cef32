//! Functions that are compiled for each of the levels that are found at run time.

use crate::types::level::{Available, Level};

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
/// serves AVX-512 too where that has none. `fn F` is a [`LevelFn`](crate::kernels::level_fn::LevelFn), compiled for each.
macro_rules! by_level {
    (fn $level_fn:ty) => {
        by_level!($crate::kernels::level_fn::scalar::<$level_fn>, $crate::kernels::level_fn::avx2::<$level_fn>)
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

/// A pointer to a function that is unsafe to call only since it is compiled for a level, which the machine may lack.
pub trait LevelPointer: Copy {
    /// The pointer to a function that is safe to call.
    type Safe: Copy;

    /// The same function.
    ///
    /// # Safety
    /// The machine has the level that the function is compiled for.
    unsafe fn on_this_machine(self) -> Self::Safe;
}

/// Says of pointers that they are [`LevelPointer`]s: `for<'a> fn(&'a Job)`, then the same with `unsafe`.
macro_rules! level_pointers {
    ($($safe:ty, $raw:ty $(, $generic:ident: $bound:path)?;)*) => {$(
        impl$(<$generic: $bound>)? $crate::kernels::by_level::LevelPointer for $raw {
            type Safe = $safe;

            #[inline(always)]
            unsafe fn on_this_machine(self) -> $safe {
                // SAFETY: the types differ in `unsafe` alone. The function is unsafe to call only where the machine
                // lacks its level, and the caller says that it does not.
                unsafe { core::mem::transmute::<$raw, $safe>(self) }
            }
        }
    )*};
}
pub(crate) use level_pointers;

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
}

impl<F: LevelPointer> ByLevel<F> {
    /// The function for a level of this machine.
    #[inline(always)]
    pub(crate) fn at(&self, level: Available) -> F::Safe {
        // SAFETY: the machine has the level. `by_level!` is given functions of the level, of AVX2 or of none, and a
        // machine with AVX-512 has AVX2.
        unsafe { self.get(*level).on_this_machine() }
    }
}
