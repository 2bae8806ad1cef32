//! Fused rows by a plain program, code by code.

use gather_core::{FusedFormat, Reduction, maps};

/// The values of a row.
///
/// # Panics
/// When the row has too few bytes.
#[must_use]
pub fn values(row: &[u8], format: FusedFormat, columns: usize) -> Vec<f32> {
    let word = |at: usize| u16::from_ne_bytes(row[at..at + 2].try_into().expect("two bytes"));
    let plain = |column: usize| match format {
        FusedFormat::F32 => Some(f32::from_ne_bytes(row[4 * column..][..4].try_into().expect("four bytes"))),
        FusedFormat::F16 => Some(maps::f16_to_f32(word(2 * column))),
        FusedFormat::Bf16 => Some(maps::bf16_to_f32(word(2 * column))),
        _ => None,
    };
    if format.bits() > 8 {
        return (0..columns).filter_map(plain).collect();
    }
    let single = |at: usize| f32::from_le_bytes(row[at..at + 4].try_into().expect("four bytes"));
    let half = |at: usize| maps::f16_to_f32(u16::from_le_bytes(row[at..at + 2].try_into().expect("two bytes")));
    let (codes, scale, bias) = match format {
        FusedFormat::Torch8 => (row, single(row.len() - 8), single(row.len() - 4)),
        FusedFormat::Torch4 | FusedFormat::Torch2 => (row, half(row.len() - 4), half(row.len() - 2)),
        _ => (&row[4..], half(0), half(2)),
    };
    let bits = format.bits();
    let value = |column: usize| {
        let code = codes[column * bits / 8] >> (column * bits % 8);
        let product = f32::from(code & (u8::MAX >> (8 - bits))) * scale;
        product + bias
    };
    (0..columns).map(value).collect()
}

/// Rows of any bytes, of which most have a scale and a bias, or values, of a few units, and every fifth has any.
#[must_use]
pub fn rows(format: FusedFormat, columns: usize, rows: usize, noise: impl Fn(usize) -> u64) -> Vec<u8> {
    let bytes = format.row_bytes(columns).unwrap_or(0);
    let mut all: Vec<u8> = (0..rows * bytes).map(|at| (noise(at) >> 8) as u8).collect();
    for (number, row) in all.chunks_exact_mut(bytes.max(1)).enumerate().filter(|(number, _)| number % 5 != 4) {
        let [scale, bias] = [0, 1].map(|k| noise(!(2 * number + k)) as i16 as f32 / 4096.0);
        let halves = [scale, bias].map(|value| maps::f32_to_f16(value).to_le_bytes());
        let (first, last) = (4.min(bytes), bytes.saturating_sub(8));
        match format {
            FusedFormat::Torch8 => row[last..].copy_from_slice([scale, bias].map(f32::to_le_bytes).as_flattened()),
            FusedFormat::Torch4 | FusedFormat::Torch2 => row[bytes - 4..].copy_from_slice(halves.as_flattened()),
            FusedFormat::F32 | FusedFormat::F16 | FusedFormat::Bf16 => {
                for (column, to) in row.chunks_exact_mut(format.bits() / 8).enumerate() {
                    let value = noise(number * 1000 + column) as i16 as f32 / 4096.0;
                    match format {
                        FusedFormat::F32 => to.copy_from_slice(&value.to_ne_bytes()),
                        FusedFormat::F16 => to.copy_from_slice(&maps::f32_to_f16(value).to_ne_bytes()),
                        _ => to.copy_from_slice(&maps::f32_to_bf16(value).to_ne_bytes()),
                    }
                }
            }
            _ => row[..first].copy_from_slice(halves.as_flattened()),
        }
    }
    all
}

/// What a bag makes of values and their weights, in their order; `None` where there are none.
///
/// # Panics
/// For reductions that bags do not have.
#[must_use]
pub fn reduced(reduction: Reduction, terms: &[(f32, f32)]) -> Option<f32> {
    let sum = || terms.iter().fold(0.0, |sum, &(value, weight)| sum + value * weight);
    // NaN beside any other number.
    let extreme = |takes: fn(f32, f32) -> bool| {
        let values = terms.iter().map(|&(value, _)| value);
        values.reduce(|kept, new| if kept.is_nan() || !new.is_nan() && !takes(new, kept) { kept } else { new })
    };
    match reduction {
        _ if terms.is_empty() => None,
        Reduction::Add => Some(sum()),
        Reduction::Mean => Some(sum() / terms.len() as f32),
        Reduction::Max => extreme(|new, kept| new > kept),
        Reduction::Min => extreme(|new, kept| new < kept),
        _ => panic!("no reduction of bags: {reduction}"),
    }
}

/// Whether two numbers have the same bits, or both are NaN.
#[must_use]
pub fn same(got: f32, expected: f32) -> bool {
    got.to_bits() == expected.to_bits() || got.is_nan() && expected.is_nan()
}
