//! Memory for fresh outputs.

use alloc::vec::Vec;
use core::mem::MaybeUninit;

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

/// A vector of `len` elements that `write` initialises, through the pointer to its memory.
///
/// # Errors
/// [`Error::AllocationFailed`], then those of `write`.
///
/// # Safety
/// `write` returns `Ok` only when it has initialised all `len` elements.
pub(crate) unsafe fn fill<T: Copy>(
    len: usize,
    write: impl FnOnce(*mut MaybeUninit<T>) -> Result<(), Error>,
) -> Result<Vec<T>, Error> {
    let mut values = reserve(len)?;
    write(values.spare_capacity_mut().as_mut_ptr())?;
    // SAFETY: the capacity is `len` or more, and by the caller's promise `write` has initialised as many elements.
    unsafe { values.set_len(len) };
    Ok(values)
}
