//! The body that rearranges space: it runs planes of rows.
//!
//! Along the inner loop one tensor lies whole, and the other in `block` streams that take turns. The output takes from
//! streams of data, or data goes to streams of the output; either is a loop with a step for each tensor. With a block
//! of 1 this is a strided copy; else the loop is cut into
//!
//! ```text
//! head: the rest of the first period, where crops or pads begin inside one   (at most block - 1 rows)
//! body: whole periods, one row of every stream each
//! tail: the first rows of the last period                                    (at most block - 1 rows)
//! ```
//!
//! so that crops and pads cost nothing inside the loop. Where both tensors are contiguous and the block is 2, 3, 4 or
//! 8, levels with vectors run the body by zipping streams (`zip.rs`) or unzipping them (`unzip_avx2.rs`).

pub(crate) mod args;
mod fill;
#[cfg(target_arch = "x86_64")]
pub(crate) mod unzip_avx2;
#[cfg_attr(not(target_arch = "x86_64"), allow(dead_code, reason = "what only levels with vectors use"))]
pub(crate) mod zip;
#[cfg(target_arch = "x86_64")]
pub(crate) mod zip_x86;

pub(crate) use fill::FILL;

use core::marker::PhantomData;

use crate::kernels::by_level::level_pointers;
use crate::kernels::level_fn::{LevelFn, Token};
use crate::kernels::levels::Isa;
use crate::kernels::moves::placed::NARROW;
use crate::kernels::moves::rows::copy_halves;
use crate::kernels::moves::{Fixed, Rows, Width, copy_fixed};
use crate::kernels::space::args::{BlockLoop, SpaceArgs, SpaceCursor};

/// The rows of a plane, and the loops that step from one to the next.
#[derive(Clone, Copy)]
pub struct Streams {
    pub(crate) at: SpaceCursor,
    pub(crate) outer: BlockLoop,
    pub(crate) inner: BlockLoop,
    pub(crate) row: usize,
}

/// Interleaves streams, or takes them apart.
///
/// # Safety
/// K1 for the output, K4 and K6; `data` reaches readable memory along the loops. K7 for the level.
pub(crate) type StreamsFn = fn(&Streams);

/// Interleaves whole periods of contiguous streams of data into the output, or takes contiguous data apart into streams
/// of the output; returns how many, from the first on.
///
/// # Safety
/// The cursor reaches as many periods of the loop, along which both tensors are contiguous; K7.
pub(crate) type PeriodsFn = for<'a> fn(PeriodsArgs<'a>) -> usize;

/// The loop, a cursor, and how many periods there are.
pub(crate) type PeriodsArgs<'a> = (&'a BlockLoop, SpaceCursor, usize);

level_pointers! { PeriodsFn, for<'a> unsafe fn(PeriodsArgs<'a>) -> usize; }

