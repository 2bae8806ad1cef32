//! Scatters whose rows are sorted by destination.
//!
//! ```text
//! for each piece of the loop nest that fits the scratch:
//!     write down where every row comes from and goes to      (in order)
//!     sort by destination                                     (stably: the order stays)
//!     for each destination: reduce its rows at once
//! ```

use alloc::vec::Vec;

use crate::exec::cuts::Cuts;
use crate::exec::scatter::{Cut, Part};
use crate::exec::threads::{PIECES, pool_threads};
use crate::kernels::reduce::Part as PartOfBag;
use crate::kernels::reduce::{BagRows, Begin, Entry, Lengths, Take};
use crate::kernels::{LINE, Loop, Outcome};
use crate::plan::{ReducePlan, is_free};
use crate::types::error::Error;

/// Rows that are sorted together, where there may be fewer: 1 MiB of scratch, in the second-level cache.
const ROWS: usize = 1 << 15;

/// How a plan is cut, and memory for the pieces that are worked on at a time.
pub(super) struct Scratch {
    tasks: usize,
    cut: Cut,
    rooms: Vec<Room>,
}

/// Memory of one task.
struct Room {
    entries: Vec<Entry>,
    spare: Vec<Entry>,
    /// Where sorted rows are.
    positions: Vec<i64>,
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
        let rows = match &cut {
            Cut::Free(cuts) => rows_of_a_piece(plan, cuts),
            Cut::Columns(_) | Cut::Owners(_) => rows,
        };
        // No more threads help than the pool has, however many tasks there are to be.
        let tasks = tasks.min(cut.pieces()).min(pool_threads().saturating_add(1));
        let bytes = rows.saturating_mul(2 * size_of::<Entry>() + size_of::<i64>()).saturating_mul(tasks);
        let room = || {
            let mut room = Room { entries: Vec::new(), spare: Vec::new(), positions: Vec::new() };
            room.entries.try_reserve_exact(rows).ok()?;
            room.spare.try_reserve_exact(rows).ok()?;
            room.positions.try_reserve_exact(rows).ok()?;
            Some(room)
        };
        let mut rooms = Vec::new();
        rooms.try_reserve_exact(tasks).map_err(|_| Error::AllocationFailed { bytes })?;
        for _ in 0..tasks {
            rooms.push(room().ok_or(Error::AllocationFailed { bytes })?);
        }
        Ok(Scratch { tasks, cut, rooms })
    }
}

/// The most rows of a piece, whose ends may be moved to the begin of a line.
fn rows_of_a_piece(plan: &ReducePlan, cuts: &Cuts) -> usize {
    let longest = |(d, along): (usize, &Loop)| match is_free(along) {
        true => cuts.longest(d, along.n).saturating_add(LINE).min(along.n),
        false => along.n,
    };
    plan.loops().iter().enumerate().map(longest).fold(1, usize::saturating_mul)
}

/// The rooms of all tasks, each of which uses its own.
struct Rooms(*mut Room, usize);

// SAFETY: tasks have numbers of their own, and each uses the room of its number.
unsafe impl Sync for Rooms {}

impl Rooms {
    /// The room of a task.
    ///
    /// # Safety
    /// One thread at a time has the number.
    #[allow(clippy::mut_from_ref, reason = "the caller's promise")]
    unsafe fn of(&self, worker: usize) -> &mut Room {
        assert!(worker < self.1, "a task without a room");
        // SAFETY: the caller's promise; there are as many rooms.
        unsafe { &mut *self.0.wrapping_add(worker) }
    }
}

/// Runs a plan.
///
/// # Safety
/// The promise of [`super::run`]; the scratch is that of the plan.
pub(super) unsafe fn run(whole: Part<'_>, mut scratch: Scratch) -> Outcome {
    let rooms = Rooms(scratch.rooms.as_mut_ptr(), scratch.rooms.len());
    let tasks = scratch.tasks;
    whole.share(&scratch.cut, tasks, |part, worker| {
        // SAFETY: workers have numbers of their own, below the number of tasks.
        let room = unsafe { rooms.of(worker) };
        // SAFETY: the caller's promise, for a piece that this thread alone has taken.
        unsafe { run_piece(part, room) }
    })
}

