//! Gathering fused rows, as numbers, and plans of that: their rows are decoded by a row function.

#![forbid(unsafe_code)]

use core::marker::PhantomData;

use crate::call::gather::IndexOperator;
use crate::call::plan_type::plan_type;
use crate::call::planned::Planned;
use crate::call::row_functions::{By, RowAttributes, RowPlan};
use crate::kernels::convert::row::{RowFunction, RowValue, Rowwise};
use crate::tensor::dynamic::{DynTensor, DynView};
use crate::tensor::fused::FusedRows;
use crate::tensor::layout::Layout;
use crate::tensor::output::{DynOutput, Output, written};
use crate::tensor::owned::Tensor;
use crate::tensor::pages::WillNeed;
use crate::tensor::typing::{Any, Input, Typing};
use crate::tensor::view::View;
use crate::types::codes::{Scale, by_scale};
use crate::types::element::{DType, Element};
use crate::types::error::Error;
use crate::types::fused::{Coding, FusedFormat, FusedRow, by_coding};
use crate::types::index::{Index, IndexType};
use crate::types::op::Argument;

/// Decodes a row of a coding.
struct Decode<U, C>(PhantomData<(U, C)>);

impl<U: Scale, C: Coding> Rowwise for Decode<U, C> {
    type In = u8;
    type Out = U;
    type Params = (FusedRow,);
    const NAME: &'static str = "fused rows";
    const PARAMS: &'static [&'static str] = &["format"];
    const ONE: bool = false;

    #[inline(always)]
    fn write(row: &[u8], out: &mut [U], (format,): (FusedRow,)) {
        format.decode::<C, U>(row, 0, out);
    }
}

/// The function that decodes rows.
fn decoder<U: Scale>(row: FusedRow) -> RowFunction<u8, U, (FusedRow,)> {
    let function = by_coding!(row.format(), C => RowFunction::new::<Decode<U, C>>());
    function.with_len(row.columns())
}

/// The error of a data type that is none of those of results.
fn refused<T>(got: DType) -> Result<T, Error> {
    Err(Error::DTypeMismatch { expected: f32::DTYPE, got })
}

/// Checks that a table has the format that a plan was made for.
pub(super) fn check_format(expected: FusedFormat, table: &FusedRows<'_>) -> Result<(), Error> {
    let got = table.format();
    if got == expected { Ok(()) } else { Err(Error::FusedFormatMismatch { expected, got }) }
}

impl<A: RowAttributes> IndexOperator<A> {
    /// Runs the operator on [`FusedRows`] along axis 0: `code * scale + bias` of every value of a row. It is computed
    /// in `f32`, and the product is rounded before the bias is added. The result is `f32`; with the feature `half` it
    /// may be `f16` or `bf16`, rounded once more.
    ///
    /// The result has the shape `indices.shape + [columns]`. Negative indices and indices out of range are as for
    /// [`Self::run`], with rows of zeros under [`OutOfBounds::Zero`](crate::OutOfBounds::Zero).
    ///
    /// # Errors
    /// [`Error::QuantizedAxis`] for axis 1, then as for [`Self::run_rows`].
    ///
    /// Cost: one pass over the indices and one over the rows that they name, one allocation.
    ///
    /// # Examples
    /// ```
    /// use gather_core::{FusedFormat, FusedRows, Gather, View};
    ///
    /// fn main() -> Result<(), gather_core::Error> {
    ///     // Scale 0.5 and bias -1 as `f16`, then codes 0, 15 and 2.
    ///     let bytes = [0x00, 0x38, 0x00, 0xbc, 0xf0, 0x02];
    ///     let table = FusedRows::new(View::new(&bytes, &[1, 6])?, FusedFormat::Fbgemm4, 3)?;
    ///     let rows = Gather::new(0).run_fused::<f32, _>(&table, &View::new(&[0u8, 0], &[2])?)?;
    ///     assert_eq!((rows.shape(), &rows.as_slice()[..3]), (&[2, 3][..], &[-1.0, 6.5, 0.0][..]));
    ///     Ok(())
    /// }
    /// ```
    pub fn run_fused<U: Scale, I: Index>(
        &self,
        table: &FusedRows<'_>,
        indices: &View<'_, I>,
    ) -> Result<Tensor<U>, Error> {
        written(Tensor::default(), |out| self.run_fused_into(table, indices, out))
    }

