//! Running the plan of BatchToSpace.

use smallvec::SmallVec;

use crate::kernels::{CopyArgs, CopyCursor, CopyEntry, Phased, Walk};
use crate::plan::RawCopyPlan;
use crate::threads;

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
        tasks => unsafe { task.run_split(tasks) },
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

// SAFETY: X2: a task reads shared memory, and writes a part of the output of its own.
unsafe impl Send for Task<'_> {}

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

    /// Runs the part as up to `tasks` tasks, by halves.
    ///
    /// # Safety
    /// The promise of [`run`], for this part of the nest.
    unsafe fn run_split(self, tasks: usize) {
        let longest = || (0..self.loops.len()).max_by_key(|&d| self.loops[d].n);
        let wide = (0..self.loops.len()).find(|&d| self.loops[d].n >= tasks).or_else(longest);
        let Some(d) = wide.filter(|&d| tasks > 1 && self.loops[d].n > 1) else {
            // SAFETY: the caller's promise.
            return unsafe { self.call() };
        };
        let n = self.loops[d].n;
        let tasks = tasks.min(n);
        let (few, rest) = (tasks / 2, tasks - tasks / 2);
        let cut = (n as u128 * few as u128 / tasks as u128) as usize;
        let (mut first, mut second): (SmallVec<[Phased; 6]>, SmallVec<[Phased; 6]>) =
            (self.loops.into(), self.loops.into());
        let walk = skip(self.origin.enter(&self.loops[d]), &self.loops[d], cut);
        first[d].n = cut;
        second[d].n = n - cut;
        second[d].phase = walk.phase;
        let first = Task { loops: &first, ..self };
        let second = Task { loops: &second, origin: walk.at(), ..self };
        threads::join(
            // SAFETY: X2: a sub-range of a loop is a part of the nest, and the two parts share no output.
            move || unsafe { first.run_split(few) },
            // SAFETY: as above.
            move || unsafe { second.run_split(rest) },
        );
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
