//! Blocks: the indices of up to 512 rows are resolved, then the rows are moved.
//!
//! ```text
//! for each block of the inner loop:
//!     resolve its indices into positions       (unless they are those of the block before)
//!     move its rows                            (without a branch)
//!     or move some and fill the others         (`OutOfBounds::Zero` only: `filled.rs`)
//! ```

use crate::kernels::args::{Cursor, IndexArgs};
use crate::kernels::bodies::IndexWidth;
use crate::kernels::bodies::filled::move_some;
use crate::kernels::bodies::{MoveFn, State};
use crate::kernels::levels::Isa;
use crate::kernels::moves::MoveJob;
use crate::kernels::moves::fill::SelectFn;
use crate::kernels::moves::prefetch::NextSlice;
use crate::kernels::moves::stream::{self, StreamRows};
use crate::kernels::resolve::ResolveJob;
use crate::kernels::resolve::block::{BLOCK, ResolveFns};
use crate::types::index::Index;
use crate::types::policy::OutOfBounds;

/// The body of [`Method::Blocks`](crate::Method::Blocks).
///
/// # Safety
/// As for [`Body`](super::Body).
pub(super) unsafe fn blocks<W: IndexWidth, I: Index, L: Isa>(state: &mut State, args: &IndexArgs<'_>, at: &Cursor) {
    // SAFETY: K7.
    let level = unsafe { L::of_kernel() };
    // SAFETY: the caller's promise.
    unsafe {
        let select = W::select(level, args.spec.row);
        run_blocks(level, state, args, at, move_rows::<W, L>, select, ResolveFns::of::<I, L>(level))
    }
}

/// The body of [`Method::Streamed`](crate::Method::Streamed) for long rows.
///
/// # Safety
/// As for [`Body`](super::Body).
pub(super) unsafe fn streamed<I: Index, L: Isa>(state: &mut State, args: &IndexArgs<'_>, at: &Cursor) {
    // SAFETY: K7.
    let level = unsafe { L::of_kernel() };
    // SAFETY: the caller's promise; K9: the rows are long enough.
    unsafe { run_blocks(level, state, args, at, stream_rows::<L>, None, ResolveFns::of::<I, L>(level)) };
    stream::fence();
}

/// The body of [`Method::Table`](crate::Method::Table).
///
/// # Safety
/// As for [`Body`](super::Body).
pub(super) unsafe fn table<W: IndexWidth, I: Index, L: Isa>(state: &mut State, args: &IndexArgs<'_>, at: &Cursor) {
    // SAFETY: K7.
    let level = unsafe { L::of_kernel() };
    // SAFETY: the caller's promise; K9: the table fits.
    unsafe { run_blocks(level, state, args, at, look_up::<W, L>, None, ResolveFns::of::<I, L>(level)) }
}

/// Whether rows are bytes, and indices, if they are bytes too, are contiguous and of one component.
#[inline(always)]
pub(super) fn are_bytes(args: &IndexArgs<'_>) -> bool {
    args.spec.row == 1 && args.spec.components.len() == 1 && args.inner().index == 1
}

/// The body of [`Method::Table`](crate::Method::Table) for bytes, straight from indices.
///
/// # Safety
/// As for [`Body`](super::Body), for indices of a byte and arguments that [`are_bytes`].
pub(super) unsafe fn byte_table<I: Index, L: Isa>(state: &mut State, args: &IndexArgs<'_>, at: &Cursor) {
    debug_assert!(are_bytes(args) && size_of::<I>() == 1);
    // SAFETY: K7.
    let level = unsafe { L::of_kernel() };
    let (outer, inner, mut plane) = (args.outer(), args.inner(), *at);
    let component = &args.spec.components[0];
    for _ in 0..outer.n {
        let mut done = 0;
        while done < inner.n {
            let (at, n) = (plane.skip(inner, done), inner.n - done);
            let job = ResolveJob::new(state.positions.as_mut_ptr(), args, component, at.index, n);
            let moves = MoveJob::new(args, at, state.positions.as_ptr(), n, NextSlice::NONE);
            // SAFETY: the caller's promise; elements and indices of one byte are contiguous; K9: the table fits.
            done += level.look_up_bytes::<I>().map_or(0, |look_up| look_up(&job, &moves));
            let n = (inner.n - done).min(BLOCK);
            if n > 0 {
                let (at, look_up) = (plane.skip(inner, done), look_up::<crate::kernels::Fixed<1>, L>);
                // SAFETY: K2 and K3 for `n` indices from here on.
                unsafe { resolve_block(state, args, at.index, n, ResolveFns::of::<I, L>(level)) };
                // SAFETY: the caller's promise for these, which have been resolved; K9.
                unsafe { move_block(level, state, args, at, n, NextSlice::NONE, look_up, None) };
                done += n;
            }
        }
        plane = plane.step(outer);
    }
}

