//! Gathers that convert data on its way: the one pipeline of maps, formats and row functions.
//!
//! ```text
//! the kind       what decodes its data, a row function, or both                 `Converted`
//! a plan         of elements; or of whole rows, which are one element each      `RowShape`
//!                the shapes of what is given for decoding                       `Encoding`
//! a call         what is given against these shapes, then the run
//! ```
//!
//! Behind the kind nothing depends on a type: one function runs all calls, and one all plans.

use alloc::boxed::Box;

use crate::call::attributes::IndexAttributes;
use crate::call::gather::Operation;
use crate::call::gather::blocks::{check_values, with_last};
use crate::call::gather::decoded::{Decoded, DecodedData, Decoder, Encoding, Gives};
use crate::call::gather::erased::Request;
use crate::call::gather::kinds::{Gathered, Outputs};
use crate::call::gather::maps::check_names;
use crate::call::gather::plan::{GatherPlan, Reads};
use crate::call::gather::planned::Planned;
use crate::call::gather::rows::{RowShape, WholeRow, elements};
use crate::call::source::kind::{Blocks, ByRow, Fused, IndexKind, Kind, Mapped, ReadByRow, not_compiled};
use crate::call::source::rows::GivenToRows;
use crate::call::source::{Described, Reading};
use crate::exec::{self, Operands};
use crate::kernels::CompiledMoveFn;
use crate::kernels::by_level::ByLevel;
use crate::kernels::convert::ErasedParams;
use crate::kernels::convert::row::{Function, GivenDecoded, Placed};
use crate::plan::{Converting, Functions, IndexPlan, IndexRequest};
use crate::tensor::dynamic::check_aligned;
use crate::tensor::layout::{Layout, Shape};
use crate::tensor::output::Target;
use crate::tensor::typing::Any;
use crate::types::codes::Float;
use crate::types::element::{DType, Element};
use crate::types::error::Error;
use crate::types::index::IndexType;
use crate::types::level::Available;

/// The converter of data: a decoder, a row function, or one after the other.
#[derive(Clone, Copy)]
pub(super) struct Converter<'a> {
    pub(super) decoder: Option<Decoder>,
    pub(super) function: Option<Function<'a>>,
    /// The functions that convert the rows of a job, and the type that they write.
    rows: ByLevel<CompiledMoveFn>,
    pub(super) made: DType,
    /// Bytes of an element of data.
    pub(super) size_in: usize,
}

impl<'a> Converter<'a> {
    /// For a row function that reads what a decoder makes, or for one of them.
    #[inline(always)]
    fn new(decoder: Option<Decoder>, function: Option<Function<'a>>) -> Self {
        let (rows, size_in, made) = match (&function, &decoder) {
            (Some(Function { erased, .. }), _) => (erased.rows, erased.types.0.size(), erased.types.1),
            (None, Some(decoder)) => (decoder.fns.rows, decoder.size_in, decoder.made),
            (None, None) => unreachable!("nothing converts"),
        };
        let size_in = decoder.as_ref().map_or(size_in, |decoder| decoder.size_in);
        Converter { decoder, function, rows, made, size_in }
    }

    /// Whether rows are taken whole.
    pub(super) fn takes_rows(&self) -> bool {
        self.function.is_some() || self.decoder.is_some_and(|decoder| decoder.takes_rows())
    }

    /// Whether results are written in arrays, the values of a byte each.
    fn writes_arrays(&self) -> bool {
        self.function.is_none() && self.decoder.is_some_and(|decoder| decoder.writes_arrays())
    }

    /// The elements that become of a row of `elements`.
    pub(super) fn results(&self, elements: usize) -> usize {
        let numbers = self.decoder.map_or(elements, |decoder| decoder.numbers(elements));
        self.function.map_or(numbers, |function| function.results(numbers))
    }

    /// Whether a row becomes one value.
    pub(super) fn makes_one(&self) -> bool {
        self.function.is_some_and(|function| function.erased.one)
    }

