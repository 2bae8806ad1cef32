//! EmbeddingBag on tensors whose types are known at run time, and its plans.

use crate::call::Sealed;
use crate::call::bag::erased::{Erased, Offsets, Request, Tensors};
use crate::call::bag::fused::check_rows;
use crate::call::bag::{BagPlan, BagsOf, EmbeddingBag};
use crate::call::source::kind::index_type;
use crate::kernels::convert::ErasedParams;
use crate::tensor::dynamic::check_dtype;
use crate::tensor::dynamic::{DynTensor, DynView};
use crate::tensor::fused::FusedRows;
use crate::tensor::layout::Layout;
use crate::tensor::output::{DynOutput, written};
use crate::tensor::typing::Any;
use crate::types::element::{DType, Element};
use crate::types::error::Error;
use crate::types::index::IndexType;

/// As [`Bags`](crate::Bags), of types that are known at run time.
#[derive(Clone, Copy, Debug)]
pub struct DynBags<'a> {
    indices: &'a DynView<'a>,
    offsets: Option<&'a DynView<'a>>,
    weights: Option<&'a DynView<'a>>,
}

impl<'a> DynBags<'a> {
    /// Bags of any lengths, as [`Bags::new`](crate::Bags::new).
    #[must_use]
    pub fn new(indices: &'a DynView<'a>, offsets: &'a DynView<'a>) -> Self {
        DynBags { indices, offsets: Some(offsets), weights: None }
    }

    /// Bags of one length, as [`Bags::packed`](crate::Bags::packed).
    #[must_use]
    pub fn packed(indices: &'a DynView<'a>) -> Self {
        DynBags { indices, offsets: None, weights: None }
    }

    /// The same bags, with a weight for each index.
    #[must_use]
    pub fn weights(self, weights: &'a DynView<'a>) -> Self {
        DynBags { weights: Some(weights), ..self }
    }

    /// The index type, and the tensors of a call on data, with weights of a type.
    ///
    /// # Errors
    /// [`Error::NotAnIndexType`] for indices and for offsets, [`Error::DTypeMismatch`] for weights.
    pub(super) fn typed(&self, data: Erased<'a>, weight: DType) -> Result<(IndexType, Tensors<'a>), Error> {
        let index = index_type(self.indices.dtype())?;
        let offsets = self.offsets.map(Offsets::erased).transpose()?;
        self.weights.map_or(Ok(()), |weights| check_dtype(weight, weights.dtype()))?;
        let (indices, weights) = (self.indices.into(), self.weights.map(Into::into));
        Ok((index, Tensors { data, indices, offsets, weights, params: ErasedParams::NONE }))
    }
}

impl Sealed for DynBags<'_> {}

// SAFETY: they are views (V1, V3) of the plan's types, which are compared.
unsafe impl BagsOf<Any, Any> for DynBags<'_> {
    fn on<'a>(&'a self, data: Erased<'a>, (dtype, index): (DType, DType)) -> Result<Tensors<'a>, Error> {
        check_dtype(index, self.indices.dtype())?;
        self.weights.map_or(Ok(()), |weights| check_dtype(dtype.number(), weights.dtype()))?;
        Ok(self.typed(data, dtype.number())?.1)
    }
}

impl<'a> From<&'a DynView<'_>> for Erased<'a> {
    fn from(view: &'a DynView<'_>) -> Self {
        Erased { origin: view.origin(), layout: view.layout() }
    }
}

impl EmbeddingBag {
    /// Runs the operator on tensors whose types are known at run time.
    ///
    /// # Errors
    /// [`Error::NotAnIndexType`] for indices and for offsets, [`Error::DTypeMismatch`] for weights, then as for
    /// [`Self::run`].
    pub fn run_dyn(&self, data: &DynView<'_>, bags: &DynBags<'_>) -> Result<DynTensor, Error> {
        written(DynTensor::empty(data.dtype()), |out| self.run_dyn_into(data, bags, out))
    }

    /// As [`Self::run_dyn`], into a [`DynOutput`]: a view of any strides, or a tensor that is used again.
    ///
    /// # Errors
    /// As for [`Self::run_dyn`], for a view with [`Error::DTypeMismatch`] too, and [`Error::ShapeMismatch`] after
    /// errors of shapes. The output is then as after [`Self::run_into`].
    pub fn run_dyn_into(&self, data: &DynView<'_>, bags: &DynBags<'_>, out: &mut impl DynOutput) -> Result<(), Error> {
        let (request, tensors) = self.dyn_request(data.dtype(), data.into(), bags)?;
        let out = out.target_of(data.dtype())?;
        // SAFETY: the tensors are views of these types; O1 for the data type; the output is borrowed mutably, so that
        // it overlaps no input.
        unsafe { request.run(&tensors, out) }
    }

