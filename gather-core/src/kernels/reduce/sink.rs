//! Where the rows of a scatter go.

use alloc::vec::Vec;

use crate::kernels::args::IndexArgs;
use crate::kernels::moves::MoveJob;
use crate::kernels::reduce::rows::{ReduceFn, ReduceJob};
use crate::kernels::resolve::block::BLOCK;

/// What is done with resolved rows.
pub(crate) struct Sink {
    pub(crate) take: Take,
    /// Elements of a row.
    pub(crate) elements: usize,
    /// Which destinations are taken; `None` for all.
    pub(crate) owner: Option<Owner>,
}

/// What is done with rows that are taken.
pub(crate) enum Take {
    /// They are reduced into their destinations.
    Reduce(ReduceFn),
    /// They are written down.
    Collect(Collector),
    /// Nothing: their indices are checked.
    Nothing,
}

/// A row of updates and where it goes, in bytes from the origins of both tensors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) to: isize,
    pub(crate) from: isize,
}

/// Writes entries down.
pub(crate) struct Collector {
    entries: *mut Vec<Entry>,
    to: *const u8,
    from: *const u8,
}

impl Take {
    /// Writes entries down, counted from the origins of destination and updates, for as long as there is room.
    pub(crate) fn collect(entries: &mut Vec<Entry>, to: *const u8, from: *const u8) -> Self {
        Take::Collect(Collector { entries, to, from })
    }
}

/// A part of the destinations: those of one thread among several. Parts are made of pieces in turn, so that destinations
/// that are close together and often met belong to several threads.
#[derive(Clone, Copy)]
pub(crate) struct Owner {
    pub(crate) part: u32,
    pub(crate) parts: u32,
}

/// Bytes of a piece of destinations, as a power of two. A piece begins with a line, so that no line has two owners but
/// where a row straddles pieces.
const PIECE_SHIFT: u32 = 10;

impl Owner {
    /// Whether a row that begins here is taken.
    #[inline(always)]
    pub(crate) fn takes(&self, to: *const u8) -> bool {
        let piece = (to.addr() >> PIECE_SHIFT) as u32;
        let spread = u64::from(piece.wrapping_mul(0x9e37_79b9));
        (spread * u64::from(self.parts)) >> 32 == u64::from(self.part)
    }
}

/// Some of the rows of a block, in their order.
pub(crate) struct Which {
    rows: [u16; BLOCK],
    n: usize,
}

impl Which {
    #[inline(always)]
    pub(crate) fn new() -> Self {
        Which { rows: [0; BLOCK], n: 0 }
    }

    /// The rows below `n <= BLOCK` that are wanted.
    #[inline(always)]
    pub(crate) fn choose(&mut self, n: usize, mut wanted: impl FnMut(usize) -> bool) -> &[u16] {
        self.n = 0;
        for row in 0..n.min(BLOCK) {
            self.rows[self.n] = row as u16;
            self.n += usize::from(wanted(row));
        }
        &self.rows[..self.n]
    }
}

impl Sink {
    /// Does with the rows of a job what is to be done: with all, or with those listed.
    ///
    /// # Safety
    /// The contract of a scatter for these rows, whose positions are in range; those listed are below `rows.n`.
    #[inline(always)]
    pub(crate) unsafe fn take(&self, args: &IndexArgs<'_>, rows: &MoveJob, which: Option<&[u16]>) {
        debug_assert!(which.is_none_or(|which| which.iter().all(|&row| usize::from(row) < rows.n)));
        match &self.take {
            Take::Reduce(reduce) => {
                debug_assert_eq!(rows.row, args.spec.row, "K6");
                // SAFETY: the caller's promise.
                unsafe { reduce(&ReduceJob { rows, which, elements: self.elements }) }
            }
            Take::Collect(collector) => {
                // SAFETY: the caller's promise.
                unsafe { collector.collect(rows, which) }
            }
            Take::Nothing => {}
        }
    }
}

impl Collector {
    /// Writes down rows: all of a job, or those listed.
    ///
    /// # Safety
    /// As for [`Sink::take`].
    unsafe fn collect(&self, rows: &MoveJob, which: Option<&[u16]>) {
        // SAFETY: S3: the sink, and the entries that it was made for, outlive the call, and one thread has it.
        let entries = unsafe { &mut *self.entries };
        let mut note = |row: usize| {
            // SAFETY: `row < n`, whose position has been written.
            let to = unsafe { rows.source(row) };
            let offset = |at: usize, origin: usize| at.wrapping_sub(origin) as isize;
            let from = offset(rows.target(row).addr(), self.from.addr());
            let entry = Entry { to: offset(to.addr(), self.to.addr()), from };
            // Room was made for all rows before: a push would move memory while a kernel runs.
            debug_assert!(entries.len() < entries.capacity(), "S3: room for every row");
            if entries.len() < entries.capacity() {
                entries.push(entry);
            }
        };
        match which {
            None => (0..rows.n).for_each(note),
            Some(which) => which.iter().for_each(|&row| note(usize::from(row))),
        }
    }
}
