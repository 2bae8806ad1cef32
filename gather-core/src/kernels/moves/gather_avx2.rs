//! Resolving and moving rows of 4, 8 and 12 bytes in one loop with AVX2, eight at a time.
//!
//! A kernel of blocks waits for indices while it resolves, for data while it moves, and never for both at once. Here
//! eight indices are resolved in a register, and their offsets are taken out of it: the processor overlaps the next
//! indices with the last elements. An index out of range ends the loop. Under `OutOfBounds::Zero` what follows is filled
//! in vectors too, or for rows of 12 bytes moved or filled one by one (`bodies/one_pass.rs`); under `OutOfBounds::Wrap`
//! it is taken modulo the size of the axis.
//!
//! What comes before the first such index, or a negative one, is moved by `gather_positions.rs`.
//!
//! One call runs a whole plane, so that loads do not run out at the end of each inner loop.
//!
//! Elements of 4 and 8 bytes are loaded one by one, put together in registers (`loads.rs`) and stored at once. Rows of
//! 12 bytes (three `f32`) are moved one by one. The loop must not write to the stack, which would slow it down.
//!
//! Rows that are resolved already (tuples, and one block of indices for many slices) are gathered in the same way.

use core::arch::x86_64::{
    __m256i, _mm_cvtsi128_si64, _mm_extract_epi64, _mm256_add_epi32, _mm256_blendv_epi8, _mm256_castsi256_si128,
    _mm256_cvtepi32_epi64, _mm256_extracti128_si256, _mm256_loadu_si256, _mm256_max_epi32, _mm256_mullo_epi32,
    _mm256_set1_epi32, _mm256_setr_epi32, _mm256_setzero_si256, _mm256_storeu_si256,
};

use crate::kernels::args::{Component, Cursor, IndexArgs, Loop};
use crate::kernels::bodies::next_slice_at;
use crate::kernels::level_fn::Avx2;
use crate::kernels::moves::fill::FillRow;
use crate::kernels::moves::gather_positions;
use crate::kernels::moves::loads::{eight, store_eight};
use crate::kernels::moves::prefetch::{LINE, NextSlice, prefetch, prefetch_to_write};
use crate::kernels::moves::{self, MoveJob, copy_fixed};
use crate::kernels::plane::Plane;
use crate::kernels::resolve::vectors::Bounds;
use crate::kernels::words::{Eight, Words};
use crate::types::index::Index;
use crate::types::policy::OutOfBounds;

/// Rows of a step.
const EIGHT: usize = 8;

/// [`GatherFn`](crate::kernels::moves::GatherFn) with AVX2.
#[inline]
#[target_feature(enable = "avx2,fma,f16c")]
pub(crate) fn gather<const BYTES: usize, I: Index>(plane: Plane<'_>) -> bool {
    let (args, at) = (plane.args(), plane.at());
    // SAFETY: the caller's promise.
    unsafe { gather_positions::gather::<BYTES, I>(args, at, rest::<BYTES, I>) }
}

/// Gathers what is left of a plane, whatever its indices are.
///
/// # Safety
/// As for [`RestFn`](gather_positions::RestFn); K7 for AVX2.
#[target_feature(enable = "avx2,fma,f16c")]
unsafe fn rest<const BYTES: usize, I: Index>(args: &IndexArgs<'_>, mut at: Cursor, first: usize, left: usize) -> bool {
    let (inner, outer, mut first) = (Inner::<BYTES>::new(args), *args.outer(), first);
    for _ in 0..left {
        fetch_later::<BYTES, I>(args, at, &outer);
        // SAFETY: the caller's promise.
        if unsafe { inner.run::<I>(args, at, first) } {
            return true;
        }
        (at, first) = (at.step(&outer), 0);
    }
    false
}

/// Prefetches indices and output of a later coordinate of the outer loop than that at a cursor, if the plan does.
#[inline(always)]
fn fetch_later<const BYTES: usize, I: Index>(args: &IndexArgs<'_>, at: Cursor, outer: &Loop) {
    if args.spec().outer_prefetch_distance != 0 {
        let later = at.skip(outer, args.spec().outer_prefetch_distance);
        prefetch(later.index.wrapping_offset(args.spec().components[0].index), args.inner().n * size_of::<I>());
        for line in (0..args.inner().n * BYTES).step_by(LINE) {
            prefetch_to_write(later.out.wrapping_add(line));
        }
    }
}

