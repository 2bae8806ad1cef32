//! Scatters whose rows are sorted by destination.
//!
//! ```text
//! for each piece of the loop nest that fits the scratch:
//!     write down where every row comes from and goes to      (in order)
//!     sort by destination                                     (stably: the order stays)
//!     for each destination: reduce its rows at once           (if there is one piece, threads share these)
//! ```

use alloc::vec::Vec;

use crate::exec::scatter::{Cut, Part, rows_of_a_piece};
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

/// How a plan is cut, and memory for the pieces that are worked on at a time.
pub(super) struct Scratch {
    tasks: usize,
    cut: Cut,
    rooms: Vec<Entries>,
    /// A record for each task, where rows are reduced beside the destination.
    records: Vec<u8>,
    /// Bytes from the lowest rows of the destination and of the updates to those at coordinate 0.
    below: [usize; 2],
}

impl Scratch {
    /// The memory that `tasks` tasks need for a plan.
    ///
    /// # Errors
    /// [`Error::AllocationFailed`].
    pub(super) fn new(plan: &ReducePlan, tasks: usize) -> Result<Self, Error> {
        let rows = plan.work().rows;
        let pieces = (rows / ROWS).max(if tasks == 1 { 1 } else { tasks.saturating_mul(PIECES) });
        let cut = Cut::new(plan, tasks, pieces);
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
        let mut rooms = Vec::new();
        let places = tasks.min(cut.pieces());
        let failed =
            || Error::AllocationFailed { bytes: rows.saturating_mul(Entries::bytes(to, from)).saturating_mul(places) };
        rooms.try_reserve_exact(places).map_err(|_| failed())?;
        for _ in 0..places {
            rooms.push(Entries::with_capacity(rows, to, from).ok_or_else(failed)?);
        }
        let mut records = Vec::new();
        let bytes = tasks.saturating_mul(record_bytes(plan));
        records.try_reserve_exact(bytes).map_err(|_| Error::AllocationFailed { bytes })?;
        records.resize(bytes, 0);
        Ok(Scratch { tasks, cut, rooms, records, below: [below_to, below_from] })
    }

    /// Whether all indices are looked at before anything is written.
    pub(super) fn writes_last(&self) -> bool {
        self.cut.pieces() == 1
    }
}

/// The records of a plan whose rows are reduced beside the destination.
fn records_of(plan: &ReducePlan) -> Option<&AccumulatorFns> {
    let (fns, include_self) = (plan.reducer(), plan.includes_self());
    fns.beside.as_ref().filter(|_| !fns.takes_in_place(include_self)).map(|beside| beside.records(include_self))
}

/// Bytes of a record; 0 where there is none.
fn record_bytes(plan: &ReducePlan) -> usize {
    records_of(plan).map_or(0, |fns| fns.record(plan.elements()))
}

/// The rooms of all tasks, each of which uses its own.
struct Rooms(*mut Entries, usize);

// SAFETY: tasks have numbers of their own, and each uses the entries of its number.
unsafe impl Sync for Rooms {}

impl Rooms {
    /// The entries of a task.
    ///
    /// # Safety
    /// One thread at a time has the number.
    #[allow(clippy::mut_from_ref, reason = "the caller's promise")]
    unsafe fn of(&self, worker: usize) -> &mut Entries {
        assert!(worker < self.1, "a task without entries");
        // SAFETY: the caller's promise; there are as many rooms.
        unsafe { &mut *self.0.wrapping_add(worker) }
    }
}

/// Runs a plan. Where indices out of range are `errors` and there is one piece, nothing is written if it has one.
///
/// # Safety
/// The promise of [`super::run`]; the scratch is that of the plan.
pub(super) unsafe fn run(whole: Part<'_>, mut scratch: Scratch, errors: bool) -> Outcome {
    let (tasks, below) = (scratch.tasks, scratch.below);
    // All pieces count from where the lowest rows of the whole begin.
    let record = record_bytes(whole.plan);
    let run = Run { whole: &whole, below, records: Records(scratch.records.as_mut_ptr(), record) };
    if scratch.cut.pieces() == 1 {
        let entries = &mut scratch.rooms[0];
        // SAFETY: the caller's promise.
        let outcome = unsafe { run.collect(&whole, entries) };
        if errors && outcome.out_of_range {
            return outcome;
        }
        let (sorted, parts) = (entries.sort(), if tasks == 1 { 1 } else { tasks.saturating_mul(PIECES) });
        threads::share(tasks, parts, |pieces| {
            let worker = pieces.worker;
            for part in pieces {
                // SAFETY: the caller's promise, for destinations that this thread alone has taken.
                unsafe { run.reduce(&sorted.part(part, parts), worker) };
            }
        });
        return outcome;
    }
    let rooms = Rooms(scratch.rooms.as_mut_ptr(), scratch.rooms.len());
    whole.share(&scratch.cut, tasks, |part, worker| {
        // SAFETY: workers have numbers of their own, below the number of tasks.
        let entries = unsafe { rooms.of(worker) };
        // SAFETY: the caller's promise, for a piece that this thread alone has taken.
        let outcome = unsafe { run.collect(part, entries) };
        // SAFETY: as above.
        unsafe { run.reduce(&entries.sort(), worker) };
        outcome
    })
}

/// A plan whose rows are sorted.
#[derive(Clone, Copy)]
struct Run<'a> {
    whole: &'a Part<'a>,
    below: [usize; 2],
    records: Records,
}

