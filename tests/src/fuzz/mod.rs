//! Bodies of fuzz tests: each takes one structured case from bytes, runs it through every face of the library, and panics
//! where the oracle disagrees, in the value or in the error.
//!
//! The same bodies run under cargo-fuzz (`tests/fuzz`) and, for a minute, among the tests (`it/fuzz.rs`). What a case is made
//! of: the types of elements and indices, shapes, layouts over memory that ends where they do (slices, transposes, reversed
//! and repeated dimensions), attributes, both policies, indices, a level, a strategy and a number of threads. One case in
//! eight has shapes, strides and attributes that nobody should pass, of which no data is made.

#[macro_use]
mod elements;
mod batch_to_space;
mod draw;
mod gather;
mod gather_elements;
mod gather_nd;
mod index;
mod judge;
mod map;
mod memory;
mod shapes;

pub use batch_to_space::batch_to_space;
pub use gather::gather;
pub use gather_elements::gather_elements;
pub use gather_nd::gather_nd;
pub use map::map;

/// The most elements of data in a case. Miri takes a second for some thousand.
const MOST_DATA: usize = if cfg!(miri) { 60 } else { 4_000 };
/// The most elements of a result: more than two blocks of lanes.
const MOST_OUT: usize = if cfg!(miri) { 40 } else { 1_500 };

/// What became of a case that held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Every face gave the values that it should.
    Values,
    /// Every face gave the error that it should.
    Refused,
}

impl Outcome {
    fn of<T, E>(expected: &Result<T, E>) -> Self {
        if expected.is_ok() { Outcome::Values } else { Outcome::Refused }
    }
}
