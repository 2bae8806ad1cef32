//! Bags of several tables in one call, and their plans.
//!
//! ```text
//! read the offsets of all tables  ->  plan each into its columns of the output  ->  run all, which threads share
//! ```

use alloc::vec::Vec;
use core::marker::PhantomData;

use crate::call::bag::erased::{self, Request, Tensors};
use crate::call::bag::fused::check_rows;
use crate::call::bag::{Bags, DynBags, EmbeddingBag};
use crate::call::gather::fused::check_format;
use crate::call::plan_type::plan_type;
use crate::call::{check_layout, check_output};
use crate::exec::{self, BagJob};
use crate::plan::{BagPlan, Bounds, Explain};
use crate::tensor::dynamic::DynTensor;
use crate::tensor::fused::FusedRows;
use crate::tensor::layout::{Layout, Shape};
use crate::tensor::output::{DynOutput, Output, Target, written};
use crate::tensor::owned::Tensor;
use crate::types::codes::Scale;
use crate::types::element::{DType, Element};
use crate::types::error::Error;
use crate::types::fused::{FusedFormat, FusedRow};
use crate::types::index::Index;
use crate::types::op::{Argument, Op};

/// A table of a call over several, with its bags: rows of any [`FusedFormat`], plain ones too, and of any number of
/// columns.
pub type TableBags<'a, I, O = I> = (&'a FusedRows<'a>, Bags<'a, f32, I, O>);

/// As [`TableBags`], of types that are known at run time.
pub type DynTableBags<'a> = (&'a FusedRows<'a>, DynBags<'a>);

