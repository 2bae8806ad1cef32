//! Resolving indices lane by lane: what every level falls back to, in a form that compilers vectorise.
//!
//! ```text
//! for each lane of the block:
//!     x = index[lane], widened
//!     x += dim if x < 0 and negative indices count from the end
//!     out[lane] = x if 0 <= x < dim else -1        (one unsigned compare)
//!     bad |= out[lane] < 0
//! ```
//!
//! The block's result stays in the first-level cache, the loop has no branch (compilers vectorise it for every index
//! type), and the culprit is looked for only when the verdict is bad. A checked loop that resolves and moves one
//! element at a time takes 18.7 ns per element on a 64 MB table, the blocked one 10 (2-core Zen 3 class machine, see
//! ARCHITECTURE.md).

use crate::index::Index;
use crate::kernels::args::{Component, Cursor, IndexArgs};
use crate::kernels::block::Units;
use crate::kernels::unit::{Lanes, copy_fixed};
use crate::ops::{IndexRules, NegativeIndex, OutOfBounds};

/// Indices resolved and moved by in turn, where nobody needs their units again. In longer turns the processor does not see the
/// loads of the next lanes while it resolves, nor their indices while it moves. A million rows of 12 bytes, i64 indices,
/// milliseconds (2026-11-21, 2-core EPYC of the Zen 4 class):
///
/// ```text
/// data                 192 KiB  768 KiB  3 MiB  12 MiB  24 MiB
/// blocks of 512           2.00     1.98   2.35    6.8      8.8
/// turns of 64             1.72     1.58   1.75    6.6      8.8
/// moves alone             1.45     1.33   1.62    5.4      7.4
/// ```
///
/// Elements of 1 and 2 bytes take 0.55 ns each in place of 0.50 from 16 KiB, 0.70 in place of 0.80 from 256; of 16 bytes, from 2 MiB,
/// 1.4 in place of 2.0.
pub(crate) const TURN: usize = 64;

/// What is to be resolved: `n` indices of one component, `stride` bytes apart, into `out`.
#[derive(Clone, Copy)]
pub struct Resolve {
    pub(crate) index: *const u8,
    pub(crate) stride: isize,
    pub(crate) n: usize,
    pub(crate) dim: i32,
    pub(crate) negative: NegativeIndex,
    pub(crate) out_of_bounds: OutOfBounds,
    pub(crate) out: *mut i32,
    /// Whether anybody needs the units. If not, those of one step may be written over those of the last.
    pub(crate) keep: bool,
}

/// Whether to go on after some lanes have been resolved.
pub(crate) type GoOn = bool;

/// Tuples to be resolved and added up in units: `n <= BLOCK` of them, one after the other, their components too. Every scale
/// is positive: of an axis without a stride, a component out of range would scale to 0.
#[derive(Clone, Copy)]
pub struct Tuples<'a> {
    pub(crate) index: *const u8,
    pub(crate) n: usize,
    pub(crate) components: &'a [Component],
    pub(crate) negative: NegativeIndex,
    pub(crate) out_of_bounds: OutOfBounds,
    pub(crate) out: *mut i32,
}

impl Tuples<'_> {
    /// Resolves the tuple of one lane; returns whether a component was out of range (the lane then holds -1).
    ///
    /// # Safety
    /// `lane < n`, whose components may be read as `I`; `out` has room for `n`.
    #[inline(always)]
    pub(crate) unsafe fn resolve_one<I: Index>(&self, lane: usize) -> bool {
        let rules = IndexRules { negative: self.negative, out_of_bounds: self.out_of_bounds };
        let first = self.index.cast::<I>().wrapping_add(lane * self.components.len());
        let unit = self.components.iter().enumerate().try_fold(0i32, |sum, (k, component)| {
            // SAFETY: the caller's promise.
            let value = unsafe { first.wrapping_add(k).read_unaligned() };
            let position = rules.resolve(value, component.dim)?;
            Some(sum.wrapping_add((position as i32).wrapping_mul(component.scale as i32)))
        });
        // SAFETY: the caller's promise.
        unsafe { self.out.wrapping_add(lane).write(unit.unwrap_or(-1)) };
        unit.is_none()
    }
}

impl Resolve {
    #[inline(always)]
    pub(crate) fn new(
        units: &mut Units,
        args: &IndexArgs<'_>,
        component: &Component,
        index: *const u8,
        stride: isize,
        n: usize,
    ) -> Self {
        Resolve {
            index: index.wrapping_offset(component.index),
            stride,
            n,
            dim: component.dim as i32,
            negative: args.negative,
            out_of_bounds: args.out_of_bounds,
            out: units.as_mut_ptr(),
            keep: true,
        }
    }

    /// The same lanes of the outer coordinate at a cursor.
    #[inline(always)]
    pub(crate) fn at(&self, at: Cursor) -> Resolve {
        Resolve { index: at.index, ..*self }
    }

    /// The same, of which nobody needs the units.
    #[inline(always)]
    pub(crate) fn unkept(&self) -> Resolve {
        Resolve { keep: false, ..*self }
    }

    /// Where the units of the lanes from `first` on are written.
    #[inline(always)]
    pub(crate) fn room(&self, first: usize) -> *mut i32 {
        if self.keep { self.out.wrapping_add(first) } else { self.out }
    }

