//! Construction of the plan of an operator on indices.
//!
//! A plan is built in place, field by field: moving its hundreds of bytes around takes longer than a small call.

#![forbid(unsafe_code)]

use smallvec::SmallVec;

use crate::kernels::{BLOCK, Conversion, FEW, MOST_PREFETCHED, RowSize};
use crate::plan::fold::{arrange, block_strided_loop};
use crate::plan::index::{IndexPlan, IndexRequest};
use crate::plan::lowered::IndexLowered;
use crate::plan::method::{Nest, arrange_panels, has_adjacent_tuples, stays};
use crate::plan::nest::{Action, NO_COMPONENT, NestPlan, Sizes, reach};
use crate::tensor::layout::{Layout, Shape};
use crate::types::caches::Caches;
use crate::types::error::Error;
use crate::types::level::Level;
use crate::types::method::Method;

/// Bytes of rows to prefetch ahead of moves (bench `matrix`).
const BYTES_AHEAD: usize = 2 << 10;
/// Bytes of rows to prefetch ahead of a row function (bench `rows`).
const WHOLE_BYTES_AHEAD: usize = 8 << 10;
/// Bytes of rows to prefetch per round: a fraction of the L1 cache.
const ROUND: usize = 8 << 10;
/// Prefetch distance in indices and output, for elements of 4 and 8 bytes. Among the misses of a gather the hardware
/// loses track of these sequential streams (workloads `gather/take_64K_4M_i32` and `gather_elements/last_4096x1024`).
const ELEMENTS_AHEAD: usize = 512;
/// Prefetch distance in rows of a panel's indices and output. A panel takes a few lines of each row, further apart
/// than the hardware follows (workload `gather_elements/axis0_4096x4096`).
const PANEL_ROWS_AHEAD: usize = 16;
/// Maximum bytes of data per outer coordinate to prefetch the next coordinate's slice: two slices fit in the L1 cache.
const NEXT_SLICE: usize = 8 << 10;
/// Minimum bytes to prefetch: of an output to prefetch elements (of data, for 12-byte rows), and of all slices to
/// prefetch the next slice.
const PREFETCH_FROM: usize = 1 << 20;
/// Minimum bytes of data to prefetch rows: the processor hides the latency of nearer data (bench `short`).
const FAR: usize = 4 << 20;
/// Minimum bytes of a row to prefetch it.
const PREFETCHED_ROW: usize = 32;

impl IndexPlan {
    /// Plans a lowered operator.
    ///
    /// # Errors
    /// [`Error::LevelUnavailable`] and [`Error::UnknownLevel`], [`Error::TooManyBytes`], [`Error::MethodUnavailable`].
    #[inline(always)]
    pub(crate) fn new(lowered: &IndexLowered, request: &IndexRequest, out: &Layout) -> Result<Self, Error> {
        let level = Level::resolve(request.options.level)?;
        let bytes = Shape::checked_bytes(&lowered.output, request.dtype.size())?;
        let nest = NestPlan::new(lowered, (request.index, request.policy, request.options), level, bytes);
        let output = lowered.output.clone();
        let mut plan = IndexPlan { nest, output, panels: None, decoded: None, blocked: false, whole: false };
        let size_in = request.converting.map_or(request.dtype.size(), |map| map.size_in);
        let index_size = if lowered.axes.is_empty() { 0 } else { request.index.size() };
        let whole = request.converting.and_then(|map| map.whole);
        let sizes = Sizes {
            dense: request.dtype.size(),
            indexed: size_in,
            index: index_size,
            row: whole.map(|rows| rows.results),
        };
        let (elements, reused) = plan.fold_loops(lowered, request, out, sizes);
        if request.converting.is_some() {
            let elements = whole.map_or(elements, |rows| rows.elements);
            let conversion = Conversion { elements, size_in };
            if whole.is_some() {
                plan.work.read = plan.work.rows.saturating_mul(conversion.bytes_in());
            }
            plan.spec.conversion = Some(conversion);
        }
        if request.policy.fills() && plan.action == Action::Run {
            plan.spec.fill = request.dtype.zero()?;
        }

        let nothing_is_read = lowered.axes.iter().any(|axis| axis.dim == 0);
        if plan.action != Action::Run || nothing_is_read {
            if request.options.method.is_some_and(|method| method != Method::Direct) {
                return Err(plan.refused());
            }
            if nothing_is_read {
                plan.spec.components = SmallVec::from_slice(&[NO_COMPONENT]);
            }
            return Ok(plan);
        }
        plan.choose(lowered, request, reused, [size_in, index_size])?;
        if !request.kernels.shaped().is_empty() {
            plan.specialize(lowered, request, out);
        }
        Ok(plan)
    }

