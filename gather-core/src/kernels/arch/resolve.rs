//! Resolving contiguous indices with AVX2, eight at a time, in 32 bits.
//!
//! ```text
//! low  = the low 32 bits of eight indices        fits = the high bits only repeat the sign (all 0 for unsigned types)
//! r    = low + (dim where low < 0, if negative indices count from the end)
//! ok   = fits and r <= dim - 1, unsigned
//! unit = r where ok; else -1 (`Error`, `Zero`, `Wrap`), or 0 below and dim - 1 above (`Clamp`)
//! ```
//!
//! Two shuffles take low and high halves of 64-bit indices apart; they leave the lanes in the order 0 1 4 5 2 3 6 7, which
//! one permute of the result puts right. All policies share the loop: they differ in what is put where an index is not
//! ok. Under `Wrap` the lanes with such an index are then divided, one by one.
//!
//! Tuples of K components are eight tuples, K vectors, at a time: the components' sizes and scales lie in K vectors as
//! they take turns, and the scaled components are added up tuple by tuple. A component out of range is negative after
//! scaling, and so makes its tuple's unit -1.
//!
//! In 64-bit lanes, as compilers vectorise the scalar loop, i64 takes twice as many steps and the narrow types four times.
//! Figures stand in ARCHITECTURE.md.

use core::arch::x86_64::{
    __m256i, _mm_loadl_epi64, _mm_loadu_si128, _mm256_add_epi32, _mm256_and_si256, _mm256_blendv_epi8,
    _mm256_castps_si256, _mm256_castsi256_ps, _mm256_cmpeq_epi32, _mm256_cvtepi8_epi32, _mm256_cvtepi16_epi32,
    _mm256_cvtepu8_epi32, _mm256_cvtepu16_epi32, _mm256_loadu_si256, _mm256_min_epu32, _mm256_movemask_ps,
    _mm256_mullo_epi32, _mm256_or_si256, _mm256_permute4x64_epi64, _mm256_set1_epi32, _mm256_setzero_si256,
    _mm256_shuffle_ps, _mm256_srai_epi32, _mm256_storeu_si256,
};

use crate::index::{Index, IndexType};
use crate::kernels::resolve::{Resolve, Tuples};
use crate::ops::{NegativeIndex, OutOfBounds};

/// Indices of a vector.
pub(super) const EIGHT: usize = 8;

