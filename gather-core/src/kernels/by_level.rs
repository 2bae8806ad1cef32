//! Functions compiled for each level that is detected at run time.

use crate::kernels::level_fn::{Compiled, LevelFn, scalar};
#[cfg(target_arch = "x86_64")]
use crate::kernels::level_fn::{avx2, avx512};
use crate::types::level::{Available, Level};

/// A function for each level.
///
/// - **E1** If `F` is a [`LevelPointer`], each function is safe to call on a machine that has its level. The function
///   of the scalar level is safe on every machine.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ByLevel<F> {
    /// Compiled for the target's own level, if it has one.
    scalar: F,
    #[cfg(target_arch = "x86_64")]
    avx2: F,
    #[cfg(target_arch = "x86_64")]
    avx512: F,
}

/// A [`ByLevel`]. Functions of x86-64 may be missing on other targets. The AVX2 function serves AVX-512 if no third is
/// given.
///
/// - `fn F`: a [`LevelFn`] compiled for each level.
/// - `fn F, fn G`, `fn F, fn G, fn H`: `F` for the scalar level, `G` for AVX2, `H` for AVX-512.
/// - `scalar fn F`: `F`, compiled for the scalar level, for all levels.
/// - Expressions, one per level, are passed to [`ByLevel::new`], which is unsafe to call.
macro_rules! by_level {
    (fn $level_fn:ty) => {
        $crate::kernels::by_level::each::<$level_fn>()
    };
    (fn $scalar:ty, fn $avx2:ty) => {{
        #[cfg(target_arch = "x86_64")]
        {
            $crate::kernels::by_level::two::<$scalar, $avx2>()
        }
        #[cfg(not(target_arch = "x86_64"))]
        {
            $crate::kernels::by_level::one::<$scalar>()
        }
    }};
    (fn $scalar:ty, fn $avx2:ty, fn $avx512:ty) => {{
        #[cfg(target_arch = "x86_64")]
        {
            $crate::kernels::by_level::three::<$scalar, $avx2, $avx512>()
        }
        #[cfg(not(target_arch = "x86_64"))]
        {
            $crate::kernels::by_level::one::<$scalar>()
        }
    }};
    (scalar fn $level_fn:ty) => {
        $crate::kernels::by_level::one::<$level_fn>()
    };
    ($scalar:expr, $avx2:expr) => {
        by_level!($scalar, $avx2, $avx2)
    };
    ($scalar:expr, $avx2:expr, $avx512:expr) => {{
        #[cfg(target_arch = "x86_64")]
        {
            $crate::kernels::by_level::ByLevel::new($scalar, $avx2, $avx512)
        }
        #[cfg(not(target_arch = "x86_64"))]
        {
            $crate::kernels::by_level::ByLevel::new($scalar)
        }
    }};
}
pub(crate) use by_level;

/// `F`, compiled for each level; the AVX2 function serves AVX-512, too.
pub(crate) const fn each<F: LevelFn>() -> ByLevel<Compiled<F>> {
    ByLevel {
        scalar: scalar::<F>,
        #[cfg(target_arch = "x86_64")]
        avx2: avx2::<F>,
        #[cfg(target_arch = "x86_64")]
        avx512: avx2::<F>,
    }
}

/// `F`, compiled for the scalar level, for all levels.
pub(crate) const fn one<F: LevelFn>() -> ByLevel<Compiled<F>> {
    ByLevel {
        scalar: scalar::<F>,
        #[cfg(target_arch = "x86_64")]
        avx2: scalar::<F>,
        #[cfg(target_arch = "x86_64")]
        avx512: scalar::<F>,
    }
}

/// `F` for the scalar level, `G` for AVX2 and AVX-512.
#[cfg(target_arch = "x86_64")]
pub(crate) const fn two<F, G>() -> ByLevel<Compiled<F>>
where
    F: LevelFn,
    G: for<'a> LevelFn<Args<'a> = F::Args<'a>, Output = F::Output>,
{
    ByLevel { scalar: scalar::<F>, avx2: avx2::<G>, avx512: avx2::<G> }
}

/// `F` for the scalar level, `G` for AVX2, `H` for AVX-512.
#[cfg(target_arch = "x86_64")]
pub(crate) const fn three<F, G, H>() -> ByLevel<Compiled<F>>
where
    F: LevelFn,
    G: for<'a> LevelFn<Args<'a> = F::Args<'a>, Output = F::Output>,
    H: for<'a> LevelFn<Args<'a> = F::Args<'a>, Output = F::Output>,
{
    ByLevel { scalar: scalar::<F>, avx2: avx2::<G>, avx512: avx512::<H> }
}

/// A pointer to a function that is unsafe to call only because the machine may lack its level.
pub(crate) trait LevelPointer: Copy {
    /// The same pointer type without `unsafe`.
    type Safe: Copy;

    /// The same function as a safe pointer.
    ///
    /// # Safety
    /// The function is unsafe to call only because of its level, and the machine has that level.
    unsafe fn on_this_machine(self) -> Self::Safe;
}

/// Implements [`LevelPointer`] for `unsafe` function types, given the safe types, such as `for<'a> fn(&'a Job)`.
macro_rules! level_pointers {
    ($($(for<$life:lifetime>)? fn $args:tt $(-> $out:ty)? $(, $generic:ident: $bound:path)?;)*) => {$(
        impl$(<$generic: $bound>)? $crate::kernels::by_level::LevelPointer
            for $(for<$life>)? unsafe fn $args $(-> $out)?
        {
            type Safe = $(for<$life>)? fn $args $(-> $out)?;

            #[inline(always)]
            unsafe fn on_this_machine(self) -> Self::Safe {
                // SAFETY: the two types have the same arguments and result, and differ only in `unsafe`. By the
                // caller's contract, the function is unsafe to call only because of its level, which the machine has.
                unsafe { core::mem::transmute::<Self, Self::Safe>(self) }
            }
        }
    )*};
}
pub(crate) use level_pointers;

impl<F> ByLevel<F> {
    /// A function for each level.
    ///
    /// # Safety
    /// E1: if `F` is a [`LevelPointer`], each function is safe to call on a machine that has its level and all levels
    /// below. `scalar` is safe to call on every machine.
    pub(crate) const unsafe fn new(
        scalar: F,
        #[cfg(target_arch = "x86_64")] avx2: F,
        #[cfg(target_arch = "x86_64")] avx512: F,
    ) -> Self {
        ByLevel {
            scalar,
            #[cfg(target_arch = "x86_64")]
            avx2,
            #[cfg(target_arch = "x86_64")]
            avx512,
        }
    }

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

impl<F: LevelPointer> ByLevel<F> {
    /// The function for a level of this machine.
    #[inline(always)]
    pub(crate) fn at(&self, level: Available) -> F::Safe {
        // SAFETY: `level` is `Available` here, and so are all levels below. E1: the function needs nothing else.
        unsafe { self.get(*level).on_this_machine() }
    }
}
