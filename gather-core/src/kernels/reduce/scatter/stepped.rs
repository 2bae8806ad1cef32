//! Reducing single elements by indices of any kind: negative ones, those out of range, one for a whole inner loop.
//!
//! ```text
//! for each index, in order:
//!     resolve it                                    (without a branch: random signs would be mispredicted)
//!     write down where its row comes from and goes to, unless it is out of range
//!     reduce the rows that are written down, when there are enough of them
//! ```
//!
//! So no loop over indices here depends on the reduction. Where one index serves the whole inner loop, rows are a step
//! apart, and nothing is written down.

use core::mem::MaybeUninit;

use crate::kernels::moves::prefetch::{LINE, prefetch};
use crate::kernels::reduce::scatter::by_index::{GROUP, IndexedFns, STREAM_AHEAD, TakeFew};
use crate::kernels::reduce::scatter::indexed::IndexedJob;
use crate::kernels::reduce::scatter::read::{Exact, ReadIndex};
use crate::kernels::reduce::scatter::rows::{Ends, ReduceJob, Row};
use crate::types::policy::{NegativeIndex, OutOfBounds};

/// Reduces rows from the first ends on, at steps of bytes at each.
///
/// # Safety
/// S1, S2, S3 and K4 for the `n` rows.
pub(crate) type StridedFn = unsafe fn(first: Ends, steps: [isize; 2], n: usize, row: Row);

/// [`StridedFn`] for rows that `T` takes.
///
/// # Safety
/// As for [`StridedFn`].
pub(in crate::kernels::reduce) unsafe fn strided<T: TakeFew>(
    first: Ends,
    [updates, destination]: [isize; 2],
    n: usize,
    row: Row,
) {
    let (row, mut at) = (T::of(row.elements), first);
    for _ in 0..n {
        // SAFETY: the caller's promise.
        unsafe { row.take(at.updates, at.destination) };
        at.updates = at.updates.wrapping_offset(updates);
        at.destination = at.destination.wrapping_offset(destination);
    }
}

/// Reduces rows from the first ends on, at steps of bytes at each: some are written down at a time.
///
/// # Safety
/// S1, S2, S3 and K4 for the `n` rows.
#[inline(never)]
pub(in crate::kernels::reduce) unsafe fn written_down(
    fns: &IndexedFns,
    first: Ends,
    [updates, destination]: [isize; 2],
    n: usize,
) {
    let (mut at, mut rows) = (first, Rows::NONE);
    for _ in 0..n {
        rows.ends[rows.n].write(at);
        rows.n += 1;
        at.updates = at.updates.wrapping_offset(updates);
        at.destination = at.destination.wrapping_offset(destination);
        if rows.n == ROWS {
            // SAFETY: the caller's promise.
            unsafe { rows.reduce(fns) };
        }
    }
    // SAFETY: as above.
    unsafe { rows.reduce(fns) };
}

/// Rows that are written down before they are reduced.
const ROWS: usize = 64;

/// Rows that have been written down: the first `n` of the ends.
struct Rows {
    ends: [MaybeUninit<Ends>; ROWS],
    n: usize,
}

impl Rows {
    const NONE: Self = Rows { ends: [MaybeUninit::uninit(); ROWS], n: 0 };

    /// Reduces the rows, of which there are none then.
    ///
    /// # Safety
    /// S1, S2, S3 and K4 for the rows.
    #[inline(always)]
    unsafe fn reduce(&mut self, fns: &IndexedFns) {
        debug_assert!(self.n <= ROWS);
        // SAFETY: as many have been written.
        let rows = unsafe { core::slice::from_raw_parts(self.ends.as_ptr().cast::<Ends>(), self.n) };
        (fns.rows)(&ReduceJob { rows, row: fns.row });
        self.n = 0;
    }
}

/// Reduces the elements of a plane whose indices are in range, in their order; returns whether an index is not.
///
/// # Safety
/// As for [`IndexedFns::reduce`].
pub(in crate::kernels::reduce) unsafe fn stepped(job: &IndexedJob, fns: &IndexedFns) -> bool {
    match job.index_bytes {
        // SAFETY: the caller's promise.
        1 => unsafe { by_size::<Exact<1>>(job, fns) },
        // SAFETY: as above.
        2 => unsafe { by_size::<Exact<2>>(job, fns) },
        // SAFETY: as above.
        4 => unsafe { by_size::<Exact<4>>(job, fns) },
        // SAFETY: as above.
        _ => unsafe { by_size::<Exact<8>>(job, fns) },
    }
}

