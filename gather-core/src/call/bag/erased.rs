//! The type-erased EmbeddingBag call that every public method builds, and its pipeline.
//!
//! ```text
//! check attributes against shapes  ->  read the offsets  ->  plan (loops, level, kernel)  ->  run
//! ```

use crate::call::bag::BagOperator;
use crate::call::checks::check_output;
use crate::call::source::checked::CheckedAxis;
use crate::exec::{self, BagCall, BagMap};
use crate::kernels::reduce;
use crate::kernels::reduce::bag::{BagFns, FusedOutput, PositionsFns};
use crate::plan::{BagFused, BagKernels, BagReducePlan, BagRequest, BagSettings, Bounds, PreparedBags};
use crate::tensor::fused::FusedRows;
use crate::tensor::layout::{Layout, Shape};
use crate::tensor::output::Target;
use crate::types::declare::accessors;
use crate::types::element::{DType, Unaligned};
use crate::types::error::Error;
use crate::types::fused::FusedRow;
use crate::types::index::IndexType;
use crate::types::op::{Argument, Op};
use crate::types::policy::{IndexPolicy, NegativeIndex};
use crate::types::reduction::Reduction;

const OP: Op = Op::EmbeddingBag;

impl BagKernels {
    /// The kernels of a built-in reduction of elements of a data type.
    ///
    /// # Errors
    /// [`Error::ReductionUnavailable`] if `found` is `None`.
    #[inline(always)]
    pub(super) fn built_in(
        found: Option<(&'static BagFns, usize)>,
        reduction: Reduction,
        dtype: DType,
    ) -> Result<Self, Error> {
        let Some((fns, values)) = found else {
            return Err(Error::ReductionUnavailable { op: OP, reduction, dtype: Some(dtype) });
        };
        Ok(BagKernels { fns, values, name: reduction.name() })
    }
}

/// A tensor without its type.
#[derive(Clone, Copy)]
pub struct ErasedTensor<'a> {
    pub(super) origin: *const u8,
    pub(super) layout: &'a Layout,
}

/// Bags without their types.
///
/// Invariant: the contract of [`PlanBags`](crate::PlanBags). Only its implementations make values of this type.
#[derive(Clone, Copy)]
pub struct ErasedBags<'a> {
    pub(super) indices: ErasedTensor<'a>,
    pub(super) index: IndexType,
    pub(super) starts: BagStarts<'a>,
    pub(super) weights: Option<ErasedTensor<'a>>,
    /// The axis of checked indices.
    pub(super) checked: Option<CheckedAxis>,
}

#[derive(Clone, Copy)]
pub enum BagStarts<'a> {
    /// Each row of indices is a bag.
    EachRow,
    /// Bag `b` starts at `offsets[b]`.
    At(Offsets<'a>),
    /// The plan holds the bounds of bags.
    AsPlanned,
}

/// The data, the bags and the output of a call.
///
/// Invariant: the contract of [`BagTensors::new`].
pub(super) struct BagTensors<'a, 'o> {
    data: ErasedTensor<'a>,
    bags: &'a [ErasedBags<'a>],
    out: Target<'o>,
}

/// The offsets of bags.
///
/// Invariant V1: offsets may be read along the layout as values of the index type, during the borrow `'a`.
#[derive(Clone, Copy)]
pub struct Offsets<'a> {
    pub(super) of: ErasedTensor<'a>,
    pub(super) index: IndexType,
}

impl Offsets<'_> {
    /// # Errors
    /// As for [`Bounds::at`].
    #[inline(never)]
    fn read(&self, indices: usize, last_is_end: bool) -> Result<Bounds, Error> {
        /// Reads contiguous offsets.
        ///
        /// # Safety
        /// `origin[..n]` are values `O`, at any alignment.
        unsafe fn typed<O: Copy + Into<i128> + TryInto<usize>>(
            origin: *const u8,
            n: usize,
            (indices, last_is_end): (usize, bool),
        ) -> Result<Bounds, Error> {
            // SAFETY: by the caller's contract; `Unaligned` has alignment 1.
            let offsets = unsafe { core::slice::from_raw_parts(origin.cast::<Unaligned<O>>(), n) };
            Bounds::at(offsets.iter().map(|offset| offset.0), indices, last_is_end)
        }
        let Offsets { of: ErasedTensor { origin, layout }, index } = *self;
        let (n, &[stride]) = (layout.len(), layout.strides()) else { unreachable!("offsets are of rank 1") };
        let typed = match index.fixed_width() {
            IndexType::I32 => Some(typed::<i32> as unsafe fn(_, _, _) -> _),
            IndexType::I64 => Some(typed::<i64> as _),
            IndexType::U32 => Some(typed::<u32> as _),
            IndexType::U64 => Some(typed::<u64> as _),
            _ => None,
        };
        if let (Some(typed), true) = (typed, n > 0 && stride == 1) {
            // SAFETY: V1: by `stride == 1`, the `n` offsets are contiguous. `typed` is for their type.
            return unsafe { typed(origin, n, (indices, last_is_end)) };
        }
        let (read, stride) = (index.reader(), stride.wrapping_mul(index.size() as isize));
        let offset = |at: usize| {
            let at = origin.wrapping_offset(stride.wrapping_mul(at as isize));
            // SAFETY: V1: `at < n`, so this is the address of an offset in the layout.
            unsafe { read(at) }
        };
        Bounds::at((0..n).map(offset), indices, last_is_end)
    }
}

