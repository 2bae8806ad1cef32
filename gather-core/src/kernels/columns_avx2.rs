//! Eight columns of fused rows, as a vector of AVX2 holds them.

use core::arch::x86_64::*;

use crate::kernels::level_fn::Avx2;
use crate::types::fused::{Codes, Coding, FusedRow, Half, Single, Upper};

/// Columns of a vector.
const EIGHT: usize = 8;

/// A number in every element.
#[inline(always)]
fn splat(_: Avx2, number: f32) -> __m256 {
    // SAFETY: the token shows the level.
    unsafe { _mm256_set1_ps(number) }
}

/// The first byte of the scale and the bias of a row, and whether these are `f32`.
pub(crate) type ParamsAt = (usize, bool);

/// Eight columns of a row, as vectors of AVX2 hold them.
pub(crate) trait Eight: Coding {
    /// The columns before they are scaled.
    type Bits: Copy;

    /// The scale and the bias of a row, in every element; zeros, where there are none.
    #[inline(always)]
    fn params(level: Avx2, _: &[u8], _: ParamsAt) -> (__m256, __m256) {
        (splat(level, 0.0), splat(level, 0.0))
    }

    /// Reads eight columns, whose bytes these are.
    fn eight(level: Avx2, codes: &[u8]) -> Self::Bits;

    /// Reads the last columns of a row, which are fewer.
    fn last(level: Avx2, row: &[u8], tail: &Tail) -> Self::Bits;

    /// The values.
    fn values(level: Avx2, bits: Self::Bits, scale: __m256, bias: __m256) -> __m256;
}

impl<const PER: usize> Eight for Codes<PER> {
    type Bits = u64;

    #[inline(always)]
    fn params(level: Avx2, row: &[u8], at: ParamsAt) -> (__m256, __m256) {
        if PER == 1 { params::<true>(level, row, at) } else { params::<false>(level, row, at) }
    }

    #[inline(always)]
    fn eight(_: Avx2, codes: &[u8]) -> u64 {
        match PER {
            1 => u64::from_le_bytes(*codes.first_chunk().expect("eight bytes")),
            2 => u32::from_le_bytes(*codes.first_chunk().expect("four bytes")).into(),
            _ => u16::from_le_bytes(*codes.first_chunk().expect("two bytes")).into(),
        }
    }

    #[inline(always)]
    fn last(_: Avx2, row: &[u8], tail: &Tail) -> u64 {
        tail.read(row)
    }

    #[inline(always)]
    fn values(_: Avx2, codes: u64, scale: __m256, bias: __m256) -> __m256 {
        // SAFETY: the token shows the level, which has FMA.
        unsafe { decode::<PER>(codes, scale, bias) }
    }
}

macro_rules! plain {
    ($($coding:ident: $size:literal, |$at:ident| $vector:expr;)*) => {$(
        impl Eight for $coding {
            type Bits = __m256;

            #[inline(always)]
            fn eight(_: Avx2, values: &[u8]) -> __m256 {
                #[inline]
                #[target_feature(enable = "avx2,fma,f16c")]
                fn vector(values: &[u8; EIGHT * $size]) -> __m256 {
                    let $at = values.as_ptr();
                    // SAFETY: as many bytes, at any alignment.
                    unsafe { $vector }
                }
                // SAFETY: the token shows the level.
                unsafe { vector(values.first_chunk().expect("eight values")) }
            }

            #[inline(always)]
            fn last(level: Avx2, row: &[u8], tail: &Tail) -> __m256 {
                Self::eight(level, &tail.columns(row))
            }

            #[inline(always)]
            fn values(_: Avx2, values: __m256, _: __m256, _: __m256) -> __m256 {
                values
            }
        }
    )*};
}

plain! {
    Single: 4, |at| _mm256_loadu_ps(at.cast());
    Half: 2, |at| _mm256_cvtph_ps(_mm_loadu_si128(at.cast()));
    Upper: 2, |at| bf16_to_256(_mm_loadu_si128(at.cast()));
}

/// The codes of fewer than eight columns, which are read with bytes of the row before or behind them.
///
/// - **F3** A row has `bytes` bytes, among which those of its last columns begin with `first`.
#[derive(Clone, Copy)]
pub(crate) struct Tail {
    bytes: usize,
    first: usize,
}

impl Tail {
    /// For the codes from byte `codes` of all codes on.
    #[inline(always)]
    pub(crate) fn new(row: &FusedRow, codes: usize) -> Self {
        Tail { bytes: row.bytes(), first: row.codes_at() + codes }
    }

