//! EmbeddingBag.

use gather_core::{Bags, EmbeddingBag};
use pyo3::prelude::*;

use crate::array::{Input, Output};
use crate::error::python;
use crate::{Array, policy, read};

/// out[b] = the reduction of weights[i] * data[indices[i]] over the indices of bag b. A bag begins at its offset;
/// without offsets each row of indices is a bag. PyTorch's `mode="sum"` is `reduction="add"`.
///
///     >>> import gather, numpy
///     >>> data = numpy.array([[1.0, 2.0], [10.0, 20.0], [100.0, 200.0]])
///     >>> gather.embedding_bag(data, numpy.array([0, 2, 1]), numpy.array([0, 2]))
///     array([[101., 202.],
///            [ 10.,  20.]])
#[pyfunction]
#[pyo3(signature = (data, indices, offsets=None, weights=None, *, reduction="add", out=None, threads=None))]
pub(crate) fn embedding_bag<'py>(
    data: &Array<'py>,
    indices: &Array<'py>,
    offsets: Option<Array<'py>>,
    weights: Option<Array<'py>>,
    reduction: &str,
    out: Option<Array<'py>>,
    threads: Option<usize>,
) -> PyResult<Array<'py>> {
    let op = EmbeddingBag::new(policy::reduction(reduction)?).par(policy::par(threads)?);
    let inputs = read(true, data, Some(indices), weights.as_ref())?;
    let offsets = offsets.as_ref().map(Input::indices).transpose()?;
    let shape = || {
        let (data, indices) = (inputs.data.layout().shape(), inputs.indices()?.layout().shape());
        let bags = offsets.as_ref().map(|offsets| offsets.layout().len());
        op.output_shape(data, indices, bags).map_err(python)
    };
    let py = data.py();
    let mut output = Output::new(out, inputs.all().chain(&offsets), shape)?;
    let (data, indices) = (inputs.data.view(), inputs.indices()?.view());
    let (offsets, weights) = (offsets.as_ref().map(Input::view), inputs.updates.as_ref().map(Input::view));
    let bags = offsets.as_ref().map_or_else(|| Bags::packed(&indices), |offsets| Bags::new(&indices, offsets));
    let bags = bags.weights(weights.as_ref());
    let mut target = output.view();
    py.detach(|| op.run_into(&data, &bags, &mut target)).map_err(python)?;
    drop(target);
    Ok(output.into_array())
}
