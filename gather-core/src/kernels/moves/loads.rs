//! Loading elements of 4 and 8 bytes from offsets in a register, one by one.
//!
//! On the AMD machines that were measured, such loads take less time than a gather instruction, in the first-level
//! cache and beyond; on an Intel Xeon they take more out of the caches (`benches/record/intel.md`). To hand the offsets
//! over through memory would make every load wait for a store, and takes twice as long.

use crate::kernels::level_fn::Avx2;
use crate::kernels::moves::contiguous::{DataRow, Places};
use crate::kernels::x86::{self, __m128i, __m256i};

/// Eight rows of `BYTES` bytes at offsets, in rows where `PACKED` and else in bytes.
///
/// # Safety
/// At each of the offsets from `data` a row may be read, which shares no byte with the output.
#[inline(always)]
pub(super) unsafe fn rows<const BYTES: usize, const PACKED: bool>(
    level: Avx2,
    data: *const u8,
    offsets: __m256i,
) -> [[DataRow<BYTES>; 4]; 2] {
    let row = |offset: i32| {
        let offset = if PACKED { offset as isize * BYTES as isize } else { offset as isize };
        // SAFETY: one of the eight rows, which may be read.
        unsafe { DataRow::<BYTES>::new(data.wrapping_offset(offset)) }
    };
    level.halves(offsets).map(|half| {
        let [low, high] = level.longs(half);
        [row(low as i32), row((low >> 32) as i32), row(high as i32), row((high >> 32) as i32)]
    })
}

/// Eight elements of `BYTES` bytes: in the first of the vectors, or in both where elements have 8 bytes.
#[inline(always)]
pub(super) fn eight<const BYTES: usize>(level: Avx2, rows: [[DataRow<BYTES>; 4]; 2]) -> [__m256i; 2] {
    let [[a, b], [c, d]] = rows.map(four);
    if BYTES == 4 { [level.joined(a, c), level.zero()] } else { [level.joined(a, b), level.joined(c, d)] }
}

/// Stores eight elements of `BYTES` bytes, from place `at` on.
#[inline(always)]
pub(super) fn store_eight<const BYTES: usize>(places: Places<'_, BYTES>, at: usize, elements: [__m256i; 2]) {
    debug_assert!(matches!(BYTES, 4 | 8), "no other elements");
    places.store(at, elements[0]);
    if BYTES == 8 {
        places.store(at + 4, elements[1]);
    }
}

/// Four elements of `BYTES` bytes: in each of the vectors, or in both where elements have 8 bytes.
#[inline(always)]
fn four<const BYTES: usize>([a, b, c, d]: [DataRow<BYTES>; 4]) -> [__m128i; 2] {
    debug_assert!(matches!(BYTES, 4 | 8), "no other elements");
    if BYTES == 4 {
        let four = x86::four_words(a.number(), b.number(), c.number(), d.number());
        return [four, four];
    }
    [x86::two_longs(a.number(), b.number()), x86::two_longs(c.number(), d.number())]
}

/// Copies four rows of 4, 8 or 12 bytes to the places from `at` on: elements of 4 and 8 bytes by whole vectors, since a
/// store an element fills the queue of stores while lines of the output are on their way.
#[inline(always)]
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
