//! Resolving contiguous tuples of 2, 3 and 4 components with AVX-512, sixteen at a time, in K vectors.
//!
//! ```text
//! r        = component + (dim where it is negative, if negative indices count from the end)
//! inside   = r < dim, unsigned                                             a mask
//! position = r where inside; else -1 (`Error`, `Zero`, `Wrap`), or 0 below and dim - 1 above (`Clamp`)
//! tuple    = the sum of position times scale over its components; -1 where one is negative
//! ```
//!
//! The components' sizes and scales lie in K vectors, repeated in the order of the components. Permutes put the
//! contiguous components of one axis, which are added up. Indices of 64 bits are compared in 64 bits, eight at a
//! time, and narrowed by a permute of two vectors. The last tuples, fewer than sixteen, are loaded and stored by masks.
//! Under `Wrap`, tuples out of range are then resolved one by one.
//!
//! Indices of one component are resolved as at the level AVX2, where they are not gathered by at once: the moves that
//! follow read every position soon after it was written, and wait longer for stores of 64 bytes than for those of 32
//! (bench `matrix`).

use core::arch::x86_64::{
    __m512i, _mm_maskz_loadu_epi8, _mm256_maskz_loadu_epi16, _mm512_add_epi32, _mm512_cmplt_epu32_mask,
    _mm512_cmplt_epu64_mask, _mm512_cvtepi8_epi32, _mm512_cvtepi16_epi32, _mm512_cvtepi32_epi64, _mm512_cvtepu8_epi32,
    _mm512_cvtepu16_epi32, _mm512_extracti64x4_epi64, _mm512_loadu_si512, _mm512_mask_add_epi32, _mm512_mask_add_epi64,
    _mm512_mask_mov_epi32, _mm512_mask_mov_epi64, _mm512_mask_storeu_epi32, _mm512_maskz_loadu_epi32,
    _mm512_maskz_loadu_epi64, _mm512_movepi32_mask, _mm512_movepi64_mask, _mm512_mullo_epi32, _mm512_or_si512,
    _mm512_permutex2var_epi32, _mm512_permutexvar_epi32, _mm512_set1_epi32, _mm512_setzero_si512, _mm512_storeu_si512,
};

use crate::kernels::moves::table_avx512::first_lanes;
use crate::kernels::resolve::TupleJob;
use crate::types::index::{Index, IndexType};
use crate::types::policy::{IndexPolicy, NegativeIndex, OutOfBounds};

/// Indices of a vector.
pub(crate) const SIXTEEN: usize = 16;

/// Sixteen lanes' worth of numbers.
pub(crate) type Lanes = [i32; SIXTEEN];

