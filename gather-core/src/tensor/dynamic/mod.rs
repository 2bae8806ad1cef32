//! Tensors whose data type is known at run time.

mod owned;
mod view;

pub use owned::DynTensor;
pub use view::{DynView, DynViewMut};

use crate::tensor::layout::Layout;
use crate::types::element::DType;
use crate::types::error::Error;

pub(crate) fn check_dtype(expected: DType, got: DType) -> Result<(), Error> {
    if expected == got { Ok(()) } else { Err(Error::DTypeMismatch { expected, got }) }
}

/// Checks that the elements of a layout are aligned for their type. Any address is aligned for an empty layout.
pub(crate) fn check_aligned(dtype: DType, at: *const u8, layout: &Layout) -> Result<(), Error> {
    let align = dtype.align();
    let lies = layout.is_empty() || at.addr().is_multiple_of(align);
    if lies { Ok(()) } else { Err(Error::Misaligned { dtype, align }) }
}
