//! Fused rows: codes of a few bits with a scale and a bias of their own, as tables of PyTorch and FBGEMM have them.

#![forbid(unsafe_code)]
// Loops over indices of arrays of constant length are vectorised.
#![allow(clippy::needless_range_loop)]

use core::mem::MaybeUninit;

use crate::types::codes::Float;
use crate::types::declare::{accessors, closed_set};
use crate::types::numbers::{bf16_to_f32, f16_to_f32, f32_to_bf16, f32_to_f16};

closed_set! {
/// How a fused row holds its codes, its scale and its bias.
///
/// A value is `code * scale + bias`. Codes are unsigned, several of them in a byte, the lowest bits first. Numbers are
/// little-endian, at any alignment. Rows of `F32`, `F16` and `Bf16` are the values themselves, as the machine has them,
/// so that plain tables stand beside quantised ones: summed in `f32` with weights in `f32`, into a result of any of
/// these types.
///
/// | format | a row | made by |
/// |---|---|---|
/// | `Torch8` | codes, `f32` scale, `f32` bias | `quantized::embedding_bag_byte_prepack` |
/// | `Torch4`, `Torch2` | codes, `f16` scale, `f16` bias | `quantized::embedding_bag_4bit_prepack`, `_2bit_prepack` |
/// | `Fbgemm8`, `Fbgemm4`, `Fbgemm2` | `f16` scale, `f16` bias, codes | table-batched embeddings of FBGEMM |
/// | `F32`, `F16`, `Bf16` | values | anyone |
///
/// Rows that FBGEMM pads are a view whose step from a row to the next is longer than a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FusedFormat {
    /// A byte for each code, then scale and bias in single precision.
    Torch8,
    /// Two codes in a byte, then scale and bias in half precision.
    Torch4,
    /// Four codes in a byte, then scale and bias in half precision.
    Torch2,
    /// Scale and bias in half precision, then a byte for each code.
    Fbgemm8,
    /// Scale and bias in half precision, then two codes in a byte.
    Fbgemm4,
    /// Scale and bias in half precision, then four codes in a byte.
    Fbgemm2,
    /// Values in single precision.
    F32,
    /// Values in half precision.
    F16,
    /// The upper halves of values in single precision.
    Bf16,
}
/// Every format.
pub const ALL;
}

impl FusedFormat {
    /// Bits of a code, or of a value that stands for itself.
    #[must_use]
    pub const fn bits(self) -> usize {
        match self {
            FusedFormat::Torch8 | FusedFormat::Fbgemm8 => 8,
            FusedFormat::Torch4 | FusedFormat::Fbgemm4 => 4,
            FusedFormat::Torch2 | FusedFormat::Fbgemm2 => 2,
            FusedFormat::F32 => 32,
            FusedFormat::F16 | FusedFormat::Bf16 => 16,
        }
    }

    /// The bytes of a row of `columns` columns; `None` where they exceed `isize::MAX`.
    ///
    /// ```
    /// use gather_core::FusedFormat;
    ///
    /// assert_eq!(FusedFormat::Torch8.row_bytes(64), Some(72));
    /// assert_eq!(FusedFormat::Fbgemm4.row_bytes(5), Some(7));
    /// ```
    #[must_use]
    pub const fn row_bytes(self, columns: usize) -> Option<usize> {
        let bits = self.bits();
        let codes = if bits < 8 { Some(columns.div_ceil(8 / bits)) } else { columns.checked_mul(bits / 8) };
        let Some(codes) = codes else { return None };
        match codes.checked_add(self.params()) {
            Some(bytes) if bytes <= isize::MAX as usize => Some(bytes),
            _ => None,
        }
    }

    /// Bytes of scale and bias.
    const fn params(self) -> usize {
        match self {
            FusedFormat::F32 | FusedFormat::F16 | FusedFormat::Bf16 => 0,
            _ if self.is_single() => 8,
            _ => 4,
        }
    }

    /// Whether scale and bias are `f32`, not `f16`.
    const fn is_single(self) -> bool {
        matches!(self, FusedFormat::Torch8)
    }

    /// Whether scale and bias stand before the codes.
    const fn begins_with_params(self) -> bool {
        matches!(self, FusedFormat::Fbgemm8 | FusedFormat::Fbgemm4 | FusedFormat::Fbgemm2)
    }
}

/// How codes, or values that stand for themselves, lie in a row.
pub(crate) trait Coding: 'static {
    /// The bytes of `columns` columns, which are a multiple of four or end a row.
    fn bytes(columns: usize) -> usize;

    /// Decodes as many columns as there is room for, with the scale and the bias that `params` says.
    fn decode<U: Float, S: Slot<U>>(codes: &[u8], out: &mut [S], params: impl FnOnce() -> (f32, f32));
}

/// Memory for a value, initialised or not.
pub(crate) trait Slot<U> {
    fn put(&mut self, value: U);
}

impl<U> Slot<U> for U {
    #[inline(always)]
    fn put(&mut self, value: U) {
        *self = value;
    }
}

