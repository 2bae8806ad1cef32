//! The values of tables that `--make` writes: functions of the row and the column.

use crate::format::{Codes, Format, Scales};

/// Mixes the bits of a number (splitmix64).
pub(crate) fn mix(seed: u64) -> u64 {
    let x = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// Writes the codes of a row. No FP8 code means NaN.
pub(crate) fn codes(format: &Format, row: u64, out: &mut [u8]) {
    let first = row.wrapping_mul(out.len().div_ceil(8) as u64);
    for (bytes, at) in out.chunks_mut(8).zip(first..) {
        for (byte, random) in bytes.iter_mut().zip(mix(at).to_le_bytes()) {
            *byte = if format.codes == Codes::E4M3 && random & 0x7f == 0x7f { random ^ 8 } else { random };
        }
    }
}

/// Writes the scales of a row.
pub(crate) fn scales(format: &Format, row: u64, out: &mut [u8]) {
    let first = !row.wrapping_mul(format.blocks() as u64);
    let randoms = (0..).map(|at| mix(first.wrapping_sub(at)));
    match format.scales {
        Scales::F32 => {
            for (scale, random) in out.as_chunks_mut::<4>().0.iter_mut().zip(randoms) {
                *scale = ((random % 7 + 1) as f32 / 64.0).to_le_bytes();
            }
        }
        Scales::E8M0 => out.iter_mut().zip(randoms).for_each(|(scale, random)| *scale = 120 + (random % 8) as u8),
    }
}
