//! Levels as tokens, and functions compiled for each level.
//!
//! A value of [`Avx2`] exists only on a machine with AVX2, so a function that takes one may use AVX2 instructions.
//! `here` makes a token: the compiler lets only functions with the level's `target_feature`s call it safely.
//! [`Token::of_kernel`] makes one per kernel: its caller proves K7. Tokens are zero-sized.

use crate::types::level::Level;

/// The scalar level, which every machine has.
#[derive(Clone, Copy)]
pub struct Scalar;

/// The AVX2 level, with FMA, F16C, BMI1, BMI2 and POPCNT. A value proves that the machine has it.
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy)]
pub struct Avx2(());

/// The AVX-512 level: F, BW, VL, DQ, VBMI and VBMI2, and all of AVX2. A value proves that the machine has it.
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy)]
pub struct Avx512(());

#[cfg(target_arch = "x86_64")]
impl Avx2 {
    /// The token, inside a function of the level.
    #[inline]
    #[target_feature(enable = "avx2,fma,f16c,bmi1,bmi2,popcnt")]
    pub(crate) fn here() -> Self {
        Avx2(())
    }
}

#[cfg(target_arch = "x86_64")]
impl Avx512 {
    /// The token, inside a function of the level.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi,avx512vbmi2,bmi1,bmi2,popcnt")]
    pub(crate) fn here() -> Self {
        Avx512(())
    }

    /// The token of AVX2, which every machine with AVX-512 has.
    #[inline(always)]
    pub(crate) fn below(self) -> Avx2 {
        Avx2(())
    }

    /// `F` compiled for AVX-512; [`Token::entry`] returns the AVX2 function.
    #[inline(always)]
    pub(crate) fn entry_of_its_own<F: LevelFn>(self) -> Entry<F> {
        // SAFETY: the types differ only in `unsafe`; `avx512` requires only the level, which `self` proves.
        unsafe { core::mem::transmute::<Compiled<F>, Entry<F>>(avx512::<F>) }
    }
}

/// A function compiled for each level. Its body is inlined into the entries.
///
/// The arguments carry the proofs for its unsafe code, except the proof of the level, which the token carries.
pub trait LevelFn {
    type Args<'a>;

    type Output;

    /// Whether vectors of 16 bytes are as fast as longer ones, so that the scalar entry serves AVX2.
    const NARROW: bool = false;

    fn call<L: Token>(level: L, args: Self::Args<'_>) -> Self::Output;
}

/// A [`LevelFn`] compiled for a level that the machine has.
pub(crate) type Entry<F> = for<'a> fn(<F as LevelFn>::Args<'a>) -> <F as LevelFn>::Output;

/// A [`LevelFn`] compiled for a level.
pub(crate) type Compiled<F> = for<'a> unsafe fn(<F as LevelFn>::Args<'a>) -> <F as LevelFn>::Output;

/// The token of a level.
pub trait Token: Copy + 'static {
    const LEVEL: Level;

    /// The token of the level of a kernel.
    ///
    /// # Safety
    /// K7: the machine has the level.
    #[must_use]
    unsafe fn of_kernel() -> Self;

    /// `F` compiled for the level, or for a lower level that is as fast.
    #[must_use]
    fn compiled<F: LevelFn>() -> Compiled<F>;

    /// [`Token::compiled`] as a safe function: `self` proves the level.
    #[inline(always)]
    #[must_use]
    fn entry<F: LevelFn>(self) -> Entry<F> {
        // SAFETY: the types differ only in `unsafe`. The function is unsafe to call only on a machine without its
        // level, and the token proves that this machine has it.
        unsafe { core::mem::transmute::<Compiled<F>, Entry<F>>(Self::compiled::<F>()) }
    }

    /// Runs the function of [`Token::entry`], which is not inlined.
    #[inline(always)]
    fn run<F: LevelFn>(self, args: F::Args<'_>) -> F::Output {
        self.entry::<F>()(args)
    }

    /// The token of AVX2, if the level includes it.
    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    #[must_use]
    fn avx2(self) -> Option<Avx2> {
        None
    }

    /// The token of AVX-512, if the level is AVX-512.
    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    #[must_use]
    fn avx512(self) -> Option<Avx512> {
        None
    }
}

impl Token for Scalar {
    const LEVEL: Level = Level::Scalar;

    #[inline(always)]
    unsafe fn of_kernel() -> Self {
        Scalar
    }

    #[inline(always)]
    fn compiled<F: LevelFn>() -> Compiled<F> {
        scalar::<F>
    }
}

#[cfg(target_arch = "x86_64")]
impl Token for Avx2 {
    const LEVEL: Level = Level::Avx2;

    #[inline(always)]
    unsafe fn of_kernel() -> Self {
        debug_assert!(Level::Avx2.is_available(), "K7");
        Avx2(())
    }

    #[inline(always)]
    fn compiled<F: LevelFn>() -> Compiled<F> {
        if const { F::NARROW } { scalar::<F> } else { avx2::<F> }
    }

    #[inline(always)]
    fn avx2(self) -> Option<Avx2> {
        Some(self)
    }
}

#[cfg(target_arch = "x86_64")]
impl Token for Avx512 {
    const LEVEL: Level = Level::Avx512;

    #[inline(always)]
    unsafe fn of_kernel() -> Self {
        debug_assert!(Level::Avx512.is_available(), "K7");
        Avx512(())
    }

    /// The AVX2 function: most functions gain nothing from longer vectors.
    #[inline(always)]
    fn compiled<F: LevelFn>() -> Compiled<F> {
        Avx2::compiled::<F>()
    }

    /// Every machine with AVX-512 has AVX2.
    #[inline(always)]
    fn avx2(self) -> Option<Avx2> {
        Some(Avx2(()))
    }

    #[inline(always)]
    fn avx512(self) -> Option<Self> {
        Some(self)
    }
}

#[inline(never)]
pub(crate) fn scalar<F: LevelFn>(args: F::Args<'_>) -> F::Output {
    F::call(Scalar, args)
}

#[cfg(target_arch = "x86_64")]
#[inline(never)]
#[target_feature(enable = "avx2,fma,f16c,bmi1,bmi2,popcnt")]
pub(crate) fn avx2<F: LevelFn>(args: F::Args<'_>) -> F::Output {
    F::call(Avx2::here(), args)
}

#[cfg(target_arch = "x86_64")]
#[inline(never)]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi,avx512vbmi2,bmi1,bmi2,popcnt")]
pub(crate) fn avx512<F: LevelFn>(args: F::Args<'_>) -> F::Output {
    F::call(Avx512::here(), args)
}

/// An array of `$value` for each level of the target, lowest first; `$value` names the level `$Level`. The caller
/// imports the levels.
macro_rules! each_level {
    ($Level:ident => $value:expr) => {
        $crate::kernels::level_fn::each_level! {
            $Level => $value,
            Scalar,
            #[cfg(target_arch = "x86_64")]
            Avx2,
            #[cfg(target_arch = "x86_64")]
            Avx512,
            #[cfg(all(target_arch = "aarch64", target_endian = "little", target_feature = "neon"))]
            Neon,
            #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
            Simd128,
        }
    };
    ($Level:ident => $value:expr, $($(#[$cfg:meta])? $level:ident,)*) => {
        [$($(#[$cfg])? {
            type $Level = $level;
            $value
        }),*]
    };
}
pub(crate) use each_level;
