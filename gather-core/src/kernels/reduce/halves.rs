//! Conversions of halves at a level: in integers, by loops that compilers vectorise, or by F16C.

#[cfg(target_arch = "x86_64")]
use core::mem::MaybeUninit;
#[cfg(target_arch = "x86_64")]
use core::ptr;

use crate::kernels::level_fn::Token;
use crate::kernels::reduce::number::Half;
#[cfg(target_arch = "x86_64")]
use crate::kernels::reduce::vectors::Stored;
#[cfg(target_arch = "x86_64")]
use crate::kernels::x86::__m256;
use crate::types::element::Unaligned;

#[inline(always)]
pub(super) fn widen<T: Half, const N: usize>(level: impl Token, from: &[Unaligned<T>; N]) -> [f32; N] {
    let mut to = [0.0; N];
    #[cfg(target_arch = "x86_64")]
    if N.is_multiple_of(8)
        && let Some(level) = level.avx2()
    {
        for (to, from) in to.as_chunks_mut::<8>().0.iter_mut().zip(from.as_chunks::<8>().0) {
            // SAFETY: eight `f32`, with a lesser alignment; `write` only initialises them.
            let to = unsafe { &mut *ptr::from_mut(to).cast::<[MaybeUninit<Unaligned<f32>>; 8]>() };
            <f32 as Stored<__m256>>::write(T::read(level, from), to);
        }
        return to;
    }
    let _ = level;
    for (to, from) in to.iter_mut().zip(from) {
        *to = from.0.to_single();
    }
    to
}

#[inline(always)]
pub(super) fn narrow<T: Half, const N: usize>(level: impl Token, from: &[f32; N]) -> [Unaligned<T>; N] {
    let mut to = [Unaligned(T::ZERO); N];
    #[cfg(target_arch = "x86_64")]
    if N.is_multiple_of(8)
        && let Some(level) = level.avx2()
    {
        for (to, from) in to.as_chunks_mut::<8>().0.iter_mut().zip(from.as_chunks::<8>().0) {
            // SAFETY: eight `f32`, with a lesser alignment.
            let from = unsafe { &*ptr::from_ref(from).cast::<[Unaligned<f32>; 8]>() };
            // SAFETY: eight `Unaligned<T>`; `write` only initialises them.
            let to = unsafe { &mut *ptr::from_mut(to).cast::<[MaybeUninit<Unaligned<T>>; 8]>() };
            <T as Stored<__m256>>::write(f32::read(level, from), to);
        }
        return to;
    }
    let _ = level;
    for (to, &from) in to.iter_mut().zip(from) {
        *to = Unaligned(T::from_single(from));
    }
    to
}

/// Numbers that AVX2 vectors convert.
#[cfg(target_arch = "x86_64")]
pub(super) trait InVector: Stored<__m256> {}

#[cfg(target_arch = "x86_64")]
impl<T: Stored<__m256>> InVector for T {}

/// Any element: the target has no AVX2 vectors.
#[cfg(not(target_arch = "x86_64"))]
pub(super) trait InVector: crate::types::element::Element {}

#[cfg(not(target_arch = "x86_64"))]
impl<T: crate::types::element::Element> InVector for T {}
