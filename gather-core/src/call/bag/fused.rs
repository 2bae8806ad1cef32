//! Bags of fused rows, and their plans.

use core::marker::PhantomData;

use crate::call::bag::erased::{Erased, Request, Tensors};
use crate::call::bag::planned::Planned;
use crate::call::bag::{Bags, EmbeddingBag};
use crate::call::gather::fused::check_format;
use crate::call::plan_type::plan_type;
use crate::tensor::fused::FusedRows;
use crate::tensor::layout::Layout;
use crate::tensor::output::{Output, written};
use crate::tensor::owned::Tensor;
use crate::tensor::view::View;
use crate::types::codes::Scale;
use crate::types::error::Error;
use crate::types::fused::FusedFormat;
use crate::types::index::Index;
use crate::types::op::{Argument, Op};

impl EmbeddingBag {
    /// Runs the operator on [`FusedRows`]: the sums, means or extremes of `code * scale + bias`, as if the table had been
    /// decoded to `f32` first. No decoded table is made, and rows are read once.
    ///
    /// The result has the shape `[bags, columns]`. Its type is `f32`, or with the feature `half` also `f16` or `bf16`.
    /// Sums are made in `f32`, and rounded once. Weights are `f32` whatever the result. Products are rounded before
    /// they are added: a code times its scale, then a value times its weight. Bits are the same at every level and for
    /// any number of threads.
    ///
    /// Cost: as for [`Self::run`], except that rows of fused bytes are read.
    ///
    /// # Errors
    /// As for [`Self::run`], with [`Error::ReductionUnavailable`] except for [`Add`](crate::Reduction::Add),
    /// [`Mean`](crate::Reduction::Mean), [`Max`](crate::Reduction::Max) and [`Min`](crate::Reduction::Min).
    ///
    /// # Examples
    /// A table of bytes as PyTorch makes it, of two rows of three columns:
    /// ```
    /// use gather_core::{Bags, EmbeddingBag, FusedFormat, FusedRows, Reduction, View};
    ///
    /// fn main() -> Result<(), gather_core::Error> {
    ///     let mut bytes = vec![0u8, 1, 255];
    ///     bytes.extend(0.5f32.to_le_bytes().into_iter().chain((-1.0f32).to_le_bytes()));
    ///     bytes.extend([3u8, 2, 1]);
    ///     bytes.extend(2.0f32.to_le_bytes().into_iter().chain(0.0f32.to_le_bytes()));
    ///     let table = FusedRows::new(View::new(&bytes, &[2, 11])?, FusedFormat::Torch8, 3)?;
    ///
    ///     let (ids, offsets) = ([0i64, 1, 1], [0i64, 2]);
    ///     let (ids, offsets) = (View::new(&ids, &[3])?, View::new(&offsets, &[2])?);
    ///     let sum = EmbeddingBag::new(Reduction::Add);
    ///     let sums = sum.run_fused::<f32, _, _>(&table, &Bags::new(&ids, &offsets))?;
    ///     assert_eq!((sums.shape(), sums.as_slice()), (&[2, 3][..], &[5.0, 3.5, 128.5, 6.0, 4.0, 2.0][..]));
    ///     Ok(())
    /// }
    /// ```
    pub fn run_fused<U: Scale, I: Index, O: Index>(
        &self,
        table: &FusedRows<'_>,
        bags: &Bags<'_, f32, I, O>,
    ) -> Result<Tensor<U>, Error> {
        written(Tensor::default(), |out| self.run_fused_into(table, bags, out))
    }

    /// As [`Self::run_fused`], into an [`Output`]: a view whose rows are contiguous, uninitialised memory, or a tensor
    /// that is used again.
    ///
    /// # Errors
    /// As for [`Self::run_fused`], and for a view [`Error::RowsNotContiguous`] after [`Error::ReductionUnavailable`], and
    /// [`Error::ShapeMismatch`] after errors of shapes. The output is untouched except for [`Error::IndexOutOfRange`]: a
    /// view then holds a mix of results and what it held before.
    pub fn run_fused_into<U: Scale, I: Index, O: Index>(
        &self,
        table: &FusedRows<'_>,
        bags: &Bags<'_, f32, I, O>,
        out: &mut impl Output<U>,
    ) -> Result<(), Error> {
        let (request, out) = (Request::fused::<U, I>(self, table.row())?, out.target());
        out.layout().map_or(Ok(()), check_rows)?;
        // SAFETY: the tensors are views of these types, and a table of the request's rows; O1 for `U`; the output is
        // borrowed mutably, so that it overlaps no input.
        unsafe { request.run(&Tensors::of(table, bags), out) }
    }

    /// As [`Self::plan`], for fused rows. The plan runs on any table of this format, shape and distance of rows.
    ///
    /// # Errors
    /// As for [`Self::run_fused`], without those of fresh memory and index values.
    pub fn plan_fused<U: Scale, I: Index, O: Index>(
        &self,
        table: &FusedRows<'_>,
        bags: &Bags<'_, f32, I, O>,
    ) -> Result<FusedBagPlan<U, I>, Error> {
        let request = Request::fused::<U, I>(self, table.row())?;
        let planned = Planned::new(&request, &Tensors::of(table.layout(), bags))?;
        Ok(FusedBagPlan { planned, format: table.format(), types: PhantomData })
    }
}

