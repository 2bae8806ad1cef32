//! Eight columns of fused rows, as a vector of AVX2 holds them.

use crate::kernels::level_fn::Avx2;
use crate::kernels::vector::Vector;
use crate::kernels::x86::__m256;
use crate::types::fused::{Codes, Coding, FusedRow, Half, Single, Upper};

/// Columns of a vector.
const EIGHT: usize = 8;

/// The first byte of the scale and the bias of a row, and whether these are `f32`.
pub(crate) type ParamsAt = (usize, bool);

/// Eight columns of a row, as vectors of AVX2 hold them.
pub(crate) trait Eight: Coding {
    /// The columns before they are scaled.
    type Bits: Copy;

    /// The scale and the bias of a row, in every element; zeros, where there are none.
    #[inline(always)]
    fn params(level: Avx2, _: &[u8], _: ParamsAt) -> (__m256, __m256) {
        (level.splat_single(0.0), level.splat_single(0.0))
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

    /// A product of a code of few bits with a scale of half precision is exact, so that it may be fused with the sum.
    #[inline(always)]
    fn values(level: Avx2, codes: u64, scale: __m256, bias: __m256) -> __m256 {
        if PER == 1 {
            return level.scaled(level.singles_of_bytes(codes), scale, bias);
        }
        level.scaled_fused(level.singles_of_bits(codes, (EIGHT / PER) as i32), scale, bias)
    }
}

macro_rules! plain {
    ($($coding:ident: $size:literal, |$level:ident, $bytes:ident| $vector:expr;)*) => {$(
        impl Eight for $coding {
            type Bits = __m256;

            #[inline(always)]
            fn eight($level: Avx2, values: &[u8]) -> __m256 {
                let $bytes = values.first_chunk::<{ EIGHT * $size }>().expect("eight values");
                $vector
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
    Single: 4, |level, bytes| Vector::of(level, bytes);
    Half: 2, |level, bytes| level.singles_of_f16(Vector::of(level, bytes));
    Upper: 2, |level, bytes| level.singles_of_bf16(Vector::of(level, bytes));
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
        (level.splat_single(scale), level.splat_single(bias))
    } else {
        // SAFETY: F1: the scale and the bias are two halves of the row, at any alignment.
        let both = unsafe { params.cast::<i32>().read_unaligned() };
        level.splat_halves(both).into()
    }
}
