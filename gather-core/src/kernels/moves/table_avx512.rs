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

use core::arch::x86_64::{
    __m512i, _mm256_maskz_loadu_epi32, _mm512_castsi256_si512, _mm512_cmple_epu8_mask, _mm512_cvtepi32_epi16,
    _mm512_cvtepu32_epi64, _mm512_inserti64x4, _mm512_loadu_si512, _mm512_mask_add_epi8, _mm512_mask_mov_epi8,
    _mm512_mask_storeu_epi8, _mm512_maskz_loadu_epi8, _mm512_maskz_loadu_epi32, _mm512_movepi8_mask,
    _mm512_packus_epi16, _mm512_packus_epi32, _mm512_permutex2var_epi8, _mm512_permutex2var_epi16,
    _mm512_permutex2var_epi32, _mm512_permutex2var_epi64, _mm512_permutexvar_epi32, _mm512_set1_epi8,
    _mm512_setr_epi32, _mm512_setzero_si512, _mm512_storeu_si512,
};

use crate::kernels::moves::{BytesJob, MoveJob};
use crate::types::index::{Index, IndexType};
use crate::types::policy::{NegativeIndex, OutOfBounds};

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
struct Table<const VECTORS: usize>([__m512i; VECTORS]);

impl<const VECTORS: usize> Table<VECTORS> {
    /// # Safety
    /// `bytes` bytes may be read at `data`; they are at most as many as the vectors have.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi")]
    unsafe fn load(data: *const u8, bytes: usize) -> Self {
        debug_assert!(bytes <= VECTORS * VECTOR);
        let mut vectors = [_mm512_setzero_si512(); VECTORS];
        for (at, vector) in vectors.iter_mut().enumerate() {
            let lanes = first_lanes(bytes.saturating_sub(at * VECTOR));
            // SAFETY: the caller's promise, for the bytes of this vector; the mask leaves the others out.
            *vector = unsafe { _mm512_maskz_loadu_epi8(lanes, data.wrapping_add(at * VECTOR).cast()) };
        }
        Table(vectors)
    }
}

