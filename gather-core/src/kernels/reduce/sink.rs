//! Where the rows of a scatter go.

use crate::kernels::args::IndexArgs;
use crate::kernels::moves::MoveJob;
use crate::kernels::reduce::by_index::IndexedFns;
use crate::kernels::reduce::entries::Entries;
use crate::kernels::reduce::rows::{Chosen, ReduceFn, Row, reduce_rows};
use crate::kernels::resolve::block::BLOCK;

/// How a kernel uses the rows that it resolves.
pub(crate) struct Sink {
    pub(crate) take: Take,
    /// Elements of a row.
    pub(crate) elements: usize,
    /// Which destinations are taken; `None` for all.
    pub(crate) owner: Option<Owner>,
}

/// How rows are taken.
pub(crate) enum Take {
    /// They are reduced into their destinations, which have this many bytes each: once resolved, or, where the plan says
    /// so, by their indices.
    Reduce(ReduceFn, usize, Option<&'static IndexedFns>),
    /// They are written down.
    Collect(Collector),
    /// Nothing: their indices are checked.
    Nothing,
}

/// Writes entries down.
pub(crate) struct Collector {
    entries: *mut Entries,
    to: *const u8,
    from: *const u8,
}

impl Take {
    /// Writes entries down, counted from the lowest rows of destination and updates. There is capacity for all of
    /// them, or the call panics.
    pub(crate) fn collect(entries: &mut Entries, to: *const u8, from: *const u8) -> Self {
        Take::Collect(Collector { entries, to, from })
    }
}

/// A part of the destinations: those of one thread among several. Parts are made of pieces in turn, so that
/// destinations that are close together and often met belong to several threads.
#[derive(Clone, Copy)]
pub(crate) struct Owner {
    /// Below `parts`, which are at most 2^16.
    pub(crate) part: u32,
    pub(crate) parts: u32,
}

/// Bytes of a piece of destinations, as a power of two. A piece begins with a line, so that no line has two owners but
/// where a row straddles pieces.
const PIECE_SHIFT: u32 = 10;

impl Owner {
    /// Whether a row is taken that begins at an address with these low bits.
    #[inline(always)]
    fn takes(self, address: u32) -> bool {
        let spread = (address >> PIECE_SHIFT).wrapping_mul(0x9e37_79b9) >> 16;
        (spread * self.parts) >> 16 == self.part
    }

    /// Whether a row that begins here is taken.
    #[inline(always)]
    pub(crate) fn takes_row(self, to: *const u8) -> bool {
        self.takes(to.addr() as u32)
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

    /// Chooses the rows of a job that an owner takes, and whose positions are not `bad`.
    ///
    /// # Safety
    /// The job's positions have been written; it has at most [`BLOCK`] rows.
    #[inline(always)]
    pub(crate) unsafe fn choose(&mut self, rows: &MoveJob, owner: Option<Owner>, bad: impl Fn(i32) -> bool) {
        debug_assert!(rows.n <= BLOCK);
        let mut wanted = [true; BLOCK];
        let wanted = &mut wanted[..rows.n.min(BLOCK)];
        // SAFETY: the caller's promise: as many positions have been written.
        let positions = unsafe { core::slice::from_raw_parts(rows.positions, wanted.len()) };
        if let Some(owner) = owner {
            // The low halves of addresses, in a form that compilers vectorise.
            let (step, stride) = (rows.data_step as u32, rows.stride as u32);
            let mut data = rows.data.addr() as u32;
            for (wanted, &position) in wanted.iter_mut().zip(positions) {
                *wanted = owner.takes(data.wrapping_add(stride.wrapping_mul(position as u32)));
                data = data.wrapping_add(step);
            }
        }
        self.n = 0;
        for (row, (&wanted, &position)) in wanted.iter().zip(positions).enumerate() {
            // Written in any case, and counted or not: a branch would be mispredicted every other time.
            self.rows[self.n] = row as u16;
            self.n += usize::from(wanted && !bad(position));
        }
    }

    /// The rows that were chosen last.
    #[inline(always)]
    pub(crate) fn rows(&self) -> &[u16] {
        &self.rows[..self.n]
    }
}

impl Sink {
    /// Whether nothing is done with rows but to check their indices.
    #[inline(always)]
    pub(crate) fn only_checks(&self) -> bool {
        matches!(self.take, Take::Nothing)
    }

    /// Reduces elements by their indices. It knows no owners.
    #[inline(always)]
    pub(crate) fn by_index(&self) -> Option<&'static IndexedFns> {
        match self.take {
            Take::Reduce(_, _, by_index) if self.owner.is_none() => by_index,
            _ => None,
        }
    }

    /// Takes rows, and prefetches those that are taken after them.
    ///
    /// # Safety
    /// The contract of a scatter for these rows and the later ones, whose positions are in range; those listed are rows
    /// of their jobs.
    #[inline(always)]
    pub(crate) unsafe fn take(&self, args: &IndexArgs<'_>, these: Chosen<'_>, later: Option<Chosen<'_>>) {
        debug_assert!([Some(these), later].into_iter().flatten().all(|chosen| chosen.is_sound()));
        match &self.take {
            &Take::Reduce(reduce, destination_bytes, _) => {
                debug_assert_eq!(these.rows.row, args.spec.row, "K6");
                let row = Row { elements: self.elements, bytes: args.spec.row, destination_bytes };
                // SAFETY: the caller's promise.
                unsafe { reduce_rows(reduce, row, these, later) }
            }
            Take::Collect(collector) => {
                // SAFETY: the caller's promise.
                unsafe { collector.collect(these) }
            }
            Take::Nothing => {}
        }
    }
}

impl Collector {
    /// Writes down rows.
    ///
    /// # Safety
    /// As for [`Sink::take`].
    unsafe fn collect(&self, chosen: Chosen<'_>) {
        let Chosen { rows, which } = chosen;
        // SAFETY: S3: the sink, and the entries that it was made for, outlive the call, and one thread has it.
        let entries = unsafe { &mut *self.entries };
        let mut note = |row: usize| {
            // SAFETY: `row < n`, whose position has been written.
            let to = unsafe { rows.source(row) };
            let offset = |at: usize, lowest: usize| at.wrapping_sub(lowest);
            entries.push(offset(to.addr(), self.to.addr()), offset(rows.target(row).addr(), self.from.addr()));
        };
        match which {
            None => (0..rows.n).for_each(note),
            Some(which) => which.iter().for_each(|&row| note(usize::from(row))),
        }
    }
}
