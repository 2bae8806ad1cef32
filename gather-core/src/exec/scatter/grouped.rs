//! Scatters whose rows are sorted by destination.
//!
//! ```text
//! for each chunk of the loop nest that fits the scratch:
//!     list the source and the destination of every row       (in order)
//!     sort by destination                                     (stable)
//!     for each destination: reduce its rows at once           (a single chunk is shared by threads)
//! ```

use core::cell::Cell;

use crate::exec::scatter::part::{ScatterPart, Scratch};
use crate::exec::scatter::{ScatterCut, rows_of_a_chunk};
use crate::exec::scratch::WorkerScratch;
use crate::exec::threads::{CHUNKS_PER_THREAD, parallel_for, pool_threads};
use crate::kernels::reduce::scatter::{
    AccumulatorFns, Consume, Ends, Entry, RecordedRows, ReduceFn, ReduceJob, Row, RowsJob, ScatterFns, begin_rows,
    part_of, sort,
};
use crate::kernels::{Outcome, prefetch};
use crate::plan::ReducePlan;
use crate::types::error::Error;

/// Preferred number of rows per sort: their entries take 512 KiB of scratch, which fits in the L2 cache.
const ROWS: usize = (512 << 10) / ENTRIES;
/// Bytes of an entry, and of its spare entry for `sort`.
const ENTRIES: usize = 2 * size_of::<Entry>();

/// Allocates the entries of the chunks in progress, and a record per task if rows are reduced in records.
///
/// # Errors
/// [`Error::AllocationFailed`].
pub(super) fn scratch(plan: &ReducePlan, tasks: usize) -> Result<Scratch, Error> {
    let rows = plan.work().rows;
    let chunks = (rows / ROWS).max(if tasks == 1 { 1 } else { tasks.saturating_mul(CHUNKS_PER_THREAD) });
    let cut = ScatterCut::new(plan, tasks, chunks);
    let rows = rows_of_a_chunk(plan, &cut);
    // Caps `tasks` at `pool_threads() + 1`.
    let tasks = tasks.min(pool_threads().saturating_add(1));
    let entries = WorkerScratch::new(rows.saturating_mul(ENTRIES), tasks.min(cut.chunks()), &[])?;
    let record = records_of(plan).map_or(0, |fns| fns.record(plan.elements));
    Ok(Scratch { tasks, cut, records: WorkerScratch::new(record, tasks, &[])?, entries })
}

/// The record functions of a plan whose rows are reduced in records.
fn records_of(plan: &ReducePlan) -> Option<&AccumulatorFns> {
    let (fns, include_self) = (plan.reducer, plan.include_self);
    fns.beside.as_ref().filter(|_| !fns.takes_in_place(include_self)).map(|beside| beside.records(include_self))
}

/// Runs a plan. With one chunk, an index out of range leaves the destination unchanged.
pub(super) fn run(whole: &ScatterPart<'_>, scratch: Scratch) -> Outcome {
    let tasks = scratch.tasks;
    // Entries of all chunks have offsets from coordinate 0 of `whole`.
    let (updates, destination) = (whole.origin().out, whole.origin().data.cast_mut());
    let run = GroupRun { plan: whole.plan, destination, updates, scratch: &scratch };
    if scratch.cut.chunks() == 1 {
        // SAFETY: R1: no other thread works yet, and the only chunk is sorted once.
        let (sorted, outcome) = unsafe { run.sort(whole, 0) };
        if !outcome.is_complete() {
            return outcome;
        }
        let parts = if tasks == 1 { 1 } else { tasks.saturating_mul(CHUNKS_PER_THREAD) };
        parallel_for(tasks, parts, |part, worker| {
            // SAFETY: X2 and R1: `part_of` never splits the entries of one destination; the worker's number is its own.
            unsafe { run.reduce(part_of(sorted, part, parts), worker) };
        });
        return outcome;
    }
    whole.share(&scratch.cut, tasks, |part, worker| {
        // SAFETY: R1: no other thread is `worker`, and the entries of its previous chunk have been reduced.
        let (entries, outcome) = unsafe { run.sort(part, worker) };
        // SAFETY: X2: no two chunks reach the same element of the destination. R1: no other thread is `worker`.
        unsafe { run.reduce(entries, worker) };
        outcome
    })
}

/// A plan whose rows are sorted, and the addresses of its destination and updates.
struct GroupRun<'a> {
    plan: &'a ReducePlan,
    destination: *mut u8,
    updates: *const u8,
    scratch: &'a Scratch,
}

