//! Chunks: as blocks, in chunks of 64 rows, where no outer loop comes back to the same indices.

use crate::kernels::args::{Cursor, IndexArgs};
use crate::kernels::bodies::IndexWidth;
use crate::kernels::bodies::blocks::{move_rows, next_slice};
use crate::kernels::bodies::filled::move_some;
use crate::kernels::bodies::{MoveFn, State};
use crate::kernels::levels::Isa;
use crate::kernels::moves::MoveJob;
use crate::kernels::moves::fill::SelectFn;
use crate::kernels::resolve::{ChunksFn, ResolveJob};
use crate::types::index::Index;
use crate::types::policy::OutOfBounds;

/// The body of [`Method::Chunks`](crate::Method::Chunks).
///
/// # Safety
/// As for [`Body`](super::Body).
pub(super) unsafe fn chunks<W: IndexWidth, I: Index, L: Isa>(state: &mut State, args: &IndexArgs<'_>, at: &Cursor) {
    // SAFETY: K7.
    let level = unsafe { L::of_kernel() };
    let select = W::select(level, args.spec.row);
    // SAFETY: the caller's promise.
    unsafe { planes(level, state, args, at, move_rows::<W, L>, select, level.resolve_chunks::<I>()) }
}

/// Runs a plane. Only `resolve` knows the index type.
///
/// # Safety
/// As for [`Body`](super::Body) and [`MoveFn`]; `resolve` is that of the kernel's index type.
#[inline(never)]
unsafe fn planes<L: Isa>(
    level: L,
    state: &mut State,
    args: &IndexArgs<'_>,
    at: &Cursor,
    move_fn: MoveFn,
    select: Option<SelectFn>,
    resolve: ChunksFn,
) {
    let (outer, mut at) = (args.outer(), *at);
    for _ in 0..outer.n {
        // SAFETY: the caller's promise; `at` is the cursor of a coordinate of the outer loop.
        unsafe { run(level, state, args, at, move_fn, select, resolve) };
        at = at.step(outer);
    }
}

/// Runs the inner loop.
///
/// # Safety
/// As for [`planes`].
#[inline(always)]
unsafe fn run<L: Isa>(
    level: L,
    state: &mut State,
    args: &IndexArgs<'_>,
    at: Cursor,
    move_fn: MoveFn,
    select: Option<SelectFn>,
    resolve: ChunksFn,
) {
    let State { positions, block, out_of_range, fill, .. } = state;
    let (n, room) = (args.inner().n, positions.as_mut_ptr());
    let job = ResolveJob::new(room, args, &args.spec.components[0], at.index, n);
    let mut moves = MoveJob::new(args, at, room, n, next_slice(args, at, 0));
    let mut each = |n, bad| {
        block.note(bad);
        *out_of_range |= bad;
        moves.n = n;
        let mut move_rows = |job: &MoveJob| move_fn(args, job);
        if !bad {
            move_rows(&moves);
        } else if args.spec.policy.out_of_bounds == OutOfBounds::Zero {
            // SAFETY: the contract of these rows, which have been resolved into the block.
            unsafe { move_some(level, args, &moves, block, fill, select, &mut move_rows) };
        } else {
            return false;
        }
        moves.advance(n);
        true
    };
    resolve((&job, &mut each));
}
