//! Interleaving 2, 3, 4 or 8 contiguous streams.
//!
//! ```text
//! zip(a, b) = a0 b0 a1 b1 ..
//! block 4   = zip(zip(s0, s2), zip(s1, s3))
//! block 8   = zip(block 4 of the even streams, block 4 of the odd streams)
//! ```
//!
//! Three streams are no power of two: each of three output vectors takes its bytes from all of them, by one lookup a
//! stream, which yields 0 where a byte comes from another.

use super::{V128, VECTOR};
use crate::kernels::space::args::{BlockLoop, SpaceCursor};

/// [`PeriodsFn`](crate::kernels::space::PeriodsFn) with vectors: one of every stream at a time;
/// returns how many periods.
///
/// # Safety
/// As for [`PeriodsFn`](crate::kernels::space::PeriodsFn).
#[inline(always)]
pub(super) unsafe fn periods<const BYTES: usize>(inner: &BlockLoop, at: SpaceCursor, periods: usize) -> usize {
    if !matches!(BYTES, 1 | 2 | 4 | 8) {
        return 0;
    }
    let (steps, stream) = (periods * BYTES / VECTOR, inner.step.data);
    match inner.block {
        // SAFETY: `steps` vectors of each of the streams, and as many times `block` of the output, lie in the periods.
        2 => unsafe { zip_streams::<BYTES, 2>(stream, at, steps) },
        // SAFETY: as above.
        3 => unsafe { zip_three::<BYTES>(stream, at, steps) },
        // SAFETY: as above.
        4 => unsafe { zip_streams::<BYTES, 4>(stream, at, steps) },
        // SAFETY: as above.
        8 => unsafe { zip_streams::<BYTES, 8>(stream, at, steps) },
        _ => return 0,
    }
    steps * (VECTOR / BYTES)
}

/// Where the bytes of three output vectors come from, for elements of `BYTES` bytes.
struct Thirds<const BYTES: usize>;

impl<const BYTES: usize> Thirds<BYTES> {
    /// Output vector, stream: the byte of the stream's vector for each byte of the output; 128 for none.
    const NUMBERS: [[[u8; VECTOR]; 3]; 3] = {
        let mut numbers = [[[0x80; VECTOR]; 3]; 3];
        let mut at = 0;
        while at < 3 * VECTOR {
            let (element, byte) = (at / BYTES, at % BYTES);
            numbers[at / VECTOR][element % 3][at % VECTOR] = (element / 3 * BYTES + byte) as u8;
            at += 1;
        }
        numbers
    };
}

/// Vector `step` of each of `N` streams.
///
/// # Safety
/// Each may be read.
#[inline(always)]
unsafe fn load_streams<const N: usize>(stream: isize, at: SpaceCursor, step: usize) -> [V128; N] {
    core::array::from_fn(|n| {
        let from = at.data.wrapping_offset(stream.wrapping_mul(n as isize)).wrapping_add(step * VECTOR);
        // SAFETY: the caller's promise, for stream `n`.
        unsafe { V128::load(from) }
    })
}

/// Zips `steps` vectors of each of three streams.
///
/// # Safety
/// Every stream reaches `steps` vectors of readable memory, and the output three times as many that may be written.
#[inline(always)]
unsafe fn zip_three<const BYTES: usize>(stream: isize, at: SpaceCursor, steps: usize) {
    let numbers = Thirds::<BYTES>::NUMBERS.map(|streams| streams.map(V128::of_bytes));
    for step in 0..steps {
        // SAFETY: the caller's promise; `step < steps`.
        let [a, b, c] = unsafe { load_streams::<3>(stream, at, step) };
        for (n, from) in numbers.iter().enumerate() {
            let ab = V128::or(V128::look_up_16(a, from[0]), V128::look_up_16(b, from[1]));
            let zipped = V128::or(ab, V128::look_up_16(c, from[2]));
            // SAFETY: vector `step * 3 + n` of the output.
            unsafe { zipped.store(at.out.wrapping_add((step * 3 + n) * VECTOR)) };
        }
    }
}

/// Zips `steps` vectors of each of `N` streams.
///
/// # Safety
/// Every stream reaches `steps` vectors of readable memory, and the output `N` times as many that may be written.
#[inline(always)]
unsafe fn zip_streams<const BYTES: usize, const N: usize>(stream: isize, at: SpaceCursor, steps: usize) {
    for step in 0..steps {
        // SAFETY: the caller's promise; `step < steps`.
        let mut vectors: [V128; N] = unsafe { load_streams(stream, at, step) };
        // Streams N/2 apart are zipped first; each round halves the distance.
        let mut half = N / 2;
        while half > 0 {
            vectors = round::<BYTES, N>(vectors, half);
            half /= 2;
        }
        for (n, vector) in vectors.into_iter().enumerate() {
            // SAFETY: vector `step * N + n` of the output.
            unsafe { vector.store(at.out.wrapping_add((step * N + n) * VECTOR)) };
        }
    }
}

/// One round of zips: the vectors hold runs of streams `half` apart from their partners, group by group.
#[inline(always)]
fn round<const BYTES: usize, const N: usize>(vectors: [V128; N], half: usize) -> [V128; N] {
    let mut zipped = vectors;
    let groups = N / (2 * half);
    for pair in 0..half {
        for group in 0..groups {
            let (a, b) = (vectors[group + pair * groups], vectors[group + (pair + half) * groups]);
            let [low, high] = zip::<BYTES>(a, b);
            zipped[2 * group + pair * 2 * groups] = low;
            zipped[2 * group + 1 + pair * 2 * groups] = high;
        }
    }
    zipped
}

/// The elements of two vectors, alternating, in two vectors.
#[inline(always)]
fn zip<const BYTES: usize>(a: V128, b: V128) -> [V128; 2] {
    match BYTES {
        1 => V128::zip8(a, b),
        2 => V128::zip16(a, b),
        4 => V128::zip32(a, b),
        _ => V128::zip64(a, b),
    }
}
