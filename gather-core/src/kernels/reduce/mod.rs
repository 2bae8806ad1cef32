//! Reductions: of rows into the destination of a scatter, and of the rows of bags.
//!
//! | module | contents |
//! |---|---|
//! | `scatter` | updates into rows of a destination, and the contract S1 to S4 |
//! | `bag` | rows of a table into one row per bag, and the contract B1 to B8 |
//! | `accumulate` | reductions element by element |
//! | `number`, `halves` | the reductions of numbers |
//! | `vectors` | vectors of floats, and halves in memory |
//! | `reducer` | user-defined reductions |
//! | `builtin` | the built-in reductions, by data type |

mod accumulate;
#[cfg(feature = "bags")]
pub(crate) mod bag;
mod builtin;
#[cfg(feature = "half")]
mod halves;
mod number;
pub(crate) mod reducer;
#[cfg(feature = "scatter")]
pub(crate) mod scatter;
#[cfg(all(target_arch = "x86_64", any(feature = "bags", feature = "half")))]
#[cfg_attr(not(feature = "bags"), allow(dead_code, reason = "halves are converted, and no vectors are summed up"))]
mod vectors;

pub use accumulate::Combine;
pub(crate) use builtin::Reductions;
