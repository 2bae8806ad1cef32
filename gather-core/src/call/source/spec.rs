//! Specs: a kind and a layout without data, to plan ahead.

#![forbid(unsafe_code)]

use core::marker::PhantomData;

use crate::call::source::blocks::BlocksSpec;
use crate::call::source::chunks::ChunksSpec;
use crate::call::source::kind::{ChunkKind, PlainKind};
use crate::call::source::map::MappedSpec;
use crate::kernels::convert::map::Params;
use crate::tensor::layout::Layout;
use crate::tensor::typing::Dyn;
use crate::types::codes::Float;
use crate::types::declare::debug_by;
use crate::types::element::{DType, Element};
use crate::types::error::Error;

/// A spec: a kind and a layout without data, to plan ahead of the first call.
///
/// ```
/// use gather_core::{Gather, Spec, View};
///
/// fn main() -> Result<(), gather_core::Error> {
///     let plan = Gather::new(0).plan(&Spec::<f32>::new(&[4, 2])?, &Spec::<u32>::new(&[3])?)?;
///     assert_eq!(plan.output_shape(), [3, 2]);
///     let table = View::new(&[0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 3.5], &[4, 2])?;
///     assert_eq!(plan.run(&table, &[3, 0, 1])?.as_slice(), [3.0, 3.5, 0.0, 0.5, 1.0, 1.5]);
///     Ok(())
/// }
/// ```
pub struct Spec<K> {
    pub(super) layout: Layout,
    pub(super) dtype: DType,
    kind: PhantomData<fn() -> K>,
}

impl<K> Clone for Spec<K> {
    fn clone(&self) -> Self {
        Spec { layout: self.layout.clone(), ..*self }
    }
}

debug_by!(self: [K] Spec<K> { dtype: self.dtype, shape: self.layout.shape(), strides: self.layout.strides() });

impl<T: Element> Spec<T> {
    /// A spec of row-major data of a shape.
    ///
    /// # Errors
    /// [`Error::TooManyElements`].
    pub fn new(shape: &[usize]) -> Result<Self, Error> {
        Layout::contiguous(shape).map(|layout| Self::from_layout(&layout))
    }

    /// A spec of data of a layout, such as the layout of a strided view.
    #[must_use]
    pub fn from_layout(layout: &Layout) -> Self {
        Spec { layout: layout.clone(), dtype: T::DTYPE, kind: PhantomData }
    }
}

/// Implements `chunks` for specs.
macro_rules! divided {
    ($([$($generics:tt)*] $Spec:ty;)*) => {$(
        impl<$($generics)*> $Spec {
            /// The spec of a table of these rows that is divided into `count` chunks with rows, as
            /// [`chunks`](crate::chunks()) divides it: to plan ahead.
            ///
            /// ```
            /// use gather_core::{Gather, Spec, View, chunks};
            ///
            /// fn main() -> Result<(), gather_core::Error> {
            ///     let plan = Gather::new(0).plan(&Spec::<f32>::new(&[3, 1])?.chunks(2), &Spec::<u32>::new(&[2])?)?;
            ///     let shards = [View::new(&[1.0f32, 2.0], &[2, 1])?, View::new(&[3.0], &[1, 1])?];
            ///     assert_eq!(plan.run(&chunks(&shards)?, &[2, 0])?.as_slice(), [3.0, 1.0]);
            ///     Ok(())
            /// }
            /// ```
            #[must_use]
            pub fn chunks(self, count: usize) -> ChunksSpec<Self> {
                ChunksSpec::new(self, count)
            }
        }
    )*};
}
divided! {
    [K: ChunkKind + PlainKind] Spec<K>;
    [T: Element, U: Element, P: Params] MappedSpec<T, U, P>;
    [U: Float] BlocksSpec<U>;
}

impl Spec<Dyn> {
    /// A spec of data of a type known at run time.
    ///
    /// ```
    /// use gather_core::{Element, Gather, Layout, Spec};
    ///
    /// fn main() -> Result<(), gather_core::Error> {
    ///     let (table, ids) = (Layout::contiguous(&[100, 4])?, Layout::contiguous(&[8])?);
    ///     let (table, ids) = (Spec::from_dtype(f32::DTYPE, &table), Spec::from_dtype(u8::DTYPE, &ids));
    ///     assert_eq!(Gather::new(0).plan(&table, &ids)?.output_shape(), [8, 4]);
    ///     Ok(())
    /// }
    /// ```
    #[must_use]
    pub fn from_dtype(dtype: DType, layout: &Layout) -> Self {
        Spec { layout: layout.clone(), dtype, kind: PhantomData }
    }
}