    /// The columns of a row that ends with them, then zeros.
    #[inline(always)]
    fn columns(self, row: &[u8]) -> [u8; 4 * EIGHT] {
        let mut columns = [0; 4 * EIGHT];
        for (k, word) in columns.as_chunks_mut::<EIGHT>().0.iter_mut().enumerate() {
            let tail = Tail { first: self.first + k * EIGHT, ..self };
            if tail.first < tail.bytes {
                *word = tail.read(row).to_le_bytes();
            }
        }
        columns
    }

    /// The bytes from the first on, the first in the lowest bits: eight, or fewer and then zeros, where the row ends.
    #[inline(always)]
    fn read(self, row: &[u8]) -> u64 {
        let Tail { bytes, first } = self;
        debug_assert!(row.len() == bytes && first < bytes, "F3");
        if bytes < EIGHT {
            return short_word(row) >> (first * 8);
        }
        let at = first.min(bytes - EIGHT);
        // SAFETY: F3: eight bytes that end with the row or before it, at any alignment.
        let word = unsafe { row.as_ptr().wrapping_add(at).cast::<u64>().read_unaligned() };
        u64::from_le(word) >> ((first - at) * 8)
    }
}

/// Fewer than eight bytes, then zeros: of four or more, the first four and the last four.
#[inline(always)]
fn short_word(bytes: &[u8]) -> u64 {
    if let (Some(&first), Some(&last)) = (bytes.first_chunk(), bytes.last_chunk()) {
        let [first, last] = [first, last].map(|four| u64::from(u32::from_le_bytes(four)));
        return first | last << ((bytes.len() - 4) * 8);
    }
    bytes.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte))
}

/// The scale and the bias of a row of a format, in every element.
#[inline(always)]
fn params<const MAY_BE_SINGLE: bool>(level: Avx2, row: &[u8], (at, is_single): ParamsAt) -> (__m256, __m256) {
    #[inline]
    #[target_feature(enable = "avx2,f16c")]
    fn of_halves(both: i32) -> (__m256, __m256) {
        let both = _mm_cvtph_ps(_mm_cvtsi32_si128(both));
        (_mm256_broadcastss_ps(both), _mm256_broadcastss_ps(_mm_movehdup_ps(both)))
    }
    // Codes of few bits have halves in every format.
    let is_single = MAY_BE_SINGLE && is_single;
    debug_assert!(at + if is_single { 8 } else { 4 } <= row.len(), "F1");
    let params = row.as_ptr().wrapping_add(at);
    if is_single {
        // Each is read by itself, so that it can be broadcast from memory.
        // SAFETY: F1: the scale and the bias are two numbers of the row, at any alignment.
        let scale = unsafe { params.cast::<f32>().read_unaligned() };
        // SAFETY: as above.
        let bias = unsafe { params.cast::<f32>().wrapping_add(1).read_unaligned() };
        (splat(level, scale), splat(level, bias))
    } else {
        // SAFETY: F1: the scale and the bias are two halves of the row, at any alignment.
        let both = unsafe { params.cast::<i32>().read_unaligned() };
        // SAFETY: the token shows the level.
        unsafe { of_halves(both) }
    }
}

/// The values of eight codes. A product of a code of few bits with a scale of half precision is exact, so that it may
/// be fused with the sum.
#[inline]
#[target_feature(enable = "avx2,fma,f16c")]
fn decode<const PER: usize>(codes: u64, scale: __m256, bias: __m256) -> __m256 {
    if PER == 1 {
        let codes = _mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(_mm_cvtsi64_si128(codes as i64)));
        return _mm256_add_ps(_mm256_mul_ps(codes, scale), bias);
    }
    let bits = (EIGHT / PER) as i32;
    let shifts = _mm256_mullo_epi32(_mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7), _mm256_set1_epi32(bits));
    let codes = _mm256_srlv_epi32(_mm256_set1_epi32(codes as i32), shifts);
    let codes = _mm256_and_si256(codes, _mm256_set1_epi32((1 << bits) - 1));
    _mm256_fmadd_ps(_mm256_cvtepi32_ps(codes), scale, bias)
}

/// The bits of a `bf16` are the upper ones of its `f32`. Signalling NaNs stay as they are: what is added or multiplied
/// becomes quiet.
#[inline]
#[target_feature(enable = "avx2")]
pub(crate) fn bf16_to_256(bits: __m128i) -> __m256 {
    _mm256_castsi256_ps(_mm256_slli_epi32::<16>(_mm256_cvtepu16_epi32(bits)))
}
