//! The bodies of the index operators: what a nest runs at each outer coordinate.

use core::marker::PhantomData;

use crate::index::Index;
use crate::kernels::arch::Tier;
use crate::kernels::args::{CopyArgs, CopyCursor, Cursor, IndexArgs, Verdict};
use crate::kernels::block::{BLOCK, Block, Units};
use crate::kernels::unit::{Lanes, Unit};
use crate::ops::OutOfBounds;

/// What a nest of an index operator runs at each outer coordinate.
pub trait IndexBody: Sized {
    /// A body for one run of the nest.
    fn start(args: &IndexArgs<'_>) -> Self;

    /// Runs the lanes of the outer coordinate at `at`, with the same room for units at each.
    ///
    /// # Safety
    /// The kernel contract for `args`, and `at` is the cursor of an outer coordinate of its loops.
    unsafe fn lanes(&mut self, units: &mut Units, args: &IndexArgs<'_>, at: Cursor);

    /// What was found on the way.
    fn verdict(&self) -> Verdict;
}

/// What a BatchToSpace nest runs at each outer coordinate.
pub trait CopyBody: Sized {
    /// A body for one run of the nest.
    fn start(args: &CopyArgs<'_>) -> Self;

    /// Runs the lanes of the outer coordinate at `at`.
    ///
    /// # Safety
    /// The kernel contract for `args`, and `at` is the cursor of an outer coordinate of its loops.
    unsafe fn lanes(&mut self, args: &CopyArgs<'_>, at: CopyCursor);
}

/// The body of the index operators: resolves a block of lanes and moves it.
///
/// `REUSE`: loops without an index stride use the block that is resolved already. `TUPLE`: an index has any number of
/// components.
pub struct Body<U, I, L, const REUSE: bool, const TUPLE: bool> {
    block: Block,
    /// Where the indices of the resolved block lie; null before the first.
    resolved: *const u8,
    out_of_range: bool,
    kernel: PhantomData<(U, I, L)>,
}

/// Gather: one component; one block of indices serves every slice that it is applied to.
pub type Gather<U, I, L> = Body<U, I, L, true, false>;
/// GatherElements: one component; every loop steps through the indices.
pub type GatherElements<U, I, L> = Body<U, I, L, false, false>;
/// GatherNd: tuples of components.
pub type GatherNd<U, I, L> = Body<U, I, L, true, true>;

impl<U: Unit, I: Index, L: Tier, const REUSE: bool, const TUPLE: bool> Body<U, I, L, REUSE, TUPLE> {
    /// Resolves `n <= BLOCK` lanes from `index` on, unless the block holds them.
    ///
    /// # Safety
    /// K2 and K3 for these lanes.
    #[inline(always)]
    unsafe fn resolve(&mut self, units: &mut Units, args: &IndexArgs<'_>, index: *const u8, n: usize) {
        let lane = args.lane();
        // Several blocks share the buffer when the lanes are more than one.
        if REUSE && index == self.resolved && n == lane.n {
            return;
        }
        let verdict = if TUPLE {
            // SAFETY: the caller's promise.
            unsafe { self.block.resolve_all::<I, L>(units, args, index, lane.index, n) }
        } else {
            // SAFETY: the caller's promise.
            unsafe { self.block.resolve::<I, L>(units, args, &args.components[0], index, lane.index, n) }
        };
        self.out_of_range |= verdict.out_of_range;
        self.resolved = index;
    }

    /// Moves `n <= BLOCK` resolved lanes, and fills those that are out of range.
    ///
    /// # Safety
    /// The kernel contract for the lanes from `at` on; the block holds them resolved.
    #[inline(always)]
    unsafe fn transfer(&mut self, units: &Units, args: &IndexArgs<'_>, at: Cursor, n: usize) {
        if self.block.has_bad && args.out_of_bounds == OutOfBounds::Error {
            return;
        }
        let lane = args.lane();
        let lanes = Lanes {
            out: at.out,
            out_step: lane.out,
            data: at.data,
            data_step: lane.data,
            units: units.as_ptr(),
            unit: args.unit,
            n,
            row: args.row,
            ahead: args.ahead,
            table: args.table,
        };
        // SAFETY: K1, K2, K4 and K6 for these lanes; every unit in the block is in range or redirected to 0.
        unsafe { U::move_lanes::<L>(&lanes) };
        if self.block.has_bad {
            // SAFETY: K1 and K6 for these lanes.
            unsafe { self.block.patch(args, at.out, lane.out) };
        }
    }
}

impl<U: Unit, I: Index, L: Tier, const REUSE: bool, const TUPLE: bool> IndexBody for Body<U, I, L, REUSE, TUPLE> {
    #[inline(always)]
    fn start(_: &IndexArgs<'_>) -> Self {
        Body { block: Block::new(), resolved: core::ptr::null(), out_of_range: false, kernel: PhantomData }
    }

    #[inline(never)]
    unsafe fn lanes(&mut self, units: &mut Units, args: &IndexArgs<'_>, at: Cursor) {
        let lane = args.lane();
        let mut done = 0;
        while done < lane.n {
            let n = (lane.n - done).min(BLOCK);
            let at = at.skip(lane, done);
            // SAFETY: K2 and K3 for `n` lanes from here on.
            unsafe { self.resolve(units, args, at.index, n) };
            // SAFETY: the kernel contract for `n` lanes from here on, which the block holds.
            unsafe { self.transfer(units, args, at, n) };
            done += n;
        }
    }

    #[inline(always)]
    fn verdict(&self) -> Verdict {
        Verdict { out_of_range: self.out_of_range }
    }
}
