//! Bitwise conversions between number formats, one number at a time.
//!
//! The conversions have no branches, so that loops around them are vectorised. If the three kinds of a number
//! (subnormal, normal, special) need different steps, all are computed and one result is selected.

#![forbid(unsafe_code)]

/// Converts the bits of an `f16` (IEEE 754 binary16) to `f32`, exactly.
///
/// Signalling NaNs become quiet; payloads and signs stay. Inside a map of your own, `f16_to_f32(value.to_bits())` is
/// vectorised, and `half::f16::to_f32` is not.
///
/// ```
/// use gather_core::maps::f16_to_f32;
///
/// assert_eq!([0x3c00, 0x8001, 0x7c00].map(f16_to_f32), [1.0, -(2f32.powi(-24)), f32::INFINITY]);
/// ```
#[inline(always)]
#[must_use]
pub const fn f16_to_f32(bits: u16) -> f32 {
    let bits = bits as i32;
    let (sign, rest) = (bits << 16 & i32::MIN, bits & 0x7fff);
    // The exponent bias changes from 15 to 127. Exponents of infinities and NaNs move twice as far.
    let special = if rest > 0x7bff { 112 << 23 } else { 0 };
    let normal = (rest << 13) + (112 << 23) + special;
    // The bits represent the value plus 2^-14. The subtraction is exact.
    let subnormal = f32::from_bits(((rest << 13) + (113 << 23)) as u32) - f32::from_bits(113 << 23);
    let magnitude = if rest < 0x0400 { subnormal.to_bits() as i32 } else { normal };
    // Signalling NaNs become quiet.
    let quiet = if rest > 0x7c00 { 0x0040_0000 } else { 0 };
    f32::from_bits((sign | magnitude | quiet) as u32)
}

/// As [`f16_to_f32`], in fewer operations, for zeros and normal numbers.
#[cfg(feature = "half")]
#[inline(always)]
pub(crate) const fn usual_f16_to_f32(bits: u16) -> f32 {
    // The sign extends to the top bit, all other bits move by 13. The product changes the bias from 15 to 127.
    let shifted = (bits as i16 as i32) << 13 & 0x8fff_e000_u32 as i32;
    f32::from_bits(shifted as u32) * f32::from_bits((127 + 112) << 23)
}

/// 1 if the bits of an `f16` are a subnormal number, an infinity or a NaN, else 0.
#[cfg(feature = "half")]
#[inline(always)]
pub(crate) const fn f16_is_unusual(bits: u16) -> u16 {
    let magnitude = (bits & 0x7fff) as i16;
    ((magnitude > 0x7bff) | ((magnitude > 0) & (magnitude < 0x0400))) as u16
}

/// Converts the bits of a `bf16` to `f32`, exactly. Signalling NaNs become quiet.
///
/// ```
/// assert_eq!(gather_core::maps::bf16_to_f32(0xc0a0), -5.0);
/// ```
#[inline(always)]
#[must_use]
pub const fn bf16_to_f32(bits: u16) -> f32 {
    let bits = (bits as u32) << 16;
    let quiet = if bits << 1 > 0xff00_0000 { 0x0040_0000 } else { 0 };
    f32::from_bits(bits | quiet)
}

/// Converts `f32` to the bits of the nearest `f16`, ties to even; beyond the greatest, to infinity. NaNs become quiet,
/// and keep the bits of their payload that fit.
///
/// ```
/// use gather_core::maps::f32_to_f16;
///
/// assert_eq!([1.0, 65519.9, 65520.0].map(f32_to_f16), [0x3c00, 0x7bff, 0x7c00]);
/// ```
#[inline(always)]
#[must_use]
pub const fn f32_to_f16(value: f32) -> u16 {
    let bits = value.to_bits() as i32;
    let (sign, rest) = (bits >> 16 & 0x8000, bits & i32::MAX);
    // 2^16 and more become infinity, by the same steps that round other numbers.
    let finite = if rest < 143 << 23 { rest } else { 143 << 23 };
    // The exponent bias changes from 127 to 15. Rounding adds half a unit, and a bit less to even numbers.
    let normal = (finite - (112 << 23) + 0x0fff + (finite >> 13 & 1)) >> 13;
    // Adding 1/2 rounds to multiples of 2^-24, and leaves the multiple in the low bits.
    let one_half = 126 << 23;
    let subnormal = (f32::from_bits(finite as u32) + f32::from_bits(one_half as u32)).to_bits() as i32 - one_half;
    let magnitude = if finite < 113 << 23 { subnormal } else { normal };
    let nan = if rest > 0x7f80_0000 { 0x0200 | rest >> 13 & 0x01ff } else { 0 };
    (sign | magnitude | nan) as u16
}

