//! Maps of the types of the crate `half`.

#![forbid(unsafe_code)]
// Loops over indices of arrays of constant length are vectorised.
#![allow(clippy::needless_range_loop)]
#![cfg(feature = "half")]

use half::{bf16, f16};

use crate::types::codes::{Scale, sealed};
use crate::types::fused::FusedFormat;
use crate::types::numbers::{bf16_to_f32, f16_to_f32, f32_to_bf16, f32_to_f16};

crate::map_kernels! {
    /// Half precision to single, exactly.
    pub const F16_TO_F32 = |value: f16| -> f32 { f16_to_f32(value.to_bits()) };

    /// `bfloat16` to single precision, exactly.
    pub const BF16_TO_F32 = |value: bf16| -> f32 { bf16_to_f32(value.to_bits()) };

    /// Half precision with a scale to single precision: `value * scale`.
    pub const F16_SCALED_TO_F32 = |value: f16, scale: f32| -> f32 { f16_to_f32(value.to_bits()) * scale };

    /// `bfloat16` with a scale to single precision: `value * scale`.
    pub const BF16_SCALED_TO_F32 = |value: bf16, scale: f32| -> f32 { bf16_to_f32(value.to_bits()) * scale };

    /// Single precision to half: the nearest value, and the even one of two that are as near. Beyond the greatest,
    /// infinity.
    pub const F32_TO_F16 = |value: f32| -> f16 { f16::from_bits(f32_to_f16(value)) };

    /// Single precision to `bfloat16`: the nearest value, and the even one of two that are as near.
    pub const F32_TO_BF16 = |value: f32| -> bf16 { bf16::from_bits(f32_to_bf16(value)) };
}

/// Values, each rounded.
#[inline(always)]
pub(super) fn to_f16<const N: usize>(values: [f32; N]) -> [f16; N] {
    let mut out = [f16::ZERO; N];
    for i in 0..N {
        out[i] = f16::from_bits(f32_to_f16(values[i]));
    }
    out
}

/// Values, each rounded.
#[inline(always)]
pub(super) fn to_bf16<const N: usize>(values: [f32; N]) -> [bf16; N] {
    let mut out = [bf16::ZERO; N];
    for i in 0..N {
        out[i] = bf16::from_bits(f32_to_bf16(values[i]));
    }
    out
}

/// A type of `half` as the scales of block-quantised data.
macro_rules! scale {
    ($ty:ty: $format:ident, $to:ident, $from:ident) => {
        impl sealed::Sealed for $ty {}

        impl Scale for $ty {
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
scale!(f16: F16, f16_to_f32, f32_to_f16);
scale!(bf16: Bf16, bf16_to_f32, f32_to_bf16);
