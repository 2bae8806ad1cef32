//! Decoders of GGUF blocks.
//!
//! Loops over indices of arrays of constant length are unrolled and vectorised; iterators over slices are not.

#![forbid(unsafe_code)]
#![allow(clippy::needless_range_loop)]

use crate::types::numbers::{e2m1_doubled_signed, e4m3_magnitude, f16_to_f32};

/// The `f16` in bytes `at` and `at + 1`.
#[inline(always)]
fn half<const N: usize>(block: &[u8; N], at: usize) -> f32 {
    f16_to_f32(u16::from_le_bytes([block[at], block[at + 1]]))
}

#[inline(always)]
pub(super) fn q8_0(block: &[u8; 34]) -> [f32; 32] {
    let d = half(block, 0);
    array!(0.0; 32, |i| f32::from(block[2 + i] as i8) * d)
}

/// 32 codes of 4 bits: the low halves of the bytes `at..at + 16`, then their high halves.
#[inline(always)]
fn halves_of_bytes<const N: usize>(block: &[u8; N], at: usize) -> [u8; 32] {
    let mut codes = [0; 32];
    for i in 0..16 {
        codes[i] = block[at + i] & 15;
        codes[16 + i] = block[at + i] >> 4;
    }
    codes
}

#[inline(always)]
pub(super) fn q4_0(block: &[u8; 18]) -> [f32; 32] {
    let (d, codes) = (half(block, 0), halves_of_bytes(block, 2));
    array!(0.0; 32, |i| f32::from(codes[i] as i8 - 8) * d)
}

#[inline(always)]
pub(super) fn q4_1(block: &[u8; 20]) -> [f32; 32] {
    let (d, m, codes) = (half(block, 0), half(block, 2), halves_of_bytes(block, 4));
    array!(0.0; 32, |i| f32::from(codes[i]) * d + m)
}

/// The fifth bits of 32 codes, as 16 or 0: bit `i % 8` of byte `at + i / 8`.
#[inline(always)]
fn fifth_bits<const N: usize>(block: &[u8; N], at: usize) -> [u8; 32] {
    array!(0; 32, |i| (block[at + i / 8] >> (i % 8) & 1) << 4)
}

#[inline(always)]
pub(super) fn q5_0(block: &[u8; 22]) -> [f32; 32] {
    let (d, high, codes) = (half(block, 0), fifth_bits(block, 2), halves_of_bytes(block, 6));
    array!(0.0; 32, |i| f32::from((codes[i] | high[i]) as i8 - 16) * d)
}

#[inline(always)]
pub(super) fn q5_1(block: &[u8; 24]) -> [f32; 32] {
    let (d, m, high, codes) = (half(block, 0), half(block, 2), fifth_bits(block, 4), halves_of_bytes(block, 8));
    array!(0.0; 32, |i| f32::from(codes[i] | high[i]) * d + m)
}

