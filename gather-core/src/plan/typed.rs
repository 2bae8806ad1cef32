//! Plans with their types: what a caller holds.

use core::marker::PhantomData;
use core::mem::MaybeUninit;

use crate::element::Element;
use crate::error::{Argument, Error};
use crate::exec;
use crate::index::Index;
use crate::ops::copy_face;
use crate::ops::face;
use crate::plan::{Explain, IndexPlan, RawCopyPlan};
use crate::shape::Layout;
use crate::tensor::Tensor;
use crate::view::{View, ViewMut};

/// Everything about a call of [`Gather`](crate::Gather), [`GatherElements`](crate::GatherElements) or
/// [`GatherNd`](crate::GatherNd) that depends on shapes and types: made once, run many times, from any thread. The
/// [guide](crate::guide::plans) has a chapter on plans.
///
/// ```
/// use gather_core::{Gather, Layout, View, ViewMut};
///
/// let (table, ids) = (Layout::contiguous(&[4, 2])?, Layout::contiguous(&[3])?);
/// let plan = Gather::new(0).plan::<f32, u32>(&table, &ids)?;
///
/// let values = [0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 3.5];
/// let mut out = [0.0; 6];
/// plan.run_into(
///     &View::new(&values, &[4, 2])?,
///     &View::new(&[3, 0, 1], &[3])?,
///     &mut ViewMut::new(&mut out, &[3, 2])?,
/// )?;
/// assert_eq!(out, [3.0, 3.5, 0.0, 0.5, 1.0, 1.5]);
/// # Ok::<(), gather_core::Error>(())
/// ```
pub struct Plan<T, I> {
    plan: IndexPlan,
    data: Layout,
    indices: Layout,
    out: Layout,
    types: PhantomData<fn(T, I)>,
}

impl<T, I> core::fmt::Debug for Plan<T, I> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        core::fmt::Display::fmt(&Explain::index(&self.plan), f)
    }
}

impl<T, I> Clone for Plan<T, I> {
    fn clone(&self) -> Self {
        Plan {
            plan: self.plan.clone(),
            data: self.data.clone(),
            indices: self.indices.clone(),
            out: self.out.clone(),
            types: PhantomData,
        }
    }
}

impl<T: Element, I: Index> Plan<T, I> {
    pub(crate) fn new(plan: IndexPlan, data: Layout, indices: Layout, out: Layout) -> Self {
        Plan { plan, data, indices, out, types: PhantomData }
    }

    /// The shape of the result.
    #[must_use]
    pub fn output_shape(&self) -> &[usize] {
        self.out.shape()
    }

    /// What a call will do: kernel, loops, bytes, threads.
    #[must_use]
    pub fn explain(&self) -> Explain<'_> {
        Explain::index(&self.plan)
    }

    /// Runs the plan into a fresh tensor.
    ///
    /// # Errors
    /// [`Error::PlanMismatch`], [`Error::Allocation`], then [`Error::IndexOutOfRange`].
    pub fn run(&self, data: &View<'_, T>, indices: &View<'_, I>) -> Result<Tensor<T>, Error> {
        self.check_inputs(data, indices)?;
        face::run_fresh(&self.plan, &self.out, data, indices)
    }

    /// Runs the plan into a given row-major output. Allocates nothing but the scratch of
    /// [`Strategy::Panels`](crate::Strategy::Panels).
    ///
    /// # Errors
    /// [`Error::PlanMismatch`], [`Error::Allocation`] for a scratch, then [`Error::IndexOutOfRange`]; the output is as after
    /// [`Gather::run_into`](crate::Gather::run_into).
    #[inline]
    pub fn run_into(&self, data: &View<'_, T>, indices: &View<'_, I>, out: &mut ViewMut<'_, T>) -> Result<(), Error> {
        self.check_inputs(data, indices)?;
        check_layout(Argument::Output, &self.out, out.layout())?;
        // SAFETY: the plan was made for these types and, as just checked, for these layouts; a mutable view may be
        // written along its layout.
        unsafe { face::execute(&self.plan, data, indices, out.origin()) }
    }

    /// Runs the plan into memory that holds no values yet. On success every element is initialised. Allocates
    /// as [`Plan::run_into`] does.
    ///
    /// # Errors
    /// As for [`Plan::run_into`]; after an error nothing may be assumed of the output.
    pub fn run_uninit(
        &self,
        data: &View<'_, T>,
        indices: &View<'_, I>,
        out: &mut ViewMut<'_, MaybeUninit<T>>,
    ) -> Result<(), Error> {
        self.check_inputs(data, indices)?;
        check_layout(Argument::Output, &self.out, out.layout())?;
        // SAFETY: as in `run_into`.
        unsafe { face::execute(&self.plan, data, indices, out.origin().cast()) }
    }

    #[inline]
    fn check_inputs(&self, data: &View<'_, T>, indices: &View<'_, I>) -> Result<(), Error> {
        check_layout(Argument::Data, &self.data, data.layout())?;
        check_layout(Argument::Indices, &self.indices, indices.layout())
    }
}

