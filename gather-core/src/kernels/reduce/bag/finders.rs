//! The finders of bags, which have sums, means, minima and maxima.

#![forbid(unsafe_code)]

use crate::kernels::reduce::bag::BagFns;
#[cfg(target_arch = "x86_64")]
use crate::kernels::reduce::bag::in_registers::{self, InVectors};
use crate::kernels::reduce::builtin::{Finder, Reductions, reductions};
use crate::kernels::reduce::number::{Add, And, Average, Max, Mean, Min, Number, Or, Ordered};
#[cfg(feature = "half")]
use crate::kernels::reduce::number::{Half, InSingle};
use crate::types::element::{BuiltIn, DType, Element};
use crate::types::reduction::Reduction;

reductions! { BagFns }

impl Reductions<BagFns> {
    /// The functions of a reduction for bags, and the numbers per element; `None` if the type lacks the reduction.
    #[inline(always)]
    pub(crate) fn bags(self, reduction: Reduction) -> Option<(&'static BagFns, usize)> {
        self.built_in(reduction)
    }
}

/// [`integer`]: all integers are alike.
use integer as rare;

/// The functions of integers `S`, whose sums equal the sums of unsigned integers `U` of their width.
#[inline(never)]
fn integer<S: Ordered + Average + Element, U: Number + Element>(reduction: Reduction) -> Option<&'static BagFns> {
    match reduction {
        Reduction::Add => Some(const { &BagFns::weighted::<Add<U>>() }),
        Reduction::Mean => Some(const { &BagFns::plain::<Mean<S>>() }),
        Reduction::Min => Some(const { &BagFns::plain::<Min<S>>() }),
        Reduction::Max => Some(const { &BagFns::plain::<Max<S>>() }),
        _ => None,
    }
}

#[cfg(target_arch = "x86_64")]
#[inline(never)]
fn float<T: InVectors<Sum = T> + Number + Ordered + Average>(reduction: Reduction) -> Option<&'static BagFns> {
    match reduction {
        Reduction::Add => Some(const { &in_registers::sums::<T, Add<T>>() }),
        Reduction::Mean => Some(const { &in_registers::means::<T>() }),
        Reduction::Min => Some(const { &BagFns::plain::<Min<T>>() }),
        Reduction::Max => Some(const { &in_registers::maxima::<T>() }),
        _ => None,
    }
}

#[cfg(not(target_arch = "x86_64"))]
#[inline(never)]
fn float<T: Number + Ordered + Average + Element>(reduction: Reduction) -> Option<&'static BagFns> {
    integer::<T, T>(reduction)
}

#[cfg(feature = "num-complex")]
#[inline(never)]
fn complex<T: Number + Average + Element>(reduction: Reduction) -> Option<&'static BagFns> {
    match reduction {
        Reduction::Add => Some(const { &BagFns::weighted::<Add<T>>() }),
        Reduction::Mean => Some(const { &BagFns::plain::<Mean<T>>() }),
        _ => None,
    }
}

#[cfg(all(feature = "half", target_arch = "x86_64"))]
#[inline(never)]
fn half<T: InVectors<Sum = f32> + Half + Ordered + Average>(reduction: Reduction) -> Option<&'static BagFns> {
    match reduction {
        Reduction::Add => Some(const { &in_registers::sums::<T, InSingle<T, Add<f32>>>() }),
        Reduction::Mean => Some(const { &in_registers::means::<T>() }),
        Reduction::Min => Some(const { &BagFns::plain::<Min<T>>() }),
        Reduction::Max => Some(const { &BagFns::plain::<Max<T>>() }),
        _ => None,
    }
}

#[cfg(all(feature = "half", not(target_arch = "x86_64")))]
#[inline(never)]
fn half<T: Half + Ordered + Average + Element>(reduction: Reduction) -> Option<&'static BagFns> {
    match reduction {
        Reduction::Add => Some(const { &BagFns::weighted::<InSingle<T, Add<f32>>>() }),
        Reduction::Mean => Some(const { &BagFns::plain::<Mean<T>>() }),
        Reduction::Min => Some(const { &BagFns::plain::<Min<T>>() }),
        Reduction::Max => Some(const { &BagFns::plain::<Max<T>>() }),
        _ => None,
    }
}

#[cfg_attr(feature = "registry", inline(never))]
#[cfg_attr(not(feature = "registry"), inline)]
fn boolean(reduction: Reduction) -> Option<&'static BagFns> {
    match reduction {
        Reduction::Add => Some(const { &BagFns::weighted::<Or>() }),
        Reduction::Max => Some(const { &BagFns::plain::<Or>() }),
        Reduction::Min => Some(const { &BagFns::plain::<And>() }),
        _ => None,
    }
}
