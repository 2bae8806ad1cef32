//! Block-quantised rows: codes of a few bits, with a scale and a zero point for each block of a row.
//!
//! ```text
//! for each block that a row, or a chunk of one, reaches:
//!     look up its scale and zero point       by the position of its first byte in data
//!     for each 32 values of it:              constant lengths, which the compiler vectorises
//!         (code - zero point) * scale
//! ```
//!
//! An element is a byte of data, with all its codes. A row may begin and end anywhere in a block, and the last block of
//! a row may be short.

// Loops over indices of constant-length arrays are vectorised.
#![allow(clippy::needless_range_loop)]

use core::borrow::Borrow;
use core::marker::PhantomData;
use core::mem::MaybeUninit;

use smallvec::SmallVec;

use crate::kernels::convert::chunks::OwnedParams;
use crate::kernels::convert::decode::{Decode, DecodeFns, ErasedParams, PrefetchGiven, range_of};
use crate::kernels::convert::prefetch_given;
#[cfg(target_arch = "x86_64")]
use crate::kernels::convert::vectors;
use crate::kernels::level_fn::Token;
use crate::kernels::nest::args::Place;
use crate::types::codes::{Codes, Float};
use crate::types::numbers::{e2m1_to_f32, e4m3_to_f32, e4m3fnuz_to_f32, e5m2_to_f32, e5m2fnuz_to_f32};

/// The scales and zero points of block-quantised data.
#[derive(Clone, Debug)]
pub(crate) struct Quantized<'a, T> {
    /// The address of the first byte of data.
    pub(crate) data: usize,
    /// Bytes of data along its last axis, at least 1.
    pub(crate) row: usize,
    /// `log2` of the bytes of a block.
    pub(crate) block_log2: u32,
    /// Codes per byte.
    pub(crate) per_byte: usize,
    /// One scale per block, row after row of scales.
    pub(crate) scales: &'a [T],
    pub(crate) scale_rows: ScaleRows,
    pub(crate) zero_points: ZeroPoints<'a>,
}

/// The row of scales of each row of data.
#[derive(Clone, Debug, Default)]
pub(crate) struct ScaleRows {
    /// `(rows, step)` per group of adjacent dimensions, innermost first: rows of data, and rows of scales from one to
    /// the next, 0 if the group shares one row of scales. Empty if each row of data has its own row of scales.
    groups: SmallVec<[(usize, usize); 8]>,
}

impl ScaleRows {
    /// The rows of scales, given the dimensions of rows: each `scales[d]` is `data[d]` or 1.
    pub(crate) fn new(data: &[usize], scales: &[usize]) -> Self {
        debug_assert_eq!(data.len(), scales.len());
        let mut groups = SmallVec::<[(usize, usize); 8]>::new();
        let mut rows = 1;
        for (&dim, &own) in data.iter().zip(scales).rev().filter(|&(&dim, _)| dim != 1) {
            let step = if own == dim { rows } else { 0 };
            match groups.last_mut() {
                Some((outer, of_group)) if (*of_group == 0) == (step == 0) => *outer = outer.wrapping_mul(dim),
                _ => groups.push((dim, step)),
            }
            rows = rows.wrapping_mul(own);
        }
        if groups.iter().all(|&(_, step)| step != 0) {
            groups.clear();
        }
        ScaleRows { groups }
    }

    #[inline(always)]
    fn of(&self, mut row: usize) -> usize {
        if self.groups.is_empty() {
            return row;
        }
        let mut at = 0;
        for &(rows, step) in &self.groups {
            at += row % rows * step;
            row /= rows;
        }
        at
    }
}

impl<T> OwnedParams for Quantized<'_, T> {
    fn erased(&self) -> ErasedParams<'_> {
        Quantized::erased(self)
    }
}

impl<T> Quantized<'_, T> {
    #[inline(always)]
    fn blocks(&self) -> usize {
        // `row.div_ceil(block)` without a division; `row >= 1`.
        ((self.row - 1) >> self.block_log2) + 1
    }

    /// The params without the type of scales.
    #[inline(always)]
    pub(crate) fn erased(&self) -> ErasedParams<'_> {
        let given = (&raw const *self).cast();
        ErasedParams { given, data: self.data, by_element: true, locates: false, ahead: Some(self) }
    }
}

