//! The bodies of the index operators: what a nest runs at each outer coordinate.

use core::marker::PhantomData;

use crate::index::Index;
use crate::kernels::arch::Tier;
use crate::kernels::args::{CopyArgs, CopyCursor, Cursor, IndexArgs, Loop, Verdict};
use crate::kernels::block::{BLOCK, Block, Units};
use crate::kernels::resolve::{GoOn, Resolve, TURN};
use crate::kernels::unit::{Lanes, Next, Unit};
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

    /// Runs the lanes of every coordinate of the last outer loop, from `at` on. The nest has two loops or more.
    ///
    /// # Safety
    /// The kernel contract for `args`, and `at` is the cursor of a coordinate of its other outer loops.
    #[inline(always)]
    unsafe fn plane(&mut self, units: &mut Units, args: &IndexArgs<'_>, at: Cursor) {
        let outer = *args.outer();
        let mut at = at;
        for _ in 0..outer.n {
            // SAFETY: the caller's promise; `at` is the cursor of a coordinate of the last outer loop.
            unsafe { self.lanes(units, args, at) };
            at = at.step(&outer);
        }
    }

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

    /// Runs the lanes of every coordinate of the last outer loop, from `at` on. The nest has two loops or more.
    ///
    /// # Safety
    /// The kernel contract for `args`, and `at` is the cursor of a coordinate of its other outer loops.
    unsafe fn plane(&mut self, args: &CopyArgs<'_>, at: CopyCursor);
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
    /// Runs `n <= BLOCK` lanes, and fetches what comes next.
    ///
    /// # Safety
    /// The kernel contract for the lanes from `at` on.
    #[inline(always)]
    unsafe fn block(&mut self, units: &mut Units, args: &IndexArgs<'_>, at: Cursor, n: usize, next: Next) {
        let lane = args.lane();
        // Several blocks share the room when the lanes are more than one.
        let resolved = REUSE && at.index == self.resolved && n == lane.n;
        if !resolved {
            self.resolved = at.index;
            if !TUPLE && args.table == 0 && U::fuses(args) {
                // SAFETY: the caller's promise.
                if unsafe { self.fused(units, args, at, n, next) } {
                    return;
                }
            }
            // SAFETY: K2 and K3 for these lanes.
            unsafe { self.resolve(units, args, at.index, n) };
        }
        if self.block.has_bad && args.out_of_bounds == OutOfBounds::Error {
            return;
        }
        // SAFETY: K1, K2, K4 and K6 for these lanes; every unit in the block is in range or redirected to 0.
        unsafe { U::move_lanes::<L>(&Self::lanes_at(units.as_ptr(), args, at, n, next)) };
        // SAFETY: the caller's promise.
        unsafe { self.patch(args, at.out) };
    }

    /// Runs `n` lanes, any number, whose indices serve no others, unless blocks of them are better; returns whether it has.
    ///
    /// # Safety
    /// The kernel contract for the lanes from `at` on.
    #[inline(always)]
    unsafe fn once(&mut self, units: &mut Units, args: &IndexArgs<'_>, at: Cursor, n: usize, next: Next) -> bool {
        let fuses = U::fuses(args);
        // Wrapping comes back to the units, of which there is room for a block. One index for all lanes is resolved once, rows
        // are fetched ahead within a block, and so few lanes are one.
        let blocks = if fuses { args.out_of_bounds == OutOfBounds::Wrap } else { args.ahead != 0 || n <= TURN };
        if blocks || args.lane().index == 0 {
            return false;
        }
        let job = Resolve::new(units, args, &args.components[0], at.index, args.lane().index, n);
        let mut lanes = Self::lanes_at(job.out, args, at, n, next);
        if fuses {
            // SAFETY: the caller's promise; no units are kept.
            if let Some(out_of_range) = unsafe { U::fused::<I, L>(&job.unkept(), &lanes, &Loop::ONCE) } {
                self.out_of_range |= out_of_range;
                return true;
            }
        }
        let mut each = |n, out_of_range| -> GoOn {
            // SAFETY: the units of these lanes have been written.
            unsafe { self.block.note(job.out, n, out_of_range) };
            self.out_of_range |= out_of_range;
            if out_of_range && args.out_of_bounds == OutOfBounds::Error {
                return false;
            }
            lanes.n = n;
            // SAFETY: K1, K2, K4 and K6 for these lanes; every unit of theirs is in range or redirected to 0.
            unsafe { U::move_lanes::<L>(&lanes) };
            // SAFETY: the caller's promise.
            unsafe { self.patch(args, lanes.out) };
            lanes.advance(n);
            true
        };
        // SAFETY: K3, the caller's promise; there is room for a block, which is longer than a turn.
        unsafe { L::resolve_in_turns::<I>(&job, &mut each) };
        true
    }

    /// Resolves `n <= BLOCK` lanes from `index` on.
    ///
    /// # Safety
    /// K2 and K3 for these lanes.
    #[inline(always)]
    unsafe fn resolve(&mut self, units: &mut Units, args: &IndexArgs<'_>, index: *const u8, n: usize) {
        let stride = args.lane().index;
        let verdict = if TUPLE {
            // SAFETY: the caller's promise.
            unsafe { self.block.resolve_all::<I, L>(units, args, index, stride, n) }
        } else {
            // SAFETY: the caller's promise.
            unsafe { self.block.resolve::<I, L>(units, args, &args.components[0], index, stride, n) }
        };
        self.out_of_range |= verdict.out_of_range;
    }

    /// Resolves and moves `n <= BLOCK` lanes at once, where unit and level can; returns whether they could.
    ///
    /// # Safety
    /// The kernel contract for the lanes from `at` on.
    #[inline(always)]
    unsafe fn fused(&mut self, units: &mut Units, args: &IndexArgs<'_>, at: Cursor, n: usize, next: Next) -> bool {
        let job = Resolve::new(units, args, &args.components[0], at.index, args.lane().index, n);
        let lanes = Self::lanes_at(job.out, args, at, n, next);
        // SAFETY: the caller's promise; `units` has room for BLOCK >= n.
        let Some(out_of_range) = (unsafe { U::fused::<I, L>(&job, &lanes, &Loop::ONCE) }) else { return false };
        self.out_of_range |= out_of_range;
        if REUSE && args.loops.len() > 1 {
            // SAFETY: the units of the block have been written.
            unsafe { self.block.note(job.out, n, out_of_range) };
        }
        true
    }

    #[inline(always)]
    fn lanes_at(units: *const i32, args: &IndexArgs<'_>, at: Cursor, n: usize, next: Next) -> Lanes {
        let lane = args.lane();
        Lanes {
            out: at.out,
            out_step: lane.out,
            data: at.data,
            data_step: lane.data,
            units,
            unit: args.unit,
            n,
            row: args.row,
            ahead: args.ahead,
            stream: args.stream,
            next,
            table: args.table,
            fill: args.fill,
            fill_len: args.fill_len,
        }
    }

    /// Fills the block's lanes that are out of range, where that is the policy.
    ///
    /// # Safety
    /// K1 and K6 for the lanes from `out` on, which the block holds resolved.
    #[inline(always)]
    unsafe fn patch(&self, args: &IndexArgs<'_>, out: *mut u8) {
        if self.block.has_bad && args.out_of_bounds == OutOfBounds::Zero {
            // SAFETY: the caller's promise.
            unsafe { self.block.patch(args, out, args.lane().out) };
        }
    }
}

