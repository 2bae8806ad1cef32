//! Block-quantised rows: codes of a few bits in bytes, with a scale and a zero point for each block of a row.
//!
//! ```text
//! for each block that a row, or a piece of one, reaches:
//!     look its scale and zero point up       by the place of its first byte in data
//!     for each 32 values of it:              constant lengths, which the compiler vectorises
//!         (code - zero point) * scale
//! ```
//!
//! An element is a byte of data, and the values that it holds. So a row may begin and end anywhere in a block, and the
//! last block of a row may be short.

// Loops over indices of arrays of constant length are vectorised.
#![allow(clippy::needless_range_loop)]

use core::mem::MaybeUninit;

use crate::kernels::args::IndexArgs;
use crate::kernels::convert::convert_slices;
use crate::kernels::convert::map::ConvertFns;
use crate::kernels::moves::MoveJob;
use crate::types::codes::{Codes, Scale};

/// What is given with block-quantised data.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Quantized<'a, T> {
    /// The address of the first byte of data.
    pub(crate) data: usize,
    /// Bytes of data along its last axis, at least 1.
    pub(crate) row: usize,
    /// Bytes of a block, as a power of two.
    pub(crate) block_log2: u32,
    /// One scale for each block, row after row.
    pub(crate) scales: &'a [T],
    pub(crate) zero_points: ZeroPoints<'a>,
}

/// The zero points of blocks.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ZeroPoints<'a> {
    /// The same for all.
    All(f32),
    /// Codes in bytes, as data has them. Each row of blocks has room for `row` of them, or more than it has blocks.
    Packed { codes: &'a [u8], row: usize },
}

/// What converts the rows of codes, by level.
pub(crate) fn convert_fns<T: Scale>(codes: Codes) -> ConvertFns {
    match codes {
        Codes::Bits2 => fns::<T, 4, false>(),
        Codes::Bits4 | Codes::U4 => fns::<T, 2, false>(),
        Codes::Bits8 => fns::<T, 1, false>(),
        Codes::I4 => fns::<T, 2, true>(),
    }
}

fn fns<T: Scale, const PER: usize, const SIGNED: bool>() -> ConvertFns {
    ConvertFns::new(
        quantized_scalar::<T, PER, SIGNED>,
        #[cfg(target_arch = "x86_64")]
        quantized_avx2::<T, PER, SIGNED>,
        #[cfg(target_arch = "x86_64")]
        quantized_avx512::<T, PER, SIGNED>,
    )
}

/// A level: the loop over rows, and the row, whose slices are arguments so that the compiler knows them to be apart.
macro_rules! levels {
    ($($(#[$feature:meta])* $rows:ident, $row:ident;)*) => {$(
        /// # Safety
        /// As for [`MoveFn`](crate::kernels::bodies::MoveFn), with K8 for block-quantised data.
        $(#[$feature])*
        unsafe fn $rows<T: Scale, const PER: usize, const SIGNED: bool>(args: &IndexArgs<'_>, job: &MoveJob) {
            // SAFETY: K8: what is given with data of this type of scales.
            let given = unsafe { &*args.params.cast::<Quantized<'_, T>>() };
            let convert = |from: &[u8], to: &mut [MaybeUninit<[T; PER]>], place: super::Place| {
                // SAFETY: K7: the machine has this level, as the caller says.
                unsafe { $row::<T, PER, SIGNED>(given, from, to, place.element) }
            };
            // SAFETY: the caller's promise.
            unsafe { convert_slices(args, job, given.data, convert) }
        }

        /// # Safety
        /// K7: the machine has the level.
        #[inline(never)]
        $(#[$feature])*
        unsafe fn $row<T: Scale, const PER: usize, const SIGNED: bool>(
            given: &Quantized<'_, T>,
            from: &[u8],
            to: &mut [MaybeUninit<[T; PER]>],
            at: usize,
        ) {
            convert::<T, PER, SIGNED>(given, from, to, at);
        }
    )*};
}
levels! {
    quantized_scalar, row_scalar;
    #[cfg(target_arch = "x86_64")] #[target_feature(enable = "avx2")]
    quantized_avx2, row_avx2;
    #[cfg(target_arch = "x86_64")] #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi")]
    quantized_avx512, row_avx512;
}

/// Converts bytes, the first of which is number `at` of data, block by block.
#[inline(always)]
fn convert<T: Scale, const PER: usize, const SIGNED: bool>(
    given: &Quantized<'_, T>,
    mut from: &[u8],
    mut to: &mut [MaybeUninit<[T; PER]>],
    at: usize,
) {
    let bytes = 1 << given.block_log2;
    let blocks = given.row.div_ceil(bytes);
    let (mut row, mut at) = (at / given.row, at % given.row);
    while !from.is_empty() {
        let block = at >> given.block_log2;
        let len = (bytes - at % bytes).min(given.row - at).min(from.len());
        let (codes, later) = from.split_at(len);
        let (values, room) = to.split_at_mut(len);
        let scale = given.scales[row * blocks + block].to_f32();
        let zero_point = match given.zero_points {
            ZeroPoints::All(value) => value,
            ZeroPoints::Packed { codes, row: of_row } => {
                let place = row * of_row + block;
                value_of::<PER, SIGNED>(codes[place / PER], place % PER)
            }
        };
        run::<T, PER, SIGNED>(codes, values, scale, zero_point);
        (from, to, at) = (later, room, at + len);
        if at == given.row {
            (row, at) = (row + 1, 0);
        }
    }
}

/// Converts bytes of one block.
#[inline(always)]
fn run<T: Scale, const PER: usize, const SIGNED: bool>(
    from: &[u8],
    to: &mut [MaybeUninit<[T; PER]>],
    scale: f32,
    zero_point: f32,
) {
    // 32 values at a time, then byte by byte.
    let (from, to) = match PER {
        1 => chunks::<T, PER, SIGNED, 32>(from, to, scale, zero_point),
        2 => chunks::<T, PER, SIGNED, 16>(from, to, scale, zero_point),
        _ => chunks::<T, PER, SIGNED, 8>(from, to, scale, zero_point),
    };
    chunks::<T, PER, SIGNED, 1>(from, to, scale, zero_point);
}

/// Converts `N` bytes at a time; returns what is left.
#[inline(always)]
fn chunks<'a, 'b, T: Scale, const PER: usize, const SIGNED: bool, const N: usize>(
    from: &'a [u8],
    to: &'b mut [MaybeUninit<[T; PER]>],
    scale: f32,
    zero_point: f32,
) -> (&'a [u8], &'b mut [MaybeUninit<[T; PER]>]) {
    let (from, codes_left) = from.as_chunks::<N>();
    let (to, room_left) = to.as_chunks_mut::<N>();
    for (codes, to) in from.iter().zip(to) {
        for i in 0..N {
            let mut values = [T::ZERO; PER];
            for k in 0..PER {
                values[k] = T::from_f32((value_of::<PER, SIGNED>(codes[i], k) - zero_point) * scale);
            }
            to[i].write(values);
        }
        // As for elements of maps that fill vectors: no bytes of the next chunk among these.
        core::hint::black_box(());
    }
    (codes_left, room_left)
}

/// Code `k` of a byte that holds `PER` of them, the lowest bits first.
#[inline(always)]
fn value_of<const PER: usize, const SIGNED: bool>(byte: u8, k: usize) -> f32 {
    let bits = 8 / PER;
    // The code's bits, at the top of the byte and then at the bottom.
    let top = byte << (8 - bits * (k + 1));
    if SIGNED { f32::from(top as i8 >> (8 - bits)) } else { f32::from(top >> (8 - bits)) }
}
