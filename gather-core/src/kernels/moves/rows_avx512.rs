//! Rows of 5 to 31 bytes with AVX-512: one load by a mask, which reads no byte past the row, and one store.
//!
//! ```text
//! for each row but the last rows:    store a whole vector; the next rows overwrite its bytes past the row
//! for the last rows:                 store by the mask
//! ```
//!
//! Stores by a mask take longer than overlapping stores. But overlapping stores must not pass the end of the job: the
//! next bytes may be another thread's. Other jobs are moved as at the level AVX2: jobs with a `next` slice or with gaps
//! in the output, rows of 6, 12, 16 and 24 bytes, and longer rows, whose vectors would mostly straddle two lines.

use crate::kernels::level_fn::{Avx512, LevelFn, Token};
use crate::kernels::moves::rows::MoveRows;
use crate::kernels::nest::rows::MoveJob;
use crate::kernels::prefetch::prefetch;
use crate::kernels::x86::{__m128i, __m256i, MaskedBytes};

/// The number of rows that may be written by whole vectors, each of which ends inside the job.
#[inline(always)]
fn whole(job: &MoveJob<'_>, vector: usize) -> usize {
    debug_assert!(job.out_step == job.row as isize && job.row <= vector);
    match (job.n * job.row).checked_sub(vector) {
        Some(last) => last / job.row + 1,
        None => 0,
    }
}

/// [`MoveJobFn`](crate::kernels::moves::MoveJobFn) with AVX-512.
pub(crate) struct MoveRowsByMasks;

impl LevelFn for MoveRowsByMasks {
    type Args<'a> = &'a MoveJob<'a>;
    type Output = ();

    #[inline(always)]
    fn call<Here: Token>(here: Here, job: &MoveJob<'_>) {
        let is_dense = job.out_step == job.row as isize && !job.next.is_some();
        match (here.avx512(), job.row) {
            (Some(level), 5 | 7..=11 | 13..=15) if is_dense => masked::<__m128i>(level, job),
            (Some(level), 17..=23 | 25..=31) if is_dense => masked::<__m256i>(level, job),
            _ => here.run::<MoveRows>(job),
        }
    }
}

/// Moves rows of at most `V::LEN` bytes that are contiguous in the output.
#[inline(always)]
fn masked<V: MaskedBytes>(level: Avx512, job: &MoveJob<'_>) {
    let whole = whole(job, V::LEN);
    each::<V, true>(level, job, 0, whole);
    each::<V, false>(level, job, whole, job.n);
}

/// Moves rows `first..end`. If `OVERLAPS`, writes whole vectors, all of which end inside the job.
#[inline(always)]
fn each<V: MaskedBytes, const OVERLAPS: bool>(level: Avx512, job: &MoveJob<'_>, first: usize, end: usize) {
    let (n, row, prefetch_distance) = (job.n, job.row, job.prefetch_distance);
    debug_assert!(end <= if OVERLAPS { whole(job, V::LEN) } else { n });
    for i in first..end {
        if prefetch_distance != 0 {
            prefetch(job.source((i + prefetch_distance).min(n - 1)), row);
        }
        // SAFETY: K2: row `i < n` of data has `row` bytes.
        let bytes = V::load_first(level, unsafe { core::slice::from_raw_parts(job.source(i), row) });
        if OVERLAPS {
            // SAFETY: K1: `i < whole(..)`, so the vector ends inside the contiguous rows of the job.
            unsafe { bytes.store(job.target(i)) }
        } else {
            // SAFETY: K1: row `i < n` of the output has `row` bytes.
            bytes.store_first(level, unsafe { core::slice::from_raw_parts_mut(job.target(i).cast(), row) });
        }
    }
}