/// Eight indices, in the order of their type's loads.
#[derive(Clone, Copy)]
pub(super) struct Indices {
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
pub(super) const fn is_split<I: Index>() -> bool {
    size_of::<I>() == 8
}

/// Loads eight indices.
///
/// # Safety
/// `at` reaches eight values of `I`, at any alignment.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) unsafe fn load<I: Index>(at: *const I) -> Indices {
    match I::TYPE.word() {
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
        word => {
            // SAFETY: the first 32 of 64 bytes, the caller's promise.
            let first = _mm256_castsi256_ps(unsafe { _mm256_loadu_si256(at.cast()) });
            // SAFETY: the last 32.
            let last = _mm256_castsi256_ps(unsafe { _mm256_loadu_si256(at.wrapping_add(4).cast()) });
            let low = _mm256_castps_si256(_mm256_shuffle_ps::<0b10_00_10_00>(first, last));
            let high = _mm256_castps_si256(_mm256_shuffle_ps::<0b11_01_11_01>(first, last));
            if word == IndexType::U64 {
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

/// What eight indices are held against.
#[derive(Clone, Copy)]
pub(super) struct Bounds {
    /// What negative indices are added to: the size of the axis, or 0.
    from_end: __m256i,
    /// The last position.
    last: __m256i,
    /// What an index below the axis resolves to.
    below: __m256i,
    /// What an index above it resolves to.
    above: __m256i,
}

impl Bounds {
    /// Bounds of lanes of one axis.
    #[inline]
    #[target_feature(enable = "avx2")]
    pub(super) fn of(job: &Resolve) -> Self {
        Bounds::new([job.dim; EIGHT], job.negative, job.out_of_bounds)
    }

    /// Bounds of lanes whose axes have the given sizes.
    #[inline]
    #[target_feature(enable = "avx2")]
    pub(super) fn new(dims: [i32; EIGHT], negative: NegativeIndex, out_of_bounds: OutOfBounds) -> Self {
        let minus_one = _mm256_set1_epi32(-1);
        let dim = vector(dims);
        let last = _mm256_add_epi32(dim, minus_one);
        let counts = negative == NegativeIndex::FromEnd || out_of_bounds == OutOfBounds::Wrap;
        let from_end = if counts { dim } else { _mm256_setzero_si256() };
        let clamp = out_of_bounds == OutOfBounds::Clamp;
        let below = if clamp { _mm256_setzero_si256() } else { minus_one };
        let above = if clamp { last } else { minus_one };
        Bounds { from_end, last, below, above }
    }

    /// The units of eight indices, in the order of the load.
    #[inline]
    #[target_feature(enable = "avx2")]
    pub(super) fn resolve(self, indices: Indices) -> __m256i {
        let r = _mm256_add_epi32(indices.low, _mm256_and_si256(indices.negative, self.from_end));
        let inside = _mm256_cmpeq_epi32(_mm256_min_epu32(r, self.last), r);
        let instead = _mm256_blendv_epi8(self.above, self.below, indices.below);
        _mm256_blendv_epi8(instead, r, _mm256_and_si256(inside, indices.fits))
    }
}

#[inline]
#[target_feature(enable = "avx2")]
fn vector(values: [i32; EIGHT]) -> __m256i {
    // SAFETY: eight values.
    unsafe { _mm256_loadu_si256(values.as_ptr().cast()) }
}

/// Lanes 0 1 4 5 2 3 6 7 in order.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn in_order(split: __m256i) -> __m256i {
    _mm256_permute4x64_epi64::<0b11_01_10_00>(split)
}

/// Whether a lane is negative.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn any_negative(lanes: __m256i) -> bool {
    _mm256_movemask_ps(_mm256_castsi256_ps(lanes)) != 0
}

/// Resolves whole vectors of contiguous indices of one component; returns how many, and whether one was out of range (and is
/// not wrapped).
///
/// # Safety
/// As for [`Tier::resolve`](super::Tier::resolve); the indices are contiguous.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) unsafe fn contiguous<I: Index>(job: &Resolve, bounds: Bounds) -> (usize, bool) {
    let index = job.index.cast::<I>();
    let steps = job.n / EIGHT;
    let mut found = _mm256_setzero_si256();
    for step in 0..steps {
        // SAFETY: eight of the `n` indices.
        let indices = unsafe { load(index.wrapping_add(step * EIGHT)) };
        let units = bounds.resolve(indices);
        let units = if is_split::<I>() { in_order(units) } else { units };
        found = _mm256_or_si256(found, units);
        // SAFETY: `out` has room for `n` units; these are eight of them.
        unsafe { _mm256_storeu_si256(job.out.wrapping_add(step * EIGHT).cast(), units) };
    }
    let (done, out_of_range) = (steps * EIGHT, any_negative(found));
    if out_of_range && job.out_of_bounds == OutOfBounds::Wrap {
        // SAFETY: the caller's promise; the first `done` units are resolved.
        unsafe { wrap::<I>(job, done, |_| ()) };
        return (done, false);
    }
    (done, out_of_range)
}

/// Wraps the lanes that hold -1 among the first `done`, which is a multiple of [`EIGHT`]: those whose index is not in range
/// of its own. Calls `each` on their numbers.
///
/// # Safety
/// As for [`contiguous`], which has resolved these lanes under `OutOfBounds::Wrap`.
#[cold]
#[inline]
#[target_feature(enable = "avx2")]
pub(super) unsafe fn wrap<I: Index>(job: &Resolve, done: usize, mut each: impl FnMut(usize)) {
    let again = |lane| {
        // SAFETY: K3: the index of a lane, at any alignment.
        let value = unsafe { job.index.cast::<I>().wrapping_add(lane).read_unaligned() };
        // SAFETY: `out` has room for `n` units.
        unsafe { job.out.wrapping_add(lane).write(value.wrap(i64::from(job.dim)) as i32) };
        each(lane);
    };
    // SAFETY: the caller's promise.
    unsafe { each_negative(job.out, done, again) };
}

/// Calls `each` on the lanes that hold a negative unit among the first `n`, a multiple of [`EIGHT`].
///
/// # Safety
/// `n` units may be read.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) unsafe fn each_negative(units: *const i32, n: usize, mut each: impl FnMut(usize)) {
    for first in (0..n).step_by(EIGHT) {
        // SAFETY: eight of the `n` units.
        let lanes = unsafe { _mm256_loadu_si256(units.wrapping_add(first).cast()) };
        let mut negative = _mm256_movemask_ps(_mm256_castsi256_ps(lanes));
        while negative != 0 {
            each(first + negative.trailing_zeros() as usize);
            negative &= negative - 1;
        }
    }
}

