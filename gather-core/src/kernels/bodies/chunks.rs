//! Chunks: as blocks, in chunks of 64 rows, where no outer loop comes back to the same indices.

use crate::kernels::bodies::blocks::move_rows;
use crate::kernels::bodies::filled::move_some;
use crate::kernels::bodies::{IndexWidth, State};
use crate::kernels::levels::Isa;
use crate::kernels::moves::fill::{Select, SelectFn};
use crate::kernels::nest::args::MoveFn;
use crate::kernels::nest::plane::{Plane, Strip};
use crate::kernels::nest::rows::ResolvedRows;
use crate::kernels::resolve::{ChunksFn, ChunksJob};
use crate::types::index::Index;

/// The body of [`Method::Chunks`](crate::Method::Chunks).
#[inline(never)]
pub(super) fn chunks<W: IndexWidth, I: Index, L: Isa>(state: &mut State, plane: Plane<'_>) {
    // SAFETY: K7: kernels of the level alone name this body.
    let level = unsafe { L::of_kernel() };
    let select = Some(W::by_way::<Select>(level, plane.spec().row));
    planes(level, state, plane, move_rows::<W, L>, select, level.resolve_chunks::<I>());
}

/// Runs a plane. Only `resolve` knows the index type.
#[inline(never)]
fn planes<L: Isa>(
    level: L,
    state: &mut State,
    plane: Plane<'_>,
    move_fn: MoveFn,
    select: Option<SelectFn>,
    resolve: ChunksFn,
) {
    for strip in plane.strips() {
        run(level, state, &strip, move_fn, select, resolve);
    }
}

/// Runs the inner loop.
#[inline(always)]
fn run<L: Isa>(
    level: L,
    state: &mut State,
    strip: &Strip<'_>,
    move_fn: MoveFn,
    select: Option<SelectFn>,
    resolve: ChunksFn,
) {
    let State { positions, block, done, fill, .. } = state;
    let (args, fills) = (strip.args(), strip.spec().policy.fills());
    let job = ChunksJob::new(strip, &strip.spec().components[0], positions);
    let mut rows = ResolvedRows::before(strip, job.room(), strip.next_slice(0));
    let mut each = |n, bad| {
        block.note(bad);
        // SAFETY: the next `n` iterations of the strip, whose positions have just been written to the buffer.
        unsafe { rows.go_on(n, *block) };
        if let Some(job) = rows.in_range() {
            move_fn(args, job);
        } else if fills {
            move_some(level, args, &rows, fill, select, &mut |job| move_fn(args, job));
        } else {
            return false;
        }
        *done += n;
        true
    };
    resolve((&job, &mut each));
}
