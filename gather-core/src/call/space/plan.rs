//! Plans of the operators that rearrange space: what a caller holds.

use core::marker::PhantomData;
use core::mem::MaybeUninit;

use crate::call::dynamic::check_dtype;
use crate::call::{check_fresh, check_layout, mismatch};
use crate::exec::{self, pool_threads};
use crate::plan::{Explain, SpacePlan};
use crate::tensor::dynamic::{DynTensor, DynView, DynViewMut};
use crate::tensor::layout::Layout;
use crate::tensor::memory;
use crate::tensor::owned::Tensor;
use crate::tensor::view::{View, ViewMut};
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
        check_layout(Argument::Data, &self.data, data.layout())?;
        check_fresh(&self.out)?;
        let run = |out: *mut MaybeUninit<T>| {
            // SAFETY: X1: the layout is that of the plan; the memory is fresh, row-major and long enough.
            unsafe { exec::run_space(&self.plan, data.origin().cast(), out.cast()) };
            Ok(())
        };
        // SAFETY: a run initialises every element of its output (X3).
        let values = unsafe { memory::fill(self.out.len(), run) }?;
        Ok(Tensor::from_parts(values, self.plan.output().clone()))
    }

    /// Runs the plan into an output of the planned layout. Allocates nothing.
    ///
    /// # Errors
    /// [`Error::PlanMismatch`]; the output is untouched then.
    #[inline]
    pub fn run_into(&self, data: &View<'_, T>, out: &mut ViewMut<'_, T>) -> Result<(), Error> {
        check_layout(Argument::Data, &self.data, data.layout())?;
        check_layout(Argument::Output, &self.out, out.layout())?;
        // SAFETY: X1: the layouts are those of the plan; a mutable view may be written along its layout.
        unsafe { exec::run_space(&self.plan, data.origin().cast(), out.origin().cast()) };
        Ok(())
    }

    /// Runs the plan into memory that holds no values yet. On success every element is initialised. Allocates nothing.
    ///
    /// # Errors
    /// As for [`RearrangePlan::run_into`].
    pub fn run_uninit(&self, data: &View<'_, T>, out: &mut ViewMut<'_, MaybeUninit<T>>) -> Result<(), Error> {
        check_layout(Argument::Data, &self.data, data.layout())?;
        check_layout(Argument::Output, &self.out, out.layout())?;
        // SAFETY: as in `run_into`.
        unsafe { exec::run_space(&self.plan, data.origin().cast(), out.origin().cast()) };
        Ok(())
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
        check_dtype(self.dtype, data.dtype())?;
        check_layout(Argument::Data, &self.data, data.layout())?;
        let write = |out: *mut u8| {
            // SAFETY: X1: the tensor is of the plan's layout and type; the memory is fresh, row-major and long enough.
            unsafe { exec::run_space(&self.plan, data.origin(), out) };
            Ok(())
        };
        // SAFETY: a run initialises every element of its output (X3) with values of the data type.
        unsafe { DynTensor::fill(self.dtype, &self.out, write) }
    }

    /// Runs the plan into a given row-major output.
    ///
    /// # Errors
    /// [`Error::DTypeMismatch`], then [`Error::PlanMismatch`]; the output is untouched then.
    pub fn run_into(&self, data: &DynView<'_>, out: &mut DynViewMut<'_>) -> Result<(), Error> {
        check_dtype(self.dtype, data.dtype())?;
        check_dtype(self.dtype, out.dtype())?;
        check_layout(Argument::Data, &self.data, data.layout())?;
        check_layout(Argument::Output, &self.out, out.layout())?;
        // SAFETY: X1: the tensors are of the plan's layouts and type; a mutable view may be written along its layout.
        unsafe { exec::run_space(&self.plan, data.origin(), out.origin()) };
        Ok(())
    }
}
