//! Vectors of 32-bit lanes: the operations for resolving indices.
//!
//! Constructors take the token of a level, other functions a vector or a mask. A vector that is only a proof of the
//! level is named `like`.

use core::arch::x86_64::*;

use crate::kernels::level_fn::{Avx2, Avx512};
use crate::kernels::vector::Vector;
/// Eight lanes, with AVX2.
pub(crate) use crate::kernels::x86::__m256i as Eight;
/// Sixteen lanes, with AVX-512.
pub(crate) use crate::kernels::x86::__m512i as Sixteen;
use crate::types::index::{Index, IndexType};

pub(crate) const MOST_LANES: usize = 16;

/// Numbers for the lanes of any vector; only the first `N` are used.
pub(crate) type Numbers = [i32; MOST_LANES];

/// A vector of `N` lanes of 32 bits.
pub(crate) trait Words: Vector {
    /// A subset of the lanes.
    type Mask: Copy;

    /// `N` numbers of 8 bits. Every bit pattern is valid.
    type Bytes: Copy;
    /// `N` numbers of 16 bits. Every bit pattern is valid.
    type Halves: Copy;

    const N: usize;

    /// The lane of each of `N` 64-bit numbers after [`Words::of_wide`].
    const WIDE_LANES: [usize; MOST_LANES];

    /// `word` in every lane.
    fn splat(level: Self::Level, word: i32) -> Self;

    /// Sign-extends numbers of 8 bits.
    fn of_i8(like: Self, numbers: Self::Bytes) -> Self;
    fn of_u8(like: Self, numbers: Self::Bytes) -> Self;
    /// Sign-extends numbers of 16 bits.
    fn of_i16(like: Self, numbers: Self::Halves) -> Self;
    fn of_u16(like: Self, numbers: Self::Halves) -> Self;
    /// The low and the high halves of `N` 64-bit numbers, in the order [`Words::WIDE_LANES`].
    fn of_wide(first: Self, last: Self) -> [Self; 2];

    /// `word` in every lane.
    fn filled(like: Self, word: i32) -> Self;
    fn plus(a: Self, b: Self) -> Self;
    fn times(a: Self, b: Self) -> Self;
    fn or(a: Self, b: Self) -> Self;
    /// -1 in negative lanes, 0 elsewhere.
    fn signs(a: Self) -> Self;
    /// `a[lanes[k] % N]`.
    fn permuted(a: Self, lanes: Self) -> Self;
    /// `a[lanes[k]]` for `lanes[k] < N`, else `b[lanes[k] - N]`.
    fn merged(a: Self, b: Self, lanes: Self) -> Self;
    /// A vector in the lane order of [`Words::of_wide`], put in order.
    fn wide_in_order(a: Self) -> Self;

    /// The mask of all lanes, or of none.
    fn lanes(like: Self, all: bool) -> Self::Mask;
    fn negative(a: Self) -> Self::Mask;
    fn equal(a: Self, b: Self) -> Self::Mask;
    /// The lanes with `a <= b`, unsigned.
    fn at_most(a: Self, b: Self) -> Self::Mask;
    fn both(a: Self::Mask, b: Self::Mask) -> Self::Mask;
    fn are_all(mask: Self::Mask) -> bool;
    /// The negative lanes, one bit each.
    fn negative_bits(a: Self) -> u32;
    /// `yes` in the lanes of the mask, `no` elsewhere.
    fn select(mask: Self::Mask, yes: Self, no: Self) -> Self;
    /// `a + b` in the lanes of the mask, `a` elsewhere.
    fn plus_where(a: Self, mask: Self::Mask, b: Self) -> Self;

    #[inline(always)]
    fn any_negative(a: Self) -> bool {
        Self::negative_bits(a) != 0
    }
}

/// Implements functions of [`Words`] by instructions of the given features.
macro_rules! operations {
    ($features:literal: $($name:ident($($arg:ident: $ty:ty),*) -> $out:ty { $body:expr })*) => {$(
        #[inline(always)]
        fn $name($($arg: $ty),*) -> $out {
            #[inline]
            #[target_feature(enable = $features)]
            fn run($($arg: $ty),*) -> $out {
                $body
            }
            // SAFETY: an argument is the token of the level or a vector of it, which proves that the machine has it.
            unsafe { run($($arg),*) }
        }
    )*};
}

impl Words for Eight {
    /// All ones in the lanes of the mask.
    type Mask = Eight;

    type Bytes = i64;
    type Halves = __m128i;

    const N: usize = 8;

    const WIDE_LANES: [usize; MOST_LANES] = [0, 1, 4, 5, 2, 3, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15];

