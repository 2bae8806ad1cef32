//! Gathers by the kind of their data. Calls on typed elements reference neither the registry nor the converters.

use core::borrow::Borrow;

use crate::call::attributes::IndexAttributes;
use crate::call::gather::chunks;
use crate::call::gather::converted::{self, Converter, Decoder, Reads};
use crate::call::gather::erased::{self, Request};
use crate::call::gather::plan::GatherPlan;
use crate::call::gather::planned::PlanInner;
use crate::call::gather::{ErasedGather, GatherOperator};
use crate::call::source::Source;
use crate::call::source::kind::{
    Blocks, ByRow, ChunkKind, Chunks, Fused, IndexKind, Kind, Mapped, PlainKind, RowKind, not_compiled,
};
use crate::call::source::reader::{Format, Reader};
use crate::exec::Operands;
use crate::kernels::convert::{fused as decode_fused, quantized};
use crate::kernels::registry::Registry;
use crate::kernels::select::Kernels;
use crate::plan::IndexRequest;
use crate::tensor::layout::{Layout, Shape};
use crate::tensor::output::{Output, Target};
use crate::tensor::typing::Dyn;
use crate::types::codes::{Float, by_scale};
use crate::types::element::{DType, Element};
use crate::types::error::Error;
use crate::types::index::{Index, IndexType};

/// A kind of data that gathers read. Sealed.
pub trait GatherKind: Kind {
    /// The kind of one chunk; this kind, unless it is [`Chunks`].
    #[doc(hidden)]
    type Chunk: GatherKind;

    /// The kernels that move elements of a data type, or resolve indices for maps, formats and row functions.
    ///
    /// # Errors
    /// [`Error::UnknownDType`], [`Error::KernelsNotCompiled`].
    #[doc(hidden)]
    fn kernels<I: IndexKind>(op: &ErasedGather<'_>, dtype: DType, index: IndexType) -> Result<Kernels, Error> {
        I::gathers::<()>(index).ok_or_else(not_compiled(op.op(), dtype, index))
    }

    /// The decoder of data; `None` for elements that are moved unchanged.
    ///
    /// # Errors
    /// [`Error::DTypeMismatch`] for a type known at run time that is not a [`Float`].
    #[doc(hidden)]
    #[inline(always)]
    fn decoder(_: &Reader<'_>) -> Result<Option<Decoder>, Error> {
        Ok(None)
    }
}

/// The outputs that a plan is made for.
#[derive(Clone, Copy)]
pub(in crate::call) enum Outputs<'a> {
    RowMajor,
    Of(&'a Layout),
    /// Row-major, for any size of the first dimension of indices.
    AnyCount,
}

/// A kind of data that operators with attributes `A` gather. Whole rows need [`Gather`](crate::Gather). Sealed.
#[diagnostic::on_unimplemented(
    message = "an operator with `{A}` does not gather `{Self}`",
    label = "not gathered by this operator",
    note = "row functions and fused rows need the operator that names whole rows, `Gather`; several tables need bags",
    note = "a function of your own takes any source as `&impl TableOf<Gather, f32>`"
)]
pub trait GatheredBy<A>: GatherKind {}

/// A gather operator: [`Gather`](crate::Gather), [`GatherElements`](crate::GatherElements) or
/// [`GatherNd`](crate::GatherNd). Sealed.
pub trait Gathers: crate::call::Sealed {
    #[doc(hidden)]
    type Attributes: IndexAttributes;
}

impl<A: IndexAttributes> crate::call::Sealed for GatherOperator<A> {}

impl<A: IndexAttributes> Gathers for GatherOperator<A> {
    type Attributes = A;
}

/// A source that the operator `O` gathers into elements `U`. A function with this bound takes plain elements, mapped
/// elements, fused rows and all other sources of `U`.
///
/// ```
/// use gather_core::{Error, Gather, Given, TableOf, View, maps};
///
/// /// The sums of rows, for any kind of table.
/// fn sums(table: &impl TableOf<Gather, f32>, ids: &[u32]) -> Result<Vec<f32>, Error> {
///     let rows = Gather::new(0).run(table, ids)?;
///     let columns: usize = rows.shape()[1..].iter().product();
///     Ok(rows.as_slice().chunks_exact(columns).map(|row| row.iter().sum()).collect())
/// }
///
/// fn main() -> Result<(), Error> {
///     let (floats, bytes) = ([1.0f32, 2.0, 3.0, 4.0], [129u8, 130, 131, 132]);
///     let (floats, bytes) = (View::new(&floats, &[2, 2])?, View::new(&bytes, &[2, 2])?);
///     assert_eq!(sums(&floats, &[1, 0])?, [7.0, 3.0]);
///     let numbers = bytes.map(&maps::dequantize(), (Given::All(0.5), Given::All(128)));
///     assert_eq!(sums(&numbers, &[1, 0])?, [3.5, 1.5]);
///     Ok(())
/// }
/// ```
pub trait TableOf<O: Gathers, U>: Source<Kind: GatheredBy<O::Attributes> + Kind<Out = U>> {}

