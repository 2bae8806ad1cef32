//! Resolving contiguous indices with AVX2, eight at a time, in 32 bits.
//!
//! ```text
//! low  = the low 32 bits of eight indices        fits = the high bits only repeat the sign (all 0 for unsigned types)
//! r    = low + (dim where low < 0, if negative indices count from the end)
//! ok   = fits and r <= dim - 1, unsigned
//! position = r where ok; else -1 (`Error`, `Zero`, `Wrap`), or 0 below and dim - 1 above (`Clamp`)
//! ```
//!
//! Two shuffles take low and high halves of 64-bit indices apart; they leave the lanes in the order 0 1 4 5 2 3 6 7,
//! which one permute of the result puts right. All policies share the loop: they differ in what is put where an index
//! is not ok. Under `Wrap` such indices are then divided one by one.
//!
//! Compilers vectorise the scalar loop in lanes of 64 bits. There i64 takes twice as many steps as here, and narrow
//! types four times as many.

use core::arch::x86_64::{
    __m256i, _mm_loadl_epi64, _mm_loadu_si128, _mm256_add_epi32, _mm256_and_si256, _mm256_andnot_si256,
    _mm256_blendv_epi8, _mm256_castps_si256, _mm256_castsi256_ps, _mm256_cmpeq_epi32, _mm256_cvtepi8_epi32,
    _mm256_cvtepi16_epi32, _mm256_cvtepu8_epi32, _mm256_cvtepu16_epi32, _mm256_loadu_si256, _mm256_min_epu32,
    _mm256_movemask_ps, _mm256_or_si256, _mm256_permute4x64_epi64, _mm256_set1_epi32, _mm256_setzero_si256,
    _mm256_shuffle_ps, _mm256_srai_epi32, _mm256_storeu_si256, _mm256_sub_epi32,
};

use crate::kernels::isa::Avx2;
use crate::kernels::resolve::{CHUNK, ResolveJob, in_chunks, resolve as one_by_one};
use crate::types::index::{Index, IndexType};
use crate::types::policy::{IndexPolicy, NegativeIndex, OutOfBounds};

/// Indices of a vector.
pub(crate) const EIGHT: usize = 8;

/// Eight indices, in the order of their type's loads.
#[derive(Clone, Copy)]
pub(crate) struct Indices {
    /// Their low 32 bits.
    low: __m256i,
    /// All ones where an index is negative and fits in 32 bits.
    negative: __m256i,
    /// All ones where 32 bits hold the index.
    fits: __m256i,
    /// All ones where an index is below 0, whether it fits or not.
    below: __m256i,
}

impl Indices {
    /// Indices of a signed type of at most 32 bits.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn signed(low: __m256i) -> Self {
        let negative = _mm256_srai_epi32::<31>(low);
        Indices { low, negative, fits: _mm256_set1_epi32(-1), below: negative }
    }

    /// Indices of an unsigned type of at most 32 bits.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn unsigned(low: __m256i) -> Self {
        let zero = _mm256_setzero_si256();
        Indices { low, negative: zero, fits: _mm256_set1_epi32(-1), below: zero }
    }
}

/// Whether loads of a type leave the lanes in the order 0 1 4 5 2 3 6 7.
pub(crate) const fn is_split<I: Index>() -> bool {
    size_of::<I>() == 8
}

/// Loads eight indices.
///
/// # Safety
/// `at` reaches eight values of `I`, at any alignment.
#[inline]
#[target_feature(enable = "avx2")]
pub(crate) unsafe fn load<I: Index>(at: *const I) -> Indices {
    match I::TYPE.fixed_width() {
        // SAFETY: eight bytes, the caller's promise.
        IndexType::I8 => Indices::signed(_mm256_cvtepi8_epi32(unsafe { _mm_loadl_epi64(at.cast()) })),
        // SAFETY: as above.
        IndexType::U8 => Indices::unsigned(_mm256_cvtepu8_epi32(unsafe { _mm_loadl_epi64(at.cast()) })),
        // SAFETY: sixteen bytes, the caller's promise.
        IndexType::I16 => Indices::signed(_mm256_cvtepi16_epi32(unsafe { _mm_loadu_si128(at.cast()) })),
        // SAFETY: as above.
        IndexType::U16 => Indices::unsigned(_mm256_cvtepu16_epi32(unsafe { _mm_loadu_si128(at.cast()) })),
        // SAFETY: 32 bytes, the caller's promise.
        IndexType::I32 => Indices::signed(unsafe { _mm256_loadu_si256(at.cast()) }),
        // SAFETY: as above.
        IndexType::U32 => Indices::unsigned(unsafe { _mm256_loadu_si256(at.cast()) }),
        wide => {
            // SAFETY: the first 32 of 64 bytes, the caller's promise.
            let first = _mm256_castsi256_ps(unsafe { _mm256_loadu_si256(at.cast()) });
            // SAFETY: the last 32.
            let last = _mm256_castsi256_ps(unsafe { _mm256_loadu_si256(at.wrapping_add(4).cast()) });
            let low = _mm256_castps_si256(_mm256_shuffle_ps::<0b10_00_10_00>(first, last));
            let high = _mm256_castps_si256(_mm256_shuffle_ps::<0b11_01_11_01>(first, last));
            if wide == IndexType::U64 {
                let zero = _mm256_setzero_si256();
                Indices { low, negative: zero, fits: _mm256_cmpeq_epi32(high, zero), below: zero }
            } else {
                let negative = _mm256_srai_epi32::<31>(low);
                let fits = _mm256_cmpeq_epi32(high, negative);
                Indices { low, negative, fits, below: _mm256_srai_epi32::<31>(high) }
            }
        }
    }
}

