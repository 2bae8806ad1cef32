//! Taking contiguous data apart into 2, 3, 4 or 8 streams with AVX2: the inverse of `zip.rs`.
//!
//! A step takes `N` vectors of data apart, into a vector for each of `N` streams. Both 128-bit lanes do the same, each
//! on half of the data. Lane 0 of vector `n` is short vector `n` of the step, and lane 1 is short vector `N + n`. So no
//! element crosses lanes.
//!
//! ```text
//! sort       within each short vector, elements by stream: runs of 16 / N bytes    (one `pshufb`)
//! transpose  runs become vectors: `round` log2 N times                             (two unpacks for two vectors)
//! ```
//!
//! Short vectors of at most `N` elements need no sorting. Three is no power of two: each of three streams takes its
//! bytes from three short vectors of data, by one `pshufb` each, which returns 0 for bytes of other streams.

#![forbid(unsafe_code)]

use crate::kernels::level_fn::{Avx2, LevelFn, Token};
use crate::kernels::space::periods::Periods;
use crate::kernels::vector::Vector;
use crate::kernels::x86::{__m128i, __m256i};

const VECTOR: usize = 32;
const SHORT: usize = 16;

/// [`PeriodsFn`](crate::kernels::space::PeriodsFn) with AVX2, a vector of every stream at a time.
pub(crate) struct Unzip<const BYTES: usize>;

impl<const BYTES: usize> LevelFn for Unzip<BYTES> {
    type Args<'a> = &'a Periods<'a>;
    type Output = usize;

    #[inline(always)]
    fn call<Here: Token>(here: Here, periods: &Periods<'_>) -> usize {
        let Some(level) = here.avx2() else { return 0 };
        let bytes = periods.n() * BYTES;
        match periods.block() {
            2 => unzip_streams::<BYTES, 2>(level, periods, bytes / VECTOR),
            3 => {
                unzip_three::<BYTES>(level, periods, bytes / SHORT);
                return bytes / SHORT * (SHORT / BYTES);
            }
            4 => unzip_streams::<BYTES, 4>(level, periods, bytes / VECTOR),
            8 => unzip_streams::<BYTES, 8>(level, periods, bytes / VECTOR),
            _ => return 0,
        }
        bytes / VECTOR * (VECTOR / BYTES)
    }
}

/// The sources of the bytes of a short vector of each of three streams, for elements of `BYTES` bytes.
struct UnzipThirds<const BYTES: usize>;

impl<const BYTES: usize> UnzipThirds<BYTES> {
    /// `MASKS[stream][short vector of data]`: the byte of data for each byte of the stream; 128 and above for none. No
    /// element crosses short vectors.
    const MASKS: [[[u8; SHORT]; 3]; 3] = {
        let mut masks = [[[0x80; SHORT]; 3]; 3];
        let mut at = 0;
        while at < 3 * SHORT && SHORT.is_multiple_of(BYTES) {
            let (element, byte) = (at / BYTES, at % BYTES);
            masks[element % 3][at / SHORT][element / 3 * BYTES + byte] = (at % SHORT) as u8;
            at += 1;
        }
        masks
    };
}

/// Takes data apart into `steps` short vectors of each of three streams.
#[inline(always)]
fn unzip_three<const BYTES: usize>(level: Avx2, periods: &Periods<'_>, steps: usize) {
    let masks = UnzipThirds::<BYTES>::MASKS.map(|masks| masks.map(|mask| __m128i::of(level, &mask)));
    for step in 0..steps {
        let load = |n| periods.load_whole::<__m128i, BYTES>(level, (step * 3 + n) * SHORT);
        let [a, b, c] = [load(0), load(1), load(2)];
        for (n, masks) in masks.iter().enumerate() {
            let ab = level.or_16(level.look_up_16(a, masks[0]), level.look_up_16(b, masks[1]));
            let unzipped = level.or_16(ab, level.look_up_16(c, masks[2]));
            periods.store_stream::<__m128i, BYTES>(n, step * SHORT, unzipped);
        }
    }
}

/// Takes data apart into `steps` vectors of each of `N` streams.
#[inline(always)]
fn unzip_streams<const BYTES: usize, const N: usize>(level: Avx2, periods: &Periods<'_>, steps: usize) {
    let sort = level.twice(__m128i::of(level, &Sorted::<BYTES, N>::MASK));
    for step in 0..steps {
        let mut vectors = [sort; N];
        for (n, vector) in vectors.iter_mut().enumerate() {
            // Short vectors `n` and `N + n` of `2 * N` in the step.
            let low = periods.load_whole::<__m128i, BYTES>(level, step * N * VECTOR + n * SHORT);
            let high = periods.load_whole::<__m128i, BYTES>(level, step * N * VECTOR + (N + n) * SHORT);
            *vector = level.joined(low, high);
            if N * BYTES < SHORT {
                *vector = level.look_up_32(*vector, sort);
            }
        }
        let mut left = Sorted::<BYTES, N>::RUNS;
        while left > 1 {
            vectors = round::<BYTES, N>(level, vectors);
            left /= 2;
        }
        for (n, vector) in vectors.iter().enumerate() {
            periods.store_stream::<__m256i, BYTES>(n, step * VECTOR, *vector);
        }
    }
}

/// Short vectors with elements of `BYTES` bytes, sorted by the `N` streams that they belong to.
struct Sorted<const BYTES: usize, const N: usize>;

impl<const BYTES: usize, const N: usize> Sorted<BYTES, N> {
    /// Bytes of a run: one element, or adjacent elements of one stream after sorting.
    const RUN: usize = if N * BYTES < SHORT { SHORT / N } else { BYTES };
    /// Runs per short vector.
    const RUNS: usize = SHORT / Self::RUN;
    /// The byte of the short vector for each sorted byte.
    const MASK: [u8; SHORT] = {
        let mut mask = [0; SHORT];
        let mut at = 0;
        while at < SHORT {
            let (stream, element, byte) = (at / Self::RUN, at % Self::RUN / BYTES, at % BYTES);
            mask[at] = ((element * N + stream) * BYTES + byte) as u8;
            at += 1;
        }
        mask
    };
}

/// One round of the transpose: zips the first half of the vectors with the second half, run by run.
///
/// The binary digits of a vector's number and a run's number, concatenated, rotate by one digit. After `log2 RUNS`
/// rounds the two numbers have changed places.
#[inline(always)]
fn round<const BYTES: usize, const N: usize>(level: Avx2, vectors: [__m256i; N]) -> [__m256i; N] {
    let mut zipped = vectors;
    for pair in 0..N / 2 {
        let (a, b) = (vectors[pair], vectors[pair + N / 2]);
        // Runs of 8 bytes or more are zipped by 8 bytes.
        [zipped[2 * pair], zipped[2 * pair + 1]] = match Sorted::<BYTES, N>::RUN {
            2 => level.unpacked::<2>(a, b),
            4 => level.unpacked::<4>(a, b),
            _ => level.unpacked::<8>(a, b),
        };
    }
    zipped
}
