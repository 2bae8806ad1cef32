//! Running plans: the one place where plans and kernels meet.
//!
//! Guarantees the kernel contract (K1..K8 in `kernels`) from what it is promised about the operands and from what the
//! plan proves; cuts nests into pieces for threads.
//!
//! # What it is promised, and what follows
//!
//! - **X1** The operands of a run have exactly the layouts, the element sizes and the index type that the plan was made
//!   for. Data and indices may be read along theirs (V1), the output may be written along its own, no two of whose
//!   coordinates share a byte (V2), and which overlaps neither of them. Promised by `ops` and `plan/typed`.
//! - **X2** A part of a nest (some iterations of its loops, or a panel) reaches some of what the nest reaches; two parts that
//!   have no coordinate in common share no byte of the output (K1). So parts may run at the same time: they read shared
//!   memory whose elements are `Sync`, and write memory of their own whose elements are `Send`.
//! - **X3** A run that returns `Ok` has written every element of its output: the loops of a plan are those of the output,
//!   each coordinate is a lane, and a lane is moved or filled unless an index was out of range under `OutOfBounds::Error`;
//!   then the run returns the error of `culprit::find`, which never comes back without one.

mod copy;
pub(crate) mod culprit;
mod cuts;
mod index;
mod map;
mod panels;

pub(crate) use copy::run as run_copy;
pub(crate) use index::{Operands, run as run_index};
pub(crate) use map::{Conversion, run as run_map};
