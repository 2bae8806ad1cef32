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
use crate::kernels::Outcome;
use crate::kernels::reduce::{Entries, SortedJob, SortedRows, Span, Take};
use crate::plan::{ReducePlan, is_free};
use crate::types::error::Error;

/// Rows that are sorted together, where there may be fewer: half a MiB of scratch, in the second-level cache.
const ROWS: usize = 1 << 15;

/// How a plan is cut, and memory for the pieces that are worked on at a time.
pub(super) struct Scratch {
    tasks: usize,
    cut: Cut,
    rooms: Vec<Entries>,
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
        Ok(Scratch { tasks, cut, rooms, below: [below_to, below_from] })
    }

    /// Whether all indices are looked at before anything is written.
    pub(super) fn writes_last(&self) -> bool {
        self.cut.pieces() == 1
    }
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
    let run = Run { whole: &whole, below };
    if scratch.cut.pieces() == 1 {
        let entries = &mut scratch.rooms[0];
        // SAFETY: the caller's promise.
        let outcome = unsafe { run.collect(&whole, entries) };
        if errors && outcome.out_of_range {
            return outcome;
        }
        let (sorted, parts) = (entries.sort(), if tasks == 1 { 1 } else { tasks.saturating_mul(PIECES) });
        threads::share(tasks, parts, |pieces| {
            for part in pieces {
                // SAFETY: the caller's promise, for destinations that this thread alone has taken.
                unsafe { run.reduce(&sorted.part(part, parts)) };
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
        unsafe { run.reduce(&entries.sort()) };
        outcome
    })
}

/// A plan whose rows are sorted.
#[derive(Clone, Copy)]
struct Run<'a> {
    whole: &'a Part<'a>,
    below: [usize; 2],
}

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
    /// As for [`run`]; no other thread has rows of these destinations.
    unsafe fn reduce(&self, entries: &SortedRows<'_>) {
        let ((destination, updates), plan) = (self.lowest(), self.whole.plan);
        let Some(groups) = plan.reducer().groups else {
            for last in (0..entries.len()).filter(|&k| k + 1 == entries.len() || entries.to(k) != entries.to(k + 1)) {
                let (from, to) = (updates.wrapping_add(entries.from(last)), destination.wrapping_add(entries.to(last)));
                // SAFETY: S1, S2 and K4: both ends reach a row, and are apart.
                unsafe { to.copy_from_nonoverlapping(from, plan.spec().row) };
            }
            return;
        };
        let (elements, include_self) = (plan.elements(), plan.includes_self());
        let job = SortedJob { entries: *entries, updates, destination, elements, include_self };
        // SAFETY: A2 by S1 and S2: these rows of updates go to these rows of the destination.
        unsafe { groups.sorted.at(plan.spec().level)(&job) }
    }
}