impl EmbeddingBag {
    /// Runs the operator on several tables at once, each with bags of its own: each table becomes some columns of the
    /// result, as [`Self::run_fused`] makes them, in the order of the tables.
    ///
    /// All tables have the same number of bags. The result has the shape `[bags, columns of all tables]`. Its type is
    /// `f32`, or with the feature `half` also `f16` or `bf16`, whatever the tables hold. Weights are `f32`, and a table
    /// may have none. The settings of the operator hold for all tables. Threads share the bags of all tables. Bits are
    /// those of calls with one table each.
    ///
    /// Cost: that of the calls with one table each, with one allocation for the result, and lists as long as there are
    /// tables.
    ///
    /// # Errors
    /// [`Error::TooManyElements`] for the columns; then [`Error::InTable`] with the number of a table and its error: of
    /// settings and formats, as [`Self::run_fused`] has them, and when there is none, of ranks, offsets and weights, or
    /// [`Error::BagsMismatch`]; [`Error::TooManyElements`], [`Error::AllocationFailed`] for the result, and last
    /// [`Error::InTable`] with [`Error::AllocationFailed`] or [`Error::IndexOutOfRange`].
    ///
    /// # Examples
    /// A plain table and a quantised one, of two columns and of three:
    /// ```
    /// use gather_core::{Bags, EmbeddingBag, FusedFormat, FusedRows, Reduction, View};
    ///
    /// fn main() -> Result<(), gather_core::Error> {
    ///     let users = [1.0f32, 2.0, 3.0, 4.0];
    ///     let users = FusedRows::plain(View::new(&users, &[2, 2])?)?;
    ///     let items = [0.0f32, 14.0, 30.0, 1.0, 1.0, 16.0];
    ///     let items = FusedRows::quantize(FusedFormat::Torch4, &View::new(&items, &[2, 3])?)?;
    ///     let items = FusedRows::new(items.view(), FusedFormat::Torch4, 3)?;
    ///
    ///     // Two requests: each has one user, and some items, of which one was pruned.
    ///     let user = View::new(&[1i64, 0], &[2, 1])?;
    ///     let (ids, offsets) = (View::new(&[0i64, 1, -1], &[3])?, View::new(&[0i64, 2], &[2])?);
    ///     let rows = EmbeddingBag::new(Reduction::Add)
    ///         .skip_negative(true)
    ///         .run_tables::<f32, _, _>(&[(&users, Bags::packed(&user)), (&items, Bags::new(&ids, &offsets))])?;
    ///     assert_eq!(rows.shape(), [2, 5]);
    ///     assert_eq!(rows.as_slice(), [3.0, 4.0, 1.0, 15.0, 46.0, 1.0, 2.0, 0.0, 0.0, 0.0]);
    ///     Ok(())
    /// }
    /// ```
    #[doc(alias("table_batched_embedding", "SplitTableBatchedEmbeddingBags", "embedding_bag_collection"))]
    pub fn run_tables<U: Scale, I: Index, O: Index>(&self, tables: &[TableBags<'_, I, O>]) -> Result<Tensor<U>, Error> {
        written(Tensor::default(), |out| self.run_tables_into(tables, out))
    }

    /// As [`Self::run_tables`], into an [`Output`]: a view whose rows are contiguous, uninitialised memory, or a tensor
    /// that is used again.
    ///
    /// # Errors
    /// As for [`Self::run_tables`], and for a view first [`Error::RowsNotContiguous`], and [`Error::ShapeMismatch`]
    /// after [`Error::TooManyElements`]. The output is untouched except for [`Error::IndexOutOfRange`]: a view then
    /// holds a mix of results and what it held before.
    pub fn run_tables_into<U: Scale, I: Index, O: Index>(
        &self,
        tables: &[TableBags<'_, I, O>],
        out: &mut impl Output<U>,
    ) -> Result<(), Error> {
        let (out, rows) = (out.target(), tables.iter().map(|&(table, _)| table));
        let plans = Plans::into(self, rows, &out, |_, row| Request::fused::<U, I>(self, row))?;
        // SAFETY: the plans are those of these tables, into rows as far apart as those of the output; O1 for `U`; the
        // output is borrowed mutably, so that it overlaps no input.
        unsafe { plans.run(&tensors(tables), out) }
    }

    /// As [`Self::run_tables`], for indices, offsets and a result whose types are known at run time: each table has bags
    /// of types of its own, the result has elements of `dtype`, and weights are `f32`.
    ///
    /// ```
    /// use gather_core::{DynBags, DynView, Element, EmbeddingBag, FusedRows, Reduction, View};
    ///
    /// fn main() -> Result<(), gather_core::Error> {
    ///     let (a, b) = ([1.0f32, 2.0], [10.0f32, 20.0, 30.0, 40.0]);
    ///     let (a, b) = (FusedRows::plain(View::new(&a, &[2, 1])?)?, FusedRows::plain(View::new(&b, &[2, 2])?)?);
    ///     let (ids, pairs) = (View::new(&[1u8], &[1, 1])?, View::new(&[0i64, 1], &[1, 2])?);
    ///     let (ids, pairs) = (DynView::from(&ids), DynView::from(&pairs));
    ///     let tables = [(&a, DynBags::packed(&ids)), (&b, DynBags::packed(&pairs))];
    ///     let rows = EmbeddingBag::new(Reduction::Add).run_tables_dyn(&tables, f32::DTYPE)?;
    ///     assert_eq!(rows.downcast::<f32>()?.as_slice(), [2.0, 40.0, 60.0]);
    ///     Ok(())
    /// }
    /// ```
    ///
    /// # Errors
    /// [`Error::InTable`] with [`Error::NotAnIndexType`] or [`Error::DTypeMismatch`], then as for [`Self::run_tables`],
    /// with [`Error::ReductionUnavailable`] where `dtype` is none of its types too.
    pub fn run_tables_dyn(&self, tables: &[DynTableBags<'_>], dtype: DType) -> Result<DynTensor, Error> {
        written(DynTensor::empty(dtype), |out| self.run_tables_dyn_into(tables, dtype, out))
    }

    /// As [`Self::run_tables_dyn`], into a [`DynOutput`]: a view whose rows are contiguous, or a tensor that is used
    /// again.
    ///
    /// # Errors
    /// As for [`Self::run_tables_dyn`], for a view with [`Error::DTypeMismatch`] after those of the types of tables, and
    /// those of [`Self::run_tables_into`]. The output is then as after [`Self::run_tables_into`].
    pub fn run_tables_dyn_into(
        &self,
        tables: &[DynTableBags<'_>],
        dtype: DType,
        out: &mut impl DynOutput,
    ) -> Result<(), Error> {
        let typed = tables.iter().enumerate();
        let typed =
            typed.map(|(number, (table, bags))| bags.typed((*table).into(), f32::DTYPE).map_err(in_table(number)));
        let (indices, tensors): (Vec<_>, Vec<_>) = typed.collect::<Result<Vec<_>, Error>>()?.into_iter().unzip();
        let (out, rows) = (out.target_of(dtype)?, tables.iter().map(|&(table, _)| table));
        let request = |number: usize, row| Request::fused_erased(self, row, (dtype, indices[number]));
        let plans = Plans::into(self, rows, &out, request)?;
        // SAFETY: as in `run_tables_into`; O1 for the data type.
        unsafe { plans.run(&tensors, out) }
    }

    /// Makes a plan for several tables: it does the work that depends on their formats and shapes once. It runs on any
    /// tables of these, with any bags, into row-major outputs.
    ///
    /// # Errors
    /// As for [`Self::run_tables`], without those of bags, weights, fresh memory and index values.
    pub fn plan_tables<U: Scale, I: Index>(&self, tables: &[&FusedRows<'_>]) -> Result<TablesPlan<U, I>, Error> {
        let plans = Plans::new(self, tables.iter().copied(), None, |_, row| Request::fused::<U, I>(self, row))?;
        Ok(TablesPlan { plans, types: PhantomData })
    }
}

/// Wraps an error of a table.
fn in_table(table: usize) -> impl Fn(Error) -> Error {
    move |error| Error::InTable { table, error: error.into() }
}

/// The plans of all tables.
#[derive(Clone)]
struct Plans {
    tables: Vec<TablePlan>,
    /// Columns of all tables.
    columns: usize,
    op: EmbeddingBag,
    /// The name of the reduction, where it takes no weights.
    unweighted: Option<&'static str>,
}

/// The plan of a table, whose rows of the output are as far apart as those of all tables together.
#[derive(Clone)]
struct TablePlan {
    plan: BagPlan,
    format: FusedFormat,
    data: Layout,
    /// Bytes of the output from the first column of all tables to the first of this one.
    start: usize,
}

/// The tensors of all tables.
fn tensors<'a, I: Index, O: Index>(tables: &[TableBags<'a, I, O>]) -> Vec<Tensors<'a>> {
    tables.iter().map(|&(table, ref bags)| Tensors::of(table, bags)).collect()
}

impl Plans {
    fn explain(&self) -> Explain<'_> {
        Explain::tables(self.tables.iter().map(|table| &table.plan))
    }

    /// Plans into an output, by the requests of tables with their numbers.
    fn into<'a>(
        op: &'a EmbeddingBag,
        tables: impl Iterator<Item = &'a FusedRows<'a>> + Clone,
        out: &Target<'_>,
        request: impl Fn(usize, FusedRow) -> Result<Request<'a>, Error>,
    ) -> Result<Self, Error> {
        out.layout().map_or(Ok(()), check_rows)?;
        Self::new(op, tables, out.layout().map(|layout| layout.strides().first().copied().unwrap_or(0)), request)
    }