/// Converts `f32` to the bits of the nearest `bf16`, ties to even. NaNs become quiet.
///
/// ```
/// assert_eq!(gather_core::maps::f32_to_bf16(-5.0), 0xc0a0);
/// ```
#[inline(always)]
#[must_use]
pub const fn f32_to_bf16(value: f32) -> u16 {
    let bits = value.to_bits();
    let odd = bits >> 16 & 1;
    let nearest = bits.wrapping_add(0x7fff + odd) >> 16;
    // Rounded like numbers, NaNs could become infinity.
    let nan = bits >> 16 | 0x0040;
    (if bits & 0x7fff_ffff > 0x7f80_0000 { nan } else { nearest }) as u16
}

/// Converts an FP8 number with 4 bits of exponent and 3 of mantissa to `f32`, exactly.
///
/// This is `E4M3FN`: the exponent has a bias of 7, there are no infinities, the greatest value is 448, and the codes
/// 0x7f and 0xff are NaN ([FP8 formats for deep learning](https://arxiv.org/abs/2209.05433), adopted by the OCP 8-bit
/// floating point specification).
///
/// ```
/// use gather_core::maps::e4m3_to_f32;
///
/// assert_eq!([0x38, 0x81, 0x7e].map(e4m3_to_f32), [1.0, -(2f32.powi(-9)), 448.0]);
/// ```
#[inline(always)]
#[must_use]
pub const fn e4m3_to_f32(code: u8) -> f32 {
    let (sign, rest) = ((code as u32 & 0x80) << 24, code as u32 & 0x7f);
    let magnitude = if rest == 0x7f { 0x7fc0_0000 } else { e4m3_magnitude(rest).to_bits() };
    f32::from_bits(sign | magnitude)
}

/// The magnitude of the seven low bits of an E4M3 number. All 128 codes are read as numbers.
#[inline(always)]
pub(crate) const fn e4m3_magnitude(rest: u32) -> f32 {
    // The exponent bias changes from 7 to 127.
    let normal = (rest << 20) + (120 << 23);
    // The bits represent the value plus 2^-6. The subtraction is exact.
    let subnormal = f32::from_bits((rest << 20) + (121 << 23)) - f32::from_bits(121 << 23);
    f32::from_bits(if rest < 8 { subnormal.to_bits() } else { normal })
}

/// Converts `E4M3FNUZ`: as [`e4m3_to_f32`], but the exponent bias is 8, and the code of -0.0 is the only NaN.
#[inline(always)]
pub(crate) const fn e4m3fnuz_to_f32(code: u8) -> f32 {
    fnuz(code, e4m3_magnitude(code as u32 & 0x7f))
}

/// Converts `E5M2FNUZ`: as [`e5m2_to_f32`] with bias 16, all magnitudes numbers, and the code of -0.0 the only NaN.
#[inline(always)]
pub(crate) const fn e5m2fnuz_to_f32(code: u8) -> f32 {
    fnuz(code, e5m2_magnitude(code as u32 & 0x7f))
}

/// An FP8 number without infinities and -0.0, from twice its magnitude. Halving is exact: no result is subnormal.
#[inline(always)]
const fn fnuz(code: u8, doubled: f32) -> f32 {
    let sign = (code as u32 & 0x80) << 24;
    f32::from_bits(if code == 0x80 { 0x7fc0_0000 } else { (doubled * 0.5).to_bits() | sign })
}

