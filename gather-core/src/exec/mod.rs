//! Execution of plans: only this module calls kernels by plans.
//!
//! Derives the kernel contract (K1 to K10 in `kernels`) from promises about the operands and from the invariants of
//! plans (P1 to P4). Cuts loop nests into chunks for threads.
//!
//! # Promises and consequences
//!
//! - **X1** The operands of a run have exactly the layouts, the element sizes and the index type for which the plan was
//!   made. Data and indices may be read along their layouts (V1). The output may be written along its layout, no two of
//!   whose coordinates share a byte (V2), and overlaps neither input. The public functions in `call` make operands of
//!   sources and an output (`Operands::new`). The caller of a run has made the plan for the operands' layouts, or has
//!   compared these with the plan's.
//! - **X2** A chunk of a loop nest has a subset of its iterations, or is a panel, and reaches a subset of its
//!   elements. Two chunks without a common coordinate share no byte of the output (K1). So chunks may run at the same
//!   time: they read shared memory whose elements are `Sync`, and write disjoint memory whose elements are `Send`.
//! - **X3** A run that returns `Ok` has written every element of its output. The loops of a plan cover the output (P1),
//!   and the `Outcome` of each kernel is complete: `rows written == rows asked`, or a loop over all rows that did not
//!   end before the last. Otherwise the run returns the error of `first_bad_index::find`, which panics if it finds
//!   none. Gathers return a `Written`, which `Written::by` makes of a complete outcome, whatever the policy.

#[cfg(feature = "bags")]
mod bag;
mod coordinates;
mod cuts;
pub(crate) mod first_bad_index;
#[cfg(feature = "rayon")]
mod helpers;
mod index;
mod masked;
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
pub(crate) use bag::{BagCall, BagMap, each_row, run as run_bags, run_all as run_all_bags};
pub(crate) use index::{Ids, Operands, Written, call as call_index, run as run_index, run_few_rows};
pub(crate) use masked::{MaskedCall, mask_positions, run as run_masked};
pub(crate) use nulls::{NullIndices, PositionType, gather_bits};
pub(crate) use prepared::Prepared;
#[cfg(feature = "scatter")]
pub(crate) use scatter::{Original, ScatterOperands, run as run_scatter, run_few as run_few_updates};
pub(crate) use space::run as run_space;
pub(crate) use threads::pool_threads;
