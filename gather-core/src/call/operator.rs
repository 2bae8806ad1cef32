//! An operator: what it is, its kind, and how its calls run. Settings and getters stand here once for all kinds.

#![forbid(unsafe_code)]

use core::fmt;
use core::hash::{Hash, Hasher};

use crate::call::Sealed;
use crate::kernels::registry::Registry;
use crate::types::level::Level;
use crate::types::method::Method;
use crate::types::policy::{NegativeIndex, Options, Par};
use crate::types::reduction::Reduction;

/// An operator of a kind `K`. Users know it by its names: [`Gather`](crate::Gather),
/// [`ScatterNd`](crate::ScatterNd), [`BatchToSpace`](crate::BatchToSpace), [`EmbeddingBag`](crate::EmbeddingBag) and
/// so on.
///
/// A small value: attributes, policies, and how a call runs. Nothing is checked before the operator is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Operator<K> {
    pub(crate) kind: K,
    pub(crate) options: Options,
    pub(crate) registry: Chosen,
}

/// The registry of calls whose types are known at run time. Two are equal where they are one and the same.
#[derive(Clone, Copy, Default)]
pub(crate) struct Chosen(pub(crate) Option<&'static Registry>);

impl Chosen {
    fn address(self) -> Option<usize> {
        self.0.map(|registry| core::ptr::from_ref(registry).addr())
    }
}

impl PartialEq for Chosen {
    fn eq(&self, other: &Self) -> bool {
        self.address() == other.address()
    }
}

impl Eq for Chosen {}

impl Hash for Chosen {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.address().hash(state);
    }
}

impl fmt::Debug for Chosen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "given" } else { "built-in" })
    }
}

/// A kind of operator that has attributes of its own.
pub trait HasAttributes: Sealed {
    #[doc(hidden)]
    type Attributes;

    #[doc(hidden)]
    fn attributes(&self) -> &Self::Attributes;

    #[doc(hidden)]
    fn attributes_mut(&mut self) -> &mut Self::Attributes;
}

/// A kind of operator that takes indices. Sealed: gathers, scatters, bags.
pub trait TakesIndices: Sealed {
    /// The policy for indices out of range: [`OutOfBounds`](crate::OutOfBounds), or
    /// [`ScatterOutOfBounds`](crate::ScatterOutOfBounds).
    type OutOfBounds: Copy;

    #[doc(hidden)]
    fn policy(&self) -> (NegativeIndex, Self::OutOfBounds);

    #[doc(hidden)]
    fn policy_mut(&mut self) -> (&mut NegativeIndex, &mut Self::OutOfBounds);
}

/// A kind of operator with a [`Reduction`]. Sealed: scatters and bags, unless they reduce by one of the caller's own.
pub trait HasReduction: Sealed {
    #[doc(hidden)]
    fn reduction(&self) -> Reduction;

    #[doc(hidden)]
    fn reduction_mut(&mut self) -> &mut Reduction;
}

/// Implements [`HasAttributes`] for a kind with a field `attributes`.
macro_rules! has_attributes {
    ($Kind:ident<A $(, $R:ident)?>) => {
        impl<A $(, $R)?> Sealed for $Kind<A $(, $R)?> {}

        impl<A $(, $R)?> HasAttributes for $Kind<A $(, $R)?> {
            type Attributes = A;

            fn attributes(&self) -> &A {
                &self.attributes
            }

            fn attributes_mut(&mut self) -> &mut A {
                &mut self.attributes
            }
        }
    };
}
pub(super) use has_attributes;

/// Implements [`TakesIndices`] for a kind, whose fields are the meaning of negative indices and the policy of a type
/// for indices out of range.
macro_rules! takes_indices {
    ($Kind:ident$(<$($A:ident),+>)?: $($negative:ident).+, $($out_of_bounds:ident).+: $OutOfBounds:ty) => {
        impl$(<$($A),+>)? TakesIndices for $Kind$(<$($A),+>)? {
            type OutOfBounds = $OutOfBounds;

            fn policy(&self) -> (NegativeIndex, $OutOfBounds) {
                (self.$($negative).+, self.$($out_of_bounds).+)
            }

            fn policy_mut(&mut self) -> (&mut NegativeIndex, &mut $OutOfBounds) {
                (&mut self.$($negative).+, &mut self.$($out_of_bounds).+)
            }
        }
    };
}
pub(super) use takes_indices;

impl<K> Operator<K> {
    /// An operator whose calls run as the machine allows.
    pub(crate) fn of(kind: K) -> Self {
        Operator { kind, options: Options::default(), registry: Chosen::default() }
    }

