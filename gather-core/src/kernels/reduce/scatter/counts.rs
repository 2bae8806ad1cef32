//! Counts of updates, separate from their rows.
//!
//! ```text
//! counts of all rows = 0
//! count the updates of each row                                  (a scatter of ones: a histogram)
//! rows with updates = the identity                               (without `include_self`)
//! reduce the updates into their rows
//! rows with updates /= count                                      (means)
//! ```
//!
//! So rows are reduced in place, and every index has been checked before a row is written.

use crate::kernels::prefetch::LINE;
use crate::kernels::reduce::accumulate::Accumulate;
use crate::kernels::reduce::accumulate::Combine;
use crate::kernels::reduce::number::{Add, Average, Mean};
use crate::kernels::reduce::scatter::ScatterFns;
use crate::kernels::reduce::scatter::accumulators::{RowsJob, by_columns, columns};
use crate::kernels::reduce::scatter::rows::SCALAR_CHUNK;
use crate::types::element::Unaligned;

pub(crate) const COUNT: usize = size_of::<u32>();

pub(crate) fn count() -> &'static ScatterFns {
    const { &ScatterFns::counting::<Add<u32>>() }
}

/// A line of identity elements.
///
/// # Panics
/// If the reduction has no identity, or an element is longer than a line; no `ScatterFns` names this function then.
pub(in crate::kernels::reduce) fn identity<C: Combine>() -> [u8; LINE] {
    let (mut line, size) = ([0; LINE], size_of::<C::Item>());
    let identity = C::IDENTITY.expect("a reduction with an identity");
    assert!(LINE.is_multiple_of(size), "elements that a line is made of");
    for at in (0..LINE).step_by(size) {
        // SAFETY: `at + size <= LINE`, since `at` and `LINE` are multiples of `size`; at any alignment.
        unsafe { line.as_mut_ptr().wrapping_add(at).cast::<Unaligned<C::Item>>().write(Unaligned(identity)) };
    }
    line
}

/// Fills the rows that have updates with the elements of `line`; a row has `bytes` bytes.
///
/// # Safety
/// The job's records are counts. Its rows have `bytes` bytes, of elements of the line's type.
pub(crate) unsafe fn begin_rows(job: &RowsJob, line: &[u8; LINE], bytes: usize) {
    for i in (0..job.n).filter(|&i| job.count(i) != 0) {
        // SAFETY: by the caller's contract, a row of the job has `bytes` bytes, of elements of the line's type.
        unsafe { job.row(i).fill(line, bytes) };
    }
}

/// Divides the rows that have updates.
pub(in crate::kernels::reduce) fn divide<T: Average<Sum = T>>(job: &RowsJob) {
    let own = usize::from(job.include_self);
    for i in 0..job.n {
        let (row, count) = (job.row(i), job.count(i));
        if count == 0 {
            continue;
        }
        by_columns!(columns::<Mean<T>>(SCALAR_CHUNK), job.elements, |WIDTH, column| {
            let sums = row.read::<T, WIDTH>(column);
            row.write_each::<T, WIDTH>(column, |k| <Mean<T> as Accumulate>::end(sums[k].0, count + own));
        });
    }
}
