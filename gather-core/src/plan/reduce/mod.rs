//! The plan of a scatter: the folded loop nest of a gather, in the other direction.
//!
//! Updates of one element keep their order. Before any index is read, the loops determine which updates can reach one
//! element. A loop along which the destination moves never revisits an element, since no two coordinates of a
//! destination share one. Such a loop is *free*: it may be cut for threads, and take any position. A loop along which
//! only the index moves the destination is *ordered*, and keeps its order.

#![forbid(unsafe_code)]

mod accumulators;
mod dynamic;
mod explain;
mod few;
mod method;

use core::num::NonZero;
use core::ops::Deref;

use smallvec::SmallVec;

use crate::kernels::reduce::scatter::{Elements, FusedScatterFns, ScatterFns};
use crate::kernels::select::Kernels;
use crate::kernels::{IndexKernel, KernelSpec, LINE, Loop, fill_nest, fits_i32};
use crate::plan::fold::{Loops, count, put_inside};
use crate::plan::lowered::IndexLowered;
use crate::plan::method::{Panels, has_adjacent_tuples};
use crate::plan::nest::{Action, NO_COMPONENT, NestPlan, Sizes, is_free, reach};
pub(crate) use crate::plan::reduce::accumulators::Accumulators;
use crate::plan::reduce::accumulators::RecordKind;
pub(crate) use crate::plan::reduce::dynamic::DynamicReducePlan;
pub(crate) use crate::plan::reduce::few::FewUpdates;
use crate::plan::reduce::method::{ScatterNest, panels};
use crate::tensor::layout::{Layout, Shape};
use crate::types::element::DType;
use crate::types::error::Error;
use crate::types::index::IndexType;
use crate::types::level::Level;
use crate::types::method::Method;
use crate::types::op::Op;
use crate::types::policy::{KernelPolicy, Missing, Options};

/// The inputs of a scatter plan other than layouts.
#[derive(Clone, Copy)]
pub(crate) struct ReduceRequest {
    pub(crate) op: Op,
    pub(crate) dtype: DType,
    pub(crate) index: IndexType,
    pub(crate) kernels: Kernels,
    pub(crate) reducer: &'static ScatterFns,
    /// Values per element, each of which is reduced.
    pub(crate) values: usize,
    /// Whether the reduction includes the old values of the destination.
    pub(crate) include_self: bool,
    pub(crate) policy: KernelPolicy,
    /// Whether negative indices are skipped, under a policy that makes other indices out of range errors.
    pub(crate) skips_negative: bool,
    pub(crate) options: Options,
}

impl ReduceRequest {
    /// Whether rows are reduced one by one in place, without counts.
    fn is_in_place(&self) -> bool {
        let ScatterFns { rows, divide, replaces, .. } = self.reducer;
        rows.is_some() && (*replaces || (self.include_self && divide.is_none()))
    }

    /// Whether rows may be reduced in place after their updates are counted.
    fn counts(&self) -> bool {
        !self.reducer.replaces && self.reducer.takes_in_place(self.include_self)
    }
}

/// Access of a plan to the destination.
#[derive(Clone)]
pub(crate) enum Strategy {
    /// Rows are reduced one by one in place.
    InPlace,
    /// Rows are reduced one by one in panels, into which the destination is packed.
    Panels(Panels),
    /// Rows are reduced into records; with counts instead of records, in place.
    Accumulated(Accumulators),
    Sorted,
}

