//! Bags by the kind of their rows. Calls of typed kinds link neither code for run-time types nor conversions.

use core::borrow::Borrow;

use crate::call::bag::BagOperator;
use crate::call::bag::bags::PlanBags;
use crate::call::bag::erased::{BagTensors, ErasedBags, one};
use crate::call::bag::fused::check_rows;
use crate::call::bag::maps;
use crate::call::bag::plan::{PlannedBags, Reads};
use crate::call::bag::planned::PlannedBag;
use crate::call::bag::tables::{self, PlannedTables, TablesRequest};
use crate::call::source::Source;
use crate::call::source::kind::{IndexKind, Kind, not_compiled};
use crate::call::source::reader::{Format, Reader};
use crate::kernels::reduce::Reductions;
use crate::kernels::reduce::bag::{BagFns, PositionsFns};
use crate::kernels::reduce::reducer::Reducer;
use crate::plan::{BagKernels, BagRequest};
use crate::tensor::output::Output;
use crate::tensor::typing::Dyn;
use crate::types::element::{DType, Element, IsElement};
use crate::types::error::Error;
use crate::types::index::IndexType;
use crate::types::op::Op;
use crate::types::reduction::Reduction;

/// A kind of rows that bags reduce: elements, [`Dyn`], [`Mapped`](crate::Mapped), [`Fused`](crate::Fused) and
/// [`Tables`](crate::Tables). Sealed.
#[diagnostic::on_unimplemented(
    message = "bags do not reduce rows of `{Self}`",
    label = "not reduced in bags",
    note = "bags take elements, what a map makes of them, chunks of both, fused rows and `tables`; of a map the \
            results are built-in numbers, `bool`, or arrays of them",
    note = "of fused rows in several chunks, `GatherOperator` and maps of their bytes read rows"
)]
pub trait BagKind: Kind {
    /// The type of weights: numbers, or [`Dyn`] for a type known at run time.
    type Weight;

    /// The data type of weights; `None` if weights have the number type of the results.
    #[doc(hidden)]
    const WEIGHT: Option<DType> = None;

    /// The data type of weights, for results of a data type.
    #[doc(hidden)]
    #[inline(always)]
    fn weight(dtype: DType) -> DType {
        Self::WEIGHT.unwrap_or_else(|| dtype.number())
    }
}

/// A call of one table or of several, without its tensors.
#[allow(clippy::large_enum_variant, reason = "most calls are of one table")]
pub enum Request<'a> {
    Rows(BagRequest<'a>),
    Tables(TablesRequest<'a>),
}

/// A kind of rows that bags reduce by `R`: a [`Reduction`], or for elements `T` a `&Reducer<T>`. Sealed.
#[diagnostic::on_unimplemented(
    message = "bags do not reduce rows of `{Self}` by `{R}`",
    label = "not reduced in bags",
    note = "bags take elements, what a map makes of them, chunks of both, fused rows and `tables`; of a map the \
            results are built-in numbers, `bool`, or arrays of them",
    note = "of fused rows in several chunks, `GatherOperator` and maps of their bytes read rows",
    note = "a `Reducer<T>` takes elements `T` alone"
)]
pub trait BaggedBy<R>: BagKind {
    /// The request of an operator, for indices of kind `I`.
    ///
    /// # Errors
    /// [`Error::ReductionUnavailable`].
    #[doc(hidden)]
    fn request<'a, I: IndexKind>(
        op: &'a BagOperator<R>,
        data: &Reader<'_>,
        bags: &[ErasedBags<'_>],
    ) -> Result<Request<'a>, Error>;
}

/// A source of elements, mapped elements or fused rows that bags reduce to elements `U`, with weights `W`. `W` is `f32`
/// for fused rows, else the number type of `U`: `f32` if `U` is `[f32; 32]`. A bound for functions of your own.
///
/// ```
/// use gather_core::{BagTableOf, Bags, EmbeddingBag, Error, FusedRows, Reduction, Tensor, View};
///
/// /// The sums of the rows of two bags, of whatever kind the table is.
/// fn sums(table: &impl BagTableOf<f32>, ids: &[u32], first: u32) -> Result<Tensor<f32>, Error> {
///     EmbeddingBag::new(Reduction::Add).run(table, &Bags::new(ids, &[0, first]))
/// }
///
/// fn main() -> Result<(), Error> {
///     let table = View::new(&[1.0f32, 2.0, 3.0, 4.0], &[2, 2])?;
///     assert_eq!(sums(&table, &[0, 1, 1], 2)?.as_slice(), [4.0, 6.0, 3.0, 4.0]);
///     let rows = FusedRows::plain(table)?;
///     assert_eq!(sums(&rows.to::<f32>(), &[0, 1, 1], 2)?.as_slice(), [4.0, 6.0, 3.0, 4.0]);
///     Ok(())
/// }
/// ```
pub trait BagTableOf<U, W = U>: Source<Kind: BaggedBy<Reduction, Weight = W> + Kind<Out = U>> {}

