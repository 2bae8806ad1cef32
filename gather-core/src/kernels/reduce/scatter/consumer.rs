//! Consumers of the rows of a scatter.

#![forbid(unsafe_code)]

use core::cell::Cell;
use core::mem::MaybeUninit;

use crate::kernels::nest::positions::BLOCK;
use crate::kernels::nest::rows::ResolvedRows;
use crate::kernels::reduce::scatter::by_index::FusedScatterFns;
use crate::kernels::reduce::scatter::entries::Entry;
use crate::kernels::reduce::scatter::rows::{ChosenRows, Ends, ReduceFn, Row, reduce_rows};

/// The consumer of the rows that a kernel resolves.
pub(crate) struct RowConsumer<'a> {
    pub(crate) take: Consume<'a>,
    pub(crate) elements: usize,
}

pub(crate) enum Consume<'a> {
    /// `Reduce(reduce, destination_bytes, by_index)` reduces rows into destinations of `destination_bytes` each: by
    /// `by_index` if the plan has it, else after resolving.
    Reduce(ReduceFn, usize, Option<&'static FusedScatterFns>),
    Collect(Collector<'a>),
    /// Ignores rows: only their indices are checked.
    Nothing,
}

pub(crate) struct Collector<'a> {
    /// The entries; the first `n` are initialised.
    entries: Cell<&'a mut [MaybeUninit<Entry>]>,
    n: &'a Cell<usize>,
    to: *const u8,
    from: *const u8,
}

impl<'a> Consume<'a> {
    /// Collects entries, as offsets from the first row `to` of the destination and the first row `from` of updates. `n`
    /// is their number. If `entries` is too short for all rows, the call panics.
    pub(crate) fn collect(
        entries: &'a mut [MaybeUninit<Entry>],
        n: &'a Cell<usize>,
        to: *const u8,
        from: *const u8,
    ) -> Self {
        Consume::Collect(Collector { entries: Cell::new(entries), n, to, from })
    }
}

/// A subset of the rows of a block, in order.
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
            // Branch-free: always written, and counted only if in range. A branch would often be mispredicted.
            self.rows[self.n] = row as u16;
            self.n += usize::from(!block.is_bad(position));
        }
    }

    /// The rows of the last `choose`.
    #[inline(always)]
    pub(crate) fn rows(&self) -> &[u16] {
        &self.rows[..self.n]
    }
}

impl RowConsumer<'_> {
    /// Whether rows are ignored, except for checking their indices.
    #[inline(always)]
    pub(crate) fn only_checks(&self) -> bool {
        matches!(self.take, Consume::Nothing)
    }

    #[inline(always)]
    pub(crate) fn by_index(&self) -> Option<&'static FusedScatterFns> {
        match self.take {
            Consume::Reduce(_, _, by_index) => by_index,
            _ => None,
        }
    }

    /// Consumes rows that were chosen for this consumer, and prefetches `later` rows.
    #[inline(always)]
    pub(crate) fn take(&self, these: ChosenRows<'_>, later: Option<ChosenRows<'_>>) {
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
    fn collect(&self, chosen: ChosenRows<'_>) {
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
