//! The built-in reductions of numbers.

#![forbid(unsafe_code)]

use core::marker::PhantomData;

use crate::kernels::reduce::halves::Halves;
#[cfg(feature = "half")]
use crate::kernels::reduce::halves::InVector;
use crate::kernels::reduce::rows::Combine;
use crate::kernels::reduce::step::Accumulate;
use crate::types::element::{Element, Unaligned};
#[cfg(feature = "half")]
use crate::types::numbers::{bf16_to_f32, f16_is_unusual, f16_to_f32, f32_to_bf16, f32_to_f16, usual_f16_to_f32};

/// Numbers that can be added, subtracted and multiplied. Integers wrap.
pub(super) trait Number: Copy + 'static {
    const NOTHING: Self;
    /// The factor that changes nothing, for numbers that have one: infinite complex numbers have none.
    const ONE: Option<Self>;
    fn plus(self, other: Self) -> Self;
    fn minus(self, other: Self) -> Self;
    fn times(self, other: Self) -> Self;
}

/// Numbers that have a least and a greatest. Of equal values the first is taken, and NaN before any other.
pub(super) trait Ordered: Copy + 'static {
    /// No value is less, and none is greater.
    const ENDS: [Self; 2];
    fn least(self, other: Self) -> Self;
    fn greatest(self, other: Self) -> Self;
}

/// Numbers that can be summed up and divided by a count.
pub(super) trait Average: Copy + 'static {
    type Sum: Number;
    /// As for [`Accumulate`].
    const WIDENS: bool = false;
    fn widen(self) -> Self::Sum;
    #[inline(always)]
    fn widen_all(from: &[Unaligned<Self>], to: &mut [Self::Sum]) {
        to.iter_mut().zip(from).for_each(|(to, from)| *to = from.0.widen());
    }
    fn divide(sum: Self::Sum, count: usize) -> Self;
    /// As for [`Accumulate`].
    #[inline(always)]
    fn widen_chunk<const N: usize>(_: impl Halves, from: &[Unaligned<Self>; N]) -> [Self::Sum; N] {
        let mut to = [from[0].0.widen(); N];
        for (to, from) in to.iter_mut().zip(from) {
            *to = from.0.widen();
        }
        to
    }
    /// As for [`Accumulate`].
    #[inline(always)]
    fn end_chunk<const N: usize>(_: impl Halves, sums: &[Self::Sum; N], count: usize) -> [Unaligned<Self>; N] {
        let mut to = [Unaligned(Self::divide(sums[0], count)); N];
        for (to, &sum) in to.iter_mut().zip(sums) {
            *to = Unaligned(Self::divide(sum, count));
        }
        to
    }
}

