//! Calls with a row function, which makes a value or another row of each row on its way, and their plans.

use core::marker::PhantomData;

use smallvec::SmallVec;

use crate::call::Sealed;
use crate::call::erased::Request;
use crate::call::gather::{IndexAttributes, IndexOperator};
use crate::call::plan_type::plan_type;
use crate::call::planned::{Inputs, Planned};
use crate::exec;
use crate::kernels::convert;
use crate::kernels::convert::row::{Erased, GivenRows, RowFunction, RowParams, RowShapes, Types, WrongLength};
use crate::kernels::select::Kernels;
use crate::plan::{Converting, IndexLowered, IndexPlan, IndexRequest, WholeRows};
use crate::tensor::layout::{Layout, Shape};
use crate::tensor::output::{Output, Target};
use crate::tensor::owned::Tensor;
use crate::tensor::pages::WillNeed;
use crate::tensor::view::View;
use crate::types::element::{Element, IsElement};
use crate::types::error::Error;
use crate::types::index::Index;
use crate::types::op::{Argument, Op};

/// The attributes of an operator whose result is rows of data. Sealed: those of [`Gather`](crate::Gather).
pub trait RowAttributes: IndexAttributes + Sized {
    /// The attributes with an axis that counts from the front, and how many dimensions of data stand before a row.
    ///
    /// # Errors
    /// [`Error::AxisOutOfRange`].
    #[doc(hidden)]
    fn rows(&self, data: &Layout) -> Result<(Self, usize), Error>;
}

/// Attributes whose rows are taken whole: the loops are those of the dimensions before them.
struct Whole<A> {
    attributes: A,
    lead: usize,
    rows: WholeRows,
    /// Whether a row becomes one value, which is no dimension of the result.
    one: bool,
}

impl<A> Sealed for Whole<A> {}

impl<A: IndexAttributes> IndexAttributes for Whole<A> {
    fn op(&self) -> Op {
        self.attributes.op()
    }

    fn lower(&self, data: &Layout, indices: &Layout, lowered: &mut IndexLowered) -> Result<(), Error> {
        let (shape, strides) = (&data.shape()[..self.lead], &data.strides()[..self.lead]);
        // Rows without elements lie nowhere.
        let still: SmallVec<[isize; 8]> = SmallVec::from_elem(0, self.lead);
        let strides = if self.rows.elements == 0 { &still[..] } else { strides };
        self.attributes.lower(&Layout::strided(shape, strides)?, indices, lowered)?;
        if !self.one {
            lowered.output.push(self.rows.results);
        }
        Ok(())
    }
}

impl<A: RowAttributes> IndexOperator<A> {
    /// Runs a [`RowFunction`] on each row that the operator gathers: the result has one value, or one row of another
    /// length, for each index. Rows are read where they lie, and no gathered rows are written.
    ///
    /// A row is all dimensions of data behind the axis, and its elements are contiguous. The shape of the result is
    /// `data.shape[..axis] + indices.shape[batch_dims..]`. Where the function makes rows, their length follows as the
    /// last dimension: what [`RowFunction::with_len`] declares, or else the length of a row of data.
    ///
    /// `params` is a tuple with a [`RowValue`](crate::RowValue) or a [`RowSlice`](crate::RowSlice) for each parameter
    /// of the function. Negative indices and indices out of range are as for [`Self::run`].
    /// [`OutOfBounds::Zero`](crate::OutOfBounds::Zero) writes zeros, or what [`RowFunction::with_fill`] says. A row of
    /// results holds zeros when the function is called. The function may be called for rows whose results are not kept.
    ///
    /// # Errors
    /// Errors of attributes and shapes, [`Error::LevelUnavailable`], [`Error::TooManyBytes`],
    /// [`Error::MethodUnavailable`] for any method but [`Direct`](crate::Method::Direct),
    /// [`Blocks`](crate::Method::Blocks) and, for results of a line to 4 KiB a row,
    /// [`Streamed`](crate::Method::Streamed), [`Error::RowsNotContiguous`],
    /// [`Error::RowParameterLengthMismatch`], [`Error::AllocationFailed`], then [`Error::IndexOutOfRange`] for the
    /// first such index in row-major order.
    ///
    /// # Panics
    /// When the function does.
    ///
    /// Cost: one pass over the indices and one over the rows that they name, one allocation. Rows of data beyond the
    /// caches are prefetched, where a loop has more than a few. The function is compiled for the level.
    ///
    /// # Examples
    /// The scores of two rows of a table for a query:
    /// ```
    /// use gather_core::{Gather, RowSlice, View, rows};
    ///
    /// fn main() -> Result<(), gather_core::Error> {
    ///     let table = [1.0f32, 0.0, 0.5, 0.5, 0.0, 2.0];
    ///     let (table, ids) = (View::new(&table, &[3, 2])?, View::new(&[2u32, 0], &[2])?);
    ///     let scores = Gather::new(0).run_rows(&rows::DOT, &table, &ids, (RowSlice::Slice(&[3.0, 4.0]),))?;
    ///     assert_eq!((scores.shape(), scores.as_slice()), (&[2][..], &[8.0, 3.0][..]));
    ///     Ok(())
    /// }
    /// ```
    pub fn run_rows<T: Element, U: Element, P: RowParams, I: Index>(
        &self,
        function: &RowFunction<T, U, P>,
        data: &View<'_, T>,
        indices: &View<'_, I>,
        params: P::Given<'_>,
    ) -> Result<Tensor<U>, Error> {
        let mut out = Tensor::default();
        self.run_rows_into(function, data, indices, params, &mut out)?;
        Ok(out)
    }

