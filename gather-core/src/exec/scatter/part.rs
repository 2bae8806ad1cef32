//! Parts of a plan's loop nest, that threads run.

use core::mem::MaybeUninit;
use core::ops::Deref;

use smallvec::SmallVec;

use crate::exec::cuts::{Cuts, share};
use crate::exec::panels::{self, Panelled};
use crate::exec::scatter::{
    CHECKED_BY_ONE, KEPT, ScatterCut, ScatterOperands, end_of_piece, few_bytes, loops_of_indices,
};
use crate::exec::threads::PIECES;
use crate::kernels::reduce::scatter::{Sink, Take};
use crate::kernels::remap;
use crate::kernels::{Cursor, IndexArgs, KernelSpec, Loop, Outcome, fits_i32, start_of_part};
use crate::plan::{ReducePlan, Way, is_free};
use crate::types::method::Method;
use crate::types::policy::{KernelPolicy, Missing, NegativeIndex};

/// Some of the loops of a plan, and where they begin: addresses, which alone show nothing.
#[derive(Clone, Copy)]
pub(super) struct ScatterLoops<'a> {
    pub(super) plan: &'a ReducePlan,
    pub(super) origin: Cursor,
    pub(super) spec: &'a KernelSpec,
    pub(super) loops: &'a [Loop],
    /// Bytes of the destination from one position to the next.
    pub(super) stride: isize,
    pub(super) elements: usize,
}

impl<'a> ScatterLoops<'a> {
    /// The whole of a plan.
    pub(super) fn new(plan: &'a ReducePlan, operands: &ScatterOperands<'_>) -> Self {
        let ScatterOperands { destination, updates, index, .. } = *operands;
        let origin = Cursor { out: updates.cast_mut(), data: destination, index };
        ScatterLoops {
            plan,
            origin,
            spec: plan.spec(),
            loops: plan.loops(),
            stride: plan.stride(),
            elements: plan.elements(),
        }
    }
}

/// A part of a plan's loop nest, for one thread: the contract of a scatter holds for it, except for what rows are
/// handed to.
pub(super) struct ScatterPart<'a>(ScatterLoops<'a>);

impl<'a> Deref for ScatterPart<'a> {
    type Target = ScatterLoops<'a>;

    fn deref(&self) -> &ScatterLoops<'a> {
        &self.0
    }
}

/// A part whose pieces are run by several threads.
struct SharedPart<'a>(&'a ScatterPart<'a>);

// SAFETY: each thread runs pieces of its own, which reach different elements of the destination (P1 for free loops;
// columns by what they are), or only reads indices. Updates and indices are shared memory whose elements are `Sync`.
unsafe impl Sync for SharedPart<'_> {}

impl<'a> ScatterPart<'a> {
    /// The loops of a nest, on its tensors.
    ///
    /// # Safety
    /// S1, S2, K3 and K4 for the nest, of which this thread alone uses the rows of the destination while it uses the
    /// part. Its kernel is one for the loops, and takes them by the method of `spec` (K2, K5, K9).
    pub(super) unsafe fn new(nest: ScatterLoops<'a>) -> Self {
        ScatterPart(nest)
    }

    /// Calls the kernel, which hands its rows to `take`.
    ///
    /// # Safety
    /// S3 and S4: `take` reduces elements of the type of the updates, in rows of as many, into what the loops reach.
    pub(super) unsafe fn call(&self, take: Take<'_>) -> Outcome {
        let sink = Sink { take, elements: self.elements };
        let params = (&raw const sink).cast();
        // SAFETY: a part has the contract of a scatter except for S3 and S4, which the caller says; the sink outlives
        // the call, and this thread has it.
        let args = unsafe { IndexArgs::new(self.spec, self.origin, self.loops, self.stride, params) };
        // SAFETY: P2: the kernel is that of the rank, the index type and the method of the plan.
        unsafe { remap::call(self.plan.kernel(), self.plan.index(), &args) }
    }

    /// Runs the whole, panel by panel, for a plan with panels.
    ///
    /// # Safety
    /// The scratch was made for these loops and the panels of the plan.
    pub(super) unsafe fn run_panels(&self, scratch: panels::PanelScratch) -> Outcome {
        let ScatterLoops { plan, loops, origin, elements, .. } = self.0;
        let Way::Panels(panels) = plan.way() else { unreachable!("a plan with panels") };
        let sink = Sink { take: reducing(plan, plan.spec().row), elements };
        let (kernel, params) = (plan.panel_kernel(), (&raw const sink).cast());
        // SAFETY: the contract of a scatter: the functions are those of the plan's type, and threads only read the
        // sink. The panels and the kernel are the plan's, and the caller says what the scratch was made for.
        unsafe { Panelled { plan, loops, panels, origin, kernel, params, unpacks: true }.run(scratch) }
    }