    operations! {
        "avx2":
        of_i8(_like: Eight, numbers: i64) -> Eight { _mm256_cvtepi8_epi32(_mm_cvtsi64_si128(numbers)) }
        of_u8(_like: Eight, numbers: i64) -> Eight { _mm256_cvtepu8_epi32(_mm_cvtsi64_si128(numbers)) }
        of_i16(_like: Eight, numbers: __m128i) -> Eight { _mm256_cvtepi16_epi32(numbers) }
        of_u16(_like: Eight, numbers: __m128i) -> Eight { _mm256_cvtepu16_epi32(numbers) }
        of_wide(first: Eight, last: Eight) -> [Eight; 2] { halves_of_eight(first, last) }
        splat(_level: Avx2, word: i32) -> Eight { _mm256_set1_epi32(word) }
        filled(_like: Eight, word: i32) -> Eight { _mm256_set1_epi32(word) }
        plus(a: Eight, b: Eight) -> Eight { _mm256_add_epi32(a, b) }
        times(a: Eight, b: Eight) -> Eight { _mm256_mullo_epi32(a, b) }
        or(a: Eight, b: Eight) -> Eight { _mm256_or_si256(a, b) }
        signs(a: Eight) -> Eight { _mm256_srai_epi32::<31>(a) }
        permuted(a: Eight, lanes: Eight) -> Eight { _mm256_permutevar8x32_epi32(a, lanes) }
        merged(a: Eight, b: Eight, lanes: Eight) -> Eight {
            _mm256_blendv_epi8(
                _mm256_permutevar8x32_epi32(a, lanes),
                _mm256_permutevar8x32_epi32(b, lanes),
                _mm256_cmpgt_epi32(lanes, _mm256_set1_epi32(7)),
            )
        }
        wide_in_order(a: Eight) -> Eight { _mm256_permute4x64_epi64::<0b11_01_10_00>(a) }

        lanes(_like: Eight, all: bool) -> Eight { _mm256_set1_epi32(-i32::from(all)) }
        negative(a: Eight) -> Eight { _mm256_srai_epi32::<31>(a) }
        equal(a: Eight, b: Eight) -> Eight { _mm256_cmpeq_epi32(a, b) }
        at_most(a: Eight, b: Eight) -> Eight { _mm256_cmpeq_epi32(_mm256_min_epu32(a, b), a) }
        both(a: Eight, b: Eight) -> Eight { _mm256_and_si256(a, b) }
        are_all(mask: Eight) -> bool { _mm256_movemask_epi8(mask) == -1 }
        negative_bits(a: Eight) -> u32 { _mm256_movemask_ps(_mm256_castsi256_ps(a)) as u32 }
        select(mask: Eight, yes: Eight, no: Eight) -> Eight { _mm256_blendv_epi8(no, yes, mask) }
        plus_where(a: Eight, mask: Eight, b: Eight) -> Eight { _mm256_add_epi32(a, _mm256_and_si256(mask, b)) }
    }
}

/// The low and the high halves of eight numbers. A shuffle takes four from each 128-bit half.
#[inline]
#[target_feature(enable = "avx2")]
fn halves_of_eight(first: Eight, last: Eight) -> [Eight; 2] {
    let (first, last) = (_mm256_castsi256_ps(first), _mm256_castsi256_ps(last));
    let low = _mm256_shuffle_ps::<0b10_00_10_00>(first, last);
    let high = _mm256_shuffle_ps::<0b11_01_11_01>(first, last);
    [_mm256_castps_si256(low), _mm256_castps_si256(high)]
}

impl Words for Sixteen {
    /// One bit per lane.
    type Mask = u16;

    type Bytes = __m128i;
    type Halves = Eight;

    const N: usize = 16;

