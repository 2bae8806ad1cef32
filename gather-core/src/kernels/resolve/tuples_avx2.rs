//! Resolving contiguous tuples of 2, 3 and 4 components with AVX2, eight at a time, in K vectors.
//!
//! The components' sizes and scales lie in K vectors, repeated in the order of the components. The scaled components
//! are added up tuple by tuple. A component out of range is negative after scaling, and so makes its tuple's position
//! -1. Under `Wrap` such tuples are then resolved one by one, as are the last ones, fewer than eight.

// Loops run over numbers: without link-time optimisation, an iterator's functions may not be inlined.
#![allow(clippy::needless_range_loop)]

use core::arch::x86_64::{
    __m256i, _mm256_mullo_epi32, _mm256_or_si256, _mm256_permutevar8x32_epi32, _mm256_setzero_si256,
    _mm256_storeu_si256,
};

use crate::kernels::resolve::TupleJob;
use crate::kernels::resolve::avx2::{Bounds, EIGHT, any_negative, in_order, is_split, load, vector};
use crate::types::index::Index;
use crate::types::policy::OutOfBounds;

/// [`TuplesFn`](crate::kernels::resolve::TuplesFn) with AVX2: of 2, 3 and 4 components.
///
/// # Safety
/// As for [`TuplesFn`](crate::kernels::resolve::TuplesFn).
#[inline]
#[target_feature(enable = "avx2")]
pub(crate) unsafe fn resolve_tuples<I: Index>(job: &TupleJob<'_>, each: &mut dyn FnMut(usize, bool) -> bool) -> bool {
    match job.components.len() {
        // SAFETY: the caller's promise; there are two components.
        2 => unsafe { in_chunks::<I, 2>(job, each) },
        // SAFETY: as above, three.
        3 => unsafe { in_chunks::<I, 3>(job, each) },
        // SAFETY: as above, four.
        4 => unsafe { in_chunks::<I, 4>(job, each) },
        _ => return false,
    }
    true
}

/// Resolves tuples of `K` components in chunks.
///
/// # Safety
/// As for [`resolve_tuples`]; there are `K` components.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn in_chunks<I: Index, const K: usize>(job: &TupleJob<'_>, each: &mut dyn FnMut(usize, bool) -> bool) {
    let (axes, mut left) = (Axes::<K>::new::<I>(job), *job);
    while let Some(chunk) = left.next_chunk::<I>() {
        // SAFETY: the caller's promise, for some of the tuples.
        let (done, mut out_of_range) = unsafe { axes.resolve::<I>(&chunk) };
        if out_of_range && job.policy.out_of_bounds == OutOfBounds::Wrap {
            // SAFETY: the caller's promise; the first `done` have been resolved.
            unsafe { chunk.wrap::<I>(done) };
            out_of_range = false;
        }
        if done < chunk.n {
            // SAFETY: as above, for what is left.
            out_of_range |= unsafe { chunk.resolve_rest::<I>(done) };
        }
        if !each(chunk.n, out_of_range) {
            return;
        }
    }
}

/// The most components.
const MOST: usize = 4;

/// The vectors that the components of eight tuples are compared with and multiplied by.
struct Axes<const K: usize> {
    bounds: [Bounds; K],
    scales: [__m256i; K],
}

impl<const K: usize> Axes<K> {
    /// The axes of a job of `K` components.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn new<I: Index>(job: &TupleJob<'_>) -> Self {
        let (mut dims, mut factors) = ([0; EIGHT], [0; EIGHT]);
        for k in 0..K {
            (dims[k], factors[k]) = (job.components[k].dim as i32, job.components[k].scale as i32);
        }
        let (dims, factors) = (vector(dims), vector(factors));
        let mut bounds = [Bounds::new(dims, job.policy); K];
        let mut scales = [factors; K];
        for k in 0..K {
            let components = vector(const { &components::<K>(is_split::<I>()) }[k]);
            bounds[k] = Bounds::new(_mm256_permutevar8x32_epi32(dims, components), job.policy);
            scales[k] = _mm256_permutevar8x32_epi32(factors, components);
        }
        Axes { bounds, scales }
    }

    /// Resolves whole vectors of tuples; returns how many tuples, and whether one was out of range.
    ///
    /// # Safety
    /// As for [`in_chunks`], for one chunk; the axes are those of the job.
    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn resolve<I: Index>(&self, job: &TupleJob<'_>) -> (usize, bool) {
        let index = job.index.cast::<I>();
        let steps = job.n / EIGHT;
        const { assert!(K <= MOST) };
        let mut found = _mm256_setzero_si256();
        for step in 0..steps {
            let mut parts = [0i32; MOST * EIGHT];
            for k in 0..K {
                // SAFETY: eight of the `n * K` indices.
                let indices = unsafe { load(index.wrapping_add((step * K + k) * EIGHT)) };
                let positions = _mm256_mullo_epi32(self.bounds[k].resolve(indices), self.scales[k]);
                let positions = if is_split::<I>() { in_order(positions) } else { positions };
                found = _mm256_or_si256(found, positions);
                // SAFETY: there is room for `MOST >= K` times eight.
                unsafe { _mm256_storeu_si256(parts.as_mut_ptr().wrapping_add(k * EIGHT).cast(), positions) };
            }
            // Compilers make vectors of this.
            let mut sums = [0i32; EIGHT];
            for lane in 0..EIGHT {
                let mut signs = 0;
                for k in 0..K {
                    let part = parts[lane * K + k];
                    sums[lane] = sums[lane].wrapping_add(part);
                    signs |= part;
                }
                sums[lane] |= signs >> 31;
            }
            let positions = vector(sums);
            // SAFETY: there is room for `n` positions; these are eight of them.
            unsafe { _mm256_storeu_si256(job.rooms[0].wrapping_add(step * EIGHT).cast(), positions) };
        }
        (steps * EIGHT, any_negative(found))
    }
}

/// The lane of each of eight indices that have been loaded.
const fn order(is_split: bool) -> [usize; EIGHT] {
    if is_split { [0, 1, 4, 5, 2, 3, 6, 7] } else { [0, 1, 2, 3, 4, 5, 6, 7] }
}

/// The component that lies in each lane of each vector of a step.
const fn components<const K: usize>(is_split: bool) -> [[i32; EIGHT]; K] {
    let (mut components, mut at) = ([[0; EIGHT]; K], 0);
    while at < K * EIGHT {
        components[at / EIGHT][order(is_split)[at % EIGHT]] = (at % K) as i32;
        at += 1;
    }
    components
}
