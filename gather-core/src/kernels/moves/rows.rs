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
use crate::kernels::moves::placed::{Exactly, Halves, Long, RowSize, by_size};
use crate::kernels::moves::prefetching::MovePrefetching;
use crate::kernels::moves::{RowLoop, copy_fixed, move_fixed};
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
/// Both ends reach `row` bytes and do not overlap.
#[inline(always)]
pub(crate) unsafe fn copy_halves<const HALF: usize>(from: *const u8, to: *mut u8, row: usize) {
    let rest = row - HALF;
    // SAFETY: the first `HALF <= row` bytes of both ends.
    unsafe { copy_fixed::<HALF>(from, to) };
    // SAFETY: the last `HALF` bytes of both ends begin at `row - HALF`, which is not negative.
    unsafe { copy_fixed::<HALF>(from.wrapping_add(rest), to.wrapping_add(rest)) };
}

/// Bytes of a row from which on a mispredicted branch takes less than stores that straddle two lines.
const ALIGNED_FROM: usize = 512;
/// Bytes that long rows are copied at a time.
const STEP: usize = 2 * LINE;

/// Copies `row` bytes, at least a [`STEP`]. All but the first and the last bytes are written to whole lines: stores
/// that straddle two lines take longer. Prefetches `row` bytes at `later` meanwhile, line by line.
///
/// # Safety
/// Both ends reach `row >= STEP` bytes and do not overlap.
#[inline(always)]
pub(crate) unsafe fn copy_long(from: *const u8, to: *mut u8, row: usize, later: Option<*const u8>) {
    debug_assert!(row >= STEP);
    let fetch = |at: usize, bytes| {
        if let Some(later) = later {
            prefetch(later.wrapping_add(at), bytes);
        }
    };
    fetch(0, 1);
    // SAFETY: the first line of both ends.
    unsafe { copy_fixed::<LINE>(from, to) };
    // A number of steps that depends on the address of each row is mispredicted.
    let varies = later.is_none() && row < ALIGNED_FROM && !row.is_multiple_of(LINE);
    let (mut at, last) = (if varies { LINE } else { LINE - to.addr() % LINE }, row - STEP);
    while at < last {
        fetch(at, STEP);
        // SAFETY: `at + STEP < row`.
        unsafe { copy_fixed::<STEP>(from.wrapping_add(at), to.wrapping_add(at)) };
        at += STEP;
    }
    fetch(last, STEP);
    // SAFETY: the last `STEP` bytes of both ends.
    unsafe { copy_fixed::<STEP>(from.wrapping_add(last), to.wrapping_add(last)) };
}