    /// Folds the loops. Returns the elements of a row, and whether an outer loop revisits the inner loop's indices.
    #[inline(never)]
    fn fold_loops(
        &mut self,
        lowered: &IndexLowered,
        request: &IndexRequest,
        out: &Layout,
        sizes: Sizes,
    ) -> (usize, bool) {
        let plain = lowered.axes.len() == 1 && request.converting.is_none();
        let level = self.spec.level;
        self.nest.fold(lowered, out, sizes, |nest, elements| {
            let (loops, row) = (nest.len(), elements.saturating_mul(sizes.dense));
            arrange(nest, |inner, reuse| {
                let follow = inner.index == 1 && inner.out == elements as isize;
                plain && follow && stays(inner, loops, reuse, row, *level)
            })
        })
    }

    /// Chooses the method and the kernel of a plan that moves rows. `reused`: whether an outer loop revisits the inner
    /// loop's indices. Elements of data have `size_in` bytes, and indices `index_size`.
    #[inline(always)]
    fn choose(
        &mut self,
        lowered: &IndexLowered,
        request: &IndexRequest,
        reused: bool,
        [size_in, index_size]: [usize; 2],
    ) -> Result<(), Error> {
        let (row, level) = (self.nest.spec.row, self.nest.spec.level);
        let stride = self.stride;
        let reused = block_strided_loop(&mut self.nest.loops, stride, reused);
        let reach = reach(&lowered.axes, size_in);
        let row_in = self.nest.spec.conversion.map_or(row, |conversion| conversion.bytes_in());
        let is_far = is_far(row_in, reach);
        let nest = Nest {
            op: self.op,
            level: *level,
            loops: &self.nest.loops,
            components: &self.nest.spec.components,
            stride: self.stride,
            row,
            index_size,
            fills: request.policy.fills(),
            reused,
            converts: request.converting.map(|_| request.dtype),
            whole: request.converting.is_some_and(|map| map.whole.is_some()),
            is_far,
            reach,
            bytes: self.work.bytes,
        };
        let whole = nest.whole.then_some(row_in);
        let method = match request.options.method {
            None => nest.choose(),
            Some(method) if nest.takes(method) => method,
            Some(_) => return Err(self.refused()),
        };
        let mut method = level.runs_as(method);
        self.nest.spec.packed = nest.is_packed();
        let inner = nest.loops.last();
        self.nest.spec.adjacent_tuples =
            inner.is_some_and(|inner| has_adjacent_tuples(nest.components, inner, index_size));
        let pass = nest.pass();
        let mut rank = self.nest.loops.len();
        match method {
            Method::Table => self.nest.spec.table_entries = nest.table_entries().unwrap_or(0),
            Method::Panels => {
                self.panels = nest.panels();
                if let Some(panels) = &self.panels {
                    method = nest.choose_on_panels(panels);
                    rank -= panels.moving;
                    self.nest.spec.outer_prefetch_distance = PANEL_ROWS_AHEAD;
                    self.nest.spec.offsets_first = method == Method::Gathered && panels.leaves_room();
                }
                self.nest.spec.packed = false;
            }
            _ => {}
        }
        self.nest.spec.method = method;
        let pass = pass.filter(|_| method == Method::Direct && request.converting.is_none());
        if self.panels.is_some() {
            arrange_panels(&mut self.nest.loops);
        } else {
            self.nest.spec.next_slice_bytes = self.next_slice_bytes();
            self.nest.spec.prefetch_distance = match whole {
                Some(row) => whole_rows_ahead(row, reach),
                None if pass.is_some() => 0,
                None => self.prefetch_distance(is_far, reach),
            };
        }
        (self.nest.kernel_name, self.nest.kernel) = match request.converting {
            Some(map) => (if map.whole.is_some() { "rows" } else { "map" }, (map.kernel)(*level, method)),
            None => {
                let entry = request.kernels.index_kernel(self.op, row, request.index, rank, *level);
                let one_pass = pass.and_then(|pass| (entry.one_pass)(RowSize::of(row), pass));
                (entry.name, one_pass.unwrap_or(entry.run))
            }
        };
        let inner = self.nest.loops.last().map_or(1, |inner| inner.n);
        self.blocked = reused && inner > BLOCK && matches!(method, Method::Blocks | Method::Streamed | Method::Table);
        self.whole = self.is_one_call(self.work) && !self.remaps();
        Ok(())
    }