/// Defines decoders of blocks of eight groups of 32 values: shared values, and a function of one group with a constant
/// number. Not every level would unroll a loop over groups; all values would then spill (bench `tables`).
macro_rules! groups {
    ($($(#[$doc:meta])* $name:ident($block:ident: $bytes:literal; $($shared:ident = $value:expr),+) =>
        |$GROUP:ident, $out:ident| $body:block)*) => {$(
        $(#[$doc])*
        #[inline(always)]
        pub(super) fn $name($block: &[u8; $bytes]) -> [f32; 256] {
            #[inline(always)]
            fn group<const $GROUP: usize>(
                $block: &[u8; $bytes],
                [$($shared),+]: [f32; [$(stringify!($shared)),+].len()],
                $out: &mut [f32; 256],
            ) $body

            let shared = [$($value),+];
            let mut out = [0.0; 256];
            group::<0>($block, shared, &mut out);
            group::<1>($block, shared, &mut out);
            group::<2>($block, shared, &mut out);
            group::<3>($block, shared, &mut out);
            group::<4>($block, shared, &mut out);
            group::<5>($block, shared, &mut out);
            group::<6>($block, shared, &mut out);
            group::<7>($block, shared, &mut out);
            out
        }
    )*};
}

groups! {
    q4_k(block: 144; d = half(block, 0), dmin = half(block, 2)) => |GROUP, out| {
        let (scale, min) = q4_k_scale(block, GROUP);
        let (d, m) = (d * f32::from(scale), dmin * f32::from(min));
        let (codes, shift) = (16 + GROUP / 2 * 32, GROUP % 2 * 4);
        for i in 0..32 {
            out[GROUP * 32 + i] = d * f32::from(block[codes + i] >> shift & 15) - m;
        }
    }
}

/// The scale and the minimum of a group, of 6 bits each, from the bytes `packed(i)`. Groups 0 to 3 have the low 6 bits
/// of `packed(k)` and `packed(4 + k)`. In groups 4 to 7 the low 4 bits are the halves of `packed(8 + k)`, and the high
/// 2 bits are the high bits of `packed(k)` and `packed(4 + k)`.
#[inline(always)]
fn q4_k_scale<const N: usize>(block: &[u8; N], group: usize) -> (u8, u8) {
    let (k, packed) = (group % 4, |at: usize| block[4 + at]);
    if group < 4 {
        (packed(k) & 63, packed(4 + k) & 63)
    } else {
        (packed(8 + k) & 15 | packed(k) >> 6 << 4, packed(8 + k) >> 4 | packed(4 + k) >> 6 << 4)
    }
}

groups! {
    /// Low 4 bits in the order of [`q4_k`]; the fifth bits of group `g` are bit `g` of each of the bytes 16 to 47.
    q5_k(block: 176; d = half(block, 0), dmin = half(block, 2)) => |GROUP, out| {
        let (scale, min) = q4_k_scale(block, GROUP);
        let (d, m) = (d * f32::from(scale), dmin * f32::from(min));
        let (codes, shift) = (48 + GROUP / 2 * 32, GROUP % 2 * 4);
        for i in 0..32 {
            let code = block[codes + i] >> shift & 15 | (block[16 + i] >> GROUP & 1) << 4;
            out[GROUP * 32 + i] = d * f32::from(code) - m;
        }
    }
}

groups! {
    /// Each 32 bytes of codes hold four groups, a group in two bits of every byte.
    q2_k(block: 84; d = half(block, 80), dmin = half(block, 82)) => |GROUP, out| {
        let (codes, shift) = (16 + GROUP / 4 * 32, GROUP % 4 * 2);
        for sub in 0..2 {
            let packed = block[GROUP * 2 + sub];
            let (scale, min) = (d * f32::from(packed & 15), dmin * f32::from(packed >> 4));
            for i in sub * 16..sub * 16 + 16 {
                out[GROUP * 32 + i] = scale * f32::from(block[codes + i] >> shift & 3) - min;
            }
        }
    }
}

groups! {
    /// Low 2 bits in the order of [`q2_k`]; the third bits of group `g` are bit `g` of each of the first 32 bytes.
    q3_k(block: 110; d = half(block, 108)) => |GROUP, out| {
        let (codes, shift) = (32 + GROUP / 4 * 32, GROUP % 4 * 2);
        for sub in 0..2 {
            // Scales of 6 bits: the halves of 8 bytes, low halves first, and two bits of 4 bytes.
            let number = GROUP * 2 + sub;
            let low = block[96 + number % 8] >> (number / 8 * 4) & 15;
            let high = block[104 + number % 4] >> (number / 4 * 2) & 3;
            let scale = d * f32::from((low | high << 4) as i8 - 32);
            for i in sub * 16..sub * 16 + 16 {
                let code = block[codes + i] >> shift & 3 | (block[i] >> GROUP & 1) << 2;
                out[GROUP * 32 + i] = scale * f32::from(code as i8 - 4);
            }
        }
    }
}

groups! {
    /// 64 bytes of low bits and 32 of high bits hold four groups; the low halves of the 64 bytes are the first two.
    q6_k(block: 210; d = half(block, 208)) => |GROUP, out| {
        let (half, k) = (GROUP / 4, GROUP % 4);
        let (low, low_shift) = (half * 64 + k % 2 * 32, k / 2 * 4);
        let (high, high_shift) = (128 + half * 32, k * 2);
        for sub in 0..2 {
            let scale = d * f32::from(block[192 + GROUP * 2 + sub] as i8);
            for i in sub * 16..sub * 16 + 16 {
                let code = block[low + i] >> low_shift & 15 | (block[high + i] >> high_shift & 3) << 4;
                out[GROUP * 32 + i] = scale * f32::from(code as i8 - 32);
            }
        }
    }
}

const IQ4_NL_VALUES: [i8; 16] = [-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113];

/// `IQ4_NL_VALUES[code]`, by comparisons and selections of whole vectors of bytes; indexing would take a load for each
/// number.
#[inline(always)]
fn iq4_nl_value(code: u8) -> i8 {
    let mut value = IQ4_NL_VALUES[0];
    for k in 1..16 {
        value = if code >= k { IQ4_NL_VALUES[usize::from(k)] } else { value };
    }
    value
}

#[inline(always)]
pub(super) fn iq4_nl(block: &[u8; 18]) -> [f32; 32] {
    let (d, codes) = (half(block, 0), halves_of_bytes(block, 2));
    // All look-ups come before the first conversion, so that they stay in vectors of bytes.
    let values = array!(0; 32, |i| iq4_nl_value(codes[i]));
    array!(0.0; 32, |i| d * f32::from(values[i]))
}

groups! {
    /// A scale has its high 2 bits in byte 2 or 3, and its low 4 bits in a half of one of the bytes 4 to 7.
    iq4_xs(block: 136; d = half(block, 0)) => |GROUP, out| {
        let (low, high) = (block[4 + GROUP / 2] >> (GROUP % 2 * 4) & 15, block[2 + GROUP / 4] >> (GROUP % 4 * 2) & 3);
        let scale = d * f32::from((low | high << 4) as i8 - 32);
        let codes = halves_of_bytes(block, 8 + GROUP * 16);
        let values = array!(0; 32, |i| iq4_nl_value(codes[i]));
        for i in 0..32 {
            out[GROUP * 32 + i] = scale * f32::from(values[i]);
        }
    }
}

#[inline(always)]
pub(super) fn mxfp4(block: &[u8; 17]) -> [f32; 32] {
    let e = u32::from(block[0]);
    // Half of the scale, since `e2m1_doubled_signed` doubles: `2^(e - 128)`, subnormal for `e` of 0 and 1.
    let d = f32::from_bits(if e < 2 { 0x0020_0000 << e } else { (e - 1) << 23 });
    let codes = halves_of_bytes(block, 1);
    array!(0.0; 32, |i| d * f32::from(e2m1_doubled_signed(codes[i])))
}

#[inline(always)]
pub(super) fn nvfp4(block: &[u8; 36]) -> [f32; 64] {
    let mut out = [0.0; 64];
    for group in 0..4 {
        let scale = block[group];
        let d = if scale == 0x7f { 0.0 } else { e4m3_magnitude(u32::from(scale & 0x7f)) * 0.5 };
        for i in 0..8 {
            let pair = block[4 + group * 8 + i];
            out[group * 16 + i] = d * f32::from(e2m1_doubled_signed(pair & 15));
            out[group * 16 + 8 + i] = d * f32::from(e2m1_doubled_signed(pair >> 4));
        }
    }
    out
}
