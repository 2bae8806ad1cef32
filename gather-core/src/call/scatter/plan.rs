//! Plans of scatters with their types: what a caller holds.

use alloc::boxed::Box;
use core::marker::PhantomData;

use crate::call::plan_type::plan_type;
use crate::call::scatter::erased::{Request, Tensors};
use crate::call::{check_counted, check_layout, check_target, mismatch};
use crate::exec::{self, Check, Original, pool_threads};
use crate::plan::{CountedReducePlan, Explain, ReducePlan, ReduceRequest};
use crate::tensor::layout::{Layout, Shape};
use crate::tensor::output::{Output, Target, written};
use crate::tensor::typing::{Input, Typing};
use crate::types::element::DType;
use crate::types::error::Error;
use crate::types::op::Argument;

/// A plan without its types, and the layouts that it was made for.
#[derive(Clone)]
struct Planned {
    plan: ReducePlan,
    request: ReduceRequest,
    destination: Layout,
    indices: Layout,
    updates: Layout,
    /// Runs calls with another size of the first dimension of indices and updates.
    counted: Option<Box<CountedReducePlan>>,
}

/// Where a tensor begins, and its layout.
type Erased<'a, P = *const u8> = (P, &'a Layout);

impl Planned {
    /// The shape of the result; of a plan for any count, that of the expected count.
    fn output_shape(&self) -> &[usize] {
        self.destination.shape()
    }

    fn new(request: &Request<'_>, destination: &Layout) -> Result<Self, Error> {
        let (destination, indices, updates) = (destination.clone(), request.indices.clone(), request.updates.clone());
        Ok(Planned {
            plan: request.plan(&destination)?,
            request: request.planned,
            destination,
            indices,
            updates,
            counted: None,
        })
    }

    /// A plan whose calls choose the size of the first dimension of indices and updates.
    fn new_any_count(request: &Request<'_>, destination: &Layout) -> Result<Self, Error> {
        let mut planned = Self::new(request, destination)?;
        planned.counted = Some(Box::new(request.counted(&planned.plan, destination)?));
        Ok(planned)
    }

