//! Plans of the operators that rearrange space.

use core::borrow::Borrow;
use core::marker::PhantomData;

use crate::call::checks::{check_layout, check_output, check_target, mismatch};
use crate::call::plan_type::plan_type;
use crate::call::source::Source;
use crate::call::source::kind::PlainKind;
use crate::exec::{self, pool_threads};
use crate::kernels::select::Kernels;
use crate::plan::{Explain, SpaceLowered, SpacePlan};
use crate::tensor::layout::Layout;
use crate::tensor::output::{Output, Target, written};
use crate::tensor::typing::Typing;
use crate::types::element::{DType, Element};
use crate::types::error::Error;
use crate::types::level::Level;
use crate::types::op::Argument;
use crate::types::policy::Options;

/// A plan of a call of [`BatchToSpace`](crate::BatchToSpace), [`SpaceToBatch`](crate::SpaceToBatch),
/// [`DepthToSpace`](crate::DepthToSpace) or [`SpaceToDepth`](crate::SpaceToDepth): all work that depends on shapes and
/// types. It is made once and runs many times, from any thread. `K` is the [kind](crate::Kind) of data.
///
/// ```
/// use gather_core::{BatchToSpace, Spec};
///
/// fn main() -> Result<(), gather_core::Error> {
///     let plan = BatchToSpace::new(&[1, 2], &[0, 0], &[0, 1]).plan(&Spec::<u8>::new(&[2, 2])?)?;
///     let mut out = [0; 3];
///     plan.run_slices(&[1, 2, 3, 4], &mut out)?;
///     assert_eq!(out, [1, 3, 2]);
///     Ok(())
/// }
/// ```
pub struct RearrangePlan<K> {
    planned: PlannedSpace,
    dtype: DType,
    kind: PhantomData<fn() -> K>,
}

plan_type!(RearrangePlan<K>: planned);

/// A plan without its type, and its layouts.
#[derive(Clone)]
pub(super) struct PlannedSpace {
    plan: SpacePlan,
    data: Layout,
    out: Layout,
    /// Whether both layouts are row-major, as slices are.
    contiguous: bool,
}

impl PlannedSpace {
    /// Plans a lowered operator for data of a layout, and for an output of layout `out`, or a row-major output.
    #[inline(never)]
    pub(super) fn new(
        (kernels, dtype, options): (Kernels, DType, Options),
        lowered: &SpaceLowered,
        data: &Layout,
        out: Option<&Layout>,
    ) -> Result<Self, Error> {
        let out = out.map_or_else(|| Layout::contiguous(&lowered.output), |out| Ok(out.clone()))?;
        check_output(lowered.op, &lowered.output, out.shape())?;
        let mut plan = SpacePlan::new(lowered, Level::resolve(options.level)?, options.par);
        plan.make(kernels, lowered, dtype, [data, &out], options.method)?;
        let contiguous = data.is_contiguous() && out.is_contiguous();
        Ok(PlannedSpace { plan, data: data.clone(), out, contiguous })
    }

    fn output_shape(&self) -> &[usize] {
        self.out.shape()
    }

    fn explain(&self) -> Explain<'_> {
        Explain::space(&self.plan, self.out.shape(), pool_threads)
    }
}

impl<K: PlainKind> RearrangePlan<K> {
    pub(super) fn new(planned: PlannedSpace, dtype: DType) -> Self {
        RearrangePlan { planned, dtype, kind: PhantomData }
    }

    /// Runs the plan into a fresh tensor.
    ///
    /// # Errors
    /// [`Error::DTypeMismatch`] for a type known at run time, [`Error::PlanMismatch`], also if the planned output is
    /// not row-major, then [`Error::AllocationFailed`].
    pub fn run<S: Source<Kind = K> + ?Sized>(&self, data: &S) -> Result<<K::Out as Typing>::Tensor, Error> {
        written(K::Out::empty(self.dtype), |out| self.run_into(data, out))
    }

    /// Runs the plan into an [`Output`]: a view of the planned layout, uninitialised memory, or a reused tensor.
    /// Allocates only the memory of a tensor that is too small.
    ///
    /// # Errors
    /// As for [`RearrangePlan::run`]; [`Error::PlanMismatch`] also for a tensor if the planned output is not
    /// row-major. On an error a view is untouched.
    #[inline]
    pub fn run_into<S, O>(&self, data: &S, out: &mut O) -> Result<(), Error>
    where
        S: Source<Kind = K> + ?Sized,
        O: Output<K::Out>,
    {
        K::Out::check(self.dtype, data.dtype())?;
        let out = out.target_of(self.dtype)?;
        check_layout(Argument::Data, &self.planned.data, data.held().borrow())?;
        check_target(&self.planned.out, &out)?;
        // SAFETY: X1: `check` compared the type of data, `check_layout` and `check_target` both layouts. O1: the output
        // is borrowed mutably, so it does not overlap data.
        unsafe { exec::run_space(&self.planned.plan, self.planned.out.shape(), data.start(), out) }
    }
}

impl<T: Element> RearrangePlan<T> {
    /// Runs the plan on slices, and compares only their lengths. For plans of row-major layouts.
    ///
    /// # Errors
    /// [`Error::PlanMismatch`] if a slice has another length, or the plan was made for other strides.
    #[inline]
    pub fn run_slices(&self, data: &[T], out: &mut [T]) -> Result<(), Error> {
        let PlannedSpace { plan, data: from, out: to, contiguous } = &self.planned;
        if !contiguous || data.len() != from.len() {
            return Err(mismatch(Argument::Data, from.shape(), &[data.len()]));
        }
        if out.len() != to.len() {
            return Err(mismatch(Argument::Output, to.shape(), &[out.len()]));
        }
        let (data, out) = (data.as_ptr().cast(), Target::Fixed(out.as_mut_ptr().cast(), to));
        // SAFETY: X1: `contiguous` and the comparisons of lengths: the slices hold the elements of both layouts in
        // order. A mutable slice overlaps no other.
        unsafe { exec::run_space(plan, to.shape(), data, out) }
    }
}
