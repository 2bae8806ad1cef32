//! Scatters on tensors whose types are known at run time, and their plans.

#![forbid(unsafe_code)]

use crate::call::scatter::erased::Types;
use crate::call::scatter::{ScatterAttributes, ScatterOperator, ScatterPlan};
use crate::call::source::kind::index_type;
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
        let types = self.dyn_types(registry, data.dtype(), index_type(indices.dtype())?);
        self.settings().run_into(types, data, indices, updates, out)
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
        let types = self.dyn_types(registry, destination.dtype(), index_type(indices.dtype())?);
        self.settings().run_on(types, destination, indices, updates)
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
        let types = self.dyn_types(registry, dtype, index);
        let request = self.settings().request(types, indices, updates)?;
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
        let types = self.dyn_types(registry, dtype, index);
        let request = self.settings().request(types, indices, updates)?;
        ScatterPlan::new_any_count(&request, &Layout::contiguous(data)?)
    }

    fn dyn_types(&self, registry: &Registry, dtype: DType, index: IndexType) -> Types<Any, Any> {
        Types::erased(registry, self.attributes().op(), dtype, index)
    }
}

/// A [`ScatterPlan`] of types that are known at run time. Made by [`plan_dyn`](ScatterOperator::plan_dyn), for
/// row-major outputs, and by [`plan_adjoint_dyn`](crate::IndexOperator::plan_adjoint_dyn).
pub type DynScatterPlan = ScatterPlan<Any, Any>;
