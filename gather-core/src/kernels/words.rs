//! Vectors of lanes of 32 bits: the operations that resolving indices takes.
//!
//! A value exists only where the machine has the instructions of its vector (K7): functions that make one out of nothing
//! are unsafe. So those that take one are safe.

/// Eight lanes, with AVX2.
pub(crate) use core::arch::x86_64::__m256i as Eight;
/// Sixteen lanes, with AVX-512.
pub(crate) use core::arch::x86_64::__m512i as Sixteen;
use core::arch::x86_64::{
    _mm_loadl_epi64, _mm_loadu_si128, _mm256_add_epi32, _mm256_and_si256, _mm256_blendv_epi8, _mm256_castps_si256,
    _mm256_castsi256_ps, _mm256_cmpeq_epi32, _mm256_cmpgt_epi32, _mm256_cvtepi8_epi32, _mm256_cvtepi16_epi32,
    _mm256_cvtepu8_epi32, _mm256_cvtepu16_epi32, _mm256_loadu_si256, _mm256_min_epu32, _mm256_movemask_epi8,
    _mm256_movemask_ps, _mm256_mullo_epi32, _mm256_or_si256, _mm256_permute4x64_epi64, _mm256_permutevar8x32_epi32,
    _mm256_set1_epi32, _mm256_shuffle_ps, _mm256_srai_epi32, _mm256_storeu_si256, _mm512_add_epi32,
    _mm512_cmpeq_epi32_mask, _mm512_cmple_epu32_mask, _mm512_cvtepi8_epi32, _mm512_cvtepi16_epi32,
    _mm512_cvtepu8_epi32, _mm512_cvtepu16_epi32, _mm512_loadu_si512, _mm512_mask_add_epi32, _mm512_mask_mov_epi32,
    _mm512_movepi32_mask, _mm512_mullo_epi32, _mm512_or_si512, _mm512_permutex2var_epi32, _mm512_permutexvar_epi32,
    _mm512_set1_epi32, _mm512_setr_epi32, _mm512_srai_epi32, _mm512_storeu_si512,
};

use crate::types::index::{Index, IndexType};

/// The most lanes of a vector.
pub(crate) const MOST_LANES: usize = 16;

/// Numbers for the lanes of any vector; those beyond its last lane are not looked at.
pub(crate) type Numbers = [i32; MOST_LANES];

/// A vector of `N` lanes of 32 bits.
pub(crate) trait Words: Copy {
    /// Some of its lanes.
    type Mask: Copy;

    /// The number of lanes.
    const N: usize;

    /// The lane of each of `N` numbers of 64 bits after [`Words::load_wide`].
    const WIDE_LANES: [usize; MOST_LANES];

    /// # Safety
    /// K7; `N` words may be read, at any alignment.
    unsafe fn load(from: *const i32) -> Self;

    /// # Safety
    /// K7; `N` numbers of 8 bits may be read.
    unsafe fn load_i8(from: *const i8) -> Self;

    /// # Safety
    /// K7; `N` numbers of 8 bits may be read.
    unsafe fn load_u8(from: *const u8) -> Self;

    /// # Safety
    /// K7; `N` numbers of 16 bits may be read, at any alignment.
    unsafe fn load_i16(from: *const i16) -> Self;

    /// # Safety
    /// K7; `N` numbers of 16 bits may be read, at any alignment.
    unsafe fn load_u16(from: *const u16) -> Self;

    /// The low and the high halves of `N` numbers of 64 bits, in the order [`Words::WIDE_LANES`].
    ///
    /// # Safety
    /// K7; the numbers may be read, at any alignment.
    unsafe fn load_wide(from: *const i64) -> [Self; 2];

    /// # Safety
    /// `N` words may be written, at any alignment.
    unsafe fn store(words: Self, to: *mut i32);

    /// A vector of one word, where another is there to show K7.
    fn filled(like: Self, word: i32) -> Self;
    fn plus(a: Self, b: Self) -> Self;
    fn times(a: Self, b: Self) -> Self;
    fn or(a: Self, b: Self) -> Self;
    /// -1 where a lane is negative, 0 elsewhere.
    fn signs(a: Self) -> Self;
    /// The words at the numbers of lanes, modulo `N`.
    fn permuted(a: Self, lanes: Self) -> Self;
    /// The words at the numbers of lanes: those of `a`, then from `N` on those of `b`.
    fn merged(a: Self, b: Self, lanes: Self) -> Self;
    /// The lanes of [`Words::load_wide`], or of a vector made of them, in order.
    fn wide_in_order(a: Self) -> Self;

