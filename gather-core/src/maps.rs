//! Ready-made maps for [`run_map`](crate::IndexOperator::run_map): tables are read in another format than they are
//! stored in.
//!
//! ```
//! use gather_core::{Gather, Param, View, maps};
//!
//! fn main() -> Result<(), gather_core::Error> {
//!     let (table, scales) = ([128u8, 130, 126, 255, 0, 128], [0.5f32, 0.25, 2.0]);
//!     let (table, ids) = (View::new(&table, &[3, 2])?, View::new(&[2i64, 0], &[2])?);
//!     let params = (Param::PerRow(&scales), Param::Value(128));
//!     let rows = Gather::new(0).run_map(&maps::DEQUANTIZE_U8, &table, &ids, params)?;
//!     assert_eq!(rows.as_slice(), [-256.0, 0.0, 0.0, 1.0]);
//!     Ok(())
//! }
//! ```
//!
//! The conversions of `half` types give what those of the crate `half` give, to the bit, NaN payloads included. They
//! have no branches, so that they are vectorised at every level.

#![forbid(unsafe_code)]

crate::map_kernels! {
    /// Bytes with an affine quantisation: `(value - zero_point) * scale`, as ONNX DequantizeLinear has it.
    pub static DEQUANTIZE_U8 = |value: u8, scale: f32, zero_point: u8| -> f32 {
        (f32::from(value) - f32::from(zero_point)) * scale
    };

    /// Signed bytes with an affine quantisation: `(value - zero_point) * scale`, as ONNX DequantizeLinear has it.
    pub static DEQUANTIZE_I8 = |value: i8, scale: f32, zero_point: i8| -> f32 {
        (f32::from(value) - f32::from(zero_point)) * scale
    };

    /// Half precision to single, exactly.
    #[cfg(feature = "half")]
    pub static F16_TO_F32 = |value: half::f16| -> f32 {
        let bits = i32::from(value.to_bits());
        let (sign, rest) = (bits << 16 & i32::MIN, bits & 0x7fff);
        // Exponents move from a bias of 15 to one of 127. Those of infinities and NaNs move twice as far.
        let special = if rest > 0x7bff { 112 << 23 } else { 0 };
        let normal = (rest << 13) + (112 << 23) + special;
        // The bits make a number that is 2^-14 more than the value. The subtraction is exact.
        let subnormal = f32::from_bits(((rest << 13) + (113 << 23)) as u32) - f32::from_bits(113 << 23);
        let magnitude = if rest < 0x0400 { subnormal.to_bits() as i32 } else { normal };
        // Signalling NaNs become quiet.
        let quiet = if rest > 0x7c00 { 0x0040_0000 } else { 0 };
        f32::from_bits((sign | magnitude | quiet) as u32)
    };

    /// `bfloat16` to single precision, exactly.
    #[cfg(feature = "half")]
    pub static BF16_TO_F32 = |value: half::bf16| -> f32 {
        let bits = u32::from(value.to_bits()) << 16;
        // Signalling NaNs become quiet.
        let quiet = if bits << 1 > 0xff00_0000 { 0x0040_0000 } else { 0 };
        f32::from_bits(bits | quiet)
    };

    /// Single precision to half: the nearest value, and the even one of two that are as near. Beyond the greatest,
    /// infinity.
    #[cfg(feature = "half")]
    pub static F32_TO_F16 = |value: f32| -> half::f16 {
        let bits = value.to_bits() as i32;
        let (sign, rest) = (bits >> 16 & 0x8000, bits & i32::MAX);
        // 2^16 and more become infinity, by the same steps that round other numbers.
        let finite = rest.min(143 << 23);
        // Exponents move from a bias of 127 to one of 15. To round, half a unit is added, to even numbers a bit less.
        let normal = (finite - (112 << 23) + 0x0fff + (finite >> 13 & 1)) >> 13;
        // Adding 1/2 rounds to multiples of 2^-24, and leaves their number in the low bits.
        let one_half = 126 << 23;
        let subnormal = (f32::from_bits(finite as u32) + f32::from_bits(one_half as u32)).to_bits() as i32 - one_half;
        let magnitude = if finite < 113 << 23 { subnormal } else { normal };
        // NaNs become quiet, and keep the bits of their payload that fit.
        let nan = if rest > 0x7f80_0000 { 0x0200 | rest >> 13 & 0x01ff } else { 0 };
        half::f16::from_bits((sign | magnitude | nan) as u16)
    };

    /// Single precision to `bfloat16`: the nearest value, and the even one of two that are as near.
    #[cfg(feature = "half")]
    pub static F32_TO_BF16 = |value: f32| -> half::bf16 {
        let bits = value.to_bits();
        let odd = bits >> 16 & 1;
        let nearest = bits.wrapping_add(0x7fff + odd) >> 16;
        // NaNs become quiet. Rounded like numbers, they could become infinity.
        let nan = bits >> 16 | 0x0040;
        half::bf16::from_bits(if bits & 0x7fff_ffff > 0x7f80_0000 { nan } else { nearest } as u16)
    };
}
