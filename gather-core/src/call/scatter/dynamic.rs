//! Scatters on tensors whose types are known at run time, and their plans.

use crate::call::check_layout;
use crate::call::dynamic::{check_dtype, index_type};
use crate::call::scatter::erased::{Request, Settings, Tensors};
use crate::call::scatter::plan::Planned;
use crate::call::scatter::{ScatterAttributes, ScatterOperator};
use crate::exec::pool_threads;
use crate::kernels::registry::Registry;
use crate::plan::Explain;
use crate::tensor::dynamic::{DynTensor, DynView, DynViewMut};
use crate::tensor::layout::Layout;
use crate::tensor::output::DynOutput;
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
        let mut out = DynTensor::empty(data.dtype());
        self.run_dyn_into(registry, data, indices, updates, &mut out)?;
        Ok(out)
    }

    /// As [`Self::run_dyn`], into a [`DynOutput`]: a view of any strides, or a tensor that is used again.
    ///
    /// # Errors
    /// As for [`Self::run_dyn`], for a view with [`Error::DTypeMismatch`] too, and [`Error::ShapeMismatch`] after
    /// errors of shapes. On an error a view is untouched.
    pub fn run_dyn_into(
        &self,
        registry: &Registry,
        data: &DynView<'_>,
        indices: &DynView<'_>,
        updates: &DynView<'_>,
        out: &mut impl DynOutput,
    ) -> Result<(), Error> {
        let types = (data.dtype(), index_type(indices.dtype())?);
        check_dtype(data.dtype(), updates.dtype())?;
        let out = out.target(data.dtype())?;
        let request = Request::erased(registry, self.settings(), types, indices.layout(), updates.layout())?;
        let (tensors, data) = (Tensors::erased(indices, updates), (data.origin(), data.layout()));
        // SAFETY: the request and the tensors are of these types and layouts; O1 for the data type; the output is
        // borrowed mutably, so that it overlaps no input.
        unsafe { request.run(data, tensors, out) }
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
        let mut out = DynTensor::empty(self.planned.request.dtype);
        self.run_into(data, indices, updates, &mut out)?;
        Ok(out)
    }

    /// Runs the plan into a [`DynOutput`]: a view of the planned layout, or a tensor that is used again.
    ///
    /// # Errors
    /// [`Error::DTypeMismatch`], [`Error::PlanMismatch`], also for a tensor where the plan was made for an output that
    /// is not row-major, [`Error::AllocationFailed`], then [`Error::IndexOutOfRange`]. On an error a view is untouched.
    pub fn run_into(
        &self,
        data: &DynView<'_>,
        indices: &DynView<'_>,
        updates: &DynView<'_>,
        out: &mut impl DynOutput,
    ) -> Result<(), Error> {
        check_dtype(self.planned.request.dtype, data.dtype())?;
        self.check_inputs(indices, updates)?;
        self.planned.check_data(data.layout())?;
        let out = out.target(self.planned.request.dtype)?;
        let (data, tensors) = ((data.origin(), data.layout()), Tensors::erased(indices, updates));
        // SAFETY: the inputs are of the plan's layouts and types, as just checked; O1 for the data type; the output is
        // borrowed mutably, so that it overlaps no input.
        unsafe { self.planned.run(data, tensors, out) }
    }

    /// Runs the plan in place, on a tensor of the planned layout.
    ///
    /// # Errors
    /// [`Error::DTypeMismatch`], [`Error::PlanMismatch`], [`Error::AllocationFailed`] for a scratch, then
    /// [`Error::IndexOutOfRange`]. On an error the tensor is untouched.
    pub fn run_on(&self, out: &mut DynViewMut<'_>, indices: &DynView<'_>, updates: &DynView<'_>) -> Result<(), Error> {
        self.check_inputs(indices, updates)?;
        self.check_output(out)?;
        // SAFETY: the tensors are of the plan's layouts and types, as just checked; a mutable view may be written along
        // its layout, and overlaps no input; its bytes are initialised, and the built-in reductions take any.
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
