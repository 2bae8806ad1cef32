//! The steps of a bag: what its first row makes, what each other one adds, with a weight or without.

#![forbid(unsafe_code)]

use core::marker::PhantomData;

use crate::kernels::reduce::halves::Halves;
use crate::kernels::reduce::number::{Add, Number, Or};
#[cfg(feature = "half")]
use crate::kernels::reduce::number::{Half, InSingle};
use crate::kernels::reduce::scatter::rows::Combine;
use crate::types::element::{Element, Unaligned};

/// A reduction whose intermediate results may be no elements.
pub(crate) trait Accumulate: 'static {
    /// An element.
    type Item: Copy + 'static;
    /// An intermediate result.
    type Sum: Copy + 'static;
    /// The sum of which the first update makes what it makes of none, if there is one.
    const IDENTITY: Option<Self::Sum> = None;
    /// Whether a row is widened at once before it is added, since it takes many operations: in a loop over slices,
    /// which compilers vectorise.
    const WIDENS: bool = false;
    /// Whether sums are divided, which vectors do faster.
    const DIVIDES: bool = false;

    /// An element as an intermediate result.
    fn widen(kept: Self::Item) -> Self::Sum;

    /// Widens elements into a buffer of as many.
    #[inline(always)]
    fn widen_all(from: &[Unaligned<Self::Item>], to: &mut [Self::Sum]) {
        to.iter_mut().zip(from).for_each(|(to, from)| *to = Self::widen(from.0));
    }

    /// Widens `N` elements, as a level converts halves.
    #[inline(always)]
    fn widen_chunk<const N: usize>(_: impl Halves, from: &[Unaligned<Self::Item>; N]) -> [Self::Sum; N] {
        let mut to = [Self::widen(from[0].0); N];
        for (to, from) in to.iter_mut().zip(from) {
            *to = Self::widen(from.0);
        }
        to
    }

    /// The sum of an element that does not count, after the first update, which has been widened.
    fn begin(new: Self::Sum) -> Self::Sum;

    /// One update more, which has been widened.
    fn plus(sum: Self::Sum, new: Self::Sum) -> Self::Sum;

    /// The element, made of a sum of `count` elements.
    fn end(sum: Self::Sum, count: usize) -> Self::Item;

    /// The `N` elements, as a level converts halves.
    #[inline(always)]
    fn end_chunk<const N: usize>(_: impl Halves, sums: &[Self::Sum; N], count: usize) -> [Unaligned<Self::Item>; N] {
        let mut to = [Unaligned(Self::end(sums[0], count)); N];
        for (to, &sum) in to.iter_mut().zip(sums) {
            *to = Unaligned(Self::end(sum, count));
        }
        to
    }

    /// Whether a sum is another one than the sum that it began with.
    #[inline(always)]
    fn differ(_: Self::Sum, _: Self::Sum) -> bool {
        true
    }
}

impl<C: Combine> Accumulate for C {
    type Item = C::Item;
    type Sum = C::Item;
    const IDENTITY: Option<Self::Sum> = C::IDENTITY;

    #[inline(always)]
    fn widen(kept: Self::Item) -> Self::Sum {
        kept
    }

    #[inline(always)]
    fn begin(new: Self::Sum) -> Self::Sum {
        C::first(new)
    }

    #[inline(always)]
    fn plus(sum: Self::Sum, new: Self::Sum) -> Self::Sum {
        C::combine(sum, new)
    }

    #[inline(always)]
    fn end(sum: Self::Sum, _: usize) -> Self::Item {
        sum
    }
}

/// A reduction of rows that may have weights.
pub(in crate::kernels::reduce) trait Step: 'static {
    /// An element, and a weight.
    type Item: Element;
    /// An intermediate result.
    type Sum: Copy;
    /// Whether rows have weights.
    const WEIGHTED: bool;

    /// As for [`Accumulate`].
    const WIDENS: bool;

    /// An element as an intermediate result.
    fn widen(kept: Self::Item) -> Self::Sum;

    /// Widens elements into a buffer of as many.
    fn widen_all(from: &[Unaligned<Self::Item>], to: &mut [Self::Sum]);

    /// The sum after the first row, when it has been widened, and its weight too.
    fn begin(new: Self::Sum, weight: Self::Sum) -> Self::Sum;

    /// One row more, which has been widened, and its weight too.
    fn plus(sum: Self::Sum, new: Self::Sum, weight: Self::Sum) -> Self::Sum;

    /// The sum after the first row.
    #[inline(always)]
    fn first(new: Self::Item, weight: Self::Item) -> Self::Sum {
        Self::begin(Self::widen(new), Self::widen(weight))
    }

    /// One row more.
    #[inline(always)]
    fn add(sum: Self::Sum, new: Self::Item, weight: Self::Item) -> Self::Sum {
        Self::plus(sum, Self::widen(new), Self::widen(weight))
    }

    /// The element, made of a sum of `count` elements.
    fn end(sum: Self::Sum, count: usize) -> Self::Item;
}

/// Rows as they are.
pub(in crate::kernels::reduce) struct Plain<A>(PhantomData<A>);

impl<A: Accumulate<Item: Element>> Step for Plain<A> {
    type Item = A::Item;
    type Sum = A::Sum;
    const WEIGHTED: bool = false;
    const WIDENS: bool = A::WIDENS;

    #[inline(always)]
    fn widen(kept: A::Item) -> A::Sum {
        A::widen(kept)
    }

    #[inline(always)]
    fn widen_all(from: &[Unaligned<A::Item>], to: &mut [A::Sum]) {
        A::widen_all(from, to);
    }

    #[inline(always)]
    fn begin(new: A::Sum, _: A::Sum) -> A::Sum {
        A::begin(new)
    }

    #[inline(always)]
    fn plus(sum: A::Sum, new: A::Sum, _: A::Sum) -> A::Sum {
        A::plus(sum, new)
    }

    #[inline(always)]
    fn end(sum: A::Sum, count: usize) -> A::Item {
        A::end(sum, count)
    }
}

/// A sum whose terms may be products.
pub(in crate::kernels::reduce) trait Weigh: Accumulate<Item: Element> {
    /// The sum of products.
    type OfProducts: Combine<Item = Self::Sum>;

    /// An element times its weight, both widened.
    fn product(new: Self::Sum, weight: Self::Sum) -> Self::Sum;
}

/// Rows times their weights. The product is rounded before it is added.
pub(in crate::kernels::reduce) struct Weighted<A>(PhantomData<A>);

impl<A: Weigh> Step for Weighted<A> {
    type Item = A::Item;
    type Sum = A::Sum;
    const WEIGHTED: bool = true;
    const WIDENS: bool = A::WIDENS;

    #[inline(always)]
    fn widen(kept: A::Item) -> A::Sum {
        A::widen(kept)
    }

    #[inline(always)]
    fn widen_all(from: &[Unaligned<A::Item>], to: &mut [A::Sum]) {
        A::widen_all(from, to);
    }

    #[inline(always)]
    fn begin(new: A::Sum, weight: A::Sum) -> A::Sum {
        <A::OfProducts as Combine>::first(A::product(new, weight))
    }

    #[inline(always)]
    fn plus(sum: A::Sum, new: A::Sum, weight: A::Sum) -> A::Sum {
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
    fn product(new: f32, weight: f32) -> f32 {
        new.times(weight)
    }
}
