//! Calls on tensors whose types are known at run time, and their plans.

use crate::call::erased::{Call, Request};
use crate::call::operator::{IndexAttributes, IndexOperator};
use crate::call::planned::Planned;
use crate::exec::{self, Operands};
use crate::kernels::registry::Registry;
use crate::plan::{Explain, IndexRequest};
use crate::tensor::dynamic::{DynTensor, DynView, DynViewMut};
use crate::tensor::layout::Layout;
use crate::types::element::DType;
use crate::types::error::Error;
use crate::types::index::IndexType;

impl<A: IndexAttributes> IndexOperator<A> {
    /// Runs the operator on tensors whose types are known at run time, with the kernels of a registry.
    ///
    /// # Errors
    /// [`Error::NotAnIndexType`], [`Error::UnknownDType`], then as for [`Self::run`].
    pub fn run_dyn(&self, registry: &Registry, data: &DynView<'_>, indices: &DynView<'_>) -> Result<DynTensor, Error> {
        let index = index_type(indices.dtype())?;
        let plan = self.plan_dyn(registry, data.dtype(), data.layout(), index, indices.layout())?;
        plan.run(data, indices)
    }

    /// As [`Self::run_dyn`], into a given output of any strides.
    ///
    /// # Errors
    /// As for [`Self::run_dyn`], with [`Error::DTypeMismatch`] after [`Error::NotAnIndexType`], and
    /// [`Error::ShapeMismatch`] after errors of shapes. The output is then as after [`Self::run_into`].
    pub fn run_dyn_into(
        &self,
        registry: &Registry,
        data: &DynView<'_>,
        indices: &DynView<'_>,
        out: &mut DynViewMut<'_>,
    ) -> Result<(), Error> {
        let index = index_type(indices.dtype())?;
        check_dtype(data.dtype(), out.dtype())?;
        let request = self.dyn_request(registry, data.dtype(), data.layout(), index, indices.layout())?;
        let call = Call::erased(request, data, indices);
        // SAFETY: a mutable view may be written along its layout as elements of its data type, and being borrowed
        // mutably it overlaps no input.
        unsafe { call.run_into(out.origin(), out.layout()) }
    }

    /// As [`Self::plan`], for types that are known at run time, with the kernels of a registry.
    ///
    /// # Errors
    /// [`Error::UnknownDType`], then as for [`Self::plan`].
    pub fn plan_dyn(
        &self,
        registry: &Registry,
        dtype: DType,
        data: &Layout,
        index: IndexType,
        indices: &Layout,
    ) -> Result<DynPlan, Error> {
        let planned = Planned::new(&self.dyn_request(registry, dtype, data, index, indices)?)?;
        Ok(DynPlan { planned, dtype })
    }

    fn dyn_request<'a>(
        &'a self,
        registry: &Registry,
        dtype: DType,
        data: &'a Layout,
        index: IndexType,
        indices: &'a Layout,
    ) -> Result<Request<'a>, Error> {
        let op = self.attributes().op();
        let kernels = registry.index_kernels(op, dtype, index).ok_or(Error::UnknownDType { op, dtype })?;
        let (policy, options) = (self.policy(), self.options());
        let planned = IndexRequest { op, kernels, dtype, index, policy, options, converting: None };
        Ok(Request { attributes: self.attributes(), planned, data, indices })
    }
}

/// The index type of a data type.
pub(super) fn index_type(dtype: DType) -> Result<IndexType, Error> {
    IndexType::from_dtype(dtype).ok_or(Error::NotAnIndexType { dtype })
}

/// Checks that a tensor has the data type that another one has.
pub(super) fn check_dtype(expected: DType, got: DType) -> Result<(), Error> {
    if expected == got { Ok(()) } else { Err(Error::DTypeMismatch { expected, got }) }
}

/// As [`Plan`](crate::Plan), for types that are known at run time. Made by [`plan_dyn`](IndexOperator::plan_dyn).
///
/// ```
/// use gather_core::{DynView, Gather, IndexType, Layout, Registry, View};
///
/// fn main() -> Result<(), gather_core::Error> {
///     let registry = Registry::builtin();
///     let (table, ids) = ([1.5f32, 2.5, 3.5], [2u8, 0]);
///     let (table, ids) = (View::new(&table, &[3])?, View::new(&ids, &[2])?);
///     let (table, ids) = (DynView::from(&table), DynView::from(&ids));
///     let plan = Gather::new(0).plan_dyn(&registry, table.dtype(), table.layout(), IndexType::U8, ids.layout())?;
///     assert_eq!(plan.run(&table, &ids)?.downcast::<f32>()?.as_slice(), [3.5, 1.5]);
///     Ok(())
/// }
/// ```
#[derive(Clone)]
pub struct DynPlan {
    planned: Planned,
    dtype: DType,
}

impl core::fmt::Debug for DynPlan {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        self.planned.fmt(f)
    }
}

impl DynPlan {
    /// The shape of the result.
    #[must_use]
    pub fn output_shape(&self) -> &[usize] {
        self.planned.out.shape()
    }

    /// What a call will do: method, kernel, loops, bytes, tasks.
    #[must_use]
    pub fn explain(&self) -> Explain<'_> {
        self.planned.explain()
    }

    /// Runs the plan into a fresh tensor.
    ///
    /// # Errors
    /// [`Error::DTypeMismatch`], [`Error::PlanMismatch`], [`Error::AllocationFailed`], then [`Error::IndexOutOfRange`].
    pub fn run(&self, data: &DynView<'_>, indices: &DynView<'_>) -> Result<DynTensor, Error> {
        self.check_inputs(data, indices)?;
        let write = |out: *mut u8| {
            // SAFETY: X1: the tensors are of the plan's layouts and types, as just checked; the memory is fresh,
            // row-major, long enough.
            unsafe { exec::run_index(&self.planned.plan, operands(data, indices, out)) }
        };
        // SAFETY: a run that succeeds has initialised every element of its output (X3) with values of the data type.
        unsafe { DynTensor::fill(self.dtype, &self.planned.out, write) }
    }

    /// Runs the plan into a given row-major output.
    ///
    /// # Errors
    /// [`Error::DTypeMismatch`], [`Error::PlanMismatch`], [`Error::AllocationFailed`] for a scratch, then
    /// [`Error::IndexOutOfRange`].
    pub fn run_into(&self, data: &DynView<'_>, indices: &DynView<'_>, out: &mut DynViewMut<'_>) -> Result<(), Error> {
        self.check_inputs(data, indices)?;
        check_dtype(self.dtype, out.dtype())?;
        self.planned.check_output(out.layout(), 0)?;
        // SAFETY: X1: the tensors are of the plan's layouts and types, as just checked; a mutable view may be written
        // along its layout.
        unsafe { exec::run_index(&self.planned.plan, operands(data, indices, out.origin())) }
    }

    fn check_inputs(&self, data: &DynView<'_>, indices: &DynView<'_>) -> Result<(), Error> {
        check_dtype(self.dtype, data.dtype())?;
        check_dtype(self.planned.plan.index().dtype(), indices.dtype())?;
        self.planned.check_inputs(data.layout(), indices.layout())?;
        Ok(())
    }
}

fn operands<'a>(data: &DynView<'_>, indices: &'a DynView<'_>, out: *mut u8) -> Operands<'a> {
    let (data, index) = (data.origin(), indices.origin());
    Operands { out, data, index, indices: indices.layout(), params: core::ptr::null() }
}
