//! Strided copy: one index serves the whole inner loop. Its rows then lie a step apart.

use crate::kernels::args::{Cursor, IndexArgs, Loop};
use crate::kernels::bodies::IndexWidth;
use crate::kernels::bodies::State;
use crate::kernels::levels::Isa;
use crate::kernels::moves::ByWay;
use crate::kernels::moves::placed::CopyRow;
use crate::kernels::moves::strided::{MoveStrided, StridedRows};
use crate::kernels::resolve::block::ResolveFns;
use crate::types::index::Index;
use crate::types::policy::OutOfBounds;

/// The body of [`Method::StridedCopy`](crate::Method::StridedCopy).
///
/// # Safety
/// As for [`Body`](super::Body).
pub(super) unsafe fn strided<W: IndexWidth, I: Index, L: Isa>(state: &mut State, args: &IndexArgs<'_>, at: &Cursor) {
    // SAFETY: K7.
    let level = unsafe { L::of_kernel() };
    // SAFETY: the caller's promise.
    unsafe { planes(state, args, at, W::by_way(args.spec.row, AtLevel(level)), ResolveFns::of::<I, L>(level)) }
}

/// Moves rows that lie a step apart.
///
/// # Safety
/// K1, K2, K4, K6 and K7 for the rows.
type MoveStridedFn = fn(&StridedRows);

/// [`MoveStrided`] at a level.
struct AtLevel<L>(L);

impl<L: Isa> ByWay for AtLevel<L> {
    type Fn = MoveStridedFn;

    #[inline(always)]
    fn of<C: CopyRow>(self) -> MoveStridedFn {
        self.0.entry::<MoveStrided<C>>()
    }
}

/// Runs a plane. Only `fns` know the index type.
///
/// # Safety
/// As for [`Body`](super::Body) and [`MoveStridedFn`]; `fns` are those of the kernel's index type.
#[inline(never)]
unsafe fn planes(state: &mut State, args: &IndexArgs<'_>, at: &Cursor, move_rows: MoveStridedFn, fns: ResolveFns) {
    let (outer, mut at) = (args.outer(), *at);
    for _ in 0..outer.n {
        // SAFETY: the caller's promise; `at` is the cursor of a coordinate of the outer loop.
        unsafe { run(state, args, at, move_rows, fns) };
        at = at.step(outer);
    }
}

/// Runs the inner loop.
///
/// # Safety
/// As for [`planes`].
#[inline(always)]
unsafe fn run(state: &mut State, args: &IndexArgs<'_>, at: Cursor, move_rows: MoveStridedFn, fns: ResolveFns) {
    let State { positions, block, resolved, out_of_range, fill } = state;
    if at.index != *resolved {
        *resolved = at.index;
        // SAFETY: K2 and K3 for the index.
        *out_of_range |= unsafe { block.resolve(positions, args, at.index, 1, fns) };
    }
    let Loop { n, out, data, .. } = *args.inner();
    if block.has_bad() {
        if args.spec.policy.out_of_bounds == OutOfBounds::Zero {
            // SAFETY: K1 and K6 for the rows.
            unsafe { fill.fill(args, at.out, n) };
        }
        return;
    }
    // SAFETY: the position of the index has been written.
    let position = unsafe { positions.as_ptr().read() };
    let from = at.data.wrapping_offset(args.stride.wrapping_mul(position as isize));
    let rows = StridedRows { from, from_step: data, to: at.out, to_step: out, n, row: args.spec.row };
    move_rows(&rows);
}