/// What is to be fetched of the next outer coordinate's data while the lanes from `done` on are moved.
#[inline(always)]
fn next(args: &IndexArgs<'_>, at: Cursor, done: usize) -> Next {
    match (args.span, args.loops) {
        (1.., [.., outer, lane]) => Next::spread(at.data.wrapping_offset(outer.data), args.span, lane.n, done),
        _ => Next::NONE,
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
        if !TUPLE && args.loops.len() == 1 {
            let job = Resolve::new(units, args, &args.components[0], at.index, lane.index, lane.n);
            let lanes = Self::lanes_at(job.out, args, at, lane.n, Next::NONE);
            // SAFETY: the caller's promise.
            done = unsafe { U::look_up::<I, L>(&job, &lanes) };
        }
        // Without a loop around the lanes, or with one that steps through indices, nobody needs a block's units again.
        // Tables are loaded once a call.
        let alone = args.table == 0 && args.components.len() == 1;
        if alone && (!REUSE || args.loops.len() == 1) {
            let next = next(args, at, done);
            // SAFETY: the kernel contract for the lanes from here on.
            if unsafe { self.once(units, args, at.skip(lane, done), lane.n - done, next) } {
                return;
            }
        }
        while done < lane.n {
            let n = (lane.n - done).min(BLOCK);
            let next = next(args, at, done);
            let at = at.skip(lane, done);
            // SAFETY: the kernel contract for `n` lanes from here on.
            unsafe { self.block(units, args, at, n, next) };
            done += n;
        }
    }

    #[inline(never)]
    unsafe fn plane(&mut self, units: &mut Units, args: &IndexArgs<'_>, at: Cursor) {
        let (outer, lane, mut at) = (args.outer(), args.lane(), at);
        let wraps = args.out_of_bounds == OutOfBounds::Wrap;
        if !REUSE && U::fuses(args) && args.span == 0 && args.table == 0 && (lane.n <= BLOCK || !wraps) {
            let job = Resolve::new(units, args, &args.components[0], at.index, lane.index, lane.n);
            let job = Resolve { keep: wraps, ..job };
            let lanes = Self::lanes_at(job.out, args, at, lane.n, Next::NONE);
            // SAFETY: the caller's promise, for all coordinates of the last outer loop; units are kept to wrap them.
            if let Some(out_of_range) = unsafe { U::fused::<I, L>(&job, &lanes, outer) } {
                self.out_of_range |= out_of_range;
                return;
            }
        }
        for _ in 0..outer.n {
            // SAFETY: the caller's promise; `at` is the cursor of a coordinate of the last outer loop.
            unsafe { self.lanes(units, args, at) };
            at = at.step(outer);
        }
    }

    #[inline(always)]
    fn verdict(&self) -> Verdict {
        Verdict { out_of_range: self.out_of_range }
    }
}
