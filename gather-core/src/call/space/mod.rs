//! The operators that rearrange space: their doors.

pub(crate) mod plan;

use core::mem::MaybeUninit;

use crate::call::dynamic::check_dtype;
use crate::call::space::plan::{DynRearrangePlan, RearrangePlan};
use crate::call::{Sealed, check_output, cloned};
use crate::exec;
use crate::kernels::registry::Registry;
use crate::kernels::select::Kernels;
use crate::plan::{SpaceLowered, SpacePlan};
use crate::tensor::dynamic::{DynTensor, DynView, DynViewMut};
use crate::tensor::layout::{Layout, Shape};
use crate::tensor::owned::Tensor;
use crate::tensor::view::{View, ViewMut};
use crate::types::element::{DType, Element, IsElement};
use crate::types::error::Error;
use crate::types::level::Level;
use crate::types::method::Method;
use crate::types::op::Op;
use crate::types::policy::{Options, Par};

/// The attributes of an operator that rearranges space. Sealed: those of [`BatchToSpace`](crate::BatchToSpace),
/// [`SpaceToBatch`](crate::SpaceToBatch), [`DepthToSpace`](crate::DepthToSpace) and
/// [`SpaceToDepth`](crate::SpaceToDepth).
pub trait SpaceAttributes: Sealed {
    /// The operator.
    #[doc(hidden)]
    fn op(&self) -> Op;

    /// Checks the attributes against the shape of data.
    #[doc(hidden)]
    fn lower(&self, data: &[usize]) -> Result<SpaceLowered, Error>;
}

/// The attributes of an operator all of whose results consist of elements of data: of all but
/// [`SpaceToBatch`](crate::SpaceToBatch), which pads.
pub trait Permutes: SpaceAttributes {}

/// An operator that rearranges space: [`BatchToSpace`](crate::BatchToSpace), [`SpaceToBatch`](crate::SpaceToBatch),
/// [`DepthToSpace`](crate::DepthToSpace) and [`SpaceToDepth`](crate::SpaceToDepth).
///
/// A small value: attributes, and how a call runs. Nothing is checked before it is used.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SpaceOperator<A> {
    attributes: A,
    options: Options,
}

impl<A> SpaceOperator<A> {
    pub(crate) fn from_attributes(attributes: A) -> Self {
        SpaceOperator { attributes, options: Options::default() }
    }

    pub(crate) fn attributes(&self) -> &A {
        &self.attributes
    }

    /// Sets how many threads a call may use.
    #[must_use]
    pub fn par(mut self, par: Par) -> Self {
        self.options.par = par;
        self
    }

    /// Forces a level.
    #[must_use]
    pub fn level(mut self, level: Level) -> Self {
        self.options.level = Some(level);
        self
    }

    /// Forces a method; all but the operator's own are refused with [`Error::MethodUnavailable`]. It is
    /// [`Method::Interleaved`] for results that are whole in space, else [`Method::Deinterleaved`].
    #[must_use]
    pub fn method(mut self, method: Method) -> Self {
        self.options.method = Some(method);
        self
    }

    /// How many threads a call may use.
    #[must_use]
    pub fn get_par(&self) -> Par {
        self.options.par
    }

    /// The level that is forced on calls.
    #[must_use]
    pub fn get_level(&self) -> Option<Level> {
        self.options.level
    }

    /// The method that is forced on calls.
    #[must_use]
    pub fn get_method(&self) -> Option<Method> {
        self.options.method
    }
}

impl<A: SpaceAttributes> SpaceOperator<A> {
    /// The shape of the result, without touching data.
    ///
    /// # Errors
    /// As listed at the operator: [`BatchToSpace`](crate::BatchToSpace#errors),
    /// [`SpaceToBatch`](crate::SpaceToBatch#errors), [`DepthToSpace`](crate::DepthToSpace#errors) or
    /// [`SpaceToDepth`](crate::SpaceToDepth#errors).
    pub fn output_shape(&self, data: &[usize]) -> Result<Shape, Error> {
        Layout::contiguous(data)?;
        Ok(self.attributes.lower(data)?.output)
    }

    /// Runs the operator into a fresh tensor.
    ///
    /// Cost: one pass over the bytes of the result, one allocation.
    ///
    /// # Errors
    /// As for [`Self::output_shape`], then [`Error::LevelUnavailable`], [`Error::TooManyBytes`],
    /// [`Error::MethodUnavailable`] and [`Error::AllocationFailed`].
    pub fn run<T: Element>(&self, data: &View<'_, T>) -> Result<Tensor<T>, Error> {
        self.plan(data.layout())?.run(data)
    }

    /// Runs the operator into a given output of any strides. Allocates nothing but a list of what is padded, where
    /// something is.
    ///
    /// # Errors
    /// As for [`Self::run`], and [`Error::ShapeMismatch`] after errors of shapes. On an error the output is
    /// untouched.
    pub fn run_into<T: Element>(&self, data: &View<'_, T>, out: &mut ViewMut<'_, T>) -> Result<(), Error> {
        const { IsElement::<T>::CHECK };
        let plan = self.space_plan_into(Kernels::space(), T::DTYPE, data.layout(), out.layout())?;
        // SAFETY: X1: the plan was made for these layouts; a mutable view may be written along its layout.
        unsafe { exec::run_space(&plan, data.origin().cast(), out.origin().cast()) };
        Ok(())
    }