// SAFETY: X2: by the contract of `reduce`, threads reduce into different destinations; updates are only read.
unsafe impl Sync for GroupRun<'_> {}

impl GroupRun<'_> {
    /// Lists the rows of a chunk, and sorts them.
    ///
    /// # Safety
    /// Nothing else uses the entries of the worker during the borrow of the result.
    unsafe fn sort(&self, part: &ScatterPart<'_>, worker: usize) -> (&[Entry], Outcome) {
        let (first, len) = (self.scratch.entries.of(worker).cast::<Entry>(), self.scratch.entries.bytes() / ENTRIES);
        let (spare, n) = (first.wrapping_add(len), Cell::new(0));
        // SAFETY: R1: uninitialised lines of this worker, which nothing else uses by the caller's contract.
        let list = unsafe { core::slice::from_raw_parts_mut(first.cast(), len) };
        // SAFETY: S3, S4: the call only lists rows. It reads and writes no row, whatever the type of rows.
        let outcome = unsafe { part.call(Consume::collect(list, &n, self.destination, self.updates)) };
        // SAFETY: R1: `n <= len` entries are listed, and `len` spare entries follow the `len` entries of the list.
        unsafe { spare.write_bytes(0, n.get()) };
        // SAFETY: both ranges have `n` initialised entries, and do not overlap since `n <= len`.
        let [list, spare] = [first, spare].map(|first| unsafe { core::slice::from_raw_parts_mut(first, n.get()) });
        (sort(list, spare), outcome)
    }

    /// Reduces listed rows into their destinations.
    ///
    /// # Safety
    /// X2: no other thread reduces into a destination of `entries`. R1: no other thread uses the record of `worker`.
    unsafe fn reduce(&self, entries: &[Entry], worker: usize) {
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
                // SAFETY: S1, S2 and K4: a listed row and its destination, which do not overlap.
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
        let mut pending =
            PendingRows { ends: [ends(0); ENDS], n: 0, take, row: Row { elements, bytes: row, destination_bytes } };
        let mut first = 0;
        while first < n {
            let Ends { destination, .. } = ends(first);
            let end = (first + 1..n).find(|&k| entries[k].to != entries[first].to).unwrap_or(n);
            let (count, uncounted) = RowsJob::split(end - first);
            let records_of_one = (&raw const count).cast_mut().cast();
            let counted =
                RecordedRows { n: 1, records: records_of_one, destination, step: 0, elements, include_self, uncounted };
            let recorded = records.map(|fns| {
                // A record counts the row of the destination too, if `include_self`.
                let (_, uncounted) = RowsJob::split(end - first + usize::from(include_self));
                let recorded = RecordedRows { records: record, uncounted, ..counted };
                // SAFETY: A1: a row of the destination, and the worker's record, which has a sum for each element. Only
                // `fns`, the functions of the record's reduction, are given the job.
                (fns, unsafe { RowsJob::new(recorded) })
            });
            // SAFETY: A1: a row of the destination, and a count as its record. Only functions for counts are given the
            // job.
            let counted = unsafe { RowsJob::new(counted) };
            match (&recorded, &line) {
                (Some((fns, job)), _) => fns.begin.at(level)(job),
                // SAFETY: the record is a count; a row has `row` bytes, and elements of the reduction's type.
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
                // SAFETY: S1, S2 and K4: a listed row, and its destination or the worker's record, which has begun. S3:
                // `take` is the plan's function for rows or records.
                unsafe { pending.push(if records.is_some() { Ends { destination: record, ..ends } } else { ends }) };
            }
            if records.is_some() || divide.is_some() {
                pending.flush();
            }
            match (&recorded, divide) {
                (Some((fns, job)), _) => fns.end.at(level)(job),
                (None, Some(divide)) => divide(&counted),
                (None, None) => {}
            }
            first = end;
        }
        pending.flush();
    }
}

/// Maximum rows per call of the reduction.
const ENDS: usize = 64;
/// Prefetch distance in entries.
const AHEAD: usize = 16;
/// Maximum bytes of a row to prefetch.
const AHEAD_BYTES: usize = 256;

/// Rows to reduce in one call of `take`.
struct PendingRows {
    ends: [Ends; ENDS],
    n: usize,
    take: ReduceFn,
    row: Row,
}

impl PendingRows {
    /// Lists a row. Reduces the list when it is full.
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

    fn flush(&mut self) {
        let rows = &self.ends[..core::mem::take(&mut self.n)];
        // SAFETY: S1, S2, S3 and K4 hold for all pushed rows, by the contract of `push`.
        (self.take)(&unsafe { ReduceJob::new(rows, self.row) });
    }
}
