//! Register tables with AVX-512: one or two permutes look up a vector of elements in all of data.
//!
//! ```text
//! 8 bytes, <= 16 entries    vpermi2q        2 bytes, <= 64 entries     vpermi2w
//! 4 bytes, <= 32 entries    vpermi2d        1 byte,  <= 128 entries    vpermi2b
//!                                           1 byte,  <= 256 entries    two vpermi2b, blended by bit 7 of the index
//! ```
//!
//! Two registers are one table; the bits of an index above those that name an entry are not looked at. A table is
//! loaded by a mask, which reads no byte past its end. So are the last elements, fewer than a vector.
//!
//! Indices of one byte are looked up straight, checked 64 at a time; others are resolved to positions first.

use core::arch::x86_64::*;

use crate::kernels::level_fn::Avx512;
use crate::kernels::moves::contiguous::{self, ByteBounds, Numbers, Places};
use crate::kernels::nest::plane::Strip;
use crate::kernels::nest::rows::MoveJob;
use crate::types::index::Index;

/// Bytes of a vector.
const VECTOR: usize = 64;

/// Entries that fit for elements of `bytes` bytes; 0 where there is no lookup.
pub(crate) const fn entries(bytes: usize) -> usize {
    match bytes {
        1 => 256,
        2 => 64,
        4 => 32,
        8 => 16,
        _ => 0,
    }
}

/// The first `n` lanes of at most 64.
#[inline(always)]
pub(crate) const fn first_lanes(n: usize) -> u64 {
    if n < 64 { (1 << n) - 1 } else { u64::MAX }
}

/// A table in up to four vectors, zero beyond its entries.
#[derive(Clone, Copy)]
struct VectorTable<const VECTORS: usize>([__m512i; VECTORS]);

impl<const VECTORS: usize> VectorTable<VECTORS> {
    /// That of a job.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi")]
    fn of(table: contiguous::Table<'_>) -> Self {
        let (data, bytes) = table.bytes();
        debug_assert!(bytes <= VECTORS * VECTOR, "K9: a table of {bytes} bytes");
        let mut vectors = [_mm512_setzero_si512(); VECTORS];
        for (at, vector) in vectors.iter_mut().enumerate() {
            let lanes = first_lanes(bytes.saturating_sub(at * VECTOR));
            // SAFETY: the table may be read, and the mask leaves out what lies behind it.
            *vector = unsafe { _mm512_maskz_loadu_epi8(lanes, data.wrapping_add(at * VECTOR).cast()) };
        }
        VectorTable(vectors)
    }
}

impl VectorTable<2> {
    /// The entries of `BYTES` bytes at a vector of positions, each as wide as an entry.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi")]
    fn at<const BYTES: usize>(self, positions: __m512i) -> __m512i {
        let [low, high] = self.0;
        match BYTES {
            1 => _mm512_permutex2var_epi8(low, positions, high),
            2 => _mm512_permutex2var_epi16(low, positions, high),
            4 => _mm512_permutex2var_epi32(low, positions, high),
            _ => _mm512_permutex2var_epi64(low, positions, high),
        }
    }
}

impl VectorTable<4> {
    /// The bytes at 64 positions.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi")]
    fn at(self, positions: __m512i) -> __m512i {
        let [a, b, c, d] = self.0;
        let (low, high) = (VectorTable([a, b]).at::<1>(positions), VectorTable([c, d]).at::<1>(positions));
        _mm512_mask_mov_epi8(low, _mm512_movepi8_mask(positions), high)
    }
}

/// [`LookUpFn`](crate::kernels::moves::LookUpFn) with AVX-512: every element.
#[inline(never)]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi")]
pub(crate) fn look_up<const BYTES: usize>(job: &MoveJob<'_>) -> usize {
    let (table_entries, n) = (job.table_entries, job.n);
    debug_assert!(table_entries <= entries(BYTES), "K9: a table of {table_entries}");
    if entries(BYTES) == 0 {
        return 0;
    }
    if BYTES == 1 && table_entries > 128 {
        let table = VectorTable::<4>::of(contiguous::Table::of(job, 1));
        each_vector::<1>(job, |positions| table.at(positions));
    } else {
        let table = VectorTable::<2>::of(contiguous::Table::of(job, BYTES));
        each_vector::<BYTES>(job, |positions| table.at::<BYTES>(positions));
    }
    n
}

