//! Bags of several tables in one call.
//!
//! ```text
//! read the offsets of all tables  ->  plan each into its columns of the output  ->  run all, which threads share
//! ```

use alloc::vec::Vec;

use crate::call::bag::BagOperator;
use crate::call::bag::erased::{BagStarts, BagTensors, ErasedBags, ErasedTensor};
use crate::call::bag::fused::check_rows;
use crate::call::bag::kinds::IndexResolver;
use crate::call::checks::{check_layout, check_output};
use crate::call::gather::fused::check_format;
use crate::call::source::kind::not_compiled;
use crate::exec;
use crate::kernels::reduce::bag::{FusedOutput, PositionsFns};
use crate::plan::{BagReducePlan, BagRequest, Explain, PreparedBags};
use crate::tensor::fused::FusedRows;
use crate::tensor::layout::{Layout, Shape};
use crate::types::element::DType;
use crate::types::error::Error;
use crate::types::fused::{FusedFormat, FusedRow};
use crate::types::index::IndexType;
use crate::types::op::{Argument, Op};
use crate::types::policy::Par;
use crate::types::reduction::Reduction;

/// A function of the plan, the rows and the bags of a table.
type EachTable<'f> = dyn FnMut((&BagReducePlan, &PreparedBags), ErasedTensor<'_>, &ErasedBags<'_>) + 'f;

type OfTable<'a> = fn(
    &'a BagOperator<Reduction>,
    FusedRow,
    (DType, Option<FusedOutput>),
    IndexResolver,
) -> Result<BagRequest<'a>, Error>;

/// A call of several tables without its tensors, from which the request of each table is made.
pub struct TablesRequest<'a> {
    pub(super) op: &'a BagOperator<Reduction>,
    pub(super) dtype: DType,
    pub(super) output: Option<FusedOutput>,
    pub(super) positions: fn(IndexType) -> Option<&'static PositionsFns>,
    /// [`BagRequest::fused`], as a pointer, so that the functions of formats are compiled where the request is made.
    pub(super) of_table: OfTable<'a>,
}

/// Wraps an error with the number of its table.
pub(super) fn in_table(table: usize) -> impl Fn(Error) -> Error {
    move |error| Error::InTable { table, error: error.into() }
}

