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

use core::arch::x86_64::*;

use crate::kernels::level_fn::avx2;
use crate::kernels::moves::rows::MoveRows;
use crate::kernels::moves::table_avx512::first_lanes;
use crate::kernels::nest::rows::MoveJob;
use crate::kernels::prefetch::prefetch;

/// How many rows of a job may be written by whole vectors: those whose vector ends inside the job.
#[inline(always)]
fn whole(job: &MoveJob<'_>, vector: usize) -> usize {
    debug_assert!(job.out_step == job.row as isize && job.row <= vector);
    match (job.n * job.row).checked_sub(vector) {
        Some(last) => last / job.row + 1,
        None => 0,
    }
}

/// [`MoveJobFn`](crate::kernels::moves::MoveJobFn) with AVX-512.
#[inline(never)]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi")]
pub(crate) fn move_rows(job: &MoveJob<'_>) {
    let (out_step, row, next) = (job.out_step, job.row, job.next);
    let is_dense = out_step == row as isize && !next.is_some();
    match row {
        6 | 12 | 24 => avx2::<MoveRows>(job),
        5..=15 if is_dense => masked::<16>(job),
        17..=31 if is_dense => masked::<32>(job),
        _ => avx2::<MoveRows>(job),
    }
}

/// Moves rows of at most `VECTOR` bytes, which are contiguous in the output.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi")]
fn masked<const VECTOR: usize>(job: &MoveJob<'_>) {
    let n = job.n;
    let whole = whole(job, VECTOR);
    each::<VECTOR, true>(job, 0, whole);
    each::<VECTOR, false>(job, whole, n);
}

/// Moves the rows from `first` to `end`. Where it `OVERLAPS`, whole vectors are written, which end inside the job.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi")]
fn each<const VECTOR: usize, const OVERLAPS: bool>(job: &MoveJob<'_>, first: usize, end: usize) {
    let (n, row, prefetch_distance) = (job.n, job.row, job.prefetch_distance);
    debug_assert!(end <= if OVERLAPS { whole(job, VECTOR) } else { n });
    let mask = first_lanes(row);
    for i in first..end {
        if prefetch_distance != 0 {
            prefetch(job.source((i + prefetch_distance).min(n - 1)), row);
        }
        let (from, to) = (job.source(i), job.target(i));
        macro_rules! copy {
            ($load:ident, $store:ident, $store_masked:ident, $mask:ty) => {{
                // SAFETY: K2: the mask has the bytes of the row.
                let bytes = unsafe { $load(mask as $mask, from.cast()) };
                if OVERLAPS {
                    // SAFETY: K1: a vector from here on ends inside the job, whose rows are contiguous.
                    unsafe { $store(to.cast(), bytes) }
                } else {
                    // SAFETY: K1: the mask has the bytes of the row.
                    unsafe { $store_masked(to.cast(), mask as $mask, bytes) }
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
