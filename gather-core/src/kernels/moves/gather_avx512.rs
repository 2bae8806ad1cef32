//! Resolving and moving rows of 4 and 8 bytes in one loop with AVX-512, sixteen at a time: from the first index on that
//! is negative or out of range. What comes before it is moved by `gather_positions.rs`.
//!
//! ```text
//! for each sixteen indices:
//!     resolve them in a register                          (one out of range: go on as at the level AVX2)
//!     take their offsets out of it, load each element     (no gather instruction)
//!     put the elements together in registers, store them
//! ```
//!
//! The last ones, fewer than sixteen, are loaded and stored by a mask.

use core::arch::x86_64::{
    __m128i, __m512i, _mm_setzero_si128, _mm512_add_epi32, _mm512_castsi128_si512, _mm512_extracti32x4_epi32,
    _mm512_inserti32x4, _mm512_mask_storeu_epi32, _mm512_mask_storeu_epi64, _mm512_maskz_add_epi32,
    _mm512_movepi32_mask, _mm512_mullo_epi32, _mm512_set1_epi32, _mm512_setzero_si512, _mm512_storeu_si512,
};

use crate::kernels::args::{Cursor, IndexArgs, Loop};
use crate::kernels::bodies::next_slice;
use crate::kernels::moves::gather_avx2::fetch_later;
use crate::kernels::moves::loads::four;
use crate::kernels::moves::prefetch::{LINE, NextSlice, STEP, prefetch, prefetch_to_write};
use crate::kernels::moves::{gather_avx2, gather_positions};
use crate::kernels::resolve::avx512::{Bounds, SIXTEEN, every, lanes, vector};
use crate::types::index::Index;

/// [`GatherFn`](crate::kernels::isa::GatherFn) with AVX-512, of rows of 4 and 8 bytes.
///
/// # Safety
/// As for [`GatherFn`](crate::kernels::isa::GatherFn).
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi")]
pub(crate) unsafe fn gather<const BYTES: usize, I: Index>(args: &IndexArgs<'_>, at: &Cursor) -> bool {
    // SAFETY: the caller's promise.
    unsafe { gather_positions::gather::<BYTES, I>(args, at, rest::<BYTES, I>) }
}

/// Gathers what is left of a plane, whatever its indices are.
///
/// # Safety
/// As for [`RestFn`](gather_positions::RestFn); K7 for AVX-512.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi")]
unsafe fn rest<const BYTES: usize, I: Index>(args: &IndexArgs<'_>, mut at: Cursor, first: usize, left: usize) -> bool {
    let (outer, sixteen, mut done) = (*args.outer(), Sixteen::<BYTES>::new(args), first);
    let prefetches = args.spec.prefetch_distance != 0 || args.spec.next_slice_bytes != 0;
    for _ in 0..left {
        fetch_later::<BYTES, I>(args, at, &outer);
        if done < args.inner().n {
            done = match (args.spec.packed, prefetches) {
                // SAFETY: the caller's promise; the plan found the rows packed.
                (true, false) => unsafe { sixteen.steps::<I, true, false>(args, at, done) },
                // SAFETY: as above.
                (true, true) => unsafe { sixteen.steps::<I, true, true>(args, at, done) },
                // SAFETY: the caller's promise; K9: offsets in bytes fit in 32 bits.
                (false, false) => unsafe { sixteen.steps::<I, false, false>(args, at, done) },
                // SAFETY: as above.
                (false, true) => unsafe { sixteen.steps::<I, false, true>(args, at, done) },
            };
        }
        // SAFETY: the caller's promise, for the rows from `done` on.
        if done < args.inner().n && unsafe { go_on::<BYTES, I>(args, at, done) } {
            return true;
        }
        (at, done) = (at.step(&outer), 0);
    }
    false
}

