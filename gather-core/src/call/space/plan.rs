//! Plans of the operators that rearrange space: what a caller holds.

use core::marker::PhantomData;

use crate::call::dynamic::check_dtype;
use crate::call::space::run;
use crate::call::{check_layout, check_target, mismatch};
use crate::exec::{self, pool_threads};
use crate::plan::{Explain, SpacePlan};
use crate::tensor::dynamic::{DynTensor, DynView};
use crate::tensor::layout::Layout;
use crate::tensor::output::{DynOutput, Output};
use crate::tensor::owned::Tensor;
use crate::tensor::view::View;
use crate::types::element::{DType, Element};
use crate::types::error::Error;
use crate::types::op::Argument;

/// Everything about a call of [`BatchToSpace`](crate::BatchToSpace), [`SpaceToBatch`](crate::SpaceToBatch),
/// [`DepthToSpace`](crate::DepthToSpace) or [`SpaceToDepth`](crate::SpaceToDepth) that depends on shapes and types:
/// made once, run many times, from any thread.
///
/// ```
/// use gather_core::{BatchToSpace, Layout};
///
/// fn main() -> Result<(), gather_core::Error> {
///     let plan = BatchToSpace::new(&[1, 2], &[0, 0], &[0, 1]).plan::<u8>(&Layout::contiguous(&[2, 2])?)?;
///     let mut out = [0; 3];
///     plan.run_slices(&[1, 2, 3, 4], &mut out)?;
///     assert_eq!(out, [1, 3, 2]);
///     Ok(())
/// }
/// ```
pub struct RearrangePlan<T> {
    plan: SpacePlan,
    data: Layout,
    out: Layout,
    /// Whether both layouts are row-major, as slices are.
    contiguous: bool,
    types: PhantomData<fn(T)>,
}

impl<T> core::fmt::Debug for RearrangePlan<T> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        core::fmt::Display::fmt(&Explain::space(&self.plan, pool_threads), f)
    }
}

impl<T> Clone for RearrangePlan<T> {
    fn clone(&self) -> Self {
        RearrangePlan { plan: self.plan.clone(), data: self.data.clone(), out: self.out.clone(), ..*self }
    }
}

impl<T: Element> RearrangePlan<T> {
    /// A plan for these layouts and for elements of the size of `T`.
    pub(super) fn new(plan: SpacePlan, data: Layout, out: Layout) -> Self {
        let contiguous = data.is_contiguous() && out.is_contiguous();
        RearrangePlan { plan, data, out, contiguous, types: PhantomData }
    }

    /// The shape of the result.
    #[must_use]
    pub fn output_shape(&self) -> &[usize] {
        self.out.shape()
    }

    /// What a call will do: kernel, loops, bytes, tasks.
    #[must_use]
    pub fn explain(&self) -> Explain<'_> {
        Explain::space(&self.plan, pool_threads)
    }

    /// Runs the plan into a fresh tensor.
    ///
    /// # Errors
    /// [`Error::PlanMismatch`], also where the plan was made for an output that is not row-major, then
    /// [`Error::AllocationFailed`].
    pub fn run(&self, data: &View<'_, T>) -> Result<Tensor<T>, Error> {
        let mut out = Tensor::default();
        self.run_into(data, &mut out)?;
        Ok(out)
    }

    /// Runs the plan into an [`Output`]: a view of the planned layout, uninitialised memory, or a tensor that is used
    /// again. Allocates nothing but the memory of a tensor that is too small.
    ///
    /// # Errors
    /// [`Error::PlanMismatch`], also for a tensor where the plan was made for an output that is not row-major, then
    /// [`Error::AllocationFailed`]. A view is untouched then.
    #[inline]
    pub fn run_into(&self, data: &View<'_, T>, out: &mut impl Output<T>) -> Result<(), Error> {
        check_layout(Argument::Data, &self.data, data.layout())?;
        let out = out.target();
        check_target(&self.out, &out)?;
        // SAFETY: X1: the layouts are those of the plan, as just checked; O1 for `T`; the output is borrowed mutably,
        // so that it overlaps no input.
        unsafe { run(&self.plan, data.origin().cast(), out) }
    }

    /// Runs the plan on slices, whose lengths alone are compared: for plans of row-major layouts.
    ///
    /// # Errors
    /// [`Error::PlanMismatch`] where a slice has another length, or the plan was made for other strides.
    #[inline]
    pub fn run_slices(&self, data: &[T], out: &mut [T]) -> Result<(), Error> {
        if !self.contiguous || data.len() != self.data.len() {
            return Err(mismatch(Argument::Data, self.data.shape(), &[data.len()]));
        }
        if out.len() != self.out.len() {
            return Err(mismatch(Argument::Output, self.out.shape(), &[out.len()]));
        }
        // SAFETY: X1: row-major tensors of the plan's shapes have as many elements as the slices, in order.
        unsafe { exec::run_space(&self.plan, data.as_ptr().cast(), out.as_mut_ptr().cast()) };
        Ok(())
    }
}

/// As [`RearrangePlan`], for a type that is known at run time. Made by [`plan_dyn`](crate::SpaceOperator::plan_dyn).
#[derive(Clone)]
pub struct DynRearrangePlan {
    plan: SpacePlan,
    dtype: DType,
    data: Layout,
    out: Layout,
}

impl core::fmt::Debug for DynRearrangePlan {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        core::fmt::Display::fmt(&self.explain(), f)
    }
}

impl DynRearrangePlan {
    pub(super) fn new(plan: SpacePlan, dtype: DType, data: Layout, out: Layout) -> Self {
        DynRearrangePlan { plan, dtype, data, out }
    }

    /// The shape of the result.
    #[must_use]
    pub fn output_shape(&self) -> &[usize] {
        self.out.shape()
    }

    /// What a call will do: kernel, loops, bytes, tasks.
    #[must_use]
    pub fn explain(&self) -> Explain<'_> {
        Explain::space(&self.plan, pool_threads)
    }

    /// Runs the plan into a fresh tensor.
    ///
    /// # Errors
    /// [`Error::DTypeMismatch`], [`Error::PlanMismatch`], then [`Error::AllocationFailed`].
    pub fn run(&self, data: &DynView<'_>) -> Result<DynTensor, Error> {
        let mut out = DynTensor::empty(self.dtype);
        self.run_into(data, &mut out)?;
        Ok(out)
    }

    /// Runs the plan into a [`DynOutput`]: a row-major view, or a tensor that is used again.
    ///
    /// # Errors
    /// [`Error::DTypeMismatch`], [`Error::PlanMismatch`], then [`Error::AllocationFailed`] for a tensor. A view is
    /// untouched then.
    pub fn run_into(&self, data: &DynView<'_>, out: &mut impl DynOutput) -> Result<(), Error> {
        check_dtype(self.dtype, data.dtype())?;
        let out = out.target(self.dtype)?;
        check_layout(Argument::Data, &self.data, data.layout())?;
        check_target(&self.out, &out)?;
        // SAFETY: X1: the tensors are of the plan's layouts and type, as just checked; O1 for the data type; the output
        // is borrowed mutably, so that it overlaps no input.
        unsafe { run(&self.plan, data.origin(), out) }
    }
}
