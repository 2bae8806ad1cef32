//! Execution of the plan of an operator that rearranges space.

use crate::exec::cuts::Cuts;
use crate::exec::threads::{CHUNKS_PER_THREAD, parallel_for, pool_threads};
use crate::kernels::{BlockCursor, BlockLoop, SpaceArgs, SpaceCursor};
use crate::plan::fold::BlockLoops;
use crate::plan::{SpacePart, SpacePlan};
use crate::tensor::layout::Shape;
use crate::tensor::output::Target;
use crate::types::error::Error;

/// Runs a plan into an output of shape `shape`.
///
/// # Errors
/// [`Error::AllocationFailed`] and [`Error::TooManyElements`] if the output is not fixed.
///
/// # Safety
/// `shape` is the shape of the planned output. X1 for data and a fixed output, both at coordinate 0. Any other output
/// takes elements of the size that the plan moves (O1), and the plan was made for a row-major output.
#[inline(always)]
pub(crate) unsafe fn run(plan: &SpacePlan, shape: &[usize], data: *const u8, out: Target<'_>) -> Result<(), Error> {
    let fresh = || Ok((shape, Shape::checked_len(shape)?));
    let write = |out| {
        // SAFETY: X1 by the caller's contract; memory that is not fixed is new and row-major.
        unsafe { run_parts(plan, SpaceCursor::new(data, out)) };
        Ok(())
    };
    // SAFETY: the parts of a plan reach every element of its output (P1), and each moves or fills its elements (X3).
    unsafe { out.write(fresh, write) }
}

/// Runs the parts of a plan.
///
/// # Safety
/// X1 for both tensors, at coordinate 0.
#[inline]
unsafe fn run_parts(plan: &SpacePlan, tensors: SpaceCursor) {
    for part in plan.parts() {
        let task = Task { plan, part, origin: tensors.after(part.origin), loops: &part.loops };
        match plan.tasks(part, pool_threads) {
            1 => task.call(),
            tasks => task.run_shared(tasks),
        }
    }
}

/// A chunk of a loop nest: the same kernel over fewer iterations from a later origin.
///
/// Invariant X1: the loops are the part's loops, or sub-ranges of them, and the origin is their start in tensors of
/// the plan's layouts.
#[derive(Clone, Copy)]
struct Task<'a> {
    plan: &'a SpacePlan,
    part: &'a SpacePart,
    origin: SpaceCursor,
    loops: &'a [BlockLoop],
}

// SAFETY: X2: threads run disjoint chunks, which write disjoint elements of the output. Data is only read.
unsafe impl Sync for Task<'_> {}

impl Task<'_> {
    #[inline]
    fn call(self) {
        // SAFETY: K1 and K4: the loops reach the elements that the operator names (P1), of tensors that do not overlap
        // (X1). K6: the plan's fill is an element, of which rows are made.
        let args = unsafe { SpaceArgs::new(self.origin, self.loops, self.part.row, self.plan.fill()) };
        // SAFETY: K5 to K7 and K10: the plan picked the kernel by level, rank and row, or a kernel that fills (P2).
        unsafe { (self.part.entry.run)(&args) }
    }

    /// Runs the loop nest on up to `tasks` threads, chunk by chunk.
    fn run_shared(self, tasks: usize) {
        let cuts = Cuts::new(self.loops.iter().map(|along| along.n), tasks.saturating_mul(CHUNKS_PER_THREAD));
        let whole = &self;
        parallel_for(tasks, cuts.chunks(), |chunk, _| {
            let (mut loops, mut origin) = (BlockLoops::from_slice(whole.loops), whole.origin);
            for (d, along) in loops.iter_mut().enumerate() {
                let range = cuts.range(chunk, d, along.n);
                let cursor = skip(origin.enter(along), along, range.start);
                origin = cursor.at();
                (along.n, along.phase) = (range.len(), cursor.phase);
            }
            Task { loops: &loops, origin, ..*whole }.call();
        });
    }
}

fn skip(cursor: BlockCursor, along: &BlockLoop, count: usize) -> BlockCursor {
    let phase = (cursor.phase + count) % along.block;
    let carries = (cursor.phase + count) / along.block;
    let steps = phase as isize - cursor.phase as isize;
    let step = along.period().times(carries as isize).and(along.step.times(steps));
    cursor.at().after(step).enter(&BlockLoop { phase, ..*along })
}