    /// As [`Self::plan`], for types that are known at run time: `dtype` and the layout are those of data.
    ///
    /// # Errors
    /// [`Error::NotAnIndexType`] for indices and for offsets, [`Error::DTypeMismatch`] for weights, then as for
    /// [`Self::plan`].
    pub fn plan_dyn(&self, dtype: DType, data: &Layout, bags: &DynBags<'_>) -> Result<DynBagPlan, Error> {
        let (request, tensors) = self.dyn_request(dtype, data.into(), bags)?;
        BagPlan::new(&request, &tensors)
    }

    /// As [`Self::run_fused`], for indices, offsets and a result whose types are known at run time: the result has
    /// elements of `dtype`, and weights are `f32`.
    ///
    /// ```
    /// use gather_core::{DynBags, DynView, Element, EmbeddingBag, FusedRows, Reduction, View};
    ///
    /// fn main() -> Result<(), gather_core::Error> {
    ///     let (table, ids) = ([1.5f32, 2.5, 3.5], [2u8, 0, 1, 1]);
    ///     let table = FusedRows::plain(View::new(&table, &[3, 1])?)?;
    ///     let ids = View::new(&ids, &[2, 2])?;
    ///     let ids = DynView::from(&ids);
    ///     let sums = EmbeddingBag::new(Reduction::Add).run_fused_dyn(&table, &DynBags::packed(&ids), f32::DTYPE)?;
    ///     assert_eq!(sums.downcast::<f32>()?.as_slice(), [5.0, 5.0]);
    ///     Ok(())
    /// }
    /// ```
    ///
    /// # Errors
    /// [`Error::NotAnIndexType`] for indices and for offsets, [`Error::DTypeMismatch`] for weights, then as for
    /// [`Self::run_fused`], with [`Error::ReductionUnavailable`] where `dtype` is none of its types too.
    pub fn run_fused_dyn(&self, table: &FusedRows<'_>, bags: &DynBags<'_>, dtype: DType) -> Result<DynTensor, Error> {
        written(DynTensor::empty(dtype), |out| self.run_fused_dyn_into(table, bags, dtype, out))
    }

    /// As [`Self::run_fused_dyn`], into a [`DynOutput`]: a view whose rows are contiguous, or a tensor that is used
    /// again.
    ///
    /// # Errors
    /// As for [`Self::run_fused_dyn`], for a view with [`Error::DTypeMismatch`] and [`Error::RowsNotContiguous`] after
    /// [`Error::ReductionUnavailable`], and [`Error::ShapeMismatch`] after errors of shapes. The output is then as
    /// after [`Self::run_fused_into`].
    pub fn run_fused_dyn_into(
        &self,
        table: &FusedRows<'_>,
        bags: &DynBags<'_>,
        dtype: DType,
        out: &mut impl DynOutput,
    ) -> Result<(), Error> {
        let (index, tensors) = bags.typed(table.into(), f32::DTYPE)?;
        let request = Request::fused_erased(self, table.row(), (dtype, index))?;
        let out = out.target_of(dtype)?;
        out.layout().map_or(Ok(()), check_rows)?;
        // SAFETY: the tensors are views of these types, and a table of the request's rows; O1 for the data type; the
        // output is borrowed mutably, so that it overlaps no input.
        unsafe { request.run(&tensors, out) }
    }

    fn dyn_request<'a>(
        &'a self,
        dtype: DType,
        data: Erased<'a>,
        bags: &DynBags<'a>,
    ) -> Result<(Request<'a>, Tensors<'a>), Error> {
        let (index, tensors) = bags.typed(data, dtype.number())?;
        Ok((Request::erased(self, (dtype, index))?, tensors))
    }
}

/// A [`BagPlan`] of types that are known at run time. Made by
/// [`plan_dyn`](EmbeddingBag::plan_dyn).
///
/// ```
/// use gather_core::{DynBags, DynView, EmbeddingBag, Reduction, View};
///
/// fn main() -> Result<(), gather_core::Error> {
///     let (table, ids) = ([1.5f32, 2.5, 3.5], [2u8, 0, 1, 1]);
///     let (table, ids) = (View::new(&table, &[3])?, View::new(&ids, &[2, 2])?);
///     let (table, ids) = (DynView::from(&table), DynView::from(&ids));
///     let plan = EmbeddingBag::new(Reduction::Add).plan_dyn(table.dtype(), table.layout(), &DynBags::packed(&ids))?;
///     assert_eq!(plan.run(&table, &ids, None)?.downcast::<f32>()?.as_slice(), [5.0, 5.0]);
///     Ok(())
/// }
/// ```
pub type DynBagPlan = BagPlan<Any, Any>;
