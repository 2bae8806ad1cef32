//! Batches: consecutive rows of one bag, reduced in memory.

use core::mem::MaybeUninit;

use crate::kernels::reduce::bag::{Start, rows};
use crate::types::element::Unaligned;

/// Consecutive rows of one bag.
///
/// - **M1** Every row may be read for `columns` elements, at any alignment. The elements are values of the reduced
///   type, or that type takes any bytes. The same holds for the row's weight if rows are weighted. Only functions of
///   that type are given the batch, with weights iff rows are weighted.
/// - **M2** `sums` is memory for the sums of all vectors of the columns, at any alignment, which nothing else uses
///   until the bag ends. If the bag has begun before, the previous batch has left its sums there.
/// - **M3** If the bag ends, `out` may be written for `columns` elements, which nothing else uses meanwhile.
/// - **M4** A batch that begins its bag has a row.
#[derive(Clone, Copy)]
pub(super) struct Batch<'a> {
    rows: &'a [BatchRow],
    begin: Start,
    columns: usize,
    sums: *mut u8,
    out: *mut u8,
    /// The rows of the bag that count; `None` if the bag does not end.
    count: Option<usize>,
}

/// A row that counts.
#[derive(Clone, Copy)]
pub(super) struct BatchRow {
    at: *const u8,
    weight: *const u8,
}

impl BatchRow {
    pub(super) const NONE: BatchRow = BatchRow { at: core::ptr::null(), weight: core::ptr::null() };

    #[inline(always)]
    pub(super) fn of(row: rows::BagRow<'_>) -> Self {
        let (at, weight) = row.start();
        BatchRow { at, weight }
    }

    /// The weight, in a reduction with weights.
    #[inline(always)]
    pub(super) fn weight<T: Copy>(self) -> T {
        debug_assert!(!self.weight.is_null(), "M1");
        // SAFETY: M1: a row of a batch has a weight if rows are weighted. Only functions with weights call this method.
        unsafe { self.weight.cast::<T>().read_unaligned() }
    }
}

impl<'a> Batch<'a> {
    /// Rows that begin or continue a bag, and end it if `count` is given.
    ///
    /// # Safety
    /// M1 to M4.
    #[inline(always)]
    pub(super) unsafe fn new(
        rows: &'a [BatchRow],
        begin: Start,
        columns: usize,
        sums: *mut u8,
        out: *mut u8,
        count: Option<usize>,
    ) -> Self {
        debug_assert!(begin == Start::Carried || !rows.is_empty(), "M4: no row counts");
        Batch { rows, begin, columns, sums, out, count }
    }

    #[inline(always)]
    pub(super) fn columns(&self) -> usize {
        self.columns
    }

    #[inline(always)]
    pub(super) fn count(&self) -> Option<usize> {
        self.count
    }

    /// The row that begins the bag, if any, and the other rows.
    #[inline(always)]
    pub(super) fn rows(&self) -> (Option<BatchRow>, &'a [BatchRow]) {
        match (self.begin, self.rows) {
            (Start::Row, &[first, ref others @ ..]) => (Some(first), others),
            (Start::Row, []) => unreachable!("M4: no row counts"),
            (Start::Carried, rows) => (None, rows),
        }
    }

    /// `n` elements of a row of the batch, from column `first` on.
    #[inline(always)]
    pub(super) fn elements<T: Copy>(&self, row: BatchRow, first: usize, n: usize) -> &'a [Unaligned<T>] {
        debug_assert!(first + n <= self.columns, "M1");
        // SAFETY: M1: the row may be read for `columns` elements, and callers keep `first + n <= columns`.
        unsafe { core::slice::from_raw_parts(row.at.cast::<Unaligned<T>>().wrapping_add(first), n) }
    }

    /// Sums `first..first + n`, maybe uninitialised. They are sums of the vectors of the columns.
    #[inline(always)]
    pub(super) fn sums<S: Copy>(&mut self, first: usize, n: usize) -> &mut [MaybeUninit<Unaligned<S>>] {
        // SAFETY: M2: the memory takes the sums of all vectors of the columns, and nothing else uses it.
        unsafe { core::slice::from_raw_parts_mut(self.sums.cast::<MaybeUninit<_>>().wrapping_add(first), n) }
    }

    /// The batch with initialised sums.
    ///
    /// # Safety
    /// All sums that the result accesses are initialised, by this batch or before it.
    #[inline(always)]
    pub(super) unsafe fn begun(self) -> PendingBatch<'a> {
        PendingBatch(self)
    }
}

/// A batch with initialised sums.
#[derive(Clone, Copy)]
pub(super) struct PendingBatch<'a>(Batch<'a>);

impl PendingBatch<'_> {
    /// Sums `first..first + n`.
    #[inline(always)]
    pub(super) fn sums<S: Copy>(&mut self, first: usize, n: usize) -> &mut [Unaligned<S>] {
        // SAFETY: M2, as in `Batch::sums`. By the contract of `Batch::begun` the sums are initialised.
        unsafe { core::slice::from_raw_parts_mut(self.0.sums.cast::<Unaligned<S>>().wrapping_add(first), n) }
    }

    /// Sums `at..at + n`, and the output elements `column..column + n`, which get these sums when the bag ends.
    #[inline(always)]
    pub(super) fn ended<S: Copy, T: Copy>(
        &mut self,
        at: usize,
        column: usize,
        n: usize,
    ) -> (&[Unaligned<S>], &mut [MaybeUninit<Unaligned<T>>]) {
        debug_assert!(self.0.count.is_some() && column + n <= self.0.columns, "M3");
        let out = self.0.out.cast::<MaybeUninit<_>>().wrapping_add(column);
        // SAFETY: M3: `columns` elements may be written, which nothing else uses. Callers keep columns in range.
        let out = unsafe { core::slice::from_raw_parts_mut(out, n) };
        (self.sums(at, n), out)
    }
}
