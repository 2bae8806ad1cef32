//! Moving resolved lanes that are rows of any length.
//!
//! Rows are never given to `memcpy`. A length that is a small constant compiles to a few vector moves, and other short ones are
//! covered by two overlapping moves of half-open size classes:
//!
//! ```text
//! 17..=32: two of 16   33..=64: two of 32   65..=128: two of 64   129..=256: two of 128
//! ```
//!
//! Rows beyond the second-level cache are fetched ahead. Short ones are asked for as a whole; of longer ones, one line of a later
//! row is asked for with every line that is moved. A whole row at once holds the moves up until most of it has come. In
//! milliseconds, rows at random (2026-11-21, 2-core EPYC of the Zen 4 class, medians of 15 in turn):
//!
//! ```text
//! rows                                     memcpy   fetched as a whole   line by line, rows ahead: 1, 4, 8, 16
//! 16 Ki of 1 KiB out of 16 MiB              1.29     1.07                0.81  0.72  0.72  0.78
//! 64 Ki of 256 bytes out of 64 slices       1.57     1.50                1.50  1.25  1.18  1.11
//! 32 Ki of 256 bytes out of 32 MiB          0.40     0.28                0.34  0.29  0.26  0.25
//! 1 Mi of 64 bytes out of 64 MiB           16.3     11.8                15.5  13.0  10.9  10.3
//! 8 Ki of 3 KiB out of 147 MiB              2.40     2.09                2.31  2.30  2.24  2.23
//! ```
//!
//! Outputs that the last-level cache cannot hold beside what they are read from are written past the caches, where rows are long
//! enough that most lines are whole ones: the last of these takes 1.5 to 1.8 ms so, and 1.0 in place of 1.3 to 1.6 with two threads.
//! Below that it does not pay: the first takes 0.64 in place of 0.78, but 0.61 in place of 0.40 with two threads, rows of 64 bytes 12.9
//! in place of 10.3; and whoever reads the output next would wait for it.

use crate::kernels::unit::{Lanes, copy_fixed, move_fixed};

/// Bytes of a cache line.
const LINE: usize = 64;

/// Moves lanes of `row` bytes.
///
/// # Safety
/// K1, K2, K4 for the lanes.
#[inline(always)]
pub(crate) unsafe fn move_rows(lanes: &Lanes) {
    macro_rules! fixed {
        ($($bytes:literal)*) => {
            match lanes.row {
                // SAFETY: the caller's promise, for rows of this many bytes.
                $($bytes => return unsafe { move_fixed::<$bytes>(lanes) },)*
                _ => {}
            }
        };
    }
    macro_rules! each {
        ($copy:expr) => {{
            let move_lane = |lane| {
                // SAFETY: `lane < n`.
                let from = unsafe { lanes.source(lane) };
                // SAFETY: K1, K2 and K4 for the lane: `row` bytes at both ends, apart from each other.
                unsafe { $copy(from, lanes.target(lane), lanes.row) };
            };
            let fetched = if lanes.ahead == 0 { 0 } else { lanes.n.saturating_sub(lanes.ahead) };
            for lane in 0..fetched {
                // SAFETY: `lane + ahead < n`.
                prefetch(unsafe { lanes.source(lane + lanes.ahead) }, lanes.row);
                move_lane(lane);
            }
            for lane in fetched..lanes.n {
                move_lane(lane);
            }
        }};
    }
    if lanes.row == LINE && lanes.ahead == 0 {
        // SAFETY: the caller's promise, for rows of a line.
        return unsafe { move_fixed::<LINE>(lanes) };
    }
    fixed!(3 5 6 7 9 10 11 12 13 14 15 1 2 4 8 16 20 24 28 32);
    match lanes.row {
        0..=32 => each!(copy_halves::<16>),
        33..=64 => each!(copy_halves::<32>),
        65..=128 => each!(copy_halves::<64>),
        129..=256 => each!(copy_halves::<128>),
        #[cfg(target_arch = "x86_64")]
        // SAFETY: the caller's promise; rows are longer than a line.
        _ if lanes.stream => unsafe { stream_long(lanes) },
        // SAFETY: as above.
        _ => unsafe { move_long(lanes) },
    }
}

