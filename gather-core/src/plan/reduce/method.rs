//! The method of a scatter: rows reduced in place, in panels, in records or sorted; and the prefetching.

#![forbid(unsafe_code)]

use crate::kernels::reduce::scatter::FEW_ELEMENTS;
use crate::kernels::{BLOCK, Component, FEW, LINE, Loop};
use crate::plan::method::{PANEL, PREFETCHED_FROM, Panels};
use crate::plan::nest::is_free;
use crate::plan::reduce::accumulators::Accumulators;
use crate::plan::reduce::{ReduceRequest, Strategy};
use crate::types::caches::Caches;
use crate::types::error::Error;
use crate::types::index::IndexType;
use crate::types::method::Method;

/// The folded loop nest of a scatter, for the choice of a method.
#[derive(Clone, Copy)]
pub(super) struct ScatterNest<'a> {
    pub(super) components: &'a [Component],
    pub(super) loops: &'a [Loop],
    /// Bytes of the destination between positions.
    pub(super) stride: isize,
    pub(super) row: usize,
    /// Bytes of the destination that indices reach.
    pub(super) reach: usize,
    /// Whether rows are elements that a function takes by their indices.
    pub(super) by_index: bool,
}

impl ScatterNest<'_> {
    /// The kernel's method, and the plan's strategy.
    pub(super) fn choose(
        &self,
        request: &ReduceRequest,
        fits: bool,
        panels: Option<Panels>,
        [records, counts]: [Option<Accumulators>; 2],
    ) -> Result<(Method, Strategy), Error> {
        let (op, own) = (request.op, if fits { Method::Blocks } else { Method::Direct });
        let one_by_one = request.is_in_place();
        let pays = |panels: &Panels| panels_pay(panels, self.loops, self.stride, self.row);
        let by_index = |records: &Accumulators| {
            let nest = ScatterNest { reach: records.reach, row: records.record, ..*self };
            let short =
                self.row <= FEW_ELEMENTS * (request.dtype.size() / request.values) && nest.reach <= NEAR_RECORDS;
            let numbers = self.row * request.values / request.dtype.size();
            short
                && self.takes_by_index(Method::Chunks, request.index)
                && records.records.is_some_and(|fns| (fns.by_index)(request.index.size(), numbers).is_some())
        };
        // Records if short rows are taken by their indices, or if there are no counts; else counts.
        let one_loop = records.as_ref().is_some_and(by_index);
        let accumulators = match (records, counts) {
            (Some(records), Some(_)) if one_loop => Some(records),
            (records, counts) => counts.or(records),
        };
        let accumulated = |accumulators: Accumulators| {
            let nest = ScatterNest { reach: accumulators.reach, row: accumulators.record, ..*self };
            let method = match accumulators.records {
                None if !fits => own,
                None => self.row_by_row(),
                Some(_) if !one_loop => nest.row_by_row(),
                Some(_) if self.takes(Method::Chunks) => Method::Chunks,
                Some(_) => Method::Blocks,
            };
            Ok((method, Strategy::Accumulated(accumulators)))
        };
        match (request.options.method, panels, accumulators) {
            (None, _, Some(accumulators)) if !one_by_one && accumulators.are_small(self.loops, self.row) => {
                accumulated(accumulators)
            }
            (None, ..) if !one_by_one => Ok((own, Strategy::Sorted)),
            (None, Some(panels), _) if pays(&panels) => Ok((own, Strategy::Panels(panels))),
            (None, ..) if fits => Ok((self.row_by_row(), Strategy::InPlace)),
            (None, ..) => Ok((own, Strategy::InPlace)),
            (Some(Method::Grouped), ..) => Ok((own, Strategy::Sorted)),
            (Some(Method::Accumulated), _, Some(accumulators)) => accumulated(accumulators),
            (Some(Method::Panels), Some(panels), _) if one_by_one => Ok((own, Strategy::Panels(panels))),
            (Some(Method::Direct), ..) if one_by_one => Ok((Method::Direct, Strategy::InPlace)),
            (Some(method), ..) if one_by_one && fits && self.takes(method) => Ok((method, Strategy::InPlace)),
            (Some(method), ..) => Err(Error::MethodUnavailable { op, method }),
        }
    }

    /// The method for rows that are reduced one by one in place.
    fn row_by_row(&self) -> Method {
        let [outer @ .., inner] = self.loops else { return Method::Blocks };
        let reused = outer.iter().any(|along| along.index == 0 && along.n > 1);
        let (far, short) = (self.reach > FAR, self.row <= LINE);
        match () {
            () if reused => Method::Blocks,
            // The processor hides the latency of these elements (bench `cliffs`).
            () if self.by_index && self.takes(Method::Chunks) => Method::Chunks,
            () if far && short && inner.n >= PREFETCHED_FROM && inner.index != 0 => Method::Prefetched,
            () if self.reach <= 4 * FAR && short && self.takes(Method::Chunks) => Method::Chunks,
            () => Method::Blocks,
        }
    }

    /// Whether scatter kernels can run the nest by a method, if positions fit in 32 bits (K9).
    fn takes(&self, method: Method) -> bool {
        match method {
            Method::Blocks | Method::Prefetched => true,
            Method::Chunks => self.components.len() == 1 && self.loops.last().is_some_and(|inner| inner.index != 0),
            _ => false,
        }
    }

    /// Whether elements may be taken by their indices, and blocks do no better. If another loop of a plane revisits the
    /// indices of a long loop, blocks resolve each index once.
    pub(super) fn takes_by_index(&self, method: Method, index: IndexType) -> bool {
        let (inner, outer) = match self.loops {
            [inner] => (inner, None),
            [.., outer, inner] => (inner, Some(outer)),
            [] => return false,
        };
        let component = match self.components {
            [component] => component,
            // One tuple for the whole loop.
            [_, ..] if method == Method::Blocks && inner.index == 0 => return true,
            _ => return false,
        };
        let comes_back = inner.index != 0 && inner.n > FEW && outer.is_some_and(|outer| outer.index == 0);
        let takes = matches!(method, Method::Blocks | Method::Chunks) && !comes_back;
        // Read as unsigned, a negative index exceeds any axis, of up to `positions()` elements for short types.
        takes && (index.size() >= 4 || i128::from(component.dim) <= index.positions())
    }

    /// Prefetch distance in rows; 0 for none.
    pub(super) fn prefetch_distance(&self, method: Method) -> usize {
        match method {
            Method::Prefetched => (ROUND / self.row.max(LINE)).clamp(4, 128),
            Method::Chunks => 0,
            _ if self.reach <= FAR || self.row == 0 => 0,
            _ => (BYTES_AHEAD / self.row.max(LINE)).clamp(4, 32),
        }
    }

    /// Iterations of the inner loop per block, for which all outer loops run before the next block; 0 for a single
    /// block. Blocks pay if outer loops revisit indices, or lines of updates. Blocks of an ordered loop need all other
    /// loops free: they would mix its iterations with another ordered loop's.
    pub(super) fn block(&self) -> usize {
        let Some((inner, outer)) = self.loops.split_last() else { return 0 };
        let steps = inner.out.unsigned_abs() + inner.index.unsigned_abs() + inner.data.unsigned_abs();
        let block = (BLOCK_BYTES / steps.max(1)).clamp(FEW, BLOCK);
        let keeps_order = is_free(inner) || outer.iter().all(is_free);
        // A loop comes back to the same indices, or to lines of a tensor that the inner loop has left.
        let nearer = |step: isize, inner: isize| step.unsigned_abs() < inner.unsigned_abs().min(LINE);
        let comes_back = |along: &Loop| {
            let tensors = [(along.out, inner.out), (along.data, inner.data), (along.index, inner.index)];
            along.n > 1
                && (along.index == 0 || tensors.into_iter().any(|(step, inner)| step != 0 && nearer(step, inner)))
        };
        // The lines of updates along the inner loop fit in the cache, and the destination does not.
        let lines = inner.n.saturating_mul(inner.out.unsigned_abs().min(LINE));
        let near = Caches::get().second;
        let stays = lines <= near && self.reach > near;
        if keeps_order && inner.n > block && !stays && outer.iter().any(comes_back) { block } else { 0 }
    }

    /// Bytes of the destination that one outer coordinate's indices reach, to prefetch the next slice; 0 if that does
    /// not pay.
    pub(super) fn next_slice_bytes(&self, method: Method) -> usize {
        let ([.., outer, inner], [component]) = (self.loops, self.components) else { return 0 };
        let near = inner.data == 0 && outer.data != 0 && self.stride > 0 && inner.n >= FEW;
        let slice = (self.stride.unsigned_abs()).saturating_mul(usize::try_from(component.dim).unwrap_or(usize::MAX));
        let pays = slice <= NEXT_SLICE && slice / LINE <= inner.n && outer.n.saturating_mul(slice) > FAR;
        if method == Method::Chunks && near && pays { slice } else { 0 }
    }
}

