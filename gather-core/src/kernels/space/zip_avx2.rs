//! Interleaving 2, 3, 4 or 8 contiguous streams with AVX2.
//!
//! Two vectors are zipped by unpacking their halves and putting the 128-bit lanes in order:
//!
//! ```text
//! zip(a, b) = a0 b0 a1 b1 ..        two unpacks, two lane permutes
//! block 4   = zip(zip(s0, s2), zip(s1, s3))
//! block 8   = zip(block 4 of the even streams, block 4 of the odd streams)
//! ```
//!
//! Three streams are no power of two: each of three output vectors of 16 bytes takes its bytes from all of them, by one
//! `pshufb` a stream, which yields 0 where a byte comes from another.
//!
//! A block of 2^k costs k times 4 shuffles for each pair of vectors, at every width. A block of 3 costs nine shuffles
//! for three short vectors. A scalar loop writes one element at a time, which limits it to the stores of a cycle.

use core::arch::x86_64::{
    __m256i, _mm_loadu_si128, _mm_or_si128, _mm_setzero_si128, _mm_shuffle_epi8, _mm_storeu_si128, _mm256_loadu_si256,
    _mm256_permute2x128_si256, _mm256_setzero_si256, _mm256_storeu_si256, _mm256_unpackhi_epi8, _mm256_unpackhi_epi16,
    _mm256_unpackhi_epi32, _mm256_unpackhi_epi64, _mm256_unpacklo_epi8, _mm256_unpacklo_epi16, _mm256_unpacklo_epi32,
    _mm256_unpacklo_epi64,
};

use crate::kernels::space::args::{BlockLoop, SpaceCursor};

/// Bytes of a vector.
const VECTOR: usize = 32;
/// Bytes of a short vector.
const SHORT: usize = 16;

/// [`PeriodsFn`](crate::kernels::space::PeriodsFn) with AVX2: a vector of every stream at a time;
/// returns how many periods.
///
/// # Safety
/// As for [`PeriodsFn`](crate::kernels::space::PeriodsFn).
#[inline]
#[target_feature(enable = "avx2")]
pub(crate) unsafe fn periods<const BYTES: usize>(inner: &BlockLoop, at: SpaceCursor, periods: usize) -> usize {
    if !matches!(BYTES, 1 | 2 | 4 | 8) {
        return 0;
    }
    let steps = periods * BYTES / VECTOR;
    if inner.block == 3 {
        let steps = periods * BYTES / SHORT;
        // SAFETY: `steps` short vectors of each of the streams, and three times as many of the output, lie in the
        // periods.
        unsafe { zip_three::<BYTES>(inner.step.data, at, steps) };
        return steps * (SHORT / BYTES);
    }
    match inner.block {
        // SAFETY: `steps` vectors of each of the streams, and as many times `block` of the output, lie in the periods.
        2 => unsafe { zip_streams::<BYTES, 2>(inner.step.data, at, steps) },
        // SAFETY: as above.
        4 => unsafe { zip_streams::<BYTES, 4>(inner.step.data, at, steps) },
        // SAFETY: as above.
        8 => unsafe { zip_streams::<BYTES, 8>(inner.step.data, at, steps) },
        _ => return 0,
    }
    steps * (VECTOR / BYTES)
}

/// Where the bytes of three output vectors come from, for elements of `BYTES` bytes.
struct Thirds<const BYTES: usize>;

impl<const BYTES: usize> Thirds<BYTES> {
    /// Output vector, stream: the byte of the stream's vector for each byte of the output; 128 and above for none.
    const MASKS: [[[u8; SHORT]; 3]; 3] = {
        let mut masks = [[[0x80; SHORT]; 3]; 3];
        let mut at = 0;
        while at < 3 * SHORT {
            let (element, byte) = (at / BYTES, at % BYTES);
            masks[at / SHORT][element % 3][at % SHORT] = (element / 3 * BYTES + byte) as u8;
            at += 1;
        }
        masks
    };
}

