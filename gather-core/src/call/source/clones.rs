//! Data of any type, whose elements `run_cloned` clones.

#![forbid(unsafe_code)]

use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec::Vec;

use crate::tensor::owned::Tensor;
use crate::tensor::view::View;
use crate::types::error::Error;

mod sealed {
    pub trait Sealed {}
}
use sealed::Sealed;

/// Data of any type, whose elements [`run_cloned`](crate::GatherOperator::run_cloned) clones. Sealed: implemented for
/// [`View`] and [`Tensor`]; for `[T]`, `[T; N]` and `Vec<T>`, which are tensors of one dimension; and for references,
/// `Box` and `Arc` of these.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no tensor whose elements can be cloned",
    label = "neither a view nor a list",
    note = "elements are cloned of a `View`, a `Tensor`, or of a slice or `Vec` as a tensor of one dimension"
)]
pub trait CloneSource: Sealed {
    /// The type of elements.
    type Item;

    /// # Errors
    /// [`Error::TooManyElements`], for a list of zero-sized elements.
    #[doc(hidden)]
    fn lend(&self) -> Result<View<'_, Self::Item>, Error>;
}

macro_rules! sources {
    ($([$($generics:tt)*] $Source:ty => $Item:ty: |$this:ident| $view:expr;)*) => {$(
        impl<$($generics)*> Sealed for $Source {}

        impl<$($generics)*> CloneSource for $Source {
            type Item = $Item;

            fn lend(&self) -> Result<View<'_, $Item>, Error> {
                let $this = self;
                $view
            }
        }
    )*};
}
sources! {
    [T] View<'_, T> => T: |this| Ok(this.clone());
    [T] Tensor<T> => T: |this| Ok(this.view());
    [T] [T] => T: |this| View::new(this, &[this.len()]);
    [T, const N: usize] [T; N] => T: |this| View::new(this, &[N]);
    [T] Vec<T> => T: |this| View::new(this, &[this.len()]);
}

macro_rules! pointers {
    ($($Pointer:ty;)*) => {$(
        impl<S: CloneSource + ?Sized> Sealed for $Pointer {}

        #[diagnostic::do_not_recommend]
        impl<S: CloneSource + ?Sized> CloneSource for $Pointer {
            type Item = S::Item;

            fn lend(&self) -> Result<View<'_, S::Item>, Error> {
                (**self).lend()
            }
        }
    )*};
}
pointers! {
    &S;
    Box<S>;
    Arc<S>;
}
