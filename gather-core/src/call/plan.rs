//! Plans with their types: what a caller holds.

use alloc::boxed::Box;
use core::marker::PhantomData;
use core::mem::MaybeUninit;

use crate::call::erased::Request;
use crate::call::{check_fresh, check_layout, mismatch, will_need};
use crate::exec::{self, CountedPlan, Operands, pool_threads};
use crate::plan::{Explain, IndexLowered, IndexPlan};
use crate::tensor::layout::Layout;
use crate::tensor::memory;
use crate::tensor::owned::Tensor;
use crate::tensor::pages::WillNeed;
use crate::tensor::view::{View, ViewMut};
use crate::types::element::Element;
use crate::types::error::Error;
use crate::types::index::Index;
use crate::types::op::Argument;

/// Everything about a call of [`Gather`](crate::Gather), [`GatherElements`](crate::GatherElements) or
/// [`GatherNd`](crate::GatherNd) that depends on shapes and types: made once, run many times, from any thread. The
/// [guide](crate::guide::plans) has a chapter on plans.
///
/// ```
/// use gather_core::{Gather, Layout, View, ViewMut};
///
/// fn main() -> Result<(), gather_core::Error> {
///     let (table, ids) = (Layout::contiguous(&[4, 2])?, Layout::contiguous(&[3])?);
///     let plan = Gather::new(0).plan::<f32, u32>(&table, &ids)?;
///
///     let values = [0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 3.5];
///     let mut out = [0.0; 6];
///     plan.run_slices(&values, &[3, 0, 1], &mut out)?;
///     assert_eq!(out, [3.0, 3.5, 0.0, 0.5, 1.0, 1.5]);
///     Ok(())
/// }
/// ```
pub struct Plan<T, I> {
    plan: IndexPlan,
    data: Layout,
    indices: Layout,
    out: Layout,
    /// Whether all three layouts are row-major, as slices are.
    contiguous: bool,
    /// Whether every call is one call of the kernel: the plan's only size of indices, for one thread.
    one_call: bool,
    /// What runs calls with another size of the first dimension of indices.
    counted: Option<Box<CountedPlan>>,
    types: PhantomData<fn(T, I)>,
}

impl<T, I> core::fmt::Debug for Plan<T, I> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        core::fmt::Display::fmt(&Explain::index(&self.plan, pool_threads), f)
    }
}

impl<T, I> Clone for Plan<T, I> {
    fn clone(&self) -> Self {
        Plan {
            plan: self.plan.clone(),
            data: self.data.clone(),
            indices: self.indices.clone(),
            out: self.out.clone(),
            counted: self.counted.clone(),
            ..*self
        }
    }
}

impl<T: Element, I: Index> Plan<T, I> {
    /// A plan for a request of these types.
    pub(super) fn new(request: &Request<'_>) -> Result<Self, Error> {
        let (plan, out) = request.plan()?;
        Ok(Self::from_parts(request, plan, out, None))
    }

    pub(super) fn new_into(request: &Request<'_>, out: &Layout) -> Result<Self, Error> {
        let plan = request.plan_into(out)?;
        Ok(Self::from_parts(request, plan, out.clone(), None))
    }

    pub(super) fn new_any_count(request: &Request<'_>) -> Result<Self, Error> {
        let plan_for = |count: usize| {
            let mut shape = request.indices.shape().to_vec();
            *shape.first_mut().ok_or(Error::FixedCount { op: request.planned.op })? = count;
            let indices = Layout::strided(&shape, request.indices.strides())?;
            let (plan, _) = Request { indices: &indices, ..*request }.plan()?;
            Ok(plan)
        };
        let (plan, out) = request.plan()?;
        let mut lowered = IndexLowered::new(request.planned.op);
        request.lower(&mut lowered)?;
        // Where indices go along axis 0 of data, none of their dimensions before it is tied to one of data. There are
        // no indices to count in tuples without components.
        let along_first = lowered.axes.first().is_some_and(|axis| axis.axis == 0);
        let free = lowered.dims.first().filter(|_| along_first);
        let free = free.filter(|dim| dim.index != 0 && Some(&dim.n) == request.indices.shape().first());
        let expected = free.ok_or(Error::FixedCount { op: lowered.op })?.n;
        let counted = CountedPlan::new(plan_for, expected, request.indices, &out)?;
        Ok(Self::from_parts(request, plan, out, Some(Box::new(counted))))
    }