impl<T> PrefetchGiven for Quantized<'_, T> {
    fn ranges(&self, _: usize, at: usize, bytes: usize, each: &mut dyn FnMut(usize, usize)) {
        let (blocks, rows) = (self.blocks(), at / self.row..(at + bytes).div_ceil(self.row));
        for row in rows {
            range_of(self.scales, self.scale_rows.of(row) * blocks, blocks, each);
            if let ZeroPoints::Packed { codes, row: of_row } = self.zero_points {
                range_of(codes, row * of_row / self.per_byte, of_row.div_ceil(self.per_byte) + 1, each);
            }
        }
    }

    /// Prefetches the scales and zero points of bytes of data.
    fn prefetch(&self, _: usize, at: usize, bytes: usize) {
        let (row, blocks) = (at / self.row, self.blocks());
        let n = (bytes / self.row).saturating_mul(blocks);
        prefetch_given(self.scales, self.scale_rows.of(row).wrapping_mul(blocks), n);
        if let ZeroPoints::Packed { codes, row: of_row } = self.zero_points {
            let per_byte = self.per_byte;
            prefetch_given(codes, row.wrapping_mul(of_row) / per_byte, n.div_ceil(per_byte));
        }
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum ZeroPoints<'a> {
    /// One for all blocks.
    All(f32),
    /// Codes packed in bytes like data. Each row of blocks has `row` codes, at least its number of blocks.
    Packed { codes: &'a [u8], row: usize },
}

/// The functions that decode rows of codes, by level.
pub(crate) fn decode_fns<T: Float>(codes: Codes) -> &'static DecodeFns {
    match codes {
        Codes::Bits2 => fns::<T, 4, Unsigned>(),
        Codes::Bits4 | Codes::U4 => fns::<T, 2, Unsigned>(),
        Codes::Bits8 => fns::<T, 1, Unsigned>(),
        Codes::I4 => fns::<T, 2, Signed>(),
        Codes::E4M3 => fns::<T, 1, E4m3>(),
        Codes::E4M3Fnuz => fns::<T, 1, E4m3Fnuz>(),
        Codes::E5M2 => fns::<T, 1, E5m2>(),
        Codes::E5M2Fnuz => fns::<T, 1, E5m2Fnuz>(),
        Codes::E2M1 => fns::<T, 2, E2m1>(),
    }
}

const fn fns<T: Float, const PER: usize, D: DecodeCodes<PER>>() -> &'static DecodeFns {
    const { &DecodeFns::of::<InBlocks<T, PER, D>>() }
}

/// A format with `PER` codes per byte, the lowest bits first.
trait DecodeCodes<const PER: usize>: 'static {
    /// `Some(is_signed)` for codes that are integers; `None` for other codes.
    #[cfg_attr(not(target_arch = "x86_64"), allow(dead_code, reason = "what only levels with vectors use"))]
    const SIGNED: Option<bool> = None;

    /// The value of code `k` of a byte, before its zero point is subtracted.
    fn value(byte: u8, k: usize) -> f32;
}

struct Unsigned;
struct Signed;

impl<const PER: usize> DecodeCodes<PER> for Unsigned {
    const SIGNED: Option<bool> = Some(false);

    #[inline(always)]
    fn value(byte: u8, k: usize) -> f32 {
        f32::from(at_top::<PER>(byte, k) >> (8 - 8 / PER))
    }
}

impl<const PER: usize> DecodeCodes<PER> for Signed {
    const SIGNED: Option<bool> = Some(true);

    #[inline(always)]
    fn value(byte: u8, k: usize) -> f32 {
        f32::from(at_top::<PER>(byte, k) as i8 >> (8 - 8 / PER))
    }
}

/// Code `k` of a byte, in the highest bits.
#[inline(always)]
fn at_top<const PER: usize>(byte: u8, k: usize) -> u8 {
    byte << (8 - 8 / PER * (k + 1))
}

/// Floating-point codes.
macro_rules! floats {
    ($($name:ident, $per:literal, $to_f32:ident;)*) => {$(
        struct $name;

        impl DecodeCodes<$per> for $name {
            #[inline(always)]
            fn value(byte: u8, k: usize) -> f32 {
                $to_f32(byte >> (8 / $per * k))
            }
        }
    )*};
}
floats! {
    E4m3, 1, e4m3_to_f32;
    E4m3Fnuz, 1, e4m3fnuz_to_f32;
    E5m2, 1, e5m2_to_f32;
    E5m2Fnuz, 1, e5m2fnuz_to_f32;
    E2m1, 2, e2m1_to_f32;
}

/// Decodes block-quantised codes to numbers `T`.
struct InBlocks<T, const PER: usize, D>(PhantomData<(T, D)>);

impl<T: Float, const PER: usize, D: DecodeCodes<PER>> Decode for InBlocks<T, PER, D> {
    type In = u8;
    type Out = [T; PER];
    type Given<'a> = Quantized<'a, T>;

    #[inline(always)]
    unsafe fn decode(
        level: impl Token,
        from: &[u8],
        to: &mut [MaybeUninit<[T; PER]>],
        given: &Quantized<'_, T>,
        place: Place,
    ) {
        convert::<T, PER, D>(level, given, from, to, place.element);
    }