/// The vectors that eight indices are compared with.
#[derive(Clone, Copy)]
pub(crate) struct Bounds {
    /// The vector that is added to negative indices: the size of the axis, or 0.
    from_end: __m256i,
    /// The last position.
    last: __m256i,
    /// The position of an index below the axis.
    below: __m256i,
    /// The position of an index above it.
    above: __m256i,
}

impl Bounds {
    /// Bounds of lanes of one axis.
    #[inline]
    #[target_feature(enable = "avx2")]
    pub(crate) fn of(job: &ResolveJob) -> Self {
        Bounds::new(_mm256_set1_epi32(job.dim), job.policy)
    }

    /// Bounds of lanes whose axes have the sizes `dim`.
    #[inline]
    #[target_feature(enable = "avx2")]
    pub(crate) fn new(dim: __m256i, policy: IndexPolicy) -> Self {
        let IndexPolicy { negative, out_of_bounds } = policy;
        let minus_one = _mm256_set1_epi32(-1);
        let last = _mm256_add_epi32(dim, minus_one);
        let counts = negative == NegativeIndex::FromEnd || out_of_bounds == OutOfBounds::Wrap;
        let from_end = if counts { dim } else { _mm256_setzero_si256() };
        let clamp = out_of_bounds == OutOfBounds::Clamp;
        let below = if clamp { _mm256_setzero_si256() } else { minus_one };
        let above = if clamp { last } else { minus_one };
        Bounds { from_end, last, below, above }
    }

    /// The positions of eight indices, in the order of the load.
    #[inline]
    #[target_feature(enable = "avx2")]
    pub(crate) fn resolve(self, indices: Indices) -> __m256i {
        let r = _mm256_add_epi32(indices.low, _mm256_and_si256(indices.negative, self.from_end));
        let inside = _mm256_cmpeq_epi32(_mm256_min_epu32(r, self.last), r);
        let instead = _mm256_blendv_epi8(self.above, self.below, indices.below);
        _mm256_blendv_epi8(instead, r, _mm256_and_si256(inside, indices.fits))
    }

    /// Eight indices in the order of the load, and lanes that are negative where one is negative or out of range.
    #[inline]
    #[target_feature(enable = "avx2")]
    pub(crate) fn as_they_stand(self, indices: Indices) -> (__m256i, __m256i) {
        let Indices { low, fits, .. } = indices;
        // Where `low` is not negative, the difference does not overflow.
        let outside = _mm256_or_si256(low, _mm256_sub_epi32(self.last, low));
        (low, _mm256_or_si256(outside, _mm256_andnot_si256(fits, _mm256_set1_epi32(-1))))
    }
}

#[inline]
#[target_feature(enable = "avx2")]
pub(crate) fn vector(values: [i32; EIGHT]) -> __m256i {
    // SAFETY: eight values.
    unsafe { _mm256_loadu_si256(values.as_ptr().cast()) }
}

/// The lanes 0 1 4 5 2 3 6 7 in order.
#[inline]
#[target_feature(enable = "avx2")]
pub(crate) fn in_order(split: __m256i) -> __m256i {
    _mm256_permute4x64_epi64::<0b11_01_10_00>(split)
}

/// Which lanes are negative, one bit each.
#[inline]
#[target_feature(enable = "avx2")]
pub(crate) fn negative_lanes(lanes: __m256i) -> i32 {
    _mm256_movemask_ps(_mm256_castsi256_ps(lanes))
}

/// Whether a lane is negative.
#[inline]
#[target_feature(enable = "avx2")]
pub(crate) fn any_negative(lanes: __m256i) -> bool {
    negative_lanes(lanes) != 0
}

