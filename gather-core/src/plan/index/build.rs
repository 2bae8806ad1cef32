//! Making the plan of an operator on indices.
//!
//! A plan is made in place, field by field: to move its hundreds of bytes from function to function takes longer than
//! a small call.

#![forbid(unsafe_code)]

use smallvec::SmallVec;

use crate::kernels::convert::Conversion;
use crate::kernels::{BLOCK, Component, FEW, KernelSpec, Loop, MOST_PREFETCHED, RowSize, fill_nest};
use crate::plan::fold::{Loops, arrange, count, cut_walk, fold, gcd};
use crate::plan::index::{Action, IndexPlan, IndexRequest};
use crate::plan::lowered::{Axis, Dim, IndexLowered};
use crate::plan::method::{Nest, Short, arrange_panels};
use crate::plan::tasks::Work;
use crate::tensor::layout::{Layout, Shape};
use crate::types::error::Error;
use crate::types::level::Level;
use crate::types::method::Method;
use crate::types::policy::{IndexPolicy, OutOfBounds};

/// Bytes of rows that are fetched ahead of those that are moved (bench `matrix`).
const BYTES_AHEAD: usize = 2 << 10;
/// Bytes of rows that are asked for a round ahead: a part of the first-level cache.
const ROUND: usize = 8 << 10;
/// Elements of 4 and 8 bytes whose indices and output are fetched ahead: among the misses of a gather the hardware
/// loses sight of what is read and written one after the other (workloads `gather/take_64K_4M_i32` and
/// `gather_elements/last_4096x1024`).
const ELEMENTS_AHEAD: usize = 512;
/// Rows of a panel's indices and output that are fetched ahead: a panel takes a few lines of each, further apart than
/// the hardware follows (workload `gather_elements/axis0_4096x4096`).
const PANEL_ROWS_AHEAD: usize = 16;
/// Bytes of data that one outer coordinate's indices reach, up to which the next one's are fetched meanwhile: two of
/// them are to fit in the first-level cache.
const NEXT_SLICE: usize = 8 << 10;
/// Bytes of an output (of data, for rows of 12 bytes) from which on its elements are fetched ahead, and of slices from
/// which on the next one is.
const PREFETCH_FROM: usize = 1 << 20;
/// Bytes of data from which on rows are fetched ahead: the processor hides the latency of nearer ones by
/// itself (bench `short`).
const FAR: usize = 4 << 20;
/// Bytes of a row from which on it is fetched ahead.
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
        let mut plan = Self::empty(lowered, request, level, bytes);
        let size_in = request.converting.map_or(request.dtype.size(), |map| map.size_in);
        let index_size = if lowered.axes.is_empty() { 0 } else { request.index.size() };
        let (elements, reused) = plan.fold(lowered, request, out);
        for l in &mut plan.loops {
            // Strides in bytes wrap for layouts over no slice; a view's cannot overflow.
            l.out = l.out.wrapping_mul(request.dtype.size() as isize);
            l.data = l.data.wrapping_mul(size_in as isize);
            l.index = l.index.wrapping_mul(index_size as isize);
        }
        let (own_size, own_index) = (size_in as isize, index_size as isize);
        plan.stride = components(&lowered.axes, own_size, own_index, &mut plan.spec.components);
        plan.spec.row = elements.saturating_mul(request.dtype.size());
        plan.work.rows = count(&plan.loops);
        if let Some(map) = request.converting {
            plan.spec.conversion = Some(Conversion { fns: map.convert_fns.at(level), elements, size_in });
        }
        if request.policy.out_of_bounds == OutOfBounds::Zero && plan.action == Action::Run {
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
        plan.choose(lowered, request, Facts { reused, size_in, index_size })?;
        if !request.kernels.shaped().is_empty() {
            plan.specialize(lowered, request, out);
        }
        Ok(plan)
    }

    /// A plan without loops.
    #[inline(always)]
    fn empty(lowered: &IndexLowered, request: &IndexRequest, level: Level, bytes: usize) -> Self {
        IndexPlan {
            op: lowered.op,
            output: lowered.output.clone(),
            axes: SmallVec::from_slice(&lowered.axes),
            loops: Loops::new(),
            stride: 0,
            spec: KernelSpec::new(Method::Direct, level, request.policy),
            kernel: fill_nest,
            kernel_name: "fill",
            panels: None,
            action: action(&lowered.output, &lowered.axes, request.policy),
            blocked: false,
            whole: false,
            index: request.index,
            options: request.options,
            work: Work { bytes, rows: 0 },
        }
    }

    /// Folds the loops, in elements; returns the elements of a row, and whether an outer loop comes back to the inner
    /// loop's indices.
    #[inline(never)]
    fn fold(&mut self, lowered: &IndexLowered, request: &IndexRequest, out: &Layout) -> (usize, bool) {
        let mut room = SmallVec::new();
        let outs = out_strides(out, &lowered.dims, lowered.merged, &mut room);
        let dims = lowered.dims.iter().zip(outs);
        let elements;
        (self.loops, elements) = fold(dims.map(|(dim, &out)| Loop { n: dim.n, out, data: dim.data, index: dim.index }));
        let plain = lowered.axes.len() == 1 && request.converting.is_none();
        let (spec, loops, row) = (&self.spec, self.loops.len(), elements.saturating_mul(request.dtype.size()));
        let stays = |inner: &Loop, reuse| {
            let follow = inner.index == 1 && inner.out == elements as isize;
            let nest = Short { inner, loops, reuse, row, level: spec.level, out_of_bounds: spec.policy.out_of_bounds };
            plain && follow && nest.stays()
        };
        (elements, arrange(&mut self.loops, stays))
    }

    /// Chooses the method, and with it the kernel, for a plan that has rows to move.
    #[inline(always)]
    fn choose(&mut self, lowered: &IndexLowered, request: &IndexRequest, facts: Facts) -> Result<(), Error> {
        let Facts { reused, size_in, index_size } = facts;
        let (row, level) = (self.spec.row, self.spec.level);
        cut_walk(&mut self.loops, self.stride);
        let reach = reach(&lowered.axes, size_in);
        let row_in = self.spec.conversion.map_or(row, |conversion| conversion.bytes_in());
        let is_far = is_far(row_in, reach);
        let nest = Nest {
            op: self.op,
            level,
            loops: &self.loops,
            components: &self.spec.components,
            stride: self.stride,
            row,
            index_size,
            out_of_bounds: request.policy.out_of_bounds,
            reused,
            converts: request.converting.map(|_| request.dtype),
            is_far,
            reach,
            bytes: self.work.bytes,
        };
        let mut method = match request.options.method {
            None => nest.choose(),
            Some(method) if nest.takes(method) => method,
            Some(_) => return Err(self.refused()),
        };
        self.spec.packed = nest.is_packed();
        self.spec.adjacent_tuples = nest.has_adjacent_tuples();
        let one_pass = nest.has_one_pass();
        let mut rank = self.loops.len();
        match method {
            Method::Table | Method::ByteTable => self.spec.table_entries = nest.table_entries().unwrap_or(0),
            Method::Panels => {
                self.panels = nest.panels();
                if let Some(panels) = &self.panels {
                    method = nest.choose_on_panels(panels);
                    rank -= panels.moving;
                    self.spec.outer_prefetch_distance = PANEL_ROWS_AHEAD;
                    self.spec.offsets_first = method == Method::Gathered && panels.leaves_room();
                }
                self.spec.packed = false;
            }
            _ => {}
        }
        self.spec.method = method;
        if self.panels.is_some() {
            arrange_panels(&mut self.loops);
        } else {
            self.spec.next_slice_bytes = self.next_slice_bytes();
            self.spec.prefetch_distance = self.prefetch_distance(is_far, reach);
        }
        let one_pass = method == Method::Direct && one_pass;
        (self.kernel_name, self.kernel) = match request.converting {
            Some(map) => ("map", (map.kernel)(level, method)),
            None => {
                let entry = request.kernels.index_kernel(self.op, row, request.index, rank, level);
                (entry.name, if one_pass { (entry.one_pass)(RowSize::of(row), self.spec.packed) } else { entry.run })
            }
        };
        let inner = self.loops.last().map_or(1, |inner| inner.n);
        self.blocked = reused && inner > BLOCK && matches!(method, Method::Blocks | Method::Streamed | Method::Table);
        self.whole = self.is_one_call(self.work);
        Ok(())
    }

    #[cold]
    fn refused(&self) -> Error {
        Error::MethodUnavailable { op: self.op, method: self.options.method.unwrap_or(Method::Direct) }
    }

    /// Bytes of data to fetch of the next outer coordinate: a slice of its own, that a call reads at random.
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

    /// Whether the loops run through indices and output without a jump.
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

    /// Rows, or elements, to fetch ahead.
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

