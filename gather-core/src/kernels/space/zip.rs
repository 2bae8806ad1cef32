//! Interleaving 2, 3, 4 or 8 contiguous streams by vectors: one of every stream at a time.
//!
//! ```text
//! zip(a, b) = a0 b0 a1 b1 ..
//! block 4   = zip(zip(s0, s2), zip(s1, s3))
//! block 8   = zip(block 4 of the even streams, block 4 of the odd streams)
//! ```
//!
//! Three streams are no power of two: each of three vectors of the output takes its bytes from all of them.
//!
//! A scalar loop writes one element at a time, which limits it to the stores of a cycle.

use core::marker::PhantomData;

use crate::kernels::level_fn::{LevelFn, Token};
use crate::kernels::space::PeriodsArgs;
use crate::kernels::space::args::SpaceCursor;

/// Bytes in a register. A value exists only where the machine has its instructions (K7), so that functions of it are
/// safe.
pub(crate) trait Vector: Copy {
    /// How many.
    const LEN: usize;

    /// # Safety
    /// K7; as many bytes may be read.
    unsafe fn load(from: *const u8) -> Self;

    /// # Safety
    /// As many bytes may be written.
    unsafe fn store(self, to: *mut u8);
}

/// Vectors of two streams, zipped.
pub(crate) trait ZipsTwo: Vector {
    /// The elements of two vectors, of `BYTES` bytes, alternating.
    fn zip<const BYTES: usize>(a: Self, b: Self) -> [Self; 2];
}

/// Vectors of three streams, zipped.
pub(crate) trait ZipsThree: Vector {
    /// The elements of three vectors, of `BYTES` bytes, by turns.
    fn zip_three<const BYTES: usize>(streams: [Self; 3]) -> [Self; 3];
}

/// Vectors of 16 bytes that look bytes up.
pub(crate) trait LooksUp: Vector {
    /// The bytes at numbers, and 0 where a number is 128.
    fn look_up(self, at: Self) -> Self;
    fn or(self, other: Self) -> Self;
}

/// Bytes of a vector that looks bytes up.
const SHORT: usize = 16;

/// Where the bytes of three output vectors come from, for elements of `BYTES` bytes.
struct Thirds<const BYTES: usize>;

impl<const BYTES: usize> Thirds<BYTES> {
    /// Output vector, stream: the byte of the stream's vector for each byte of the output; 128 for none.
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
    fn zip_three<const BYTES: usize>([a, b, c]: [V; 3]) -> [V; 3] {
        const { assert!(V::LEN == SHORT) };
        let mut zipped = [a; 3];
        for (vector, from) in zipped.iter_mut().zip(&Thirds::<BYTES>::NUMBERS) {
            // SAFETY: K7 holds where there are vectors; these are 16 bytes.
            let of = |stream: V, numbers: &[u8; SHORT]| stream.look_up(unsafe { V::load(numbers.as_ptr()) });
            *vector = of(a, &from[0]).or(of(b, &from[1])).or(of(c, &from[2]));
        }
        zipped
    }
}

/// [`PeriodsFn`](crate::kernels::space::PeriodsFn) that zips two or four streams by vectors `V`, three by `T` and eight
/// by `E`.
pub(crate) struct Zip<V, T, E, const BYTES: usize>(PhantomData<(V, T, E)>);

impl<V: ZipsTwo, T: ZipsThree, E: ZipsTwo, const BYTES: usize> LevelFn for Zip<V, T, E, BYTES> {
    type Args<'a> = PeriodsArgs<'a>;
    type Output = usize;

