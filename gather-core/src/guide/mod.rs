//! Chapters that show how the pieces go together. The page of each item has its details.

#![forbid(unsafe_code)]

#[doc = include_str!("coming_from.md")]
pub mod coming_from {}

#[doc = include_str!("plans.md")]
pub mod plans {}

#[doc = include_str!("specialize.md")]
pub mod specialize {}

#[doc = include_str!("custom_types.md")]
pub mod custom_types {}

#[doc = include_str!("runtime_types.md")]
pub mod runtime_types {}

#[doc = include_str!("scatter.md")]
pub mod scatter {}

#[doc = include_str!("bags.md")]
pub mod bags {}

#[doc = include_str!("row_functions.md")]
pub mod row_functions {}

#[doc = include_str!("nulls.md")]
pub mod nulls {}

#[doc = include_str!("tables.md")]
pub mod tables {}

#[doc = include_str!("large_tables.md")]
pub mod large_tables {}

#[doc = include_str!("targets.md")]
pub mod targets {}
