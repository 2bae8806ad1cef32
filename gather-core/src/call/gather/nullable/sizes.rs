//! Sizes of a call with nulls, and the operator by positions in place of indices.

#![forbid(unsafe_code)]

use smallvec::SmallVec;

use crate::call::Sealed;
use crate::call::attributes::IndexAttributes;
use crate::call::gather::ErasedGather;
use crate::call::source::checked::CheckedAxis;
use crate::plan::{Axis, IndexLowered, LeadingAxes};
use crate::tensor::layout::{Layout, Shape};
use crate::types::error::Error;
use crate::types::op::Op;
use crate::types::policy::IndexPolicy;

#[derive(Clone)]
pub(super) struct NullableSizes {
    /// The row-major number of each index or tuple: the shape of indices, with stride 0 along components.
    pub(super) numbers: Layout,
    /// Number of dimensions of indices before the dimension of components.
    pub(super) lead: usize,
    /// Number of indices, or of tuples.
    pub(super) count: usize,
    /// Number of trailing dimensions of data in a row.
    row_rank: usize,
}

impl NullableSizes {
    /// Checks attributes and shapes, and lowers the operator into `lowered`, which is empty. The loops step through the
    /// elements of row-major data and through `numbers`.
    ///
    /// # Errors
    /// The errors of the operator, [`Error::TooManyElements`].
    #[inline(always)]
    pub(super) fn new(
        attributes: &dyn IndexAttributes,
        data: &Layout,
        indices: &Layout,
        lowered: &mut IndexLowered,
    ) -> Result<Self, Error> {
        let op = attributes.op();
        let tuples = op == Op::GatherNd && indices.rank() > 0;
        let lead = indices.rank() - usize::from(tuples);
        let mut numbers = Layout::contiguous(&indices.shape()[..lead])?;
        let count = numbers.len();
        if tuples {
            let steps: SmallVec<[isize; 6]> = numbers.strides().iter().copied().chain([0]).collect();
            numbers = Layout::strided(indices.shape(), &steps)?;
        }
        attributes.lower(&Layout::contiguous(data.shape())?, &numbers, lowered)?;
        let row_rank = match op {
            Op::Gather => data.rank().saturating_sub(lowered.axes[0].axis + 1),
            Op::GatherNd => lowered.dims.len() - lead,
            _ => 0,
        };
        Ok(NullableSizes { numbers, lead, count, row_rank })
    }

    /// The sizes for a first dimension of indices, which exists, of size `count`.
    pub(super) fn resized(&self, count: usize) -> Result<Self, Error> {
        let numbers = self.numbers.resized(count).expect("indices with a free dimension")?;
        let count = numbers.shape()[..self.lead].iter().product();
        Ok(NullableSizes { numbers, count, ..*self })
    }

    /// The dimensions of data before a row, and the dimensions of a row.
    pub(super) fn rows<'d>(&self, data: &'d Layout) -> (&'d [usize], &'d [usize]) {
        data.shape().split_at(data.rank() - self.row_rank)
    }

    /// Makes the loops of an operator step through rows of data instead of elements.
    pub(super) fn step_by_rows(&self, data: &Layout, lowered: &mut IndexLowered) {
        // In row-major order, strides of rows are multiples of `row`.
        let row: usize = self.rows(data).1.iter().map(|&n| n.max(1)).product();
        lowered.dims.truncate(lowered.dims.len() - self.row_rank);
        lowered.dims.iter_mut().for_each(|dim| dim.data /= row as isize);
        lowered.axes.iter_mut().for_each(|axis| axis.data /= row as isize);
    }
}

/// Whether an axis is longer than `i32::MAX`.
pub(super) fn is_wide(lowered: &IndexLowered) -> bool {
    lowered.axes.iter().any(|axis| i32::try_from(axis.dim).is_err())
}

/// An operator that reads positions in place of indices.
pub(in crate::call::gather) struct ByPosition<'a> {
    attributes: &'a dyn IndexAttributes,
    /// The axis of checked indices, which is compared with the axis of data.
    checked: Option<CheckedAxis>,
    /// Whether tuples have no components. Each tuple still has a position: 0, or missing if the tuple is null.
    empty_tuples: bool,
}

impl<'a> ByPosition<'a> {
    /// The operator by checked indices.
    pub(in crate::call::gather) fn checked(attributes: &'a dyn IndexAttributes, axis: CheckedAxis) -> Self {
        ByPosition { attributes, checked: Some(axis), empty_tuples: false }
    }

    /// Compares the axis of checked indices with the axis of data.
    ///
    /// # Errors
    /// [`Error::CheckedTuples`], [`Error::AxisOutOfRange`], then [`Error::CheckedAxisMismatch`].
    fn check(&self, data: &Layout) -> Result<(), Error> {
        let Some(axis) = self.checked else { return Ok(()) };
        axis.check(self.op(), self.attributes.axis_size(data)?)
    }

    /// The operator, and the layout of the positions: all positions of a component come before the next component's.
    pub(super) fn new(attributes: &'a dyn IndexAttributes, sizes: &'a NullableSizes) -> Result<(Self, Layout), Error> {
        let (shape, lead) = (sizes.numbers.shape(), sizes.lead);
        let empty_tuples = shape.get(lead) == Some(&0);
        let layout = match shape.get(lead) {
            Some(0) => {
                let shape: Shape = shape[..lead].iter().copied().chain([1]).collect();
                Layout::contiguous(&shape)?
            }
            None | Some(1) => Layout::contiguous(shape)?,
            Some(_) => {
                let numbers = sizes.numbers.strides()[..lead].iter().copied();
                let steps: SmallVec<[isize; 6]> = numbers.chain([sizes.count as isize]).collect();
                Layout::strided(shape, &steps)?
            }
        };
        Ok((ByPosition { attributes, checked: None, empty_tuples }, layout))
    }

    /// The call of `op` by positions. Positions may be missing if `missing`; all others are in range.
    pub(super) fn call(&'a self, op: ErasedGather<'a>, missing: bool) -> ErasedGather<'a> {
        ErasedGather { attributes: self, policy: IndexPolicy::of_positions(missing), ..op }
    }
}

impl Sealed for ByPosition<'_> {}

impl IndexAttributes for ByPosition<'_> {
    fn op(&self) -> Op {
        self.attributes.op()
    }

    fn leading_axes(&self, data: &Layout, indices: &Layout) -> Option<LeadingAxes> {
        self.check(data).ok().filter(|()| !self.empty_tuples)?;
        self.attributes.leading_axes(data, indices)
    }

    fn dims_before_row(&self, data: &Layout) -> Result<usize, Error> {
        self.attributes.dims_before_row(data)
    }

    fn lower(&self, data: &Layout, indices: &Layout, lowered: &mut IndexLowered) -> Result<(), Error> {
        self.check(data)?;
        if !self.empty_tuples {
            return self.attributes.lower(data, indices, lowered);
        }
        let (lead, steps) = (&indices.shape()[..indices.rank() - 1], indices.strides());
        let shape: Shape = lead.iter().copied().chain([0]).collect();
        self.attributes.lower(data, &Layout::strided(&shape, steps)?, lowered)?;
        lowered.axes.push(Axis::STAND_IN);
        Ok(())
    }
}
