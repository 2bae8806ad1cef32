//! Reductions with separate intermediate results.
//!
//! A scatter with accumulators is a scatter into a buffer of *records*, one per row of the destination:
//!
//! ```text
//! begin:  record = the row of the destination, widened; without `include_self` an identity
//! take:   record (op)= a row of updates                       (in their order)
//! end:    the row of the destination = the record, rounded or divided, if it has had an update
//! ```
//!
//! A record is one sum per element and a *note*: the number of updates of the row. If sums begin with the destination,
//! a record of halves needs no note: a sum without updates is unchanged.
//!
//! # The contract
//!
//! - **A1** A job of rows ([`RowsJob`]) has `n` contiguous records, which nothing else uses meanwhile. The rows of the
//!   destination are `step` bytes apart, and each has `elements` elements that may be read and written, at any
//!   alignment. They hold values of the type, or the type takes any bytes. Records that a job ends have begun.
//!
//! For `take` the contract of a scatter holds, with records in place of the destination.

use core::marker::PhantomData;
use core::ops::Deref;

use crate::kernels::by_level::{ByLevel, by_level, level_pointers};
use crate::kernels::level_fn::{self, LevelFn, Scalar, Token};
use crate::kernels::prefetch::{LINE, prefetch};
use crate::kernels::reduce::accumulate::{Accumulate, between_ends};
use crate::kernels::reduce::scatter::IndexedJob;
use crate::kernels::reduce::scatter::by_index::{
    self, CONTIGUOUS, Elements, FastPath, FusedScatterFns, GROUP, STREAM_AHEAD, TakeFew, elements,
};
use crate::kernels::reduce::scatter::read::{Exact, FourOrEight, ReadIndex};
use crate::kernels::reduce::scatter::rows::{ReduceJob, Row, SCALAR_CHUNK, TakeRow};
use crate::kernels::reduce::scatter::stepped::one_by_one;
use crate::kernels::reduce::scatter::values::{RowPair, Values};
use crate::types::element::Unaligned;

#[derive(Clone, Copy)]
pub(crate) struct AccumulatorFns {
    /// Reduces rows of updates into records.
    pub(crate) take: ByLevel<unsafe fn(&ReduceJob<'_>)>,
    /// Reduces short rows into records, by indices of `index` bytes.
    pub(crate) by_index: fn(index: usize, elements: usize) -> Option<&'static FusedScatterFns>,
    /// Initialises records from rows of the destination.
    pub(crate) begin: ByLevel<CompiledRowsFn>,
    /// Writes rows of the destination from records with updates.
    pub(crate) end: ByLevel<CompiledRowsFn>,
    /// Bytes per sum.
    sum: usize,
    /// Bytes per note.
    note: usize,
}

impl AccumulatorFns {
    /// Bytes of a record of `elements` sums.
    pub(crate) const fn record(&self, elements: usize) -> usize {
        record(self.sum, self.note, elements)
    }

    /// Records that count their updates, with specialised loops for short rows.
    pub(in crate::kernels::reduce) const fn hot<A: Accumulate>() -> Self {
        AccumulatorFns { by_index: choose::<A, COUNT>, ..Self::of::<A, COUNT, true>() }
    }

    pub(in crate::kernels::reduce) const fn cold<A: Accumulate>() -> Self {
        Self::of::<A, COUNT, false>()
    }

    /// [`AccumulatorFns::cold`] in less code.
    pub(in crate::kernels::reduce) const fn rare<A: Accumulate>() -> Self {
        let take = by_level!(scalar fn TakeRows<A, COUNT, SCALAR_CHUNK>);
        AccumulatorFns { take, ..Self::cold::<A>() }
    }

    /// Records that begin with the destination, without notes: an element without updates has an unchanged sum. If
    /// `HOT`, short rows have specialised loops.
    #[cfg(feature = "half")]
    pub(in crate::kernels::reduce) const fn begun<A: Accumulate, const HOT: bool>() -> Self {
        let by_index = if HOT { choose::<A, UNNOTED> } else { none };
        AccumulatorFns { by_index, ..Self::of::<A, UNNOTED, HOT>() }
    }

