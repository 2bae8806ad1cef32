//! Running plans: the one place where plans and kernels meet.
//!
//! Guarantees the kernel contract (K1..K7 in `kernels`) from what it is promised about the operands and from what the
//! plan proves; cuts nests into pieces for threads.

mod copy;
pub(crate) mod culprit;
mod index;
mod map;
mod panels;

pub(crate) use copy::run as run_copy;
pub(crate) use index::{Operands, run as run_index};
pub(crate) use map::{Conversion, run as run_map};
