//! Plans of scatters with their types: what a caller holds.

use core::marker::PhantomData;
use core::mem::MaybeUninit;

use crate::call::scatter::erased::{Request, Tensors};
use crate::call::{check_fresh, check_layout, mismatch};
use crate::exec::{self, Check, Original, pool_threads};
use crate::plan::{Explain, ReducePlan, ReduceRequest};
use crate::tensor::layout::Layout;
use crate::tensor::memory;
use crate::tensor::owned::Tensor;
use crate::tensor::view::{View, ViewMut};
use crate::types::element::Element;
use crate::types::error::Error;
use crate::types::index::Index;
use crate::types::op::Argument;

/// A plan without its types, and the layouts that it was made for.
#[derive(Clone)]
pub(super) struct Planned {
    pub(super) plan: ReducePlan,
    pub(super) request: ReduceRequest,
    pub(super) out: Layout,
    pub(super) indices: Layout,
    pub(super) updates: Layout,
}

impl Planned {
    pub(super) fn new(request: &Request<'_>, out: &Layout, indices: &Layout, updates: &Layout) -> Result<Self, Error> {
        let plan = request.plan(out)?;
        let (out, indices, updates) = (out.clone(), indices.clone(), updates.clone());
        Ok(Planned { plan, request: request.planned, out, indices, updates })
    }

    /// Checks the layouts of indices and updates.
    pub(super) fn check_inputs(&self, indices: &Layout, updates: &Layout) -> Result<(), Error> {
        check_layout(Argument::Indices, &self.indices, indices)?;
        check_layout(Argument::Updates, &self.updates, updates)
    }

    /// Checks the shape of data.
    pub(super) fn check_data(&self, data: &Layout) -> Result<(), Error> {
        let (expected, got) = (self.out.shape(), data.shape());
        if expected == got { Ok(()) } else { Err(mismatch(Argument::Data, expected, got)) }
    }

    /// Runs the plan in place.
    ///
    /// # Safety
    /// The promise of [`Request::run_on`], for the planned layouts.
    pub(super) unsafe fn run_on(&self, tensors: Tensors, out: *mut u8) -> Result<(), Error> {
        // SAFETY: the caller's promise.
        unsafe { exec::run_scatter(&self.plan, tensors.operands(out, &self.indices), Check::First, None) }
    }

    /// Runs the plan on a copy of data.
    ///
    /// # Safety
    /// The promise of [`Request::run_into`], for the planned layouts; data has the destination's shape.
    pub(super) unsafe fn run_into(
        &self,
        data: (*const u8, &Layout),
        tensors: Tensors,
        out: *mut u8,
        check: Check,
    ) -> Result<(), Error> {
        let original = Original { request: &self.request, data, out: &self.out };
        // SAFETY: the caller's promise.
        unsafe { exec::run_scatter(&self.plan, tensors.operands(out, &self.indices), check, Some(&original)) }
    }
}

/// Everything about a scatter, or about the adjoint of a gather, that depends on shapes and types: made once, run many
/// times, from any thread.
///
/// ```
/// use gather_core::{Layout, Reduction, ScatterNd, View, ViewMut};
///
/// fn main() -> Result<(), gather_core::Error> {
///     let (ids, rows) = (Layout::contiguous(&[3, 1])?, Layout::contiguous(&[3, 2])?);
///     let plan = ScatterNd::onnx18(Reduction::Add).plan::<f32, u32>(&[4, 2], &ids, &rows)?;
///
///     let mut sums = [0.0; 8];
///     let (ids, rows) = ([3, 0, 3], [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
///     let (ids, rows) = (View::new(&ids, &[3, 1])?, View::new(&rows, &[3, 2])?);
///     plan.run_on(&mut ViewMut::new(&mut sums, &[4, 2])?, &ids, &rows)?;
///     assert_eq!(sums, [3.0, 4.0, 0.0, 0.0, 0.0, 0.0, 6.0, 8.0]);
///     Ok(())
/// }
/// ```
pub struct ScatterPlan<T, I> {
    planned: Planned,
    types: PhantomData<fn(T, I)>,
}

impl<T, I> Clone for ScatterPlan<T, I> {
    fn clone(&self) -> Self {
        ScatterPlan { planned: self.planned.clone(), types: PhantomData }
    }
}

