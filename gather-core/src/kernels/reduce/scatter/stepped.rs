//! Reductions of single elements by any indices: negative, out of range, or one for a whole inner loop.
//!
//! ```text
//! for each index, in order:
//!     resolve it                                    (without a branch: random signs would be mispredicted)
//!     buffer the ends of its row, unless it is out of range
//!     reduce the buffered rows when the buffer is full
//! ```
//!
//! So no loop over indices in this module depends on the reduction. If one index serves the whole inner loop, rows are
//! a step apart, and no ends are buffered.

use core::mem::MaybeUninit;

use crate::kernels::prefetch::{LINE, prefetch};
use crate::kernels::reduce::scatter::by_index::{FusedScatterFns, GROUP, STREAM_AHEAD, TakeFew};
use crate::kernels::reduce::scatter::indexed::IndexedJob;
use crate::kernels::reduce::scatter::read::{Exact, ReadIndex};
use crate::kernels::reduce::scatter::rows::{Ends, ReduceJob, Row};
use crate::kernels::reduce::scatter::values::RowPair;

/// Rows of updates and of the destination, each at a constant step in bytes.
pub(crate) struct StridedUpdates {
    next: Ends,
    steps: [isize; 2],
    n: usize,
}

impl StridedUpdates {
    /// `n` rows, from the ends `first` on.
    ///
    /// # Safety
    /// S1, S2, S3 and K4 for the rows. They are given only to functions that reduce such rows (S4).
    #[inline(always)]
    pub(crate) unsafe fn new(first: Ends, steps: [isize; 2], n: usize) -> Self {
        StridedUpdates { next: first, steps, n }
    }
}

impl Iterator for StridedUpdates {
    type Item = Ends;

    #[inline(always)]
    fn next(&mut self) -> Option<Ends> {
        self.n = self.n.checked_sub(1)?;
        let (next, [updates, destination]) = (self.next, self.steps);
        self.next.updates = next.updates.wrapping_offset(updates);
        self.next.destination = next.destination.wrapping_offset(destination);
        Some(next)
    }
}

pub(crate) type SteppedFn = fn(StridedUpdates, Row);

/// [`SteppedFn`] for rows that `T` takes.
pub(in crate::kernels::reduce) fn one_by_one<T: TakeFew>(rows: StridedUpdates, row: Row) {
    let take = T::of(row.elements);
    for Ends { updates, destination } in rows {
        // SAFETY: S1, S2 and K4 for one of the rows, whose number of elements `T` takes (S4).
        let pair = unsafe { RowPair::new(updates, destination, row.elements) };
        take.take(pair.of_bytes(row.bytes));
    }
}

/// Reduces rows by buffers of their ends.
#[inline(never)]
pub(in crate::kernels::reduce) fn buffered(fns: &FusedScatterFns, steps: StridedUpdates) {
    let mut rows = BufferedRows::NONE;
    for ends in steps {
        rows.ends[rows.n].write(ends);
        rows.n += 1;
        if rows.n == ROWS {
            rows.reduce(fns);
        }
    }
    rows.reduce(fns);
}

/// Rows buffered before they are reduced.
const ROWS: usize = 64;

/// The buffered rows: `ends[..n]`, from [`StridedUpdates`] or from elements with positions in range.
struct BufferedRows {
    ends: [MaybeUninit<Ends>; ROWS],
    n: usize,
}

impl BufferedRows {
    const NONE: Self = BufferedRows { ends: [MaybeUninit::uninit(); ROWS], n: 0 };

    /// Reduces and clears the buffered rows.
    #[inline(always)]
    fn reduce(&mut self, fns: &FusedScatterFns) {
        debug_assert!(self.n <= ROWS);
        // SAFETY: `ends[..n]` is initialised.
        let rows = unsafe { core::slice::from_raw_parts(self.ends.as_ptr().cast::<Ends>(), self.n) };
        // SAFETY: S1, S2 and K4: the ends are from `StridedUpdates`, or from elements whose position is in range. The
        // functions are for rows of the job (S4).
        (fns.rows)(&unsafe { ReduceJob::new(rows, fns.row) });
        self.n = 0;
    }
}

/// Reduces the elements of a plane whose indices are in range, in order; returns whether an index is out of range.
pub(in crate::kernels::reduce) fn stepped(job: &IndexedJob, fns: &FusedScatterFns) -> bool {
    match job.index_bytes {
        1 => by_size::<Exact<1>>(job, fns),
        2 => by_size::<Exact<2>>(job, fns),
        4 => by_size::<Exact<4>>(job, fns),
        _ => by_size::<Exact<8>>(job, fns),
    }
}

fn by_size<R: ReadIndex>(job: &IndexedJob, fns: &FusedScatterFns) -> bool {
    if job.is_signed && job.policy.from_end { counting::<R, true>(job, fns) } else { counting::<R, false>(job, fns) }
}

/// [`by_size`] for a constant `FROM_END`: whether indices may count from the end.
#[inline(always)]
fn counting<R: ReadIndex, const FROM_END: bool>(job: &IndexedJob, fns: &FusedScatterFns) -> bool {
    let dim = job.dim;
    // The sign bit selects the addend of an index: the size of the axis, or 0.
    let (sign, below) = if FROM_END { (1 << (8 * R::BYTES - 1), dim) } else { (0, 0) };
    let position_of = |unsigned: u64| {
        let signed = (unsigned ^ sign).wrapping_sub(sign);
        let counted = signed.wrapping_add(below & ((signed as i64) >> 63) as u64);
        if FROM_END { counted } else { unsigned }
    };
    let (mut plane, mut out_of_range, mut rows) = (*job, false, BufferedRows::NONE);
    for _ in 0..job.outer.n {
        if plane.index_step == 0 {
            match plane.position(position_of(plane.index::<R>(0))) {
                Some(position) => fns.reduce_stepped(plane.stepped(position)),
                None => out_of_range = true,
            }
        } else {
            let mut left = plane;
            while left.n > 0 {
                prefetch(left.index.wrapping_add(STREAM_AHEAD), 2 * LINE);
                prefetch(left.updates.wrapping_add(STREAM_AHEAD), 1);
                // A local count: the compiler must assume that a store may change `rows.n`.
                let mut written = rows.n;
                for _ in 0..left.n.min(GROUP).min(ROWS - rows.n) {
                    let position = position_of(left.index::<R>(0));
                    rows.ends[written].write(left.ends(0, position));
                    written += usize::from(position < dim);
                    out_of_range |= position >= dim;
                    left = left.rest(1);
                }
                rows.n = written;
                if rows.n == ROWS {
                    rows.reduce(fns);
                }
            }
        }
        plane = plane.after(1);
    }
    rows.reduce(fns);
    out_of_range
}
