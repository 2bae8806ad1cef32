//! Bodies of fuzz tests. Each decodes one structured case from bytes, runs it through every door of the library, and
//! panics where the value or the error differs from the oracle's.
//!
//! The same bodies run under cargo-fuzz (`tests/fuzz`) and, for a minute, among the tests (`it/fuzz.rs`). A case
//! consists of the types of elements and indices, shapes, layouts, attributes, both policies, indices, a level, a
//! method and a number of threads. Layouts are slices, transposes, reversed and repeated dimensions, over memory that
//! ends where they do. One case in eight has absurd shapes, strides and attributes. No data is made for it: only
//! inference and planning run.

#[macro_use]
mod elements;
mod bag;
mod blocks;
mod chunks;
mod chunks_converted;
mod depth;
mod draw;
mod fused;
mod gather;
mod gather_elements;
mod gather_nd;
mod index;
mod index_op;
mod judge;
mod map;
mod masked;
mod memory;
mod nulls;
mod quantized;
mod scatter;
mod shapes;
mod space;

pub use bag::embedding_bag;
pub use blocks::{batch_to_space, space_to_batch};
pub use chunks::chunked;
pub use depth::{depth_to_space, space_to_depth};
pub use fused::fused;
pub use gather::gather;
pub use gather_elements::gather_elements;
pub use gather_nd::gather_nd;
pub use map::map;
pub use masked::masked;
pub use quantized::block_quantized;
pub use scatter::{scatter_elements, scatter_nd};

/// The most elements of data in a case. Miri is slow.
const MOST_DATA: usize = if cfg!(miri) { 60 } else { 4_000 };
/// The most elements of a result: more than two blocks of rows.
const MOST_OUT: usize = if cfg!(miri) { 40 } else { 1_500 };

/// The outcome of a case in which the library agreed with the oracle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Every door gave the expected values.
    Values,
    /// Every door gave the expected error.
    Refused,
}

impl Outcome {
    fn of<T, E>(expected: &Result<T, E>) -> Self {
        if expected.is_ok() { Outcome::Values } else { Outcome::Refused }
    }
}
