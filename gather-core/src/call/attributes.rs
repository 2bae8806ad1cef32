//! The questions that doors of gathers ask of an operator's attributes.

#![forbid(unsafe_code)]

use crate::call::Sealed;
use crate::plan::{IndexLowered, LeadingAxes};
use crate::tensor::layout::Layout;
use crate::types::error::Error;
use crate::types::op::Op;

/// The attributes of an operator on data and indices. Sealed: those of [`Gather`](crate::Gather),
/// [`GatherElements`](crate::GatherElements) and [`GatherNd`](crate::GatherNd).
pub trait IndexAttributes: Sealed {
    /// The operator.
    #[doc(hidden)]
    fn op(&self) -> Op;

    /// Checks the attributes against the shapes, and adds loops and axes to what is empty.
    #[doc(hidden)]
    fn lower(&self, data: &Layout, indices: &Layout, lowered: &mut IndexLowered) -> Result<(), Error>;

    /// The leading axes of data that an index names, where results are rows of data in the order of indices.
    #[doc(hidden)]
    fn leading_axes(&self, _data: &Layout, _indices: &Layout) -> Option<LeadingAxes> {
        None
    }

    /// The dimensions of data before a row, of an operator whose indices name whole rows along an axis.
    ///
    /// # Errors
    /// [`Error::AxisOutOfRange`].
    #[doc(hidden)]
    fn dims_before_row(&self, data: &Layout) -> Result<usize, Error> {
        Ok(data.rank())
    }
}