    const WIDE_LANES: [usize; MOST_LANES] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15];

    operations! {
        "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi":
        of_i8(_like: Sixteen, numbers: __m128i) -> Sixteen { _mm512_cvtepi8_epi32(numbers) }
        of_u8(_like: Sixteen, numbers: __m128i) -> Sixteen { _mm512_cvtepu8_epi32(numbers) }
        of_i16(_like: Sixteen, numbers: Eight) -> Sixteen { _mm512_cvtepi16_epi32(numbers) }
        of_u16(_like: Sixteen, numbers: Eight) -> Sixteen { _mm512_cvtepu16_epi32(numbers) }
        of_wide(first: Sixteen, last: Sixteen) -> [Sixteen; 2] { halves_of_sixteen(first, last) }
        splat(_level: Avx512, word: i32) -> Sixteen { _mm512_set1_epi32(word) }
        filled(_like: Sixteen, word: i32) -> Sixteen { _mm512_set1_epi32(word) }
        plus(a: Sixteen, b: Sixteen) -> Sixteen { _mm512_add_epi32(a, b) }
        times(a: Sixteen, b: Sixteen) -> Sixteen { _mm512_mullo_epi32(a, b) }
        or(a: Sixteen, b: Sixteen) -> Sixteen { _mm512_or_si512(a, b) }
        signs(a: Sixteen) -> Sixteen { _mm512_srai_epi32::<31>(a) }
        permuted(a: Sixteen, lanes: Sixteen) -> Sixteen { _mm512_permutexvar_epi32(lanes, a) }
        merged(a: Sixteen, b: Sixteen, lanes: Sixteen) -> Sixteen { _mm512_permutex2var_epi32(a, lanes, b) }
        wide_in_order(a: Sixteen) -> Sixteen { a }

        lanes(_like: Sixteen, all: bool) -> u16 { if all { u16::MAX } else { 0 } }
        negative(a: Sixteen) -> u16 { _mm512_movepi32_mask(a) }
        equal(a: Sixteen, b: Sixteen) -> u16 { _mm512_cmpeq_epi32_mask(a, b) }
        at_most(a: Sixteen, b: Sixteen) -> u16 { _mm512_cmple_epu32_mask(a, b) }
        negative_bits(a: Sixteen) -> u32 { _mm512_movepi32_mask(a).into() }
        select(mask: u16, yes: Sixteen, no: Sixteen) -> Sixteen { _mm512_mask_mov_epi32(no, mask, yes) }
        plus_where(a: Sixteen, mask: u16, b: Sixteen) -> Sixteen { _mm512_mask_add_epi32(a, mask, a, b) }
    }

    // Masks are integers: they prove no level, and need no vector instructions.
    #[inline(always)]
    fn both(a: u16, b: u16) -> u16 {
        a & b
    }

    #[inline(always)]
    fn are_all(mask: u16) -> bool {
        mask == u16::MAX
    }
}

/// The low and the high halves of sixteen numbers.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi")]
fn halves_of_sixteen(first: Sixteen, last: Sixteen) -> [Sixteen; 2] {
    let even = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
    let odd = _mm512_setr_epi32(1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31);
    [_mm512_permutex2var_epi32(first, even, last), _mm512_permutex2var_epi32(first, odd, last)]
}

/// Whether indices of type `I` are split by [`Words::of_wide`].
pub(crate) const fn is_wide<I: Index>() -> bool {
    size_of::<I>() == 8
}

/// `N` indices, one per lane; indices of 8 bytes are in the order [`Words::WIDE_LANES`].
#[derive(Clone, Copy)]
pub(crate) struct IndexWords<W: Words> {
    /// The low 32 bits of the indices.
    pub(crate) low: W,
    /// The negative indices of those in `fits`; other lanes are arbitrary.
    pub(crate) negative: W::Mask,
    /// The indices that fit in 32 bits.
    pub(crate) fits: W::Mask,
}

impl<W: Words> IndexWords<W> {
    /// Loads `N` indices.
    ///
    /// # Safety
    /// `N` values of `I` may be read, at any alignment.
    #[inline(always)]
    pub(crate) unsafe fn load<I: Index>(like: W, from: *const I) -> Self {
        // Reads `N` indices as a `$ty`.
        macro_rules! load {
            ($ty:ty, $number:literal) => {{
                const { assert!(size_of::<$ty>() == $number * W::N) };
                // SAFETY: by the caller's contract, `N` numbers of `size_of::<I>()` bytes may be read. If `$ty` is a
                // vector, `like` proves that the machine has it.
                unsafe { from.cast::<$ty>().read_unaligned() }
            }};
        }
        match I::TYPE.fixed_width() {
            IndexType::I8 => Self::signed(W::of_i8(like, load!(W::Bytes, 1))),
            IndexType::U8 => Self::unsigned(W::of_u8(like, load!(W::Bytes, 1))),
            IndexType::I16 => Self::signed(W::of_i16(like, load!(W::Halves, 2))),
            IndexType::U16 => Self::unsigned(W::of_u16(like, load!(W::Halves, 2))),
            IndexType::I32 => Self::signed(load!(W, 4)),
            IndexType::U32 => Self::unsigned(load!(W, 4)),
            wide => {
                let [first, last] = load!([W; 2], 8);
                let [low, high] = W::of_wide(first, last);
                if wide == IndexType::U64 {
                    IndexWords { fits: W::equal(high, W::filled(low, 0)), ..Self::unsigned(low) }
                } else {
                    IndexWords { low, negative: W::negative(low), fits: W::equal(high, W::signs(low)) }
                }
            }
        }
    }

    /// Indices of a signed type of at most 32 bits.
    #[inline(always)]
    fn signed(low: W) -> Self {
        IndexWords { low, negative: W::negative(low), fits: W::lanes(low, true) }
    }

    /// Indices of an unsigned type of at most 32 bits.
    #[inline(always)]
    fn unsigned(low: W) -> Self {
        IndexWords { low, negative: W::lanes(low, false), fits: W::lanes(low, true) }
    }
}
