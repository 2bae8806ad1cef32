//! BatchToSpace: the body that runs the lanes of output rows.
//!
//! Along the lanes the output takes from `block` streams in turn. With a block of 1 this is a run copy; else the lanes
//! are cut into
//!
//! ```text
//! head: the rest of the first period, when the crop begins inside one   (at most block - 1 lanes)
//! body: whole periods, one lane of every stream each
//! tail: the begin of the last period                                    (at most block - 1 lanes)
//! ```
//!
//! so that crops cost nothing inside the loop. Where output and streams are contiguous and the block is 2, 3, 4 or 8, the
//! AVX2 level runs the body by zipping vectors (`arch/zip.rs`).

use core::marker::PhantomData;

use crate::kernels::arch::Tier;
use crate::kernels::args::{CopyArgs, CopyCursor, Phased};
use crate::kernels::bodies::CopyBody;
use crate::kernels::rows::copy_halves;
use crate::kernels::unit::{Unit, copy_fixed as copy_unit};

/// The lanes of the output rows along a loop.
#[derive(Clone, Copy)]
pub struct Streams {
    pub(crate) at: CopyCursor,
    pub(crate) outer: Phased,
    pub(crate) lane: Phased,
    pub(crate) row: usize,
}

/// The body of the BatchToSpace nests.
pub struct BatchToSpace<U, L> {
    kernel: PhantomData<(U, L)>,
}

impl<U: Unit, L: Tier> CopyBody for BatchToSpace<U, L> {
    #[inline(always)]
    fn start(_: &CopyArgs<'_>) -> Self {
        BatchToSpace { kernel: PhantomData }
    }

    #[inline(always)]
    unsafe fn lanes(&mut self, args: &CopyArgs<'_>, at: CopyCursor) {
        let streams = Streams { at, outer: Phased::ONCE, lane: *args.lane(), row: args.row };
        // SAFETY: the kernel contract for the lanes from `at` on.
        unsafe { U::copy::<L>(&streams) }
    }

    #[inline(always)]
    unsafe fn plane(&mut self, args: &CopyArgs<'_>, at: CopyCursor) {
        let streams = Streams { at, outer: *args.outer(), lane: *args.lane(), row: args.row };
        // SAFETY: the kernel contract for the lanes of every coordinate of the last outer loop.
        unsafe { U::copy::<L>(&streams) }
    }
}

/// Copies lanes of `BYTES` bytes.
///
/// # Safety
/// K1 (`out`), K4 and K6; `data` reaches readable memory along the lanes.
#[inline(always)]
pub(crate) unsafe fn copy_fixed<const BYTES: usize>(streams: &Streams) {
    // SAFETY: the caller's promise; no period is taken by `NONE`.
    unsafe { copy_fixed_with::<BYTES>(streams, NONE) }
}

/// Runs whole periods from a cursor on, as many as it likes; returns how many.
pub(crate) type Periods = fn(&Phased, CopyCursor, usize) -> usize;

/// Takes no period.
const NONE: Periods = |_, _, _| 0;

/// As [`copy_fixed`], with a faster way to run whole periods.
///
/// # Safety
/// As for [`copy_fixed`]; `periods` may be called for periods that `data` and `out` reach.
#[inline(always)]
pub(crate) unsafe fn copy_fixed_with<const BYTES: usize>(
    streams: &Streams,
    periods: impl Fn(&Phased, CopyCursor, usize) -> usize,
) {
    let copy = |from, to| {
        // SAFETY: the caller's promise, for this lane.
        unsafe { copy_unit::<BYTES>(from, to) }
    };
    each(streams, copy, periods);
}

/// Copies lanes of `row` bytes.
///
/// # Safety
/// As for [`copy_fixed`].
#[inline(always)]
pub(crate) unsafe fn copy_rows(streams: &Streams) {
    let row = streams.row;
    macro_rules! halves {
        ($half:literal) => {{
            let copy = |from, to| {
                // SAFETY: the caller's promise, for this lane: `row` bytes at both ends, at least half of them `$half`.
                unsafe { copy_halves::<$half>(from, to, row) }
            };
            each(streams, copy, NONE);
        }};
    }
    macro_rules! fixed {
        ($($bytes:literal)*) => {
            match row {
                // SAFETY: the caller's promise, for rows of this many bytes.
                $($bytes => return unsafe { copy_fixed::<$bytes>(streams) },)*
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
                // SAFETY: the caller's promise, for this lane: `row` bytes at both ends, apart from each other.
                unsafe { to.copy_from_nonoverlapping(from, row) }
            };
            each(streams, copy, NONE);
        }
    }
}

/// Runs `copy` on every lane, row by row, in the order of the output; whole periods by `periods` where it takes them.
#[inline(always)]
fn each(streams: &Streams, copy: impl Fn(*const u8, *mut u8), periods: impl Fn(&Phased, CopyCursor, usize) -> usize) {
    let Streams { at, outer, lane, .. } = streams;
    let mut walk = at.enter(outer);
    for _ in 0..outer.n {
        each_of_row(lane, walk.at(), &copy, &periods);
        walk = walk.step(outer);
    }
}

/// As [`each`], for the row at a cursor.
#[inline(always)]
fn each_of_row(
    lane: &Phased,
    mut at: CopyCursor,
    copy: impl Fn(*const u8, *mut u8),
    periods: impl Fn(&Phased, CopyCursor, usize) -> usize,
) {
    if lane.block == 1 {
        for _ in 0..lane.n {
            copy(at.data, at.out);
            at = CopyCursor { out: at.out.wrapping_offset(lane.out), data: at.data.wrapping_offset(lane.wrap) };
        }
        return;
    }
    let mut walk = at.enter(lane);
    let mut left = lane.n;
    while left > 0 && walk.phase != 0 {
        copy(walk.at().data, walk.at().out);
        walk = walk.step(lane);
        left -= 1;
    }
    let CopyCursor { mut out, mut data } = walk.at();
    if left >= lane.block {
        let done = periods(lane, walk.at(), left / lane.block);
        out = out.wrapping_offset(lane.out.wrapping_mul((done * lane.block) as isize));
        data = data.wrapping_offset(lane.period().wrapping_mul(done as isize));
        left -= done * lane.block;
    }
    while left >= lane.block {
        let mut from = data;
        for _ in 0..lane.block {
            copy(from, out);
            from = from.wrapping_offset(lane.step);
            out = out.wrapping_offset(lane.out);
        }
        data = data.wrapping_offset(lane.period());
        left -= lane.block;
    }
    for _ in 0..left {
        copy(data, out);
        data = data.wrapping_offset(lane.step);
        out = out.wrapping_offset(lane.out);
    }
}
