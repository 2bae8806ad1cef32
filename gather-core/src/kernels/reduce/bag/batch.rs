//! Batches: rows of one bag that follow one another, and what is made of them in memory.

use core::mem::MaybeUninit;

use crate::kernels::reduce::bag::{Start, rows};
use crate::types::element::Unaligned;

/// Rows of one bag that follow one another.
///
/// - **M1** Every row may be read for `columns` elements, at any alignment, that are values of the type that is
///   reduced, or it takes any bytes; so may its weight for one, where rows are weighted. Only functions of that type
///   are given the batch, with weights exactly where rows are weighted.
/// - **M2** `sums` has room for the sums of all vectors of the columns, at any alignment, which nothing else
///   uses until the bag ends. Where the bag has begun before, the batch before has left its own there.
/// - **M3** Where the bag ends, `out` may be written for `columns` elements, which nothing else uses meanwhile.
/// - **M4** A bag that begins with its first row has one.
#[derive(Clone, Copy)]
pub(super) struct Batch<'a> {
    rows: &'a [BatchRow],
    begin: Start,
    columns: usize,
    sums: *mut u8,
    out: *mut u8,
    /// How many rows of the bag count, where it ends.
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

    /// The row of a job.
    #[inline(always)]
    pub(super) fn of(row: rows::BagRow<'_>) -> Self {
        let (at, weight) = row.start();
        BatchRow { at, weight }
    }

    /// The weight, in a reduction with weights.
    #[inline(always)]
    pub(super) fn weight<T: Copy>(self) -> T {
        debug_assert!(!self.weight.is_null(), "M1");
        // SAFETY: the row is one of a job (`Row::of`), whose rows have weights where the reduction has (B3).
        unsafe { self.weight.cast::<T>().read_unaligned() }
    }
}

impl<'a> Batch<'a> {
    /// Some rows, which begin a bag or go on with it, and end it where `count` of its rows count.
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

    /// The row that the bag begins with, if it does, and the others.
    #[inline(always)]
    pub(super) fn rows(&self) -> (Option<BatchRow>, &'a [BatchRow]) {
        match (self.begin, self.rows) {
            (Start::Row, &[first, ref others @ ..]) => (Some(first), others),
            (Start::Row, []) => unreachable!("M4: no row counts"),
            (Start::Carried, rows) => (None, rows),
        }
    }

    /// `n` elements of a row of the batch, from a column on.
    #[inline(always)]
    pub(super) fn elements<T: Copy>(&self, row: BatchRow, first: usize, n: usize) -> &'a [Unaligned<T>] {
        debug_assert!(first + n <= self.columns, "M1");
        // SAFETY: M1: these columns are some of the row.
        unsafe { core::slice::from_raw_parts(row.at.cast::<Unaligned<T>>().wrapping_add(first), n) }
    }

    /// Room for `n` sums, from number `first` on: at most those of all vectors of the columns.
    #[inline(always)]
    pub(super) fn sums<S: Copy>(&mut self, first: usize, n: usize) -> &mut [MaybeUninit<Unaligned<S>>] {
        // SAFETY: M2: there is room for these, which the batch alone uses.
        unsafe { core::slice::from_raw_parts_mut(self.sums.cast::<MaybeUninit<_>>().wrapping_add(first), n) }
    }

    /// The batch, some of whose sums have begun.
    ///
    /// # Safety
    /// The sums that it is asked for have begun: this batch has made them, or the bag has begun before it.
    #[inline(always)]
    pub(super) unsafe fn begun(self) -> PendingBatch<'a> {
        PendingBatch(self)
    }
}

/// A batch whose sums have begun, those that it is asked for.
#[derive(Clone, Copy)]
pub(super) struct PendingBatch<'a>(Batch<'a>);

impl PendingBatch<'_> {
    /// `n` sums, from number `first` on.
    #[inline(always)]
    pub(super) fn sums<S: Copy>(&mut self, first: usize, n: usize) -> &mut [Unaligned<S>] {
        // SAFETY: M2, and the sums are there.
        unsafe { core::slice::from_raw_parts_mut(self.0.sums.cast::<Unaligned<S>>().wrapping_add(first), n) }
    }

    /// `n` sums from number `at` on, and the elements of the output from `column` on that they become, where the bag
    /// ends.
    #[inline(always)]
    pub(super) fn ended<S: Copy, T: Copy>(
        &mut self,
        at: usize,
        column: usize,
        n: usize,
    ) -> (&[Unaligned<S>], &mut [MaybeUninit<Unaligned<T>>]) {
        debug_assert!(self.0.count.is_some() && column + n <= self.0.columns, "M3");
        let out = self.0.out.cast::<MaybeUninit<_>>().wrapping_add(column);
        // SAFETY: M3: these columns are some of the output, which nothing else uses.
        let out = unsafe { core::slice::from_raw_parts_mut(out, n) };
        (self.sums(at, n), out)
    }
}
