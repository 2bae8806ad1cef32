//! A crate that gathers alone: gather-core without the features `registry`, `scatter` and `bags`.
//!
//! `cargo test -p gather-tests-gathers` builds the library without scatters and bags. Beside a package that has them,
//! cargo builds it with them, and nothing here changes.
#![forbid(unsafe_code)]

use gather_core::{BatchToSpace, Element, Error, Gather, GatherElements, GatherNd, Tensor, View};

gather_core::kernels! {
    /// Kernels of the gathers for a type of this crate.
    pub static OWN;
    elements: [Point as x64, f32];
    indices: [u32];
    ranks: any;
    ops: [gather, gather_elements, gather_nd, batch_to_space];
}

/// A point.
#[derive(Clone, Copy, Debug, PartialEq, Element)]
#[repr(C)]
pub struct Point {
    /// To the right.
    pub x: f32,
    /// Up.
    pub y: f32,
}

/// The rows of a table.
///
/// # Errors
/// Those of [`Gather`].
pub fn rows<T: Element>(table: &View<'_, T>, ids: &[u32]) -> Result<Tensor<T>, Error> {
    Gather::new(0).run(table, ids)
}

/// An element of each column.
///
/// # Errors
/// Those of [`GatherElements`].
pub fn elements<T: Element>(table: &View<'_, T>, picks: &View<'_, i64>) -> Result<Tensor<T>, Error> {
    GatherElements::new(0).run(table, picks)
}

/// Elements by pairs.
///
/// # Errors
/// Those of [`GatherNd`].
pub fn pairs<T: Element>(table: &View<'_, T>, pairs: &View<'_, u16>) -> Result<Tensor<T>, Error> {
    GatherNd::new().run(table, pairs)
}

/// The images of a batch in blocks of one row and two columns.
///
/// # Errors
/// Those of [`BatchToSpace`].
pub fn blocks<T: Element>(batch: &View<'_, T>) -> Result<Tensor<T>, Error> {
    BatchToSpace::new(&[1, 1, 2], &[0; 3], &[0; 3]).run(batch)
}
