//! Running the plan of an operator that rearranges space.

use smallvec::SmallVec;

use crate::exec::cuts::Cuts;
use crate::exec::threads::{self, PIECES, pool_threads};
use crate::kernels::{BlockCursor, BlockLoop, SpaceArgs, SpaceCursor};
use crate::plan::{SpacePart, SpacePlan};

/// Runs a plan.
///
/// # Safety
/// X1, for data and output at coordinate 0.
#[inline]
pub(crate) unsafe fn run(plan: &SpacePlan, data: *const u8, out: *mut u8) {
    let tensors = SpaceCursor { out, data };
    for part in plan.parts() {
        let task = Task { plan, part, origin: tensors.after(part.origin), loops: &part.loops };
        match plan.tasks(part, pool_threads) {
            // SAFETY: the caller's promise.
            1 => unsafe { task.call() },
            // SAFETY: as above.
            tasks => unsafe { task.run_shared(tasks) },
        }
    }
}

/// A part of a loop nest: the same kernel over fewer iterations from a later origin.
#[derive(Clone, Copy)]
struct Task<'a> {
    plan: &'a SpacePlan,
    part: &'a SpacePart,
    origin: SpaceCursor,
    loops: &'a [BlockLoop],
}

// SAFETY: X2: threads that share a task run different parts of it.
unsafe impl Sync for Task<'_> {}

impl Task<'_> {
    /// Calls the kernel.
    ///
    /// # Safety
    /// The promise of [`run`], for this part of the loop nest. It gives the kernel contract: the loops reach the
    /// elements that the operator names (P1), and the plan picked the kernel by rank and row, or has a fill (P2).
    #[inline]
    unsafe fn call(self) {
        let args = SpaceArgs { origin: self.origin, loops: self.loops, row: self.part.row, fill: self.plan.fill() };
        // SAFETY: the kernel contract holds, as argued above.
        unsafe { (self.part.entry.run)(&args) }
    }

    /// Runs the loop nest on up to `tasks` threads, piece by piece.
    ///
    /// # Safety
    /// The promise of [`run`].
    unsafe fn run_shared(self, tasks: usize) {
        let cuts = Cuts::new(self.loops.iter().map(|along| along.n), tasks.saturating_mul(PIECES));
        threads::share(tasks, cuts.pieces(), |pieces| {
            for piece in pieces {
                // SAFETY: X2: the caller's promise, for a piece that this thread alone has taken.
                unsafe { self.run_piece(&cuts, piece) };
            }
        });
    }

    /// Runs one of the pieces that the loop nest is cut into.
    ///
    /// # Safety
    /// The promise of [`run`], for the piece.
    unsafe fn run_piece(&self, cuts: &Cuts, piece: usize) {
        let (mut loops, mut origin) = (SmallVec::<[BlockLoop; 6]>::from_slice(self.loops), self.origin);
        for (d, along) in loops.iter_mut().enumerate() {
            let range = cuts.range(piece, d, along.n);
            let cursor = skip(origin.enter(along), along, range.start);
            origin = cursor.at();
            (along.n, along.phase) = (range.len(), cursor.phase);
        }
        // SAFETY: sub-ranges of the loops are a part of the loop nest.
        unsafe { Task { loops: &loops, origin, ..*self }.call() };
    }
}

/// The cursor `count` iterations further.
fn skip(cursor: BlockCursor, along: &BlockLoop, count: usize) -> BlockCursor {
    let phase = (cursor.phase + count) % along.block;
    let carries = (cursor.phase + count) / along.block;
    let steps = phase as isize - cursor.phase as isize;
    let step = along.period().times(carries as isize).and(along.step.times(steps));
    cursor.at().after(step).enter(&BlockLoop { phase, ..*along })
}