    fn from_parts(request: &Request<'_>, plan: IndexPlan, out: Layout, counted: Option<Box<CountedPlan>>) -> Self {
        debug_assert_eq!((request.planned.dtype, request.planned.index), (T::DTYPE, I::TYPE));
        let (data, indices) = (request.data.clone(), request.indices.clone());
        // A size of 1 or 0 hides the stride of a dimension, along which calls of another size do step.
        let in_order = if counted.is_some() { indices.is_row_major() } else { indices.is_contiguous() };
        let contiguous = data.is_contiguous() && in_order && out.is_contiguous();
        let one_call = counted.is_none() && plan.is_whole();
        Plan { plan, data, indices, out, contiguous, one_call, counted, types: PhantomData }
    }

    /// The shape of the result. For a plan of [`plan_any_count`](crate::IndexOperator::plan_any_count), that of the
    /// expected count.
    #[must_use]
    pub fn output_shape(&self) -> &[usize] {
        self.out.shape()
    }

    /// What a call will do: method, kernel, loops, bytes, tasks.
    #[must_use]
    pub fn explain(&self) -> Explain<'_> {
        Explain::index(&self.plan, pool_threads)
    }

    /// Asks the system for the pages of data that a run on these indices will touch, as
    /// [`IndexOperator::will_need`](crate::IndexOperator::will_need) does. For tensors of other layouts than the
    /// plan's, nothing is asked for.
    pub fn will_need(&self, data: &View<'_, T>, indices: &View<'_, I>) -> WillNeed {
        if !self.data.matches(data.layout()) || !self.indices.matches(indices.layout()) {
            return WillNeed::default();
        }
        // SAFETY: the layouts are those of the plan, as just checked, and the types too.
        unsafe { will_need::advise::<T, I>(&self.plan, data, indices) }
    }

    /// Runs the plan into a fresh tensor.
    ///
    /// # Errors
    /// [`Error::PlanMismatch`], also where the plan was made for an output that is not row-major,
    /// [`Error::AllocationFailed`], then [`Error::IndexOutOfRange`].
    pub fn run(&self, data: &View<'_, T>, indices: &View<'_, I>) -> Result<Tensor<T>, Error> {
        let count = self.check_inputs(data, indices)?;
        check_fresh(&self.out)?;
        let (shape, len) = match &self.counted {
            None => (self.plan.output().clone(), self.out.len()),
            Some(counted) => {
                let inner = self.out.shape().iter().skip(1).copied();
                (core::iter::once(count).chain(inner).collect(), counted.out_len(count))
            }
        };
        let run = |out: *mut MaybeUninit<T>| {
            // SAFETY: the layouts are those of the plan, as just checked; the memory is fresh, row-major and long
            // enough.
            unsafe { self.execute(data.origin(), indices.origin(), indices.layout(), out.cast(), count) }
        };
        // SAFETY: a run that succeeds has initialised every element of its output (X3).
        let values = unsafe { memory::fill(len, run) }?;
        Ok(Tensor::from_parts(values, shape))
    }

    /// Runs the plan into an output of the planned layout. Allocates nothing but the scratch of
    /// [`Method::Panels`](crate::Method::Panels).
    ///
    /// # Errors
    /// [`Error::PlanMismatch`], [`Error::AllocationFailed`] for a scratch, then [`Error::IndexOutOfRange`]; the
    /// output is then as after [`Gather::run_into`](crate::IndexOperator::run_into).
    #[inline]
    pub fn run_into(&self, data: &View<'_, T>, indices: &View<'_, I>, out: &mut ViewMut<'_, T>) -> Result<(), Error> {
        if self.one_call
            && self.data.matches(data.layout())
            && self.indices.matches(indices.layout())
            && self.out.matches(out.layout())
        {
            // SAFETY: the layouts are those of the plan, and a call is one call of the kernel, as just checked. A
            // mutable view may be written along its layout.
            return unsafe { self.call(data.origin(), indices.origin(), out.origin()) };
        }
        self.run_any_into(data, indices, out)
    }

    /// As [`Plan::run_into`], for every plan and any layouts.
    #[inline(never)]
    fn run_any_into(&self, data: &View<'_, T>, indices: &View<'_, I>, out: &mut ViewMut<'_, T>) -> Result<(), Error> {
        let count = self.check_inputs(data, indices)?;
        self.check_output(out.layout(), count)?;
        // SAFETY: the layouts are those of the plan, as just checked; a mutable view may be written along its layout.
        unsafe { self.execute(data.origin(), indices.origin(), indices.layout(), out.origin(), count) }
    }

    /// Runs the plan into memory that holds no values yet. On success every element is initialised. Allocates as
    /// [`Plan::run_into`] does.
    ///
    /// # Errors
    /// As for [`Plan::run_into`]; after an error nothing may be assumed of the output.
    pub fn run_uninit(
        &self,
        data: &View<'_, T>,
        indices: &View<'_, I>,
        out: &mut ViewMut<'_, MaybeUninit<T>>,
    ) -> Result<(), Error> {
        let count = self.check_inputs(data, indices)?;
        self.check_output(out.layout(), count)?;
        // SAFETY: as in `run_into`.
        unsafe { self.execute(data.origin(), indices.origin(), indices.layout(), out.origin().cast(), count) }
    }

    /// Runs the plan on slices, whose lengths alone are compared: for plans of row-major layouts, the shortest way to
    /// a kernel.
    ///
    /// # Errors
    /// [`Error::PlanMismatch`] where a slice has another length, or the plan was made for other strides; then as for
    /// [`Plan::run_into`].
    #[inline]
    pub fn run_slices(&self, data: &[T], indices: &[I], out: &mut [T]) -> Result<(), Error> {
        if !self.contiguous || data.len() != self.data.len() {
            return Err(mismatch(Argument::Data, self.data.shape(), &[data.len()]));
        }
        let count = match &self.counted {
            None if indices.len() != self.indices.len() => {
                return Err(mismatch(Argument::Indices, self.indices.shape(), &[indices.len()]));
            }
            None => 0,
            Some(counted) => match counted.count(indices.len()) {
                Some(count) => count,
                None => return Err(mismatch(Argument::Indices, self.indices.shape(), &[indices.len()])),
            },
        };
        if out.len() != self.counted.as_ref().map_or(self.out.len(), |counted| counted.out_len(count)) {
            return Err(mismatch(Argument::Output, self.out.shape(), &[out.len()]));
        }
        // SAFETY: row-major tensors of the plan's shapes have as many elements as the slices, in order.
        unsafe { self.execute(data.as_ptr(), indices.as_ptr(), &self.indices, out.as_mut_ptr(), count) }
    }

    /// Calls the kernel, and nothing else, but on an error.
    ///
    /// # Safety
    /// X1 for tensors of the planned layouts; every call of the plan is one call of the kernel.
    #[inline(always)]
    unsafe fn call(&self, data: *const T, index: *const I, out: *mut T) -> Result<(), Error> {
        let (out, data, index) = (out.cast(), data.cast(), index.cast());
        // SAFETY: the caller's promise; the types are the plan's.
        unsafe {
            exec::call_index(
                &self.plan,
                Operands { out, data, index, indices: &self.indices, params: core::ptr::null() },
            )
        }
    }

    /// Runs the plan.
    ///
    /// # Safety
    /// X1 for tensors of the planned layouts, but for `count` indices along the first dimension where that is free;
    /// `layout` is that of indices, or the plan's.
    #[inline(always)]
    unsafe fn execute(
        &self,
        data: *const T,
        index: *const I,
        layout: &Layout,
        out: *mut T,
        count: usize,
    ) -> Result<(), Error> {
        let (out, data, index) = (out.cast(), data.cast(), index.cast());
        let operands = Operands { out, data, index, indices: layout, params: core::ptr::null() };
        match &self.counted {
            // SAFETY: the caller's promise; the types are the plan's.
            None => unsafe { exec::run_index(&self.plan, operands) },
            // SAFETY: as above, for `count` indices.
            Some(counted) => unsafe { counted.run(operands, count) },
        }
    }

    /// Checks the layouts of the inputs; returns the size of the first dimension of indices, where that is free.
    #[inline(always)]
    fn check_inputs(&self, data: &View<'_, T>, indices: &View<'_, I>) -> Result<usize, Error> {
        check_layout(Argument::Data, &self.data, data.layout())?;
        if self.counted.is_some() {
            return self.check_counted(Argument::Indices, &self.indices, indices.layout());
        }
        check_layout(Argument::Indices, &self.indices, indices.layout())?;
        Ok(0)
    }

    #[inline(always)]
    fn check_output(&self, out: &Layout, count: usize) -> Result<(), Error> {
        if self.counted.is_some() {
            let expected = self.check_counted(Argument::Output, &self.out, out)?;
            let agree = expected == count;
            return if agree { Ok(()) } else { Err(mismatch(Argument::Output, self.out.shape(), out.shape())) };
        }
        check_layout(Argument::Output, &self.out, out)
    }

    /// Checks a layout whose first dimension is free; returns its size.
    fn check_counted(&self, argument: Argument, expected: &Layout, got: &Layout) -> Result<usize, Error> {
        match (expected.shape(), got.shape()) {
            ([_, inner @ ..], [count, rest @ ..]) if inner == rest && expected.strides() == got.strides() => Ok(*count),
            _ => Err(mismatch(argument, expected.shape(), got.shape())),
        }
    }
}
