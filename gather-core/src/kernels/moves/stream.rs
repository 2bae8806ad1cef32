//! Rows that are written past the caches: outputs that the last-level cache cannot hold beside what they are read from.
//!
//! Only whole lines are written past the caches. A line that two rows share is written as usual, because a line that
//! is written both ways would be evicted in between. Short rows are not worth it, nor is an output that is read soon
//! (bench `matrix`).

use core::arch::x86_64::{__m128i, _mm_loadu_si128, _mm_sfence, _mm_stream_si128};

use crate::kernels::moves::MoveJob;
use crate::kernels::moves::prefetch::{LINE, prefetch};

/// [`Isa::stream_rows`](crate::kernels::isa::Isa::stream_rows) for x86-64, whose every machine has the instructions.
///
/// # Safety
/// As for [`Isa::stream_rows`](crate::kernels::isa::Isa::stream_rows).
#[inline(always)]
pub(crate) unsafe fn stream_rows(job: &MoveJob) {
    for i in 0..job.n {
        // SAFETY: below `n`.
        let later = unsafe { job.source((i + job.prefetch_distance).min(job.n - 1)) };
        // SAFETY: `i < n`.
        let from = unsafe { job.source(i) };
        // SAFETY: K1, K2 and K4 for the row: `row` bytes at both ends, apart from each other.
        unsafe { stream_row(from, job.target(i), job.row, later) };
    }
    // SAFETY: every x86-64 machine has SSE. What was streamed is ordered before what follows, in the eyes of other
    // threads too.
    unsafe { _mm_sfence() };
}

/// Copies `row` bytes, a line or more, past the caches, and prefetches as many at `later`. Lines that the row shares
/// with its neighbours are written as usual: a line written both ways would be evicted in between.
///
/// # Safety
/// Both ends reach `row` bytes and do not overlap. An `sfence` follows before another thread may look.
#[inline(always)]
unsafe fn stream_row(from: *const u8, to: *mut u8, row: usize, later: *const u8) {
    debug_assert!(row >= LINE, "K9: rows of {row} bytes are not streamed");
    let mut at = to.addr().wrapping_neg() % LINE;
    // SAFETY: `at < LINE <= row`.
    unsafe { to.copy_from_nonoverlapping(from, at) };
    while at + LINE <= row {
        prefetch(later.wrapping_add(at), LINE);
        // SAFETY: a line inside the row; `to + at` is a multiple of its length.
        unsafe { stream_line(from.wrapping_add(at), to.wrapping_add(at)) };
        at += LINE;
    }
    // SAFETY: what is left of the row.
    unsafe { to.wrapping_add(at).copy_from_nonoverlapping(from.wrapping_add(at), row - at) };
}

/// Copies a line past the caches.
///
/// # Safety
/// Both ends reach `LINE` bytes and do not overlap; `to` is a multiple of `LINE`. An `sfence` follows.
#[inline(always)]
unsafe fn stream_line(from: *const u8, to: *mut u8) {
    for at in (0..LINE).step_by(size_of::<__m128i>()) {
        // SAFETY: 16 bytes of the line, at any alignment; every x86-64 machine has SSE2.
        let part = unsafe { _mm_loadu_si128(from.wrapping_add(at).cast()) };
        // SAFETY: 16 bytes of the line, at a multiple of 16.
        unsafe { _mm_stream_si128(to.wrapping_add(at).cast(), part) };
    }
}
