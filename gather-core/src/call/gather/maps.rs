//! Gathering elements that a map converts on their way.

use crate::call::gather::erased::Request;
use crate::call::gather::kinds::{Gathered, GatheredBy, Ids, Outputs};
use crate::call::gather::plan::{GatherPlan, Reads};
use crate::call::gather::planned::Inputs;
use crate::call::gather::{IndexAttributes, Operation};
use crate::call::source::kind::{IndexKind, Mapped};
use crate::call::source::map::GivenToMap;
use crate::call::source::{Described, Reading};
use crate::exec;
use crate::kernels::convert::map::{Count, Erased, MAX_PARAMS};
use crate::plan::{Axis, Converting, IndexRequest};
use crate::tensor::layout::Layout;
use crate::tensor::output::Target;
use crate::types::element::Element;
use crate::types::error::Error;
use crate::types::index::IndexType;
use crate::types::op::Op;
use crate::types::policy::Per;

impl<A: IndexAttributes, T: Element, U: Element> GatheredBy<A> for Mapped<T, U> {}

impl<T: Element, U: Element> Gathered for Mapped<T, U> {
    #[inline(always)]
    unsafe fn run<I: IndexKind>(
        op: &Operation<'_>,
        data: &Reading<'_, Self>,
        indices: Ids<'_>,
        out: Target<'_>,
    ) -> Result<(), Error> {
        let Described { layout, facts, .. } = data.described;
        let planned = request::<T, U, I>(op, facts, indices.index);
        let request = Request { attributes: op.attributes, planned, data: layout, indices: indices.layout };
        // SAFETY: the caller's promise: the request is for the types of the map.
        unsafe { run(&request, facts, data.given, Inputs::new(data, indices), out) }
    }

    #[inline(always)]
    fn plan<I: IndexKind>(
        op: &Operation<'_>,
        Described { layout, facts, .. }: Described<'_, Self>,
        (index, indices): (IndexType, &Layout),
        outputs: Outputs<'_>,
    ) -> Result<GatherPlan, Error> {
        let planned = request::<T, U, I>(op, facts, index);
        let request = Request { attributes: op.attributes, planned, data: layout, indices };
        GatherPlan::new(&request, outputs, Reads::Mapped(facts.params))
    }

    #[inline(always)]
    unsafe fn run_plan(
        plan: &GatherPlan,
        data: &Reading<'_, Self>,
        indices: Ids<'_>,
        out: Target<'_>,
    ) -> Result<(), Error> {
        // SAFETY: the caller's promise.
        unsafe { run_plan(plan, data.described.facts, data.given, Inputs::new(data, indices), out) }
    }
}

#[inline(always)]
fn request<T: Element, U: Element, I: IndexKind>(op: &Operation<'_>, map: &Erased, index: IndexType) -> IndexRequest {
    let rows = map.convert_fns.rows;
    let converting = Converting { rows, size_in: size_of::<T>(), kernel: I::converts(index), whole: None };
    op.request((I::gathers(index), index), U::DTYPE, Some(converting))
}

/// Runs a call with a map.
///
/// # Errors
/// Those of [`Request::plan_for`], those of [`check_params`], [`Error::AllocationFailed`], then those of the run.
///
/// # Safety
/// X1 for the request, whose types are those of the map; O1 for the type that it gives, and a fixed output overlaps no
/// input. What is given is of the map's parameters.
#[inline(never)]
unsafe fn run(
    request: &Request<'_>,
    map: &Erased,
    given: &dyn GivenToMap,
    inputs: Inputs<'_>,
    target: Target<'_>,
) -> Result<(), Error> {
    let planned = request.plan_for(&target);
    let Ok((plan, fresh)) = &planned else { return planned.map(drop) };
    check_params(plan.op(), (map.name, map.params), plan.axes(), request.data, given.counts())?;
    let write = |out: *mut u8| {
        given.with(inputs.data.addr(), &mut |params| {
            let inputs = Inputs { params: params.given, ..inputs };
            // SAFETY: X1: the plan was made for these layouts and types. Pointers are aligned for the types of the map;
            // the parameters are `Sync`, and reach a value for every position along the axis, or for every element of
            // row-major data, as just checked (K8). The rest is the caller's promise.
            unsafe { exec::run_index(plan, inputs.operands(out)) }
        })
    };
    // SAFETY: a run that succeeds has initialised every element of the result (X3).
    unsafe { target.write(|| Ok((plan.output(), *fresh)), write) }
}

/// Runs a plan with a map of the planned types.
///
/// # Errors
/// [`Error::PlanParametersMismatch`], [`Error::PlanMismatch`], those of [`check_params`],
/// [`Error::AllocationFailed`], then those of the run.
///
/// # Safety
/// As for [`run`], for the types of the plan.
#[inline(never)]
unsafe fn run_plan(
    plan: &GatherPlan,
    map: &Erased,
    given: &dyn GivenToMap,
    inputs: Inputs<'_>,
    out: Target<'_>,
) -> Result<(), Error> {
    let GatherPlan { planned, reads: Reads::Mapped(params), .. } = plan else { unreachable!("a plan of a map") };
    let runs = planned.converting_by((params, map.params), map.name, map.convert_fns.rows)?;
    let count = planned.check_inputs(inputs.data_layout, inputs.indices)?;
    check_params(planned.plan.op(), (map.name, map.params), planned.plan.axes(), &planned.data, given.counts())?;
    let mut out = Some(out);
    given.with(inputs.data.addr(), &mut |params| {
        let Some(out) = out.take() else { unreachable!("called once") };
        // SAFETY: the layouts of the inputs and the parameters have just been checked; the rest as in `run`.
        unsafe { runs.run_on_inputs(Inputs { params: params.given, ..inputs }, count, out) }
    })
}

/// Checks that parameters which are given per row have a value for every position along the axis, and those which are
/// given per element for every element of row-major data; and that none is given per index.
pub(in crate::call) fn check_params(
    op: Op,
    (map, names): (&'static str, &'static [&'static str]),
    axes: &[Axis],
    data: &Layout,
    counts: [Count; MAX_PARAMS],
) -> Result<(), Error> {
    for (&parameter, count) in names.iter().zip(counts) {
        // Tuples of several components stand for no one row of the table.
        let (one, axis, dim) = match axes {
            [axis] if axis.is_of_data() => (true, axis.axis, axis.dim),
            _ => (false, 0, 0),
        };
        match count {
            Count::Rows(len) if !one || len != dim => {
                return Err(Error::MapParameterLengthMismatch { op, map, parameter, len, axis, dim });
            }
            Count::Elements(len) if len != data.len() || !data.is_contiguous() => {
                let (elements, row_major) = (data.len(), data.is_contiguous());
                return Err(Error::MapParameterPerElement { op, map, parameter, len, elements, row_major });
            }
            Count::Indices => {
                return Err(Error::ParameterUnavailable { op, function: map, parameter, per: Per::Index });
            }
            _ => {}
        }
    }
    Ok(())
}
