//! `Reduction::None`: rows are stored in their order, so that the last one stays.

use crate::kernels::by_level::by_level;
use crate::kernels::isa::LevelFn;
use crate::kernels::moves::placed::{CopyRow, Exactly, Halves, Long, RowSize, by_size};
use crate::kernels::reduce::by_index::{ByIndexFn, Updates, by_index};
use crate::kernels::reduce::indexed::IndexedJob;
use crate::kernels::reduce::read::{Exact, ReadIndex};
use crate::kernels::reduce::rows::{ReduceJob, TakeRow, each, each_short};
use crate::kernels::reduce::{ReduceFns, RowFns};

/// The functions that store elements of any type.
pub(super) static STORE: ReduceFns =
    ReduceFns { rows: Some(RowFns { resolved: by_level!(fn StoreRows), by_index: choose }), bag: None, groups: None };

/// The function that stores elements of a size by indices of a size.
fn choose(element: usize, index: usize, updates: Updates) -> Option<ByIndexFn> {
    if updates == Updates::One {
        return None;
    }
    macro_rules! fixed {
        ($($bytes:literal)*) => {
            match (element, index) {
                $(($bytes, 4) => Some(store_by_index::<$bytes, Exact<4>>),
                ($bytes, 8) => Some(store_by_index::<$bytes, Exact<8>>),)*
                _ => None,
            }
        };
    }
    fixed!(1 2 4 8 16)
}

/// # Safety
/// As for [`ByIndexFn`], for elements of `BYTES` bytes and indices of a size of `R`.
unsafe fn store_by_index<const BYTES: usize, R: ReadIndex>(job: &IndexedJob) -> bool {
    // SAFETY: the caller's promise.
    unsafe { by_index::<R>(job, BYTES, &Stored(Exactly::<BYTES>)) }
}

/// Stores rows, one after another.
enum StoreRows {}

impl LevelFn for StoreRows {
    type Args<'a> = &'a ReduceJob<'a>;
    type Output = ();

    /// # Safety
    /// As for [`ReduceFn`](super::ReduceFn).
    #[inline(always)]
    unsafe fn call(job: &ReduceJob<'_>) {
        macro_rules! fixed {
        ($($bytes:literal)*) => {
            match job.these.rows.row {
                // SAFETY: the caller's promise, for rows of `$bytes` bytes.
                $($bytes if unsafe { each_short(job, $bytes, $bytes, &Stored(Exactly::<$bytes>)) } => return,)*
                _ => {}
            }
        };
    }
        fixed!(1 2 4 8 16 32 64);
        by_size!(RowSize::of(job.these.rows.row), |Way| {
            // SAFETY: the caller's promise, for rows of this size.
            unsafe { each(job, job.these.rows.row, &Stored(Way::of(job.these.rows.row))) }
        });
    }
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