    const fn of<A: Accumulate, const NOTE: usize, const HOT: bool>() -> Self {
        // Vectors pay off if elements are converted or divided.
        let begin = if A::WIDENS {
            by_level!(fn BeginRows<A, NOTE, HOT>)
        } else {
            by_level!(scalar fn BeginRows<A, NOTE, HOT>)
        };
        let end = if A::WIDENS || (A::DIVIDES && HOT) {
            by_level!(fn EndRows<A, NOTE, HOT>)
        } else {
            by_level!(scalar fn EndRows<A, NOTE, HOT>)
        };
        AccumulatorFns {
            take: by_level!(
                fn TakeRows<A, NOTE, SCALAR_CHUNK>,
                fn TakeRows<A, NOTE, LINE>
            ),
            by_index: none,
            begin,
            end,
            sum: size_of::<A::Sum>(),
            note: NOTE,
        }
    }
}

fn none(_: usize, _: usize) -> Option<&'static FusedScatterFns> {
    None
}

/// Bytes per record: a multiple of 8 bytes, or of the size of its sums and note if that is less.
const fn record(sum: usize, note: usize, elements: usize) -> usize {
    let unit = if sum >= 8 || note == 0 { sum } else { sum.next_power_of_two() };
    let unit = if note > unit { note } else { unit };
    let unit = if unit > 8 { 8 } else { unit };
    match elements.saturating_mul(sum).saturating_add(note).checked_next_multiple_of(unit) {
        Some(bytes) => bytes,
        None => usize::MAX,
    }
}

/// Bytes of a note that counts the updates of the row, plus 1 if `include_self`.
const COUNT: usize = 4;
/// No note: every row has begun, or rows are their own records.
pub(super) const UNNOTED: usize = 0;

/// Updates into rows in place.
pub(super) type InPlace<C> = AccumulateRow<C, Scalar, UNNOTED, 1>;

/// The note of a row that has begun with the destination; 0 is the note of a row that has not begun.
const KEPT: u32 = 1;

#[inline(always)]
fn read_note<A: Accumulate, const NOTE: usize>(record: Values) -> u32 {
    if NOTE == 0 { KEPT } else { record.note::<A::Sum>() }
}

#[inline(always)]
fn write_note<A: Accumulate, const NOTE: usize>(record: Values, note: u32) {
    if NOTE > 0 {
        record.set_note::<A::Sum>(note);
    }
}

/// The note after one more update. It saturates if a note of 0 means that the row has not begun; else it wraps.
#[inline(always)]
const fn next_note<A: Accumulate, const NOTE: usize>(note: u32) -> u32 {
    match NOTE {
        COUNT if A::IDENTITY.is_none() => note.saturating_add(1),
        COUNT => note.wrapping_add(1),
        _ => note,
    }
}

/// Contiguous records and their rows of the destination. Addresses only, without a proof.
#[derive(Clone, Copy)]
pub(crate) struct RecordedRows {
    pub(crate) n: usize,
    pub(crate) records: *mut u8,
    pub(crate) destination: *mut u8,
    /// Bytes between rows of the destination.
    pub(crate) step: isize,
    pub(crate) elements: usize,
    /// Whether records have begun with the destination.
    pub(crate) include_self: bool,
    /// The updates of each row that its 32-bit note or count lacks: a multiple of 2^32.
    pub(crate) uncounted: usize,
}

/// Records and rows that satisfy A1.
#[derive(Clone, Copy)]
pub(crate) struct RowsJob(RecordedRows);

/// Initialises records from rows, or writes rows from records.
pub(crate) type RowsFn = fn(&RowsJob);
pub(crate) type CompiledRowsFn = unsafe fn(&RowsJob);
level_pointers! { fn(&RowsJob); }

impl Deref for RowsJob {
    type Target = RecordedRows;

    #[inline(always)]
    fn deref(&self) -> &RecordedRows {
        &self.0
    }
}

impl RowsJob {
    /// Rows and their records.
    ///
    /// # Safety
    /// A1. The job is given only to functions of the records' reduction.
    #[inline(always)]
    pub(crate) unsafe fn new(rows: RecordedRows) -> Self {
        RowsJob(rows)
    }

    /// `(low, remainder)`: the low 32 bits of a number of updates, and the uncounted updates.
    pub(crate) fn split(updates: usize) -> (u32, usize) {
        let low = updates as u32;
        (low, updates - low as usize)
    }