/// Runs the plane at a cursor.
///
/// # Safety
/// The kernel contract for the arguments; the cursor is that of a coordinate of the loops around the plane.
pub(crate) type SpaceBody = fn(&SpaceArgs<'_>, SpaceCursor);

/// The body.
#[inline(always)]
pub(crate) fn space_plane<W: SpaceWidth, L: Isa>(args: &SpaceArgs<'_>, at: SpaceCursor) {
    let streams = Streams { at, outer: *args.outer(), inner: *args.inner(), row: args.row };
    // SAFETY: K7.
    let level = unsafe { L::of_kernel() };
    W::interleave(level, args.row)(&streams);
}

/// A width of rows that the operators which rearrange space move.
pub trait SpaceWidth: Width {
    /// Interleaves streams of `row` bytes, or takes them apart.
    fn interleave<L: Isa>(level: L, row: usize) -> StreamsFn;
}

impl<const BYTES: usize> SpaceWidth for Fixed<BYTES> {
    #[inline(always)]
    fn interleave<L: Isa>(level: L, row: usize) -> StreamsFn {
        debug_assert_eq!(row, BYTES, "K6");
        level.entry::<InterleaveFixed<BYTES, L>>()
    }
}

impl SpaceWidth for Rows {
    #[inline(always)]
    fn interleave<L: Isa>(level: L, row: usize) -> StreamsFn {
        match row {
            1 => level.entry::<InterleaveFixed<1, L>>(),
            2 => level.entry::<InterleaveFixed<2, L>>(),
            3 => level.entry::<InterleaveFixed<3, L>>(),
            6 => level.entry::<InterleaveFixed<6, L>>(),
            12 => level.entry::<InterleaveFixed<12, L>>(),
            _ => level.entry::<InterleaveRows>(),
        }
    }
}

/// Interleaves streams of `BYTES` bytes, or takes them apart, with the zips of level `L`. [`SpaceWidth`] alone names it,
/// by a token of the level.
struct InterleaveFixed<const BYTES: usize, L>(PhantomData<L>);

impl<const BYTES: usize, L: Isa> LevelFn for InterleaveFixed<BYTES, L> {
    type Args<'a> = &'a Streams;
    type Output = ();

    const NARROW: bool = BYTES <= NARROW;

    #[inline(always)]
    fn call<Here: Token>(_: Here, streams: &Streams) {
        let copy = |from, to| {
            // SAFETY: the caller's promise, for this row.
            unsafe { copy_fixed::<BYTES>(from, to) }
        };
        // SAFETY: K7: this function is named where there is a token of the level.
        let level = unsafe { L::of_kernel() };
        let whole = streams.inner.whole(BYTES as isize);
        let periods = |inner: &BlockLoop, at, periods| match whole {
            // SAFETY: the caller's promise, for the periods that `each_of_row` finds in the loop; the output and all
            // streams are contiguous.
            Some(Whole::Output) => level.zip::<BYTES>().map_or(0, |zip| zip((inner, at, periods))),
            // SAFETY: as above, for data and the streams of the output.
            Some(Whole::Data) => level.unzip::<BYTES>().map_or(0, |unzip| unzip((inner, at, periods))),
            None => 0,
        };
        each(streams, copy, periods);
    }
}

/// Which tensor lies whole, the other one in streams.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Whole {
    Output,
    Data,
}

impl BlockLoop {
    /// Which tensor lies whole along the loop, where it and the streams of the other are contiguous, for rows of a
    /// width.
    #[inline(always)]
    fn whole(&self, width: isize) -> Option<Whole> {
        let (step, wrap, period) = (self.step, self.wrap, self.period());
        if step.out == width && wrap.out == width && period.data == width {
            Some(Whole::Output)
        } else if step.data == width && wrap.data == width && period.out == width {
            Some(Whole::Data)
        } else {
            None
        }
    }
}

/// Interleaves streams of rows, or takes them apart, row by row.
enum InterleaveRows {}

impl LevelFn for InterleaveRows {
    type Args<'a> = &'a Streams;
    type Output = ();

    #[inline(always)]
    fn call<Here: Token>(_: Here, streams: &Streams) {
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
}

/// Runs `copy` on the ends of every row, period by period; whole periods by `whole` as far as it takes them.
#[inline(always)]
fn each(streams: &Streams, copy: impl Fn(*const u8, *mut u8), whole: impl Fn(&BlockLoop, SpaceCursor, usize) -> usize) {
    let Streams { at, outer, inner, .. } = streams;
    let mut cursor = at.enter(outer);
    for _ in 0..outer.n {
        each_of_row(inner, cursor.at(), &copy, &whole);
        cursor = cursor.step(outer);
    }
}

/// As [`each`], for one iteration of the outer loop, at a cursor.
#[inline(always)]
fn each_of_row(
    inner: &BlockLoop,
    mut at: SpaceCursor,
    copy: &impl Fn(*const u8, *mut u8),
    whole: &impl Fn(&BlockLoop, SpaceCursor, usize) -> usize,
) {
    if inner.block == 1 {
        for _ in 0..inner.n {
            (*copy)(at.data, at.out);
            at = at.after(inner.wrap);
        }
        return;
    }
    let mut cursor = at.enter(inner);
    let mut left = inner.n;
    while left > 0 && cursor.phase != 0 {
        (*copy)(cursor.at().data, cursor.at().out);
        cursor = cursor.step(inner);
        left -= 1;
    }
    let (mut at, period) = (cursor.at(), inner.period());
    if left >= inner.block {
        let done = (*whole)(inner, at, left / inner.block);
        at = at.after(period.times(done as isize));
        left -= done * inner.block;
    }
    while left >= inner.block {
        let mut row = at;
        for _ in 0..inner.block {
            (*copy)(row.data, row.out);
            row = row.after(inner.step);
        }
        at = at.after(period);
        left -= inner.block;
    }
    for _ in 0..left {
        (*copy)(at.data, at.out);
        at = at.after(inner.step);
    }
}
