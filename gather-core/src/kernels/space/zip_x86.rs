//! The vectors that streams are zipped by with AVX2 and AVX-512.
//!
//! With AVX2 two vectors are zipped by unpacking their halves and putting the 128-bit lanes in order. Three streams are
//! zipped by vectors of 16 bytes, since no byte crosses from one lane to the other.
//!
//! With AVX-512 a permute of two vectors takes any lanes of both. So a vector of the output takes one permute from two
//! streams, and two from three: the lanes of the first two in their places, then those of the third between them. Two
//! and four streams are as quick with AVX2.

use core::arch::x86_64::{
    __m128i, __m256i, __m512i, _mm_or_si128, _mm_shuffle_epi8, _mm256_permute2x128_si256, _mm256_unpackhi_epi8,
    _mm256_unpackhi_epi16, _mm256_unpackhi_epi32, _mm256_unpackhi_epi64, _mm256_unpacklo_epi8, _mm256_unpacklo_epi16,
    _mm256_unpacklo_epi32, _mm256_unpacklo_epi64, _mm512_permutex2var_epi8, _mm512_permutex2var_epi16,
    _mm512_permutex2var_epi32, _mm512_permutex2var_epi64,
};

use crate::kernels::level_fn::{Avx2, Avx512};
use crate::kernels::space::zip::{LooksUp, Zip, ZipsThree, ZipsTwo};
use crate::kernels::vector::Vector;

/// [`Zip`] with AVX2.
pub(crate) type ZipAvx2<const BYTES: usize> = Zip<__m256i, __m128i, __m256i, BYTES>;

/// [`Zip`] with AVX-512.
pub(crate) type ZipAvx512<const BYTES: usize> = Zip<__m256i, __m512i, __m512i, BYTES>;

/// Of the level AVX2.
impl LooksUp for __m128i {
    #[inline(always)]
    fn look_up(self, _: Avx2, at: Self) -> Self {
        // SAFETY: the token shows that the machine has AVX2, and so SSSE3.
        unsafe { _mm_shuffle_epi8(self, at) }
    }

    #[inline(always)]
    fn or(self, other: Self) -> Self {
        // SAFETY: every x86-64 machine has SSE2.
        unsafe { _mm_or_si128(self, other) }
    }
}

impl ZipsTwo for __m256i {
    #[inline(always)]
    fn zip<const BYTES: usize>(_: Avx2, a: Self, b: Self) -> [Self; 2] {
        // SAFETY: the token shows that the machine has AVX2.
        unsafe { unpacked::<BYTES>(a, b) }
    }
}

#[inline]
#[target_feature(enable = "avx2")]
fn unpacked<const BYTES: usize>(a: __m256i, b: __m256i) -> [__m256i; 2] {
    let (low, high) = match BYTES {
        1 => (_mm256_unpacklo_epi8(a, b), _mm256_unpackhi_epi8(a, b)),
        2 => (_mm256_unpacklo_epi16(a, b), _mm256_unpackhi_epi16(a, b)),
        4 => (_mm256_unpacklo_epi32(a, b), _mm256_unpackhi_epi32(a, b)),
        _ => (_mm256_unpacklo_epi64(a, b), _mm256_unpackhi_epi64(a, b)),
    };
    [_mm256_permute2x128_si256::<0x20>(low, high), _mm256_permute2x128_si256::<0x31>(low, high)]
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

/// The lanes of two vectors in an order.
#[inline(always)]
fn permuted<const BYTES: usize>(level: Avx512, a: __m512i, order: &[u8; __m512i::LEN], b: __m512i) -> __m512i {
    // SAFETY: the token shows that the machine has AVX-512.
    unsafe { permute::<BYTES>(a, __m512i::of(level, order), b) }
}

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

/// Which lanes of two vectors a permute takes, for elements of `BYTES` bytes: a number for each lane, as wide as a
/// lane.
struct ZipOrder<const BYTES: usize>;

impl<const BYTES: usize> ZipOrder<BYTES> {
    /// Elements of a vector.
    const LANES: usize = __m512i::LEN / BYTES;

    /// The halves of two vectors zipped.
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

    /// The vectors of three streams zipped: the lanes of the first two streams, then what is kept of them and the lanes
    /// of the third one.
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
