//! Gathers of whole rows: fused rows are decoded, or a row function computes a value or another row from each row.

#![forbid(unsafe_code)]

use core::iter::repeat_n;

use smallvec::SmallVec;

use crate::call::Sealed;
use crate::call::attributes::IndexAttributes;
use crate::call::checks::mismatch;
use crate::call::gather::converted::Converter;
use crate::call::gather::kinds::{GatherKind, GatheredBy};
use crate::call::gather::planned::Params;
use crate::call::source::kind::{ByRow, Fused, RowKind};
use crate::call::source::rows::{PlaceRows, RowArgs};
use crate::kernels::convert::row::{DecodeLayout, ErasedRowFunction, Misfit, Placed, RowShapes};
use crate::plan::{Axis, IndexLowered, IndexPlan, WholeRows};
use crate::tensor::layout::{Layout, Shape};
use crate::tensor::typing::Dyn;
use crate::types::codes::Float;
use crate::types::element::Element;
use crate::types::error::Error;
use crate::types::op::{Argument, Op};

/// The attributes of an operator whose result is rows of data: [`Gather`](crate::Gather). Sealed.
pub trait RowAttributes: IndexAttributes {
    /// The dimension of data with which the dimensions of a mask begin.
    ///
    /// # Errors
    /// [`Error::AxisOutOfRange`], then [`Error::BatchDimsOutOfRange`].
    #[doc(hidden)]
    fn masked_axis(&self, data: &Layout) -> Result<usize, Error>;
}

impl<A: RowAttributes, K: GatherKind + RowKind, U: Element> GatheredBy<A> for ByRow<K, U> {}
impl<A: RowAttributes, U: Float> GatheredBy<A> for Fused<U> {}
impl<A: RowAttributes> GatheredBy<A> for Fused<Dyn> {}

/// The shapes of whole rows in a plan.
#[derive(Clone, Copy)]
pub(super) struct RowShape {
    /// Number of dimensions of data before a row.
    lead: usize,
    pub(super) rows: WholeRows,
    /// How rows are decoded for the row function; `None` if it reads data as it is.
    pub(super) decoding: Option<DecodeLayout>,
    pub(super) params: Params,
    /// Number of dimensions of the results of a row, 0 for one value, and the size of the last one.
    dims: usize,
    last: usize,
    /// Whether the row function has a fill.
    pub(super) filled: bool,
    /// Bytes from each row of the output to the next in row-major order; `None` if rows are not evenly spaced.
    spacing: Option<isize>,
}

pub(super) fn elements(row: &[usize]) -> usize {
    // The length of a layout fits `usize`, so a product without 0 overflows only if a dimension before the row is 0.
    if row.contains(&0) { 0 } else { row.iter().fold(1usize, |product, &dim| product.saturating_mul(dim)) }
}

/// The attributes of an operator on whole rows. Its loops are the dimensions before a row.
pub(super) struct WholeRow<'a> {
    pub(super) attributes: &'a dyn IndexAttributes,
    pub(super) shape: RowShape,
}

impl Sealed for WholeRow<'_> {}

impl IndexAttributes for WholeRow<'_> {
    fn op(&self) -> Op {
        self.attributes.op()
    }

    fn lower(&self, data: &Layout, indices: &Layout, lowered: &mut IndexLowered) -> Result<(), Error> {
        let RowShape { lead, rows, dims, last, .. } = self.shape;
        // Every row is one element. Empty rows have stride 0.
        let row = data.rank() - lead;
        let step = |&step: &isize| if rows.elements == 0 { 0 } else { step };
        let shape: SmallVec<[usize; 8]> = data.shape()[..lead].iter().copied().chain(repeat_n(1, row)).collect();
        let strides: SmallVec<[isize; 8]> = data.strides()[..lead].iter().map(step).chain(repeat_n(1, row)).collect();
        self.attributes.lower(&Layout::strided(&shape, &strides)?, indices, lowered)?;
        lowered.dims.truncate(lowered.dims.len() - row);
        lowered.output = lowered.output[..lowered.output.len() - row].into();
        if dims > 0 {
            lowered.output.extend(&data.shape()[lead..][..dims - 1]);
            lowered.output.push(last);
        }
        Ok(())
    }
}

impl RowShape {
    /// The shapes of the rows of data and of results; `None` if rows are not taken whole.
    ///
    /// # Errors
    /// [`Error::AxisOutOfRange`].
    #[inline]
    pub(super) fn new(
        attributes: &dyn IndexAttributes,
        converter: &Converter<'_>,
        data: &Layout,
    ) -> Result<Option<Self>, Error> {
        if !converter.takes_rows() {
            return Ok(None);
        }
        let lead = attributes.dims_before_row(data)?;
        let elements = elements(&data.shape()[lead..]);
        let decoding = converter.decoding(elements);
        let rows = WholeRows { elements, results: converter.results(elements) };
        let params = converter.function().map_or(&[][..], |function| function.erased.params);
        let filled = converter.function().is_some_and(|function| function.fill.is_some());
        let row = converter.row_of_results(&data.shape()[lead..]);
        let (dims, last) = (row.len(), row.last().copied().unwrap_or(1));
        Ok(Some(RowShape { lead, rows, decoding, params, dims, last, filled, spacing: None }))
    }