/// The arguments that the inner loops of a plane share.
#[derive(Clone, Copy)]
struct Inner<'a, const BYTES: usize> {
    component: &'a Component,
    bounds: Bounds<Eight>,
    stride: __m256i,
    /// Bytes of data from the first row to each of the first eight, and from each to the one eight further.
    offset: __m256i,
    step: __m256i,
}

impl<'a, const BYTES: usize> Inner<'a, BYTES> {
    #[inline]
    #[target_feature(enable = "avx2,fma,f16c")]
    fn new(args: &IndexArgs<'a>) -> Self {
        let (component, data_step) = (&args.spec().components[0], args.inner().data as i32);
        Inner {
            component,
            bounds: Bounds::of(Avx2::here(), component.dim as i32, args.spec().policy),
            stride: _mm256_set1_epi32(args.stride() as i32),
            offset: _mm256_mullo_epi32(_mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7), _mm256_set1_epi32(data_step)),
            step: _mm256_set1_epi32(data_step.wrapping_mul(EIGHT as i32)),
        }
    }

    /// Runs the inner loop at a cursor from row `first` on, a multiple of eight; returns whether an index was out of
    /// range, if that is an error. It then stops there.
    ///
    /// # Safety
    /// As for [`gather`].
    #[inline]
    #[target_feature(enable = "avx2,fma,f16c")]
    unsafe fn run<I: Index>(&self, args: &IndexArgs<'_>, at: Cursor, first: usize) -> bool {
        let (n, prefetches) = (args.inner().n, args.spec().prefetch_distance != 0 || args.spec().next_slice_bytes != 0);
        let (steps, mut step) = (n / EIGHT, first / EIGHT);
        while step < steps {
            step = match (args.spec().packed, prefetches) {
                // SAFETY: the caller's promise; the plan found the rows packed.
                (true, false) => unsafe { self.steps::<I, true, false>(args, at, step) },
                // SAFETY: as above.
                (true, true) => unsafe { self.steps::<I, true, true>(args, at, step) },
                // SAFETY: the caller's promise; K9: offsets in bytes fit in 32 bits.
                (false, false) => unsafe { self.steps::<I, false, false>(args, at, step) },
                // SAFETY: as above.
                (false, true) => unsafe { self.steps::<I, false, true>(args, at, step) },
            };
            if step == steps {
                break;
            }
            if args.spec().policy.out_of_bounds == OutOfBounds::Wrap {
                // SAFETY: the caller's promise, for the rows from this step on.
                unsafe { self.wrapped_steps::<I>(args, at, step) };
                break;
            }
            if args.spec().policy.out_of_bounds == OutOfBounds::Zero {
                // SAFETY: the caller's promise, for the rows from this step on.
                return unsafe { gather_positions::filling::<BYTES, I>(args, at, step * EIGHT, 1) };
            }
            // SAFETY: the caller's promise, for eight of the rows.
            if unsafe { self.one_by_one::<I>(args, at, step * EIGHT, EIGHT, core::ptr::null()) } {
                return true;
            }
            step += 1;
        }
        let done = steps * EIGHT;
        if done < n && args.spec().policy.out_of_bounds == OutOfBounds::Zero {
            // SAFETY: the caller's promise, for the rows from `done` on.
            return unsafe { gather_positions::filling::<BYTES, I>(args, at, done, 1) };
        }
        // SAFETY: the caller's promise, for the rows from `done` on.
        done < n && unsafe { self.one_by_one::<I>(args, at, done, n - done, core::ptr::null()) }
    }

    /// Moves rows from step `first` on, eight a step, up to the first step with an index that is out of range and must
    /// not be; returns that one, or the number of steps.
    ///
    /// # Safety
    /// As for [`gather`]; `PACKED` says whether the plan found the rows packed.
    #[inline]
    #[target_feature(enable = "avx2,fma,f16c")]
    unsafe fn steps<I: Index, const PACKED: bool, const PREFETCH: bool>(
        &self,
        args: &IndexArgs<'_>,
        at: Cursor,
        first: usize,
    ) -> usize {
        let index = at.index.wrapping_offset(self.component.index).cast::<I>();
        let next = if PREFETCH { next_slice_at(args, at, 0) } else { NextSlice::NONE };
        let (distance, steps) = (args.spec().prefetch_distance, args.inner().n / EIGHT);
        let mut offset = self.offset_at(first);
        for step in first..steps {
            if PREFETCH {
                next.fetch(step);
                let later = step * EIGHT + distance;
                prefetch(index.wrapping_add(later).cast(), 1);
                if BYTES <= 8 {
                    prefetch_to_write(at.out.wrapping_add(later * BYTES));
                }
            }
            // SAFETY: K3: eight of the `n` indices, which are contiguous.
            let resolved = unsafe { self.bounds.resolve_from(index.wrapping_add(step * EIGHT)) };
            if !Eight::any_negative(resolved) {
                // SAFETY: K1, K2 and K4 for eight rows, whose positions are in range. `PACKED` is the caller's promise,
                // and K9 that other offsets fit in 32 bits.
                unsafe { self.move_eight::<PACKED>(at, step, resolved, offset) };
            } else {
                return step;
            }
            offset = _mm256_add_epi32(offset, self.step);
        }
        steps
    }

    /// Bytes of data from the first row to each of the eight of a step.
    #[inline]
    #[target_feature(enable = "avx2,fma,f16c")]
    fn offset_at(&self, step: usize) -> __m256i {
        _mm256_add_epi32(self.offset, _mm256_mullo_epi32(_mm256_set1_epi32(step as i32), self.step))
    }

    /// Where the eight rows of a step lie, in elements where `PACKED` and else in bytes.
    #[inline]
    #[target_feature(enable = "avx2,fma,f16c")]
    fn offsets<const PACKED: bool>(&self, positions: __m256i, offset: __m256i) -> __m256i {
        if PACKED { positions } else { _mm256_add_epi32(_mm256_mullo_epi32(positions, self.stride), offset) }
    }

    /// Moves the eight rows of a step.
    ///
    /// # Safety
    /// K1, K2 and K4 for the rows, whose positions are in range; `PACKED` says whether the plan found the rows packed,
    /// and else offsets of data fit in 32 bits.
    #[inline]
    #[target_feature(enable = "avx2,fma,f16c")]
    unsafe fn move_eight<const PACKED: bool>(&self, at: Cursor, step: usize, positions: __m256i, offset: __m256i) {
        let to = at.out.wrapping_add(step * EIGHT * BYTES);
        if !matches!(BYTES, 4 | 8) {
            // SAFETY: the caller's promise: rows of other sizes are packed.
            return unsafe { move_one_by_one::<BYTES>(at.data, positions, to) };
        }
        let offsets = self.offsets::<PACKED>(positions, offset);
        // SAFETY: the caller's promise.
        let elements = unsafe { eight::<BYTES, PACKED>(at.data, offsets) };
        // SAFETY: the caller's promise.
        unsafe { store_eight::<BYTES>(to, elements) };
    }

    /// As [`steps`](Self::steps), to the end, with the fill in place of elements whose index is out of range. Their
    /// lanes load the element at position 0, which every axis has.
    ///
    /// # Safety
    /// As for [`gather`] under `OutOfBounds::Zero`, of elements of 4 or 8 bytes; `fill` has as many. `PACKED` says
    /// whether the plan found them packed.
    #[inline]
    #[target_feature(enable = "avx2,fma,f16c")]
    unsafe fn filled_steps<I: Index, const PACKED: bool>(
        &self,
        args: &IndexArgs<'_>,
        at: Cursor,
        first: usize,
        fill: __m256i,
    ) {
        let index = at.index.wrapping_offset(self.component.index).cast::<I>();
        let mut offset = self.offset_at(first);
        for step in first..args.inner().n / EIGHT {
            // SAFETY: K3: eight of the `n` indices, which are contiguous.
            let resolved = unsafe { self.bounds.resolve_from(index.wrapping_add(step * EIGHT)) };
            let positions = _mm256_max_epi32(resolved, _mm256_setzero_si256());
            let offsets = self.offsets::<PACKED>(positions, offset);
            // SAFETY: K2 and K5 for eight positions in range. `PACKED` is the caller's promise, and K9 that other
            // offsets fit in 32 bits.
            let [a, b] = unsafe { eight::<BYTES, PACKED>(at.data, offsets) };
            let blended = if BYTES == 4 {
                [_mm256_blendv_epi8(a, fill, Eight::signs(resolved)), b]
            } else {
                let halves = [_mm256_castsi256_si128(resolved), _mm256_extracti128_si256::<1>(resolved)];
                let [low, high] = halves.map(|half| Eight::signs(_mm256_cvtepi32_epi64(half)));
                [_mm256_blendv_epi8(a, fill, low), _mm256_blendv_epi8(b, fill, high)]
            };
            // SAFETY: K1 and K4 for eight elements.
            unsafe { store_eight::<BYTES>(at.out.wrapping_add(step * EIGHT * BYTES), blended) };
            offset = _mm256_add_epi32(offset, self.step);
        }
    }

    /// As [`steps`](Self::steps), to the end, with indices out of range wrapped.
    ///
    /// # Safety
    /// As for [`gather`] under `OutOfBounds::Wrap`.
    #[cold]
    #[inline(never)]
    #[target_feature(enable = "avx2,fma,f16c")]
    unsafe fn wrapped_steps<I: Index>(&self, args: &IndexArgs<'_>, at: Cursor, first: usize) {
        let index = at.index.wrapping_offset(self.component.index).cast::<I>();
        for step in first..args.inner().n / EIGHT {
            let index = index.wrapping_add(step * EIGHT);
            // SAFETY: K3: eight of the `n` indices, which are contiguous.
            let mut positions = unsafe { self.bounds.resolve_from(index) };
            if Eight::any_negative(positions) {
                // SAFETY: as above; the axis has elements.
                positions = unsafe { wrap(index, self.component.dim, positions) };
            }
            if args.spec().packed {
                // SAFETY: K1, K2 and K4 for eight rows, whose positions are in range; the plan found them packed.
                unsafe { self.move_eight::<true>(at, step, positions, self.offset) };
            } else {
                let offset = self.offset_at(step);
                // SAFETY: as above; K9: offsets in bytes fit in 32 bits.
                unsafe { self.move_eight::<false>(at, step, positions, offset) };
            }
        }
    }

    /// Resolves and moves the `n` rows from `first` on one by one. Those whose index is out of range get the row at
    /// `fill`. Where that is null, the first of them ends the loop; returns whether there was one.
    ///
    /// # Safety
    /// As for [`gather`], of which these are some rows; `fill` reaches a row, or is null.
    #[inline(never)]
    unsafe fn one_by_one<I: Index>(
        &self,
        args: &IndexArgs<'_>,
        at: Cursor,
        first: usize,
        n: usize,
        fill: *const u8,
    ) -> bool {
        let (policy, dim) = (args.spec().policy, self.component.dim);
        let mut at = at.skip(args.inner(), first);
        for _ in 0..n {
            let index = at.index.wrapping_offset(self.component.index).cast::<I>();
            // SAFETY: K3: the index of a row.
            let value = unsafe { index.read_unaligned() };
            let from = match policy.resolve(value, dim) {
                Some(position) => at.data.wrapping_offset(args.stride().wrapping_mul(position as isize)),
                None if fill.is_null() => return true,
                None => fill,
            };
            // SAFETY: K1, K2 and K4 for the row, whose index is in range; or the fill, which is as long.
            unsafe { copy_fixed::<BYTES>(from, at.out) };
            at = at.step(args.inner());
        }
        false
    }
}

