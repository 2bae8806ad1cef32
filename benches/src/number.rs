//! Numbers and reductions, as plain loops reduce them.

use bytemuck::Pod;
use gather_core::Element;
use half::{bf16, f16};
use num_complex::Complex;

/// A number. Halves are added and multiplied in `f32`, and rounded once, at the end.
pub trait Number: Element<Number = Self> + Pod {
    /// What sums, differences and products are made in.
    type Sum: Copy + 'static;
    /// What means are summed up in.
    type Total: Copy + 'static;
    /// Whether sums are of another type than the number.
    const WIDENS: bool;
    /// Whether there is a least and a greatest.
    const ORDERED: bool;
    /// No summands.
    const ZERO_SUM: Self::Sum;
    /// No summands of a mean.
    const ZERO_TOTAL: Self::Total;
    /// A number of a fraction from -0.5 to 0.5.
    fn of(fraction: f64) -> Self;
    /// 1 or -1; of unsigned numbers, 1 or the greatest.
    fn unit(negative: bool) -> Self;
    /// The number as a summand or a factor.
    fn widen(self) -> Self::Sum;
    /// The sum, rounded.
    fn end(sum: Self::Sum) -> Self;
    /// A sum.
    fn plus(sum: Self::Sum, new: Self::Sum) -> Self::Sum;
    /// A difference.
    fn minus(sum: Self::Sum, new: Self::Sum) -> Self::Sum;
    /// A product.
    fn times(product: Self::Sum, new: Self::Sum) -> Self::Sum;
    /// The number as a summand of a mean.
    fn total(self) -> Self::Total;
    /// The sum for a mean.
    fn add(total: Self::Total, new: Self::Total) -> Self::Total;
    /// The mean of a count of numbers.
    fn mean(total: Self::Total, count: u32) -> Self;
    /// The lesser, or a NaN.
    #[must_use]
    fn least(self, other: Self) -> Self;
    /// The greater, or a NaN.
    #[must_use]
    fn greatest(self, other: Self) -> Self;
}

macro_rules! numbers {
    ($($ty:ty, $sum:ty, $total:ty: $widens:literal, $of:expr, $one:expr, $minus_one:expr, $widen:expr, $end:expr,
        ($plus:expr, $minus:expr, $times:expr), $total_of:expr, $add:expr, $mean:expr, ($ordered:literal, $less:expr);
    )*) => {$(
        impl Number for $ty {
            type Sum = $sum;
            type Total = $total;
            const WIDENS: bool = $widens;
            const ORDERED: bool = $ordered;
            const ZERO_SUM: $sum = <$sum as Zero>::ZERO;
            const ZERO_TOTAL: $total = <$total as Zero>::ZERO;

            fn of(fraction: f64) -> Self {
                $of(fraction)
            }

            fn unit(negative: bool) -> Self {
                if negative { $minus_one } else { $one }
            }

            #[inline(always)]
            fn widen(self) -> $sum {
                $widen(self)
            }

            #[inline(always)]
            fn end(sum: $sum) -> Self {
                $end(sum)
            }

            #[inline(always)]
            fn plus(sum: $sum, new: $sum) -> $sum {
                $plus(sum, new)
            }

            #[inline(always)]
            fn minus(sum: $sum, new: $sum) -> $sum {
                $minus(sum, new)
            }

            #[inline(always)]
            fn times(product: $sum, new: $sum) -> $sum {
                $times(product, new)
            }

            #[inline(always)]
            fn total(self) -> $total {
                $total_of(self)
            }

            #[inline(always)]
            fn add(total: $total, new: $total) -> $total {
                $add(total, new)
            }

            #[inline(always)]
            fn mean(total: $total, count: u32) -> Self {
                $mean(total, count)
            }

            #[inline(always)]
            fn least(self, other: Self) -> Self {
                if $less(other, self) { other } else { self }
            }

            #[inline(always)]
            fn greatest(self, other: Self) -> Self {
                // Of a NaN nothing is less: it replaces what is not one.
                if $less(self, other) { other } else { self }
            }
        }
    )*};
}

