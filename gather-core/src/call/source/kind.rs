//! Kinds: types without lifetimes that say how data is read. They name plans: `Plan<Mapped<u8, f32>, u32>`.

#![forbid(unsafe_code)]

use core::marker::PhantomData;

use crate::call::source::checked::Position;
use crate::call::source::reader::Reader;
use crate::kernels::convert;
use crate::kernels::convert::chunks::ChunkDecoder;
#[cfg(feature = "scatter")]
use crate::kernels::reduce::Reductions;
#[cfg(feature = "bags")]
use crate::kernels::reduce::bag::PositionsFns;
#[cfg(feature = "scatter")]
use crate::kernels::reduce::scatter::ScatterFns;
use crate::kernels::registry::Registry;
use crate::kernels::select::Kernels;
use crate::kernels::{IndexKernel, Resolvers};
use crate::tensor::typing::{Dyn, Typing};
use crate::types::codes::Float;
use crate::types::element::{DType, Element, IsElement};
use crate::types::error::Error;
use crate::types::index::{Index, IndexType};
use crate::types::level::Level;
use crate::types::method::Method;
use crate::types::op::Op;

mod sealed {
    pub trait Sealed {}
}
use sealed::Sealed;

/// A kind of data, as a type without lifetimes. Elements are kinds. [`Source`](crate::Source) lists all kinds. Sealed.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no kind of data",
    note = "kinds are elements, `Dyn`, `Mapped`, `ByRow`, `Fused`, `Blocks`, `Chunks`, `Tables` and `Positions`"
)]
pub trait Kind: Sealed + Sized + 'static {
    /// The elements of a result: an [`Element`], or [`Dyn`] for types known at run time.
    type Out: Typing;

    /// Whether elements are moved unchanged.
    #[doc(hidden)]
    const IS_PLAIN: bool = false;
}

/// A kind whose elements are moved unchanged: an [`Element`], or [`Dyn`]. Sealed.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not moved as it is",
    note = "scatters and operators that rearrange space take a `View` or a `DynView`, and no map or row function"
)]
pub trait PlainKind: Kind {
    /// The kernels for data of a type: `typed` for types known at compile time, else `found` in a registry.
    ///
    /// # Errors
    /// [`Error::UnknownDType`] for [`Dyn`]; [`Error::KernelsNotCompiled`] for types known at run time.
    #[doc(hidden)]
    fn kernels(
        registry: Option<&'static Registry>,
        call: (Op, DType, Option<IndexType>),
        typed: impl FnOnce() -> Option<Kernels>,
        found: impl FnOnce(&'static Registry, Op, DType) -> Option<Kernels>,
    ) -> Result<Kernels, Error>;

    #[cfg(feature = "scatter")]
    /// The built-in reductions for data of a type; `None` if the library does not contain them.
    #[doc(hidden)]
    fn reductions(dtype: DType) -> Option<Reductions<ScatterFns>>;
}

/// A kind whose rows a [`RowFunction`](crate::RowFunction) reads: (mapped) elements, fused rows or blocks. Sealed.
#[diagnostic::on_unimplemented(
    message = "no row function reads rows of `{Self}`",
    note = "row functions read elements, what a map makes of them, fused rows and blocks"
)]
pub trait RowKind: Kind {
    /// The elements that a row function reads; arrays are read element by element.
    type Number: Element;
}

/// A kind that [`chunks`](crate::chunks()) takes: elements, [`Dyn`], mapped elements, fused rows or blocks. Sealed.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not divided into chunks",
    note = "chunks are views, maps, fused rows and blocks; a row function follows: `chunks(&parts)?.rows(..)`"
)]
pub trait ChunkKind: Kind {
    /// The decoder of a chunk, checked against the first one, whose data type and row shape it has.
    ///
    /// # Errors
    /// Errors of the format, [`Error::RowsNotContiguous`], then errors of params.
    #[doc(hidden)]
    fn decoder<'a>(first: &Reader<'a>, chunk: &Reader<'a>) -> Result<ChunkDecoder<'a>, Error>;
}

/// A kind of indices: an [`Index`] type, [`Dyn`], or [`Positions`] that have been checked. Sealed.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot index",
    label = "no indices",
    note = "indices are of type `i8`, `i16`, `i32`, `i64`, `u8`, `u16`, `u32`, `u64`, `isize` or `usize`, or a \
            `DynView`",
    note = "of a mask, whose elements are `bool`, take the positions that are true; of ids some of which are missing, say \
            which in a bitmap: `gather.nullable()`"
)]
pub trait IndexKind: Kind {
    /// Whether indices are positions that have been checked.
    #[doc(hidden)]
    const IS_CHECKED: bool = false;

