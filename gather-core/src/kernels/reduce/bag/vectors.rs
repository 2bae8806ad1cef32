//! Vectors of floats, and the arithmetic of reductions on them: that of `number`, on every element; and how they are
//! loaded from elements and stored as elements, which may be halves.

use core::arch::x86_64::*;

#[cfg(feature = "half")]
use crate::kernels::reduce::number::Half;
use crate::types::element::Element;

/// Elements in memory that are the floats of a vector, or become them.
pub(in crate::kernels::reduce) trait Stored<V: Vector>: Element {
    /// An element as a float.
    fn widen(self) -> V::Item;

    /// Reads a vector.
    ///
    /// # Safety
    /// From `from` on, there are `V::N` elements that may be read, at any alignment. K7.
    unsafe fn read(from: *const u8) -> V;

    /// Writes a vector: what is narrower is rounded, as by [`f32_to_f16`](crate::types::numbers::f32_to_f16) and
    /// [`f32_to_bf16`](crate::types::numbers::f32_to_bf16).
    ///
    /// # Safety
    /// From `to` on, `V::N` elements may be written, at any alignment. K7.
    unsafe fn write(vector: V, to: *mut u8);
}

/// A vector of floats.
pub(in crate::kernels::reduce) trait Vector: Copy {
    /// An element.
    type Item: Stored<Self>;
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
        impl Stored<$vector> for $item {
            #[inline(always)]
            fn widen(self) -> $item {
                self
            }

            #[inline(always)]
            unsafe fn read(from: *const u8) -> $vector {
                // SAFETY: the caller's promise.
                unsafe { $read(from.cast()) }
            }

            #[inline(always)]
            unsafe fn write(vector: $vector, to: *mut u8) {
                // SAFETY: the caller's promise.
                unsafe { $write(to.cast(), vector) }
            }
        }

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

/// A vector that is read and written under a mask.
pub(in crate::kernels::reduce) trait Masked: Vector {
    /// Some of its lanes.
    type Mask: Copy;

    /// The first `lanes` lanes.
    ///
    /// # Safety
    /// K7.
    unsafe fn first(lanes: usize) -> Self::Mask;

    /// Reads the elements of some first lanes; others are 0.
    ///
    /// # Safety
    /// From `from` on, there are as many elements that may be read, at any alignment. K7.
    unsafe fn read_first(from: *const u8, mask: Self::Mask) -> Self;

