//! Where the rows of a scatter go.

#![forbid(unsafe_code)]

use core::cell::Cell;
use core::mem::MaybeUninit;

use crate::kernels::nest::positions::BLOCK;
use crate::kernels::nest::rows::ResolvedRows;
use crate::kernels::reduce::scatter::by_index::FusedScatterFns;
use crate::kernels::reduce::scatter::entries::Entry;
use crate::kernels::reduce::scatter::rows::{Chosen, Ends, ReduceFn, Row, reduce_rows};

/// How a kernel uses the rows that it resolves.
pub(crate) struct RowConsumer<'a> {
    pub(crate) take: Consume<'a>,
    /// Elements of a row.
    pub(crate) elements: usize,
}

/// How rows are taken.
pub(crate) enum Consume<'a> {
    /// They are reduced into their destinations, which have this many bytes each: once resolved, or, where the plan
    /// says so, by their indices.
    Reduce(ReduceFn, usize, Option<&'static FusedScatterFns>),
    /// They are written down.
    Collect(Collector<'a>),
    /// Nothing: their indices are checked.
    Nothing,
}

/// Writes entries down.
pub(crate) struct Collector<'a> {
    /// The entries, of which `n` have been written down.
    entries: Cell<&'a mut [MaybeUninit<Entry>]>,
    n: &'a Cell<usize>,
    to: *const u8,
    from: *const u8,
}

impl<'a> Consume<'a> {
    /// Writes entries down, counted from the first rows of destination and updates, and their number. There are enough
    /// for all rows, or the call panics.
    pub(crate) fn collect(
        entries: &'a mut [MaybeUninit<Entry>],
        n: &'a Cell<usize>,
        to: *const u8,
        from: *const u8,
    ) -> Self {
        Consume::Collect(Collector { entries: Cell::new(entries), n, to, from })
    }
}

/// Some of the rows of a block, in their order.
pub(crate) struct SelectedRows {
    rows: [u16; BLOCK],
    n: usize,
}

impl SelectedRows {
    #[inline(always)]
    pub(crate) fn new() -> Self {
        SelectedRows { rows: [0; BLOCK], n: 0 }
    }

    /// Chooses the rows whose indices are in range.
    #[inline(always)]
    pub(crate) fn choose(&mut self, rows: &ResolvedRows<'_>) {
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

impl RowConsumer<'_> {
    /// Whether nothing is done with rows but to check their indices.
    #[inline(always)]
    pub(crate) fn only_checks(&self) -> bool {
        matches!(self.take, Consume::Nothing)
    }

    /// The functions that reduce elements by their indices.
    #[inline(always)]
    pub(crate) fn by_index(&self) -> Option<&'static FusedScatterFns> {
        match self.take {
            Consume::Reduce(_, _, by_index) => by_index,
            _ => None,
        }
    }

    /// Takes rows that were chosen for this sink, and prefetches those that are taken after them.
    #[inline(always)]
    pub(crate) fn take(&self, these: Chosen<'_>, later: Option<Chosen<'_>>) {
        match &self.take {
            &Consume::Reduce(reduce, destination_bytes, _) => {
                let row = Row { elements: self.elements, bytes: these.row_bytes(), destination_bytes };
                reduce_rows(reduce, row, these, later);
            }
            Consume::Collect(collector) => collector.collect(these),
            Consume::Nothing => {}
        }
    }
}

impl Collector<'_> {
    /// Writes down rows.
    fn collect(&self, chosen: Chosen<'_>) {
        let (entries, mut n) = (self.entries.take(), self.n.get());
        let offset = |at: *const u8, first: *const u8| at.addr().wrapping_sub(first.addr()) as isize;
        chosen.for_each(|Ends { updates, destination }| {
            entries[n].write(Entry { to: offset(destination, self.to), from: offset(updates, self.from) });
            n += 1;
        });
        self.n.set(n);
        self.entries.set(entries);
    }
}
