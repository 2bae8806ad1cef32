//! How blocks of GGUF files are read, and maps of them.
//!
//! Loops run over indices of arrays whose lengths are constant: these are unrolled and vectorised, where iterators over
//! slices are not.

#![forbid(unsafe_code)]
#![allow(clippy::needless_range_loop)]

use crate::types::numbers::{e2m1_doubled_signed, e4m3_magnitude, f16_to_f32};

/// Two bytes of a block as an `f16`.
#[inline(always)]
fn half<const N: usize>(block: &[u8; N], at: usize) -> f32 {
    f16_to_f32(u16::from_le_bytes([block[at], block[at + 1]]))
}

#[inline(always)]
pub(super) fn q8_0(block: &[u8; 34]) -> [f32; 32] {
    let d = half(block, 0);
    let mut out = [0.0; 32];
    for i in 0..32 {
        out[i] = f32::from(block[2 + i] as i8) * d;
    }
    out
}

/// 32 codes of 4 bits: the low halves of 16 bytes, then the high ones.
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
    let mut out = [0.0; 32];
    for i in 0..32 {
        out[i] = f32::from(codes[i] as i8 - 8) * d;
    }
    out
}

#[inline(always)]
pub(super) fn q4_1(block: &[u8; 20]) -> [f32; 32] {
    let (d, m, codes) = (half(block, 0), half(block, 2), halves_of_bytes(block, 4));
    let mut out = [0.0; 32];
    for i in 0..32 {
        out[i] = f32::from(codes[i]) * d + m;
    }
    out
}

/// The fifth bits of 32 codes, which are bits of four bytes, as 16 or 0.
#[inline(always)]
fn fifth_bits<const N: usize>(block: &[u8; N], at: usize) -> [u8; 32] {
    let mut bits = [0; 32];
    for i in 0..32 {
        bits[i] = (block[at + i / 8] >> (i % 8) & 1) << 4;
    }
    bits
}

#[inline(always)]
pub(super) fn q5_0(block: &[u8; 22]) -> [f32; 32] {
    let (d, high, codes) = (half(block, 0), fifth_bits(block, 2), halves_of_bytes(block, 6));
    let mut out = [0.0; 32];
    for i in 0..32 {
        out[i] = f32::from((codes[i] | high[i]) as i8 - 16) * d;
    }
    out
}

#[inline(always)]
pub(super) fn q5_1(block: &[u8; 24]) -> [f32; 32] {
    let (d, m, high, codes) = (half(block, 0), half(block, 2), fifth_bits(block, 4), halves_of_bytes(block, 8));
    let mut out = [0.0; 32];
    for i in 0..32 {
        out[i] = f32::from(codes[i] | high[i]) * d + m;
    }
    out
}

/// Calls a function for each of eight groups, whose number is a constant: loops over groups are not unrolled at every
/// level, and then all values take the way over the stack (bench `tables`).
macro_rules! for_each_group {
    ($function:ident($($arg:expr),*)) => {
        for_each_group!(@ $function ($($arg),*) 0 1 2 3 4 5 6 7)
    };
    (@ $function:ident $args:tt $($group:literal)*) => {
        $(for_each_group!(@one $function $group $args);)*
    };
    (@one $function:ident $group:literal ($($arg:expr),*)) => {
        $function::<$group>($($arg),*)
    };
}

#[inline(always)]
pub(super) fn q4_k(block: &[u8; 144]) -> [f32; 256] {
    let (d, dmin) = (half(block, 0), half(block, 2));
    let mut out = [0.0; 256];
    for_each_group!(q4_k_group(block, d, dmin, &mut out));
    out
}

#[inline(always)]
fn q4_k_group<const GROUP: usize>(block: &[u8; 144], d: f32, dmin: f32, out: &mut [f32; 256]) {
    let (scale, min) = q4_k_scale(block, GROUP);
    let (d, m) = (d * f32::from(scale), dmin * f32::from(min));
    let (codes, shift) = (16 + GROUP / 2 * 32, GROUP % 2 * 4);
    for i in 0..32 {
        out[GROUP * 32 + i] = d * f32::from(block[codes + i] >> shift & 15) - m;
    }
}

/// Scale and minimum of a group, of 6 bits each.
///
/// The first four have the low bits of bytes 0 to 3 and 4 to 7. The last four have the halves of bytes 8 to 11, and
/// above them the two high bits of bytes 0 to 7.
#[inline(always)]
fn q4_k_scale<const N: usize>(block: &[u8; N], group: usize) -> (u8, u8) {
    let (k, packed) = (group % 4, |at: usize| block[4 + at]);
    if group < 4 {
        (packed(k) & 63, packed(4 + k) & 63)
    } else {
        (packed(8 + k) & 15 | packed(k) >> 6 << 4, packed(8 + k) >> 4 | packed(4 + k) >> 6 << 4)
    }
}

#[inline(always)]
pub(super) fn q5_k(block: &[u8; 176]) -> [f32; 256] {
    let (d, dmin) = (half(block, 0), half(block, 2));
    let mut out = [0.0; 256];
    for_each_group!(q5_k_group(block, d, dmin, &mut out));
    out
}

