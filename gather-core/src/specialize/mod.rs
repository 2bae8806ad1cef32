//! Operators whose shapes are known at compile time: what functions of [`specialize!`](crate::specialize!) call.
//!
//! ```text
//! lengths against shapes    (open sizes follow from them; what is known costs nothing)
//! a few rows:  the loops of `kernels::shaped`, inlined
//! many rows:   the operator itself, with its plan and its kernels for the level
//! ```
//!
//! What the loops do not take, the operator does too: open sizes of 0, and lengths that do not fit. So errors are those
//! of the operator.

mod fits;
mod general;
mod index;
mod space;

pub use index::{gather, gather_map};
pub use space::batch_to_space;

use crate::types::error::Error;

/// Handles the error of a function on slices in one on arrays, where nothing can fail.
///
/// # Panics
/// Always.
#[cold]
#[inline(never)]
pub fn cannot_fail(error: Error) -> ! {
    panic!("a function on arrays has refused its arguments: {error}")
}
