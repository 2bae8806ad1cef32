//! Scatters whose rows are sorted by destination.
//!
//! ```text
//! for each piece of the loop nest that fits the scratch:
//!     write down where every row comes from and goes to      (in order)
//!     sort by destination                                     (stably: the order stays)
//!     for each destination: reduce its rows at once           (if there is one piece, threads share these)
//! ```

use core::cell::Cell;

use crate::exec::scatter::part::{ScatterPart, Scratch};
use crate::exec::scatter::{ScatterCut, rows_of_a_piece};
use crate::exec::scratch::WorkerScratch;
use crate::exec::threads::{CHUNKS_PER_THREAD, parallel_for, pool_threads};
use crate::kernels::reduce::scatter::{
    AccumulatorFns, Consume, Ends, Entry, RecordedRows, ReduceFn, ReduceJob, Row, RowsJob, ScatterFns, begin_rows,
    part_of, sort,
};
use crate::kernels::{Outcome, prefetch};
use crate::plan::ReducePlan;
use crate::types::error::Error;

/// Rows that are sorted together, where there may be fewer: half a MiB of scratch, in the second-level cache.
const ROWS: usize = (512 << 10) / ENTRIES;
/// Bytes of an entry and a spare one.
const ENTRIES: usize = 2 * size_of::<Entry>();

/// The scratch that `tasks` tasks need for a plan: the entries of the pieces that are worked on at a time, and a record
/// for each task, where rows are reduced beside the destination.
///
/// # Errors
/// [`Error::AllocationFailed`].
pub(super) fn scratch(plan: &ReducePlan, tasks: usize) -> Result<Scratch, Error> {
    let rows = plan.work().rows;
    let pieces = (rows / ROWS).max(if tasks == 1 { 1 } else { tasks.saturating_mul(CHUNKS_PER_THREAD) });
    let cut = ScatterCut::new(plan, tasks, pieces);
    let rows = rows_of_a_piece(plan, &cut);
    // No more threads help than the pool has, however many tasks there are to be.
    let tasks = tasks.min(pool_threads().saturating_add(1));
    let entries = WorkerScratch::new(rows.saturating_mul(ENTRIES), tasks.min(cut.pieces()), &[])?;
    let record = records_of(plan).map_or(0, |fns| fns.record(plan.elements));
    Ok(Scratch { tasks, cut, records: WorkerScratch::new(record, tasks, &[])?, entries })
}

/// The records of a plan whose rows are reduced beside the destination.
fn records_of(plan: &ReducePlan) -> Option<&AccumulatorFns> {
    let (fns, include_self) = (plan.reducer, plan.include_self);
    fns.beside.as_ref().filter(|_| !fns.takes_in_place(include_self)).map(|beside| beside.records(include_self))
}

/// Runs a plan. If there is one piece and it is not complete, nothing is written.
pub(super) fn run(whole: &ScatterPart<'_>, scratch: Scratch) -> Outcome {
    let tasks = scratch.tasks;
    // All pieces count from coordinate 0 of the whole.
    let (updates, destination) = (whole.origin().out, whole.origin().data.cast_mut());
    let run = GroupRun { plan: whole.plan, destination, updates, scratch: &scratch };
    if scratch.cut.pieces() == 1 {
        // SAFETY: R1: the only piece, sorted once.
        let (sorted, outcome) = unsafe { run.sort(whole, 0) };
        if !outcome.is_complete() {
            return outcome;
        }
        let parts = if tasks == 1 { 1 } else { tasks.saturating_mul(CHUNKS_PER_THREAD) };
        parallel_for(tasks, parts, |part, worker| {
            // No two parts have rows of one destination.
            run.reduce(part_of(sorted, part, parts), worker);
        });
        return outcome;
    }
    whole.share(&scratch.cut, tasks, |part, worker| {
        // SAFETY: R1: the worker has its number alone, and its rows before have been reduced.
        let (entries, outcome) = unsafe { run.sort(part, worker) };
        run.reduce(entries, worker);
        outcome
    })
}

/// A plan whose rows are sorted, and the first rows of its destination and updates.
struct GroupRun<'a> {
    plan: &'a ReducePlan,
    destination: *mut u8,
    updates: *const u8,
    scratch: &'a Scratch,
}

// SAFETY: threads reduce rows of different destinations, and only read updates.
unsafe impl Sync for GroupRun<'_> {}

