//! Vectors of floats with the arithmetic of `number` on every lane; loads from and stores to elements, which may be
//! halves.
//!
//! A vector is made by the token of its level, so it exists only on a machine with its instructions. So functions that
//! take a vector are safe.

use core::arch::x86_64::*;
use core::marker::PhantomData;
use core::mem::MaybeUninit;

use crate::kernels::level_fn::{Avx2, Avx512};
#[cfg(feature = "half")]
use crate::kernels::reduce::number::Half;
use crate::kernels::vector::Vector;
#[cfg(feature = "half")]
use crate::kernels::x86::bf16_to_256;
use crate::types::element::{Element, Unaligned};

/// Elements in memory that load as, and store from, the floats of a vector.
pub(in crate::kernels::reduce) trait Stored<V: SumVector>: Element {
    /// The element as a float.
    fn widen(self) -> V::Item;

    /// Loads `V::N` elements.
    fn read(level: V::Level, from: &[Unaligned<Self>]) -> V;

    /// Stores `V::N` elements. Narrower elements are rounded as by [`f32_to_f16`](crate::types::numbers::f32_to_f16)
    /// and [`f32_to_bf16`](crate::types::numbers::f32_to_bf16).
    fn write(vector: V, to: &mut [MaybeUninit<Unaligned<Self>>]);
}

pub(in crate::kernels::reduce) trait SumVector: Vector {
    type Item: Stored<Self>;
    /// The number of lanes.
    const N: usize;

    /// `value` in every lane.
    fn splat(level: Self::Level, value: Self::Item) -> Self;

    /// `value` in every lane; `self` proves the level.
    fn filled(self, value: Self::Item) -> Self;

    fn plus(self, other: Self) -> Self;

    fn times(self, other: Self) -> Self;

    fn divided(self, count: usize) -> Self;

    /// The maximum. Of equal values `self` wins, and NaN wins over any other.
    fn greatest(self, other: Self) -> Self;
}

macro_rules! vectors {
    ($($vector:ident: $level:ident, $n:literal of $item:ident, $splat:ident, $read:ident, $write:ident, $plus:ident,
        $times:ident, $over:ident, $max:ident, |$best:ident, $other:ident| $or_nan:expr;)*) => {$(
        impl Stored<$vector> for $item {
            #[inline(always)]
            fn widen(self) -> $item {
                self
            }

            #[inline(always)]
            fn read(_: $level, from: &[Unaligned<$item>]) -> $vector {
                assert!(from.len() == $n, "a vector of elements");
                // SAFETY: the token proves the level, and there are `N` elements.
                unsafe { $read(from.as_ptr().cast()) }
            }

            #[inline(always)]
            fn write(vector: $vector, to: &mut [MaybeUninit<Unaligned<$item>>]) {
                assert!(to.len() == $n, "a vector of elements");
                // SAFETY: the vector proves the level, and there are `N` elements.
                unsafe { $write(to.as_mut_ptr().cast(), vector) }
            }
        }

        impl SumVector for $vector {
            type Item = $item;
            const N: usize = $n;

            #[inline(always)]
            fn splat(_: $level, value: $item) -> Self {
                // SAFETY: the token proves the level.
                unsafe { $splat(value) }
            }

            #[inline(always)]
            fn filled(self, value: $item) -> Self {
                // SAFETY: `self` proves the level.
                unsafe { $splat(value) }
            }

            #[inline(always)]
            fn plus(self, other: Self) -> Self {
                // SAFETY: `self` proves the level.
                unsafe { $plus(self, other) }
            }

            #[inline(always)]
            fn times(self, other: Self) -> Self {
                // SAFETY: `self` proves the level.
                unsafe { $times(self, other) }
            }

            #[inline(always)]
            fn divided(self, count: usize) -> Self {
                // SAFETY: `self` proves the level.
                unsafe { $over(self, self.filled(count as $item)) }
            }

            #[inline(always)]
            fn greatest(self, $other: Self) -> Self {
                // The instruction returns its second operand unless the first is greater: also for equal values and for
                // NaN.
                // SAFETY: `self` proves the level.
                let $best = unsafe { $max($other, self) };
                // SAFETY: `self` proves the level, also of the mask's instructions.
                unsafe { $or_nan }
            }
        }
    )*};
}

