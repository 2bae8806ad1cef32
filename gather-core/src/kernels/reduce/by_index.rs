//! Reducing single elements by indices that are positions as they stand: none negative, none out of range.
//!
//! ```text
//! for each index, in order:
//!     load it, compare it with the size of the axis
//!     load the element that it names and its update, combine, store
//! ```
//!
//! These are few operations, and nothing is written between an index and its use. The first index that is no position
//! ends the loop, and what is left is resolved block by block. The branch that says so is predicted as long as there is
//! none. Gathers have the same loop (`moves/gather_positions.rs`).

use crate::kernels::moves::prefetch::{NextSlice, STEP, prefetch};
use crate::kernels::reduce::rows::TakeRow;

/// Elements of an inner loop, whose indices lie side by side, and their updates too.
#[derive(Clone, Copy)]
pub(crate) struct IndexedJob {
    pub(crate) n: usize,
    pub(crate) index: *const u8,
    /// Bytes of an index: 4 or 8.
    pub(crate) index_size: usize,
    /// The size of the axis, which fits in 31 bits. So an index of either sign is below it only if it is a position.
    pub(crate) dim: u64,
    pub(crate) updates: *const u8,
    /// Bytes of an element.
    pub(crate) element: usize,
    /// The destination at position 0 of the first iteration.
    pub(crate) data: *mut u8,
    /// Bytes of the destination from one position to the next, and from one iteration to the next.
    pub(crate) stride: isize,
    pub(crate) data_step: isize,
    /// What is asked for of the next coordinate's destination meanwhile.
    pub(crate) next: NextSlice,
}

/// Reduces elements up to the first whose index is no position; returns how many.
///
/// # Safety
/// K3 for the indices, and the contract of a scatter for the elements whose indices are positions.
pub(crate) type ByIndexFn = unsafe fn(&IndexedJob) -> usize;

/// Elements that are reduced before later indices and updates are asked for.
const GROUP: usize = 16;
/// Bytes by which indices and updates are asked for ahead (workload `index_add/4M_into_64K_scalars`).
const STREAM_AHEAD: usize = 4 << 10;

/// [`ByIndexFn`] for elements of `bytes` bytes, which `element` takes.
///
/// # Safety
/// As for [`ByIndexFn`].
#[inline(always)]
pub(super) unsafe fn by_index(job: &IndexedJob, bytes: usize, element: &impl TakeRow) -> usize {
    debug_assert_eq!(job.element, bytes, "S3");
    let packed = job.stride == bytes as isize && job.data_step == 0;
    match (job.index_size, packed) {
        // SAFETY: the caller's promise, for indices of 4 bytes.
        (4, true) => unsafe { elements::<4, true>(job, bytes, element) },
        // SAFETY: as above.
        (4, false) => unsafe { elements::<4, false>(job, bytes, element) },
        // SAFETY: the caller's promise, for indices of 8 bytes.
        (8, true) => unsafe { elements::<8, true>(job, bytes, element) },
        // SAFETY: as above.
        (8, false) => unsafe { elements::<8, false>(job, bytes, element) },
        _ => 0,
    }
}

/// As [`by_index`], for indices of `INDEX` bytes; `PACKED` says whether elements lie side by side along the axis, and
/// the loop does not move the destination.
///
/// # Safety
/// As for [`by_index`].
#[inline(always)]
unsafe fn elements<const INDEX: usize, const PACKED: bool>(
    job: &IndexedJob,
    bytes: usize,
    element: &impl TakeRow,
) -> usize {
    // Out of the job, which might be what is written.
    let IndexedJob { n, index, dim, updates, data, next, .. } = *job;
    let (stride, step) = if PACKED { (bytes as isize, 0) } else { (job.stride, job.data_step) };
    let mut done = 0;
    while done < n {
        if next.is_some() {
            next.fetch(done / STEP);
            next.fetch(done / STEP + 1);
        }
        prefetch(index.wrapping_add(done * INDEX + STREAM_AHEAD), GROUP * INDEX);
        prefetch(updates.wrapping_add(done * bytes + STREAM_AHEAD), GROUP * bytes);
        for at in done..n.min(done + GROUP) {
            // SAFETY: K3: one of the `n` indices, which lie side by side.
            let position = unsafe { read::<INDEX>(index.wrapping_add(at * INDEX)) };
            if position >= dim {
                return at;
            }
            let to = data.wrapping_offset(stride.wrapping_mul(position as isize));
            let to = to.wrapping_offset(step.wrapping_mul(at as isize));
            // SAFETY: the contract of a scatter, for an element whose position is in range.
            unsafe { element.take(updates.wrapping_add(at * bytes), to) };
        }
        done += GROUP;
    }
    n
}

/// An index of `INDEX` bytes, 4 or 8, without its sign.
///
/// # Safety
/// As many bytes may be read, at any alignment.
#[inline(always)]
unsafe fn read<const INDEX: usize>(index: *const u8) -> u64 {
    if const { INDEX == 4 } {
        // SAFETY: the caller's promise.
        u64::from(unsafe { index.cast::<u32>().read_unaligned() })
    } else {
        // SAFETY: the caller's promise.
        unsafe { index.cast::<u64>().read_unaligned() }
    }
}
