//! Chapters for readers: what the items' own pages leave to be put together. No code.

#![forbid(unsafe_code)]

#[doc = include_str!("custom_types.md")]
pub mod custom_types {}

#[doc = include_str!("plans.md")]
pub mod plans {}
