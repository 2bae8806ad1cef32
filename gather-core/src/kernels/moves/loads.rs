//! Loading elements of 4 and 8 bytes from offsets in a register, one by one.
//!
//! On the AMD machines that were measured, such loads take less time than a gather instruction, in the first-level
//! cache and beyond; on an Intel Xeon they take more out of the caches (`benches/record/intel.md`). To hand the offsets
//! over through memory would make every load wait for a store, and takes twice as long.

use core::arch::x86_64::*;

use crate::kernels::moves::contiguous::{DataRow, Places};

/// Eight rows of `BYTES` bytes at offsets, in rows where `PACKED` and else in bytes.
///
/// # Safety
/// At each of the offsets from `data` a row may be read, which shares no byte with the output.
#[inline]
#[target_feature(enable = "avx2,fma,f16c")]
pub(super) unsafe fn rows<const BYTES: usize, const PACKED: bool>(
    data: *const u8,
    offsets: __m256i,
) -> [[DataRow<BYTES>; 4]; 2] {
    let row = |offset: i32| {
        let offset = if PACKED { offset as isize * BYTES as isize } else { offset as isize };
        // SAFETY: one of the eight rows, which may be read.
        unsafe { DataRow::<BYTES>::new(data.wrapping_offset(offset)) }
    };
    let four = |half: __m128i| {
        let (low, high) = (_mm_cvtsi128_si64(half), _mm_extract_epi64::<1>(half));
        [row(low as i32), row((low >> 32) as i32), row(high as i32), row((high >> 32) as i32)]
    };
    [four(_mm256_castsi256_si128(offsets)), four(_mm256_extracti128_si256::<1>(offsets))]
}

/// Eight elements of `BYTES` bytes: in the first of the vectors, or in both where elements have 8 bytes.
#[inline]
#[target_feature(enable = "avx2,fma,f16c")]
pub(super) fn eight<const BYTES: usize>(rows: [[DataRow<BYTES>; 4]; 2]) -> [__m256i; 2] {
    let [[a, b], [c, d]] = [four(rows[0]), four(rows[1])];
    if BYTES == 4 {
        [_mm256_set_m128i(c, a), _mm256_setzero_si256()]
    } else {
        [_mm256_set_m128i(b, a), _mm256_set_m128i(d, c)]
    }
}

/// Stores eight elements of `BYTES` bytes, from place `at` on.
#[inline]
#[target_feature(enable = "avx2,fma,f16c")]
pub(super) fn store_eight<const BYTES: usize>(places: Places<'_, BYTES>, at: usize, elements: [__m256i; 2]) {
    debug_assert!(matches!(BYTES, 4 | 8), "no other elements");
    places.store(at, elements[0]);
    if BYTES == 8 {
        places.store(at + 4, elements[1]);
    }
}

/// Four elements of `BYTES` bytes: in the first of the vectors, or in both where elements have 8 bytes.
#[inline]
#[target_feature(enable = "avx2,fma,f16c")]
fn four<const BYTES: usize>([a, b, c, d]: [DataRow<BYTES>; 4]) -> [__m128i; 2] {
    debug_assert!(matches!(BYTES, 4 | 8), "no other elements");
    if BYTES == 4 {
        let (a, b, c, d) = (a.number(), b.number(), c.number(), d.number());
        let low = _mm_insert_epi32::<1>(_mm_cvtsi32_si128(a), b);
        return [_mm_insert_epi32::<3>(_mm_insert_epi32::<2>(low, c), d), _mm_setzero_si128()];
    }
    let (a, b, c, d) = (a.number(), b.number(), c.number(), d.number());
    [_mm_insert_epi64::<1>(_mm_cvtsi64_si128(a), b), _mm_insert_epi64::<1>(_mm_cvtsi64_si128(c), d)]
}

/// Copies four rows of 4, 8 or 12 bytes to the places from `at` on: elements of 4 and 8 bytes by whole vectors, since a
/// store an element fills the queue of stores while lines of the output are on their way.
#[inline]
#[target_feature(enable = "avx2,fma,f16c")]
pub(super) fn copy_four<const BYTES: usize>(rows: [DataRow<BYTES>; 4], places: Places<'_, BYTES>, at: usize) {
    if !matches!(BYTES, 4 | 8) {
        for (k, row) in rows.into_iter().enumerate() {
            places.copy(at + k, row);
        }
        return;
    }
    let elements = four(rows);
    places.store(at, elements[0]);
    if BYTES == 8 {
        places.store(at + 2, elements[1]);
    }
}