    /// As [`Gathered::results`].
    fn shape_of_results(&self, output: &[usize], row: &[usize]) -> Option<Shape> {
        if self.writes_arrays() {
            let (last, lead) = output.split_last()?;
            return Some(lead.iter().copied().chain([self.results(*last)]).collect());
        }
        let lead = output[..output.len() - row.len()].iter().copied();
        let last = (!self.makes_one()).then(|| self.results(elements(row)));
        self.takes_rows().then(|| lead.chain(last).collect())
    }

    /// The functions of a level.
    fn functions(&self, level: Available) -> Functions {
        let decoder = self.decoder.filter(|_| self.function.is_some());
        Functions { rows: self.rows.at(level), row_fn: decoder.map(|decoder| *decoder.fns.row.get(*level)) }
    }

    fn encoding(&self, plan: &IndexPlan, data: &Layout) -> Result<Encoding, Error> {
        let bytes = self.writes_arrays().then(|| &plan.output()[..]);
        self.decoder.map_or(Ok(Encoding::Plain), |decoder| decoder.encoding(plan, data, bytes))
    }

    /// The request for elements, or for rows of a shape.
    ///
    /// # Errors
    /// [`Error::KernelsNotCompiled`].
    fn request<I: IndexKind>(
        &self,
        op: &Operation<'_>,
        shape: Option<&RowShape>,
        index: IndexType,
    ) -> Result<IndexRequest, Error> {
        let Converter { rows, made, size_in, .. } = *self;
        let whole = shape.map(|shape| shape.rows);
        let found = I::converts(index).zip(I::gathers::<()>(index));
        let (kernel, kernels) = found.ok_or_else(not_compiled(op.op(), made, index))?;
        let converting = Converting { rows, size_in, kernel, whole };
        Ok(op.request((kernels, index), made, Some(converting)))
    }
}

/// A converter with what a call gives for it.
#[derive(Clone, Copy)]
struct Conversion<'a> {
    converter: Converter<'a>,
    /// The parameters for decoding, and for the row function.
    decoding: &'a dyn Gives,
    computing: Option<&'a dyn GivenToRows>,
}

/// Says where a kernel finds what is given (K8), once the address of the output is known.
type Params<'a> = dyn FnMut(usize) -> *const () + 'a;

impl Conversion<'_> {
    /// Checks what is given, and calls `run` with it. The shape of the output is `output`.
    ///
    /// # Errors
    /// Those of [`Decoded::give`] and [`RowShape::with`], then those of `run`.
    fn give(
        &self,
        of: &DecodedData<'_>,
        (shape, output): (Option<&RowShape>, &[usize]),
        run: &mut dyn FnMut(&mut Params<'_>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let (Some(function), Some(shape), Some(given)) = (&self.converter.function, shape, self.computing) else {
            return self.decoding.give(of, &mut |decoding| run(&mut |_| decoding.given));
        };
        let mut compute = |decoding: Option<ErasedParams<'_>>| {
            shape.with(of.plan, function.erased, output, given, |placed, lookups| {
                let mut both = None;
                run(&mut |out| {
                    let rows = lookups.place(Placed { out, ..placed });
                    match decoding {
                        Some(decoder) => (&raw const *both.insert(GivenDecoded { rows, decoder })).cast(),
                        None => rows,
                    }
                })
            })
        };
        match self.converter.decoder {
            Some(_) => self.decoding.give(of, &mut |decoding| compute(Some(decoding))),
            None => compute(None),
        }
    }
}

/// Runs a call.
///
/// # Errors
/// Those of a call; after errors of outputs those of [`Converter::encoding`], [`RowShape::spacing`] and
/// [`Conversion::give`].
#[inline(always)]
fn run<I: IndexKind>(
    op: &Operation<'_>,
    conversion: &Conversion<'_>,
    dtype: DType,
    operands: Operands<'_, Target<'_>>,
) -> Result<(), Error> {
    if let Target::Fixed(out, layout) = operands.out() {
        // One whose type is known at run time may lie anywhere.
        check_aligned(dtype, *out, layout)?;
    }
    let shape = RowShape::new(op.attributes, &conversion.converter, operands.data().1)?;
    let planned = conversion.converter.request::<I>(op, shape.as_ref(), operands.indices().1)?;
    run_request(op.attributes, &planned, conversion, shape, operands)
}

