//! Resolving and moving rows of 4, 8 and 12 bytes in one loop with AVX2, eight at a time.
//!
//! A kernel of blocks waits for indices while it resolves, for data while it moves, and never for both at once. Here
//! eight indices are resolved in a register, and their offsets are taken out of it: the processor overlaps the next
//! indices with the last elements. An index out of range ends the loop. Under `Missing::Fill` what follows is
//! filled in vectors too, or for rows of 12 bytes moved or filled one by one (`bodies/one_pass.rs`).
//!
//! What comes before the first such index, or a negative one, is moved by `gather_positions.rs`.
//!
//! One call runs a whole plane, so that loads do not run out at the end of each inner loop.
//!
//! Elements of 4 and 8 bytes are loaded one by one, put together in registers (`loads.rs`) and stored at once. Rows of
//! 12 bytes (three `f32`) are moved one by one. The loop must not write to the stack, which would slow it down.
//!
//! Rows that are resolved already (tuples, and one block of indices for many slices) are gathered in the same way.

use core::arch::x86_64::*;

use crate::kernels::nest::args::{Component, Cursor, IndexArgs};

use crate::kernels::index_rule::IndexRule;
use crate::kernels::level_fn::Avx2;
use crate::kernels::moves::contiguous::{DataRow, Numbers, Places};
use crate::kernels::moves::fill::FillRow;
use crate::kernels::moves::gather_positions;
use crate::kernels::moves::loads::{copy_four, eight, store_eight};
use crate::kernels::moves::{self, loads};
use crate::kernels::nest::plane::{Strip, Strips};
use crate::kernels::nest::rows::MoveJob;
use crate::kernels::prefetch::{LINE, NextSlice, prefetch, prefetch_to_write};
use crate::kernels::resolve::vectors::VectorBounds;
use crate::kernels::words::{Eight, Words, is_wide};
use crate::types::index::Index;

/// Rows of a step.
const EIGHT: usize = 8;

/// Gathers what is left of a plane, whatever its indices are: a [`RestFn`](gather_positions::RestFn).
#[target_feature(enable = "avx2,fma,f16c")]
pub(super) fn rest<const BYTES: usize, I: Index>(strips: Strips<'_>, mut first: usize) -> bool {
    let Some(strip) = strips.peek() else { return false };
    let inner = Inner::<BYTES>::new(strip.args());
    for strip in strips {
        fetch_later::<BYTES, I>(&strip);
        if inner.run::<I>(&strip, first) {
            return true;
        }
        first = 0;
    }
    false
}

/// Prefetches indices and output of a later coordinate of the outer loop than that of a strip, if the plan does.
#[inline(always)]
fn fetch_later<const BYTES: usize, I: Index>(strip: &Strip<'_>) {
    let (args, spec) = (strip.args(), strip.spec());
    if spec.outer_prefetch_distance != 0 {
        let later = strip.at().skip(args.outer(), spec.outer_prefetch_distance);
        prefetch(later.index.wrapping_offset(spec.components[0].index), strip.n() * size_of::<I>());
        for line in (0..strip.n() * BYTES).step_by(LINE) {
            prefetch_to_write(later.out.wrapping_add(line));
        }
    }
}