    /// As [`Self::run_rows`], into an [`Output`]: a view whose rows are contiguous, uninitialised memory, or a tensor
    /// that is used again. Allocates what [`Self::run_rows`] does, except for the result.
    ///
    /// # Errors
    /// As for [`Self::run_rows`], and [`Error::ShapeMismatch`] for a view after errors of shapes. The output is
    /// untouched except for [`Error::IndexOutOfRange`], when a view holds a mix of results and what it held before, and
    /// for [`Error::AllocationFailed`], which leaves a tensor empty.
    ///
    /// # Panics
    /// When the function does; a view then holds a mix of results, zeros and what it held before, and a tensor no
    /// elements.
    pub fn run_rows_into<T: Element, U: Element, P: RowParams, I: Index>(
        &self,
        function: &RowFunction<T, U, P>,
        data: &View<'_, T>,
        indices: &View<'_, I>,
        params: P::Given<'_>,
        out: &mut impl Output<U>,
    ) -> Result<(), Error> {
        let (erased, target) = (function.erased(), out.target());
        let whole = self.whole(&erased, data.layout())?;
        let request = self.row_request::<T, U, P, I>(function, &whole, data.layout(), indices.layout());
        let (mut plan, fresh) = request.plan_for(&target)?;
        set_fill(function, |fill| plan.set_fill(fill));
        let spacing = whole.check(&plan, data.layout(), target.layout())?;
        let call = RowCall { erased: &erased, row: whole.rows.elements, spacing: spacing.bytes::<U>() };
        let given = call.given::<P>(&plan, plan.output(), &params)?;
        let run = |out: *mut u8| {
            let given = GivenRows::<P> { out: out.addr(), ..given };
            let inputs = Inputs { params: (&raw const given).cast(), ..Inputs::new(data, indices) };
            // SAFETY: X1: the plan was made for these layouts and types; O1 for `U`; the output is borrowed mutably,
            // so that it overlaps no input. Pointers to `T` and `U` are aligned for them, and rows are contiguous, as
            // just checked; what is given is of the function's parameters, and `Sync` (K8).
            unsafe { exec::run_index(&plan, inputs.operands(out)) }
        };
        // SAFETY: a run that succeeds has initialised every element of the result (X3).
        unsafe { target.write(|| Ok((plan.output(), fresh)), run) }
    }

    /// Makes a plan: it does the work that depends on shapes and types once, and runs the function on any tensors of
    /// these layouts.
    ///
    /// # Errors
    /// As for [`Self::run_rows`], without those of parameters, memory and index values.
    pub fn plan_rows<T: Element, U: Element, P: RowParams, I: Index>(
        &self,
        function: &RowFunction<T, U, P>,
        data: &Layout,
        indices: &Layout,
    ) -> Result<RowPlan<T, U, P, I>, Error> {
        self.row_plan(function, data, indices, Planned::new)
    }

    /// As [`Self::plan_rows`], for any size of the first dimension of indices. The size in `indices` is what calls are
    /// expected to have.
    ///
    /// # Errors
    /// As for [`Self::plan_rows`], and [`Error::FixedCount`] as for [`Self::plan_any_count`].
    pub fn plan_rows_any_count<T: Element, U: Element, P: RowParams, I: Index>(
        &self,
        function: &RowFunction<T, U, P>,
        data: &Layout,
        indices: &Layout,
    ) -> Result<RowPlan<T, U, P, I>, Error> {
        self.row_plan(function, data, indices, Planned::new_any_count)
    }

