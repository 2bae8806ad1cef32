//! gather-core on NumPy arrays: a package for Python, not published, which the benchmarks in `benches/native` measure.
//!
//! Arrays have any strides and any of the types of gather-core. Results go to `out`, or to a fresh array. The
//! interpreter is let go while a call runs. Errors have the library's text: `IndexError` for an index out of range,
//! `TypeError` for a data type that does not fit, `ValueError` for shapes and attributes.

mod array;
mod bag;
mod convert;
mod error;
mod gathers;
mod mask;
mod operator;
mod policy;
mod put;
mod scatters;
mod space;
mod take;

use gather_core::{
    BatchToSpace, DepthToSpace, Gather, GatherElements, GatherNd, ScatterElements, ScatterNd, SpaceToBatch,
    SpaceToDepth,
};
use numpy::PyUntypedArray;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

use array::{Input, Output};
use operator::{Inputs, Operator, Planned};

type Array<'py> = Bound<'py, PyUntypedArray>;

/// Gathers, scatters and bags of NumPy arrays.
#[pymodule]
#[pyo3(name = "_gather")]
mod module {
    use pyo3::prelude::*;

    #[pymodule_export]
    use super::bag::embedding_bag;
    #[pymodule_export]
    use super::gathers::{gather_elements, gather_fn, gather_nd};
    #[pymodule_export]
    use super::mask::{masked_fill, put_mask, select};
    #[pymodule_export]
    use super::put::{add_at, put, put_along_axis};
    #[pymodule_export]
    use super::scatters::{index_add, scatter_elements, scatter_nd};
    #[pymodule_export]
    use super::space::{batch_to_space, depth_to_space, space_to_batch, space_to_depth};
    #[pymodule_export]
    use super::take::{take, take_along_axis};
    #[pymodule_export]
    use super::{Plan, plan};

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}

/// Plans an operator, by its name, for arrays like these: of their types, shapes and strides. Attributes that the
/// operator does not have are ignored.
///
///     >>> import gather, numpy
///     >>> data, indices = numpy.arange(6.0), numpy.array([5, 0])
///     >>> plan = gather.plan("gather", data, indices)
///     >>> plan.output_shape
///     [2]
///     >>> plan.run(data, indices)
///     array([5., 0.])
#[pyfunction]
#[pyo3(signature = (
    operator, data, indices=None, updates=None, *, axis=0, batch_dims=0, reduction="none", include_self=true,
    block_shape=None, crops_begin=None, crops_end=None, pads_begin=None, pads_end=None, block_size=1,
    mode="dcr", negative_index="from_end", out_of_bounds="error", threads=None
))]
#[expect(clippy::too_many_arguments, reason = "Python's keywords")]
fn plan<'py>(
    operator: &str,
    data: &Array<'py>,
    indices: Option<Array<'py>>,
    updates: Option<Array<'py>>,
    axis: i64,
    batch_dims: i64,
    reduction: &str,
    include_self: bool,
    block_shape: Option<Vec<i64>>,
    crops_begin: Option<Vec<i64>>,
    crops_end: Option<Vec<i64>>,
    pads_begin: Option<Vec<i64>>,
    pads_end: Option<Vec<i64>>,
    block_size: i64,
    mode: &str,
    negative_index: &str,
    out_of_bounds: &str,
    threads: Option<usize>,
) -> PyResult<Plan> {
    let gathers = || gathers::Settings::new(negative_index, out_of_bounds, threads);
    let scatters = || scatters::Settings::new(reduction, include_self, negative_index, out_of_bounds, threads);
    let (par, mode) = (policy::par(threads)?, || policy::mode(mode));
    let [block, crops, crops_after, pads, pads_after] =
        [block_shape, crops_begin, crops_end, pads_begin, pads_end].map(Option::unwrap_or_default);
    let op: Box<dyn Operator> = match operator {
        "gather" => Box::new(gathers()?.on(Gather::new(axis).batch_dims(batch_dims))),
        "gather_elements" => Box::new(gathers()?.on(GatherElements::new(axis))),
        "gather_nd" => Box::new(gathers()?.on(GatherNd::new().batch_dims(batch_dims))),
        "scatter_elements" => Box::new(scatters()?.on(ScatterElements::new(axis))),
        "scatter_nd" => Box::new(scatters()?.on(ScatterNd::new().batch_dims(batch_dims))),
        "index_add" => Box::new(gathers()?.on(Gather::new(axis)).adjoint()),
        "batch_to_space" => Box::new(BatchToSpace::new(&block, &crops, &crops_after).par(par)),
        "space_to_batch" => Box::new(SpaceToBatch::new(&block, &pads, &pads_after).par(par)),
        "depth_to_space" => Box::new(DepthToSpace::new(block_size, mode()?).par(par)),
        "space_to_depth" => Box::new(SpaceToDepth::new(block_size, mode()?).par(par)),
        other => return Err(policy::unknown("operator", other, "the name of a function of this module")),
    };
    let inputs = inputs(&*op, data, indices.as_ref(), updates.as_ref())?;
    Ok(Plan { calculates: op.calculates(), plan: op.plan(&inputs)? })
}