    /// All lanes, or none.
    fn lanes(like: Self, all: bool) -> Self::Mask;
    fn negative(a: Self) -> Self::Mask;
    fn equal(a: Self, b: Self) -> Self::Mask;
    /// The lanes of `a` that are at most as great as those of `b`, both without signs.
    fn at_most(a: Self, b: Self) -> Self::Mask;
    fn both(a: Self::Mask, b: Self::Mask) -> Self::Mask;
    /// Whether the mask has all lanes.
    fn are_all(mask: Self::Mask) -> bool;
    /// The lanes that are negative, one bit each.
    fn negative_bits(a: Self) -> u32;
    /// The lanes of `yes` in a mask, and those of `no` elsewhere.
    fn select(mask: Self::Mask, yes: Self, no: Self) -> Self;
    /// `a`, with `b` added in the lanes of a mask.
    fn plus_where(a: Self, mask: Self::Mask, b: Self) -> Self;

    /// Whether a lane is negative.
    #[inline(always)]
    fn any_negative(a: Self) -> bool {
        Self::negative_bits(a) != 0
    }

    /// A vector of one word.
    ///
    /// # Safety
    /// K7.
    #[inline(always)]
    unsafe fn splat(word: i32) -> Self {
        // SAFETY: the caller's promise.
        unsafe { Self::of(&[word; MOST_LANES]) }
    }

    /// The vector of the first numbers.
    ///
    /// # Safety
    /// K7.
    #[inline(always)]
    unsafe fn of(numbers: &Numbers) -> Self {
        const { assert!(Self::N <= MOST_LANES) };
        // SAFETY: `N` of the numbers; K7 is the caller's promise.
        unsafe { Self::load(numbers.as_ptr()) }
    }
}

/// Implements the functions of [`Words`] that take a vector by instructions of some features.
macro_rules! safe_operations {
    ($features:literal: $($name:ident($($arg:ident: $ty:ty),*) -> $out:ty { $body:expr })*) => {$(
        #[inline(always)]
        fn $name($($arg: $ty),*) -> $out {
            #[inline]
            #[target_feature(enable = $features)]
            fn run($($arg: $ty),*) -> $out {
                $body
            }
            // SAFETY: K7 holds where there is a value of the vector.
            unsafe { run($($arg),*) }
        }
    )*};
}

/// Implements the functions of [`Words`] that make a vector, or write one, by instructions of some features.
macro_rules! unsafe_operations {
    ($features:literal: $($name:ident($($arg:ident: $ty:ty),*) -> $out:ty { $body:expr })*) => {$(
        #[inline(always)]
        unsafe fn $name($($arg: $ty),*) -> $out {
            #[inline]
            #[target_feature(enable = $features)]
            unsafe fn run($($arg: $ty),*) -> $out {
                // SAFETY: the caller's promise, for one vector or two that follow each other.
                unsafe { $body }
            }
            // SAFETY: the caller's promise.
            unsafe { run($($arg),*) }
        }
    )*};
}

impl Words for Eight {
    /// All ones in its lanes.
    type Mask = Eight;

    const N: usize = 8;

    const WIDE_LANES: [usize; MOST_LANES] = [0, 1, 4, 5, 2, 3, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15];

    unsafe_operations! {
        "avx2":
        load(from: *const i32) -> Eight { _mm256_loadu_si256(from.cast()) }
        load_i8(from: *const i8) -> Eight { _mm256_cvtepi8_epi32(_mm_loadl_epi64(from.cast())) }
        load_u8(from: *const u8) -> Eight { _mm256_cvtepu8_epi32(_mm_loadl_epi64(from.cast())) }
        load_i16(from: *const i16) -> Eight { _mm256_cvtepi16_epi32(_mm_loadu_si128(from.cast())) }
        load_u16(from: *const u16) -> Eight { _mm256_cvtepu16_epi32(_mm_loadu_si128(from.cast())) }
        load_wide(from: *const i64) -> [Eight; 2] {
            halves_of_eight(_mm256_loadu_si256(from.cast()), _mm256_loadu_si256(from.wrapping_add(4).cast()))
        }
        store(words: Eight, to: *mut i32) -> () { _mm256_storeu_si256(to.cast(), words) }
    }