    /// The `n` indices from `first` on, to be resolved into the same room.
    #[inline(always)]
    pub(crate) fn turn(&self, first: usize, n: usize) -> Resolve {
        Resolve { index: self.index.wrapping_offset(self.stride.wrapping_mul(first as isize)), n, ..*self }
    }

    /// What is left after the first `done <= n` indices.
    #[inline(always)]
    pub(crate) fn rest(&self, done: usize) -> Resolve {
        Resolve {
            index: self.index.wrapping_offset(self.stride.wrapping_mul(done as isize)),
            n: self.n - done,
            out: self.room(done),
            ..*self
        }
    }
}

/// Resolves a block; returns whether an index was out of range (its lane then holds -1).
///
/// # Safety
/// `index` reaches `n` values of `I` at the stride (K3); `out` has room for `n`.
#[inline(always)]
pub(crate) unsafe fn resolve<I: Index>(job: &Resolve) -> bool {
    let dim = i64::from(job.dim);
    match job.out_of_bounds {
        OutOfBounds::Error | OutOfBounds::Zero => {
            let from_end = match job.negative {
                NegativeIndex::FromEnd => dim,
                NegativeIndex::Reject => 0,
            };
            let check = move |value: I| {
                let x = value.widen();
                // Negative values: `x + dim` cannot overflow. Others: plus 0.
                let x = x + (from_end & (x >> 63));
                if (x as u64) < dim as u64 { x as i32 } else { -1 }
            };
            // SAFETY: the caller's promise.
            unsafe { each::<I>(job, check) }
        }
        OutOfBounds::Clamp => {
            let from_end = match job.negative {
                NegativeIndex::FromEnd => dim,
                NegativeIndex::Reject => 0,
            };
            let clamp = move |value: I| {
                let x = value.widen();
                let x = x + (from_end & (x >> 63));
                x.max(0).min(dim - 1) as i32
            };
            // SAFETY: the caller's promise.
            unsafe { each::<I>(job, clamp) }
        }
        OutOfBounds::Wrap => {
            let wrap = move |value: I| {
                let x = value.widen();
                // In range already: no division.
                if (x as u64) < dim as u64 { x as i32 } else { value.wrap(dim) as i32 }
            };
            // SAFETY: the caller's promise.
            unsafe { each::<I>(job, wrap) }
        }
    }
}

/// Resolves indices turn by turn, see [`Tier::resolve_in_turns`](crate::kernels::arch::Tier::resolve_in_turns).
#[inline(always)]
pub(crate) fn in_turns(job: &Resolve, resolve: impl Fn(&Resolve) -> bool, each: &mut dyn FnMut(usize, bool) -> GoOn) {
    let mut done = 0;
    while done < job.n {
        let n = (job.n - done).min(TURN);
        let out_of_range = resolve(&job.turn(done, n));
        done += n;
        if !each(n, out_of_range) {
            return;
        }
    }
}

/// Resolves and moves a few lanes, one after the other. Those out of range get unit -1 and `fill`.
///
/// # Safety
/// As for [`Tier::fused`](crate::kernels::arch::Tier::fused).
#[inline(always)]
pub(crate) unsafe fn resolve_and_move<I: Index, const BYTES: usize>(
    job: &Resolve,
    lanes: &Lanes,
    fill: &[u8; BYTES],
) -> bool {
    let rules = IndexRules { negative: job.negative, out_of_bounds: job.out_of_bounds };
    let mut out_of_range = false;
    for lane in 0..job.n {
        let index = job.index.wrapping_offset(job.stride.wrapping_mul(lane as isize)).cast::<I>();
        // SAFETY: K3: the index of a lane.
        let value = unsafe { index.read_unaligned() };
        let unit = rules.resolve(value, i64::from(job.dim)).map_or(-1, |position| position as i32);
        // SAFETY: `out` has room for `n`, or for a vector of units that nobody needs.
        unsafe { job.room(lane).write(unit) };
        let from = if unit < 0 {
            out_of_range = true;
            fill.as_ptr()
        } else {
            lanes.source_of(lane, unit)
        };
        // SAFETY: K1, K2 and K4 for the lane, whose index is in range; or the fill, which is as long.
        unsafe { copy_fixed::<BYTES>(from, lanes.target(lane)) };
    }
    out_of_range
}

/// Maps every index of a block; returns whether a result was negative.
///
/// # Safety
/// As for [`resolve`].
#[inline(always)]
unsafe fn each<I: Index>(job: &Resolve, map: impl Fn(I) -> i32) -> bool {
    let mut verdict = 0i32;
    let contiguous = job.stride == size_of::<I>() as isize;
    if contiguous {
        let index = job.index.cast::<I>();
        for lane in 0..job.n {
            // SAFETY: the caller promises `n` readable values `stride` apart, here one after the other.
            let value = unsafe { index.wrapping_add(lane).read_unaligned() };
            let unit = map(value);
            verdict |= unit;
            // SAFETY: `lane < n`, and `out` has room for `n`.
            unsafe { job.out.wrapping_add(lane).write(unit) };
        }
    } else {
        let mut index = job.index;
        for lane in 0..job.n {
            // SAFETY: the caller promises `n` readable values `stride` apart; this is the one at `lane`.
            let value = unsafe { index.cast::<I>().read_unaligned() };
            let unit = map(value);
            verdict |= unit;
            // SAFETY: `lane < n`, and `out` has room for `n`.
            unsafe { job.out.wrapping_add(lane).write(unit) };
            index = index.wrapping_offset(job.stride);
        }
    }
    verdict < 0
}