    #[cold]
    fn refused(&self) -> Error {
        Error::MethodUnavailable { op: self.op, method: self.options.method.unwrap_or(Method::Direct) }
    }

    /// Bytes to prefetch of the slice of data that only the next outer coordinate reads, in random order.
    fn next_slice_bytes(&self) -> usize {
        let reads = matches!(self.spec.method, Method::Blocks | Method::Chunks | Method::Gathered | Method::Streamed);
        let [.., outer, inner] = self.loops.as_slice() else { return 0 };
        if !reads || outer.data == 0 || self.stride <= 0 || inner.n < FEW {
            return 0;
        }
        let slice = self.axes.iter().fold(self.stride as usize, |slice, axis| slice.saturating_mul(axis.dim));
        let pays = slice <= NEXT_SLICE && slice / 64 <= inner.n && outer.n.saturating_mul(slice) > PREFETCH_FROM;
        if pays { slice } else { 0 }
    }

    /// Whether the loops go through indices and output contiguously.
    fn is_one_stream(&self) -> bool {
        match self.loops.as_slice() {
            [_] => self.axes.len() == 1,
            [outer, inner] => {
                let goes_on = |step: isize, inner_step: isize| step == inner_step.wrapping_mul(inner.n as isize);
                goes_on(outer.out, inner.out) && goes_on(outer.index, inner.index)
            }
            _ => false,
        }
    }

    /// Prefetch distance in rows or elements.
    fn prefetch_distance(&self, is_far: bool, reach: usize) -> usize {
        match self.spec.method {
            Method::Gathered => {
                let pays = if self.spec.row == 12 { reach } else { self.work.bytes };
                if self.is_one_stream() && pays > PREFETCH_FROM { ELEMENTS_AHEAD } else { 0 }
            }
            Method::Prefetched => (ROUND / self.spec.row).clamp(32, 128),
            Method::Streamed if self.spec.row <= MOST_PREFETCHED && self.spec.conversion.is_none() => {
                (ROUND / self.spec.row).clamp(32, 128)
            }
            Method::Direct | Method::Blocks | Method::Chunks | Method::Streamed if is_far => rows_ahead(self.spec.row),
            _ => 0,
        }
    }
}

/// Whether to prefetch rows of `row` bytes in `reach` bytes of data.
#[inline]
fn is_far(row: usize, reach: usize) -> bool {
    reach > FAR && row >= PREFETCHED_ROW
}

/// Prefetch distance for rows of `row` bytes.
#[inline]
fn rows_ahead(row: usize) -> usize {
    (BYTES_AHEAD / row).clamp(4, 16)
}

/// Prefetch distance for a row function, in rows of `row` bytes, in `reach` bytes of data. Data beyond a core's own
/// cache is far, since functions leave the processor less lookahead than moves do.
#[inline]
fn whole_rows_ahead(row: usize, reach: usize) -> usize {
    if reach > Caches::get().second && row >= PREFETCHED_ROW { (WHOLE_BYTES_AHEAD / row).clamp(2, 16) } else { 0 }
}

/// Prefetch distance in rows of `row` bytes, in `reach` bytes of data. 0 if prefetching does not pay.
#[inline]
pub(super) fn far_rows_ahead(row: usize, reach: usize) -> usize {
    if is_far(row, reach) { rows_ahead(row) } else { 0 }
}
