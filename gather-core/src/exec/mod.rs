//! Running plans: the one place where plans and kernels meet.
//!
//! Guarantees the kernel contract (K1 to K10 in `kernels`) from what it is promised about the operands and from what
//! plans prove (P1 to P4); cuts loop nests into pieces for threads.
//!
//! # What it is promised, and what follows
//!
//! - **X1** The operands of a run have exactly the layouts, the element sizes and the index type that the plan was
//!   made for. Data and indices may be read along theirs (V1); the output may be written along its own, no two of
//!   whose coordinates share a byte (V2), and it overlaps neither of them. The doors in `call`, which have sources and
//!   an output, make operands once (`Operands::new`); who has made a plan for their layouts, or has compared these with
//!   a plan's, says so where it runs.
//! - **X2** A part of a loop nest (some iterations of its loops, or a panel) reaches some of what the whole loop nest
//!   reaches; two parts that have no coordinate in common share no byte of the output (K1). So parts may run at the
//!   same time: they read shared memory whose elements are `Sync`, and write memory of their own whose elements are
//!   `Send`.
//! - **X3** A run that returns `Ok` has written every element of its output: the loops of a plan are those of the
//!   output (P1), and the `Outcome` of each of its kernels is complete: `rows written == rows asked`, or a loop over all
//!   rows that has not ended before the last. Otherwise the run
//!   returns the error of `first_bad_index::find`, which never comes back without one. Runs of gathers return a
//!   `Written`, which `Written::by` makes of a complete outcome, whatever the policy.

#[cfg(feature = "bags")]
mod bag;
mod coordinates;
mod cuts;
pub(crate) mod first_bad_index;
#[cfg(feature = "rayon")]
mod helpers;
mod index;
mod nulls;
mod panels;
mod prepared;
#[cfg(feature = "scatter")]
mod scatter;
mod scratch;
mod space;
#[cfg(feature = "rayon")]
mod sync;
mod threads;

#[cfg(feature = "bags")]
pub(crate) use bag::{BagCall, BagMap, run as run_bags, run_all as run_all_bags};
pub(crate) use index::{Ids, Operands, Written, call as call_index, run as run_index, run_few_rows};
pub(crate) use nulls::{NullIndices, PositionRoom, gather_bits};
pub(crate) use prepared::Prepared;
#[cfg(feature = "scatter")]
pub(crate) use scatter::{Original, ScatterOperands, run as run_scatter, run_few as run_few_updates};
pub(crate) use space::run as run_space;
pub(crate) use threads::pool_threads;