    #[inline(always)]
    fn call<Here: Token>(_: Here, (inner, at, periods): PeriodsArgs<'_>) -> usize {
        if !matches!(BYTES, 1 | 2 | 4 | 8) {
            return 0;
        }
        let stream = inner.step.data;
        match inner.block {
            // SAFETY: the caller's promise, for as many streams.
            2 => unsafe { zip_streams::<V, BYTES, 2>(stream, at, periods) },
            // SAFETY: as above.
            3 => unsafe { zip_three_streams::<T, BYTES>(stream, at, periods) },
            // SAFETY: as above.
            4 => unsafe { zip_streams::<V, BYTES, 4>(stream, at, periods) },
            // SAFETY: as above.
            8 => unsafe { zip_streams::<E, BYTES, 8>(stream, at, periods) },
            _ => 0,
        }
    }
}

/// Vector `step` of each of `N` streams.
///
/// # Safety
/// Each may be read; K7.
#[inline(always)]
unsafe fn load<V: Vector, const N: usize>(stream: isize, at: SpaceCursor, step: usize) -> [V; N] {
    // SAFETY: the caller's promise, for the first stream.
    let mut vectors = [unsafe { V::load(at.data.wrapping_add(step * V::LEN)) }; N];
    for (n, vector) in vectors.iter_mut().enumerate().skip(1) {
        let from = at.data.wrapping_offset(stream.wrapping_mul(n as isize)).wrapping_add(step * V::LEN);
        // SAFETY: the caller's promise, for stream `n`.
        *vector = unsafe { V::load(from) };
    }
    vectors
}

/// Writes the vectors of a step of `N` streams.
///
/// # Safety
/// They may be written.
#[inline(always)]
unsafe fn store<V: Vector, const N: usize>(at: SpaceCursor, step: usize, vectors: [V; N]) {
    for (n, vector) in vectors.into_iter().enumerate() {
        // SAFETY: the caller's promise: vector `step * N + n` of the output.
        unsafe { vector.store(at.out.wrapping_add((step * N + n) * V::LEN)) };
    }
}

/// Zips whole vectors of three streams; returns how many periods.
///
/// # Safety
/// The three streams and the output reach as many periods; K7.
#[inline(always)]
unsafe fn zip_three_streams<V: ZipsThree, const BYTES: usize>(stream: isize, at: SpaceCursor, periods: usize) -> usize {
    let steps = periods * BYTES / V::LEN;
    for step in 0..steps {
        // SAFETY: the caller's promise; `step < steps`.
        let vectors = unsafe { load::<V, 3>(stream, at, step) };
        // SAFETY: as above.
        unsafe { store(at, step, V::zip_three::<BYTES>(vectors)) };
    }
    steps * (V::LEN / BYTES)
}

/// Zips whole vectors of each of `N` streams; returns how many periods.
///
/// # Safety
/// The `N` streams and the output reach as many periods; K7.
#[inline(always)]
unsafe fn zip_streams<V: ZipsTwo, const BYTES: usize, const N: usize>(
    stream: isize,
    at: SpaceCursor,
    periods: usize,
) -> usize {
    let steps = periods * BYTES / V::LEN;
    for step in 0..steps {
        // SAFETY: the caller's promise; `step < steps`.
        let mut vectors = unsafe { load::<V, N>(stream, at, step) };
        // Streams N/2 apart are zipped first; each round halves the distance.
        let mut half = N / 2;
        while half > 0 {
            vectors = round::<V, BYTES, N>(vectors, half);
            half /= 2;
        }
        // SAFETY: as above.
        unsafe { store(at, step, vectors) };
    }
    steps * (V::LEN / BYTES)
}

/// One round of zips: the vectors hold runs of streams `half` apart from their partners, group by group.
#[inline(always)]
fn round<V: ZipsTwo, const BYTES: usize, const N: usize>(vectors: [V; N], half: usize) -> [V; N] {
    let mut zipped = vectors;
    let groups = N / (2 * half);
    for pair in 0..half {
        for group in 0..groups {
            let (a, b) = (vectors[group + pair * groups], vectors[group + (pair + half) * groups]);
            let to = 2 * (group + pair * groups);
            [zipped[to], zipped[to + 1]] = V::zip::<BYTES>(a, b);
        }
    }
    zipped
}
