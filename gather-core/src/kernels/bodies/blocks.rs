//! Blocks: the indices of up to 512 rows are resolved, then the rows are moved.
//!
//! ```text
//! for each block of the inner loop:
//!     resolve its indices into positions       (unless the previous block had the same indices)
//!     move its rows                            (without a branch)
//!     or move rows in range, fill the others   (`Missing::Fill` only: `filled.rs`)
//! ```
//!
//! Chunks are blocks of 64 rows, for nests whose outer loops never return to the same indices. A strided copy is a
//! block of one index for the whole inner loop: its rows are a constant step apart.

use crate::kernels::bodies::filled::{MoveBy, Moves, Short};
use crate::kernels::bodies::{IndexWidth, State};
use crate::kernels::levels::Isa;
use crate::kernels::moves::stream::{self, StreamRows};
use crate::kernels::moves::strided::{MoveStrided, StridedRows};
use crate::kernels::moves::{LookUpBytesFn, RowLoopFn};
use crate::kernels::nest::args::{IndexArgs, Outcome};
use crate::kernels::nest::plane::Plane;
use crate::kernels::nest::positions::BLOCK;
use crate::kernels::nest::rows::ResolvedRows;
use crate::kernels::prefetch::NextSlice;
use crate::kernels::resolve::block::ResolveFns;
use crate::kernels::resolve::{ChunksFn, ChunksJob};
use crate::types::index::Index;

/// The body of [`Method::Blocks`](crate::Method::Blocks).
#[inline(never)]
pub(super) fn blocks<W: IndexWidth, I: Index, L: Isa>(state: &mut State, plane: Plane<'_>) {
    // SAFETY: K7: only kernels of the level use this body.
    let level = unsafe { L::of_kernel() };
    run_blocks(state, plane, by_width::<W, L>, level.resolve_fns::<I>(), None);
}

/// The body of [`Method::Chunks`](crate::Method::Chunks).
#[inline(never)]
pub(super) fn chunks<W: IndexWidth, I: Index, L: Isa>(state: &mut State, plane: Plane<'_>) {
    // SAFETY: K7: only kernels of the level use this body.
    let level = unsafe { L::of_kernel() };
    run_chunks(state, plane, by_width::<W, L>, level.resolve_chunks::<I>());
}

/// The body of [`Method::Streamed`](crate::Method::Streamed) for long rows.
#[inline(never)]
pub(super) fn streamed<I: Index, L: Isa>(state: &mut State, plane: Plane<'_>) {
    // SAFETY: K7: only kernels of the level use this body.
    let level = unsafe { L::of_kernel() };
    run_blocks(state, plane, streaming::<L>, level.resolve_fns::<I>(), None);
    stream::fence();
}

/// The body of [`Method::Table`](crate::Method::Table). Bytes are looked up directly by contiguous one-byte indices.
#[inline(never)]
pub(super) fn table<W: IndexWidth, I: Index, L: Isa>(state: &mut State, plane: Plane<'_>) {
    // SAFETY: K7: only kernels of the level use this body.
    let level = unsafe { L::of_kernel() };
    let bytes = if const { size_of::<I>() == 1 } { level.look_up_bytes::<I>() } else { None };
    run_blocks(state, plane, by_table::<W, L>, level.resolve_fns::<I>(), bytes);
}

