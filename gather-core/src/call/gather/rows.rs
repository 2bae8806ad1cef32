//! Gathering whole rows, of each of which a row function makes a value, or another row, on its way.

use core::iter::repeat_n;

use smallvec::SmallVec;

use crate::call::Sealed;
use crate::call::attributes::IndexAttributes;
use crate::call::checks::mismatch;
use crate::call::gather::Operation;
use crate::call::gather::decoded::{DecodedData, Decoder, Encoding, GatheredByRow, Gives};
use crate::call::gather::erased::Request;
use crate::call::gather::kinds::{Gathered, GatheredBy, Outputs};
use crate::call::gather::maps::check_names;
use crate::call::gather::plan::{GatherPlan, Reads};
use crate::call::source::kind::{ByRow, IndexKind};
use crate::call::source::rows::{GivenToRows, RowLookups};
use crate::call::source::{Described, Reading};
use crate::exec::{self, Operands};
use crate::kernels::convert::row::{Erased, Function, GivenDecoded, Misfit, Placed, RowShapes};
use crate::kernels::convert::{ErasedParams, Functions};
use crate::plan::{Converting, IndexLowered, IndexPlan, IndexRequest, WholeRows};
use crate::tensor::layout::{Layout, Shape};
use crate::tensor::output::Target;
use crate::types::element::Element;
use crate::types::error::Error;
use crate::types::index::IndexType;
use crate::types::level::Available;
use crate::types::op::{Argument, Op};

/// The attributes of an operator whose result is rows of data. Sealed: those of [`Gather`](crate::Gather).
pub trait RowAttributes: IndexAttributes {}

impl<A: RowAttributes, K: GatheredByRow, U: Element> GatheredBy<A> for ByRow<K, U> {}

/// The rows that a function reads, of a source of results.
fn rows_of<'s, K: GatheredByRow, U: Element>(
    Described { layout, dtype, facts: (facts, _) }: Described<'s, ByRow<K, U>>,
) -> Described<'s, K> {
    Described { layout, dtype, facts }
}

impl<K: GatheredByRow, U: Element> Gathered for ByRow<K, U> {
    #[inline(always)]
    fn run<I: IndexKind>(
        op: &Operation<'_>,
        data: &Reading<'_, Self>,
        operands: Operands<'_, Target<'_>>,
    ) -> Result<(), Error> {
        let rows = Reading { described: rows_of(data.described), given: data.given.0 };
        K::check_rows(op, &rows.described)?;
        run::<I>(op, Rows::new(data, &rows), operands)
    }

    #[inline(always)]
    fn plan<I: IndexKind>(
        op: &Operation<'_>,
        data: Described<'_, Self>,
        indices: (IndexType, &Layout),
        outputs: Outputs<'_>,
    ) -> Result<GatherPlan, Error> {
        let rows = rows_of(data);
        K::check_rows(op, &rows)?;
        plan::<I>(op, data.facts.1, K::decoder(&rows), data.layout, indices, outputs)
    }

    #[inline(always)]
    fn run_plan(plan: &GatherPlan, data: &Reading<'_, Self>, operands: Operands<'_, Target<'_>>) -> Result<(), Error> {
        let rows = Reading { described: rows_of(data.described), given: data.given.0 };
        run_plan(plan, Rows::new(data, &rows), operands)
    }

    const READS_ROWS: bool = true;

    #[inline(always)]
    fn check_data(op: &Operation<'_>, data: &Described<'_, Self>) -> Result<(), Error> {
        K::check_data(op, &rows_of(*data))
    }

    #[inline]
    fn results(data: &Described<'_, Self>, output: &[usize], row: &[usize]) -> Option<Shape> {
        let (lead, function) = (&output[..output.len() - row.len()], data.facts.1);
        let results = function.results(numbers(K::decoder(&rows_of(*data)), elements(row)));
        Some(lead.iter().copied().chain((!function.erased.one).then_some(results)).collect())
    }
}

/// A row function with what a call gives for it, and for decoding the rows that it reads.
#[derive(Clone, Copy)]
pub(super) struct Rows<'a> {
    function: Function<'a>,
    given: &'a dyn GivenToRows,
    decoding: Option<(Decoder, &'a dyn Gives)>,
}