/// The plan of a scatter.
///
/// Made by [`ReducePlan::new`] alone, from attributes that have been checked against the layouts of destination,
/// indices and updates. So, for tensors of these layouts and types:
///
/// - **P1** `loops` reach the elements of updates and of indices that the operator reads (S1, K3), and the elements of
///   the destination that it may change (S2), for every position `0..dim` of the axes. Coordinates that differ in a
///   free loop reach different elements of the destination, none of whose strides has wrapped.
/// - **P2** `spec`, `stride` and `kernel` match: the kernel has `spec.level`, the index type and the nest's rank, and
///   takes the nest by `spec.method` (K5, K7, K9). With `panels` the rank counts the loops that run on a panel: all
///   but the first `panels.moving` free ones.
/// - **P3** The functions `by_index`, if any, match the reduction, the data type, the index type, and the elements of
///   updates and rows. Indices have one component, or the inner loop does not move them (S4). For index types of 1 and
///   2 bytes, no negative value is a position of an axis if read as unsigned.
#[derive(Clone)]
pub(crate) struct ReducePlan {
    /// P1, P2: updates are the dense tensor, the destination is the indexed one. The kernel runs all loops.
    nest: NestPlan,
    /// P2. The kernel for the loops of a panel, if there are panels: without the loops that [`Panels::moving`] counts.
    pub(crate) panel_kernel: IndexKernel,
    pub(crate) reducer: &'static ScatterFns,
    /// P3.
    pub(crate) by_index: Option<&'static FusedScatterFns>,
    pub(crate) include_self: bool,
    /// Whether kernels skip every index out of range, after a check of the non-negative ones.
    pub(crate) skips_negative: bool,
    /// Whether to look for ascending targets: if no method is forced.
    pub(crate) may_ascend: bool,
    /// The whole plan, if it is a few updates.
    pub(crate) few: Option<FewUpdates>,
    /// Elements of a row, counted in values if an element has several.
    pub(crate) elements: usize,
    /// Bytes of an element of updates.
    size: usize,
    pub(crate) way: Strategy,
    /// Iterations of the inner loop per block, for which all outer loops run before the next block; `None` for a
    /// single block. Blocks keep the order of the updates of each element.
    pub(crate) block: Option<NonZero<usize>>,
}

impl Deref for ReducePlan {
    type Target = NestPlan;

    #[inline(always)]
    fn deref(&self) -> &NestPlan {
        &self.nest
    }
}

