//! Interleaving 3 or 8 contiguous streams with AVX-512; two and four are as quick with AVX2.
//!
//! A permute of two vectors takes any lanes of both. So a vector of the output takes one permute from two streams, and
//! two from three:
//!
//! ```text
//! zip(a, b) = a0 b0 a1 b1 ..        a permute for each half
//! block 8   = three rounds of zips, of streams 4, 2 and 1 apart
//! block 3   = the lanes of a and b in their places, then those of c between them
//! ```

use core::arch::x86_64::{
    __m512i, _mm512_loadu_si512, _mm512_permutex2var_epi8, _mm512_permutex2var_epi16, _mm512_permutex2var_epi32,
    _mm512_permutex2var_epi64, _mm512_setzero_si512, _mm512_storeu_si512,
};

use crate::kernels::space::args::{BlockLoop, SpaceCursor};
use crate::kernels::space::zip_avx2;

/// Bytes of a vector.
const VECTOR: usize = 64;

/// [`PeriodsFn`](crate::kernels::space::PeriodsFn) with AVX-512: a vector of every stream at a time; returns how many
/// periods.
///
/// # Safety
/// As for [`PeriodsFn`](crate::kernels::space::PeriodsFn).
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi")]
pub(crate) unsafe fn periods<const BYTES: usize>(inner: &BlockLoop, at: SpaceCursor, periods: usize) -> usize {
    if !matches!(BYTES, 1 | 2 | 4 | 8) {
        return 0;
    }
    let (steps, stream) = (periods * BYTES / VECTOR, inner.step.data);
    match inner.block {
        // SAFETY: `steps` vectors of each of the streams, and as many times `block` of the output, lie in the periods.
        3 => unsafe { zip_three::<BYTES>(stream, at, steps) },
        // SAFETY: as above.
        8 => unsafe { zip_streams::<BYTES, 8>(stream, at, steps) },
        // SAFETY: the caller's promise; the machine has AVX2 too.
        _ => return unsafe { zip_avx2::periods::<BYTES>(inner, at, periods) },
    }
    steps * (VECTOR / BYTES)
}

/// Which lanes of two vectors a permute takes, for elements of `BYTES` bytes: a number for each lane, as wide as a
/// lane.
struct Order<const BYTES: usize>;

impl<const BYTES: usize> Order<BYTES> {
    /// Elements of a vector.
    const LANES: usize = VECTOR / BYTES;

    /// The halves of two vectors zipped.
    const ZIP: [[u8; VECTOR]; 2] = {
        let mut orders = [[0; VECTOR]; 2];
        let mut at = 0;
        while at < 2 * Self::LANES {
            let lane = at / 2 + at % 2 * Self::LANES;
            orders[at / Self::LANES][at % Self::LANES * BYTES] = lane as u8;
            at += 1;
        }
        orders
    };

    /// The vectors of three streams zipped: the lanes of the first two streams, then what is kept of them and the lanes
    /// of the third one.
    const ZIP_THREE: [[[u8; VECTOR]; 2]; 3] = {
        let mut orders = [[[0; VECTOR]; 2]; 3];
        let mut at = 0;
        while at < 3 * Self::LANES {
            let (element, to) = (at / 3, at % Self::LANES);
            let [first, second] = match at % 3 {
                0 => [element, to],
                1 => [Self::LANES + element, to],
                _ => [0, Self::LANES + element],
            };
            orders[at / Self::LANES][0][to * BYTES] = first as u8;
            orders[at / Self::LANES][1][to * BYTES] = second as u8;
            at += 1;
        }
        orders
    };
}

/// The lanes of two vectors in an order.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi")]
fn permute<const BYTES: usize>(a: __m512i, order: __m512i, b: __m512i) -> __m512i {
    match BYTES {
        1 => _mm512_permutex2var_epi8(a, order, b),
        2 => _mm512_permutex2var_epi16(a, order, b),
        4 => _mm512_permutex2var_epi32(a, order, b),
        _ => _mm512_permutex2var_epi64(a, order, b),
    }
}

/// An order as a vector.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi")]
fn vector(bytes: &[u8; VECTOR]) -> __m512i {
    // SAFETY: the bytes of a vector.
    unsafe { _mm512_loadu_si512(bytes.as_ptr().cast()) }
}

/// Vector `step` of each of `N` streams.
///
/// # Safety
/// It may be read.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi")]
unsafe fn load<const N: usize>(stream: isize, at: SpaceCursor, step: usize) -> [__m512i; N] {
    let mut vectors = [_mm512_setzero_si512(); N];
    for (n, vector) in vectors.iter_mut().enumerate() {
        let from = at.data.wrapping_offset(stream.wrapping_mul(n as isize)).wrapping_add(step * VECTOR);
        // SAFETY: the caller's promise.
        *vector = unsafe { _mm512_loadu_si512(from.cast()) };
    }
    vectors
}

/// Writes the vectors of a step of `N` streams.
///
/// # Safety
/// They may be written.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi")]
unsafe fn store<const N: usize>(at: SpaceCursor, step: usize, vectors: [__m512i; N]) {
    for (n, vector) in vectors.iter().enumerate() {
        // SAFETY: the caller's promise.
        unsafe { _mm512_storeu_si512(at.out.wrapping_add((step * N + n) * VECTOR).cast(), *vector) };
    }
}

/// Zips `steps` vectors of each of three streams.
///
/// # Safety
/// Every stream reaches `steps` vectors of readable memory, and the output three times as many that may be written.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi")]
unsafe fn zip_three<const BYTES: usize>(stream: isize, at: SpaceCursor, steps: usize) {
    let mut orders = [[_mm512_setzero_si512(); 2]; 3];
    for (order, bytes) in orders.as_flattened_mut().iter_mut().zip(Order::<BYTES>::ZIP_THREE.as_flattened()) {
        *order = vector(bytes);
    }
    for step in 0..steps {
        // SAFETY: the caller's promise.
        let [a, b, c] = unsafe { load::<3>(stream, at, step) };
        let mut zipped = [a; 3];
        for (n, vector) in zipped.iter_mut().enumerate() {
            let [two, third] = orders[n];
            *vector = permute::<BYTES>(permute::<BYTES>(a, two, b), third, c);
        }
        // SAFETY: the caller's promise.
        unsafe { store(at, step, zipped) };
    }
}

/// Zips `steps` vectors of each of `N` streams.
///
/// # Safety
/// Every stream reaches `steps` vectors of readable memory, and the output `N` times as many that may be written.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi")]
unsafe fn zip_streams<const BYTES: usize, const N: usize>(stream: isize, at: SpaceCursor, steps: usize) {
    let [low, high] = Order::<BYTES>::ZIP;
    let (low, high) = (vector(&low), vector(&high));
    for step in 0..steps {
        // SAFETY: the caller's promise.
        let mut vectors = unsafe { load::<N>(stream, at, step) };
        // Streams N/2 apart are zipped first; each round halves the distance.
        let mut half = N / 2;
        while half > 0 {
            let (before, groups) = (vectors, N / (2 * half));
            for pair in 0..half {
                for group in 0..groups {
                    let (a, b) = (before[group + pair * groups], before[group + (pair + half) * groups]);
                    let to = 2 * (group + pair * groups);
                    vectors[to] = permute::<BYTES>(a, low, b);
                    vectors[to + 1] = permute::<BYTES>(a, high, b);
                }
            }
            half /= 2;
        }
        // SAFETY: the caller's promise.
        unsafe { store(at, step, vectors) };
    }
}