/// Runs a call on tables, each with its bags.
///
/// # Errors
/// [`Error::TablesMismatch`], [`Error::RowsNotContiguous`], then as for [`Plans::new`] to [`Plans::run`].
pub(super) fn run(
    request: &TablesRequest<'_>,
    tables: &[&FusedRows<'_>],
    tensors: BagTensors<'_, '_>,
) -> Result<(), Error> {
    let (bags, out) = (tensors.bags(), tensors.out().layout());
    check_tables(Argument::Indices, tables.len(), bags.len())?;
    out.map_or(Ok(()), check_rows)?;
    let row = out.map(|layout| layout.strides().first().copied().unwrap_or(0));
    let plans = Plans::new(request, tables, bags, row)?;
    let prepared = plans.prepare(bags)?;
    let shape = plans.output(&prepared)?;
    // SAFETY: `Plans::new` made the plans for these tables and for the output's row stride. `prepare` read the bounds
    // from the bags and checked the weights. `check_tables` checked `bags.len() == tables.len()`.
    unsafe { plans.run(&shape, tables, &prepared, tensors) }
}

fn check_tables(argument: Argument, expected: usize, got: usize) -> Result<(), Error> {
    if expected == got { Ok(()) } else { Err(Error::TablesMismatch { argument, expected, got }) }
}

#[derive(Clone)]
struct Plans {
    tables: Vec<TablePlan>,
    /// The sum of the tables' columns.
    columns: usize,
    dtype: DType,
    par: Par,
}

/// The plan of one table. The row stride of its output is the row stride of the whole output.
#[derive(Clone)]
struct TablePlan {
    plan: BagReducePlan,
    format: FusedFormat,
    data: Layout,
    /// The byte offset of this table's first column in an output row.
    start: usize,
}

impl Plans {
    /// Plans into outputs with row stride `row`; `None` stands for the number of columns. `bags.len() == tables.len()`,
    /// and the sum of columns does not overflow.
    ///
    /// # Errors
    /// [`Error::InTable`].
    fn new(
        request: &TablesRequest<'_>,
        tables: &[&FusedRows<'_>],
        bags: &[ErasedBags<'_>],
        row: Option<isize>,
    ) -> Result<Self, Error> {
        let &TablesRequest { op, dtype, output, positions, of_table } = request;
        let columns = tables.iter().fold(0, |columns: usize, table| columns.wrapping_add(table.columns()));
        let row = row.unwrap_or(columns as isize);
        let mut start = 0usize;
        let mut plans = Vec::with_capacity(tables.len());
        for (number, (table, bags)) in tables.iter().zip(bags).enumerate() {
            let found = positions(bags.index).ok_or_else(not_compiled(Op::EmbeddingBag, dtype, bags.index));
            let request =
                found.and_then(|positions| of_table(op, *table.row(), (dtype, output), (bags.index, positions)));
            let plan = request.and_then(|request| {
                let out = Layout::strided(&[1, table.columns()], &[row, 1])?;
                let rows = (request.rows(table.layout())?, bags.policy(&op.settings));
                BagReducePlan::new(&request, rows, table.layout(), &out)
            });
            let (plan, data) = (plan.map_err(in_table(number))?, table.layout().clone());
            let bytes = table.columns().wrapping_mul(dtype.size());
            plans.push(TablePlan { plan, format: table.format(), data, start });
            start = start.wrapping_add(bytes);
        }
        Ok(Plans { tables: plans, columns, dtype, par: op.options.par })
    }

    /// Reads the bounds of all bags, and checks them and the weights.
    ///
    /// # Errors
    /// [`Error::InTable`].
    fn prepare(&self, bags: &[ErasedBags<'_>]) -> Result<Vec<PreparedBags>, Error> {
        let (mut first, mut read) = (None, Vec::with_capacity(bags.len()));
        for (number, (table, bags)) in self.tables.iter().zip(bags).enumerate() {
            let bounds = bags.bounds(&table.data, table.plan.include_last_offset).and_then(|bounds| {
                bags.check(table.data.shape()[0], table.plan.weighted)?;
                let (expected, got) = (*first.get_or_insert(bounds.bags()), bounds.bags());
                if expected == got {
                    Ok(table.plan.prepare(bounds, bags.indices.layout))
                } else {
                    Err(Error::BagsMismatch { expected, got })
                }
            });
            read.push(bounds.map_err(in_table(number))?);
        }
        Ok(read)
    }

    /// # Errors
    /// [`Error::TooManyElements`].
    fn output(&self, prepared: &[PreparedBags]) -> Result<Shape, Error> {
        let shape = Shape::from([prepared.first().map_or(0, |bags| bags.bounds.bags()), self.columns]);
        Shape::checked_len(&shape).map(|_| shape)
    }

    /// Checks the output, and runs the plans on bags with these bounds.
    ///
    /// # Errors
    /// [`Error::ShapeMismatch`] for a fixed output, then errors of the run.
    ///
    /// # Safety
    /// The tables have the plans' formats and layouts; tables, bags and bounds are equal in number. The bags have these
    /// bounds, all with the same number of bags, the planned types, and checked weights. `shape` is the shape of their
    /// result. The output has the planned row stride.
    unsafe fn run(
        &self,
        shape: &Shape,
        tables: &[&FusedRows<'_>],
        prepared: &[PreparedBags],
        tensors: BagTensors<'_, '_>,
    ) -> Result<(), Error> {
        let bags = tensors.bags();
        if let Some(layout) = tensors.out().layout() {
            check_output(Op::EmbeddingBag, shape, layout.shape())?;
        }
        let run = |out: *mut u8| {
            let call = |number: usize| {
                let TablePlan { plan, start, .. } = &self.tables[number];
                let (plan, out) = ((plan, &prepared[number]), out.wrapping_add(*start));
                // SAFETY: X1: formats, layouts, bags and output shape are the planned ones, by the contract (B7).
                unsafe { bags[number].call(plan, tables[number].into(), None, out) }
            };
            // SAFETY: table `number` writes its own columns, from byte `start` on, and `call` is pure.
            let result = unsafe { exec::run_all_bags(self.tables.len(), &call, self.par) };
            result.map_err(|(number, error)| in_table(number)(error))
        };
        let len = shape.iter().product();
        // SAFETY: `len` is the product of `shape`. A run that returns `Ok` has written the columns of all tables (X3).
        unsafe { tensors.into_out().write(|| Ok((shape, len)), run) }
    }
}

/// The plans of all tables, with the planned bags.
#[derive(Clone)]
pub(super) struct PlannedTables {
    plans: Plans,
    prepared: Vec<PreparedBags>,
    indices: Vec<Layout>,
    out: Shape,
}

impl PlannedTables {
    /// Plans into row-major outputs.
    ///
    /// # Errors
    /// As for [`run`], without errors of outputs.
    pub(super) fn new(
        request: &TablesRequest<'_>,
        tables: &[&FusedRows<'_>],
        bags: &[ErasedBags<'_>],
    ) -> Result<Self, Error> {
        check_tables(Argument::Indices, tables.len(), bags.len())?;
        let any: Vec<_> = bags.iter().map(ErasedBags::planned).collect();
        let plans = Plans::new(request, tables, &any, None)?;
        let prepared = plans.prepare(bags)?;
        let (out, indices) = (plans.output(&prepared)?, bags.iter().map(|bags| bags.indices.layout.clone()).collect());
        Ok(PlannedTables { plans, prepared, indices, out })
    }

    pub(super) fn dtype(&self) -> DType {
        self.plans.dtype
    }

    pub(super) fn index(&self, table: usize) -> Option<IndexType> {
        self.plans.tables.get(table).map(|table| table.plan.index)
    }

    pub(super) fn output_shape(&self) -> &[usize] {
        &self.out
    }

    pub(super) fn explain(&self) -> Explain<'_> {
        Explain::tables(self.plans.tables.iter().map(|table| &table.plan))
    }

    /// # Errors
    /// [`Error::TablesMismatch`], [`Error::InTable`], [`Error::NotRowMajor`], then as for [`Plans::run`].
    pub(super) fn run(&self, tables: &[&FusedRows<'_>], tensors: BagTensors<'_, '_>) -> Result<(), Error> {
        let bags = tensors.bags();
        self.check(tables, bags)?;
        if tensors.out().layout().is_some_and(|layout| !layout.is_contiguous()) {
            return Err(Error::NotRowMajor { op: Op::EmbeddingBag, argument: Argument::Output });
        }
        let (mut read, shape);
        read = None;
        let prepared = self.prepared(bags, &mut read)?;
        let shape = if core::ptr::eq(prepared, &raw const self.prepared[..]) {
            &self.out
        } else {
            shape = self.plans.output(prepared)?;
            &shape
        };
        // SAFETY: the checks above compared numbers, formats and layouts. A row-major output of all columns has the
        // planned row stride. Bounds and shape are the planned ones, or read from these bags.
        unsafe { self.plans.run(shape, tables, prepared, tensors) }
    }

    /// Checks that tables have the planned formats and layouts, and bags each.
    ///
    /// # Errors
    /// [`Error::TablesMismatch`]; [`Error::InTable`] with [`Error::FusedFormatMismatch`] or [`Error::PlanMismatch`].
    fn check(&self, tables: &[&FusedRows<'_>], bags: &[ErasedBags<'_>]) -> Result<(), Error> {
        check_tables(Argument::Data, self.plans.tables.len(), tables.len())?;
        check_tables(Argument::Indices, tables.len(), bags.len())?;
        for (number, (planned, table)) in self.plans.tables.iter().zip(tables).enumerate() {
            let same = check_format(planned.format, table)
                .and_then(|()| check_layout(Argument::Data, &planned.data, table.layout()));
            same.map_err(in_table(number))?;
        }
        Ok(())
    }

    /// The planned bags, if these bags start as planned; else bags that are read.
    ///
    /// # Errors
    /// [`Error::InTable`] with [`Error::PlanMismatch`] and errors of weights, or as for [`Plans::prepare`].
    fn prepared<'p>(
        &'p self,
        bags: &[ErasedBags<'_>],
        read: &'p mut Option<Vec<PreparedBags>>,
    ) -> Result<&'p [PreparedBags], Error> {
        if !bags.iter().all(|bags| matches!(bags.starts, BagStarts::AsPlanned)) {
            return Ok(read.insert(self.plans.prepare(bags)?));
        }
        for (number, ((layout, table), bags)) in self.indices.iter().zip(&self.plans.tables).zip(bags).enumerate() {
            let same = check_layout(Argument::Indices, layout, bags.indices.layout)
                .and_then(|()| bags.check(table.data.shape()[0], table.plan.weighted));
            same.map_err(in_table(number))?;
        }
        Ok(&self.prepared)
    }

    /// Calls `each` with the plan, the rows and the bags of each table.
    ///
    /// # Errors
    /// As for [`PlannedTables::run`], but for errors of the output and of index values.
    pub(super) fn each_table(
        &self,
        tables: &[&FusedRows<'_>],
        bags: &[ErasedBags<'_>],
        each: &mut EachTable<'_>,
    ) -> Result<(), Error> {
        self.check(tables, bags)?;
        let mut read = None;
        let prepared = self.prepared(bags, &mut read)?;
        for (number, (planned, bags)) in self.plans.tables.iter().zip(bags).enumerate() {
            each((&planned.plan, &prepared[number]), tables[number].into(), bags);
        }
        Ok(())
    }
}
