//! Sources: the data that operators read. A view is a source, and its adaptors (`map`, `rows`, ..) are sources.
//!
//! ```text
//! View, DynView, Tensor, slices        elements as they are
//! view.map(&MAP, params)               each element converted      (`map.rs`)
//! view.rows(&FUNCTION, params)         each row computed           (`rows.rs`)
//! fused.to::<U>()                      fused rows as numbers       (`fused.rs`)
//! codes.blocks(Codes::Bits4, 16, &s)   codes with a scale a block  (`blocks.rs`)
//! chunks(&[a, b])?                     row ranges as one table     (`chunks.rs`)
//! Checked::<i32>::new(&ids, n, p)?     checked indices             (`checked.rs`)
//! tables::<U>([&a, &b])?               several tables at once      (`tables.rs`)
//! view.map(..).rows(..), ..            rows decoded, then computed (`rows.rs`)
//! ```
//!
//! A source has a [`Kind`]. Operators are written for kinds, not for sources: see `call::gather`.

pub(crate) mod block_shapes;
pub(crate) mod blocks;
pub(crate) mod checked;
pub(crate) mod chunks;
pub(crate) mod clones;
#[cfg(feature = "scatter")]
pub(crate) mod destination;
pub(crate) mod fused;
pub(crate) mod kind;
pub(crate) mod map;
pub(crate) mod mask;
pub(crate) mod reader;
pub(crate) mod rows;
pub(crate) mod spec;
#[cfg(feature = "bags")]
pub(crate) mod tables;
#[cfg(feature = "scatter")]
pub(crate) mod zeros;

use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::borrow::Borrow;

use crate::call::source::blocks::{BlocksSpec, BlocksView};
use crate::call::source::checked::{Checked, Position};
#[cfg(doc)]
use crate::call::source::chunks::chunks;
use crate::call::source::chunks::{ChunksSpec, ChunksView};
use crate::call::source::fused::{DynFusedView, FusedView};
#[cfg(feature = "bags")]
use crate::call::source::kind::Tables;
use crate::call::source::kind::{Blocks, ByRow, ChunkKind, Chunks, Fused, Kind, Mapped, PlainKind, Positions, RowKind};
use crate::call::source::map::{MappedSpec, MappedView};
use crate::call::source::reader::{Format, Reader};
use crate::call::source::rows::{RowsSpec, RowsView};
use crate::call::source::spec::Spec;
#[cfg(feature = "bags")]
use crate::call::source::tables::TablesView;
#[cfg(all(doc, feature = "bags"))]
use crate::call::source::tables::{tables, tables_dyn};
#[cfg(feature = "scatter")]
use crate::call::source::zeros::Zeros;
use crate::kernels::convert::map::Params;
use crate::kernels::convert::row::RowParams;
use crate::tensor::dynamic::{DynTensor, DynView};
#[cfg(doc)]
use crate::tensor::fused::FusedRows;
use crate::tensor::layout::Layout;
use crate::tensor::owned::Tensor;
use crate::tensor::typing::{Dyn, Typing};
use crate::tensor::view::View;
use crate::types::codes::Float;
use crate::types::element::{DType, Element};

mod sealed {
    /// Implemented only for this crate's types that implement a sealed trait: sources, specs, attributes, ..
    pub trait Sealed {}
}
pub(crate) use sealed::Sealed;

/// The tensor of results of a source `S`: [`Tensor<T>`](Tensor), or [`DynTensor`] for types known at run time.
pub type TensorOf<S> = <<<S as Source>::Kind as Kind>::Out as Typing>::Tensor;

