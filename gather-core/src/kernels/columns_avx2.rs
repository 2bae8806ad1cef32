//! Eight columns of fused rows in AVX2 vectors.

use crate::kernels::level_fn::Avx2;
use crate::kernels::vector::Vector;
use crate::kernels::x86::__m256;
use crate::types::element::Unaligned;
use crate::types::fused::{Coding, FusedRow, Half, PackedCodes, Single, Upper};

const EIGHT: usize = 8;

/// The offset of a row's scale and bias, and whether they are `f32`.
pub(crate) type ParamsAt = (usize, bool);

pub(crate) trait Eight: Coding {
    /// The columns before scaling.
    type Bits: Copy;

    /// The scale and the bias of a row, in every lane; zeros if the coding has none.
    #[inline(always)]
    fn params(level: Avx2, _: &[u8], _: ParamsAt) -> (__m256, __m256) {
        (level.splat_single(0.0), level.splat_single(0.0))
    }

    /// Reads eight columns from the start of `codes`.
    fn eight(level: Avx2, codes: &[u8]) -> Self::Bits;

    /// Reads the last columns of a row, fewer than eight.
    fn last(level: Avx2, row: &[u8], tail: &Tail) -> Self::Bits;

    fn values(level: Avx2, bits: Self::Bits, scale: __m256, bias: __m256) -> __m256;
}

impl<const PER: usize> Eight for PackedCodes<PER> {
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

    /// The product of a code of few bits and a scale of half precision is exact, so it may be fused with the sum.
    #[inline(always)]
    fn values(level: Avx2, codes: u64, scale: __m256, bias: __m256) -> __m256 {
        if PER == 1 {
            return level.scaled(level.singles_of_bytes(codes), scale, bias);
        }
        level.scaled_fused(level.singles_of_bits(codes, (EIGHT / PER) as i32), scale, bias)
    }
}

macro_rules! plain {
    ($(
        $coding:ident: $size:literal,
        |$level:ident, $bytes:ident| $vector:expr,
        |$row:ident, $tail:ident| $last:expr;
    )*) => {$(
        impl Eight for $coding {
            type Bits = __m256;

            #[inline(always)]
            fn eight($level: Avx2, values: &[u8]) -> __m256 {
                let $bytes = values.first_chunk::<{ EIGHT * $size }>().expect("eight values");
                $vector
            }

            #[inline(always)]
            fn last($level: Avx2, $row: &[u8], $tail: &Tail) -> __m256 {
                $last
            }

            #[inline(always)]
            fn values(_: Avx2, values: __m256, _: __m256, _: __m256) -> __m256 {
                values
            }
        }
    )*};
}

plain! {
    Single: 4,
        |level, bytes| Vector::of(level, bytes),
        |row, tail| level.singles(level.first_words(tail.words(row)));
    Half: 2,
        |level, bytes| level.singles_of_f16(Vector::of(level, bytes)),
        |row, tail| Self::eight(level, &tail.columns(row));
    Upper: 2,
        |level, bytes| level.singles_of_bf16(Vector::of(level, bytes)),
        |row, tail| Self::eight(level, &tail.columns(row));
}

/// The codes of fewer than eight columns, read together with bytes of the row before or after them.
///
/// - **F3** A row has `bytes` bytes, and the codes of its last columns begin at byte `first`.
#[derive(Clone, Copy)]
pub(crate) struct Tail {
    bytes: usize,
    first: usize,
}

impl Tail {
    /// The tail whose codes begin at byte `codes` of the row's codes.
    #[inline(always)]
    pub(crate) fn new(row: &FusedRow, codes: usize) -> Self {
        Tail { bytes: row.bytes(), first: row.codes_at() + codes }
    }

    /// The columns of the tail, of four bytes each.
    #[inline(always)]
    fn words(self, row: &[u8]) -> &[Unaligned<i32>] {
        let Tail { bytes, first } = self;
        debug_assert!(row.len() == bytes && first < bytes, "F3");
        // SAFETY: F3: `bytes - first` bytes of the row, or fewer, at any alignment.
        unsafe { core::slice::from_raw_parts(row.as_ptr().wrapping_add(first).cast(), (bytes - first) / 4) }
    }

    /// The columns of the tail, of two bytes each, then zeros.
    #[inline(always)]
    fn columns(self, row: &[u8]) -> [u8; 2 * EIGHT] {
        let mut columns = [0; 2 * EIGHT];
        for (k, word) in columns.as_chunks_mut::<EIGHT>().0.iter_mut().enumerate() {
            let tail = Tail { first: self.first + k * EIGHT, ..self };
            if tail.first < tail.bytes {
                *word = tail.read(row).to_le_bytes();
            }
        }
        columns
    }

    /// At most eight bytes of `row[first..]` as a little-endian word, zero-extended.
    #[inline(always)]
    fn read(self, row: &[u8]) -> u64 {
        let Tail { bytes, first } = self;
        debug_assert!(row.len() == bytes && first < bytes, "F3");
        if bytes < EIGHT {
            return short_word(row) >> (first * 8);
        }
        let at = first.min(bytes - EIGHT);
        // SAFETY: F3: the row has `bytes` bytes, and `at <= bytes - 8` by the line above; at any alignment.
        let word = unsafe { row.as_ptr().wrapping_add(at).cast::<u64>().read_unaligned() };
        u64::from_le(word) >> ((first - at) * 8)
    }
}

/// Fewer than eight bytes as a little-endian word. Four or more are joined from the first four and the last four.
#[inline(always)]
fn short_word(bytes: &[u8]) -> u64 {
    if let (Some(&first), Some(&last)) = (bytes.first_chunk(), bytes.last_chunk()) {
        let [first, last] = [first, last].map(|four| u64::from(u32::from_le_bytes(four)));
        return first | last << ((bytes.len() - 4) * 8);
    }
    bytes.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte))
}

/// The scale and the bias of a row, in every lane.
#[inline(always)]
fn params<const MAY_BE_SINGLE: bool>(level: Avx2, row: &[u8], (at, is_single): ParamsAt) -> (__m256, __m256) {
    // Codes of few bits always have half-precision params.
    let is_single = MAY_BE_SINGLE && is_single;
    debug_assert!(at + if is_single { 8 } else { 4 } <= row.len(), "F1");
    let params = row.as_ptr().wrapping_add(at);
    if is_single {
        // Two loads, so that each can be broadcast from memory.
        // SAFETY: F1: the scale and the bias are two `f32` from byte `at` of the row on, at any alignment.
        let scale = unsafe { params.cast::<f32>().read_unaligned() };
        // SAFETY: F1: the bias is the second `f32`, at any alignment.
        let bias = unsafe { params.cast::<f32>().wrapping_add(1).read_unaligned() };
        (level.splat_single(scale), level.splat_single(bias))
    } else {
        // SAFETY: F1: the scale and the bias are two `f16` from byte `at` of the row on, at any alignment.
        let both = unsafe { params.cast::<i32>().read_unaligned() };
        level.splat_halves(both).into()
    }
}
