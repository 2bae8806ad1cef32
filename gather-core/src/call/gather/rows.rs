//! Rows that a gather takes whole: to decode them, or for a row function, which makes a value or another row of each.

#![forbid(unsafe_code)]

use core::iter::repeat_n;

use smallvec::SmallVec;

use crate::call::Sealed;
use crate::call::attributes::IndexAttributes;
use crate::call::checks::mismatch;
use crate::call::gather::converted::Converter;
use crate::call::gather::kinds::{Gathered, GatheredBy};
use crate::call::gather::planned::Params;
use crate::call::source::kind::{ByRow, Fused, ReadByRow};
use crate::call::source::rows::{PlaceRows, RowArgs};
use crate::kernels::convert::row::{DecodedRows, Erased, Misfit, Placed, RowShapes};
use crate::plan::{Axis, IndexLowered, IndexPlan, WholeRows};
use crate::tensor::layout::{Layout, Shape};
use crate::tensor::typing::Any;
use crate::types::codes::Float;
use crate::types::element::Element;
use crate::types::error::Error;
use crate::types::op::{Argument, Op};

/// The attributes of an operator whose result is rows of data. Sealed: those of [`Gather`](crate::Gather).
pub trait RowAttributes: IndexAttributes {}

impl<A: RowAttributes, K: Gathered + ReadByRow, U: Element> GatheredBy<A> for ByRow<K, U> {}
impl<A: RowAttributes, U: Float> GatheredBy<A> for Fused<U> {}
impl<A: RowAttributes> GatheredBy<A> for Fused<Any> {}

/// The shapes of rows: what a plan has of a row function.
#[derive(Clone, Copy)]
pub(super) struct RowShape {
    /// Dimensions of data before a row.
    lead: usize,
    pub(super) rows: WholeRows,
    /// The numbers that the function reads, where rows are decoded first.
    pub(super) decoding: Option<DecodedRows>,
    /// The names of the function's parameters.
    pub(super) params: Params,
    /// Whether a row becomes one value, which is no dimension of the result.
    one: bool,
    /// Whether the plan fills by bytes of the function's own.
    pub(super) filled: bool,
    /// Bytes from a row of a row-major output to the next; `None` where rows are not evenly spaced.
    spacing: Option<isize>,
}

/// The elements of a row.
pub(super) fn elements(row: &[usize]) -> usize {
    // A product that overflows has a factor of 0 too, since the layout has as many elements.
    if row.contains(&0) { 0 } else { row.iter().fold(1usize, |product, &dim| product.saturating_mul(dim)) }
}

/// Attributes whose rows are taken whole: the loops are those of the dimensions before them.
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
        let RowShape { lead, rows, one, .. } = self.shape;
        // Every row is one element; rows without elements lie nowhere.
        let row = data.rank() - lead;
        let step = |&step: &isize| if rows.elements == 0 { 0 } else { step };
        let shape: SmallVec<[usize; 8]> = data.shape()[..lead].iter().copied().chain(repeat_n(1, row)).collect();
        let strides: SmallVec<[isize; 8]> = data.strides()[..lead].iter().map(step).chain(repeat_n(1, row)).collect();
        self.attributes.lower(&Layout::strided(&shape, &strides)?, indices, lowered)?;
        lowered.dims.truncate(lowered.dims.len() - row);
        lowered.output = lowered.output[..lowered.output.len() - row].into();
        if !one {
            lowered.output.push(rows.results);
        }
        Ok(())
    }
}

impl RowShape {
    /// The rows of data and of results, where they are taken whole.
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
        Ok(Some(RowShape { lead, rows, decoding, params, one: converter.makes_one(), filled, spacing: None }))
    }

    /// The numbers that the function reads of a row.
    fn numbers(&self) -> usize {
        self.decoding.map_or(self.rows.elements, |decoding| decoding.numbers)
    }

    /// Checks that what converts makes as much of a row as what was planned for.
    ///
    /// # Errors
    /// [`Error::PlanMismatch`].
    pub(super) fn check_results(&self, converter: &Converter<'_>, output: &[usize]) -> Result<(), Error> {
        let (results, one) = (converter.results(self.rows.elements), converter.makes_one());
        if one == self.one && results == self.rows.results {
            return Ok(());
        }
        let lead = &output[..output.len() - usize::from(!self.one)];
        let got: Shape = lead.iter().copied().chain((!one).then_some(results)).collect();
        Err(mismatch(Argument::Output, output, &got))
    }

    /// Finds the spacing in an output whose elements have `size` bytes.
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

    /// Elements from a row of the output to the next; `None` where rows are not evenly spaced.
    fn spacing_in_elements(
        &self,
        plan: &IndexPlan,
        data: &Layout,
        out: Option<&Layout>,
    ) -> Result<Option<isize>, Error> {
        let refused = |argument| Error::RowsNotContiguous { op: plan.op(), argument };
        // No row is read from empty data, and none is written to an empty output: their strides do not matter.
        if !data.is_empty()
            && !Layout::strided(&data.shape()[self.lead..], &data.strides()[self.lead..])?.is_contiguous()
        {
            return Err(refused(Argument::Data));
        }
        let Some(out) = out.filter(|out| !out.is_empty()) else { return Ok(Some((self.rows.results as isize).max(1))) };
        let lead = out.rank() - usize::from(!self.one);
        if self.rows.results > 1 && !self.one && out.strides()[lead] != 1 {
            return Err(refused(Argument::Output));
        }
        // The step of the last dimension that is stepped along, if those before it go on where it ends.
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

    /// Compares arguments with shapes, and calls `run` with the place of the output's rows, except for its address, and
    /// with the function that takes the whole place. The shape of the output is `output`.
    ///
    /// # Errors
    /// [`Error::RowParameterLengthMismatch`], [`Error::RowParameterLengthUnstated`] and
    /// [`Error::ParameterUnavailable`], then [`Error::RowsNotContiguous`] for an output whose rows are not evenly
    /// spaced where indices have values of their own; then those of `run`.
    pub(super) fn with(
        &self,
        (op, axes): (Op, &[Axis]),
        function: &Erased,
        output: &[usize],
        args: &dyn RowArgs,
        mut run: impl FnMut(Placed, &mut PlaceRows<'_>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let lead = &output[..output.len() - usize::from(!self.one)];
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
