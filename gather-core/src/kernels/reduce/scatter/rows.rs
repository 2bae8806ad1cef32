//! Reductions of rows one by one, in order.
//!
//! ```text
//! for each chunk of rows, in order:
//!     prefetch both ends of later rows              (only destinations beyond the caches)
//!     buffer the ends of the chunk
//!     for each row, and each line of its elements:  load both ends, combine, store
//! ```
//!
//! Only the last step is compiled for each reduction and level.
//!
//! A line of elements (a vector at the scalar level of x86-64) is combined by value, in a form that compilers vectorise
//! for each level: no store separates its loads, so the compiler need not compare the addresses of both ends. Rows of
//! one destination are reduced in order, each into the result of the previous row.

use crate::kernels::by_level::{by_level, level_pointers};
use crate::kernels::moves::placed::FIRST_BYTES;
use crate::kernels::nest::rows::ResolvedRows;
use crate::kernels::prefetch::{LINE, prefetch};
use crate::kernels::reduce::accumulate::Combine;
use crate::kernels::reduce::scatter::RowFns;
use crate::kernels::reduce::scatter::accumulators::{TakeRows, UNNOTED};
use crate::kernels::reduce::scatter::by_index::ChooseFused;
use crate::kernels::reduce::scatter::values::RowPair;

/// The size of a row.
#[derive(Clone, Copy)]
pub(crate) struct Row {
    pub(crate) elements: usize,
    /// Bytes of a row of updates.
    pub(crate) bytes: usize,
    /// Bytes of a row of the destination, or of a record.
    pub(crate) destination_bytes: usize,
}

/// The addresses of a row of updates and of its destination, without a proof.
#[derive(Clone, Copy)]
pub(crate) struct Ends {
    pub(crate) updates: *const u8,
    pub(crate) destination: *mut u8,
}