/// Resolves whole vectors of contiguous tuples of `K` components; returns how many tuples, and whether one was out of
/// range.
///
/// # Safety
/// As for [`Tier::resolve_tuples`](super::Tier::resolve_tuples); there are `K` components.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) unsafe fn tuples<I: Index, const K: usize>(job: &Tuples<'_>) -> (usize, bool) {
    // Lane `lane` of vector `k` of a step holds component `(8 k + lane) mod K`, lanes in the order of the load.
    let order = if is_split::<I>() { [0, 1, 4, 5, 2, 3, 6, 7] } else { [0, 1, 2, 3, 4, 5, 6, 7] };
    let mut bounds = [Bounds::new([1; EIGHT], job.negative, job.out_of_bounds); K];
    let mut scales = [_mm256_setzero_si256(); K];
    for k in 0..K {
        let (mut dims, mut factors) = ([0; EIGHT], [0; EIGHT]);
        for lane in 0..EIGHT {
            let component = &job.components[(EIGHT * k + order[lane]) % K];
            dims[lane] = component.dim as i32;
            factors[lane] = component.scale as i32;
        }
        bounds[k] = Bounds::new(dims, job.negative, job.out_of_bounds);
        scales[k] = vector(factors);
    }

    let index = job.index.cast::<I>();
    let steps = job.n / EIGHT;
    let mut found = _mm256_setzero_si256();
    for step in 0..steps {
        let mut parts = [[0i32; EIGHT]; K];
        for k in 0..K {
            // SAFETY: eight of the `n * K` indices.
            let indices = unsafe { load(index.wrapping_add((step * K + k) * EIGHT)) };
            let units = _mm256_mullo_epi32(bounds[k].resolve(indices), scales[k]);
            let units = if is_split::<I>() { in_order(units) } else { units };
            found = _mm256_or_si256(found, units);
            // SAFETY: the part has room for eight.
            unsafe { _mm256_storeu_si256(parts[k].as_mut_ptr().cast(), units) };
        }
        let parts = parts.as_flattened();
        let mut sums = [0i32; EIGHT];
        for (lane, sum) in sums.iter_mut().enumerate() {
            let mut signs = 0;
            for &part in &parts[lane * K..lane * K + K] {
                *sum = sum.wrapping_add(part);
                signs |= part;
            }
            *sum |= signs >> 31;
        }
        let units = vector(sums);
        // SAFETY: `out` has room for `n` units; these are eight of them.
        unsafe { _mm256_storeu_si256(job.out.wrapping_add(step * EIGHT).cast(), units) };
    }
    (steps * EIGHT, any_negative(found))
}
