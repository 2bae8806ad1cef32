//! Choice of the method that accesses data, once per plan, by shapes, widths and levels.

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

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Panels {
    /// Number of outermost loops that step through data. Each coordinate of these loops has its own data.
    pub(crate) moving: usize,
    /// Elements of the axis: rows of a panel.
    pub(crate) rows: usize,
    pub(crate) columns: usize,
    pub(crate) bytes: usize,
}

impl Panels {
    /// The panels of loops over rows of `row` bytes, with one component and contiguous columns inside. `columns(rows)`
    /// is the preferred number of columns. `None` for other loops, and if data is broadcast along the axis: a panel
    /// would exceed data.
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

    /// Whether a panel takes at most half of the L2 cache; the other half is for indices and output (workload
    /// `gather_elements/axis0_4096x4096`; [65536, 128] along axis 0).
    pub(crate) fn leaves_room(&self) -> bool {
        self.bytes <= Caches::get().second / 2
    }

    /// Whether panels are better than data in place. The data that one coordinate's indices reach must exceed
    /// `WIDE_PANEL`, and have more than `always` bytes or rows of many lines. Its rows must lie more than two lines
    /// apart, and each column must have at least `self.rows / 2` indices.
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

/// Bytes of a panel of a destination: half of an L2 cache of 1 MiB.
pub(super) const PANEL: usize = 512 << 10;
/// Bytes of a row of a panel of data: whole lines, enough to pay for a jump to the next rows of indices and output.
/// Wider panels leave the L1 or L2 cache (workloads `gather_elements/axis0_4096x4096`, `axis1_8x256x64x64`).
const PANEL_ROW: usize = 4 * LINE;
/// Maximum bytes of a panel of data with more than a line per row.
const WIDE_PANEL: usize = 2 << 20;
/// Maximum bytes of a panel of data.
const MOST_PANEL: usize = 4 << 20;
/// Minimum of `bytes * lines` for panels to pay: `bytes` that one coordinate's indices reach, and `lines` of a row of
/// data ([8192, 256], [4096, 256] and [32768, 64] along axis 0).
const PANELED_FROM: usize = 128 << 20;
/// Bytes that one coordinate's indices reach, above which GatherElements uses panels for any row (workloads
/// `gather_elements/axis0_4096x4096` and `axis1_8x256x64x64`).
const ALWAYS_PANELED_FROM: usize = 8 << 20;
/// Minimum rows of the inner loop for a prefetch round to pay.
pub(super) const PREFETCHED_FROM: usize = 256;
/// Minimum rows of the inner loop for loading a table to pay.
const TABLE_FROM: usize = 64;
/// Minimum iterations of the inner loop for setting up vectors to pay.
const GATHER_FROM: usize = 8;
/// [`GATHER_FROM`] for rows that would otherwise move one by one in one loop.
const GATHER_ELEMENTS_FROM: usize = 32;
/// Maximum rows to convert one by one: resolving a block takes as long as two rows.
const CONVERTED_ONE_BY_ONE: usize = 2;
/// Maximum bytes of a row for which a short loop in one pass beats a long loop in blocks.
const SHORT_ROW: usize = 256;
/// Bytes of data above which rows of 12 bytes are gathered by vectors (bench `matrix`).
const GATHER_12_FROM: usize = 6 << 20;
/// Maximum bytes of a row that one pass need not prefetch: loads of several rows overlap (bench `short`).
pub(super) const ONE_PASS_ROW: usize = 256;
/// Minimum bytes of an output for non-temporal stores.
pub(super) const STREAMED_FROM: usize = 24 << 20;
/// Minimum bytes of an output for non-temporal stores with a cache of any size: a very large cache is far away, and
/// shared (workload `gather/embedding_50257x768_8k`).
const ALWAYS_STREAMED_FROM: usize = 72 << 20;
/// Minimum bytes of a row for non-temporal stores.
const STREAMED_ROW: usize = 1 << 10;
/// [`STREAMED_ROW`] for data beyond the caches.
const STREAMED_FAR_ROW: usize = 2 * LINE;
/// [`STREAMED_FAR_ROW`] for rows by one index each, on AMD.
const STREAMED_FAR_ROW_OF_AMD: usize = 2 << 10;
/// [`STREAMED_ROW`] for rows of a map or a row function, which may write a row more than once (bench `cliffs`).
const STREAMED_MADE_ROW: usize = 512;

/// Bytes of data above which rows are prefetched a round ahead; the processor hides the latency of nearer data.
pub(super) const FAR_AWAY: usize = 12 << 20;
/// [`FAR_AWAY`] for rows by index tuples: reading the tuples takes much of the cache bandwidth while rows are loaded
/// (workload `gather_nd/k3_elems_128x128x128_1M`).
const FAR_AWAY_OF_TUPLES: usize = 6 << 20;
/// Rows by tuples are far only if data also exceeds this many L2 caches: with a large L2 cache the processor waits less
/// often.
const FAR_AWAY_IN_CACHES: usize = 6;

/// Whether the innermost of `loops` loops, with contiguous rows and indices, stays inside although another loop is
/// longer. One pass or vectors run along this loop in half to a tenth of the time of a loop with long steps.
///
/// If another loop revisits the indices (`reuse`) and is put inside, each index is resolved once and its rows are
/// copied: for two indices that is no slower. Long rows move along a long loop, to be prefetched or written by
/// non-temporal stores.
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

/// A folded loop nest with rows to move, for the choice of a method.
pub(crate) struct Nest<'a> {
    pub(crate) op: Op,
    pub(crate) level: Level,
    pub(crate) loops: &'a Loops,
    pub(crate) components: &'a [Component],
    /// Bytes of data between positions.
    pub(crate) stride: isize,
    pub(crate) row: usize,
    pub(crate) index_size: usize,
    /// Whether rows of missing indices are filled.
    pub(crate) fills: bool,
    /// Whether an outer loop revisits the same indices.
    pub(crate) reused: bool,
    /// The type that a map or a row function converts rows to.
    pub(crate) converts: Option<DType>,
    /// Whether a row function takes the rows.
    pub(crate) whole: bool,
    /// Whether prefetching rows pays.
    pub(crate) is_far: bool,
    /// Bytes of data that the indices reach.
    pub(crate) reach: usize,
    pub(crate) bytes: usize,
}

