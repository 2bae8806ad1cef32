//! Operators with shapes known at compile time, for functions of [`specialize!`](crate::specialize!).
//!
//! ```text
//! lengths against shapes    (open sizes follow from them; known sizes cost nothing)
//! a few rows:  the loops of `kernels::shaped`, inlined
//! many rows:   the operator itself, with its plan and its kernels for the level
//! ```
//!
//! The operator itself takes the calls that the loops refuse (open sizes of 0, wrong lengths): errors are its own.

mod fits;
mod general;
mod index;
mod space;

pub use index::{gather, gather_map};
pub use space::batch_to_space;

use crate::types::error::Error;

/// Panics with the error of a function on slices. Functions on arrays call it where the lengths are known to fit.
///
/// # Panics
/// Always.
#[cold]
#[inline(never)]
pub fn cannot_fail(error: Error) -> ! {
    panic!("a function on arrays has refused its arguments: {error}")
}
