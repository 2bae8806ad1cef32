//! Numbers of 8 bits: FP8, alone, with a scale, and in microscaling blocks.

#![forbid(unsafe_code)]
// Loops over indices of arrays of constant length are vectorised.
#![allow(clippy::needless_range_loop)]

use crate::types::numbers::{e4m3_to_f32, e5m2_to_f32, e8m0_to_f32};

crate::map_kernels! {
    /// E8M0 scales to `f32`, exactly. See [`e8m0_to_f32`](crate::maps::e8m0_to_f32).
    pub const E8M0_TO_F32 = |code: u8| -> f32 { e8m0_to_f32(code) };
}

super::maps_to_each! {
    /// FP8 E4M3 numbers. In `f32` and `bf16` they are exact, and in `f16` too. See
    /// [`e4m3_to_f32`](crate::maps::e4m3_to_f32).
    pub const E4M3_TO_F32, E4M3_TO_F16, E4M3_TO_BF16 = |code: u8| -> { e4m3_to_f32(code) };

    /// FP8 E5M2 numbers. In `f32` and `bf16` they are exact, and in `f16` too. See
    /// [`e5m2_to_f32`](crate::maps::e5m2_to_f32).
    pub const E5M2_TO_F32, E5M2_TO_F16, E5M2_TO_BF16 = |code: u8| -> { e5m2_to_f32(code) };

    /// FP8 E4M3 numbers with a scale: `value * scale`.
    pub const E4M3_SCALED_TO_F32, E4M3_SCALED_TO_F16, E4M3_SCALED_TO_BF16 = |code: u8, scale: f32| -> {
        e4m3_to_f32(code) * scale
    };

    /// FP8 E5M2 numbers with a scale: `value * scale`.
    pub const E5M2_SCALED_TO_F32, E5M2_SCALED_TO_F16, E5M2_SCALED_TO_BF16 = |code: u8, scale: f32| -> {
        e5m2_to_f32(code) * scale
    };

    /// Microscaling blocks of 32 FP8 E4M3 numbers, whose scale is E8M0: `value * 2^(scale - 127)` ([OCP microscaling
    /// formats specification](https://www.opencompute.org/documents/ocp-microscaling-formats-mx-v1-0-spec-final-pdf)).
    pub const MXFP8_E4M3_TO_F32, MXFP8_E4M3_TO_F16, MXFP8_E4M3_TO_BF16 = |block: [u8; 32], scale: u8| -> [32] {
        scaled(block, scale, e4m3_to_f32)
    };

    /// Microscaling blocks of 32 FP8 E5M2 numbers, whose scale is E8M0: `value * 2^(scale - 127)` ([OCP microscaling
    /// formats specification](https://www.opencompute.org/documents/ocp-microscaling-formats-mx-v1-0-spec-final-pdf)).
    pub const MXFP8_E5M2_TO_F32, MXFP8_E5M2_TO_F16, MXFP8_E5M2_TO_BF16 = |block: [u8; 32], scale: u8| -> [32] {
        scaled(block, scale, e5m2_to_f32)
    };
}

#[inline(always)]
fn scaled(block: [u8; 32], scale: u8, value: impl Fn(u8) -> f32) -> [f32; 32] {
    let scale = e8m0_to_f32(scale);
    let mut out = [0.0; 32];
    for i in 0..32 {
        out[i] = value(block[i]) * scale;
    }
    out
}