vectors! {
    __m256: Avx2, 8 of f32, _mm256_set1_ps, _mm256_loadu_ps, _mm256_storeu_ps, _mm256_add_ps, _mm256_mul_ps,
        _mm256_div_ps, _mm256_max_ps,
        |best, other| _mm256_blendv_ps(best, other, _mm256_cmp_ps::<_CMP_UNORD_Q>(other, other));
    __m256d: Avx2, 4 of f64, _mm256_set1_pd, _mm256_loadu_pd, _mm256_storeu_pd, _mm256_add_pd, _mm256_mul_pd,
        _mm256_div_pd, _mm256_max_pd,
        |best, other| _mm256_blendv_pd(best, other, _mm256_cmp_pd::<_CMP_UNORD_Q>(other, other));
    __m512: Avx512, 16 of f32, _mm512_set1_ps, _mm512_loadu_ps, _mm512_storeu_ps, _mm512_add_ps, _mm512_mul_ps,
        _mm512_div_ps, _mm512_max_ps,
        |best, other| _mm512_mask_mov_ps(best, _mm512_cmp_ps_mask::<_CMP_UNORD_Q>(other, other), other);
    __m512d: Avx512, 8 of f64, _mm512_set1_pd, _mm512_loadu_pd, _mm512_storeu_pd, _mm512_add_pd, _mm512_mul_pd,
        _mm512_div_pd, _mm512_max_pd,
        |best, other| _mm512_mask_mov_pd(best, _mm512_cmp_pd_mask::<_CMP_UNORD_Q>(other, other), other);
}

/// A vector whose first lanes are loaded and stored.
pub(in crate::kernels::reduce) trait FirstLanes: SumVector {
    /// The mask of the first `lanes <= N` lanes.
    fn first(level: Self::Level, lanes: usize) -> First<Self>;

    /// Loads the elements of the first lanes; other lanes are 0.
    fn read_first(from: &[Unaligned<Self::Item>], first: First<Self>) -> Self;

    /// Stores the elements of the first lanes.
    fn write_first(self, to: &mut [MaybeUninit<Unaligned<Self::Item>>], first: First<Self>);
}

/// The mask of a vector's first lanes.
#[derive(Clone, Copy)]
pub(in crate::kernels::reduce) struct First<V> {
    mask: __m256i,
    lanes: usize,
    vector: PhantomData<V>,
}

impl<V: Copy> First<V> {
    #[inline(always)]
    pub(in crate::kernels::reduce) fn lanes(self) -> usize {
        self.lanes
    }
}

macro_rules! masked {
    ($($vector:ident: $read:ident, |$lanes:ident| $mask:expr;)*) => {$(
        impl FirstLanes for $vector {
            #[inline(always)]
            fn first(_: Avx2, lanes: usize) -> First<Self> {
                #[inline]
                #[target_feature(enable = "avx2")]
                fn mask($lanes: usize) -> __m256i {
                    $mask
                }
                // SAFETY: the token proves the level.
                First { mask: unsafe { mask(lanes) }, lanes, vector: PhantomData }
            }

            #[inline(always)]
            fn read_first(from: &[Unaligned<Self::Item>], first: First<Self>) -> Self {
                assert!(from.len() == first.lanes, "an element for each lane");
                // SAFETY: the mask proves the level. It has `first.lanes` lanes, and `from` an element for each.
                unsafe { $read(from.as_ptr().cast(), first.mask) }
            }

            #[inline(always)]
            fn write_first(self, to: &mut [MaybeUninit<Unaligned<Self::Item>>], first: First<Self>) {
                assert!(to.len() == first.lanes, "an element for each lane");
                // Not a store under a mask, which takes 12 cycles on AMD's processors.
                // SAFETY: a vector is its lanes, and any bits are an element.
                let values: [Unaligned<Self::Item>; Self::N] = unsafe { core::mem::transmute(self) };
                let (mut values, mut to) = (&values[..], to);
                for n in [8, 4, 2, 1] {
                    if first.lanes & n != 0 {
                        let (now, rest) = to.split_at_mut(n);
                        let (from, others) = values.split_at(n);
                        now.iter_mut().zip(from).for_each(|(to, &value)| _ = to.write(value));
                        (to, values) = (rest, others);
                    }
                }
            }
        }
    )*};
}

