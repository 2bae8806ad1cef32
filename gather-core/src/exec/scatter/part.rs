//! Chunks of a scatter's loop nest, for threads to run.

use core::mem::MaybeUninit;
use core::ops::Deref;

use crate::exec::cuts::{Cuts, share};
use crate::exec::panels::{self, Panelled};
use crate::exec::scatter::few::COUNTING;
use crate::exec::scatter::{CHECKED_BY_ONE, KEPT, ScatterCut, end_of_chunk, few_bytes, loops_of_indices};
use crate::exec::scratch::WorkerScratch;
use crate::exec::threads::CHUNKS_PER_THREAD;
use crate::kernels::reduce::scatter::{Consume, RowConsumer};
use crate::kernels::remap;
use crate::kernels::{Cursor, IndexArgs, KernelSpec, Loop, Loops, Outcome, fits_i32, start_of_part};
use crate::plan::{ReducePlan, Strategy, is_free};
use crate::types::method::Method;

/// A chunk of a plan's loop nest, for one thread, with the arguments of its kernel. Invariant: the contract of
/// [`ScatterPart::new`]. [`ScatterPart::call`] adds the consumer that takes the rows.
#[derive(Clone, Copy)]
pub(super) struct ScatterPart<'a> {
    pub(super) plan: &'a ReducePlan,
    args: IndexArgs<'a>,
    pub(super) elements: usize,
}

impl<'a> Deref for ScatterPart<'a> {
    type Target = IndexArgs<'a>;

    #[inline(always)]
    fn deref(&self) -> &IndexArgs<'a> {
        &self.args
    }
}

// SAFETY: X2: threads run disjoint chunks, which reach different elements of the destination (P1 for free loops;
// disjoint columns), or only read indices. Updates and indices are shared memory whose elements are `Sync`.
unsafe impl Sync for ScatterPart<'_> {}