impl<'a, 'o> BagTensors<'a, 'o> {
    /// # Safety
    /// V1, V3: data may be read along its layout as elements of the type that the call reads, as long as it is
    /// borrowed; bags are passed on by [`PlanBags`](crate::PlanBags) for this data. O1: the output takes elements of
    /// the type of results, and overlaps no input.
    #[inline(always)]
    pub(super) unsafe fn new(
        (origin, layout): (*const u8, &'a Layout),
        bags: &'a [ErasedBags<'a>],
        out: Target<'o>,
    ) -> Self {
        BagTensors { data: ErasedTensor { origin, layout }, bags, out }
    }

    /// Replaces data by a table, whose layout counts each column as one byte.
    #[inline(always)]
    pub(super) fn of_table<'t>(self, table: &'t FusedRows<'_>) -> BagTensors<'t, 'o>
    where
        'a: 't,
    {
        BagTensors { data: table.into(), ..self }
    }

    accessors! { self:
        pub(super) fn data() -> ErasedTensor<'a> => self.data;
        /// The bags of each table.
        pub(super) fn bags() -> &'a [ErasedBags<'a>] => self.bags;
        pub(super) fn out() -> &Target<'o> => &self.out;
    }

    #[inline(always)]
    pub(super) fn into_out(self) -> Target<'o> {
        self.out
    }
}

/// The bags of the only table.
#[inline(always)]
pub(super) fn one<'a, 's>(bags: &'a [ErasedBags<'s>]) -> &'a ErasedBags<'s> {
    let [bags] = bags else { unreachable!("one table has one `Bags`") };
    bags
}

impl<'a> ErasedBags<'a> {
    /// A call of a plan on these bags and the rows of `data`, into the memory `out`.
    ///
    /// # Safety
    /// As for [`BagCall::new`] (X1).
    #[inline(always)]
    pub(super) unsafe fn call(
        &self,
        plan: (&'a BagReducePlan, &'a PreparedBags),
        data: ErasedTensor<'a>,
        map: Option<&'a BagMap<'a>>,
        out: *mut u8,
    ) -> BagCall<'a> {
        let ErasedBags { indices, weights, .. } = *self;
        let weights = weights.map(|weights| (weights.origin, weights.layout));
        // SAFETY: by the caller's contract (X1).
        unsafe { BagCall::new(plan, data.origin, (indices.origin, indices.layout), weights, map, out) }
    }

    /// Checks the ranks of data, indices and offsets, and reads the bounds of bags.
    ///
    /// # Errors
    /// [`Error::RankOutOfRange`], then errors of offsets.
    #[inline(always)]
    pub(super) fn bounds(&self, data: &Layout, include_last_offset: bool) -> Result<Bounds, Error> {
        let indices = self.indices.layout;
        match self.starts {
            BagStarts::At(offsets) => {
                check_ranks(data.rank(), indices.rank(), Some(offsets.of.layout.rank()))?;
                offsets.read(indices.len(), include_last_offset)
            }
            BagStarts::EachRow => {
                check_ranks(data.rank(), indices.rank(), None)?;
                Ok(Bounds::every(indices.shape()[1], indices.shape()[0]))
            }
            BagStarts::AsPlanned => unreachable!("a plan has the bounds of its bags"),
        }
    }

    /// The same bags for a plan, which runs by any positions.
    pub(super) fn planned(&self) -> Self {
        ErasedBags { checked: self.checked.map(CheckedAxis::planned), ..*self }
    }

    /// The policy for indices of an operator, or of positions if the indices are checked.
    #[inline(always)]
    pub(super) fn policy(&self, settings: &BagSettings) -> IndexPolicy {
        self.checked.map_or(settings.policy, CheckedAxis::policy)
    }

    /// Checks that checked indices are of the `rows` rows of data, and that weights have the shape of indices. `taken`
    /// is `Err(name)` if the reduction takes no weights.
    ///
    /// # Errors
    /// [`Error::CheckedAxisMismatch`], [`Error::WeightsUnavailable`], [`Error::ShapeMismatch`].
    #[inline(always)]
    pub(super) fn check<F>(&self, rows: usize, taken: Result<F, &'static str>) -> Result<(), Error> {
        self.checked.map_or(Ok(()), |checked| checked.check(OP, rows))?;
        let Some(ErasedTensor { layout: weights, .. }) = self.weights else { return Ok(()) };
        let (expected, got) = (self.indices.layout.shape(), weights.shape());
        match taken {
            Err(reduction) => Err(Error::WeightsUnavailable { reduction }),
            Ok(_) if expected != got => {
                let (expected, got) = (expected.into(), got.into());
                Err(Error::ShapeMismatch { op: OP, argument: Argument::Weights, expected, got })
            }
            Ok(_) => Ok(()),
        }
    }
}

