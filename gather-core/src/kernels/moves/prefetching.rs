//! Moving rows by their positions while the rows of a later job are prefetched.

use crate::kernels::moves::RowLoop;
use crate::kernels::moves::placed::CopyRow;
use crate::kernels::nest::rows::{MoveJob, ResolvedRows};

/// A job, and the rows of the next job. Some of the next rows may be out of range: they are only prefetched.
pub(crate) type JobAndNext<'a> = (&'a MoveJob<'a>, &'a ResolvedRows<'a>);

/// Moves the rows of a job while the rows of the next job are prefetched.
pub(crate) type MovePrefetchingFn = fn(JobAndNext<'_>);

/// Moves the rows of a job, and prefetches one row of the next job with each.
pub(crate) enum MovePrefetching {}

impl RowLoop for MovePrefetching {
    type Args<'a> = JobAndNext<'a>;

    #[inline(always)]
    fn run<C: CopyRow>((job, ahead): JobAndNext<'_>) {
        if C::BYTES.is_some() && job.packed { run::<C, true>(job, ahead) } else { run::<C, false>(job, ahead) }
    }
}

/// [`MovePrefetching`], where `PACKED` says whether the rows are packed.
#[inline(always)]
fn run<C: CopyRow, const PACKED: bool>(job: &MoveJob<'_>, ahead: &ResolvedRows<'_>) {
    let (copy, row) = (C::of(job.row), C::BYTES.unwrap_or(job.row));
    let out_step = if PACKED { row as isize } else { job.out_step };
    let (mut source, mut later) = (sources::<PACKED>(job, row), sources::<PACKED>(ahead.unchecked_job(), row));
    let ((first, rest), ahead) = (job.each_position().split_at(job.n.min(ahead.n())), ahead.positions());
    let mut out = job.out;
    for (&position, &next) in first.iter().zip(ahead) {
        // SAFETY: K1, K2 and K4 for the next row of the job, of `row` bytes.
        unsafe { copy.copy_fetching(source(position), out, row, later(next)) };
        out = out.wrapping_offset(out_step);
    }
    for &next in &ahead[first.len()..] {
        C::fetch(later(next), row);
    }
    for &position in rest {
        // SAFETY: K1, K2 and K4 for the next row of the job, of `row` bytes.
        unsafe { copy.copy(source(position), out) };
        out = out.wrapping_offset(out_step);
    }
}

/// A function from the position of a row to its source address. It is called once per row of the job, in order.
#[inline(always)]
pub(super) fn sources<const PACKED: bool>(job: &MoveJob<'_>, row: usize) -> impl FnMut(i32) -> *const u8 {
    debug_assert!(!PACKED || job.stride == row as isize);
    let (stride, step) = if PACKED { (row as isize, 0) } else { (job.stride, job.data_step) };
    let mut data = job.data;
    move |position| {
        let row = data.wrapping_offset(stride.wrapping_mul(position as isize));
        data = data.wrapping_offset(step);
        row
    }
}