/// A group of 32, as in [`q4_k_group`]; the fifth bits of group `g` are the bits `g` of 32 bytes.
#[inline(always)]
fn q5_k_group<const GROUP: usize>(block: &[u8; 176], d: f32, dmin: f32, out: &mut [f32; 256]) {
    let (scale, min) = q4_k_scale(block, GROUP);
    let (d, m) = (d * f32::from(scale), dmin * f32::from(min));
    let (codes, shift) = (48 + GROUP / 2 * 32, GROUP % 2 * 4);
    for i in 0..32 {
        let code = block[codes + i] >> shift & 15 | (block[16 + i] >> GROUP & 1) << 4;
        out[GROUP * 32 + i] = d * f32::from(code) - m;
    }
}

#[inline(always)]
pub(super) fn q2_k(block: &[u8; 84]) -> [f32; 256] {
    let (d, dmin) = (half(block, 80), half(block, 82));
    let mut out = [0.0; 256];
    for_each_group!(q2_k_group(block, d, dmin, &mut out));
    out
}

/// A group of 32: there are four out of each half of the codes, each from two bits of 32 bytes.
#[inline(always)]
fn q2_k_group<const GROUP: usize>(block: &[u8; 84], d: f32, dmin: f32, out: &mut [f32; 256]) {
    let (codes, shift) = (16 + GROUP / 4 * 32, GROUP % 4 * 2);
    for sub in 0..2 {
        let packed = block[GROUP * 2 + sub];
        let (scale, min) = (d * f32::from(packed & 15), dmin * f32::from(packed >> 4));
        for i in sub * 16..sub * 16 + 16 {
            out[GROUP * 32 + i] = scale * f32::from(block[codes + i] >> shift & 3) - min;
        }
    }
}

#[inline(always)]
pub(super) fn q3_k(block: &[u8; 110]) -> [f32; 256] {
    let d = half(block, 108);
    let mut out = [0.0; 256];
    for_each_group!(q3_k_group(block, d, &mut out));
    out
}

/// A group of 32, whose low bits lie as in [`q2_k_group`]; the third bits of group `g` are the bits `g` of 32 bytes,
/// and stand for -4 where they are 0.
#[inline(always)]
fn q3_k_group<const GROUP: usize>(block: &[u8; 110], d: f32, out: &mut [f32; 256]) {
    let (codes, shift) = (32 + GROUP / 4 * 32, GROUP % 4 * 2);
    for sub in 0..2 {
        // Scales of 6 bits: the halves of 8 bytes, the low ones first, and two bits out of 4 bytes.
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

#[inline(always)]
pub(super) fn q6_k(block: &[u8; 210]) -> [f32; 256] {
    let d = half(block, 208);
    let mut out = [0.0; 256];
    for_each_group!(q6_k_group(block, d, &mut out));
    out
}

/// A group of 32: there are four out of each half of the block, two of them out of the low halves of its bytes.
#[inline(always)]
fn q6_k_group<const GROUP: usize>(block: &[u8; 210], d: f32, out: &mut [f32; 256]) {
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

/// The numbers of the codes of [`IQ4_NL`].
const IQ4_NL_VALUES: [i8; 16] = [-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113];

/// The number of a code of [`IQ4_NL`]. A load from the table is one for each number. Comparing with every code and
/// choosing works on whole vectors of bytes.
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
    // The look-ups of all codes come before the first conversion, or they would not stay in vectors of bytes.
    let mut values = [0; 32];
    for i in 0..32 {
        values[i] = iq4_nl_value(codes[i]);
    }
    let mut out = [0.0; 32];
    for i in 0..32 {
        out[i] = d * f32::from(values[i]);
    }
    out
}

#[inline(always)]
pub(super) fn iq4_xs(block: &[u8; 136]) -> [f32; 256] {
    let d = half(block, 0);
    let mut out = [0.0; 256];
    for_each_group!(iq4_xs_group(block, d, &mut out));
    out
}

/// A group of 32, whose scale has two bits of bytes 2 and 3, and half of one of the next four bytes.
#[inline(always)]
fn iq4_xs_group<const GROUP: usize>(block: &[u8; 136], d: f32, out: &mut [f32; 256]) {
    let (low, high) = (block[4 + GROUP / 2] >> (GROUP % 2 * 4) & 15, block[2 + GROUP / 4] >> (GROUP % 4 * 2) & 3);
    let scale = d * f32::from((low | high << 4) as i8 - 32);
    let codes = halves_of_bytes(block, 8 + GROUP * 16);
    let mut values = [0; 32];
    for i in 0..32 {
        values[i] = iq4_nl_value(codes[i]);
    }
    for i in 0..32 {
        out[GROUP * 32 + i] = scale * f32::from(values[i]);
    }
}

#[inline(always)]
pub(super) fn mxfp4(block: &[u8; 17]) -> [f32; 32] {
    let e = u32::from(block[0]);
    // Half of the scale, as the numbers are doubled: 2^(e - 128), which is subnormal for 0 and 1.
    let d = f32::from_bits(if e < 2 { 0x0020_0000 << e } else { (e - 1) << 23 });
    let codes = halves_of_bytes(block, 1);
    let mut out = [0.0; 32];
    for i in 0..32 {
        out[i] = d * f32::from(e2m1_doubled_signed(codes[i]));
    }
    out
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