/// What is known of a plan before its method is chosen.
struct Facts {
    /// Whether an outer loop comes back to the inner loop's indices.
    reused: bool,
    /// Bytes of an element of data, and of an index that is read.
    size_in: usize,
    index_size: usize,
}

/// Whether rows are worth fetching ahead of those that are moved, out of so many bytes of data.
#[inline]
fn is_far(row: usize, reach: usize) -> bool {
    reach > FAR && row >= PREFETCHED_ROW
}

/// How many rows of so many bytes are fetched ahead.
#[inline]
fn rows_ahead(row: usize) -> usize {
    (BYTES_AHEAD / row).clamp(4, 16)
}

/// How many rows are fetched ahead out of so many bytes of data: 0 where that does not pay.
#[inline]
pub(super) fn far_rows_ahead(row: usize, reach: usize) -> usize {
    if is_far(row, reach) { rows_ahead(row) } else { 0 }
}

/// What is left to do for an output and axes of some shapes.
pub(in crate::plan) fn action(output: &Shape, axes: &[Axis], policy: IndexPolicy) -> Action {
    if output.contains(&0) {
        let checks = policy.out_of_bounds == OutOfBounds::Error && !axes.is_empty();
        return if checks { Action::Check } else { Action::Nothing };
    }
    let nothing_is_read = axes.iter().any(|axis| axis.dim == 0);
    if nothing_is_read && policy.out_of_bounds != OutOfBounds::Zero { Action::Check } else { Action::Run }
}