impl<'a> Rows<'a> {
    #[inline(always)]
    fn new<K: GatheredByRow, U: Element>(data: &'a Reading<'_, ByRow<K, U>>, rows: &'a Reading<'_, K>) -> Self {
        let decoding = K::decoder(&rows.described).map(|decoder| (decoder, rows as &dyn Gives));
        Rows { function: data.described.facts.1, given: data.given.1, decoding }
    }

    /// A function of rows as they are.
    pub(super) fn as_they_are(function: Function<'a>, given: &'a dyn GivenToRows) -> Self {
        Rows { function, given, decoding: None }
    }

    fn decoder(&self) -> Option<Decoder> {
        self.decoding.map(|(decoder, _)| decoder)
    }

    /// The functions of a level.
    fn functions(&self, level: Available) -> Functions {
        let row_fn = self.decoding.map(|(decoder, _)| decoder.row_fn(level));
        Functions { rows: self.function.erased.rows.at(level), row_fn }
    }

    /// Checks what is given for decoding, and calls `run` with it.
    ///
    /// # Errors
    /// Those of [`GatheredByRow::give`].
    fn give(
        &self,
        of: &DecodedData<'_>,
        run: &mut dyn FnMut(Option<ErasedParams<'_>>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        match self.decoding {
            None => run(None),
            Some((_, gives)) => gives.give(of, &mut |given| run(Some(given))),
        }
    }
}

/// The numbers that a function reads of a row of `elements` elements.
fn numbers(decoder: Option<Decoder>, elements: usize) -> usize {
    decoder.map_or(elements, |decoder| decoder.numbers(elements))
}

/// The shapes of rows: what a plan has of a row function.
#[derive(Clone, Copy)]
pub(super) struct RowShape {
    /// Dimensions of data before a row.
    lead: usize,
    rows: WholeRows,
    /// Whether a row becomes one value, which is no dimension of the result.
    one: bool,
    /// Whether the plan fills by bytes of the function's own.
    filled: bool,
    /// Bytes from a row of a row-major output to the next; `None` where rows are not evenly spaced.
    spacing: Option<isize>,
}

/// The elements of a row.
fn elements(row: &[usize]) -> usize {
    // A product that overflows has a factor of 0 too, since the layout has as many elements.
    if row.contains(&0) { 0 } else { row.iter().fold(1usize, |product, &dim| product.saturating_mul(dim)) }
}

/// Attributes whose rows are taken whole: the loops are those of the dimensions before them.
struct WholeRow<'a> {
    attributes: &'a dyn IndexAttributes,
    shape: RowShape,
}

impl Sealed for WholeRow<'_> {}

impl IndexAttributes for WholeRow<'_> {
    fn op(&self) -> Op {
        self.attributes.op()
    }

    fn lower(&self, data: &Layout, indices: &Layout, lowered: &mut IndexLowered) -> Result<(), Error> {
        let RowShape { lead, rows, one, .. } = self.shape;
        // Every row is one element; rows without elements lie nowhere.
        let row = data.rank() - lead;
        let step = |&step: &isize| if rows.elements == 0 { 0 } else { step };
        let shape: SmallVec<[usize; 8]> = data.shape()[..lead].iter().copied().chain(repeat_n(1, row)).collect();
        let strides: SmallVec<[isize; 8]> = data.strides()[..lead].iter().map(step).chain(repeat_n(1, row)).collect();
        self.attributes.lower(&Layout::strided(&shape, &strides)?, indices, lowered)?;
        lowered.dims.truncate(lowered.dims.len() - row);
        lowered.output = lowered.output[..lowered.output.len() - row].into();
        if !one {
            lowered.output.push(rows.results);
        }
        Ok(())
    }
}

impl<'a> WholeRow<'a> {
    /// The attributes with the rows of data and of results.
    ///
    /// # Errors
    /// [`Error::AxisOutOfRange`].
    fn new(
        attributes: &'a dyn IndexAttributes,
        function: Function<'_>,
        decoder: Option<Decoder>,
        data: &Layout,
    ) -> Result<Self, Error> {
        let lead = attributes.dims_before_row(data)?;
        let elements = elements(&data.shape()[lead..]);
        let (decoding, results) = (decoder.map(|decoder| decoder.of(elements)), numbers(decoder, elements));
        let rows = WholeRows { elements, results: function.results(results), decoding };
        let (one, filled) = (function.erased.one, function.fill.is_some());
        Ok(WholeRow { attributes, shape: RowShape { lead, rows, one, filled, spacing: None } })
    }

