//! Scatters whose rows are sorted by destination.
//!
//! ```text
//! for each piece of the loop nest that fits the scratch:
//!     write down where every row comes from and goes to      (in order)
//!     sort by destination                                     (stably: the order stays)
//!     for each destination: reduce its rows at once           (if there is one piece, threads share these)
//! ```

use alloc::vec::Vec;
use core::mem::MaybeUninit;

use crate::exec::scatter::part::{PerTask, ScatterPart, Scratch};
use crate::exec::scatter::{ScatterCut, rows_of_a_piece};
use crate::exec::threads::{self, PIECES, pool_threads};
use crate::kernels::reduce::scatter::{
    AccumulatorFns, Ends, Entries, RecordedRows, ReduceFn, ReduceJob, Row, RowsJob, ScatterFns, SortedRows, Span, Take,
    begin_rows,
};
use crate::kernels::{Outcome, prefetch};
use crate::plan::{ReducePlan, is_free};
use crate::types::error::Error;

/// Rows that are sorted together, where there may be fewer: half a MiB of scratch, in the second-level cache.
const ROWS: usize = 1 << 15;

/// The scratch that `tasks` tasks need for a plan: the entries of the pieces that are worked on at a time, and a record
/// for each task, where rows are reduced beside the destination.
///
/// # Errors
/// [`Error::AllocationFailed`].
pub(super) fn scratch(plan: &ReducePlan, tasks: usize) -> Result<Scratch, Error> {
    let rows = plan.work().rows;
    let pieces = (rows / ROWS).max(if tasks == 1 { 1 } else { tasks.saturating_mul(PIECES) });
    let cut = ScatterCut::new(plan, tasks, pieces);
    let rows = rows_of_a_piece(plan, &cut);
    let (times, loops) = (|n: usize| n - 1, plan.loops());
    let along_axes = plan
        .spec()
        .components
        .iter()
        .map(|component| (plan.stride().wrapping_mul(component.scale as isize), times(component.dim as usize)));
    let free = loops.iter().filter(|along| is_free(along)).map(|along| (along.data, times(along.n)));
    let (to, below_to) = Span::new(free.chain(along_axes));
    let (from, below_from) = Span::new(loops.iter().map(|along| (along.out, times(along.n))));
    // No more threads help than the pool has, however many tasks there are to be.
    let tasks = tasks.min(pool_threads().saturating_add(1));
    let mut entries = Vec::new();
    let places = tasks.min(cut.pieces());
    let failed =
        || Error::AllocationFailed { bytes: rows.saturating_mul(Entries::bytes(to, from)).saturating_mul(places) };
    entries.try_reserve_exact(places).map_err(|_| failed())?;
    for _ in 0..places {
        entries.push(Entries::with_capacity(rows, to, from).ok_or_else(failed)?);
    }
    Ok(Scratch { entries, below: [below_to, below_from], ..Scratch::new(cut, tasks, record_bytes(plan))? })
}

/// The records of a plan whose rows are reduced beside the destination.
fn records_of(plan: &ReducePlan) -> Option<&AccumulatorFns> {
    let (fns, include_self) = (plan.reducer, plan.include_self);
    fns.beside.as_ref().filter(|_| !fns.takes_in_place(include_self)).map(|beside| beside.records(include_self))
}

/// Bytes of a record; 0 where there is none.
fn record_bytes(plan: &ReducePlan) -> usize {
    records_of(plan).map_or(0, |fns| fns.record(plan.elements))
}

/// Runs a plan. If there is one piece and it is not complete, nothing is written.
pub(super) fn run(whole: &ScatterPart<'_>, mut scratch: Scratch) -> Outcome {
    let tasks = scratch.tasks;
    let records = PerTask::new(&mut scratch.records, scratch.bytes);
    // All pieces count from where the lowest rows of the whole begin.
    let [to, from] = scratch.below;
    let destination = whole.origin().data.cast_mut().wrapping_sub(to);
    let run = GroupRun { plan: whole.plan, destination, updates: whole.origin().out.wrapping_sub(from), records };
    if scratch.cut.pieces() == 1 {
        let entries = &mut scratch.entries[0];
        let outcome = run.collect(whole, entries);
        if !outcome.is_complete() {
            return outcome;
        }
        let (sorted, parts) = (entries.sort(), if tasks == 1 { 1 } else { tasks.saturating_mul(PIECES) });
        threads::share(tasks, parts, |pieces| {
            let worker = pieces.worker;
            for part in pieces {
                // No two parts have rows of one destination.
                Group { run: &run, entries: sorted.part(part, parts), worker }.reduce();
            }
        });
        return outcome;
    }
    let rooms = PerTask::new(&mut scratch.entries, 1);
    whole.share(&scratch.cut, tasks, |part, worker| {
        // SAFETY: each thread has a number of its own, and so the entries of that number alone.
        let entries = unsafe { &mut *rooms.of(worker) };
        let outcome = run.collect(part, entries);
        Group { run: &run, entries: entries.sort(), worker }.reduce();
        outcome
    })
}

/// A plan whose rows are sorted, and the lowest rows of its destination and updates.
struct GroupRun<'a> {
    plan: &'a ReducePlan,
    destination: *mut u8,
    updates: *const u8,
    /// A record for each task.
    records: PerTask<MaybeUninit<u8>>,
}

// SAFETY: threads reduce rows of different destinations, and only read updates.
unsafe impl Sync for GroupRun<'_> {}

impl GroupRun<'_> {
    /// Writes down the rows of a piece.
    fn collect(&self, part: &ScatterPart<'_>, entries: &mut Entries) -> Outcome {
        entries.clear();
        // SAFETY: S3: rows are written down, and none is touched, whatever its type.
        unsafe { part.call(Take::collect(entries, self.destination, self.updates)) }
    }
}

/// Rows that were collected for a plan. This thread alone has rows of their destinations, and the number of the worker.
struct Group<'a> {
    run: &'a GroupRun<'a>,
    entries: SortedRows<'a>,
    worker: usize,
}

impl Group<'_> {
    /// Reduces the rows into their destinations.
    fn reduce(&self) {
        let Group { run: &GroupRun { plan, destination, updates, ref records }, ref entries, worker } = *self;
        let (n, row, level, include_self) = (entries.len(), plan.spec().row, plan.spec().level, plan.include_self);
        let ScatterFns { rows, identity, divide, replaces, .. } = plan.reducer;
        let ends = |k: usize| Ends {
            updates: updates.wrapping_add(entries.from(k)),
            destination: destination.wrapping_add(entries.to(k)),
        };
        if *replaces {
            for last in (0..n).filter(|&k| k + 1 == n || entries.to(k) != entries.to(k + 1)) {
                let Ends { updates, destination } = ends(last);
                // SAFETY: S1, S2 and K4: a row that was collected and where it goes, which are apart.
                unsafe { destination.copy_from_nonoverlapping(updates, row) };
            }
            return;
        }
        if n == 0 {
            return;
        }
        let record = records.of(worker).cast();
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
            let end = (first + 1..n).find(|&k| entries.to(k) != entries.to(first)).unwrap_or(n);
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
