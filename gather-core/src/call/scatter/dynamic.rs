//! Scatters on tensors whose types are known at run time, and their plans.

use crate::call::dynamic::{check_dtype, index_type};
use crate::call::scatter::erased::{Request, Settings, Tensors};
use crate::call::scatter::{ScatterAttributes, ScatterOperator, ScatterPlan};
use crate::kernels::registry::Registry;
use crate::tensor::dynamic::{DynTensor, DynView, DynViewMut};
use crate::tensor::layout::Layout;
use crate::tensor::output::{DynOutput, written};
use crate::tensor::typing::Any;
use crate::types::element::DType;
use crate::types::error::Error;
use crate::types::index::IndexType;

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
        written(DynTensor::empty(data.dtype()), |out| self.run_dyn_into(registry, data, indices, updates, out))
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
        let out = out.target_of(data.dtype())?;
        let request = Request::erased(registry, self.settings(), types, indices.layout(), updates.layout())?;
        let (tensors, data) = (Tensors::new(indices, updates), (data.origin(), data.layout()));
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
        destination: &mut DynViewMut<'_>,
        indices: &DynView<'_>,
        updates: &DynView<'_>,
    ) -> Result<(), Error> {
        run_on(registry, self.settings(), destination, indices, updates)
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
        ScatterPlan::new(&request, &Layout::contiguous(data)?)
    }

    /// As [`Self::plan_any_count`], for types that are known at run time, with the kernels of a registry.
    ///
    /// # Errors
    /// [`Error::UnknownDType`], then as for [`Self::plan_any_count`].
    pub fn plan_dyn_any_count(
        &self,
        registry: &Registry,
        dtype: DType,
        data: &[usize],
        index: IndexType,
        indices: &Layout,
        updates: &Layout,
    ) -> Result<DynScatterPlan, Error> {
        let request = Request::erased(registry, self.settings(), (dtype, index), indices, updates)?;
        ScatterPlan::new_any_count(&request, &Layout::contiguous(data)?)
    }
}

/// Runs in place.
pub(super) fn run_on(
    registry: &Registry,
    settings: Settings<'_>,
    destination: &mut DynViewMut<'_>,
    indices: &DynView<'_>,
    updates: &DynView<'_>,
) -> Result<(), Error> {
    let types = (destination.dtype(), index_type(indices.dtype())?);
    check_dtype(destination.dtype(), updates.dtype())?;
    let request = Request::erased(registry, settings, types, indices.layout(), updates.layout())?;
    // SAFETY: the request and the tensors are of these types and layouts; a mutable view may be read and written along
    // its layout, and being borrowed mutably it overlaps no input. Its bytes are initialised; the built-in reductions
    // take any.
    unsafe { request.run_on(Tensors::new(indices, updates), (destination.origin(), destination.layout())) }
}

/// A [`ScatterPlan`] of types that are known at run time. Made by [`plan_dyn`](ScatterOperator::plan_dyn), for
/// row-major outputs, and by [`plan_adjoint_dyn`](crate::IndexOperator::plan_adjoint_dyn).
pub type DynScatterPlan = ScatterPlan<Any, Any>;
