//! The methods of BatchToSpace.

use core::mem::MaybeUninit;

use crate::alloc_out;
use crate::cloned;
use crate::dynamic::{DynTensor, DynView};
use crate::element::Element;
use crate::error::{Error, Op};
use crate::exec;
use crate::kernels::{BUILTIN, KernelSet};
use crate::ops::BatchToSpace;
use crate::ops::face::check_output;
use crate::plan::{CopyPlan, RawCopyPlan};
use crate::registry::Registry;
use crate::shape::{Layout, Shape};
use crate::tensor::Tensor;
use crate::view::{View, ViewMut};

impl BatchToSpace {
    /// The shape of the result, without touching data.
    ///
    /// # Errors
    /// In this order: [`Error::TooManyElements`] for data, [`Error::Rank`] below 2; for `block_shape`, `crops_begin` and
    /// `crops_end` each [`Error::ParameterLength`] and [`Error::Parameter`]; [`Error::BatchNotDivisible`],
    /// [`Error::CropsTooLarge`], and [`Error::TooManyElements`] for the result.
    pub fn output_shape(&self, data: &[usize]) -> Result<Shape, Error> {
        Ok(self.lower(&Layout::contiguous(data)?)?.output)
    }

    /// Runs the operator into a fresh tensor.
    ///
    /// Cost: one pass over the bytes of the result, one allocation.
    ///
    /// # Errors
    /// As for [`BatchToSpace::output_shape`], then [`Error::LevelUnavailable`], [`Error::TooManyBytes`] and
    /// [`Error::Allocation`].
    pub fn run<T: Element>(&self, data: &View<'_, T>) -> Result<Tensor<T>, Error> {
        let (plan, out) = self.raw_plan(&BUILTIN, size_of::<T>(), data.layout())?;
        run_fresh(&plan, &out, data)
    }

    /// Runs the operator into a given output of any strides. Allocates nothing.
    ///
    /// # Errors
    /// As for [`BatchToSpace::run`], and [`Error::OutputShape`]. On an error the output is untouched.
    pub fn run_into<T: Element>(&self, data: &View<'_, T>, out: &mut ViewMut<'_, T>) -> Result<(), Error> {
        let plan = self.raw_plan_into(size_of::<T>(), data.layout(), out.layout())?;
        // SAFETY: the plan was made for these layouts; a mutable view may be written along its layout.
        unsafe { exec::run_copy(&plan, data.origin().cast(), out.origin().cast()) };
        Ok(())
    }

    /// Runs the operator into memory that holds no values yet. On success every element of the output is initialised.
    /// Allocates nothing.
    ///
    /// # Errors
    /// As for [`BatchToSpace::run_into`].
    pub fn run_uninit<T: Element>(
        &self,
        data: &View<'_, T>,
        out: &mut ViewMut<'_, MaybeUninit<T>>,
    ) -> Result<(), Error> {
        let plan = self.raw_plan_into(size_of::<T>(), data.layout(), out.layout())?;
        // SAFETY: the plan was made for these layouts; a mutable view may be written along its layout.
        unsafe { exec::run_copy(&plan, data.origin().cast(), out.origin().cast()) };
        Ok(())
    }

    /// Does once what depends on the shape only: the plan runs on any data of this layout.
    ///
    /// # Errors
    /// As for [`BatchToSpace::run`], without [`Error::Allocation`].
    pub fn plan<T: Element>(&self, data: &Layout) -> Result<CopyPlan<T>, Error> {
        let (plan, out) = self.raw_plan(&BUILTIN, size_of::<T>(), data)?;
        Ok(CopyPlan::new(plan, data.clone(), out))
    }

    /// Runs the operator on any `Clone` type.
    ///
    /// # Errors
    /// As for [`BatchToSpace::run`].
    pub fn run_cloned<T: Clone>(&self, data: &View<'_, T>) -> Result<Tensor<T>, Error> {
        cloned::batch_to_space(&self.lower(data.layout())?, data)
    }

    /// Runs the operator on a tensor whose type is known at run time, with the kernels of a registry.
    ///
    /// # Errors
    /// As for [`BatchToSpace::run`], and [`Error::UnknownDType`] before those of memory.
    pub fn run_dyn(&self, registry: &Registry, data: &DynView<'_>) -> Result<DynTensor, Error> {
        let dtype = data.dtype();
        let set = registry.set_of(dtype).ok_or(Error::UnknownDType { op: Op::BatchToSpace, dtype })?;
        let (plan, out) = self.raw_plan(set, dtype.size(), data.layout())?;
        DynTensor::fill(dtype, &out, |memory| {
            // SAFETY: the plan was made for this layout and element size; the memory is fresh, row-major, long enough.
            unsafe { exec::run_copy(&plan, data.origin(), memory) };
            Ok(())
        })
    }

    fn raw_plan(&self, set: &'static KernelSet, size: usize, data: &Layout) -> Result<(RawCopyPlan, Layout), Error> {
        let lowered = self.lower(data)?;
        let out = Layout::contiguous(&lowered.output)?;
        Ok((RawCopyPlan::new(set, lowered, size, &out, self.tuning())?, out))
    }

    fn raw_plan_into(&self, size: usize, data: &Layout, out: &Layout) -> Result<RawCopyPlan, Error> {
        let lowered = self.lower(data)?;
        check_output(Op::BatchToSpace, &lowered.output, out.shape())?;
        RawCopyPlan::new(&BUILTIN, lowered, size, out, self.tuning())
    }
}

/// Runs a plan into fresh memory.
pub(crate) fn run_fresh<T: Element>(plan: &RawCopyPlan, out: &Layout, data: &View<'_, T>) -> Result<Tensor<T>, Error> {
    let values = alloc_out::fill(out.len(), |memory| {
        // SAFETY: the plan was made for this layout; the memory is fresh, row-major and long enough.
        unsafe { exec::run_copy(plan, data.origin().cast(), memory.cast()) };
        Ok(())
    })?;
    Tensor::new(values, &plan.output)
}