    /// Calls `run` on every piece, on up to `tasks` threads.
    pub(super) fn share(
        &self,
        cut: &ScatterCut,
        tasks: usize,
        run: impl Fn(&ScatterPart<'_>, usize) -> Outcome + Sync,
    ) -> Outcome {
        if cut.pieces() == 1 {
            return run(self, 0);
        }
        let shared = SharedPart(self);
        share(tasks, cut.pieces(), |piece, worker| shared.with_piece(cut, piece, |part| run(part, worker)))
    }

    /// Looks at every index, and says whether one is out of range: where negative ones are skipped, if not even counted
    /// from the end.
    pub(super) fn check(&self, tasks: usize) -> Outcome {
        let (loops, first) = loops_of_indices(self.loops);
        let indices = loops.iter().fold(1, |n: usize, along| n.saturating_mul(along.n));
        let tasks = tasks.min(indices / CHECKED_BY_ONE).max(1);
        let origin = Cursor { index: self.origin.index.wrapping_offset(first), ..self.origin };
        // What the plan says of its inner loop holds for no other one; and it may reduce into records, whose positions
        // fit in 32 bits where those of the destination do not (K2).
        let [of_plan, own] = [self.loops, &loops].map(|loops| loops.last().map(|inner| inner.index));
        let fits = fits_i32(&self.spec.components);
        let other;
        let spec = if of_plan == own && fits && !self.plan.skips_negative() {
            self.spec
        } else {
            let method = if fits { Method::Blocks } else { Method::Direct };
            let counting = KernelPolicy::new(NegativeIndex::FromEnd, Missing::Fail, None);
            let policy = if self.plan.skips_negative() { counting } else { self.spec.policy };
            other = KernelSpec { adjacent_tuples: false, method, policy, ..self.spec.clone() };
            &other
        };
        let part = ScatterPart(ScatterLoops { spec, loops: &loops, origin, ..self.0 });
        // SAFETY: no row is touched; these loops reach the indices of the part's.
        let check = |part: &ScatterPart<'_>| unsafe { part.call(Take::Nothing) };
        if tasks == 1 {
            return check(&part);
        }
        let cuts = Cuts::new(loops.iter().map(|along| along.n), tasks.saturating_mul(PIECES));
        let shared = SharedPart(&part);
        share(tasks, cuts.pieces(), |piece, _| shared.with_ranges(&cuts, piece, check))
    }

    /// Reduces every row into its destination, on this thread, for a plan whose rows are reduced one by one.
    pub(super) fn reduce(&self) -> Outcome {
        let Some(block) = self.plan.block() else { return self.reduce_at_once() };
        let mut loops = SmallVec::<[Loop; 6]>::from_slice(self.loops);
        let [.., inner] = self.loops else { unreachable!("K5: a loop nest has an inner loop") };
        let (whole, mut outcome) = (*inner, Outcome::NOTHING);
        for start in (0..whole.n).step_by(block.get()) {
            if let Some(inner) = loops.last_mut() {
                inner.n = (whole.n - start).min(block.get());
            }
            let part = ScatterPart(ScatterLoops { loops: &loops, origin: self.origin.skip(&whole, start), ..self.0 });
            outcome = outcome.and(part.reduce_at_once());
        }
        outcome
    }

    /// The same in one call of the kernel.
    fn reduce_at_once(&self) -> Outcome {
        // SAFETY: the functions are those of the plan's type, for rows as they lie.
        unsafe { self.call(reducing(self.plan, self.spec.row)) }
    }

    /// Reduces every row into its destination, on up to `tasks` threads, for a plan whose rows are reduced one by one.
    pub(super) fn run(&self, tasks: usize) -> Outcome {
        if tasks == 1 {
            return self.reduce();
        }
        self.share(&ScatterCut::new(self.plan, tasks, tasks.saturating_mul(PIECES)), tasks, |part, _| part.reduce())
    }

    /// Calls `run` on the whole, and puts back what the destination held if an index is out of range. There are `bytes`
    /// of it ([`few_bytes`]).
    #[inline(never)]
    pub(super) fn put_back(&self, bytes: usize, run: impl FnOnce() -> Outcome) -> Outcome {
        debug_assert_eq!(few_bytes(self.plan), Some(bytes));
        let mut held = [const { MaybeUninit::<u8>::uninit() }; KEPT];
        let destination = self.origin.data.cast_mut().cast::<MaybeUninit<u8>>();
        let held = held[..bytes].as_mut_ptr();
        // SAFETY: S2: from coordinate 0 on, rows of the destination are these bytes and no others. The copy is as long.
        unsafe { held.copy_from_nonoverlapping(destination, bytes) };
        let outcome = run();
        if !outcome.is_complete() {
            // SAFETY: the same bytes, back; `run` has ended.
            unsafe { destination.copy_from_nonoverlapping(held, bytes) };
        }
        outcome
    }
}

impl SharedPart<'_> {
    /// Calls `run` on one of the pieces that the part is cut into, which no other thread has.
    fn with_piece(&self, cut: &ScatterCut, piece: usize, run: impl FnOnce(&ScatterPart<'_>) -> Outcome) -> Outcome {
        let whole = self.0.0;
        match *cut {
            ScatterCut::Free(ref cuts) => {
                let mut loops = whole.loops.iter().enumerate();
                let is_whole = |d, along: &Loop| cuts.range(piece, d, along.n) == (0..along.n);
                debug_assert!(loops.all(|(d, along)| is_free(along) || is_whole(d, along)), "P1: a loop with an order");
                self.with_ranges(cuts, piece, run)
            }
            ScatterCut::Columns(tasks) => {
                let size = whole.spec.row / whole.elements;
                // As many columns for each, to within a line.
                let end = |task: usize| {
                    let even = start_of_part(whole.elements, task, tasks);
                    end_of_piece(whole.origin.data, size as isize, even, whole.elements)
                };
                let (first, last) = (end(piece), end(piece + 1));
                if first >= last {
                    return Outcome::NOTHING;
                }
                let spec = KernelSpec { row: (last - first) * size, ..whole.spec.clone() };
                let Cursor { out, data, index } = whole.origin;
                let origin =
                    Cursor { out: out.wrapping_add(first * size), data: data.wrapping_add(first * size), index };
                run(&ScatterPart(ScatterLoops { spec: &spec, origin, elements: last - first, ..whole }))
            }
        }
    }

    /// Calls `run` on one of the pieces that the loops are cut into, which no other thread has.
    fn with_ranges(&self, cuts: &Cuts, piece: usize, run: impl FnOnce(&ScatterPart<'_>) -> Outcome) -> Outcome {
        let whole = self.0.0;
        let (mut loops, mut origin) = (SmallVec::<[Loop; 6]>::from_slice(whole.loops), whole.origin);
        for (d, along) in loops.iter_mut().enumerate() {
            let range = cuts.range(piece, d, along.n);
            let [start, end] = [range.start, range.end].map(|at| match is_free(along) {
                true => end_of_piece(whole.origin.data, along.data, at, along.n),
                false => at,
            });
            if start >= end {
                return Outcome::NOTHING;
            }
            origin = origin.skip(along, start);
            along.n = end - start;
        }
        run(&ScatterPart(ScatterLoops { loops: &loops, origin, ..whole }))
    }
}

/// Memory that is cut into one scratch for each task.
pub(super) struct PerTask<T> {
    first: *mut T,
    len: usize,
    /// Elements of a scratch.
    each: usize,
}

// SAFETY: tasks have numbers of their own, and each uses the scratch of its number.
unsafe impl<T: Send> Sync for PerTask<T> {}

impl<T> PerTask<T> {
    /// Memory for scratches of `each` elements.
    pub(super) fn new(memory: &mut [T], each: usize) -> Self {
        PerTask { first: memory.as_mut_ptr(), len: memory.len(), each }
    }

    /// The scratch of a task.
    pub(super) fn of(&self, worker: usize) -> *mut T {
        assert!((worker + 1) * self.each <= self.len, "a task without a scratch");
        self.first.wrapping_add(worker * self.each)
    }
}

/// Reduces the rows of a plan, of some bytes, one by one.
fn reducing(plan: &ReducePlan, row: usize) -> Take<'static> {
    let rows = plan.reducer().rows.expect("a plan that groups no rows reduces them one by one");
    Take::Reduce(rows.resolved.at(plan.spec().level), row, plan.by_index())
}