impl Table<2> {
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

/// A table of bytes, of 128 entries or of 256.
trait ByteTable: Copy {
    /// The entries at 64 positions.
    ///
    /// # Safety
    /// The machine has the level.
    unsafe fn at(self, positions: __m512i) -> __m512i;
}

impl ByteTable for Table<2> {
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi")]
    unsafe fn at(self, positions: __m512i) -> __m512i {
        self.at::<1>(positions)
    }
}

impl ByteTable for Table<4> {
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi")]
    unsafe fn at(self, positions: __m512i) -> __m512i {
        let [a, b, c, d] = self.0;
        let (low, high) = (Table([a, b]).at::<1>(positions), Table([c, d]).at::<1>(positions));
        _mm512_mask_mov_epi8(low, _mm512_movepi8_mask(positions), high)
    }
}

/// [`LookUpFn`](crate::kernels::moves::LookUpFn) with AVX-512: every element.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi")]
pub(crate) fn look_up<const BYTES: usize>(job: &MoveJob) -> usize {
    debug_assert!(job.packed() && job.table_entries() <= entries(BYTES), "K9: a table of {}", job.table_entries());
    if entries(BYTES) == 0 {
        return 0;
    }
    if BYTES == 1 && job.table_entries() > 128 {
        // SAFETY: K9: the entries are contiguous, and may be read.
        let table = unsafe { Table::<4>::load(job.data(), job.table_entries()) };
        // SAFETY: the machine has the level.
        let at = |positions| unsafe { ByteTable::at(table, positions) };
        // SAFETY: the caller's promise.
        unsafe { each_vector::<1>(job, at) };
    } else {
        // SAFETY: K9: the entries are contiguous, and may be read.
        let table = unsafe { Table::<2>::load(job.data(), job.table_entries() * BYTES) };
        let at = |positions| table.at::<BYTES>(positions);
        // SAFETY: the caller's promise.
        unsafe { each_vector::<BYTES>(job, at) };
    }
    job.n
}

/// Writes what `at` yields for each vector of positions.
///
/// # Safety
/// K1 for the rows, which are packed and of `BYTES` bytes; their positions may be read.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi")]
unsafe fn each_vector<const BYTES: usize>(job: &MoveJob, at: impl Fn(__m512i) -> __m512i) {
    let lanes = VECTOR / BYTES;
    let mut done = 0;
    while job.n() - done >= lanes {
        // SAFETY: a vector of the `n` positions.
        let positions = unsafe { load_positions::<BYTES>(job.positions().wrapping_add(done), u64::MAX) };
        // SAFETY: K1: as many rows.
        unsafe { store(job.out().wrapping_add(done * BYTES), u64::MAX, at(positions)) };
        done += lanes;
    }
    let (left, to) = (job.n() - done, job.out().wrapping_add(done * BYTES));
    if left > 0 {
        // SAFETY: the positions that are left; the mask leaves the others out.
        let positions = unsafe { load_positions::<BYTES>(job.positions().wrapping_add(done), first_lanes(left)) };
        // SAFETY: K1: the rows that are left.
        unsafe { store(to, first_lanes(left * BYTES), at(positions)) };
    }
}

/// Writes the bytes of a mask.
///
/// # Safety
/// They may be written.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi")]
unsafe fn store(to: *mut u8, bytes: u64, vector: __m512i) {
    // SAFETY: the caller's promise.
    unsafe { _mm512_mask_storeu_epi8(to.cast(), bytes, vector) };
}

/// A vector of positions, those of a mask, each in as many bytes as an entry has.
///
/// # Safety
/// The positions of the mask may be read; each fits.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi")]
unsafe fn load_positions<const BYTES: usize>(positions: *const i32, lanes: u64) -> __m512i {
    let sixteen = |at: usize| {
        // SAFETY: the caller's promise, for sixteen of the positions.
        unsafe { _mm512_maskz_loadu_epi32((lanes >> (at * 16)) as u16, positions.wrapping_add(at * 16)) }
    };
    match BYTES {
        8 => {
            // SAFETY: the caller's promise, for eight positions.
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
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi")]
pub(crate) fn look_up_bytes<I: Index>(job: &BytesJob) -> usize {
    debug_assert!(job.table_entries() <= entries(1) && job.indices().stride() == 1, "K9");
    if size_of::<I>() != 1 {
        return 0;
    }
    if job.table_entries() > 128 {
        // SAFETY: K9: the entries are contiguous, and may be read.
        let table = unsafe { Table::<4>::load(job.data(), job.table_entries()) };
        // SAFETY: the caller's promise.
        unsafe { straight::<I>(job, table) }
    } else {
        // SAFETY: as above.
        let table = unsafe { Table::<2>::load(job.data(), job.table_entries()) };
        // SAFETY: the caller's promise.
        unsafe { straight::<I>(job, table) }
    }
}

/// As [`look_up_bytes`], in a table.
///
/// # Safety
/// As for [`look_up_bytes`].
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi")]
unsafe fn straight<I: Index>(job: &BytesJob, table: impl ByteTable) -> usize {
    let bounds = Bounds::new::<I>(job);
    let mut done = 0;
    while job.indices().n() - done >= VECTOR {
        // SAFETY: K3: 64 of the `n` indices.
        let indices = unsafe { _mm512_loadu_si512(job.indices().at().wrapping_add(done).cast()) };
        let (positions, inside) = bounds.resolve(indices);
        if inside != u64::MAX {
            return done;
        }
        // SAFETY: the machine has the level.
        let found = unsafe { table.at(positions) };
        // SAFETY: K1: 64 rows.
        unsafe { _mm512_storeu_si512(job.out().wrapping_add(done).cast(), found) };
        done += VECTOR;
    }
    let lanes = first_lanes(job.indices().n() - done);
    // SAFETY: K3: the indices that are left.
    let indices = unsafe { _mm512_maskz_loadu_epi8(lanes, job.indices().at().wrapping_add(done).cast()) };
    let (positions, inside) = bounds.resolve(indices);
    if inside & lanes != lanes {
        return done;
    }
    // SAFETY: the machine has the level.
    let found = unsafe { table.at(positions) };
    // SAFETY: K1: the rows that are left.
    unsafe { store(job.out().wrapping_add(done), lanes, found) };
    job.indices().n()
}

/// The vectors that 64 indices of one byte are compared with.
#[derive(Clone, Copy)]
struct Bounds {
    /// Whether indices may be negative, and whether those count from the end.
    signed: bool,
    from_end: bool,
    /// The vector that is added to negative indices.
    add: __m512i,
    /// The last position.
    last: __m512i,
}

impl Bounds {
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi")]
    fn new<I: Index>(job: &BytesJob) -> Self {
        let signed = I::TYPE.fixed_width() == IndexType::I8;
        let from_end = signed
            && (job.policy().negative == NegativeIndex::FromEnd || job.policy().out_of_bounds == OutOfBounds::Wrap);
        // Modulo 256: an axis of 256 adds nothing, and the bits of -1 are 255 already.
        let add = _mm512_set1_epi8(if from_end { job.dim() as i8 } else { 0 });
        Bounds { signed, from_end, add, last: _mm512_set1_epi8((job.dim() - 1) as i8) }
    }

    /// Positions, and which of them are in range.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi")]
    fn resolve(self, indices: __m512i) -> (__m512i, u64) {
        let negative = if self.signed { _mm512_movepi8_mask(indices) } else { 0 };
        let positions = _mm512_mask_add_epi8(indices, negative, indices, self.add);
        // Without counting from the end a negative index is out of range, whatever its bits.
        let refused = if self.from_end { 0 } else { negative };
        (positions, _mm512_cmple_epu8_mask(positions, self.last) & !refused)
    }
}
