//! Scatters into records: accumulators in a scratch, separate from the destination.
//!
//! ```text
//! for each chunk of the free loops:
//!     make a record for every row of the destination that the chunk may change
//!     run the loop nest over the chunk, with the records as destination
//!     write the rows whose records have updates
//! ```
//!
//! Records are in the order of the destination. If records are only counts, rows are reduced in place:
//!
//! ```text
//! for each chunk of the free loops:
//!     count the updates of every row                            (all indices are checked)
//!     rows with updates = the identity                          (without `include_self`)
//!     run the loop nest over the chunk, row by row
//!     divide the rows with updates by their counts              (means)
//! ```

use core::mem::MaybeUninit;

use smallvec::SmallVec;

use crate::exec::scatter::part::{ScatterPart, Scratch};
use crate::exec::scatter::{ScatterCut, rows_of_a_chunk};
use crate::exec::scratch::WorkerScratch;
use crate::exec::threads::{CHUNKS_PER_THREAD, pool_threads};
use crate::kernels::reduce::scatter::{
    AccumulatorFns, COUNT, Consume, Elements, RecordedRows, RowsJob, ScatterFns, begin_rows, count,
};
use crate::kernels::{Component, Cursor, KernelSpec, LINE, Loop, Outcome};
use crate::plan::fold::{Loops, for_each, merge_into};
use crate::plan::{Accumulators, ReducePlan, is_free};
use crate::types::error::Error;
use crate::types::order::sort_by_key;

/// Target bytes of a chunk's records: fits in the L2 cache.
const WINDOW: usize = 256 << 10;

/// Allocates the records of the chunks in progress, for up to `tasks` tasks.
///
/// # Errors
/// [`Error::AllocationFailed`].
pub(super) fn scratch(plan: &ReducePlan, accumulators: &Accumulators, tasks: usize) -> Result<Scratch, Error> {
    let chunks =
        (accumulators.bytes / WINDOW).max(if tasks == 1 { 1 } else { tasks.saturating_mul(CHUNKS_PER_THREAD) });
    let cut = ScatterCut::new(plan, tasks, chunks);
    let axes = plan.spec().components.iter().fold(1, |n: usize, component| n.saturating_mul(component.dim as usize));
    let free = rows_of_a_chunk(plan, &cut)
        / plan.loops().iter().filter(|along| !is_free(along)).map(|along| along.n).product::<usize>();
    let tasks = tasks.min(cut.chunks()).min(pool_threads().saturating_add(1));
    let elements = match cut {
        ScatterCut::Free(_) => plan.elements,
        ScatterCut::Columns(tasks) => (plan.elements.div_ceil(tasks) + LINE).min(plan.elements),
    };
    let bytes = axes.saturating_mul(free).saturating_mul(bytes_of(accumulators.records, elements));
    Ok(Scratch { tasks, cut, records: WorkerScratch::new(bytes, tasks, &[])?, entries: WorkerScratch::new(0, 0, &[])? })
}

/// Bytes of a record, or of a count if there are no records.
fn bytes_of(records: Option<&AccumulatorFns>, elements: usize) -> usize {
    records.map_or(COUNT, |fns| fns.record(elements))
}

/// Runs a plan. An incomplete chunk writes no row.
pub(super) fn run(whole: &ScatterPart<'_>, accumulators: &Accumulators, scratch: Scratch) -> Outcome {
    whole.share(&scratch.cut, scratch.tasks, |part, worker| {
        let (first, bytes) = (scratch.records.of(worker).cast(), scratch.records.bytes());
        // SAFETY: R1: this worker's uninitialised bytes. A worker runs one chunk at a time.
        let place = unsafe { core::slice::from_raw_parts_mut(first, bytes) };
        let records = Records::new(part, bytes_of(accumulators.records, part.elements), place);
        match accumulators.records {
            Some(fns) => records.take(fns),
            None => records.count(),
        }
    })
}

/// The records of a chunk, in the order of the destination's rows, in a scratch that this thread owns.
struct Records<'a> {
    part: &'a ScatterPart<'a>,
    /// At least one loop over rows and their records, by descending step: `data` steps through the destination, and
    /// `index` through records, in bytes.
    dims: Loops,
    /// The chunk's loop nest over the records.
    loops: SmallVec<[Loop; 6]>,
    components: SmallVec<[Component; 3]>,
    stride: isize,
    /// Start of `rows * record` bytes, borrowed as long as the chunk.
    first: *mut u8,
    record: usize,
    rows: usize,
}

