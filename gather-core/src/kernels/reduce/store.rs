//! `Reduction::None`: rows are stored in their order, so that the last one stays.

use crate::kernels::moves::placed::{CopyRow, Exactly, Halves, Long, RowSize, by_size};
use crate::kernels::reduce::group::Group;
use crate::kernels::reduce::rows::{ReduceJob, TakeRow, each};
use crate::kernels::reduce::{ByLevel, ReduceFns};

/// What stores elements of any type.
pub(super) const STORE: ReduceFns = ReduceFns {
    rows: Some(ByLevel {
        scalar: store_scalar,
        #[cfg(target_arch = "x86_64")]
        avx2: store_avx2,
    }),
    group: ByLevel {
        scalar: store_last,
        #[cfg(target_arch = "x86_64")]
        avx2: store_last,
    },
    bag: None,
};

/// # Safety
/// As for [`ReduceFn`](super::ReduceFn).
unsafe fn store_scalar(job: &ReduceJob<'_>) {
    // SAFETY: the caller's promise.
    unsafe { store_rows(job) }
}

/// # Safety
/// As for [`ReduceFn`](super::ReduceFn); K7: the machine has AVX2.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
unsafe fn store_avx2(job: &ReduceJob<'_>) {
    // SAFETY: the caller's promise.
    unsafe { store_rows(job) }
}

/// # Safety
/// As for [`ReduceFn`](super::ReduceFn).
#[inline(always)]
unsafe fn store_rows(job: &ReduceJob<'_>) {
    macro_rules! fixed {
        ($($bytes:literal)*) => {
            match job.these.rows.row {
                // SAFETY: the caller's promise, for rows of so many bytes.
                $($bytes => return unsafe { store_by(job, Exactly::<$bytes>) },)*
                _ => {}
            }
        };
    }
    fixed!(1 2 4 8 16 32 64);
    by_size!(RowSize::of(job.these.rows.row), |Way| {
        // SAFETY: the caller's promise, for rows of this size.
        unsafe { store_by(job, Way::of(job.these.rows.row)) }
    });
}

/// # Safety
/// As for [`ReduceFn`](super::ReduceFn); `copy` copies rows of the job's length.
#[inline(always)]
unsafe fn store_by<C: CopyRow>(job: &ReduceJob<'_>, copy: C) {
    // SAFETY: the caller's promise.
    unsafe { each(job, C::BYTES.unwrap_or(job.these.rows.row), &Stored(copy)) }
}

/// Stores a row.
struct Stored<C>(C);

impl<C: CopyRow> TakeRow for Stored<C> {
    #[inline(always)]
    unsafe fn take(&self, from: *const u8, to: *mut u8) {
        // SAFETY: S1, S2 and K4: both ends reach a row, and are apart.
        unsafe { self.0.copy(from, to) }
    }
}

/// Stores the last row of a group.
///
/// # Safety
/// As for [`GroupFn`](super::GroupFn).
unsafe fn store_last(group: &Group<'_>) {
    if let Some(last) = group.entries.last() {
        // SAFETY: S1, S2 and K4: both ends reach a row, and are apart.
        unsafe { group.to.copy_from_nonoverlapping(group.updates.wrapping_offset(last.from), group.row) };
    }
}