    fn request<I: IndexKind>(&self, op: &Operation<'_>, function: &Erased, index: IndexType) -> IndexRequest {
        let (from, to) = function.types;
        let (kernel, whole) = (I::converts(index), Some(self.shape.rows));
        let size_in = self.shape.rows.decoding.map_or(from.size(), |decoding| decoding.size_in);
        let converting = Converting { rows: function.rows, size_in, kernel, whole };
        op.request((I::gathers(index), index), to, Some(converting))
    }
}

/// Runs a row function without its types on operands that it reads and writes. Memory of a fixed output is aligned for
/// what it writes.
///
/// # Errors
/// Those of a call, with those of [`Decoder::encoding`], [`RowShape::spacing`], [`Rows::give`] and [`RowShape::with`]
/// after errors of outputs.
#[inline(always)]
pub(super) fn run<I: IndexKind>(
    op: &Operation<'_>,
    rows: Rows<'_>,
    operands: Operands<'_, Target<'_>>,
) -> Result<(), Error> {
    let whole = WholeRow::new(op.attributes, rows.function, rows.decoder(), operands.data().1)?;
    let planned = whole.request::<I>(op, rows.function.erased, operands.indices().1);
    run_request(&whole, &planned, rows, operands)
}

/// Runs a request for rows.
///
/// # Errors
/// As for [`run`].
#[inline(never)]
fn run_request(
    whole: &WholeRow<'_>,
    planned: &IndexRequest,
    rows: Rows<'_>,
    operands: Operands<'_, Target<'_>>,
) -> Result<(), Error> {
    let Function { erased, fill, .. } = rows.function;
    let (start, layout) = operands.data();
    let mut made = Request::of(whole, planned, &operands).plan_for(operands.out());
    let Ok((plan, fresh)) = &mut made else { return made.map(drop) };
    fill.inspect(|fill| plan.set_fill(fill));
    let plan = &*plan;
    let encoding = rows.decoder().map_or(Ok(Encoding::Plain), |decoder| decoder.encoding(plan, layout))?;
    let spacing = whole.shape.spacing(plan, erased, layout, operands.out_layout())?;
    let (shape, mut operands) = (RowShape { spacing, ..whole.shape }, Some(operands));
    rows.give(&DecodedData { plan, encoding: &encoding, start, layout }, &mut |decoding| {
        shape.with(plan, erased, plan.output(), rows.given, |placed, lookups| {
            let Some(operands) = operands.take() else { unreachable!("called once") };
            operands.write(
                || Ok((plan.output(), *fresh)),
                |operands| {
                    let given =
                        GivenAll::new(lookups.place(Placed { out: operands.memory().addr(), ..placed }), decoding);
                    // SAFETY: X1: the plan was made for the layouts of the operands. Data and output are aligned for the
                    // function's types, or for those of what decodes, and their rows are contiguous, as just checked;
                    // what is given is of the parameters of both, and `Sync` (K8).
                    unsafe { exec::run_index(plan, operands.given(given.params())) }
                },
            )
        })
    })
}

/// What a kernel reads: the parameters of a row function, alone or with those of what decodes.
enum GivenAll<'a> {
    ToRows(*const ()),
    ToBoth(GivenDecoded<'a>),
}

impl<'a> GivenAll<'a> {
    fn new(rows: *const (), decoding: Option<ErasedParams<'a>>) -> Self {
        decoding.map_or(GivenAll::ToRows(rows), |decoding| GivenAll::ToBoth(GivenDecoded::new(rows, decoding)))
    }

    fn params(&self) -> *const () {
        match self {
            GivenAll::ToRows(rows) => *rows,
            GivenAll::ToBoth(given) => (&raw const *given).cast(),
        }
    }
}