/// [`Width::move_rows`] as a [`MoveFn`].
///
/// # Safety
/// As for [`MoveFn`].
pub(super) fn move_rows<W: IndexWidth, L: Isa>(_: &IndexArgs<'_>, job: &MoveJob) {
    // SAFETY: K7: bodies of the level alone name this function.
    let level = unsafe { L::of_kernel() };
    W::move_rows(level)(job);
}

/// [`StreamRows`] as a [`MoveFn`], which prefetches rows of the same block.
///
/// # Safety
/// As for [`MoveFn`] and [`StreamRows`].
fn stream_rows<L: Isa>(_: &IndexArgs<'_>, job: &MoveJob) {
    // SAFETY: K7: bodies of the level alone name this function.
    let level = unsafe { L::of_kernel() };
    let ahead = job.from(job.prefetch_distance.min(job.n));
    level.entry::<StreamRows>()((job, &ahead));
}

/// [`Width::look_up`] as a [`MoveFn`], with the rest moved one by one.
///
/// # Safety
/// As for [`MoveFn`]; K9: the table fits.
fn look_up<W: IndexWidth, L: Isa>(_: &IndexArgs<'_>, job: &MoveJob) {
    // SAFETY: K7: bodies of the level alone name this function.
    let level = unsafe { L::of_kernel() };
    let done = W::look_up(level).map_or(0, |look_up| look_up(job));
    W::move_rows(level)(&job.from(done));
}

/// Runs a plane block by block; `select` is that of the width, where there is one that does as `move_fn` does. Only
/// `fns` know the index type.
///
/// # Safety
/// As for [`Body`](super::Body) and [`MoveFn`]; `fns` are those of the kernel's index type.
#[inline(never)]
pub(crate) unsafe fn run_blocks<L: Isa>(
    level: L,
    state: &mut State,
    args: &IndexArgs<'_>,
    at: &Cursor,
    move_fn: MoveFn,
    select: Option<SelectFn>,
    fns: ResolveFns,
) {
    let (outer, inner, mut at) = (args.outer(), args.inner(), *at);
    for _ in 0..outer.n {
        let mut done = 0;
        while done < inner.n {
            let (n, from) = ((inner.n - done).min(BLOCK), at.skip(inner, done));
            // SAFETY: K2 and K3 for `n` indices from here on.
            unsafe { resolve_block(state, args, from.index, n, fns) };
            // SAFETY: the caller's promise, for these iterations, which have been resolved.
            unsafe { move_block(level, state, args, from, n, next_slice(args, at, done), move_fn, select) };
            done += n;
        }
        at = at.step(outer);
    }
}

/// Runs `n <= BLOCK` iterations of the inner loop, whose indices are resolved.
///
/// # Safety
/// As for [`run_blocks`].
#[inline(always)]
unsafe fn move_block<L: Isa>(
    level: L,
    state: &mut State,
    args: &IndexArgs<'_>,
    at: Cursor,
    n: usize,
    next: NextSlice,
    move_fn: MoveFn,
    select: Option<SelectFn>,
) {
    let State { positions, block, fill, .. } = state;
    let job = MoveJob::new(args, at, positions.as_ptr(), n, next);
    let mut move_rows = |job: &MoveJob| move_fn(args, job);
    if !block.has_bad() {
        move_rows(&job);
    } else if args.spec.policy.out_of_bounds == OutOfBounds::Zero {
        // SAFETY: the contract of these rows, which have been resolved into the block.
        unsafe { move_some(level, args, &job, block, fill, select, &mut move_rows) };
    }
}

/// Resolves `n <= BLOCK` indices from `index` on, unless they are those of the block before.
///
/// # Safety
/// K2 and K3 for these indices, of whose type the functions are; K7 for their level.
#[inline(always)]
pub(super) unsafe fn resolve_block(
    state: &mut State,
    args: &IndexArgs<'_>,
    index: *const u8,
    n: usize,
    fns: ResolveFns,
) {
    let State { positions, block, resolved, out_of_range, .. } = state;
    // Several blocks share the buffer where the inner loop is longer than one. One that is not all of the loop is not
    // come back to: what begins where it does may be longer.
    let whole = n == args.inner().n;
    if !whole || index != *resolved {
        *resolved = if whole { index } else { core::ptr::null() };
        // SAFETY: the caller's promise.
        *out_of_range |= unsafe { block.resolve(positions, args, index, n, fns) };
    }
}

/// The part of the next outer coordinate's data to prefetch while the rows from `done` on are moved.
#[inline(always)]
pub(crate) fn next_slice(args: &IndexArgs<'_>, at: Cursor, done: usize) -> NextSlice {
    match args.spec.next_slice_bytes {
        0 => NextSlice::NONE,
        bytes => NextSlice::spread(at.data.wrapping_offset(args.outer().data), bytes, args.inner().n, done),
    }
}
