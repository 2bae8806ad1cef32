//! Gathers that convert data: the pipeline of maps, formats and row functions. No function depends on a type: [`run`]
//! runs all calls, [`plan`] makes all plans, [`run_map`] and [`run_plan`] run plans.
//!
//! ```text
//! a reader       its decoder, its row function, or both in sequence             `Converter`
//! a plan         of elements; or of whole rows, each one element                `RowShape`
//!                the format of data, which a run compares                       `Reads`
//! a call         compares arguments with these shapes, then runs                `Converter::write`
//! ```

use alloc::boxed::Box;

use crate::call::gather::ErasedGather;
use crate::call::gather::blocks::check_values;
use crate::call::gather::erased::Request;
use crate::call::gather::kinds::Outputs;
use crate::call::gather::plan::GatherPlan;
use crate::call::gather::planned::{Params, PlanInner};
use crate::call::gather::rows::{RowShape, WholeRow, elements};
use crate::call::gather::{chunks, fused, maps};
use crate::call::source::block_shapes::{BlockShapes, with_last};
use crate::call::source::map::MapArgs;
use crate::call::source::reader::{Format, Reader};
use crate::exec::{self, Operands, Written};
use crate::kernels::by_level::ByLevel;
use crate::kernels::convert::chunks::ChunkedParams;
use crate::kernels::convert::map::ErasedMap;
use crate::kernels::convert::row::{DecodeLayout, DecodedRowParams, Function, Placed};
use crate::kernels::convert::{ConversionArgs, DecodeFns, ErasedParams, fused as decode_fused};
use crate::kernels::select::Kernels;
use crate::kernels::{CompiledMoveFn, IndexKernel};
use crate::plan::{Axis, Converting, IndexPlan};
use crate::tensor::dynamic::check_aligned;
use crate::tensor::layout::{Layout, Shape};
use crate::tensor::output::Target;
use crate::types::element::DType;
use crate::types::error::Error;
use crate::types::fused::FusedRow;
use crate::types::index::IndexType;
use crate::types::level::{Available, Level};
use crate::types::method::Method;
use crate::types::op::Op;

/// A decoder of a kind of data: its functions, and the sizes of an element before and after.
#[derive(Clone, Copy)]
pub struct Decoder {
    pub(super) fns: &'static DecodeFns,
    /// Bytes of an element of data.
    pub(super) size_in: usize,
    /// Bytes of a decoded number.
    pub(super) size: usize,
    /// Numbers per element; for fused rows, the format gives the numbers per row.
    pub(super) numbers: usize,
    /// The data type of a decoded element: a number, or an array of `numbers` numbers.
    pub(super) made: DType,
}

