//! Which method gets at data: chosen here once, by shapes, widths and levels.

#![forbid(unsafe_code)]

use crate::kernels::{Component, FEW, LINE, Loop, MOST_ELEMENT, MOST_PREFETCHED, Pass, convert};
use crate::kernels::{fits_i32, gathers_rows, table_entries};
use crate::plan::fold::Loops;
use crate::plan::nest::is_free;
use crate::types::caches::Caches;
use crate::types::element::DType;
use crate::types::level::Level;
use crate::types::method::Method;
use crate::types::op::Op;
use crate::types::order::sort_by_key;

/// Panels of data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Panels {
    /// Loops that step through data, outermost: each coordinate has data of its own.
    pub(crate) moving: usize,
    /// Elements of the axis: rows of a panel.
    pub(crate) rows: usize,
    /// Columns of a panel.
    pub(crate) columns: usize,
    /// Bytes of a panel.
    pub(crate) bytes: usize,
}

impl Panels {
    /// The panels of loops over rows of `row` bytes: one component, and an inner loop over contiguous columns.
    /// `columns(rows)` is the preferred number of columns. `None` where data is broadcast along the axis: a panel
    /// would have more bytes than data.
    pub(super) fn new(
        components: &[Component],
        loops: &[Loop],
        (stride, row): (isize, usize),
        columns: impl FnOnce(usize) -> usize,
    ) -> Option<Self> {
        let ([component], [outer @ .., inner]) = (components, loops) else { return None };
        if !is_free(inner) || inner.data != row as isize || stride == 0 {
            return None;
        }
        let rows = usize::try_from(component.dim).ok()?;
        let columns = columns(rows).clamp(1, inner.n);
        let moving = outer.iter().filter(|along| is_free(along)).count();
        let bytes = rows.checked_mul(columns)?.checked_mul(row)?;
        isize::try_from(bytes).is_ok().then_some(Panels { moving, rows, columns, bytes })
    }

    /// Whether a panel takes at most half of the second-level cache: the other half is for indices and output on their
    /// way (workload `gather_elements/axis0_4096x4096`; [65536, 128] along axis 0).
    pub(crate) fn leaves_room(&self) -> bool {
        self.bytes <= Caches::get().second / 2
    }

    /// Whether panels are better than data where it lies: where it exceeds the cache by far; where its rows have many
    /// lines, or `bytes > always`; and where each packed element is used about once or more.
    pub(super) fn pay(&self, loops: &[Loop], (stride, row): (isize, usize), always: usize) -> bool {
        let still = loops.iter().filter(|along| !is_free(along)).fold(1, |n: usize, along| n.saturating_mul(along.n));
        let width = loops.last().map_or(1, |inner| inner.n).saturating_mul(row);
        let bytes = self.rows.saturating_mul(width);
        bytes > WIDE_PANEL
            && (bytes > always || bytes.saturating_mul(width / LINE) >= PANELED_FROM)
            && stride.unsigned_abs() > 2 * LINE
            && still >= self.rows / 2
    }
}

/// Bytes of a panel of a destination: half of a second-level cache of 1 MiB.
pub(super) const PANEL: usize = 512 << 10;
/// Bytes of a row of a panel of data: whole lines, as many as are worth a jump to the next rows of indices and output.
/// Wider panels leave the first-level cache, or the second, without gaining (workloads
/// `gather_elements/axis0_4096x4096` and `axis1_8x256x64x64`).
const PANEL_ROW: usize = 4 * LINE;
/// Bytes of a panel of data with more than a line a row, and of any.
const WIDE_PANEL: usize = 2 << 20;
const MOST_PANEL: usize = 4 << 20;
/// Bytes that one coordinate's indices reach, times the lines of a row of data: from here on panels pay
/// ([8192, 256], [4096, 256] and [32768, 64] along axis 0).
const PANELED_FROM: usize = 128 << 20;
/// Bytes that one coordinate's indices reach: beyond as many GatherElements takes panels whatever the row (workloads
/// `gather_elements/axis0_4096x4096` and `axis1_8x256x64x64`).
const ALWAYS_PANELED_FROM: usize = 8 << 20;
/// Rows from which on a round pays.
pub(super) const PREFETCHED_FROM: usize = 256;
/// Rows from which on a table is worth loading.
const TABLE_FROM: usize = 64;
/// Rows of a plane from which on vectors are worth setting up.
const GATHER_FROM: usize = 8;
/// The same for rows that would else be moved one by one, in one loop.
const GATHER_ELEMENTS_FROM: usize = 32;
/// Rows that are converted one by one: to resolve a block takes as long as two of them.
const CONVERTED_ONE_BY_ONE: usize = 2;
/// The most bytes of a row for which a short loop in one pass is better than a long one in blocks.
const SHORT_ROW: usize = 256;
/// Bytes of data from which on rows of 12 bytes are resolved and moved in one loop (bench `matrix`).
const GATHER_12_FROM: usize = 6 << 20;
/// Bytes of a row up to which one pass need not fetch rows ahead: the processor sees the loads of several at a time
/// (bench `short`).
pub(super) const ONE_PASS_ROW: usize = 256;
/// The least bytes of an output that is written by non-temporal stores.
pub(super) const STREAMED_FROM: usize = 24 << 20;
/// Bytes of an output from which on rows are written past a cache of any size: a very large one is far away, and shared
/// with many (workload `gather/embedding_50257x768_8k`).
const ALWAYS_STREAMED_FROM: usize = 72 << 20;
/// The least bytes of a row that is written by non-temporal stores.
const STREAMED_ROW: usize = 1 << 10;
/// The least bytes of such a row out of data beyond the caches.
const STREAMED_FAR_ROW: usize = 2 * LINE;
/// The same for rows that are converted, or made by a row function, which may write a row more than once (bench
/// `cliffs`).
const STREAMED_MADE_ROW: usize = 512;

