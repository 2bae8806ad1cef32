//! Plans with their types: what a caller holds.

use core::marker::PhantomData;
use core::mem::MaybeUninit;

use crate::call::planned::Planned;
use crate::call::will_need;
use crate::exec::Operands;
use crate::plan::Explain;
use crate::tensor::memory;
use crate::tensor::owned::Tensor;
use crate::tensor::pages::WillNeed;
use crate::tensor::view::{View, ViewMut};
use crate::types::element::Element;
use crate::types::error::Error;
use crate::types::index::Index;

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
    planned: Planned,
    types: PhantomData<fn(T, I)>,
}

impl<T, I> core::fmt::Debug for Plan<T, I> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        self.planned.fmt(f)
    }
}

impl<T, I> Clone for Plan<T, I> {
    fn clone(&self) -> Self {
        Plan { planned: self.planned.clone(), types: PhantomData }
    }
}

impl<T: Element, I: Index> Plan<T, I> {
    /// A plan of these types.
    pub(super) fn new(planned: Planned) -> Self {
        debug_assert_eq!(planned.plan.index(), I::TYPE);
        Plan { planned, types: PhantomData }
    }

    /// The shape of the result. For a plan of [`plan_any_count`](crate::IndexOperator::plan_any_count), that of the
    /// expected count.
    #[must_use]
    pub fn output_shape(&self) -> &[usize] {
        self.planned.out.shape()
    }

    /// What a call will do: method, kernel, loops, bytes, tasks.
    #[must_use]
    pub fn explain(&self) -> Explain<'_> {
        self.planned.explain()
    }

    /// Asks the system for the pages of data that a run on these indices will touch, as
    /// [`IndexOperator::will_need`](crate::IndexOperator::will_need) does. For tensors of other layouts than the
    /// plan's, nothing is asked for.
    pub fn will_need(&self, data: &View<'_, T>, indices: &View<'_, I>) -> WillNeed {
        if !self.planned.matches_inputs(data.layout(), indices.layout()) {
            return WillNeed::default();
        }
        // SAFETY: the layouts are those of the plan, as just checked, and the types too.
        unsafe { will_need::advise::<T, I>(&self.planned.plan, data, indices) }
    }

    /// Runs the plan into a fresh tensor.
    ///
    /// # Errors
    /// [`Error::PlanMismatch`], also where the plan was made for an output that is not row-major,
    /// [`Error::AllocationFailed`], then [`Error::IndexOutOfRange`].
    pub fn run(&self, data: &View<'_, T>, indices: &View<'_, I>) -> Result<Tensor<T>, Error> {
        let count = self.planned.check_inputs(data.layout(), indices.layout())?;
        let (shape, len) = self.planned.fresh(count)?;
        let run = |out: *mut MaybeUninit<T>| {
            // SAFETY: the layouts are those of the plan, as just checked; the memory is fresh, row-major and long
            // enough.
            unsafe { self.planned.execute(operands(data, indices, out.cast()), count) }
        };
        // SAFETY: a run that succeeds has initialised every element of its output (X3).
        let values = unsafe { memory::fill(len, run) }?;
        Ok(Tensor::from_parts(values, shape))
    }

    /// Runs the plan into an output of the planned layout. On one thread it allocates nothing but the scratch of
    /// [`Method::Panels`](crate::Method::Panels) (up to six loops).
    ///
    /// # Errors
    /// [`Error::PlanMismatch`], [`Error::AllocationFailed`] for a scratch, then [`Error::IndexOutOfRange`]; the
    /// output is then as after [`Gather::run_into`](crate::IndexOperator::run_into).
    #[inline]
    pub fn run_into(&self, data: &View<'_, T>, indices: &View<'_, I>, out: &mut ViewMut<'_, T>) -> Result<(), Error> {
        if self.planned.is_one_call(data.layout(), indices.layout(), out.layout()) {
            // SAFETY: the layouts are those of the plan, and a call is one call of the kernel, as just checked. A
            // mutable view may be written along its layout.
            return unsafe { self.planned.call(data.origin().cast(), indices.origin().cast(), out.origin().cast()) };
        }
        self.run_any_into(data, indices, out)
    }

    /// As [`Plan::run_into`], for every plan and any layouts.
    #[inline(never)]
    fn run_any_into(&self, data: &View<'_, T>, indices: &View<'_, I>, out: &mut ViewMut<'_, T>) -> Result<(), Error> {
        let count = self.planned.check_inputs(data.layout(), indices.layout())?;
        self.planned.check_output(out.layout(), count)?;
        // SAFETY: the layouts are those of the plan, as just checked; a mutable view may be written along its layout.
        unsafe { self.planned.execute(operands(data, indices, out.origin().cast()), count) }
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
        let count = self.planned.check_inputs(data.layout(), indices.layout())?;
        self.planned.check_output(out.layout(), count)?;
        // SAFETY: as in `run_into`.
        unsafe { self.planned.execute(operands(data, indices, out.origin().cast()), count) }
    }

    /// Runs the plan on slices, whose lengths alone are compared: for plans of row-major layouts, the shortest way to
    /// a kernel.
    ///
    /// # Errors
    /// [`Error::PlanMismatch`] where a slice has another length, or the plan was made for other strides; then as for
    /// [`Plan::run_into`].
    #[inline]
    pub fn run_slices(&self, data: &[T], indices: &[I], out: &mut [T]) -> Result<(), Error> {
        let count = self.planned.check_lens(data.len(), indices.len(), out.len())?;
        let (data, index, out) = (data.as_ptr().cast(), indices.as_ptr().cast(), out.as_mut_ptr().cast());
        let operands = Operands { out, data, index, indices: &self.planned.indices, params: core::ptr::null() };
        // SAFETY: row-major tensors of the plan's shapes have as many elements as the slices, in order; the types are
        // the plan's.
        unsafe { self.planned.execute(operands, count) }
    }
}

/// The operands of a call without parameters.
fn operands<'a, T, I>(data: &View<'_, T>, indices: &'a View<'_, I>, out: *mut u8) -> Operands<'a> {
    let (data, index) = (data.origin().cast(), indices.origin().cast());
    Operands { out, data, index, indices: indices.layout(), params: core::ptr::null() }
}