/// The arguments that the inner loops of a plane share.
#[derive(Clone, Copy)]
struct Inner<'a, const BYTES: usize> {
    component: &'a Component,
    bounds: VectorBounds<Eight>,
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
            bounds: VectorBounds::of(Avx2::here(), component.dim as i32, args.spec().policy),
            stride: _mm256_set1_epi32(args.stride() as i32),
            offset: _mm256_mullo_epi32(_mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7), _mm256_set1_epi32(data_step)),
            step: _mm256_set1_epi32(data_step.wrapping_mul(EIGHT as i32)),
        }
    }

    /// Runs the inner loop at a cursor from row `first` on, a multiple of eight; returns whether an index was out of
    /// range, if that is an error. It then stops there.
    #[inline]
    #[target_feature(enable = "avx2,fma,f16c")]
    fn run<I: Index>(&self, strip: &Strip<'_>, first: usize) -> bool {
        let (args, n) = (strip.args(), strip.n());
        let prefetches = args.spec().prefetch_distance != 0 || args.spec().next_slice_bytes != 0;
        let (steps, mut step, none) = (n / EIGHT, first / EIGHT, _mm256_setzero_si256());
        while step < steps {
            step = match (args.spec().packed, prefetches) {
                (true, false) => self.steps::<I, true, false, false>(strip, step, none),
                (true, true) => self.steps::<I, true, true, false>(strip, step, none),
                (false, false) => self.steps::<I, false, false, false>(strip, step, none),
                (false, true) => self.steps::<I, false, true, false>(strip, step, none),
            };
            if step == steps {
                break;
            }
            if args.spec().policy.fills() {
                return gather_positions::filling::<BYTES, I>(strip.alone(), step * EIGHT);
            }
            if self.one_by_one::<I>(strip, step * EIGHT, EIGHT, None) {
                return true;
            }
            step += 1;
        }
        let done = steps * EIGHT;
        if done < n && args.spec().policy.fills() {
            return gather_positions::filling::<BYTES, I>(strip.alone(), done);
        }
        done < n && self.one_by_one::<I>(strip, done, n - done, None)
    }

    /// The positions of eight indices, from number `at` on; -1 stands for one that is out of range.
    #[inline]
    #[target_feature(enable = "avx2,fma,f16c")]
    fn resolved<I: Index>(&self, indices: Numbers<'_, I>, at: usize) -> __m256i {
        let positions = self.bounds.resolve(indices.load_words(self.step, at));
        if is_wide::<I>() { Eight::wide_in_order(positions) } else { positions }
    }

    /// Moves rows from step `first` on, eight a step, up to the first step with an index that is out of range and must
    /// not be; returns that one, or the number of steps. `PACKED` says whether the plan found the rows packed. Where it
    /// `FILLS`, elements whose index is out of range get the fill.
    #[inline]
    #[target_feature(enable = "avx2,fma,f16c")]
    fn steps<I: Index, const PACKED: bool, const PREFETCH: bool, const FILLS: bool>(
        &self,
        strip: &Strip<'_>,
        first: usize,
        fill: __m256i,
    ) -> usize {
        let (args, at) = (strip.args(), strip.at());
        let (indices, places) = (Numbers::<I>::indices(strip), Places::<BYTES>::along(strip));
        let next = if PREFETCH { strip.next_slice(0) } else { NextSlice::NONE };
        let (distance, steps) = (args.spec().prefetch_distance, args.inner().n / EIGHT);
        // Bytes of data from the first row to each of the eight of a step.
        let first_step = _mm256_mullo_epi32(_mm256_set1_epi32(first as i32), self.step);
        let mut offset = _mm256_add_epi32(self.offset, first_step);
        for step in first..steps {
            if PREFETCH {
                next.fetch(step);
                let later = step * EIGHT + distance;
                prefetch(indices.later(later), 1);
                if BYTES <= 8 {
                    prefetch_to_write(places.later(later));
                }
            }
            let resolved = self.resolved(indices, step * EIGHT);
            let Some(positions) = InRange::of::<FILLS>(resolved) else { return step };
            let [low, high] = self.rows::<PACKED>(at, positions, offset);
            if matches!(BYTES, 4 | 8) {
                let elements = eight([low, high]);
                let elements = if FILLS { or_fill::<BYTES>(elements, resolved, fill) } else { elements };
                store_eight(places, step * EIGHT, elements);
            } else {
                copy_four(low, places, step * EIGHT);
                copy_four(high, places, step * EIGHT + EIGHT / 2);
            }
            offset = _mm256_add_epi32(offset, self.step);
        }
        steps
    }

    /// The eight rows of a step of the inner loop at a cursor. Those that are not packed have 4 or 8 bytes.
    #[inline]
    #[target_feature(enable = "avx2,fma,f16c")]
    fn rows<const PACKED: bool>(&self, at: Cursor, positions: InRange, offset: __m256i) -> [[DataRow<BYTES>; 4]; 2] {
        let InRange(positions) = positions;
        let offsets =
            if PACKED { positions } else { _mm256_add_epi32(_mm256_mullo_epi32(positions, self.stride), offset) };
        // SAFETY: K2 and K4, for positions in range. The offsets of packed rows are positions, and K9 says of others
        // that they fit in 32 bits.
        unsafe { loads::rows::<BYTES, PACKED>(at.data, offsets) }
    }

    /// Resolves and moves the `n` rows from `first` on one by one. Those whose index is out of range get the fill.
    /// Where there is none, the first of them ends the loop; returns whether there was one.
    #[inline(never)]
    fn one_by_one<I: Index>(&self, strip: &Strip<'_>, first: usize, n: usize, fill: Option<DataRow<BYTES>>) -> bool {
        let (args, at) = (strip.args(), strip.at());
        let (indices, places) = (Numbers::<I>::indices(strip), Places::<BYTES>::along(strip));
        let rule = IndexRule::new(args.spec().policy, self.component.dim);
        let mut data = at.skip(args.inner(), first).data;
        for row in first..first + n {
            let from = match rule.check(indices.get(row)) {
                (position, true) => {
                    // SAFETY: K2 and K4: the position is in range.
                    unsafe { DataRow::new(data.wrapping_offset(args.stride().wrapping_mul(position as isize))) }
                }
                (_, false) => match fill {
                    Some(fill) => fill,
                    None => return true,
                },
            };
            places.copy(row, from);
            data = data.wrapping_offset(args.inner().data);
        }
        false
    }
}