    fn row_plan<T: Element, U: Element, P: RowParams, I: Index>(
        &self,
        function: &RowFunction<T, U, P>,
        data: &Layout,
        indices: &Layout,
        make: impl FnOnce(&Request<'_>) -> Result<Planned, Error>,
    ) -> Result<RowPlan<T, U, P, I>, Error> {
        let erased = function.erased();
        let whole = self.whole(&erased, data)?;
        let mut planned = make(&self.row_request::<T, U, P, I>(function, &whole, data, indices))?;
        set_fill(function, |fill| planned.set_fill(fill));
        let spacing = whole.check(&planned.plan, data, None)?;
        Ok(RowPlan { planned, erased, row: whole.rows.elements, spacing, types: PhantomData })
    }

    /// The attributes with the rows of data and of results.
    fn whole(&self, function: &Erased, data: &Layout) -> Result<Whole<A>, Error> {
        let (attributes, lead) = self.attributes().rows(data)?;
        // A product that overflows has a factor of 0 too, since the layout has as many elements.
        let elements = data.shape()[lead..].iter().fold(1usize, |product, &dim| product.saturating_mul(dim));
        let elements = if data.shape()[lead..].contains(&0) { 0 } else { elements };
        let results = if function.one { 1 } else { function.len.unwrap_or(elements) };
        Ok(Whole { attributes, lead, rows: WholeRows { elements, results }, one: function.one })
    }

    fn row_request<'a, T: Element, U: Element, P: RowParams, I: Index>(
        &self,
        function: &RowFunction<T, U, P>,
        whole: &'a Whole<A>,
        data: &'a Layout,
        indices: &'a Layout,
    ) -> Request<'a> {
        const { IsElement::<T>::CHECK };
        const { IsElement::<U>::CHECK };
        let planned = IndexRequest {
            op: self.attributes().op(),
            policy: self.policy(),
            options: self.options(),
            kernels: Kernels::of::<I>(),
            dtype: U::DTYPE,
            index: I::TYPE,
            converting: Some(Converting {
                rows: function.erased().rows,
                size_in: size_of::<T>(),
                kernel: convert::kernel::<I>,
                whole: Some(whole.rows),
            }),
        };
        Request { attributes: whole, planned, data, indices }
    }
}

/// Calls `set` with the bytes of the function's fill, if it has one.
fn set_fill<T, U: Element, P>(function: &RowFunction<T, U, P>, set: impl FnOnce(&[u8])) {
    if let Some(fill) = function.fill() {
        // SAFETY: an element has no padding and no uninitialised byte.
        set(unsafe { core::slice::from_raw_parts(core::ptr::from_ref(fill).cast(), size_of::<U>()) });
    }
}

/// Elements from a row of the output to the next; `None` where rows are not evenly spaced.
#[derive(Clone, Copy)]
struct Spacing(Option<isize>);

impl Spacing {
    fn bytes<U>(self) -> Option<isize> {
        self.0.map(|step| step.wrapping_mul(size_of::<U>() as isize))
    }
}

impl<A: IndexAttributes> Whole<A> {
    /// Checks that the rows of data are contiguous, and those of a fixed output.
    ///
    /// # Errors
    /// [`Error::RowsNotContiguous`].
    fn check(&self, plan: &IndexPlan, data: &Layout, out: Option<&Layout>) -> Result<Spacing, Error> {
        let refused = |argument| Error::RowsNotContiguous { op: plan.op(), argument };
        if !Layout::strided(&data.shape()[self.lead..], &data.strides()[self.lead..])?.is_contiguous() {
            return Err(refused(Argument::Data));
        }
        let Some(out) = out else { return Ok(Spacing(Some((self.rows.results as isize).max(1)))) };
        let lead = out.rank() - usize::from(!self.one);
        if self.rows.results > 1 && !self.one && out.strides()[lead] != 1 {
            return Err(refused(Argument::Output));
        }
        // The step of the last dimension that is stepped along, if those before it go on where it ends.
        let (mut spacing, mut next) = (None, None);
        for (&n, &step) in out.shape()[..lead].iter().zip(out.strides()).rev().filter(|&(&n, _)| n != 1) {
            if next.is_some_and(|next| next != step) {
                return Ok(Spacing(None));
            }
            spacing.get_or_insert(step);
            next = Some(step.wrapping_mul(n as isize));
        }
        Ok(Spacing(Some(spacing.filter(|&step| step != 0).unwrap_or(1))))
    }
}

/// The sizes with which a call compares its parameters.
struct RowCall<'a> {
    erased: &'a Erased,
    /// Elements of a row of data.
    row: usize,
    /// Bytes from a row of the output to the next.
    spacing: Option<isize>,
}

