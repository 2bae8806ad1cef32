//! The plan of a scatter: the folded loop nest of a gather, run the other way.
//!
//! Updates that go to one element are taken in their order. Which these are, loops say before any index is read: a loop
//! along which the destination moves never comes back to an element, since no two coordinates of a destination share
//! one. Such loops are *free*: they may be cut for threads, and stand anywhere. Loops along which only the index moves
//! the destination are *ordered*, and stay in their order.

#![forbid(unsafe_code)]

mod accumulators;
mod method;

use core::num::NonZero;

use smallvec::SmallVec;

use crate::kernels::reduce::{ByIndexFn, ReduceFns};
use crate::kernels::select::Kernels;
use crate::kernels::{IndexKernel, KernelSpec, Loop, fits_i32};
use crate::plan::fold::{Loops, count, fold, put_inside};
use crate::plan::index::Action;
use crate::plan::index::build::{NO_COMPONENT, action, components, out_strides, reach};
use crate::plan::lowered::{Axis, IndexLowered};
use crate::plan::method::Panels;
pub(crate) use crate::plan::reduce::accumulators::Accumulators;
use crate::plan::reduce::method::{Nest, panels};
use crate::plan::tasks::Work;
use crate::tensor::layout::{Layout, Shape};
use crate::types::element::DType;
use crate::types::error::Error;
use crate::types::index::IndexType;
use crate::types::level::Level;
use crate::types::method::Method;
use crate::types::op::Op;
use crate::types::policy::{IndexPolicy, Options, OutOfBounds};

/// What a scatter is made of besides layouts.
#[derive(Clone, Copy)]
pub(crate) struct ReduceRequest {
    pub(crate) op: Op,
    pub(crate) dtype: DType,
    pub(crate) index: IndexType,
    pub(crate) kernels: Kernels,
    /// Gathers, which copy data where the result is not the same tensor.
    pub(crate) copying: Kernels,
    pub(crate) reducer: ReduceFns,
    /// Whether what the destination holds counts.
    pub(crate) include_self: bool,
    /// `OutOfBounds::Zero` stands for updates that are dropped.
    pub(crate) policy: IndexPolicy,
    pub(crate) options: Options,
}

/// How a plan gets at the destination.
#[derive(Clone)]
pub(crate) enum Way {
    /// Rows are reduced one by one where they lie.
    RowByRow,
    /// The same in panels that the destination is packed into.
    Panels(Panels),
    /// Rows are reduced into accumulators beside the destination.
    Accumulated(Accumulators),
    /// Rows are sorted by destination.
    Sorted,
}

/// The plan of a scatter.
///
/// Made by [`ReducePlan::new`] alone, from attributes that have been checked against the layouts of destination,
/// indices and updates. So, for tensors of these layouts and types:
///
/// - **P1** `loops` reach the elements of updates and of indices that the operator reads (S1, K3), and those of the
///   destination that it may change for them (S2), where every position of the axes is in range. Coordinates that
///   differ in a free loop reach different elements of the destination, none of whose strides has wrapped.
/// - **P2** `spec`, `stride` and `kernel` belong together: the kernel is that of `spec.level`, of the index type and of
///   the nest's rank, and takes the nest by `spec.method` (K5, K7, K9). With `panels` the rank is that of the loops
///   that run on a panel: all but the first `panels.moving` free ones.
/// - **P3** Where there is a `by_index`, it is that of the reduction, of the data type, of the index type and of the
///   updates, and of the rows' elements where these go into records; other rows have one element. Indices have one
///   component and are contiguous along the inner loop, and so are updates, or there is one of them (S4). Of index
///   types of 1 and 2 bytes no negative value is an axis's position if read as unsigned.
#[derive(Clone)]
pub(crate) struct ReducePlan {
    op: Op,
    axes: SmallVec<[Axis; 3]>,
    /// P1. Folded, in bytes, the inner loop last: `out` are updates, `data` is the destination.
    loops: Loops,
    /// P2. Bytes of the destination from one position to the next.
    stride: isize,
    /// P2.
    spec: KernelSpec,
    /// P2. For all loops.
    kernel: IndexKernel,
    /// For the loops of a panel, where there are panels: not those that [`Panels::moving`] counts.
    panel_kernel: IndexKernel,
    /// Of the kernel that reduces.
    kernel_name: &'static str,
    reducer: ReduceFns,
    /// P3.
    by_index: Option<ByIndexFn>,
    include_self: bool,
    /// Elements of a row.
    elements: usize,
    way: Way,
    /// Iterations of the inner loop that all outer loops are run for before the next ones; 0 for all. No element meets
    /// its updates in another order then.
    block: usize,
    action: Action,
    index: IndexType,
    options: Options,
    work: Work,
}

