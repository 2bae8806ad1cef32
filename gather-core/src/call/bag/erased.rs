//! An EmbeddingBag without its types: what every door makes, and the one pipeline behind it.
//!
//! ```text
//! check attributes against shapes  ->  read the offsets  ->  plan (loops, level, kernel)  ->  run
//! ```

use crate::call::bag::{Bags, EmbeddingBag};
use crate::call::check_output;
use crate::call::source::kind::index_type;
use crate::exec::{self, BagOperands};
use crate::kernels::by_level::ByLevel;
use crate::kernels::convert::{ConvertFns, ErasedParams};
use crate::kernels::reduce::{self, BagFn, BagFns, FusedOutput, PositionsFn, Reductions};
use crate::plan::{BagCall, BagConverting, BagFused, BagPlan, BagRequest, Bounds};
use crate::tensor::dynamic::DynView;
use crate::tensor::layout::{Layout, Shape};
use crate::tensor::output::Target;
use crate::tensor::view::View;
use crate::types::codes::Scale;
use crate::types::element::{DType, Element, IsElement};
use crate::types::error::Error;
use crate::types::fused::FusedRow;
use crate::types::index::{Index, IndexType};
use crate::types::op::{Argument, Op};
use crate::types::policy::NegativeIndex;
use crate::types::reduction::{Reducible, Reduction};

const OP: Op = Op::EmbeddingBag;

/// The call to plan, without its types.
pub(super) struct Request<'a> {
    op: &'a EmbeddingBag,
    /// Of the output.
    dtype: DType,
    index: IndexType,
    positions: ByLevel<PositionsFn>,
    fns: &'static BagFns,
    /// Numbers of an element of the output, each of which is reduced.
    values: usize,
    converting: Option<BagConverting>,
    fused: Option<BagFused>,
    /// The name of the reduction, where it takes no weights.
    unweighted: Option<&'static str>,
}

/// A tensor without its type.
#[derive(Clone, Copy)]
pub struct Erased<'a> {
    pub(super) origin: *const u8,
    pub(super) layout: &'a Layout,
}

/// The tensors of a call.
#[derive(Clone, Copy)]
pub struct Tensors<'a> {
    pub(super) data: Erased<'a>,
    pub(super) indices: Erased<'a>,
    pub(super) offsets: Option<Offsets<'a>>,
    pub(super) weights: Option<Erased<'a>>,
    /// The values of a map's parameters.
    pub(super) params: ErasedParams<'a>,
}

impl<'a, T> From<&'a View<'_, T>> for Erased<'a> {
    fn from(view: &'a View<'_, T>) -> Self {
        Erased { origin: view.origin().cast(), layout: view.layout() }
    }
}

impl<'a> From<(*const u8, &'a Layout)> for Erased<'a> {
    fn from((origin, layout): (*const u8, &'a Layout)) -> Self {
        Erased { origin, layout }
    }
}

/// The layout of a tensor that is not read.
impl<'a> From<&'a Layout> for Erased<'a> {
    fn from(layout: &'a Layout) -> Self {
        Erased { origin: core::ptr::null(), layout }
    }
}

/// The offsets of bags.
///
/// Invariant V1: they may be read along the layout as values of the index type, as long as they are borrowed.
#[derive(Clone, Copy)]
pub(super) struct Offsets<'a> {
    of: Erased<'a>,
    index: IndexType,
}

impl<'a> Offsets<'a> {
    fn new<O: Index>(offsets: &'a View<'_, O>) -> Self {
        Offsets { of: offsets.into(), index: O::TYPE }
    }

    /// Those of a type that is known at run time.
    ///
    /// # Errors
    /// [`Error::NotAnIndexType`].
    pub(super) fn erased(offsets: &'a DynView<'_>) -> Result<Self, Error> {
        Ok(Offsets { of: offsets.into(), index: index_type(offsets.dtype())? })
    }

