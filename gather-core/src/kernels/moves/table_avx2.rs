//! Register tables: an axis so short that all of data fits in vector registers is looked up by shuffles.
//!
//! ```text
//! 4 bytes, <= 8 entries    vpermd
//! 4 bytes, <= 16 entries   two vpermd, blended by bit 3 of the index
//! 8 bytes, <= 8 entries    the same on pairs of 4-byte indices (2i, 2i + 1)
//! 1 byte,  <= 256 entries  a chain of pshufb over tables T0, T1, .. of 16 entries
//! ```
//!
//! `pshufb` takes the low four bits of an index, and yields 0 where bit 7 is set. So with `x` the index and
//!
//! ```text
//! r  = T0[x];   x -= 16 (saturating);   r ^= (T1 ^ T0)[x];   x -= 16;   r ^= (T2 ^ T1)[x];   ..
//! ```
//!
//! the terms up to the index's own table telescope to that table, and all later ones see a negative `x` and add
//! nothing. Eight tables end the range of a signed byte; the upper 128 entries run a second chain on `x ^ 128`.
//!
//! Indices of one byte are looked up straight, checked 32 at a time; others are resolved to positions first.
//!
//! The scalar loop needs two loads and a store for each element, and is bound by them. Shuffles take about as long as
//! a copy of the output. No read goes past the end of data: a table that is not whole vectors is copied to the stack
//! first.

#![forbid(unsafe_code)]

use core::arch::x86_64::*;

use crate::kernels::level_fn::Avx2;
use crate::kernels::moves::contiguous::{ByteBounds, Numbers, Places, Table};
use crate::kernels::nest::plane::Strip;
use crate::kernels::nest::rows::MoveJob;
use crate::kernels::vector::Vector;
use crate::types::index::Index;

/// Bytes of a vector.
const VECTOR: usize = 32;

/// Entries that fit for elements of `bytes` bytes; 0 where there is no lookup.
pub(crate) const fn entries(bytes: usize) -> usize {
    match bytes {
        1 => 256,
        4 => 16,
        8 => 8,
        _ => 0,
    }
}

/// [`LookUpFn`](crate::kernels::moves::LookUpFn) with AVX2: as many elements as make whole vectors.
#[inline(never)]
#[target_feature(enable = "avx2,fma,f16c")]
pub(crate) fn look_up<const BYTES: usize>(job: &MoveJob<'_>) -> usize {
    let table_entries = job.table_entries;
    debug_assert!(table_entries <= entries(BYTES), "K9: a table of {table_entries}");
    match (BYTES, table_entries) {
        (1, ..=16) => bytes::<1>(job),
        (1, ..=64) => bytes::<4>(job),
        (1, ..=128) => bytes::<8>(job),
        (1, _) => bytes::<16>(job),
        (4, _) => words(job),
        (8, _) => pairs(job),
        _ => 0,
    }
}

/// Sixteen 4-byte entries in two vectors.
#[derive(Clone, Copy)]
struct WordTable {
    low: __m256i,
    high: __m256i,
}

impl WordTable {
    #[inline]
    #[target_feature(enable = "avx2,fma,f16c")]
    fn new(table: &[u8; 64]) -> Self {
        let [low, high] = table.as_chunks::<VECTOR>().0 else { unreachable!("two vectors") };
        WordTable { low: Vector::of(Avx2::here(), low), high: Vector::of(Avx2::here(), high) }
    }

    /// The entries at eight indices below 16.
    #[inline]
    #[target_feature(enable = "avx2,fma,f16c")]
    fn at(self, indices: __m256i) -> __m256i {
        let low = _mm256_permutevar8x32_epi32(self.low, indices);
        let high = _mm256_permutevar8x32_epi32(self.high, indices);
        // Bit 3 says which half, spread over the lane.
        let upper = _mm256_srai_epi32::<31>(_mm256_slli_epi32::<28>(indices));
        _mm256_blendv_epi8(low, high, upper)
    }
}

/// Elements of 4 bytes.
#[inline]
#[target_feature(enable = "avx2,fma,f16c")]
fn words(job: &MoveJob<'_>) -> usize {
    let (table, places) = (WordTable::new(&Table::of(job, 4).padded()), Places::<4>::of(job));
    let positions = Numbers::positions(job);
    places.each_step(8, |at| places.store(at, table.at(positions.load(Avx2::here(), at))))
}

/// Elements of 8 bytes.
#[inline]
#[target_feature(enable = "avx2,fma,f16c")]
fn pairs(job: &MoveJob<'_>) -> usize {
    let (table, places) = (WordTable::new(&Table::of(job, 8).padded()), Places::<8>::of(job));
    let positions = Numbers::positions(job);
    places.each_step(4, |at| {
        let even = _mm256_slli_epi64::<1>(_mm256_cvtepu32_epi64(positions.load(Avx2::here(), at)));
        let odd = _mm256_add_epi64(_mm256_slli_epi64::<32>(even), _mm256_set1_epi64x(1 << 32));
        places.store(at, table.at(_mm256_or_si256(even, odd)));
    })
}