    /// The index type of a data type.
    ///
    /// # Errors
    /// [`Error::NotAnIndexType`] for [`Dyn`].
    #[doc(hidden)]
    fn index(dtype: DType) -> Result<IndexType, Error>;

    /// The built-in kernels of gathers. Here and in all functions below, `None` if the library does not contain them.
    #[doc(hidden)]
    fn gathers<K>(index: IndexType) -> Option<Kernels>;

    #[cfg(feature = "scatter")]
    #[doc(hidden)]
    fn scatters(index: IndexType) -> Option<Kernels>;

    /// The kernels of maps and row functions.
    #[doc(hidden)]
    fn converts(index: IndexType) -> Option<fn(Level, Method) -> IndexKernel>;

    #[cfg(feature = "bags")]
    /// The functions that resolve the indices of bags.
    #[doc(hidden)]
    fn positions(index: IndexType) -> Option<&'static PositionsFns>;

    /// The functions that resolve indices with nulls.
    #[doc(hidden)]
    fn resolvers(index: IndexType) -> Option<Resolvers>;
}

/// The error of a call whose kernels the library does not contain: on types known at run time, without `registry`.
pub(in crate::call) fn not_compiled(op: Op, dtype: DType, index: IndexType) -> impl FnOnce() -> Error {
    move || Error::KernelsNotCompiled { op, dtype, index: Some(index) }
}