/// Moves what is left of a plane of elements of 4 or 8 bytes, or fills it, as a
/// [`RestFn`](gather_positions::RestFn) does.
///
/// # Safety
/// As for [`RestFn`](gather_positions::RestFn), under `OutOfBounds::Zero`; K7 for AVX2.
#[inline(never)]
#[target_feature(enable = "avx2,fma,f16c")]
pub(super) unsafe fn filling<const BYTES: usize, I: Index>(
    args: &IndexArgs<'_>,
    mut at: Cursor,
    mut first: usize,
    left: usize,
) {
    let (inner, outer, n) = (Inner::<BYTES>::new(args), *args.outer(), args.inner().n);
    let mut fill = FillRow::new();
    let one = fill.row(args.spec()).as_ptr();
    let at_zero = _mm256_setzero_si256();
    // SAFETY: eight times the row, of which a vector holds four elements of 8 bytes and eight of 4.
    let [fill, _] = unsafe { eight::<BYTES, true>(one, at_zero) };
    for _ in 0..left {
        if args.spec().packed {
            // SAFETY: the caller's promise; the plan found the elements packed.
            unsafe { inner.filled_steps::<I, true>(args, at, first / EIGHT, fill) };
        } else {
            // SAFETY: the caller's promise.
            unsafe { inner.filled_steps::<I, false>(args, at, first / EIGHT, fill) };
        }
        let done = first.max(n / EIGHT * EIGHT);
        if done < n {
            // SAFETY: the caller's promise, for the rows from `done` on. No row ends the loop.
            unsafe { inner.one_by_one::<I>(args, at, done, n - done, one) };
        }
        (at, first) = (at.step(&outer), 0);
    }
}