/// [`LookUpBytesFn`](crate::kernels::moves::LookUpBytesFn) with AVX2.
#[inline(never)]
#[target_feature(enable = "avx2,fma,f16c")]
pub(crate) fn look_up_bytes<I: Index>(strip: &Strip<'_>) -> usize {
    match strip.spec().table_entries {
        0..=16 => straight::<I, 1>(strip),
        17..=64 => straight::<I, 4>(strip),
        65..=128 => straight::<I, 8>(strip),
        _ => straight::<I, 16>(strip),
    }
}

/// As [`look_up_bytes`], of a table of at most `16 * TABLES` entries.
#[inline]
#[target_feature(enable = "avx2,fma,f16c")]
fn straight<I: Index, const TABLES: usize>(strip: &Strip<'_>) -> usize {
    let (chain, places) = (chain::<TABLES>(&Table::of_bytes(strip).padded()), Places::<1>::along(strip));
    let (indices, bounds) = (Numbers::<u8>::indices(strip), ByteBounds::of::<I>(strip));
    let (add, last) = (_mm256_set1_epi8(bounds.add as i8), _mm256_set1_epi8(bounds.last as i8));
    let zero = _mm256_setzero_si256();
    let done = places.n() - places.n() % VECTOR;
    for at in (0..done).step_by(VECTOR) {
        let x: __m256i = indices.load(Avx2::here(), at);
        let negative = if bounds.signed { _mm256_cmpgt_epi8(zero, x) } else { zero };
        let x = _mm256_add_epi8(x, _mm256_and_si256(negative, add));
        let inside = _mm256_cmpeq_epi8(_mm256_min_epu8(x, last), x);
        // Without counting from the end a negative index is out of range, whatever its bits.
        let refused = if bounds.signed && !bounds.from_end { negative } else { zero };
        if _mm256_movemask_epi8(_mm256_andnot_si256(refused, inside)) != -1 {
            return at;
        }
        places.store(at, follow(&chain, x));
    }
    done
}

/// Elements of one byte, of a table of at most `16 * TABLES` entries.
#[inline]
#[target_feature(enable = "avx2,fma,f16c")]
fn bytes<const TABLES: usize>(job: &MoveJob<'_>) -> usize {
    let (chain, places) = (chain::<TABLES>(&Table::of(job, 1).padded()), Places::<1>::of(job));
    let positions = Numbers::positions(job);
    places.each_step(VECTOR, |at| places.store(at, follow(&chain, narrow(positions, at))))
}

/// The tables of 16 entries, each but the first of a chain xored with the one before it.
#[inline]
#[target_feature(enable = "avx2,fma,f16c")]
fn chain<const TABLES: usize>(table: &[u8; 256]) -> [__m256i; TABLES] {
    let mut chain = [_mm256_setzero_si256(); TABLES];
    let mut before = _mm256_setzero_si256();
    for (k, link) in chain.iter_mut().enumerate() {
        let entries = _mm256_broadcastsi128_si256(Vector::of(Avx2::here(), &table.as_chunks::<16>().0[k]));
        *link = if k % 8 == 0 { entries } else { _mm256_xor_si256(entries, before) };
        before = entries;
    }
    chain
}

/// The entries at 32 indices.
#[inline]
#[target_feature(enable = "avx2,fma,f16c")]
fn follow<const TABLES: usize>(chain: &[__m256i; TABLES], indices: __m256i) -> __m256i {
    let (sixteen, upper) = (_mm256_set1_epi8(16), _mm256_set1_epi8(-128));
    let mut found = _mm256_setzero_si256();
    let mut x = indices;
    for (k, &link) in chain.iter().enumerate() {
        if k == 8 {
            x = _mm256_xor_si256(indices, upper);
        } else if k > 0 {
            x = _mm256_subs_epi8(x, sixteen);
        }
        found = _mm256_xor_si256(found, _mm256_shuffle_epi8(link, x));
    }
    found
}

/// 32 positions below 256, from number `at` on, as bytes.
#[inline]
#[target_feature(enable = "avx2,fma,f16c")]
fn narrow(positions: Numbers<'_, i32>, at: usize) -> __m256i {
    let (a, b) = (positions.load(Avx2::here(), at), positions.load(Avx2::here(), at + 8));
    let (c, d) = (positions.load(Avx2::here(), at + 16), positions.load(Avx2::here(), at + 24));
    // Packing works on the halves of vectors: 4 bytes each of a b c d a b c d.
    let packed = _mm256_packus_epi16(_mm256_packus_epi32(a, b), _mm256_packus_epi32(c, d));
    _mm256_permutevar8x32_epi32(packed, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7))
}
