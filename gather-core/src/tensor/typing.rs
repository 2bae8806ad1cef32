//! How a type of elements is known: by the compiler, or at run time. What does not ask which is written once.

use crate::tensor::dynamic::{DynTensor, DynView, check_dtype};
use crate::tensor::layout::Layout;
use crate::tensor::output::Output;
use crate::tensor::owned::Tensor;
use crate::tensor::view::View;
use crate::types::element::{DType, Element};
use crate::types::error::Error;

/// A type of elements or of indices that is known at run time: a [`DynPlan`](crate::DynPlan) is a
/// [`Plan<Any, Any>`](crate::Plan).
#[derive(Clone, Copy, Debug)]
pub enum Any {}

mod sealed {
    /// Implemented for what the traits of this module are.
    pub trait Sealed {}
}

impl<T: Element> sealed::Sealed for T {}
impl sealed::Sealed for Any {}
impl<T> sealed::Sealed for View<'_, T> {}
impl sealed::Sealed for DynView<'_> {}

/// The types of a plan: an [`Element`] that the compiler knows, or [`Any`]. Sealed.
pub trait Typing: sealed::Sealed + Copy + 'static {
    /// A result: [`Tensor<T>`](Tensor), or [`DynTensor`] for [`Any`].
    type Tensor: Output<Self>;

    /// A tensor of a data type, without elements.
    #[doc(hidden)]
    fn empty(dtype: DType) -> Self::Tensor;
}

/// A tensor whose elements `T` plans read: a [`View<T>`](View), or a [`DynView`] for [`Any`]. Sealed.
///
/// # Safety
/// From [`Input::start`] along [`Input::layout`] there are elements of `T`, or of the data type for which
/// [`Input::check`] returns `Ok`, which may be read for as long as the view is borrowed (V1, V3).
#[diagnostic::on_unimplemented(
    message = "elements `{T}` cannot be read from `{Self}`",
    label = "not a view of `{T}`",
    note = "plans read a `View<T>`, and a `DynView` where types are known at run time"
)]
pub unsafe trait Input<T>: sealed::Sealed {
    /// Checks that elements are of a data type, where the compiler does not know it.
    ///
    /// # Errors
    /// [`Error::DTypeMismatch`].
    #[doc(hidden)]
    fn check(&self, dtype: DType) -> Result<(), Error>;

    /// The address of the element at coordinate 0.
    #[doc(hidden)]
    fn start(&self) -> *const u8;

    /// Shape and strides.
    #[doc(hidden)]
    fn layout(&self) -> &Layout;

    /// Both, of a tensor of a data type.
    ///
    /// # Errors
    /// As for [`Input::check`].
    #[doc(hidden)]
    #[inline]
    fn read(&self, dtype: DType) -> Result<(*const u8, &Layout), Error> {
        self.check(dtype)?;
        Ok((self.start(), self.layout()))
    }
}

impl<T: Element> Typing for T {
    type Tensor = Tensor<T>;

    fn empty(_: DType) -> Tensor<T> {
        Tensor::default()
    }
}

impl Typing for Any {
    type Tensor = DynTensor;

    fn empty(dtype: DType) -> DynTensor {
        DynTensor::empty(dtype)
    }
}

// SAFETY: V1.
unsafe impl<T: Element> Input<T> for View<'_, T> {
    #[inline(always)]
    fn check(&self, dtype: DType) -> Result<(), Error> {
        debug_assert_eq!(dtype, T::DTYPE);
        Ok(())
    }

    #[inline(always)]
    fn start(&self) -> *const u8 {
        self.origin().cast()
    }

    #[inline(always)]
    fn layout(&self) -> &Layout {
        self.layout()
    }
}

// SAFETY: V1 and V3 of the data type, which is compared.
unsafe impl Input<Any> for DynView<'_> {
    #[inline]
    fn check(&self, dtype: DType) -> Result<(), Error> {
        check_dtype(dtype, self.dtype())
    }

    #[inline]
    fn start(&self) -> *const u8 {
        self.origin()
    }

    #[inline]
    fn layout(&self) -> &Layout {
        self.layout()
    }
}