impl ReducePlan {
    /// Plans a lowered scatter.
    ///
    /// # Errors
    /// [`Error::LevelUnavailable`] and [`Error::UnknownLevel`], [`Error::TooManyBytes`] for updates and then for the
    /// destination, [`Error::MethodUnavailable`].
    pub(crate) fn new(
        lowered: &IndexLowered,
        request: &ReduceRequest,
        destination: &Layout,
        updates: &Layout,
    ) -> Result<Self, Error> {
        let level = Level::resolve(request.options.level)?;
        let size = request.dtype.size();
        let bytes = Shape::checked_bytes(&lowered.output, size)?;
        // P1: no stride of the destination wraps, neither where loops are merged nor in bytes. One that wrapped to 0
        // would be that of an ordered loop, and a loop that it was merged with would pass for a free one.
        destination.check_bytes(size)?;
        let index_size = if lowered.axes.is_empty() { 0 } else { request.index.size() };

        let mut room = SmallVec::new();
        let strides = out_strides(updates, &lowered.dims, lowered.merged, &mut room);
        let dims = lowered.dims.iter().zip(strides);
        let (mut loops, elements) =
            fold(dims.map(|(dim, &out)| Loop { n: dim.n, out, data: dim.data, index: dim.index }));
        let plain = lowered.axes.len() == 1 && elements == 1 && request.reducer.rows.is_some() && request.include_self;
        arrange(&mut loops, |inner| plain && inner.index == 1 && inner.out == 1 && matches!(index_size, 4 | 8));
        for l in &mut loops {
            debug_assert!(destination.is_empty() || l.n <= 1 || l.data.checked_mul(size as isize).is_some(), "P1");
            // Strides of updates and indices wrap for layouts over no slice; a view's cannot overflow.
            l.out = l.out.wrapping_mul(size as isize);
            l.data = l.data.wrapping_mul(size as isize);
            l.index = l.index.wrapping_mul(index_size as isize);
        }
        let mut action = action(&lowered.output, &lowered.axes, request.policy);
        let nothing_to_change = lowered.axes.iter().any(|axis| axis.dim == 0);
        if nothing_to_change && action == Action::Run {
            action = Action::Nothing;
        }
        let mut parts = SmallVec::new();
        let mut stride = components(&lowered.axes, size as isize, index_size as isize, &mut parts);
        if nothing_to_change {
            (parts, stride) = (SmallVec::from_slice(&[NO_COMPONENT]), 0);
        }
        let fits = fits_i32(&parts);
        let row = elements.saturating_mul(size);
        let panels = if fits && action == Action::Run { panels(&parts, &loops, stride, row) } else { None };
        let nest = Nest { components: &parts, loops: &loops, stride, row, reach: reach(&lowered.axes, size) };
        let accumulators = accumulators::of(request, &parts, &loops, stride, elements);
        let (method, way) = nest.choose(request, fits, panels, accumulators)?;
        let kernel_of = |rank| request.kernels.scatter_kernel(lowered.op.scatter(), request.index, rank, level);
        let whole = kernel_of(loops.len());
        let panels = if let Way::Panels(panels) = &way { Some(panels) } else { None };
        let entry = panels.map_or(whole, |panels| kernel_of(loops.len() - panels.moving));
        let (prefetch_distance, next_slice_bytes) = match &way {
            Way::Panels(_) => (0, nest.next_slice_bytes(method)),
            // Records lie elsewhere.
            Way::Accumulated(Accumulators { reach, record, .. }) => {
                (Nest { reach: *reach, row: *record, ..nest }.prefetch_distance(method), 0)
            }
            Way::RowByRow | Way::Sorted => (nest.prefetch_distance(method), nest.next_slice_bytes(method)),
        };
        let work = Work { bytes, rows: count(&loops) };
        let inner = loops.last().copied().unwrap_or(Loop::ONCE);
        let adjacent_tuples = parts.len() > 1
            && inner.index == (index_size * parts.len()) as isize
            && parts.iter().enumerate().all(|(k, c)| c.index == (index_size * k) as isize && c.scale > 0);
        let by_index = match nest.takes_by_index(method, request.index) {
            Some(updates) if index_size > 0 => match (&way, request.reducer.rows) {
                (Way::Accumulated(accumulators), _) => (accumulators.fns.by_index)(index_size, updates, elements),
                (Way::RowByRow, Some(rows)) if elements == 1 => (rows.by_index)(size, index_size, updates),
                _ => None,
            },
            _ => None,
        };
        let block = if matches!(way, Way::RowByRow) && by_index.is_none() { nest.block() } else { 0 };
        let is_dense = inner.out == row as isize && inner.index == index_size as isize;
        let spec = KernelSpec {
            method,
            level,
            components: parts,
            row,
            policy: request.policy,
            // K6, where dropped rows are marked like those that are filled. Nothing is.
            fill: if request.policy.out_of_bounds == OutOfBounds::Zero {
                SmallVec::from_slice(&[0])
            } else {
                SmallVec::new()
            },
            packed: inner.out == row as isize && inner.data == 0 && stride == row as isize,
            adjacent_tuples,
            prefetch_distance,
            // Only rows and indices side by side are a range of bytes to ask for.
            outer_prefetch_distance: if panels.is_some() && is_dense { PANEL_ROWS_AHEAD } else { 0 },
            offsets_first: false,
            next_slice_bytes,
            table_entries: 0,
            conversion: None,
        };
        Ok(ReducePlan {
            op: lowered.op,
            axes: SmallVec::from_slice(&lowered.axes),
            loops,
            stride,
            kernel: whole.run,
            panel_kernel: entry.run,
            kernel_name: entry.name,
            spec,
            reducer: request.reducer,
            by_index,
            include_self: request.include_self,
            elements,
            way,
            block,
            action,
            index: request.index,
            options: request.options,
            work,
        })
    }