    /// Reads a list of offsets.
    ///
    /// # Errors
    /// Those of [`Bounds::at`].
    fn read(&self, indices: usize, its_end: bool) -> Result<Bounds, Error> {
        let Offsets { of: Erased { origin, layout }, index } = *self;
        let &[stride] = layout.strides() else { unreachable!("offsets are of rank 1") };
        let (read, stride) = (index.reader(), stride.wrapping_mul(index.size() as isize));
        let offset = |at: usize| {
            let at = origin.wrapping_offset(stride.wrapping_mul(at as isize));
            // SAFETY: V1: an offset of the list.
            unsafe { read(at) }
        };
        Bounds::at((0..layout.len()).map(offset), indices, its_end)
    }
}

impl<'a> Tensors<'a> {
    /// Those of bags on data.
    pub(super) fn of<W, I: Index, O: Index>(data: impl Into<Erased<'a>>, bags: &Bags<'a, W, I, O>) -> Self {
        Tensors {
            data: data.into(),
            indices: bags.indices.into(),
            offsets: bags.offsets.map(Offsets::new),
            weights: bags.weights.map(Into::into),
            params: ErasedParams::NONE,
        }
    }

    /// The function of a call that takes them.
    #[inline(always)]
    pub(super) fn reduce(&self, call: &BagCall<'_>) -> BagFn {
        call.reduce(self.weights.is_some()).expect("weights are refused where the reduction takes none")
    }

    /// With the output.
    #[inline(always)]
    pub(super) fn operands(&self, out: *mut u8) -> BagOperands<'a> {
        let weights = self.weights.map(|weights| (weights.origin, weights.layout));
        let Tensors { data, indices, params, .. } = *self;
        BagOperands { out, data: data.origin, index: indices.origin, indices: indices.layout, weights, params }
    }
}

impl<'a> Request<'a> {
    /// A request for elements and indices of types that are known to the compiler, with a reduction of the caller's own
    /// of the elements' type, or the operator's.
    ///
    /// # Errors
    /// [`Error::ReductionUnavailable`].
    #[inline(always)]
    pub(super) fn typed<T: Element, I: Index>(
        op: &'a EmbeddingBag,
        own: Option<(&'static BagFns, &'static str)>,
    ) -> Result<Self, Error> {
        const { IsElement::<T>::CHECK };
        let types = (T::DTYPE, I::TYPE, reduce::positions::<I>());
        match own {
            None => Self::new(op, Reductions::<BagFns>::of::<T>().bags(op.kind.reduction), None, types),
            Some((fns, name)) => Self::new(op, Some((fns, 1)), Some(name), types),
        }
    }

    /// A request for elements `T` that a map converts into `U`, and for indices of types that are known to the
    /// compiler.
    ///
    /// # Errors
    /// [`Error::ReductionUnavailable`].
    pub(super) fn mapped<T: Element, U: Reducible, I: Index>(
        op: &'a EmbeddingBag,
        convert_fns: ByLevel<ConvertFns>,
    ) -> Result<Self, Error> {
        const { IsElement::<T>::CHECK };
        const { IsElement::<U>::CHECK };
        let converting = Some(BagConverting { convert_fns, size_in: size_of::<T>() });
        let found = Reductions::<BagFns>::of::<U>().bags(op.kind.reduction);
        let request = Self::new(op, found, None, (U::DTYPE, I::TYPE, reduce::positions::<I>()))?;
        Ok(Request { converting, ..request })
    }

    /// A request for fused rows, whose values are reduced as `f32`, and for elements of the output and indices of types
    /// that are known to the compiler.
    ///
    /// # Errors
    /// [`Error::ReductionUnavailable`].
    pub(super) fn fused<U: Scale, I: Index>(op: &'a EmbeddingBag, row: FusedRow) -> Result<Self, Error> {
        let output = Some(const { FusedOutput::of::<U>() });
        Self::of_fused(op, row, (U::DTYPE, output), (I::TYPE, reduce::positions::<I>()))
    }

    /// As [`Request::fused`], for types that are known at run time.
    ///
    /// # Errors
    /// [`Error::ReductionUnavailable`], also where the output is of another type than a float.
    pub(super) fn fused_erased(
        op: &'a EmbeddingBag,
        row: FusedRow,
        (dtype, index): (DType, IndexType),
    ) -> Result<Self, Error> {
        Self::of_fused(op, row, (dtype, FusedOutput::of_dtype(dtype)), (index, reduce::positions_of(index)))
    }

