//! BatchToSpace: the body that runs planes of output rows.
//!
//! Along the inner loop the output takes from `block` streams in turn. With a block of 1 this is a strided copy; else
//! the loop is cut into
//!
//! ```text
//! head: the rest of the first period, where the crop begins inside one   (at most block - 1 rows)
//! body: whole periods, one row of every stream each
//! tail: the first rows of the last period                                (at most block - 1 rows)
//! ```
//!
//! so that crops cost nothing inside the loop. Where output and streams are contiguous and the block is 2, 3, 4 or 8,
//! levels with vectors run the body by zipping them (`zip_avx2.rs`).

pub(crate) mod args;
#[cfg(target_arch = "x86_64")]
pub(crate) mod zip_avx2;
#[cfg(target_arch = "x86_64")]
pub(crate) mod zip_avx512;

use crate::kernels::isa::Isa;
use crate::kernels::moves::rows::copy_halves;
use crate::kernels::moves::{Width, copy_fixed};
use crate::kernels::space::args::{BlockLoop, SpaceArgs, SpaceCursor};

/// The rows of a plane: from streams of data to the output.
#[derive(Clone, Copy)]
pub struct Streams {
    pub(crate) at: SpaceCursor,
    pub(crate) outer: BlockLoop,
    pub(crate) inner: BlockLoop,
    pub(crate) row: usize,
}

/// The body of BatchToSpace: runs the plane at a cursor.
///
/// # Safety
/// The kernel contract for the arguments; the cursor is that of a coordinate of the loops around the plane.
#[inline(always)]
pub unsafe fn space_plane<W: Width, L: Isa>(args: &SpaceArgs<'_>, at: SpaceCursor) {
    let streams = Streams { at, outer: *args.outer(), inner: *args.inner(), row: args.row };
    // SAFETY: the caller's promise.
    unsafe { W::interleave::<L>(&streams) }
}

/// Interleaves streams of `BYTES` bytes.
///
/// # Safety
/// K1 for the output, K4 and K6; `data` reaches readable memory along the loops. K7 for the level.
#[inline(always)]
pub(crate) unsafe fn interleave_fixed<const BYTES: usize, L: Isa>(streams: &Streams) {
    let copy = |from, to| {
        // SAFETY: the caller's promise, for this row.
        unsafe { copy_fixed::<BYTES>(from, to) }
    };
    let zip = |inner: &BlockLoop, at, periods| {
        // SAFETY: the caller's promise, for the periods that `each_of_row` finds in the loop.
        unsafe { L::zip::<BYTES>(inner, at, periods) }
    };
    each(streams, copy, zip);
}

/// Interleaves streams of rows.
///
/// # Safety
/// As for [`interleave_fixed`].
#[inline(always)]
pub(crate) unsafe fn interleave_rows<L: Isa>(streams: &Streams) {
    let row = streams.row;
    macro_rules! halves {
        ($half:literal) => {{
            let copy = |from, to| {
                // SAFETY: the caller's promise, for this row: at least `$half` and at most twice as many bytes at
                // both ends.
                unsafe { copy_halves::<$half>(from, to, row) }
            };
            each(streams, copy, |_, _, _| 0);
        }};
    }
    macro_rules! fixed {
        ($($bytes:literal)*) => {
            match row {
                // SAFETY: the caller's promise, for rows of this many bytes.
                $($bytes => return unsafe { interleave_fixed::<$bytes, L>(streams) },)*
                _ => {}
            }
        };
    }
    fixed!(1 2 3 6 12);
    match row {
        4..=8 => halves!(4),
        9..=15 => halves!(8),
        16..=32 => halves!(16),
        33..=64 => halves!(32),
        65..=128 => halves!(64),
        129..=256 => halves!(128),
        _ => {
            let copy = |from: *const u8, to: *mut u8| {
                // SAFETY: the caller's promise, for this row: `row` bytes at both ends, apart from each other.
                unsafe { to.copy_from_nonoverlapping(from, row) }
            };
            each(streams, copy, |_, _, _| 0);
        }
    }
}

/// Runs `copy` on the ends of every row, in the order of the output; whole periods by `zip` where it takes them.
#[inline(always)]
fn each(streams: &Streams, copy: impl Fn(*const u8, *mut u8), zip: impl Fn(&BlockLoop, SpaceCursor, usize) -> usize) {
    let Streams { at, outer, inner, .. } = streams;
    let mut cursor = at.enter(outer);
    for _ in 0..outer.n {
        each_of_row(inner, cursor.at(), &copy, &zip);
        cursor = cursor.step(outer);
    }
}

/// As [`each`], for the row of the output at a cursor.
#[inline(always)]
fn each_of_row(
    inner: &BlockLoop,
    mut at: SpaceCursor,
    copy: impl Fn(*const u8, *mut u8),
    zip: impl Fn(&BlockLoop, SpaceCursor, usize) -> usize,
) {
    if inner.block == 1 {
        for _ in 0..inner.n {
            copy(at.data, at.out);
            at = SpaceCursor { out: at.out.wrapping_offset(inner.out), data: at.data.wrapping_offset(inner.wrap) };
        }
        return;
    }
    let mut cursor = at.enter(inner);
    let mut left = inner.n;
    while left > 0 && cursor.phase != 0 {
        copy(cursor.at().data, cursor.at().out);
        cursor = cursor.step(inner);
        left -= 1;
    }
    let SpaceCursor { mut out, mut data } = cursor.at();
    if left >= inner.block {
        let done = zip(inner, cursor.at(), left / inner.block);
        out = out.wrapping_offset(inner.out.wrapping_mul((done * inner.block) as isize));
        data = data.wrapping_offset(inner.period().wrapping_mul(done as isize));
        left -= done * inner.block;
    }
    while left >= inner.block {
        let mut from = data;
        for _ in 0..inner.block {
            copy(from, out);
            from = from.wrapping_offset(inner.step);
            out = out.wrapping_offset(inner.out);
        }
        data = data.wrapping_offset(inner.period());
        left -= inner.block;
    }
    for _ in 0..left {
        copy(data, out);
        data = data.wrapping_offset(inner.step);
        out = out.wrapping_offset(inner.out);
    }
}