    fn explain(&self) -> Explain<'_> {
        Explain::reduce(&self.plan, &self.destination, pool_threads)
    }

    /// The data types of elements and of indices.
    #[inline]
    fn dtypes(&self) -> (DType, DType) {
        (self.request.dtype, self.request.index.dtype())
    }

    /// Checks the layouts of indices and updates; returns the plan for them, where their first dimension is free.
    fn check_inputs(&self, indices: &Layout, updates: &Layout) -> Result<Option<ReducePlan>, Error> {
        let Some(counted) = &self.counted else {
            check_layout(Argument::Indices, &self.indices, indices)?;
            check_layout(Argument::Updates, &self.updates, updates)?;
            return Ok(None);
        };
        let count = check_counted(Argument::Indices, &self.indices, indices)?;
        if check_counted(Argument::Updates, &self.updates, updates)? != count {
            let expected = core::iter::once(&count).chain(&self.updates.shape()[1..]).copied().collect::<Shape>();
            return Err(mismatch(Argument::Updates, &expected, updates.shape()));
        }
        counted.at(count, updates).map(Some)
    }

    /// Checks the layouts, and runs the plan in place.
    ///
    /// # Errors
    /// [`Error::PlanMismatch`], [`Error::AllocationFailed`], then [`Error::IndexOutOfRange`].
    ///
    /// # Safety
    /// The promise of [`Request::run_on`], for the planned types and the layouts that are given.
    unsafe fn run_on(&self, out: Erased<'_, *mut u8>, indices: Erased<'_>, updates: Erased<'_>) -> Result<(), Error> {
        let counted = self.check_inputs(indices.1, updates.1)?;
        check_layout(Argument::Output, &self.destination, out.1)?;
        let operands = Tensors { index: indices.0, updates: updates.0 }.operands(out.0, indices.1);
        // SAFETY: X1: the layouts are those of the plan, as just checked; the rest is the caller's promise.
        unsafe { exec::run_scatter(counted.as_ref().unwrap_or(&self.plan), operands, Check::First, None) }
    }

    /// Checks the layouts, and runs the plan on a copy of data in an output.
    ///
    /// # Errors
    /// As for [`Planned::run_on`].
    ///
    /// # Safety
    /// The promise of [`Request::run`], for the planned types and the layouts that are given.
    unsafe fn run(
        &self,
        data: Erased<'_>,
        indices: Erased<'_>,
        updates: Erased<'_>,
        out: Target<'_>,
    ) -> Result<(), Error> {
        let shape = self.destination.shape();
        if shape != data.1.shape() {
            return Err(mismatch(Argument::Data, shape, data.1.shape()));
        }
        let counted = self.check_inputs(indices.1, updates.1)?;
        let plan = counted.as_ref().unwrap_or(&self.plan);
        check_target(&self.destination, &out)?;
        let check = if out.layout().is_some() { Check::First } else { Check::OnTheWay };
        let original = Original::new(&self.request, data, &self.destination);
        let run = |out| {
            let operands = Tensors { index: indices.0, updates: updates.0 }.operands(out, indices.1);
            // SAFETY: X1: the inputs and a fixed output have the planned layouts, and data the shape, as just checked;
            // other memory is fresh and row-major; the rest is the caller's promise.
            unsafe { exec::run_scatter(plan, operands, check, Some(&original)) }
        };
        // SAFETY: a run that succeeds has copied every element.
        unsafe { out.write(|| Ok((shape, self.destination.len())), run) }
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

plan_type!(ScatterPlan<T, I>: planned);

impl<T: Typing, I: Typing> ScatterPlan<T, I> {
    /// A plan for a request of these types.
    pub(super) fn new(request: &Request<'_>, destination: &Layout) -> Result<Self, Error> {
        Ok(ScatterPlan { planned: Planned::new(request, destination)?, types: PhantomData })
    }

    /// As [`ScatterPlan::new`], for any size of the first dimension of indices and updates.
    pub(super) fn new_any_count(request: &Request<'_>, destination: &Layout) -> Result<Self, Error> {
        Ok(ScatterPlan { planned: Planned::new_any_count(request, destination)?, types: PhantomData })
    }

    /// Runs the plan into a fresh tensor.
    ///
    /// # Errors
    /// [`Error::DTypeMismatch`] for types that are known at run time, [`Error::PlanMismatch`], also where the plan was
    /// made for an output that is not row-major, [`Error::AllocationFailed`], then [`Error::IndexOutOfRange`]. After
    /// errors of inputs, plans for any count give [`Error::TooManyBytes`] for updates, and [`Error::MethodUnavailable`]
    /// where a forced method cannot count the updates.
    pub fn run(
        &self,
        data: &impl Input<T>,
        indices: &impl Input<I>,
        updates: &impl Input<T>,
    ) -> Result<T::Tensor, Error> {
        written(T::empty(self.planned.request.dtype), |out| self.run_into(data, indices, updates, out))
    }

    /// Runs the plan into an [`Output`]: a view of the planned layout, uninitialised memory, or a tensor that is used
    /// again. On one thread it allocates nothing but the scratch of
    /// [`Method::Accumulated`](crate::Method::Accumulated), [`Method::Grouped`](crate::Method::Grouped) and
    /// [`Method::Panels`](crate::Method::Panels) (up to six loops), and the memory of a tensor that is too small.
    ///
    /// # Errors
    /// [`Error::DTypeMismatch`] for types that are known at run time, [`Error::PlanMismatch`], also for a tensor where
    /// the plan was made for an output that is not row-major, [`Error::AllocationFailed`], then
    /// [`Error::IndexOutOfRange`]. Plans for any count have those that [`ScatterPlan::run`] names, too. On an error a
    /// view is untouched.
    pub fn run_into(
        &self,
        data: &impl Input<T>,
        indices: &impl Input<I>,
        updates: &impl Input<T>,
        out: &mut impl Output<T>,
    ) -> Result<(), Error> {
        let (dtype, index) = self.planned.dtypes();
        let (data, indices, updates) = (data.read(dtype)?, indices.read(index)?, updates.read(dtype)?);
        let out = out.target_of(dtype)?;
        // SAFETY: the tensors are of the plan's types (`Input`); O1; the output is borrowed mutably, so that it
        // overlaps no input.
        unsafe { self.planned.run(data, indices, updates, out) }
    }

    /// Runs the plan in place, on a tensor of the planned layout. Allocates as [`ScatterPlan::run_into`] does.
    ///
    /// # Errors
    /// [`Error::DTypeMismatch`] for types that are known at run time, [`Error::PlanMismatch`],
    /// [`Error::AllocationFailed`] for a scratch, then [`Error::IndexOutOfRange`]. Plans for any count have those that
    /// [`ScatterPlan::run`] names, too. On an error the tensor is untouched.
    pub fn run_on(
        &self,
        destination: &mut T::ViewMut<'_>,
        indices: &impl Input<I>,
        updates: &impl Input<T>,
    ) -> Result<(), Error> {
        let (dtype, index) = self.planned.dtypes();
        let (indices, updates, destination) =
            (indices.read(index)?, updates.read(dtype)?, T::write(destination, dtype)?);
        // SAFETY: the tensors are of the plan's types (`Input`, `Typing`); a mutable view may be written along its
        // layout, and overlaps no input. It holds values, or initialised bytes where the type is known at run time:
        // such plans have built-in reductions, which take any.
        unsafe { self.planned.run_on(destination, indices, updates) }
    }
}
