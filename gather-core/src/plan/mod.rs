//! Plans: everything that depends on shapes, done once.
//!
//! `lower` (in `ops`) turns an operator and two layouts into loops with element strides; `fold` merges them; `index`
//! and `copy` choose the kernel. A plan is the proof that shapes and attributes have been checked: `exec` needs nothing
//! else but tensors of the planned layouts.

pub(crate) mod copy;
mod explain;
pub(crate) mod fold;
pub(crate) mod index;
mod map;
mod strategy;
mod typed;

pub(crate) use copy::{CopyLowered, CopyPlan as RawCopyPlan, PhasedDim};
pub use explain::Explain;
pub(crate) use index::{Axis, IndexLowered, IndexPlan, Route};
pub(crate) use map::{MapPlan, Sizes};
pub use strategy::Strategy;
pub(crate) use strategy::{Chosen, Panels};
pub use typed::{CopyPlan, Plan};