    /// Plans into outputs whose rows are `row` elements apart, or as many as there are columns.
    fn new<'a>(
        op: &'a EmbeddingBag,
        tables: impl Iterator<Item = &'a FusedRows<'a>> + Clone,
        row: Option<isize>,
        request: impl Fn(usize, FusedRow) -> Result<Request<'a>, Error>,
    ) -> Result<Self, Error> {
        let columns = tables.clone().try_fold(0, |columns: usize, table| columns.checked_add(table.columns()));
        let columns = columns.ok_or_else(|| Error::TooManyElements { shape: [usize::MAX].into() })?;
        let row = row.unwrap_or(columns as isize);
        let (mut start, mut unweighted, mut plans) = (0usize, None, Vec::new());
        for (number, table) in tables.enumerate() {
            let plan = request(number, table.row()).and_then(|request| {
                unweighted = request.rules().unweighted;
                let out = Layout::strided(&[1, table.columns()], &[row, 1])?;
                BagPlan::new(&request.of_data(table.layout())?, table.layout(), &out)
            });
            let (plan, data) = (plan.map_err(in_table(number))?, table.layout().clone());
            let bytes = table.columns().wrapping_mul(plan.request().dtype.size());
            plans.push(TablePlan { plan, format: table.format(), data, start });
            start = start.wrapping_add(bytes);
        }
        Ok(Plans { tables: plans, columns, op: *op, unweighted })
    }

    /// Reads the bounds of all bags, checks them, weights and the output, and runs the plans.
    ///
    /// # Errors
    /// [`Error::InTable`], [`Error::TooManyElements`], [`Error::ShapeMismatch`] for a fixed output, then those of the
    /// run.
    ///
    /// # Safety
    /// The tensors are those of tables of the plans' formats and layouts, with indices of the planned types. O1 for the
    /// planned type, in rows as far apart as was planned; a fixed output overlaps no input.
    unsafe fn run(&self, tensors: &[Tensors<'_>], out: Target<'_>) -> Result<(), Error> {
        let include_last_offset = self.op.get_include_last_offset();
        let mut bags = None;
        let read = |(number, tensors): (usize, &Tensors<'_>)| {
            let bounds = erased::bounds(tensors, include_last_offset).and_then(|bounds| {
                erased::check_weights(self.unweighted, tensors)?;
                let (expected, got) = (*bags.get_or_insert(bounds.bags()), bounds.bags());
                if expected == got { Ok(bounds) } else { Err(Error::BagsMismatch { expected, got }) }
            });
            bounds.map_err(in_table(number))
        };
        let bounds = tensors.iter().enumerate().map(read).collect::<Result<Vec<Bounds>, Error>>()?;
        let shape = Shape::from([bags.unwrap_or(0), self.columns]);
        let len = Shape::checked_len(&shape)?;
        if let Some(layout) = out.layout() {
            check_output(Op::EmbeddingBag, &shape, layout.shape())?;
        }
        let run = |out: *mut u8| {
            let jobs = self.tables.iter().zip(&bounds).zip(tensors).map(|((planned, bounds), tensors)| {
                let plan = planned.plan.call(bounds);
                let operands = tensors.operands(out.wrapping_add(planned.start));
                BagJob { plan, reduce: tensors.reduce(&plan), operands }
            });
            let jobs: Vec<BagJob<'_>> = jobs.collect();
            // SAFETY: X1: the caller's promise; the bounds are those of these indices, and weights have been checked.
            // Tables have columns of their own.
            let result = unsafe { exec::run_all_bags(&jobs, self.op.options.par) };
            result.map_err(|(number, error)| in_table(number)(error))
        };
        // SAFETY: a run that succeeds has initialised every column of every table (X3), which are all.
        unsafe { out.write(|| Ok((&shape, len)), run) }
    }
}