macro_rules! kinds {
    ($($(#[$doc:meta])* $Name:ident<$($T:ident),*>;)*) => {$(
        $(#[$doc])*
        #[derive(Debug)]
        pub struct $Name<$($T),*>(PhantomData<fn() -> ($($T,)*)>);

        impl<$($T),*> Sealed for $Name<$($T),*> {}
    )*};
}
kinds! {
    /// The kind of elements `T` that a [`Map`](crate::Map) converts to elements `U`, by
    /// [`View::map`](crate::View::map).
    Mapped<T, U>;
    /// The kind of rows of `K` from which a [`RowFunction`](crate::RowFunction) makes elements `U`, by
    /// [`View::rows`](crate::View::rows). [`MappedView::rows`](crate::MappedView::rows) and similar methods decode the
    /// rows first: `ByRow<Mapped<u8, f32>, f32>`.
    ByRow<K, U>;
    /// The kind of [`FusedRows`](crate::FusedRows) read as floats `U`, or as [`Dyn`].
    Fused<U>;
    /// The kind of block-quantised data read as floats `U`, by [`View::blocks`](crate::View::blocks).
    Blocks<U>;
    /// The kind of a table divided into chunks of kind `K`, by [`chunks`](crate::chunks()).
    Chunks<K>;
    /// The kind of several tables of [`FusedRows`](crate::FusedRows) that bags reduce to floats `U`, or to [`Dyn`], by
    /// [`tables`](crate::tables()).
    Tables<U>;
    /// The kind of [`Checked`](crate::Checked) indices, positions of type `I`.
    Positions<I>;
}

impl<T: Element> Sealed for T {}
impl Sealed for Dyn {}

impl<T: Element> Kind for T {
    type Out = T;

    const IS_PLAIN: bool = true;
}

impl Kind for Dyn {
    type Out = Dyn;

    const IS_PLAIN: bool = true;
}

/// Implements [`Kind`], and [`RowKind`] if a row function reads numbers of the kind.
macro_rules! results {
    (@ [$($generics:tt)*] $Trait:ident for $Kind:ty: $name:ident = $Elements:ty) => {
        impl<$($generics)*> $Trait for $Kind {
            type $name = $Elements;
        }
    };
    ($($generics:tt $Kind:ty: $Out:ty $(, rows of $Number:ty)?;)*) => {$(
        results!(@ $generics Kind for $Kind: Out = $Out);
        $(results!(@ $generics RowKind for $Kind: Number = $Number);)?
    )*};
}
results! {
    [T: Element, U: Element] Mapped<T, U>: U, rows of U::Number;
    [K: RowKind, U: Element] ByRow<K, U>: U;
    [U: Float] Fused<U>: U, rows of U;
    [] Fused<Dyn>: Dyn;
    [U: Float] Tables<U>: U;
    [] Tables<Dyn>: Dyn;
    [U: Float] Blocks<U>: U, rows of U;
    [K: ChunkKind] Chunks<K>: K::Out;
    [I: Position] Positions<I>: I;
}

impl<K: ChunkKind + RowKind> RowKind for Chunks<K> {
    type Number = K::Number;
}

#[diagnostic::do_not_recommend]
impl<T: Element> RowKind for T {
    type Number = T;
}

#[diagnostic::do_not_recommend]
impl<T: Element> PlainKind for T {
    #[inline(always)]
    fn kernels(
        _: Option<&'static Registry>,
        (op, dtype, index): (Op, DType, Option<IndexType>),
        typed: impl FnOnce() -> Option<Kernels>,
        _: impl FnOnce(&'static Registry, Op, DType) -> Option<Kernels>,
    ) -> Result<Kernels, Error> {
        const { IsElement::<T>::CHECK };
        // `ok_or` would make the error before each call and drop it after.
        let Some(kernels) = typed() else { return Err(Error::KernelsNotCompiled { op, dtype, index }) };
        Ok(kernels)
    }

    #[cfg(feature = "scatter")]
    #[inline(always)]
    fn reductions(_: DType) -> Option<Reductions<ScatterFns>> {
        Some(Reductions::<ScatterFns>::of::<T>())
    }
}

impl PlainKind for Dyn {
    fn kernels(
        registry: Option<&'static Registry>,
        (op, dtype, index): (Op, DType, Option<IndexType>),
        _: impl FnOnce() -> Option<Kernels>,
        found: impl FnOnce(&'static Registry, Op, DType) -> Option<Kernels>,
    ) -> Result<Kernels, Error> {
        static BUILTIN: Registry = Registry::builtin();
        let error = || match cfg!(feature = "registry") {
            true => Error::UnknownDType { op, dtype },
            false => Error::KernelsNotCompiled { op, dtype, index },
        };
        found(registry.unwrap_or(&BUILTIN), op, dtype).ok_or_else(error)
    }

    #[cfg(feature = "scatter")]
    fn reductions(dtype: DType) -> Option<Reductions<ScatterFns>> {
        Reductions::<ScatterFns>::of_dtype(dtype)
    }
}

/// Implements [`IndexKind`] for kinds of indices of type `I`.
macro_rules! index_kinds {
    ($([$I:ident: $Index:ident] $Kind:ty: $is_checked:literal;)*) => {$(
        impl<$I: $Index> IndexKind for $Kind {
            const IS_CHECKED: bool = $is_checked;

            #[inline(always)]
            fn index(_: DType) -> Result<IndexType, Error> {
                Ok($I::TYPE)
            }

            #[inline(always)]
            fn gathers<K>(_: IndexType) -> Option<Kernels> {
                Some(Kernels::of::<K, $I>())
            }

            #[cfg(feature = "scatter")]
            #[inline(always)]
            fn scatters(_: IndexType) -> Option<Kernels> {
                Some(Kernels::scatters_of::<$I>())
            }

            #[inline(always)]
            fn converts(_: IndexType) -> Option<fn(Level, Method) -> IndexKernel> {
                Some(convert::kernel::<$I>)
            }

            #[cfg(feature = "bags")]
            #[inline(always)]
            fn positions(_: IndexType) -> Option<&'static PositionsFns> {
                Some(PositionsFns::of::<$I>())
            }

            #[inline(always)]
            fn resolvers(_: IndexType) -> Option<Resolvers> {
                Some(Resolvers::of::<$I>())
            }
        }
    )*};
}
index_kinds! {
    [I: Index] I: false;
    [I: Position] Positions<I>: true;
}

impl IndexKind for Dyn {
    #[inline]
    fn index(dtype: DType) -> Result<IndexType, Error> {
        index_type(dtype)
    }

    fn gathers<K>(index: IndexType) -> Option<Kernels> {
        Kernels::builtin(index)
    }

    #[cfg(feature = "scatter")]
    fn scatters(index: IndexType) -> Option<Kernels> {
        Kernels::builtin_scatters(index)
    }

    fn converts(index: IndexType) -> Option<fn(Level, Method) -> IndexKernel> {
        convert::kernel_of(index)
    }

    #[cfg(feature = "bags")]
    fn positions(index: IndexType) -> Option<&'static PositionsFns> {
        PositionsFns::of_index(index)
    }

    fn resolvers(index: IndexType) -> Option<Resolvers> {
        Resolvers::by_type(index)
    }
}

/// The index type of a data type.
///
/// # Errors
/// [`Error::NotAnIndexType`].
pub(in crate::call) fn index_type(dtype: DType) -> Result<IndexType, Error> {
    IndexType::from_dtype(dtype).ok_or(Error::NotAnIndexType { dtype })
}
