//! Moving rows by their positions while those of a later job are prefetched.

use crate::kernels::moves::RowLoop;
use crate::kernels::moves::placed::CopyRow;
use crate::kernels::nest::rows::{MoveJob, ResolvedRows};

/// A job, and the rows of the one after it, some of which may be out of range: they are only prefetched.
pub(crate) type JobAndNext<'a> = (&'a MoveJob<'a>, &'a ResolvedRows<'a>);

/// Moves the rows of a job while those of the one after it are prefetched.
pub(crate) type MovePrefetchingFn = fn(JobAndNext<'_>);

/// Moves the rows of a job, and prefetches those of the job after it, one with each.
pub(crate) enum MovePrefetching {}

impl RowLoop for MovePrefetching {
    type Args<'a> = JobAndNext<'a>;

    #[inline(always)]
    fn run<C: CopyRow>((job, ahead): JobAndNext<'_>) {
        if C::BYTES.is_some() && job.packed { run::<C, true>(job, ahead) } else { run::<C, false>(job, ahead) }
    }
}

/// As [`MovePrefetching`]; `PACKED` says whether the rows are.
#[inline(always)]
fn run<C: CopyRow, const PACKED: bool>(job: &MoveJob<'_>, ahead: &ResolvedRows<'_>) {
    let (copy, row) = (C::of(job.row), C::BYTES.unwrap_or(job.row));
    let out_step = if PACKED { row as isize } else { job.out_step };
    let (mut from, mut next) = (RowSources::<PACKED>::of(job, row), RowSources::<PACKED>::ahead(ahead, row));
    let (mut out, both) = (job.out, job.n.min(ahead.n()));
    for _ in 0..both {
        // SAFETY: the next row of the job: `row` bytes at both ends, apart from each other.
        unsafe { copy.copy_fetching(from.next(), out, row, next.next()) };
        out = out.wrapping_offset(out_step);
    }
    for _ in both..ahead.n() {
        C::fetch(next.next(), row);
    }
    for _ in both..job.n {
        // SAFETY: as before.
        unsafe { copy.copy(from.next(), out) };
        out = out.wrapping_offset(out_step);
    }
}

/// Where the rows of a job lie, one after the other.
pub(super) struct RowSources<const PACKED: bool> {
    data: *const u8,
    data_step: isize,
    stride: isize,
    positions: *const i32,
    #[cfg(debug_assertions)]
    left: usize,
}

impl<const PACKED: bool> RowSources<PACKED> {
    #[inline(always)]
    pub(super) fn of(job: &MoveJob<'_>, row: usize) -> Self {
        debug_assert!(!PACKED || job.stride == row as isize);
        let stride = if PACKED { row as isize } else { job.stride };
        RowSources {
            data: job.data,
            data_step: job.data_step,
            stride,
            positions: job.positions,
            #[cfg(debug_assertions)]
            left: job.n,
        }
    }

    /// Of rows that are only prefetched.
    #[inline(always)]
    pub(super) fn ahead(rows: &ResolvedRows<'_>, row: usize) -> Self {
        RowSources::of(rows.addresses(), row)
    }

    /// The next row, of those that the job has.
    #[inline(always)]
    pub(super) fn next(&mut self) -> *const u8 {
        #[cfg(debug_assertions)]
        {
            assert!(self.left > 0, "a row more than the job has");
            self.left -= 1;
        }
        // SAFETY: the position of a row of the job, which has been called once for each row before it.
        let position = unsafe { self.positions.read() };
        let row = self.data.wrapping_offset(self.stride.wrapping_mul(position as isize));
        self.positions = self.positions.wrapping_add(1);
        if !PACKED {
            self.data = self.data.wrapping_offset(self.data_step);
        }
        row
    }
}
