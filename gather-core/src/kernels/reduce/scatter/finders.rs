//! The finders of scatters. The common reductions are hot: sums of integers and floats of 4 and 8 bytes; their means,
//! minima and maxima unless unsigned; sums and means of halves. All others are cold.

#![forbid(unsafe_code)]

use crate::kernels::reduce::accumulate::Accumulate;
use crate::kernels::reduce::builtin::{Finder, Reductions, reductions};
use crate::kernels::reduce::number::{
    Add, And, Average, Few, Max, Mean, Min, Mul, NarrowMean, Number, Or, Ordered, Sub,
};
#[cfg(feature = "half")]
use crate::kernels::reduce::number::{Half, InSingle};
use crate::kernels::reduce::scatter::accumulators::AccumulatorFns;
use crate::kernels::reduce::scatter::store::STORE;
use crate::kernels::reduce::scatter::{ScatterFns, SeparateFns, counts, segments};
use crate::types::element::{BuiltIn, DType, Element};
use crate::types::reduction::Reduction;

reductions! { ScatterFns }

impl Reductions<ScatterFns> {
    /// The functions of a reduction for scatters, and the numbers per element; `None` if the type lacks the reduction.
    /// Every type has [`Reduction::None`].
    #[inline(always)]
    pub(crate) fn scatters(self, reduction: Reduction) -> Option<(&'static ScatterFns, usize)> {
        if reduction == Reduction::None { Some((&STORE, 1)) } else { self.built_in(reduction) }
    }
}

/// A reduction that has only separate records.
const fn beside<A: Accumulate>(noted: AccumulatorFns, begun: Option<AccumulatorFns>) -> ScatterFns {
    ScatterFns { beside: Some(SeparateFns { noted, begun }), ..ScatterFns::NONE }
}

/// A hot mean whose sums are not elements.
const fn wide_mean<T: Average + Element>() -> ScatterFns {
    let noted = AccumulatorFns::hot::<Mean<T>>();
    ScatterFns { segments: Some(segments::fns::<Mean<T>>()), ..beside::<Mean<T>>(noted, None) }
}

const fn integer_mean<S: Few + Element>(noted: AccumulatorFns) -> ScatterFns {
    let of_many = if size_of::<S>() >= 4 {
        Some(const { &beside::<Mean<S>>(AccumulatorFns::rare::<Mean<S>>(), None) })
    } else {
        None
    };
    ScatterFns { of_many, ..beside::<NarrowMean<S>>(noted, None) }
}

/// A mean whose sums are elements: a sum, then divided.
const fn mean<T: Number + Average<Sum = T> + Element>() -> ScatterFns {
    ScatterFns { divide: Some(counts::divide::<T>), ..ScatterFns::cold::<Add<T>>() }
}

/// A reduction of halves, rounded at the end.
#[cfg(feature = "half")]
const fn rounded<A: Accumulate<Item: Element>>() -> ScatterFns {
    beside::<A>(AccumulatorFns::cold::<A>(), Some(AccumulatorFns::begun::<A, false>()))
}

/// Hot integers `S`, whose sums and products equal the results of unsigned integers `U` of their width.
#[inline(never)]
fn integer<S: Ordered + Few + Element, U: Number + Element>(reduction: Reduction) -> Option<&'static ScatterFns> {
    match reduction {
        Reduction::Add => Some(const { &ScatterFns::counting::<Add<U>>() }),
        Reduction::Min => Some(const { &ScatterFns::hot::<Min<S>>() }),
        Reduction::Max => Some(const { &ScatterFns::hot::<Max<S>>() }),
        Reduction::Mean => Some(
            const {
                let noted = AccumulatorFns::hot::<NarrowMean<S>>();
                &ScatterFns { segments: Some(segments::fns::<NarrowMean<S>>()), ..integer_mean::<S>(noted) }
            },
        ),
        Reduction::None | Reduction::Sub | Reduction::Mul => differences::<U>(reduction),
    }
}