/// The 0 of a sum.
trait Zero {
    const ZERO: Self;
}

macro_rules! zeros {
    ($($ty:ty: $zero:expr;)*) => {$(
        impl Zero for $ty {
            const ZERO: Self = $zero;
        }
    )*};
}
zeros! {
    f32: 0.0;
    f64: 0.0;
    u8: 0;
    u16: 0;
    u32: 0;
    i32: 0;
    i64: 0;
    i128: 0;
    Complex<f32>: Complex { re: 0.0, im: 0.0 };
}

numbers! {
    f32, f32, f32: false, |x| x as f32, 1.0, -1.0, |x| x, |sum| sum,
        (|a: f32, b| a + b, |a: f32, b| a - b, |a: f32, b| a * b),
        |x| x, |a: f32, b| a + b, |sum: f32, count| sum / count as f32, (true, |a: f32, b: f32| a < b);
    f64, f64, f64: false, |x| x, 1.0, -1.0, |x| x, |sum| sum,
        (|a: f64, b| a + b, |a: f64, b| a - b, |a: f64, b| a * b),
        |x| x, |a: f64, b| a + b, |sum: f64, count| sum / f64::from(count), (true, |a: f64, b: f64| a < b);
    f16, f32, f32: true, f16::from_f64, f16::ONE, f16::NEG_ONE, f16::to_f32, f16::from_f32,
        (|a: f32, b| a + b, |a: f32, b| a - b, |a: f32, b| a * b),
        f16::to_f32, |a: f32, b| a + b, |sum: f32, count| f16::from_f32(sum / count as f32),
        (true, |a: f16, b: f16| a < b);
    bf16, f32, f32: true, bf16::from_f64, bf16::ONE, bf16::NEG_ONE, bf16::to_f32, bf16::from_f32,
        (|a: f32, b| a + b, |a: f32, b| a - b, |a: f32, b| a * b),
        bf16::to_f32, |a: f32, b| a + b, |sum: f32, count| bf16::from_f32(sum / count as f32),
        (true, |a: bf16, b: bf16| a < b);
    u8, u8, i64: false, |x: f64| (x * 200.0 + 100.0) as u8, 1, u8::MAX, |x| x, |sum| sum,
        (u8::wrapping_add, u8::wrapping_sub, u8::wrapping_mul),
        i64::from, |a: i64, b| a + b, |sum: i64, count: u32| (sum / i64::from(count)) as u8,
        (true, |a: u8, b: u8| a < b);
    u16, u16, i64: false, |x: f64| (x * 2000.0 + 1000.0) as u16, 1, u16::MAX, |x| x, |sum| sum,
        (u16::wrapping_add, u16::wrapping_sub, u16::wrapping_mul),
        i64::from, |a: i64, b| a + b, |sum: i64, count: u32| (sum / i64::from(count)) as u16,
        (true, |a: u16, b: u16| a < b);
    u32, u32, i64: false, |x: f64| (x * 2000.0 + 1000.0) as u32, 1, u32::MAX, |x| x, |sum| sum,
        (u32::wrapping_add, u32::wrapping_sub, u32::wrapping_mul),
        i64::from, |a: i64, b| a + b, |sum: i64, count: u32| (sum / i64::from(count)) as u32,
        (true, |a: u32, b: u32| a < b);
    i32, i32, i64: false, |x: f64| (x * 2000.0) as i32, 1, -1, |x| x, |sum| sum,
        (i32::wrapping_add, i32::wrapping_sub, i32::wrapping_mul),
        i64::from, |a: i64, b| a + b, |sum: i64, count: u32| sum.div_euclid(count.into()) as i32,
        (true, |a: i32, b: i32| a < b);
    i64, i64, i128: false, |x: f64| (x * 2000.0) as i64, 1, -1, |x| x, |sum| sum,
        (i64::wrapping_add, i64::wrapping_sub, i64::wrapping_mul),
        i128::from, |a: i128, b| a + b, |sum: i128, count: u32| sum.div_euclid(count.into()) as i64,
        (true, |a: i64, b: i64| a < b);
    Complex<f32>, Complex<f32>, Complex<f32>: false, |x: f64| Complex::new(x as f32, (x * 0.5) as f32),
        Complex::new(0.0, 1.0), Complex::new(-1.0, 0.0), |x| x, |sum| sum,
        (|a: Complex<f32>, b: Complex<f32>| a + b, |a: Complex<f32>, b: Complex<f32>| a - b,
            |a: Complex<f32>, b: Complex<f32>| a * b),
        |x| x, |a: Complex<f32>, b: Complex<f32>| a + b, |sum: Complex<f32>, count: u32| sum / count as f32,
        (false, |_, _| false);
}