impl GroupRun<'_> {
    /// Writes down the rows of a piece, and sorts them.
    ///
    /// # Safety
    /// Nothing else uses the entries of the worker, as long as those that are returned are borrowed.
    unsafe fn sort(&self, part: &ScatterPart<'_>, worker: usize) -> (&[Entry], Outcome) {
        let (first, len) = (self.scratch.entries.of(worker).cast::<Entry>(), self.scratch.entries.bytes() / ENTRIES);
        let (spare, n) = (first.wrapping_add(len), Cell::new(0));
        // SAFETY: R1: lines of this worker, which need not be initialised, and which nothing else uses.
        let list = unsafe { core::slice::from_raw_parts_mut(first.cast(), len) };
        // SAFETY: S3: rows are written down, and none is touched, whatever its type.
        let outcome = unsafe { part.call(Consume::collect(list, &n, self.destination, self.updates)) };
        // SAFETY: R1: as many spare entries as have been written down.
        unsafe { spare.write_bytes(0, n.get()) };
        // SAFETY: `n` entries each, which have been written, apart from one another.
        let [list, spare] = [first, spare].map(|first| unsafe { core::slice::from_raw_parts_mut(first, n.get()) });
        (sort(list, spare), outcome)
    }

    /// Reduces rows that were collected into their destinations, which this thread alone has with the number of the
    /// worker.
    fn reduce(&self, entries: &[Entry], worker: usize) {
        let &GroupRun { plan, destination, updates, scratch } = self;
        let (n, row, level, include_self) = (entries.len(), plan.spec().row, plan.spec().level, plan.include_self);
        let ScatterFns { rows, identity, divide, replaces, .. } = plan.reducer;
        let ends = |k: usize| Ends {
            updates: updates.wrapping_offset(entries[k].from),
            destination: destination.wrapping_offset(entries[k].to),
        };
        if *replaces {
            for last in (0..n).filter(|&k| k + 1 == n || entries[k].to != entries[k + 1].to) {
                let Ends { updates, destination } = ends(last);
                // SAFETY: S1, S2 and K4: a row that was collected and where it goes, which are apart.
                unsafe { destination.copy_from_nonoverlapping(updates, row) };
            }
            return;
        }
        if n == 0 {
            return;
        }
        let record = scratch.records.of(worker);
        let records = records_of(plan);
        let take = records.map(|fns| fns.take).or(rows.map(|rows| rows.resolved)).expect("rows, or records").at(level);
        let line = identity.filter(|_| records.is_none() && !include_self).map(|identity| identity());
        let elements = plan.elements;
        let destination_bytes = records.map_or(row, |fns| fns.record(elements));
        let mut written =
            WrittenGroup { ends: [ends(0); ENDS], n: 0, take, row: Row { elements, bytes: row, destination_bytes } };
        let mut first = 0;
        while first < n {
            let Ends { destination, .. } = ends(first);
            let end = (first + 1..n).find(|&k| entries[k].to != entries[first].to).unwrap_or(n);
            let (count, uncounted) = RowsJob::split(end - first);
            let records_of_one = (&raw const count).cast_mut().cast();
            let counted =
                RecordedRows { n: 1, records: records_of_one, destination, step: 0, elements, include_self, uncounted };
            let beside = records.map(|fns| {
                // A note counts the row too, if that counts.
                let (_, uncounted) = RowsJob::split(end - first + usize::from(include_self));
                let recorded = RecordedRows { records: record, uncounted, ..counted };
                // SAFETY: A1: a row of the destination, and the worker's record, in which there is a sum for each
                // element.
                (fns, unsafe { RowsJob::new(recorded) })
            });
            // SAFETY: A1: a row of the destination, and a count for a record.
            let counted = unsafe { RowsJob::new(counted) };
            match (&beside, &line) {
                (Some((fns, job)), _) => fns.begin.at(level)(job),
                // SAFETY: the record is a count; a row has as many bytes, and the elements of the reduction.
                (None, Some(line)) => unsafe { begin_rows(&counted, line, row) },
                (None, None) => {}
            }
            for k in first..end {
                if k + AHEAD < n {
                    let later = ends(k + AHEAD);
                    prefetch(later.updates, row.min(AHEAD_BYTES));
                    prefetch(later.destination, row.min(AHEAD_BYTES));
                }
                let ends = ends(k);
                // SAFETY: S1, S2 and K4: a row that was collected, and where it goes, or the worker's record, which
                // has begun.
                unsafe { written.push(if records.is_some() { Ends { destination: record, ..ends } } else { ends }) };
            }
            if records.is_some() || divide.is_some() {
                written.flush();
            }
            match (&beside, divide) {
                (Some((fns, job)), _) => fns.end.at(level)(job),
                (None, Some(divide)) => divide(&counted),
                (None, None) => {}
            }
            first = end;
        }
        written.flush();
    }
}

/// Rows that are reduced at a time.
const ENDS: usize = 64;
/// Prefetch distance, in entries, and bytes of a row that are prefetched.
const AHEAD: usize = 16;
const AHEAD_BYTES: usize = 256;

/// Rows that have been written down, for a function of their type.
struct WrittenGroup {
    ends: [Ends; ENDS],
    n: usize,
    take: ReduceFn,
    row: Row,
}

impl WrittenGroup {
    /// Writes a row down. Reduces all of them when there are enough.
    ///
    /// # Safety
    /// S1, S2 and K4 for the row until the next [`Self::flush`], and S3: `take` reduces elements of its type.
    #[inline(always)]
    unsafe fn push(&mut self, ends: Ends) {
        self.ends[self.n] = ends;
        self.n += 1;
        if self.n == ENDS {
            self.flush();
        }
    }

    /// Reduces the rows.
    fn flush(&mut self) {
        let rows = &self.ends[..core::mem::take(&mut self.n)];
        // SAFETY: S1, S2, S3 and K4 hold for all rows that were pushed.
        (self.take)(&unsafe { ReduceJob::new(rows, self.row) });
    }
}
