//! Strided copy: one index serves the whole inner loop. Its rows then lie a step apart.

use crate::kernels::bodies::{IndexWidth, State};
use crate::kernels::levels::Isa;
use crate::kernels::moves::RowLoopFn;
use crate::kernels::moves::strided::{MoveStrided, StridedRows};
use crate::kernels::nest::plane::Plane;
use crate::kernels::prefetch::NextSlice;
use crate::kernels::resolve::block::ResolveFns;
use crate::types::index::Index;

/// The body of [`Method::StridedCopy`](crate::Method::StridedCopy).
#[inline(never)]
pub(super) fn strided<W: IndexWidth, I: Index, L: Isa>(state: &mut State, plane: Plane<'_>) {
    // SAFETY: K7: kernels of the level alone name this body.
    let level = unsafe { L::of_kernel() };
    planes(state, plane, W::by_way::<MoveStrided>(level, plane.spec().row), level.resolve_fns::<I>());
}

/// Runs a plane. Only `fns` know the index type.
#[inline(never)]
fn planes(state: &mut State, plane: Plane<'_>, move_rows: RowLoopFn<MoveStrided>, fns: ResolveFns) {
    let spec = plane.spec();
    for strip in plane.strips() {
        let (row, fill) = state.resolve(&strip.first(1), true, fns, NextSlice::NONE);
        if let Some(job) = row.in_range() {
            // SAFETY: the tuple of indices serves all of the inner loop (K9): so its position is in range for the row
            // of data of each iteration (K2), which shares no byte with that of the output (K4).
            move_rows(&unsafe { StridedRows::new(job.source(0), job.data_step(), strip.outputs(), spec.row) });
        } else if spec.policy.fills() {
            fill.fill(spec, strip.outputs());
        } else {
            return;
        }
        state.done += strip.n();
    }
}
