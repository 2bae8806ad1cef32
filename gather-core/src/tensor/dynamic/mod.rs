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

/// Checks that an element lies at the alignment of its type.
pub(crate) fn check_aligned(dtype: DType, at: *const u8) -> Result<(), Error> {
    let align = dtype.align();
    if at.addr().is_multiple_of(align) { Ok(()) } else { Err(Error::Misaligned { dtype, align }) }
}