impl<'a> Records<'a> {
    /// # Panics
    /// If `place` is shorter than the records.
    fn new(part: &'a ScatterPart<'a>, record: usize, place: &'a mut [MaybeUninit<u8>]) -> Self {
        let (mut loops, mut components) =
            (SmallVec::<[Loop; 6]>::from_slice(part.loops()), part.spec().components.clone());
        // The loops and then the components that move the destination.
        let mut moving = SmallVec::<[(usize, Loop); 6]>::new();
        for (k, along) in loops.iter().enumerate().filter(|(_, along)| is_free(along)) {
            moving.push((k, Loop { out: 0, index: 0, ..*along }));
        }
        for (k, component) in components.iter().enumerate() {
            let data = part.plan.stride().wrapping_mul(component.scale as isize);
            moving.push((loops.len() + k, Loop { n: component.dim as usize, out: 0, data, index: 0 }));
        }
        sort_by_key(&mut moving, |(_, dim)| !dim.data.unsigned_abs());
        let mut rows = 1;
        for (_, dim) in moving.iter_mut().rev() {
            dim.index = (rows * record) as isize;
            rows *= dim.n;
        }
        let (alone, mut stride) = (components.len() == 1, record as isize);
        for &(k, dim) in &moving {
            match k.checked_sub(loops.len()) {
                None => loops[k].data = dim.index,
                Some(k) if alone => (components[k].scale, stride) = (1, dim.index),
                Some(k) => components[k].scale = dim.index as i64 / record.max(1) as i64,
            }
        }
        let mut dims = Loops::new();
        merge_into(&mut dims, moving.into_iter().map(|(_, dim)| dim));
        if dims.is_empty() {
            dims.push(Loop::ONCE);
        }
        assert!(rows * record <= place.len(), "records of a piece");
        Records { part, dims, loops, components, stride, first: place.as_mut_ptr().cast(), record, rows }
    }

    /// Reduces the rows of the chunk into records, and writes them to the destination.
    fn take(&self, fns: &AccumulatorFns) -> Outcome {
        debug_assert_eq!(self.record, fns.record(self.part.elements), "S3");
        let (part, level) = (self.part, self.part.spec().level);
        self.each(fns.begin.at(level));
        let take = Consume::Reduce(fns.take.at(level), self.record, self.part.plan.by_index);
        // SAFETY: S1 by the chunk. S3, S4: the records have the size of the plan's functions; `begin` initialised them.
        let outcome = unsafe { self.call(part.spec().clone(), &self.loops, (part.origin().out, part.elements), take) };
        if outcome.is_complete() {
            self.each(fns.end.at(level));
        }
        outcome
    }

    /// Counts the updates of the chunk's rows, and reduces the rows in place.
    fn count(&self) -> Outcome {
        debug_assert_eq!(self.record, COUNT, "S3");
        let (part, one) = (self.part, 1u32);
        let (plan, spec) = (part.plan, part.spec());
        let ScatterFns { identity, divide, .. } = plan.reducer;
        // SAFETY: the scratch has `rows * record` bytes for this thread's records.
        unsafe { self.first.write_bytes(0, self.rows * self.record) };
        let rows = count().rows.as_ref().expect("a sum of rows");
        let index = plan.index().size();
        let by_index =
            if self.components.len() == 1 && index >= 4 { (rows.by_index)(Elements::one(COUNT), index) } else { None };
        let take = Consume::Reduce(rows.resolved.at(spec.level), COUNT, by_index);
        let mut loops = self.loops.clone();
        loops.iter_mut().for_each(|along| along.out = 0);
        let ones = KernelSpec { row: COUNT, next_slice_bytes: 0, ..spec.clone() };
        // SAFETY: S1, S3, S4: the functions add one 32-bit update, the same for all, to 32-bit counts.
        let outcome = unsafe { self.call(ones, &loops, ((&raw const one).cast_mut().cast(), 1), take) };
        if !outcome.is_complete() {
            return outcome;
        }
        if let Some(identity) = identity.filter(|_| !plan.include_self) {
            let line = identity();
            // SAFETY: the records are counts; rows have `spec.row` bytes, and elements of the reduction's type.
            self.each(|job| unsafe { begin_rows(job, &line, spec.row) });
        }
        let _ = part.reduce();
        if let Some(divide) = divide {
            self.each(divide);
        }
        outcome
    }

    /// Calls the kernel with records as destination: `loops` and the components step through records instead of rows.
    /// Updates start at `out`, in rows of `elements` elements.
    ///
    /// # Safety
    /// S1 for the updates. S3 and S4 for `take`, with records in place of rows.
    unsafe fn call(
        &self,
        spec: KernelSpec,
        loops: &[Loop],
        (out, elements): (*mut u8, usize),
        take: Consume<'_>,
    ) -> Outcome {
        let spec = KernelSpec { components: self.components.clone(), ..spec };
        let origin = Cursor { out, data: self.first, ..*self.part.origin() };
        // SAFETY: S1 and K3 by the caller and the chunk. S2 and K4: this thread owns the records, and each row that a
        // position in range names has a record.
        let part = unsafe { ScatterPart::new((self.part.plan, elements), &spec, origin, loops, self.stride) };
        // SAFETY: S3 and S4 by the caller.
        unsafe { part.call(take) }
    }

    /// Calls a function for all rows and their records.
    fn each(&self, run: impl Fn(&RowsJob)) {
        let part = self.part;
        let (last, others) = self.dims.split_last().expect("there is one dimension or more");
        let step = |(destination, records): (*mut u8, *mut u8), along: &Loop| {
            (destination.wrapping_offset(along.data), records.wrapping_offset(along.index))
        };
        let first = (part.origin().data.cast_mut(), self.first);
        for_each(others, first, step, &mut |(destination, records)| {
            let (elements, include_self) = (part.elements, part.plan.include_self);
            let (n, step) = (last.n, last.data);
            let rows = RecordedRows { n, records, destination, step, elements, include_self, uncounted: 0 };
            // SAFETY: A1 by S2: the chunk's rows, each with its own record; the functions are of the plan's type.
            run(&unsafe { RowsJob::new(rows) });
        });
    }
}
