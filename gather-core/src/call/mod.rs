//! The public methods. Each kind of operator has a type-erased call, which makes a plan and runs it: `gather::erased`,
//! `bag::erased`, `scatter::erased`, `space`.

// Rustdoc lists the methods of an operator in the order of these modules: `run` first.
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
