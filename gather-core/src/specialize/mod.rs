//! Operators whose shapes the source knows: what functions of [`specialize!`](crate::specialize!) call.
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

/// Bytes of an output from which on a plan costs less than it gains (bench `specialize`).
const LARGE: usize = 16 << 10;
/// The same for rows that are not short, which plain loops move as quickly.
const LARGE_ROWS: usize = 128 << 10;
/// Bytes of a row up to which it is short.
const SHORT_ROW: usize = 32;
/// The same for data beyond the caches, whose rows plans ask for ahead.
const LARGE_FAR: usize = 8 << 10;
/// Bytes of data beyond the caches.
const FAR: usize = 4 << 20;

/// What a function on arrays does with the error of one on slices, where nothing can fail.
///
/// # Panics
/// Always.
#[cold]
#[inline(never)]
pub fn cannot_fail(error: Error) -> ! {
    panic!("a function on arrays has refused its arguments: {error}")
}