/// Everything about an [`EmbeddingBag`] of several tables that depends on their formats and shapes: made once by
/// [`plan_tables`](EmbeddingBag::plan_tables), run with any bags, from any thread. It describes, table by table, the
/// distance of rows, and what is read of one and made of it.
///
/// ```
/// use gather_core::{Bags, EmbeddingBag, FusedRows, Reduction, View};
///
/// fn main() -> Result<(), gather_core::Error> {
///     let (a, b) = ([1.0f32, 2.0], [10.0f32, 20.0, 30.0, 40.0]);
///     let (a, b) = (FusedRows::plain(View::new(&a, &[2, 1])?)?, FusedRows::plain(View::new(&b, &[2, 2])?)?);
///     let plan = EmbeddingBag::new(Reduction::Add).plan_tables::<f32, u32>(&[&a, &b])?;
///
///     let (ids, pairs) = (View::new(&[1u32], &[1, 1])?, View::new(&[0u32, 1], &[1, 2])?);
///     let rows = plan.run(&[(&a, Bags::packed(&ids)), (&b, Bags::packed(&pairs))])?;
///     assert_eq!((rows.shape(), rows.as_slice()), (&[1, 3][..], &[2.0, 40.0, 60.0][..]));
///     Ok(())
/// }
/// ```
pub struct TablesPlan<U, I> {
    plans: Plans,
    types: PhantomData<fn(I) -> U>,
}

plan_type!(TablesPlan<U, I>: plans, of no shape);

impl<U: Scale, I: Index> TablesPlan<U, I> {
    /// The columns of a result: those of all tables.
    #[must_use]
    pub fn columns(&self) -> usize {
        self.plans.columns
    }

    /// Runs the plan into a fresh tensor.
    ///
    /// # Errors
    /// [`Error::TablesMismatch`], [`Error::InTable`] with [`Error::FusedFormatMismatch`] or [`Error::PlanMismatch`],
    /// then as for [`EmbeddingBag::run_tables`].
    pub fn run<O: Index>(&self, tables: &[TableBags<'_, I, O>]) -> Result<Tensor<U>, Error> {
        written(Tensor::default(), |out| self.run_into(tables, out))
    }

    /// Runs the plan into an [`Output`]: a row-major view, uninitialised memory, or a tensor that is used again.
    ///
    /// # Errors
    /// As for [`TablesPlan::run`], with [`Error::NotRowMajor`] for a view after errors of tables, and
    /// [`Error::ShapeMismatch`] as for [`EmbeddingBag::run_tables_into`].
    pub fn run_into<O: Index>(&self, tables: &[TableBags<'_, I, O>], out: &mut impl Output<U>) -> Result<(), Error> {
        let (expected, got) = (self.plans.tables.len(), tables.len());
        if expected != got {
            return Err(Error::TablesMismatch { expected, got });
        }
        for (number, (planned, (table, _))) in self.plans.tables.iter().zip(tables).enumerate() {
            let same = check_format(planned.format, table)
                .and_then(|()| check_layout(Argument::Data, &planned.data, table.layout()));
            same.map_err(in_table(number))?;
        }
        let out = out.target();
        if out.layout().is_some_and(|layout| !layout.is_contiguous()) {
            return Err(Error::NotRowMajor { op: Op::EmbeddingBag, argument: Argument::Output });
        }
        // SAFETY: formats and layouts of the tables are those of the plans, as just checked; O1 for `U`, and a
        // row-major output of as many columns has its rows as far apart; it is borrowed mutably, so that it overlaps no
        // input.
        unsafe { self.plans.run(&tensors(tables), out) }
    }
}
