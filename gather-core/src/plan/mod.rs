//! Plans: shape-dependent work, done once.
//!
//! `lower` (in `ops`) turns an operator and two layouts into loops with element strides; `fold` merges them; `method`
//! chooses the access to data; `index`, `reduce` and `space` pick the kernel. The call passes functions to `bag`. A
//! plan proves that shapes and attributes have been checked: `exec` needs only tensors of the planned layouts.

#[cfg(feature = "bags")]
mod bag;
mod explain;
pub(crate) mod fold;
mod index;
mod lowered;
mod method;
mod nest;
#[cfg(feature = "scatter")]
mod reduce;
mod space;
mod tasks;

#[cfg(feature = "bags")]
pub(crate) use bag::{
    BagConversion, BagConverting, BagFused, BagKernels, BagReducePlan, BagRequest, BagSettings, Bounds, FEW,
    MOST_CONVERTED, PreparedBags, index_runs,
};
pub use explain::Explain;
pub(crate) use index::{Converting, FewRows, IndexPlan, IndexRequest, LeadingAxes, WholeRows};
pub(crate) use lowered::{Axis, BlockDim, Dim};
pub(crate) use lowered::{IndexLowered, SpaceLowered};
pub(crate) use method::Panels;
pub(crate) use nest::{Action, DynamicPlan, NestPlan, is_free};
#[cfg(feature = "scatter")]
pub(crate) use reduce::{Accumulators, DynamicReducePlan, FewUpdates, ReducePlan, ReduceRequest, Strategy};
pub(crate) use space::{SpacePart, SpacePlan};
pub(crate) use tasks::Work;