/// A source of data that operators read: a tensor, or the result of an adaptor. Sealed.
///
/// | source | its [`Kind`] | results |
/// |---|---|---|
/// | [`View<T>`](View), [`Tensor<T>`](Tensor) | `T` | elements `T` |
/// | `[T]`, `[T; N]`, `Vec<T>`: tensors of one dimension | `T` | elements `T` |
/// | [`DynView`], [`DynTensor`] | [`Dyn`] | elements of a type known at run time |
/// | [`view.map(&MAP, params)`](View::map) | [`Mapped<T, U>`](Mapped) | elements `U` |
/// | [`view.rows(&FUNCTION, params)`](View::rows) | [`ByRow<T, U>`](ByRow) | elements `U` |
/// | `.rows(&FUNCTION, params)` of [a map](MappedView::rows), [fused rows](FusedView::rows), [blocks](BlocksView::rows), [chunks](ChunksView::rows) | [`ByRow<K, U>`](ByRow), `K` their kind | elements `U` |
/// | [`fused.to::<U>()`](FusedRows::to), [`fused.to_dyn(dtype)`](FusedRows::to_dyn) | [`Fused<U>`](Fused) | floats `U` |
/// | [`codes.blocks(codes, block_size, &scales)`](View::blocks) | [`Blocks<U>`](Blocks) | floats `U` |
/// | [`chunks(&[a, b])?`](chunks()) of one of these kinds `K`, but for row functions | [`Chunks<K>`](Chunks) | as of `K` |
/// | [`tables::<U>([&a, &b])?`](tables()), [`tables_dyn(dtype, [&a, &b])?`](tables_dyn), for bags | [`Tables<U>`](Tables) | floats `U` |
/// | [`Checked<I>`](Checked), as indices alone | [`Positions<I>`](Positions) | |
///
/// References, `Box` and `Arc` of sources are sources too. Indices are sources of an [`IndexKind`](crate::IndexKind).
///
/// ```
/// use gather_core::{Gather, View};
///
/// fn main() -> Result<(), gather_core::Error> {
///     let table = View::new(&[0.0f32, 0.5, 1.0, 1.5, 2.0, 2.5], &[3, 2])?;
///     let rows = Gather::new(0).run(&table, &[2u32, 0])?;
///     assert_eq!(rows.as_slice(), [2.0, 2.5, 0.0, 0.5]);
///     let ids: Vec<i64> = vec![1, -1];
///     assert_eq!(Gather::new(0).run(&[10, 20, 30], &ids)?.as_slice(), [20, 30]);
///     Ok(())
/// }
/// ```
///
/// # Safety
/// While the source is borrowed, elements may be read from [`Source::start`] along [`Source::held`] (V1, V3), unless
/// its reader has chunks. They are of the type that the kind reads, or of the data type for [`Dyn`]. [`Source::reader`]
/// has this start, the layout that it is given, the source's data type and the format of the kind. Its arguments are of
/// the parameters of its map, blocks and row function (K8).
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no tensor that operators read",
    label = "neither a view nor made of one",
    note = "operators read a `View`, a `Tensor`, a slice or `Vec` as a tensor of one dimension, or a `DynView`; and of \
            `FusedRows` what `.to::<f32>()` returns",
    note = "a `Spec` has no elements: plans are made of it, calls need data",
    note = "a `Mask` is an argument of `Gather::new(0).masked().run`; a `Bitmap` becomes one by `Mask::from_bits`"
)]
pub unsafe trait Source: Sealed {
    /// The kind of the data, without lifetimes.
    type Kind: Kind;

    /// The layout: borrowed, or made for lists.
    #[doc(hidden)]
    type Held<'s>: Borrow<Layout>
    where
        Self: 's;

    /// Shape and strides of the data.
    #[doc(hidden)]
    fn held(&self) -> Self::Held<'_>;

    /// The address of the element at coordinate 0.
    #[doc(hidden)]
    fn start(&self) -> *const u8;

    /// The data type of results.
    #[doc(hidden)]
    fn dtype(&self) -> DType;

    /// The source without its type, along its layout.
    #[doc(hidden)]
    fn reader<'s>(&'s self, layout: &'s Layout) -> Reader<'s>;
}

/// A kind and a layout, for plans. Every [`Source`] has both; a [`Spec`](crate::Spec) has only these. Sealed.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no tensor that operators read",
    label = "neither a view nor made of one",
    note = "to plan ahead for a shape, give a type too: `Spec::<f32>::new(&[1000, 64])?`"
)]
pub trait Describe: Sealed {
    /// The kind of the data, without lifetimes.
    type Kind: Kind;

    #[doc(hidden)]
    type Held<'s>: Borrow<Layout>
    where
        Self: 's;

    #[doc(hidden)]
    fn held(&self) -> Self::Held<'_>;

    #[doc(hidden)]
    fn dtype(&self) -> DType;

    #[doc(hidden)]
    fn reader<'s>(&'s self, layout: &'s Layout) -> Reader<'s>;
}

#[diagnostic::do_not_recommend]
impl<S: Source + ?Sized> Describe for S {
    type Kind = S::Kind;

    type Held<'s>
        = S::Held<'s>
    where
        S: 's;