/// Eight positions that lie in the range of the axis.
#[derive(Clone, Copy)]
struct InRange(__m256i);

impl InRange {
    /// Positions that were resolved, unless an index was out of range; where it `FILLS`, 0 stands for such an index:
    /// every axis has a position 0 (K5).
    #[inline]
    #[target_feature(enable = "avx2,fma,f16c")]
    fn of<const FILLS: bool>(resolved: __m256i) -> Option<Self> {
        match FILLS {
            true => Some(InRange(_mm256_max_epi32(resolved, _mm256_setzero_si256()))),
            false if Eight::any_negative(resolved) => None,
            false => Some(InRange(resolved)),
        }
    }
}

/// Elements of 4 or 8 bytes, with the fill in place of those whose position is negative.
#[inline]
#[target_feature(enable = "avx2,fma,f16c")]
fn or_fill<const BYTES: usize>([a, b]: [__m256i; 2], positions: __m256i, fill: __m256i) -> [__m256i; 2] {
    if BYTES == 4 {
        return [_mm256_blendv_epi8(a, fill, Eight::signs(positions)), b];
    }
    let halves = [_mm256_castsi256_si128(positions), _mm256_extracti128_si256::<1>(positions)];
    let [low, high] = halves.map(|half| Eight::signs(_mm256_cvtepi32_epi64(half)));
    [_mm256_blendv_epi8(a, fill, low), _mm256_blendv_epi8(b, fill, high)]
}

/// Moves what is left of a plane of elements of 4 or 8 bytes, or fills it, as a
/// [`RestFn`](gather_positions::RestFn) does under `Missing::Fill`.
#[inline(never)]
#[target_feature(enable = "avx2,fma,f16c")]
pub(super) fn filling<const BYTES: usize, I: Index>(strips: Strips<'_>, mut first: usize) {
    let Some(strip) = strips.peek() else { return };
    let (inner, spec, mut fill) = (Inner::<BYTES>::new(strip.args()), strip.spec(), FillRow::new());
    // SAFETY: the fill has the bytes of a row, and lies apart from the output.
    let one = unsafe { DataRow::new(fill.row(spec).as_ptr()) };
    // Of elements of 8 bytes a vector holds four.
    let [fill, _] = eight::<BYTES>([[one; 4]; 2]);
    for strip in strips {
        if spec.packed {
            inner.steps::<I, true, false, true>(&strip, first / EIGHT, fill);
        } else {
            inner.steps::<I, false, false, true>(&strip, first / EIGHT, fill);
        }
        let done = first.max(strip.n() / EIGHT * EIGHT);
        if done < strip.n() {
            // No row ends the loop.
            inner.one_by_one::<I>(&strip, done, strip.n() - done, Some(one));
        }
        first = 0;
    }
}

/// [`MoveJobFn`](crate::kernels::moves::MoveJobFn) with AVX2: packed elements of 4 and 8 bytes are gathered.
#[inline(never)]
#[target_feature(enable = "avx2,fma,f16c")]
pub(crate) fn move_fixed<const BYTES: usize>(job: &MoveJob<'_>) {
    let (data, packed, n, next) = (job.data, job.packed, job.n, job.next);
    if !matches!(BYTES, 4 | 8) || !packed {
        return moves::move_fixed::<BYTES>(job);
    }
    let (positions, places, steps) = (Numbers::positions(job), Places::<BYTES>::of(job), n / EIGHT);
    for step in 0..steps {
        next.fetch(step);
        let offsets = positions.load(Avx2::here(), step * EIGHT);
        // SAFETY: K2: the positions of a job are in range, and elements are packed.
        store_eight(places, step * EIGHT, eight::<BYTES>(unsafe { loads::rows::<BYTES, true>(data, offsets) }));
    }
    moves::move_fixed::<BYTES>(&job.from(steps * EIGHT).without_next())
}