/// Reduces rows into their destinations, in order.
pub(crate) type ReduceFn = fn(&ReduceJob<'_>);
level_pointers! { fn(&ReduceJob<'_>); }

#[derive(Clone, Copy)]
pub(crate) struct ReduceJob<'a> {
    rows: &'a [Ends],
    row: Row,
}

impl<'a> ReduceJob<'a> {
    /// Rows with these ends.
    ///
    /// # Safety
    /// S1, S2, S3 and K4 for rows of the elements and bytes of `row`. The job is given only to functions that reduce
    /// elements of their type.
    #[inline(always)]
    pub(crate) unsafe fn new(rows: &'a [Ends], row: Row) -> Self {
        ReduceJob { rows, row }
    }

    #[inline(always)]
    pub(in crate::kernels::reduce) fn row(&self) -> Row {
        self.row
    }

    /// Takes the rows one after another.
    #[inline(always)]
    pub(in crate::kernels::reduce) fn each(&self, row: &impl TakeRow) {
        for ends in self.rows {
            // SAFETY: S1, S2 and K4 for a row of the job; `row` takes its elements (`ReduceJob::new`).
            let pair = unsafe { RowPair::new(ends.updates, ends.destination, self.row.elements) };
            row.take(pair.of_bytes(self.row.bytes));
        }
    }
}

/// A subset of the rows of a job, in order, with positions in range.
#[derive(Clone, Copy)]
pub(crate) struct ChosenRows<'a> {
    /// The rows of a gather's job with reads and writes exchanged: `out` are the updates, `data` the destination.
    rows: &'a ResolvedRows<'a>,
    /// The numbers of the chosen rows; `None` for all.
    which: Option<&'a [u16]>,
}

impl<'a> ChosenRows<'a> {
    /// The rows listed by `which`, or all.
    ///
    /// # Safety
    /// The contract of a scatter for these rows, with their consumer. Their positions are initialised and in range. The
    /// listed rows are rows of the job.
    #[inline(always)]
    pub(crate) unsafe fn new(rows: &'a ResolvedRows<'_>, which: Option<&'a [u16]>) -> Self {
        debug_assert!(which.is_none_or(|which| which.iter().all(|&row| usize::from(row) < rows.n())));
        ChosenRows { rows, which }
    }

    /// Calls `run` with the ends of each row, in order.
    #[inline(always)]
    pub(super) fn for_each(&self, mut run: impl FnMut(Ends)) {
        let found = FoundRows::of(self.rows);
        match self.which {
            None => (0..self.rows.n()).for_each(|row| run(found.ends(row))),
            Some(which) => which.iter().for_each(|&row| run(found.ends(usize::from(row)))),
        }
    }

    #[inline(always)]
    pub(super) fn row_bytes(&self) -> usize {
        self.rows.row()
    }

    #[inline(always)]
    fn len(&self) -> usize {
        self.which.map_or(self.rows.n(), <[u16]>::len)
    }

    /// The number of the `k`-th chosen row.
    #[inline(always)]
    fn row(&self, k: usize) -> usize {
        self.which.map_or(k, |which| usize::from(which[k]))
    }
}

/// The functions of a reduction; `by_index` chooses its functions for single elements.
pub(in crate::kernels::reduce) const fn reduce<C: Combine>(by_index: ChooseFused) -> RowFns {
    RowFns { resolved: by_level!(fn TakeRows<C, UNNOTED, SCALAR_CHUNK>, fn TakeRows<C, UNNOTED, LINE>), by_index }
}

/// Bytes of elements that the scalar level combines at a time: a vector on x86-64, where few machines run it.
pub(in crate::kernels::reduce) const SCALAR_CHUNK: usize = if cfg!(target_arch = "x86_64") { 16 } else { LINE };

/// Takes one row. A trait, since a closure called in several places may become a separate function, compiled for no
/// level.
pub(in crate::kernels::reduce) trait TakeRow {
    /// Takes a row of the elements that `self` is for.
    fn take(&self, row: RowPair);
}

/// Rows whose ends are buffered before they are reduced: reductions do not depend on how rows were found.
pub(in crate::kernels::reduce) const ENDS: usize = 16;
/// Bytes of rows prefetched and reduced at a time, unless a single row is longer.
const BYTES_AT_ONCE: usize = 1 << 10;

/// Reduces rows with resolved positions by `reduce`, the function of their consumer. Prefetches later rows: `later` if
/// given, else the later rows of `these`.
pub(in crate::kernels::reduce) fn reduce_rows(
    reduce: ReduceFn,
    row: Row,
    these: ChosenRows<'_>,
    later: Option<ChosenRows<'_>>,
) {
    let (found, later_found) = (FoundRows::of(these.rows), FoundRows::of(later.unwrap_or(these).rows));
    let distance = these.rows.unchecked_job().prefetch_distance;
    let first = if later.is_some() { 0 } else { distance.min(these.len()) };
    let later = later.unwrap_or(these);
    let (n, prefetched) = (these.len(), if distance == 0 { 0 } else { later.len() - first });
    let at_once = if prefetched == 0 { ENDS } else { (BYTES_AT_ONCE / row.destination_bytes.max(1)).clamp(1, ENDS) };
    let mut ends = [Ends { updates: core::ptr::null(), destination: core::ptr::null_mut() }; ENDS];
    for start in (0..n.max(prefetched)).step_by(at_once) {
        for k in start..prefetched.min(start + at_once) {
            prefetch_ends(later_found.ends(later.row(first + k)), later_found.updates_step, row);
        }
        let ends = &mut ends[..n.saturating_sub(start).min(at_once)];
        if ends.is_empty() {
            continue;
        }
        match these.which {
            None => {
                for (i, ends) in ends.iter_mut().enumerate() {
                    *ends = found.ends(start + i);
                }
            }
            Some(which) => {
                for (ends, &i) in ends.iter_mut().zip(&which[start..]) {
                    *ends = found.ends(usize::from(i));
                }
            }
        }
        // SAFETY: S1, S2, S3 and K4 hold for rows that are `ChosenRows`, and so for the addresses at their positions;
        // `reduce` is the function of their consumer (S3).
        reduce(&unsafe { ReduceJob::new(ends, row) });
    }
}

/// The addresses of the rows of a job that are [`ChosenRows`]. A copy: the compiler must assume that a store may change
/// the job.
struct FoundRows {
    updates: *const u8,
    updates_step: isize,
    data: *const u8,
    data_step: isize,
    positions: *const i32,
    stride: isize,
}

impl FoundRows {
    #[inline(always)]
    fn of(rows: &ResolvedRows<'_>) -> Self {
        let rows = rows.unchecked_job();
        FoundRows {
            updates: rows.out,
            updates_step: rows.out_step,
            data: rows.data,
            data_step: rows.data_step,
            positions: rows.positions,
            stride: rows.stride,
        }
    }

    /// The ends of row `i`, which is chosen.
    #[inline(always)]
    fn ends(&self, i: usize) -> Ends {
        // SAFETY: by the contract of `ChosenRows::new`, row `i` is a row of the job, and its position is initialised.
        let position = unsafe { self.positions.wrapping_add(i).read() };
        let data = self.data.wrapping_offset(self.data_step.wrapping_mul(i as isize));
        Ends {
            updates: self.updates.wrapping_offset(self.updates_step.wrapping_mul(i as isize)),
            destination: data.wrapping_offset(self.stride.wrapping_mul(position as isize)).cast_mut(),
        }
    }
}

/// Additional prefetch distance of updates, in bytes beyond the prefetched rows (workload
/// `index_add/512Kx64_into_16K`).
const UPDATES_AHEAD: usize = 6 << 10;

/// Prefetches the destination of a row, and updates after it: between rows at random addresses, the hardware prefetcher
/// loses the stream of updates.
#[inline(always)]
fn prefetch_ends(ends: Ends, updates_step: isize, row: Row) {
    let bytes = row.destination_bytes;
    if bytes <= 8 {
        return prefetch(ends.destination, 1);
    }
    prefetch_first_lines(ends.destination, bytes);
    if bytes >= LINE && updates_step == bytes as isize {
        prefetch_first_lines(ends.updates.wrapping_add(UPDATES_AHEAD), bytes);
    }
}

/// Prefetches a row, or the first lines of a long one.
#[inline(always)]
fn prefetch_first_lines(row: *const u8, bytes: usize) {
    let first = bytes.min(FIRST_BYTES);
    prefetch(row, first);
    prefetch(row.wrapping_add(first - 1), 1);
}
