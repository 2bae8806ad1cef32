//! Elements and rows by masks.

use gather_core::{Gather, GatherNd, Mask, Par, Position, Shape};
use numpy::{PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;

use crate::array::{self, Input, Output};
use crate::error::python;
use crate::operator::KERNELS;
use crate::{Array, convert, policy, put, take};

/// The elements or rows of `a` where a mask is true: `a[mask]`, or `a[:, mask]` along axis 1.
///
/// `mask` is an array of bool, or a list. It has the shape of dimensions of `a` from the axis on.
///
///     >>> import gather, numpy
///     >>> a = numpy.array([[1, 2], [3, 4], [5, 6]])
///     >>> gather.select(a, [True, False, True])
///     array([[1, 2],
///            [5, 6]])
///     >>> gather.select(a, a % 2 == 0)
///     array([2, 4, 6])
#[pyfunction]
#[pyo3(signature = (a, mask, axis=0, *, out=None, threads=None))]
pub(crate) fn select<'py>(
    a: &Array<'py>,
    mask: &Bound<'py, PyAny>,
    axis: i64,
    out: Option<Array<'py>>,
    threads: Option<usize>,
) -> PyResult<Array<'py>> {
    let py = a.py();
    let op = Gather::new(axis).par(policy::par(threads)?).masked();
    let (data, input) = (Input::new("a", a)?, elements(mask)?);
    let mask = packed(py, &input)?;
    let shape = || Ok(selected(data.layout().shape(), axis, &mask));
    let mut output = Output::new(out, [&data, &input].into_iter(), shape)?;
    let (view, mut target) = (data.view(), output.view());
    py.detach(|| op.run_into(&view, &mask, &mut target)).map_err(python)?;
    drop(target);
    Ok(output.into_array())
}

/// Writes values where a mask is true: `a[mask] = values`, in place.
///
/// `mask` has the shape of `a`, or of its first dimensions: then rows are written. `values` are broadcast to the shape
/// of `a[mask]`; `numpy.place` takes them in this order too, and `numpy.putmask` does not. On an error `a` is
/// unchanged.
///
///     >>> import gather, numpy
///     >>> a = numpy.array([1, -2, 3, -4])
///     >>> gather.put_mask(a, a < 0, [20, 40])
///     >>> a
///     array([ 1, 20,  3, 40])
#[pyfunction]
#[pyo3(signature = (a, mask, values, *, threads=None))]
pub(crate) fn put_mask<'py>(
    a: &Array<'py>,
    mask: &Bound<'py, PyAny>,
    values: &Bound<'py, PyAny>,
    threads: Option<usize>,
) -> PyResult<()> {
    let py = a.py();
    let par = policy::par(threads)?;
    let (input, values) = (elements(mask)?, convert::values("values", values, a)?);
    let output = Output::in_place("a", a, [&input, &values].into_iter())?;
    let (own, given) = (output.layout().shape(), input.layout().shape());
    if given.is_empty() || !own.starts_with(given) {
        let text = format!("mask: shape {given:?}; allowed are the first dimensions of the array, {own:?}");
        return Err(PyValueError::new_err(text));
    }
    let (mask, rest) = (packed(py, &input)?, &own[given.len()..]);
    let shape: Vec<usize> = std::iter::once(mask.count()).chain(rest.iter().copied()).collect();
    let values = values.broadcast("values", &shape)?;
    if given.len() > 1 && !output.layout().is_contiguous() {
        // The dimensions of the mask are no single dimension of the array.
        let tuples = Input::indices(&convert::positions(input.array())?)?;
        return put::change(&GatherNd::new().par(par).writer(), output, &tuples, &values);
    }
    let rows: Vec<usize> = std::iter::once(mask.len()).chain(rest.iter().copied()).collect();
    write(py, par, output.row_major(&rows)?, &mask, &values)
}

/// A copy of `a` with one value where a mask is true, as `torch.masked_fill` gives it.
///
/// `mask` is broadcast to the shape of `a`. In place it is `put_mask(a, mask, value)`.
///
///     >>> import gather, numpy
///     >>> gather.masked_fill(numpy.ones((2, 3)), [True, False, True], 0.0)
///     array([[0., 1., 0.],
///            [0., 1., 0.]])
#[pyfunction]
#[pyo3(signature = (a, mask, value, *, threads=None))]
pub(crate) fn masked_fill<'py>(
    a: &Array<'py>,
    mask: &Bound<'py, PyAny>,
    value: &Bound<'py, PyAny>,
    threads: Option<usize>,
) -> PyResult<Array<'py>> {
    let py = a.py();
    let (par, value) = (policy::par(threads)?, convert::values("value", value, a)?);
    if value.layout().len() != 1 {
        return Err(PyValueError::new_err(format!("value: {} values; allowed is 1", value.layout().len())));
    }
    let input = elements(mask)?.broadcast("mask", a.shape())?;
    let mask = packed(py, &input)?;
    let copy = a.call_method0("copy")?.cast_into::<PyUntypedArray>()?;
    let output = Output::in_place("a", &copy, [&input, &value].into_iter())?;
    write(py, par, output.row_major(&[mask.len()])?, &mask, &value.flat()?.broadcast("value", &[mask.count()])?)?;
    Ok(copy)
}

/// The shape of the result. For an axis or a mask that does not fit it is any shape: the call gives the error.
fn selected(data: &[usize], axis: i64, mask: &Mask<'_>) -> Shape {
    let axis = take::axis_of(axis, data.len()).unwrap_or(0);
    let after = data.get(axis + mask.shape().len()..).unwrap_or_default();
    data[..axis].iter().copied().chain([mask.count()]).chain(after.iter().copied()).collect()
}

/// The elements of a mask: an array of bool, or a list of them.
fn elements<'py>(argument: &Bound<'py, PyAny>) -> PyResult<Input<'py>> {
    let array = convert::array(argument)?;
    if !array::is_bool(&array) {
        return Err(PyTypeError::new_err(format!("mask: elements of {}; allowed is bool", array.dtype())));
    }
    Input::new("mask", &array)
}

/// The mask of elements, which are packed to bits without the interpreter.
fn packed(py: Python<'_>, input: &Input<'_>) -> PyResult<Mask<'static>> {
    let view = input.view();
    py.detach(|| Mask::new(&view)).map_err(python)
}

/// Writes rows at the positions of a mask's trues, of 32 bits if they fit.
fn write(py: Python<'_>, par: Par, output: Output<'_>, mask: &Mask<'_>, values: &Input<'_>) -> PyResult<()> {
    if i32::try_from(mask.len()).is_ok() {
        write_by::<i32>(py, par, output, mask, values)
    } else {
        write_by::<i64>(py, par, output, mask, values)
    }
}

fn write_by<I: Position>(
    py: Python<'_>,
    par: Par,
    mut output: Output<'_>,
    mask: &Mask<'_>,
    values: &Input<'_>,
) -> PyResult<()> {
    let op = Gather::new(0).par(par).writer().registry(&KERNELS);
    let (values, mut target) = (values.view(), output.view());
    py.detach(|| op.run_on(&mut target, &mask.positions::<I>()?, &values)).map_err(python)
}