/// [`ResolveFn`](crate::kernels::resolve::ResolveFn) with AVX2.
///
/// # Safety
/// As for [`ResolveFn`](crate::kernels::resolve::ResolveFn).
#[inline]
#[target_feature(enable = "avx2")]
pub(crate) unsafe fn resolve<I: Index>(job: &ResolveJob) -> bool {
    let (mut done, mut out_of_range) = (0, false);
    if job.stride == size_of::<I>() as isize {
        let bounds = Bounds::of(job);
        // SAFETY: the caller's promise; the indices are contiguous.
        (done, out_of_range) = unsafe { contiguous::<I>(job, bounds) };
        if done == job.n {
            return out_of_range;
        }
    }
    // SAFETY: the caller's promise, for the indices from `done` on.
    out_of_range | unsafe { one_by_one::<I>(&job.rest(done)) }
}

/// [`ChunksFn`](crate::kernels::resolve::ChunksFn) with AVX2: bounds are made once for all chunks, and
/// the vectors of a chunk unrolled.
/// Without that, chunks take as long as blocks.
///
/// # Safety
/// As for [`ChunksFn`](crate::kernels::resolve::ChunksFn).
#[inline]
#[target_feature(enable = "avx2")]
pub(crate) unsafe fn resolve_chunks<I: Index>(job: &ResolveJob, each: &mut dyn FnMut(usize, bool) -> bool) {
    let mut done = 0;
    if job.stride == size_of::<I>() as isize {
        let bounds = Bounds::of(job);
        while job.n - done >= CHUNK {
            // SAFETY: the caller's promise; the indices are contiguous, and a chunk is whole vectors.
            let (_, out_of_range) = unsafe { contiguous::<I>(&job.chunk(done, CHUNK), bounds) };
            done += CHUNK;
            if !each(CHUNK, out_of_range) {
                return;
            }
        }
    }
    // SAFETY: the caller's promise, for the indices from `done` on.
    unsafe { in_chunks::<I, Avx2>(&job.chunk(done, job.n - done), each) }
}

/// Resolves whole vectors of contiguous indices of one component; returns how many, and whether one was out of range
/// (and is not wrapped).
///
/// # Safety
/// As for [`ResolveFn`](crate::kernels::resolve::ResolveFn); the indices are contiguous.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn contiguous<I: Index>(job: &ResolveJob, bounds: Bounds) -> (usize, bool) {
    let index = job.index.cast::<I>();
    let steps = job.n / EIGHT;
    let mut found = _mm256_setzero_si256();
    for step in 0..steps {
        // SAFETY: eight of the `n` indices.
        let indices = unsafe { load(index.wrapping_add(step * EIGHT)) };
        let positions = bounds.resolve(indices);
        let positions = if is_split::<I>() { in_order(positions) } else { positions };
        found = _mm256_or_si256(found, positions);
        // SAFETY: `out` has room for `n` positions; these are eight of them.
        unsafe { _mm256_storeu_si256(job.out.wrapping_add(step * EIGHT).cast(), positions) };
    }
    let (done, out_of_range) = (steps * EIGHT, any_negative(found));
    if out_of_range && job.policy.out_of_bounds == OutOfBounds::Wrap {
        // SAFETY: the caller's promise; the first `done` positions are resolved.
        unsafe { wrap::<I>(job, done) };
        return (done, false);
    }
    (done, out_of_range)
}

/// Wraps the indices whose position is -1 among the first `done`, a multiple of [`EIGHT`]: those that are not in
/// range of their own.
///
/// # Safety
/// As for [`contiguous`], which has resolved these under `OutOfBounds::Wrap`.
#[cold]
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn wrap<I: Index>(job: &ResolveJob, done: usize) {
    let again = |at| {
        // SAFETY: K3: one of the `n` indices, at any alignment.
        let value = unsafe { job.index.cast::<I>().wrapping_add(at).read_unaligned() };
        // SAFETY: `out` has room for `n` positions.
        unsafe { job.out.wrapping_add(at).write(value.wrap(i64::from(job.dim)) as i32) };
    };
    // SAFETY: the caller's promise.
    unsafe { each_negative(job.out, done, again) };
}

/// Calls `each` on the numbers of the negative positions among the first `n`, a multiple of [`EIGHT`].
///
/// # Safety
/// `n` positions may be read.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn each_negative(positions: *const i32, n: usize, mut each: impl FnMut(usize)) {
    for first in (0..n).step_by(EIGHT) {
        // SAFETY: eight of the `n` positions.
        let lanes = unsafe { _mm256_loadu_si256(positions.wrapping_add(first).cast()) };
        let mut negative = negative_lanes(lanes);
        while negative != 0 {
            each(first + negative.trailing_zeros() as usize);
            negative &= negative - 1;
        }
    }
}
