//! Calls with null indices or null data.
//!
//! ```text
//! positions:  for each index:  -1 if null or out of range, else its position               (`positions`)
//! rows:       gather by these positions; -1 gives the fill                                 (`exec::index`)
//! bitmap:     for each row:    valid index  and  (-1 or valid row of data)                 (`bits`)
//! ```
//!
//! Positions are 32-bit numbers if all axes fit. So for any index type, and with or without nulls, rows are gathered by
//! one list of positions.

mod bits;
mod positions;

pub(crate) use bits::gather_bits;
pub(crate) use positions::{NullIndices, PositionType};
