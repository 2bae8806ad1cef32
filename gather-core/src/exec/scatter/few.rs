//! Few updates: their indices are checked and resolved in one pass before anything is written.
//!
//! ```text
//! positions = the resolved indices          (an index that is an error ends the call here)
//! copy the original, if there is one
//! for each position in range: list the source and the destination of its update
//! reduce the listed rows
//! ```

use core::mem::MaybeUninit;

use crate::exec::first_bad_index::IndexCheck;
use crate::exec::scatter::ScatterOperands;
use crate::kernels::reduce::scatter::{Ends, ReduceJob};
use crate::kernels::{Indices, Positions, ResolveJob, prefetch, remap};
use crate::plan::{Axis, FewUpdates};
use crate::types::error::Error;
use crate::types::policy::{KernelPolicy, Missing, NegativeIndex};

/// Maximum bytes of a row to prefetch.
const BYTES_AHEAD: usize = 256;

/// Policy for the check of indices if negative indices are skipped: they count from the end.
pub(super) const COUNTING: KernelPolicy = KernelPolicy::new(NegativeIndex::FromEnd, Missing::Fail, None);

/// Runs a few updates.
///
/// # Errors
/// [`Error::IndexOutOfRange`], before anything is written, then from the copy.
///
/// # Safety
/// As for [`super::run_few`].
#[inline(never)]
pub(super) unsafe fn run(
    few: &FewUpdates,
    operands: &ScatterOperands<'_>,
    mut destination: *mut u8,
) -> Result<(), Error> {
    let &FewUpdates { n, policy, row, stride, steps: [index_step, updates_step, destination_step], .. } = few;
    let mut positions = Positions::new();
    // SAFETY: X1 and P1: the loop reaches `n` indices, which may be read.
    let indices = unsafe { Indices::new(operands.indices.0.wrapping_offset(few.first), index_step, n) };
    let is_plain = policy.remap.is_none() && !few.skips_negative;
    let missed = if is_plain {
        resolve(few, indices, policy, &mut positions)
    } else {
        by_passes(few, operands, indices, &mut positions)?
    };
    if missed && is_plain && policy.fails() {
        return Err(with_check(few, |checked| operands.first_bad_index(checked)));
    }
    operands.begin(destination)?;
    let mut ends = [const { MaybeUninit::<Ends>::uninit() }; FewUpdates::MOST];
    let (ends, mut updates, mut taken) = (&mut ends[..n], operands.updates.0, n);
    // SAFETY: `resolve` or `by_passes` has written a position for each of the `n` indices.
    let positions = unsafe { positions.written(n) };
    for (ends, &mut position) in ends.iter_mut().zip(&mut *positions) {
        ends.write(Ends { updates, destination: destination.wrapping_offset(stride.wrapping_mul(position as isize)) });
        updates = updates.wrapping_offset(updates_step);
        destination = destination.wrapping_offset(destination_step);
    }
    if missed {
        taken = 0;
        for (k, position) in positions.iter().enumerate() {
            // Moved unconditionally, counted only in range: a branch would be mispredicted.
            ends[taken] = ends[k];
            taken += usize::from(*position >= 0);
        }
    }
    // SAFETY: the loop above has written all `n >= taken` entries.
    let ends = unsafe { core::slice::from_raw_parts(ends.as_ptr().cast::<Ends>(), taken) };
    if few.is_far {
        ends.iter().for_each(|ends| prefetch(ends.destination, row.destination_bytes.min(BYTES_AHEAD)));
    }
    // SAFETY: S1, S2, S3 and K4 by X1: rows at positions in range, for the function of their type (P2).
    (few.take)(&unsafe { ReduceJob::new(ends, row) });
    Ok(())
}

/// Resolves the indices of the updates, to -1 if out of range. Returns whether any index is out of range.
#[inline(always)]
fn resolve(few: &FewUpdates, indices: Indices, policy: KernelPolicy, out: &mut Positions) -> bool {
    let job = ResolveJob::to_positions(indices, few.dim, policy, out);
    // SAFETY: P2: the indices are of the function's type; the machine has its level (K7).
    unsafe { (few.resolve)(&job) }
}

/// [`resolve`] after a pass that remaps indices, or checks indices that are not skipped. Returns whether any is
/// skipped.
///
/// # Errors
/// [`Error::IndexOutOfRange`].
#[inline(never)]
fn by_passes(
    few: &FewUpdates,
    operands: &ScatterOperands<'_>,
    indices: Indices,
    out: &mut Positions,
) -> Result<bool, Error> {
    let (policy, types) = (few.policy, (few.index, few.level));
    let Some(remap) = policy.remap else {
        if resolve(few, indices, COUNTING, out) {
            with_check(few, |checked| operands.check_each(checked))?;
        }
        return Ok(resolve(few, indices, policy, out));
    };
    let replaced = |_, indices| assert!(!resolve(few, indices, policy, out), "a replaced index is in range");
    // SAFETY: K3 by X1: `indices` are values of the type `few.index`.
    unsafe { remap::each_block(indices, types, few.dim.into(), (remap, policy), replaced) };
    Ok(false)
}

/// Calls `run` with the index check of the updates.
#[cold]
fn with_check<R>(few: &FewUpdates, run: impl FnOnce(&IndexCheck<'_>) -> R) -> R {
    let &FewUpdates { op, policy, index, skips_negative, axis, dim, .. } = few;
    let axis = Axis { axis, dim: dim as usize, data: 0, index: 0 };
    run(&IndexCheck { op, axes: &[axis], policy, index, skips_negative })
}
