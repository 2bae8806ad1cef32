//! Resolving and moving rows of 4, 8 and 12 bytes in one loop with AVX2, eight at a time.
//!
//! A kernel of blocks waits for indices while it resolves and for data while it moves, never for both at once. Here
//! eight indices are resolved in a register, and their offsets are extracted from it. So loads of the next indices
//! overlap with loads of the previous elements.
//!
//! An index out of range ends the loop. Under `Missing::Fill` the remaining elements are filled in vectors too;
//! remaining rows of 12 bytes are moved or filled one by one (`remainder.rs`). Rows before the first negative or
//! out-of-range index are moved by `gather_positions.rs`. One call runs a whole plane, so that loads also overlap
//! across the ends of inner loops.
//!
//! Elements of 4 and 8 bytes are loaded one by one, combined in registers (`loads.rs`) and stored at once. Rows of 12
//! bytes (three `f32`) are moved one by one. The loop must not write to the stack, which would slow it down. Resolved
//! rows (tuples, and one block of indices for many slices) are gathered in the same way.

use core::marker::PhantomData;

use crate::kernels::index_rule::IndexRule;
use crate::kernels::level_fn::{Avx2, LevelFn, Token};
use crate::kernels::moves::contiguous::{DataRow, Numbers, Places};
use crate::kernels::moves::fill::FillRow;
use crate::kernels::moves::gather_positions::Filling;
use crate::kernels::moves::loads::{copy_four, eight, store_eight};
use crate::kernels::moves::{self, loads};
use crate::kernels::nest::args::{Component, Cursor, IndexArgs};
use crate::kernels::nest::plane::{Strip, Strips};
use crate::kernels::nest::rows::MoveJob;
use crate::kernels::prefetch::{LINE, NextSlice, prefetch, prefetch_to_write};
use crate::kernels::resolve::vectors::VectorBounds;
use crate::kernels::vector::Vector;
use crate::kernels::words::{Eight, Words, is_wide};
use crate::types::index::Index;

const EIGHT: usize = 8;

/// Gathers the remainder of a plane by any indices: a [`RestFn`](super::gather_positions::RestFn).
pub(super) struct Rest<const BYTES: usize, I>(PhantomData<I>);

impl<const BYTES: usize, I: Index> LevelFn for Rest<BYTES, I> {
    type Args<'a> = (Strips<'a>, usize);
    type Output = bool;

    #[inline(always)]
    fn call<Here: Token>(here: Here, (strips, mut first): Self::Args<'_>) -> bool {
        let Some(level) = here.avx2() else { unreachable!("the function of AVX2") };
        let Some(strip) = strips.peek() else { return false };
        let inner = Inner::<BYTES>::new(level, strip.args());
        for strip in strips {
            fetch_later::<BYTES, I>(&strip);
            if inner.run::<I>(&strip, first) {
                return true;
            }
            first = 0;
        }
        false
    }
}

/// Prefetches indices and output `outer_prefetch_distance` outer coordinates after a strip, if the plan does.
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
    level: Avx2,
    component: &'a Component,
    bounds: VectorBounds<Eight>,
    stride: Eight,
    /// Bytes of data from the first row to each of the first eight rows.
    offset: Eight,
    /// Bytes of data from each row to the row eight further.
    step: Eight,
}

impl<'a, const BYTES: usize> Inner<'a, BYTES> {
    #[inline(always)]
    fn new(level: Avx2, args: &IndexArgs<'a>) -> Self {
        let (component, data_step) = (&args.spec().components[0], args.inner().data as i32);
        Inner {
            level,
            component,
            bounds: VectorBounds::of(level, component.dim as i32, args.spec().policy),
            stride: Eight::splat(level, args.stride() as i32),
            offset: Eight::times(Eight::of(level, &[0i32, 1, 2, 3, 4, 5, 6, 7]), Eight::splat(level, data_step)),
            step: Eight::splat(level, data_step.wrapping_mul(EIGHT as i32)),
        }
    }

