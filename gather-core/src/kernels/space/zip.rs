//! Interleaving 2, 3, 4 or 8 contiguous streams by vectors, a vector of every stream at a time.
//!
//! ```text
//! zip(a, b) = a0 b0 a1 b1 ..
//! block 4   = zip(zip(s0, s2), zip(s1, s3))
//! block 8   = zip(block 4 of the even streams, block 4 of the odd streams)
//! ```
//!
//! Three is no power of two: each of three output vectors takes its bytes from all three streams. A scalar loop is
//! limited by its stores, one per element.

#![forbid(unsafe_code)]

use core::marker::PhantomData;

use crate::kernels::level_fn::{LevelFn, Token};
use crate::kernels::space::periods::Periods;
use crate::kernels::vector::Vector;

/// Vectors that zip two streams.
pub(crate) trait ZipsTwo: Vector {
    /// The elements of two vectors, of `BYTES` bytes, alternating.
    fn zip<const BYTES: usize>(level: Self::Level, a: Self, b: Self) -> [Self; 2];
}

/// Vectors that zip three streams.
pub(crate) trait ZipsThree: Vector {
    /// The elements of three vectors, of `BYTES` bytes, in turn.
    fn zip_three<const BYTES: usize>(level: Self::Level, streams: [Self; 3]) -> [Self; 3];
}

/// Vectors of 16 bytes that look bytes up.
pub(crate) trait LooksUp: Vector {
    /// The bytes at the numbers in `at`, and 0 for number 128.
    fn look_up(self, level: Self::Level, at: Self) -> Self;
    fn or(level: Self::Level, a: Self, b: Self) -> Self;
}

/// Bytes of a vector that looks bytes up.
const SHORT: usize = 16;

/// The sources of the bytes of three output vectors, for elements of `BYTES` bytes.
struct Thirds<const BYTES: usize>;

impl<const BYTES: usize> Thirds<BYTES> {
    /// `NUMBERS[output vector][stream]`: the byte of the stream's vector for each byte of the output; 128 for none.
    const NUMBERS: [[[u8; SHORT]; 3]; 3] = {
        let mut numbers = [[[0x80; SHORT]; 3]; 3];
        let mut at = 0;
        while at < 3 * SHORT {
            let (element, byte) = (at / BYTES, at % BYTES);
            numbers[at / SHORT][element % 3][at % SHORT] = (element / 3 * BYTES + byte) as u8;
            at += 1;
        }
        numbers
    };
}

impl<V: LooksUp> ZipsThree for V {
    #[inline(always)]
    fn zip_three<const BYTES: usize>(level: V::Level, [a, b, c]: [V; 3]) -> [V; 3] {
        const { assert!(V::LEN == SHORT) };
        let mut zipped = [a; 3];
        for (vector, from) in zipped.iter_mut().zip(&Thirds::<BYTES>::NUMBERS) {
            let of = |stream: V, numbers: &[u8; SHORT]| stream.look_up(level, V::of(level, numbers));
            let ab = V::or(level, of(a, &from[0]), of(b, &from[1]));
            *vector = V::or(level, ab, of(c, &from[2]));
        }
        zipped
    }
}

/// [`PeriodsFn`](crate::kernels::space::PeriodsFn) that zips 2 or 4 streams by vectors `V`, 3 by `T` and 8 by `E`.
pub(crate) struct Zip<V, T, E, const BYTES: usize>(PhantomData<(V, T, E)>);

impl<V: ZipsTwo, T: ZipsThree, E: ZipsTwo, const BYTES: usize> LevelFn for Zip<V, T, E, BYTES> {
    type Args<'a> = &'a Periods<'a>;
    type Output = usize;

    #[inline(always)]
    fn call<Here: Token>(here: Here, periods: &Periods<'_>) -> usize {
        let (Some(two), Some(three), Some(eight)) = (V::level(here), T::level(here), E::level(here)) else { return 0 };
        match periods.block() {
            2 => zip_streams::<V, BYTES, 2>(two, periods),
            3 => zip_three_streams::<T, BYTES>(three, periods),
            4 => zip_streams::<V, BYTES, 4>(two, periods),
            8 => zip_streams::<E, BYTES, 8>(eight, periods),
            _ => 0,
        }
    }
}

/// Vector `step` of each of `N` streams.
#[inline(always)]
fn load<V: Vector, const BYTES: usize, const N: usize>(level: V::Level, periods: &Periods<'_>, step: usize) -> [V; N] {
    let mut vectors = [periods.load_stream::<V, BYTES>(level, 0, step * V::LEN); N];
    for (n, vector) in vectors.iter_mut().enumerate().skip(1) {
        *vector = periods.load_stream::<V, BYTES>(level, n, step * V::LEN);
    }
    vectors
}

/// Writes the vectors of a step of `N` streams.
#[inline(always)]
fn store<V: Vector, const BYTES: usize, const N: usize>(periods: &Periods<'_>, step: usize, vectors: [V; N]) {
    for (n, vector) in vectors.into_iter().enumerate() {
        periods.store_whole::<V, BYTES>((step * N + n) * V::LEN, vector);
    }
}

/// Zips whole vectors of three streams; returns the number of periods.
#[inline(always)]
fn zip_three_streams<V: ZipsThree, const BYTES: usize>(level: V::Level, periods: &Periods<'_>) -> usize {
    let steps = periods.n() * BYTES / V::LEN;
    for step in 0..steps {
        store::<V, BYTES, 3>(periods, step, V::zip_three::<BYTES>(level, load::<V, BYTES, 3>(level, periods, step)));
    }
    steps * (V::LEN / BYTES)
}

/// Zips whole vectors of each of `N` streams; returns the number of periods.
#[inline(always)]
fn zip_streams<V: ZipsTwo, const BYTES: usize, const N: usize>(level: V::Level, periods: &Periods<'_>) -> usize {
    let steps = periods.n() * BYTES / V::LEN;
    for step in 0..steps {
        let mut vectors = load::<V, BYTES, N>(level, periods, step);
        // Streams `N / 2` apart are zipped first; each round halves the distance.
        let mut half = N / 2;
        while half > 0 {
            vectors = round::<V, BYTES, N>(level, vectors, half);
            half /= 2;
        }
        store::<V, BYTES, N>(periods, step, vectors);
    }
    steps * (V::LEN / BYTES)
}

/// One round of zips: vector `group + pair * groups` with the vector `half * groups` further.
#[inline(always)]
fn round<V: ZipsTwo, const BYTES: usize, const N: usize>(level: V::Level, vectors: [V; N], half: usize) -> [V; N] {
    let mut zipped = vectors;
    let groups = N / (2 * half);
    for pair in 0..half {
        for group in 0..groups {
            let (a, b) = (vectors[group + pair * groups], vectors[group + (pair + half) * groups]);
            let to = 2 * (group + pair * groups);
            [zipped[to], zipped[to + 1]] = V::zip::<BYTES>(level, a, b);
        }
    }
    zipped
}
