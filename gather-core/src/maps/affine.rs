//! Whole numbers of 8 and 4 bits with a scale and a zero point.

#![forbid(unsafe_code)]

crate::map_kernels! {
    /// Bytes with an affine quantisation: `(value - zero_point) * scale`, as ONNX DequantizeLinear has it.
    pub const DEQUANTIZE_U8 = |value: u8, scale: f32, zero_point: u8| -> f32 {
        (f32::from(value) - f32::from(zero_point)) * scale
    };

    /// Signed bytes with an affine quantisation: `(value - zero_point) * scale`, as ONNX DequantizeLinear has it.
    pub const DEQUANTIZE_I8 = |value: i8, scale: f32, zero_point: i8| -> f32 {
        (f32::from(value) - f32::from(zero_point)) * scale
    };
}

/// `(value - zero_point) * scale` of two numbers of 4 bits, the low one first.
#[inline(always)]
fn u4_pair(pair: u8, scale: f32, zero_point: u8) -> [f32; 2] {
    [pair & 15, pair >> 4].map(|value| (f32::from(value) - f32::from(zero_point)) * scale)
}

/// As [`u4_pair`], of numbers with a sign.
#[inline(always)]
fn i4_pair(pair: u8, scale: f32, zero_point: i8) -> [f32; 2] {
    [(pair << 4) as i8 >> 4, pair as i8 >> 4].map(|value| (f32::from(value) - f32::from(zero_point)) * scale)
}

super::maps_to_each! {
    /// Two numbers of 0 to 15 in a byte, the low one first, as ONNX packs UINT4: `(value - zero_point) * scale`.
    pub const U4_TO_F32, U4_TO_F16, U4_TO_BF16 = |pair: u8, scale: f32, zero_point: u8| -> [2] {
        u4_pair(pair, scale, zero_point)
    };

    /// Two numbers of -8 to 7 in a byte, the low one first, as ONNX packs INT4: `(value - zero_point) * scale`.
    pub const I4_TO_F32, I4_TO_F16, I4_TO_BF16 = |pair: u8, scale: f32, zero_point: i8| -> [2] {
        i4_pair(pair, scale, zero_point)
    };
}
