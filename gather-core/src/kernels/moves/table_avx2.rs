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

use core::arch::x86_64::{
    __m256i, _mm_loadu_si128, _mm256_add_epi8, _mm256_add_epi64, _mm256_and_si256, _mm256_andnot_si256,
    _mm256_blendv_epi8, _mm256_broadcastsi128_si256, _mm256_cmpeq_epi8, _mm256_cmpgt_epi8, _mm256_cvtepu32_epi64,
    _mm256_loadu_si256, _mm256_min_epu8, _mm256_movemask_epi8, _mm256_or_si256, _mm256_packus_epi16,
    _mm256_packus_epi32, _mm256_permutevar8x32_epi32, _mm256_set1_epi8, _mm256_set1_epi64x, _mm256_setr_epi32,
    _mm256_setzero_si256, _mm256_shuffle_epi8, _mm256_slli_epi32, _mm256_slli_epi64, _mm256_srai_epi32,
    _mm256_storeu_si256, _mm256_subs_epi8, _mm256_xor_si256,
};

use crate::kernels::moves::{BytesJob, MoveJob};
use crate::types::index::{Index, IndexType};
use crate::types::policy::{NegativeIndex, OutOfBounds};

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
#[inline]
#[target_feature(enable = "avx2")]
pub(crate) fn look_up<const BYTES: usize>(job: &MoveJob) -> usize {
    debug_assert!(job.packed() && job.table_entries() <= entries(BYTES), "K9: a table of {}", job.table_entries());
    match (BYTES, job.table_entries()) {
        // SAFETY: the caller's promise.
        (1, ..=16) => unsafe { bytes::<1>(job) },
        // SAFETY: the caller's promise.
        (1, ..=64) => unsafe { bytes::<4>(job) },
        // SAFETY: the caller's promise.
        (1, ..=128) => unsafe { bytes::<8>(job) },
        // SAFETY: the caller's promise.
        (1, _) => unsafe { bytes::<16>(job) },
        // SAFETY: the caller's promise.
        (4, _) => unsafe { words(job) },
        // SAFETY: the caller's promise.
        (8, _) => unsafe { pairs(job) },
        _ => 0,
    }
}

/// The table, zero beyond its entries.
///
/// # Safety
/// `entries * bytes` bytes may be read at `data`; they are at most `N`.
#[inline(always)]
unsafe fn padded<const N: usize>(data: *const u8, bytes: usize) -> [u8; N] {
    debug_assert!(bytes <= N);
    let mut table = [0; N];
    // SAFETY: the caller's promise; the array is ours.
    unsafe { table.as_mut_ptr().copy_from_nonoverlapping(data, bytes) };
    table
}

/// Sixteen 4-byte entries in two vectors.
#[derive(Clone, Copy)]
struct Words {
    low: __m256i,
    high: __m256i,
}

impl Words {
    #[inline]
    #[target_feature(enable = "avx2")]
    fn new(table: &[u8; 64]) -> Self {
        let start: *const __m256i = table.as_ptr().cast();
        // SAFETY: the first half of the table.
        let low = unsafe { _mm256_loadu_si256(start) };
        // SAFETY: the second half.
        let high = unsafe { _mm256_loadu_si256(start.wrapping_add(1)) };
        Words { low, high }
    }

    /// The entries at eight indices below 16.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn at(self, indices: __m256i) -> __m256i {
        let low = _mm256_permutevar8x32_epi32(self.low, indices);
        let high = _mm256_permutevar8x32_epi32(self.high, indices);
        // Bit 3 says which half, spread over the lane.
        let upper = _mm256_srai_epi32::<31>(_mm256_slli_epi32::<28>(indices));
        _mm256_blendv_epi8(low, high, upper)
    }
}

/// Elements of 4 bytes.
///
/// # Safety
/// As for [`look_up`].
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn words(moves: &MoveJob) -> usize {
    // SAFETY: K9: the entries are contiguous, and may be read.
    let table = Words::new(&unsafe { padded::<64>(moves.data(), moves.table_entries() * 4) });
    let steps = moves.n() / 8;
    for step in 0..steps {
        // SAFETY: eight of the `n` positions.
        let positions = unsafe { _mm256_loadu_si256(moves.positions().wrapping_add(step * 8).cast()) };
        let found = table.at(positions);
        // SAFETY: K1: eight moves.
        unsafe { _mm256_storeu_si256(moves.out().wrapping_add(step * VECTOR).cast(), found) };
    }
    steps * 8
}

/// Elements of 8 bytes.
///
/// # Safety
/// As for [`look_up`].
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn pairs(moves: &MoveJob) -> usize {
    // SAFETY: K9: the entries are contiguous, and may be read.
    let table = Words::new(&unsafe { padded::<64>(moves.data(), moves.table_entries() * 8) });
    let steps = moves.n() / 4;
    for step in 0..steps {
        // SAFETY: four of the `n` positions.
        let positions = unsafe { _mm_loadu_si128(moves.positions().wrapping_add(step * 4).cast()) };
        let even = _mm256_slli_epi64::<1>(_mm256_cvtepu32_epi64(positions));
        let odd = _mm256_add_epi64(_mm256_slli_epi64::<32>(even), _mm256_set1_epi64x(1 << 32));
        let found = table.at(_mm256_or_si256(even, odd));
        // SAFETY: K1: four moves.
        unsafe { _mm256_storeu_si256(moves.out().wrapping_add(step * VECTOR).cast(), found) };
    }
    steps * 4
}

