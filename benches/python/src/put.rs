//! The scatters by NumPy's names, which change an array in place.

use gather_core::{
    Gather, GatherElements, GatherNd, GatherOperator, IndexAttributes, ScatterAttributes, ScatterOperator,
};
use numpy::PyUntypedArrayMethods;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::array::{self, Input, Output};
use crate::error::python;
use crate::operator::KERNELS;
use crate::{Array, convert, gathers, take};

/// Writes values to the elements of `a`, which count as flattened, as `numpy.put` does: `a.flat[ind] = v`.
///
/// `a` is row-major, or has one dimension. `v` has one value for each index, or one value for all; another number is a
/// ValueError, where NumPy repeats or cuts the values. Of equal indices the last one wins. `take` has the same modes.
/// On an error `a` is unchanged.
///
///     >>> import gather, numpy
///     >>> a = numpy.zeros((2, 3), int)
///     >>> gather.put(a, [0, -1], [7, 8])
///     >>> a
///     array([[7, 0, 0],
///            [0, 0, 8]])
#[pyfunction]
#[pyo3(signature = (a, ind, v, mode="raise", *, threads=None))]
pub(crate) fn put<'py>(
    a: &Array<'py>,
    ind: &Bound<'py, PyAny>,
    v: &Bound<'py, PyAny>,
    mode: &str,
    threads: Option<usize>,
) -> PyResult<()> {
    let op = gathers::Settings::of_mode(mode, threads)?.on(Gather::new(0)).writer();
    let (indices, values) = (convert::indices(ind)?.flat()?, convert::values("v", v, a)?.flat()?);
    let (count, given) = (indices.layout().len(), values.layout().len());
    if given != count && given != 1 {
        return Err(PyValueError::new_err(format!("v: {given} values for {count} indices; allowed is 1 or {count}")));
    }
    let values = values.broadcast("v", &[count])?;
    change(&op, Output::in_place("a", a, [&indices, &values].into_iter())?.flat("a")?, &indices, &values)
}

/// Writes values at an index for each value, as `numpy.put_along_axis` does.
///
/// `indices` has the rank of `a`; a dimension off the axis has the size of `a`, or 1, which is broadcast. `values`
/// are broadcast to indices. Without an axis, `a` counts as flattened, and is row-major. Of equal indices the last one
/// wins. On an error `a` is unchanged.
///
///     >>> import gather, numpy
///     >>> a = numpy.array([[10, 30, 20], [60, 40, 50]])
///     >>> gather.put_along_axis(a, a.argmax(1, keepdims=True), 99, axis=1)
///     >>> a
///     array([[10, 99, 20],
///            [99, 40, 50]])
#[pyfunction]
#[pyo3(signature = (a, indices, values, axis, *, threads=None))]
pub(crate) fn put_along_axis<'py>(
    a: &Array<'py>,
    indices: &Bound<'py, PyAny>,
    values: &Bound<'py, PyAny>,
    axis: Option<i64>,
    threads: Option<usize>,
) -> PyResult<()> {
    let (indices, values) = (convert::indices(indices)?, convert::values("values", values, a)?);
    let output = Output::in_place("a", a, [&indices, &values].into_iter())?;
    let output = if axis.is_none() { output.flat("a")? } else { output };
    let axis = axis.unwrap_or(0);
    let own = output.layout().shape();
    let mut shape = take::along(own, indices.layout().shape(), axis)?;
    let along = take::axis_of(axis, shape.len());
    if let Some(axis) = along {
        shape[axis] = indices.layout().shape()[axis];
    }
    if let Some(dim) = (0..shape.len()).find(|&dim| Some(dim) != along && shape[dim] != own[dim]) {
        let text = format!("indices: dimension {dim} is {}; allowed is 1, as in the array", shape[dim]);
        return Err(PyValueError::new_err(text));
    }
    let op = gathers::Settings::of_mode("raise", threads)?.on(GatherElements::new(axis)).writer();
    let (indices, values) = (indices.broadcast("indices", &shape)?, values.broadcast("values", &shape)?);
    change(&op, output, &indices, &values)
}

/// Adds values to the rows of `a` at indices, each as often as its index stands there, as `numpy.add.at` does.
///
/// `indices` is an array of integers along the first axis, a list, or a number; or a tuple of them, one for each of
/// the first axes. `b` is broadcast to the shape of `a[indices]`. Sums of float16 are float32 until they are written.
/// On an error `a` is unchanged.
///
///     >>> import gather, numpy
///     >>> a = numpy.zeros(4)
///     >>> gather.add_at(a, [0, 2, 2], [1.0, 10.0, 20.0])
///     >>> a
///     array([ 1.,  0., 30.,  0.])
#[pyfunction]
#[pyo3(signature = (a, indices, b, *, threads=None))]
pub(crate) fn add_at<'py>(
    a: &Array<'py>,
    indices: &Bound<'py, PyAny>,
    b: &Bound<'py, PyAny>,
    threads: Option<usize>,
) -> PyResult<()> {
    if array::is_bool(a) {
        return Err(PyTypeError::new_err("a: elements of bool are not reduced"));
    }
    let settings = gathers::Settings::of_mode("raise", threads)?;
    let values = convert::values("b", b, a)?;
    if let Ok(arrays) = indices.cast::<PyTuple>() {
        return add(settings.on(GatherNd::new()), a, &convert::indices(&convert::stacked(arrays)?)?, values);
    }
    add(settings.on(Gather::new(0)), a, &convert::indices(indices)?, values)
}

/// Adds values that are broadcast to the result of a gather.
fn add<A: IndexAttributes + Clone + Sync>(
    op: GatherOperator<A>,
    a: &Array<'_>,
    indices: &Input<'_>,
    values: Input<'_>,
) -> PyResult<()> {
    let shape = op.output_shape(a.shape(), indices.layout().shape()).map_err(python)?;
    let values = values.broadcast("b", &shape)?;
    change(&op.adjoint(), Output::in_place("a", a, [indices, &values].into_iter())?, indices, &values)
}

/// Runs a scatter in place, without the interpreter.
pub(crate) fn change<A: ScatterAttributes + Clone + Sync>(
    op: &ScatterOperator<A>,
    mut output: Output<'_>,
    indices: &Input<'_>,
    updates: &Input<'_>,
) -> PyResult<()> {
    let py = indices.array().py();
    let op = op.clone().registry(&KERNELS);
    let (indices, updates, mut target) = (indices.view(), updates.view(), output.view());
    py.detach(|| op.run_on(&mut target, &indices, &updates)).map_err(python)
}