    #[inline(always)]
    fn held(&self) -> S::Held<'_> {
        Source::held(self)
    }

    #[inline(always)]
    fn dtype(&self) -> DType {
        Source::dtype(self)
    }

    #[inline(always)]
    fn reader<'s>(&'s self, layout: &'s Layout) -> Reader<'s> {
        Source::reader(self, layout)
    }
}

macro_rules! sources {
    ($(
        [$($generics:tt)*] $Source:ty => $Kind:ty:
        $Held:ty, |$this:ident, $layout:ident| $held:expr, $start:expr, $dtype:expr, $reader:expr;
    )*) => {$(
        impl<$($generics)*> Sealed for $Source {}

        // SAFETY: V1, V3: `start` and `held` are the tensor's own. The layout of `TablesView` is empty, a reader of
        // `ChunksView` has chunks unless `start` is its only chunk's, and `Zeros` has one element at all coordinates.
        // K8: by the source's type parameters, arguments are of the parameters of its map, blocks or row function.
        unsafe impl<$($generics)*> Source for $Source {
            type Kind = $Kind;

            type Held<'s> = $Held where Self: 's;

            #[inline(always)]
            fn held(&self) -> Self::Held<'_> {
                let $this = self;
                $held
            }

            #[inline(always)]
            fn start(&self) -> *const u8 {
                let $this = self;
                $start
            }

            #[inline(always)]
            fn dtype(&self) -> DType {
                #[allow(unused_variables, reason = "the compiler knows the type of most")]
                let $this = self;
                $dtype
            }

            #[inline(always)]
            fn reader<'s>(&'s self, $layout: &'s Layout) -> Reader<'s> {
                let $this = self;
                $reader
            }
        }
    )*};
}
sources! {
    [T: Element] View<'_, T> => T: &'s Layout, |this, layout|
        this.layout(), this.origin().cast(), T::DTYPE, Reader::new(this, layout, Format::Plain);
    [] DynView<'_> => Dyn: &'s Layout, |this, layout|
        this.layout(), this.origin(), this.dtype(), Reader::new(this, layout, Format::Plain);
    [T: Element] Tensor<T> => T: Layout, |this, layout|
        of_owned(this.shape()), this.as_slice().as_ptr().cast(), T::DTYPE, Reader::new(this, layout, Format::Plain);
    [] DynTensor => Dyn: &'s Layout, |this, layout|
        this.layout(), this.start(), this.dtype(), Reader::new(this, layout, Format::Plain);
    [T: Element] [T] => T: Layout, |this, layout|
        of_list(this), this.as_ptr().cast(), T::DTYPE, Reader::new(this, layout, Format::Plain);
    [T: Element, const N: usize] [T; N] => T: Layout, |this, layout|
        of_list(this), this.as_ptr().cast(), T::DTYPE, Reader::new(this, layout, Format::Plain);
    [T: Element] Vec<T> => T: Layout, |this, layout|
        of_list(this), this.as_ptr().cast(), T::DTYPE, Reader::new(this, layout, Format::Plain);
    [T: Element, U: Element, P: Params] MappedView<'_, '_, T, U, P> => Mapped<T, U>: &'s Layout, |this, layout|
        this.data.layout(), this.data.origin().cast(), U::DTYPE,
        Reader::new(this, layout, map::format(this.map, Some(&this.params)));
    [S: Source<Kind: RowKind<Number = T>>, T: Element, U: Element, P: RowParams] RowsView<'_, S, T, U, P>
        => ByRow<S::Kind, U>: S::Held<'s>, |this, layout|
        this.data.held(), this.data.start(), U::DTYPE,
        this.data.reader(layout).with_function(U::DTYPE, this.function.erased(), Some(&this.params));
    [U: Float] FusedView<'_, U> => Fused<U>: &'s Layout, |this, layout|
        this.table.data().layout(), this.table.data().origin(), U::DTYPE,
        Reader::new(this, layout, Format::Fused(this.table));
    [] DynFusedView<'_> => Fused<Dyn>: &'s Layout, |this, layout|
        this.table.data().layout(), this.table.data().origin(), this.dtype,
        Reader::new(this, layout, Format::Fused(this.table));
    [U: Float] BlocksView<'_, U> => Blocks<U>: &'s Layout, |this, layout|
        this.data.layout(), this.data.origin(), U::DTYPE,
        Reader::new(this, layout, Format::Blocks(this.format, Some(&this.params)));
    [K: ChunkKind] ChunksView<'_, K> => Chunks<K>: &'s Layout, |this, layout|
        &this.layout, this.start(), this.one.dtype, this.reader(layout);
    [I: Position] Checked<'_, I> => Positions<I>: &'s Layout, |this, layout|
        this.layout(), this.start().cast(), I::DTYPE, Reader::new(this, layout, Format::Checked(this.axis()));
}
#[cfg(feature = "bags")]
sources! {
    [U: Float] TablesView<'_, U> => Tables<U>: &'s Layout, |this, layout|
        &this.empty, this.start(), this.dtype, Reader::new(this, layout, Format::Tables(&this.tables));
    [] TablesView<'_, Dyn> => Tables<Dyn>: &'s Layout, |this, layout|
        &this.empty, this.start(), this.dtype, Reader::new(this, layout, Format::Tables(&this.tables));
}

