//! Scatters on tensors whose types are known at run time, and their plans.

use crate::call::dynamic::{check_dtype, index_type};
use crate::call::scatter::erased::{Request, Settings, Tensors};
use crate::call::scatter::plan::Planned;
use crate::call::scatter::{ScatterAttributes, ScatterOperator};
use crate::call::{check_fresh, check_layout};
use crate::exec::{Check, pool_threads};
use crate::kernels::registry::Registry;
use crate::plan::Explain;
use crate::tensor::dynamic::{DynTensor, DynView, DynViewMut};
use crate::tensor::layout::Layout;
use crate::types::element::DType;
use crate::types::error::Error;
use crate::types::index::IndexType;
use crate::types::op::Argument;

impl<A: ScatterAttributes> ScatterOperator<A> {
    /// Runs the operator on tensors whose types are known at run time, with the kernels of a registry.
    ///
    /// # Errors
    /// [`Error::NotAnIndexType`], [`Error::DTypeMismatch`] for updates, [`Error::UnknownDType`], then as for
    /// [`Self::run`].
    pub fn run_dyn(
        &self,
        registry: &Registry,
        data: &DynView<'_>,
        indices: &DynView<'_>,
        updates: &DynView<'_>,
    ) -> Result<DynTensor, Error> {
        let index = index_type(indices.dtype())?;
        check_dtype(data.dtype(), updates.dtype())?;
        let plan = self.plan_dyn(registry, data.dtype(), data.shape(), index, indices.layout(), updates.layout())?;
        plan.run(data, indices, updates)
    }

    /// As [`Self::run_dyn`], into a given output of any strides.
    ///
    /// # Errors
    /// As for [`Self::run_dyn`], with [`Error::DTypeMismatch`] for the output too, and [`Error::ShapeMismatch`]
    /// after errors of shapes. On an error the output is untouched.
    pub fn run_dyn_into(
        &self,
        registry: &Registry,
        data: &DynView<'_>,
        indices: &DynView<'_>,
        updates: &DynView<'_>,
        out: &mut DynViewMut<'_>,
    ) -> Result<(), Error> {
        let types = (data.dtype(), index_type(indices.dtype())?);
        check_dtype(data.dtype(), updates.dtype())?;
        check_dtype(data.dtype(), out.dtype())?;
        let request = Request::erased(registry, self.settings(), types, indices.layout(), updates.layout())?;
        let (tensors, data) = (Tensors::erased(indices, updates), (data.origin(), data.layout()));
        // SAFETY: the request and the tensors are of these types and layouts; a mutable view may be written along its
        // layout, and being borrowed mutably it overlaps no input.
        unsafe { request.run_into(data, tensors, (out.origin(), out.layout())) }
    }

    /// As [`Self::run_dyn`], in place, on a tensor of any strides.
    ///
    /// # Errors
    /// As for [`Self::run_dyn`]. On an error the tensor is untouched.
    pub fn run_dyn_on(
        &self,
        registry: &Registry,
        out: &mut DynViewMut<'_>,
        indices: &DynView<'_>,
        updates: &DynView<'_>,
    ) -> Result<(), Error> {
        run_on(registry, self.settings(), out, indices, updates)
    }

    /// As [`Self::plan`], for types that are known at run time, with the kernels of a registry.
    ///
    /// # Errors
    /// [`Error::UnknownDType`], then as for [`Self::plan`].
    pub fn plan_dyn(
        &self,
        registry: &Registry,
        dtype: DType,
        data: &[usize],
        index: IndexType,
        indices: &Layout,
        updates: &Layout,
    ) -> Result<DynScatterPlan, Error> {
        let request = Request::erased(registry, self.settings(), (dtype, index), indices, updates)?;
        DynScatterPlan::new(&request, &Layout::contiguous(data)?, indices, updates)
    }
}

/// Runs in place.
pub(super) fn run_on(
    registry: &Registry,
    settings: Settings<'_>,
    out: &mut DynViewMut<'_>,
    indices: &DynView<'_>,
    updates: &DynView<'_>,
) -> Result<(), Error> {
    let types = (out.dtype(), index_type(indices.dtype())?);
    check_dtype(out.dtype(), updates.dtype())?;
    let request = Request::erased(registry, settings, types, indices.layout(), updates.layout())?;
    // SAFETY: the request and the tensors are of these types and layouts; a mutable view may be read and written along
    // its layout, and being borrowed mutably it overlaps no input. Its bytes are initialised; the built-in reductions
    // take any.
    unsafe { request.run_on(Tensors::erased(indices, updates), (out.origin(), out.layout())) }
}

