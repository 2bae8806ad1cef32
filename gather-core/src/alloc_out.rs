//! Memory for fresh outputs.

use alloc::vec::Vec;
use core::mem::MaybeUninit;

use crate::error::Error;
use crate::pages;

/// An empty vector with room for `len` elements.
///
/// # Errors
/// [`Error::Allocation`].
pub(crate) fn reserve<T>(len: usize) -> Result<Vec<T>, Error> {
    let bytes = len.saturating_mul(size_of::<T>());
    let mut values = Vec::new();
    values.try_reserve_exact(len).map_err(|_| Error::Allocation { bytes })?;
    pages::advise(values.as_mut_ptr(), bytes);
    Ok(values)
}

/// A vector of `len` elements that `write` initialises, through the pointer to its memory.
///
/// `write` must have initialised all of it when it returns `Ok`.
///
/// # Errors
/// [`Error::Allocation`], then those of `write`.
pub(crate) fn fill<T: Copy>(
    len: usize,
    write: impl FnOnce(*mut MaybeUninit<T>) -> Result<(), Error>,
) -> Result<Vec<T>, Error> {
    let mut values = reserve(len)?;
    write(values.spare_capacity_mut().as_mut_ptr())?;
    // SAFETY: the capacity is `len` or more, and `write`, a run of a plan, has initialised as many elements (X3).
    unsafe { values.set_len(len) };
    Ok(values)
}
