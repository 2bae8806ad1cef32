//! Prefetched: while the rows of some indices are moved, those of the next ones are asked for.
//!
//! ```text
//! resolve the first indices, ask for their rows
//! for each of the following rounds:
//!     resolve the next indices
//!     for each row of these:   ask for a row of the next ones, move this one
//! ```
//!
//! Memory answers as many requests at a time as the processor can have under way, if it is asked early enough. So rows
//! are asked for a whole round ahead, also where one round ends and the next begins.

use crate::kernels::args::{Cursor, IndexArgs};
use crate::kernels::bodies::State;
use crate::kernels::isa::Isa;
use crate::kernels::moves::prefetch::{LINE, NextSlice, prefetch};
use crate::kernels::moves::{MoveJob, Width};
use crate::kernels::resolve::block::{BLOCK, Block, Positions};
use crate::types::index::Index;
use crate::types::method::Method;
use crate::types::policy::OutOfBounds;

/// The body of [`Method::Prefetched`](crate::Method::Prefetched).
///
/// # Safety
/// As for [`Body`](super::Body).
pub(super) unsafe fn prefetched<W: Width, I: Index, L: Isa>(state: &mut State, args: &IndexArgs<'_>, at: &Cursor) {
    // SAFETY: the caller's promise.
    unsafe { planes::<I, L>(state, args, at, move_prefetching::<W, L>) }
}

/// The body of [`Method::Streamed`](crate::Method::Streamed) for short rows.
///
/// # Safety
/// As for [`Body`](super::Body).
pub(super) unsafe fn streamed<I: Index, L: Isa>(state: &mut State, args: &IndexArgs<'_>, at: &Cursor) {
    // SAFETY: the caller's promise; K9: the rows are long enough.
    unsafe { planes::<I, L>(state, args, at, stream_rows::<L>) };
    L::end_streams();
}

/// [`Isa::stream_rows`] as a [`MovePrefetching`].
///
/// # Safety
/// As for [`MovePrefetching`]; rows have a line or more.
unsafe fn stream_rows<L: Isa>(job: &MoveJob, ahead: &MoveJob) {
    // SAFETY: the caller's promise.
    unsafe { L::stream_rows(job, ahead) }
}

/// Moves rows while those of a later job are asked for.
///
/// # Safety
/// K1, K2, K4, K6 and K7 for the rows of both.
type MovePrefetching = unsafe fn(job: &MoveJob, ahead: &MoveJob);

/// [`Width::move_prefetching`] as a [`MovePrefetching`].
///
/// # Safety
/// As for [`MovePrefetching`].
unsafe fn move_prefetching<W: Width, L: Isa>(job: &MoveJob, ahead: &MoveJob) {
    // SAFETY: the caller's promise.
    unsafe { W::move_prefetching::<L>(job, ahead) }
}

/// Runs a plane.
///
/// # Safety
/// As for [`Body`](super::Body) and [`MovePrefetching`].
#[inline(never)]
unsafe fn planes<I: Index, L: Isa>(state: &mut State, args: &IndexArgs<'_>, at: &Cursor, move_rows: MovePrefetching) {
    let (outer, mut at) = (args.outer(), *at);
    for _ in 0..outer.n {
        // SAFETY: the caller's promise; `at` is the cursor of a coordinate of the outer loop.
        unsafe { run::<I, L>(state, args, at, move_rows) };
        at = at.step(outer);
    }
}

/// Bytes by which indices are asked for ahead: among rows that come from anywhere, the hardware stops to follow them
/// (workload `gather/rows64B_1Mx16_1M`).
const INDICES_AHEAD: usize = 4 << 10;

/// Runs the inner loop.
///
/// # Safety
/// As for [`planes`].
#[inline(always)]
unsafe fn run<I: Index, L: Isa>(state: &mut State, args: &IndexArgs<'_>, mut at: Cursor, move_rows: MovePrefetching) {
    let State { positions, block, out_of_range, .. } = state;
    let (mut other_positions, mut other_block) = (Positions::new(), Block::new());
    let mut these = (positions, block);
    let mut next = (&mut other_positions, &mut other_block);
    let (inner, round) = (args.inner(), args.spec.prefetch_distance.clamp(1, BLOCK));

    let (mut n, mut left) = (0, inner.n);
    loop {
        let (after, n_next) = (at.skip(inner, n), left.min(round));
        // SAFETY: K2 and K3 for these indices; they are at most a block.
        *out_of_range |= unsafe { next.1.resolve::<I, L>(next.0, args, after.index, n_next) };
        left -= n_next;
        if (1..=LINE as isize).contains(&inner.index) {
            prefetch(after.index.wrapping_add(INDICES_AHEAD), n_next * inner.index as usize);
        }
        let ahead = MoveJob::new(args, after, next.0.as_ptr(), n_next, NextSlice::NONE);
        let job = MoveJob::new(args, at, these.0.as_ptr(), n, NextSlice::NONE);
        // SAFETY: K1, K2, K4, K6 and K7 for the rows of both: every position is in range, or turned to 0.
        unsafe { move_rows(&job, &ahead) };
        if n > 0 {
            if these.1.has_bad() && args.spec.method == Method::Streamed {
                L::end_streams();
            }
            // SAFETY: K1 and K6 for the rows, which were resolved last in their block.
            unsafe { these.1.fill(args, at.out) };
        }
        core::mem::swap(&mut these, &mut next);
        if n_next == 0 || (these.1.has_bad() && args.spec.policy.out_of_bounds == OutOfBounds::Error) {
            return;
        }
        (at, n) = (after, n_next);
    }
}
