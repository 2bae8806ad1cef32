//! Moving rows of any length.
//!
//! Rows are never given to `memcpy`. A length that is a small constant compiles to a few vector moves, and other
//! short ones are covered by two overlapping moves:
//!
//! ```text
//! 4..=8: two of 4      9..=15: two of 8      16..=32: two of 16
//! 33..=64: two of 32   65..=128: two of 64   129..=256: two of 128
//! ```
//!
//! Rows beyond the second-level cache are prefetched. Short ones are prefetched as a whole. Of longer ones, one line
//! of a later row is prefetched with every line that is moved: to prefetch a whole row at once holds the moves up
//! until most of it has come (bench `matrix`).

use crate::kernels::level_fn::{LevelFn, Token};
use crate::kernels::moves::{copy_fixed, move_fixed};
use crate::kernels::nest::rows::MoveJob;
use crate::kernels::prefetch::{LINE, prefetch};

/// Moves rows of any length by their positions.
pub(crate) enum MoveRows {}

impl LevelFn for MoveRows {
    type Args<'a> = &'a MoveJob<'a>;
    type Output = ();

    #[inline(always)]
    fn call<Here: Token>(_: Here, job: &MoveJob<'_>) {
        macro_rules! fixed {
        ($($bytes:literal)*) => {
            match job.row() {
                $($bytes => return move_fixed::<$bytes>(job),)*
                _ => {}
            }
        };
    }
        macro_rules! each {
            ($copy:expr) => {{
                let move_row = |i| {
                    // SAFETY: a row of the job: `row` bytes at both ends, apart from each other.
                    unsafe { $copy(job.source(i), job.target(i), job.row()) };
                };
                let ahead = job.prefetch_distance();
                let fetched = if ahead == 0 { 0 } else { job.n().saturating_sub(ahead) };
                for i in 0..fetched {
                    prefetch(job.source(i + ahead), job.row());
                    move_row(i);
                }
                for i in fetched..job.n() {
                    move_row(i);
                }
            }};
        }
        if job.row() == LINE && job.prefetch_distance() == 0 {
            return move_fixed::<LINE>(job);
        }
        fixed!(1 2 3 6 12 24 32);
        match job.row() {
            4..=8 => each!(copy_halves::<4>),
            9..=15 => each!(copy_halves::<8>),
            16..=32 => each!(copy_halves::<16>),
            33..=64 => each!(copy_halves::<32>),
            65..=128 => each!(copy_halves::<64>),
            129..=256 => each!(copy_halves::<128>),
            // Rows of more than 256 bytes: a plan that runs has no empty ones (P4).
            _ => move_long(job),
        }
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

/// Moves rows of a [`STEP`] or more, and prefetches later ones meanwhile if the plan says so.
#[inline(always)]
fn move_long(job: &MoveJob<'_>) {
    let ahead = job.prefetch_distance();
    if ahead == 0 {
        for i in 0..job.n() {
            // SAFETY: a row of the job: `row` bytes at both ends, apart from each other.
            unsafe { copy_long(job.source(i), job.target(i), job.row()) };
        }
        return;
    }
    for i in 0..job.n() {
        let later = job.source((i + ahead).min(job.n() - 1));
        // SAFETY: a row of the job: `row` bytes at both ends, apart from each other.
        unsafe { copy_fetching(job.source(i), job.target(i), job.row(), later) };
    }
}

/// Bytes of a row from which on a mispredicted branch takes less than stores that straddle two lines.
const ALIGNED_FROM: usize = 512;
/// Bytes that long rows are copied at a time.
const STEP: usize = 2 * LINE;

/// Copies `row` bytes, at least a [`STEP`]. All but the first and the last bytes are written to whole lines: stores
/// that straddle two lines take longer.
///
/// # Safety
/// Both ends reach `row >= STEP` bytes and do not overlap.
#[inline(always)]
pub(crate) unsafe fn copy_long(from: *const u8, to: *mut u8, row: usize) {
    debug_assert!(row >= STEP);
    // SAFETY: the first line of both ends.
    unsafe { copy_fixed::<LINE>(from, to) };
    // A number of steps that depends on the address of each row is mispredicted.
    let varies = row < ALIGNED_FROM && !row.is_multiple_of(LINE);
    let (mut at, last) = (if varies { LINE } else { LINE - to.addr() % LINE }, row - STEP);
    while at < last {
        // SAFETY: `at + STEP < row`.
        unsafe { copy_fixed::<STEP>(from.wrapping_add(at), to.wrapping_add(at)) };
        at += STEP;
    }
    // SAFETY: the last `STEP` bytes of both ends.
    unsafe { copy_fixed::<STEP>(from.wrapping_add(last), to.wrapping_add(last)) };
}

/// As [`copy_long`], and prefetches as many bytes at `later`, line by line.
///
/// # Safety
/// As for [`copy_long`].
#[inline(always)]
unsafe fn copy_fetching(from: *const u8, to: *mut u8, row: usize, later: *const u8) {
    debug_assert!(row >= STEP);
    prefetch(later, 1);
    // SAFETY: the first line of both ends.
    unsafe { copy_fixed::<LINE>(from, to) };
    let (mut at, last) = (LINE - to.addr() % LINE, row - STEP);
    while at < last {
        prefetch(later.wrapping_add(at), STEP);
        // SAFETY: `at + STEP < row`.
        unsafe { copy_fixed::<STEP>(from.wrapping_add(at), to.wrapping_add(at)) };
        at += STEP;
    }
    prefetch(later.wrapping_add(last), STEP);
    // SAFETY: the last `STEP` bytes of both ends.
    unsafe { copy_fixed::<STEP>(from.wrapping_add(last), to.wrapping_add(last)) };
}
