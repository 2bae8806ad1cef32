//! Levels as tokens, and functions that are compiled for each of them.
//!
//! A value of [`Avx2`] exists only on a machine that has AVX2: so a function that is given one may use its
//! instructions. Tokens are made where the compiler has seen to it, in functions with the level's `target_feature`s,
//! and once for each kernel, by the contract of kernels (K7). They take no bytes.

use crate::types::level::Level;

/// The scalar level, which every machine has.
#[derive(Clone, Copy)]
pub struct Scalar;

/// The AVX2 level, with FMA and F16C. A value proves that the machine has it.
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy)]
pub struct Avx2(());

/// The AVX-512 level: F, BW, VL, DQ and VBMI, and all of AVX2. A value proves that the machine has it.
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy)]
pub struct Avx512(());

#[cfg(target_arch = "x86_64")]
impl Avx2 {
    /// The token, in a function of the level.
    #[inline]
    #[target_feature(enable = "avx2,fma,f16c")]
    pub(crate) fn here() -> Self {
        Avx2(())
    }
}

#[cfg(target_arch = "x86_64")]
impl Avx512 {
    /// The token, in a function of the level.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi")]
    pub(crate) fn here() -> Self {
        Avx512(())
    }

    /// The token of AVX2, which every machine with AVX-512 has.
    #[inline(always)]
    pub(crate) fn below(self) -> Avx2 {
        Avx2(())
    }

    /// A function compiled for AVX-512: [`Token::entry`] has that of AVX2.
    #[inline(always)]
    pub(crate) fn entry_of_its_own<F: LevelFn>(self) -> Entry<F> {
        // SAFETY: the two types differ in `unsafe` alone, and the token that `Entry` takes shows that the machine has
        // AVX-512.
        unsafe { core::mem::transmute::<Compiled<F>, Entry<F>>(avx512::<F>) }
    }
}

/// A function that is compiled for each level. Its body is inlined into the entries.
///
/// What it is given carries the proofs that its unsafe code needs; the token carries that of the level.
pub trait LevelFn {
    /// The arguments.
    type Args<'a>;

    /// The result.
    type Output;

    /// Whether vectors of 16 bytes serve as well as longer ones, so that the entry of the scalar level serves AVX2.
    const NARROW: bool = false;

    /// Runs the function.
    fn call<L: Token>(level: L, args: Self::Args<'_>) -> Self::Output;
}

/// A [`LevelFn`] compiled for a level that the machine has.
pub(crate) type Entry<F> = for<'a> fn(<F as LevelFn>::Args<'a>) -> <F as LevelFn>::Output;

/// A [`LevelFn`] compiled for a level.
pub(crate) type Compiled<F> = for<'a> unsafe fn(<F as LevelFn>::Args<'a>) -> <F as LevelFn>::Output;

/// The token of a level.
pub trait Token: Copy + 'static {
    /// The level.
    const LEVEL: Level;

    /// The token of the level that a kernel is compiled for.
    ///
    /// # Safety
    /// K7: the machine has the level.
    #[must_use]
    unsafe fn of_kernel() -> Self;

    /// A function compiled for the level, or for one below it that serves as well.
    #[must_use]
    fn compiled<F: LevelFn>() -> Compiled<F>;

    /// The same function, on a machine that has the level.
    #[inline(always)]
    #[must_use]
    fn entry<F: LevelFn>(self) -> Entry<F> {
        // SAFETY: the types differ in `unsafe` alone. The function is unsafe to call only on a machine without its
        // level, and the token shows that this one has it.
        unsafe { core::mem::transmute::<Compiled<F>, Entry<F>>(Self::compiled::<F>()) }
    }

    /// Runs a function compiled for the level, which is not inlined.
    #[inline(always)]
    fn run<F: LevelFn>(self, args: F::Args<'_>) -> F::Output {
        self.entry::<F>()(args)
    }

    /// The token of AVX2, where the level is that or above.
    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    #[must_use]
    fn avx2(self) -> Option<Avx2> {
        None
    }

    /// The token of AVX-512, where the level is that.
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

    /// Most functions gain nothing by longer vectors: that of AVX2.
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

/// A [`LevelFn`] compiled for the scalar level.
#[inline(never)]
pub(crate) fn scalar<F: LevelFn>(args: F::Args<'_>) -> F::Output {
    F::call(Scalar, args)
}

/// A [`LevelFn`] compiled for AVX2.
#[cfg(target_arch = "x86_64")]
#[inline(never)]
#[target_feature(enable = "avx2,fma,f16c")]
pub(crate) fn avx2<F: LevelFn>(args: F::Args<'_>) -> F::Output {
    F::call(Avx2::here(), args)
}

/// A [`LevelFn`] compiled for AVX-512.
#[cfg(target_arch = "x86_64")]
#[inline(never)]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi")]
pub(crate) fn avx512<F: LevelFn>(args: F::Args<'_>) -> F::Output {
    F::call(Avx512::here(), args)
}

/// An array of a value of each level of the target, the least first, which `$Level` names in the value. The levels
/// are imported where it is used.
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
