//! Reducing single elements by indices of any kind, wherever indices and updates lie.

use core::hint::black_box;

use crate::kernels::moves::prefetch::{LINE, prefetch};
use crate::kernels::reduce::by_index::{GROUP, STREAM_AHEAD};
use crate::kernels::reduce::indexed::IndexedJob;
use crate::kernels::reduce::read::ReadIndex;
use crate::kernels::reduce::rows::TakeRow;
use crate::types::policy::{NegativeIndex, OutOfBounds};

/// [`ByIndexFn`](crate::kernels::reduce::ByIndexFn) for elements that `element` takes, wherever indices and updates
/// lie, and for indices of any kind.
///
/// # Safety
/// As for [`ByIndexFn`](crate::kernels::reduce::ByIndexFn).
#[inline(always)]
pub(super) unsafe fn stepped<R: ReadIndex, T: TakeRow>(job: &IndexedJob, element: &T) -> bool {
    // SAFETY: the caller's promise.
    unsafe { stepped_by::<R::Either, T>(job, element) }
}

/// # Safety
/// As for [`stepped`].
#[inline(never)]
unsafe fn stepped_by<R: ReadIndex, T: TakeRow>(job: &IndexedJob, element: &T) -> bool {
    if matches!(job.policy.out_of_bounds, OutOfBounds::Clamp | OutOfBounds::Wrap) {
        // SAFETY: the caller's promise.
        unsafe { step::<R, T, true>(*job, element) }
    } else {
        // SAFETY: as above.
        unsafe { step::<R, T, false>(*job, element) }
    }
}

/// As [`stepped`], for a policy that gives every index a position if it `MOVES`. Only such a loop calls a function,
/// before which registers are saved. The job is a copy: for all that the compiler knows, a store might change it.
///
/// # Safety
/// As for [`stepped`].
#[inline(always)]
unsafe fn step<R: ReadIndex, T: TakeRow, const MOVES: bool>(job: IndexedJob, element: &T) -> bool {
    let IndexedJob { n, outer, dim, policy, moved, stride, index_step, updates_step, destination_step, .. } = job;
    // The sign tells which indices count from the end: the size of the axis is added to those, and 0 to the others.
    let from_end = job.is_signed && policy.negative == NegativeIndex::FromEnd;
    let (sign, below) = if from_end { (1 << (8 * job.index_bytes - 1), dim) } else { (0, 0) };
    // A compiler that knows where these come from makes a loop for each case.
    let (indices, sign, below) = black_box((R::of(job.index_bytes), sign, below));
    let position_of = |index: *const u8| {
        // SAFETY: K3: an index of the job.
        let signed = (unsafe { indices.read(index) } ^ sign).wrapping_sub(sign);
        // Random signs would mispredict a branch.
        let position = signed.wrapping_add(below & ((signed as i64) >> 63) as u64);
        // Along an axis without positions nothing moves.
        let moves = MOVES && position >= dim && dim != 0;
        // SAFETY: K3, as above.
        if moves { unsafe { moved(index, policy, dim as i64) as u64 } } else { position }
    };
    let (mut plane, mut out_of_range) = ((job.index, job.updates, job.destination), false);
    for _ in 0..outer.n {
        let (mut index, mut updates, mut destination) = plane;
        if index_step == 0 {
            let position = position_of(index);
            let mut to = destination.wrapping_offset(stride.wrapping_mul(position as isize));
            out_of_range |= position >= dim;
            for _ in 0..if position < dim { n } else { 0 } {
                // SAFETY: S1, S2 and S3 for an element whose position is in range: the one of the whole loop.
                unsafe { element.take(updates, to) };
                (updates, to) = (updates.wrapping_offset(updates_step), to.wrapping_offset(destination_step));
            }
        } else {
            for at in 0..n {
                if at.is_multiple_of(GROUP) {
                    prefetch(index.wrapping_add(STREAM_AHEAD), 2 * LINE);
                    prefetch(updates.wrapping_add(STREAM_AHEAD), 1);
                }
                let position = position_of(index);
                if position < dim {
                    let to = destination.wrapping_offset(stride.wrapping_mul(position as isize));
                    // SAFETY: S1, S2 and S3 for an element whose position is in range.
                    unsafe { element.take(updates, to) };
                } else {
                    out_of_range = true;
                }
                (index, updates) = (index.wrapping_offset(index_step), updates.wrapping_offset(updates_step));
                destination = destination.wrapping_offset(destination_step);
            }
        }
        plane.0 = plane.0.wrapping_offset(outer.index);
        plane.1 = plane.1.wrapping_offset(outer.out);
        plane.2 = plane.2.wrapping_offset(outer.data);
    }
    out_of_range
}