/// Bytes of data from which on rows are prefetched a round ahead. Nearer ones the processor hides by itself, and to ask
/// for them only takes time.
pub(super) const FAR_AWAY: usize = 12 << 20;
/// The same for rows of index tuples: meanwhile the tuples take much of what the caches deliver (workload
/// `gather_nd/k3_elems_128x128x128_1M`).
const FAR_AWAY_OF_TUPLES: usize = 6 << 20;
/// The same, in second-level caches. Where these are large, the processor waits less often.
const FAR_AWAY_IN_CACHES: usize = 6;

/// Whether the innermost of `loops` loops, along whose rows and indices are contiguous, stays inside though another one
/// is longer: one pass runs along it, or vectors do, in half to a tenth of the time that a loop with long steps takes.
/// But a loop that comes back to the same indices (`reuse`), if it is the inner one, resolves each once, and copies:
/// that is no worse for two indices. Long rows are fetched ahead, or written by non-temporal stores, along a long loop.
pub(crate) fn stays(inner: &Loop, loops: usize, reuse: bool, row: usize, level: Level) -> bool {
    let n = inner.n;
    let is_plain = inner.data == 0 && row <= SHORT_ROW;
    let one_pass = is_plain && has_one_pass(level, loops);
    if reuse {
        return one_pass && n > 2;
    }
    let gathers = level.gathers() && matches!(row, 4 | 8) && n >= GATHER_FROM;
    let elements = is_element(row) && n > 2;
    one_pass || gathers || elements
}

/// The method of `n` rows that are converted, unless they are streamed.
pub(super) fn converted_method(n: usize) -> Method {
    if n <= CONVERTED_ONE_BY_ONE { Method::Direct } else { Method::Blocks }
}

/// A folded loop nest for which a method is to be chosen; it has rows to move.
pub(crate) struct Nest<'a> {
    pub(crate) op: Op,
    pub(crate) level: Level,
    pub(crate) loops: &'a Loops,
    pub(crate) components: &'a [Component],
    /// Bytes of data from one position to the next.
    pub(crate) stride: isize,
    pub(crate) row: usize,
    pub(crate) index_size: usize,
    /// Whether rows of missing indices are filled.
    pub(crate) fills: bool,
    /// Whether an outer loop comes back to the same indices.
    pub(crate) reused: bool,
    /// The type that rows are converted to on their way.
    pub(crate) converts: Option<DType>,
    /// Whether they are rows of a row function.
    pub(crate) whole: bool,
    /// Whether rows are worth fetching ahead.
    pub(crate) is_far: bool,
    /// Bytes of data that the indices reach.
    pub(crate) reach: usize,
    /// Bytes of the output.
    pub(crate) bytes: usize,
}

