//! Calls with null indices or null data.
//!
//! ```text
//! positions:  for each index:  -1 if null or out of range, else its position               (`positions`)
//! rows:       gather by these positions; -1 gives the fill                                 (`exec::index`)
//! bitmap:     for each row:    valid index  and  (-1 or valid row of data)                 (`bits`)
//! ```
//!
//! Positions are 32-bit numbers if all axes fit. So indices of any type and nulls become one list for the pipeline of
//! all gathers.

mod bits;
mod positions;

pub(crate) use bits::gather_bits;
pub(crate) use positions::{NullIndices, PositionRoom};