impl<U> Slot<U> for MaybeUninit<U> {
    #[inline(always)]
    fn put(&mut self, value: U) {
        self.write(value);
    }
}

/// Codes, `PER` in a byte.
pub(crate) enum Codes<const PER: usize> {}

impl<const PER: usize> Coding for Codes<PER> {
    #[inline(always)]
    fn bytes(columns: usize) -> usize {
        columns.div_ceil(PER)
    }

    #[inline(always)]
    fn decode<U: Float, S: Slot<U>>(codes: &[u8], out: &mut [S], params: impl FnOnce() -> (f32, f32)) {
        let (scale, bias) = params();
        match PER {
            1 => decode::<1, 32, U, S>(codes, out, scale, bias),
            2 => decode::<2, 16, U, S>(codes, out, scale, bias),
            _ => decode::<4, 4, U, S>(codes, out, scale, bias),
        }
    }
}

macro_rules! plain {
    ($($(#[$attr:meta])* $name:ident: $size:literal, $value:expr;)*) => {$(
        $(#[$attr])*
        pub(crate) enum $name {}

        impl Coding for $name {
            #[inline(always)]
            fn bytes(columns: usize) -> usize {
                columns * $size
            }

            #[inline(always)]
            fn decode<U: Float, S: Slot<U>>(codes: &[u8], out: &mut [S], _: impl FnOnce() -> (f32, f32)) {
                for (to, &bytes) in out.iter_mut().zip(codes.as_chunks::<$size>().0) {
                    to.put(U::from_f32($value(bytes)));
                }
            }
        }
    )*};
}

plain! {
    /// Values in single precision.
    Single: 4, f32::from_ne_bytes;
    /// Values in half precision.
    Half: 2, |bytes| f16_to_f32(u16::from_ne_bytes(bytes));
    /// The upper halves of values in single precision.
    Upper: 2, |bytes| bf16_to_f32(u16::from_ne_bytes(bytes));
}

/// Makes something of the [`Coding`] of a format, of which `$coding` is the name.
macro_rules! by_coding {
    ($format:expr, $coding:ident => $make:expr) => {
        $crate::types::fused::by_coding!($format, $coding => $make;
            Torch8 | Fbgemm8 Codes<1>, Torch4 | Fbgemm4 Codes<2>, Torch2 | Fbgemm2 Codes<4>,
            F32 Single, F16 Half, Bf16 Upper)
    };
    ($format:expr, $coding:ident => $make:expr; $($($name:ident)|+ $ty:ty),*) => {{
        use $crate::types::fused::{Codes, FusedFormat, Half, Single, Upper};
        match $format {
            $($(FusedFormat::$name)|+ => {
                type $coding = $ty;
                $make
            })*
        }
    }};
}

pub(crate) use by_coding;

/// Where a row has its codes, its scale and its bias. Made by [`FusedRow::new`] alone.
///
/// - **F1** A row has `bytes` bytes, of which the codes take those from `codes` on, enough for all columns, and scale
///   and bias 8 or, as `f16`, 4 from `params` on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FusedRow {
    format: FusedFormat,
    columns: usize,
    codes: usize,
    params: usize,
    bytes: usize,
}

impl FusedRow {
    /// A row of `columns` columns; `None` where its bytes exceed `isize::MAX`.
    pub(crate) fn new(format: FusedFormat, columns: usize) -> Option<Self> {
        let bytes = format.row_bytes(columns)?;
        let (codes, params) =
            if format.begins_with_params() { (format.params(), 0) } else { (0, bytes - format.params()) };
        Some(FusedRow { format, columns, codes, params, bytes })
    }

    accessors! { self:
        pub(crate) fn format() -> FusedFormat => self.format;
        pub(crate) fn columns() -> usize => self.columns;
        /// F1.
        pub(crate) fn bytes() -> usize => self.bytes;
    }

    /// F1: the first byte of codes.
    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    pub(crate) fn codes_at(&self) -> usize {
        self.codes
    }

    /// F1: the first byte of the scale, and whether scale and bias are `f32`.
    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    pub(crate) fn params_at(&self) -> (usize, bool) {
        (self.params, self.format.is_single())
    }

    /// Decodes the columns from `first` on, which begin with a byte, as many as there is room for, of a row of a format
    /// of the coding.
    #[inline(always)]
    pub(crate) fn decode<C: Coding, U: Float, S: Slot<U>>(&self, row: &[u8], first: usize, out: &mut [S]) {
        let codes = &row[self.codes + C::bytes(first)..][..C::bytes(out.len())];
        C::decode(codes, out, || self.scale_and_bias(row));
    }

    #[inline(always)]
    fn scale_and_bias(&self, row: &[u8]) -> (f32, f32) {
        let params = &row[self.params..];
        if self.format.is_single() {
            let [scale, bias] = [0, 4].map(|at| f32::from_le_bytes([0, 1, 2, 3].map(|k| params[at + k])));
            (scale, bias)
        } else {
            let [scale, bias] = [0, 2].map(|at| f16_to_f32(u16::from_le_bytes([params[at], params[at + 1]])));
            (scale, bias)
        }
    }

    /// Makes a row of values, as many as there are columns, as PyTorch and FBGEMM do.
    pub(crate) fn encode(&self, values: &[f32], row: &mut [u8]) {
        match self.format {
            FusedFormat::F32 => return encode_each(values, row, f32::to_ne_bytes),
            FusedFormat::F16 => return encode_each(values, row, |value| f32_to_f16(value).to_ne_bytes()),
            FusedFormat::Bf16 => return encode_each(values, row, |value| f32_to_bf16(value).to_ne_bytes()),
            _ => {}
        }
        let least = values.iter().copied().reduce(f32::min).unwrap_or(0.0);
        let greatest = values.iter().copied().reduce(f32::max).unwrap_or(0.0);
        let most = ((1u32 << self.format.bits()) - 1) as f32;
        let (codes, params) = (self.codes, self.params);
        let (bias, steps) = if self.format.is_single() {
            let range = greatest - least;
            row[params..][..4].copy_from_slice(&(range / most).to_le_bytes());
            row[params + 4..][..4].copy_from_slice(&least.to_le_bytes());
            (least, most / (range + 1e-8))
        } else {
            let bias_bits = f32_to_f16(least);
            let bias = f16_to_f32(bias_bits);
            let range = greatest - bias;
            let mut scale_bits = f32_to_f16(if range == 0.0 { 1.0 } else { range / most });
            let mut steps = 1.0 / f16_to_f32(scale_bits);
            if steps.is_infinite() {
                (scale_bits, steps) = (f32_to_f16(1.0), 1.0);
            }
            row[params..][..2].copy_from_slice(&scale_bits.to_le_bytes());
            row[params + 2..][..2].copy_from_slice(&bias_bits.to_le_bytes());
            (bias, steps)
        };
        let per_byte = 8 / self.format.bits();
        for (byte, values) in row[codes..].iter_mut().zip(values.chunks(per_byte)) {
            let codes = values.iter().map(|&value| nearest((value - bias) * steps, most));
            *byte = codes.enumerate().fold(0, |byte, (k, code)| byte | code << (8 / per_byte * k));
        }
    }
}

/// Writes values as bytes of their own.
fn encode_each<const N: usize>(values: &[f32], row: &mut [u8], bytes: impl Fn(f32) -> [u8; N]) {
    row.as_chunks_mut::<N>().0.iter_mut().zip(values).for_each(|(to, &value)| *to = bytes(value));
}

/// The nearest integer from 0 to `most`, and the even one of two that are as near; 0 for NaN.
fn nearest(value: f32, most: f32) -> u8 {
    // Numbers from 2^23 on are integers. So the sum is rounded to one.
    const INTEGERS: f32 = 8_388_608.0;
    (value.clamp(0.0, most) + INTEGERS - INTEGERS) as u8
}

/// Decodes codes of which a byte holds `PER`, `BYTES` at a time, then byte by byte.
///
/// Values of several bytes are a block of their own before they are written: the compiler does not know that codes and
/// `out` are apart, and would load each code after the value before it is stored.
#[inline(always)]
fn decode<const PER: usize, const BYTES: usize, U: Float, S: Slot<U>>(
    codes: &[u8],
    out: &mut [S],
    scale: f32,
    bias: f32,
) {
    let (to, rest) = out.as_chunks_mut::<PER>();
    let (codes, last) = codes.split_at(to.len());
    let (to, others) = to.as_chunks_mut::<BYTES>();
    let (codes, other_codes) = codes.as_chunks::<BYTES>();
    for (to, codes) in to.iter_mut().zip(codes) {
        let mut block = [[U::ZERO; PER]; BYTES];
        for i in 0..BYTES {
            block[i] = values::<PER, U>(codes[i], scale, bias);
        }
        for i in 0..BYTES {
            put(&mut to[i], &block[i]);
        }
    }
    for (to, &codes) in others.iter_mut().zip(other_codes) {
        put(to, &values::<PER, U>(codes, scale, bias));
    }
    for &codes in last {
        put(rest, &values::<PER, U>(codes, scale, bias));
    }
}

/// Writes values, up to the number of slots.
#[inline(always)]
fn put<U: Copy, S: Slot<U>>(to: &mut [S], values: &[U]) {
    to.iter_mut().zip(values).for_each(|(to, &value)| to.put(value));
}

/// The values of a byte. Products are rounded before they are added to the bias.
#[inline(always)]
fn values<const PER: usize, U: Float>(codes: u8, scale: f32, bias: f32) -> [U; PER] {
    let mut values = [U::ZERO; PER];
    for k in 0..PER {
        let code = codes << (8 - 8 / PER * (k + 1)) >> (8 - 8 / PER);
        values[k] = U::from_f32(f32::from(code) * scale + bias);
    }
    values
}