impl Nest<'_> {
    /// The best method.
    pub(crate) fn choose(&self) -> Method {
        let n = self.inner().n;
        if !fits_i32(self.components) {
            return Method::Direct;
        }
        if self.converts.is_some() {
            let streams = n > CONVERTED_ONE_BY_ONE && self.streams_made();
            return if streams { Method::Streamed } else { converted_method(n) };
        }
        if n > 1 && self.takes(Method::StridedCopy) {
            return Method::StridedCopy;
        }
        // What follows is for many rows.
        if n <= FEW && self.loops.len() == 1 {
            return Method::Direct;
        }
        if n >= TABLE_FROM && self.takes(Method::Table) {
            return Method::Table;
        }
        if self.panels().is_some_and(|panels| self.panels_pay(panels)) {
            return Method::Panels;
        }
        let prefetches = self.is_far_away() && n >= PREFETCHED_FROM && self.takes(Method::Prefetched);
        let is_stream = self.inner().out == self.row as isize && !self.reused;
        let far_rows = prefetches && self.reach > FAR_AWAY && is_stream && self.row >= STREAMED_FAR_ROW;
        let streams =
            leaves_the_caches(self.bytes) && (self.row >= STREAMED_ROW || far_rows) && self.takes(Method::Streamed);
        let gathers = self.takes(Method::Gathered) && (self.row != 12 || self.reach > GATHER_12_FROM);
        let elements = self.are_elements();
        let vectors = gathers && n >= if elements { GATHER_ELEMENTS_FROM } else { GATHER_FROM };
        match () {
            () if streams => Method::Streamed,
            () if self.reused && (n >= FEW || !(self.has_one_pass() || vectors)) => Method::Blocks,
            () if prefetches => Method::Prefetched,
            () if n <= FEW && (self.has_one_pass() || !vectors) => Method::Direct,
            () if self.fills && self.has_one_pass() && !gathers => Method::Direct,
            () if gathers => Method::Gathered,
            () if self.row <= LINE && self.has_one_pass() => Method::Direct,
            () if elements && !self.has_adjacent_indices() => Method::Direct,
            () if !self.is_far && self.takes(Method::Chunks) => Method::Chunks,
            () => Method::Blocks,
        }
    }

    /// Whether rows that are converted, or made by a row function, are better written by non-temporal stores.
    fn streams_made(&self) -> bool {
        self.bytes >= STREAMED_FROM && self.row >= STREAMED_MADE_ROW && self.takes(Method::Streamed)
    }

    /// The method that runs on the panels of a nest that is run panel by panel.
    pub(crate) fn choose_on_panels(&self, panels: &Panels) -> Method {
        let width = panels.columns.saturating_mul(self.row);
        let near = width.saturating_mul(panels.rows) <= MOST_OFFSET;
        if self.gathers_rows() && self.row != 12 && near { Method::Gathered } else { Method::Blocks }
    }

    /// Whether a method runs the nest.
    pub(crate) fn takes(&self, method: Method) -> bool {
        let (inner, one) = (self.inner(), self.components.len() == 1);
        if method == Method::Direct {
            return true;
        }
        if !fits_i32(self.components) {
            return false;
        }
        if let Some(dtype) = self.converts {
            let streams = convert::streams(dtype.size(), dtype.align());
            let streams = streams && self.row >= LINE && inner.out == self.row as isize;
            let streams = streams && (!self.whole || self.row <= convert::STREAMED_WHOLE);
            return method == Method::Blocks || (method == Method::Streamed && streams);
        }
        match method {
            Method::Direct | Method::Blocks => true,
            Method::Chunks => one && inner.index != 0,
            Method::Gathered => self.gathers_rows() && (self.is_packed() || (self.row != 12 && self.is_near())),
            Method::Prefetched => self.row <= MOST_PREFETCHED,
            Method::Table => self.table_entries().is_some(),
            Method::Panels => self.panels().is_some(),
            Method::StridedCopy => inner.index == 0,
            Method::Streamed => cfg!(target_arch = "x86_64") && self.row >= LINE,
            Method::Grouped | Method::Accumulated | Method::Interleaved | Method::Deinterleaved => false,
        }
    }

    /// Whether data is so far away that rows are worth prefetching a round ahead.
    fn is_far_away(&self) -> bool {
        match self.components.len() {
            1 => self.reach > FAR_AWAY,
            _ => self.reach > FAR_AWAY_OF_TUPLES && self.reach / FAR_AWAY_IN_CACHES > Caches::get().second,
        }
    }

    fn inner(&self) -> &Loop {
        self.loops.last().expect("a nest has an inner loop")
    }

    /// Whether rows are contiguous in the output, and elements in data, which the inner loop does not move.
    pub(crate) fn is_packed(&self) -> bool {
        let inner = self.inner();
        self.stride == self.row as isize && inner.data == 0 && inner.out == self.row as isize
    }

    /// Whether rows are contiguous in the output, and indices of one component too, and the inner loop does not
    /// move data; as a single row does.
    fn is_dense(&self) -> bool {
        let inner = self.inner();
        let side_by_side = self.has_adjacent_indices() && inner.out == self.row as isize && inner.data == 0;
        self.components.len() == 1 && (side_by_side || inner.n == 1)
    }

    /// Whether [`Method::Direct`] resolves and moves the rows in one pass.
    pub(crate) fn has_one_pass(&self) -> bool {
        let sees_loads = !self.is_far || self.row <= ONE_PASS_ROW;
        self.is_dense() && sees_loads && has_one_pass(self.level, self.loops.len())
    }

    /// The pass in which [`Method::Direct`] resolves and moves, if it is one.
    pub(crate) fn pass(&self) -> Option<Pass> {
        let tuples = self.components.len() > 1 && !self.fills && !self.is_far && self.loops.len() <= 2;
        match self.has_one_pass() {
            true => Some(Pass::Rows { packed: self.is_packed() }),
            false => tuples.then_some(Pass::Tuples),
        }
    }

    /// Whether [`Method::Direct`] resolves and moves the rows one by one, in one loop. Where indices are not
    /// contiguous, others would resolve them one by one, too, and then move the rows.
    fn are_elements(&self) -> bool {
        is_element(self.row) && self.components.len() == 1
    }

    /// Whether the inner loop steps from one index to the next, if there are any.
    fn has_adjacent_indices(&self) -> bool {
        self.index_size > 0 && self.inner().index == self.index_size as isize
    }

    /// Whether the level gathers rows of this width, from contiguous indices into contiguous rows.
    fn gathers_rows(&self) -> bool {
        let inner = self.inner();
        self.level.gathers()
            && gathers_rows(self.row, self.index_size)
            && self.components.len() == 1
            && self.has_adjacent_indices()
            && inner.out == self.row as isize
    }

    /// Whether what the inner loop reaches in data is within 32 bits of its begin.
    fn is_near(&self) -> bool {
        let dim = usize::try_from(self.components[0].dim).unwrap_or(usize::MAX);
        let within = |step: isize, n: usize| step.unsigned_abs().saturating_mul(n) <= MOST_OFFSET;
        within(self.stride, dim) && within(self.inner().data, self.inner().n)
    }

    /// The entries of a table in registers: elements that fit and are contiguous from the first to the last, since
    /// a table is loaded whole.
    pub(crate) fn table_entries(&self) -> Option<usize> {
        let mut entries = 1i64;
        for component in self.components.iter().rev().filter(|component| component.dim != 1) {
            if component.scale != entries {
                return None;
            }
            entries = entries.checked_mul(component.dim)?;
        }
        let fits = entries <= table_entries(self.level, self.row) as i64;
        (self.is_packed() && fits).then_some(entries as usize)
    }

    /// The panels of data, whose columns step through indices too.
    pub(crate) fn panels(&self) -> Option<Panels> {
        let columns = |rows: usize| (WIDE_PANEL / rows.max(1)).clamp(LINE, PANEL_ROW) / LINE * LINE / self.row;
        let is_paneled = self.op == Op::GatherElements;
        if is_paneled { Panels::new(self.components, self.loops, (self.stride, self.row), columns) } else { None }
    }

    /// Whether [panels pay](Panels::pay), and each fits in a cache.
    fn panels_pay(&self, panels: Panels) -> bool {
        panels.bytes <= MOST_PANEL && panels.pay(self.loops, (self.stride, self.row), ALWAYS_PANELED_FROM)
    }
}

