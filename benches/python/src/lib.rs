//! gather-core on NumPy arrays: a module for the benchmarks in `benches/native`, and not published.
//!
//! Arrays may have any strides and any of the types that gather-core has. What is written goes to `out`, or to a fresh
//! array. The interpreter is let go while a call runs. Errors have the library's text: `IndexError` for an index out of
//! range, `ValueError` for what does not fit.

mod array;
mod error;
mod operator;

use gather_core::{DynView, DynViewMut};
use numpy::PyUntypedArray;
use pyo3::prelude::*;

use array::{Input, Output};
use operator::{AnyPlan, Operator, Policy, unknown};

type Array<'py> = Bound<'py, PyUntypedArray>;

/// gather-core on NumPy arrays.
#[pymodule]
mod gather {
    #[pymodule_export]
    use super::{Plan, batch_to_space, gather_elements, gather_fn, gather_nd, plan};
}

/// out[p.., i.., q..] = data[p.., indices[batch of p, i..], q..]
#[pyfunction]
#[pyo3(name = "gather", signature = (
    data, indices, axis=0, batch_dims=0, *,
    negative_index="from_end", out_of_bounds="error", out=None, threads=None
))]
#[expect(clippy::too_many_arguments, reason = "Python's keywords")]
fn gather_fn<'py>(
    data: &Array<'py>,
    indices: &Array<'py>,
    axis: i64,
    batch_dims: i64,
    negative_index: &str,
    out_of_bounds: &str,
    out: Option<Array<'py>>,
    threads: Option<usize>,
) -> PyResult<Array<'py>> {
    let policy = Policy::new(negative_index, out_of_bounds)?;
    run(&Operator::gather(axis, batch_dims, policy, threads)?, data, Some(indices), out)
}

/// out[c] = data[c with c[axis] := indices[c]]
#[pyfunction]
#[pyo3(signature = (
    data, indices, axis=0, *, negative_index="from_end", out_of_bounds="error", out=None, threads=None
))]
fn gather_elements<'py>(
    data: &Array<'py>,
    indices: &Array<'py>,
    axis: i64,
    negative_index: &str,
    out_of_bounds: &str,
    out: Option<Array<'py>>,
    threads: Option<usize>,
) -> PyResult<Array<'py>> {
    let policy = Policy::new(negative_index, out_of_bounds)?;
    run(&Operator::elements(axis, policy, threads)?, data, Some(indices), out)
}

/// out[b.., j.., s..] = data[b.., indices[b.., j.., :].., s..]
#[pyfunction]
#[pyo3(signature = (
    data, indices, batch_dims=0, *, negative_index="from_end", out_of_bounds="error", out=None, threads=None
))]
fn gather_nd<'py>(
    data: &Array<'py>,
    indices: &Array<'py>,
    batch_dims: i64,
    negative_index: &str,
    out_of_bounds: &str,
    out: Option<Array<'py>>,
    threads: Option<usize>,
) -> PyResult<Array<'py>> {
    let policy = Policy::new(negative_index, out_of_bounds)?;
    run(&Operator::nd(batch_dims, policy, threads)?, data, Some(indices), out)
}

/// Blocks of the batch into space. `block_shape`, `crops_begin` and `crops_end` have an entry for each dimension.
#[pyfunction]
#[pyo3(signature = (data, block_shape, crops_begin, crops_end, *, out=None, threads=None))]
fn batch_to_space<'py>(
    data: &Array<'py>,
    block_shape: Vec<i64>,
    crops_begin: Vec<i64>,
    crops_end: Vec<i64>,
    out: Option<Array<'py>>,
    threads: Option<usize>,
) -> PyResult<Array<'py>> {
    run(&Operator::space(&block_shape, &crops_begin, &crops_end, threads)?, data, None, out)
}

/// Plans an operator, by its name, for arrays like these: of their types, shapes and strides. Attributes that the
/// operator does not have are ignored.
#[pyfunction]
#[pyo3(signature = (
    operator, data, indices=None, *, axis=0, batch_dims=0, block_shape=vec![], crops_begin=vec![], crops_end=vec![],
    negative_index="from_end", out_of_bounds="error", threads=None
))]
#[expect(clippy::too_many_arguments, reason = "Python's keywords")]
fn plan<'py>(
    operator: &str,
    data: &Array<'py>,
    indices: Option<Array<'py>>,
    axis: i64,
    batch_dims: i64,
    block_shape: Vec<i64>,
    crops_begin: Vec<i64>,
    crops_end: Vec<i64>,
    negative_index: &str,
    out_of_bounds: &str,
    threads: Option<usize>,
) -> PyResult<Plan> {
    let policy = Policy::new(negative_index, out_of_bounds)?;
    let op = match operator {
        "gather" => Operator::gather(axis, batch_dims, policy, threads),
        "gather_elements" => Operator::elements(axis, policy, threads),
        "gather_nd" => Operator::nd(batch_dims, policy, threads),
        "batch_to_space" => Operator::space(&block_shape, &crops_begin, &crops_end, threads),
        other => Err(unknown("operator", other, "'gather', 'gather_elements', 'gather_nd' or 'batch_to_space'")),
    }?;
    let (data, indices) = inputs(data, indices.as_ref())?;
    Ok(Plan { plan: op.plan(&data, indices.as_ref())? })
}

/// A call whose types, shapes and strides are known ahead.
#[pyclass(frozen)]
struct Plan {
    plan: AnyPlan,
}

#[pymethods]
impl Plan {
    /// Runs the plan on arrays like those that it was made for, into `out`, which is row-major, or a fresh array.
    #[pyo3(signature = (data, indices=None, *, out=None))]
    fn run<'py>(
        &self,
        data: &Array<'py>,
        indices: Option<Array<'py>>,
        out: Option<Array<'py>>,
    ) -> PyResult<Array<'py>> {
        let (data, indices) = inputs(data, indices.as_ref())?;
        let out = out.map_or_else(|| data.fresh(self.plan.output_shape()), Ok)?;
        write(&data, indices.as_ref(), out, |data, indices, out| self.plan.run_into(data, indices, out))
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

fn inputs<'py>(data: &Array<'py>, indices: Option<&Array<'py>>) -> PyResult<(Input<'py>, Option<Input<'py>>)> {
    Ok((Input::data(data)?, indices.map(Input::indices).transpose()?))
}

fn run<'py>(
    op: &Operator,
    data: &Array<'py>,
    indices: Option<&Array<'py>>,
    out: Option<Array<'py>>,
) -> PyResult<Array<'py>> {
    let (data, indices) = inputs(data, indices)?;
    let fresh = || data.fresh(&op.output_shape(&data, indices.as_ref())?);
    let out = out.map_or_else(fresh, Ok)?;
    write(&data, indices.as_ref(), out, |data, indices, out| op.run_into(data, indices, out))
}

/// Calls `call` on views of the arrays, without the interpreter.
fn write<'py>(
    data: &Input<'py>,
    indices: Option<&Input<'py>>,
    out: Array<'py>,
    call: impl FnOnce(&DynView<'_>, Option<&DynView<'_>>, &mut DynViewMut<'_>) -> PyResult<()> + Send,
) -> PyResult<Array<'py>> {
    let mut output = Output::new(&out, data, indices)?;
    let (data, indices) = (data.view(), indices.map(Input::view));
    let mut target = output.view();
    out.py().detach(|| call(&data, indices.as_ref(), &mut target))?;
    Ok(out)
}
