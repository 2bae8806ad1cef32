//! Calls with a row function, which makes a value or another row of each row on its way, and their plans.

mod plan;

use core::marker::PhantomData;

use smallvec::SmallVec;

use crate::call::Sealed;
use crate::call::dynamic::index_type;
use crate::call::erased::Request;
use crate::call::gather::{IndexAttributes, IndexOperator};
use crate::call::planned::{Inputs, Planned};
pub use crate::call::row_functions::plan::RowPlan;
use crate::exec;
use crate::kernels::IndexKernel;
use crate::kernels::convert;
use crate::kernels::convert::row::{Erased, GivenRows, RowFunction, RowParams, RowShapes, WrongLength};
use crate::kernels::select::Kernels;
use crate::plan::{Converting, IndexLowered, IndexPlan, WholeRows};
use crate::tensor::dynamic::{DynTensor, DynView, check_aligned};
use crate::tensor::layout::Layout;
use crate::tensor::output::{DynOutput, Output, Target, written};
use crate::tensor::owned::Tensor;
use crate::tensor::typing::Any;
use crate::tensor::view::View;
use crate::types::element::{DType, Element};
use crate::types::error::Error;
use crate::types::index::{Index, IndexType};
use crate::types::level::Level;
use crate::types::method::Method;
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
    /// [`Error::RowParameterLengthMismatch`] and [`Error::RowParameterLengthUnstated`], [`Error::AllocationFailed`],
    /// then [`Error::IndexOutOfRange`] for the first such index in row-major order.
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
        written(Tensor::default(), |out| self.run_rows_into(function, data, indices, params, out))
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
        // SAFETY: the function has these parameters and reads `T`, and indices are of type `I`; O1 for `U`, which the
        // function writes; the output is borrowed mutably, so that it overlaps no input.
        unsafe {
            self.run_rows_by::<P>(function.erased(), By::of::<I>(), Inputs::new(data, indices), params, out.target())
        }
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
        self.row_plan(function, By::of::<I>(), data, indices, Planned::new)
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
        self.row_plan(function, By::of::<I>(), data, indices, Planned::new_any_count)
    }

    /// As [`Self::run_rows`], on tensors whose types are known at run time: data of the type that the function reads,
    /// and indices of any type. The result has the type that it writes.
    ///
    /// ```
    /// use gather_core::{DynView, Gather, RowSlice, View, rows};
    ///
    /// fn main() -> Result<(), gather_core::Error> {
    ///     let (table, ids) = (View::new(&[1.0f32, 0.0, 0.5, 0.5], &[2, 2])?, View::new(&[1u8], &[1])?);
    ///     let (table, ids) = (DynView::from(&table), DynView::from(&ids));
    ///     let scores = Gather::new(0).run_rows_dyn(&rows::DOT, &table, &ids, (RowSlice::Slice(&[3.0, 4.0]),))?;
    ///     assert_eq!(scores.downcast::<f32>()?.as_slice(), [3.5]);
    ///     Ok(())
    /// }
    /// ```
    ///
    /// # Errors
    /// [`Error::NotAnIndexType`], [`Error::DTypeMismatch`] and [`Error::Misaligned`] for data, then as for
    /// [`Self::run_rows`].
    ///
    /// # Panics
    /// When the function does.
    pub fn run_rows_dyn<T: Element, U: Element, P: RowParams>(
        &self,
        function: &RowFunction<T, U, P>,
        data: &DynView<'_>,
        indices: &DynView<'_>,
        params: P::Given<'_>,
    ) -> Result<DynTensor, Error> {
        written(DynTensor::empty(U::DTYPE), |out| self.run_rows_dyn_into(function, data, indices, params, out))
    }

    /// As [`Self::run_rows_dyn`], into a [`DynOutput`]: a view whose rows are contiguous, or a tensor that is used again.
    ///
    /// # Errors
    /// As for [`Self::run_rows_dyn`], for a view with [`Error::DTypeMismatch`] and [`Error::Misaligned`] after those of
    /// data, and those of [`Self::run_rows_into`]. The output is then as after [`Self::run_rows_into`].
    ///
    /// # Panics
    /// When the function does; the output is then as after [`Self::run_rows_into`].
    pub fn run_rows_dyn_into<T: Element, U: Element, P: RowParams>(
        &self,
        function: &RowFunction<T, U, P>,
        data: &DynView<'_>,
        indices: &DynView<'_>,
        params: P::Given<'_>,
        out: &mut impl DynOutput,
    ) -> Result<(), Error> {
        let by = By::of_type(index_type(indices.dtype())?);
        let (data, out) = (data.downcast::<T>()?, aligned(out, U::DTYPE)?);
        // SAFETY: as in `run_rows_into`; the output is aligned for `U`, as just checked.
        unsafe { self.run_rows_by::<P>(function.erased(), by, Inputs::new::<T, Any>(&data, indices), params, out) }
    }

    /// As [`Self::plan_rows`], for indices, data and outputs of types that are known at run time.
    ///
    /// # Errors
    /// As for [`Self::plan_rows`].
    pub fn plan_rows_dyn<T: Element, U: Element, P: RowParams>(
        &self,
        function: &RowFunction<T, U, P>,
        data: &Layout,
        index: IndexType,
        indices: &Layout,
    ) -> Result<RowPlan<Any, Any, P, Any>, Error> {
        self.row_plan(function, By::of_type(index), data, indices, Planned::new)
    }

    /// Runs a function without its types.
    ///
    /// # Errors
    /// As for [`Self::run_rows_into`].
    ///
    /// # Safety
    /// The function is one of these parameters, and the inputs are of the type that it reads and of the index type; O1
    /// for the type that it writes. Data and a fixed output are aligned for their types. The output overlaps no input.
    unsafe fn run_rows_by<P: RowParams>(
        &self,
        (function, fill): (Erased, Option<&[u8]>),
        by: By,
        inputs: Inputs<'_>,
        params: P::Given<'_>,
        target: Target<'_>,
    ) -> Result<(), Error> {
        let whole = self.whole(&function, inputs.data_layout)?;
        let request = self.row_request(&function, &whole, by, inputs.data_layout, inputs.indices);
        let (mut plan, fresh) = request.plan_for(&target)?;
        fill.inspect(|fill| plan.set_fill(fill));
        let call = whole.call(function, &plan, inputs.data_layout, target.layout())?;
        let given = call.given::<P>(&plan, plan.output(), &params)?;
        let run = |out: *mut u8| {
            let given = GivenRows::<P> { out: out.addr(), ..given };
            let inputs = Inputs { params: (&raw const given).cast(), ..inputs };
            // SAFETY: X1: the plan was made for these layouts and types; the rest is the caller's promise. Pointers are
            // aligned, by that promise, and rows are contiguous, as just checked; what is given is of the function's
            // parameters, and `Sync` (K8).
            unsafe { exec::run_index(&plan, inputs.operands(out)) }
        };
        // SAFETY: a run that succeeds has initialised every element of the result (X3).
        unsafe { target.write(|| Ok((plan.output(), fresh)), run) }
    }

    /// A plan for inputs `D` and `I` and outputs `O`: the types of the function, and of what `make` plans for, or
    /// [`Any`], as what runs the plan trusts.
    pub(super) fn row_plan<T, U: Element, P: RowParams, D, O, I>(
        &self,
        function: &RowFunction<T, U, P>,
        by: By,
        data: &Layout,
        indices: &Layout,
        make: impl FnOnce(&Request<'_>) -> Result<Planned, Error>,
    ) -> Result<RowPlan<D, O, P, I>, Error> {
        let (erased, fill) = function.erased();
        let whole = self.whole(&erased, data)?;
        let mut planned = make(&self.row_request(&erased, &whole, by, data, indices))?;
        fill.inspect(|fill| planned.set_fill(fill));
        let call = whole.call(erased, &planned.plan, data, None)?;
        Ok(RowPlan { planned, call, types: PhantomData })
    }

    /// The attributes with the rows of data and of results.
    #[inline(always)]
    fn whole(&self, function: &Erased, data: &Layout) -> Result<Whole<A>, Error> {
        let (attributes, lead) = self.attributes().rows(data)?;
        // A product that overflows has a factor of 0 too, since the layout has as many elements.
        let elements = data.shape()[lead..].iter().fold(1usize, |product, &dim| product.saturating_mul(dim));
        let elements = if data.shape()[lead..].contains(&0) { 0 } else { elements };
        let results = if function.one { 1 } else { function.len.unwrap_or(elements) };
        Ok(Whole { attributes, lead, rows: WholeRows { elements, results }, one: function.one })
    }

    #[inline(always)]
    fn row_request<'a>(
        &self,
        function: &Erased,
        whole: &'a Whole<A>,
        By { index, kernels, kernel }: By,
        data: &'a Layout,
        indices: &'a Layout,
    ) -> Request<'a> {
        let (from, to) = function.types;
        let converting = Converting { rows: function.rows, size_in: from.size(), kernel, whole: Some(whole.rows) };
        let planned = self.index_request((kernels, index), to, Some(converting));
        Request { attributes: whole, planned, data, indices }
    }
}

