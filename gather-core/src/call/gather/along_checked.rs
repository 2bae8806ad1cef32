//! An operator by checked indices.

#![forbid(unsafe_code)]

use crate::call::Sealed;
use crate::call::attributes::IndexAttributes;
use crate::call::source::checked::CheckedAxis;
use crate::plan::{IndexLowered, LeadingAxes};
use crate::tensor::layout::Layout;
use crate::types::error::Error;
use crate::types::op::Op;

/// The attributes of a call by checked indices. With their own errors they report an axis of another size.
pub(super) struct AlongChecked<'a> {
    pub(super) attributes: &'a dyn IndexAttributes,
    pub(super) axis: CheckedAxis,
}

impl AlongChecked<'_> {
    /// # Errors
    /// [`Error::CheckedTuples`], [`Error::AxisOutOfRange`], then [`Error::CheckedAxisMismatch`].
    fn check(&self, data: &Layout) -> Result<(), Error> {
        self.axis.check(self.op(), self.attributes.axis_size(data)?)
    }
}

impl Sealed for AlongChecked<'_> {}

impl IndexAttributes for AlongChecked<'_> {
    fn op(&self) -> Op {
        self.attributes.op()
    }

    fn lower(&self, data: &Layout, indices: &Layout, lowered: &mut IndexLowered) -> Result<(), Error> {
        self.check(data)?;
        self.attributes.lower(data, indices, lowered)
    }

    fn leading_axes(&self, data: &Layout, indices: &Layout) -> Option<LeadingAxes> {
        self.check(data).ok().and_then(|()| self.attributes.leading_axes(data, indices))
    }

    fn dims_before_row(&self, data: &Layout) -> Result<usize, Error> {
        self.attributes.dims_before_row(data)
    }
}
