//! The vectors that zip streams with AVX2 and AVX-512.
//!
//! With AVX2, two vectors are zipped by unpacking their halves and reordering the 128-bit lanes. Three streams are
//! zipped by vectors of 16 bytes, since no byte crosses lanes.
//!
//! With AVX-512, a permute takes any lanes of two vectors. A vector of the output takes one permute of two streams. Of
//! three streams it takes two: the first two streams, then the third between them. Two and four streams are as fast
//! with AVX2.

#![forbid(unsafe_code)]

use crate::kernels::level_fn::{Avx2, Avx512};
use crate::kernels::space::zip::{LooksUp, Zip, ZipsThree, ZipsTwo};
use crate::kernels::vector::Vector;
use crate::kernels::x86::{__m128i, __m256i, __m512i};

/// [`Zip`] with AVX2.
pub(crate) type ZipAvx2<const BYTES: usize> = Zip<__m256i, __m128i, __m256i, BYTES>;

/// [`Zip`] with AVX-512.
pub(crate) type ZipAvx512<const BYTES: usize> = Zip<__m256i, __m512i, __m512i, BYTES>;

/// `Zip`'s vector for three streams at the level AVX2.
impl LooksUp for __m128i {
    #[inline(always)]
    fn look_up(self, level: Avx2, at: Self) -> Self {
        level.look_up_16(self, at)
    }

    #[inline(always)]
    fn or(level: Avx2, a: Self, b: Self) -> Self {
        level.or_16(a, b)
    }
}

impl ZipsTwo for __m256i {
    #[inline(always)]
    fn zip<const BYTES: usize>(level: Avx2, a: Self, b: Self) -> [Self; 2] {
        let [low, high] = level.unpacked::<BYTES>(a, b);
        level.paired(low, high)
    }
}

impl ZipsTwo for __m512i {
    #[inline(always)]
    fn zip<const BYTES: usize>(level: Avx512, a: Self, b: Self) -> [Self; 2] {
        let [low, high] = &ZipOrder::<BYTES>::ZIP;
        [permuted::<BYTES>(level, a, low, b), permuted::<BYTES>(level, a, high, b)]
    }
}

impl ZipsThree for __m512i {
    #[inline(always)]
    fn zip_three<const BYTES: usize>(level: Avx512, [a, b, c]: [Self; 3]) -> [Self; 3] {
        let mut zipped = [a; 3];
        for (vector, [two, third]) in zipped.iter_mut().zip(&ZipOrder::<BYTES>::ZIP_THREE) {
            *vector = permuted::<BYTES>(level, permuted::<BYTES>(level, a, two, b), third, c);
        }
        zipped
    }
}

/// The lanes of two vectors in the given order.
#[inline(always)]
fn permuted<const BYTES: usize>(level: Avx512, a: __m512i, order: &[u8; __m512i::LEN], b: __m512i) -> __m512i {
    level.permuted::<BYTES>(a, Vector::of(level, order), b)
}

/// The lanes of two vectors that a permute takes, for elements of `BYTES` bytes: a number per lane, as wide as a lane.
struct ZipOrder<const BYTES: usize>;

impl<const BYTES: usize> ZipOrder<BYTES> {
    const LANES: usize = __m512i::LEN / BYTES;

    /// The order of the lanes of two zipped vectors, half by half.
    const ZIP: [[u8; __m512i::LEN]; 2] = {
        let mut orders = [[0; __m512i::LEN]; 2];
        let mut at = 0;
        while at < 2 * Self::LANES {
            let lane = at / 2 + at % 2 * Self::LANES;
            orders[at / Self::LANES][at % Self::LANES * BYTES] = lane as u8;
            at += 1;
        }
        orders
    };

    /// The orders of two permutes that zip three vectors: of two streams, then of the result and the third stream.
    const ZIP_THREE: [[[u8; __m512i::LEN]; 2]; 3] = {
        let mut orders = [[[0; __m512i::LEN]; 2]; 3];
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