    /// As [`Self::run_fused`], into an [`Output`]: a view whose rows are contiguous, uninitialised memory, or a tensor
    /// that is used again.
    ///
    /// # Errors
    /// [`Error::QuantizedAxis`] for axis 1, then as for [`Self::run_rows_into`].
    pub fn run_fused_into<U: Scale, I: Index>(
        &self,
        table: &FusedRows<'_>,
        indices: &View<'_, I>,
        out: &mut impl Output<U>,
    ) -> Result<(), Error> {
        self.check_axis(table)?;
        let params = (RowValue::Value(table.row()),);
        self.run_rows_into(&decoder::<U>(table.row()), table.data(), indices, params, out)
    }

    /// Makes a plan: it does the work that depends on shapes and types once, and runs on any table of this format, shape
    /// and distance of rows.
    ///
    /// # Errors
    /// As for [`Self::run_fused`], without those of memory and index values.
    pub fn plan_fused<U: Scale, I: Index>(
        &self,
        table: &FusedRows<'_>,
        indices: &Layout,
    ) -> Result<FusedPlan<U, I>, Error> {
        self.check_axis(table)?;
        let plan = self.plan_rows(&decoder::<U>(table.row()), table.data().layout(), indices)?;
        Ok(FusedPlan { plan, row: table.row() })
    }

    /// As [`Self::plan_fused`], for any size of the first dimension of indices. The size in `indices` is what calls are
    /// expected to have.
    ///
    /// # Errors
    /// As for [`Self::plan_fused`], and [`Error::FixedCount`] as for [`Self::plan_any_count`].
    pub fn plan_fused_any_count<U: Scale, I: Index>(
        &self,
        table: &FusedRows<'_>,
        indices: &Layout,
    ) -> Result<FusedPlan<U, I>, Error> {
        self.check_axis(table)?;
        let plan = self.plan_rows_any_count(&decoder::<U>(table.row()), table.data().layout(), indices)?;
        Ok(FusedPlan { plan, row: table.row() })
    }

    /// As [`Self::run_fused`], for indices and a result whose types are known at run time: the result has elements of
    /// `dtype`.
    ///
    /// ```
    /// use gather_core::{DynView, Element, FusedRows, Gather, View};
    ///
    /// fn main() -> Result<(), gather_core::Error> {
    ///     let table = FusedRows::plain(View::new(&[1.5f32, 2.5, 3.5], &[3, 1])?)?;
    ///     let ids = View::new(&[2u8, 0], &[2])?;
    ///     let rows = Gather::new(0).run_fused_dyn(&table, &DynView::from(&ids), f32::DTYPE)?;
    ///     assert_eq!(rows.downcast::<f32>()?.as_slice(), [3.5, 1.5]);
    ///     Ok(())
    /// }
    /// ```
    ///
    /// # Errors
    /// [`Error::QuantizedAxis`] for axis 1, [`Error::DTypeMismatch`] where `dtype` is none of the types of results,
    /// [`Error::NotAnIndexType`], then as for [`Self::run_rows`].
    pub fn run_fused_dyn(
        &self,
        table: &FusedRows<'_>,
        indices: &DynView<'_>,
        dtype: DType,
    ) -> Result<DynTensor, Error> {
        written(DynTensor::empty(dtype), |out| self.run_fused_dyn_into(table, indices, dtype, out))
    }

    /// As [`Self::run_fused_dyn`], into a [`DynOutput`]: a view whose rows are contiguous, or a tensor that is used
    /// again.
    ///
    /// # Errors
    /// As for [`Self::run_fused_dyn`], for a view with [`Error::DTypeMismatch`] and [`Error::Misaligned`] after
    /// [`Error::NotAnIndexType`], and those of [`Self::run_rows_into`].
    pub fn run_fused_dyn_into(
        &self,
        table: &FusedRows<'_>,
        indices: &DynView<'_>,
        dtype: DType,
        out: &mut impl DynOutput,
    ) -> Result<(), Error> {
        self.check_axis(table)?;
        let (data, row) = (DynView::from(table.data()), table.row());
        let params = (RowValue::Value(row),);
        by_scale!(dtype, U => self.run_rows_dyn_into(&decoder::<U>(row), &data, indices, params, out), refused(dtype))
    }

