//! Blocks: the indices of up to 512 rows are resolved, then the rows are moved.
//!
//! ```text
//! for each block of the inner loop:
//!     resolve its indices into positions       (unless they are those of the block before)
//!     move its rows                            (without a branch)
//!     or move some and fill the others         (`Missing::Fill` only: `filled.rs`)
//! ```

use crate::kernels::bodies::filled::move_some;
use crate::kernels::bodies::{IndexWidth, RowsAndFill, State};
use crate::kernels::levels::Isa;
use crate::kernels::moves::Fixed;
use crate::kernels::moves::fill::SelectFn;
use crate::kernels::moves::stream::{self, StreamRows};
use crate::kernels::nest::args::{IndexArgs, MoveFn, Outcome};
use crate::kernels::nest::plane::Plane;
use crate::kernels::nest::positions::BLOCK;
use crate::kernels::nest::rows::{BytesJob, MoveJob};
use crate::kernels::prefetch::NextSlice;
use crate::kernels::resolve::block::ResolveFns;
use crate::types::index::Index;

/// The body of [`Method::Blocks`](crate::Method::Blocks).
#[inline(never)]
pub(super) fn blocks<W: IndexWidth, I: Index, L: Isa>(state: &mut State, plane: Plane<'_>) {
    // SAFETY: K7: kernels of the level alone name this body.
    let level = unsafe { L::of_kernel() };
    let select = W::select(level, plane.spec().row);
    run_blocks(level, state, plane, move_rows::<W, L>, select, level.resolve_fns::<I>());
}

/// The body of [`Method::Streamed`](crate::Method::Streamed) for long rows.
#[inline(never)]
pub(super) fn streamed<I: Index, L: Isa>(state: &mut State, plane: Plane<'_>) {
    // SAFETY: K7: kernels of the level alone name this body.
    let level = unsafe { L::of_kernel() };
    run_blocks(level, state, plane, stream_rows::<L>, None, level.resolve_fns::<I>());
    stream::fence();
}

/// The body of [`Method::Table`](crate::Method::Table).
#[inline(never)]
pub(super) fn table<W: IndexWidth, I: Index, L: Isa>(state: &mut State, plane: Plane<'_>) {
    // SAFETY: K7: kernels of the level alone name this body.
    let level = unsafe { L::of_kernel() };
    run_blocks(level, state, plane, look_up::<W, L>, None, level.resolve_fns::<I>());
}

/// Whether rows are bytes, and indices, if they are bytes too, are contiguous and of one component.
#[inline(always)]
pub(super) fn are_bytes(args: &IndexArgs<'_>) -> bool {
    args.spec().row == 1 && args.spec().components.len() == 1 && args.inner().index == 1
}

/// The body of [`Method::Table`](crate::Method::Table) for bytes, straight from indices.
#[inline(never)]
pub(super) fn byte_table<I: Index, L: Isa>(state: &mut State, plane: Plane<'_>) {
    debug_assert!(are_bytes(plane.args()) && size_of::<I>() == 1);
    // SAFETY: K7: kernels of the level alone name this body.
    let level = unsafe { L::of_kernel() };
    let (component, fns) = (&plane.spec().components[0], level.resolve_fns::<I>());
    for strip in plane.strips() {
        let mut done = 0;
        while done < strip.n() {
            let rest = strip.from(done);
            let looked_up = level.look_up_bytes::<I>().map_or(0, |look_up| look_up(&BytesJob::new(&rest, component)));
            (state.done, done) = (state.done + looked_up, done + looked_up);
            let block = strip.part(done, BLOCK);
            if block.n() > 0 {
                let rows = state.resolve(&block, false, fns, NextSlice::NONE);
                state.done += move_block(level, plane.args(), rows, look_up::<Fixed<1>, L>, None);
                done += block.n();
            }
        }
    }
}

/// [`IndexWidth::move_rows`] as a [`MoveFn`].
#[inline(never)]
pub(super) fn move_rows<W: IndexWidth, L: Isa>(_: &IndexArgs<'_>, job: &MoveJob<'_>) {
    // SAFETY: K7: bodies of the level alone name this function.
    let level = unsafe { L::of_kernel() };
    W::move_rows(level)(job);
}

/// [`StreamRows`] as a [`MoveFn`], which prefetches rows of the same block.
#[inline(never)]
fn stream_rows<L: Isa>(_: &IndexArgs<'_>, job: &MoveJob<'_>) {
    // SAFETY: K7: bodies of the level alone name this function.
    let level = unsafe { L::of_kernel() };
    level.entry::<StreamRows>()((job, &job.later()));
}

/// [`IndexWidth::look_up`] as a [`MoveFn`], with the rest moved one by one.
#[inline(never)]
fn look_up<W: IndexWidth, L: Isa>(_: &IndexArgs<'_>, job: &MoveJob<'_>) {
    // SAFETY: K7: bodies of the level alone name this function.
    let level = unsafe { L::of_kernel() };
    let done = W::look_up(level).map_or(0, |look_up| look_up(job));
    W::move_rows(level)(&job.from(done));
}

/// Runs a plane block by block; `select` is that of the width, where there is one that does as `move_fn` does. Only
/// `fns` know the index type.
#[inline(never)]
pub(crate) fn run_blocks<L: Isa>(
    level: L,
    state: &mut State,
    plane: Plane<'_>,
    move_fn: MoveFn,
    select: Option<SelectFn>,
    fns: ResolveFns,
) {
    for strip in plane.strips() {
        let mut done = 0;
        while done < strip.n() {
            let block = strip.part(done, BLOCK);
            let rows = state.resolve(&block, block.n() == strip.n(), fns, strip.next_slice(done));
            state.done += move_block(level, plane.args(), rows, move_fn, select);
            done += block.n();
        }
    }
}

/// Runs a loop nest of one loop of at most [`BLOCK`] rows as [`run_blocks`] does.
#[inline(never)]
pub(crate) fn run_block<L: Isa>(level: L, args: &IndexArgs<'_>, move_fn: MoveFn, fns: ResolveFns) -> Outcome {
    let (mut state, strip) = (State::new(args), Plane::of(args).first());
    let rows = state.resolve(&strip, true, fns, NextSlice::NONE);
    Outcome::of_rows(move_block(level, args, rows, move_fn, None), strip.n())
}

/// Moves the rows of a block, if they are to be moved or filled; returns the number of rows that it has written.
#[inline(always)]
fn move_block<L: Isa>(
    level: L,
    args: &IndexArgs<'_>,
    (rows, fill): RowsAndFill<'_>,
    move_fn: MoveFn,
    select: Option<SelectFn>,
) -> usize {
    if let Some(job) = rows.in_range() {
        move_fn(args, job);
    } else if args.spec().policy.fills() {
        move_some(level, args, &rows, fill, select, &mut |job| move_fn(args, job));
    } else {
        return 0;
    }
    rows.n()
}