/// Cold integers; [`integer`] with less code. Sums of 4 and 8 bytes are hot.
#[inline(never)]
fn rare<S: Ordered + Few + Element, U: Number + Element>(reduction: Reduction) -> Option<&'static ScatterFns> {
    match reduction {
        Reduction::Add if const { size_of::<U>() >= 4 } => Some(const { &ScatterFns::counting::<Add<U>>() }),
        Reduction::Add => Some(const { &ScatterFns::cold::<Add<U>>() }),
        Reduction::Min => Some(const { &ScatterFns::cold::<Min<S>>() }),
        Reduction::Max => Some(const { &ScatterFns::cold::<Max<S>>() }),
        Reduction::Mean => Some(const { &integer_mean::<S>(AccumulatorFns::cold::<NarrowMean<S>>()) }),
        Reduction::None | Reduction::Sub | Reduction::Mul => differences::<U>(reduction),
    }
}

/// Differences and products, always cold.
fn differences<T: Number + Element>(reduction: Reduction) -> Option<&'static ScatterFns> {
    match reduction {
        Reduction::Sub => Some(const { &ScatterFns::cold::<Sub<T>>() }),
        Reduction::Mul => Some(const { &ScatterFns::cold::<Mul<T>>() }),
        _ => None,
    }
}

#[inline(never)]
fn float<T: Number + Ordered + Average<Sum = T> + Element>(reduction: Reduction) -> Option<&'static ScatterFns> {
    match reduction {
        Reduction::Add => Some(const { &ScatterFns::counting::<Add<T>>() }),
        Reduction::Min => Some(const { &ScatterFns::hot::<Min<T>>() }),
        Reduction::Max => Some(const { &ScatterFns::hot::<Max<T>>() }),
        // Short rows use records, as rows of other hot reductions do.
        Reduction::Mean => Some(
            const {
                &ScatterFns {
                    rows: ScatterFns::counting::<Add<T>>().rows,
                    beside: wide_mean::<T>().beside,
                    segments: wide_mean::<T>().segments,
                    ..mean::<T>()
                }
            },
        ),
        Reduction::None | Reduction::Sub | Reduction::Mul => differences::<T>(reduction),
    }
}

#[cfg(feature = "num-complex")]
#[inline(never)]
fn complex<T: Number + Average<Sum = T> + Element>(reduction: Reduction) -> Option<&'static ScatterFns> {
    match reduction {
        Reduction::Add => Some(const { &ScatterFns::cold::<Add<T>>() }),
        Reduction::Mean => Some(const { &mean::<T>() }),
        reduction => differences::<T>(reduction),
    }
}

#[cfg(feature = "half")]
#[inline(never)]
fn half<T: Half + Ordered + Average + Element>(reduction: Reduction) -> Option<&'static ScatterFns> {
    match reduction {
        Reduction::None => None,
        Reduction::Add => Some(
            const {
                let begun = AccumulatorFns::begun::<InSingle<T, Add<f32>>, true>();
                &ScatterFns {
                    segments: Some(segments::fns::<InSingle<T, Add<f32>>>()),
                    ..beside::<InSingle<T, Add<f32>>>(AccumulatorFns::hot::<InSingle<T, Add<f32>>>(), Some(begun))
                }
            },
        ),
        Reduction::Sub => Some(const { &rounded::<InSingle<T, Sub<f32>>>() }),
        Reduction::Mul => Some(const { &rounded::<InSingle<T, Mul<f32>>>() }),
        Reduction::Min => Some(const { &ScatterFns::cold::<Min<T>>() }),
        Reduction::Max => Some(const { &ScatterFns::cold::<Max<T>>() }),
        Reduction::Mean => Some(const { &wide_mean::<T>() }),
    }
}

#[cfg_attr(feature = "registry", inline(never))]
#[cfg_attr(not(feature = "registry"), inline)]
fn boolean(reduction: Reduction) -> Option<&'static ScatterFns> {
    match reduction {
        Reduction::Add | Reduction::Max => Some(const { &ScatterFns::cold::<Or>() }),
        Reduction::Mul | Reduction::Min => Some(const { &ScatterFns::cold::<And>() }),
        Reduction::None | Reduction::Sub | Reduction::Mean => None,
    }
}
