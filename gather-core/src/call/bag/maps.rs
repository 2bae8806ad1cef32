//! Bags of rows that a map converts.

use crate::call::bag::BagOperator;
use crate::call::bag::erased::{self, ErasedBags, Found, Made, Request, Tensors};
use crate::call::bag::kinds::{Bagged, BaggedBy, one, tensors};
use crate::call::bag::plan::{PlannedBags, Reads};
use crate::call::bag::planned::Planned;
use crate::call::gather::maps::check_params;
use crate::call::source::kind::{IndexKind, Mapped};
use crate::call::source::map::GivenToMap;
use crate::call::source::{Described, Reading};
use crate::kernels::convert::map::Erased as Map;
use crate::kernels::reduce::Reductions;
use crate::kernels::reduce::bag::BagFns;
use crate::plan::{BagConverting, BagPlan};
use crate::tensor::output::Target;
use crate::types::element::{DType, Element};
use crate::types::error::Error;
use crate::types::op::Op;
use crate::types::reduction::{Reducible, Reduction};

// Bounded by `Reducible` where a request is made: so a map to other elements is one error.
impl<T: Element, U: Element> Bagged for Mapped<T, U> {
    type Weight = U::Number;

    type Request<'a> = Request<'a>;

    #[inline(always)]
    fn weight(_: DType) -> DType {
        U::Number::DTYPE
    }

    #[inline(always)]
    unsafe fn run(
        request: Request<'_>,
        data: &Reading<'_, Self>,
        bags: &[ErasedBags<'_>],
        out: Target<'_>,
    ) -> Result<(), Error> {
        // SAFETY: the caller's promise: the request is for the types of the map.
        unsafe { run(&request, data.described.facts, data.given, &tensors(data, bags), out) }
    }

    #[inline(always)]
    fn plan(request: Request<'_>, data: Described<'_, Self>, bags: &[ErasedBags<'_>]) -> Result<PlannedBags, Error> {
        let planned = Planned::new(&request, &Tensors::of(data.layout.into(), one(bags)))?;
        Ok(PlannedBags::Rows(planned, Reads::Mapped(data.facts.params)))
    }

    #[inline(always)]
    unsafe fn run_plan(
        plan: &PlannedBags,
        data: &Reading<'_, Self>,
        bags: &[ErasedBags<'_>],
        out: Target<'_>,
    ) -> Result<(), Error> {
        // SAFETY: the caller's promise.
        unsafe { run_plan(plan, data.described.facts, data.given, &tensors(data, bags), out) }
    }
}

impl<T: Element, U: Reducible> BaggedBy<Reduction> for Mapped<T, U> {
    #[inline(always)]
    fn request<'a, I: IndexKind>(
        op: &'a BagOperator<Reduction>,
        data: &Described<'_, Self>,
        bags: &[ErasedBags<'_>],
    ) -> Result<Request<'a>, Error> {
        let (index, reduction) = (one(bags).index, op.reduction);
        let found = Found::built_in(Reductions::<BagFns>::of::<U>().bags(reduction), reduction, U::DTYPE)?;
        let converting = BagConverting { convert_fns: data.facts.convert_fns, size_in: size_of::<T>() };
        Ok(Request::new(op, found, U::DTYPE, (index, I::positions(index))).converting(converting))
    }
}

/// Runs a call with a map.
///
/// # Errors
/// Those of [`Request::plan`], those of [`check_params`], [`Error::AllocationFailed`], then those of the run.
///
/// # Safety
/// As for [`Request::run`], where data is of the type that the map reads. What is given is of the map's parameters.
#[inline(never)]
unsafe fn run(
    request: &Request<'_>,
    map: &Map,
    given: &dyn GivenToMap,
    tensors: &Tensors<'_>,
    out: Target<'_>,
) -> Result<(), Error> {
    let made = request.plan(tensors, out.layout());
    let Ok(Made { plan, bounds, out: layout }) = &made else { return made.map(drop) };
    check(plan, map, given, tensors)?;
    let (call, mut out) = (plan.call(bounds), Some(out));
    given.with(tensors.data.origin.addr(), &mut |params| {
        let Some(out) = out.take() else { unreachable!("called once") };
        // SAFETY: X1: the plan was made for these layouts and types; weights and parameters have been checked (K8). The
        // rest is the caller's promise.
        unsafe { erased::run(&call, layout, &Tensors { params, ..*tensors }, out) }
    })
}

/// Runs a plan with a map of the planned types.
///
/// # Errors
/// [`Error::PlanParametersMismatch`], those of [`Planned::check`], those of [`check_params`], then those of
/// [`Planned::run_checked`].
///
/// # Safety
/// As for [`run`], for the types of the plan.
#[inline(never)]
unsafe fn run_plan(
    plan: &PlannedBags,
    map: &Map,
    given: &dyn GivenToMap,
    tensors: &Tensors<'_>,
    out: Target<'_>,
) -> Result<(), Error> {
    let PlannedBags::Rows(planned, Reads::Mapped(expected)) = plan else { unreachable!("a plan of a map") };
    if !core::ptr::eq(*expected, map.params) && *expected != map.params {
        let (op, function, got) = (Op::EmbeddingBag, map.name, map.params);
        return Err(Error::PlanParametersMismatch { op, function, expected, got });
    }
    let bounds = planned.check(tensors)?;
    check(&planned.plan, map, given, tensors)?;
    let mut out = Some(out);
    given.with(tensors.data.origin.addr(), &mut |params| {
        let Some(out) = out.take() else { unreachable!("called once") };
        let tensors = Tensors { params, ..*tensors };
        // SAFETY: the tensors and the parameters have just been checked (K8), and the map is of the plan's types; the
        // rest is the caller's promise.
        unsafe { planned.run_checked(bounds.as_ref(), &tensors, Some(map.convert_fns), out) }
    })
}

/// Checks that parameters have a value for every row, or for every element.
fn check(plan: &BagPlan, map: &Map, given: &dyn GivenToMap, tensors: &Tensors<'_>) -> Result<(), Error> {
    let counts = given.counts();
    check_params(plan.op(), (map.name, map.params), &[plan.axis()], tensors.data.layout, counts)
}
