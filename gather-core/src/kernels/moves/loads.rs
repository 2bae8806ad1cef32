//! Loads of elements of 4 and 8 bytes at offsets in a register, one by one.
//!
//! On the AMD machines measured, single loads take less time than a gather instruction, in the first-level cache and
//! beyond. On an Intel Xeon they take longer if data is in the caches (`benches/record/intel.md`). Passing the offsets
//! through memory would make every load wait for a store, and takes twice as long.

use crate::kernels::level_fn::Avx2;
use crate::kernels::moves::contiguous::{DataRow, Places};
use crate::kernels::x86::{self, __m128i, __m256i};

/// Eight rows of `BYTES` bytes at offsets, which count rows if `PACKED`, else bytes.
///
/// # Safety
/// At each offset from `data` a row may be read, and it does not overlap the output.
#[inline(always)]
pub(super) unsafe fn rows<const BYTES: usize, const PACKED: bool>(
    level: Avx2,
    data: *const u8,
    offsets: __m256i,
) -> [[DataRow<BYTES>; 4]; 2] {
    let row = |offset: i32| {
        let offset = if PACKED { offset as isize * BYTES as isize } else { offset as isize };
        // SAFETY: by the caller's contract, for one of the eight offsets.
        unsafe { DataRow::<BYTES>::new(data.wrapping_offset(offset)) }
    };
    level.halves(offsets).map(|half| {
        let [low, high] = level.longs(half);
        [row(low as i32), row((low >> 32) as i32), row(high as i32), row((high >> 32) as i32)]
    })
}

/// Eight elements of `BYTES` bytes: in the first vector, or in both if `BYTES == 8`.
#[inline(always)]
pub(super) fn eight<const BYTES: usize>(level: Avx2, rows: [[DataRow<BYTES>; 4]; 2]) -> [__m256i; 2] {
    let [[a, b], [c, d]] = rows.map(four);
    if BYTES == 4 { [level.joined(a, c), level.zero()] } else { [level.joined(a, b), level.joined(c, d)] }
}

/// Stores eight elements of `BYTES` bytes to rows `at..at + 8`.
#[inline(always)]
pub(super) fn store_eight<const BYTES: usize>(places: Places<'_, BYTES>, at: usize, elements: [__m256i; 2]) {
    debug_assert!(matches!(BYTES, 4 | 8), "no other elements");
    places.store(at, elements[0]);
    if BYTES == 8 {
        places.store(at + 4, elements[1]);
    }
}

/// Four elements in two vectors: `[abcd, abcd]` if `BYTES == 4`, `[ab, cd]` if `BYTES == 8`.
#[inline(always)]
fn four<const BYTES: usize>([a, b, c, d]: [DataRow<BYTES>; 4]) -> [__m128i; 2] {
    debug_assert!(matches!(BYTES, 4 | 8), "no other elements");
    if BYTES == 4 {
        let four = x86::four_words(a.number(), b.number(), c.number(), d.number());
        return [four, four];
    }
    [x86::two_longs(a.number(), b.number()), x86::two_longs(c.number(), d.number())]
}

/// Copies four rows of 4, 8 or 12 bytes to rows `at..at + 4`. Elements of 4 and 8 bytes are stored by whole vectors.
/// One store per element would fill the store queue while lines of the output are in flight.
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
