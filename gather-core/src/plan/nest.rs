//! The loop nest of a plan, common to gathers and scatters: a scatter is the nest of a gather in the other direction.

#![forbid(unsafe_code)]

use core::ops::Deref;

use smallvec::SmallVec;

use crate::kernels::{Component, IndexKernel, KernelSpec, Loop, fill_nest};
use crate::plan::fold::{Loops, count, fold_into, gcd, merge_into};
use crate::plan::lowered::{Axis, Dim, IndexLowered};
use crate::plan::tasks::Work;
use crate::tensor::layout::Layout;
use crate::types::declare::accessors;
use crate::types::index::IndexType;
use crate::types::level::Available;
use crate::types::method::Method;
use crate::types::op::Op;
use crate::types::policy::{KernelPolicy, Options};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    Nothing,
    /// Check every index; nothing can be written.
    Check,
    Run,
}

/// A folded loop nest over three tensors, and the kernel that runs it.
///
/// The *dense* tensor has an element at every coordinate of the loops: the output of a gather, the updates of a
/// scatter. Indices give positions of the *indexed* tensor: data of a gather, the destination of a scatter. In
/// [`Loop`], `out` steps through the dense tensor and `data` through the indexed one.
#[derive(Clone, Debug)]
pub(crate) struct NestPlan {
    pub(super) op: Op,
    pub(super) axes: SmallVec<[Axis; 3]>,
    /// Folded, in bytes, the inner loop last.
    pub(super) loops: Loops,
    /// Bytes of the indexed tensor between positions.
    pub(super) stride: isize,
    pub(super) spec: KernelSpec,
    pub(super) kernel: IndexKernel,
    pub(super) kernel_name: &'static str,
    pub(super) action: Action,
    pub(super) index: IndexType,
    pub(super) options: Options,
    pub(super) work: Work,
}

#[derive(Clone, Copy)]
pub(super) struct Sizes {
    /// Bytes of an element of the dense tensor.
    pub(super) dense: usize,
    /// Bytes of an element of the indexed tensor.
    pub(super) indexed: usize,
    /// Bytes of an index; 0 if no index is read.
    pub(super) index: usize,
    /// Elements of a row function's row in the dense tensor; the loops go around rows.
    pub(super) row: Option<usize>,
}

impl NestPlan {
    /// A nest without loops, over `bytes` bytes of the dense tensor.
    #[inline(always)]
    pub(super) fn new(
        lowered: &IndexLowered,
        (index, policy, options): (IndexType, KernelPolicy, Options),
        level: Available,
        bytes: usize,
    ) -> Self {
        NestPlan {
            op: lowered.op,
            axes: SmallVec::from_slice(&lowered.axes),
            loops: Loops::new(),
            stride: 0,
            spec: KernelSpec::new(Method::Direct, level, policy),
            kernel: fill_nest,
            kernel_name: "fill",
            action: Action::of(lowered, policy),
            index,
            options,
            work: Work { bytes, rows: 0, read: 0 },
        }
    }

    /// Folds the loops, whose steps are still in elements, and orders them by `arrange(loops, elements)`. Returns the
    /// elements of a row, and the result of `arrange`.
    #[inline(always)]
    pub(super) fn fold<R>(
        &mut self,
        lowered: &IndexLowered,
        dense: &Layout,
        sizes: Sizes,
        arrange: impl FnOnce(&mut Loops, usize) -> R,
    ) -> (usize, R) {
        let mut buffer = SmallVec::new();
        let strides = dense_strides(dense, &lowered.dims, lowered.merged, &mut buffer);
        let dims = lowered.dims.iter().zip(strides);
        let dims = dims.map(|(dim, &dense)| Loop { n: dim.n, out: dense, data: dim.data, index: dim.index });
        let elements = match sizes.row {
            None => fold_into(&mut self.loops, dims),
            Some(row) => {
                merge_into(&mut self.loops, dims);
                row
            }
        };
        let arranged = arrange(&mut self.loops, elements);
        for l in &mut self.loops {
            // The strides of a `Spec` in bytes may wrap; a view's strides cannot overflow.
            l.out = l.out.wrapping_mul(sizes.dense as isize);
            l.data = l.data.wrapping_mul(sizes.indexed as isize);
            l.index = l.index.wrapping_mul(sizes.index as isize);
        }
        self.stride =
            components(&lowered.axes, sizes.indexed as isize, sizes.index as isize, &mut self.spec.components);
        self.spec.row = elements.saturating_mul(sizes.dense);
        self.work.rows = count(&self.loops);
        (elements, arranged)
    }