/// Bytes of data that the axes reach over.
pub(in crate::plan) fn reach(axes: &[Axis], size: usize) -> usize {
    let reached = axes.iter().map(|axis| axis.dim.saturating_mul(axis.data.unsigned_abs())).max().unwrap_or(0);
    reached.saturating_mul(size)
}

/// The element stride of the output along every lowered dimension: its own, or what is made of them in `room`.
pub(in crate::plan) fn out_strides<'a>(
    out: &'a Layout,
    dims: &[Dim],
    merged: usize,
    room: &'a mut SmallVec<[isize; 6]>,
) -> &'a [isize] {
    if merged <= 1 {
        return out.strides();
    }
    room.resize(dims.len(), out.strides()[0]);
    for d in (0..merged - 1).rev() {
        room[d] = room[d + 1].wrapping_mul(dims[d + 1].n as isize);
    }
    room[merged..].copy_from_slice(&out.strides()[1..]);
    room
}

/// The component of indices that are not read.
pub(in crate::plan) const NO_COMPONENT: Component = Component { dim: 1, scale: 0, index: 0 };

/// Adds the components of an index in positions of data; returns the bytes from one position to the next: the
/// greatest length that divides the stride of every axis.
#[inline(always)]
pub(in crate::plan) fn components(
    axes: &[Axis],
    size: isize,
    index_size: isize,
    components: &mut SmallVec<[Component; 3]>,
) -> isize {
    match axes {
        [] => {
            components.push(NO_COMPONENT);
            0
        }
        [axis] => {
            let index = axis.index.wrapping_mul(index_size);
            components.push(Component { dim: axis.dim as i64, scale: 1, index });
            axis.data.wrapping_mul(size)
        }
        _ => {
            let step = axes.iter().fold(0, |step, axis| gcd(step, axis.data.unsigned_abs())).max(1);
            let component = |axis: &Axis| Component {
                dim: axis.dim as i64,
                scale: axis.data as i64 / step as i64,
                index: axis.index.wrapping_mul(index_size),
            };
            components.extend(axes.iter().map(component));
            (step as isize).wrapping_mul(size)
        }
    }
}
