//! Numbers of 4 bits in pairs, with the scales of blocks in a separate tensor.

#![forbid(unsafe_code)]
// Loops over indices of arrays of constant length are vectorised.
#![allow(clippy::needless_range_loop)]

use crate::maps::floats::round;
use crate::types::codes::Float;
use crate::types::numbers::{e2m1_to_f32, e8m0_to_f32};

/// The values of NF4: quantiles of equal probability under a normal distribution, with 0 among them.
///
/// Dettmers et al., [QLoRA: efficient finetuning of quantized LLMs](https://arxiv.org/abs/2305.14314), appendix E.
pub const NF4: [f32; 16] = [
    -1.0,
    -0.6961928,
    -0.52507305,
    -0.3949175,
    -0.28444138,
    -0.18477343,
    -0.091050036,
    0.0,
    0.0795803,
    0.1609302,
    0.2461123,
    0.33791524,
    0.44070983,
    0.562617,
    0.72295684,
    1.0,
];

super::map_functions! {
    /// Microscaling blocks of 32 FP4 E2M1 numbers in pairs, low half first, with an E8M0 scale: `value * 2^(scale -
    /// 127)` ([OCP microscaling formats
    /// specification](https://www.opencompute.org/documents/ocp-microscaling-formats-mx-v1-0-spec-final-pdf)).
    ///
    /// Safetensors files store blocks and scales in two tensors. For GGUF see [`MXFP4`](crate::maps::MXFP4).
    pub fn mxfp4_pairs<U: Float> = |block: [u8; 16], scale: u8| -> [U; 32] { round(e2m1_pairs(block, scale)) }

    /// Blocks of 64 4-bit codes into [`NF4`] in pairs, high half first, as in bitsandbytes: `NF4[q] * absmax`.
    pub fn nf4<U: Float> = |block: [u8; 32], absmax: f32| -> [U; 64] { round(looked_up(block, absmax)) }
}

#[inline(always)]
fn e2m1_pairs(block: [u8; 16], scale: u8) -> [f32; 32] {
    let scale = e8m0_to_f32(scale);
    let mut out = [0.0; 32];
    for i in 0..16 {
        out[2 * i] = e2m1_to_f32(block[i]) * scale;
        out[2 * i + 1] = e2m1_to_f32(block[i] >> 4) * scale;
    }
    out
}

#[inline(always)]
fn looked_up(block: [u8; 32], absmax: f32) -> [f32; 64] {
    let mut out = [0.0; 64];
    for i in 0..32 {
        out[2 * i] = NF4[usize::from(block[i] >> 4)] * absmax;
        out[2 * i + 1] = NF4[usize::from(block[i] & 15)] * absmax;
    }
    out
}
