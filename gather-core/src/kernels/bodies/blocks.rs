//! Blocks: the indices of up to 512 rows are resolved, then the rows are moved.
//!
//! ```text
//! for each block of the inner loop:
//!     resolve its indices into positions       (unless they are those of the block before)
//!     move its rows                            (without a branch)
//!     or move some and fill the others         (`Missing::Fill` only: `filled.rs`)
//! ```
//!
//! Chunks are blocks of 64 rows, where no outer loop comes back to the same indices. A strided copy is a block of one
//! index, which serves the whole inner loop: its rows lie a step apart.

use crate::kernels::bodies::filled::{Moves, Short};
use crate::kernels::bodies::{IndexWidth, State};
use crate::kernels::levels::Isa;
use crate::kernels::moves::prefetching::MovePrefetchingFn;
use crate::kernels::moves::stream::{self, StreamRows};
use crate::kernels::moves::strided::{MoveStrided, StridedRows};
use crate::kernels::moves::{LookUpFn, MoveJobFn, RowLoopFn};
use crate::kernels::nest::plane::Plane;
use crate::kernels::nest::positions::BLOCK;
use crate::kernels::nest::rows::{MoveJob, ResolvedRows};
use crate::kernels::prefetch::NextSlice;
use crate::kernels::resolve::block::ResolveFns;
use crate::kernels::resolve::{ChunksFn, ChunksJob};
use crate::types::index::Index;

/// The body of [`Method::Blocks`](crate::Method::Blocks).
#[inline(never)]
pub(super) fn blocks<W: IndexWidth, I: Index, L: Isa>(state: &mut State, plane: Plane<'_>) {
    // SAFETY: K7: kernels of the level alone name this body.
    let level = unsafe { L::of_kernel() };
    let short = Short::select::<W>(level, plane.spec().row);
    run_blocks(state, plane, Moves { rows: &W::move_rows(level), short, bytes: None }, level.resolve_fns::<I>());
}

/// The body of [`Method::Chunks`](crate::Method::Chunks).
#[inline(never)]
pub(super) fn chunks<W: IndexWidth, I: Index, L: Isa>(state: &mut State, plane: Plane<'_>) {
    // SAFETY: K7: kernels of the level alone name this body.
    let level = unsafe { L::of_kernel() };
    let short = Short::select::<W>(level, plane.spec().row);
    run_chunks(state, plane, Moves { rows: &W::move_rows(level), short, bytes: None }, level.resolve_chunks::<I>());
}

/// The body of [`Method::Streamed`](crate::Method::Streamed) for long rows. Rows of the same block are prefetched.
#[inline(never)]
pub(super) fn streamed<I: Index, L: Isa>(state: &mut State, plane: Plane<'_>) {
    // SAFETY: K7: kernels of the level alone name this body.
    let level = unsafe { L::of_kernel() };
    let (rows, short) = (streaming(level.entry::<StreamRows>()), Short::blend(level));
    run_blocks(state, plane, Moves { rows: &rows, short, bytes: None }, level.resolve_fns::<I>());
    stream::fence();
}

/// The body of [`Method::Table`](crate::Method::Table). Bytes are looked up straight from contiguous indices of a byte.
/// What no table takes is moved.
#[inline(never)]
pub(super) fn table<W: IndexWidth, I: Index, L: Isa>(state: &mut State, plane: Plane<'_>) {
    // SAFETY: K7: kernels of the level alone name this body.
    let level = unsafe { L::of_kernel() };
    let rows = looking_up(W::look_up(level), W::move_rows(level));
    let (args, spec) = (plane.args(), plane.spec());
    let are_bytes = spec.row == 1 && spec.components.len() == 1 && args.inner().index == 1;
    let bytes = if const { size_of::<I>() == 1 } && are_bytes { level.look_up_bytes::<I>() } else { None };
    run_blocks(state, plane, Moves { rows: &rows, short: Short::blend(level), bytes }, level.resolve_fns::<I>());
}

/// Moves rows by non-temporal stores, and prefetches later rows of the same job. A function of its own, so that every
/// index type has the same closure; and so is the next one.
fn streaming(stream: MovePrefetchingFn) -> impl Fn(&MoveJob<'_>) {
    move |job| stream((job, &job.later()))
}

/// Looks elements up in a table, where there is one, and moves those that are left.
fn looking_up(look_up: Option<LookUpFn>, rest: MoveJobFn) -> impl Fn(&MoveJob<'_>) {
    move |job| rest(&job.from(look_up.map_or(0, |look_up| look_up(job))))
}

/// The body of [`Method::StridedCopy`](crate::Method::StridedCopy).
#[inline(never)]
pub(super) fn strided<W: IndexWidth, I: Index, L: Isa>(state: &mut State, plane: Plane<'_>) {
    // SAFETY: K7: kernels of the level alone name this body.
    let level = unsafe { L::of_kernel() };
    run_strided(state, plane, W::by_way::<MoveStrided>(level, plane.spec().row), level.resolve_fns::<I>());
}

/// Runs a plane block by block. Only `fns` know the index type.
#[inline(never)]
pub(crate) fn run_blocks(state: &mut State, plane: Plane<'_>, moves: Moves<'_>, fns: ResolveFns) {
    let spec = plane.spec();
    for strip in plane.strips() {
        let mut done = 0;
        while done < strip.n() {
            if let Some(look_up) = moves.bytes {
                let looked_up = look_up(&strip.from(done));
                (state.done, done) = (state.done + looked_up, done + looked_up);
                if done == strip.n() {
                    break;
                }
            }
            let block = strip.part(done, BLOCK);
            let (rows, fill) = state.resolve(&block, block.n() == strip.n(), fns, strip.next_slice(done));
            state.done += moves.block(spec, &rows, fill);
            done += block.n();
        }
    }
}

/// Runs a plane chunk by chunk. Only `resolve` knows the index type.
#[inline(never)]
fn run_chunks(state: &mut State, plane: Plane<'_>, moves: Moves<'_>, resolve: ChunksFn) {
    let (spec, State { positions, block, done, fill, .. }) = (plane.spec(), state);
    for strip in plane.strips() {
        let job = ChunksJob::new(&strip, &spec.components[0], positions);
        let mut rows = ResolvedRows::before(&strip, job.room(), strip.next_slice(0));
        let mut each = |n, bad| {
            block.note(bad);
            // SAFETY: the next `n` iterations of the strip, whose positions have just been written to the buffer.
            unsafe { rows.go_on(n, *block) };
            let moved = moves.block(spec, &rows, fill);
            *done += moved;
            moved == n
        };
        resolve((&job, &mut each));
    }
}

/// Runs a plane whose inner loop stays at one index. Only `fns` know the index type.
#[inline(never)]
fn run_strided(state: &mut State, plane: Plane<'_>, move_rows: RowLoopFn<MoveStrided>, fns: ResolveFns) {
    let spec = plane.spec();
    for strip in plane.strips() {
        let (row, fill) = state.resolve(&strip.first(1), true, fns, NextSlice::NONE);
        if let Some(job) = row.in_range() {
            // SAFETY: the tuple of indices serves all of the inner loop (K9): so its position is in range for the row
            // of data of each iteration (K2), which shares no byte with that of the output (K4).
            move_rows(&unsafe { StridedRows::new(job.source(0), job.data_step, strip.outputs(), spec.row) });
        } else if spec.policy.fills() {
            fill.fill(spec, strip.outputs());
        } else {
            return;
        }
        state.done += strip.n();
    }
}