/// Zips `steps` short vectors of each of three streams.
///
/// # Safety
/// Every stream reaches `steps` short vectors of readable memory, and the output three times as many that may be
/// written.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn zip_three<const BYTES: usize>(stream: isize, at: SpaceCursor, steps: usize) {
    let mut masks = [[_mm_setzero_si128(); 3]; 3];
    for (masks, bytes) in masks.as_flattened_mut().iter_mut().zip(Thirds::<BYTES>::MASKS.as_flattened()) {
        // SAFETY: 16 bytes of the constant.
        *masks = unsafe { _mm_loadu_si128(bytes.as_ptr().cast()) };
    }
    for step in 0..steps {
        let mut streams = [_mm_setzero_si128(); 3];
        for (n, vector) in streams.iter_mut().enumerate() {
            let from = at.data.wrapping_offset(stream.wrapping_mul(n as isize)).wrapping_add(step * SHORT);
            // SAFETY: short vector `step` of stream `n`.
            *vector = unsafe { _mm_loadu_si128(from.cast()) };
        }
        for (n, masks) in masks.iter().enumerate() {
            let [a, b, c] = streams;
            let ab = _mm_or_si128(_mm_shuffle_epi8(a, masks[0]), _mm_shuffle_epi8(b, masks[1]));
            let zipped = _mm_or_si128(ab, _mm_shuffle_epi8(c, masks[2]));
            let to = at.out.wrapping_add((step * 3 + n) * SHORT);
            // SAFETY: short vector `step * 3 + n` of the output.
            unsafe { _mm_storeu_si128(to.cast(), zipped) };
        }
    }
}

/// Zips `steps` vectors of each of `N` streams.
///
/// # Safety
/// Every stream reaches `steps` vectors of readable memory, and the output `N` times as many that may be written.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn zip_streams<const BYTES: usize, const N: usize>(stream: isize, at: SpaceCursor, steps: usize) {
    for step in 0..steps {
        let mut vectors = [_mm256_setzero_si256(); N];
        for (n, vector) in vectors.iter_mut().enumerate() {
            let from = at.data.wrapping_offset(stream.wrapping_mul(n as isize)).wrapping_add(step * VECTOR);
            // SAFETY: vector `step` of stream `n`.
            *vector = unsafe { _mm256_loadu_si256(from.cast()) };
        }
        // Streams N/2 apart are zipped first; each round halves the distance.
        let mut half = N / 2;
        while half > 0 {
            vectors = round::<BYTES, N>(vectors, half);
            half /= 2;
        }
        for (n, vector) in vectors.iter().enumerate() {
            let to = at.out.wrapping_add((step * N + n) * VECTOR);
            // SAFETY: vector `step * N + n` of the output.
            unsafe { _mm256_storeu_si256(to.cast(), *vector) };
        }
    }
}

/// One round of zips: the vectors hold runs of streams `half` apart from their partners, group by group.
#[inline]
#[target_feature(enable = "avx2")]
fn round<const BYTES: usize, const N: usize>(vectors: [__m256i; N], half: usize) -> [__m256i; N] {
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
#[inline]
#[target_feature(enable = "avx2")]
fn zip<const BYTES: usize>(a: __m256i, b: __m256i) -> [__m256i; 2] {
    let (low, high) = match BYTES {
        1 => (_mm256_unpacklo_epi8(a, b), _mm256_unpackhi_epi8(a, b)),
        2 => (_mm256_unpacklo_epi16(a, b), _mm256_unpackhi_epi16(a, b)),
        4 => (_mm256_unpacklo_epi32(a, b), _mm256_unpackhi_epi32(a, b)),
        _ => (_mm256_unpacklo_epi64(a, b), _mm256_unpackhi_epi64(a, b)),
    };
    [_mm256_permute2x128_si256::<0x20>(low, high), _mm256_permute2x128_si256::<0x31>(low, high)]
}
