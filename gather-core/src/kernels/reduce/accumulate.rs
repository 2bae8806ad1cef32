//! Reductions of elements, one at a time: [`Combine`], whose results are elements, and [`Accumulate`], whose sums may
//! be wider. Scatters, record scatters and bags share them.
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

/// Reduces an element and an update. [`reduce_kernels!`](crate::reduce_kernels!) implements it for a closure, and the
/// built-in reductions implement it.
#[doc(hidden)]
pub trait Combine: 'static {
    /// The type of the element and the update.
    type Item: Element;
    /// The name.
    const NAME: &'static str = "built in";
    /// The identity, if there is one: `combine(IDENTITY, new)` equals `first(new)`.
    const IDENTITY: Option<Self::Item> = None;

    /// Whether bags weigh values, by [`times`](Self::times).
    const WEIGHS: bool = false;

    /// `new` times its weight, if [`WEIGHS`](Self::WEIGHS).
    #[inline(always)]
    fn times(new: Self::Item, _weight: Self::Item) -> Self::Item {
        new
    }

    /// The new value of the element.
    fn combine(kept: Self::Item, new: Self::Item) -> Self::Item;

    /// The value after the first update without `include_self`, or after the first row of a bag.
    #[inline(always)]
    fn first(new: Self::Item) -> Self::Item {
        new
    }
}

/// A reduction whose intermediate results need not be elements.
pub(crate) trait Accumulate: 'static {
    type Item: Copy + 'static;
    /// An intermediate result.
    type Sum: Copy + 'static;
    /// The identity, if there is one: `plus(IDENTITY, new)` equals `begin(new)`.
    const IDENTITY: Option<Self::Sum> = None;
    /// Whether a whole row is widened before it is added: widening takes many operations, and compilers vectorise a
    /// loop over slices.
    const WIDENS: bool = false;
    /// Whether sums are divided, which is faster in vectors.
    const DIVIDES: bool = false;

    const WEIGHS: bool = false;

    /// An element as an intermediate result.
    fn widen(kept: Self::Item) -> Self::Sum;

    /// Widens elements into a buffer of the same length.
    #[inline(always)]
    fn widen_all(from: &[Unaligned<Self::Item>], to: &mut [Self::Sum]) {
        to.iter_mut().zip(from).for_each(|(to, from)| *to = Self::widen(from.0));
    }

    /// Widens `N` elements; halves by the conversion of the level.
    #[inline(always)]
    fn widen_chunk<const N: usize>(_: impl Token, from: &[Unaligned<Self::Item>; N]) -> [Self::Sum; N] {
        let mut to = [Self::widen(from[0].0); N];
        for (to, from) in to.iter_mut().zip(from) {
            *to = Self::widen(from.0);
        }
        to
    }

    /// `new` times its weight, if the reduction [weighs](Self::WEIGHS).
    #[inline(always)]
    fn times(new: Self::Sum, _weight: Self::Sum) -> Self::Sum {
        new
    }

    /// The sum after the first update, already widened, without `include_self`, or after the first row of a bag.
    fn begin(new: Self::Sum) -> Self::Sum;

    /// The sum after another update, already widened.
    fn plus(sum: Self::Sum, new: Self::Sum) -> Self::Sum;

    /// The element from a sum of `count` elements.
    fn end(sum: Self::Sum, count: usize) -> Self::Item;

    /// The elements from `N` sums; halves by the conversion of the level.
    #[inline(always)]
    fn end_chunk<const N: usize>(_: impl Token, sums: &[Self::Sum; N], count: usize) -> [Unaligned<Self::Item>; N] {
        let mut to = [Unaligned(Self::end(sums[0], count)); N];
        for (to, &sum) in to.iter_mut().zip(sums) {
            *to = Unaligned(Self::end(sum, count));
        }
        to
    }

    /// Whether a sum differs from its initial value; `true` if unknown.
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

/// `new`, times its weight if `WEIGHTED`.
#[inline(always)]
pub(in crate::kernels::reduce) fn weigh<A: Accumulate, const WEIGHTED: bool>(new: A::Sum, weight: A::Sum) -> A::Sum {
    if WEIGHTED { A::times(new, weight) } else { new }
}

/// A compiler fence between the loads of elements and the stores of results. Without it, compilers make masked stores
/// for minima and maxima, which many processors split. Compilers also turn some loops over two vectors into one vector
/// with shuffles (`find_cliffs --case 1:1655`).
#[inline(always)]
pub(in crate::kernels::reduce) fn between_ends() {
    compiler_fence(Ordering::SeqCst);
}
