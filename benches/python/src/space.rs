//! The operators that rearrange space.

use gather_core::{BatchToSpace, DepthToSpace, SpaceToBatch, SpaceToDepth};
use pyo3::prelude::*;

use crate::{Array, policy, run};

/// Blocks of the batch into space. `block_shape`, `crops_begin` and `crops_end` have an entry for each dimension.
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