/// As [`stepped`], for indices of a size.
///
/// # Safety
/// As for [`stepped`].
unsafe fn by_size<R: ReadIndex>(job: &IndexedJob, fns: &IndexedFns) -> bool {
    let from_end = job.is_signed && job.policy.negative == NegativeIndex::FromEnd;
    match (matches!(job.policy.out_of_bounds, OutOfBounds::Clamp | OutOfBounds::Wrap), from_end) {
        // SAFETY: the caller's promise.
        (true, _) => unsafe { of_policy::<R, true, true>(job, fns) },
        // SAFETY: as above.
        (false, true) => unsafe { of_policy::<R, false, true>(job, fns) },
        // SAFETY: as above.
        (false, false) => unsafe { of_policy::<R, false, false>(job, fns) },
    }
}

/// As [`by_size`], for a policy that gives every index a position if it `MOVES`. Only such a loop calls a function,
/// before which registers are saved. Some indices may count `FROM_END`, or none does.
///
/// # Safety
/// As for [`stepped`].
#[inline(always)]
unsafe fn of_policy<R: ReadIndex, const MOVES: bool, const FROM_END: bool>(job: &IndexedJob, fns: &IndexedFns) -> bool {
    let IndexedJob { n, outer, dim, policy, moved, stride, index_step, updates_step, destination_step, .. } = *job;
    // The sign tells which indices count from the end: the size of the axis is added to those, and 0 to the others.
    let from_end = job.is_signed && policy.negative == NegativeIndex::FromEnd;
    let (sign, below) = if from_end { (1 << (8 * R::BYTES - 1), dim) } else { (0, 0) };
    let position_of = |index: *const u8| {
        // SAFETY: K3: an index of the job.
        let unsigned = unsafe { R::read(index) };
        let signed = (unsigned ^ sign).wrapping_sub(sign);
        let counted = signed.wrapping_add(below & ((signed as i64) >> 63) as u64);
        let position = if FROM_END { counted } else { unsigned };
        // Along an axis without positions nothing moves.
        let moves = MOVES && position >= dim && dim != 0;
        // SAFETY: K3, as above.
        if moves { unsafe { moved(index, policy, dim as i64) as u64 } } else { position }
    };
    let to = |destination: *mut u8, position: u64| destination.wrapping_offset(stride.wrapping_mul(position as isize));
    let (mut plane, mut out_of_range) = ((job.index, job.updates, job.destination), false);
    let mut rows = Rows::NONE;
    for _ in 0..outer.n {
        let (mut index, mut updates, mut destination) = plane;
        if index_step == 0 {
            let position = position_of(index);
            if position < dim {
                let first = Ends { updates, destination: to(destination, position) };
                // SAFETY: S1, S2 and S3 for elements whose position is in range: the one of the whole loop.
                unsafe { fns.reduce_strided(first, [updates_step, destination_step], n) };
            } else {
                out_of_range = true;
            }
        } else {
            let mut left = n;
            while left > 0 {
                prefetch(index.wrapping_add(STREAM_AHEAD), 2 * LINE);
                prefetch(updates.wrapping_add(STREAM_AHEAD), 1);
                let some = left.min(GROUP).min(ROWS - rows.n);
                // Counted here: for all that the compiler knows, a row might be written over the count.
                let mut written = rows.n;
                for _ in 0..some {
                    let position = position_of(index);
                    rows.ends[written].write(Ends { updates, destination: to(destination, position) });
                    written += usize::from(position < dim);
                    out_of_range |= position >= dim;
                    (index, updates) = (index.wrapping_offset(index_step), updates.wrapping_offset(updates_step));
                    destination = destination.wrapping_offset(destination_step);
                }
                rows.n = written;
                if rows.n == ROWS {
                    // SAFETY: S1, S2 and S3 for elements whose positions are in range.
                    unsafe { rows.reduce(fns) };
                }
                left -= some;
            }
        }
        plane.0 = plane.0.wrapping_offset(outer.index);
        plane.1 = plane.1.wrapping_offset(outer.out);
        plane.2 = plane.2.wrapping_offset(outer.data);
    }
    // SAFETY: as above.
    unsafe { rows.reduce(fns) };
    out_of_range
}