impl<U, W, S> BagTableOf<U, W> for S where S: Source<Kind: BaggedBy<Reduction, Weight = W> + Kind<Out = U>> + ?Sized {}

/// Calls `request` with the reader of data and the bags, then `run` with the returned request, the reader and the
/// tensors of the call. `planned(table)` is the required type of the indices of a table, or `None` for any type.
///
/// # Errors
/// As for [`PlanBags::with`], errors of `request`, [`Error::DTypeMismatch`] for an output whose type is known at run
/// time, then errors of `run`.
#[inline(always)]
pub(super) fn with_tensors<S, B, O, Q>(
    (data, bags, out): (&S, &B, &mut O),
    planned: impl Fn(usize) -> Option<IndexType>,
    request: impl FnOnce(&Reader<'_>, &[ErasedBags<'_>]) -> Result<Q, Error>,
    run: impl FnOnce(Q, &Reader<'_>, BagTensors<'_, '_>) -> Result<(), Error>,
) -> Result<(), Error>
where
    S: Source<Kind: BagKind> + ?Sized,
    B: PlanBags<<S::Kind as BagKind>::Weight> + ?Sized,
    O: Output<<S::Kind as Kind>::Out>,
{
    let held = data.held();
    let reader = data.reader(held.borrow());
    bags.with(S::Kind::weight(reader.dtype), planned, |bags| {
        let request = request(&reader, bags)?;
        let out = out.target_of(reader.dtype)?;
        // SAFETY: V1, V3: data is a source with its own layout, and bags are made by `PlanBags` alone. O1: the output
        // takes elements of data's kind or data type, and is borrowed mutably, so that it overlaps no input.
        run(request, &reader, unsafe { BagTensors::new(reader.parts(), bags, out) })
    })
}

/// Runs the request on its tensors: data of a reader, and bags of [`BagKind::Weight`].
///
/// # Errors
/// As for [`run_into`](BagOperator::run_into), after [`Error::DTypeMismatch`] for the output.
#[inline(always)]
pub(super) fn run<K: BagKind>(
    request: Request<'_>,
    reader: &Reader<'_>,
    tensors: BagTensors<'_, '_>,
) -> Result<(), Error> {
    match (request, reader.format) {
        (Request::Rows(request), _) if K::IS_PLAIN => request.run(tensors),
        (Request::Rows(request), format) if reader.chunks.is_some() || matches!(format, Format::Mapped(..)) => {
            maps::run(&request, reader, tensors)
        }
        (Request::Rows(request), Format::Plain) => request.run(tensors),
        (Request::Rows(request), Format::Fused(table)) => {
            tensors.out().layout().map_or(Ok(()), check_rows)?;
            // B7: the request was made with `table.row()`.
            request.run(tensors.of_table(table))
        }
        (Request::Tables(request), Format::Tables(tables)) => tables::run(&request, tables, tensors),
        _ => unreachable!("a request of another kind"),
    }
}