    /// Writes the elements of some first lanes.
    ///
    /// # Safety
    /// From `to` on, as many elements may be written, at any alignment. K7.
    unsafe fn write_first(self, to: *mut u8, mask: Self::Mask);
}

macro_rules! masked {
    ($($vector:ident: $read:ident, $write:ident, |$lanes:ident| $mask:expr;)*) => {$(
        impl Masked for $vector {
            type Mask = __m256i;

            #[inline(always)]
            unsafe fn first(lanes: usize) -> __m256i {
                #[inline]
                #[target_feature(enable = "avx2")]
                fn mask($lanes: usize) -> __m256i {
                    $mask
                }
                // SAFETY: K7.
                unsafe { mask(lanes) }
            }

            #[inline(always)]
            unsafe fn read_first(from: *const u8, mask: __m256i) -> Self {
                // SAFETY: the caller's promise.
                unsafe { $read(from.cast(), mask) }
            }

            #[inline(always)]
            unsafe fn write_first(self, to: *mut u8, mask: __m256i) {
                // SAFETY: the caller's promise.
                unsafe { $write(to.cast(), mask, self) }
            }
        }
    )*};
}

masked! {
    __m256: _mm256_maskload_ps, _mm256_maskstore_ps,
        |lanes| _mm256_cmpgt_epi32(_mm256_set1_epi32(lanes as i32), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
    __m256d: _mm256_maskload_pd, _mm256_maskstore_pd,
        |lanes| _mm256_cmpgt_epi64(_mm256_set1_epi64x(lanes as i64), _mm256_setr_epi64x(0, 1, 2, 3));
}

/// Halves that are widened by `$widen`, a function of registers of their bits, and rounded by `$round`.
#[cfg(feature = "half")]
macro_rules! halves {
    ($($half:ty as $vector:ident: $bits:ident, $read:ident, $write:ident, $widen:ident, $round:ident;)*) => {$(
        impl Stored<$vector> for $half {
            #[inline(always)]
            fn widen(self) -> f32 {
                self.to_single()
            }

            #[inline(always)]
            unsafe fn read(from: *const u8) -> $vector {
                // SAFETY: the caller's promise.
                let bits = unsafe { $read(from.cast()) };
                // SAFETY: K7.
                unsafe { $widen(bits) }
            }

            #[inline(always)]
            unsafe fn write(vector: $vector, to: *mut u8) {
                // SAFETY: K7.
                let bits: $bits = unsafe { $round(vector) };
                // SAFETY: the caller's promise.
                unsafe { $write(to.cast(), bits) }
            }
        }
    )*};
}

#[cfg(feature = "half")]
halves! {
    half::f16 as __m256: __m128i, _mm_loadu_si128, _mm_storeu_si128, _mm256_cvtph_ps, f16_of_256;
    half::f16 as __m512: __m256i, _mm256_loadu_si256, _mm256_storeu_si256, _mm512_cvtph_ps, f16_of_512;
    half::bf16 as __m256: __m128i, _mm_loadu_si128, _mm_storeu_si128, bf16_to_256, bf16_of_256;
    half::bf16 as __m512: __m256i, _mm256_loadu_si256, _mm256_storeu_si256, bf16_to_512, bf16_of_512;
}

/// # Safety
/// K7, with F16C.
#[cfg(feature = "half")]
#[inline]
#[target_feature(enable = "avx2,f16c")]
unsafe fn f16_of_256(numbers: __m256) -> __m128i {
    _mm256_cvtps_ph::<_MM_FROUND_TO_NEAREST_INT>(numbers)
}

/// # Safety
/// K7.
#[cfg(feature = "half")]
#[inline]
#[target_feature(enable = "avx512f")]
unsafe fn f16_of_512(numbers: __m512) -> __m256i {
    _mm512_cvtps_ph::<_MM_FROUND_TO_NEAREST_INT>(numbers)
}

/// The bits of a `bf16` are the upper ones of its `f32`. Signalling NaNs stay as they are: what is added or multiplied
/// becomes quiet.
#[inline]
#[target_feature(enable = "avx2")]
pub(in crate::kernels::reduce) fn bf16_to_256(bits: __m128i) -> __m256 {
    _mm256_castsi256_ps(_mm256_slli_epi32::<16>(_mm256_cvtepu16_epi32(bits)))
}

/// As [`bf16_to_256`].
///
/// # Safety
/// K7.
#[cfg(feature = "half")]
#[inline]
#[target_feature(enable = "avx512f")]
unsafe fn bf16_to_512(bits: __m256i) -> __m512 {
    _mm512_castsi512_ps(_mm512_slli_epi32::<16>(_mm512_cvtepu16_epi32(bits)))
}

/// The steps of [`f32_to_bf16`](crate::types::numbers::f32_to_bf16).
///
/// # Safety
/// K7.
#[cfg(feature = "half")]
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn bf16_of_256(numbers: __m256) -> __m128i {
    let bits = _mm256_castps_si256(numbers);
    let high = _mm256_srli_epi32::<16>(bits);
    let odd = _mm256_and_si256(high, _mm256_set1_epi32(1));
    let nearest = _mm256_add_epi32(bits, _mm256_add_epi32(odd, _mm256_set1_epi32(0x7fff)));
    let nearest = _mm256_srli_epi32::<16>(nearest);
    let quiet = _mm256_or_si256(high, _mm256_set1_epi32(0x0040));
    let nan = _mm256_castps_si256(_mm256_cmp_ps::<_CMP_UNORD_Q>(numbers, numbers));
    let rounded = _mm256_blendv_epi8(nearest, quiet, nan);
    // Words of 16 bits, of which each half of the register has its own four twice.
    let words = _mm256_permute4x64_epi64::<0b1000>(_mm256_packus_epi32(rounded, rounded));
    _mm256_castsi256_si128(words)
}

/// As [`bf16_of_256`].
///
/// # Safety
/// K7.
#[cfg(feature = "half")]
#[inline]
#[target_feature(enable = "avx512f")]
unsafe fn bf16_of_512(numbers: __m512) -> __m256i {
    let bits = _mm512_castps_si512(numbers);
    let high = _mm512_srli_epi32::<16>(bits);
    let odd = _mm512_and_si512(high, _mm512_set1_epi32(1));
    let nearest = _mm512_add_epi32(bits, _mm512_add_epi32(odd, _mm512_set1_epi32(0x7fff)));
    let nearest = _mm512_srli_epi32::<16>(nearest);
    let quiet = _mm512_or_si512(high, _mm512_set1_epi32(0x0040));
    let nan = _mm512_cmp_ps_mask::<_CMP_UNORD_Q>(numbers, numbers);
    _mm512_cvtepi32_epi16(_mm512_mask_mov_epi32(nearest, nan, quiet))
}

#[cfg(all(test, feature = "half"))]
mod tests {
    use super::*;
    use crate::types::level::Level;
    use crate::types::numbers::{bf16_to_f32, f16_to_f32, f32_to_bf16, f32_to_f16};

    /// Reads all numbers of 16 bits by vectors, and writes them back, with some that lie between two.
    ///
    /// # Safety
    /// K7.
    unsafe fn check<T: Stored<V>, V: Vector<Item = f32>>(widen: fn(u16) -> f32, round: fn(f32) -> u16, quiet: bool)
    where
        f32: Stored<V>,
    {
        for first in (0..=u16::MAX).step_by(16) {
            let bits: [u16; 16] = core::array::from_fn(|k| first + k as u16);
            let mut wide = [0f32; 16];
            // SAFETY: there are 16 numbers, of which a vector has 16 or 8; K7 is the caller's promise.
            let vector = unsafe { T::read(bits.as_ptr().cast()) };
            // SAFETY: as above.
            unsafe { f32::write(vector, wide.as_mut_ptr().cast()) };
            let n = V::N;
            for (&bits, &wide) in bits.iter().zip(&wide).take(n) {
                let (got, expected) = (wide.to_bits(), widen(bits).to_bits());
                assert!(got == expected || (!quiet && got | 0x0040_0000 == expected), "{bits:#06x}");
            }
            for between in [0, 1, 0x0fff, 0x1000, 0x1001, 0x7fff, 0x8000, 0x8001, 0xffff] {
                let near = bits.map(|bits| f32::from_bits(widen(bits).to_bits().wrapping_add(between)));
                let mut narrow = [0u16; 16];
                // SAFETY: as above.
                let vector = unsafe { f32::read(near.as_ptr().cast()) };
                // SAFETY: as above.
                unsafe { T::write(vector, narrow.as_mut_ptr().cast()) };
                let expected = near.map(round);
                assert_eq!(narrow[..n], expected[..n], "{:?} of {near:?}", T::DTYPE);
            }
        }
    }

    #[test]
    fn all_halves_are_widened_and_rounded_as_by_functions() {
        if Level::Avx2.is_available() {
            // SAFETY: K7, as just checked.
            unsafe { check::<half::f16, __m256>(f16_to_f32, f32_to_f16, true) };
            // SAFETY: as above.
            unsafe { check::<half::bf16, __m256>(bf16_to_f32, f32_to_bf16, false) };
        }
        if Level::Avx512.is_available() {
            // SAFETY: as above.
            unsafe { check::<half::f16, __m512>(f16_to_f32, f32_to_f16, true) };
            // SAFETY: as above.
            unsafe { check::<half::bf16, __m512>(bf16_to_f32, f32_to_bf16, false) };
        }
    }
}
