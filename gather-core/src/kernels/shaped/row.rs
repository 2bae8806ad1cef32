//! Kernels for declared shapes, as rows of a set: the run-time dispatcher picks them if types and folded shapes match.

use core::marker::PhantomData;

use crate::kernels::by_level::{ByLevel, by_level};
use crate::kernels::info::KernelInfo;
use crate::kernels::level_fn::{LevelFn, Token};
use crate::kernels::nest::args::IndexKernel;
use crate::kernels::nest::args::{Cursor, IndexArgs, Loop, Outcome};
use crate::kernels::shaped::fold::IndexShape;
use crate::kernels::shaped::rows::{IndexShapeOf, ShapedTensors};
use crate::kernels::shaped::size::{SizeSource, Sizes};
use crate::kernels::shaped::space_row::ShapedSpace;
use crate::types::declared::{Declaration, MAX_DIMS};
use crate::types::element::{DType, Element, IsElement};
use crate::types::index::{Index, IndexType};
use crate::types::level::Level;
use crate::types::op::Op;
use crate::types::policy::KernelPolicy;

/// A kernel for a declared shape. Made only from a declaration, for its shape and types (T1).
#[derive(Clone, Copy, Debug)]
pub struct ShapedRow {
    name: &'static str,
    op: Op,
    dtype: DType,
    kernels: ShapedKernels,
}

#[derive(Clone, Copy, Debug)]
enum ShapedKernels {
    Index(ShapedIndex),
    Space(ShapedSpace),
}

impl ShapedRow {
    /// The levels with kernels of declared shapes.
    pub(crate) const LEVELS: &'static [Level] =
        if cfg!(target_arch = "x86_64") { &[Level::Scalar, Level::Avx2] } else { &[Level::Scalar] };

    /// The row of a declared operator on indices, with a name that includes its shape.
    #[must_use]
    pub const fn gather<D: Declaration, T: Element, I: Index, const ARGS: usize>(name: &'static str) -> Self {
        const { assert!(!D::DECLARED.op.rearranges(), "the declaration of an operator on indices") };
        let kernels = ShapedKernels::Index(ShapedIndex::new::<D, T, I, ARGS>());
        Self::new::<D, T, ARGS>(name, kernels)
    }

    /// The row of a declared BatchToSpace.
    #[must_use]
    pub const fn batch_to_space<D: Declaration, T: Element, const ARGS: usize>(name: &'static str) -> Self {
        const { assert!(D::DECLARED.op.rearranges(), "the declaration of an operator without indices") };
        let kernels = ShapedKernels::Space(ShapedSpace::new::<D, T, ARGS>(name));
        Self::new::<D, T, ARGS>(name, kernels)
    }

    const fn new<D: Declaration, T: Element, const ARGS: usize>(name: &'static str, kernels: ShapedKernels) -> Self {
        const {
            let () = IsElement::<T>::CHECK;
            assert!(ARGS == D::DECLARED.arguments(), "an argument for each open size but the first of a tensor");
        }
        ShapedRow { name, op: D::DECLARED.op, dtype: T::DTYPE, kernels }
    }

    pub(crate) fn name(&self) -> &'static str {
        self.name
    }

    /// Whether the kernels are for an operator and types; the index type is `None` for operators without indices.
    pub(crate) fn takes(&self, op: Op, dtype: DType, index: Option<IndexType>) -> bool {
        self.op == op && self.dtype == dtype && self.index_type() == index
    }

    fn index_type(&self) -> Option<IndexType> {
        self.index().map(|index| index.index)
    }

    /// The kernels, if the operator has indices.
    pub(crate) fn index(&self) -> Option<&ShapedIndex> {
        if let ShapedKernels::Index(index) = &self.kernels { Some(index) } else { None }
    }

    /// The kernels, if the operator is BatchToSpace.
    pub(crate) fn space(&self) -> Option<&ShapedSpace> {
        if let ShapedKernels::Space(space) = &self.kernels { Some(space) } else { None }
    }

    pub(crate) fn info(&self, level: Level) -> KernelInfo {
        let rank = match &self.kernels {
            ShapedKernels::Index(index) => index.shape.len,
            ShapedKernels::Space(space) => space.rank(),
        };
        let (op, dtype, index) = (self.op, self.dtype, self.index_type());
        KernelInfo { op, dtype, index, rank: Some(rank), level, name: self.name }
    }
}