impl<'a> ScatterPart<'a> {
    /// Loops of a plan from `origin` on, in rows of `elements` elements.
    ///
    /// # Safety
    /// S1, S2, K3 and K4 for the loops; no other thread uses their rows of the destination during the use of the
    /// chunk. The plan's kernel fits them, and takes them by the method of `spec` (K2, K5, K9).
    pub(super) unsafe fn new(
        (plan, elements): (&'a ReducePlan, usize),
        spec: &'a KernelSpec,
        origin: Cursor,
        loops: &'a [Loop],
        stride: isize,
    ) -> Self {
        // SAFETY: by the caller's contract; `call` sets the consumer before a kernel runs (S3, S4).
        let args = unsafe { IndexArgs::new(spec, origin, loops, stride, core::ptr::null()) };
        ScatterPart { plan, args, elements }
    }

    /// Calls the kernel, which passes its rows to `take`.
    ///
    /// # Safety
    /// S3 and S4: `take` reduces elements of the type of the updates, in rows of `self.elements`, into rows of the
    /// loops.
    pub(super) unsafe fn call(&self, take: Consume<'_>) -> Outcome {
        let consumer = RowConsumer { take, elements: self.elements };
        // SAFETY: S3 and S4 by the caller; the consumer outlives the call, and this thread owns it.
        let args = unsafe { self.args.given((&raw const consumer).cast()) };
        // SAFETY: P2: the kernel has the rank, the index type and the method of the plan.
        unsafe { remap::call(self.plan.kernel(), self.plan.index(), &args) }
    }

    /// Runs the whole nest panel by panel, for a plan with panels.
    ///
    /// # Safety
    /// The scratch was made for these loops and the panels of the plan.
    pub(super) unsafe fn run_panels(&self, scratch: panels::PanelScratch) -> Outcome {
        let ScatterPart { plan, elements, .. } = *self;
        let Strategy::Panels(panels) = &plan.way else { unreachable!("a plan with panels") };
        let consumer = RowConsumer { take: reducing(plan, plan.spec().row), elements };
        let (kernel, params) = (plan.panel_kernel, (&raw const consumer).cast());
        let (loops, origin) = (self.loops(), *self.origin());
        let panelled = Panelled { plan, loops, panels, origin, kernel, params, unpacks: true, scratch };
        // SAFETY: the contract of `self`. S3, S4: the functions are of the plan's type, and threads only read the
        // consumer. The panels and the kernel are the plan's, and the scratch was made for them by the caller's
        // contract.
        unsafe { panelled.run() }
    }

    /// Calls `run` on every chunk, on up to `tasks` threads.
    pub(super) fn share(
        &self,
        cut: &ScatterCut,
        tasks: usize,
        run: impl Fn(&ScatterPart<'_>, usize) -> Outcome + Sync,
    ) -> Outcome {
        if cut.chunks() == 1 {
            return run(self, 0);
        }
        share(tasks, cut.chunks(), |chunk, worker| self.with_chunk(cut, chunk, |part| run(part, worker)))
    }

    /// Checks every index. The outcome is complete iff all indices are in range. If negative indices are skipped, an
    /// index is in range here iff it is when negative indices count from the end.
    pub(super) fn check(&self, tasks: usize) -> Outcome {
        let (loops, first) = loops_of_indices(self.loops());
        let indices = loops.iter().fold(1, |n: usize, along| n.saturating_mul(along.n));
        let tasks = tasks.min(indices / CHECKED_BY_ONE).max(1);
        let origin = Cursor { index: self.origin().index.wrapping_offset(first), ..*self.origin() };
        // The plan's spec is about its own inner loop. It may also be about records, whose positions fit in 32 bits
        // even if the positions of the destination do not (K2).
        let (own, skips_negative) = (loops.last().map(|inner| inner.index), self.plan.skips_negative);
        let fits = fits_i32(&self.spec().components);
        let other;
        let spec = if own == Some(self.inner().index) && fits && !skips_negative {
            self.spec()
        } else {
            let method = if fits { Method::Blocks } else { Method::Direct };
            let policy = if skips_negative { COUNTING } else { self.spec().policy };
            other = KernelSpec { adjacent_tuples: false, method, policy, ..self.spec().clone() };
            &other
        };
        // SAFETY: K3: `loops` reach the indices of the chunk, and have its rank. S1, S2: no row is read or written.
        let part = unsafe { ScatterPart::new((self.plan, self.elements), spec, origin, &loops, self.stride()) };
        // SAFETY: S3, S4: no row is taken.
        let check = |part: &ScatterPart<'_>| unsafe { part.call(Consume::Nothing) };
        if tasks == 1 {
            return check(&part);
        }
        let cuts = Cuts::new(loops.iter().map(|along| along.n), tasks.saturating_mul(CHUNKS_PER_THREAD));
        share(tasks, cuts.chunks(), |chunk, _| part.with_ranges(&cuts, chunk, check))
    }

    /// Reduces every row into its destination, on this thread, for a plan that reduces rows one by one.
    pub(super) fn reduce(&self) -> Outcome {
        let Some(block) = self.plan.block else { return self.reduce_at_once() };
        let (mut loops, last, n) = (Loops::new(), self.loops().len() - 1, self.inner().n);
        (0..n).step_by(block.get()).fold(Outcome::NOTHING, |outcome, start| {
            let range = |depth, n: usize| if depth == last { start..n.min(start + block.get()) } else { 0..n };
            outcome.and(ScatterPart { args: self.args.part(&mut loops, range), ..*self }.reduce_at_once())
        })
    }

    /// [`Self::reduce`] in one call of the kernel.
    fn reduce_at_once(&self) -> Outcome {
        // SAFETY: S3, S4: the functions are of the plan's type, for rows in place.
        unsafe { self.call(reducing(self.plan, self.spec().row)) }
    }

    /// [`Self::reduce`] on up to `tasks` threads.
    pub(super) fn run(&self, tasks: usize) -> Outcome {
        if tasks == 1 {
            return self.reduce();
        }
        self.share(&ScatterCut::new(self.plan, tasks, tasks.saturating_mul(CHUNKS_PER_THREAD)), tasks, |part, _| {
            part.reduce()
        })
    }

    /// Calls `run` on the whole nest; restores the destination's `bytes` ([`few_bytes`]) if an index is out of range.
    #[inline(never)]
    pub(super) fn put_back(&self, bytes: usize, run: impl FnOnce() -> Outcome) -> Outcome {
        debug_assert_eq!(few_bytes(self.plan), Some(bytes));
        let mut held = [const { MaybeUninit::<u8>::uninit() }; KEPT];
        let destination = self.origin().data.cast_mut().cast::<MaybeUninit<u8>>();
        let held = held[..bytes].as_mut_ptr();
        // SAFETY: S2: by `few_bytes` the destination's rows are exactly these bytes; `held` has `bytes` bytes.
        unsafe { held.copy_from_nonoverlapping(destination, bytes) };
        let outcome = run();
        if !outcome.is_complete() {
            // SAFETY: the same bytes, in the other direction; `run` has returned.
            unsafe { destination.copy_from_nonoverlapping(held, bytes) };
        }
        outcome
    }

    /// Calls `run` on a chunk of a partition. Callers give each chunk to one thread.
    fn with_chunk(&self, cut: &ScatterCut, chunk: usize, run: impl FnOnce(&ScatterPart<'_>) -> Outcome) -> Outcome {
        let tasks = match *cut {
            ScatterCut::Free(ref cuts) => {
                let mut loops = self.loops().iter().enumerate();
                let is_whole = |d, along: &Loop| cuts.range(chunk, d, along.n) == (0..along.n);
                debug_assert!(loops.all(|(d, along)| is_free(along) || is_whole(d, along)), "P1: a loop with an order");
                return self.with_ranges(cuts, chunk, run);
            }
            ScatterCut::Columns(tasks) => tasks,
        };
        let (size, elements, Cursor { out, data, index }) =
            (self.spec().row / self.elements, self.elements, *self.origin());
        // Equal numbers of columns, up to a line.
        let [first, last] = [chunk, chunk + 1]
            .map(|task| end_of_chunk(data, size as isize, start_of_part(elements, task, tasks), elements));
        if first >= last {
            return Outcome::NOTHING;
        }
        let spec = KernelSpec { row: (last - first) * size, ..self.spec().clone() };
        let origin = Cursor { out: out.wrapping_add(first * size), data: data.wrapping_add(first * size), index };
        // SAFETY: the contract of `self`, for columns `first..last`; no other thread has chunk `chunk`.
        run(&unsafe { ScatterPart::new((self.plan, last - first), &spec, origin, self.loops(), self.stride()) })
    }

    /// Calls `run` on a chunk of cut loops. Callers give each chunk to one thread.
    fn with_ranges(&self, cuts: &Cuts, chunk: usize, run: impl FnOnce(&ScatterPart<'_>) -> Outcome) -> Outcome {
        let (mut loops, mut is_empty) = (Loops::new(), false);
        let args = self.args.part(&mut loops, |d, n| {
            let (along, range) = (&self.loops()[d], cuts.range(chunk, d, n));
            let [start, end] = [range.start, range.end].map(|at| match is_free(along) {
                true => end_of_chunk(self.origin().data, along.data, at, n),
                false => at,
            });
            is_empty |= start >= end;
            start..end.max(start)
        });
        if is_empty { Outcome::NOTHING } else { run(&ScatterPart { args, ..*self }) }
    }
}

/// Partition of a plan, and scratch for the chunks in progress.
pub(super) struct Scratch {
    pub(super) tasks: usize,
    pub(super) cut: ScatterCut,
    pub(super) records: WorkerScratch<'static>,
    /// For each task, the entries of a chunk, and a spare entry for each.
    pub(super) entries: WorkerScratch<'static>,
}

impl Scratch {
    /// Whether all indices are resolved before anything is written.
    pub(super) fn writes_last(&self) -> bool {
        self.cut.chunks() == 1
    }
}

/// The consumer that reduces the rows of a plan, of `row` bytes, one by one.
fn reducing(plan: &ReducePlan, row: usize) -> Consume<'static> {
    let rows = plan.reducer.rows.expect("a plan that groups no rows reduces them one by one");
    Consume::Reduce(rows.resolved.at(plan.spec().level), row, plan.by_index)
}
