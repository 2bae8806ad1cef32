//! Reducing elements that all take one update, by their indices: a histogram.
//!
//! The update is loaded once. Every byte indexes an axis of 256 elements, so that none is compared.

#![forbid(unsafe_code)]

use crate::kernels::prefetch::prefetch;
use crate::kernels::reduce::accumulate::Combine;
use crate::kernels::reduce::scatter::accumulators::InPlace;
use crate::kernels::reduce::scatter::by_index::{IndexedFns, Quick, STREAM_AHEAD, in_place};
use crate::kernels::reduce::scatter::indexed::IndexedJob;
use crate::kernels::reduce::scatter::read::ReadIndex;
use crate::kernels::reduce::scatter::stepped::{SteppedFn, one_by_one};
use crate::types::element::Unaligned;

/// The functions for one update of all elements.
pub(in crate::kernels::reduce) const fn of_one_update<C: Combine, R: ReadIndex>() -> IndexedFns {
    let (quick, stepped) = (one_update::<C, R>, Some(one_by_one::<InPlace<C>> as SteppedFn));
    let quick = Quick { any: quick, packed: quick, stepped, step: 0, any_steps: false };
    IndexedFns { quick: Some(quick), ..IndexedFns::cold::<InPlace<C>>(in_place::<C>) }
}

/// [`QuickFn`](super::by_index::QuickFn) for one update of all elements
/// ([`Updates::One`](super::by_index::Updates::One)), by indices of a size of `R`.
fn one_update<C: Combine, R: ReadIndex>(job: &IndexedJob) -> usize {
    let every_byte = R::BYTES == 1 && job.dim > u64::from(u8::MAX);
    for plane in 0..job.outer.n {
        let inner = job.after(plane).first(1).contiguous(R::BYTES, 0).packed(size_of::<C::Item>());
        let done = if every_byte { by_one::<C, R>(inner.along::<256>()) } else { by_one::<C, R>(inner) };
        if done < job.n {
            return plane * job.n + done;
        }
    }
    job.outer.n * job.n
}

/// As [`one_update`], for one inner loop. The job is a copy: for all that the compiler knows, a store might change it.
#[inline(always)]
fn by_one<C: Combine, R: ReadIndex>(job: IndexedJob) -> usize {
    let (n, new) = (job.n, job.update::<C::Item>());
    let mut done = 0;
    while done < n {
        prefetch(job.index.wrapping_add(done * R::BYTES + STREAM_AHEAD), 1);
        if done + UNROLLED <= n {
            for at in done..done + UNROLLED {
                if !take_one::<C, R>(&job, at, new) {
                    return at;
                }
            }
            done += UNROLLED;
        } else {
            if !take_one::<C, R>(&job, done, new) {
                return done;
            }
            done += 1;
        }
    }
    n
}

/// Combines an update with the element that index `at` names; returns whether it is a position.
#[inline(always)]
fn take_one<C: Combine, R: ReadIndex>(job: &IndexedJob, at: usize, new: C::Item) -> bool {
    let Some(position) = job.position(job.index::<R>(at)) else { return false };
    let element = job.row(at, position, 1).into();
    let [kept] = element.read::<C::Item, 1>(0);
    element.write(0, [Unaligned(C::combine(kept.0, new))]);
    true
}

/// The number of elements, all with one update, after which later indices are prefetched.
const UNROLLED: usize = 8;