    #[inline(always)]
    pub(super) fn row(&self, i: usize) -> Values {
        let RecordedRows { n, destination, step, elements, .. } = self.0;
        debug_assert!(i < n, "A1");
        // SAFETY: A1: `i < n`: one of the rows, which are `step` bytes apart and have `elements` elements.
        unsafe { Values::new(destination.wrapping_offset(step.wrapping_mul(i as isize)), elements) }
    }

    /// The updates of row `i`, if records are counts.
    #[inline(always)]
    pub(super) fn count(&self, i: usize) -> usize {
        debug_assert!(i < self.n, "A1");
        // SAFETY: A1: `i < n`: one of the counts, at any alignment.
        let count = unsafe { self.records.cast::<u32>().wrapping_add(i).read_unaligned() };
        count as usize + self.uncounted
    }

    /// All rows as one row, if they are contiguous and records have no notes.
    #[inline(always)]
    fn merged<A: Accumulate, const NOTE: usize>(&self) -> Self {
        let RecordedRows { n, step, elements, .. } = self.0;
        if NOTE == 0 && step == (elements * size_of::<A::Item>()) as isize {
            return RowsJob(RecordedRows { n: 1, elements: n * elements, ..self.0 });
        }
        *self
    }

    /// The same rows, with a constant number of elements.
    #[inline(always)]
    fn of_elements<const ELEMENTS: usize>(&self) -> Self {
        debug_assert_eq!(self.0.elements, ELEMENTS);
        RowsJob(RecordedRows { elements: ELEMENTS, ..self.0 })
    }

    #[inline(always)]
    fn record<A: Accumulate, const NOTE: usize>(&self, i: usize) -> Values {
        let RecordedRows { n, records, elements, .. } = self.0;
        debug_assert!(i < n, "A1");
        let record = record(size_of::<A::Sum>(), NOTE, elements);
        // SAFETY: A1: `i < n`: one of the records, which are contiguous and have `elements` sums.
        unsafe { Values::new(records.wrapping_add(i * record), elements) }
    }
}

/// Elements per `bytes` bytes of elements or of sums, whichever are larger.
pub(in crate::kernels::reduce) const fn columns<A: Accumulate>(bytes: usize) -> usize {
    let (item, sum) = (size_of::<A::Item>(), size_of::<A::Sum>());
    bytes / if item > sum { item } else { sum }
}

/// Bytes of sums that begin together: `LINE` if rows are merged or widened.
const fn chunk<A: Accumulate, const NOTE: usize>() -> usize {
    if NOTE == 0 || A::WIDENS { LINE } else { SCALAR_CHUNK }
}

/// Bytes of sums that end together: `LINE / 2` if they are divided.
const fn chunk_of_ends<A: Accumulate, const NOTE: usize>() -> usize {
    if A::DIVIDES { LINE / 2 } else { chunk::<A, NOTE>() }
}

/// Runs a body for chunks of `$n` columns, a power of two up to 64, and for the remainder once per set bit, in halves
/// of a chunk. In the body, `$n` is a constant and `$at` the first column. Compilers would vectorise a loop over the
/// remainder.
macro_rules! by_columns {
    ($columns:expr, $elements:expr, |$n:ident, $at:ident| $body:expr) => {{
        let (elements, mut $at) = ($elements, 0usize);
        by_columns!(elements, $at, $n, $columns, $body, 64 32 16 8 4 2 1);
        debug_assert_eq!($at, elements);
    }};
    ($elements:ident, $at:ident, $n:ident, $columns:expr, $body:expr, $($number:literal)*) => {$(
        if const { crate::kernels::reduce::scatter::accumulators::is_chunk($number, $columns) } {
            while $elements - $at >= $number {
                const $n: usize = $number;
                $body;
                $at += $number;
            }
        } else if const { $number < $columns } {
            // Most rows have no remainder.
            if $at != $elements && ($elements - $at) & $number != 0 {
                const $n: usize = $number;
                $body;
                $at += $number;
            }
        }
    )*};
}

/// Whether chunks for about `columns` columns have `number` columns: the greatest power of two up to `columns`.
pub(in crate::kernels::reduce) const fn is_chunk(number: usize, columns: usize) -> bool {
    let chunk = if columns > 64 {
        64
    } else if columns == 0 {
        1
    } else {
        columns
    };
    number <= chunk && chunk < 2 * number
}
pub(in crate::kernels::reduce) use by_columns;