    #[inline(always)]
    fn held<'g, 'a: 'g>(given: &'g Quantized<'a, T>) -> impl Borrow<Quantized<'a, T>> + 'g {
        given
    }

    #[inline(always)]
    fn erased<'g>(given: &'g Quantized<'_, T>) -> ErasedParams<'g> {
        given.erased()
    }
}

/// Converts bytes, the first of which is byte `at` of data, row by row of data.
#[inline(always)]
fn convert<T: Float, const PER: usize, D: DecodeCodes<PER>>(
    level: impl Token,
    given: &Quantized<'_, T>,
    mut from: &[u8],
    mut to: &mut [MaybeUninit<[T; PER]>],
    at: usize,
) {
    let (mut row, mut at) = quotient_and_rest(at, given.row);
    while !from.is_empty() {
        let len = (given.row - at).min(from.len());
        let (codes, later) = from.split_at(len);
        let (values, others) = to.split_at_mut(len);
        convert_row::<T, PER, D>(level, given, codes, values, (row, at));
        (from, to, row, at) = (later, others, row + 1, 0);
    }
}

/// Converts bytes of a row from byte `at` on, block by block.
#[inline(always)]
fn convert_row<T: Float, const PER: usize, D: DecodeCodes<PER>>(
    level: impl Token,
    given: &Quantized<'_, T>,
    mut from: &[u8],
    mut to: &mut [MaybeUninit<[T; PER]>],
    (row, at): (usize, usize),
) {
    let (blocks, bytes) = (given.blocks(), 1usize << given.block_log2);
    let scales = &given.scales[given.scale_rows.of(row) * blocks..][..blocks];
    // The remainder of the first block, then whole blocks.
    let mut len = bytes - at % bytes;
    for (block, scale) in scales.iter().enumerate().skip(at >> given.block_log2) {
        if from.is_empty() {
            break;
        }
        let (codes, later) = from.split_at(len.min(from.len()));
        let (values, others) = to.split_at_mut(codes.len());
        let zero_point = match given.zero_points {
            ZeroPoints::All(value) => value,
            ZeroPoints::Packed { codes, row: of_row } => {
                let place = row * of_row + block;
                D::value(codes[place / PER], place % PER)
            }
        };
        run::<T, PER, D>(level, codes, values, scale.to_f32(), zero_point);
        (from, to, len) = (later, others, bytes);
    }
}

/// `(at / row, at % row)`, in 32 bits if both fit, which takes half the time.
#[inline(always)]
fn quotient_and_rest(at: usize, row: usize) -> (usize, usize) {
    match (u32::try_from(at), u32::try_from(row)) {
        (Ok(at), Ok(row)) => ((at / row) as usize, (at % row) as usize),
        _ => (at / row, at % row),
    }
}

#[inline(always)]
fn run<T: Float, const PER: usize, D: DecodeCodes<PER>>(
    level: impl Token,
    from: &[u8],
    to: &mut [MaybeUninit<[T; PER]>],
    scale: f32,
    zero_point: f32,
) {
    #[cfg(target_arch = "x86_64")]
    let (from, to) = match (level.avx2(), D::SIGNED) {
        (Some(level), Some(is_signed)) => vectors::codes::<T, PER>(level, from, to, is_signed, (scale, zero_point)),
        _ => (from, to),
    };
    #[cfg(not(target_arch = "x86_64"))]
    let _ = level;
    if from.is_empty() {
        return;
    }
    // 32 values at a time, then byte by byte.
    let (from, to) = match PER {
        1 => chunks::<T, PER, D, 32>(from, to, scale, zero_point),
        2 => chunks::<T, PER, D, 16>(from, to, scale, zero_point),
        _ => chunks::<T, PER, D, 8>(from, to, scale, zero_point),
    };
    chunks::<T, PER, D, 1>(from, to, scale, zero_point);
}

/// Converts `N` bytes at a time; returns the remainder.
#[inline(always)]
fn chunks<'a, 'b, T: Float, const PER: usize, D: DecodeCodes<PER>, const N: usize>(
    from: &'a [u8],
    to: &'b mut [MaybeUninit<[T; PER]>],
    scale: f32,
    zero_point: f32,
) -> (&'a [u8], &'b mut [MaybeUninit<[T; PER]>]) {
    let (from, codes_left) = from.as_chunks::<N>();
    let (to, to_left) = to.as_chunks_mut::<N>();
    for (codes, to) in from.iter().zip(to) {
        for i in 0..N {
            let mut values = [T::ZERO; PER];
            for k in 0..PER {
                values[k] = T::from_f32((D::value(codes[i], k) - zero_point) * scale);
            }
            to[i].write(values);
        }
        // As in `map::convert_one`: keeps the compiler from mixing bytes of two chunks.
        core::hint::black_box(());
    }
    (codes_left, to_left)
}