    /// Runs the inner loop of a strip from row `first` on, a multiple of eight. If an index out of range is an error,
    /// stops at the first such index; returns whether there was one.
    #[inline(always)]
    fn run<I: Index>(&self, strip: &Strip<'_>, first: usize) -> bool {
        let (args, n) = (strip.args(), strip.n());
        let prefetches = args.spec().prefetch_distance != 0 || args.spec().next_slice_bytes != 0;
        let (steps, mut step, none) = (n / EIGHT, first / EIGHT, self.level.zero());
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
                return self.level.run::<Filling<BYTES, I>>((strip.alone(), step * EIGHT));
            }
            if self.one_by_one::<I>(strip, step * EIGHT, EIGHT, None) {
                return true;
            }
            step += 1;
        }
        let done = steps * EIGHT;
        if done < n && args.spec().policy.fills() {
            return self.level.run::<Filling<BYTES, I>>((strip.alone(), done));
        }
        done < n && self.one_by_one::<I>(strip, done, n - done, None)
    }

    /// The positions of eight indices, starting at index `at`; -1 for an index out of range.
    #[inline(always)]
    fn resolved<I: Index>(&self, indices: Numbers<'_, I>, at: usize) -> Eight {
        let positions = self.bounds.resolve(indices.load_words(self.step, at));
        if is_wide::<I>() { Eight::wide_in_order(positions) } else { positions }
    }

    /// Moves rows from step `first` on, eight per step. Returns the first step with an index out of range, or the
    /// number of steps. `PACKED` says whether the plan found the rows packed. If `FILLS`, elements whose index is out
    /// of range get the fill, and no index ends the loop.
    #[inline(always)]
    fn steps<I: Index, const PACKED: bool, const PREFETCH: bool, const FILLS: bool>(
        &self,
        strip: &Strip<'_>,
        first: usize,
        fill: Eight,
    ) -> usize {
        let (args, at) = (strip.args(), strip.at());
        let (indices, places) = (Numbers::<I>::indices(strip), Places::<BYTES>::along(strip));
        let next = if PREFETCH { strip.next_slice(0) } else { NextSlice::NONE };
        let (distance, steps) = (args.spec().prefetch_distance, args.inner().n / EIGHT);
        // Bytes of data from the first row to each row of the step.
        let first_step = Eight::times(Eight::splat(self.level, first as i32), self.step);
        let mut offset = Eight::plus(self.offset, first_step);
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
            let Some(positions) = InRange::of::<FILLS>(self.level, resolved) else { return step };
            let [low, high] = self.rows::<PACKED>(at, positions, offset);
            if matches!(BYTES, 4 | 8) {
                let elements = eight(self.level, [low, high]);
                let elements = if FILLS { or_fill::<BYTES>(self.level, elements, resolved, fill) } else { elements };
                store_eight(places, step * EIGHT, elements);
            } else {
                copy_four(low, places, step * EIGHT);
                copy_four(high, places, step * EIGHT + EIGHT / 2);
            }
            offset = Eight::plus(offset, self.step);
        }
        steps
    }

    /// The eight rows of a step. Rows that are not packed have 4 or 8 bytes.
    #[inline(always)]
    fn rows<const PACKED: bool>(&self, at: Cursor, positions: InRange, offset: Eight) -> [[DataRow<BYTES>; 4]; 2] {
        let InRange(positions) = positions;
        let offsets = if PACKED { positions } else { Eight::plus(Eight::times(positions, self.stride), offset) };
        // SAFETY: K2 and K4: `InRange` has positions in range. K9: offsets that are not positions fit in 32 bits.
        unsafe { loads::rows::<BYTES, PACKED>(self.level, at.data, offsets) }
    }

    /// Resolves and moves rows `first..first + n` one by one. A row whose index is out of range gets the fill; without
    /// a fill, it ends the loop. Returns whether an index ended the loop.
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

/// Eight positions within the axis.
#[derive(Clone, Copy)]
struct InRange(Eight);

