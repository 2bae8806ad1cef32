//! The built-in reductions of numbers.

#![forbid(unsafe_code)]

use core::marker::PhantomData;
use core::ops::{BitAnd as _, BitOr as _};

#[cfg(feature = "num-complex")]
use num_complex::Complex;

use crate::kernels::level_fn::Token;
use crate::kernels::reduce::accumulate::{Accumulate, Combine};
#[cfg(feature = "half")]
use crate::kernels::reduce::halves;
#[cfg(feature = "half")]
use crate::kernels::reduce::halves::InVector;
pub(super) use crate::types::arithmetic::Arithmetic as Number;
use crate::types::element::{Element, Unaligned};
#[cfg(feature = "half")]
use crate::types::numbers::{bf16_to_f32, f16_is_unusual, f16_to_f32, f32_to_bf16, f32_to_f16, usual_f16_to_f32};

/// Numbers with a minimum and a maximum. Of equal values the first wins, and NaN wins over any other.
pub(super) trait Ordered: Copy + 'static {
    /// `[lowest, highest]` of all values.
    const ENDS: [Self; 2];
    fn least(self, other: Self) -> Self;
    fn greatest(self, other: Self) -> Self;
}

/// Numbers that can be summed and divided by a count.
pub(super) trait Average: Copy + 'static {
    type Sum: Number;
    const WIDENS: bool = false;
    fn widen(self) -> Self::Sum;
    #[inline(always)]
    fn widen_all(from: &[Unaligned<Self>], to: &mut [Self::Sum]) {
        to.iter_mut().zip(from).for_each(|(to, from)| *to = from.0.widen());
    }
    fn divide(sum: Self::Sum, count: usize) -> Self;
    #[inline(always)]
    fn widen_chunk<const N: usize>(_: impl Token, from: &[Unaligned<Self>; N]) -> [Self::Sum; N] {
        let mut to = [from[0].0.widen(); N];
        for (to, from) in to.iter_mut().zip(from) {
            *to = from.0.widen();
        }
        to
    }
    #[inline(always)]
    fn end_chunk<const N: usize>(_: impl Token, sums: &[Self::Sum; N], count: usize) -> [Unaligned<Self>; N] {
        let mut to = [Unaligned(Self::divide(sums[0], count)); N];
        for (to, &sum) in to.iter_mut().zip(sums) {
            *to = Unaligned(Self::divide(sum, count));
        }
        to
    }
}

