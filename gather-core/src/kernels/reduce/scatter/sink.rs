//! Where the rows of a scatter go.

use crate::kernels::args::IndexArgs;
use crate::kernels::moves::ResolvedRows;
use crate::kernels::reduce::scatter::by_index::IndexedFns;
use crate::kernels::reduce::scatter::entries::Entries;
use crate::kernels::reduce::scatter::rows::{Chosen, ReduceFn, Row, reduce_rows};
use crate::kernels::resolve::block::BLOCK;

/// How a kernel uses the rows that it resolves.
pub(crate) struct Sink {
    pub(crate) take: Take,
    /// Elements of a row.
    pub(crate) elements: usize,
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

    /// Chooses the rows whose indices are in range.
    #[inline(always)]
    pub(crate) fn choose(&mut self, rows: &ResolvedRows) {
        let block = rows.block();
        self.n = 0;
        for (row, &position) in rows.positions().iter().take(BLOCK).enumerate() {
            // Written in any case, and counted or not: a branch would be mispredicted every other time.
            self.rows[self.n] = row as u16;
            self.n += usize::from(!block.is_bad(position));
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

    /// The functions that reduce elements by their indices.
    #[inline(always)]
    pub(crate) fn by_index(&self) -> Option<&'static IndexedFns> {
        match self.take {
            Take::Reduce(_, _, by_index) => by_index,
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
                debug_assert_eq!(these.rows.row(), args.spec().row, "K6");
                let row = Row { elements: self.elements, bytes: args.spec().row, destination_bytes };
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
            let to = rows.source(row);
            let offset = |at: usize, lowest: usize| at.wrapping_sub(lowest);
            entries.push(offset(to.addr(), self.to.addr()), offset(rows.target(row).addr(), self.from.addr()));
        };
        match which {
            None => (0..rows.n()).for_each(note),
            Some(which) => which.iter().for_each(|&row| note(usize::from(row))),
        }
    }
}