masked! {
    __m256: _mm256_maskload_ps,
        |lanes| _mm256_cmpgt_epi32(_mm256_set1_epi32(lanes as i32), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
    __m256d: _mm256_maskload_pd,
        |lanes| _mm256_cmpgt_epi64(_mm256_set1_epi64x(lanes as i64), _mm256_setr_epi64x(0, 1, 2, 3));
}

/// Halves, widened by `$widen` from registers of their bits and rounded by `$round`.
#[cfg(feature = "half")]
macro_rules! halves {
    ($($half:ty as $vector:ident: $level:ident, $n:literal, $bits:ident, $read:ident, $write:ident, $widen:ident, $round:ident;)*) => {$(
        impl Stored<$vector> for $half {
            #[inline(always)]
            fn widen(self) -> f32 {
                self.to_single()
            }

            #[inline(always)]
            fn read(_: $level, from: &[Unaligned<Self>]) -> $vector {
                assert!(from.len() == $n, "a vector of elements");
                // SAFETY: the token proves the level, and there are `N` elements.
                let bits = unsafe { $read(from.as_ptr().cast()) };
                // SAFETY: the token proves the level.
                unsafe { $widen(bits) }
            }

            #[inline(always)]
            fn write(vector: $vector, to: &mut [MaybeUninit<Unaligned<Self>>]) {
                assert!(to.len() == $n, "a vector of elements");
                // SAFETY: the vector proves the level.
                let bits: $bits = unsafe { $round(vector) };
                // SAFETY: the vector proves the level, and there are `N` elements.
                unsafe { $write(to.as_mut_ptr().cast(), bits) }
            }
        }
    )*};
}

#[cfg(feature = "half")]
halves! {
    half::f16 as __m256: Avx2, 8, __m128i, _mm_loadu_si128, _mm_storeu_si128, _mm256_cvtph_ps, f16_of_256;
    half::f16 as __m512: Avx512, 16, __m256i, _mm256_loadu_si256, _mm256_storeu_si256, _mm512_cvtph_ps, f16_of_512;
    half::bf16 as __m256: Avx2, 8, __m128i, _mm_loadu_si128, _mm_storeu_si128, bf16_to_256, bf16_of_256;
    half::bf16 as __m512: Avx512, 16, __m256i, _mm256_loadu_si256, _mm256_storeu_si256, bf16_to_512, bf16_of_512;
}

#[cfg(feature = "half")]
#[inline]
#[target_feature(enable = "avx2,f16c")]
fn f16_of_256(numbers: __m256) -> __m128i {
    _mm256_cvtps_ph::<_MM_FROUND_TO_NEAREST_INT>(numbers)
}

#[cfg(feature = "half")]
#[inline]
#[target_feature(enable = "avx512f")]
fn f16_of_512(numbers: __m512) -> __m256i {
    _mm512_cvtps_ph::<_MM_FROUND_TO_NEAREST_INT>(numbers)
}

#[cfg(feature = "half")]
#[inline]
#[target_feature(enable = "avx512f")]
fn bf16_to_512(bits: __m256i) -> __m512 {
    _mm512_castsi512_ps(_mm512_slli_epi32::<16>(_mm512_cvtepu16_epi32(bits)))
}

/// [`f32_to_bf16`](crate::types::numbers::f32_to_bf16), lane by lane.
#[cfg(feature = "half")]
#[inline]
#[target_feature(enable = "avx2")]
fn bf16_of_256(numbers: __m256) -> __m128i {
    let bits = _mm256_castps_si256(numbers);
    let high = _mm256_srli_epi32::<16>(bits);
    let odd = _mm256_and_si256(high, _mm256_set1_epi32(1));
    let nearest = _mm256_add_epi32(bits, _mm256_add_epi32(odd, _mm256_set1_epi32(0x7fff)));
    let nearest = _mm256_srli_epi32::<16>(nearest);
    let quiet = _mm256_or_si256(high, _mm256_set1_epi32(0x0040));
    let nan = _mm256_castps_si256(_mm256_cmp_ps::<_CMP_UNORD_Q>(numbers, numbers));
    let rounded = _mm256_blendv_epi8(nearest, quiet, nan);
    // In the packed vector, each 128-bit half has four words of `rounded` twice.
    let words = _mm256_permute4x64_epi64::<0b1000>(_mm256_packus_epi32(rounded, rounded));
    _mm256_castsi256_si128(words)
}

#[cfg(feature = "half")]
#[inline]
#[target_feature(enable = "avx512f")]
fn bf16_of_512(numbers: __m512) -> __m256i {
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
    use crate::kernels::level_fn::Token;
    use crate::types::level::Level;
    use crate::types::numbers::{bf16_to_f32, f16_to_f32, f32_to_bf16, f32_to_f16};

    /// Widens all 16-bit values by vectors and rounds them back, also values between two halves.
    fn check<T: Stored<V>, V: SumVector<Item = f32>>(
        level: V::Level,
        widen: fn(u16) -> f32,
        from_bits: fn(u16) -> T,
        round: fn(f32) -> u16,
        to_bits: fn(T) -> u16,
        quiet: bool,
    ) where
        f32: Stored<V>,
    {
        let n = V::N;
        for first in (0..=u16::MAX).step_by(16) {
            let bits: [u16; 16] = core::array::from_fn(|k| first + k as u16);
            let mut wide = [MaybeUninit::new(Unaligned(0f32)); 16];
            let vector = T::read(level, &bits.map(|bits| Unaligned(from_bits(bits)))[..n]);
            f32::write(vector, &mut wide[..n]);
            for (&bits, wide) in bits.iter().zip(&wide).take(n) {
                // SAFETY: initialised by a number, and written since.
                let wide = unsafe { wide.assume_init() }.0;
                let (got, expected) = (wide.to_bits(), widen(bits).to_bits());
                assert!(got == expected || (!quiet && got | 0x0040_0000 == expected), "{bits:#06x}");
            }
            for between in [0, 1, 0x0fff, 0x1000, 0x1001, 0x7fff, 0x8000, 0x8001, 0xffff] {
                let near = bits.map(|bits| f32::from_bits(widen(bits).to_bits().wrapping_add(between)));
                let mut narrow = [MaybeUninit::new(Unaligned(T::ZERO)); 16];
                T::write(f32::read(level, &near.map(Unaligned)[..n]), &mut narrow[..n]);
                // SAFETY: initialised by numbers, and written since.
                let narrow = narrow.map(|half| to_bits(unsafe { half.assume_init() }.0));
                let expected = near.map(round);
                assert_eq!(narrow[..n], expected[..n], "{:?} of {near:?}", T::DTYPE);
            }
        }
    }

    #[test]
    fn all_halves_are_widened_and_rounded_as_by_functions() {
        use half::{bf16, f16};

        if Level::Avx2.is_available() {
            // SAFETY: the level has just been detected.
            let level = unsafe { Avx2::of_kernel() };
            check::<_, __m256>(level, f16_to_f32, f16::from_bits, f32_to_f16, f16::to_bits, true);
            check::<_, __m256>(level, bf16_to_f32, bf16::from_bits, f32_to_bf16, bf16::to_bits, false);
        }
        if Level::Avx512.is_available() {
            // SAFETY: the level has just been detected.
            let level = unsafe { Avx512::of_kernel() };
            check::<_, __m512>(level, f16_to_f32, f16::from_bits, f32_to_f16, f16::to_bits, true);
            check::<_, __m512>(level, bf16_to_f32, bf16::from_bits, f32_to_bf16, bf16::to_bits, false);
        }
    }
}