/// An index type, with the kernels for it.
#[derive(Clone, Copy)]
pub(super) struct By {
    index: IndexType,
    kernels: Kernels,
    kernel: fn(Level, Method) -> IndexKernel,
}

impl By {
    /// A type that is known to the compiler, which links no other kernels.
    #[inline(always)]
    fn of<I: Index>() -> Self {
        By { index: I::TYPE, kernels: Kernels::of::<I>(), kernel: convert::kernel::<I> }
    }

    /// A type that is known at run time.
    pub(super) fn of_type(index: IndexType) -> Self {
        By { index, kernels: Kernels::builtin(index), kernel: convert::kernel_of(index) }
    }
}

/// An output of a data type, whose elements are aligned for a row function.
///
/// # Errors
/// [`Error::DTypeMismatch`], [`Error::Misaligned`].
fn aligned<U>(out: &mut impl Output<U>, dtype: DType) -> Result<Target<'_>, Error> {
    let target = out.target_of(dtype)?;
    if let Target::Fixed(out, _) = target {
        check_aligned(dtype, out)?;
    }
    Ok(target)
}

impl<A: IndexAttributes> Whole<A> {
    /// A call, after the rows of data, and those of a fixed output, have been checked to be contiguous.
    ///
    /// # Errors
    /// [`Error::RowsNotContiguous`].
    #[inline(always)]
    fn call(&self, erased: Erased, plan: &IndexPlan, data: &Layout, out: Option<&Layout>) -> Result<RowCall, Error> {
        let spacing = self.spacing(plan, data, out)?.map(|step| step.wrapping_mul(erased.types.1.size() as isize));
        Ok(RowCall { erased, row: self.rows.elements, spacing })
    }