/// Runs the inner loop at a cursor from row `done` on, as at the level AVX2; returns what [`gather`] does.
///
/// # Safety
/// As for [`gather`].
#[cold]
#[inline(never)]
unsafe fn go_on<const BYTES: usize, I: Index>(args: &IndexArgs<'_>, at: Cursor, done: usize) -> bool {
    let (inner, at) = (args.inner(), at.skip(args.inner(), done));
    let rest = IndexArgs { loops: &[Loop { n: inner.n - done, ..*inner }], origin: at, ..*args };
    // SAFETY: the caller's promise, for what is left of the loop; K7: the machine has AVX2 too.
    unsafe { gather_avx2::gather::<BYTES, I>(&rest, &at) }
}

/// The arguments that the inner loops of a plane share.
#[derive(Clone, Copy)]
struct Sixteen<const BYTES: usize> {
    bounds: Bounds,
    /// Bytes from an index to its component.
    component: isize,
    stride: __m512i,
    /// Bytes of data from the first row to each of the first sixteen, and from each to the one sixteen further.
    offset: __m512i,
    step: __m512i,
}

impl<const BYTES: usize> Sixteen<BYTES> {
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi")]
    fn new(args: &IndexArgs<'_>) -> Self {
        let (component, data_step) = (&args.spec.components[0], args.inner().data as i32);
        Sixteen {
            bounds: Bounds::new(_mm512_set1_epi32(component.dim as i32), args.spec.policy),
            component: component.index,
            stride: _mm512_set1_epi32(args.stride as i32),
            offset: _mm512_mullo_epi32(vector(&const { every(1, 0) }), _mm512_set1_epi32(data_step)),
            step: _mm512_set1_epi32(data_step.wrapping_mul(SIXTEEN as i32)),
        }
    }

    /// Moves the rows of the inner loop at a cursor from row `first` on, a multiple of sixteen: sixteen a step and then
    /// the last ones, up to the first step with an index that is out of range. Returns the first row that is left.
    ///
    /// # Safety
    /// As for [`gather`]; `PACKED` says whether the plan found the rows packed.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi")]
    unsafe fn steps<I: Index, const PACKED: bool, const PREFETCH: bool>(
        &self,
        args: &IndexArgs<'_>,
        at: Cursor,
        first: usize,
    ) -> usize {
        let index = at.index.wrapping_offset(self.component).cast::<I>();
        let next = if PREFETCH { next_slice(args, at, 0) } else { NextSlice::NONE };
        let (distance, n) = (args.spec.prefetch_distance, args.inner().n);
        let (mut offset, mut done) = (self.offset_at(first), first);
        while n - done >= SIXTEEN {
            if PREFETCH {
                next.fetch(done / STEP);
                next.fetch(done / STEP + 1);
                prefetch(index.wrapping_add(done + distance).cast(), SIXTEEN * size_of::<I>());
                for line in (0..SIXTEEN * BYTES).step_by(LINE) {
                    prefetch_to_write(at.out.wrapping_add((done + distance) * BYTES + line));
                }
            }
            // SAFETY: K3: sixteen of the `n` indices, which are contiguous.
            let positions = unsafe { self.bounds.resolve(index.wrapping_add(done), u16::MAX) };
            if _mm512_movepi32_mask(positions) != 0 {
                return done;
            }
            let offsets =
                if PACKED { positions } else { _mm512_add_epi32(_mm512_mullo_epi32(positions, self.stride), offset) };
            // SAFETY: K1, K2 and K4 for sixteen rows, whose positions are in range: none is negative. `PACKED` is the
            // caller's promise, and K9 that other offsets fit in 32 bits.
            let elements = unsafe { sixteen::<BYTES, PACKED>(at.data, offsets) };
            // SAFETY: K1: sixteen rows.
            unsafe { store_all::<BYTES>(at.out.wrapping_add(done * BYTES), elements) };
            offset = _mm512_add_epi32(offset, self.step);
            done += SIXTEEN;
        }
        if done == n {
            return n;
        }
        let rows = lanes(n - done);
        // SAFETY: K3: the other indices.
        let positions = unsafe { self.bounds.resolve(index.wrapping_add(done), rows) };
        // Lanes without a row have position 0.
        if _mm512_movepi32_mask(positions) != 0 {
            return done;
        }
        let offsets = match PACKED {
            true => positions,
            false => _mm512_maskz_add_epi32(rows, _mm512_mullo_epi32(positions, self.stride), offset),
        };
        // SAFETY: as above. Lanes without a row have position 0, and offset 0: the first element of the axis, which has
        // one.
        let elements = unsafe { sixteen::<BYTES, PACKED>(at.data, offsets) };
        // SAFETY: K1: these rows.
        unsafe { store_some::<BYTES>(at.out.wrapping_add(done * BYTES), rows, elements) };
        n
    }

