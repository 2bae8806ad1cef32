//! Moving rows by their positions while those of a later job are prefetched.

use core::marker::PhantomData;

use crate::kernels::level_fn::{LevelFn, Token};
use crate::kernels::moves::MoveJob;
use crate::kernels::moves::placed::{CopyRow, NARROW};
use crate::kernels::moves::prefetch::{LINE, prefetch};

/// A job, and the one after it.
pub(crate) type JobAndNext<'a> = (&'a MoveJob, &'a MoveJob);

/// Moves the rows of a job while those of the one after it are prefetched.
///
/// # Safety
/// K1, K2, K4, K6 and K7 for the rows of both jobs.
pub(crate) type MovePrefetchingFn = fn(JobAndNext<'_>);

/// Moves the rows of a job, each by the way `C`, and prefetches those of the job after it, one with each.
pub(crate) struct MovePrefetching<C>(PhantomData<C>);

impl<C: CopyRow> LevelFn for MovePrefetching<C> {
    type Args<'a> = JobAndNext<'a>;
    type Output = ();

    const NARROW: bool = C::MOST <= NARROW;

    #[inline(always)]
    fn call<Here: Token>(_: Here, (job, ahead): JobAndNext<'_>) {
        if C::BYTES.is_some() && job.packed {
            // SAFETY: the caller's promise; the plan found the rows packed.
            unsafe { run::<C, true>(job, ahead) }
        } else {
            // SAFETY: the caller's promise.
            unsafe { run::<C, false>(job, ahead) }
        }
    }
}

/// As [`MovePrefetching`]; `PACKED` says whether the rows are.
///
/// # Safety
/// As for [`MovePrefetching`].
#[inline(always)]
unsafe fn run<C: CopyRow, const PACKED: bool>(job: &MoveJob, ahead: &MoveJob) {
    let (copy, row) = (C::of(job.row), C::BYTES.unwrap_or(job.row));
    let out_step = if PACKED { row as isize } else { job.out_step };
    let (mut from, mut next, mut out) = (Sources::<PACKED>::new(job, row), Sources::<PACKED>::new(ahead, row), job.out);
    let mut move_row = |from| {
        // SAFETY: K1, K2 and K4 for the row: `row` bytes at both ends, apart from each other.
        unsafe { copy.copy(from, out) };
        out = out.wrapping_offset(out_step);
    };
    let both = job.n.min(ahead.n);
    for _ in 0..both {
        // SAFETY: `both` is at most `ahead.n`.
        ask::<C>(unsafe { next.next() }, row);
        // SAFETY: `both` is at most `job.n`.
        move_row(unsafe { from.next() });
    }
    for _ in both..ahead.n {
        // SAFETY: up to `ahead.n`.
        ask::<C>(unsafe { next.next() }, row);
    }
    for _ in both..job.n {
        // SAFETY: up to `job.n`.
        move_row(unsafe { from.next() });
    }
}

/// Prefetches the lines of a row.
#[inline(always)]
fn ask<C: CopyRow>(from: *const u8, row: usize) {
    if C::MOST <= LINE {
        prefetch(from, 1);
    } else {
        prefetch(from, row);
    }
    if C::MOST > 8 {
        // The line in which the row ends, mostly the same: to look first takes longer. Elements lie in one line.
        prefetch(from.wrapping_add(row - 1), 1);
    }
}

/// Where the rows of a job lie, one after the other.
pub(super) struct Sources<const PACKED: bool> {
    data: *const u8,
    data_step: isize,
    stride: isize,
    positions: *const i32,
}

impl<const PACKED: bool> Sources<PACKED> {
    #[inline(always)]
    pub(super) fn new(job: &MoveJob, row: usize) -> Self {
        debug_assert!(!PACKED || job.stride == row as isize);
        let stride = if PACKED { row as isize } else { job.stride };
        Sources { data: job.data, data_step: job.data_step, stride, positions: job.positions }
    }

    /// # Safety
    /// It has been called fewer times than the job has rows, whose positions have been written.
    #[inline(always)]
    pub(super) unsafe fn next(&mut self) -> *const u8 {
        // SAFETY: the caller's promise.
        let position = unsafe { self.positions.read() };
        let row = self.data.wrapping_offset(self.stride.wrapping_mul(position as isize));
        self.positions = self.positions.wrapping_add(1);
        if !PACKED {
            self.data = self.data.wrapping_offset(self.data_step);
        }
        row
    }
}
