//! Random declarations of `specialize!`, drawn by `build.rs`: what is checked of each.
//!
//! The functions are compared with the oracle and with the operators, values and errors, on memory between guard
//! pages.

#![forbid(unsafe_code)]

mod check;
mod sample;

pub use check::Check;
pub use sample::Sample;

use gather_core::{Error, KernelSet, Op, OutOfBounds};

/// A function on slices, or one on arrays in the same clothes: data, indices, open sizes, output.
pub type Function<T, I> = fn(&[T], &[I], &[usize], &mut [T]) -> Result<(), Error>;

/// A declaration and its functions. Open sizes are 0.
#[derive(Debug)]
pub struct Declaration<T, I> {
    /// As it stands in the source.
    pub text: &'static str,
    /// The operator.
    pub op: Op,
    /// Counted from the front.
    pub axis: usize,
    /// Leading dimensions that data and indices share.
    pub batch_dims: usize,
    /// What an index out of range does.
    pub out_of_bounds: OutOfBounds,
    /// Whether negative indices are out of range.
    pub rejects: bool,
    /// The shape of data.
    pub data: &'static [usize],
    /// The shape of indices.
    pub indices: &'static [usize],
    /// Attributes of BatchToSpace.
    pub block: &'static [usize],
    /// As above.
    pub begin: &'static [usize],
    /// As above.
    pub end: &'static [usize],
    /// The function on slices.
    pub on_slices: Function<T, I>,
    /// The function on arrays, where every size is known.
    pub on_arrays: Option<Function<T, I>>,
    /// The set with its kernels.
    pub set: &'static KernelSet,
}

/// What `build.rs` has drawn.
#[allow(missing_docs, clippy::large_types_passed_by_value, reason = "written by the build")]
pub mod declarations {
    use gather_core::{Element, Op, OutOfBounds};

    use crate::{Check, Declaration};

    include!(concat!(env!("OUT_DIR"), "/declarations.rs"));
}
