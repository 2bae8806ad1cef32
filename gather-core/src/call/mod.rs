//! The public methods. Each kind of operator has a call without types (`erased`, `bag::erased`, `scatter::erased`,
//! `space`), which makes a plan and runs it.

// The pages of operators list methods in this order: `run` first, the forms for types known at run time last.
pub(crate) mod gather;
pub(crate) mod operator;

pub(crate) mod attributes;
#[cfg(feature = "bags")]
pub(crate) mod bag;
pub(crate) mod checks;
pub(crate) mod cloned;
mod plan_type;
#[cfg(feature = "scatter")]
pub(crate) mod scatter;
pub(crate) mod source;
pub(crate) mod space;

pub(crate) use source::Sealed;
