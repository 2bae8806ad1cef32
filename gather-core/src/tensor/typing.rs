//! Typing of elements: by the compiler, or at run time. Code common to both is written once.

#![forbid(unsafe_code)]

use crate::tensor::dynamic::{DynTensor, check_dtype};
use crate::tensor::output::Output;
use crate::tensor::owned::Tensor;
use crate::types::element::{DType, Element};
use crate::types::error::Error;

/// A type of elements or of indices known at run time: a [`DynPlan`](crate::DynPlan) is a
/// [`Plan<Dyn, Dyn>`](crate::Plan).
#[derive(Clone, Copy, Debug)]
pub enum Dyn {}

mod sealed {
    /// Implemented for the types of plans.
    pub trait Sealed {}
}

impl<T: Element> sealed::Sealed for T {}
impl sealed::Sealed for Dyn {}

/// The types of a plan: an [`Element`] known to the compiler, or [`Dyn`]. Sealed.
pub trait Typing: sealed::Sealed + Copy + 'static {
    /// A result: [`Tensor<T>`](Tensor), or [`DynTensor`] for [`Dyn`].
    type Tensor: Output<Self>;

    /// An empty tensor of a data type.
    #[doc(hidden)]
    fn empty(dtype: DType) -> Self::Tensor;

    /// Checks a data type against a plan's, unless the compiler knows both.
    ///
    /// # Errors
    /// [`Error::DTypeMismatch`].
    #[doc(hidden)]
    fn check(planned: DType, got: DType) -> Result<(), Error>;
}

impl<T: Element> Typing for T {
    type Tensor = Tensor<T>;

    fn empty(_: DType) -> Tensor<T> {
        Tensor::default()
    }

    #[inline(always)]
    fn check(_: DType, _: DType) -> Result<(), Error> {
        Ok(())
    }
}

impl Typing for Dyn {
    type Tensor = DynTensor;

    fn empty(dtype: DType) -> DynTensor {
        DynTensor::empty(dtype)
    }

    #[inline]
    fn check(planned: DType, got: DType) -> Result<(), Error> {
        check_dtype(planned, got)
    }
}