impl Nest<'_> {
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
        // The methods below are for many rows.
        if n <= FEW && self.loops.len() == 1 {
            return Method::Direct;
        }
        if n >= TABLE_FROM && self.takes(Method::Table) {
            return Method::Table;
        }
        if self.panels().is_some_and(|panels| self.panels_pay(panels)) {
            return Method::Panels;
        }
        let is_far_list = self.is_far_away() && n >= PREFETCHED_FROM;
        // Rows of several lines, by one index each, on AMD: prefetched a round ahead they take 1.1 to 1.3 times as long
        // as in blocks, by non-temporal stores 1.1 to 3 times (bench `methods`).
        let in_blocks = is_far_list && self.row > LINE && self.components.len() == 1 && Caches::get().is_amd;
        let prefetches = is_far_list && self.takes(Method::Prefetched) && !in_blocks;
        let is_stream = self.inner().out == self.row as isize && !self.reused;
        let far_rows = prefetches && self.reach > FAR_AWAY && is_stream && self.row >= STREAMED_FAR_ROW;
        let least = if in_blocks { STREAMED_FAR_ROW_OF_AMD } else { STREAMED_ROW };
        let streams = leaves_the_caches(self.bytes) && (self.row >= least || far_rows) && self.takes(Method::Streamed);
        let gathers = self.takes(Method::Gathered) && (self.row != 12 || self.reach > GATHER_12_FROM);
        let elements = self.are_elements();
        let vectors = gathers && n >= if elements { GATHER_ELEMENTS_FROM } else { GATHER_FROM };
        match () {
            () if streams => Method::Streamed,
            () if self.reused && (n >= FEW || !(self.has_one_pass() || vectors)) => Method::Blocks,
            () if prefetches => Method::Prefetched,
            () if in_blocks => Method::Blocks,
            () if n <= FEW && (self.has_one_pass() || !vectors) => Method::Direct,
            () if self.fills && self.has_one_pass() && !gathers => Method::Direct,
            () if gathers => Method::Gathered,
            () if self.row <= LINE && self.has_one_pass() => Method::Direct,
            () if elements && !self.has_adjacent_indices() => Method::Direct,
            () if !self.is_far && self.takes(Method::Chunks) => Method::Chunks,
            () => Method::Blocks,
        }
    }

    /// Whether non-temporal stores pay for rows that are converted, or made by a row function.
    fn streams_made(&self) -> bool {
        self.bytes >= STREAMED_FROM && self.row >= STREAMED_MADE_ROW && self.takes(Method::Streamed)
    }

    /// The method that runs on the panels of the nest.
    pub(crate) fn choose_on_panels(&self, panels: &Panels) -> Method {
        let width = panels.columns.saturating_mul(self.row);
        let near = width.saturating_mul(panels.rows) <= MOST_OFFSET;
        if self.gathers_rows() && self.row != 12 && near { Method::Gathered } else { Method::Blocks }
    }

    /// Whether a method can run the nest.
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

    /// Whether data is so far away that prefetching rows a round ahead pays.
    fn is_far_away(&self) -> bool {
        match self.components.len() {
            1 => self.reach > FAR_AWAY,
            _ => self.reach > FAR_AWAY_OF_TUPLES && self.reach / FAR_AWAY_IN_CACHES > Caches::get().second,
        }
    }

    fn inner(&self) -> &Loop {
        self.loops.last().expect("a nest has an inner loop")
    }

    /// Whether rows are contiguous in the output and in data, and the inner loop does not move data.
    pub(crate) fn is_packed(&self) -> bool {
        let inner = self.inner();
        self.stride == self.row as isize && inner.data == 0 && inner.out == self.row as isize
    }

    /// Whether there is one component, its indices and the output's rows are contiguous, and the inner loop does not
    /// move data. A single row counts as contiguous.
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

    /// The pass of [`Method::Direct`], if it resolves and moves the rows in one pass.
    pub(crate) fn pass(&self) -> Option<Pass> {
        let tuples = self.components.len() > 1 && !self.fills && !self.is_far && self.loops.len() <= 2;
        match self.has_one_pass() {
            true => Some(Pass::Rows { packed: self.is_packed() }),
            false => tuples.then_some(Pass::Tuples),
        }
    }

    /// Whether [`Method::Direct`] resolves and moves the rows one by one, in one loop. If indices are not contiguous,
    /// other methods would resolve the indices one by one too, and then move the rows.
    fn are_elements(&self) -> bool {
        is_element(self.row) && self.components.len() == 1
    }

    /// Whether the inner loop steps from one index to the adjacent index; `false` if no index is read.
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

    /// Whether both offsets of a row within data, by its position and by the inner loop, are at most [`MOST_OFFSET`].
    fn is_near(&self) -> bool {
        let dim = usize::try_from(self.components[0].dim).unwrap_or(usize::MAX);
        let within = |step: isize, n: usize| step.unsigned_abs().saturating_mul(n) <= MOST_OFFSET;
        within(self.stride, dim) && within(self.inner().data, self.inner().n)
    }

    /// The number of entries of a table in registers. `None` unless all elements fit and are contiguous, since a table
    /// is loaded whole.
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

    /// The panels of data. Only for GatherElements, where each column has its own indices.
    pub(crate) fn panels(&self) -> Option<Panels> {
        let columns = |rows: usize| (WIDE_PANEL / rows.max(1)).clamp(LINE, PANEL_ROW) / LINE * LINE / self.row;
        let is_paneled = self.op == Op::GatherElements;
        if is_paneled { Panels::new(self.components, self.loops, (self.stride, self.row), columns) } else { None }
    }

    /// Whether [panels pay](Panels::pay), and each panel fits in a cache.
    fn panels_pay(&self, panels: Panels) -> bool {
        panels.bytes <= MOST_PANEL && panels.pay(self.loops, (self.stride, self.row), ALWAYS_PANELED_FROM)
    }
}

/// Whether non-temporal stores pay for an output of `bytes` bytes: never below `STREAMED_FROM`, always from
/// `ALWAYS_STREAMED_FROM` on, and between these from three quarters of the last-level cache on. Data and indices need
/// the fourth quarter.
fn leaves_the_caches(bytes: usize) -> bool {
    bytes >= STREAMED_FROM && (bytes >= ALWAYS_STREAMED_FROM || bytes >= Caches::get().last / 4 * 3)
}

/// Whether dense rows of a nest of `loops` loops are resolved and moved in one pass.
fn has_one_pass(level: Level, loops: usize) -> bool {
    !level.is_fallback() && loops <= 2
}

/// Whether index tuples are contiguous along the inner loop, components are contiguous in a tuple, and all scales are
/// positive.
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

/// Maximum offset of gathered rows: two offsets add up in 32 bits.
const MOST_OFFSET: usize = i32::MAX as usize / 2;

/// Orders loops for panels: loops that step through data go outside.
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
