//! Chunks: as blocks, in chunks of 64 rows, where no outer loop comes back to the same indices.

use crate::kernels::args::{Cursor, IndexArgs};
use crate::kernels::bodies::blocks::{move_rows, next_slice};
use crate::kernels::bodies::filled::move_some;
use crate::kernels::bodies::{MoveFn, State};
use crate::kernels::isa::Isa;
use crate::kernels::moves::fill::SelectFn;
use crate::kernels::moves::{MoveJob, Width};
use crate::kernels::resolve::{ChunksFn, ResolveJob};
use crate::types::index::Index;
use crate::types::policy::OutOfBounds;

/// The body of [`Method::Chunks`](crate::Method::Chunks).
///
/// # Safety
/// As for [`Body`](super::Body).
pub(super) unsafe fn chunks<W: Width, I: Index, L: Isa>(state: &mut State, args: &IndexArgs<'_>, at: &Cursor) {
    let select = W::select::<L>(args.spec.row);
    // SAFETY: the caller's promise.
    unsafe { planes::<L>(state, args, at, move_rows::<W, L>, select, L::resolve_chunks::<I>()) }
}

/// Runs a plane. Only `resolve` knows the index type.
///
/// # Safety
/// As for [`Body`](super::Body) and [`MoveFn`]; `resolve` is that of the kernel's index type.
#[inline(never)]
unsafe fn planes<L: Isa>(
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
        unsafe { run::<L>(state, args, at, move_fn, select, resolve) };
        at = at.step(outer);
    }
}

/// Runs the inner loop.
///
/// # Safety
/// As for [`planes`].
#[inline(always)]
unsafe fn run<L: Isa>(
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
        // SAFETY: K1, K2, K4, K6 and K7 for the rows of a job: every position is in range. K8 asks for nothing: this is
        // no map.
        let mut move_rows = |job: &MoveJob| unsafe { move_fn(args, job) };
        if !bad {
            move_rows(&moves);
        } else if args.spec.policy.out_of_bounds == OutOfBounds::Zero {
            // SAFETY: the contract of these rows, which have been resolved into the block.
            unsafe { move_some::<L>(args, &moves, block, fill, select, &mut move_rows) };
        } else {
            return false;
        }
        moves.advance(n);
        true
    };
    // SAFETY: K3, the caller's promise; there is room for a block, which is longer than a chunk.
    unsafe { resolve((&job, &mut each)) };
}
