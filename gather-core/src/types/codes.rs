//! Codes of block-quantised data, and the types of its scales.

#![forbid(unsafe_code)]

use crate::types::declare::closed_set;
use crate::types::element::Element;
use crate::types::fused::FusedFormat;

closed_set! {
/// Code formats of block-quantised data, as in ONNX Runtime's `GatherBlockQuantized`.
///
/// Codes are contiguous in bytes, the lowest bits first.
///
/// | codes | data type in ONNX Runtime | values of a code | default zero point |
/// |---|---|---|---|
/// | `Bits2` | `uint8`, `bits = 2` | 0 to 3 | 2 |
/// | `Bits4` | `uint8`, `bits = 4` | 0 to 15 | 8 |
/// | `Bits8` | `uint8`, `bits = 8` | 0 to 255 | 128 |
/// | `U4` | `uint4` | 0 to 15 | 0 |
/// | `I4` | `int4` | -8 to 7 | 0 |
/// | `E4M3`, `E4M3Fnuz` | `float8e4m3fn`, `float8e4m3fnuz` | FP8 | 0, fixed |
/// | `E5M2`, `E5M2Fnuz` | `float8e5m2`, `float8e5m2fnuz` | FP8 | 0, fixed |
/// | `E2M1` | `float4e2m1` | FP4 | 0, fixed |
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Codes {
    /// Four codes of two bits in a byte.
    Bits2,
    /// Two codes of four bits in a byte.
    Bits4,
    /// One code per byte.
    Bits8,
    /// Pairs of the ONNX type UINT4.
    U4,
    /// Pairs of the ONNX type INT4.
    I4,
    /// FP8 with 4 bits of exponent and 3 of mantissa, as [`maps::e4m3_to_f32`](crate::maps::e4m3_to_f32) reads it.
    E4M3,
    /// FP8 E4M3 with an exponent bias of 8, without infinities and without -0.0, whose code is NaN.
    E4M3Fnuz,
    /// FP8 with 5 bits of exponent and 2 of mantissa, as [`maps::e5m2_to_f32`](crate::maps::e5m2_to_f32) reads it.
    E5M2,
    /// FP8 E5M2 with an exponent bias of 16, without infinities and without -0.0, whose code is NaN.
    E5M2Fnuz,
    /// Pairs of FP4 E2M1 numbers, as [`maps::e2m1_to_f32`](crate::maps::e2m1_to_f32) reads them.
    E2M1,
}
/// Every kind of codes.
pub const ALL;
}

impl Codes {
    /// Codes per byte.
    #[must_use]
    pub const fn per_byte(self) -> usize {
        match self {
            Codes::Bits2 => 4,
            Codes::Bits4 | Codes::U4 | Codes::I4 | Codes::E2M1 => 2,
            Codes::Bits8 | Codes::E4M3 | Codes::E4M3Fnuz | Codes::E5M2 | Codes::E5M2Fnuz => 1,
        }
    }

    /// The default zero point.
    #[must_use]
    pub const fn default_zero_point(self) -> u8 {
        match self {
            Codes::Bits2 => 2,
            Codes::Bits4 => 8,
            Codes::Bits8 => 128,
            _ => 0,
        }
    }

    /// Whether codes are floats. Floats have no zero points; a block may be a whole row, and rows may share scales.
    #[must_use]
    pub const fn is_float(self) -> bool {
        matches!(self, Codes::E4M3 | Codes::E4M3Fnuz | Codes::E5M2 | Codes::E5M2Fnuz | Codes::E2M1)
    }

    /// Whether zero points are packed in one list, as in ONNX's 4-bit tensors, and not row by row.
    pub(crate) const fn lists_zero_points(self) -> bool {
        matches!(self, Codes::U4 | Codes::I4)
    }
}

pub(crate) mod sealed {
    pub trait Sealed {}
}

/// Float types of dequantised results: `f32`, and with the feature `half` `f16` and `bf16`. The scales of blocks have
/// the type of the result. Sealed.
///
/// Values are computed in `f32` and rounded once.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no float that quantised data becomes",
    label = "not `f32`, and with the feature `half` not `f16` or `bf16`"
)]
pub trait Float: Element + sealed::Sealed {
    #[doc(hidden)]
    const FORMAT: FusedFormat;

    /// The number as `f32`, exactly.
    #[doc(hidden)]
    fn to_f32(self) -> f32;

    /// The nearest number of this type.
    #[doc(hidden)]
    fn from_f32(value: f32) -> Self;
}

/// Evaluates `$make` with `$U` as the [`Float`] of a run-time data type, or `$other` for any other data type.
macro_rules! by_scale {
    ($dtype:expr, $U:ident => $make:expr, $other:expr) => {
        $crate::types::codes::by_scale!($dtype, $U => $make, $other;
            F32 f32, #[cfg(feature = "half")] F16 half::f16, #[cfg(feature = "half")] Bf16 half::bf16)
    };
    ($dtype:expr, $U:ident => $make:expr, $other:expr; $($(#[$attr:meta])? $name:ident $ty:ty),*) => {
        match $dtype.built_in() {
            $($(#[$attr])? Some($crate::types::element::BuiltIn::$name) => {
                type $U = $ty;
                $make
            })*
            _ => $other,
        }
    };
}

pub(crate) use by_scale;

impl sealed::Sealed for f32 {}

impl Float for f32 {
    const FORMAT: FusedFormat = FusedFormat::F32;

    #[inline(always)]
    fn to_f32(self) -> f32 {
        self
    }

    #[inline(always)]
    fn from_f32(value: f32) -> Self {
        value
    }
}
