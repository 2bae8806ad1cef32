//! Plans of scatters with their types: what a caller holds.

use core::marker::PhantomData;

use crate::call::scatter::erased::{Request, Tensors};
use crate::call::{check_layout, check_target, mismatch};
use crate::exec::{self, Check, Original, pool_threads};
use crate::plan::{Explain, ReducePlan, ReduceRequest};
use crate::tensor::layout::Layout;
use crate::tensor::output::{Output, Target};
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

    /// Checks the layout of a fixed output, and runs the plan on a copy of data in it.
    ///
    /// # Errors
    /// [`Error::PlanMismatch`], [`Error::AllocationFailed`], then [`Error::IndexOutOfRange`].
    ///
    /// # Safety
    /// The promise of [`Request::run`], for the planned layouts but that of the output; data has the destination's
    /// shape.
    pub(super) unsafe fn run(
        &self,
        data: (*const u8, &Layout),
        tensors: Tensors,
        out: Target<'_>,
    ) -> Result<(), Error> {
        check_target(&self.out, &out)?;
        let check = if out.layout().is_some() { Check::First } else { Check::OnTheWay };
        let original = Original { request: &self.request, data, out: &self.out };
        let run = |out| {
            let operands = tensors.operands(out, &self.indices);
            // SAFETY: the caller's promise; a fixed output has the planned layout, as just checked, and other memory is
            // fresh and row-major.
            unsafe { exec::run_scatter(&self.plan, operands, check, Some(&original)) }
        };
        // SAFETY: a run that succeeds has copied every element.
        unsafe { out.write(|| Ok((self.out.shape().into(), self.out.len())), run) }
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
        let mut out = Tensor::default();
        self.run_into(data, indices, updates, &mut out)?;
        Ok(out)
    }

    /// Runs the plan into an [`Output`]: a view of the planned layout, uninitialised memory, or a tensor that is used
    /// again. On one thread it allocates nothing but the scratch of
    /// [`Method::Accumulated`](crate::Method::Accumulated), [`Method::Grouped`](crate::Method::Grouped) and
    /// [`Method::Panels`](crate::Method::Panels) (up to six loops), and the memory of a tensor that is too small.
    ///
    /// # Errors
    /// [`Error::PlanMismatch`], also for a tensor where the plan was made for an output that is not row-major,
    /// [`Error::AllocationFailed`], then [`Error::IndexOutOfRange`]. On an error a view is untouched.
    pub fn run_into(
        &self,
        data: &View<'_, T>,
        indices: &View<'_, I>,
        updates: &View<'_, T>,
        out: &mut impl Output<T>,
    ) -> Result<(), Error> {
        self.planned.check_data(data.layout())?;
        self.planned.check_inputs(indices.layout(), updates.layout())?;
        let (data, tensors) = ((data.origin().cast(), data.layout()), Tensors::typed(indices, updates));
        // SAFETY: the layouts of the inputs are those of the plan, as just checked; O1 for `T`; the output is borrowed
        // mutably, so that it overlaps no input.
        unsafe { self.planned.run(data, tensors, out.target()) }
    }

    /// Runs the plan in place, on a tensor of the planned layout. Allocates as [`ScatterPlan::run_into`] does.
    ///
    /// # Errors
    /// [`Error::PlanMismatch`], [`Error::AllocationFailed`] for a scratch, then [`Error::IndexOutOfRange`]. On an error
    /// the tensor is untouched.
    pub fn run_on(&self, out: &mut ViewMut<'_, T>, indices: &View<'_, I>, updates: &View<'_, T>) -> Result<(), Error> {
        self.planned.check_inputs(indices.layout(), updates.layout())?;
        check_layout(Argument::Output, &self.planned.out, out.layout())?;
        // SAFETY: the layouts are those of the plan, as just checked; a mutable view may be written along its layout,
        // overlaps no input, and holds values.
        unsafe { self.planned.run_on(Tensors::typed(indices, updates), out.origin().cast()) }
    }
}
