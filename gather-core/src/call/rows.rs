//! The shortest way to rows of a table: slices in, a vector out.

#![forbid(unsafe_code)]

use alloc::vec::Vec;

use crate::call::gather::{IndexAttributes, IndexOperator};
use crate::tensor::view::{View, ViewMut};
use crate::types::element::Element;
use crate::types::error::Error;
use crate::types::index::Index;

/// Rows of `dim` elements of a table by their ids, by a Gather along axis 0.
///
/// # Errors
/// As for [`crate::rows`].
pub(crate) fn rows<A: IndexAttributes, T: Element, I: Index>(
    gather: &IndexOperator<A>,
    table: &[T],
    dim: usize,
    ids: &[I],
) -> Result<Vec<T>, Error> {
    let table = View::new(table, &[row_count(table.len(), dim), dim])?;
    Ok(gather.run(&table, &View::new(ids, &[ids.len()])?)?.into_vec())
}

/// As [`rows`], into a slice.
///
/// # Errors
/// As for [`crate::rows_into`].
pub(crate) fn rows_into<A: IndexAttributes, T: Element, I: Index>(
    gather: &IndexOperator<A>,
    table: &[T],
    dim: usize,
    ids: &[I],
    out: &mut [T],
) -> Result<(), Error> {
    let table = View::new(table, &[row_count(table.len(), dim), dim])?;
    let mut out = ViewMut::new(out, &[ids.len(), dim])?;
    gather.run_into(&table, &View::new(ids, &[ids.len()])?, &mut out)
}

/// The rows of a table of `len` elements: where they are not whole, a view of that number of rows refuses the slice.
fn row_count(len: usize, dim: usize) -> usize {
    len.checked_div(dim).unwrap_or(0)
}
