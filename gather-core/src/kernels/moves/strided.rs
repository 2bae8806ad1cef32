//! Moving rows that are a constant step apart, in data and in the output.

use crate::kernels::moves::RowLoop;
use crate::kernels::moves::placed::{CopyRow, Exactly, Halves, Long, RowSize, by_size};
use crate::kernels::nest::plane::OutputRows;
use crate::kernels::prefetch::prefetch;

/// Rows to move: from `from + i · from_step` to row `i` of `to`, for `i < to.n()`.
pub(crate) struct StridedRows {
    from: *const u8,
    from_step: isize,
    to: OutputRows,
    row: usize,
}

impl StridedRows {
    /// # Safety
    /// `to` has rows of `row` bytes. `row` bytes may be read at each source, and do not overlap `to`.
    #[inline(always)]
    pub(crate) unsafe fn new(from: *const u8, from_step: isize, to: OutputRows, row: usize) -> Self {
        StridedRows { from, from_step, to, row }
    }

    /// Moves the rows, calling `meanwhile` before each.
    #[inline(always)]
    fn each<C: CopyRow>(&self, mut meanwhile: impl FnMut()) {
        let &StridedRows { mut from, from_step, to: rows, row } = self;
        let (copy, mut to) = (C::of(row), rows.at());
        for _ in 0..rows.n() {
            meanwhile();
            // SAFETY: by the contract of `new`, row `i < n` may be read and written, and the two do not overlap.
            unsafe { copy.copy(from, to) };
            (from, to) = (from.wrapping_offset(from_step), to.wrapping_offset(rows.step()));
        }
    }
}

pub(crate) enum MoveStrided {}

impl RowLoop for MoveStrided {
    type Args<'a> = &'a StridedRows;

    #[inline(always)]
    fn run<C: CopyRow>(rows: &StridedRows) {
        rows.each::<C>(|| {});
    }
}

/// Moves rows to or from contiguous rows. Prefetches the row `distance` further at the other end, where rows are too
/// far apart for the hardware to prefetch.
pub(crate) fn pack_rows(rows: &StridedRows, distance: usize) {
    let &StridedRows { from, from_step, to, row } = rows;
    let (apart, step) = if from_step == row as isize { (to.at().cast_const(), to.step()) } else { (from, from_step) };
    let mut later = apart.wrapping_offset(step.wrapping_mul(distance as isize));
    by_size!(RowSize::of(row), |Way| rows.each::<Way>(|| {
        prefetch(later, row);
        later = later.wrapping_offset(step);
    }));
}
