//! The operators behind one face.

use std::sync::LazyLock;

use gather_core::{
    BatchToSpace, DynPlan, DynRearrangePlan, DynView, DynViewMut, Error, Explain, Gather, GatherElements, GatherNd,
    IndexAttributes, IndexOperator, IndexType, NegativeIndex, OutOfBounds, Par, Registry, Shape,
};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::array::Input;
use crate::error::python;

static KERNELS: LazyLock<Registry> = LazyLock::new(Registry::builtin);

/// What all operators on indices take.
#[derive(Clone, Copy)]
pub(crate) struct Policy {
    negative: NegativeIndex,
    out_of_bounds: OutOfBounds,
}

impl Policy {
    /// The policy of these names.
    pub(crate) fn new(negative_index: &str, out_of_bounds: &str) -> PyResult<Self> {
        let negative = match negative_index {
            "from_end" => NegativeIndex::FromEnd,
            "reject" => NegativeIndex::Reject,
            other => return Err(unknown("negative_index", other, "'from_end' or 'reject'")),
        };
        let out_of_bounds = match out_of_bounds {
            "error" => OutOfBounds::Error,
            "zero" => OutOfBounds::Zero,
            "clamp" => OutOfBounds::Clamp,
            "wrap" => OutOfBounds::Wrap,
            other => return Err(unknown("out_of_bounds", other, "'error', 'zero', 'clamp' or 'wrap'")),
        };
        Ok(Policy { negative, out_of_bounds })
    }
}

/// An argument with a value that it cannot have.
pub(crate) fn unknown(argument: &str, value: &str, allowed: &str) -> PyErr {
    PyValueError::new_err(format!("{argument} '{value}'; allowed is {allowed}"))
}

/// `None`: as many threads as are worth it, up to rayon's global pool. Else at most so many, however small the call is.
pub(crate) fn par(threads: Option<usize>) -> PyResult<Par> {
    match threads {
        None => Ok(Par::Auto),
        Some(0) => Err(PyValueError::new_err("threads 0; allowed is 1 or more")),
        Some(1) => Ok(Par::Seq),
        Some(more) => Ok(Par::Threads(more)),
    }
}

/// An operator with its attributes.
pub(crate) enum Operator {
    Gather(Gather),
    Elements(GatherElements),
    Nd(GatherNd),
    Space(BatchToSpace),
}

impl Operator {
    pub(crate) fn gather(axis: i64, batch_dims: i64, policy: Policy, threads: Option<usize>) -> PyResult<Self> {
        Ok(Operator::Gather(with(Gather::new(axis).batch_dims(batch_dims), policy, threads)?))
    }

    pub(crate) fn elements(axis: i64, policy: Policy, threads: Option<usize>) -> PyResult<Self> {
        Ok(Operator::Elements(with(GatherElements::new(axis), policy, threads)?))
    }

    pub(crate) fn nd(batch_dims: i64, policy: Policy, threads: Option<usize>) -> PyResult<Self> {
        Ok(Operator::Nd(with(GatherNd::new().batch_dims(batch_dims), policy, threads)?))
    }

    pub(crate) fn space(block: &[i64], begin: &[i64], end: &[i64], threads: Option<usize>) -> PyResult<Self> {
        Ok(Operator::Space(BatchToSpace::new(block, begin, end).par(par(threads)?)))
    }

    /// The shape of the result.
    pub(crate) fn output_shape(&self, data: &Input<'_>, indices: Option<&Input<'_>>) -> PyResult<Shape> {
        let data = data.layout().shape();
        let indices = || Ok::<_, PyErr>(needed(indices)?.layout().shape());
        match self {
            Operator::Gather(op) => op.output_shape(data, indices()?),
            Operator::Elements(op) => op.output_shape(data, indices()?),
            Operator::Nd(op) => op.output_shape(data, indices()?),
            Operator::Space(op) => op.output_shape(data),
        }
        .map_err(python)
    }

    /// Runs the operator.
    pub(crate) fn run_into(
        &self,
        data: &DynView<'_>,
        indices: Option<&DynView<'_>>,
        out: &mut DynViewMut<'_>,
    ) -> PyResult<()> {
        match self {
            Operator::Gather(op) => op.run_dyn_into(&KERNELS, data, needed(indices)?, out),
            Operator::Elements(op) => op.run_dyn_into(&KERNELS, data, needed(indices)?, out),
            Operator::Nd(op) => op.run_dyn_into(&KERNELS, data, needed(indices)?, out),
            Operator::Space(op) => op.run_dyn_into(&KERNELS, data, out),
        }
        .map_err(python)
    }

    /// Plans the operator for arrays of these layouts and types.
    pub(crate) fn plan(&self, data: &Input<'_>, indices: Option<&Input<'_>>) -> PyResult<AnyPlan> {
        match self {
            Operator::Gather(op) => index_plan(op, data, needed(indices)?),
            Operator::Elements(op) => index_plan(op, data, needed(indices)?),
            Operator::Nd(op) => index_plan(op, data, needed(indices)?),
            Operator::Space(op) => {
                let plan = op.plan_dyn(&KERNELS, data.dtype(), data.layout());
                plan.map(|plan| AnyPlan::Space(Box::new(plan))).map_err(python)
            }
        }
    }
}

fn with<A: IndexAttributes>(
    op: IndexOperator<A>,
    policy: Policy,
    threads: Option<usize>,
) -> PyResult<IndexOperator<A>> {
    Ok(op.negative_index(policy.negative).out_of_bounds(policy.out_of_bounds).par(par(threads)?))
}

fn index_plan<A: IndexAttributes>(op: &IndexOperator<A>, data: &Input<'_>, indices: &Input<'_>) -> PyResult<AnyPlan> {
    let dtype = indices.dtype();
    let index = IndexType::from_dtype(dtype).ok_or_else(|| python(Error::NotAnIndexType { dtype }))?;
    let plan = op.plan_dyn(&KERNELS, data.dtype(), data.layout(), index, indices.layout());
    plan.map(|plan| AnyPlan::Index(Box::new(plan))).map_err(python)
}

/// The indices of an operator that has some.
fn needed<T>(indices: Option<T>) -> PyResult<T> {
    indices.ok_or_else(|| PyValueError::new_err("indices are missing"))
}

/// A plan of any operator.
pub(crate) enum AnyPlan {
    Index(Box<DynPlan>),
    Space(Box<DynRearrangePlan>),
}

impl AnyPlan {
    /// The shape of the result.
    pub(crate) fn output_shape(&self) -> &[usize] {
        match self {
            AnyPlan::Index(plan) => plan.output_shape(),
            AnyPlan::Space(plan) => plan.output_shape(),
        }
    }

    /// What a call will do.
    pub(crate) fn explain(&self) -> Explain<'_> {
        match self {
            AnyPlan::Index(plan) => plan.explain(),
            AnyPlan::Space(plan) => plan.explain(),
        }
    }

    /// Runs the plan.
    pub(crate) fn run_into(
        &self,
        data: &DynView<'_>,
        indices: Option<&DynView<'_>>,
        out: &mut DynViewMut<'_>,
    ) -> PyResult<()> {
        match self {
            AnyPlan::Index(plan) => plan.run_into(data, needed(indices)?, out),
            AnyPlan::Space(plan) => plan.run_into(data, out),
        }
        .map_err(python)
    }
}