    safe_operations! {
        "avx2":
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

/// The low and the high halves of eight numbers. Of each half of the registers, a shuffle takes four.
#[inline]
#[target_feature(enable = "avx2")]
fn halves_of_eight(first: Eight, last: Eight) -> [Eight; 2] {
    let (first, last) = (_mm256_castsi256_ps(first), _mm256_castsi256_ps(last));
    let low = _mm256_shuffle_ps::<0b10_00_10_00>(first, last);
    let high = _mm256_shuffle_ps::<0b11_01_11_01>(first, last);
    [_mm256_castps_si256(low), _mm256_castps_si256(high)]
}

impl Words for Sixteen {
    /// One bit for each of its lanes.
    type Mask = u16;

    const N: usize = 16;

    const WIDE_LANES: [usize; MOST_LANES] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15];

    unsafe_operations! {
        "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi":
        load(from: *const i32) -> Sixteen { _mm512_loadu_si512(from.cast()) }
        load_i8(from: *const i8) -> Sixteen { _mm512_cvtepi8_epi32(_mm_loadu_si128(from.cast())) }
        load_u8(from: *const u8) -> Sixteen { _mm512_cvtepu8_epi32(_mm_loadu_si128(from.cast())) }
        load_i16(from: *const i16) -> Sixteen { _mm512_cvtepi16_epi32(_mm256_loadu_si256(from.cast())) }
        load_u16(from: *const u16) -> Sixteen { _mm512_cvtepu16_epi32(_mm256_loadu_si256(from.cast())) }
        load_wide(from: *const i64) -> [Sixteen; 2] {
            halves_of_sixteen(_mm512_loadu_si512(from.cast()), _mm512_loadu_si512(from.wrapping_add(8).cast()))
        }
        store(words: Sixteen, to: *mut i32) -> () { _mm512_storeu_si512(to.cast(), words) }
    }

    safe_operations! {
        "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi":
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
        both(a: u16, b: u16) -> u16 { a & b }
        are_all(mask: u16) -> bool { mask == u16::MAX }
        negative_bits(a: Sixteen) -> u32 { _mm512_movepi32_mask(a).into() }
        select(mask: u16, yes: Sixteen, no: Sixteen) -> Sixteen { _mm512_mask_mov_epi32(no, mask, yes) }
        plus_where(a: Sixteen, mask: u16, b: Sixteen) -> Sixteen { _mm512_mask_add_epi32(a, mask, a, b) }
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

/// Whether indices of a type are loaded by [`Words::load_wide`].
pub(crate) const fn is_wide<I: Index>() -> bool {
    size_of::<I>() == 8
}

/// `N` indices, in the order of their loads.
#[derive(Clone, Copy)]
pub(crate) struct Indices<W: Words> {
    /// Their low 32 bits.
    pub(crate) low: W,
    /// Those that are negative and fit in 32 bits.
    pub(crate) negative: W::Mask,
    /// Those that 32 bits hold.
    pub(crate) fits: W::Mask,
    /// Those below 0, whether they fit or not.
    pub(crate) below: W::Mask,
}

impl<W: Words> Indices<W> {
    /// Loads `N` indices.
    ///
    /// # Safety
    /// K7; `N` values of `I` may be read, at any alignment.
    #[inline(always)]
    pub(crate) unsafe fn load<I: Index>(from: *const I) -> Self {
        match I::TYPE.fixed_width() {
            // SAFETY: the caller's promise.
            IndexType::I8 => Self::signed(unsafe { W::load_i8(from.cast()) }),
            // SAFETY: as above.
            IndexType::U8 => Self::unsigned(unsafe { W::load_u8(from.cast()) }),
            // SAFETY: as above.
            IndexType::I16 => Self::signed(unsafe { W::load_i16(from.cast()) }),
            // SAFETY: as above.
            IndexType::U16 => Self::unsigned(unsafe { W::load_u16(from.cast()) }),
            // SAFETY: as above.
            IndexType::I32 => Self::signed(unsafe { W::load(from.cast()) }),
            // SAFETY: as above.
            IndexType::U32 => Self::unsigned(unsafe { W::load(from.cast()) }),
            wide => {
                // SAFETY: as above.
                let [low, high] = unsafe { W::load_wide(from.cast()) };
                if wide == IndexType::U64 {
                    Indices { fits: W::equal(high, W::filled(low, 0)), ..Self::unsigned(low) }
                } else {
                    let fits = W::equal(high, W::signs(low));
                    Indices { low, negative: W::negative(low), fits, below: W::negative(high) }
                }
            }
        }
    }

    /// Indices of a signed type of at most 32 bits.
    #[inline(always)]
    fn signed(low: W) -> Self {
        let negative = W::negative(low);
        Indices { low, negative, fits: W::lanes(low, true), below: negative }
    }

    /// Indices of an unsigned type of at most 32 bits.
    #[inline(always)]
    fn unsigned(low: W) -> Self {
        let none = W::lanes(low, false);
        Indices { low, negative: none, fits: W::lanes(low, true), below: none }
    }
}
