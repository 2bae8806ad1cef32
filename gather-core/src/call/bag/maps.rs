//! Bags of rows that a map converts, or that lie in chunks.

use crate::call::bag::BagOperator;
use crate::call::bag::erased::{self, BagTensors, ErasedBags, one};
use crate::call::bag::kinds::{BagKind, BaggedBy, Request, positions};
use crate::call::bag::planned::PlannedBag;
use crate::call::gather::maps;
use crate::call::source::kind::{ChunkKind, Chunks, IndexKind, Mapped};
use crate::call::source::reader::{Format, Reader};
use crate::exec::BagMap;
use crate::kernels::convert::ErasedParams;
use crate::kernels::convert::chunks::{CHUNKED, ChunkedParams};
use crate::kernels::reduce::Reductions;
use crate::kernels::reduce::bag::BagFns;
use crate::plan::{Axis, BagConverting, BagKernels, BagReducePlan, BagRequest, PreparedBags};
use crate::tensor::typing::Dyn;
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

impl<K: ChunkBag> BagKind for Chunks<K> {
    type Weight = K::Weight;

    #[inline(always)]
    fn weight(dtype: DType) -> DType {
        K::weight(dtype)
    }
}

impl<K: ChunkBag> BaggedBy<Reduction> for Chunks<K> {
    #[inline(always)]
    fn request<'a, I: IndexKind>(
        op: &'a BagOperator<Reduction>,
        reader: &Reader<'_>,
        bags: &[ErasedBags<'_>],
    ) -> Result<Request<'a>, Error> {
        let request = K::request::<I>(op, reader, bags)?;
        Ok(match request {
            Request::Rows(request) if reader.chunks.is_some() => {
                let size_in = request.converting.map_or(request.dtype.size(), |map| map.size_in);
                Request::Rows(BagRequest {
                    converting: Some(BagConverting { decode_fns: CHUNKED, size_in }),
                    ..request
                })
            }
            request => request,
        })
    }
}

/// A kind whose chunks bags reduce: elements, or what a map makes of them.
pub trait ChunkBag: ChunkKind + BaggedBy<Reduction> {}

impl<T: Element> ChunkBag for T {}
impl ChunkBag for Dyn {}
impl<T: Element, U: Reducible> ChunkBag for Mapped<T, U> {}

/// Runs a request on tensors of its types, with the map or the chunks of a reader.
///
/// # Errors
/// As for [`BagRequest::plan`], then for [`given`], [`Error::AllocationFailed`], then errors of the run.
#[inline(never)]
pub(super) fn run(request: &BagRequest<'_>, reader: &Reader<'_>, tensors: BagTensors<'_, '_>) -> Result<(), Error> {
    request.plan(reader.layout, one(tensors.bags()), tensors.out().layout(), |plan, bags, fresh| {
        let chunks = chunked(plan, reader);
        let map = given(plan, &bags, reader, chunks.as_ref())?;
        // SAFETY: X1: the plan was made for these tensors' layouts; the params of the map have just been checked, and
        // those of chunks when the chunks were made (K8).
        unsafe { erased::run((plan, &bags), Some(&map), fresh, tensors) }
    })
}

/// Runs a plan on tensors of its types, with the map or the chunks of a reader of the planned format.
///
/// # Errors
/// As for [`PlannedBag::check`], [`given`] and [`PlannedBag::run_checked`].
#[inline(never)]
pub(super) fn run_plan(planned: &PlannedBag, reader: &Reader<'_>, tensors: BagTensors<'_, '_>) -> Result<(), Error> {
    let mut read = None;
    let bags = planned.check(tensors.data().layout, one(tensors.bags()), &mut read)?;
    let chunks = chunked(&planned.plan, reader);
    let map = given(&planned.plan, bags, reader, chunks.as_ref())?;
    // SAFETY: `check` returned these bags for the tensors. The map has the plan's types and checked params (K8).
    unsafe { planned.run_checked(bags, tensors, Some(&map)) }
}

/// Calls `run` with the params of a reader of the planned format; none for elements and fused rows.
///
/// # Errors
/// As for [`given`].
pub(super) fn with_params(
    plan: &BagReducePlan,
    bags: &PreparedBags,
    reader: &Reader<'_>,
    run: &mut dyn FnMut(ErasedParams<'_>),
) -> Result<(), Error> {
    let chunks = chunked(plan, reader);
    let converts = chunks.is_some() || matches!(reader.format, Format::Mapped(..));
    run(if converts { given(plan, bags, reader, chunks.as_ref())?.params } else { ErasedParams::NONE });
    Ok(())
}

/// The params of the chunks of a call, if there are several.
fn chunked<'a>(plan: &BagReducePlan, reader: &Reader<'a>) -> Option<ChunkedParams<'a>> {
    let table = reader.chunks?.table?;
    Some(ChunkedParams { table, level: plan.level })
}

/// A map with checked arguments, each with a value for every row, or for every element; or chunks.
///
/// # Errors
/// As for [`maps::given`].
fn given<'a>(
    plan: &BagReducePlan,
    bags: &PreparedBags,
    reader: &Reader<'a>,
    chunks: Option<&'a ChunkedParams<'_>>,
) -> Result<BagMap<'a>, Error> {
    let data = reader.layout;
    let (fns, params) = match (chunks, reader.format) {
        (Some(chunks), _) => (&CHUNKED, chunks.erased()),
        (None, Format::Mapped(map, Some(args))) => {
            let axis = Axis { axis: 0, dim: data.shape()[0], data: data.strides()[0], index: 0 };
            (&map.decode_fns, maps::given(Op::EmbeddingBag, (map, args), &[axis], data)?)
        }
        _ => unreachable!("a source that converts nothing"),
    };
    Ok(BagMap { conversion: plan.conversion(&bags.bounds, *fns.each.get(*plan.level)), params })
}