    /// The number of numbers that the function reads per row.
    fn numbers(&self) -> usize {
        self.decoding.map_or(self.rows.elements, |decoding| decoding.numbers)
    }

    /// Checks that the converter makes the planned number of results of a row.
    ///
    /// # Errors
    /// [`Error::PlanMismatch`].
    pub(super) fn check_results(&self, converter: &Converter<'_>, output: &[usize]) -> Result<(), Error> {
        let (results, one) = (converter.results(self.rows.elements), converter.makes_one());
        if one == (self.dims == 0) && results == self.rows.results {
            return Ok(());
        }
        let lead = &output[..output.len() - self.dims];
        let got: Shape = lead.iter().copied().chain((!one).then_some(results)).collect();
        Err(mismatch(Argument::Output, output, &got))
    }

    /// Finds the spacing of rows in an output whose elements have `size` bytes.
    ///
    /// # Errors
    /// [`Error::RowsNotContiguous`] for data, then for the output.
    pub(super) fn space(
        &mut self,
        plan: &IndexPlan,
        size: usize,
        data: &Layout,
        out: Option<&Layout>,
    ) -> Result<(), Error> {
        self.spacing = self.spacing_in_elements(plan, data, out)?.map(|step| step.wrapping_mul(size as isize));
        Ok(())
    }

    /// Elements from each row of the output to the next in row-major order; `None` if rows are not evenly spaced.
    fn spacing_in_elements(
        &self,
        plan: &IndexPlan,
        data: &Layout,
        out: Option<&Layout>,
    ) -> Result<Option<isize>, Error> {
        let refused = |argument| Error::RowsNotContiguous { op: plan.op(), argument };
        // No row is read from empty data or written to an empty output: their strides do not matter.
        if !data.is_empty()
            && !Layout::strided(&data.shape()[self.lead..], &data.strides()[self.lead..])?.is_contiguous()
        {
            return Err(refused(Argument::Data));
        }
        let Some(out) = out.filter(|out| !out.is_empty()) else { return Ok(Some((self.rows.results as isize).max(1))) };
        let lead = out.rank() - self.dims;
        if !Layout::strided(&out.shape()[lead..], &out.strides()[lead..])?.is_contiguous() {
            return Err(refused(Argument::Output));
        }
        // Rows are evenly spaced if each step is `n * step` of the next dimension. Dimensions of size 1 do not count.
        let (mut spacing, mut next) = (None, None);
        for (&n, &step) in out.shape()[..lead].iter().zip(out.strides()).rev().filter(|&(&n, _)| n != 1) {
            if next.is_some_and(|next| next != step) {
                return Ok(None);
            }
            spacing.get_or_insert(step);
            next = Some(step.wrapping_mul(n as isize));
        }
        Ok(Some(spacing.filter(|&step| step != 0).unwrap_or(1)))
    }

    /// Compares arguments with shapes. Calls `run` with the place of the output's rows, and a [`PlaceRows`]. `run`
    /// replaces the place's address 0; the output has shape `output`.
    ///
    /// # Errors
    /// [`Error::RowParameterLengthMismatch`], [`Error::RowParameterLengthUnstated`] and
    /// [`Error::ParameterUnavailable`]. If a parameter has a value per index, then [`Error::RowsNotContiguous`] for an
    /// output whose rows are not evenly spaced. Then the errors of `run`.
    pub(super) fn with(
        &self,
        (op, axes): (Op, &[Axis]),
        function: &ErasedRowFunction,
        output: &[usize],
        args: &dyn RowArgs,
        mut run: impl FnMut(Placed, &mut PlaceRows<'_>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let lead = &output[..output.len() - self.dims];
        let dim = axes.first().map_or(0, |axis| axis.dim);
        let shapes = RowShapes { row: self.numbers(), dim, lead };
        let ran = args.with(&shapes, &mut |by_index, place| {
            let out_step = match self.spacing {
                None if by_index => return Err(Error::RowsNotContiguous { op, argument: Argument::Output }),
                spacing => spacing.unwrap_or(1),
            };
            run(Placed { out: 0, out_step, by_index }, place)
        });
        ran.unwrap_or_else(|(number, misfit)| {
            let (function, parameter) = (function.name, function.params[number]);
            Err(match misfit {
                Misfit::Length { per, len, expected } => {
                    Error::RowParameterLengthMismatch { op, function, parameter, per, len, expected }
                }
                Misfit::Unstated { len } => {
                    Error::RowParameterLengthUnstated { op, function, parameter, len, indices: lead.into() }
                }
                Misfit::Unavailable { per } => Error::ParameterUnavailable { op, function, parameter, per },
            })
        })
    }
}