impl InRange {
    /// The resolved positions; `None` if one is out of range. If `FILLS`, 0 replaces positions out of range: every axis
    /// has a position 0 (K5).
    #[inline(always)]
    fn of<const FILLS: bool>(level: Avx2, resolved: Eight) -> Option<Self> {
        match FILLS {
            true => Some(InRange(level.at_least_zero32(resolved))),
            false if Eight::any_negative(resolved) => None,
            false => Some(InRange(resolved)),
        }
    }
}

/// Elements of 4 or 8 bytes, with the fill in lanes whose position is negative.
#[inline(always)]
fn or_fill<const BYTES: usize>(level: Avx2, [a, b]: [Eight; 2], positions: Eight, fill: Eight) -> [Eight; 2] {
    if BYTES == 4 {
        return [Eight::select(Eight::signs(positions), fill, a), b];
    }
    let [low, high] = level.halves(positions).map(|half| Eight::signs(level.widened(half)));
    [Eight::select(low, fill, a), Eight::select(high, fill, b)]
}

/// Moves or fills the remainder of a plane of elements of 4 or 8 bytes: a [`RestFn`](super::gather_positions::RestFn)
/// under `Missing::Fill`.
pub(super) struct FillingElements<const BYTES: usize, I>(PhantomData<I>);

impl<const BYTES: usize, I: Index> LevelFn for FillingElements<BYTES, I> {
    type Args<'a> = (Strips<'a>, usize);
    type Output = ();

    #[inline(always)]
    fn call<Here: Token>(here: Here, (strips, mut first): Self::Args<'_>) {
        let Some(level) = here.avx2() else { unreachable!("the function of AVX2") };
        let Some(strip) = strips.peek() else { return };
        let (inner, spec, mut fill) = (Inner::<BYTES>::new(level, strip.args()), strip.spec(), FillRow::new());
        // SAFETY: the fill row is a local of at least `row == BYTES` bytes, apart from the output.
        let one = unsafe { DataRow::new(fill.row(spec).as_ptr()) };
        // One vector has the fill in all lanes, for elements of 4 and of 8 bytes.
        let [fill, _] = eight::<BYTES>(level, [[one; 4]; 2]);
        for strip in strips {
            if spec.packed {
                inner.steps::<I, true, false, true>(&strip, first / EIGHT, fill);
            } else {
                inner.steps::<I, false, false, true>(&strip, first / EIGHT, fill);
            }
            let done = first.max(strip.n() / EIGHT * EIGHT);
            if done < strip.n() {
                // With a fill, no index ends the loop.
                inner.one_by_one::<I>(&strip, done, strip.n() - done, Some(one));
            }
            first = 0;
        }
    }
}

/// [`MoveJobFn`](crate::kernels::moves::MoveJobFn) with AVX2: gathers packed elements of 4 and 8 bytes.
pub(crate) struct MoveFixed<const BYTES: usize>;

impl<const BYTES: usize> LevelFn for MoveFixed<BYTES> {
    type Args<'a> = &'a MoveJob<'a>;
    type Output = ();

    #[inline(always)]
    fn call<Here: Token>(here: Here, job: &MoveJob<'_>) {
        let (data, packed, n, next) = (job.data, job.packed, job.n, job.next);
        let Some(level) = here.avx2().filter(|_| matches!(BYTES, 4 | 8) && packed) else {
            return moves::move_fixed::<BYTES>(job);
        };
        let (positions, places, steps) = (Numbers::positions(job), Places::<BYTES>::of(job), n / EIGHT);
        for step in 0..steps {
            next.fetch(step);
            let offsets = positions.load(level, step * EIGHT);
            // SAFETY: K2 and K4: the positions of a job are in range, and elements are packed.
            let rows = unsafe { loads::rows::<BYTES, true>(level, data, offsets) };
            store_eight(places, step * EIGHT, eight::<BYTES>(level, rows));
        }
        moves::move_fixed::<BYTES>(&job.skip(steps * EIGHT).without_next())
    }
}