/// Copies `row` bytes, `HALF <= row <= 2 * HALF`, by two overlapping moves.
///
/// # Safety
/// Both ends reach `row` bytes and do not overlap.
#[inline(always)]
pub(crate) unsafe fn copy_halves<const HALF: usize>(from: *const u8, to: *mut u8, row: usize) {
    let rest = row - HALF;
    // SAFETY: the first `HALF <= row` bytes of both ends.
    unsafe { copy_fixed::<HALF>(from, to) };
    // SAFETY: the last `HALF` bytes of both ends begin at `row - HALF`, which is not negative.
    unsafe { copy_fixed::<HALF>(from.wrapping_add(rest), to.wrapping_add(rest)) };
}

/// Moves lanes of `row` bytes, more than a line, and fetches later rows meanwhile.
///
/// # Safety
/// K1, K2, K4 for the lanes.
#[inline(always)]
unsafe fn move_long(lanes: &Lanes) {
    for lane in 0..lanes.n {
        // SAFETY: below `n`.
        let later = unsafe { lanes.source((lane + lanes.ahead).min(lanes.n - 1)) };
        // SAFETY: `lane < n`.
        let from = unsafe { lanes.source(lane) };
        // SAFETY: K1, K2 and K4 for the lane: `row` bytes at both ends, apart from each other.
        unsafe { copy_long(from, lanes.target(lane), lanes.row, later) };
    }
}

/// As [`move_long`], with whole lines of the output written past the caches.
///
/// # Safety
/// As there.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
unsafe fn stream_long(lanes: &Lanes) {
    for lane in 0..lanes.n {
        // SAFETY: below `n`.
        let later = unsafe { lanes.source((lane + lanes.ahead).min(lanes.n - 1)) };
        // SAFETY: `lane < n`.
        let from = unsafe { lanes.source(lane) };
        // SAFETY: K1, K2 and K4 for the lane: `row` bytes at both ends, apart from each other.
        unsafe { stream_row(from, lanes.target(lane), lanes.row, later) };
    }
    // SAFETY: every x86-64 machine has SSE. What was streamed is ordered before what follows, in the eyes of other threads too.
    unsafe { core::arch::x86_64::_mm_sfence() };
}

/// Copies `row` bytes, more than a line, past the caches, and asks for as many at `later`. Lines that the row shares with its
/// neighbours are written as usual: a line written both ways would be evicted in between.
///
/// # Safety
/// Both ends reach `row` bytes and do not overlap. An `sfence` follows before another thread may look.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
unsafe fn stream_row(from: *const u8, to: *mut u8, row: usize, later: *const u8) {
    let mut at = to.addr().wrapping_neg() % LINE;
    // SAFETY: `at < LINE < row`.
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
#[cfg(target_arch = "x86_64")]
#[inline(always)]
unsafe fn stream_line(from: *const u8, to: *mut u8) {
    use core::arch::x86_64::{__m128i, _mm_loadu_si128, _mm_stream_si128};
    for at in (0..LINE).step_by(size_of::<__m128i>()) {
        // SAFETY: 16 bytes of the line, at any alignment; every x86-64 machine has SSE2.
        let part = unsafe { _mm_loadu_si128(from.wrapping_add(at).cast()) };
        // SAFETY: 16 bytes of the line, at a multiple of 16.
        unsafe { _mm_stream_si128(to.wrapping_add(at).cast(), part) };
    }
}

/// Copies `row` bytes, more than a line, and asks for as many at `later`, line by line.
///
/// # Safety
/// Both ends reach `row` bytes and do not overlap.
#[inline(always)]
unsafe fn copy_long(from: *const u8, to: *mut u8, row: usize, later: *const u8) {
    let last = row - LINE;
    let mut at = 0;
    while at < last {
        prefetch(later.wrapping_add(at), LINE);
        // SAFETY: `at + LINE < row`.
        unsafe { copy_fixed::<LINE>(from.wrapping_add(at), to.wrapping_add(at)) };
        at += LINE;
    }
    prefetch(later.wrapping_add(last), LINE);
    // SAFETY: the last `LINE` bytes of both ends.
    unsafe { copy_fixed::<LINE>(from.wrapping_add(last), to.wrapping_add(last)) };
}

/// Asks for the cache lines of a row before they are needed.
#[inline(always)]
pub(crate) fn prefetch(row: *const u8, bytes: usize) {
    #[cfg(target_arch = "x86_64")]
    {
        let mut at = 0;
        while at < bytes {
            // SAFETY: a prefetch does not access memory in the language's sense, whatever the address.
            unsafe {
                core::arch::x86_64::_mm_prefetch::<{ core::arch::x86_64::_MM_HINT_T0 }>(
                    row.wrapping_add(at).cast::<i8>(),
                );
            }
            at += 64;
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (row, bytes);
}
