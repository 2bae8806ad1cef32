//! Vectors of floats, and the arithmetic of reductions on them: that of `number`, on every element.

use core::arch::x86_64::*;

use crate::types::element::Element;

/// A vector of floats.
pub(super) trait Vector: Copy {
    /// An element.
    type Item: Element;
    /// How many it has.
    const N: usize;

    /// Zeros.
    ///
    /// # Safety
    /// K7: the machine has the instructions of the vector.
    unsafe fn zero() -> Self;

    /// A value in every element.
    ///
    /// # Safety
    /// K7.
    unsafe fn splat(value: Self::Item) -> Self;

    /// Reads a vector.
    ///
    /// # Safety
    /// From `from` on, there are `N` elements that may be read, at any alignment. K7.
    unsafe fn read(from: *const u8) -> Self;

    /// Writes a vector.
    ///
    /// # Safety
    /// From `to` on, `N` elements may be written, at any alignment. K7.
    unsafe fn write(self, to: *mut u8);

    /// The sum.
    ///
    /// # Safety
    /// K7.
    unsafe fn plus(self, other: Self) -> Self;

    /// The product.
    ///
    /// # Safety
    /// K7.
    unsafe fn times(self, other: Self) -> Self;

    /// The quotient by a count.
    ///
    /// # Safety
    /// K7.
    unsafe fn divided(self, count: usize) -> Self;

    /// The greatest. Of equal values the first is taken, and NaN before any other.
    ///
    /// # Safety
    /// K7.
    unsafe fn greatest(self, other: Self) -> Self;
}

macro_rules! vectors {
    ($($vector:ident: $n:literal of $item:ident, $zero:ident, $splat:ident, $read:ident, $write:ident, $plus:ident,
        $times:ident, $over:ident, $max:ident, |$best:ident, $other:ident| $or_nan:expr;)*) => {$(
        impl Vector for $vector {
            type Item = $item;
            const N: usize = $n;

            #[inline(always)]
            unsafe fn zero() -> Self {
                // SAFETY: K7.
                unsafe { $zero() }
            }

            #[inline(always)]
            unsafe fn splat(value: $item) -> Self {
                // SAFETY: K7.
                unsafe { $splat(value) }
            }

            #[inline(always)]
            unsafe fn read(from: *const u8) -> Self {
                // SAFETY: the caller's promise.
                unsafe { $read(from.cast()) }
            }

            #[inline(always)]
            unsafe fn write(self, to: *mut u8) {
                // SAFETY: the caller's promise.
                unsafe { $write(to.cast(), self) }
            }

            #[inline(always)]
            unsafe fn plus(self, other: Self) -> Self {
                // SAFETY: K7.
                unsafe { $plus(self, other) }
            }

            #[inline(always)]
            unsafe fn times(self, other: Self) -> Self {
                // SAFETY: K7.
                unsafe { $times(self, other) }
            }

            #[inline(always)]
            unsafe fn divided(self, count: usize) -> Self {
                // SAFETY: K7.
                let count = unsafe { $splat(count as $item) };
                // SAFETY: K7.
                unsafe { $over(self, count) }
            }

            #[inline(always)]
            unsafe fn greatest(self, $other: Self) -> Self {
                // The second one, unless the first is greater: so of equal values, and beside NaN.
                // SAFETY: K7.
                let $best = unsafe { $max($other, self) };
                // SAFETY: K7.
                unsafe { $or_nan }
            }
        }
    )*};
}

vectors! {
    __m256: 8 of f32, _mm256_setzero_ps, _mm256_set1_ps, _mm256_loadu_ps, _mm256_storeu_ps, _mm256_add_ps,
        _mm256_mul_ps, _mm256_div_ps, _mm256_max_ps,
        |best, other| _mm256_blendv_ps(best, other, _mm256_cmp_ps::<_CMP_UNORD_Q>(other, other));
    __m256d: 4 of f64, _mm256_setzero_pd, _mm256_set1_pd, _mm256_loadu_pd, _mm256_storeu_pd, _mm256_add_pd,
        _mm256_mul_pd, _mm256_div_pd, _mm256_max_pd,
        |best, other| _mm256_blendv_pd(best, other, _mm256_cmp_pd::<_CMP_UNORD_Q>(other, other));
    __m512: 16 of f32, _mm512_setzero_ps, _mm512_set1_ps, _mm512_loadu_ps, _mm512_storeu_ps, _mm512_add_ps,
        _mm512_mul_ps, _mm512_div_ps, _mm512_max_ps,
        |best, other| _mm512_mask_mov_ps(best, _mm512_cmp_ps_mask::<_CMP_UNORD_Q>(other, other), other);
    __m512d: 8 of f64, _mm512_setzero_pd, _mm512_set1_pd, _mm512_loadu_pd, _mm512_storeu_pd, _mm512_add_pd,
        _mm512_mul_pd, _mm512_div_pd, _mm512_max_pd,
        |best, other| _mm512_mask_mov_pd(best, _mm512_cmp_pd_mask::<_CMP_UNORD_Q>(other, other), other);
}
