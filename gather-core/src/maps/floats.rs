//! Conversions of floats and GGUF blocks to floats of another type.

#![forbid(unsafe_code)]
// Loops over indices of arrays of constant length are vectorised.
#![allow(clippy::needless_range_loop)]

use crate::types::codes::Float;
#[cfg(feature = "half")]
use crate::types::codes::sealed;
use crate::types::element::Element;
#[cfg(feature = "half")]
use crate::types::fused::FusedFormat;
#[cfg(feature = "half")]
use crate::types::numbers::{bf16_to_f32, f16_to_f32, f32_to_bf16, f32_to_f16};

/// Elements that [`convert`] reads: `f32`, `f16` and `bf16`, converted to `U`, and [`Block`](crate::maps::Block)s of
/// GGUF, converted to arrays of `U`. Sealed.
#[diagnostic::on_unimplemented(
    message = "`maps::convert` does not make `{U}` of `{Self}`",
    label = "no float, and no block of GGUF",
    note = "codes in bytes do not say their format: see the table of `gather_core::maps`, such as `maps::e4m3()` or \
            `maps::dequantize()`"
)]
pub trait Convertible<U: Float>: Element + converted::Sealed {
    /// `U`, or for a [`Block`](crate::maps::Block) `[U; LEN]`.
    type Floats: Element;

    #[doc(hidden)]
    fn convert(self) -> Self::Floats;
}

pub(super) mod converted {
    /// Implemented for the elements that [`convert`](super::convert) reads.
    pub trait Sealed {}
}

super::map_functions! {
    /// Floats as floats of another type, and [`Block`](crate::maps::Block)s of GGUF as arrays of floats. A narrower
    /// result is rounded to the nearest value, ties to even; beyond the greatest value it is infinity.
    ///
    /// ```
    /// # #[cfg(feature = "half")]
    /// # fn main() -> Result<(), gather_core::Error> {
    /// use gather_core::{Gather, View, maps};
    /// use half::f16;
    ///
    /// let table = [1.5, -2.0, 0.25, 8.0].map(f16::from_f32);
    /// let table = View::new(&table, &[2, 2])?;
    /// let rows = Gather::new(0).run(&table.map(&maps::convert::<_, f32>(), ()), &[1u32, 0])?;
    /// assert_eq!(rows.as_slice(), [0.25, 8.0, 1.5, -2.0]);
    /// # Ok(())
    /// # }
    /// # #[cfg(not(feature = "half"))]
    /// # fn main() {}
    /// ```
    #[doc(alias("f16", "bf16", "half", "GGUF"))]
    pub fn convert<T: Convertible<U>, U: Float> = |value: T| -> T::Floats { value.convert() } and CONVERTS

    /// Floats with a scale: `value * scale`, in `f32`, rounded to `U`.
    pub fn scaled<T: Float, U: Float> = |value: T, scale: f32| -> U { U::from_f32(value.to_f32() * scale) }
}

#[inline(always)]
pub(super) fn round<U: Float, const N: usize>(values: [f32; N]) -> [U; N] {
    array!(U::ZERO; N, |i| U::from_f32(values[i]))
}

macro_rules! convertible {
    ($($(#[$cfg:meta])* $ty:ty;)*) => {$(
        $(#[$cfg])*
        impl converted::Sealed for $ty {}

        $(#[$cfg])*
        impl<U: Float> Convertible<U> for $ty {
            type Floats = U;

            #[inline(always)]
            fn convert(self) -> U {
                // By name: the types of `half` have a slower method `to_f32`.
                U::from_f32(Float::to_f32(self))
            }
        }
    )*};
}
convertible! {
    f32;
    #[cfg(feature = "half")] half::f16;
    #[cfg(feature = "half")] half::bf16;
}

/// Implements [`Float`] for a type of `half`.
#[cfg(feature = "half")]
macro_rules! scale {
    ($ty:ty: $format:ident, $to:ident, $from:ident) => {
        impl sealed::Sealed for $ty {}

        impl Float for $ty {
            const FORMAT: FusedFormat = FusedFormat::$format;

            #[inline(always)]
            fn to_f32(self) -> f32 {
                $to(self.to_bits())
            }

            #[inline(always)]
            fn from_f32(value: f32) -> Self {
                <$ty>::from_bits($from(value))
            }
        }
    };
}
#[cfg(feature = "half")]
scale!(half::f16: F16, f16_to_f32, f32_to_f16);
#[cfg(feature = "half")]
scale!(half::bf16: Bf16, bf16_to_f32, f32_to_bf16);
