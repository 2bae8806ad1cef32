//! Tensors: layouts, borrowed views, owned results, and their memory.

pub(crate) mod allocation;
pub(crate) mod bitmap;
pub(crate) mod dynamic;
pub(crate) mod fused;
pub(crate) mod layout;
pub(crate) mod memory;
#[cfg(feature = "ndarray_0_17")]
mod ndarray_0_17;
pub(crate) mod needed_pages;
pub(crate) mod output;
pub(crate) mod owned;
pub(crate) mod page_advice;
pub(crate) mod page_budget;
pub(crate) mod pages;
#[cfg(feature = "std")]
pub(crate) mod pool;
pub(crate) mod residency;
mod shape;
pub(crate) mod typing;
pub(crate) mod view;
