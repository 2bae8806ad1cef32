//! Numbers of 8 bits: FP8, unscaled, with a scale, and in microscaling blocks.

#![forbid(unsafe_code)]
// Loops over indices of arrays of constant length are vectorised.
#![allow(clippy::needless_range_loop)]

use crate::maps::floats::round;
use crate::types::codes::Float;
use crate::types::numbers::{e4m3_to_f32, e5m2_to_f32, e8m0_to_f32};

super::map_functions! {
    /// E8M0 scales to `f32`, exactly. See [`e8m0_to_f32`](crate::maps::e8m0_to_f32).
    pub fn e8m0 = |code: u8| -> f32 { e8m0_to_f32(code) }

    /// FP8 E4M3 numbers, exactly. See [`e4m3_to_f32`](crate::maps::e4m3_to_f32).
    pub fn e4m3<U: Float> = |code: u8| -> U { U::from_f32(e4m3_to_f32(code)) }

    /// FP8 E5M2 numbers, exactly. See [`e5m2_to_f32`](crate::maps::e5m2_to_f32).
    pub fn e5m2<U: Float> = |code: u8| -> U { U::from_f32(e5m2_to_f32(code)) }

    /// FP8 E4M3 numbers with a scale: `value * scale`.
    pub fn e4m3_scaled<U: Float> = |code: u8, scale: f32| -> U { U::from_f32(e4m3_to_f32(code) * scale) }

    /// FP8 E5M2 numbers with a scale: `value * scale`.
    pub fn e5m2_scaled<U: Float> = |code: u8, scale: f32| -> U { U::from_f32(e5m2_to_f32(code) * scale) }

    /// Microscaling blocks of 32 FP8 E4M3 numbers with an E8M0 scale: `value * 2^(scale - 127)` ([OCP microscaling
    /// formats specification](https://www.opencompute.org/documents/ocp-microscaling-formats-mx-v1-0-spec-final-pdf)).
    pub fn mxfp8_e4m3<U: Float> = |block: [u8; 32], scale: u8| -> [U; 32] { round(scaled(block, scale, e4m3_to_f32)) }

    /// Microscaling blocks of 32 FP8 E5M2 numbers with an E8M0 scale: `value * 2^(scale - 127)` ([OCP microscaling
    /// formats specification](https://www.opencompute.org/documents/ocp-microscaling-formats-mx-v1-0-spec-final-pdf)).
    pub fn mxfp8_e5m2<U: Float> = |block: [u8; 32], scale: u8| -> [U; 32] { round(scaled(block, scale, e5m2_to_f32)) }
}

#[inline(always)]
fn scaled(block: [u8; 32], scale: u8, value: impl Fn(u8) -> f32) -> [f32; 32] {
    let scale = e8m0_to_f32(scale);
    array!(0.0; 32, |i| value(block[i]) * scale)
}