/// Two functions by index type: the first returns kernels that move or resolve, the second kernels that convert.
pub(super) type ConvertingFns = (
    fn(&ErasedGather<'_>, DType, IndexType) -> Result<Kernels, Error>,
    fn(IndexType) -> Option<fn(Level, Method) -> IndexKernel>,
);

/// How a plan reads data: the format and the shapes of whole rows. A run compares both with the reader.
#[derive(Clone)]
pub(super) struct Reads {
    format: PlannedFormat,
    rows: Option<RowShape>,
    /// The planned [`Reader::chunk_count`].
    pub(super) chunks: usize,
}

/// The facts that arguments are compared with: operator, indexed axes, level of the converting functions, shapes.
type PreparedFor<'a> = (Op, &'a [Axis], Available, &'a Reads);

#[derive(Clone)]
enum PlannedFormat {
    Plain,
    /// Elements of a map with these parameters.
    Mapped(Params),
    Fused(FusedRow),
    Blocks(Box<BlockShapes>),
}

impl Reads {
    /// Elements that are moved unchanged.
    pub(super) const PLAIN: Self = Reads { format: PlannedFormat::Plain, rows: None, chunks: 1 };

    /// The format and the whole rows of converted data, checked against a fixed output.
    ///
    /// # Errors
    /// The errors of [`BlockShapes::new`], of [`check_values`], then of [`RowShape::space`].
    #[inline(always)]
    fn new(
        converter: &Converter<'_>,
        plan: &IndexPlan,
        rows: Option<RowShape>,
        out: Option<&Layout>,
    ) -> Result<Self, Error> {
        let layout = converter.reader.layout;
        let format = match converter.reader.format {
            Format::Mapped(map, _) => PlannedFormat::Mapped(map.params),
            Format::Fused(table) => PlannedFormat::Fused(*table.row()),
            Format::Blocks(format, _) => {
                let bytes = converter.writes_arrays().then(|| &plan.output()[..]);
                let of = (plan.op(), plan.axes());
                PlannedFormat::Blocks(Box::new(BlockShapes::new(of, layout, format, bytes)?))
            }
            Format::Plain | Format::Tables(_) | Format::Checked(_) => PlannedFormat::Plain,
        };
        let mut reads = Reads { format, rows, chunks: converter.reader.chunk_count() };
        if let (Some(blocks), Some(out)) = (reads.blocks(), out) {
            check_values(plan.op(), &blocks.output, out)?;
        }
        if let Some(rows) = &mut reads.rows {
            rows.space(plan, converter.made.size(), layout, out)?;
        }
        Ok(reads)
    }

    /// The blocks, if no row function reads them. The output elements of such a plan are arrays of values.
    pub(super) fn blocks(&self) -> Option<&BlockShapes> {
        if let (PlannedFormat::Blocks(blocks), None) = (&self.format, &self.rows) { Some(blocks) } else { None }
    }

    /// Checks that a reader has the planned format.
    ///
    /// # Errors
    /// [`Error::PlanParametersMismatch`] for a map; [`Error::FusedFormatMismatch`] and [`Error::PlanMismatch`] for
    /// fused rows; [`Error::PlanBlocksMismatch`] for blocks.
    #[inline(always)]
    fn check(&self, reader: &Reader<'_>, op: Op) -> Result<(), Error> {
        match (&self.format, reader.format) {
            (PlannedFormat::Plain, Format::Plain) => Ok(()),
            (PlannedFormat::Mapped(expected), Format::Mapped(map, _)) => {
                maps::check_names(op, (map.name, map.params), expected)
            }
            (PlannedFormat::Fused(expected), Format::Fused(table)) => {
                fused::check_same(expected, *table.row(), reader.layout)
            }
            (PlannedFormat::Blocks(blocks), Format::Blocks(format, _)) => blocks.check_format(op, format),
            _ => unreachable!("a plan of another kind"),
        }
    }
}

/// The converter of data: a decoder, a row function, or both in sequence.
#[derive(Clone, Copy)]
pub(super) struct Converter<'a> {
    reader: &'a Reader<'a>,
    decoder: Option<Decoder>,
    /// The functions that convert the rows of a job.
    rows: ByLevel<CompiledMoveFn>,
    /// The data type that `rows` writes.
    made: DType,
    size_in: usize,
}

impl<'a> Converter<'a> {
    /// The converter of a reader, which has a row function, a kind with this decoder, or both.
    #[inline(always)]
    pub(super) fn new(reader: &'a Reader<'a>, decoder: Option<Decoder>) -> Self {
        let (rows, size_in, made) = match (reader.function, &decoder) {
            (Some((Function { erased, .. }, _)), _) => (erased.rows, erased.types.0.size(), erased.types.1),
            (None, Some(decoder)) => (decoder.fns.rows, decoder.size_in, decoder.made),
            (None, None) => unreachable!("nothing converts"),
        };
        debug_assert_eq!(made.number(), reader.dtype.number(), "K8");
        let size_in = decoder.map_or(size_in, |decoder| decoder.size_in);
        Converter { reader, decoder, rows, made, size_in }
    }