/// Runs a body for a job of rows. If `$hot`, a number of elements of 1 to 4 is a constant in the body.
macro_rules! by_elements {
    ($hot:expr, $job:ident, $body:block) => { by_elements!($hot, $job, $body, 1 2 3 4) };
    ($hot:expr, $job:ident, $body:block, $($elements:literal)*) => {
        match $job.elements {
            $($elements if $hot => {
                let $job = $job.of_elements::<$elements>();
                $body
            })*
            _ => $body,
        }
    };
}

struct BeginRows<A, const NOTE: usize, const HOT: bool>(PhantomData<A>);

impl<A: Accumulate, const NOTE: usize, const HOT: bool> LevelFn for BeginRows<A, NOTE, HOT> {
    type Args<'a> = &'a RowsJob;
    type Output = ();

    #[inline(always)]
    fn call<Here: Token>(level: Here, job: &RowsJob) {
        let job = job.merged::<A, NOTE>();
        by_elements!(HOT, job, {
            for i in 0..job.n {
                let (record, row) = (job.record::<A, NOTE>(i), job.row(i));
                by_columns!(columns::<A>(chunk::<A, NOTE>()), job.elements, |WIDTH, column| {
                    if job.include_self {
                        let kept = A::widen_chunk(level, &row.read::<A::Item, WIDTH>(column));
                        record.write_each::<A::Sum, WIDTH>(column, |k| kept[k]);
                    } else if let Some(identity) = A::IDENTITY {
                        record.write_each::<A::Sum, WIDTH>(column, |_| identity);
                    }
                });
                write_note::<A, NOTE>(record, u32::from(job.include_self) * KEPT);
            }
        })
    }
}

struct EndRows<A, const NOTE: usize, const HOT: bool>(PhantomData<A>);

impl<A: Accumulate, const NOTE: usize, const HOT: bool> LevelFn for EndRows<A, NOTE, HOT> {
    type Args<'a> = &'a RowsJob;
    type Output = ();

    #[inline(always)]
    fn call<Here: Token>(level: Here, job: &RowsJob) {
        let job = job.merged::<A, NOTE>();
        let (least, uncounted) = (u32::from(job.include_self), job.uncounted);
        by_elements!(HOT, job, {
            for i in 0..job.n {
                let (record, row) = (job.record::<A, NOTE>(i), job.row(i));
                let note = read_note::<A, NOTE>(record);
                if NOTE > 0 && note <= least && uncounted == 0 {
                    continue;
                }
                by_columns!(columns::<A>(chunk_of_ends::<A, NOTE>()), job.elements, |WIDTH, column| {
                    let sums = record.read::<A::Sum, WIDTH>(column);
                    let mut plain = [sums[0].0; WIDTH];
                    for (plain, sum) in plain.iter_mut().zip(&sums) {
                        *plain = sum.0;
                    }
                    let ended = A::end_chunk(level, &plain, note as usize + uncounted);
                    if NOTE > 0 {
                        row.write_each::<A::Item, WIDTH>(column, |k| ended[k].0);
                    } else {
                        let kept = row.read::<A::Item, WIDTH>(column);
                        let wide = A::widen_chunk(level, &kept);
                        let differs = |k: usize| A::differ(wide[k], plain[k]);
                        row.write_each::<A::Item, WIDTH>(column, |k| if differs(k) { ended[k].0 } else { kept[k].0 });
                    }
                });
            }
        })
    }
}

/// Reduces a row of `self.0` elements into its record at a level, `BYTES` bytes of sums at a time.
pub(super) struct AccumulateRow<A, L, const NOTE: usize, const BYTES: usize>(usize, L, PhantomData<A>);

