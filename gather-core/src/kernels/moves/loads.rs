//! Loading elements of 4 and 8 bytes from offsets in a register, one by one.
//!
//! On the AMD machines that were measured, such loads take less time than a gather instruction, in the first-level
//! cache and beyond; on an Intel Xeon they take more out of the caches (`benches/record/intel.md`). To hand the offsets
//! over through memory would make every load wait for a store, and takes twice as long.

use core::arch::x86_64::{
    __m128i, __m256i, _mm_cvtsi32_si128, _mm_cvtsi64_si128, _mm_cvtsi128_si64, _mm_extract_epi64, _mm_insert_epi32,
    _mm_insert_epi64, _mm_setzero_si128, _mm_storeu_si128, _mm256_castsi256_si128, _mm256_extracti128_si256,
    _mm256_set_m128i, _mm256_setzero_si256, _mm256_storeu_si256,
};

use crate::kernels::moves::copy_fixed;

/// Eight elements of `BYTES` bytes at offsets, in elements where `PACKED` and else in bytes: in the first of the
/// vectors, or in both where elements have 8 bytes.
///
/// # Safety
/// The elements may be read.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) unsafe fn eight<const BYTES: usize, const PACKED: bool>(data: *const u8, offsets: __m256i) -> [__m256i; 2] {
    let halves = [_mm256_castsi256_si128(offsets), _mm256_extracti128_si256::<1>(offsets)];
    // SAFETY: the caller's promise, for the first four.
    let [a, b] = unsafe { four::<BYTES, PACKED>(data, halves[0]) };
    // SAFETY: as above, the other four.
    let [c, d] = unsafe { four::<BYTES, PACKED>(data, halves[1]) };
    if BYTES == 4 {
        [_mm256_set_m128i(c, a), _mm256_setzero_si256()]
    } else {
        [_mm256_set_m128i(b, a), _mm256_set_m128i(d, c)]
    }
}

/// Stores eight elements of `BYTES` bytes.
///
/// # Safety
/// As many may be written from `to` on.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) unsafe fn store_eight<const BYTES: usize>(to: *mut u8, elements: [__m256i; 2]) {
    debug_assert!(matches!(BYTES, 4 | 8), "no other elements");
    // SAFETY: the caller's promise: eight of 4 bytes, or the first four of 8.
    unsafe { _mm256_storeu_si256(to.cast(), elements[0]) };
    if BYTES == 8 {
        // SAFETY: as above, the other four.
        unsafe { _mm256_storeu_si256(to.wrapping_add(32).cast(), elements[1]) };
    }
}

/// Four elements of `BYTES` bytes at offsets, in elements where `PACKED` and else in bytes: in the first of the
/// vectors, or in both where elements have 8 bytes.
///
/// # Safety
/// The elements may be read.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) unsafe fn four<const BYTES: usize, const PACKED: bool>(data: *const u8, offsets: __m128i) -> [__m128i; 2] {
    let (low, high) = (_mm_cvtsi128_si64(offsets), _mm_extract_epi64::<1>(offsets));
    let place = |offset: isize| data.wrapping_offset(if PACKED { offset * BYTES as isize } else { offset });
    let (a, b) = (place(low as i32 as isize), place((low >> 32) as isize));
    let (c, d) = (place(high as i32 as isize), place((high >> 32) as isize));
    // SAFETY: the caller's promise.
    unsafe { four_at::<BYTES>([a, b, c, d]) }
}

/// Four elements of `BYTES` bytes: in the first of the vectors, or in both where elements have 8 bytes.
///
/// # Safety
/// The elements may be read.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) unsafe fn four_at<const BYTES: usize>(places: [*const u8; 4]) -> [__m128i; 2] {
    debug_assert!(matches!(BYTES, 4 | 8), "no other elements");
    if BYTES == 4 {
        // SAFETY: the caller's promise, for the first element, at any alignment.
        let first = unsafe { places[0].cast::<i32>().read_unaligned() };
        // SAFETY: as above, for the second.
        let second = unsafe { places[1].cast::<i32>().read_unaligned() };
        // SAFETY: as above, for the third.
        let third = unsafe { places[2].cast::<i32>().read_unaligned() };
        // SAFETY: as above, for the fourth.
        let fourth = unsafe { places[3].cast::<i32>().read_unaligned() };
        let low = _mm_insert_epi32::<1>(_mm_cvtsi32_si128(first), second);
        return [_mm_insert_epi32::<3>(_mm_insert_epi32::<2>(low, third), fourth), _mm_setzero_si128()];
    }
    // SAFETY: the caller's promise, for the first element, at any alignment.
    let first = unsafe { places[0].cast::<i64>().read_unaligned() };
    // SAFETY: as above, for the second.
    let second = unsafe { places[1].cast::<i64>().read_unaligned() };
    // SAFETY: as above, for the third.
    let third = unsafe { places[2].cast::<i64>().read_unaligned() };
    // SAFETY: as above, for the fourth.
    let fourth = unsafe { places[3].cast::<i64>().read_unaligned() };
    let low = _mm_insert_epi64::<1>(_mm_cvtsi64_si128(first), second);
    [low, _mm_insert_epi64::<1>(_mm_cvtsi64_si128(third), fourth)]
}

/// Copies four rows of 4, 8 or 12 bytes to contiguous places: elements of 4 and 8 bytes by whole vectors, since a
/// store an element fills the queue of stores while lines of the output are on their way.
///
/// # Safety
/// The rows may be read. As many bytes may be written from `to` on, and are apart from them.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) unsafe fn copy_four<const BYTES: usize>(rows: [*const u8; 4], to: *mut u8) {
    if !matches!(BYTES, 4 | 8) {
        for (k, row) in rows.into_iter().enumerate() {
            // SAFETY: the caller's promise, for a row.
            unsafe { copy_fixed::<BYTES>(row, to.wrapping_add(k * BYTES)) };
        }
        return;
    }
    // SAFETY: the caller's promise.
    let elements = unsafe { four_at::<BYTES>(rows) };
    // SAFETY: the caller's promise: four elements of 4 bytes, or the first two of 8.
    unsafe { _mm_storeu_si128(to.cast(), elements[0]) };
    if BYTES == 8 {
        // SAFETY: as above, the other two.
        unsafe { _mm_storeu_si128(to.wrapping_add(16).cast(), elements[1]) };
    }
}