impl<O: Gathers, U, S> TableOf<O, U> for S where S: Source<Kind: GatheredBy<O::Attributes> + Kind<Out = U>> + ?Sized {}

/// Calls `run` with the reader of data and the operands of a call on sources.
///
/// # Errors
/// [`Error::NotAnIndexType`], then [`Error::DTypeMismatch`] of an output known at run time; then the errors of `run`.
#[inline(always)]
pub(super) fn with_operands<S, X, O, R>(
    data: &S,
    indices: &X,
    out: &mut O,
    run: impl FnOnce(&Reader<'_>, Operands<'_, Target<'_>>) -> Result<R, Error>,
) -> Result<R, Error>
where
    S: Source + ?Sized,
    X: Source<Kind: IndexKind> + ?Sized,
    O: Output<<S::Kind as Kind>::Out>,
{
    let (held, ids) = (data.held(), indices.held());
    let (data, indices) = (data.reader(held.borrow()), indices.reader(ids.borrow()));
    let of = X::Kind::index(indices.dtype)?;
    let out = out.target_of(data.dtype)?;
    // SAFETY: V1, V3: both are sources, each with its own layout, and `of` is the index type of the indices' kind, or
    // of their data type. O1: the output takes the elements of data's kind, or of its data type, and is borrowed
    // mutably, so it overlaps neither.
    let operands = unsafe { Operands::new(data.parts(), (indices.start, indices.layout, of), out, data.dtype) };
    run(&data, operands)
}

/// Whether elements are moved unchanged, from one place: a plain kind, or one chunk of a plain kind.
#[inline(always)]
fn is_moved<K: GatherKind>(reader: &Reader<'_>) -> bool {
    K::IS_PLAIN || K::Chunk::IS_PLAIN && reader.chunks.is_none()
}

/// The request for elements that are moved unchanged.
///
/// # Errors
/// The errors of [`GatherKind::kernels`].
#[inline(always)]
fn request<K: GatherKind, I: IndexKind>(
    op: &ErasedGather<'_>,
    dtype: DType,
    index: IndexType,
) -> Result<IndexRequest, Error> {
    Ok(op.request((K::kernels::<I>(op, dtype, index)?, index), dtype, None))
}

/// Runs a call on data of a reader, and indices of kind `I`.
///
/// # Errors
/// The errors of [`Gather::run_into`](crate::GatherOperator::run_into), and of the kind's adaptor.
#[inline(always)]
pub(super) fn run<K: GatherKind, I: IndexKind>(
    op: &ErasedGather<'_>,
    reader: &Reader<'_>,
    operands: Operands<'_, Target<'_>>,
) -> Result<(), Error> {
    if is_moved::<K>(reader) {
        let planned = request::<K::Chunk, I>(op, reader.dtype, operands.indices().1)?;
        return erased::run(op.attributes, &planned, operands);
    }
    converted::check_axis(op, reader)?;
    let converter = Converter::new(reader, K::decoder(reader)?);
    converted::run(op, &converter, (K::kernels::<I>, I::converts), operands)
}

/// Makes a plan for data of a reader, indices of kind `I`, and `outputs`.
///
/// # Errors
/// The errors of [`Gather::plan`](crate::GatherOperator::plan), and of the outputs.
#[inline(always)]
pub(super) fn plan<K: GatherKind, I: IndexKind>(
    op: &ErasedGather<'_>,
    reader: &Reader<'_>,
    (indices, index): (&Layout, IndexType),
    outputs: Outputs<'_>,
) -> Result<GatherPlan, Error> {
    let dtype = reader.dtype;
    if is_moved::<K>(reader) {
        let planned = request::<K::Chunk, I>(op, dtype, index)?;
        let request = Request { attributes: op.attributes, planned: &planned, data: reader.layout, indices };
        return Ok(GatherPlan { planned: PlanInner::new(&request, outputs)?, dtype, index, reads: Reads::PLAIN });
    }
    converted::check_axis(op, reader)?;
    let converter = Converter::new(reader, K::decoder(reader)?);
    converted::plan(op, &converter, (K::kernels::<I>, I::converts), (indices, index), outputs)
}

/// Runs a plan on operands of its types.
///
/// # Errors
/// The errors of [`Plan::run_into`](crate::Plan::run_into) after its checks of data types.
#[inline(always)]
pub(super) fn run_plan<K: GatherKind>(
    plan: &GatherPlan,
    reader: &Reader<'_>,
    operands: Operands<'_, Target<'_>>,
) -> Result<(), Error> {
    if !K::IS_PLAIN {
        reader.check_chunks(plan.planned.plan().op(), plan.reads.chunks)?;
    }
    if is_moved::<K>(reader) {
        // SAFETY: `plan` made it without a conversion: its kind is plain, or it is for one chunk of a plain kind, as
        // `check_chunks` has found.
        return unsafe { plan.planned.run(operands) };
    }
    if let (Format::Mapped(map, Some(args)), None, None) = (reader.format, reader.function, reader.chunks) {
        return converted::run_map(plan, (map, args), operands);
    }
    converted::run_plan(plan, &Converter::new(reader, K::decoder(reader)?), operands)
}

/// Checks that data of a type known at run time has kernels, and that the sizes of a format are in range.
///
/// # Errors
/// [`Error::UnknownDType`], [`Error::KernelsNotCompiled`], [`Error::BlockSizeOutOfRange`].
#[inline(always)]
pub(super) fn check_data<K: GatherKind>(op: &ErasedGather<'_>, reader: &Reader<'_>) -> Result<(), Error> {
    if is_moved::<K>(reader) {
        return K::Chunk::kernels::<i32>(op, reader.dtype, i32::TYPE).map(drop);
    }
    converted::check_data(op, reader)
}

/// As [`Converter::shape_of_results`]; `None` for elements that are moved unchanged.
#[inline]
pub(super) fn results<K: GatherKind>(reader: &Reader<'_>, output: &[usize], row: &[usize]) -> Option<Shape> {
    if is_moved::<K>(reader) {
        return None;
    }
    Converter::new(reader, K::decoder(reader).ok()?).shape_of_results(output, row)
}

/// Implements [`GatherKind`] and [`GatheredBy`] for kinds that are moved unchanged.
macro_rules! plain {
    ($([$($generics:tt)*] $Kind:ty;)*) => {$(
        #[diagnostic::do_not_recommend]
        impl<$($generics)*> GatherKind for $Kind {
            type Chunk = Self;

            #[inline(always)]
            fn kernels<I: IndexKind>(op: &ErasedGather<'_>, dtype: DType, index: IndexType) -> Result<Kernels, Error> {
                let found = |registry: &'static Registry, op, dtype| registry.index_kernels(op, dtype, index);
                let call = (op.op(), dtype, Some(index));
                <$Kind as PlainKind>::kernels(op.registry.0, call, || I::gathers::<$Kind>(index), found)
            }
        }

        #[diagnostic::do_not_recommend]
        impl<A: IndexAttributes, $($generics)*> GatheredBy<A> for $Kind {}
    )*};
}
plain! {
    [T: Element] T;
    [] Dyn;
}

/// Implements [`GatherKind`] for converted kinds, by the decoder of a reader.
macro_rules! decoded {
    ($([$($generics:tt)*] $Kind:ty, $Chunk:ty: |$reader:ident| $decoder:expr;)*) => {$(
        impl<$($generics)*> GatherKind for $Kind {
            type Chunk = $Chunk;

            // Inlined in its caller: for types known at run time, `decoder` references the decoders of all formats.
            #[inline]
            fn decoder($reader: &Reader<'_>) -> Result<Option<Decoder>, Error> {
                $decoder
            }
        }
    )*};
}
decoded! {
    [T: Element, U: Element] Mapped<T, U>, Self: |reader| {
        let Format::Mapped(map, _) = reader.format else { unreachable!("a source of a map") };
        let size = size_of::<U::Number>();
        let (size_in, numbers) = (size_of::<T>(), size_of::<U>() / size);
        Ok(Some(Decoder { fns: &map.decode_fns, size_in, size, numbers, made: U::DTYPE }))
    };
    [U: Float] Fused<U>, Self: |reader| Ok(Some(of_fused::<U>(reader)));
    [] Fused<Dyn>, Self: |reader| by_scale!(
        reader.dtype, U => Ok(Some(of_fused::<U>(reader))),
        Err(Error::DTypeMismatch { expected: f32::DTYPE, got: reader.dtype })
    );
    [U: Float] Blocks<U>, Self: |reader| {
        let Format::Blocks(format, _) = reader.format else { unreachable!("a source of blocks") };
        let numbers = format.codes.per_byte();
        let made = match numbers {
            1 => <[U; 1]>::DTYPE,
            2 => <[U; 2]>::DTYPE,
            _ => <[U; 4]>::DTYPE,
        };
        let fns = quantized::decode_fns::<U>(format.codes);
        Ok(Some(Decoder { fns, size_in: 1, size: size_of::<U>(), numbers, made }))
    };
    [K: GatherKind + RowKind, U: Element] ByRow<K, U>, Self: |reader| K::decoder(reader);
    [K: ChunkKind + GatherKind] Chunks<K>, K: |reader| {
        Ok(chunks::decoder(<K as GatherKind>::decoder(reader)?, reader))
    };
}

#[inline]
fn of_fused<U: Float>(reader: &Reader<'_>) -> Decoder {
    let Format::Fused(table) = reader.format else { unreachable!("a source of fused rows") };
    let fns = decode_fused::decode_fns::<U>(table.format());
    Decoder { fns, size_in: 1, size: size_of::<U>(), numbers: 1, made: U::DTYPE }
}
