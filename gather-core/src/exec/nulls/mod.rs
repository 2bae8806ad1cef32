//! Calls some of whose indices or data are null.
//!
//! ```text
//! positions:  for each index:  -1 where it is null or out of range, else its position     (`positions`)
//! rows:       a gather by these positions, which fills where one is -1                     (`exec::index`)
//! bitmap:     for each row:    valid index  and  (-1 or valid row of data)                 (`bits`)
//! ```
//!
//! Positions are 32-bit numbers where all axes fit, so that an index of any type and a null become one list, which the
//! pipeline of all gathers takes.

mod bits;
mod positions;

pub(crate) use bits::gather_bits;
pub(crate) use positions::{NullIndices, PositionRoom};
