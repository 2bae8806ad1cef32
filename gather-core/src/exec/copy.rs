//! Running the plan of BatchToSpace.

use smallvec::SmallVec;

use crate::exec::cuts::Cuts;
use crate::kernels::{CopyArgs, CopyCursor, CopyEntry, Phased, Walk};
use crate::plan::RawCopyPlan;
use crate::threads::{self, PIECES};

/// Runs a plan.
///
/// # Safety
/// `data` and `out` are tensors, at coordinate 0, with exactly the layouts and the element size that the plan was made
/// for: data may be read, the output may be written and overlaps neither data nor itself.
#[inline]
pub(crate) unsafe fn run(plan: &RawCopyPlan, data: *const u8, out: *mut u8) {
    let Some(entry) = plan.entry else { return };
    let origin = CopyCursor { out, data: data.wrapping_offset(plan.origin) };
    let task = Task { plan, entry, origin, loops: &plan.loops };
    match plan.tasks() {
        // SAFETY: the promise about the operands is the task's.
        1 => unsafe { task.call() },
        // SAFETY: as above.
        tasks => unsafe { task.run_shared(tasks) },
    }
}

/// A part of a nest: the same kernel over fewer iterations from a later origin.
#[derive(Clone, Copy)]
struct Task<'a> {
    plan: &'a RawCopyPlan,
    entry: &'static CopyEntry,
    origin: CopyCursor,
    loops: &'a [Phased],
}

// SAFETY: X2: threads that share a task run different parts of it.
unsafe impl Sync for Task<'_> {}

impl Task<'_> {
    /// Calls the kernel.
    ///
    /// # Safety
    /// The promise of [`run`], for this part of the nest. It gives the kernel contract: the loops reach the elements
    /// that the lowered operator names, which its checks keep inside data; the plan picks the kernel by rank and row.
    #[inline]
    unsafe fn call(self) {
        let args = CopyArgs { origin: self.origin, loops: self.loops, row: self.plan.row };
        // SAFETY: the kernel contract holds, as argued above.
        unsafe { (self.entry.run)(&args) }
    }

    /// Runs the nest on up to `tasks` threads, piece by piece.
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

    /// Runs one of the pieces that the nest is cut into.
    ///
    /// # Safety
    /// The promise of [`run`], for the piece.
    unsafe fn run_piece(&self, cuts: &Cuts, piece: usize) {
        let (mut loops, mut origin) = (SmallVec::<[Phased; 6]>::from_slice(self.loops), self.origin);
        for (d, along) in loops.iter_mut().enumerate() {
            let range = cuts.range(piece, d, along.n);
            let walk = skip(origin.enter(along), along, range.start);
            origin = walk.at();
            (along.n, along.phase) = (range.len(), walk.phase);
        }
        // SAFETY: sub-ranges of the loops are a part of the nest.
        unsafe { Task { loops: &loops, origin, ..*self }.call() };
    }
}

/// The walk `count` iterations further.
fn skip(walk: Walk, along: &Phased, count: usize) -> Walk {
    let phase = (walk.phase + count) % along.block;
    let carries = (walk.phase + count) / along.block;
    let steps = phase as isize - walk.phase as isize;
    let data = along.period().wrapping_mul(carries as isize).wrapping_add(along.step.wrapping_mul(steps));
    let out = along.out.wrapping_mul(count as isize);
    let at = walk.at();
    CopyCursor { out: at.out.wrapping_offset(out), data: at.data.wrapping_offset(data) }
        .enter(&Phased { phase, ..*along })
}