/// Whether rows of an output of `bytes` bytes are better written by non-temporal stores: from three quarters of the
/// last one on, within bounds. Data and indices want their part of it.
fn leaves_the_caches(bytes: usize) -> bool {
    bytes >= STREAMED_FROM && (bytes >= ALWAYS_STREAMED_FROM || bytes >= Caches::get().last / 4 * 3)
}

/// Whether dense rows under `loops` loops are resolved and moved in one pass.
fn has_one_pass(level: Level, loops: usize) -> bool {
    !level.is_fallback() && loops <= 2
}

/// Whether index tuples are contiguous along a loop, their components too, with positive scales.
#[inline]
pub(super) fn has_adjacent_tuples(components: &[Component], inner: &Loop, index_size: usize) -> bool {
    let (size, n) = (index_size as isize, components.len());
    n > 1
        && inner.index == size * n as isize
        && components.iter().enumerate().all(|(k, c)| c.index == size * k as isize && c.scale > 0)
}

/// Whether rows of `row` bytes are moved as elements.
fn is_element(row: usize) -> bool {
    row.is_power_of_two() && row <= MOST_ELEMENT
}

/// Bytes within which offsets of gathered rows lie: two of them add up in 32 bits.
const MOST_OFFSET: usize = i32::MAX as usize / 2;

/// Orders loops for panels: those that step through data go outside.
pub(crate) fn arrange_panels(loops: &mut Loops) {
    if let [outer @ .., _] = loops.as_mut_slice() {
        sort_by_key(outer, |l| usize::from(l.data == 0));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_of_a_second_level_cache_is_room_enough() {
        let half = Caches::get().second / 2;
        let panels = |bytes| Panels { moving: 0, rows: 1, columns: 1, bytes };
        assert!(panels(half).leaves_room() && !panels(half + 1).leaves_room());
    }
}
