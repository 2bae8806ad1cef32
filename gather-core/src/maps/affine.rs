//! Whole numbers of 8 and 4 bits with a scale and a zero point.

#![forbid(unsafe_code)]

use crate::maps::floats::round;
use crate::types::codes::Float;
use crate::types::element::Element;

mod sealed {
    pub trait Sealed {}
}

/// A quantised number of 8 bits: `u8` or `i8`. Sealed.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no quantised number of 8 bits",
    note = "`maps::dequantize` reads `u8` and `i8`; numbers of 4 bits in bytes are read by `maps::u4` and `maps::i4`"
)]
pub trait Byte: Element + Into<f32> + sealed::Sealed {}

impl sealed::Sealed for u8 {}
impl Byte for u8 {}
impl sealed::Sealed for i8 {}
impl Byte for i8 {}

super::map_functions! {
    /// Signed or unsigned bytes, affinely quantised: `(value - zero_point) * scale`, as in ONNX DequantizeLinear.
    ///
    /// Parameters: `(scale, zero_point)`, such as `(Given::PerRow(&scales), Given::All(128))`.
    pub fn dequantize<T: Byte> = |value: T, scale: f32, zero_point: T| -> f32 {
        (value.into() - zero_point.into()) * scale
    }

    /// Two numbers of 0 to 15 in a byte, low half first, as ONNX packs UINT4: `(value - zero_point) * scale`.
    pub fn u4<U: Float> = |pair: u8, scale: f32, zero_point: u8| -> [U; 2] { round(u4_pair(pair, scale, zero_point)) }

    /// Two numbers of -8 to 7 in a byte, low half first, as ONNX packs INT4: `(value - zero_point) * scale`.
    pub fn i4<U: Float> = |pair: u8, scale: f32, zero_point: i8| -> [U; 2] { round(i4_pair(pair, scale, zero_point)) }
}

/// `(value - zero_point) * scale` for two unsigned numbers of 4 bits, low half first.
#[inline(always)]
fn u4_pair(pair: u8, scale: f32, zero_point: u8) -> [f32; 2] {
    [pair & 15, pair >> 4].map(|value| (f32::from(value) - f32::from(zero_point)) * scale)
}

/// `(value - zero_point) * scale` for two signed numbers of 4 bits, low half first.
#[inline(always)]
fn i4_pair(pair: u8, scale: f32, zero_point: i8) -> [f32; 2] {
    [(pair << 4) as i8 >> 4, pair as i8 >> 4].map(|value| (f32::from(value) - f32::from(zero_point)) * scale)
}