/// Converts an FP8 number with 5 bits of exponent and 2 of mantissa to `f32`, exactly.
///
/// The code is the upper half of an `f16`, with infinities at 0x7c and 0xfc ([FP8 formats for deep
/// learning](https://arxiv.org/abs/2209.05433), adopted by the OCP 8-bit floating point specification). NaNs keep their
/// sign and lose their payload.
///
/// ```
/// use gather_core::maps::e5m2_to_f32;
///
/// assert_eq!([0x3c, 0x81, 0xfc].map(e5m2_to_f32), [1.0, -(2f32.powi(-16)), f32::NEG_INFINITY]);
/// ```
#[inline(always)]
#[must_use]
pub const fn e5m2_to_f32(code: u8) -> f32 {
    let (sign, rest) = ((code as u32 & 0x80) << 24, code as u32 & 0x7f);
    let finite = e5m2_magnitude(rest).to_bits();
    let special = if rest == 0x7c { 0x7f80_0000 } else { 0x7fc0_0000 };
    f32::from_bits(sign | if rest < 0x7c { finite } else { special })
}

/// The magnitude of the seven low bits of an E5M2 number, as if all 128 were numbers.
#[inline(always)]
const fn e5m2_magnitude(rest: u32) -> f32 {
    // The exponent bias changes from 15 to 127.
    let normal = (rest << 21) + (112 << 23);
    // The bits represent the value plus 2^-14. The subtraction is exact.
    let subnormal = f32::from_bits((rest << 21) + (113 << 23)) - f32::from_bits(113 << 23);
    f32::from_bits(if rest < 4 { subnormal.to_bits() } else { normal })
}

/// Converts a scale of microscaling formats: 2^(code - 127), and NaN for 255 ([OCP microscaling formats
/// specification](https://www.opencompute.org/documents/ocp-microscaling-formats-mx-v1-0-spec-final-pdf)).
///
/// ```
/// use gather_core::maps::e8m0_to_f32;
///
/// assert_eq!([127, 130, 0].map(e8m0_to_f32), [1.0, 8.0, 2f32.powi(-127)]);
/// ```
#[inline(always)]
#[must_use]
pub const fn e8m0_to_f32(code: u8) -> f32 {
    // 2^-127 is subnormal in `f32`.
    let finite = if code == 0 { 0x0040_0000 } else { (code as u32) << 23 };
    f32::from_bits(if code == 0xff { 0x7fc0_0000 } else { finite })
}

/// Converts the low four bits, an FP4 number: 0, 0.5, 1, 1.5, 2, 3, 4, 6, and from 8 on the negatives, including -0.0
/// ([OCP microscaling formats
/// specification](https://www.opencompute.org/documents/ocp-microscaling-formats-mx-v1-0-spec-final-pdf)).
///
/// ```
/// use gather_core::maps::e2m1_to_f32;
///
/// assert_eq!([1, 7, 0x0a].map(e2m1_to_f32), [0.5, 6.0, -1.0]);
/// assert!(e2m1_to_f32(8).is_sign_negative());
/// ```
#[inline(always)]
#[must_use]
pub const fn e2m1_to_f32(code: u8) -> f32 {
    let sign = (code as u32 & 8) << 28;
    // Half of an integer: exact, also for 0.
    f32::from_bits((e2m1_doubled(code) as f32 * 0.5).to_bits() | sign)
}

/// Twice the magnitude of the FP4 number in the low four bits: 0, 1, 2, 3, 4, 6, 8, 12.
#[inline(always)]
pub(crate) const fn e2m1_doubled(code: u8) -> u8 {
    // The steps are 1 up to 4, then 2, 2 and 4. Each term adds the increase of the step. Vectors of bytes have
    // saturating subtraction, but no shift by different counts.
    let magnitude = code & 7;
    magnitude + magnitude.saturating_sub(4) + 2 * magnitude.saturating_sub(6)
}

/// Twice the FP4 number in the low four bits, an integer. -0.0 becomes 0.
#[inline(always)]
pub(crate) const fn e2m1_doubled_signed(code: u8) -> i8 {
    let sign = (code << 4) as i8 >> 7;
    (e2m1_doubled(code) as i8 ^ sign) - sign
}
