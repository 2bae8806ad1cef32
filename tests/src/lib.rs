//! What the tests of gather-core share: an oracle that shares no code with the library, and the conformance cases.

#![deny(unsafe_code)]

#[macro_use]
pub mod values;
pub mod cases;
pub mod faces;
pub mod fused;
#[allow(unsafe_code)]
pub mod fuzz;
// WebAssembly has no pages to protect.
#[cfg(not(target_family = "wasm"))]
pub mod guard;
pub mod policies;
pub mod scatters;
pub mod support;
pub mod tally;

pub use gather_tests_oracle as oracle;

/// The README's code blocks, run as doctests.
#[doc = include_str!("../../README.md")]
#[cfg(doctest)]
pub struct Readme;
