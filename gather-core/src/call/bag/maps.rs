//! Bags of rows that a map converts.

use crate::call::bag::BagOperator;
use crate::call::bag::erased::{self, BagTensors, ErasedBags, one};
use crate::call::bag::kinds::{BagKind, BaggedBy, Request, positions};
use crate::call::bag::planned::PlannedBag;
use crate::call::gather::maps::{self, check_names};
use crate::call::gather::planned::Params;
use crate::call::source::kind::{IndexKind, Mapped};
use crate::call::source::map::MapArgs;
use crate::call::source::reader::{Format, Reader};
use crate::exec::BagMap;
use crate::kernels::convert::map::ErasedMap;
use crate::kernels::reduce::Reductions;
use crate::kernels::reduce::bag::BagFns;
use crate::plan::{Axis, BagConverting, BagKernels, BagReducePlan, BagRequest, PreparedBags};
use crate::tensor::layout::Layout;
use crate::types::element::{DType, Element};
use crate::types::error::Error;
use crate::types::op::Op;
use crate::types::reduction::{Reducible, Reduction};

// Only `BaggedBy` requires `Reducible`, so that a map to other elements gives one compile error.
impl<T: Element, U: Element> BagKind for Mapped<T, U> {
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
        let found = BagKernels::built_in(Reductions::<BagFns>::of::<U>().bags(reduction), reduction, U::DTYPE)?;
        let converting = BagConverting { decode_fns: map.decode_fns, size_in: size_of::<T>() };
        let request = BagRequest::new(op, found, U::DTYPE, positions::<I>(U::DTYPE, index)?);
        Ok(Request::Rows(BagRequest { converting: Some(converting), ..request }))
    }
}

/// Runs a request on tensors of its types, with a map and its arguments.
///
/// # Errors
/// As for [`BagRequest::plan`], then for [`given`], [`Error::AllocationFailed`], then errors of the run.
#[inline(never)]
pub(super) fn run(
    request: &BagRequest<'_>,
    map: (&ErasedMap, &dyn MapArgs),
    tensors: BagTensors<'_, '_>,
) -> Result<(), Error> {
    let data = tensors.data();
    request.plan(data.layout, one(tensors.bags()), tensors.out().layout(), |plan, bags, fresh| {
        let map = given(plan, &bags, map, data.layout)?;
        // SAFETY: X1: `request.plan` planned these layouts and checked the weights, `given` the params (K8).
        unsafe { erased::run((plan, &bags), Some(&map), fresh, tensors) }
    })
}

/// Runs a plan on tensors of its types, with a map and its arguments.
///
/// # Errors
/// [`Error::PlanParametersMismatch`], then as for [`PlannedBag::check`], [`given`] and [`PlannedBag::run_checked`].
#[inline(never)]
pub(super) fn run_plan(
    (planned, expected): (&PlannedBag, Params),
    map: (&ErasedMap, &dyn MapArgs),
    tensors: BagTensors<'_, '_>,
) -> Result<(), Error> {
    check_names(Op::EmbeddingBag, (map.0.name, map.0.params), expected)?;
    let mut read = None;
    let bags = planned.check(&tensors, &mut read)?;
    let map = given(&planned.plan, bags, map, tensors.data().layout)?;
    // SAFETY: `check` returned these bags; `given` checked the params (K8). Map and plan have one kind, so equal types.
    unsafe { planned.run_checked(bags, tensors, Some(&map)) }
}

/// The map with its arguments, checked against the shape of data: axis 0 has the rows.
///
/// # Errors
/// As for [`maps::given`].
fn given<'a>(
    plan: &BagReducePlan,
    bags: &PreparedBags,
    (map, args): (&ErasedMap, &'a dyn MapArgs),
    data: &Layout,
) -> Result<BagMap<'a>, Error> {
    let axis = Axis { axis: 0, dim: data.shape()[0], data: data.strides()[0], index: 0 };
    let params = maps::given(Op::EmbeddingBag, (map, args), &[axis], data)?;
    Ok(BagMap { conversion: plan.conversion(&bags.bounds, *map.decode_fns.each.get(*plan.level)), params })
}