impl<'a> From<&'a FusedRows<'_>> for Erased<'a> {
    fn from(table: &'a FusedRows<'_>) -> Self {
        Erased { origin: table.data().origin(), layout: table.layout() }
    }
}

/// Checks that the rows of an output are contiguous.
pub(super) fn check_rows(out: &Layout) -> Result<(), Error> {
    match (out.shape(), out.strides()) {
        (&[.., columns], &[.., stride]) if columns > 1 && stride != 1 => {
            Err(Error::RowsNotContiguous { op: Op::EmbeddingBag, argument: Argument::Output })
        }
        _ => Ok(()),
    }
}

/// Everything about an [`EmbeddingBag`] of [`FusedRows`] that depends on shapes, types and the bounds of its bags: made
/// once by [`plan_fused`](EmbeddingBag::plan_fused), run many times, from any thread.
///
/// ```
/// use gather_core::{Bags, EmbeddingBag, FusedFormat, FusedRows, Reduction, View};
///
/// fn main() -> Result<(), gather_core::Error> {
///     let values = [0.0f32, 15.0, 1.0, 31.0];
///     let bytes = FusedRows::quantize(FusedFormat::Torch4, &View::new(&values, &[2, 2])?)?;
///     let table = FusedRows::new(bytes.view(), FusedFormat::Torch4, 2)?;
///     let ids = View::new(&[0u32, 1, 1, 1], &[2, 2])?;
///     let plan = EmbeddingBag::new(Reduction::Add).plan_fused::<f32, _, _>(&table, &Bags::packed(&ids))?;
///     assert_eq!(plan.run(&table, &ids, None)?.as_slice(), [1.0, 46.0, 2.0, 62.0]);
///     Ok(())
/// }
/// ```
pub struct FusedBagPlan<U, I> {
    planned: Planned,
    format: FusedFormat,
    types: PhantomData<fn(I) -> U>,
}

plan_type!(FusedBagPlan<U, I>: planned);

impl<U: Scale, I: Index> FusedBagPlan<U, I> {
    /// Runs the plan into a fresh tensor.
    ///
    /// # Errors
    /// [`Error::FusedFormatMismatch`], [`Error::PlanMismatch`], [`Error::WeightsUnavailable`],
    /// [`Error::ShapeMismatch`], [`Error::AllocationFailed`], then [`Error::IndexOutOfRange`].
    pub fn run(
        &self,
        table: &FusedRows<'_>,
        indices: &View<'_, I>,
        weights: Option<&View<'_, f32>>,
    ) -> Result<Tensor<U>, Error> {
        written(Tensor::default(), |out| self.run_into(table, indices, weights, out))
    }

    /// Runs the plan into an [`Output`]: a row-major view, uninitialised memory, or a tensor that is used again.
    /// Allocates what [`BagPlan::run_into`](crate::BagPlan::run_into) does.
    ///
    /// # Errors
    /// As for [`FusedBagPlan::run`], with [`Error::PlanMismatch`] for the output after errors of inputs; the output is
    /// then as after [`EmbeddingBag::run_fused_into`].
    pub fn run_into(
        &self,
        table: &FusedRows<'_>,
        indices: &View<'_, I>,
        weights: Option<&View<'_, f32>>,
        out: &mut impl Output<U>,
    ) -> Result<(), Error> {
        check_format(self.format, table)?;
        let tensors = self.planned.check(table.into(), indices.into(), weights.map(Into::into))?;
        // SAFETY: the layouts of the inputs are those of the plan, as just checked, and the types and the format too; O1
        // for `U`; the output is borrowed mutably, so that it overlaps no input.
        unsafe { self.planned.run(&tensors, out.target()) }
    }

    /// Runs the plan with any bags, into a fresh tensor.
    ///
    /// # Errors
    /// [`Error::FusedFormatMismatch`], then as for [`BagPlan::run_bags`](crate::BagPlan::run_bags).
    pub fn run_bags<O: Index>(&self, table: &FusedRows<'_>, bags: &Bags<'_, f32, I, O>) -> Result<Tensor<U>, Error> {
        written(Tensor::default(), |out| self.run_bags_into(table, bags, out))
    }

    /// As [`FusedBagPlan::run_bags`], into an [`Output`]: a row-major view, uninitialised memory, or a tensor that is
    /// used again.
    ///
    /// # Errors
    /// As for [`FusedBagPlan::run_bags`], with [`Error::PlanMismatch`] for the output after errors of inputs.
    pub fn run_bags_into<O: Index>(
        &self,
        table: &FusedRows<'_>,
        bags: &Bags<'_, f32, I, O>,
        out: &mut impl Output<U>,
    ) -> Result<(), Error> {
        check_format(self.format, table)?;
        let tensors = Tensors::of(table, bags);
        let bounds = self.planned.check_bags(&tensors)?;
        // SAFETY: the layout of data is that of the plan, and bounds are those of the indices, as just checked, and the
        // types and the format too; O1 for `U`; the output is borrowed mutably, so that it overlaps no input.
        unsafe { self.planned.run_bags(&bounds, &tensors, out.target()) }
    }
}