/// [`LookUpBytesFn`](crate::kernels::moves::LookUpBytesFn) with AVX2.
#[inline]
#[target_feature(enable = "avx2")]
pub(crate) fn look_up_bytes<I: Index>(job: &BytesJob) -> usize {
    debug_assert!(job.table_entries() <= entries(1) && job.indices().stride() == 1, "K9");
    if size_of::<I>() != 1 {
        return 0;
    }
    match job.table_entries() {
        // SAFETY: the caller's promise.
        0..=16 => unsafe { straight::<I, 1>(job) },
        // SAFETY: the caller's promise.
        17..=64 => unsafe { straight::<I, 4>(job) },
        // SAFETY: the caller's promise.
        65..=128 => unsafe { straight::<I, 8>(job) },
        // SAFETY: the caller's promise.
        _ => unsafe { straight::<I, 16>(job) },
    }
}

/// As [`look_up_bytes`], of a table of at most `16 * TABLES` entries.
///
/// # Safety
/// As for [`look_up_bytes`].
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn straight<I: Index, const TABLES: usize>(job: &BytesJob) -> usize {
    // SAFETY: K9: the entries are contiguous, and may be read.
    let table = unsafe { padded::<256>(job.data(), job.table_entries()) };
    let chain = chain::<TABLES>(&table);
    let signed = I::TYPE.fixed_width() == IndexType::I8;
    let from_end =
        signed && (job.policy().negative == NegativeIndex::FromEnd || job.policy().out_of_bounds == OutOfBounds::Wrap);
    // Modulo 256: an axis of 256 adds nothing, and the bits of -1 are 255 already.
    let add = _mm256_set1_epi8(if from_end { job.dim() as i8 } else { 0 });
    let last = _mm256_set1_epi8((job.dim() - 1) as i8);
    let zero = _mm256_setzero_si256();
    let steps = job.indices().n() / VECTOR;
    for step in 0..steps {
        // SAFETY: K3: 32 of the `n` indices.
        let x = unsafe { _mm256_loadu_si256(job.indices().at().wrapping_add(step * VECTOR).cast()) };
        let negative = if signed { _mm256_cmpgt_epi8(zero, x) } else { zero };
        let x = _mm256_add_epi8(x, _mm256_and_si256(negative, add));
        let inside = _mm256_cmpeq_epi8(_mm256_min_epu8(x, last), x);
        // Without counting from the end a negative index is out of range, whatever its bits.
        let refused = if signed && !from_end { negative } else { zero };
        if _mm256_movemask_epi8(_mm256_andnot_si256(refused, inside)) != -1 {
            return step * VECTOR;
        }
        let found = follow(&chain, x);
        // SAFETY: K1: 32 moves.
        unsafe { _mm256_storeu_si256(job.out().wrapping_add(step * VECTOR).cast(), found) };
    }
    steps * VECTOR
}

/// Elements of one byte, of a table of at most `16 * TABLES` entries.
///
/// # Safety
/// As for [`look_up`].
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn bytes<const TABLES: usize>(moves: &MoveJob) -> usize {
    // SAFETY: K9: the entries are contiguous, and may be read.
    let table = unsafe { padded::<256>(moves.data(), moves.table_entries()) };
    let chain = chain::<TABLES>(&table);
    let steps = moves.n() / VECTOR;
    for step in 0..steps {
        let positions = moves.positions().wrapping_add(step * VECTOR);
        // SAFETY: 32 of the `n` positions.
        let indices = unsafe { narrow(positions) };
        let found = follow(&chain, indices);
        // SAFETY: K1: 32 moves.
        unsafe { _mm256_storeu_si256(moves.out().wrapping_add(step * VECTOR).cast(), found) };
    }
    steps * VECTOR
}

/// The tables of 16 entries, each but the first of a chain xored with the one before it.
#[inline]
#[target_feature(enable = "avx2")]
fn chain<const TABLES: usize>(table: &[u8; 256]) -> [__m256i; TABLES] {
    let mut chain = [_mm256_setzero_si256(); TABLES];
    let mut before = _mm256_setzero_si256();
    for (k, link) in chain.iter_mut().enumerate() {
        // SAFETY: 16 of the table's 256 bytes: there are at most 16 tables.
        let entries = unsafe { _mm_loadu_si128(table.as_ptr().wrapping_add(k * 16).cast()) };
        let entries = _mm256_broadcastsi128_si256(entries);
        *link = if k % 8 == 0 { entries } else { _mm256_xor_si256(entries, before) };
        before = entries;
    }
    chain
}

/// The entries at 32 indices.
#[inline]
#[target_feature(enable = "avx2")]
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

/// 32 positions below 256, as bytes.
///
/// # Safety
/// They may be read.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn narrow(positions: *const i32) -> __m256i {
    let start: *const __m256i = positions.cast();
    // SAFETY: the first eight of the 32 positions.
    let a = unsafe { _mm256_loadu_si256(start) };
    // SAFETY: the second eight.
    let b = unsafe { _mm256_loadu_si256(start.wrapping_add(1)) };
    // SAFETY: the third eight.
    let c = unsafe { _mm256_loadu_si256(start.wrapping_add(2)) };
    // SAFETY: the last eight.
    let d = unsafe { _mm256_loadu_si256(start.wrapping_add(3)) };
    // Packing works on the halves of vectors: 4 bytes each of a b c d a b c d.
    let packed = _mm256_packus_epi16(_mm256_packus_epi32(a, b), _mm256_packus_epi32(c, d));
    _mm256_permutevar8x32_epi32(packed, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7))
}
