//! Destinations: tensors that scatters change in place.

use alloc::vec::Vec;
use core::borrow::Borrow;

use crate::call::source::kind::PlainKind;
use crate::call::source::{Sealed, of_list, of_owned};
use crate::tensor::dynamic::{DynTensor, DynViewMut};
use crate::tensor::layout::Layout;
use crate::tensor::owned::Tensor;
use crate::tensor::typing::Dyn;
use crate::tensor::view::ViewMut;
use crate::types::element::{DType, Element};

/// A tensor that a scatter changes in place: [`ViewMut<T>`](ViewMut), [`Tensor<T>`](Tensor), and `[T]`, `[T; N]` and
/// `Vec<T>` as tensors of one dimension; [`DynViewMut`] and [`DynTensor`] for types known at run time. Sealed.
///
/// # Safety
/// While the destination is borrowed, [`Destination::parts`] may be read and written along the layout. Elements are of
/// the kind, or of the data type for [`Dyn`], and no two coordinates share an element (V1 to V3). The destination holds
/// values of the kind, or initialised bytes for [`Dyn`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not changed in place",
    label = "neither a `ViewMut` nor a `Tensor`",
    note = "scatters change a `ViewMut`, a `Tensor`, a slice or `Vec` as a tensor of one dimension, or a `DynViewMut`",
    note = "a `View` is read: its copy is changed by `run`"
)]
pub unsafe trait Destination: Sealed {
    /// The kind of its elements.
    type Kind: PlainKind;

    /// The layout: borrowed, or made for lists.
    #[doc(hidden)]
    type Held<'s>: Borrow<Layout>
    where
        Self: 's;

    /// The data type of its elements.
    #[doc(hidden)]
    fn dtype(&self) -> DType;

    /// The start address and the layout.
    #[doc(hidden)]
    fn parts(&mut self) -> (*mut u8, Self::Held<'_>);
}

macro_rules! destinations {
    ($(
        [$($generics:tt)*] $Tensor:ty => $Kind:ty: $Held:ty, |$this:ident| $dtype:expr, $start:expr, $held:expr;
    )*) => {$(
        // SAFETY: V1 to V3: `parts` returns the start and the layout of a tensor that it borrows mutably.
        unsafe impl<$($generics)*> Destination for $Tensor {
            type Kind = $Kind;

            type Held<'s> = $Held where Self: 's;

            #[inline(always)]
            fn dtype(&self) -> DType {
                #[allow(unused_variables, reason = "the compiler knows the type of most")]
                let $this = self;
                $dtype
            }

            #[inline(always)]
            fn parts(&mut self) -> (*mut u8, Self::Held<'_>) {
                let $this = self;
                ($start, $held)
            }
        }
    )*};
}
destinations! {
    [T: Element] ViewMut<'_, T> => T: &'s Layout, |this| T::DTYPE, this.origin().cast(), this.layout();
    [] DynViewMut<'_> => Dyn: &'s Layout, |this| this.dtype(), this.origin(), this.layout();
    [T: Element] Tensor<T> => T:
        Layout, |this| T::DTYPE, this.as_mut_slice().as_mut_ptr().cast(), of_owned(this.shape());
    [] DynTensor => Dyn: &'s Layout, |this| this.dtype(), this.view_mut().origin(), this.layout();
    [T: Element] [T] => T: Layout, |this| T::DTYPE, this.as_mut_ptr().cast(), of_list(this);
    [T: Element, const N: usize] [T; N] => T: Layout, |this| T::DTYPE, this.as_mut_ptr().cast(), of_list(this);
    [T: Element] Vec<T> => T: Layout, |this| T::DTYPE, this.as_mut_ptr().cast(), of_list(this);
}

impl<T> Sealed for ViewMut<'_, T> {}
impl Sealed for DynViewMut<'_> {}
impl<D: Destination + ?Sized> Sealed for &mut D {}

// SAFETY: every method calls the destination that the pointer borrows.
#[diagnostic::do_not_recommend]
unsafe impl<D: Destination + ?Sized> Destination for &mut D {
    type Kind = D::Kind;

    type Held<'s>
        = D::Held<'s>
    where
        Self: 's;

    #[inline(always)]
    fn dtype(&self) -> DType {
        (**self).dtype()
    }

    #[inline(always)]
    fn parts(&mut self) -> (*mut u8, Self::Held<'_>) {
        (**self).parts()
    }
}
