//! Moving rows of any length.
//!
//! Rows are never passed to `memcpy`. A small constant length compiles to a few vector moves; other short lengths are
//! covered by two overlapping moves:
//!
//! ```text
//! 4..=8: two of 4      9..=15: two of 8      16..=32: two of 16
//! 33..=64: two of 32   65..=128: two of 64   129..=256: two of 128
//! ```
//!
//! Rows beyond the second-level cache are prefetched: short rows at once, long rows line by line, with each line of an
//! earlier row that is moved. Prefetching a long row at once delays the moves until most of it has arrived (bench
//! `matrix`).

use crate::kernels::level_fn::{LevelFn, Token};
use crate::kernels::moves::placed::{Exactly, Halves, Long, RowSize, by_size};
use crate::kernels::moves::prefetching::MovePrefetching;
use crate::kernels::moves::{RowLoop, copy_fixed, move_fixed};
use crate::kernels::nest::rows::MoveJob;
use crate::kernels::prefetch::{LINE, prefetch};

pub(crate) enum MoveRows {}

impl LevelFn for MoveRows {
    type Args<'a> = &'a MoveJob<'a>;
    type Output = ();

    #[inline(always)]
    fn call<Here: Token>(_: Here, job: &MoveJob<'_>) {
        macro_rules! fixed {
        ($($bytes:literal)*) => {
            match job.row {
                $($bytes => return move_fixed::<$bytes>(job),)*
                _ => {}
            }
        };
    }
        if job.row == LINE && job.prefetch_distance == 0 {
            return move_fixed::<LINE>(job);
        }
        fixed!(1 2 3 4 6 8 12 24 32);
        // A plan that runs has no empty rows (P4).
        by_size!(RowSize::of(job.row), |Way| MovePrefetching::run::<Way>((job, &job.later())));
    }
}

/// Copies `row` bytes, `HALF <= row <= 2 * HALF`, by two overlapping moves.
///
/// # Safety
/// `row` bytes may be read at `from` and written at `to`, and do not overlap.
#[inline(always)]
pub(crate) unsafe fn copy_halves<const HALF: usize>(from: *const u8, to: *mut u8, row: usize) {
    let rest = row - HALF;
    // SAFETY: by the caller's contract, for the first `HALF <= row` bytes of both ends.
    unsafe { copy_fixed::<HALF>(from, to) };
    // SAFETY: by the caller's contract, for the last `HALF` bytes of both ends, from `row - HALF >= 0` on.
    unsafe { copy_fixed::<HALF>(from.wrapping_add(rest), to.wrapping_add(rest)) };
}

/// Row bytes from which a mispredicted branch takes less time than stores that straddle two lines.
const ALIGNED_FROM: usize = 512;
/// Bytes per step of a long copy.
const STEP: usize = 2 * LINE;

/// Copies `row` bytes, at least a [`STEP`]. Stores between both ends are aligned to lines, except in some rows of less
/// than [`ALIGNED_FROM`] bytes: stores across two lines take longer. Prefetches `row` bytes at `later` meanwhile.
///
/// # Safety
/// `row >= STEP` bytes may be read at `from` and written at `to`, and do not overlap.
#[inline(always)]
pub(crate) unsafe fn copy_long(from: *const u8, to: *mut u8, row: usize, later: Option<*const u8>) {
    debug_assert!(row >= STEP);
    let fetch = |at: usize, bytes| {
        if let Some(later) = later {
            prefetch(later.wrapping_add(at), bytes);
        }
    };
    fetch(0, 1);
    // SAFETY: by the caller's contract, for the first `LINE <= row` bytes of both ends.
    unsafe { copy_fixed::<LINE>(from, to) };
    // A step count that depends on the row's address is mispredicted.
    let varies = later.is_none() && row < ALIGNED_FROM && !row.is_multiple_of(LINE);
    let (mut at, last) = (if varies { LINE } else { LINE - to.addr() % LINE }, row - STEP);
    while at < last {
        fetch(at, STEP);
        // SAFETY: by the caller's contract, since `at + STEP < row`.
        unsafe { copy_fixed::<STEP>(from.wrapping_add(at), to.wrapping_add(at)) };
        at += STEP;
    }
    fetch(last, STEP);
    // SAFETY: by the caller's contract, since `last + STEP == row`.
    unsafe { copy_fixed::<STEP>(from.wrapping_add(last), to.wrapping_add(last)) };
}
