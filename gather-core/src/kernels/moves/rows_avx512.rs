//! Rows of up to 32 bytes with AVX-512: a row is one load, by a mask that reads no byte too far, and one store.
//!
//! ```text
//! for each row but the last ones:    store a whole vector: what it writes past the row, the next rows write again
//! for the last ones:                 store by the mask
//! ```
//!
//! Stores by a mask take longer than those that overlap, which must not go past the rows of this job: what lies there
//! may be another thread's. Other rows are moved as at the level AVX2: those that are not contiguous in the
//! output; those whose bytes are a constant there; and longer ones, whose vectors would mostly straddle two lines.

use core::arch::x86_64::{
    _mm_mask_storeu_epi8, _mm_maskz_loadu_epi8, _mm_storeu_si128, _mm256_mask_storeu_epi8, _mm256_maskz_loadu_epi8,
    _mm256_storeu_si256,
};

use crate::kernels::level_fn::avx2;
use crate::kernels::moves::MoveJob;
use crate::kernels::moves::placed::CopyRow;
use crate::kernels::moves::prefetch::prefetch;
use crate::kernels::moves::rows::MoveRows;
use crate::kernels::moves::table_avx512::first_lanes;

/// Rows of at most `VECTOR` bytes, the mask of their bytes. `OVERLAPS` where whole vectors are written.
#[derive(Clone, Copy)]
struct Masked<const VECTOR: usize, const OVERLAPS: bool>(u64);

impl<const VECTOR: usize, const OVERLAPS: bool> CopyRow for Masked<VECTOR, OVERLAPS> {
    const MOST: usize = VECTOR;

    #[inline(always)]
    fn of(row: usize) -> Self {
        Masked(first_lanes(row))
    }

    /// Copies a row.
    ///
    /// # Safety
    /// As for [`CopyRow::copy`], on a machine that has the level; where it overlaps, `to` reaches a vector.
    #[inline(always)]
    unsafe fn copy(self, from: *const u8, to: *mut u8) {
        let Masked(mask) = self;
        macro_rules! copy {
            ($load:ident, $store:ident, $store_masked:ident, $mask:ty) => {{
                // SAFETY: the caller's promise, for the bytes of the row.
                let row = unsafe { $load(mask as $mask, from.cast()) };
                if OVERLAPS {
                    // SAFETY: the caller's promise.
                    unsafe { $store(to.cast(), row) }
                } else {
                    // SAFETY: the caller's promise, for the bytes of the row.
                    unsafe { $store_masked(to.cast(), mask as $mask, row) }
                }
            }};
        }
        if VECTOR == 16 {
            copy!(_mm_maskz_loadu_epi8, _mm_storeu_si128, _mm_mask_storeu_epi8, u16)
        } else {
            copy!(_mm256_maskz_loadu_epi8, _mm256_storeu_si256, _mm256_mask_storeu_epi8, u32)
        }
    }
}

/// How many rows of a job may be written by whole vectors: those whose vector ends inside the job.
#[inline(always)]
fn whole(job: &MoveJob, vector: usize) -> usize {
    debug_assert!(job.out_step() == job.row() as isize && job.row() <= vector);
    match (job.n() * job.row()).checked_sub(vector) {
        Some(last) => last / job.row() + 1,
        None => 0,
    }
}

/// [`MoveJobFn`](crate::kernels::moves::MoveJobFn) with AVX-512.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi")]
pub(crate) fn move_rows(job: &MoveJob) {
    let is_dense = job.out_step() == job.row() as isize && !job.next().is_some();
    match job.row() {
        6 | 12 | 24 => avx2::<MoveRows>(job),
        // SAFETY: the caller's promise, for contiguous rows that one mask covers.
        5..=15 if is_dense => unsafe { masked::<16>(job) },
        // SAFETY: as above.
        17..=31 if is_dense => unsafe { masked::<32>(job) },
        _ => avx2::<MoveRows>(job),
    }
}

/// Moves rows of at most `VECTOR` bytes.
///
/// # Safety
/// As for [`move_rows`]; the rows are contiguous in the output.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi")]
unsafe fn masked<const VECTOR: usize>(job: &MoveJob) {
    let whole = whole(job, VECTOR);
    // SAFETY: the caller's promise; the vectors of these rows end inside the job.
    unsafe { each::<Masked<VECTOR, true>>(job, 0, whole) };
    // SAFETY: the caller's promise.
    unsafe { each::<Masked<VECTOR, false>>(job, whole, job.n()) };
}

/// Moves the rows from `first` to `end`.
///
/// # Safety
/// As for [`move_rows`], for `C`.
#[inline(always)]
unsafe fn each<C: CopyRow>(job: &MoveJob, first: usize, end: usize) {
    let copy = C::of(job.row());
    for i in first..end {
        if job.prefetch_distance() != 0 {
            prefetch(job.source((i + job.prefetch_distance()).min(job.n() - 1)), job.row());
        }
        let from = job.source(i);
        // SAFETY: K1, K2 and K4 for the row, and the caller's promise.
        unsafe { copy.copy(from, job.target(i)) };
    }
}