/// Runs a request.
///
/// # Errors
/// As for [`run`].
#[inline(never)]
fn run_request(
    attributes: &dyn IndexAttributes,
    planned: &IndexRequest,
    conversion: &Conversion<'_>,
    mut shape: Option<RowShape>,
    operands: Operands<'_, Target<'_>>,
) -> Result<(), Error> {
    let converter = &conversion.converter;
    let ((start, data), (indices, _)) = (operands.data(), operands.indices());
    let whole = shape.map(|shape| WholeRow { attributes, shape });
    let attributes = whole.as_ref().map_or(attributes, |whole| whole);
    let request = Request { attributes, planned, data, indices };
    let arrays = converter.writes_arrays();
    let mut made =
        if arrays { request.plan().map(|(plan, out)| (plan, out.len())) } else { request.plan_for(operands.out()) };
    let Ok((plan, len)) = &mut made else { return made.map(drop) };
    converter.function.and_then(|function| function.fill).inspect(|fill| plan.set_fill(fill));
    shape.and_then(|shape| shape.decoding).inspect(|&decoding| plan.decode_rows(decoding));
    let (plan, len) = (&*plan, *len);
    let encoding = converter.encoding(plan, data)?;
    let (output, len) = match encoding.values().filter(|_| arrays) {
        Some(values) => {
            operands.out_layout().map_or(Ok(()), |out| check_values(plan.op(), values, out))?;
            (&values[..], Shape::checked_len(values)?)
        }
        None => (&plan.output()[..], len),
    };
    if let Some(shape) = &mut shape {
        shape.space(plan, converter.made.size(), data, operands.out_layout())?;
    }
    let mut operands = Some(operands);
    conversion.give(&DecodedData { plan, encoding: &encoding, start, data }, (shape.as_ref(), output), &mut |given| {
        let Some(operands) = operands.take() else { unreachable!("called once") };
        operands.write(
            || Ok((output, len)),
            |operands| {
                let params = given(operands.memory().addr());
                // SAFETY: X1: the plan was made for the layouts of the operands; a row-major output of values is one of
                // arrays, which are aligned as values are. Data and output are aligned for the types of what converts.
                // What is given is of its parameters, `Sync`, and reaches a value for every position, element or row,
                // as has been checked; rows that are taken whole are contiguous (K8).
                unsafe { exec::run_index(plan, operands.given(params)) }
            },
        )
    })
}

/// Makes a plan.
///
/// # Errors
/// Those of [`Planned::new`], of [`Converter::encoding`], of outputs, and of [`RowShape::spacing`].
#[inline(always)]
fn plan<I: IndexKind>(
    op: &Operation<'_>,
    converter: &Converter<'_>,
    (data, dtype): (&Layout, DType),
    (index, indices): (IndexType, &Layout),
    outputs: Outputs<'_>,
) -> Result<GatherPlan, Error> {
    let shape = RowShape::new(op.attributes, converter, data)?;
    let planned = converter.request::<I>(op, shape.as_ref(), index)?;
    let (planned, reads) = plan_request((op.attributes, &planned), converter, shape, (data, indices), outputs)?;
    Ok(GatherPlan { planned, dtype, index, reads })
}

/// Plans for a request.
///
/// # Errors
/// As for [`plan`].
#[inline(never)]
fn plan_request(
    (attributes, planned): (&dyn IndexAttributes, &IndexRequest),
    converter: &Converter<'_>,
    mut shape: Option<RowShape>,
    (data, indices): (&Layout, &Layout),
    outputs: Outputs<'_>,
) -> Result<(Planned, Reads), Error> {
    let whole = shape.map(|shape| WholeRow { attributes, shape });
    let attributes = whole.as_ref().map_or(attributes, |whole| whole);
    let out = if let Outputs::Of(out) = outputs { Some(out) } else { None };
    // A plan of arrays is for row-major outputs: a layout of values is compared behind it.
    let arrays = converter.writes_arrays();
    let of = if arrays && out.is_some() { Outputs::RowMajor } else { outputs };
    let mut made = Planned::new(&Request { attributes, planned, data, indices }, of)?;
    converter.function.and_then(|function| function.fill).inspect(|fill| made.set_fill(fill));
    shape.and_then(|shape| shape.decoding).inspect(|&decoding| made.decode_rows(decoding));
    let encoding = converter.encoding(&made.plan, data)?;
    if let (Some(values), Some(out)) = (encoding.values().filter(|_| arrays), out) {
        check_values(made.plan.op(), values, out)?;
    }
    if let Some(shape) = &mut shape {
        shape.space(&made.plan, converter.made.size(), data, out)?;
    }
    Ok((made, Reads { encoding: Some(Box::new(encoding)), rows: shape }))
}