/// A call whose types, shapes and strides are known ahead.
#[pyclass(frozen, module = "gather")]
struct Plan {
    calculates: bool,
    plan: Box<dyn Planned>,
}

#[pymethods]
impl Plan {
    /// Runs the plan on arrays like those that it was made for, into `out`, which is row-major, or a fresh array.
    #[pyo3(signature = (data, indices=None, updates=None, *, out=None))]
    fn run<'py>(
        &self,
        data: &Array<'py>,
        indices: Option<Array<'py>>,
        updates: Option<Array<'py>>,
        out: Option<Array<'py>>,
    ) -> PyResult<Array<'py>> {
        let inputs = read(self.calculates, data, indices.as_ref(), updates.as_ref())?;
        let mut output = Output::new(out, inputs.all(), || Ok(self.plan.output_shape().into()))?;
        let (views, mut target) = (inputs.views(), output.view());
        data.py().detach(|| self.plan.run_into(&views, &mut target))?;
        drop(target);
        Ok(output.into_array())
    }

    /// What a call will do: method, kernel, loops, bytes, tasks.
    fn explain(&self) -> String {
        self.plan.explain().to_string()
    }

    /// The shape of the result.
    #[getter]
    fn output_shape(&self) -> Vec<usize> {
        self.plan.output_shape().to_vec()
    }
}

/// The arrays of an operator.
fn inputs<'py>(
    op: &dyn Operator,
    data: &Array<'py>,
    indices: Option<&Array<'py>>,
    updates: Option<&Array<'py>>,
) -> PyResult<Inputs<'py>> {
    read(op.calculates(), data, indices, updates)
}

/// The arrays of a call. NumPy's bool is moved, but not calculated with: its bytes may hold anything.
fn read<'py>(
    calculates: bool,
    data: &Array<'py>,
    indices: Option<&Array<'py>>,
    updates: Option<&Array<'py>>,
) -> PyResult<Inputs<'py>> {
    if calculates && array::is_bool(data) {
        return Err(PyTypeError::new_err("data: elements of bool are not reduced"));
    }
    let (indices, updates) = (indices.map(Input::indices).transpose()?, updates.map(Input::updates).transpose()?);
    Ok(Inputs { data: Input::data(data)?, indices, updates })
}

/// Runs an operator on arrays, into `out` or a fresh one, without the interpreter.
fn run<'py>(
    op: &dyn Operator,
    data: &Array<'py>,
    indices: Option<&Array<'py>>,
    updates: Option<&Array<'py>>,
    out: Option<Array<'py>>,
) -> PyResult<Array<'py>> {
    run_inputs(op, &inputs(op, data, indices, updates)?, out)
}

/// Runs an operator on inputs.
fn run_inputs<'py>(op: &dyn Operator, inputs: &Inputs<'py>, out: Option<Array<'py>>) -> PyResult<Array<'py>> {
    let mut output = Output::new(out, inputs.all(), || op.output_shape(inputs))?;
    let (views, mut target) = (inputs.views(), output.view());
    inputs.data.array().py().detach(|| op.run_into(&views, &mut target))?;
    drop(target);
    Ok(output.into_array())
}
