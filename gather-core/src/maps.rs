//! Ready-made maps for [`Gather::run_map`](crate::Gather::run_map): tables that are stored in few bits, read as `f32`.
//!
//! The conversions of `half` types are those of the crate `half`, to the bit (NaN payloads too), written without branches
//! so that they are vectorised at every level.

#![forbid(unsafe_code)]

crate::map_kernels! {
    /// Affine quantised bytes: `(value - zero_point) * scale`, as ONNX DequantizeLinear.
    pub static DEQUANTIZE_U8 = |value: u8, scale: f32, zero_point: u8| -> f32 {
        (f32::from(value) - f32::from(zero_point)) * scale
    };

    /// Affine quantised signed bytes: `(value - zero_point) * scale`, as ONNX DequantizeLinear.
    pub static DEQUANTIZE_I8 = |value: i8, scale: f32, zero_point: i8| -> f32 {
        (f32::from(value) - f32::from(zero_point)) * scale
    };

    /// Half precision to single, exactly.
    #[cfg(feature = "half")]
    pub static F16_TO_F32 = |value: half::f16| -> f32 {
        let bits = i32::from(value.to_bits());
        let (sign, rest) = (bits << 16 & i32::MIN, bits & 0x7fff);
        // Exponents move from a bias of 15 to one of 127; those of infinities and NaNs as much again, to the greatest.
        let special = if rest > 0x7bff { 112 << 23 } else { 0 };
        let normal = (rest << 13) + (112 << 23) + special;
        // 2^-14 more than the value, less 2^-14.
        let subnormal = f32::from_bits(((rest << 13) + (113 << 23)) as u32) - f32::from_bits(113 << 23);
        let magnitude = if rest < 0x0400 { subnormal.to_bits() as i32 } else { normal };
        // NaNs become quiet.
        let quiet = if rest > 0x7c00 { 0x0040_0000 } else { 0 };
        f32::from_bits((sign | magnitude | quiet) as u32)
    };

    /// `bfloat16` to single precision, exactly.
    #[cfg(feature = "half")]
    pub static BF16_TO_F32 = |value: half::bf16| -> f32 {
        let bits = u32::from(value.to_bits()) << 16;
        // NaNs become quiet.
        let quiet = if bits << 1 > 0xff00_0000 { 0x0040_0000 } else { 0 };
        f32::from_bits(bits | quiet)
    };

    /// Single precision to half: the nearest, of two the even one; infinity beyond the greatest.
    #[cfg(feature = "half")]
    pub static F32_TO_F16 = |value: f32| -> half::f16 {
        let bits = value.to_bits() as i32;
        let (sign, rest) = (bits >> 16 & 0x8000, bits & i32::MAX);
        // 2^16 and more are infinity, which they become as other numbers become what they are.
        let finite = rest.min(143 << 23);
        // Exponents move from a bias of 127 to one of 15; adding less than half, or half to odd ones, carries.
        let normal = (finite - (112 << 23) + 0x0fff + (finite >> 13 & 1)) >> 13;
        // The addition of 1/2 rounds to multiples of 2^-24, and leaves their number in the low bits.
        let one_half = 126 << 23;
        let subnormal = (f32::from_bits(finite as u32) + f32::from_bits(one_half as u32)).to_bits() as i32 - one_half;
        let magnitude = if finite < 113 << 23 { subnormal } else { normal };
        // NaNs become quiet, and keep what else fits.
        let nan = if rest > 0x7f80_0000 { 0x0200 | rest >> 13 & 0x01ff } else { 0 };
        half::f16::from_bits((sign | magnitude | nan) as u16)
    };

    /// Single precision to `bfloat16`: the nearest, of two the even one.
    #[cfg(feature = "half")]
    pub static F32_TO_BF16 = |value: f32| -> half::bf16 {
        let bits = value.to_bits();
        let odd = bits >> 16 & 1;
        let nearest = bits.wrapping_add(0x7fff + odd) >> 16;
        // NaNs become quiet, and do not carry into infinity.
        let nan = bits >> 16 | 0x0040;
        half::bf16::from_bits(if bits & 0x7fff_ffff > 0x7f80_0000 { nan } else { nearest } as u16)
    };
}