    pub(super) fn function(&self) -> Option<Function<'a>> {
        self.reader.function.map(|(function, _)| function)
    }

    fn first(&self) -> Option<Decoder> {
        self.decoder.filter(|_| self.reader.function.is_some())
    }

    /// Whether rows are taken whole, as one element each.
    pub(super) fn takes_rows(&self) -> bool {
        self.reader.function.is_some() || self.reader.chunks.is_some() || matches!(self.reader.format, Format::Fused(_))
    }

    /// Whether each result is an array: the values of one byte.
    fn writes_arrays(&self) -> bool {
        !self.takes_rows() && matches!(self.reader.format, Format::Blocks(..))
    }

    /// The number of numbers in a row of `elements`.
    fn numbers(&self, elements: usize) -> usize {
        match (self.reader.format, &self.decoder) {
            (Format::Fused(table), _) => table.columns(),
            (_, Some(decoder)) => elements.saturating_mul(decoder.numbers),
            (_, None) => elements,
        }
    }

    /// The number of results of a row of `elements`.
    pub(super) fn results(&self, elements: usize) -> usize {
        let numbers = self.numbers(elements);
        if let Some(function) = self.function() {
            return function.results(numbers);
        }
        // Chunks keep the arrays that a map makes; arrays of blocks are written as numbers.
        let array = self.reader.chunks.zip(self.decoder).map_or(1, |(chunks, of)| chunks.dtype.size() / of.size);
        numbers / array.max(1)
    }

    pub(super) fn makes_one(&self) -> bool {
        self.function().is_some_and(|function| function.erased.one)
    }

    /// The dimensions of the results of a row of dimensions `row`. Chunks keep them, but for the last one.
    pub(super) fn row_of_results(&self, row: &[usize]) -> Shape {
        match row {
            _ if self.makes_one() => Shape::default(),
            [lead @ .., last] if self.function().is_none() && self.reader.chunks.is_some() => {
                lead.iter().copied().chain([self.results(*last)]).collect()
            }
            [] if self.function().is_none() => Shape::default(),
            _ => [self.results(elements(row))].into(),
        }
    }

    /// How rows of `elements` are decoded for a row function; `None` if it reads data as it is.
    pub(super) fn decoding(&self, elements: usize) -> Option<DecodeLayout> {
        self.first().map(|decoder| DecodeLayout::new(self.numbers(elements), decoder.size, decoder.made.align()))
    }

    /// The shape of results if elements are gathered into `output`, which ends with `row`; `None` if unchanged.
    pub(super) fn shape_of_results(&self, output: &[usize], row: &[usize]) -> Option<Shape> {
        if self.writes_arrays() {
            let (last, lead) = output.split_last()?;
            return Some(lead.iter().copied().chain([self.results(*last)]).collect());
        }
        let lead = output[..output.len() - row.len()].iter().copied();
        self.takes_rows().then(|| lead.chain(self.row_of_results(row).iter().copied()).collect())
    }

    /// Calls `run` with the request for elements or whole rows, and with the shapes of whole rows.
    ///
    /// # Errors
    /// The errors of [`RowShape::new`], [`Error::KernelsNotCompiled`], then the errors of `run`.
    #[inline(always)]
    fn with_request<R>(
        &self,
        op: &ErasedGather<'_>,
        (kernels, converts): ConvertingFns,
        (indices, index): (&Layout, IndexType),
        run: impl FnOnce(&Request<'_>, Option<RowShape>) -> Result<R, Error>,
    ) -> Result<R, Error> {
        let Converter { reader, made, size_in, .. } = *self;
        let shape = RowShape::new(op.attributes, self, reader.layout)?;
        let kernels = kernels(op, made, index)?;
        let Some(kernel) = converts(index) else { unreachable!("kernels that move and none that convert") };
        let converting = Converting { size_in, kernel, whole: shape.map(|shape| shape.rows) };
        let planned = op.request((kernels, index), made, Some(converting));
        let whole = shape.map(|shape| WholeRow { attributes: op.attributes, shape });
        let attributes = whole.as_ref().map_or(op.attributes, |whole| whole);
        run(&Request { attributes, planned: &planned, data: reader.layout, indices }, shape)
    }

    /// Sets the plan's fill and decoding for a row function.
    fn complete(&self, shape: Option<&RowShape>, plan: &mut IndexPlan) {
        self.function().and_then(|function| function.fill).inspect(|fill| plan.set_fill(fill));
        shape.and_then(|shape| shape.decoding).inspect(|&decoded| plan.decode_rows(decoded));
    }

    /// Compares the reader's arguments with the shapes of a call, and runs on operands with them. A fresh output gets
    /// shape and length `output`; a fixed output has that shape.
    ///
    /// # Errors
    /// The errors of the decoder's arguments, of the row function's, [`Error::AllocationFailed`], then of `run`.
    fn write(
        &self,
        prepared: PreparedFor<'_>,
        output: (&[usize], usize),
        operands: Operands<'_, Target<'_>>,
        run: &dyn Fn(Operands<'_>) -> Result<Written, Error>,
    ) -> Result<(), Error> {
        let mut operands = Some(operands);
        decoder_params(self.reader, prepared, &mut |decoder| {
            let Some(operands) = operands.take() else { unreachable!("called once") };
            self.compute(prepared, output, operands, decoder, run)
        })
    }

    /// As [`Converter::write`], with the decoder's arguments.
    fn compute(
        &self,
        prepared: PreparedFor<'_>,
        output: (&[usize], usize),
        operands: Operands<'_, Target<'_>>,
        decoder: ErasedParams<'_>,
        run: &dyn Fn(Operands<'_>) -> Result<Written, Error>,
    ) -> Result<(), Error> {
        let (op, axes, level, reads) = prepared;
        let rows = self.rows.at(level);
        let (Some((Function { erased, .. }, Some(args))), Some(shape)) = (self.reader.function, &reads.rows) else {
            let args = ConversionArgs { rows, given: decoder.given };
            return operands.given((&raw const args).cast()).write(|| Ok(output), run);
        };
        let mut operands = Some(operands);
        shape.with((op, axes), erased, output.0, args, |placed, place| {
            let Some(operands) = operands.take() else { unreachable!("called once") };
            let run = |operands: Operands<'_>| {
                let given = place(Placed { out: operands.memory().addr(), ..placed });
                let (mut decoded, rows) = (None, ConversionArgs { rows, given });
                let args = self.first().map_or(rows, |Decoder { fns, .. }| {
                    let decode_fn = *fns.each.get(*level);
                    ConversionArgs::with_decoder(decoded.insert(DecodedRowParams { rows, decode_fn, decoder }))
                });
                run(operands.given((&raw const args).cast()))
            };
            operands.write(|| Ok(output), run)
        })
    }
}

/// Compares the arguments of a reader's decoder with the shapes of a call, and calls `run` with them.
///
/// # Errors
/// The errors of the arguments, then of `run`.
fn decoder_params(
    reader: &Reader<'_>,
    (op, axes, level, reads): PreparedFor<'_>,
    run: &mut dyn FnMut(ErasedParams<'_>) -> Result<(), Error>,
) -> Result<(), Error> {
    let (start, layout) = (reader.start.addr(), reader.layout);
    if let Some(table) = reader.chunks.and_then(|chunks| chunks.table) {
        return run(ChunkedParams { table, level }.erased());
    }
    match (reader.format, &reads.format) {
        (Format::Mapped(map, Some(args)), _) => run(maps::given(op, (map, args), axes, layout)?),
        (Format::Fused(table), _) => run(decode_fused::erased(table.row())),
        (Format::Blocks(_, Some(args)), PlannedFormat::Blocks(blocks)) => {
            args.with(blocks, op, (start, layout.shape()), run)
        }
        (Format::Plain, _) => run(ErasedParams::NONE),
        _ => unreachable!("a reader of a call, and the plan of its kind"),
    }
}

/// As [`decoder_params`], for a plan of the reader's kind.
///
/// # Errors
/// The errors of [`Reader::check_chunks`] and of [`Reads::check`], then of [`decoder_params`].
pub(super) fn with_params(
    GatherPlan { planned, reads, .. }: &GatherPlan,
    reader: &Reader<'_>,
    run: &mut dyn FnMut(ErasedParams<'_>) -> Result<(), Error>,
) -> Result<(), Error> {
    let plan = planned.plan();
    reader.check_chunks(plan.op(), reads.chunks)?;
    reads.check(reader, plan.op())?;
    decoder_params(reader, (plan.op(), plan.axes(), plan.spec().level, reads), run)
}

/// Checks the block size of block-quantised data.
///
/// # Errors
/// [`Error::BlockSizeOutOfRange`].
#[inline(always)]
pub(super) fn check_data(op: &ErasedGather<'_>, reader: &Reader<'_>) -> Result<(), Error> {
    if let Format::Blocks(format, _) = reader.format { format.check(op.op()) } else { Ok(()) }
}

/// As [`check_data`], and checks that fused rows are gathered along axis 0.
///
/// # Errors
/// As for [`check_data`], and [`Error::QuantizedAxis`] for fused rows.
#[inline(always)]
pub(super) fn check_axis(op: &ErasedGather<'_>, reader: &Reader<'_>) -> Result<(), Error> {
    match reader.format {
        _ if reader.chunks.is_some() => {
            check_data(op, reader)?;
            chunks::check_axis(op.attributes.dims_before_row(reader.layout)?)
        }
        Format::Fused(_) => fused::check_axis(op, reader.layout),
        _ => check_data(op, reader),
    }
}

/// Runs a call.
///
/// # Errors
/// [`Error::Misaligned`], errors of [`Converter::with_request`], of the plan, of [`Reads::new`], of
/// [`Converter::write`].
#[inline(never)]
pub(super) fn run(
    op: &ErasedGather<'_>,
    converter: &Converter<'_>,
    fns: ConvertingFns,
    operands: Operands<'_, Target<'_>>,
) -> Result<(), Error> {
    if let Target::Fixed(out, layout) = operands.out() {
        // An output whose type is known at run time may have any alignment.
        check_aligned(converter.reader.dtype, *out, layout)?;
    }
    converter.with_request(op, fns, operands.indices(), |request, shape| {
        if let (Format::Mapped(map, _), None) = (converter.reader.format, shape)
            && let Some((few, leading)) = request.few_rows(operands.out_layout())
        {
            let output = leading.output_shape(request.data, request.indices);
            let len = Shape::checked_len(&output)?;
            let axes = few.axes(request.data.shape());
            let reads = Reads { format: PlannedFormat::Mapped(map.params), ..Reads::PLAIN };
            let prepared = (op.op(), &axes[..], few.level, &reads);
            return converter.write(prepared, (&output, len), operands, &|operands| {
                // SAFETY: X1: the rows were found in the layouts of the operands; the output is row-major and has the
                // shape of the result. K8 as for `run_index` below.
                unsafe { exec::run_few_rows(&few, request.planned, operands) }
            });
        }
        let mut made = match operands.out_layout().filter(|_| !converter.writes_arrays()) {
            Some(layout) => request.plan_into(layout).map(|plan| (plan, layout.len())),
            None => request.plan().map(|(plan, layout)| (plan, layout.len())),
        };
        let Ok((plan, len)) = &mut made else { return made.map(drop) };
        converter.complete(shape.as_ref(), plan);
        let reads = Reads::new(converter, plan, shape, operands.out_layout())?;
        let output = match reads.blocks() {
            Some(blocks) => (&blocks.output[..], Shape::checked_len(&blocks.output)?),
            None => (&plan.output()[..], *len),
        };
        let prepared = (plan.op(), plan.axes(), plan.spec().level, &reads);
        converter.write(prepared, output, operands, &|operands| {
            // SAFETY: X1: the plan was made for the layouts of the operands. A row-major output of values is a
            // row-major output of arrays, which have the alignment of values. K8: `check_aligned` checked a fixed
            // output; fresh memory is aligned, and sources are typed or bytes. `write` compared the arguments, which
            // are `Sync`, with the shapes. `Reads::new` found whole rows contiguous.
            unsafe { exec::run_index(plan, operands) }
        })
    })
}

/// Makes a plan.
///
/// # Errors
/// The errors of [`Converter::with_request`], of [`PlanInner::new`], then of [`Reads::new`].
#[inline(never)]
pub(super) fn plan(
    op: &ErasedGather<'_>,
    converter: &Converter<'_>,
    fns: ConvertingFns,
    indices: (&Layout, IndexType),
    outputs: Outputs<'_>,
) -> Result<GatherPlan, Error> {
    converter.with_request(op, fns, indices, |request, shape| {
        let out = if let Outputs::Of(out) = outputs { Some(out) } else { None };
        // A plan of arrays takes row-major outputs only; `Reads::new` compares `out`, a layout of values.
        let of = if converter.writes_arrays() && out.is_some() { Outputs::RowMajor } else { outputs };
        let mut planned = PlanInner::new(request, of)?;
        planned.change(|plan| converter.complete(shape.as_ref(), plan));
        let reads = Reads::new(converter, planned.plan(), shape, out)?;
        Ok(GatherPlan { planned, dtype: converter.reader.dtype, index: indices.1, reads })
    })
}

/// Runs a plan of mapped elements with a map of the planned parameters, and its arguments.
///
/// # Errors
/// [`Error::PlanParametersMismatch`], [`Error::PlanMismatch`], errors of [`maps::given`], [`Error::AllocationFailed`],
/// then [`Error::IndexOutOfRange`].
#[inline(never)]
pub(super) fn run_map(
    GatherPlan { planned, reads, .. }: &GatherPlan,
    (map, args): (&ErasedMap, &dyn MapArgs),
    operands: Operands<'_, Target<'_>>,
) -> Result<(), Error> {
    let (plan, mut params) = (planned.plan(), None);
    let PlannedFormat::Mapped(expected) = reads.format else { unreachable!("a plan of another kind") };
    maps::check_names(plan.op(), (map.name, map.params), expected)?;
    let given = |data: &Layout| {
        let given = maps::given(plan.op(), (map, args), plan.axes(), data)?.given;
        let args = ConversionArgs { rows: map.decode_fns.rows.at(plan.spec().level), given };
        Ok((&raw const *params.insert(args)).cast())
    };
    // SAFETY: K8: map and plan have one kind, `Mapped<T, U>`, so data and output are typed, and aligned. `maps::given`
    // checked the number of values of the arguments, which are `Sync`.
    unsafe { planned.run_given(operands, given) }
}

/// Runs a plan on fused rows or blocks of the planned format, or on a row function of the planned types.
///
/// # Errors
/// [`Error::Misaligned`] of an output, errors of [`Reads::check`], [`Error::PlanParametersMismatch`],
/// [`Error::PlanMismatch`]; for an output of arrays [`Error::ShapeMismatch`] and [`Error::NotRowMajor`]; then errors
/// of [`Converter::write`].
#[inline(never)]
pub(super) fn run_plan(
    GatherPlan { planned, reads, dtype, .. }: &GatherPlan,
    converter: &Converter<'_>,
    operands: Operands<'_, Target<'_>>,
) -> Result<(), Error> {
    let (op, out) = (planned.plan().op(), operands.out_layout());
    if let Target::Fixed(out, layout) = operands.out() {
        check_aligned(*dtype, *out, layout)?;
    }
    reads.check(converter.reader, op)?;
    let of_rows = converter.function().zip(reads.rows.as_ref());
    if let Some((Function { erased, .. }, shape)) = of_rows {
        maps::check_names(op, (erased.name, erased.params), shape.params)?;
    }
    let count = planned.check_operands(&operands)?;
    if let Some((_, shape)) = of_rows {
        shape.check_results(converter, planned.output_shape())?;
    }
    let (mut buffer, values) = (Shape::default(), reads.blocks().and_then(|blocks| blocks.output.last()));
    let output = match (values, out) {
        (Some(&values), out) => {
            let values = with_last(planned.fresh(count, &mut buffer)?.0, values);
            if let Some(out) = out {
                check_values(op, &values, out)?;
            }
            buffer = values;
            (&buffer[..], Shape::checked_len(&buffer)?)
        }
        (None, Some(out)) => {
            planned.check_output(out, count)?;
            planned.output_of(count, &mut buffer)?
        }
        (None, None) => planned.fresh(count, &mut buffer)?,
    };
    let mut copy = None;
    let runs = match of_rows {
        Some((Function { fill: Some(fill), .. }, _)) => planned.filled_by(fill, &mut copy),
        Some((_, RowShape { filled: true, .. })) => planned.filled_by(&converter.made.zero()?, &mut copy),
        _ => planned,
    };
    let plan = planned.plan();
    converter.write((plan.op(), plan.axes(), plan.spec().level, reads), output, operands, &|operands| {
        // SAFETY: X1: the checks above compared the layouts with the plan's, and `runs` has the same layouts. K8 as in
        // `run`: `Reads::new` found whole rows contiguous in the planned layouts.
        unsafe { runs.execute(operands, count) }
    })
}