/// The panels of a destination, whose columns move the index too.
pub(super) fn panels(parts: &[Component], loops: &[Loop], stride: isize, row: usize) -> Option<Panels> {
    let columns = |rows: usize| (PANEL / rows.saturating_mul(row).max(1)).max(LINE / row);
    loops.last().filter(|inner| inner.index != 0).and_then(|_| Panels::new(parts, loops, (stride, row), columns))
}

/// Whether [panels pay](Panels::pay), and rows are few.
fn panels_pay(panels: &Panels, loops: &[Loop], stride: isize, row: usize) -> bool {
    // With fewer rows, a line has at least one update from each row of indices.
    panels.rows > LINE / row
        && panels.rows.saturating_mul(row.max(LINE)) <= MOST_OF_A_LINE
        && panels.pay(loops, (stride, row), usize::MAX)
}

/// Maximum bytes of one line of every row: a panel is packed and unpacked by such lines, which are not contiguous
/// (workload `scatter_elements/none_axis0_4096x4096`; [8192, 512] and [16384, 256] along axis 0).
const MOST_OF_A_LINE: usize = PANEL / 2;
/// Bytes of a destination above which rows are prefetched (bench `scatter`).
pub(super) const FAR: usize = 1 << 20;
/// Maximum bytes of records to take short rows by their indices (bench `cliffs`).
const NEAR_RECORDS: usize = 8 << 20;
/// Bytes of rows to prefetch within a block.
const BYTES_AHEAD: usize = 2 << 10;
/// Bytes of a round of short rows (workload `scatter_nd/add_k2_elems_1M_2048x2048`).
const ROUND: usize = 8 << 10;
/// Bytes that a block of the inner loop steps over: outer loops find them in the L2 cache.
const BLOCK_BYTES: usize = 64 << 10;
/// Maximum bytes of a coordinate's slice to prefetch while the previous one is changed.
const NEXT_SLICE: usize = 16 << 10;