/// Writes what `at` yields for each vector of positions.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi")]
fn each_vector<const BYTES: usize>(job: &MoveJob<'_>, at: impl Fn(__m512i) -> __m512i) {
    let (places, positions, lanes) = (Places::<BYTES>::of(job), Numbers::positions(job), VECTOR / BYTES);
    let done = places.each_step(lanes, |done| places.store(done, at(load_positions::<BYTES>(positions, done, lanes))));
    let left = places.n() - done;
    if left > 0 {
        store_some(places, done, at(load_positions::<BYTES>(positions, done, left)));
    }
}

/// Writes the elements from number `done` on: as many as are left, fewer than a vector.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi")]
fn store_some<const BYTES: usize>(places: Places<'_, BYTES>, done: usize, vector: __m512i) {
    let (to, left) = places.from(done);
    // SAFETY: the elements that are left may be written; the mask leaves out what lies behind them.
    unsafe { _mm512_mask_storeu_epi8(to.cast(), first_lanes(left * BYTES), vector) };
}

/// A vector of `n` positions from number `at` on, each in as many bytes as an element has.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi")]
fn load_positions<const BYTES: usize>(positions: Numbers<'_, i32>, at: usize, n: usize) -> __m512i {
    let ((positions, left), lanes) = (positions.from(at), first_lanes(n));
    debug_assert!(n <= left, "{n} of {left}");
    let sixteen = |at: usize| {
        // SAFETY: `n` positions may be read, and the mask, of which these are 16 lanes, has no others.
        unsafe { _mm512_maskz_loadu_epi32((lanes >> (at * 16)) as u16, positions.wrapping_add(at * 16)) }
    };
    match BYTES {
        8 => {
            // SAFETY: as many positions may be read, at most eight, as the mask has.
            _mm512_cvtepu32_epi64(unsafe { _mm256_maskz_loadu_epi32(lanes as u8, positions) })
        }
        4 => sixteen(0),
        2 => {
            let (low, high) = (_mm512_cvtepi32_epi16(sixteen(0)), _mm512_cvtepi32_epi16(sixteen(1)));
            _mm512_inserti64x4::<1>(_mm512_castsi256_si512(low), high)
        }
        _ => {
            let (a, b, c, d) = (sixteen(0), sixteen(1), sixteen(2), sixteen(3));
            // Packing works on the quarters of vectors: 4 bytes each of a b c d a b c d ..
            let packed = _mm512_packus_epi16(_mm512_packus_epi32(a, b), _mm512_packus_epi32(c, d));
            let order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
            _mm512_permutexvar_epi32(order, packed)
        }
    }
}

/// [`LookUpBytesFn`](crate::kernels::moves::LookUpBytesFn) with AVX-512.
#[inline(never)]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi")]
pub(crate) fn look_up_bytes<I: Index>(strip: &Strip<'_>) -> usize {
    if strip.spec().table_entries > 128 {
        let table = VectorTable::<4>::of(contiguous::Table::of_bytes(strip));
        straight::<I>(strip, |positions| table.at(positions))
    } else {
        let table = VectorTable::<2>::of(contiguous::Table::of_bytes(strip));
        straight::<I>(strip, |positions| table.at::<1>(positions))
    }
}

/// As [`look_up_bytes`]; `at` yields the bytes at 64 positions.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi")]
fn straight<I: Index>(strip: &Strip<'_>, at: impl Fn(__m512i) -> __m512i) -> usize {
    let places = Places::<1>::along(strip);
    let (indices, ByteBounds { signed, from_end, add, last }) =
        (Numbers::<u8>::indices(strip), ByteBounds::of::<I>(strip));
    let (add, last) = (_mm512_set1_epi8(add as i8), _mm512_set1_epi8(last as i8));
    // Positions, and which of them are in range.
    let resolve = |indices| {
        let negative = if signed { _mm512_movepi8_mask(indices) } else { 0 };
        let positions = _mm512_mask_add_epi8(indices, negative, indices, add);
        // Without counting from the end a negative index is out of range, whatever its bits.
        let refused = if from_end { 0 } else { negative };
        (positions, _mm512_cmple_epu8_mask(positions, last) & !refused)
    };
    let mut done = 0;
    while places.n() - done >= VECTOR {
        let (positions, inside) = resolve(indices.load(Avx512::here(), done));
        if inside != u64::MAX {
            return done;
        }
        places.store(done, at(positions));
        done += VECTOR;
    }
    let (from, left) = indices.from(done);
    let lanes = first_lanes(left);
    // SAFETY: the indices that are left may be read; the mask leaves out what lies behind them.
    let some = unsafe { _mm512_maskz_loadu_epi8(lanes, from.cast()) };
    let (positions, inside) = resolve(some);
    if inside & lanes != lanes {
        return done;
    }
    store_some(places, done, at(positions));
    places.n()
}