/// Plans for a row function without its types, and for what decodes the rows that it reads.
///
/// # Errors
/// Those of [`GatherPlan::new`], then those of [`Decoder::encoding`] and [`RowShape::spacing`].
pub(super) fn plan<I: IndexKind>(
    op: &Operation<'_>,
    function: Function<'_>,
    decoder: Option<Decoder>,
    data: &Layout,
    (index, indices): (IndexType, &Layout),
    outputs: Outputs<'_>,
) -> Result<GatherPlan, Error> {
    let whole = WholeRow::new(op.attributes, function, decoder, data)?;
    let planned = whole.request::<I>(op, function.erased, index);
    let request = Request { attributes: &whole, planned: &planned, data, indices };
    let mut made = GatherPlan::new(&request, outputs, Reads::of(Encoding::Plain))?;
    function.fill.inspect(|fill| made.planned.set_fill(fill));
    let (out, plan) = (if let Outputs::Of(out) = outputs { Some(out) } else { None }, &made.planned.plan);
    let encoding = decoder.map_or(Ok(Encoding::Plain), |decoder| decoder.encoding(plan, data))?;
    let spacing = whole.shape.spacing(plan, function.erased, data, out)?;
    let shape = RowShape { spacing, ..whole.shape };
    made.reads = Reads { encoding, rows: Some((function.erased.params, shape)) };
    Ok(made)
}

/// Runs a plan with a row function of the planned types, and with what decodes the rows that it reads.
///
/// # Errors
/// Those of [`Decoder::check`], [`Error::PlanParametersMismatch`], [`Error::PlanMismatch`], those of [`Rows::give`] and
/// [`RowShape::with`], [`Error::AllocationFailed`], then those of the run.
#[inline(never)]
pub(super) fn run_plan(plan: &GatherPlan, rows: Rows<'_>, operands: Operands<'_, Target<'_>>) -> Result<(), Error> {
    let GatherPlan { planned, reads: Reads { encoding, rows: Some((expected, shape)) }, .. } = plan else {
        unreachable!("a plan of rows")
    };
    let (function, op, (start, layout)) = (rows.function, planned.plan.op(), operands.data());
    let Function { erased, fill, .. } = function;
    rows.decoder().map_or(Ok(()), |decoder| decoder.check(encoding, op, layout))?;
    let by = rows.functions(planned.plan.spec().level);
    let mut runs = planned.converting_by(by, || check_names(op, (erased.name, erased.params), expected))?;
    let count = planned.check_operands(&operands)?;
    shape.check_results(function, planned.output_shape())?;
    let mut buffer = Shape::default();
    let (output, len) = match operands.out_layout() {
        Some(layout) => {
            planned.check_output(layout, count)?;
            planned.output_of(count, &mut buffer)?
        }
        None => planned.fresh(count, &mut buffer)?,
    };
    if shape.filled || fill.is_some() {
        match fill {
            Some(fill) => runs.fill_by(fill),
            None => runs.fill_by(&erased.types.1.zero()?),
        }
    }
    let (of, mut operands) = (DecodedData { plan: &planned.plan, encoding, start, layout }, Some(operands));
    rows.give(&of, &mut |decoding| {
        shape.with(&planned.plan, erased, output, rows.given, |placed, lookups| {
            let Some(operands) = operands.take() else { unreachable!("called once") };
            operands.write(
                || Ok((output, len)),
                |operands| {
                    let given =
                        GivenAll::new(lookups.place(Placed { out: operands.memory().addr(), ..placed }), decoding);
                    // SAFETY: X1: the layouts are those of the plan, as just checked, which `runs` has too; the rest as in
                    // `run_request`: rows were found to be contiguous when the plan was made.
                    unsafe { runs.execute(operands.given(given.params()), count) }
                },
            )
        })
    })
}

impl RowShape {
    /// The numbers that the function reads of a row.
    fn numbers(&self) -> usize {
        self.rows.decoding.map_or(self.rows.elements, |decoding| decoding.numbers)
    }

