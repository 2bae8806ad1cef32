//! Fused rows: codes of a few bits with the row's own scale and bias, as in tables of PyTorch and FBGEMM.

#![forbid(unsafe_code)]
// Loops over indices of arrays of constant length are vectorised.
#![allow(clippy::needless_range_loop)]

use core::mem::MaybeUninit;

use crate::types::codes::Float;
use crate::types::declare::{accessors, closed_set};
use crate::types::numbers::{bf16_to_f32, f16_to_f32, f32_to_bf16, f32_to_f16};

closed_set! {
/// The format of the codes, the scale and the bias of a fused row.
///
/// A value is `code * scale + bias`. Codes are unsigned, one or several per byte, the lowest bits first. Numbers are
/// little-endian, at any alignment. Rows of `F32`, `F16` and `Bf16` are plain values in the machine's byte order. So
/// plain tables can be summed with quantised tables: in `f32`, with weights in `f32`, into any of the three types.
///
/// | format | a row | made by |
/// |---|---|---|
/// | `Torch8` | codes, `f32` scale, `f32` bias | `quantized::embedding_bag_byte_prepack` |
/// | `Torch4`, `Torch2` | codes, `f16` scale, `f16` bias | `quantized::embedding_bag_4bit_prepack`, `_2bit_prepack` |
/// | `Fbgemm8`, `Fbgemm4`, `Fbgemm2` | `f16` scale, `f16` bias, codes | table-batched embeddings of FBGEMM |
/// | `F32`, `F16`, `Bf16` | values | anyone |
///
/// Rows padded by FBGEMM are a view whose row stride is longer than a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FusedFormat {
    /// One code per byte, then scale and bias in single precision.
    Torch8,
    /// Two codes per byte, then scale and bias in half precision.
    Torch4,
    /// Four codes per byte, then scale and bias in half precision.
    Torch2,
    /// Scale and bias in half precision, then one code per byte.
    Fbgemm8,
    /// Scale and bias in half precision, then two codes per byte.
    Fbgemm4,
    /// Scale and bias in half precision, then four codes per byte.
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
    /// Bits of a code, or of a plain value.
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

    /// The bytes of a row of `columns` columns; `None` if they exceed `isize::MAX`.
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

    /// Whether scale and bias precede the codes.
    const fn begins_with_params(self) -> bool {
        matches!(self, FusedFormat::Fbgemm8 | FusedFormat::Fbgemm4 | FusedFormat::Fbgemm2)
    }
}

/// The encoding of codes, or of plain values, in a row.
pub(crate) trait Coding: 'static {
    /// The bytes of `columns` columns, which are a multiple of four or end a row.
    fn bytes(columns: usize) -> usize;

    /// Decodes `out.len()` columns, with the scale and the bias returned by `params`.
    fn decode<U: Float, S: Slot<U>>(codes: &[u8], out: &mut [S], params: impl FnOnce() -> (f32, f32));
}

/// A destination of a value, initialised or not.
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

/// Codes, `PER` per byte.
pub(crate) enum PackedCodes<const PER: usize> {}

impl<const PER: usize> Coding for PackedCodes<PER> {
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
    Single: 4, f32::from_ne_bytes;
    Half: 2, |bytes| f16_to_f32(u16::from_ne_bytes(bytes));
    Upper: 2, |bytes| bf16_to_f32(u16::from_ne_bytes(bytes));
}

/// Evaluates `$make` with `$coding` as the [`Coding`] of a format.
macro_rules! by_coding {
    ($format:expr, $coding:ident => $make:expr) => {
        $crate::types::fused::by_coding!($format, $coding => $make;
            Torch8 | Fbgemm8 PackedCodes<1>, Torch4 | Fbgemm4 PackedCodes<2>, Torch2 | Fbgemm2 PackedCodes<4>,
            F32 Single, F16 Half, Bf16 Upper)
    };
    ($format:expr, $coding:ident => $make:expr; $($($name:ident)|+ $ty:ty),*) => {{
        use $crate::types::fused::{PackedCodes, FusedFormat, Half, Single, Upper};
        match $format {
            $($(FusedFormat::$name)|+ => {
                type $coding = $ty;
                $make
            })*
        }
    }};
}

pub(crate) use by_coding;

/// Positions of codes, scale and bias in a row. Made by [`FusedRow::new`] only.
///
/// - **F1** A row has `bytes` bytes. The codes of all columns begin at byte `codes`. Scale and bias take 8 bytes, or 4
///   as `f16`, from byte `params` on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FusedRow {
    format: FusedFormat,
    columns: usize,
    codes: usize,
    params: usize,
    bytes: usize,
}

impl FusedRow {
    /// A row of `columns` columns; `None` if its bytes exceed `isize::MAX`.
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

    /// Decodes `out.len()` columns of a row of format `C`, from column `first` on. Column `first` begins a byte.
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

    /// Encodes `columns` values to a row, as PyTorch and FBGEMM do.
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

/// Writes each value as its own bytes.
fn encode_each<const N: usize>(values: &[f32], row: &mut [u8], bytes: impl Fn(f32) -> [u8; N]) {
    row.as_chunks_mut::<N>().0.iter_mut().zip(values).for_each(|(to, &value)| *to = bytes(value));
}

/// The nearest integer in `0..=most`, ties to even; 0 for NaN.
fn nearest(value: f32, most: f32) -> u8 {
    // Floats from 2^23 on are integers, so the sum is rounded to an integer.
    const INTEGERS: f32 = 8_388_608.0;
    (value.clamp(0.0, most) + INTEGERS - INTEGERS) as u8
}

/// Decodes codes, `PER` per byte, `BYTES` bytes at a time, then byte by byte.
///
/// The values of `BYTES` bytes are computed into a block before they are written. The compiler cannot assume that
/// `codes` and `out` are disjoint: without the block it would load each code after the store of the previous value.
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

/// Writes the first `to.len()` values.
#[inline(always)]
fn put<U: Copy, S: Slot<U>>(to: &mut [S], values: &[U]) {
    to.iter_mut().zip(values).for_each(|(to, &value)| to.put(value));
}

/// The values of a byte. The product is rounded before the bias is added.
#[inline(always)]
fn values<const PER: usize, U: Float>(codes: u8, scale: f32, bias: f32) -> [U; PER] {
    let mut values = [U::ZERO; PER];
    for k in 0..PER {
        let code = codes << (8 - 8 / PER * (k + 1)) >> (8 - 8 / PER);
        values[k] = U::from_f32(f32::from(code) * scale + bias);
    }
    values
}