impl ReducePlan {
    /// Plans a lowered scatter.
    ///
    /// # Errors
    /// [`Error::LevelUnavailable`] and [`Error::UnknownLevel`], [`Error::TooManyBytes`] for updates and then for the
    /// destination, [`Error::MethodUnavailable`].
    #[inline]
    pub(crate) fn new(
        lowered: &IndexLowered,
        request: &ReduceRequest,
        destination: &Layout,
        updates: &Layout,
    ) -> Result<Self, Error> {
        let level = Level::resolve(request.options.level)?;
        let size = request.dtype.size();
        let bytes = Shape::checked_bytes(&lowered.output, size)?;
        // P1: no stride of the destination wraps, neither in merged loops nor in bytes. A stride that wrapped to 0
        // would make its loop ordered, and a loop merged with it would pass for a free one.
        destination.check_bytes(size)?;
        let index_size = if lowered.axes.is_empty() { 0 } else { request.index.size() };
        // Built in place, as an `IndexPlan` is.
        let mut made = ReducePlan {
            nest: NestPlan::new(lowered, (request.index, request.policy, request.options), level, bytes),
            panel_kernel: fill_nest,
            reducer: request.reducer,
            by_index: None,
            include_self: request.include_self,
            skips_negative: skips_negative(request),
            may_ascend: request.options.method.is_none(),
            few: None,
            elements: 0,
            size,
            way: Strategy::InPlace,
            block: None,
        };
        let plan = &mut made.nest;
        let sizes = Sizes { dense: size, indexed: size, index: index_size, row: None };
        // Whether elements may be taken by their indices, and the minimum length of an inner loop. Rows that may be
        // sorted have no function for short loops.
        let may = matches!(request.options.method, None | Some(Method::Blocks | Method::Accumulated));
        let by_index = match (lowered.axes.as_slice(), request.reducer.rows) {
            (axes @ [_, ..], rows) if may && request.values == 1 && matches!(index_size, 4 | 8) => {
                let in_place = rows.filter(|_| request.is_in_place());
                let fits = in_place.is_none_or(|rows| (rows.by_index)(Elements::one(size), index_size).is_some());
                let least = if in_place.is_some() && axes.len() == 1 { 1 } else { LEAST_OF_ENTRIES };
                let stride = axes.iter().map(|axis| axis.data.unsigned_abs()).max().unwrap_or(0);
                fits.then_some(ByIndex { line: LINE / size.min(LINE), stride, least, tuples: axes.len() > 1 })
            }
            _ => None,
        };
        let (elements, ()) = plan.fold(lowered, updates, sizes, |loops, elements| {
            arrange(loops, by_index.filter(|_| elements == 1));
            let fits = |l: &Loop| destination.is_empty() || l.n <= 1 || l.data.checked_mul(size as isize).is_some();
            debug_assert!(loops.iter().all(fits), "P1");
        });
        let elements = elements.saturating_mul(request.values);
        if u32::try_from(count(&plan.loops).saturating_add(1)).is_err() {
            made.reducer = request.reducer.of_many();
        }
        if lowered.axes.iter().any(|axis| axis.dim == 0) {
            (plan.spec.components, plan.stride) = (SmallVec::from_slice(&[NO_COMPONENT]), 0);
            if plan.action == Action::Run {
                plan.action = Action::Nothing;
            }
        }
        let NestPlan { loops, stride, action, spec: KernelSpec { components: parts, row, .. }, .. } = &*plan;
        let (stride, row, action) = (*stride, *row, *action);
        let fits = fits_i32(parts);
        let panels = if fits && action == Action::Run { panels(parts, loops, stride, row) } else { None };
        let inner = loops.last().copied().unwrap_or(Loop::ONCE);
        // Rows of several elements are taken by index only if rows and indices are contiguous.
        let is_dense = inner.out == row as isize && inner.index == index_size as isize;
        let few = Elements { n: elements, size: row / elements.max(1) };
        // A row without bytes is no element.
        let rows = request.reducer.rows.filter(|_| row > 0 && index_size > 0 && (elements == 1 || is_dense));
        let short = rows.is_some_and(|rows| (rows.by_index)(few, index_size).is_some());
        let reach = reach(&lowered.axes, size);
        let by_index = short && (elements == 1 || reach <= NEAR_ROWS);
        let nest = ScatterNest { components: parts, loops, stride, row, reach, by_index };
        if let (Action::Run, [axis]) = (action, lowered.axes.as_slice()) {
            made.few = nest.few(request, level, elements, axis.axis);
        }
        // Rows that are reduced in place need accumulators only if that method is forced.
        let accumulates = !request.is_in_place() || request.options.method == Some(Method::Accumulated);
        let accumulators = [RecordKind::Records, RecordKind::Counts].map(|kind| {
            if accumulates { accumulators::of(request, kind, parts, loops, stride, elements) } else { None }
        });
        let (method, way) = nest.choose(request, fits, panels, accumulators)?;
        let method = level.runs_as(method);
        let kernel_of = |rank| request.kernels.scatter_kernel(lowered.op.scatter(), request.index, rank, *level);
        let whole = kernel_of(loops.len());
        let panels = if let Strategy::Panels(panels) = &way { Some(panels) } else { None };
        let entry = panels.map_or(whole, |panels| kernel_of(loops.len() - panels.moving));
        let (prefetch_distance, next_slice_bytes) = match &way {
            Strategy::Panels(_) => (0, nest.next_slice_bytes(method)),
            // Records lie outside the destination, so no slice of it is prefetched.
            Strategy::Accumulated(Accumulators { reach, record, records: Some(_), .. }) => {
                (ScatterNest { reach: *reach, row: *record, ..nest }.prefetch_distance(method), 0)
            }
            Strategy::InPlace | Strategy::Accumulated(_) | Strategy::Sorted => {
                (nest.prefetch_distance(method), nest.next_slice_bytes(method))
            }
        };
        let adjacent_tuples = has_adjacent_tuples(parts, &inner, index_size);
        let takes_by_index = index_size > 0 && nest.takes_by_index(method, request.index);
        let by_index = match (&way, rows) {
            _ if !takes_by_index => None,
            (Strategy::Accumulated(Accumulators { records: Some(fns), .. }), _) => (fns.by_index)(index_size, elements),
            (Strategy::InPlace | Strategy::Accumulated(_), Some(rows)) => (rows.by_index)(few, index_size),
            _ => None,
        };
        let in_place = matches!(way, Strategy::InPlace | Strategy::Accumulated(Accumulators { records: None, .. }));
        made.block = NonZero::new(nest.block()).filter(|_| in_place && by_index.is_none());
        // Only contiguous rows and indices are a range of bytes to prefetch.
        let rows_ahead = if panels.is_some() && is_dense { PANEL_ROWS_AHEAD } else { 0 };
        (plan.kernel, plan.kernel_name) = (whole.run, entry.name);
        let spec = &mut plan.spec;
        (spec.method, spec.adjacent_tuples) = (method, adjacent_tuples);
        (spec.prefetch_distance, spec.next_slice_bytes) = (prefetch_distance, next_slice_bytes);
        spec.outer_prefetch_distance = rows_ahead;
        if made.skips_negative {
            spec.policy.missing = Missing::Skip;
        }
        (made.panel_kernel, made.by_index, made.elements, made.way) = (entry.run, by_index, elements, way);
        Ok(made)
    }