    pub(crate) fn options(&self) -> Options {
        self.options
    }

    /// Sets how many threads a call may use.
    #[must_use]
    pub fn par(mut self, par: Par) -> Self {
        self.options.par = par;
        self
    }

    /// Forces a level.
    #[must_use]
    pub fn level(mut self, level: Level) -> Self {
        self.options.level = Some(level);
        self
    }

    /// Forces a method. Calls that it does not take fail with
    /// [`Error::MethodUnavailable`](crate::Error::MethodUnavailable).
    ///
    /// Scatters take [`Method::Direct`], [`Method::Blocks`], [`Method::Chunks`], [`Method::Prefetched`],
    /// [`Method::Panels`], [`Method::Accumulated`] and [`Method::Grouped`]. An operator that rearranges space takes one
    /// method: [`Method::Interleaved`] for results that are whole in space, else [`Method::Deinterleaved`]. Bags take
    /// [`Method::Accumulated`].
    #[must_use]
    pub fn method(mut self, method: Method) -> Self {
        self.options.method = Some(method);
        self
    }

    /// The number of threads that a call may use.
    #[must_use]
    pub fn get_par(&self) -> Par {
        self.options.par
    }

    /// The level that is forced on calls.
    #[must_use]
    pub fn get_level(&self) -> Option<Level> {
        self.options.level
    }

    /// The method that is forced on calls.
    #[must_use]
    pub fn get_method(&self) -> Option<Method> {
        self.options.method
    }
}

impl<K: HasAttributes> Operator<K> {
    pub(crate) fn attributes(&self) -> &K::Attributes {
        self.kind.attributes()
    }

    /// Calls on tensors whose types are known at run time run by the kernels of a registry, in place of the built-in
    /// ones. Calls whose types the compiler knows ask no registry.
    ///
    /// ```
    /// use gather_core::{DynView, Element, Gather, Registry, View};
    ///
    /// #[derive(Clone, Copy, Debug, PartialEq, Element)]
    /// #[repr(C)]
    /// struct Pixel([u8; 3]);
    ///
    /// gather_core::kernels! {
    ///     /// Pixels by 32-bit ids.
    ///     static PIXELS;
    ///     elements: [Pixel];
    ///     indices: [u32];
    ///     ranks: 1;
    ///     ops: [gather];
    /// }
    ///
    /// static REGISTRY: Registry = Registry::builtin().with(&PIXELS);
    ///
    /// fn main() -> Result<(), gather_core::Error> {
    ///     let image = View::new(&[Pixel([1, 2, 3]), Pixel([4, 5, 6])], &[2])?;
    ///     let pixels = Gather::new(0).registry(&REGISTRY).run(&DynView::from(&image), &[1u32])?;
    ///     assert_eq!(pixels.downcast::<Pixel>()?.as_slice(), [Pixel([4, 5, 6])]);
    ///     Ok(())
    /// }
    /// ```
    #[must_use]
    pub fn registry(mut self, registry: &'static Registry) -> Self {
        self.registry = Chosen(Some(registry));
        self
    }

    /// The operator with other attributes.
    pub(crate) fn with_attributes(mut self, change: impl FnOnce(&mut K::Attributes)) -> Self {
        change(self.kind.attributes_mut());
        self
    }
}

impl<K: TakesIndices> Operator<K> {
    /// Sets what negative indices mean.
    #[must_use]
    pub fn negative_index(mut self, negative: NegativeIndex) -> Self {
        *self.kind.policy_mut().0 = negative;
        self
    }

    /// Sets the policy for indices out of range; of a scatter, for the updates of such indices.
    #[must_use]
    pub fn out_of_bounds(mut self, out_of_bounds: K::OutOfBounds) -> Self {
        *self.kind.policy_mut().1 = out_of_bounds;
        self
    }

    /// The meaning of negative indices.
    #[must_use]
    pub fn get_negative_index(&self) -> NegativeIndex {
        self.kind.policy().0
    }

    /// The policy for indices out of range.
    #[must_use]
    pub fn get_out_of_bounds(&self) -> K::OutOfBounds {
        self.kind.policy().1
    }
}

impl<K: HasReduction> Operator<K> {
    /// Sets the reduction: how updates change an element in a scatter, or how the rows of a bag become one row.
    #[must_use]
    pub fn reduction(mut self, reduction: Reduction) -> Self {
        *self.kind.reduction_mut() = reduction;
        self
    }

    /// The reduction.
    #[must_use]
    pub fn get_reduction(&self) -> Reduction {
        self.kind.reduction()
    }
}
