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

use core::marker::PhantomData;

use crate::kernels::level_fn::{LevelFn, Token};
use crate::kernels::levels::Isa;
use crate::kernels::moves::placed::NARROW;
use crate::kernels::moves::rows::copy_halves;
use crate::kernels::moves::{Fixed, Rows, Width, copy_fixed};
use crate::kernels::space::args::{BlockLoop, SpaceCursor, WholeRows};
use crate::kernels::space::periods::Periods;
use crate::kernels::space::plane::SpacePlane;

/// The rows of a plane, and the loops that step from one to the next.
///
/// Made of a plane: what the arguments of a kernel say of rows along the loops holds here.
#[derive(Clone, Copy)]
pub struct Streams {
    at: SpaceCursor,
    outer: BlockLoop,
    inner: BlockLoop,
    row: usize,
}

/// Runs a plane.
pub(crate) type SpaceBody = fn(SpacePlane<'_>);

/// The body.
#[inline(always)]
pub(crate) fn space_plane<W: SpaceWidth, L: Isa>(plane: SpacePlane<'_>) {
    let args = plane.args();
    let streams = Streams { at: plane.at(), outer: *args.outer(), inner: *args.inner(), row: args.row() };
    // SAFETY: K7: the body is that of kernels of the level, which are given arguments on a machine that has it.
    let level = unsafe { L::of_kernel() };
    W::interleave(level, &streams);
}

/// A width of rows that the operators which rearrange space move.
pub trait SpaceWidth: Width {
    /// Interleaves streams, or takes them apart, at a level.
    fn interleave<L: Isa>(level: L, streams: &Streams);
}

impl<const BYTES: usize> SpaceWidth for Fixed<BYTES> {
    #[inline(always)]
    fn interleave<L: Isa>(level: L, streams: &Streams) {
        level.entry::<InterleaveFixed<BYTES, L>>()((level, streams));
    }
}

impl SpaceWidth for Rows {
    #[inline(always)]
    fn interleave<L: Isa>(level: L, streams: &Streams) {
        match streams.row {
            1 => level.entry::<InterleaveFixed<1, L>>()((level, streams)),
            2 => level.entry::<InterleaveFixed<2, L>>()((level, streams)),
            3 => level.entry::<InterleaveFixed<3, L>>()((level, streams)),
            6 => level.entry::<InterleaveFixed<6, L>>()((level, streams)),
            12 => level.entry::<InterleaveFixed<12, L>>()((level, streams)),
            _ => level.entry::<InterleaveRows>()(streams),
        }
    }
}

/// Bytes of a stream from which on vectors may hold it.
const LEAST_STREAM: usize = 16;

/// Interleaves streams of `BYTES` bytes, or takes them apart, with the zips of level `L`.
struct InterleaveFixed<const BYTES: usize, L>(PhantomData<L>);

impl<const BYTES: usize, L: Isa> LevelFn for InterleaveFixed<BYTES, L> {
    type Args<'a> = (L, &'a Streams);
    type Output = ();

    const NARROW: bool = BYTES <= NARROW;

    #[inline(always)]
    fn call<Here: Token>(_: Here, (level, streams): (L, &Streams)) {
        debug_assert_eq!(streams.row, BYTES, "K6");
        let whole = streams.inner.whole(BYTES as isize);
        let periods = |periods: Periods<'_>| match whole {
            Some(WholeRows::Output) => level.zip::<BYTES>().map_or(0, |zip| zip(&periods)),
            Some(WholeRows::Data) => level.unzip::<BYTES>().map_or(0, |unzip| unzip(&periods)),
            None => 0,
        };
        // SAFETY: rows of `BYTES` bytes (K6): both ends of each reach as many, apart from each other.
        each(streams, |from, to| unsafe { copy_fixed::<BYTES>(from, to) }, periods);
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
            ($half:literal) => {
                // SAFETY: both ends of a row reach its bytes, at least `$half` and at most twice as many, apart from
                // each other.
                each(streams, |from, to| unsafe { copy_halves::<$half>(from, to, row) }, |_| 0)
            };
        }
        match row {
            4..=8 => halves!(4),
            9..=15 => halves!(8),
            16..=32 => halves!(16),
            33..=64 => halves!(32),
            65..=128 => halves!(64),
            129..=256 => halves!(128),
            _ => {
                // SAFETY: both ends of a row reach its bytes, apart from each other.
                each(streams, |from, to| unsafe { to.copy_from_nonoverlapping(from, row) }, |_| 0);
            }
        }
    }
}

/// Runs `copy` on the ends of every row, which may be read and written and are apart (K1, K4), period by period; whole
/// periods by `whole` as far as it takes them.
///
/// The sizes are in registers: for all that the compiler knows, a copy could change what lies in memory.
#[inline(always)]
fn each(streams: &Streams, copy: impl Fn(*const u8, *mut u8), whole: impl Fn(Periods<'_>) -> usize) {
    let Streams { at, ref outer, ref inner, row } = *streams;
    let (n, block, step, wrap) = (inner.n, inner.block, inner.step, inner.wrap);
    let (first, carry) = ((block - inner.phase).min(n), wrap.and(step.times(-1)));
    let is_long = (n / block).saturating_mul(row) >= LEAST_STREAM;
    let mut cursor = at.enter(outer);
    for _ in 0..outer.n {
        let (mut at, mut left, mut rows, mut is_long) = (cursor.at(), n, first, is_long);
        cursor = cursor.step(outer);
        if block == 1 {
            for _ in 0..n {
                copy(at.data(), at.out());
                at = at.after(wrap);
            }
            continue;
        }
        while left > 0 {
            if is_long && rows == block {
                // SAFETY: the loop is one of the plane, and has `left` rows left here, at the first of a period.
                let done = whole(unsafe { Periods::new(inner, at, left / block) });
                at = at.after(inner.period().times(done as isize));
                left -= done * block;
                (rows, is_long) = (block.min(left), false);
                continue;
            }
            // Two rows a period are the usual block.
            if rows == 2 {
                let second = at.after(step);
                copy(at.data(), at.out());
                copy(second.data(), second.out());
                at = second.after(wrap);
            } else {
                for _ in 0..rows {
                    copy(at.data(), at.out());
                    at = at.after(step);
                }
                at = at.after(carry);
            }
            left -= rows;
            rows = block.min(left);
        }
    }
}