/// Reductions by a function of [`Number`], [`Ordered`] or bits, with an identity. A first update is kept, or combined
/// with the identity; weights multiply values.
macro_rules! combines {
    ($($(#[$doc:meta])* $name:ident $(<$T:ident: $bound:ident>)?, $Item:ty: $how:ident, $identity:expr
        $(, first $first:ident)? $(, weights $times:ident)?;)*) => {$(
        $(#[$doc])*
        pub(super) struct $name$(<$T>(PhantomData<$T>))?;

        impl$(<$T: $bound + Element>)? Combine for $name$(<$T>)? {
            type Item = $Item;
            const IDENTITY: Option<$Item> = $identity;
            $(
                const WEIGHS: bool = true;

                #[inline(always)]
                fn times(new: $Item, weight: $Item) -> $Item {
                    new.$times(weight)
                }
            )?

            #[inline(always)]
            fn combine(kept: $Item, new: $Item) -> $Item {
                kept.$how(new)
            }

            $(
                #[inline(always)]
                fn first(new: $Item) -> $Item {
                    <$Item>::NOTHING.$first(new)
                }
            )?
        }
    )*};
}

combines! {
    Add<T: Number>, T: plus, Some(T::NOTHING), first plus, weights times;
    /// The element minus the updates.
    Sub<T: Number>, T: minus, Some(T::NOTHING), first minus;
    Mul<T: Number>, T: times, T::ONE;
    Min<T: Ordered>, T: least, Some(T::ENDS[1]);
    Max<T: Ordered>, T: greatest, Some(T::ENDS[0]);
    /// Bitwise or. On bytes, so that memory without valid bools may be read.
    Or, u8: bitor, Some(0), weights bitand;
    /// Bitwise and. On bytes, as [`Or`].
    And, u8: bitand, Some(u8::MAX);
}

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
    fn widen_chunk<const N: usize>(level: impl Token, from: &[Unaligned<T>; N]) -> [T::Sum; N] {
        T::widen_chunk(level, from)
    }

    #[inline(always)]
    fn end_chunk<const N: usize>(level: impl Token, sums: &[T::Sum; N], count: usize) -> [Unaligned<T>; N] {
        T::end_chunk(level, sums, count)
    }
}

/// The mean of fewer than 2^32 numbers.
pub(super) struct NarrowMean<T>(PhantomData<T>);

/// Integers whose sums of fewer than 2^32 numbers take fewer bits.
pub(super) trait Few: Average {
    /// The sum of fewer than 2^32 numbers; for 64-bit integers, the sums of their 32-bit halves.
    type Short: Copy + 'static;
    const NONE: Self::Short;
    fn short(self) -> Self::Short;
    fn add(sum: Self::Short, new: Self::Short) -> Self::Short;
    /// The full sum of `count` numbers.
    fn long(sum: Self::Short, count: usize) -> Self::Sum;
    /// `(low, far)`: the low bits of the sum. If `far == 0`, `low` is the whole sum and `|low| <= 2^51`.
    fn near(sum: Self::Short, count: usize) -> (i64, u64);
    /// The mean as an element.
    fn of(mean: i64) -> Self;
}

impl<T: Few> Accumulate for NarrowMean<T> {
    type Item = T;
    type Sum = T::Short;
    const DIVIDES: bool = true;
    const IDENTITY: Option<T::Short> = Some(T::NONE);

    #[inline(always)]
    fn widen(kept: T) -> T::Short {
        kept.short()
    }

    #[inline(always)]
    fn begin(new: T::Short) -> T::Short {
        new
    }

    #[inline(always)]
    fn plus(sum: T::Short, new: T::Short) -> T::Short {
        T::add(sum, new)
    }

    #[inline(always)]
    fn end(sum: T::Short, count: usize) -> T {
        ended_together(&[sum], count)[0].0
    }

    #[inline(always)]
    fn end_chunk<const N: usize>(_: impl Token, sums: &[T::Short; N], count: usize) -> [Unaligned<T>; N] {
        let mut to = [Unaligned(T::of(0)); N];
        // Four at a time: compilers split longer arrays and join them on the stack.
        let ((fours, others), (sums, other_sums)) = (to.as_chunks_mut::<4>(), sums.as_chunks::<4>());
        for (to, sums) in fours.iter_mut().zip(sums) {
            *to = ended_together(sums, count);
        }
        for (to, &sum) in others.iter_mut().zip(other_sums) {
            *to = Unaligned(Self::end(sum, count));
        }
        to
    }
}

/// The means of `N` sums.
#[inline(always)]
fn ended_together<T: Few, const N: usize>(sums: &[T::Short; N], count: usize) -> [Unaligned<T>; N] {
    let (mut near, mut any_far) = ([0; N], 0);
    for (near, &sum) in near.iter_mut().zip(sums) {
        let (low, far) = T::near(sum, count);
        *near = low;
        any_far |= far;
    }
    let mut to = [Unaligned(T::of(0)); N];
    if count > 1 && any_far != 0 {
        for (to, &sum) in to.iter_mut().zip(sums) {
            *to = Unaligned(far_mean::<T>(sum, count));
        }
        return to;
    }
    // Divisions are slow, and often `count == 1`.
    let means = if count > 1 { floors(&near, count) } else { near };
    for (to, mean) in to.iter_mut().zip(means) {
        *to = Unaligned(T::of(mean));
    }
    to
}

/// The mean of a sum that `f64` may not hold exactly.
#[cold]
#[inline(never)]
fn far_mean<T: Few>(sum: T::Short, count: usize) -> T {
    T::divide(T::long(sum, count), count)
}

/// `numbers[k].div_euclid(count)`, for `|numbers[k]| <= 2^51`. In doubles: vectors divide several doubles at least as
/// fast as one integer division.
#[inline(always)]
fn floors<const N: usize>(numbers: &[i64; N], count: usize) -> [i64; N] {
    // The bits of `whole = 1.5 * 2^52`: `BITS + n` are the bits of `whole + n`, and `x + whole` rounds `x` to an
    // integer.
    const BITS: u64 = 0x4338_0000_0000_0000;
    let (whole, count) = (f64::from_bits(BITS), count as f64);
    let mut floors = [0; N];
    for (floor, &number) in floors.iter_mut().zip(numbers) {
        let number = f64::from_bits(BITS.wrapping_add(number as u64)) - whole;
        // The floor, or the floor + 1.
        let near = (number / count + whole) - whole;
        // Both products are exact.
        let floor_of = if near * count > number { near - 1.0 } else { near };
        *floor = (floor_of + whole).to_bits().wrapping_sub(BITS) as i64;
    }
    floors
}

macro_rules! few {
    ($($($ty:ty),+: $short:ty, $beyond:expr;)*) => {$($(
        impl Few for $ty {
            type Short = $short;
            const NONE: $short = 0;

            #[inline(always)]
            fn short(self) -> $short {
                <$short>::from(self)
            }

            #[inline(always)]
            fn add(sum: $short, new: $short) -> $short {
                sum.wrapping_add(new)
            }

            #[inline(always)]
            fn long(sum: $short, _: usize) -> Self::Sum {
                sum.into()
            }

            #[inline(always)]
            fn near(sum: $short, _: usize) -> (i64, u64) {
                (sum as i64, $beyond(sum as u64))
            }

            #[inline(always)]
            fn of(mean: i64) -> Self {
                mean as Self
            }
        }
    )+)*};
}
few! {
    i8, i16, i32: i64, |sum: u64| sum.wrapping_add(1 << 51) >> 52;
    u8, u16: i64, |sum: u64| sum >> 51;
    u32: u64, |sum: u64| sum >> 51;
}

macro_rules! few_long {
    ($($ty:ty),+) => {$(
        // Sums of the low and of the high 32 bits, without carries; `Self::MIN` counts as 0.
        impl Few for $ty {
            type Short = [u64; 2];
            const NONE: [u64; 2] = [0; 2];

            #[inline(always)]
            fn short(self) -> [u64; 2] {
                let above = (self as u64) ^ (Self::MIN as u64);
                [above & u64::from(u32::MAX), above >> 32]
            }

            #[inline(always)]
            fn add(sum: [u64; 2], new: [u64; 2]) -> [u64; 2] {
                [sum[0].wrapping_add(new[0]), sum[1].wrapping_add(new[1])]
            }

            #[inline(always)]
            fn long([low, high]: [u64; 2], count: usize) -> i128 {
                (i128::from(high) << 32) + i128::from(low) + i128::from(Self::MIN) * count as i128
            }

            #[inline(always)]
            fn near([low, high]: [u64; 2], count: usize) -> (i64, u64) {
                let least = (Self::MIN as i64) >> 32;
                let high = high.wrapping_add(least.wrapping_mul(count as i64) as u64);
                (low.wrapping_add(high << 32) as i64, (low >> 50) | (high.wrapping_add(1 << 18) >> 19))
            }

            #[inline(always)]
            fn of(mean: i64) -> Self {
                mean as Self
            }
        }
    )+};
}
few_long!(i64, u64);

/// A reduction `C` of halves in single precision, rounded once at the end.
#[cfg(feature = "half")]
pub(super) struct InSingle<T, C>(PhantomData<(T, C)>);

/// A 16-bit float.
#[cfg(feature = "half")]
pub(super) trait Half: InVector + Average<Sum = f32> {
    fn to_single(self) -> f32;
    fn from_single(value: f32) -> Self;
}

#[cfg(feature = "half")]
impl<T: Half, C: Combine<Item = f32>> Accumulate for InSingle<T, C> {
    type Item = T;
    type Sum = f32;
    const WIDENS: bool = true;
    const IDENTITY: Option<f32> = C::IDENTITY;
    const WEIGHS: bool = C::WEIGHS;

    #[inline(always)]
    fn times(new: f32, weight: f32) -> f32 {
        C::times(new, weight)
    }

    #[inline(always)]
    fn widen(kept: T) -> f32 {
        kept.to_single()
    }

    #[inline(always)]
    fn widen_all(from: &[Unaligned<T>], to: &mut [f32]) {
        <T as Average>::widen_all(from, to);
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
    fn widen_chunk<const N: usize>(level: impl Token, from: &[Unaligned<T>; N]) -> [f32; N] {
        halves::widen(level, from)
    }

    #[inline(always)]
    fn end_chunk<const N: usize>(level: impl Token, sums: &[f32; N], _: usize) -> [Unaligned<T>; N] {
        halves::narrow(level, sums)
    }

    #[inline(always)]
    fn differ(began: f32, sum: f32) -> bool {
        began.to_bits() != sum.to_bits()
    }
}

/// Conditions under which a new value replaces the kept one: as the minimum, and as the maximum.
macro_rules! ordered {
    ($kept:ident, $new:ident; $($($ty:ty),+: $first:ident, $last:ident, $less:expr, $more:expr;)*) => {$($(
        impl Ordered for $ty {
            const ENDS: [Self; 2] = [Self::$first, Self::$last];

            #[inline(always)]
            fn least(self, $new: Self) -> Self {
                let $kept = self;
                if $less { $new } else { $kept }
            }

            #[inline(always)]
            fn greatest(self, $new: Self) -> Self {
                let $kept = self;
                if $more { $new } else { $kept }
            }
        }
    )+)*};
}
ordered! { kept, new;
    i8, i16, i32, i64, u8, u16, u32, u64: MIN, MAX, new < kept, new > kept;
    f32, f64: NEG_INFINITY, INFINITY, new < kept || new.is_nan(), new > kept || new.is_nan();
}

macro_rules! integer_means {
    ($($($ty:ty),+: $sum:ty;)*) => {$($(
        impl Average for $ty {
            type Sum = $sum;

            #[inline(always)]
            fn widen(self) -> $sum {
                <$sum>::from(self)
            }

            #[inline(always)]
            fn divide(sum: $sum, count: usize) -> Self {
                // Divisions are slow, and often `count == 1`.
                if count == 1 {
                    return sum as Self;
                }
                // The mean is in range. Sums that fit in 64 bits are divided by one instruction.
                let short = sum as i64;
                if <$sum>::from(short) == sum {
                    return short.div_euclid(count as i64) as Self;
                }
                sum.div_euclid(count as $sum) as Self
            }
        }
    )+)*};
}
// Sums of 16-bit numbers overflow 64 bits after 2^47 rows, which take days to add; sums of 32-bit numbers after 2^31.
// 128 bits never overflow.
integer_means! {
    i8, i16, u8, u16: i64;
    i32, i64, u32, u64: i128;
}

/// Implements the means of floats and complex numbers.
macro_rules! means {
    ($($ty:ty, $real:ty;)*) => {$(
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
means! {
    f32, f32;
    f64, f64;
}
#[cfg(feature = "num-complex")]
means! {
    Complex<f32>, f32;
    Complex<f64>, f64;
}

#[cfg(feature = "half")]
macro_rules! halves {
    ($($ty:ty: $to_single:ident, $from_single:ident, $infinity:literal, |$from:ident, $to:ident| $widen_all:expr;)*) => {$(
        impl Half for $ty {
            #[inline(always)]
            fn to_single(self) -> f32 {
                $to_single(self.to_bits())
            }

            #[inline(always)]
            fn from_single(value: f32) -> Self {
                Self::from_bits($from_single(value))
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
            fn widen_all($from: &[Unaligned<Self>], $to: &mut [f32]) {
                $widen_all
            }

            #[inline(always)]
            fn divide(sum: f32, count: usize) -> Self {
                Self::from_single(sum / count as f32)
            }

            #[inline(always)]
            fn widen_chunk<const N: usize>(level: impl Token, from: &[Unaligned<Self>; N]) -> [f32; N] {
                halves::widen(level, from)
            }

            #[inline(always)]
            fn end_chunk<const N: usize>(level: impl Token, sums: &[f32; N], count: usize) -> [Unaligned<Self>; N] {
                let mut means = *sums;
                for mean in &mut means {
                    *mean /= count as f32;
                }
                halves::narrow(level, &means)
            }
        }

        // Integer comparisons in the order of the values, without branches, so that loops are vectorised. A kept NaN
        // stays, unless the new value is NaN.
        ordered! { kept, new;
            $ty: NEG_INFINITY, INFINITY,
            (order(new.to_bits()) < order(kept.to_bits())) & (magnitude(kept.to_bits()) <= $infinity)
                | (magnitude(new.to_bits()) > $infinity),
            (order(new.to_bits()) > order(kept.to_bits())) & (magnitude(kept.to_bits()) <= $infinity)
                | (magnitude(new.to_bits()) > $infinity);
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

/// An integer in the order of halves except NaN; both zeros are 0.
#[cfg(feature = "half")]
#[inline(always)]
fn order(bits: u16) -> i16 {
    let sign = bits as i16 >> 15;
    (magnitude(bits) ^ sign) - sign
}

#[cfg(test)]
mod tests {
    use core::fmt::Debug;

    use super::*;
    use crate::kernels::level_fn::Scalar;

    /// Sums `count` numbers that cycle through `kinds`; both ways of ending agree with [`Mean`].
    fn agrees<T: Few + PartialEq + Debug>(kinds: &[T], count: usize)
    where
        T::Sum: PartialEq + Debug,
    {
        let numbers = || (0..count).map(|k| kinds[k % kinds.len()]);
        let short = numbers().fold(T::NONE, |sum, new| T::add(sum, new.short()));
        let long = numbers().fold(T::Sum::NOTHING, |sum, new| sum.plus(new.widen()));
        assert_eq!(T::long(short, count), long, "{kinds:?}, {count}");
        let mean = T::divide(long, count);
        assert_eq!(NarrowMean::<T>::end(short, count), mean, "{kinds:?}, {count}");
        let chunk = NarrowMean::<T>::end_chunk(Scalar, &[short, T::NONE, short], count);
        assert_eq!([chunk[0].0, chunk[2].0], [mean; 2], "{kinds:?}, {count}");
    }

    /// [`agrees`] for the ends of a type, and for numbers with sums near `2^51` and near 0.
    macro_rules! agree {
        ($($ty:ty)*) => {$(
            let (least, most) = (<$ty>::MIN, <$ty>::MAX);
            let near = (((1u64 << 51) / 3) as $ty, (((1u64 << 51) / 3) as $ty).wrapping_neg());
            for count in (1..40).chain([255, 1000, 4097]) {
                for kinds in [
                    &[least][..], &[most], &[least, most], &[most, most, least], &[0, 1], &[least.wrapping_add(1), 0, 1],
                    &[near.0], &[near.1], &[near.0, 1], &[near.1, least, 3], &[3, 0], &[(0 as $ty).wrapping_sub(1), 0],
                    &[7, (0 as $ty).wrapping_sub(5), 11],
                ] {
                    agrees::<$ty>(kinds, count);
                }
            }
        )*};
    }

    #[test]
    fn means_of_few_are_those_of_many() {
        agree!(i8 i16 i32 i64 u8 u16 u32 u64);
    }

    #[test]
    fn quotients_are_rounded_down() {
        const MOST: i64 = 1 << 51;
        for count in [1, 2, 3, 7, 10, 641, 65_537, 1 << 31, u32::MAX as usize] {
            for at in [0, 1, 1000, MOST / 3, MOST - 1, MOST] {
                for number in (-3i64..=3).flat_map(|by| {
                    let multiple = at / count as i64 * count as i64;
                    [at + by, -at + by, multiple + by, -multiple + by]
                }) {
                    if number.abs() <= MOST {
                        assert_eq!(
                            floors(&[number, 1, number], count)[2],
                            number.div_euclid(count as i64),
                            "{number}, {count}"
                        );
                    }
                }
            }
        }
    }
}
