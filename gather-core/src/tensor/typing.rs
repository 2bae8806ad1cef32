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
///
/// # Safety
/// Weights that [`Typing::weights`] returns may be read along the layout for as long as the view is borrowed, as numbers
/// of the type, or of the data type that is asked for (V1, V3).
pub unsafe trait Typing: sealed::Sealed + Copy + 'static {
    /// A result: [`Tensor<T>`](Tensor), or [`DynTensor`] for [`Any`].
    type Tensor: Output<Self>;
    /// Weights of rows: [`View<T::Number>`](View), or [`DynView`] for [`Any`].
    type Weights<'a>;

    /// A tensor of a data type, without elements.
    #[doc(hidden)]
    fn empty(dtype: DType) -> Self::Tensor;

    /// Where weights of rows of a data type begin, and their layout.
    ///
    /// # Errors
    /// [`Error::DTypeMismatch`].
    #[doc(hidden)]
    fn weights<'v>(view: &'v Self::Weights<'_>, dtype: DType) -> Result<(*const u8, &'v Layout), Error>;
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

// SAFETY: V1 and V2 of views of `T`.
unsafe impl<T: Element> Typing for T {
    type Tensor = Tensor<T>;
    type Weights<'a> = View<'a, T::Number>;

    fn empty(_: DType) -> Tensor<T> {
        Tensor::default()
    }

    #[inline(always)]
    fn weights<'v>(view: &'v View<'_, T::Number>, _: DType) -> Result<(*const u8, &'v Layout), Error> {
        Ok((view.origin().cast(), view.layout()))
    }
}

// SAFETY: V1 to V3 of views of the data type, which is compared.
unsafe impl Typing for Any {
    type Tensor = DynTensor;
    type Weights<'a> = DynView<'a>;

    fn empty(dtype: DType) -> DynTensor {
        DynTensor::empty(dtype)
    }

    fn weights<'v>(view: &'v DynView<'_>, dtype: DType) -> Result<(*const u8, &'v Layout), Error> {
        view.read(dtype.number())
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
