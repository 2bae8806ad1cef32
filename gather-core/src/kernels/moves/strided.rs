//! Moving rows that lie a step apart, in data and in the output.

use core::marker::PhantomData;

use crate::kernels::level_fn::{LevelFn, Token};
use crate::kernels::moves::placed::{CopyRow, Exactly, Halves, Long, NARROW, RowSize, by_size};
use crate::kernels::nest::plane::OutputRows;
use crate::kernels::prefetch::prefetch;

/// Rows to be moved: from `from + i · from_step` to `to + i · to_step`, for every `i` below `n`.
pub(crate) struct StridedRows {
    from: *const u8,
    from_step: isize,
    to: *mut u8,
    to_step: isize,
    n: usize,
    row: usize,
}

impl StridedRows {
    /// Rows of `row` bytes, a step apart.
    ///
    /// # Safety
    /// There is a row for each of `to`, which may be read and shares no byte with these; they have `row` bytes.
    #[inline(always)]
    pub(crate) unsafe fn new(from: *const u8, from_step: isize, to: OutputRows, row: usize) -> Self {
        StridedRows { from, from_step, to: to.at(), to_step: to.step(), n: to.n(), row }
    }
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
            // SAFETY: one of the `n` rows: the ends may be read and written, and lie apart.
            unsafe { copy.copy(from, to) };
            (from, to) = (from.wrapping_offset(from_step), to.wrapping_offset(to_step));
        }
    }
}

/// Moves rows to where they are contiguous, or from there, and prefetches those `distance` further at the other end,
/// where they lie too far apart for the hardware to guess.
pub(crate) fn pack_rows(rows: &StridedRows, distance: usize) {
    let &StridedRows { mut from, from_step, mut to, to_step, n, row } = rows;
    let (apart, step) = if from_step == row as isize { (to.cast_const(), to_step) } else { (from, from_step) };
    let mut later = apart.wrapping_offset(step.wrapping_mul(distance as isize));
    by_size!(RowSize::of(row), |Way| {
        let copy = Way::of(row);
        for _ in 0..n {
            prefetch(later, row);
            // SAFETY: one of the `n` rows: the ends may be read and written, and lie apart.
            unsafe { copy.copy(from, to) };
            (from, to) = (from.wrapping_offset(from_step), to.wrapping_offset(to_step));
            later = later.wrapping_offset(step);
        }
    });
}
