//! Norms of rows, in a few passes over a row in the first-level cache.

#![forbid(unsafe_code)]

use crate::rows::lanes::{Number, sum, sum_of_squares, widen};

/// `out = row + added`, or `out = row` if `added` is empty.
#[inline(always)]
fn add<A: Number<Sum = f32>>(row: &[A], out: &mut [f32], added: &[f32]) {
    if added.is_empty() || A::IN_BLOCKS {
        widen(row, out);
        for (out, added) in out.iter_mut().zip(added) {
            *out += added;
        }
    } else {
        for ((out, value), added) in out.iter_mut().zip(row).zip(added) {
            *out = value.widen() + added;
        }
    }
}

/// `out = out * scale * gain + bias`; an empty slice leaves its factor or its term out of the formula.
#[inline(always)]
fn scale(out: &mut [f32], scale: f32, gains: &[f32], biases: &[f32]) {
    if !gains.is_empty() && !biases.is_empty() {
        for ((out, gain), bias) in out.iter_mut().zip(gains).zip(biases) {
            *out = *out * scale * gain + bias;
        }
        return;
    }
    if gains.is_empty() {
        out.iter_mut().for_each(|out| *out *= scale);
    } else {
        for (out, gain) in out.iter_mut().zip(gains) {
            *out = *out * scale * gain;
        }
    }
    for (out, bias) in out.iter_mut().zip(biases) {
        *out += bias;
    }
}

#[inline(always)]
pub(super) fn rms_norm<A: Number<Sum = f32>>(row: &[A], out: &mut [f32], added: &[f32], gains: &[f32], eps: f32) {
    add(row, out, added);
    let mean = sum_of_squares(out) / out.len() as f32;
    scale(out, 1.0 / sqrt(mean + eps), gains, &[]);
}

#[inline(always)]
pub(super) fn layer_norm<A: Number<Sum = f32>>(
    row: &[A],
    out: &mut [f32],
    added: &[f32],
    (gains, biases): (&[f32], &[f32]),
    eps: f32,
) {
    add(row, out, added);
    let n = out.len() as f32;
    let mean = sum(out) / n;
    out.iter_mut().for_each(|out| *out -= mean);
    let variance = sum_of_squares(out) / n;
    scale(out, 1.0 / sqrt(variance + eps), gains, biases);
}

#[inline(always)]
pub(super) fn l2_normalize<A: Number<Sum = f32>>(row: &[A], out: &mut [f32], added: &[f32], least: f32) {
    add(row, out, added);
    let length = sqrt(sum_of_squares(out));
    scale(out, 1.0 / if length < least { least } else { length }, &[], &[]);
}

#[inline(always)]
fn sqrt(value: f32) -> f32 {
    #[cfg(any(feature = "std", test))]
    return value.sqrt();
    #[cfg(not(any(feature = "std", test)))]
    exact_sqrt(value)
}

/// The square root, rounded to the nearest, by integer arithmetic: `core` has no `sqrt`.
#[cfg(any(not(feature = "std"), test))]
fn exact_sqrt(value: f32) -> f32 {
    if value.is_nan() || value <= 0.0 || value == f32::INFINITY {
        return if value < 0.0 { f32::NAN } else { value };
    }
    // Subnormal numbers become normal by a factor of `2^24`, whose root is `2^12`.
    let (value, down) = if value < f32::MIN_POSITIVE { (value * 16_777_216.0, 12) } else { (value, 0) };
    let bits = value.to_bits();
    let exponent = (bits >> 23) as i32 - 127;
    let odd = exponent & 1;
    // A root of 25 bits: the last bit gives the rounding. No square root is a tie.
    let root = (u64::from(bits & 0x007f_ffff | 0x0080_0000) << (25 + odd)).isqrt();
    let exponent = (exponent - odd) / 2 - down;
    f32::from_bits((((exponent + 127) as u32) << 23) + (root.div_ceil(2) as u32 - 0x0080_0000))
}

#[cfg(test)]
mod tests {
    use super::exact_sqrt;

    #[test]
    fn roots_are_those_of_the_standard_library() {
        let bits = (0..=u32::MAX >> 12).map(|at| at << 12 | at.wrapping_mul(2_654_435_761) >> 20);
        for value in bits.map(f32::from_bits) {
            let (own, theirs) = (exact_sqrt(value), value.sqrt());
            assert!(own.to_bits() == theirs.to_bits() || own.is_nan() && theirs.is_nan(), "{value:e}: {own:e}");
        }
    }
}