/// Runs a plan on what converts as planned, or on another map or function of the planned types.
///
/// # Errors
/// Those of [`Decoder::check`], [`Error::PlanParametersMismatch`], [`Error::PlanMismatch`]; for an output of arrays
/// [`Error::ShapeMismatch`] and [`Error::NotRowMajor`]; those of [`Conversion::give`], [`Error::AllocationFailed`],
/// then those of the run.
#[inline(never)]
fn run_plan(plan: &GatherPlan, conversion: &Conversion<'_>, operands: Operands<'_, Target<'_>>) -> Result<(), Error> {
    let (GatherPlan { planned, reads: Reads { encoding, rows: shape }, dtype, .. }, converter) =
        (plan, &conversion.converter);
    let encoding = encoding.as_deref().unwrap_or(&Encoding::Plain);
    let (op, (start, data)) = (planned.plan.op(), operands.data());
    if let Target::Fixed(out, layout) = operands.out() {
        check_aligned(*dtype, *out, layout)?;
    }
    converter.decoder.map_or(Ok(()), |decoder| decoder.check(encoding, op, data))?;
    let by = converter.functions(planned.plan.spec().level);
    let mut runs = planned.converting_by(by, || match (&converter.function, shape) {
        (Some(Function { erased, .. }), Some(shape)) => check_names(op, (erased.name, erased.params), shape.params),
        _ => Ok(()),
    })?;
    let count = planned.check_operands(&operands)?;
    shape.as_ref().map_or(Ok(()), |shape| shape.check_results(converter, planned.output_shape()))?;
    let (values, mut buffer, out);
    (buffer, out) = (Shape::default(), operands.out_layout());
    let (output, len) = match (plan.reads.blocks(), out) {
        (Some(blocks), out) => {
            let (arrays, _) = planned.fresh(count, &mut buffer)?;
            values = with_last(arrays, blocks.output.last().copied().unwrap_or(0));
            out.map_or(Ok(()), |out| check_values(op, &values, out))?;
            (&values[..], Shape::checked_len(&values)?)
        }
        (None, Some(out)) => {
            planned.check_output(out, count)?;
            planned.output_of(count, &mut buffer)?
        }
        (None, None) => planned.fresh(count, &mut buffer)?,
    };
    if let (Some(function), Some(shape)) = (&converter.function, shape)
        && (shape.filled || function.fill.is_some())
    {
        match function.fill {
            Some(fill) => runs.fill_by(fill),
            None => runs.fill_by(&converter.made.zero()?),
        }
    }
    let (of, mut operands) = (DecodedData { plan: &planned.plan, encoding, start, data }, Some(operands));
    conversion.give(&of, (shape.as_ref(), output), &mut |given| {
        let Some(operands) = operands.take() else { unreachable!("called once") };
        operands.write(
            || Ok((output, len)),
            |operands| {
                let params = given(operands.memory().addr());
                // SAFETY: X1: the layouts are those of the plan, as just checked, which `runs` has too; the rest as in
                // `run_request`: rows were found to be contiguous when the plan was made.
                unsafe { runs.execute(operands.given(params), count) }
            },
        )
    })
}

/// A kind of data that is converted on its way.
pub(super) trait Converted: Kind {
    /// The kind of what is read: decoded, or as a row function reads it.
    type Read: Decoded;

    fn facts<'s>(facts: Self::Facts<'s>) -> (<Self::Read as Kind>::Facts<'s>, Option<Function<'s>>);

    fn given<'s>(given: Self::Given<'s>) -> (<Self::Read as Kind>::Given<'s>, Option<&'s dyn GivenToRows>);
}

impl<K: Decoded> Converted for K {
    type Read = K;