/// Returns the functions for the rows of a loop nest. Bodies of every index type share a function per width and level.
pub(crate) type MovesFn = fn(&IndexArgs<'_>) -> Moves;

fn by_width<W: IndexWidth, L: Isa>(args: &IndexArgs<'_>) -> Moves {
    // SAFETY: K7: only bodies of the level use this function.
    let level = unsafe { L::of_kernel() };
    Moves { rows: MoveBy::Rows(W::move_rows(level)), short: Short::select::<W>(level, args.spec().row) }
}

/// [`MovesFn`] of a width, by tables.
fn by_table<W: IndexWidth, L: Isa>(_: &IndexArgs<'_>) -> Moves {
    // SAFETY: K7: only bodies of the level use this function.
    let level = unsafe { L::of_kernel() };
    Moves { rows: MoveBy::Table(W::look_up(level), W::move_rows(level)), short: Short::blend(level) }
}

/// [`MovesFn`] by non-temporal stores.
fn streaming<L: Isa>(_: &IndexArgs<'_>) -> Moves {
    // SAFETY: K7: only bodies of the level use this function.
    let level = unsafe { L::of_kernel() };
    Moves { rows: MoveBy::Later(level.entry::<StreamRows>()), short: Short::blend(level) }
}

/// The body of [`Method::StridedCopy`](crate::Method::StridedCopy).
#[inline(never)]
pub(super) fn strided<W: IndexWidth, I: Index, L: Isa>(state: &mut State, plane: Plane<'_>) {
    // SAFETY: K7: only kernels of the level or of a higher level use this body.
    let level = unsafe { L::of_kernel() };
    run_strided(state, plane, W::by_way::<MoveStrided>(level, plane.spec().row), level.resolve_fns::<I>());
}

/// Runs a plane block by block. If rows and indices are bytes, `bytes` looks rows up directly before each block. Only
/// `fns` and `bytes` depend on the index type.
#[inline(never)]
pub(crate) fn run_blocks(
    state: &mut State,
    plane: Plane<'_>,
    moves: MovesFn,
    fns: ResolveFns,
    bytes: Option<LookUpBytesFn>,
) {
    let (args, spec, moves) = (plane.args(), plane.spec(), moves(plane.args()));
    let bytes = bytes.filter(|_| spec.row == 1 && spec.components.len() == 1 && args.inner().index == 1);
    for strip in plane.strips() {
        let mut done = 0;
        while done < strip.n() {
            if let Some(look_up) = bytes {
                let looked_up = look_up(&strip.skip(done));
                (state.done, done) = (state.done + looked_up, done + looked_up);
                if done == strip.n() {
                    break;
                }
            }
            let block = strip.part(done, BLOCK);
            let (rows, fill) = state.resolve(&block, block.n() == strip.n(), fns, strip.next_slice(done));
            state.done += moves.block(args, &rows, fill);
            done += block.n();
        }
    }
}

/// Runs a loop nest of one loop of at most [`BLOCK`] rows as [`run_blocks`] does.
#[inline(never)]
pub(crate) fn run_block(args: &IndexArgs<'_>, moves: MovesFn, fns: ResolveFns) -> Outcome {
    let (mut state, strip) = (State::new(args), Plane::of(args).first());
    let (rows, fill) = state.resolve(&strip, true, fns, NextSlice::NONE);
    Outcome::of_rows(moves(args).block(args, &rows, fill), strip.n())
}

/// Runs a plane chunk by chunk. Only `resolve` depends on the index type.
#[inline(never)]
fn run_chunks(state: &mut State, plane: Plane<'_>, moves: MovesFn, resolve: ChunksFn) {
    let State { positions, block, done, fill, .. } = state;
    let (args, moves) = (plane.args(), moves(plane.args()));
    for strip in plane.strips() {
        let job = ChunksJob::new(&strip, &args.spec().components[0], positions);
        let mut rows = ResolvedRows::before(&strip, job.buffer(), strip.next_slice(0));
        let mut each = |n, bad| {
            block.note(bad);
            // SAFETY: by `ChunksFn`, the positions of the next `n` iterations of the strip are in the buffer.
            unsafe { rows.advance(n, *block) };
            let moved = moves.block(args, &rows, fill);
            *done += moved;
            moved == n
        };
        resolve((&job, &mut each));
    }
}

/// Runs a plane whose inner loop stays at one index. Only `fns` depend on the index type.
#[inline(never)]
fn run_strided(state: &mut State, plane: Plane<'_>, move_rows: RowLoopFn<MoveStrided>, fns: ResolveFns) {
    let spec = plane.spec();
    for strip in plane.strips() {
        let (row, fill) = state.resolve(&strip.take(1), true, fns, NextSlice::NONE);
        if let Some(job) = row.in_range() {
            // SAFETY: `in_range` found the position in range, and the inner loop does not move the index (K9). So a row
            // of data may be read for each iteration (K2), which does not overlap the output (K4).
            move_rows(&unsafe { StridedRows::new(job.source(0), job.data_step, strip.outputs(), spec.row) });
        } else if spec.policy.fills() {
            fill.fill(spec, strip.outputs());
        } else {
            return;
        }
        state.done += strip.n();
    }
}