    fn of_fused(
        op: &'a EmbeddingBag,
        row: FusedRow,
        (dtype, output): (DType, Option<FusedOutput>),
        (index, positions): (IndexType, ByLevel<PositionsFn>),
    ) -> Result<Self, Error> {
        let (format, reduction) = (row.format(), op.kind.reduction);
        let unavailable = Error::ReductionUnavailable { op: OP, reduction, dtype: Some(dtype) };
        let (fns, output) = reduce::fused(format, reduction).zip(output).ok_or(unavailable)?;
        let as_it_is = reduce::fused(format, Reduction::Max).expect("rows have a greatest value").plain;
        let fused = Some(BagFused { row, output, as_it_is });
        let unweighted = if fns.weighted.is_some() { None } else { Some(reduction.name()) };
        Ok(Request { op, dtype, index, positions, fns, values: 1, converting: None, fused, unweighted })
    }

    /// A request for types that are known at run time.
    ///
    /// # Errors
    /// [`Error::ReductionUnavailable`].
    pub(super) fn erased(op: &'a EmbeddingBag, (dtype, index): (DType, IndexType)) -> Result<Self, Error> {
        let found = Reductions::<BagFns>::of_dtype(dtype).bags(op.kind.reduction);
        Self::new(op, found, None, (dtype, index, reduce::positions_of(index)))
    }