    /// Checks that a function makes as much of a row as the one that was planned for.
    ///
    /// # Errors
    /// [`Error::PlanMismatch`].
    fn check_results(&self, function: Function<'_>, output: &[usize]) -> Result<(), Error> {
        let (results, one) = (function.results(self.numbers()), function.erased.one);
        if one == self.one && results == self.rows.results {
            return Ok(());
        }
        let lead = &output[..output.len() - usize::from(!self.one)];
        let got: Shape = lead.iter().copied().chain((!one).then_some(results)).collect();
        Err(mismatch(Argument::Output, output, &got))
    }

    /// Bytes from a row of the output to the next; `None` where rows are not evenly spaced.
    ///
    /// # Errors
    /// [`Error::RowsNotContiguous`] for data, then for the output.
    fn spacing(
        &self,
        plan: &IndexPlan,
        function: &Erased,
        data: &Layout,
        out: Option<&Layout>,
    ) -> Result<Option<isize>, Error> {
        let size = function.types.1.size() as isize;
        Ok(self.spacing_in_elements(plan, data, out)?.map(|step| step.wrapping_mul(size)))
    }

    /// Elements from a row of the output to the next; `None` where rows are not evenly spaced.
    fn spacing_in_elements(
        &self,
        plan: &IndexPlan,
        data: &Layout,
        out: Option<&Layout>,
    ) -> Result<Option<isize>, Error> {
        let refused = |argument| Error::RowsNotContiguous { op: plan.op(), argument };
        // No row is read from empty data, and none is written to an empty output: their strides do not matter.
        if !data.is_empty()
            && !Layout::strided(&data.shape()[self.lead..], &data.strides()[self.lead..])?.is_contiguous()
        {
            return Err(refused(Argument::Data));
        }
        let Some(out) = out.filter(|out| !out.is_empty()) else { return Ok(Some((self.rows.results as isize).max(1))) };
        let lead = out.rank() - usize::from(!self.one);
        if self.rows.results > 1 && !self.one && out.strides()[lead] != 1 {
            return Err(refused(Argument::Output));
        }
        // The step of the last dimension that is stepped along, if those before it go on where it ends.
        let (mut spacing, mut next) = (None, None);
        for (&n, &step) in out.shape()[..lead].iter().zip(out.strides()).rev().filter(|&(&n, _)| n != 1) {
            if next.is_some_and(|next| next != step) {
                return Ok(None);
            }
            spacing.get_or_insert(step);
            next = Some(step.wrapping_mul(n as isize));
        }
        Ok(Some(spacing.filter(|&step| step != 0).unwrap_or(1)))
    }

    /// Compares what is given with shapes, and calls `run` with where the rows of the output are, except for its
    /// address. The shape of the output is `output`.
    ///
    /// # Errors
    /// [`Error::RowParameterLengthMismatch`], [`Error::RowParameterLengthUnstated`] and
    /// [`Error::ParameterUnavailable`], then [`Error::RowsNotContiguous`] for an output whose rows are not evenly
    /// spaced where indices have values of their own; then those of `run`.
    #[inline(always)]
    fn with(
        &self,
        plan: &IndexPlan,
        function: &Erased,
        output: &[usize],
        given: &dyn GivenToRows,
        mut run: impl FnMut(Placed, &mut dyn RowLookups) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let op = plan.op();
        let lead = &output[..output.len() - usize::from(!self.one)];
        let dim = plan.axes().first().map_or(0, |axis| axis.dim);
        let shapes = RowShapes { row: self.numbers(), dim, lead };
        let ran = given.with(&shapes, &mut |lookups| {
            let by_index = lookups.by_index();
            let out_step = match self.spacing {
                None if by_index => return Err(Error::RowsNotContiguous { op, argument: Argument::Output }),
                spacing => spacing.unwrap_or(1),
            };
            run(Placed { out: 0, out_step, by_index }, lookups)
        });
        ran.unwrap_or_else(|(number, misfit)| {
            let (function, parameter) = (function.name, function.params[number]);
            Err(match misfit {
                Misfit::Length { per, len, expected } => {
                    Error::RowParameterLengthMismatch { op, function, parameter, per, len, expected }
                }
                Misfit::Unstated { len } => {
                    Error::RowParameterLengthUnstated { op, function, parameter, len, indices: lead.into() }
                }
                Misfit::Unavailable { per } => Error::ParameterUnavailable { op, function, parameter, per },
            })
        })
    }
}