/// The kernels of a declared operator on indices.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ShapedIndex {
    shape: &'static IndexShape,
    policy: KernelPolicy,
    index: IndexType,
    kernels: ByLevel<IndexKernel>,
}

impl ShapedIndex {
    const fn new<D: Declaration, T: Element, I: Index, const ARGS: usize>() -> Self {
        ShapedIndex {
            shape: &IndexShapeOf::<D>::SHAPE,
            policy: D::DECLARED.policy.lower(),
            index: I::TYPE,
            kernels: by_level!(fn ShapedKernel<D, T, I, ARGS>),
        }
    }

    pub(crate) fn kernel(&self, level: Level) -> IndexKernel {
        *self.kernels.get(level)
    }

    /// Whether folded loops, in elements, match the shape for some open sizes (K10).
    ///
    /// An item of `axes` is an axis: its number, size and stride in data, and the place of its component in a tuple.
    pub(crate) fn matches(
        &self,
        policy: KernelPolicy,
        loops: &[Loop],
        row: usize,
        axes: impl ExactSizeIterator<Item = (usize, usize, isize, isize)> + Clone,
    ) -> bool {
        let shape = self.shape;
        if policy != self.policy || loops.len() != shape.len || axes.len() != shape.axes_len {
            return false;
        }
        let open = |source: SizeSource| match source {
            SizeSource::Loop(at) => loops[at].n,
            SizeSource::Axis(at) => axes.clone().nth(at).map_or(0, |axis| axis.1),
            SizeSource::Row => row,
            SizeSource::Unused => 1,
        };
        // The maximum number of arguments of a declaration.
        let Some(sizes) = shape.sizes::<{ 2 * MAX_DIMS }>(open) else { return false };
        let own = &shape.loops[MAX_DIMS - shape.len..];
        let same = |own: usize, given: isize| usize::try_from(given) == Ok(own);
        let same_loops = own.iter().zip(loops).all(|(own, given)| {
            own.n.at(&sizes) == given.n
                && same(own.data.at(&sizes), given.data)
                && same(own.index.at(&sizes), given.index)
        });
        let same_axes = shape.axes[..shape.axes_len].iter().zip(axes).enumerate().all(|(k, (own, given))| {
            let (axis, dim, data, component) = given;
            let same_place = axis == own.axis && component == k as isize;
            same_place && dim == own.dim.at(&sizes) && same(own.stride.at(&sizes), data)
        });
        let side_by_side = loops.iter().rev().try_fold(row, |step, l| same(step, l.out).then_some(step * l.n));
        same_loops && same_axes && shape.row.at(&sizes) == row && side_by_side.is_some()
    }
}

struct ShapedKernel<D, T, I, const ARGS: usize>(PhantomData<(D, T, I)>);

impl<D: Declaration, T: Element, I: Index, const ARGS: usize> LevelFn for ShapedKernel<D, T, I, ARGS> {
    type Args<'a> = &'a IndexArgs<'a>;
    type Output = Outcome;

    #[inline(always)]
    fn call<Here: Token>(level: Here, args: &IndexArgs<'_>) -> Outcome {
        let open = |source: SizeSource| match source {
            SizeSource::Loop(at) => args.loops()[at].n,
            SizeSource::Axis(at) => args.spec().components[at].dim as usize,
            SizeSource::Row => args.spec().row / size_of::<T>(),
            SizeSource::Unused => 1,
        };
        let sizes: Sizes<ARGS> =
            const { &IndexShapeOf::<D>::SHAPE }.sizes(open).expect("K10: the open sizes are found");
        let Cursor { data, index, out } = *args.origin();
        // SAFETY: D1 to D3 by K1 to K4 for the loops, which match the shape for these sizes (K10).
        let tensors = unsafe { ShapedTensors::<D, T, I, ARGS>::new(data.cast(), index.cast(), out.cast(), &sizes) };
        Outcome::complete_if(tensors.move_rows(level))
    }
}
