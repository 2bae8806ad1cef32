//! Reductions of elements, one by one: [`Combine`], whose results are elements, and [`Accumulate`], whose sums may be
//! wider. Scatters, records of scatters and bags reduce by the same functions.
//!
//! ```text
//! begin: sum = widen(element), or begin(widen(first update))
//! take:  sum = plus(sum, times(widen(update), weight))
//! end:   element = end(sum, count)
//! ```

#![forbid(unsafe_code)]

use core::sync::atomic::{Ordering, compiler_fence};

use crate::kernels::level_fn::Token;
use crate::types::element::{Element, Unaligned};

/// Reduces an element and an update: emitted by [`reduce_kernels!`](crate::reduce_kernels!) for a closure, and
/// implemented by the built-in reductions.
#[doc(hidden)]
pub trait Combine: 'static {
    /// The type of both.
    type Item: Element;
    /// The name.
    const NAME: &'static str = "built in";
    /// The element of which and an update `combine` makes what `first` makes of the update, if there is one.
    const IDENTITY: Option<Self::Item> = None;

    /// Whether bags weigh values, by [`times`](Self::times).
    const WEIGHS: bool = false;

    /// A value times its weight, where bags weigh values.
    #[inline(always)]
    fn times(new: Self::Item, _weight: Self::Item) -> Self::Item {
        new
    }

    /// The new value of the element.
    fn combine(kept: Self::Item, new: Self::Item) -> Self::Item;

    /// The new value of an element that does not count, after the first update.
    #[inline(always)]
    fn first(new: Self::Item) -> Self::Item {
        new
    }
}

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

    /// Whether values have weights.
    const WEIGHS: bool = false;

    /// An element as an intermediate result.
    fn widen(kept: Self::Item) -> Self::Sum;

    /// Widens elements into a buffer of as many.
    #[inline(always)]
    fn widen_all(from: &[Unaligned<Self::Item>], to: &mut [Self::Sum]) {
        to.iter_mut().zip(from).for_each(|(to, from)| *to = Self::widen(from.0));
    }

    /// Widens `N` elements, as a level converts halves.
    #[inline(always)]
    fn widen_chunk<const N: usize>(_: impl Token, from: &[Unaligned<Self::Item>; N]) -> [Self::Sum; N] {
        let mut to = [Self::widen(from[0].0); N];
        for (to, from) in to.iter_mut().zip(from) {
            *to = Self::widen(from.0);
        }
        to
    }

    /// A value times its weight, for reductions that [weigh](Self::WEIGHS).
    #[inline(always)]
    fn times(new: Self::Sum, _weight: Self::Sum) -> Self::Sum {
        new
    }

    /// The sum of an element that does not count, after the first update, which has been widened.
    fn begin(new: Self::Sum) -> Self::Sum;

    /// One update more, which has been widened.
    fn plus(sum: Self::Sum, new: Self::Sum) -> Self::Sum;

    /// The element, made of a sum of `count` elements.
    fn end(sum: Self::Sum, count: usize) -> Self::Item;

    /// The `N` elements, as a level converts halves.
    #[inline(always)]
    fn end_chunk<const N: usize>(_: impl Token, sums: &[Self::Sum; N], count: usize) -> [Unaligned<Self::Item>; N] {
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
    const WEIGHS: bool = C::WEIGHS;

    #[inline(always)]
    fn times(new: Self::Sum, weight: Self::Sum) -> Self::Sum {
        C::times(new, weight)
    }

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

/// A value, times its weight where there are weights.
#[inline(always)]
pub(in crate::kernels::reduce) fn weigh<A: Accumulate, const WEIGHTED: bool>(new: A::Sum, weight: A::Sum) -> A::Sum {
    if WEIGHTED { A::times(new, weight) } else { new }
}

/// Stands between the load of elements and the store of what they become, and is no instruction. Without it, compilers
/// make a store under a mask of the least or the greatest of two, which many processors take apart, and of some loops
/// over two vectors one of shuffles (`find_cliffs --case 1:1655`).
#[inline(always)]
pub(in crate::kernels::reduce) fn between_ends() {
    compiler_fence(Ordering::SeqCst);
}