/// Makes a plan. Reads the offsets, and the layouts of the other tensors.
///
/// # Errors
/// As for [`plan`](BagOperator::plan), after errors of types.
#[inline(always)]
pub(super) fn plan(request: Request<'_>, reader: &Reader<'_>, bags: &[ErasedBags<'_>]) -> Result<PlannedBags, Error> {
    let (request, reads, layout) = match (request, reader.format) {
        (Request::Rows(request), format) if reader.chunks.is_some() || matches!(format, Format::Mapped(..)) => {
            let names = if let Format::Mapped(map, _) = format { map.params } else { &[] };
            (request, Reads::Converted(names, reader.chunk_count()), reader.layout)
        }
        (Request::Rows(request), Format::Fused(table)) => (request, Reads::Fused(table.format()), table.layout()),
        (Request::Rows(request), _) => (request, Reads::Elements, reader.layout),
        (Request::Tables(request), Format::Tables(tables)) => {
            return Ok(PlannedBags::Tables(PlannedTables::new(&request, tables, bags)?));
        }
        _ => unreachable!("a request of another kind"),
    };
    Ok(PlannedBags::Rows(PlannedBag::new(&request, layout, one(bags))?, reads))
}

/// # Errors
/// As for [`BagPlan::run_into`](crate::BagPlan::run_into), after errors of types.
#[inline(always)]
pub(super) fn run_plan<K: BagKind>(
    plan: &PlannedBags,
    reader: &Reader<'_>,
    tensors: BagTensors<'_, '_>,
) -> Result<(), Error> {
    match (plan, reader.format) {
        (PlannedBags::Rows(planned, _), _) if K::IS_PLAIN => planned.run(tensors),
        (PlannedBags::Rows(planned, reads), format) => {
            reads.check(reader)?;
            match (reads, format) {
                (Reads::Converted(..), _) => maps::run_plan(planned, reader, tensors),
                // B7: the format has just been checked, and the layout, which the plan compares, has these columns.
                (_, Format::Fused(table)) => planned.run(tensors.of_table(table)),
                _ => planned.run(tensors),
            }
        }
        (PlannedBags::Tables(planned), Format::Tables(tables)) => planned.run(tables, tensors),
        _ => unreachable!("a plan of another kind"),
    }
}

/// Implements [`BagKind`] and [`BaggedBy`] for elements that a [`Reduction`] reduces unconverted.
macro_rules! plain {
    ($([$($generics:tt)*] $Kind:ty: $Weight:ty, $weight:expr, |$dtype:ident| $reductions:expr;)*) => {$(
        #[diagnostic::do_not_recommend]
        impl<$($generics)*> BagKind for $Kind {
            type Weight = $Weight;

            const WEIGHT: Option<DType> = $weight;
        }

        #[diagnostic::do_not_recommend]
        impl<$($generics)*> BaggedBy<Reduction> for $Kind {
            #[inline(always)]
            fn request<'a, I: IndexKind>(
                op: &'a BagOperator<Reduction>,
                reader: &Reader<'_>,
                bags: &[ErasedBags<'_>],
            ) -> Result<Request<'a>, Error> {
                let ($dtype, index, reduction) = (reader.dtype, one(bags).index, op.reduction);
                let found = BagKernels::built_in($reductions.bags(reduction), reduction, $dtype)?;
                Ok(Request::Rows(BagRequest::new(op, found, $dtype, positions::<I>($dtype, index)?)))
            }
        }
    )*};
}
plain! {
    [T: Element] T: T::Number, Some(<T::Number as Element>::DTYPE), |dtype| of_elements::<T>();
    [] Dyn: Dyn, None, |dtype| of_dtype(dtype)?;
}

/// # Errors
/// [`Error::KernelsNotCompiled`].
fn of_dtype(dtype: DType) -> Result<Reductions<BagFns>, Error> {
    let found = Reductions::<BagFns>::of_dtype(dtype);
    found.ok_or(Error::KernelsNotCompiled { op: Op::EmbeddingBag, dtype, index: None })
}

/// # Errors
/// [`Error::KernelsNotCompiled`].
#[inline(always)]
pub(super) fn positions<I: IndexKind>(dtype: DType, index: IndexType) -> Result<IndexResolver, Error> {
    let found = I::positions(index);
    Ok((index, found.ok_or_else(not_compiled(Op::EmbeddingBag, dtype, index))?))
}

/// An index type, and the functions that resolve its indices.
pub(super) type IndexResolver = (IndexType, &'static PositionsFns);

#[inline(always)]
fn of_elements<T: Element>() -> Reductions<BagFns> {
    const { IsElement::<T>::CHECK };
    Reductions::<BagFns>::of::<T>()
}

#[diagnostic::do_not_recommend]
impl<'r, T: Element> BaggedBy<&'r Reducer<T>> for T {
    #[inline(always)]
    fn request<'a, I: IndexKind>(
        op: &'a BagOperator<&'r Reducer<T>>,
        _: &Reader<'_>,
        bags: &[ErasedBags<'_>],
    ) -> Result<Request<'a>, Error> {
        const { IsElement::<T>::CHECK };
        let (index, reducer) = (one(bags).index, op.reduction);
        let found = BagKernels { fns: reducer.bag_fns(), values: 1, name: reducer.name() };
        Ok(Request::Rows(BagRequest::new(op, found, T::DTYPE, positions::<I>(T::DTYPE, index)?)))
    }
}