impl<A: Accumulate, L: Token, const NOTE: usize, const BYTES: usize> TakeRow for AccumulateRow<A, L, NOTE, BYTES> {
    #[inline(always)]
    fn take(&self, row: RowPair) {
        let record = row.into();
        let note = read_note::<A, NOTE>(record);
        // The sums of a row that has not begun are uninitialised.
        let fresh = A::IDENTITY.is_none() && note == 0;
        by_columns!(columns::<A>(BYTES), self.0, |WIDTH, column| {
            let new = row.updates::<A::Item, WIDTH>(column);
            // If widening takes one operation, each element is widened where it is added.
            let wide = if A::WIDENS { A::widen_chunk(self.1, &new) } else { [A::widen(new[0].0); WIDTH] };
            let new = |k: usize| if A::WIDENS { wide[k] } else { A::widen(new[k].0) };
            if fresh {
                record.write_each::<A::Sum, WIDTH>(column, |k| A::begin(new(k)));
            } else {
                let mut sums = record.read::<A::Sum, WIDTH>(column);
                for (k, sum) in sums.iter_mut().enumerate() {
                    *sum = Unaligned(A::plus(sum.0, new(k)));
                }
                if const { NOTE == UNNOTED && WIDTH > 1 } {
                    between_ends();
                }
                record.write(column, sums);
            }
        });
        write_note::<A, NOTE>(record, next_note::<A, NOTE>(note));
    }
}

impl<A: Accumulate, const NOTE: usize, const BYTES: usize> TakeFew for AccumulateRow<A, Scalar, NOTE, BYTES> {
    const BYTES: usize = size_of::<A::Item>();

    #[inline(always)]
    fn of(elements: usize) -> Self {
        AccumulateRow(elements, Scalar, PhantomData)
    }
}

/// A [`ReduceFn`] for records, `BYTES` bytes of sums at a time.
pub(super) struct TakeRows<A, const NOTE: usize, const BYTES: usize>(PhantomData<A>);

impl<A: Accumulate, const NOTE: usize, const BYTES: usize> LevelFn for TakeRows<A, NOTE, BYTES> {
    type Args<'a> = &'a ReduceJob<'a>;
    type Output = ();

    #[inline(always)]
    fn call<Here: Token>(level: Here, &job: &ReduceJob<'_>) {
        let row = job.row();
        debug_assert_eq!(row.bytes, row.elements * size_of::<A::Item>(), "S3");
        if row.elements == 1 {
            return job.each(&AccumulateRow::<A, Here, NOTE, 1>(1, level, PhantomData));
        }
        job.each(&AccumulateRow::<A, Here, NOTE, BYTES>(row.elements, level, PhantomData));
    }
}

/// Reduces rows of a few elements into records by indices of a size. Rows in place have one loop for both index sizes,
/// and `by_index::hot` has the loops for rows of one element.
pub(super) fn choose<A: Accumulate, const NOTE: usize>(
    index: usize,
    elements: usize,
) -> Option<&'static FusedScatterFns> {
    macro_rules! fixed {
        ($R:ty, $($elements:literal)*) => {
            match elements {
                $($elements => Some(const { &by_index::<A, $R, NOTE, $elements>() }),)*
                _ => None,
            }
        };
    }
    if const { NOTE == UNNOTED && !A::WIDENS } {
        return if matches!(index, 4 | 8) { fixed!(FourOrEight, 2 3 4) } else { None };
    }
    match index {
        4 => fixed!(Exact<4>, 1 2 3 4),
        8 => fixed!(Exact<8>, 1 2 3 4),
        _ => None,
    }
}

/// Maximum elements of rows that are reduced by their indices.
pub(crate) const FEW_ELEMENTS: usize = 4;
const WIDENED: usize = 64;

const fn by_index<A: Accumulate, R: ReadIndex, const NOTE: usize, const ELEMENTS: usize>() -> FusedScatterFns {
    let (quick, bytes) = (quick::<A, R, NOTE, ELEMENTS>, ELEMENTS * size_of::<A::Item>());
    FusedScatterFns {
        quick: Some(FastPath {
            any: quick,
            packed: quick,
            stepped: Some(one_by_one::<AccumulateRow<A, Scalar, NOTE, 1>>),
            step: bytes as isize,
            any_steps: false,
        }),
        rows: level_fn::scalar::<TakeRows<A, NOTE, SCALAR_CHUNK>>,
        row: Row { elements: ELEMENTS, bytes, destination_bytes: record(size_of::<A::Sum>(), NOTE, ELEMENTS) },
    }
}

/// [`QuickFn`](super::by_index::QuickFn) for records, rows of `ELEMENTS` elements and indices of `R`.
fn quick<A: Accumulate, R: ReadIndex, const NOTE: usize, const ELEMENTS: usize>(job: &IndexedJob) -> usize {
    if !A::WIDENS || job.n < GROUP {
        return by_index::quick::<AccumulateRow<A, Scalar, NOTE, SCALAR_CHUNK>, R, CONTIGUOUS, ELEMENTS>(job);
    }
    for plane in 0..job.outer.n {
        let done = widened::<A, R, NOTE, ELEMENTS>(&job.after(plane).take(1));
        if done < job.n {
            return plane * job.n + done;
        }
    }
    job.outer.n * job.n
}