/// Positions of the eight indices at `index`: those that are not negative are in `resolved`, the others are wrapped.
///
/// # Safety
/// K3 for the indices, on an axis of `dim > 0` elements.
#[cold]
#[inline(never)]
#[target_feature(enable = "avx2,fma,f16c")]
unsafe fn wrap<I: Index>(index: *const I, dim: i64, resolved: __m256i) -> __m256i {
    let (mut positions, mut bad) = ([0i32; EIGHT], Eight::negative_bits(resolved));
    // SAFETY: room for eight.
    unsafe { _mm256_storeu_si256(positions.as_mut_ptr().cast(), resolved) };
    while bad != 0 {
        let lane = bad.trailing_zeros() as usize;
        // SAFETY: K3 for one of the eight, at any alignment.
        let value = unsafe { index.wrapping_add(lane).read_unaligned() };
        positions[lane] = value.wrap(dim) as i32;
        bad &= bad - 1;
    }
    // SAFETY: eight positions.
    unsafe { _mm256_loadu_si256(positions.as_ptr().cast()) }
}

/// Moves eight packed rows one after the other.
///
/// # Safety
/// K1, K2 and K4 for the rows, whose positions are in range.
#[inline]
#[target_feature(enable = "avx2,fma,f16c")]
unsafe fn move_one_by_one<const BYTES: usize>(data: *const u8, positions: __m256i, out: *mut u8) {
    let (low, high) = (_mm256_castsi256_si128(positions), _mm256_extracti128_si256::<1>(positions));
    let pairs =
        [_mm_cvtsi128_si64(low), _mm_extract_epi64::<1>(low), _mm_cvtsi128_si64(high), _mm_extract_epi64::<1>(high)];
    for i in 0..EIGHT {
        let position = (pairs[i / 2] >> (i % 2 * 32)) as u32;
        let from = data.wrapping_add(position as usize * BYTES);
        // SAFETY: K1, K2 and K4 for the row, whose position is in range.
        unsafe { copy_fixed::<BYTES>(from, out.wrapping_add(i * BYTES)) };
    }
}

/// [`MoveJobFn`](crate::kernels::moves::MoveJobFn) with AVX2: packed elements of 4 and 8 bytes are gathered.
#[inline]
#[target_feature(enable = "avx2,fma,f16c")]
pub(crate) fn move_fixed<const BYTES: usize>(job: &MoveJob) {
    if !matches!(BYTES, 4 | 8) || !job.packed() {
        return moves::move_fixed::<BYTES>(job);
    }
    let steps = job.n() / EIGHT;
    for step in 0..steps {
        job.next().fetch(step);
        // SAFETY: eight of the `n` positions.
        let positions = unsafe { _mm256_loadu_si256(job.positions().wrapping_add(step * EIGHT).cast()) };
        let to = job.out().wrapping_add(step * EIGHT * BYTES);
        // SAFETY: K1 and K2: eight rows, whose positions are in range.
        let elements = unsafe { eight::<BYTES, true>(job.data(), positions) };
        // SAFETY: as above.
        unsafe { store_eight::<BYTES>(to, elements) };
    }
    moves::move_fixed::<BYTES>(&job.from(steps * EIGHT).without_next())
}
