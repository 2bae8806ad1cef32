//! Memory of fresh outputs.

use alloc::vec::Vec;

use crate::tensor::pages;
use crate::types::element::{Element, write_zero};
use crate::types::error::Error;

/// An empty vector with a capacity of `len` elements.
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

/// A vector of `len` times [`Element::ZERO`], which may be too big for the stack.
///
/// # Errors
/// [`Error::AllocationFailed`].
pub(crate) fn zeros<T: Element>(len: usize) -> Result<Vec<T>, Error> {
    let mut values = reserve::<T>(len)?;
    let start = values.as_mut_ptr();
    for at in 0..len {
        // SAFETY: `reserve` gave capacity for `len` elements, and `at < len`.
        unsafe { write_zero(start.wrapping_add(at)) };
    }
    // SAFETY: the loop has written `len` elements.
    unsafe { values.set_len(len) };
    Ok(values)
}
