//! The library's errors as Python's.

use gather_core::Error;
use pyo3::exceptions::{PyIndexError, PyMemoryError, PyTypeError, PyValueError};
use pyo3::prelude::*;

/// An error with the library's text: `IndexError` for an index out of range, `TypeError` for a data type that does not
/// fit, `MemoryError` where there is no memory, `ValueError` for all others.
pub(crate) fn python(error: Error) -> PyErr {
    let text = error.to_string();
    match error {
        Error::IndexOutOfRange { .. } => PyIndexError::new_err(text),
        Error::NotAnIndexType { .. }
        | Error::NotAMask { .. }
        | Error::DTypeMismatch { .. }
        | Error::ReductionUnavailable { .. } => PyTypeError::new_err(text),
        Error::AllocationFailed { .. } => PyMemoryError::new_err(text),
        _ => PyValueError::new_err(text),
    }
}
