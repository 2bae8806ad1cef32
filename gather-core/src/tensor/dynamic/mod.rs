//! Tensors whose data type is known at run time.

mod owned;
mod view;

pub use owned::DynTensor;
pub use view::{DynView, DynViewMut};
