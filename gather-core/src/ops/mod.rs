//! The operators: small values that hold attributes, check them against shapes and hand over to a plan.

mod batch_to_space;
pub(crate) mod copy_face;
pub(crate) mod face;
mod gather;
mod gather_elements;
mod gather_nd;
mod map;
mod methods;
mod policy;

pub use batch_to_space::{BatchToSpace, batch_to_space};
pub use gather::{Gather, gather};
pub use gather_elements::{GatherElements, gather_elements};
pub use gather_nd::{GatherNd, gather_nd};
pub(crate) use policy::{IndexRules, Tuning};
pub use policy::{NegativeIndex, OutOfBounds, Par};
