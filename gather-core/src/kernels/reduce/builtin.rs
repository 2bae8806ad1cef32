//! The built-in reductions, by data type.

#![forbid(unsafe_code)]

use crate::kernels::reduce::ReduceFns;
use crate::kernels::reduce::bag::BagFns;
use crate::kernels::reduce::group::{Accumulate, group};
use crate::kernels::reduce::number::{Add, And, Average, Max, Mean, Min, Mul, Number, Or, Ordered, Sub};
#[cfg(feature = "half")]
use crate::kernels::reduce::number::{Half, InSingle};
use crate::kernels::reduce::rows::{Combine, reduce};
use crate::kernels::reduce::step::Weigh;
use crate::kernels::reduce::store::STORE;
use crate::types::element::{DType, Element};
use crate::types::reduction::Reduction;

/// What reduces elements of a data type; `None` where there is no such reduction of it.
pub(crate) fn reducer(dtype: DType, reduction: Reduction) -> Option<ReduceFns> {
    if reduction == Reduction::None {
        return Some(STORE);
    }
    macro_rules! by_type {
        ($($(#[$attr:meta])* $($ty:ty)|+ => $find:expr;)*) => {$(
            $(#[$attr])*
            if $(dtype == <$ty>::DTYPE)||+ {
                return $find(reduction);
            }
        )*};
    }
    by_type! {
        f32 => float::<f32>;
        f64 => float::<f64>;
        i32 => integer::<i32, u32>;
        i64 => integer::<i64, u64>;
        bool => boolean;
        i8 => integer::<i8, u8>;
        i16 => integer::<i16, u16>;
        u8 => integer::<u8, u8>;
        u16 => integer::<u16, u16>;
        u32 => integer::<u32, u32>;
        u64 => integer::<u64, u64>;
        #[cfg(target_pointer_width = "64")]
        isize => integer::<i64, u64>;
        #[cfg(target_pointer_width = "64")]
        usize => integer::<u64, u64>;
        #[cfg(target_pointer_width = "32")]
        isize => integer::<i32, u32>;
        #[cfg(target_pointer_width = "32")]
        usize => integer::<u32, u32>;
        #[cfg(feature = "half")]
        half::f16 => half::<half::f16>;
        #[cfg(feature = "half")]
        half::bf16 => half::<half::bf16>;
        #[cfg(feature = "num-complex")]
        num_complex::Complex<f32> => complex::<num_complex::Complex<f32>>;
        #[cfg(feature = "num-complex")]
        num_complex::Complex<f64> => complex::<num_complex::Complex<f64>>;
    }
    None
}

/// A reduction whose intermediate results are elements.
const fn plain<C: Combine>() -> Option<ReduceFns> {
    Some(ReduceFns { rows: Some(reduce::<C>()), group: group::<C>(), bag: None })
}

/// A reduction whose intermediate results are no elements.
const fn grouped<A: Accumulate>() -> Option<ReduceFns> {
    Some(ReduceFns { rows: None, group: group::<A>(), bag: None })
}

/// A sum, which bags have too, with weights.
const fn sum<A: Weigh>(fns: Option<ReduceFns>) -> Option<ReduceFns> {
    with_bag(fns, BagFns::weighted::<A>())
}

/// A reduction that bags have too.
const fn bag<A: Accumulate<Item: Element>>(fns: Option<ReduceFns>) -> Option<ReduceFns> {
    with_bag(fns, BagFns::plain::<A>())
}

const fn with_bag(fns: Option<ReduceFns>, bag: BagFns) -> Option<ReduceFns> {
    match fns {
        Some(fns) => Some(ReduceFns { bag: Some(bag), ..fns }),
        None => None,
    }
}

/// Integers `S`, whose sums and products are those of the integers `U` of their width.
fn integer<S: Ordered + Average + Element, U: Number + Element>(reduction: Reduction) -> Option<ReduceFns> {
    match reduction {
        Reduction::None => Some(STORE),
        Reduction::Add => sum::<Add<U>>(plain::<Add<U>>()),
        Reduction::Sub => plain::<Sub<U>>(),
        Reduction::Mul => plain::<Mul<U>>(),
        Reduction::Min => bag::<Min<S>>(plain::<Min<S>>()),
        Reduction::Max => bag::<Max<S>>(plain::<Max<S>>()),
        Reduction::Mean => bag::<Mean<S>>(grouped::<Mean<S>>()),
    }
}

fn float<T: Number + Ordered + Average + Element>(reduction: Reduction) -> Option<ReduceFns> {
    match reduction {
        Reduction::Min => bag::<Min<T>>(plain::<Min<T>>()),
        Reduction::Max => bag::<Max<T>>(plain::<Max<T>>()),
        reduction => unordered::<T>(reduction),
    }
}

#[cfg(feature = "num-complex")]
fn complex<T: Number + Average + Element>(reduction: Reduction) -> Option<ReduceFns> {
    unordered::<T>(reduction)
}

fn unordered<T: Number + Average + Element>(reduction: Reduction) -> Option<ReduceFns> {
    match reduction {
        Reduction::None => Some(STORE),
        Reduction::Add => sum::<Add<T>>(plain::<Add<T>>()),
        Reduction::Sub => plain::<Sub<T>>(),
        Reduction::Mul => plain::<Mul<T>>(),
        Reduction::Mean => bag::<Mean<T>>(grouped::<Mean<T>>()),
        Reduction::Min | Reduction::Max => None,
    }
}

#[cfg(feature = "half")]
fn half<T: Half + Ordered + Average + Element>(reduction: Reduction) -> Option<ReduceFns> {
    match reduction {
        Reduction::None => Some(STORE),
        Reduction::Add => sum::<InSingle<T, Add<f32>>>(grouped::<InSingle<T, Add<f32>>>()),
        Reduction::Sub => grouped::<InSingle<T, Sub<f32>>>(),
        Reduction::Mul => grouped::<InSingle<T, Mul<f32>>>(),
        Reduction::Min => bag::<Min<T>>(plain::<Min<T>>()),
        Reduction::Max => bag::<Max<T>>(plain::<Max<T>>()),
        Reduction::Mean => bag::<Mean<T>>(grouped::<Mean<T>>()),
    }
}

fn boolean(reduction: Reduction) -> Option<ReduceFns> {
    match reduction {
        Reduction::None => Some(STORE),
        Reduction::Add | Reduction::Max => sum::<Or>(plain::<Or>()),
        Reduction::Mul | Reduction::Min => bag::<And>(plain::<And>()),
        Reduction::Sub | Reduction::Mean => None,
    }
}
