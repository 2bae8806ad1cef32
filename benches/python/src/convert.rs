//! Lists and numbers as arrays.

use numpy::{PyArrayDescr, PyArrayDescrMethods, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::PyTypeError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use crate::Array;
use crate::array::{Input, dtype_of};

/// An array, or anything that NumPy makes an array of.
pub(crate) fn array<'py>(argument: &Bound<'py, PyAny>) -> PyResult<Array<'py>> {
    argument.cast::<PyUntypedArray>().map_or_else(|_| asarray(argument, None), |array| Ok(array.clone()))
}

/// Indices: an array, or anything that NumPy makes an array of integers of.
pub(crate) fn indices<'py>(argument: &Bound<'py, PyAny>) -> PyResult<Input<'py>> {
    if let Ok(array) = argument.cast::<PyUntypedArray>() {
        return Input::indices(array);
    }
    let array = asarray(argument, None)?;
    // An empty list has elements of no type, and NumPy makes floats of them.
    if array.is_empty() {
        return Input::indices(&asarray(argument, Some(&numpy::dtype::<i64>(argument.py())))?);
    }
    Input::indices(&array)
}

/// Values that are written to `a`: an array of its type, or anything that NumPy makes such an array of, unless a float
/// would become an integer, or a complex number a float.
pub(crate) fn values<'py>(name: &str, argument: &Bound<'py, PyAny>, a: &Array<'py>) -> PyResult<Input<'py>> {
    dtype_of("a", a)?;
    let wanted = a.dtype();
    let refused = |own: Bound<'py, PyArrayDescr>| {
        Err(PyTypeError::new_err(format!("{name}: elements of {own}, where the array has {wanted}")))
    };
    if let Ok(array) = argument.cast::<PyUntypedArray>() {
        return if array.dtype().is_equiv_to(&wanted) { Input::new(name, array) } else { refused(array.dtype()) };
    }
    let array = asarray(argument, None)?;
    let own = array.dtype();
    match (order(&own), order(&wanted)) {
        (Some(one), Some(other)) if one <= other || array.is_empty() => {
            Input::new(name, &asarray(argument, Some(&wanted))?)
        }
        _ => refused(own),
    }
}

/// The place of a type among the kinds of numbers, each of which holds the kinds before.
fn order(descr: &Bound<'_, PyArrayDescr>) -> Option<usize> {
    [&b"b"[..], b"iu", b"f", b"c"].iter().position(|kinds| kinds.contains(&descr.kind()))
}

/// `numpy.asarray`.
fn asarray<'py>(argument: &Bound<'py, PyAny>, dtype: Option<&Bound<'py, PyArrayDescr>>) -> PyResult<Array<'py>> {
    let py = argument.py();
    let keywords = PyDict::new(py);
    if let Some(dtype) = dtype {
        keywords.set_item(intern!(py, "dtype"), dtype)?;
    }
    let numpy = py.import(intern!(py, "numpy"))?;
    Ok(numpy.call_method(intern!(py, "asarray"), (argument,), Some(&keywords))?.cast_into::<PyUntypedArray>()?)
}

/// `numpy.argwhere`: the coordinates of the trues of a mask.
pub(crate) fn positions<'py>(mask: &Array<'py>) -> PyResult<Array<'py>> {
    let numpy = mask.py().import(intern!(mask.py(), "numpy"))?;
    let coordinates = numpy.call_method1(intern!(mask.py(), "argwhere"), (mask,))?.cast_into::<PyUntypedArray>()?;
    // It is transposed in memory, and tuples are read one by one.
    Ok(coordinates.call_method0("copy")?.cast_into::<PyUntypedArray>()?)
}

/// `numpy.stack` of arrays that are broadcast to one shape, along a new last dimension.
pub(crate) fn stacked<'py>(arrays: &Bound<'py, PyTuple>) -> PyResult<Bound<'py, PyAny>> {
    let py = arrays.py();
    let numpy = py.import(intern!(py, "numpy"))?;
    let arrays = numpy.call_method1(intern!(py, "broadcast_arrays"), arrays)?;
    numpy.call_method1(intern!(py, "stack"), (arrays, -1))
}
