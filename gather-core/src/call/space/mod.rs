//! Public methods of the operators that rearrange space.

pub(crate) mod plan;

use core::borrow::Borrow;

use crate::call::checks::check_output;
use crate::call::operator::{RegistryChoice, attributes, settings};
use crate::call::source::clones::CloneSource;
use crate::call::source::kind::{Kind, PlainKind};
use crate::call::source::{Describe, Source, TensorOf};
use crate::call::space::plan::{PlannedSpace, RearrangePlan};
use crate::call::{Sealed, cloned};
use crate::exec;
use crate::kernels::registry::Registry;
use crate::kernels::select::Kernels;
use crate::plan::{SpaceLowered, SpacePlan};
use crate::tensor::layout::{Layout, Shape};
use crate::tensor::output::{Output, Target, written};
use crate::tensor::owned::Tensor;
use crate::tensor::typing::Typing;
use crate::types::element::DType;
use crate::types::error::Error;
use crate::types::level::Level;
use crate::types::op::Op;
use crate::types::policy::Options;

/// The attributes of an operator that rearranges space: [`BatchToSpace`](crate::BatchToSpace),
/// [`SpaceToBatch`](crate::SpaceToBatch), [`DepthToSpace`](crate::DepthToSpace) or
/// [`SpaceToDepth`](crate::SpaceToDepth). Sealed.
pub trait SpaceAttributes: Sealed {
    #[doc(hidden)]
    fn op(&self) -> Op;

    /// Checks the attributes against the shape of data, and adds the dimensions of the result to `to`, which is empty.
    #[doc(hidden)]
    fn lower(&self, data: &[usize], to: &mut SpaceLowered) -> Result<(), Error>;
}

/// The attributes of an operator whose result is elements of data alone: all but
/// [`SpaceToBatch`](crate::SpaceToBatch), which pads.
pub trait PermutationAttributes: SpaceAttributes {}

/// An operator that rearranges space: [`BatchToSpace`](crate::BatchToSpace), [`SpaceToBatch`](crate::SpaceToBatch),
/// [`DepthToSpace`](crate::DepthToSpace) and [`SpaceToDepth`](crate::SpaceToDepth).
///
/// A small value: attributes and options. Nothing is checked before a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SpaceOperator<A> {
    attributes: A,
    options: Options,
    registry: RegistryChoice,
}

impl<A> SpaceOperator<A> {
    pub(crate) fn from_attributes(attributes: A) -> Self {
        SpaceOperator { attributes, options: Options::default(), registry: RegistryChoice::default() }
    }
}

impl<A: SpaceAttributes> SpaceOperator<A> {
    /// Runs the operator into a fresh tensor. The table of [`Source`] lists the types of data.
    ///
    /// Cost: one pass over the bytes of the result, one allocation.
    ///
    /// # Errors
    /// [`Error::UnknownDType`] for a type known at run time; without the feature `registry`,
    /// [`Error::KernelsNotCompiled`]. Then as for [`Self::output_shape`], then [`Error::LevelUnavailable`],
    /// [`Error::TooManyBytes`], [`Error::MethodUnavailable`] and [`Error::AllocationFailed`].
    pub fn run<S: Source<Kind: PlainKind> + ?Sized>(&self, data: &S) -> Result<TensorOf<S>, Error> {
        written(<S::Kind as Kind>::Out::empty(data.dtype()), |out| self.run_into(data, out))
    }

    /// Runs the operator into an [`Output`]: a view of any strides, uninitialised memory, or a reused tensor.
    /// Allocates only a list of the padding, if there is padding, and the memory of a tensor that is too small.
    ///
    /// # Errors
    /// As for [`Self::run`]; for a type known at run time, [`Error::DTypeMismatch`] of a view comes first.
    /// [`Error::ShapeMismatch`] of a view comes after errors of shapes. On an error a view is untouched.
    pub fn run_into<S, O>(&self, data: &S, out: &mut O) -> Result<(), Error>
    where
        S: Source<Kind: PlainKind> + ?Sized,
        O: Output<<S::Kind as Kind>::Out>,
    {
        let dtype = data.dtype();
        let out = out.target_of(dtype)?;
        let kernels = self.kernels::<S::Kind>(dtype)?;
        let held = data.held();
        // Lowered in place, as the plan is: moving hundreds of bytes takes as long as a short call.
        let mut lowered = SpaceLowered::new(self.attributes().op());
        self.attributes().lower(held.borrow().shape(), &mut lowered)?;
        // SAFETY: V1, V3: data is a source of this layout and data type. O1: the output takes elements of this type,
        // and is borrowed mutably, so it does not overlap data.
        unsafe { run_lowered(kernels, &lowered, dtype, (data.start(), held.borrow()), out, self.options) }
    }

