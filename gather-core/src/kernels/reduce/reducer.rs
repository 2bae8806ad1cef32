//! User-defined reductions: [`Reducer`].

#![forbid(unsafe_code)]

use core::fmt;
use core::marker::PhantomData;

use crate::kernels::reduce::accumulate::Combine;
#[cfg(feature = "bags")]
use crate::kernels::reduce::bag::BagFns;
#[cfg(feature = "scatter")]
use crate::kernels::reduce::scatter::ScatterFns;
use crate::types::element::{BY_VALUE, Element};

/// A reduction of elements `T`. Scatters apply updates by it
/// ([`ScatterOperator::reduce_by`](crate::ScatterOperator::reduce_by)), and bags reduce rows by it
/// ([`EmbeddingBag::reduce_by`](crate::EmbeddingBag::reduce_by)).
///
/// Elements pass over the stack: a `T` of more than 16 KiB does not compile.
///
/// Made by [`reduce_kernels!`](crate::reduce_kernels!).
pub struct Reducer<T> {
    name: &'static str,
    #[cfg(feature = "scatter")]
    scatter: &'static ScatterFns,
    #[cfg(feature = "bags")]
    bag: &'static BagFns,
    types: PhantomData<fn(T) -> T>,
}

impl<T> Reducer<T> {
    /// A reduction from the macro's output.
    #[doc(hidden)]
    #[must_use]
    pub const fn new<C: Combine<Item = T>>() -> Self
    where
        T: Element,
    {
        assert!(
            size_of::<T>() <= BY_VALUE,
            "a reduction takes and gives elements of at most 16 KiB, which pass over the stack"
        );
        Reducer {
            name: C::NAME,
            #[cfg(feature = "scatter")]
            scatter: const { &ScatterFns::cold::<C>() },
            #[cfg(feature = "bags")]
            bag: const { &BagFns::plain::<C>() },
            types: PhantomData,
        }
    }

    #[cfg(feature = "scatter")]
    pub(crate) fn scatter_fns(&self) -> &'static ScatterFns {
        self.scatter
    }

    #[cfg(feature = "bags")]
    pub(crate) fn bag_fns(&self) -> &'static BagFns {
        self.bag
    }

    /// The name of the static.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        self.name
    }
}

impl<T> fmt::Debug for Reducer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reducer").field("name", &self.name()).finish()
    }
}
