//! EmbeddingBag.

use gather_core::{Bags, EmbeddingBag};
use pyo3::prelude::*;

use crate::array::{Input, Output};
use crate::error::python;
use crate::{Array, policy, read};

/// out[b] = the reduction of weights[i] * data[indices[i]] over the indices of bag b. A bag begins at its offset;
/// without offsets each row of indices is a bag.
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
    let fresh = || {
        let (data, indices) = (inputs.data.layout().shape(), inputs.indices()?.layout().shape());
        let bags = offsets.as_ref().map(|offsets| offsets.layout().len());
        inputs.data.fresh(&op.output_shape(data, indices, bags).map_err(python)?)
    };
    let out = out.map_or_else(fresh, Ok)?;
    let mut output = Output::new(&out, inputs.all().chain(&offsets))?;
    let (data, indices) = (inputs.data.view(), inputs.indices()?.view());
    let (offsets, weights) = (offsets.as_ref().map(Input::view), inputs.updates.as_ref().map(Input::view));
    let bags = offsets.as_ref().map_or_else(|| Bags::packed(&indices), |offsets| Bags::new(&indices, offsets));
    let bags = bags.weights(weights.as_ref());
    let mut target = output.view();
    out.py().detach(|| op.run_into(&data, &bags, &mut target)).map_err(python)?;
    Ok(out)
}