    #[inline(always)]
    fn facts<'s>(facts: K::Facts<'s>) -> (K::Facts<'s>, Option<Function<'s>>) {
        (facts, None)
    }

    #[inline(always)]
    fn given<'s>(given: K::Given<'s>) -> (K::Given<'s>, Option<&'s dyn GivenToRows>) {
        (given, None)
    }
}

impl<K: Decoded + ReadByRow, U: Element> Converted for ByRow<K, U> {
    type Read = K;

    #[inline(always)]
    fn facts<'s>((facts, function): Self::Facts<'s>) -> (K::Facts<'s>, Option<Function<'s>>) {
        (facts, Some(function))
    }

    #[inline(always)]
    fn given<'s>((given, to_rows): Self::Given<'s>) -> (K::Given<'s>, Option<&'s dyn GivenToRows>) {
        (given, Some(to_rows))
    }
}

/// The data that is read of a source, and the row function that reads it, if there is one.
#[inline(always)]
fn read_of<'s, K: Converted>(data: &Described<'s, K>) -> (Described<'s, K::Read>, Option<Function<'s>>) {
    let (facts, function) = K::facts(data.facts);
    (Described { layout: data.layout, dtype: data.dtype, facts }, function)
}

/// Hands what converts data to what runs it, with what is given for it.
///
/// # Errors
/// Those of [`Decoded::decoder`], then those of `run`.
#[inline(always)]
fn with<K: Converted>(
    data: &Reading<'_, K>,
    run: impl FnOnce(&Conversion<'_>) -> Result<(), Error>,
) -> Result<(), Error> {
    let ((described, function), (given, computing)) = (read_of(&data.described), K::given(data.given));
    let converter = Converter::new(K::Read::decoder(&described)?, function);
    run(&Conversion { converter, decoding: &Reading { described, given }, computing })
}

/// Implements [`Gathered`] for kinds that are converted, and says which of them read rows.
macro_rules! converted {
    ($([$($generics:tt)*] $Kind:ty, $reads_rows:literal;)*) => {$(
        impl<$($generics)*> Gathered for $Kind {
            #[inline(always)]
            fn run<I: IndexKind>(
                op: &Operation<'_>,
                data: &Reading<'_, Self>,
                operands: Operands<'_, Target<'_>>,
            ) -> Result<(), Error> {
                <Self as Converted>::Read::check_axis(op, &read_of(&data.described).0)?;
                with(data, |conversion| run::<I>(op, conversion, data.described.dtype, operands))
            }

            #[inline(always)]
            fn plan<I: IndexKind>(
                op: &Operation<'_>,
                data: Described<'_, Self>,
                indices: (IndexType, &Layout),
                outputs: Outputs<'_>,
            ) -> Result<GatherPlan, Error> {
                let (read, function) = read_of(&data);
                <Self as Converted>::Read::check_axis(op, &read)?;
                let converter = Converter::new(<Self as Converted>::Read::decoder(&read)?, function);
                plan::<I>(op, &converter, (data.layout, data.dtype), indices, outputs)
            }

            #[inline(always)]
            fn run_plan(
                plan: &GatherPlan,
                data: &Reading<'_, Self>,
                operands: Operands<'_, Target<'_>>,
            ) -> Result<(), Error> {
                with(data, |conversion| run_plan(plan, conversion, operands))
            }

            const READS_ROWS: bool = $reads_rows;

            #[inline(always)]
            fn check_data(op: &Operation<'_>, data: &Described<'_, Self>) -> Result<(), Error> {
                <<Self as Converted>::Read as Decoded>::check_data(op, &read_of(data).0)
            }

            #[inline]
            fn results(data: &Described<'_, Self>, output: &[usize], row: &[usize]) -> Option<Shape> {
                let (read, function) = read_of(data);
                let decoder = <Self as Converted>::Read::decoder(&read).ok()?;
                Converter::new(decoder, function).shape_of_results(output, row)
            }
        }
    )*};
}
converted! {
    [T: Element, U: Element] Mapped<T, U>, false;
    [U: Float] Fused<U>, true;
    [] Fused<Any>, true;
    [U: Float] Blocks<U>, true;
    [K: Decoded + ReadByRow, U: Element] ByRow<K, U>, true;
}