/// Everything about a call of [`BatchToSpace`](crate::BatchToSpace) that depends on shapes and types: made once, run
/// many times, from any thread.
pub struct CopyPlan<T> {
    plan: RawCopyPlan,
    data: Layout,
    out: Layout,
    types: PhantomData<fn(T)>,
}

impl<T> core::fmt::Debug for CopyPlan<T> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        core::fmt::Display::fmt(&Explain::copy(&self.plan), f)
    }
}

impl<T> Clone for CopyPlan<T> {
    fn clone(&self) -> Self {
        CopyPlan { plan: self.plan.clone(), data: self.data.clone(), out: self.out.clone(), types: PhantomData }
    }
}

impl<T: Element> CopyPlan<T> {
    pub(crate) fn new(plan: RawCopyPlan, data: Layout, out: Layout) -> Self {
        CopyPlan { plan, data, out, types: PhantomData }
    }

    /// The shape of the result.
    #[must_use]
    pub fn output_shape(&self) -> &[usize] {
        self.out.shape()
    }

    /// What a call will do: kernel, loops, bytes, threads.
    #[must_use]
    pub fn explain(&self) -> Explain<'_> {
        Explain::copy(&self.plan)
    }

    /// Runs the plan into a fresh tensor.
    ///
    /// # Errors
    /// [`Error::PlanMismatch`], then [`Error::Allocation`].
    pub fn run(&self, data: &View<'_, T>) -> Result<Tensor<T>, Error> {
        check_layout(Argument::Data, &self.data, data.layout())?;
        copy_face::run_fresh(&self.plan, &self.out, data)
    }

    /// Runs the plan into a given row-major output. Allocates nothing.
    ///
    /// # Errors
    /// [`Error::PlanMismatch`]; the output is untouched then.
    #[inline]
    pub fn run_into(&self, data: &View<'_, T>, out: &mut ViewMut<'_, T>) -> Result<(), Error> {
        check_layout(Argument::Data, &self.data, data.layout())?;
        check_layout(Argument::Output, &self.out, out.layout())?;
        // SAFETY: the plan was made for these layouts; a mutable view may be written along its layout.
        unsafe { exec::run_copy(&self.plan, data.origin().cast(), out.origin().cast()) };
        Ok(())
    }

    /// Runs the plan into memory that holds no values yet. On success every element is initialised. Allocates nothing.
    ///
    /// # Errors
    /// As for [`CopyPlan::run_into`].
    pub fn run_uninit(&self, data: &View<'_, T>, out: &mut ViewMut<'_, MaybeUninit<T>>) -> Result<(), Error> {
        check_layout(Argument::Data, &self.data, data.layout())?;
        check_layout(Argument::Output, &self.out, out.layout())?;
        // SAFETY: as in `run_into`.
        unsafe { exec::run_copy(&self.plan, data.origin().cast(), out.origin().cast()) };
        Ok(())
    }
}

#[inline]
fn check_layout(argument: Argument, expected: &Layout, got: &Layout) -> Result<(), Error> {
    if expected == got { Ok(()) } else { Err(mismatch(argument, expected, got)) }
}

#[cold]
fn mismatch(argument: Argument, expected: &Layout, got: &Layout) -> Error {
    Error::PlanMismatch { argument, expected: expected.shape().into(), got: got.shape().into() }
}