/// [`quick`] for one inner loop, with up to `WIDENED` elements widened at a time.
fn widened<A: Accumulate, R: ReadIndex, const NOTE: usize, const ELEMENTS: usize>(job: &IndexedJob) -> usize {
    let (bytes, wide) = (ELEMENTS * size_of::<A::Item>(), Elements { n: ELEMENTS, size: size_of::<A::Sum>() });
    let (mut done, row) = (0, AccumulateRow::<Widened<A>, Scalar, NOTE, SCALAR_CHUNK>(ELEMENTS, Scalar, PhantomData));
    let job = job.contiguous(R::bytes(job.index_bytes), bytes);
    while done < job.n {
        let n = (job.n - done).min(WIDENED / ELEMENTS);
        let these = job.rest(done).up_to(n);
        prefetch(these.updates.wrapping_add(STREAM_AHEAD), n * bytes);
        let updates = these.updates::<A::Item>(n, ELEMENTS);
        let mut scratch = [A::widen(updates[0].0); WIDENED];
        A::widen_all(updates, &mut scratch[..updates.len()]);
        // SAFETY: `scratch` outlives `these`, whose function reduces `A::Sum`s (`Widened`).
        let these = unsafe { these.with_updates(&scratch, ELEMENTS) };
        let taken = elements::<R, CONTIGUOUS>(&these, wide, &row);
        done += taken;
        if taken < n {
            break;
        }
    }
    done
}

struct Widened<A>(PhantomData<A>);

impl<A: Accumulate> Accumulate for Widened<A> {
    type Item = A::Sum;
    type Sum = A::Sum;
    const IDENTITY: Option<A::Sum> = A::IDENTITY;

    #[inline(always)]
    fn widen(kept: A::Sum) -> A::Sum {
        kept
    }

    #[inline(always)]
    fn begin(new: A::Sum) -> A::Sum {
        A::begin(new)
    }

    #[inline(always)]
    fn plus(sum: A::Sum, new: A::Sum) -> A::Sum {
        A::plus(sum, new)
    }

    #[inline(always)]
    fn end(sum: A::Sum, _: usize) -> A::Sum {
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::reduce::number::Mean;
    use crate::kernels::reduce::scatter::counts;
    use crate::types::level::Level;

    /// More updates than a 32-bit note counts.
    const UPDATES: usize = if usize::BITS > 32 { (1 << 32) + 3 } else { 3 };

    #[test]
    fn rows_that_met_more_updates_than_a_note_counts() {
        let (count, uncounted) = RowsJob::split(UPDATES);
        assert_eq!((count, count as usize + uncounted), (3, UPDATES));
        let (sum, mean) = (UPDATES as i128 * 7, 7i32);
        let mut record = [0u8; 32];
        record[..16].copy_from_slice(&sum.to_ne_bytes());
        // The second note has wrapped to 0.
        for (note, uncounted) in [(count, uncounted), (0, UPDATES)] {
            let mut row = [0i32];
            record[16..20].copy_from_slice(&note.to_ne_bytes());
            let (records, destination) = (record.as_mut_ptr(), row.as_mut_ptr().cast());
            let rows =
                RecordedRows { n: 1, records, destination, step: 0, elements: 1, include_self: false, uncounted };
            // SAFETY: A1: a record of one sum, and a row of one element.
            let job = unsafe { RowsJob::new(rows) };
            // SAFETY: every machine has the scalar level.
            unsafe { AccumulatorFns::cold::<Mean<i32>>().end.get(Level::Scalar)(&job) };
            assert_eq!(row, [mean]);
        }
        let (mut counts, mut row) = ([count], [UPDATES as f64 * 7.0]);
        let (records, destination) = (counts.as_mut_ptr().cast(), row.as_mut_ptr().cast());
        let rows = RecordedRows { n: 1, records, destination, step: 0, elements: 1, include_self: false, uncounted };
        // SAFETY: A1: a count, and a row of one element.
        counts::divide::<f64>(&unsafe { RowsJob::new(rows) });
        assert_eq!(row, [7.0]);
    }
}