/// Runs a piece.
///
/// # Safety
/// As for [`run`].
unsafe fn run_piece(part: &Part<'_>, room: &mut Room) -> Outcome {
    let (to, from) = (part.origin.data, part.origin.out.cast_const());
    room.entries.clear();
    // SAFETY: the caller's promise.
    let outcome = unsafe { part.call(Take::collect(&mut room.entries, to, from)) };
    let entries = sort(&mut room.entries, &mut room.spare);
    // Positions are bytes from the row that lies first: none is negative, which would be no row's.
    let least = entries.iter().map(|entry| entry.from).min().unwrap_or(0);
    room.positions.clear();
    room.positions.extend(entries.iter().map(|entry| entry.from.wrapping_sub(least) as i64));
    let from = from.wrapping_offset(least);
    let mut positions = room.positions.as_slice();
    for group in entries.chunk_by(|a, b| a.to == b.to) {
        let to = to.cast_mut().wrapping_offset(group[0].to);
        let these;
        (these, positions) = positions.split_at(group.len());
        // SAFETY: the caller's promise: these rows of updates go to this row of the destination.
        unsafe { reduce_group(part, from, these, to) };
    }
    outcome
}

/// Reduces rows that go to one destination: a bag, which may begin with what the destination holds.
///
/// # Safety
/// The contract of a scatter for rows of `part` at these positions, bytes from `from` on, and for the destination.
unsafe fn reduce_group(part: &Part<'_>, from: *const u8, positions: &[i64], to: *mut u8) {
    let Some(fns) = part.plan.reducer().bag else {
        let last = positions.last().map_or(from, |&last| from.wrapping_offset(last as isize));
        // SAFETY: S1, S2 and K4: both ends reach a row, and are apart.
        return unsafe { to.copy_from_nonoverlapping(last, part.spec.row) };
    };
    let kept = part.plan.includes_self();
    let bag = BagRows {
        data: from,
        stride: 1,
        positions,
        bags: Lengths::Every { len: positions.len(), bags: 1 },
        distance: 0,
        weights: core::ptr::null(),
        weight_step: 0,
        out: to,
        out_stride: 0,
        elements: part.elements,
        divides: fns.divides,
        zeros: core::ptr::null(),
        part: Some(PartOfBag {
            counted: positions.len() + usize::from(kept),
            begin: if kept { Begin::Kept } else { Begin::Row },
            ends: true,
            carried: core::ptr::null_mut(),
        }),
    };
    // SAFETY: the contract of bags: B1 by S1, B2 by S2, B4 since every row counts and nothing is carried.
    unsafe { fns.plain.at(part.spec.level)(&bag) }
}

/// Bits of a key that are sorted by at a time.
const DIGIT: u32 = 11;
/// Entries from which on they are sorted digit by digit.
const DIGITS_FROM: usize = 256;

/// Sorts entries by destination, and leaves those of one destination in their order. `spare` has as much room.
fn sort<'a>(entries: &'a mut Vec<Entry>, spare: &'a mut Vec<Entry>) -> &'a [Entry] {
    if entries.is_sorted_by_key(|entry| entry.to) {
        return entries;
    }
    if entries.len() < DIGITS_FROM {
        entries.sort_by_key(|entry| entry.to);
        return entries;
    }
    let least = entries.iter().map(|entry| entry.to).min().unwrap_or(0);
    let key = |entry: &Entry| entry.to.wrapping_sub(least) as usize;
    let bits = entries.iter().fold(0, |bits, entry| bits | key(entry));
    spare.clear();
    spare.resize(entries.len(), Entry::default());
    let (mut from, mut to) = (entries.as_mut_slice(), spare.as_mut_slice());
    let mut shift = bits.trailing_zeros();
    while shift < usize::BITS && bits >> shift != 0 {
        let digit = |entry: &Entry| key(entry) >> shift & ((1 << DIGIT) - 1);
        let mut starts = [0usize; 1 << DIGIT];
        from.iter().for_each(|entry| starts[digit(entry)] += 1);
        let mut sum = 0;
        for start in &mut starts {
            (*start, sum) = (sum, sum + *start);
        }
        for entry in &*from {
            let start = &mut starts[digit(entry)];
            to[*start] = *entry;
            *start += 1;
        }
        (from, to) = (to, from);
        shift += DIGIT;
    }
    from
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_sorted_by_destination_and_stay_in_order() {
        for len in [0usize, 1, 2, 100, 255, 256, 1000, 5000] {
            for (modulus, step) in [(1isize, 4isize), (7, -8), (300, 12), (1 << 20, 64), (isize::MAX >> 8, 1)] {
                let scrambled = |at: usize| (at as isize).wrapping_mul(0x5851_f42d_4c95_7f2d_u64 as isize);
                let entry = |at: usize| {
                    let to = scrambled(at).rem_euclid(modulus).wrapping_mul(step);
                    Entry { to, from: at as isize }
                };
                let mut entries: Vec<Entry> = (0..len).map(entry).collect();
                let mut expected = entries.clone();
                expected.sort_by_key(|entry| entry.to);
                let mut spare = Vec::with_capacity(len);
                assert_eq!(sort(&mut entries, &mut spare), expected, "{len} {modulus} {step}");
            }
        }
    }
}
