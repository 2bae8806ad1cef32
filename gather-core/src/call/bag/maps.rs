//! Bags of rows that a map converts.

use crate::call::bag::BagOperator;
use crate::call::bag::erased::{self, BagTensors, ErasedBags, one};
use crate::call::bag::kinds::{Bagged, BaggedBy, Request, positions};
use crate::call::bag::planned::PlannedBag;
use crate::call::gather::maps::{check_names, check_params};
use crate::call::gather::planned::Params;
use crate::call::source::kind::{IndexKind, Mapped};
use crate::call::source::map::MapArgs;
use crate::call::source::reader::{Format, Reader};
use crate::exec::BagMap;
use crate::kernels::convert::map::Erased as Map;
use crate::kernels::reduce::Reductions;
use crate::kernels::reduce::bag::BagFns;
use crate::plan::{Axis, BagConverting, BagPlan, BagRequest, Found, PreparedBags};
use crate::tensor::layout::Layout;
use crate::types::element::{DType, Element};
use crate::types::error::Error;
use crate::types::op::Op;
use crate::types::reduction::{Reducible, Reduction};

// Bounded by `Reducible` where a request is made: so a map to other elements is one error.
impl<T: Element, U: Element> Bagged for Mapped<T, U> {
    type Weight = U::Number;

    #[inline(always)]
    fn weight(_: DType) -> DType {
        U::Number::DTYPE
    }
}

impl<T: Element, U: Reducible> BaggedBy<Reduction> for Mapped<T, U> {
    #[inline(always)]
    fn request<'a, I: IndexKind>(
        op: &'a BagOperator<Reduction>,
        reader: &Reader<'_>,
        bags: &[ErasedBags<'_>],
    ) -> Result<Request<'a>, Error> {
        let Format::Mapped(map, _) = reader.format else { unreachable!("a source of a map") };
        let (index, reduction) = (one(bags).index, op.reduction);
        let found = Found::built_in(Reductions::<BagFns>::of::<U>().bags(reduction), reduction, U::DTYPE)?;
        let converting = BagConverting { decode_fns: map.decode_fns, size_in: size_of::<T>() };
        let request = BagRequest::new(op, found, U::DTYPE, positions::<I>(U::DTYPE, index)?);
        Ok(Request::Rows(BagRequest { converting: Some(converting), ..request }))
    }
}

/// Runs a call with a map, and the arguments of its parameters, by a request of the map's types.
///
/// # Errors
/// Those of [`BagRequest::plan`], those of [`check_params`], [`Error::AllocationFailed`], then those of the run.
#[inline(never)]
pub(super) fn run(
    request: &BagRequest<'_>,
    (map, args): (&Map, &dyn MapArgs),
    tensors: BagTensors<'_, '_>,
) -> Result<(), Error> {
    let data = tensors.data();
    request.plan(data.layout, one(tensors.bags()), tensors.out().layout(), |plan, bags, fresh| {
        check(map, args, data.layout)?;
        with(plan, &bags, (map, args), tensors, |map, tensors| {
            // SAFETY: X1: the plan was made for the layouts of these tensors; what is given is of the map's parameters,
            // and has just been checked (K8).
            unsafe { erased::run((plan, &bags), Some(map), fresh, tensors) }
        })
    })
}

/// Runs a plan with a map of the planned types, and the arguments of its parameters.
///
/// # Errors
/// [`Error::PlanParametersMismatch`], those of [`PlannedBag::check`], those of [`check_params`], then those of
/// [`PlannedBag::run_checked`].
#[inline(never)]
pub(super) fn run_plan(
    (planned, expected): (&PlannedBag, Params),
    (map, args): (&Map, &dyn MapArgs),
    tensors: BagTensors<'_, '_>,
) -> Result<(), Error> {
    check_names(Op::EmbeddingBag, (map.name, map.params), expected)?;
    let mut read = None;
    let bags = planned.check(&tensors, &mut read)?;
    check(map, args, tensors.data().layout)?;
    with(&planned.plan, bags, (map, args), tensors, |map, tensors| {
        // SAFETY: these are the bags of the tensors. The map is of the plan's types, and what is given is of its
        // parameters, and has just been checked (K8).
        unsafe { planned.run_checked(bags, tensors, Some(map)) }
    })
}

/// Calls `run` with a map, the values of its parameters, and the tensors.
fn with<'o>(
    plan: &BagPlan,
    bags: &PreparedBags,
    (map, args): (&Map, &dyn MapArgs),
    tensors: BagTensors<'_, 'o>,
    run: impl Fn(&BagMap<'_>, BagTensors<'_, 'o>) -> Result<(), Error>,
) -> Result<(), Error> {
    let (data, conversion) = (tensors.data(), plan.conversion(&bags.bounds, *map.decode_fns.row.get(*plan.level)));
    let mut tensors = Some(tensors);
    args.with(data.origin.addr(), &mut |params| {
        let Some(tensors) = tensors.take() else { unreachable!("called once") };
        run(&BagMap { conversion, params }, tensors)
    })
}

/// Checks that parameters have a value for every row, or for every element.
fn check(map: &Map, args: &dyn MapArgs, data: &Layout) -> Result<(), Error> {
    let axis = Axis { axis: 0, dim: data.shape()[0], data: data.strides()[0], index: 0 };
    check_params(Op::EmbeddingBag, (map.name, map.params), &[axis], data, args.counts())
}