impl<'a> BagRequest<'a> {
    #[inline(always)]
    pub(super) fn new<R>(
        op: &'a BagOperator<R>,
        found: BagKernels,
        dtype: DType,
        (index, positions): (IndexType, &'static PositionsFns),
    ) -> Self {
        let (settings, options) = (&op.settings, op.options);
        BagRequest { settings, options, dtype, index, positions, found, converting: None, fused: None }
    }

    /// A request for fused rows, whose values are reduced as `f32`.
    ///
    /// # Errors
    /// [`Error::ReductionUnavailable`], also if `output` is `None`.
    #[cfg_attr(not(feature = "registry"), inline)]
    pub(super) fn fused(
        op: &'a BagOperator<Reduction>,
        row: FusedRow,
        (dtype, output): (DType, Option<FusedOutput>),
        index: (IndexType, &'static PositionsFns),
    ) -> Result<Self, Error> {
        let (format, reduction) = (row.format(), op.reduction);
        let (fns, output) = reduce::bag::fused(format, reduction).zip(output).unzip();
        let found = BagKernels::built_in(fns.map(|fns| (fns, 1)), reduction, dtype)?;
        let as_it_is = reduce::bag::fused(format, Reduction::Max).expect("rows have a greatest value").plain;
        let fused = output.map(|output| BagFused { row, output, as_it_is });
        Ok(BagRequest { fused, ..Self::new(op, found, dtype, index) })
    }

    /// The padding row and the default row in data.
    ///
    /// # Errors
    /// [`Error::RowOutOfRange`].
    #[inline(always)]
    pub(super) fn rows(&self, data: &Layout) -> Result<[Option<usize>; 2], Error> {
        let (settings, dim) = (self.settings, data.shape()[0]);
        let padding = row(Argument::PaddingIndex, settings.padding_index, NegativeIndex::FromEnd, dim)?;
        let default = row(Argument::DefaultIndex, settings.default_index, NegativeIndex::Reject, dim)?;
        Ok([padding, default])
    }

    /// Plans for the output layout `fixed`, or for a row-major layout, which `then` gets with the plan and the bags.
    ///
    /// # Errors
    /// Errors of attributes and shapes, [`Error::TooManyElements`], [`Error::ShapeMismatch`] for a fixed output,
    /// errors of [`BagReducePlan::new`], and of `then`.
    #[inline(always)]
    pub(super) fn plan<Y>(
        &self,
        data: &Layout,
        bags: &ErasedBags<'_>,
        fixed: Option<&Layout>,
        then: impl FnOnce(&BagReducePlan, PreparedBags, Option<&Layout>) -> Result<Y, Error>,
    ) -> Result<Y, Error> {
        let bounds = bags.bounds(data, self.settings.include_last_offset)?;
        let rows = self.rows(data)?;
        bags.check(data.shape()[0], self.found.fns.weighted.as_ref().ok_or(self.found.name))?;
        let mut fresh = None;
        let out = match fixed {
            Some(fixed) if is_output(fixed.shape(), data, bounds.bags()) => fixed,
            _ => {
                let fresh = fresh.insert(output(data, bounds.bags())?);
                fixed.map_or(Ok(()), |fixed| check_output(OP, fresh.shape(), fixed.shape()))?;
                fresh
            }
        };
        // The plan stays in the result: a move of hundreds of bytes takes as long as a short call.
        match &BagReducePlan::new(self, (rows, bags.policy(self.settings)), data, out) {
            Ok(plan) => then(plan, plan.prepare(bounds, bags.indices.layout), fresh.as_ref()),
            Err(error) => Err(error.clone()),
        }
    }

    /// Runs the request on tensors of its types, or on its fused rows.
    ///
    /// # Errors
    /// As for [`BagRequest::plan`], then errors of the run.
    pub(super) fn run(&self, tensors: BagTensors<'_, '_>) -> Result<(), Error> {
        let (data, bags) = (tensors.data, one(tensors.bags));
        // SAFETY: X1: `plan` and `bags` are for these tensors (`BagTensors::new`), without a map; weights are checked.
        self.plan(data.layout, bags, tensors.out.layout(), |plan, bags, fresh| unsafe {
            run((plan, &bags), None, fresh, tensors)
        })
    }
}

/// Runs a plan with the bags of a call. `fresh` is the row-major layout of an output that is not fixed.
///
/// # Errors
/// [`Error::AllocationFailed`], and errors of [`exec::run_bags`].
///
/// # Safety
/// X1: the plan has the types of the tensors, and was made for their layouts and the output's layout, which is
/// row-major if the output is not fixed. The bags have been prepared for the plan (P2), and the weights checked. The
/// map has the plan's types, and its parameters have been checked (K8).
#[inline(always)]
pub(super) unsafe fn run(
    plan: (&BagReducePlan, &PreparedBags),
    map: Option<&BagMap<'_>>,
    fresh: Option<&Layout>,
    tensors: BagTensors<'_, '_>,
) -> Result<(), Error> {
    let BagTensors { data, bags, out } = tensors;
    // SAFETY: X1, by the caller's contract: the plan, the bags and the map are for these tensors. `out` is the fixed
    // output, or fresh row-major memory.
    let call = |out| unsafe { one(bags).call(plan, data, map, out) };
    // `Target::write` would call its closure instead of inlining it.
    let (start, resized) = match out {
        Target::Fixed(start, _) => (start, None),
        Target::Resized(out) => {
            let layout = fresh.expect("the layout of fresh memory");
            (out.allocate(layout.shape(), layout.len())?, Some((out, layout)))
        }
    };
    exec::run_bags(call(start))?;
    if let Some((out, layout)) = resized {
        // SAFETY: `allocate` was called for `layout.len()` elements; the run, which returned `Ok`, wrote them all (X3).
        unsafe { out.assume_init(layout.shape(), layout.len()) };
    }
    Ok(())
}

/// Whether `shape == [bags] + data.shape[1..]`.
#[inline(always)]
fn is_output(shape: &[usize], data: &Layout, bags: usize) -> bool {
    let row = &data.shape()[1..];
    matches!(shape, [n, own @ ..] if *n == bags && own.iter().eq(row))
}

pub(super) fn check_ranks(data: usize, indices: usize, offsets: Option<usize>) -> Result<(), Error> {
    let check = |argument, rank, min, max| {
        let fits = (min..=max).contains(&rank);
        if fits { Ok(()) } else { Err(Error::RankOutOfRange { op: OP, argument, rank, min, max }) }
    };
    check(Argument::Data, data, 1, usize::MAX)?;
    let allowed = if offsets.is_some() { 1 } else { 2 };
    check(Argument::Indices, indices, allowed, allowed)?;
    offsets.map_or(Ok(()), |rank| check(Argument::Offsets, rank, 1, 1))
}

/// The row-major layout of the result.
#[inline(always)]
pub(super) fn output(data: &Layout, bags: usize) -> Result<Layout, Error> {
    let mut shape = Shape::from([bags]);
    shape.extend(&data.shape()[1..]);
    Layout::contiguous(&shape)
}

/// The row that an attribute names.
fn row(argument: Argument, index: Option<i64>, negative: NegativeIndex, dim: usize) -> Result<Option<usize>, Error> {
    let Some(index) = index else { return Ok(None) };
    let from_end = index < 0 && negative == NegativeIndex::FromEnd;
    let row = i128::from(index) + if from_end { dim as i128 } else { 0 };
    let row = usize::try_from(row).ok().filter(|&row| row < dim);
    if row.is_some() { Ok(row) } else { Err(Error::RowOutOfRange { argument, index, dim }) }
}