    /// A request for the functions that were found, those of the operator's reduction or those that `own` names.
    #[inline(always)]
    fn new(
        op: &'a EmbeddingBag,
        found: Option<(&'static BagFns, usize)>,
        own: Option<&'static str>,
        (dtype, index, positions): (DType, IndexType, ByLevel<PositionsFn>),
    ) -> Result<Self, Error> {
        let reduction = op.kind.reduction;
        let (fns, values) = found.ok_or(Error::ReductionUnavailable { op: OP, reduction, dtype: Some(dtype) })?;
        let unweighted = own.or(if fns.weighted.is_some() { None } else { Some(reduction.name()) });
        Ok(Request { op, dtype, index, positions, fns, values, converting: None, fused: None, unweighted })
    }

    /// Checks attributes against the shape of data.
    ///
    /// # Errors
    /// [`Error::RowOutOfRange`].
    #[inline(always)]
    pub(super) fn of_data(&self, data: &Layout) -> Result<BagRequest, Error> {
        let (kind, options, dim) = (&self.op.kind, self.op.options, data.shape()[0]);
        let padding = row(Argument::PaddingIndex, kind.padding_index, NegativeIndex::FromEnd, dim)?;
        let default = row(Argument::DefaultIndex, kind.default_index, NegativeIndex::Reject, dim)?;
        let Request { dtype, index, positions, fns, values, converting, fused, .. } = *self;
        let (policy, skips_negative) = (kind.policy, kind.skip_negative);
        let request = BagRequest {
            dtype,
            index,
            positions,
            fns,
            values,
            converting,
            fused,
            policy,
            padding,
            skips_negative,
            default,
            options,
        };
        Ok(request)
    }

    /// The rules for the bags of a call.
    pub(super) fn rules(&self) -> Rules {
        Rules { unweighted: self.unweighted, include_last_offset: self.op.kind.include_last_offset }
    }

    /// Plans for an output: for one that is not fixed, of the row-major layout.
    ///
    /// # Errors
    /// Those of attributes and shapes, [`Error::ShapeMismatch`] for a fixed output, [`Error::TooManyElements`], and
    /// those of [`BagPlan::new`].
    #[inline(always)]
    pub(super) fn plan(&self, tensors: &Tensors<'_>, fixed: Option<&Layout>) -> Result<Made, Error> {
        let data = tensors.data.layout;
        let bounds = bounds(tensors, self.op.kind.include_last_offset)?;
        let request = self.of_data(data)?;
        check_weights(self.unweighted, tensors)?;
        let out = output(data, bounds.bags())?;
        if let Some(fixed) = fixed {
            check_output(OP, out.shape(), fixed.shape())?;
        }
        let plan = BagPlan::new(&request, data, fixed.unwrap_or(&out))?;
        Ok(Made { plan, bounds, out })
    }

    /// Runs into an output.
    ///
    /// # Errors
    /// Those of [`Request::plan`] and of the run.
    ///
    /// # Safety
    /// The tensors may be read along their layouts as values of the request's types, or data is a table of its fused rows
    /// (B7). O1 for elements of its data type; a fixed output overlaps no input.
    pub(super) unsafe fn run(&self, tensors: &Tensors<'_>, out: Target<'_>) -> Result<(), Error> {
        let made = self.plan(tensors, out.layout());
        // Not moved out of the result: to move hundreds of bytes takes as long as a short call.
        let Ok(made) = &made else { return made.map(drop) };
        // SAFETY: X1: the plan was made for these layouts and types, or these fused rows; weights have been checked.
        unsafe { run(&made.plan.call(&made.bounds), &made.out, tensors, out) }
    }
}

/// A plan with the bags that it was made with, and the row-major layout of their result.
pub(super) struct Made {
    pub(super) plan: BagPlan,
    pub(super) bounds: Bounds,
    pub(super) out: Layout,
}

/// The rules for the bags of a call.
#[derive(Clone, Copy)]
pub(super) struct Rules {
    /// The name of the reduction, where it takes no weights.
    pub(super) unweighted: Option<&'static str>,
    pub(super) include_last_offset: bool,
}

/// Checks the ranks of the tensors of a call, and reads where bags begin and end.
///
/// # Errors
/// [`Error::RankOutOfRange`], then those of offsets.
//
// Inlined, as is `output`: what a function returns by words and the caller moves in vectors waits for the stores.
#[inline(always)]
pub(super) fn bounds(tensors: &Tensors<'_>, include_last_offset: bool) -> Result<Bounds, Error> {
    let (data, indices) = (tensors.data.layout, tensors.indices.layout);
    check_ranks(data.rank(), indices.rank(), tensors.offsets.map(|offsets| offsets.of.layout.rank()))?;
    match tensors.offsets {
        None => Ok(Bounds::every(indices.shape()[1], indices.shape()[0])),
        Some(offsets) => offsets.read(indices.len(), include_last_offset),
    }
}

/// Runs a plan with the bags of a call, whose result has a row-major layout unless the output is fixed.
///
/// # Errors
/// [`Error::AllocationFailed`], and those of [`exec::run_bags`].
///
/// # Safety
/// X1: the tensors are of the plan's layouts and types and of the bounds (P2), and so is a fixed output; another is of
/// its data type (O1), and the plan's output is row-major. Weights have been checked, and so have parameters: what
/// `params` points to is that of the plan's map (K8).
pub(super) unsafe fn run(
    call: &BagCall<'_>,
    layout: &Layout,
    tensors: &Tensors<'_>,
    out: Target<'_>,
) -> Result<(), Error> {
    let fresh = || Ok((layout.shape(), layout.len()));
    // SAFETY: the caller's promise; memory that is not fixed is fresh and row-major.
    let run = |out| unsafe { exec::run_bags(call, tensors.reduce(call), tensors.operands(out)) };
    // SAFETY: a run that succeeds has initialised every element of its output (X3).
    unsafe { out.write(fresh, run) }
}

/// Checks the ranks of data, indices and offsets.
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

/// Checks that weights are taken, and have the shape of indices.
pub(super) fn check_weights(unweighted: Option<&'static str>, tensors: &Tensors<'_>) -> Result<(), Error> {
    let Some(Erased { layout: weights, .. }) = tensors.weights else { return Ok(()) };
    let (expected, got) = (tensors.indices.layout.shape(), weights.shape());
    match unweighted {
        Some(reduction) => Err(Error::WeightsUnavailable { reduction }),
        None if expected != got => {
            let (expected, got) = (expected.into(), got.into());
            Err(Error::ShapeMismatch { op: OP, argument: Argument::Weights, expected, got })
        }
        None => Ok(()),
    }
}

/// The number of bags that `offsets` offsets make.
pub(super) fn bags(offsets: usize, include_last: bool) -> Result<usize, Error> {
    if include_last { offsets.checked_sub(1).ok_or(Error::NoOffsets) } else { Ok(offsets) }
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
    row.map(Some).ok_or(Error::RowOutOfRange { argument, index, dim })
}
