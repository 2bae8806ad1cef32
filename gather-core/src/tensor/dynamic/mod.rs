//! Tensors whose data type is known at run time.

mod owned;
mod view;

pub use owned::DynTensor;
pub use view::{DynView, DynViewMut};

use crate::tensor::layout::Layout;
use crate::types::element::DType;
use crate::types::error::Error;

/// Checks that a tensor has the data type that another one has.
pub(crate) fn check_dtype(expected: DType, got: DType) -> Result<(), Error> {
    if expected == got { Ok(()) } else { Err(Error::DTypeMismatch { expected, got }) }
}

/// Checks that the elements of a layout lie at the alignment of their type. Without elements nothing lies anywhere.
pub(crate) fn check_aligned(dtype: DType, at: *const u8, layout: &Layout) -> Result<(), Error> {
    let align = dtype.align();
    let lies = layout.is_empty() || at.addr().is_multiple_of(align);
    if lies { Ok(()) } else { Err(Error::Misaligned { dtype, align }) }
}
