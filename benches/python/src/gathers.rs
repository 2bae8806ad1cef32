//! The gathers.

use gather_core::{Gather, GatherElements, GatherNd, GatherOperator, IndexAttributes, NegativeIndex, OutOfBounds, Par};
use pyo3::prelude::*;

use crate::{Array, policy, run};

/// What all of them take.
#[derive(Clone, Copy)]
pub(crate) struct Settings {
    negative: NegativeIndex,
    out_of_bounds: OutOfBounds,
    par: Par,
}

impl Settings {
    /// Settings by their names.
    pub(crate) fn new(negative_index: &str, out_of_bounds: &str, threads: Option<usize>) -> PyResult<Self> {
        let (negative, out_of_bounds) = (policy::negative(negative_index)?, policy::out_of_bounds(out_of_bounds)?);
        Ok(Settings { negative, out_of_bounds, par: policy::par(threads)? })
    }

    /// Settings by NumPy's name of a mode.
    pub(crate) fn of_mode(mode: &str, threads: Option<usize>) -> PyResult<Self> {
        let (negative, out_of_bounds) = policy::numpy_mode(mode)?;
        Ok(Settings { negative, out_of_bounds, par: policy::par(threads)? })
    }

    /// An operator with these settings.
    pub(crate) fn on<A: IndexAttributes>(self, op: GatherOperator<A>) -> GatherOperator<A> {
        op.negative_index(self.negative).out_of_bounds(self.out_of_bounds).par(self.par)
    }
}

/// out[p.., i.., q..] = data[p.., indices[batch of p, i..], q..]
///
///     >>> import gather, numpy
///     >>> gather.gather(numpy.array([10, 20, 30]), numpy.array([[2, 0], [-1, 7]]), out_of_bounds="zero")
///     array([[30, 10],
///            [30,  0]])
#[pyfunction]
#[pyo3(name = "gather", signature = (
    data, indices, axis=0, batch_dims=0, *,
    negative_index="from_end", out_of_bounds="error", out=None, threads=None
))]
#[expect(clippy::too_many_arguments, reason = "Python's keywords")]
pub(crate) fn gather_fn<'py>(
    data: &Array<'py>,
    indices: &Array<'py>,
    axis: i64,
    batch_dims: i64,
    negative_index: &str,
    out_of_bounds: &str,
    out: Option<Array<'py>>,
    threads: Option<usize>,
) -> PyResult<Array<'py>> {
    let op = Settings::new(negative_index, out_of_bounds, threads)?.on(Gather::new(axis).batch_dims(batch_dims));
    run(&op, data, Some(indices), None, out)
}

/// out[c] = data[c with c[axis] := indices[c]]
///
///     >>> import gather, numpy
///     >>> data = numpy.array([[1, 2], [3, 4]])
///     >>> gather.gather_elements(data, numpy.array([[1, 0], [0, 0]]), axis=1)
///     array([[2, 1],
///            [3, 3]])
#[pyfunction]
#[pyo3(signature = (
    data, indices, axis=0, *, negative_index="from_end", out_of_bounds="error", out=None, threads=None
))]
pub(crate) fn gather_elements<'py>(
    data: &Array<'py>,
    indices: &Array<'py>,
    axis: i64,
    negative_index: &str,
    out_of_bounds: &str,
    out: Option<Array<'py>>,
    threads: Option<usize>,
) -> PyResult<Array<'py>> {
    let op = Settings::new(negative_index, out_of_bounds, threads)?.on(GatherElements::new(axis));
    run(&op, data, Some(indices), None, out)
}

/// out[b.., j.., s..] = data[b.., indices[b.., j.., :].., s..]
///
///     >>> import gather, numpy
///     >>> gather.gather_nd(numpy.array([[1, 2], [3, 4]]), numpy.array([[0, 1], [1, 1]]))
///     array([2, 4])
#[pyfunction]
#[pyo3(signature = (
    data, indices, batch_dims=0, *, negative_index="from_end", out_of_bounds="error", out=None, threads=None
))]
pub(crate) fn gather_nd<'py>(
    data: &Array<'py>,
    indices: &Array<'py>,
    batch_dims: i64,
    negative_index: &str,
    out_of_bounds: &str,
    out: Option<Array<'py>>,
    threads: Option<usize>,
) -> PyResult<Array<'py>> {
    let op = Settings::new(negative_index, out_of_bounds, threads)?.on(GatherNd::new().batch_dims(batch_dims));
    run(&op, data, Some(indices), None, out)
}
