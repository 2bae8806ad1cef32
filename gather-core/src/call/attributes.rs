//! The trait of the attributes of gathers.

#![forbid(unsafe_code)]

use crate::call::Sealed;
use crate::plan::{IndexLowered, LeadingAxes};
use crate::tensor::layout::Layout;
use crate::types::error::Error;
use crate::types::op::Op;

/// The attributes of an operator on data and indices: [`Gather`](crate::Gather),
/// [`GatherElements`](crate::GatherElements) or [`GatherNd`](crate::GatherNd). Sealed.
pub trait IndexAttributes: Sealed {
    #[doc(hidden)]
    fn op(&self) -> Op;

    /// Checks the attributes against the shapes, and lowers the operator into `lowered`, which is empty.
    #[doc(hidden)]
    fn lower(&self, data: &Layout, indices: &Layout, lowered: &mut IndexLowered) -> Result<(), Error>;

    /// The leading axes of data that an index names, if the result is rows of data in the order of indices.
    #[doc(hidden)]
    fn leading_axes(&self, _data: &Layout, _indices: &Layout) -> Option<LeadingAxes> {
        None
    }

    /// The number of dimensions of data before a row, if indices name whole rows along an axis.
    ///
    /// # Errors
    /// [`Error::AxisOutOfRange`].
    #[doc(hidden)]
    fn dims_before_row(&self, data: &Layout) -> Result<usize, Error> {
        Ok(data.rank())
    }

    /// The size of the axis of data along which each index names a position.
    ///
    /// # Errors
    /// [`Error::AxisOutOfRange`]; [`Error::CheckedTuples`] of an operator that takes tuples.
    #[doc(hidden)]
    fn axis_size(&self, _data: &Layout) -> Result<usize, Error> {
        Err(Error::CheckedTuples { op: self.op() })
    }
}
