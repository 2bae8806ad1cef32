//! The scatters, which change a copy of data.

use gather_core::{
    Gather, NegativeIndex, Par, Reduction, ScatterAttributes, ScatterElements, ScatterNd, ScatterOperator,
    ScatterOutOfBounds,
};
use pyo3::prelude::*;

use crate::{Array, gathers, policy, run};

/// What the scatters take.
#[derive(Clone, Copy)]
pub(crate) struct Settings {
    reduction: Reduction,
    include_self: bool,
    negative: NegativeIndex,
    out_of_bounds: ScatterOutOfBounds,
    par: Par,
}

impl Settings {
    /// Settings by their names.
    pub(crate) fn new(
        reduction: &str,
        include_self: bool,
        negative_index: &str,
        out_of_bounds: &str,
        threads: Option<usize>,
    ) -> PyResult<Self> {
        Ok(Settings {
            reduction: policy::reduction(reduction)?,
            include_self,
            negative: policy::negative(negative_index)?,
            out_of_bounds: policy::scatter_out_of_bounds(out_of_bounds)?,
            par: policy::par(threads)?,
        })
    }

    /// An operator with these settings.
    pub(crate) fn on<A: ScatterAttributes>(self, op: ScatterOperator<A>) -> ScatterOperator<A> {
        let op = op.reduction(self.reduction).include_self(self.include_self);
        op.negative_index(self.negative).out_of_bounds(self.out_of_bounds).par(self.par)
    }
}

/// out = data; out[c with c[axis] := indices[c]] (op)= updates[c]
///
///     >>> import gather, numpy
///     >>> counts, ids = numpy.zeros(3, int), numpy.array([2, 0, 2])
///     >>> gather.scatter_elements(counts, ids, numpy.ones(3, int), reduction="add")
///     array([1, 0, 2])
#[pyfunction]
#[pyo3(signature = (
    data, indices, updates, axis=0, *, reduction="none", include_self=true,
    negative_index="from_end", out_of_bounds="error", out=None, threads=None
))]
#[expect(clippy::too_many_arguments, reason = "Python's keywords")]
pub(crate) fn scatter_elements<'py>(
    data: &Array<'py>,
    indices: &Array<'py>,
    updates: &Array<'py>,
    axis: i64,
    reduction: &str,
    include_self: bool,
    negative_index: &str,
    out_of_bounds: &str,
    out: Option<Array<'py>>,
    threads: Option<usize>,
) -> PyResult<Array<'py>> {
    let settings = Settings::new(reduction, include_self, negative_index, out_of_bounds, threads)?;
    run(&settings.on(ScatterElements::new(axis)), data, Some(indices), Some(updates), out)
}

/// out = data; out[b.., indices[b.., j, :].., s..] (op)= updates[b.., j, s..]
///
///     >>> import gather, numpy
///     >>> gather.scatter_nd(numpy.zeros((2, 2), int), numpy.array([[1, 0], [0, 1]]), numpy.array([7, 8]))
///     array([[0, 8],
///            [7, 0]])
#[pyfunction]
#[pyo3(signature = (
    data, indices, updates, batch_dims=0, *, reduction="none", include_self=true,
    negative_index="from_end", out_of_bounds="error", out=None, threads=None
))]
#[expect(clippy::too_many_arguments, reason = "Python's keywords")]
pub(crate) fn scatter_nd<'py>(
    data: &Array<'py>,
    indices: &Array<'py>,
    updates: &Array<'py>,
    batch_dims: i64,
    reduction: &str,
    include_self: bool,
    negative_index: &str,
    out_of_bounds: &str,
    out: Option<Array<'py>>,
    threads: Option<usize>,
) -> PyResult<Array<'py>> {
    let settings = Settings::new(reduction, include_self, negative_index, out_of_bounds, threads)?;
    run(&settings.on(ScatterNd::new().batch_dims(batch_dims)), data, Some(indices), Some(updates), out)
}

/// out = data; out[p.., indices[i..], q..] += updates[p.., i.., q..]
///
///     >>> import gather, numpy
///     >>> gather.index_add(numpy.zeros(3), numpy.array([1, 1]), numpy.array([0.5, 2.0]))
///     array([0. , 2.5, 0. ])
#[pyfunction]
#[pyo3(signature = (
    data, indices, updates, axis=0, *, negative_index="from_end", out_of_bounds="error", out=None, threads=None
))]
#[expect(clippy::too_many_arguments, reason = "Python's keywords")]
pub(crate) fn index_add<'py>(
    data: &Array<'py>,
    indices: &Array<'py>,
    updates: &Array<'py>,
    axis: i64,
    negative_index: &str,
    out_of_bounds: &str,
    out: Option<Array<'py>>,
    threads: Option<usize>,
) -> PyResult<Array<'py>> {
    let op = gathers::Settings::new(negative_index, out_of_bounds, threads)?.on(Gather::new(axis));
    run(&op.adjoint(), data, Some(indices), Some(updates), out)
}