    /// Bytes of data from the first row to each of the sixteen from row `first` on, a multiple of sixteen.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi")]
    fn offset_at(&self, first: usize) -> __m512i {
        _mm512_add_epi32(self.offset, _mm512_mullo_epi32(_mm512_set1_epi32((first / SIXTEEN) as i32), self.step))
    }
}

/// Stores sixteen elements of `BYTES` bytes.
///
/// # Safety
/// As many may be written from `to` on.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi")]
unsafe fn store_all<const BYTES: usize>(to: *mut u8, elements: [__m512i; 2]) {
    // SAFETY: the caller's promise: sixteen of 4 bytes, or the first eight of 8.
    unsafe { _mm512_storeu_si512(to.cast(), elements[0]) };
    if BYTES == 8 {
        // SAFETY: as above, the other eight.
        unsafe { _mm512_storeu_si512(to.wrapping_add(LINE).cast(), elements[1]) };
    }
}

/// Stores those of sixteen elements of `BYTES` bytes that a mask names.
///
/// # Safety
/// As many may be written at their places from `to` on.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi")]
unsafe fn store_some<const BYTES: usize>(to: *mut u8, rows: u16, elements: [__m512i; 2]) {
    if BYTES == 4 {
        // SAFETY: the caller's promise.
        return unsafe { _mm512_mask_storeu_epi32(to.cast(), rows, elements[0]) };
    }
    // SAFETY: the caller's promise, for the first eight.
    unsafe { _mm512_mask_storeu_epi64(to.cast(), rows as u8, elements[0]) };
    // SAFETY: as above, the other eight.
    unsafe { _mm512_mask_storeu_epi64(to.wrapping_add(LINE).cast(), (rows >> 8) as u8, elements[1]) };
}

/// Sixteen elements of `BYTES` bytes at offsets, in elements where `PACKED` and else in bytes: in the first of the
/// vectors, or in both where elements have 8 bytes.
///
/// # Safety
/// The elements may be read.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi")]
unsafe fn sixteen<const BYTES: usize, const PACKED: bool>(data: *const u8, offsets: __m512i) -> [__m512i; 2] {
    let quarters = [
        _mm512_extracti32x4_epi32::<0>(offsets),
        _mm512_extracti32x4_epi32::<1>(offsets),
        _mm512_extracti32x4_epi32::<2>(offsets),
        _mm512_extracti32x4_epi32::<3>(offsets),
    ];
    let mut parts = [[_mm_setzero_si128(); 2]; 4];
    for (q, part) in parts.iter_mut().enumerate() {
        // SAFETY: the caller's promise, for four of the elements.
        *part = unsafe { four::<BYTES, PACKED>(data, quarters[q]) };
    }
    let [[a, b], [c, d], [e, f], [g, h]] = parts;
    if BYTES == 4 {
        [joined([a, c, e, g]), _mm512_setzero_si512()]
    } else {
        [joined([a, b, c, d]), joined([e, f, g, h])]
    }
}

/// One vector of four.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi")]
fn joined([a, b, c, d]: [__m128i; 4]) -> __m512i {
    let low = _mm512_inserti32x4::<1>(_mm512_castsi128_si512(a), b);
    _mm512_inserti32x4::<3>(_mm512_inserti32x4::<2>(low, c), d)
}