/// A reduction of numbers.
pub trait Reduce<T: Number> {
    /// What is kept of the numbers so far.
    type Kept: Copy + 'static;
    /// Whether that is a number of the type: then it can be kept in the destination.
    const IN_PLACE: bool;
    /// What it begins with; `None` where the first number is what is kept.
    const BEGIN: Option<Self::Kept>;
    /// What is kept of a number.
    fn first(number: T) -> Self::Kept;
    /// What is kept of a number with a weight: sums have them.
    fn weighed(number: T, weight: T) -> Self::Kept;
    /// What is kept of all numbers so far and a new one.
    fn combine(kept: Self::Kept, new: Self::Kept) -> Self::Kept;
    /// The result for a count of numbers.
    fn end(kept: Self::Kept, count: u32) -> T;
}

macro_rules! reductions {
    ($($(#[$doc:meta])* $name:ident: $kept:ty, $in_place:expr, $begin:expr, $first:expr, $weighed:expr, $combine:expr,
        $end:expr;)*) => {$(
        $(#[$doc])*
        pub enum $name {}

        impl<T: Number> Reduce<T> for $name {
            type Kept = $kept;
            const IN_PLACE: bool = $in_place;
            const BEGIN: Option<$kept> = $begin;

            #[inline(always)]
            fn first(number: T) -> $kept {
                $first(number)
            }

            #[inline(always)]
            fn weighed(number: T, weight: T) -> $kept {
                $weighed(number, weight)
            }

            #[inline(always)]
            fn combine(kept: $kept, new: $kept) -> $kept {
                $combine(kept, new)
            }

            #[inline(always)]
            fn end(kept: $kept, count: u32) -> T {
                $end(kept, count)
            }
        }
    )*};
}
reductions! {
    /// The last number.
    Last: T, true, None, |x| x, |x, _| x, |_, new| new, |kept, _| kept;
    /// The sum.
    Add: T::Sum, !T::WIDENS, Some(T::ZERO_SUM), T::widen, |x: T, by: T| T::times(x.widen(), by.widen()), T::plus,
         |kept, _| T::end(kept);
    /// What is left when all are subtracted.
    Sub: T::Sum, !T::WIDENS, Some(T::ZERO_SUM), T::widen, |x: T, _| x.widen(), T::minus, |kept, _| T::end(kept);
    /// The product.
    Mul: T::Sum, !T::WIDENS, None, T::widen, |x: T, _| x.widen(), T::times, |kept, _| T::end(kept);
    /// The least.
    Min: T, true, None, |x| x, |x, _| x, T::least, |kept, _| kept;
    /// The greatest.
    Max: T, true, None, |x| x, |x, _| x, T::greatest, |kept, _| kept;
    /// The mean.
    Mean: T::Total, false, Some(T::ZERO_TOTAL), T::total, |x: T, _| x.total(), T::add, T::mean;
}