macro_rules! combines {
    ($($(#[$doc:meta])* $name:ident: $bound:ident, $how:ident, $identity:expr;)*) => {$(
        $(#[$doc])*
        pub(super) struct $name<T>(PhantomData<T>);

        impl<T: $bound + Element> Combine for $name<T> {
            type Item = T;
            const IDENTITY: Option<T> = $identity;

            #[inline(always)]
            fn combine(kept: T, new: T) -> T {
                kept.$how(new)
            }
        }
    )*};
}

combines! {
    /// The product.
    Mul: Number, times, T::ONE;
    /// The least.
    Min: Ordered, least, Some(T::ENDS[1]);
    /// The greatest.
    Max: Ordered, greatest, Some(T::ENDS[0]);
}

/// The sum.
pub(super) struct Add<T>(PhantomData<T>);

impl<T: Number + Element> Combine for Add<T> {
    type Item = T;
    const IDENTITY: Option<T> = Some(T::NOTHING);

    #[inline(always)]
    fn combine(kept: T, new: T) -> T {
        kept.plus(new)
    }

    #[inline(always)]
    fn first(new: T) -> T {
        T::NOTHING.plus(new)
    }
}

/// The element minus the updates.
pub(super) struct Sub<T>(PhantomData<T>);

impl<T: Number + Element> Combine for Sub<T> {
    type Item = T;
    const IDENTITY: Option<T> = Some(T::NOTHING);

    #[inline(always)]
    fn combine(kept: T, new: T) -> T {
        kept.minus(new)
    }

    #[inline(always)]
    fn first(new: T) -> T {
        T::NOTHING.minus(new)
    }
}

/// Either of two bits. On bytes, so that memory of bools that never were any is read as what it is.
pub(super) enum Or {}

impl Combine for Or {
    type Item = u8;
    const IDENTITY: Option<u8> = Some(0);

    #[inline(always)]
    fn combine(kept: u8, new: u8) -> u8 {
        kept | new
    }
}

/// Both of two bits. On bytes, as [`Or`].
pub(super) enum And {}

impl Combine for And {
    type Item = u8;
    const IDENTITY: Option<u8> = Some(u8::MAX);

    #[inline(always)]
    fn combine(kept: u8, new: u8) -> u8 {
        kept & new
    }
}

/// The mean of all.
pub(super) struct Mean<T>(PhantomData<T>);

impl<T: Average> Accumulate for Mean<T> {
    type Item = T;
    type Sum = T::Sum;
    const WIDENS: bool = T::WIDENS;
    const IDENTITY: Option<T::Sum> = Some(T::Sum::NOTHING);

    #[inline(always)]
    fn widen(kept: T) -> T::Sum {
        kept.widen()
    }

    #[inline(always)]
    fn widen_all(from: &[Unaligned<T>], to: &mut [T::Sum]) {
        T::widen_all(from, to);
    }

    #[inline(always)]
    fn begin(new: T::Sum) -> T::Sum {
        T::Sum::NOTHING.plus(new)
    }

    #[inline(always)]
    fn plus(sum: T::Sum, new: T::Sum) -> T::Sum {
        sum.plus(new)
    }

    #[inline(always)]
    fn end(sum: T::Sum, count: usize) -> T {
        T::divide(sum, count)
    }

    #[inline(always)]
    fn widen_chunk<const N: usize>(by: impl Halves, from: &[Unaligned<T>; N]) -> [T::Sum; N] {
        T::widen_chunk(by, from)
    }

    #[inline(always)]
    fn end_chunk<const N: usize>(by: impl Halves, sums: &[T::Sum; N], count: usize) -> [Unaligned<T>; N] {
        T::end_chunk(by, sums, count)
    }
}

/// A reduction `C` of numbers of half the width, in single precision: rounded once, at the end.
#[cfg(feature = "half")]
pub(super) struct InSingle<T, C>(PhantomData<(T, C)>);

/// A number of half the width.
#[cfg(feature = "half")]
pub(super) trait Half: InVector + Copy {
    fn to_single(self) -> f32;
    fn from_single(value: f32) -> Self;
    /// Converts numbers into a buffer of as many.
    fn to_singles(from: &[Unaligned<Self>], to: &mut [f32]);
}

#[cfg(feature = "half")]
impl<T: Half, C: Combine<Item = f32>> Accumulate for InSingle<T, C> {
    type Item = T;
    type Sum = f32;
    const WIDENS: bool = true;
    const IDENTITY: Option<f32> = C::IDENTITY;

    #[inline(always)]
    fn widen(kept: T) -> f32 {
        kept.to_single()
    }

    #[inline(always)]
    fn widen_all(from: &[Unaligned<T>], to: &mut [f32]) {
        T::to_singles(from, to);
    }

    #[inline(always)]
    fn begin(new: f32) -> f32 {
        C::first(new)
    }

    #[inline(always)]
    fn plus(sum: f32, new: f32) -> f32 {
        C::combine(sum, new)
    }

    #[inline(always)]
    fn end(sum: f32, _: usize) -> T {
        T::from_single(sum)
    }

    #[inline(always)]
    fn widen_chunk<const N: usize>(by: impl Halves, from: &[Unaligned<T>; N]) -> [f32; N] {
        by.widen(from)
    }

    #[inline(always)]
    fn end_chunk<const N: usize>(by: impl Halves, sums: &[f32; N], _: usize) -> [Unaligned<T>; N] {
        by.narrow(sums)
    }

    #[inline(always)]
    fn differ(began: f32, sum: f32) -> bool {
        began.to_bits() != sum.to_bits()
    }
}

macro_rules! integers {
    ($($ty:ty, $sum:ty;)*) => {$(
        impl Number for $ty {
            const NOTHING: Self = 0;
            const ONE: Option<Self> = Some(1);

            #[inline(always)]
            fn plus(self, other: Self) -> Self {
                self.wrapping_add(other)
            }

            #[inline(always)]
            fn minus(self, other: Self) -> Self {
                self.wrapping_sub(other)
            }

            #[inline(always)]
            fn times(self, other: Self) -> Self {
                self.wrapping_mul(other)
            }
        }

        impl Ordered for $ty {
            const ENDS: [Self; 2] = [Self::MIN, Self::MAX];

            #[inline(always)]
            fn least(self, other: Self) -> Self {
                Ord::min(self, other)
            }

            #[inline(always)]
            fn greatest(self, other: Self) -> Self {
                Ord::max(self, other)
            }
        }

        impl Average for $ty {
            type Sum = $sum;

            #[inline(always)]
            fn widen(self) -> $sum {
                <$sum>::from(self)
            }

            #[inline(always)]
            fn divide(sum: $sum, count: usize) -> Self {
                // Divisions take long, and many rows meet one update.
                if count == 1 {
                    return sum as Self;
                }
                // The mean lies between the least and the greatest. Sums of 64 bits are divided by one instruction.
                let short = sum as i64;
                if <$sum>::from(short) == sum {
                    return short.div_euclid(count as i64) as Self;
                }
                sum.div_euclid(count as $sum) as Self
            }
        }
    )*};
}
// Sums of 16 bits overflow 64 after 2^47 rows, which take a processor days to add; those of 32 bits after 2^31. No
// number of rows overflows 128.
integers! {
    i8, i64;
    i16, i64;
    i32, i128;
    i64, i128;
    u8, i64;
    u16, i64;
    u32, i128;
    u64, i128;
}

impl Number for i128 {
    const NOTHING: Self = 0;
    const ONE: Option<Self> = Some(1);

    #[inline(always)]
    fn plus(self, other: Self) -> Self {
        self.wrapping_add(other)
    }

    #[inline(always)]
    fn minus(self, other: Self) -> Self {
        self.wrapping_sub(other)
    }

    #[inline(always)]
    fn times(self, other: Self) -> Self {
        self.wrapping_mul(other)
    }
}

/// The implementation that floats and complex numbers share.
macro_rules! arithmetic {
    ($($(#[$attr:meta])* $ty:ty, $zero:expr, $one:expr, $real:ty;)*) => {$(
        $(#[$attr])*
        impl Number for $ty {
            const NOTHING: Self = $zero;
            const ONE: Option<Self> = $one;

            #[inline(always)]
            fn plus(self, other: Self) -> Self {
                self + other
            }

            #[inline(always)]
            fn minus(self, other: Self) -> Self {
                self - other
            }

            #[inline(always)]
            fn times(self, other: Self) -> Self {
                self * other
            }
        }

        $(#[$attr])*
        impl Average for $ty {
            type Sum = Self;

            #[inline(always)]
            fn widen(self) -> Self {
                self
            }

            #[inline(always)]
            fn divide(sum: Self, count: usize) -> Self {
                sum / count as $real
            }
        }
    )*};
}
arithmetic! {
    f32, 0.0, Some(1.0), f32;
    f64, 0.0, Some(1.0), f64;
    #[cfg(feature = "num-complex")]
    num_complex::Complex<f32>, num_complex::Complex { re: 0.0, im: 0.0 }, None, f32;
    #[cfg(feature = "num-complex")]
    num_complex::Complex<f64>, num_complex::Complex { re: 0.0, im: 0.0 }, None, f64;
}

macro_rules! ordered_floats {
    ($($(#[$attr:meta])* $ty:ty;)*) => {$(
        $(#[$attr])*
        impl Ordered for $ty {
            const ENDS: [Self; 2] = [Self::NEG_INFINITY, Self::INFINITY];

            #[inline(always)]
            fn least(self, other: Self) -> Self {
                if other < self || other.is_nan() { other } else { self }
            }

            #[inline(always)]
            fn greatest(self, other: Self) -> Self {
                if other > self || other.is_nan() { other } else { self }
            }
        }
    )*};
}
ordered_floats! {
    f32;
    f64;
}

#[cfg(feature = "half")]
macro_rules! halves {
    ($($ty:ty: $to_single:ident, $from_single:ident, $infinity:literal, |$from:ident, $to:ident| $to_singles:expr;)*) => {$(
        impl Half for $ty {
            #[inline(always)]
            fn to_single(self) -> f32 {
                $to_single(self.to_bits())
            }

            #[inline(always)]
            fn from_single(value: f32) -> Self {
                Self::from_bits($from_single(value))
            }

            #[inline(always)]
            fn to_singles($from: &[Unaligned<Self>], $to: &mut [f32]) {
                $to_singles
            }
        }

        impl Average for $ty {
            type Sum = f32;
            const WIDENS: bool = true;

            #[inline(always)]
            fn widen(self) -> f32 {
                self.to_single()
            }

            #[inline(always)]
            fn widen_all(from: &[Unaligned<Self>], to: &mut [f32]) {
                Self::to_singles(from, to);
            }

            #[inline(always)]
            fn divide(sum: f32, count: usize) -> Self {
                Self::from_single(sum / count as f32)
            }

            #[inline(always)]
            fn widen_chunk<const N: usize>(by: impl Halves, from: &[Unaligned<Self>; N]) -> [f32; N] {
                by.widen(from)
            }

            #[inline(always)]
            fn end_chunk<const N: usize>(by: impl Halves, sums: &[f32; N], count: usize) -> [Unaligned<Self>; N] {
                let mut means = *sums;
                for mean in &mut means {
                    *mean /= count as f32;
                }
                by.narrow(&means)
            }
        }

        // By whole numbers in the order of the values, without branches, so that loops are vectorised.
        impl Ordered for $ty {
            const ENDS: [Self; 2] = [Self::NEG_INFINITY, Self::INFINITY];

            #[inline(always)]
            fn least(self, other: Self) -> Self {
                let (kept, new) = (order(self.to_bits()), order(other.to_bits()));
                // What is kept stays where it is NaN.
                let less = (new < kept) & (magnitude(self.to_bits()) <= $infinity);
                if less | (magnitude(other.to_bits()) > $infinity) { other } else { self }
            }

            #[inline(always)]
            fn greatest(self, other: Self) -> Self {
                let (kept, new) = (order(self.to_bits()), order(other.to_bits()));
                let more = (new > kept) & (magnitude(self.to_bits()) <= $infinity);
                if more | (magnitude(other.to_bits()) > $infinity) { other } else { self }
            }
        }
    )*};
}
#[cfg(feature = "half")]
halves! {
    half::f16: f16_to_f32, f32_to_f16, 0x7c00, |from, to| {
        let unusual = from.iter().fold(0, |any, from| any | f16_is_unusual(from.0.to_bits()));
        if unusual == 0 {
            to.iter_mut().zip(from).for_each(|(to, from)| *to = usual_f16_to_f32(from.0.to_bits()));
        } else {
            to.iter_mut().zip(from).for_each(|(to, from)| *to = from.0.to_single());
        }
    };
    half::bf16: bf16_to_f32, f32_to_bf16, 0x7f80, |from, to| {
        to.iter_mut().zip(from).for_each(|(to, from)| *to = from.0.to_single());
    };
}

/// The bits of a half without its sign.
#[cfg(feature = "half")]
#[inline(always)]
fn magnitude(bits: u16) -> i16 {
    (bits & 0x7fff) as i16
}

/// A number in the order of halves that are no NaN, the same for both zeros.
#[cfg(feature = "half")]
#[inline(always)]
fn order(bits: u16) -> i16 {
    let sign = bits as i16 >> 15;
    (magnitude(bits) ^ sign) - sign
}