    pub(crate) fn op(&self) -> Op {
        self.op
    }

    pub(crate) fn axes(&self) -> &[Axis] {
        &self.axes
    }

    pub(crate) fn loops(&self) -> &[Loop] {
        &self.loops
    }

    pub(crate) fn stride(&self) -> isize {
        self.stride
    }

    pub(crate) fn spec(&self) -> &KernelSpec {
        &self.spec
    }

    pub(crate) fn kernel(&self) -> IndexKernel {
        self.kernel
    }

    pub(crate) fn panel_kernel(&self) -> IndexKernel {
        self.panel_kernel
    }

    pub(crate) fn kernel_name(&self) -> &'static str {
        self.kernel_name
    }

    pub(crate) fn reducer(&self) -> &ReduceFns {
        &self.reducer
    }

    /// What reduces elements by their indices, as long as these are positions; `None` where nothing does.
    pub(crate) fn by_index(&self) -> Option<ByIndexFn> {
        self.by_index
    }

    pub(crate) fn includes_self(&self) -> bool {
        self.include_self
    }

    pub(crate) fn elements(&self) -> usize {
        self.elements
    }

    pub(crate) fn way(&self) -> &Way {
        &self.way
    }

    /// Iterations of the inner loop that outer loops come back to, one block after the other; `None` where the inner
    /// loop is run whole.
    pub(crate) fn block(&self) -> Option<NonZero<usize>> {
        NonZero::new(self.block)
    }

    pub(crate) fn action(&self) -> Action {
        self.action
    }

    pub(crate) fn index(&self) -> IndexType {
        self.index
    }

    /// How the plan gets at the destination.
    pub(crate) fn method(&self) -> Method {
        match self.way {
            Way::RowByRow => self.spec.method,
            Way::Panels(_) => Method::Panels,
            Way::Accumulated(_) => Method::Accumulated,
            Way::Sorted => Method::Grouped,
        }
    }

    /// What a call does.
    pub(crate) fn work(&self) -> Work {
        self.work
    }

    /// Tasks that a call is cut into here and now, where the pool has `threads()` threads.
    pub(crate) fn tasks(&self, threads: impl FnOnce() -> usize) -> usize {
        self.work.tasks(self.options.par, threads)
    }
}

/// Whether a loop may be cut for threads and stand anywhere.
pub(crate) fn is_free(along: &Loop) -> bool {
    along.data != 0
}

/// Orders loops: the inner one is a loop that moves the index, if any may be that does. Of ordered loops it can only be
/// the last. The innermost one stays inside though another one is longer, where elements are taken by their indices
/// along it: that is as fast along a short loop, and a long one with long steps would come back to the same lines.
fn arrange(loops: &mut Loops, by_index: impl FnOnce(&Loop) -> bool) {
    let last_ordered = loops.iter().rposition(|along| !is_free(along));
    let may: SmallVec<[bool; 6]> =
        loops.iter().enumerate().map(|(d, along)| is_free(along) || Some(d) == last_ordered).collect();
    let moves: SmallVec<[bool; 6]> = loops.iter().zip(&may).map(|(along, &may)| may && along.index != 0).collect();
    let may = if moves.contains(&true) { moves } else { may };
    put_inside(loops, |d| may[d], |inner, reuse| !reuse && by_index(inner));
}

/// Rows of a panel's indices and updates that are asked for ahead.
const PANEL_ROWS_AHEAD: usize = 16;
