//! The gathers by NumPy's names.

use gather_core::{Gather, GatherElements};
use numpy::PyUntypedArrayMethods;
use numpy::npyffi::PY_ARRAY_API;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::array::Input;
use crate::operator::Inputs;
use crate::{Array, convert, gathers, run_inputs};

/// The elements of `a` at indices along an axis, as `numpy.take` gives them.
///
/// Without an axis, `a` counts as flattened. `indices` is an array of integers of any type and shape, a list, or a
/// number. Under the mode "raise", negative indices count from the end, and an index out of range is an IndexError;
/// "wrap" takes indices modulo the size of the axis; "clip" takes the nearest index in range, 0 for negative indices.
/// `out` has the shape and type of the result, and shares no memory with `a` and `indices`.
///
///     >>> import gather, numpy
///     >>> a = numpy.array([[1, 2, 3], [4, 5, 6]])
///     >>> gather.take(a, [2, -1, 0], axis=1)
///     array([[3, 3, 1],
///            [6, 6, 4]])
///     >>> gather.take(a, [4, 9], mode="clip")
///     array([5, 6])
#[pyfunction]
#[pyo3(signature = (a, indices, axis=None, out=None, mode="raise", *, threads=None))]
pub(crate) fn take<'py>(
    a: &Array<'py>,
    indices: &Bound<'py, PyAny>,
    axis: Option<i64>,
    out: Option<Array<'py>>,
    mode: &str,
    threads: Option<usize>,
) -> PyResult<Bound<'py, PyAny>> {
    let op = gathers::Settings::of_mode(mode, threads)?.on(Gather::new(axis.unwrap_or(0)));
    let data = Input::new("a", a)?;
    let data = if axis.is_none() || a.ndim() == 0 { data.flat()? } else { data };
    let inputs = Inputs { data, indices: Some(convert::indices(indices)?), updates: None };
    let fresh = out.is_none();
    let result = run_inputs(&op, &inputs, out)?;
    if fresh && result.ndim() == 0 { scalar(result) } else { Ok(result.into_any()) }
}

/// The elements of `a` at an index for each element of the result, as `numpy.take_along_axis` gives them.
///
/// `indices` has the rank of `a`. Dimensions off the axis are equal, or 1 in `a` or in `indices`: they are broadcast.
/// Without an axis, `a` counts as flattened. Negative indices count from the end.
///
///     >>> import gather, numpy
///     >>> a = numpy.array([[30, 10, 20], [4, 6, 5]])
///     >>> gather.take_along_axis(a, numpy.argsort(a))
///     array([[10, 20, 30],
///            [ 4,  5,  6]])
#[pyfunction]
#[pyo3(
    signature = (a, indices, axis=-1, *, out=None, threads=None),
    text_signature = "(a, indices, axis=-1, *, out=None, threads=None)"
)]
pub(crate) fn take_along_axis<'py>(
    a: &Array<'py>,
    indices: &Bound<'py, PyAny>,
    axis: Option<i64>,
    out: Option<Array<'py>>,
    threads: Option<usize>,
) -> PyResult<Array<'py>> {
    let data = Input::new("a", a)?;
    let data = if axis.is_none() { data.flat()? } else { data };
    let indices = convert::indices(indices)?;
    let axis = axis.unwrap_or(0);
    let shape = along(data.layout().shape(), indices.layout().shape(), axis)?;
    let (mut of_data, mut of_indices) = (shape.clone(), shape);
    if let Some(axis) = axis_of(axis, of_data.len()) {
        (of_data[axis], of_indices[axis]) = (data.layout().shape()[axis], indices.layout().shape()[axis]);
    }
    let indices = Some(indices.broadcast("indices", &of_indices)?);
    let inputs = Inputs { data: data.broadcast("a", &of_data)?, indices, updates: None };
    let op = gathers::Settings::of_mode("raise", threads)?.on(GatherElements::new(axis));
    run_inputs(&op, &inputs, out)
}

/// The position of an axis, which may count from the end.
pub(crate) fn axis_of(axis: i64, rank: usize) -> Option<usize> {
    let axis = if axis < 0 { axis + rank as i64 } else { axis };
    usize::try_from(axis).ok().filter(|&axis| axis < rank)
}

/// The shape to which data and indices are broadcast: the greater of two dimensions. The size of the axis has no
/// meaning.
pub(crate) fn along(data: &[usize], indices: &[usize], axis: i64) -> PyResult<Vec<usize>> {
    if data.len() != indices.len() {
        let text = format!("indices: shape {indices:?}; the array has shape {data:?}, and the ranks must be equal");
        return Err(PyValueError::new_err(text));
    }
    let axis = axis_of(axis, data.len());
    let dims = data.iter().zip(indices).enumerate();
    dims.map(|(dim, (&one, &other))| match (one, other) {
        (1, other) => Ok(other),
        (one, 1) => Ok(one),
        (one, other) if one == other || axis == Some(dim) => Ok(one),
        (one, other) => {
            let text = format!("indices: dimension {dim} is {other}; allowed is 1 or {one}, the size in the array");
            Err(PyValueError::new_err(text))
        }
    })
    .collect()
}

/// NumPy's scalar of an array without dimensions.
fn scalar(array: Array<'_>) -> PyResult<Bound<'_, PyAny>> {
    let py = array.py();
    // SAFETY: the call takes over the reference that `into_ptr` gives up.
    let scalar = unsafe { PY_ARRAY_API.PyArray_Return(py, array.into_ptr().cast()) };
    // SAFETY: it is a new reference, or null with an exception set.
    unsafe { Bound::from_owned_ptr_or_err(py, scalar) }
}
