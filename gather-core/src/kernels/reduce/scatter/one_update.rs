//! Reducing elements that all take one update, by their indices: a histogram.
//!
//! The update is loaded once. Every byte indexes an axis of 256 elements, so that none is compared.

use crate::kernels::moves::prefetch::prefetch;
use crate::kernels::reduce::scatter::by_index::{IndexedFns, Quick, STREAM_AHEAD};
use crate::kernels::reduce::scatter::indexed::IndexedJob;
use crate::kernels::reduce::scatter::read::ReadIndex;
use crate::kernels::reduce::scatter::rows::{Combine, One, reduce_scalar};
use crate::kernels::reduce::scatter::stepped::{StridedFn, strided};

/// The functions for one update of all elements.
pub(in crate::kernels::reduce) const fn of_one_update<C: Combine, R: ReadIndex>() -> IndexedFns {
    let (quick, strided) = (one_update::<C, R>, Some(strided::<One<C>> as StridedFn));
    let quick = Quick { any: quick, packed: quick, strided, step: 0, any_steps: false };
    IndexedFns { quick: Some(quick), ..IndexedFns::cold::<One<C>>(reduce_scalar::<C>) }
}

/// [`QuickFn`](super::by_index::QuickFn) for one update of all elements.
///
/// # Safety
/// As for that, for the type of the reduction, indices of a size of `R` and
/// [`Updates::One`](super::by_index::Updates::One).
unsafe fn one_update<C: Combine, R: ReadIndex>(job: &IndexedJob) -> usize {
    debug_assert!(job.stride == size_of::<C::Item>() as isize && job.destination_step == 0, "S4");
    debug_assert!(job.index_step == R::BYTES as isize, "S4");
    let every_byte = R::BYTES == 1 && job.dim > u64::from(u8::MAX);
    for plane in 0..job.outer.n {
        let inner = job.after(plane).first(1);
        let done = if every_byte {
            // SAFETY: the caller's promise; every byte is below `dim`.
            unsafe { by_one::<C, R, false>(inner) }
        } else {
            // SAFETY: the caller's promise.
            unsafe { by_one::<C, R, true>(inner) }
        };
        if done < job.n {
            return plane * job.n + done;
        }
    }
    job.outer.n * job.n
}

/// As [`one_update`], for one inner loop; `COMPARE` says whether indices are compared with the size of the axis. The
/// job is a copy: for all that the compiler knows, a store might change it.
///
/// # Safety
/// As for [`one_update`]; without `COMPARE` all indices are positions.
#[inline(always)]
unsafe fn by_one<C: Combine, R: ReadIndex, const COMPARE: bool>(job: IndexedJob) -> usize {
    let IndexedJob { n, index, updates, .. } = job;
    // SAFETY: S1: an update, at any alignment.
    let new = unsafe { updates.cast::<C::Item>().read_unaligned() };
    let mut done = 0;
    while done < n {
        prefetch(index.wrapping_add(done * R::BYTES + STREAM_AHEAD), 1);
        if done + UNROLLED <= n {
            for at in done..done + UNROLLED {
                // SAFETY: the caller's promise; `at < n`.
                if !unsafe { take_one::<C, R, COMPARE>(&job, at, new) } {
                    return at;
                }
            }
            done += UNROLLED;
        } else {
            // SAFETY: as above.
            if !unsafe { take_one::<C, R, COMPARE>(&job, done, new) } {
                return done;
            }
            done += 1;
        }
    }
    n
}

/// Combines an update with the element that index `at` names; returns whether it is a position.
///
/// # Safety
/// As for [`by_one`]; `at` is below `n`.
#[inline(always)]
unsafe fn take_one<C: Combine, R: ReadIndex, const COMPARE: bool>(job: &IndexedJob, at: usize, new: C::Item) -> bool {
    debug_assert!(at < job.n);
    // SAFETY: K3: one of the `n` indices, which are contiguous (S4).
    let position = unsafe { R::read(job.index.wrapping_add(at * R::BYTES)) };
    debug_assert!(COMPARE || position < job.dim);
    if COMPARE && position >= job.dim {
        return false;
    }
    let to = job.destination.cast::<C::Item>().wrapping_add(position as usize);
    // SAFETY: S2: an element of the destination, whose position is in range, at any alignment; nothing else uses it
    // meanwhile.
    let kept = unsafe { to.read_unaligned() };
    // SAFETY: as above.
    unsafe { to.write_unaligned(C::combine(kept, new)) };
    true
}

/// The number of elements, all with one update, after which later indices are prefetched.
const UNROLLED: usize = 8;