impl RowCall<'_> {
    /// The parameters of a call, without the address of its output, whose shape is `output`.
    ///
    /// # Errors
    /// [`Error::RowParameterLengthMismatch`], then [`Error::RowsNotContiguous`] for an output whose rows are not evenly
    /// spaced where indices have values of their own.
    fn given<'p, P: RowParams>(
        &self,
        plan: &IndexPlan,
        output: &[usize],
        params: &'p P::Given<'_>,
    ) -> Result<GivenRows<'p, P>, Error> {
        let op = plan.op();
        let lead = &output[..output.len() - usize::from(!self.erased.one)];
        let dim = plan.axes().first().map_or(0, |axis| axis.dim);
        let lookups = P::lookups(params, &RowShapes { row: self.row, dim, lead });
        let lookups = lookups.map_err(|(number, WrongLength { per, len, expected })| {
            let (function, parameter) = (self.erased.name, self.erased.params[number]);
            Error::RowParameterLengthMismatch { op, function, parameter, per, len, expected }
        })?;
        let by_index = P::by_index(&lookups);
        let out_step = match self.spacing {
            None if by_index => return Err(Error::RowsNotContiguous { op, argument: Argument::Output }),
            spacing => spacing.unwrap_or(1),
        };
        Ok(GivenRows { lookups, out: 0, out_step, by_index })
    }
}

/// Everything about a call with a [`RowFunction`] that depends on shapes and types: made once by
/// [`plan_rows`](IndexOperator::plan_rows) or [`plan_rows_any_count`](IndexOperator::plan_rows_any_count), run many
/// times, from any thread.
pub struct RowPlan<T, U, P, I> {
    planned: Planned,
    erased: Erased,
    /// Elements of a row of data.
    row: usize,
    spacing: Spacing,
    types: PhantomData<Types<T, U, (P, I)>>,
}

plan_type!(RowPlan<T, U, P, I>: planned);

impl<T: Element, U: Element, P: RowParams, I: Index> RowPlan<T, U, P, I> {
    /// Asks the system for the pages of data that a run on these indices will touch, as [`IndexOperator::will_need`]
    /// does. Nothing is requested for tensors of other layouts than the plan's.
    pub fn will_need(&self, data: &View<'_, T>, indices: &View<'_, I>) -> WillNeed {
        // SAFETY: the types are those of the plan.
        unsafe { self.planned.will_need(data, indices) }
    }

    /// Runs the plan into a fresh tensor.
    ///
    /// # Errors
    /// [`Error::PlanMismatch`], [`Error::RowParameterLengthMismatch`], [`Error::AllocationFailed`], then
    /// [`Error::IndexOutOfRange`].
    ///
    /// # Panics
    /// When the function does.
    pub fn run(&self, data: &View<'_, T>, indices: &View<'_, I>, params: P::Given<'_>) -> Result<Tensor<U>, Error> {
        let mut out = Tensor::default();
        self.run_into(data, indices, params, &mut out)?;
        Ok(out)
    }

    /// Runs the plan into an [`Output`]: a row-major view, uninitialised memory, or a tensor that is used again.
    /// Allocates nothing but the memory of a tensor that is too small.
    ///
    /// # Errors
    /// [`Error::PlanMismatch`], [`Error::RowParameterLengthMismatch`], [`Error::AllocationFailed`] for a tensor, then
    /// [`Error::IndexOutOfRange`]; the output is then as after [`IndexOperator::run_rows_into`].
    ///
    /// # Panics
    /// When the function does.
    pub fn run_into(
        &self,
        data: &View<'_, T>,
        indices: &View<'_, I>,
        params: P::Given<'_>,
        out: &mut impl Output<U>,
    ) -> Result<(), Error> {
        let (planned, target) = (&self.planned, out.target());
        let count = planned.check_inputs(data.layout(), indices.layout())?;
        if let Target::Fixed(_, layout) = &target {
            planned.check_output(layout, count)?;
        }
        let mut buffer = Shape::default();
        let (shape, len) = planned.fresh(count, &mut buffer)?;
        let call = RowCall { erased: &self.erased, row: self.row, spacing: self.spacing.bytes::<U>() };
        let given = call.given::<P>(&planned.plan, shape, &params)?;
        let run = |out: *mut u8| {
            let given = GivenRows::<P> { out: out.addr(), ..given };
            let inputs = Inputs { params: (&raw const given).cast(), ..Inputs::new(data, indices) };
            // SAFETY: the layouts have just been checked; the rest as in `IndexOperator::run_rows_into`.
            unsafe { planned.execute(inputs.operands(out), count) }
        };
        // SAFETY: a run that succeeds has initialised every element of the result (X3).
        unsafe { target.write(|| Ok((shape, len)), run) }
    }
}