/// As [`ScatterPlan`](crate::ScatterPlan), for types that are known at run time. Made by
/// [`plan_dyn`](ScatterOperator::plan_dyn), for row-major outputs, and by
/// [`plan_adjoint_dyn`](crate::IndexOperator::plan_adjoint_dyn).
#[derive(Clone)]
pub struct DynScatterPlan {
    planned: Planned,
}

impl core::fmt::Debug for DynScatterPlan {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        core::fmt::Display::fmt(&self.explain(), f)
    }
}

impl DynScatterPlan {
    /// A plan for a request.
    pub(super) fn new(request: &Request<'_>, out: &Layout, indices: &Layout, updates: &Layout) -> Result<Self, Error> {
        Ok(DynScatterPlan { planned: Planned::new(request, out, indices, updates)? })
    }

    /// The shape of the result.
    #[must_use]
    pub fn output_shape(&self) -> &[usize] {
        self.planned.out.shape()
    }

    /// What a call will do: method, kernel, loops, bytes, tasks.
    #[must_use]
    pub fn explain(&self) -> Explain<'_> {
        Explain::reduce(&self.planned.plan, &self.planned.out, pool_threads)
    }

    /// Runs the plan into a fresh tensor.
    ///
    /// # Errors
    /// [`Error::DTypeMismatch`], [`Error::PlanMismatch`], also where the plan was made for an output that is not
    /// row-major, [`Error::AllocationFailed`], then [`Error::IndexOutOfRange`].
    pub fn run(&self, data: &DynView<'_>, indices: &DynView<'_>, updates: &DynView<'_>) -> Result<DynTensor, Error> {
        let planned = &self.planned;
        check_dtype(planned.request.dtype, data.dtype())?;
        self.check_inputs(indices, updates)?;
        planned.check_data(data.layout())?;
        check_fresh(&planned.out)?;
        let write = |out: *mut u8| {
            let data = (data.origin(), data.layout());
            // SAFETY: the tensors are of the plan's layouts and types, as just checked; the memory is fresh, row-major,
            // long enough.
            unsafe { planned.run_into(data, Tensors::erased(indices, updates), out, Check::OnTheWay) }
        };
        // SAFETY: a run that succeeds has written every element of its output with values of the data type.
        unsafe { DynTensor::fill(planned.request.dtype, &planned.out, write) }
    }

    /// Runs the plan into an output of the planned layout.
    ///
    /// # Errors
    /// [`Error::DTypeMismatch`], [`Error::PlanMismatch`], [`Error::AllocationFailed`] for a scratch, then
    /// [`Error::IndexOutOfRange`]. On an error the output is untouched.
    pub fn run_into(
        &self,
        data: &DynView<'_>,
        indices: &DynView<'_>,
        updates: &DynView<'_>,
        out: &mut DynViewMut<'_>,
    ) -> Result<(), Error> {
        check_dtype(self.planned.request.dtype, data.dtype())?;
        self.check_inputs(indices, updates)?;
        self.planned.check_data(data.layout())?;
        self.check_output(out)?;
        let (data, tensors) = ((data.origin(), data.layout()), Tensors::erased(indices, updates));
        // SAFETY: the tensors are of the plan's layouts and types, as just checked; a mutable view may be written along
        // its layout, and overlaps no input.
        unsafe { self.planned.run_into(data, tensors, out.origin(), Check::First) }
    }

    /// Runs the plan in place, on a tensor of the planned layout.
    ///
    /// # Errors
    /// [`Error::DTypeMismatch`], [`Error::PlanMismatch`], [`Error::AllocationFailed`] for a scratch, then
    /// [`Error::IndexOutOfRange`]. On an error the tensor is untouched.
    pub fn run_on(&self, out: &mut DynViewMut<'_>, indices: &DynView<'_>, updates: &DynView<'_>) -> Result<(), Error> {
        self.check_inputs(indices, updates)?;
        self.check_output(out)?;
        // SAFETY: as in `run_into`; the bytes of the view are initialised, and the built-in reductions take any.
        unsafe { self.planned.run_on(Tensors::erased(indices, updates), out.origin()) }
    }

    fn check_inputs(&self, indices: &DynView<'_>, updates: &DynView<'_>) -> Result<(), Error> {
        check_dtype(self.planned.request.index.dtype(), indices.dtype())?;
        check_dtype(self.planned.request.dtype, updates.dtype())?;
        self.planned.check_inputs(indices.layout(), updates.layout())
    }

    fn check_output(&self, out: &DynViewMut<'_>) -> Result<(), Error> {
        check_dtype(self.planned.request.dtype, out.dtype())?;
        check_layout(Argument::Output, &self.planned.out, out.layout())
    }
}
