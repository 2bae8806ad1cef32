//! Plans with their types: what a caller holds.

use core::marker::PhantomData;

use crate::call::erased::Request;
use crate::call::plan_type::plan_type;
use crate::call::planned::{Inputs, Planned};
use crate::call::will_need::will_need;
use crate::exec::Operands;
use crate::tensor::output::{Output, Target, written};
use crate::tensor::typing::{Input, Typing};
use crate::types::element::{DType, Element};
use crate::types::error::Error;
use crate::types::index::Index;

/// Everything about a call of [`Gather`](crate::Gather), [`GatherElements`](crate::GatherElements) or
/// [`GatherNd`](crate::GatherNd) that depends on shapes and types: made once, run many times, from any thread. The
/// [guide](crate::guide::plans) has a chapter on plans.
///
/// ```
/// use gather_core::{Gather, Layout, View, ViewMut};
///
/// fn main() -> Result<(), gather_core::Error> {
///     let (table, ids) = (Layout::contiguous(&[4, 2])?, Layout::contiguous(&[3])?);
///     let plan = Gather::new(0).plan::<f32, u32>(&table, &ids)?;
///
///     let values = [0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 3.5];
///     let mut out = [0.0; 6];
///     plan.run_slices(&values, &[3, 0, 1], &mut out)?;
///     assert_eq!(out, [3.0, 3.5, 0.0, 0.5, 1.0, 1.5]);
///     Ok(())
/// }
/// ```
pub struct Plan<T, I> {
    planned: Planned,
    dtype: DType,
    index: DType,
    types: PhantomData<fn(T, I)>,
}

plan_type!(Plan<T, I>: planned);
will_need!(Plan<T, I>: planned, T, I);

impl<T: Typing, I: Typing> Plan<T, I> {
    /// A plan for a request of these types.
    pub(super) fn new(
        request: &Request<'_>,
        make: impl FnOnce(&Request<'_>) -> Result<Planned, Error>,
    ) -> Result<Self, Error> {
        let (dtype, index) = (request.planned.dtype, request.planned.index.dtype());
        Ok(Plan { planned: make(request)?, dtype, index, types: PhantomData })
    }

    /// Runs the plan into a fresh tensor.
    ///
    /// # Errors
    /// [`Error::DTypeMismatch`] for types that are known at run time, [`Error::PlanMismatch`], also where the plan was
    /// made for an output that is not row-major, [`Error::AllocationFailed`], then [`Error::IndexOutOfRange`].
    pub fn run(&self, data: &impl Input<T>, indices: &impl Input<I>) -> Result<T::Tensor, Error> {
        written(T::empty(self.dtype), |out| self.run_into(data, indices, out))
    }

    /// Runs the plan into an [`Output`]: a view of the planned layout, uninitialised memory, or a tensor that is used
    /// again. On one thread it allocates nothing but the scratch of [`Method::Panels`](crate::Method::Panels) (up to
    /// six loops), and the memory of a tensor that is too small.
    ///
    /// # Errors
    /// [`Error::DTypeMismatch`] for types that are known at run time, [`Error::PlanMismatch`], also for a tensor where
    /// the plan was made for an output that is not row-major, [`Error::AllocationFailed`], then
    /// [`Error::IndexOutOfRange`]; the output is then as after
    /// [`Gather::run_into`](crate::IndexOperator::run_into).
    #[inline]
    pub fn run_into(
        &self,
        data: &impl Input<T>,
        indices: &impl Input<I>,
        out: &mut impl Output<T>,
    ) -> Result<(), Error> {
        data.check(self.dtype)?;
        indices.check(self.index)?;
        if let Target::Fixed(out, layout) = out.target_of(self.dtype)?
            && self.planned.is_one_call(data.layout(), indices.layout(), layout)
        {
            // SAFETY: the types and layouts are those of the plan, and a call is one call of the kernel, as just
            // checked; O1.
            return unsafe { self.planned.call(data.start(), indices.start(), out) };
        }
        // SAFETY: the inputs are of the plan's types, as just checked.
        unsafe { self.run_any_into(data, indices, out) }
    }

    /// As [`Plan::run_into`], for every plan and any layouts.
    ///
    /// # Safety
    /// The inputs are of the plan's types.
    #[inline(never)]
    unsafe fn run_any_into(
        &self,
        data: &impl Input<T>,
        indices: &impl Input<I>,
        out: &mut impl Output<T>,
    ) -> Result<(), Error> {
        let (inputs, out) = (Inputs::new(data, indices), out.target_of(self.dtype)?);
        // SAFETY: the inputs are of the plan's types, by the caller's promise; O1; the output is borrowed mutably, so
        // that it overlaps no input.
        unsafe { self.planned.run(inputs, out) }
    }
}

impl<T: Element, I: Index> Plan<T, I> {
    /// Runs the plan on slices, whose lengths alone are compared: for plans of row-major layouts, the shortest way to
    /// a kernel.
    ///
    /// # Errors
    /// [`Error::PlanMismatch`] where a slice has another length, or the plan was made for other strides; then as for
    /// [`Plan::run_into`].
    #[inline]
    pub fn run_slices(&self, data: &[T], indices: &[I], out: &mut [T]) -> Result<(), Error> {
        let count = self.planned.check_lens(data.len(), indices.len(), out.len())?;
        let (data, index, out) = (data.as_ptr().cast(), indices.as_ptr().cast(), out.as_mut_ptr().cast());
        let operands = Operands { out, data, index, indices: &self.planned.indices, params: core::ptr::null() };
        // SAFETY: row-major tensors of the plan's shapes have as many elements as the slices, in order; the types are
        // the plan's.
        unsafe { self.planned.execute(operands, count) }
    }
}