/// The records of all tasks, of some bytes each.
#[derive(Clone, Copy)]
struct Records(*mut u8, usize);

// SAFETY: tasks have numbers of their own, and each uses the record of its number.
unsafe impl Sync for Records {}

impl Run<'_> {
    /// The lowest rows of the destination and of the updates.
    fn lowest(&self) -> (*mut u8, *const u8) {
        let [to, from] = self.below;
        (self.whole.origin.data.cast_mut().wrapping_sub(to), self.whole.origin.out.cast_const().wrapping_sub(from))
    }

    /// Writes down the rows of a piece.
    ///
    /// # Safety
    /// As for [`run`].
    unsafe fn collect(&self, part: &Part<'_>, entries: &mut Entries) -> Outcome {
        let (to, from) = self.lowest();
        entries.clear();
        // SAFETY: the caller's promise.
        unsafe { part.call(Take::collect(entries, to, from)) }
    }

    /// Reduces rows into their destinations.
    ///
    /// # Safety
    /// As for [`run`]; no other thread has rows of these destinations, or the number of the worker.
    unsafe fn reduce(&self, entries: &SortedRows<'_>, worker: usize) {
        let ((destination, updates), plan) = (self.lowest(), self.whole.plan);
        let (n, row, level, include_self) = (entries.len(), plan.spec().row, plan.spec().level, plan.includes_self());
        let ScatterFns { rows, identity, divide, replaces, .. } = plan.reducer();
        let ends = |k: usize| Ends {
            updates: updates.wrapping_add(entries.from(k)),
            destination: destination.wrapping_add(entries.to(k)),
        };
        if *replaces {
            for last in (0..n).filter(|&k| k + 1 == n || entries.to(k) != entries.to(k + 1)) {
                let Ends { updates, destination } = ends(last);
                // SAFETY: S1, S2 and K4: both ends reach a row, and are apart.
                unsafe { destination.copy_from_nonoverlapping(updates, row) };
            }
            return;
        }
        let records = records_of(plan);
        let take = records.map(|fns| fns.take).or(rows.map(|rows| rows.resolved)).expect("rows, or records").at(level);
        let line = identity.filter(|_| records.is_none() && !include_self).map(|identity| identity());
        let Records(first, record) = self.records;
        let (elements, record) = (plan.elements(), first.wrapping_add(worker * record));
        let destination_bytes = records.map_or(row, |fns| fns.record(elements));
        if n == 0 {
            return;
        }
        let mut written =
            Written { ends: [ends(0); ENDS], n: 0, take, row: Row { elements, bytes: row, destination_bytes } };
        let mut first = 0;
        while first < n {
            let Ends { destination, .. } = ends(first);
            let end = (first + 1..n).find(|&k| entries.to(k) != entries.to(first)).unwrap_or(n);
            let (count, uncounted) = RowsJob::split(end - first);
            let records_of_one = (&raw const count).cast_mut().cast();
            let counted =
                RecordedRows { n: 1, records: records_of_one, destination, step: 0, elements, include_self, uncounted };
            // A note counts the row too, if that counts.
            let (_, uncounted) = RowsJob::split(end - first + usize::from(include_self));
            // SAFETY: A1 for the row, and the worker's record.
            let job = unsafe { RowsJob::new(RecordedRows { records: record, uncounted, ..counted }) };
            // SAFETY: A1 for the row, whose count is the record.
            let counted = unsafe { RowsJob::new(counted) };
            match (records, &line) {
                (Some(fns), _) => fns.begin.at(level)(&job),
                // SAFETY: A1 for the row, whose count is the record.
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
                // SAFETY: S1, S2 and K4 for the row, and for the record.
                unsafe { written.push(if records.is_some() { Ends { destination: record, ..ends } } else { ends }) };
            }
            if records.is_some() || divide.is_some() {
                // SAFETY: as above.
                unsafe { written.flush() };
            }
            match (records, divide) {
                (Some(fns), _) => fns.end.at(level)(&job),
                (None, Some(divide)) => divide(&counted),
                (None, None) => {}
            }
            first = end;
        }
        // SAFETY: as above.
        unsafe { written.flush() };
    }
}

/// Rows that are reduced at a time.
const ENDS: usize = 64;
/// Prefetch distance, in entries, and bytes of a row that are prefetched.
const AHEAD: usize = 16;
const AHEAD_BYTES: usize = 256;

/// Rows that have been written down.
struct Written {
    ends: [Ends; ENDS],
    n: usize,
    take: ReduceFn,
    row: Row,
}

impl Written {
    /// Writes a row down. Reduces all of them when there are enough.
    ///
    /// # Safety
    /// S1, S2, S3 and K4 for the row, of the type that `take` is for; K7.
    #[inline(always)]
    unsafe fn push(&mut self, ends: Ends) {
        self.ends[self.n] = ends;
        self.n += 1;
        if self.n == ENDS {
            // SAFETY: the caller's promise.
            unsafe { self.flush() };
        }
    }

    /// Reduces the rows.
    ///
    /// # Safety
    /// As for [`Written::push`], for all rows that have been written down.
    unsafe fn flush(&mut self) {
        let rows = &self.ends[..core::mem::take(&mut self.n)];
        // SAFETY: S1, S2, S3 and K4 for rows that have been written down, of the type that `take` is for.
        (self.take)(&unsafe { ReduceJob::new(rows, self.row) });
    }
}
