//! Tensors whose data type is known at run time.

mod owned;
mod view;

pub use owned::DynTensor;
pub use view::{DynView, DynViewMut};

use crate::types::element::DType;
use crate::types::error::Error;

/// Checks that a tensor has the data type that another one has.
pub(crate) fn check_dtype(expected: DType, got: DType) -> Result<(), Error> {
    if expected == got { Ok(()) } else { Err(Error::DTypeMismatch { expected, got }) }
}
