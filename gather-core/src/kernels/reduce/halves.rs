//! How a level converts halves: by whole numbers, in loops that compilers vectorise, or by the instructions of F16C.

#[cfg(all(feature = "half", target_arch = "x86_64"))]
use core::arch::x86_64::__m256;
#[cfg(all(feature = "half", target_arch = "x86_64"))]
use core::mem::MaybeUninit;
#[cfg(all(feature = "half", target_arch = "x86_64"))]
use core::ptr;

#[cfg(target_arch = "x86_64")]
use crate::kernels::level_fn::Avx2;
use crate::kernels::level_fn::Token;
#[cfg(all(feature = "half", target_arch = "x86_64"))]
use crate::kernels::reduce::bag::vectors::Stored;
#[cfg(feature = "half")]
use crate::kernels::reduce::number::Half;
#[cfg(feature = "half")]
use crate::types::element::Unaligned;

/// How a level converts halves.
pub(super) trait Halves: Copy + 'static {
    /// The value for the level of the caller, which is compiled for its instructions.
    fn of_level(level: impl Token) -> Self;

    /// Widens `N` halves.
    #[cfg(feature = "half")]
    #[inline(always)]
    fn widen<T: Half, const N: usize>(self, from: &[Unaligned<T>; N]) -> [f32; N] {
        let mut to = [0.0; N];
        for (to, from) in to.iter_mut().zip(from) {
            *to = from.0.to_single();
        }
        to
    }

    /// Rounds `N` numbers to halves.
    #[cfg(feature = "half")]
    #[inline(always)]
    fn narrow<T: Half, const N: usize>(self, from: &[f32; N]) -> [Unaligned<T>; N] {
        let mut to = [Unaligned(T::from_single(from[0])); N];
        for (to, &from) in to.iter_mut().zip(from) {
            *to = Unaligned(T::from_single(from));
        }
        to
    }
}

/// By whole numbers.
#[derive(Clone, Copy)]
pub(super) struct ByIntegers;

impl Halves for ByIntegers {
    #[inline(always)]
    fn of_level(_: impl Token) -> Self {
        ByIntegers
    }
}

/// By the instructions of AVX2 and F16C.
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy)]
pub(super) struct F16c(Avx2);

#[cfg(target_arch = "x86_64")]
impl Halves for F16c {
    #[inline(always)]
    fn of_level(level: impl Token) -> Self {
        F16c(level.avx2().expect("a function compiled for AVX2"))
    }

    #[cfg(feature = "half")]
    #[inline(always)]
    fn widen<T: Half, const N: usize>(self, from: &[Unaligned<T>; N]) -> [f32; N] {
        if const { !N.is_multiple_of(8) } {
            return ByIntegers.widen(from);
        }
        let mut to = [0.0; N];
        for (to, from) in to.as_chunks_mut::<8>().0.iter_mut().zip(from.as_chunks::<8>().0) {
            // SAFETY: as many numbers, over which others are written.
            let to = unsafe { &mut *ptr::from_mut(to).cast::<[MaybeUninit<Unaligned<f32>>; 8]>() };
            <f32 as Stored<__m256>>::write(T::read(self.0, from), to);
        }
        to
    }

    #[cfg(feature = "half")]
    #[inline(always)]
    fn narrow<T: Half, const N: usize>(self, from: &[f32; N]) -> [Unaligned<T>; N] {
        if const { !N.is_multiple_of(8) } {
            return ByIntegers.narrow(from);
        }
        let mut to = [Unaligned(T::ZERO); N];
        for (to, from) in to.as_chunks_mut::<8>().0.iter_mut().zip(from.as_chunks::<8>().0) {
            // SAFETY: as many numbers, which any alignment serves.
            let from = unsafe { &*ptr::from_ref(from).cast::<[Unaligned<f32>; 8]>() };
            // SAFETY: as many halves, over which others are written.
            let to = unsafe { &mut *ptr::from_mut(to).cast::<[MaybeUninit<Unaligned<T>>; 8]>() };
            <T as Stored<__m256>>::write(f32::read(self.0, from), to);
        }
        to
    }
}

/// Numbers that vectors of AVX2 convert.
#[cfg(all(feature = "half", target_arch = "x86_64"))]
pub(super) trait InVector: Stored<__m256> {}

#[cfg(all(feature = "half", target_arch = "x86_64"))]
impl<T: Stored<__m256>> InVector for T {}

/// Numbers that vectors of AVX2 convert, where there are such vectors.
#[cfg(all(feature = "half", not(target_arch = "x86_64")))]
pub(super) trait InVector: crate::types::element::Element {}

#[cfg(all(feature = "half", not(target_arch = "x86_64")))]
impl<T: crate::types::element::Element> InVector for T {}
