//! Arithmetic of reductions and of row functions.

#![forbid(unsafe_code)]

use core::ops::{Add as _, Mul as _, Sub as _};

#[cfg(feature = "num-complex")]
use num_complex::Complex;

/// Numbers with wrapping addition, subtraction and multiplication.
pub trait Arithmetic: Copy + 'static {
    const NOTHING: Self;
    /// The neutral factor; `None` for complex numbers, since `1 * x` changes an infinite `x`.
    const ONE: Option<Self>;
    fn plus(self, other: Self) -> Self;
    fn minus(self, other: Self) -> Self;
    fn times(self, other: Self) -> Self;
}

macro_rules! numbers {
    ($($($ty:ty),+: $zero:expr, $one:expr, $plus:ident, $minus:ident, $times:ident;)*) => {$($(
        impl Arithmetic for $ty {
            const NOTHING: Self = $zero;
            const ONE: Option<Self> = $one;

            #[inline(always)]
            fn plus(self, other: Self) -> Self {
                self.$plus(other)
            }

            #[inline(always)]
            fn minus(self, other: Self) -> Self {
                self.$minus(other)
            }

            #[inline(always)]
            fn times(self, other: Self) -> Self {
                self.$times(other)
            }
        }
    )+)*};
}
numbers! {
    i8, i16, i32, i64, i128, u8, u16, u32, u64: 0, Some(1), wrapping_add, wrapping_sub, wrapping_mul;
    f32, f64: 0.0, Some(1.0), add, sub, mul;
}
#[cfg(feature = "num-complex")]
numbers! {
    Complex<f32>, Complex<f64>: Complex { re: 0.0, im: 0.0 }, None, add, sub, mul;
}