    /// The shape of the result, computed from the shape of data alone.
    ///
    /// # Errors
    /// As listed at the operator: [`BatchToSpace`](crate::BatchToSpace#errors),
    /// [`SpaceToBatch`](crate::SpaceToBatch#errors), [`DepthToSpace`](crate::DepthToSpace#errors) or
    /// [`SpaceToDepth`](crate::SpaceToDepth#errors).
    pub fn output_shape(&self, data: &[usize]) -> Result<Shape, Error> {
        Layout::contiguous(data)?;
        Ok(self.lowered(data)?.output)
    }

    /// Makes a plan, which does the shape-dependent work once. The plan runs on any data of this layout, into row-major
    /// outputs. Data is a source, or a [spec](crate::Spec) ahead of the first call.
    ///
    /// # Errors
    /// As for [`Self::run`]; [`Error::AllocationFailed`] only if a zero for the padding has to be allocated.
    pub fn plan<S>(&self, data: &S) -> Result<RearrangePlan<S::Kind>, Error>
    where
        S: Describe<Kind: PlainKind> + ?Sized,
    {
        self.plan_for(data, None)
    }

    /// As [`Self::plan`], for outputs of a given layout, of any strides.
    ///
    /// # Errors
    /// As for [`Self::plan`], and [`Error::ShapeMismatch`] after errors of shapes.
    pub fn plan_into<S>(&self, data: &S, out: &Layout) -> Result<RearrangePlan<S::Kind>, Error>
    where
        S: Describe<Kind: PlainKind> + ?Sized,
    {
        self.plan_for(data, Some(out))
    }

    fn plan_for<S>(&self, data: &S, out: Option<&Layout>) -> Result<RearrangePlan<S::Kind>, Error>
    where
        S: Describe<Kind: PlainKind> + ?Sized,
    {
        let (dtype, held) = (data.dtype(), data.held());
        let call = (self.kernels::<S::Kind>(dtype)?, dtype, self.options);
        let lowered = self.lowered(held.borrow().shape())?;
        Ok(RearrangePlan::new(PlannedSpace::new(call, &lowered, held.borrow(), out)?, dtype))
    }

    #[inline(always)]
    fn kernels<K: PlainKind>(&self, dtype: DType) -> Result<Kernels, Error> {
        let call = (self.attributes().op(), dtype, None);
        K::kernels(self.registry.0, call, || Some(Kernels::space::<K>()), Registry::space_kernels)
    }

    fn lowered(&self, data: &[usize]) -> Result<SpaceLowered, Error> {
        let mut lowered = SpaceLowered::new(self.attributes().op());
        self.attributes().lower(data, &mut lowered)?;
        Ok(lowered)
    }

    /// Runs the operator by cloning. `fill` is the value of padding, if the operator pads.
    pub(crate) fn clone_elements<S>(&self, data: &S, fill: Option<&S::Item>) -> Result<Tensor<S::Item>, Error>
    where
        S: CloneSource<Item: Clone> + ?Sized,
    {
        let data = data.lend()?;
        cloned::space(&self.lowered(data.layout().shape())?, self.options, &data, fill)
    }
}

/// Runs a lowered operator into an output.
///
/// # Safety
/// V1, V3: data may be read along its layout as elements of the data type. O1 for the data type; a fixed output
/// does not overlap data.
#[inline(never)]
unsafe fn run_lowered(
    kernels: Kernels,
    lowered: &SpaceLowered,
    dtype: DType,
    (data, layout): (*const u8, &Layout),
    out: Target<'_>,
    options: Options,
) -> Result<(), Error> {
    let row_major;
    let to = match out.layout() {
        Some(out) => {
            check_output(lowered.op, &lowered.output, out.shape())?;
            out
        }
        None => {
            row_major = Layout::contiguous(&lowered.output)?;
            &row_major
        }
    };
    let mut plan = SpacePlan::new(lowered, Level::resolve(options.level)?, options.par);
    plan.make(kernels, lowered, dtype, [layout, to], options.method)?;
    // SAFETY: X1: the plan was made for these layouts (row-major if the output is not fixed), this element size and
    // this output shape. V1, V3 and O1 by the caller's contract.
    unsafe { exec::run_space(&plan, &lowered.output, data, out) }
}

impl<A: PermutationAttributes> SpaceOperator<A> {
    /// Runs the operator on any `Clone` type. Data is any [`CloneSource`], such as a view.
    ///
    /// Cost: one clone per element of the result, on the calling thread.
    ///
    /// # Errors
    /// As for [`Self::run`].
    ///
    /// # Panics
    /// If a clone panics.
    pub fn run_cloned<S: CloneSource<Item: Clone> + ?Sized>(&self, data: &S) -> Result<Tensor<S::Item>, Error> {
        self.clone_elements(data, None)
    }
}

settings! {
    SpaceOperator<A>,
    /// An operator has one method: [`Method::Interleaved`](crate::Method::Interleaved) for BatchToSpace and
    /// DepthToSpace, else [`Method::Deinterleaved`](crate::Method::Deinterleaved).
}
attributes!(SpaceOperator<A>);