    /// Runs the operator into memory that holds no values yet. On success every element of the output is initialised.
    /// Allocates what [`Self::run_into`] does.
    ///
    /// # Errors
    /// As for [`Self::run_into`].
    pub fn run_uninit<T: Element>(
        &self,
        data: &View<'_, T>,
        out: &mut ViewMut<'_, MaybeUninit<T>>,
    ) -> Result<(), Error> {
        const { IsElement::<T>::CHECK };
        let plan = self.space_plan_into(Kernels::space(), T::DTYPE, data.layout(), out.layout())?;
        // SAFETY: X1: the plan was made for these layouts; a mutable view may be written along its layout.
        unsafe { exec::run_space(&plan, data.origin().cast(), out.origin().cast()) };
        Ok(())
    }

    /// Makes a plan: it does the shape-dependent work once, and runs on any data of this layout, into row-major
    /// outputs.
    ///
    /// # Errors
    /// As for [`Self::run`]; [`Error::AllocationFailed`] only where padding needs one element's zero.
    pub fn plan<T: Element>(&self, data: &Layout) -> Result<RearrangePlan<T>, Error> {
        const { IsElement::<T>::CHECK };
        let (plan, out) = self.space_plan(Kernels::space(), T::DTYPE, data)?;
        Ok(RearrangePlan::new(plan, data.clone(), out))
    }

    /// As [`Self::plan`], for outputs of a given layout, of any strides.
    ///
    /// # Errors
    /// As for [`Self::plan`], and [`Error::ShapeMismatch`] after errors of shapes.
    pub fn plan_into<T: Element>(&self, data: &Layout, out: &Layout) -> Result<RearrangePlan<T>, Error> {
        const { IsElement::<T>::CHECK };
        let plan = self.space_plan_into(Kernels::space(), T::DTYPE, data, out)?;
        Ok(RearrangePlan::new(plan, data.clone(), out.clone()))
    }

    /// Runs the operator on a tensor whose type is known at run time, with the kernels of a registry.
    ///
    /// # Errors
    /// [`Error::UnknownDType`], then as for [`Self::run`].
    pub fn run_dyn(&self, registry: &Registry, data: &DynView<'_>) -> Result<DynTensor, Error> {
        self.plan_dyn(registry, data.dtype(), data.layout())?.run(data)
    }

    /// As [`Self::run_dyn`], into a given output of any strides.
    ///
    /// # Errors
    /// As for [`Self::run_dyn`], with [`Error::DTypeMismatch`] first, and [`Error::ShapeMismatch`] after errors
    /// of shapes. On an error the output is untouched.
    pub fn run_dyn_into(&self, registry: &Registry, data: &DynView<'_>, out: &mut DynViewMut<'_>) -> Result<(), Error> {
        check_dtype(data.dtype(), out.dtype())?;
        let kernels = self.dyn_kernels(registry, data.dtype())?;
        let plan = self.space_plan_into(kernels, data.dtype(), data.layout(), out.layout())?;
        // SAFETY: X1: the plan was made for these layouts and this element size; a mutable view may be written along
        // its layout.
        unsafe { exec::run_space(&plan, data.origin(), out.origin()) };
        Ok(())
    }

    /// As [`Self::plan`], for a type that is known at run time, with the kernels of a registry.
    ///
    /// # Errors
    /// [`Error::UnknownDType`], then as for [`Self::plan`].
    pub fn plan_dyn(&self, registry: &Registry, dtype: DType, data: &Layout) -> Result<DynRearrangePlan, Error> {
        let (plan, out) = self.space_plan(self.dyn_kernels(registry, dtype)?, dtype, data)?;
        Ok(DynRearrangePlan::new(plan, dtype, data.clone(), out))
    }

    fn dyn_kernels(&self, registry: &Registry, dtype: DType) -> Result<Kernels, Error> {
        let op = self.attributes.op();
        registry.space_kernels(op, dtype).ok_or(Error::UnknownDType { op, dtype })
    }

    fn space_plan(&self, kernels: Kernels, dtype: DType, data: &Layout) -> Result<(SpacePlan, Layout), Error> {
        let lowered = self.attributes.lower(data.shape())?;
        let out = Layout::contiguous(&lowered.output)?;
        Ok((SpacePlan::new(kernels, lowered, dtype, data, &out, self.options)?, out))
    }

    fn space_plan_into(&self, kernels: Kernels, dtype: DType, data: &Layout, out: &Layout) -> Result<SpacePlan, Error> {
        let lowered = self.attributes.lower(data.shape())?;
        check_output(lowered.op, &lowered.output, out.shape())?;
        SpacePlan::new(kernels, lowered, dtype, data, out, self.options)
    }

    /// Runs the operator by cloning; `fill` stands for what is padded, where the operator pads.
    pub(crate) fn clone_elements<T: Clone>(&self, data: &View<'_, T>, fill: Option<&T>) -> Result<Tensor<T>, Error> {
        cloned::space(&self.attributes.lower(data.layout().shape())?, self.options, data, fill)
    }
}

impl<A: Permutes> SpaceOperator<A> {
    /// Runs the operator on any `Clone` type.
    ///
    /// Cost: one clone an element of the result, on the calling thread.
    ///
    /// # Errors
    /// As for [`Self::run`].
    ///
    /// # Panics
    /// When a clone does.
    pub fn run_cloned<T: Clone>(&self, data: &View<'_, T>) -> Result<Tensor<T>, Error> {
        self.clone_elements(data, None)
    }
}
