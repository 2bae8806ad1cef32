//! Moving rows that lie a step apart, in data and in the output.

use core::marker::PhantomData;

use crate::kernels::level_fn::{LevelFn, Token};
use crate::kernels::moves::placed::{CopyRow, Exactly, Halves, Long, NARROW, RowSize, by_size};
use crate::kernels::moves::prefetch::prefetch;

/// Rows to be moved: from `from + i · from_step` to `to + i · to_step`, for every `i` below `n`.
pub(crate) struct StridedRows {
    pub(crate) from: *const u8,
    pub(crate) from_step: isize,
    pub(crate) to: *mut u8,
    pub(crate) to_step: isize,
    pub(crate) n: usize,
    pub(crate) row: usize,
}

/// Moves rows that lie a step apart, each by the way `C`.
pub(crate) struct MoveStrided<C>(PhantomData<C>);

impl<C: CopyRow> LevelFn for MoveStrided<C> {
    type Args<'a> = &'a StridedRows;
    type Output = ();

    const NARROW: bool = C::MOST <= NARROW;

    #[inline(always)]
    fn call<Here: Token>(_: Here, rows: &StridedRows) {
        let &StridedRows { mut from, from_step, mut to, to_step, n, row } = rows;
        let copy = C::of(row);
        for _ in 0..n {
            // SAFETY: the caller's promise, for this row.
            unsafe { copy.copy(from, to) };
            (from, to) = (from.wrapping_offset(from_step), to.wrapping_offset(to_step));
        }
    }
}

/// Moves rows to where they are contiguous, or from there, and prefetches those `distance` further at the other end,
/// where they lie too far apart for the hardware to guess.
///
/// # Safety
/// K1, K2 and K4 for the rows.
pub(crate) unsafe fn pack_rows(rows: &StridedRows, distance: usize) {
    let &StridedRows { mut from, from_step, mut to, to_step, n, row } = rows;
    let (apart, step) = if from_step == row as isize { (to.cast_const(), to_step) } else { (from, from_step) };
    let mut later = apart.wrapping_offset(step.wrapping_mul(distance as isize));
    by_size!(RowSize::of(row), |Way| {
        let copy = Way::of(row);
        for _ in 0..n {
            prefetch(later, row);
            // SAFETY: the caller's promise, for this row.
            unsafe { copy.copy(from, to) };
            (from, to) = (from.wrapping_offset(from_step), to.wrapping_offset(to_step));
            later = later.wrapping_offset(step);
        }
    });
}