    /// Whether a lowered scatter has updates that are neither skipped nor refused.
    pub(crate) fn changes(lowered: &IndexLowered, policy: KernelPolicy) -> bool {
        Action::of(lowered, policy) == Action::Run && lowered.axes.iter().all(|axis| axis.dim > 0)
    }

    /// The method by which the plan accesses the destination.
    pub(crate) fn method(&self) -> Method {
        match self.way {
            Strategy::InPlace => self.spec.method,
            Strategy::Panels(_) => Method::Panels,
            Strategy::Accumulated(_) => Method::Accumulated,
            Strategy::Sorted => Method::Grouped,
        }
    }
}

/// Whether updates with a negative index are skipped, and non-negative indices may be errors.
fn skips_negative(request: &ReduceRequest) -> bool {
    request.skips_negative && request.index.is_signed() && request.policy.fails()
}

/// Parameters of taking elements by their indices, in elements.
struct ByIndex {
    /// Elements of a cache line.
    line: usize,
    /// Stride between positions of the destination.
    stride: usize,
    /// Minimum length of an inner loop.
    least: usize,
    /// Whether indices are tuples; one tuple serves a whole inner loop.
    tuples: bool,
}

/// Orders loops. The inner loop moves the index, if possible; of ordered loops, only the last may be the inner loop. If
/// elements are taken by their indices, the inner loop is the loop that passes the fewest lines. A short inner loop is
/// as fast, and long steps would revisit the same lines.
fn arrange(loops: &mut Loops, by_index: Option<ByIndex>) {
    let last_ordered = loops.iter().rposition(|along| !is_free(along));
    let may = |d: usize, along: &Loop| is_free(along) || Some(d) == last_ordered;
    if let Some(ByIndex { line, stride, least, tuples }) = by_index {
        let lines = |along: &Loop| -> usize {
            // Another index names another position, `stride` or more away.
            let moved = if along.index == 0 { 0 } else { stride };
            let data = along.data.unsigned_abs().max(moved);
            let steps = [along.out.unsigned_abs(), data, along.index.unsigned_abs()];
            let lines: usize = steps.iter().map(|step| step.min(&line)).sum();
            // Blocks resolve an index once for all rows that it serves.
            if along.index == 0 { 2 * lines } else { lines }
        };
        let fits = |along: &Loop| along.n >= least && !(tuples && along.index != 0);
        let long = loops.iter().enumerate().rev().filter(|&(d, along)| may(d, along) && fits(along));
        if let Some((nearest, _)) = long.min_by_key(|(_, along)| lines(along)) {
            let nearest = loops.remove(nearest);
            return loops.push(nearest);
        }
    }
    let may: SmallVec<[bool; 6]> = loops.iter().enumerate().map(|(d, along)| may(d, along)).collect();
    let moves: SmallVec<[bool; 6]> = loops.iter().zip(&may).map(|(along, &may)| may && along.index != 0).collect();
    let may = if moves.contains(&true) { moves } else { may };
    put_inside(loops, |d| may[d], |_, _| false);
}

/// Maximum bytes of a destination to take rows of several elements by index; a larger one is prefetched.
const NEAR_ROWS: usize = 4 << 20;
/// Minimum iterations of an inner loop with short steps, if rows may be sorted, or if one tuple serves the loop.
const LEAST_OF_ENTRIES: usize = 16;
/// Prefetch distance in rows of a panel's indices and updates.
const PANEL_ROWS_AHEAD: usize = 16;
