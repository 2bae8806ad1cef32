//! The bodies of scatters: indices are resolved as for a gather, then their rows go to a [`Sink`].
//!
//! ```text
//! for each block of the inner loop:
//!     resolve its indices into positions       (unless they are those of the block before)
//!     leave out rows out of range              (`ScatterOutOfBounds::Drop` only), and those of other threads
//!     hand its rows to the sink
//! ```

use crate::kernels::args::{Cursor, IndexArgs};
use crate::kernels::bodies::State;
use crate::kernels::bodies::blocks::resolve_block;
use crate::kernels::bodies::direct::resolve_tuple;
use crate::kernels::isa::Isa;
use crate::kernels::moves::MoveJob;
use crate::kernels::moves::prefetch::{NextSlice, prefetch};
use crate::kernels::reduce::{Sink, Which};
use crate::kernels::resolve::block::BLOCK;
use crate::types::index::Index;
use crate::types::policy::OutOfBounds;

/// Runs a plane of a scatter block by block.
///
/// # Safety
/// As for [`Body`](super::Body), with the contract of a scatter.
pub(crate) unsafe fn scattered<I: Index, L: Isa>(state: &mut State, args: &IndexArgs<'_>, at: &Cursor) {
    // SAFETY: S3.
    let sink = unsafe { sink(args) };
    let (outer, inner, mut plane) = (args.outer(), args.inner(), *at);
    let ahead = args.spec.outer_prefetch_distance;
    for _ in 0..outer.n {
        if ahead != 0 {
            let later = plane.skip(outer, ahead);
            prefetch(later.index, inner.index.unsigned_abs().saturating_mul(inner.n));
            prefetch(later.out, inner.out.unsigned_abs().saturating_mul(inner.n));
        }
        for start in (0..inner.n).step_by(BLOCK) {
            let n = (inner.n - start).min(BLOCK);
            // SAFETY: the caller's promise, for `n` iterations from here on.
            unsafe { block::<I, L>(state, args, plane.skip(inner, start), n, sink) };
        }
        plane = plane.step(outer);
    }
}

/// Runs `n <= BLOCK` iterations of the inner loop.
///
/// # Safety
/// As for [`scattered`].
#[inline(always)]
unsafe fn block<I: Index, L: Isa>(state: &mut State, args: &IndexArgs<'_>, at: Cursor, n: usize, sink: &Sink) {
    // SAFETY: K2 and K3 for these indices.
    unsafe { resolve_block::<I, L>(state, args, at.index, n) };
    let has_bad = state.block.has_bad();
    if has_bad && args.spec.policy.out_of_bounds == OutOfBounds::Error {
        return;
    }
    let rows = MoveJob::new(args, at, state.positions.as_ptr(), n, NextSlice::NONE);
    if !has_bad && sink.owner.is_none() {
        // SAFETY: the contract of a scatter for these rows: every position is in range.
        return unsafe { sink.take(args, &rows, None) };
    }
    let mut which = Which::new();
    let which = which.choose(n, |row| {
        // SAFETY: `row < n`, whose position has been written.
        let to = unsafe { rows.source(row) };
        !(has_bad && state.block.is_bad(row)) & sink.owner.is_none_or(|owner| owner.takes(to))
    });
    // SAFETY: the contract of a scatter for these rows: every position is in range, or turned to 0 and left out.
    unsafe { sink.take(args, &rows, Some(which)) }
}

/// Runs a plane of a scatter row by row, in 64 bits.
///
/// # Safety
/// As for [`Body`](super::Body), with the contract of a scatter.
pub(crate) unsafe fn direct_scattered<I: Index>(state: &mut State, args: &IndexArgs<'_>, at: &Cursor) {
    // SAFETY: S3.
    let sink = unsafe { sink(args) };
    let (outer, inner, mut plane) = (args.outer(), args.inner(), *at);
    for _ in 0..outer.n {
        let mut at = plane;
        for _ in 0..inner.n {
            // SAFETY: K2 and K3 for this index.
            match unsafe { resolve_tuple::<I>(args, &args.spec.components, at.index) } {
                Some(position) => {
                    let data = at.data.wrapping_offset(args.stride.wrapping_mul(position as isize));
                    let zero = 0i32;
                    let rows = MoveJob::new(args, Cursor { data, ..at }, &raw const zero, 1, NextSlice::NONE);
                    if sink.owner.is_none_or(|owner| owner.takes(data)) {
                        // SAFETY: the contract of a scatter for this row: its position, which is in range, is in its
                        // address already.
                        unsafe { sink.take(args, &rows, None) };
                    }
                }
                None => state.out_of_range = true,
            }
            at = at.step(inner);
        }
        plane = plane.step(outer);
    }
}

/// The sink of a scatter.
///
/// # Safety
/// S3.
#[inline(always)]
unsafe fn sink<'a>(args: &IndexArgs<'a>) -> &'a Sink {
    // SAFETY: the caller's promise.
    unsafe { &*args.params.cast::<Sink>() }
}
