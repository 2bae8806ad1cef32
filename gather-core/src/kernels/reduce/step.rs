//! The steps of a bag: what its first row makes, what each other one adds, with a weight or without.

#![forbid(unsafe_code)]

use core::marker::PhantomData;

use crate::kernels::reduce::number::{Add, Number, Or};
#[cfg(feature = "half")]
use crate::kernels::reduce::number::{Half, InSingle};
use crate::kernels::reduce::rows::Combine;
use crate::types::element::Element;

/// A reduction whose intermediate results may be no elements.
pub(crate) trait Accumulate: 'static {
    /// An element.
    type Item: Copy + 'static;
    /// An intermediate result.
    type Sum: Copy + 'static;
    /// Whether the first update makes what it makes of a sum whose bytes are all zero.
    const FROM_ZERO: bool = false;

    /// An element as an intermediate result.
    fn widen(kept: Self::Item) -> Self::Sum;

    /// What the first update makes of an element that does not count.
    fn first(new: Self::Item) -> Self::Sum;

    /// One update more.
    fn add(sum: Self::Sum, new: Self::Item) -> Self::Sum;

    /// The element, made of so many.
    fn end(sum: Self::Sum, count: usize) -> Self::Item;

    /// Whether a sum that began with an element is another one by now.
    #[inline(always)]
    fn differs(_: Self::Item, _: Self::Sum) -> bool {
        true
    }
}

impl<C: Combine> Accumulate for C {
    type Item = C::Item;
    type Sum = C::Item;
    const FROM_ZERO: bool = C::FROM_ZERO;

    #[inline(always)]
    fn widen(kept: Self::Item) -> Self::Sum {
        kept
    }

    #[inline(always)]
    fn first(new: Self::Item) -> Self::Sum {
        C::first(new)
    }

    #[inline(always)]
    fn add(sum: Self::Sum, new: Self::Item) -> Self::Sum {
        C::combine(sum, new)
    }

    #[inline(always)]
    fn end(sum: Self::Sum, _: usize) -> Self::Item {
        sum
    }
}

/// A reduction of rows that may have weights.
pub(super) trait Step: 'static {
    /// An element, and a weight.
    type Item: Element;
    /// An intermediate result.
    type Sum: Copy;
    /// Whether rows have weights.
    const WEIGHTED: bool;

    /// What the first row makes.
    fn first(new: Self::Item, weight: Self::Item) -> Self::Sum;

    /// One row more.
    fn add(sum: Self::Sum, new: Self::Item, weight: Self::Item) -> Self::Sum;

    /// The element, made of so many.
    fn end(sum: Self::Sum, count: usize) -> Self::Item;
}

/// Rows as they are.
pub(super) struct Plain<A>(PhantomData<A>);

impl<A: Accumulate<Item: Element>> Step for Plain<A> {
    type Item = A::Item;
    type Sum = A::Sum;
    const WEIGHTED: bool = false;

    #[inline(always)]
    fn first(new: A::Item, _: A::Item) -> A::Sum {
        A::first(new)
    }

    #[inline(always)]
    fn add(sum: A::Sum, new: A::Item, _: A::Item) -> A::Sum {
        A::add(sum, new)
    }

    #[inline(always)]
    fn end(sum: A::Sum, count: usize) -> A::Item {
        A::end(sum, count)
    }
}

/// A sum whose terms may be products.
pub(super) trait Weigh: Accumulate<Item: Element> {
    /// The sum of products.
    type OfProducts: Combine<Item = Self::Sum>;

    /// An element times its weight.
    fn product(new: Self::Item, weight: Self::Item) -> Self::Sum;
}

/// Rows times their weights. The product is rounded before it is added.
pub(super) struct Weighted<A>(PhantomData<A>);

impl<A: Weigh> Step for Weighted<A> {
    type Item = A::Item;
    type Sum = A::Sum;
    const WEIGHTED: bool = true;

    #[inline(always)]
    fn first(new: A::Item, weight: A::Item) -> A::Sum {
        <A::OfProducts as Combine>::first(A::product(new, weight))
    }

    #[inline(always)]
    fn add(sum: A::Sum, new: A::Item, weight: A::Item) -> A::Sum {
        A::OfProducts::combine(sum, A::product(new, weight))
    }

    #[inline(always)]
    fn end(sum: A::Sum, count: usize) -> A::Item {
        A::end(sum, count)
    }
}

impl<T: Number + Element> Weigh for Add<T> {
    type OfProducts = Self;

    #[inline(always)]
    fn product(new: T, weight: T) -> T {
        new.times(weight)
    }
}

impl Weigh for Or {
    type OfProducts = Self;

    #[inline(always)]
    fn product(new: u8, weight: u8) -> u8 {
        new & weight
    }
}

#[cfg(feature = "half")]
impl<T: Half + Element> Weigh for InSingle<T, Add<f32>> {
    type OfProducts = Add<f32>;

    #[inline(always)]
    fn product(new: T, weight: T) -> f32 {
        new.to_single().times(weight.to_single())
    }
}