    accessors! { self:
        pub(crate) fn op() -> Op => self.op;
        pub(crate) fn axes() -> &[Axis] => &self.axes;
        pub(crate) fn loops() -> &[Loop] => &self.loops;
        pub(crate) fn stride() -> isize => self.stride;
        pub(crate) fn spec() -> &KernelSpec => &self.spec;
        pub(crate) fn kernel() -> IndexKernel => self.kernel;
        pub(crate) fn kernel_name() -> &'static str => self.kernel_name;
        pub(crate) fn action() -> Action => self.action;
        pub(crate) fn index() -> IndexType => self.index;
        pub(crate) fn work() -> Work => self.work;
    }

    /// Number of tasks of a call of cost `work`, in a pool of `threads()` threads.
    #[inline]
    pub(crate) fn tasks(&self, work: Work, threads: impl FnOnce() -> usize) -> usize {
        work.tasks(self.options.par, threads)
    }
}

impl Action {
    /// The action for an output and axes of these shapes.
    pub(crate) fn of(lowered: &IndexLowered, policy: KernelPolicy) -> Self {
        if lowered.output.contains(&0) {
            let checks = policy.refuses(true, false) && !lowered.axes.is_empty();
            return if checks { Action::Check } else { Action::Nothing };
        }
        let reads = lowered.axes.iter().all(|axis| axis.dim > 0);
        if reads || !policy.fails() { Action::Run } else { Action::Check }
    }
}

/// A plan with a dynamic loop: each call chooses its number of iterations.
#[derive(Clone, Debug)]
pub(crate) struct DynamicPlan<P> {
    pub(crate) plan: P,
    /// Position of the dynamic loop.
    pub(crate) position: usize,
    /// Iterations of the dynamic loop per step of the dynamic dimension; 0 if nothing moves.
    pub(crate) times: usize,
    /// The size of the dynamic dimension at planning.
    pub(crate) planned: usize,
}

impl<P: Deref<Target = NestPlan>> DynamicPlan<P> {
    /// The plan for size `planned` of the dynamic dimension. `None` unless the plan runs and exactly one loop
    /// `is_dynamic`.
    pub(crate) fn new(planned: usize, plan: P, is_dynamic: impl Fn(&P, &Loop) -> bool) -> Option<Self> {
        let is_dynamic = |along: &&Loop| along.n.is_multiple_of(planned) && is_dynamic(&plan, along);
        let position = plan.loops.iter().position(|along| is_dynamic(&along))?;
        let is_only = plan.loops.iter().filter(is_dynamic).count() == 1;
        let times = plan.loops[position].n / planned;
        (is_only && plan.action == Action::Run).then_some(DynamicPlan { plan, position, times, planned })
    }

    /// A plan that moves nothing, for any size.
    pub(crate) fn idle(plan: P) -> Self {
        DynamicPlan { plan, position: 0, times: 0, planned: 1 }
    }
}

/// Whether a loop of a scatter may be cut for threads and take any position.
pub(crate) fn is_free(along: &Loop) -> bool {
    along.data != 0
}

/// Bytes of the indexed tensor that the axes span.
pub(super) fn reach(axes: &[Axis], size: usize) -> usize {
    let reached = axes.iter().map(|axis| axis.dim.saturating_mul(axis.data.unsigned_abs())).max().unwrap_or(0);
    reached.saturating_mul(size)
}

/// Element strides of the dense tensor along the lowered dimensions; derived in `buffer` if dimensions are merged.
pub(super) fn dense_strides<'a>(
    dense: &'a Layout,
    dims: &[Dim],
    merged: usize,
    buffer: &'a mut SmallVec<[isize; 6]>,
) -> &'a [isize] {
    if merged <= 1 {
        return dense.strides();
    }
    buffer.resize(dims.len(), dense.strides()[0]);
    for d in (0..merged - 1).rev() {
        buffer[d] = buffer[d + 1].wrapping_mul(dims[d + 1].n as isize);
    }
    buffer[merged..].copy_from_slice(&dense.strides()[1..]);
    buffer
}

/// The component of indices that are not read.
pub(super) const NO_COMPONENT: Component = Component { dim: 1, scale: 0, index: 0 };

/// Adds the components of an index. Returns the bytes of the indexed tensor between positions: the greatest common
/// divisor of the axes' strides.
#[inline(always)]
fn components(axes: &[Axis], size: isize, index_size: isize, components: &mut SmallVec<[Component; 3]>) -> isize {
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
