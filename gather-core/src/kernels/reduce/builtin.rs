//! The built-in reductions, by data type.

#![forbid(unsafe_code)]

use crate::kernels::reduce::ReduceFns;
use crate::kernels::reduce::accumulators::GroupFns;
use crate::kernels::reduce::bag::BagFns;
#[cfg(target_arch = "x86_64")]
use crate::kernels::reduce::in_registers::{self, InVectors};
use crate::kernels::reduce::number::{Add, And, Average, Max, Mean, Min, Mul, Number, Or, Ordered, Sub};
#[cfg(feature = "half")]
use crate::kernels::reduce::number::{Half, InSingle};
use crate::kernels::reduce::rows::{Combine, reduce};
#[cfg(feature = "half")]
use crate::kernels::reduce::step::Accumulate;
use crate::kernels::reduce::step::Weigh;
use crate::kernels::reduce::store::STORE;
use crate::types::element::{BuiltIn, DType, Element};
use crate::types::reduction::Reduction;

/// The functions that reduce elements of a data type, and how many values of theirs an element is made of; `None` where
/// there is no such reduction of it.
///
/// Numbers of an array or of a derived type are reduced one by one: `dtype.size()` bytes are as many of them
/// (`Element`).
#[inline(always)]
pub(crate) fn reducer(dtype: DType, reduction: Reduction) -> Option<(&'static ReduceFns, usize)> {
    if reduction == Reduction::None {
        return Some((&STORE, 1));
    }
    let number = dtype.number();
    dtype.size().is_multiple_of(number.size()).then_some(())?;
    Some((of_numbers(number.built_in()?, reduction)?, dtype.size() / number.size()))
}

fn of_numbers(number: BuiltIn, reduction: Reduction) -> Option<&'static ReduceFns> {
    match number {
        BuiltIn::Bool => boolean(reduction),
        BuiltIn::I8 => integer::<i8, u8>(reduction),
        BuiltIn::I16 => integer::<i16, u16>(reduction),
        BuiltIn::I32 => integer::<i32, u32>(reduction),
        BuiltIn::I64 => integer::<i64, u64>(reduction),
        BuiltIn::U8 => integer::<u8, u8>(reduction),
        BuiltIn::U16 => integer::<u16, u16>(reduction),
        BuiltIn::U32 => integer::<u32, u32>(reduction),
        BuiltIn::U64 => integer::<u64, u64>(reduction),
        #[cfg(target_pointer_width = "64")]
        BuiltIn::Isize => integer::<i64, u64>(reduction),
        #[cfg(target_pointer_width = "64")]
        BuiltIn::Usize => integer::<u64, u64>(reduction),
        #[cfg(target_pointer_width = "32")]
        BuiltIn::Isize => integer::<i32, u32>(reduction),
        #[cfg(target_pointer_width = "32")]
        BuiltIn::Usize => integer::<u32, u32>(reduction),
        BuiltIn::F32 => float::<f32>(reduction),
        BuiltIn::F64 => float::<f64>(reduction),
        #[cfg(feature = "half")]
        BuiltIn::F16 => half::<half::f16>(reduction),
        #[cfg(feature = "half")]
        BuiltIn::Bf16 => half::<half::bf16>(reduction),
        #[cfg(feature = "num-complex")]
        BuiltIn::Complex64 => unordered::<num_complex::Complex<f32>>(reduction),
        #[cfg(feature = "num-complex")]
        BuiltIn::Complex128 => unordered::<num_complex::Complex<f64>>(reduction),
    }
}

/// A reduction whose intermediate results are elements.
const fn plain<C: Combine>() -> ReduceFns {
    ReduceFns { rows: Some(reduce::<C>()), bag: Some(BagFns::plain::<C>()), groups: Some(GroupFns::plain::<C>()) }
}

/// A sum whose intermediate results are elements.
const fn sum<C: Combine + Weigh>() -> ReduceFns {
    ReduceFns { rows: Some(reduce::<C>()), bag: Some(BagFns::weighted::<C>()), groups: Some(GroupFns::plain::<C>()) }
}

/// A mean.
const fn mean<T: Average + Element>() -> ReduceFns {
    ReduceFns { rows: None, bag: Some(BagFns::plain::<Mean<T>>()), groups: Some(GroupFns::counting::<Mean<T>>()) }
}

/// A reduction that is rounded at the end.
#[cfg(feature = "half")]
const fn rounded<A: Accumulate<Item: Element>>() -> ReduceFns {
    ReduceFns { rows: None, bag: Some(BagFns::plain::<A>()), groups: Some(GroupFns::rounded::<A>()) }
}