    /// Elements from a row of the output to the next; `None` where rows are not evenly spaced.
    fn spacing(&self, plan: &IndexPlan, data: &Layout, out: Option<&Layout>) -> Result<Option<isize>, Error> {
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
}

/// A function, and the sizes with which a call compares its parameters.
#[derive(Clone, Copy)]
struct RowCall {
    erased: Erased,
    /// Elements of a row of data.
    row: usize,
    /// Bytes from a row of the output to the next; `None` where rows are not evenly spaced.
    spacing: Option<isize>,
}

impl RowCall {
    /// The parameters of a call, without the address of its output, whose shape is `output`.
    ///
    /// # Errors
    /// [`Error::RowParameterLengthMismatch`] and [`Error::RowParameterLengthUnstated`], then
    /// [`Error::RowsNotContiguous`] for an output whose rows are not evenly spaced where indices have values of their
    /// own.
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
            match expected {
                Some(expected) => Error::RowParameterLengthMismatch { op, function, parameter, per, len, expected },
                None => Error::RowParameterLengthUnstated { op, function, parameter, len, indices: lead.into() },
            }
        })?;
        let by_index = P::by_index(&lookups);
        let out_step = match self.spacing {
            None if by_index => return Err(Error::RowsNotContiguous { op, argument: Argument::Output }),
            spacing => spacing.unwrap_or(1),
        };
        Ok(GivenRows { lookups, out: 0, out_step, by_index })
    }
}
