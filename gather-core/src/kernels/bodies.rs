//! The bodies of the index operators: what a nest runs at each outer coordinate.

use core::marker::PhantomData;

use crate::index::Index;
use crate::kernels::arch::Tier;
use crate::kernels::args::{CopyArgs, CopyCursor, Cursor, IndexArgs, Loop, Phased, Verdict};
use crate::kernels::block::{BLOCK, Block, Units, fill_row};
use crate::kernels::interleave::Streams;
use crate::kernels::resolve::Resolve;
use crate::kernels::turns;
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

/// The body of all index operators: resolves a block of lanes and moves it. Which operator it is shows in the loops and
/// components alone: Gather has loops that no index moves along, GatherNd more components than one.
pub struct Gather<U, I, L> {
    block: Block,
    /// Where the indices of the resolved block lie; null before the first.
    resolved: *const u8,
    out_of_range: bool,
    kernel: PhantomData<(U, I, L)>,
}

/// Whether the loop around the lanes comes back to their indices.
#[inline(always)]
fn reuses(args: &IndexArgs<'_>) -> bool {
    matches!(args.loops, [.., outer, _] if outer.index == 0)
}

impl<U: Unit, I: Index, L: Tier> Gather<U, I, L> {
    /// Runs `n <= BLOCK` lanes, and fetches what comes next.
    ///
    /// # Safety
    /// The kernel contract for the lanes from `at` on.
    #[inline(never)]
    unsafe fn block(&mut self, units: &mut Units, args: &IndexArgs<'_>, at: Cursor, n: usize, next: Next) {
        let lane = args.lane();
        // Several blocks share the room when the lanes are more than one.
        let resolved = at.index == self.resolved && n == lane.n;
        if !resolved {
            self.resolved = at.index;
            if args.components.len() == 1 && args.table == 0 && U::fuses(args) {
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
        unsafe { U::move_lanes::<L>(&Lanes::at(args, at, units.as_ptr(), n, next)) };
        // SAFETY: the caller's promise.
        unsafe { self.block.patch(args, at.out) };
    }

    /// Runs all lanes in turns, where nobody comes back to their indices and turns are better than blocks; returns whether.
    ///
    /// # Safety
    /// The kernel contract for the lanes from `at` on.
    #[inline(always)]
    unsafe fn once(&mut self, units: &mut Units, args: &IndexArgs<'_>, at: Cursor) -> bool {
        if args.components.len() != 1 || reuses(args) || !turns::pay::<U>(args) {
            return false;
        }
        let next = next(args, at, 0);
        // SAFETY: the caller's promise; there is one component.
        self.out_of_range |= unsafe { turns::run::<U, I, L>(&mut self.block, units, args, at, next) };
        true
    }

    /// Runs lanes that one index serves: a walk through data, as BatchToSpace takes, without a unit for each.
    ///
    /// # Safety
    /// The kernel contract for the lanes from `at` on, whose loop has no index stride.
    #[inline(never)]
    unsafe fn walk(&mut self, units: &mut Units, args: &IndexArgs<'_>, at: Cursor) {
        if at.index != self.resolved {
            self.resolved = at.index;
            // SAFETY: K2 and K3 for the index.
            unsafe { self.resolve(units, args, at.index, 1) };
        }
        let Loop { n, out, data, .. } = *args.lane();
        if self.block.has_bad {
            if args.out_of_bounds == OutOfBounds::Zero {
                for lane in 0..n {
                    // SAFETY: K1 and K6 for the lane.
                    unsafe { fill_row(args, at.out.wrapping_offset(out.wrapping_mul(lane as isize))) };
                }
            }
            return;
        }
        // SAFETY: the unit of the index has been written.
        let unit = unsafe { units.as_ptr().read() };
        let from = at.data.wrapping_offset(args.unit.wrapping_mul(unit as isize));
        let lane = Phased { n, out, wrap: data, ..Phased::ONCE };
        let at = CopyCursor { out: at.out, data: from };
        // SAFETY: K1, K2, K4, K6 and K7 for the lanes, whose index is in range.
        unsafe { U::copy::<L>(&Streams { at, outer: Phased::ONCE, lane, row: args.row }) };
    }

    /// Runs the lanes from `done` on, block by block. Not a part of [`IndexBody::lanes`], so that few lanes save few registers.
    ///
    /// # Safety
    /// The kernel contract for the lanes from `at` on.
    #[inline(never)]
    unsafe fn blocks(&mut self, units: &mut Units, args: &IndexArgs<'_>, at: Cursor, mut done: usize) {
        let lane = args.lane();
        while done < lane.n {
            let n = (lane.n - done).min(BLOCK);
            let next = next(args, at, done);
            // SAFETY: the kernel contract for `n` lanes from here on.
            unsafe { self.block(units, args, at.skip(lane, done), n, next) };
            done += n;
        }
    }

    /// Resolves `n <= BLOCK` lanes from `index` on.
    ///
    /// # Safety
    /// K2 and K3 for these lanes.
    #[inline(always)]
    unsafe fn resolve(&mut self, units: &mut Units, args: &IndexArgs<'_>, index: *const u8, n: usize) {
        let stride = args.lane().index;
        let verdict = match args.components {
            // SAFETY: the caller's promise.
            [component] => unsafe { self.block.resolve::<I, L>(units, args, component, index, stride, n) },
            // SAFETY: the caller's promise.
            _ => unsafe { self.block.resolve_all::<I, L>(units, args, index, stride, n) },
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
        let lanes = Lanes::at(args, at, job.out, n, next);
        // SAFETY: the caller's promise; `units` has room for BLOCK >= n.
        let Some(out_of_range) = (unsafe { U::fused::<I, L>(&job, &lanes, &Loop::ONCE) }) else { return false };
        self.out_of_range |= out_of_range;
        if args.loops.len() > 1 {
            // SAFETY: the units of the block have been written.
            unsafe { self.block.note(job.out, n, out_of_range) };
        }
        true
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

impl<U: Unit, I: Index, L: Tier> IndexBody for Gather<U, I, L> {
    #[inline(always)]
    fn start(_: &IndexArgs<'_>) -> Self {
        Gather { block: Block::new(), resolved: core::ptr::null(), out_of_range: false, kernel: PhantomData }
    }

    #[inline(never)]
    unsafe fn lanes(&mut self, units: &mut Units, args: &IndexArgs<'_>, at: Cursor) {
        let lane = args.lane();
        if lane.index == 0 && lane.n > 1 {
            // SAFETY: the kernel contract for the lanes.
            return unsafe { self.walk(units, args, at) };
        }
        let mut done = 0;
        // Tables are loaded once a call, and so for a block at least.
        if args.table == 0 {
            // SAFETY: the kernel contract for the lanes.
            if unsafe { self.once(units, args, at) } {
                return;
            }
        } else if args.loops.len() == 1 {
            let job = Resolve::new(units, args, &args.components[0], at.index, lane.index, lane.n);
            let lanes = Lanes::at(args, at, job.out, lane.n, Next::NONE);
            // SAFETY: the caller's promise.
            done = unsafe { U::look_up::<I, L>(&job, &lanes) };
        }
        if done == 0 && lane.n <= BLOCK {
            let next = next(args, at, 0);
            // SAFETY: the kernel contract for the lanes.
            unsafe { self.block(units, args, at, lane.n, next) };
        } else {
            // SAFETY: the kernel contract for the lanes.
            unsafe { self.blocks(units, args, at, done) };
        }
    }

    #[inline(never)]
    unsafe fn plane(&mut self, units: &mut Units, args: &IndexArgs<'_>, at: Cursor) {
        let (outer, lane, mut at) = (args.outer(), args.lane(), at);
        let wraps = args.out_of_bounds == OutOfBounds::Wrap;
        let alone = args.components.len() == 1 && !reuses(args);
        if alone && U::fuses(args) && args.span == 0 && args.table == 0 && (lane.n <= BLOCK || !wraps) {
            let job = Resolve::new(units, args, &args.components[0], at.index, lane.index, lane.n);
            let job = Resolve { keep: wraps, ..job };
            let lanes = Lanes::at(args, at, job.out, lane.n, Next::NONE);
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
