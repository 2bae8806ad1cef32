//! Gathering elements that a map converts on their way.

use crate::call::attributes::IndexAttributes;
use crate::call::gather::Operation;
use crate::call::gather::decoded::Encoding;
use crate::call::gather::erased::Request;
use crate::call::gather::kinds::{Gathered, GatheredBy, Outputs};
use crate::call::gather::plan::{GatherPlan, Reads};
use crate::call::gather::planned::Params;
use crate::call::source::kind::{IndexKind, Mapped};
use crate::call::source::map::GivenToMap;
use crate::call::source::{Described, Reading};
use crate::exec::{self, Operands};
use crate::kernels::convert::Functions;
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
    fn run<I: IndexKind>(
        op: &Operation<'_>,
        data: &Reading<'_, Self>,
        operands: Operands<'_, Target<'_>>,
    ) -> Result<(), Error> {
        let map = data.described.facts;
        let planned = request::<T, U, I>(op, map, operands.indices().1);
        run(op.attributes, &planned, (map, data.given), operands)
    }

    #[inline(always)]
    fn plan<I: IndexKind>(
        op: &Operation<'_>,
        Described { layout, facts, .. }: Described<'_, Self>,
        (index, indices): (IndexType, &Layout),
        outputs: Outputs<'_>,
    ) -> Result<GatherPlan, Error> {
        let planned = request::<T, U, I>(op, facts, index);
        let request = Request { attributes: op.attributes, planned: &planned, data: layout, indices };
        GatherPlan::new(&request, outputs, Reads::of(Encoding::Mapped(facts.params)))
    }

    #[inline(always)]
    fn run_plan(plan: &GatherPlan, data: &Reading<'_, Self>, operands: Operands<'_, Target<'_>>) -> Result<(), Error> {
        run_plan(plan, (data.described.facts, data.given), operands)
    }
}

#[inline(always)]
fn request<T: Element, U: Element, I: IndexKind>(op: &Operation<'_>, map: &Erased, index: IndexType) -> IndexRequest {
    let rows = map.decode_fns.rows;
    let converting = Converting { rows, size_in: size_of::<T>(), kernel: I::converts(index), whole: None };
    op.request((I::gathers(index), index), U::DTYPE, Some(converting))
}

/// Runs a call with a map, and with what a source gives for its parameters, for a request of the map's types.
///
/// # Errors
/// Those of [`Request::plan_for`], those of [`check_params`], [`Error::AllocationFailed`], then those of the run.
#[inline(never)]
fn run(
    attributes: &dyn IndexAttributes,
    planned: &IndexRequest,
    (map, given): (&Erased, &dyn GivenToMap),
    operands: Operands<'_, Target<'_>>,
) -> Result<(), Error> {
    let made = Request::of(attributes, planned, &operands).plan_for(operands.out());
    let Ok((plan, fresh)) = &made else { return made.map(drop) };
    let (data, layout) = operands.data();
    check_params(plan.op(), (map.name, map.params), plan.axes(), layout, given.counts())?;
    let mut operands = Some(operands);
    given.with(data.addr(), &mut |params| {
        let Some(operands) = operands.take() else { unreachable!("called once") };
        operands.given(params.given).write(
            || Ok((plan.output(), *fresh)),
            // SAFETY: X1: the plan was made for the layouts of the operands, and tensors of the map's types are aligned
            // for them. What is given is `Sync`, of the map's parameters, and reaches a value for every position along
            // the axis, or for every element of row-major data, as just checked (K8).
            |operands| unsafe { exec::run_index(plan, operands) },
        )
    })
}

/// Runs a plan with a map of the planned types, and with what a source gives for its parameters.
///
/// # Errors
/// [`Error::PlanParametersMismatch`], [`Error::PlanMismatch`], those of [`check_params`],
/// [`Error::AllocationFailed`], then those of the run.
#[inline(never)]
fn run_plan(
    plan: &GatherPlan,
    (map, given): (&Erased, &dyn GivenToMap),
    operands: Operands<'_, Target<'_>>,
) -> Result<(), Error> {
    let GatherPlan { planned, reads: Reads { encoding: Encoding::Mapped(expected), .. }, .. } = plan else {
        unreachable!("a plan of a map")
    };
    let by = Functions { rows: map.decode_fns.rows.at(planned.plan.spec().level), row_fn: None };
    let runs = planned.converting_by(by, || check_names(planned.plan.op(), (map.name, map.params), expected))?;
    let count = planned.check_operands(&operands)?;
    check_params(planned.plan.op(), (map.name, map.params), planned.plan.axes(), &planned.data, given.counts())?;
    let (data, mut operands) = (operands.data().0, Some(operands));
    given.with(data.addr(), &mut |params| {
        let Some(operands) = operands.take() else { unreachable!("called once") };
        // SAFETY: the inputs have just been checked, by the plan whose layouts `runs` has. What is given is of the
        // map's parameters, and reaches a value for every position or element, as just checked (K8).
        unsafe { runs.run_on_inputs(operands.given(params.given), count) }
    })
}

/// Checks that a map or a row function has the parameters that a plan was made for.
///
/// # Errors
/// [`Error::PlanParametersMismatch`].
pub(in crate::call) fn check_names(
    op: Op,
    (function, got): (&'static str, Params),
    expected: Params,
) -> Result<(), Error> {
    if core::ptr::eq(expected, got) || expected == got {
        return Ok(());
    }
    Err(Error::PlanParametersMismatch { op, function, expected, got })
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