impl<T, I> core::fmt::Debug for ScatterPlan<T, I> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        core::fmt::Display::fmt(&Explain::reduce(&self.planned.plan, &self.planned.out, pool_threads), f)
    }
}

impl<T: Element, I: Index> ScatterPlan<T, I> {
    /// A plan for a request of these types.
    pub(super) fn new(request: &Request<'_>, out: &Layout, indices: &Layout, updates: &Layout) -> Result<Self, Error> {
        debug_assert_eq!((request.planned.dtype, request.planned.index), (T::DTYPE, I::TYPE));
        Ok(ScatterPlan { planned: Planned::new(request, out, indices, updates)?, types: PhantomData })
    }

    /// The shape of the result.
    #[must_use]
    pub fn output_shape(&self) -> &[usize] {
        self.planned.out.shape()
    }

    /// What a call will do: method, kernel, loops, bytes, tasks.
    #[must_use]
    pub fn explain(&self) -> Explain<'_> {
        Explain::reduce(&self.planned.plan, &self.planned.out, pool_threads)
    }

    /// Runs the plan into a fresh tensor.
    ///
    /// # Errors
    /// [`Error::PlanMismatch`], also where the plan was made for an output that is not row-major,
    /// [`Error::AllocationFailed`], then [`Error::IndexOutOfRange`].
    pub fn run(&self, data: &View<'_, T>, indices: &View<'_, I>, updates: &View<'_, T>) -> Result<Tensor<T>, Error> {
        let (planned, tensors) = (&self.planned, Tensors::typed(indices, updates));
        planned.check_data(data.layout())?;
        planned.check_inputs(indices.layout(), updates.layout())?;
        check_fresh(&planned.out)?;
        let write = |out: *mut MaybeUninit<T>| {
            let data = (data.origin().cast(), data.layout());
            // SAFETY: the layouts are those of the plan, as just checked; the memory is fresh and row-major.
            unsafe { planned.run_into(data, tensors, out.cast(), Check::OnTheWay) }
        };
        // SAFETY: a run that succeeds has copied every element.
        let values = unsafe { memory::fill(planned.out.len(), write) }?;
        Ok(Tensor::from_parts(values, planned.out.shape().into()))
    }

    /// Runs the plan into an output of the planned layout. On one thread it allocates nothing but the scratch of
    /// [`Method::Grouped`](crate::Method::Grouped) and [`Method::Panels`](crate::Method::Panels) (up to six loops).
    ///
    /// # Errors
    /// [`Error::PlanMismatch`], [`Error::AllocationFailed`] for a scratch, then [`Error::IndexOutOfRange`]. On an error
    /// the output is untouched.
    pub fn run_into(
        &self,
        data: &View<'_, T>,
        indices: &View<'_, I>,
        updates: &View<'_, T>,
        out: &mut ViewMut<'_, T>,
    ) -> Result<(), Error> {
        self.planned.check_data(data.layout())?;
        self.planned.check_inputs(indices.layout(), updates.layout())?;
        check_layout(Argument::Output, &self.planned.out, out.layout())?;
        let (data, tensors) = ((data.origin().cast(), data.layout()), Tensors::typed(indices, updates));
        // SAFETY: the layouts are those of the plan, as just checked; a mutable view may be written along its layout,
        // and overlaps no input.
        unsafe { self.planned.run_into(data, tensors, out.origin().cast(), Check::First) }
    }

    /// Runs the plan in place, on a tensor of the planned layout. Allocates as [`ScatterPlan::run_into`] does.
    ///
    /// # Errors
    /// [`Error::PlanMismatch`], [`Error::AllocationFailed`] for a scratch, then [`Error::IndexOutOfRange`]. On an error
    /// the tensor is untouched.
    pub fn run_on(&self, out: &mut ViewMut<'_, T>, indices: &View<'_, I>, updates: &View<'_, T>) -> Result<(), Error> {
        self.planned.check_inputs(indices.layout(), updates.layout())?;
        check_layout(Argument::Output, &self.planned.out, out.layout())?;
        // SAFETY: as in `run_into`; the view holds values.
        unsafe { self.planned.run_on(Tensors::typed(indices, updates), out.origin().cast()) }
    }
}
