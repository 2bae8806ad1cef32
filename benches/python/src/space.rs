//! The operators that rearrange space.

use gather_core::{BatchToSpace, DepthToSpace, SpaceToBatch, SpaceToDepth};
use pyo3::prelude::*;

use crate::{Array, policy, run};

/// Blocks of the batch into space. `block_shape`, `crops_begin` and `crops_end` have an entry for each dimension.
///
///     >>> import gather, numpy
///     >>> gather.batch_to_space(numpy.array([[1, 3], [2, 4]]), [1, 2], [0, 0], [0, 0])
///     array([[1, 2, 3, 4]])
#[pyfunction]
#[pyo3(signature = (data, block_shape, crops_begin, crops_end, *, out=None, threads=None))]
pub(crate) fn batch_to_space<'py>(
    data: &Array<'py>,
    block_shape: Vec<i64>,
    crops_begin: Vec<i64>,
    crops_end: Vec<i64>,
    out: Option<Array<'py>>,
    threads: Option<usize>,
) -> PyResult<Array<'py>> {
    let op = BatchToSpace::new(&block_shape, &crops_begin, &crops_end).par(policy::par(threads)?);
    run(&op, data, None, None, out)
}

/// Blocks of space into the batch. `block_shape`, `pads_begin` and `pads_end` have an entry for each dimension.
///
///     >>> import gather, numpy
///     >>> gather.space_to_batch(numpy.array([[1, 2, 3, 4]]), [1, 2], [0, 0], [0, 0])
///     array([[1, 3],
///            [2, 4]])
#[pyfunction]
#[pyo3(signature = (data, block_shape, pads_begin, pads_end, *, out=None, threads=None))]
pub(crate) fn space_to_batch<'py>(
    data: &Array<'py>,
    block_shape: Vec<i64>,
    pads_begin: Vec<i64>,
    pads_end: Vec<i64>,
    out: Option<Array<'py>>,
    threads: Option<usize>,
) -> PyResult<Array<'py>> {
    let op = SpaceToBatch::new(&block_shape, &pads_begin, &pads_end).par(policy::par(threads)?);
    run(&op, data, None, None, out)
}

/// Blocks of the depth into space.
///
///     >>> import gather, numpy
///     >>> gather.depth_to_space(numpy.arange(4).reshape(1, 4, 1, 1), 2)
///     array([[[[0, 1],
///              [2, 3]]]])
#[pyfunction]
#[pyo3(signature = (data, block_size, mode="dcr", *, out=None, threads=None))]
pub(crate) fn depth_to_space<'py>(
    data: &Array<'py>,
    block_size: i64,
    mode: &str,
    out: Option<Array<'py>>,
    threads: Option<usize>,
) -> PyResult<Array<'py>> {
    run(&DepthToSpace::new(block_size, policy::mode(mode)?).par(policy::par(threads)?), data, None, None, out)
}

/// Blocks of space into the depth.
///
///     >>> import gather, numpy
///     >>> gather.space_to_depth(numpy.arange(4).reshape(1, 1, 2, 2), 2).shape
///     (1, 4, 1, 1)
#[pyfunction]
#[pyo3(signature = (data, block_size, mode="dcr", *, out=None, threads=None))]
pub(crate) fn space_to_depth<'py>(
    data: &Array<'py>,
    block_size: i64,
    mode: &str,
    out: Option<Array<'py>>,
    threads: Option<usize>,
) -> PyResult<Array<'py>> {
    run(&SpaceToDepth::new(block_size, policy::mode(mode)?).par(policy::par(threads)?), data, None, None, out)
}
