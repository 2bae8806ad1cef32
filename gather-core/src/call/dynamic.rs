//! Calls on tensors whose types are known at run time, and their plans.

use crate::call::erased::{Call, Request};
use crate::call::gather::{IndexAttributes, IndexOperator};
use crate::call::plan::Plan;
use crate::call::planned::Planned;
use crate::kernels::registry::Registry;
pub(super) use crate::tensor::dynamic::check_dtype;
use crate::tensor::dynamic::{DynTensor, DynView};
use crate::tensor::layout::Layout;
use crate::tensor::output::{DynOutput, written};
use crate::tensor::typing::Any;
use crate::types::element::DType;
use crate::types::error::Error;
use crate::types::index::IndexType;

impl<A: IndexAttributes> IndexOperator<A> {
    /// Runs the operator on tensors whose types are known at run time, with the kernels of a registry.
    ///
    /// # Errors
    /// [`Error::NotAnIndexType`], [`Error::UnknownDType`], then as for [`Self::run`].
    pub fn run_dyn(&self, registry: &Registry, data: &DynView<'_>, indices: &DynView<'_>) -> Result<DynTensor, Error> {
        written(DynTensor::empty(data.dtype()), |out| self.run_dyn_into(registry, data, indices, out))
    }

    /// As [`Self::run_dyn`], into a [`DynOutput`]: a view of any strides, or a tensor that is used again.
    ///
    /// # Errors
    /// As for [`Self::run_dyn`], for a view with [`Error::DTypeMismatch`] after [`Error::NotAnIndexType`], and
    /// [`Error::ShapeMismatch`] after errors of shapes. The output is then as after [`Self::run_into`].
    pub fn run_dyn_into(
        &self,
        registry: &Registry,
        data: &DynView<'_>,
        indices: &DynView<'_>,
        out: &mut impl DynOutput,
    ) -> Result<(), Error> {
        let index = index_type(indices.dtype())?;
        let out = out.target_of(data.dtype())?;
        let request = self.dyn_request(registry, data.dtype(), data.layout(), index, indices.layout())?;
        let call = Call::new(request, data, indices);
        // SAFETY: O1 for the data type; the output is borrowed mutably, so that it overlaps no input.
        unsafe { call.run(out) }
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
        Plan::new(&self.dyn_request(registry, dtype, data, index, indices)?, Planned::new)
    }

    /// As [`Self::plan_dyn`], for any size of the first dimension of indices. The size in `indices` is what calls are
    /// expected to have.
    ///
    /// # Errors
    /// As for [`Self::plan_dyn`], and [`Error::FixedCount`] as for [`Self::plan_any_count`].
    pub fn plan_dyn_any_count(
        &self,
        registry: &Registry,
        dtype: DType,
        data: &Layout,
        index: IndexType,
        indices: &Layout,
    ) -> Result<DynPlan, Error> {
        Plan::new(&self.dyn_request(registry, dtype, data, index, indices)?, Planned::new_any_count)
    }

    pub(super) fn dyn_request<'a>(
        &'a self,
        registry: &Registry,
        dtype: DType,
        data: &'a Layout,
        index: IndexType,
        indices: &'a Layout,
    ) -> Result<Request<'a>, Error> {
        let op = self.attributes().op();
        let kernels = registry.index_kernels(op, dtype, index).ok_or(Error::UnknownDType { op, dtype })?;
        let planned = self.index_request((kernels, index), dtype, None);
        Ok(Request { attributes: self.attributes(), planned, data, indices })
    }
}

/// The index type of a data type.
pub(super) fn index_type(dtype: DType) -> Result<IndexType, Error> {
    IndexType::from_dtype(dtype).ok_or(Error::NotAnIndexType { dtype })
}

/// A [`Plan`] of types that are known at run time. Made by [`plan_dyn`](IndexOperator::plan_dyn) and
/// [`plan_dyn_any_count`](IndexOperator::plan_dyn_any_count).
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
pub type DynPlan = Plan<Any, Any>;