    /// As [`Self::plan_fused`], for types that are known at run time: those of indices and, `dtype`, of the result.
    ///
    /// # Errors
    /// [`Error::QuantizedAxis`] for axis 1, [`Error::DTypeMismatch`] where `dtype` is none of the types of results, then
    /// as for [`Self::plan_rows`].
    pub fn plan_fused_dyn(
        &self,
        table: &FusedRows<'_>,
        index: IndexType,
        indices: &Layout,
        dtype: DType,
    ) -> Result<FusedPlan<Any, Any>, Error> {
        self.check_axis(table)?;
        let (data, row) = (table.data().layout(), table.row());
        let by = By::of_type(index);
        let plan = by_scale!(
            dtype,
            U => self.row_plan(&decoder::<U>(row), by, data, indices, Planned::new),
            refused(dtype)
        )?;
        Ok(FusedPlan { plan, row })
    }

    fn check_axis(&self, table: &FusedRows<'_>) -> Result<(), Error> {
        let attributes = self.attributes();
        match attributes.rows(table.data().layout())? {
            (_, 1) => Ok(()),
            (_, dims) => Err(Error::QuantizedAxis { op: attributes.op(), axis: dims - 1 }),
        }
    }
}

/// Everything about a gather of [`FusedRows`] that depends on shapes and types: made once by
/// [`plan_fused`](IndexOperator::plan_fused) or [`plan_fused_any_count`](IndexOperator::plan_fused_any_count), run many
/// times, from any thread.
pub struct FusedPlan<U, I> {
    plan: RowPlan<u8, U, (FusedRow,), I>,
    row: FusedRow,
}

plan_type!(FusedPlan<U, I>: plan);

impl<U: Typing, I: Index> FusedPlan<U, I> {
    /// Asks the system for the pages of the table that a run on these indices will touch, as
    /// [`IndexOperator::will_need`] does. Nothing is requested for tensors of other layouts than the plan's.
    pub fn will_need(&self, table: &FusedRows<'_>, indices: &View<'_, I>) -> WillNeed {
        self.plan.will_need(table.data(), indices)
    }
}

impl<U: Typing, I: Typing> FusedPlan<U, I> {
    /// Runs the plan into a fresh tensor.
    ///
    /// # Errors
    /// [`Error::FusedFormatMismatch`], [`Error::PlanMismatch`] for rows of other columns, [`Error::DTypeMismatch`] for
    /// types that are known at run time, [`Error::PlanMismatch`], [`Error::AllocationFailed`], then
    /// [`Error::IndexOutOfRange`].
    pub fn run(&self, table: &FusedRows<'_>, indices: &impl Input<I>) -> Result<U::Tensor, Error> {
        written(self.plan.empty(), |out| self.run_into(table, indices, out))
    }

    /// Runs the plan into an [`Output`]: a row-major view, uninitialised memory, or a tensor that is used again.
    /// Allocates nothing but the memory of a tensor that is too small.
    ///
    /// # Errors
    /// As for [`FusedPlan::run`], with [`Error::Misaligned`] after [`Error::DTypeMismatch`]; the output is then as after
    /// [`IndexOperator::run_fused_into`].
    pub fn run_into(
        &self,
        table: &FusedRows<'_>,
        indices: &impl Input<I>,
        out: &mut impl Output<U>,
    ) -> Result<(), Error> {
        check_format(self.row.format(), table)?;
        let row = table.row();
        if row != self.row {
            // Of as many bytes, and fewer or more columns.
            let [expected, got] = [self.row, row].map(|row| [table.rows(), row.columns()].into());
            return Err(Error::PlanMismatch { argument: Argument::Data, expected, got });
        }
        self.plan.run_into(table.data(), indices, (RowValue::Value(row),), out)
    }
}