/// The first `n` of sixteen lanes.
#[inline(always)]
pub(crate) const fn lanes(n: usize) -> u16 {
    first_lanes(n) as u16
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi")]
pub(crate) fn vector(values: &Lanes) -> __m512i {
    // SAFETY: sixteen values.
    unsafe { _mm512_loadu_si512(values.as_ptr().cast()) }
}

/// Sixteen lanes of 32 bits as two vectors of 64.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi")]
fn widened(values: __m512i) -> [__m512i; 2] {
    let (low, high) = (_mm512_extracti64x4_epi64::<0>(values), _mm512_extracti64x4_epi64::<1>(values));
    [_mm512_cvtepi32_epi64(low), _mm512_cvtepi32_epi64(high)]
}

/// The vectors that sixteen indices are compared with, in 32 bits and in 64.
#[derive(Clone, Copy)]
pub(crate) struct Bounds {
    /// The sizes of the axes.
    dim: __m512i,
    wide_dim: [__m512i; 2],
    /// The vector that is added to negative indices: the size of the axis, or 0.
    from_end: __m512i,
    wide_from_end: [__m512i; 2],
    /// The position of an index below the axis.
    below: __m512i,
    /// The position of an index above it.
    above: __m512i,
    wide_above: [__m512i; 2],
}

impl Bounds {
    /// Bounds of lanes whose axes have the sizes `dim`.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi")]
    pub(crate) fn new(dim: __m512i, policy: IndexPolicy) -> Self {
        let IndexPolicy { negative, out_of_bounds } = policy;
        let minus_one = _mm512_set1_epi32(-1);
        let counts = negative == NegativeIndex::FromEnd || out_of_bounds == OutOfBounds::Wrap;
        let from_end = if counts { dim } else { _mm512_setzero_si512() };
        let (below, above) = if out_of_bounds == OutOfBounds::Clamp {
            (_mm512_setzero_si512(), _mm512_add_epi32(dim, minus_one))
        } else {
            (minus_one, minus_one)
        };
        Bounds {
            dim,
            wide_dim: widened(dim),
            from_end,
            wide_from_end: widened(from_end),
            below,
            above,
            wide_above: widened(above),
        }
    }

    /// The positions of the indices of a mask at `index`, in order; those of the other lanes are 0, which every axis
    /// has.
    ///
    /// # Safety
    /// `index` reaches the indices of the mask, at any alignment.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi")]
    pub(crate) unsafe fn resolve<I: Index>(&self, index: *const I, mask: u16) -> __m512i {
        if size_of::<I>() == 8 {
            // SAFETY: the caller's promise, for the first eight.
            let low = unsafe { self.resolve_wide(index, mask as u8, 0) };
            // SAFETY: as above, for the last eight.
            let high = unsafe { self.resolve_wide(index.wrapping_add(8), (mask >> 8) as u8, 1) };
            return _mm512_permutex2var_epi32(low, vector(&const { every(2, 0) }), high);
        }
        // SAFETY: the caller's promise.
        let values = unsafe { load_narrow(index, mask) };
        let negative = if I::TYPE.is_signed() { _mm512_movepi32_mask(values) } else { 0 };
        let positions = _mm512_mask_add_epi32(values, negative, values, self.from_end);
        let inside = _mm512_cmplt_epu32_mask(positions, self.dim);
        let instead = _mm512_mask_mov_epi32(self.above, negative, self.below);
        _mm512_mask_mov_epi32(instead, inside, positions)
    }

    /// As [`Bounds::resolve`], of eight indices of 64 bits, whose positions are the low halves of the lanes.
    ///
    /// # Safety
    /// As for [`Bounds::resolve`].
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi")]
    unsafe fn resolve_wide<I: Index>(&self, index: *const I, mask: u8, half: usize) -> __m512i {
        // SAFETY: the caller's promise.
        let values = unsafe { _mm512_maskz_loadu_epi64(mask, index.cast()) };
        let negative = if I::TYPE.is_signed() { _mm512_movepi64_mask(values) } else { 0 };
        let positions = _mm512_mask_add_epi64(values, negative, values, self.wide_from_end[half]);
        let inside = _mm512_cmplt_epu64_mask(positions, self.wide_dim[half]);
        let instead = _mm512_mask_mov_epi64(self.wide_above[half], negative, self.below);
        _mm512_mask_mov_epi64(instead, inside, positions)
    }
}

/// The numbers `first`, `first + step`, ..
pub(crate) const fn every(step: i32, first: i32) -> Lanes {
    let (mut numbers, mut at) = ([0; SIXTEEN], 0);
    while at < SIXTEEN {
        numbers[at] = first + step * at as i32;
        at += 1;
    }
    numbers
}

/// The indices of a mask, of a type of at most 32 bits, in 32 bits.
///
/// # Safety
/// `at` reaches the indices of the mask, at any alignment.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi")]
unsafe fn load_narrow<I: Index>(at: *const I, mask: u16) -> __m512i {
    match I::TYPE.fixed_width() {
        // SAFETY: the caller's promise.
        IndexType::I8 => _mm512_cvtepi8_epi32(unsafe { _mm_maskz_loadu_epi8(mask, at.cast()) }),
        // SAFETY: as above.
        IndexType::U8 => _mm512_cvtepu8_epi32(unsafe { _mm_maskz_loadu_epi8(mask, at.cast()) }),
        // SAFETY: as above.
        IndexType::I16 => _mm512_cvtepi16_epi32(unsafe { _mm256_maskz_loadu_epi16(mask, at.cast()) }),
        // SAFETY: as above.
        IndexType::U16 => _mm512_cvtepu16_epi32(unsafe { _mm256_maskz_loadu_epi16(mask, at.cast()) }),
        // SAFETY: as above.
        _ => unsafe { _mm512_maskz_loadu_epi32(mask, at.cast()) },
    }
}

/// [`TuplesFn`](crate::kernels::resolve::TuplesFn) with AVX-512: of 2, 3 and 4 components.
///
/// # Safety
/// As for [`TuplesFn`](crate::kernels::resolve::TuplesFn).
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi")]
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
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi")]
unsafe fn in_chunks<I: Index, const K: usize>(job: &TupleJob<'_>, each: &mut dyn FnMut(usize, bool) -> bool) {
    let (axes, mut left) = (Axes::<K>::new(job), *job);
    while let Some(chunk) = left.next_chunk::<I>() {
        // SAFETY: the caller's promise, for some of the tuples.
        let mut out_of_range = unsafe { tuples::<I, K>(&axes, &chunk) };
        if out_of_range && job.policy.out_of_bounds == OutOfBounds::Wrap {
            // SAFETY: as above; they have been resolved.
            unsafe { chunk.wrap::<I>(chunk.n) };
            out_of_range = false;
        }
        if !each(chunk.n, out_of_range) {
            return;
        }
    }
}

/// Where the component of each of sixteen tuples lies in `K` vectors.
struct Components<const K: usize>;

impl<const K: usize> Components<K> {
    /// The component that lies in each lane of each vector.
    const ORDER: [Lanes; K] = {
        let (mut order, mut at) = ([[0; SIXTEEN]; K], 0);
        while at < K * SIXTEEN {
            order[at / SIXTEEN][at % SIXTEEN] = (at % K) as i32;
            at += 1;
        }
        order
    };

    /// Component, permute: permute `p` takes lanes from what was found in the vectors before `p`, or from vector `p`.
    const PERMUTES: [[Lanes; K]; K] = {
        let mut permutes = [[[0; SIXTEEN]; K]; K];
        let mut at = 0;
        while at < K * SIXTEEN {
            let (component, tuple) = (at / SIXTEEN, at % SIXTEEN);
            let place = tuple * K + component;
            let mut p = 1;
            while p < K {
                permutes[component][p][tuple] = match place / SIXTEEN {
                    vector if vector == p => (SIXTEEN + place % SIXTEEN) as i32,
                    0 if p == 1 => place as i32,
                    _ => tuple as i32,
                };
                p += 1;
            }
            at += 1;
        }
        permutes
    };
}

/// Resolves contiguous tuples of `K` components; returns whether one was out of range.
///
/// # Safety
/// As for [`in_chunks`], for one chunk; the axes are those of the job.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi")]
unsafe fn tuples<I: Index, const K: usize>(axes: &Axes<K>, job: &TupleJob<'_>) -> bool {
    let index = job.index.cast::<I>();
    let (mut found, mut done) = (0, 0);
    // Whole vectors are stored without a mask: what is stored by one is not seen before it is in the cache.
    while job.n - done >= SIXTEEN {
        // SAFETY: sixteen of the `n` tuples.
        let positions = unsafe { axes.resolve(index.wrapping_add(done * K), SIXTEEN) };
        found |= _mm512_movepi32_mask(positions);
        // SAFETY: there is room for `n` positions; these are sixteen of them.
        unsafe { _mm512_storeu_si512(job.rooms[0].wrapping_add(done).cast(), positions) };
        done += SIXTEEN;
    }
    let left = job.n - done;
    if left > 0 {
        // SAFETY: the tuples that are left.
        let positions = unsafe { axes.resolve(index.wrapping_add(done * K), left) };
        found |= _mm512_movepi32_mask(positions) & lanes(left);
        // SAFETY: as above.
        unsafe { _mm512_mask_storeu_epi32(job.rooms[0].wrapping_add(done), lanes(left), positions) };
    }
    found != 0
}

/// The vectors that the components of sixteen tuples are compared with and multiplied by.
struct Axes<const K: usize> {
    bounds: [Bounds; K],
    scales: [__m512i; K],
}

impl<const K: usize> Axes<K> {
    /// The axes of a job of `K` components.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi")]
    fn new(job: &TupleJob<'_>) -> Self {
        let (mut dims, mut factors) = ([0; SIXTEEN], [0; SIXTEEN]);
        for k in 0..K {
            (dims[k], factors[k]) = (job.components[k].dim as i32, job.components[k].scale as i32);
        }
        let (dims, factors) = (vector(&dims), vector(&factors));
        let mut bounds = [Bounds::new(dims, job.policy); K];
        let mut scales = [factors; K];
        for k in 0..K {
            let components = vector(&Components::<K>::ORDER[k]);
            bounds[k] = Bounds::new(_mm512_permutexvar_epi32(components, dims), job.policy);
            scales[k] = _mm512_permutexvar_epi32(components, factors);
        }
        Axes { bounds, scales }
    }

    /// The positions of `n <= 16` tuples at `index`; negative where a component is out of range.
    ///
    /// # Safety
    /// `index` reaches `n * K` indices, at any alignment.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi")]
    unsafe fn resolve<I: Index>(&self, index: *const I, n: usize) -> __m512i {
        let mut parts = [_mm512_setzero_si512(); K];
        for (k, part) in parts.iter_mut().enumerate() {
            let mask = lanes((n * K).saturating_sub(SIXTEEN * k));
            // SAFETY: sixteen of the indices, or those that are left.
            let positions = unsafe { self.bounds[k].resolve(index.wrapping_add(SIXTEEN * k), mask) };
            *part = _mm512_mullo_epi32(positions, self.scales[k]);
        }
        let (mut sums, mut signs) = (_mm512_setzero_si512(), _mm512_setzero_si512());
        for permutes in &Components::<K>::PERMUTES {
            let mut component = parts[0];
            for k in 1..K {
                component = _mm512_permutex2var_epi32(component, vector(&permutes[k]), parts[k]);
            }
            sums = _mm512_add_epi32(sums, component);
            signs = _mm512_or_si512(signs, component);
        }
        _mm512_mask_mov_epi32(sums, _mm512_movepi32_mask(signs), _mm512_set1_epi32(-1))
    }
}