/// The same with other functions for bags.
#[cfg(any(target_arch = "x86_64", feature = "half"))]
const fn with_bag(fns: ReduceFns, bag: BagFns) -> ReduceFns {
    ReduceFns { bag: Some(bag), ..fns }
}

/// Integers `S`, whose sums and products are those of the integers `U` of their width.
fn integer<S: Ordered + Average + Element, U: Number + Element>(reduction: Reduction) -> Option<&'static ReduceFns> {
    match reduction {
        Reduction::None => Some(&STORE),
        Reduction::Add => Some(const { &sum::<Add<U>>() }),
        Reduction::Sub => Some(const { &plain::<Sub<U>>() }),
        Reduction::Mul => Some(const { &plain::<Mul<U>>() }),
        Reduction::Min => Some(const { &plain::<Min<S>>() }),
        Reduction::Max => Some(const { &plain::<Max<S>>() }),
        Reduction::Mean => Some(const { &mean::<S>() }),
    }
}

#[cfg(target_arch = "x86_64")]
fn float<T: InVectors<Sum = T> + Number + Ordered + Average>(reduction: Reduction) -> Option<&'static ReduceFns> {
    match reduction {
        Reduction::Add => Some(const { &with_bag(sum::<Add<T>>(), in_registers::sums::<T, Add<T>>()) }),
        Reduction::Mean => Some(const { &with_bag(mean::<T>(), in_registers::means::<T>()) }),
        Reduction::Max => Some(const { &with_bag(plain::<Max<T>>(), in_registers::maxima::<T>()) }),
        reduction => ordered::<T>(reduction),
    }
}

#[cfg(not(target_arch = "x86_64"))]
fn float<T: Number + Ordered + Average + Element>(reduction: Reduction) -> Option<&'static ReduceFns> {
    ordered::<T>(reduction)
}

fn ordered<T: Number + Ordered + Average + Element>(reduction: Reduction) -> Option<&'static ReduceFns> {
    match reduction {
        Reduction::Min => Some(const { &plain::<Min<T>>() }),
        Reduction::Max => Some(const { &plain::<Max<T>>() }),
        reduction => unordered::<T>(reduction),
    }
}

fn unordered<T: Number + Average + Element>(reduction: Reduction) -> Option<&'static ReduceFns> {
    match reduction {
        Reduction::None => Some(&STORE),
        Reduction::Add => Some(const { &sum::<Add<T>>() }),
        Reduction::Sub => Some(const { &plain::<Sub<T>>() }),
        Reduction::Mul => Some(const { &plain::<Mul<T>>() }),
        Reduction::Mean => Some(const { &mean::<T>() }),
        Reduction::Min | Reduction::Max => None,
    }
}

#[cfg(all(feature = "half", target_arch = "x86_64"))]
fn half<T: InVectors<Sum = f32> + Half + Ordered + Average>(reduction: Reduction) -> Option<&'static ReduceFns> {
    type Sum<T> = InSingle<T, Add<f32>>;
    match reduction {
        Reduction::Add => Some(const { &with_bag(rounded::<Sum<T>>(), in_registers::sums::<T, Sum<T>>()) }),
        Reduction::Mean => Some(const { &with_bag(mean::<T>(), in_registers::means::<T>()) }),
        reduction => half_in_memory::<T>(reduction),
    }
}

#[cfg(all(feature = "half", not(target_arch = "x86_64")))]
fn half<T: Half + Ordered + Average + Element>(reduction: Reduction) -> Option<&'static ReduceFns> {
    half_in_memory::<T>(reduction)
}

#[cfg(feature = "half")]
fn half_in_memory<T: Half + Ordered + Average + Element>(reduction: Reduction) -> Option<&'static ReduceFns> {
    match reduction {
        Reduction::None => Some(&STORE),
        Reduction::Add => {
            type Sum<T> = InSingle<T, Add<f32>>;
            Some(const { &with_bag(rounded::<Sum<T>>(), BagFns::weighted::<Sum<T>>()) })
        }
        Reduction::Sub => Some(const { &rounded::<InSingle<T, Sub<f32>>>() }),
        Reduction::Mul => Some(const { &rounded::<InSingle<T, Mul<f32>>>() }),
        Reduction::Min => Some(const { &plain::<Min<T>>() }),
        Reduction::Max => Some(const { &plain::<Max<T>>() }),
        Reduction::Mean => Some(const { &mean::<T>() }),
    }
}

fn boolean(reduction: Reduction) -> Option<&'static ReduceFns> {
    match reduction {
        Reduction::None => Some(&STORE),
        Reduction::Add | Reduction::Max => Some(const { &sum::<Or>() }),
        Reduction::Mul | Reduction::Min => Some(const { &plain::<And>() }),
        Reduction::Sub | Reduction::Mean => None,
    }
}