#[cfg(feature = "scatter")]
sources! {
    [K: PlainKind] Zeros<K> => K: &'s Layout, |this, layout|
        &this.layout, this.start(), this.dtype, Reader::new(this, layout, Format::Plain);
}

macro_rules! specs {
    ($(
        [$($generics:tt)*] $Spec:ty => $Kind:ty: $Held:ty, where [$($bounds:tt)*], |$this:ident, $layout:ident|
        $held:expr, $dtype:expr, $reader:expr;
    )*) => {$(
        impl<$($generics)*> Sealed for $Spec {}

        impl<$($generics)*> Describe for $Spec
        where
            $($bounds)*
        {
            type Kind = $Kind;

            type Held<'s> = $Held where Self: 's;

            fn held(&self) -> Self::Held<'_> {
                let $this = self;
                $held
            }

            fn dtype(&self) -> DType {
                #[allow(unused_variables, reason = "the compiler knows the type of most")]
                let $this = self;
                $dtype
            }

            fn reader<'s>(&'s self, $layout: &'s Layout) -> Reader<'s> {
                let $this = self;
                $reader
            }
        }
    )*};
}
specs! {
    [K: PlainKind] Spec<K> => K: &'s Layout, where [], |this, layout|
        &this.layout, this.dtype, Reader::from_layout(layout, this.dtype, Format::Plain);
    [T: Element, U: Element, P: Params] MappedSpec<T, U, P> => Mapped<T, U>: &'s Layout, where [], |this, layout|
        &this.data.layout, U::DTYPE, Reader::from_layout(layout, U::DTYPE, map::format(this.map, None));
    [U: Float] BlocksSpec<U> => Blocks<U>: &'s Layout, where [], |this, layout|
        &this.data.layout, U::DTYPE, Reader::from_layout(layout, U::DTYPE, Format::Blocks(this.format, None));
    [D: Describe] ChunksSpec<D> => Chunks<D::Kind>: D::Held<'s>, where [D::Kind: ChunkKind], |this, layout|
        this.data.held(), this.data.dtype(), this.reader(layout);
    [D: Describe, T: Element, U: Element, P: RowParams] RowsSpec<D, T, U, P>
        => ByRow<D::Kind, U>: D::Held<'s>, where [D::Kind: RowKind<Number = T>], |this, layout|
        this.data.held(), U::DTYPE, this.data.reader(layout).with_function(U::DTYPE, this.function.erased(), None);
}

/// The layout of a list, a tensor of one dimension.
#[inline(always)]
pub(super) fn of_list<T>(list: &[T]) -> Layout {
    of_owned(&[list.len()])
}

/// The layout of a row-major tensor that exists.
#[inline(always)]
pub(super) fn of_owned(shape: &[usize]) -> Layout {
    Layout::contiguous(shape).expect("a tensor that is there has a layout")
}

macro_rules! pointers {
    ($($Pointer:ty;)*) => {$(
        impl<S: Source + ?Sized> Sealed for $Pointer {}

        // SAFETY: every method calls the source that the pointer owns or borrows.
        #[diagnostic::do_not_recommend]
        unsafe impl<S: Source + ?Sized> Source for $Pointer {
            type Kind = S::Kind;

            type Held<'s> = S::Held<'s> where Self: 's;

            #[inline(always)]
            fn held(&self) -> Self::Held<'_> {
                (**self).held()
            }

            #[inline(always)]
            fn start(&self) -> *const u8 {
                (**self).start()
            }

            #[inline(always)]
            fn dtype(&self) -> DType {
                (**self).dtype()
            }

            #[inline(always)]
            fn reader<'s>(&'s self, layout: &'s Layout) -> Reader<'s> {
                (**self).reader(layout)
            }
        }
    )*};
}
pointers! {
    &S;
    Box<S>;
    Arc<S>;
}
