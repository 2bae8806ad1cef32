//! Memory for fresh outputs.

#![forbid(unsafe_code)]

use alloc::vec::Vec;

use crate::tensor::pages;
use crate::types::error::Error;

/// An empty vector with room for `len` elements.
///
/// # Errors
/// [`Error::AllocationFailed`].
pub(crate) fn reserve<T>(len: usize) -> Result<Vec<T>, Error> {
    let bytes = len.saturating_mul(size_of::<T>());
    let mut values = Vec::new();
    values.try_reserve_exact(len).map_err(|_| Error::AllocationFailed { bytes })?;
    pages::advise(values.as_mut_ptr(), bytes);
    Ok(values)
}
