//! Reductions whose intermediate results lie beside the destination.
//!
//! A scatter with accumulators is a scatter into a buffer of *records*, one for each row of the destination:
//!
//! ```text
//! begin:  record = the row of the destination, widened; or an identity, where it does not count
//! take:   record (op)= a row of updates                       (in their order)
//! end:    the row of the destination = the record, rounded or divided, if an update has met it
//! ```
//!
//! A record is a sum for each element and a *note*: how many updates have met the row, or whether one has. Where sums
//! begin with the destination, what no update has met is what it was, and a record of halves needs no note.
//!
//! # The contract
//!
//! - **A1** A job of rows ([`RowsJob`]) has `n` contiguous records, which nothing else uses meanwhile. The rows of
//!   the destination are `step` bytes apart, reach `elements` elements each that may be read and written, at any
//!   alignment, and hold values of the type, or it takes any bytes. To end, every record has begun.
//! - K7 holds too. For `take` the contract of a scatter holds, with records for the destination.

use core::marker::PhantomData;

use crate::kernels::by_level::{ByLevel, by_level};
use crate::kernels::moves::prefetch::{LINE, prefetch};
use crate::kernels::reduce::IndexedJob;
use crate::kernels::reduce::by_index::{self, CONTIGUOUS, GROUP, IndexedFns, STREAM_AHEAD, TakeFew, elements};
use crate::kernels::reduce::in_memory::write_each;
use crate::kernels::reduce::read::{Exact, ReadIndex};
use crate::kernels::reduce::rows::{ReduceFn, ReduceJob, Row, SCALAR_CHUNK, TakeRow, each};
use crate::kernels::reduce::sorted::{self, SortedFn};
use crate::kernels::reduce::step::Accumulate;
use crate::kernels::reduce::stepped::strided;
use crate::types::element::Unaligned;

/// The functions of a reduction with accumulators.
#[derive(Clone, Copy)]
pub(crate) struct AccumulatorFns {
    /// Reduces rows of updates into records.
    pub(crate) take: ByLevel<ReduceFn>,
    /// The same for short rows, by indices of a size.
    pub(crate) by_index: fn(index: usize, elements: usize) -> Option<&'static IndexedFns>,
    /// Makes records of rows of the destination.
    pub(crate) begin: RowsFn,
    /// Makes rows of the destination of records that updates have met.
    pub(crate) end: RowsFn,
    /// Bytes of a sum, and of a note.
    sum: usize,
    note: usize,
}

impl AccumulatorFns {
    /// Bytes of a record of `elements` sums.
    pub(crate) const fn record(&self, elements: usize) -> usize {
        record(self.sum, self.note, elements)
    }
}

/// Reduces updates that are grouped by destination.
#[derive(Clone, Copy)]
pub(crate) struct GroupFns {
    /// With accumulators that have notes.
    noted: AccumulatorFns,
    /// With accumulators that begin with the destination and need no note.
    begun: Option<AccumulatorFns>,
    /// Sorted updates.
    pub(crate) sorted: ByLevel<SortedFn>,
}

impl GroupFns {
    /// The functions of a reduction that counts its updates.
    pub(super) const fn counting<A: Accumulate>() -> Self {
        GroupFns { noted: fns::<A, COUNT>(), begun: None, sorted: sorted::fns::<A>() }
    }

    /// The functions of a reduction that does not ask how many updates there were.
    pub(super) const fn plain<A: Accumulate>() -> Self {
        GroupFns { noted: fns::<A, MET>(), ..Self::counting::<A>() }
    }

    /// As [`GroupFns::plain`], of which elements that no update has met are told from others by their sums.
    #[cfg(feature = "half")]
    pub(super) const fn rounded<A: Accumulate>() -> Self {
        GroupFns { begun: Some(fns::<A, UNNOTED>()), ..Self::plain::<A>() }
    }

    /// The functions with accumulators.
    pub(crate) fn accumulators(&self, include_self: bool) -> &AccumulatorFns {
        self.begun.as_ref().filter(|_| include_self).unwrap_or(&self.noted)
    }
}

const fn fns<A: Accumulate, const NOTE: usize>() -> AccumulatorFns {
    AccumulatorFns {
        take: by_level!(take_scalar::<A, NOTE>, take_avx2::<A, NOTE>),
        by_index: choose::<A, NOTE>,
        begin: begin::<A, NOTE>,
        end: end::<A, NOTE>,
        sum: size_of::<A::Sum>(),
        note: NOTE,
    }
}

/// Bytes of a record: whole units of 8 bytes, or of as many as its parts take where that is less.
const fn record(sum: usize, note: usize, elements: usize) -> usize {
    let unit = if sum >= 8 || note == 0 { sum } else { sum.next_power_of_two() };
    let unit = if note > unit { note } else { unit };
    let unit = if unit > 8 { 8 } else { unit };
    match elements.saturating_mul(sum).saturating_add(note).checked_next_multiple_of(unit) {
        Some(bytes) => bytes,
        None => usize::MAX,
    }
}

/// The meaning of a note's bytes: how many updates have met the row, and the destination if that counts.
const COUNT: usize = 4;
/// Whether an update has met the row.
const MET: usize = 1;
/// Nothing: every row has begun.
#[cfg(feature = "half")]
const UNNOTED: usize = 0;

/// The note of a row that has begun with the destination. That of a row that has not begun is 0.
const KEPT: u32 = 1;

/// Reads a note.
///
/// # Safety
/// As many bytes may be read, at any alignment, and are a note.
#[inline(always)]
unsafe fn read_note<const NOTE: usize>(at: *const u8) -> u32 {
    match NOTE {
        0 => KEPT,
        // SAFETY: the caller's promise.
        MET => u32::from(unsafe { at.read() }),
        // SAFETY: the caller's promise.
        _ => unsafe { at.cast::<u32>().read_unaligned() },
    }
}

/// Writes a note.
///
/// # Safety
/// As many bytes may be written, at any alignment.
#[inline(always)]
unsafe fn write_note<const NOTE: usize>(at: *mut u8, note: u32) {
    match NOTE {
        0 => {}
        // SAFETY: the caller's promise.
        MET => unsafe { at.write(note as u8) },
        // SAFETY: the caller's promise.
        _ => unsafe { at.cast::<u32>().write_unaligned(note) },
    }
}

/// The note that an update leaves.
#[inline(always)]
const fn next_note<const NOTE: usize>(note: u32) -> u32 {
    if NOTE == COUNT { note + 1 } else { note | 2 }
}

/// Records that are contiguous, and the rows of the destination that they stand for.
#[derive(Clone, Copy)]
pub(crate) struct RowsJob {
    pub(crate) n: usize,
    pub(crate) records: *mut u8,
    pub(crate) destination: *mut u8,
    /// Bytes of the destination from one row to the next.
    pub(crate) step: isize,
    pub(crate) elements: usize,
    /// Whether records began with the destination.
    pub(crate) include_self: bool,
}

/// Makes records of rows, or rows of records.
///
/// # Safety
/// A1 and K7.
pub(crate) type RowsFn = unsafe fn(&RowsJob);

impl RowsJob {
    /// The same rows, as one where nothing stands between their elements.
    #[inline(always)]
    fn merged<A: Accumulate, const NOTE: usize>(&self) -> Self {
        let row = self.elements * size_of::<A::Item>();
        if NOTE == 0 && self.step == row as isize {
            return RowsJob { n: 1, elements: self.n * self.elements, ..*self };
        }
        *self
    }

    /// The record and the row of number `i`.
    #[inline(always)]
    fn ends<A: Accumulate, const NOTE: usize>(&self, i: usize) -> (*mut u8, *mut u8) {
        let record = record(size_of::<A::Sum>(), NOTE, self.elements);
        (self.records.wrapping_add(i * record), self.destination.wrapping_offset(self.step.wrapping_mul(i as isize)))
    }
}

/// Elements that begin, end or are added together: as many as a line has, of sums or of elements.
pub(super) const fn columns<A: Accumulate>(bytes: usize) -> usize {
    let (item, sum) = (size_of::<A::Item>(), size_of::<A::Sum>());
    bytes / if item > sum { item } else { sum }
}

/// Bytes of sums that begin or end together: more where rows are merged.
const fn chunk<const NOTE: usize>() -> usize {
    if NOTE == 0 { LINE } else { SCALAR_CHUNK }
}

/// Runs a body for `N` columns at a time, then for half as many, and so on: `$n` is a constant in it, and `$at` the
/// first of them.
macro_rules! by_columns {
    ($columns:expr, $elements:expr, |$n:ident, $at:ident| $body:expr) => {{
        let (elements, mut $at) = ($elements, 0usize);
        by_columns!(elements, $at, $n, $columns, $body, 64 32 16 8 4 1);
        debug_assert_eq!($at, elements);
    }};
    ($elements:ident, $at:ident, $n:ident, $columns:expr, $body:expr, $($number:literal)*) => {$(
        if const { $number == 1 || $columns >= $number } {
            while $elements - $at >= $number {
                const $n: usize = $number;
                $body;
                $at += $number;
            }
        }
    )*};
}
pub(super) use by_columns;

/// `N` values from `column` on, at any alignment.
#[inline(always)]
pub(super) fn at<T: Copy, const N: usize>(first: *const u8, column: usize) -> *mut [Unaligned<T>; N] {
    first.cast::<Unaligned<T>>().wrapping_add(column).cast_mut().cast()
}

/// Runs a body for a job of rows, whose elements are a constant in it where they are few.
macro_rules! by_elements {
    ($job:ident, $body:block) => { by_elements!($job, $body, 1 2 3 4) };
    ($job:ident, $body:block, $($elements:literal)*) => {
        match $job.elements {
            $($elements => {
                let $job = RowsJob { elements: $elements, ..$job };
                $body
            })*
            _ => $body,
        }
    };
}

/// # Safety
/// As for [`RowsFn`], for the reduction.
unsafe fn begin<A: Accumulate, const NOTE: usize>(job: &RowsJob) {
    let job = job.merged::<A, NOTE>();
    by_elements!(job, {
        for i in 0..job.n {
            let (record, row) = job.ends::<A, NOTE>(i);
            by_columns!(columns::<A>(chunk::<NOTE>()), job.elements, |WIDTH, column| {
                let sums = at::<A::Sum, WIDTH>(record, column);
                if job.include_self {
                    // SAFETY: A1.
                    let kept = unsafe { at::<A::Item, WIDTH>(row, column).read() };
                    // SAFETY: A1: sums of the record.
                    unsafe { write_each(sums, |k| A::widen(kept[k].0)) };
                } else if let Some(identity) = A::IDENTITY {
                    // SAFETY: as above.
                    unsafe { write_each(sums, |_| identity) };
                }
            });
            // SAFETY: A1: the note of the record.
            unsafe { write_note::<NOTE>(note_of::<A>(record, job.elements), u32::from(job.include_self) * KEPT) };
        }
    })
}

/// # Safety
/// As for [`RowsFn`], for the reduction; the records have begun.
unsafe fn end<A: Accumulate, const NOTE: usize>(job: &RowsJob) {
    let job = job.merged::<A, NOTE>();
    let least = u32::from(job.include_self);
    by_elements!(job, {
        for i in 0..job.n {
            let (record, row) = job.ends::<A, NOTE>(i);
            // SAFETY: A1: the note of the record.
            let note = unsafe { read_note::<NOTE>(note_of::<A>(record, job.elements)) };
            if NOTE > 0 && note <= least {
                continue;
            }
            by_columns!(columns::<A>(chunk::<NOTE>()), job.elements, |WIDTH, column| {
                // SAFETY: A1: sums of the record, which has begun.
                let sums = unsafe { at::<A::Sum, WIDTH>(record, column).read() };
                let row = at::<A::Item, WIDTH>(row, column);
                if NOTE > 0 {
                    // SAFETY: A1.
                    unsafe { write_each(row, |k| A::end(sums[k].0, note as usize)) };
                } else {
                    // SAFETY: A1.
                    let kept = unsafe { row.read() };
                    let ended = |kept, sum| if A::differs(kept, sum) { A::end(sum, 1) } else { kept };
                    // SAFETY: A1.
                    unsafe { write_each(row, |k| ended(kept[k].0, sums[k].0)) };
                }
            });
        }
    })
}

/// Where the note of a record is.
#[inline(always)]
fn note_of<A: Accumulate>(record: *mut u8, elements: usize) -> *mut u8 {
    record.wrapping_add(elements * size_of::<A::Sum>())
}

/// Reduces a row of the given number of elements into its record, `BYTES` bytes of sums at a time.
struct Noted<A, const NOTE: usize, const BYTES: usize>(usize, PhantomData<A>);

impl<A: Accumulate, const NOTE: usize, const BYTES: usize> TakeRow for Noted<A, NOTE, BYTES> {
    #[inline(always)]
    unsafe fn take(&self, from: *const u8, to: *mut u8) {
        let note_at = note_of::<A>(to, self.0);
        // SAFETY: S2 for the record.
        let note = unsafe { read_note::<NOTE>(note_at) };
        // Sums of a row that has not begun are nothing to be read.
        let fresh = A::IDENTITY.is_none() && note == 0;
        // Loops over four sums of 16 bytes would be unrolled, beyond what registers hold.
        by_columns!(columns::<A>(if size_of::<A::Sum>() > 8 { BYTES / 2 } else { BYTES }), self.0, |WIDTH, column| {
            // SAFETY: S1.
            let new = unsafe { at::<A::Item, WIDTH>(from, column).read() };
            let sums = at::<A::Sum, WIDTH>(to, column);
            if fresh {
                // SAFETY: S2 for the record.
                unsafe { write_each(sums, |k| A::begin(A::widen(new[k].0))) };
            } else {
                // SAFETY: as above; the record has begun.
                let kept = unsafe { sums.read() };
                // SAFETY: as above.
                unsafe { write_each(sums, |k| A::plus(kept[k].0, A::widen(new[k].0))) };
            }
        });
        // SAFETY: S2 for the record.
        unsafe { write_note::<NOTE>(note_at, next_note::<NOTE>(note)) };
    }
}

impl<A: Accumulate, const NOTE: usize, const BYTES: usize> TakeFew for Noted<A, NOTE, BYTES> {
    const BYTES: usize = size_of::<A::Item>();

    #[inline(always)]
    fn of(elements: usize) -> Self {
        Noted(elements, PhantomData)
    }
}

/// # Safety
/// As for [`ReduceFn`], for records of the reduction.
unsafe fn take_scalar<A: Accumulate, const NOTE: usize>(&ReduceJob { rows, row }: &ReduceJob<'_>) {
    debug_assert_eq!(row.bytes, row.elements * size_of::<A::Item>(), "S3");
    if row.elements == 1 {
        // SAFETY: the caller's promise.
        return unsafe { each(rows, &Noted::<A, NOTE, 1>(1, PhantomData)) };
    }
    // SAFETY: as above.
    unsafe { each(rows, &Noted::<A, NOTE, SCALAR_CHUNK>(row.elements, PhantomData)) }
}

/// Reduces rows of a few elements into records by indices of a size.
fn choose<A: Accumulate, const NOTE: usize>(index: usize, elements: usize) -> Option<&'static IndexedFns> {
    macro_rules! fixed {
        ($($elements:literal)*) => {
            match (index, elements) {
                $((4, $elements) => Some(const { &by_index::<A, Exact<4>, NOTE, $elements>() }),
                (8, $elements) => Some(const { &by_index::<A, Exact<8>, NOTE, $elements>() }),)*
                _ => None,
            }
        };
    }
    fixed!(1 2 3 4)
}

/// Elements of the rows that are reduced by their indices.
pub(crate) const FEW_ELEMENTS: usize = 4;
/// Elements that are widened at a time.
const WIDENED: usize = 64;

const fn by_index<A: Accumulate, R: ReadIndex, const NOTE: usize, const ELEMENTS: usize>() -> IndexedFns {
    let (quick, bytes) = (quick::<A, R, NOTE, ELEMENTS>, ELEMENTS * size_of::<A::Item>());
    let row = Row { elements: ELEMENTS, bytes, destination_bytes: record(size_of::<A::Sum>(), NOTE, ELEMENTS) };
    let (rows, strided) = (take_scalar::<A, NOTE>, strided::<Noted<A, NOTE, 1>>);
    IndexedFns { quick, packed: quick, rows, strided, row, step: bytes as isize, any_steps: false }
}

/// # Safety
/// As for [`QuickFn`](super::by_index::QuickFn), for records of the reduction, rows of `ELEMENTS` elements and indices
/// of a size of `R`.
unsafe fn quick<A: Accumulate, R: ReadIndex, const NOTE: usize, const ELEMENTS: usize>(job: &IndexedJob) -> usize {
    if !A::WIDENS || job.n < GROUP {
        // SAFETY: the caller's promise.
        return unsafe { by_index::quick::<Noted<A, NOTE, SCALAR_CHUNK>, R, CONTIGUOUS, ELEMENTS>(job) };
    }
    for plane in 0..job.outer.n {
        // SAFETY: the caller's promise, for an inner loop.
        let done = unsafe { widened::<A, R, NOTE, ELEMENTS>(&job.after(plane).first(1)) };
        if done < job.n {
            return plane * job.n + done;
        }
    }
    job.outer.n * job.n
}

/// As [`quick`] for one inner loop, with some updates widened at a time.
///
/// # Safety
/// As for [`quick`].
unsafe fn widened<A: Accumulate, R: ReadIndex, const NOTE: usize, const ELEMENTS: usize>(job: &IndexedJob) -> usize {
    let bytes = ELEMENTS * size_of::<A::Sum>();
    let (mut done, row) = (0, Noted::<Widened<A>, NOTE, SCALAR_CHUNK>(ELEMENTS, PhantomData));
    while done < job.n {
        let n = (job.n - done).min(WIDENED / ELEMENTS);
        let first = job.updates.wrapping_add(done * ELEMENTS * size_of::<A::Item>());
        prefetch(first.wrapping_add(STREAM_AHEAD), n * ELEMENTS * size_of::<A::Item>());
        // SAFETY: S1 and S4: the updates of `n` rows, at any alignment.
        let updates = unsafe { core::slice::from_raw_parts(first.cast::<Unaligned<A::Item>>(), n * ELEMENTS) };
        let mut room = [A::widen(updates[0].0); WIDENED];
        A::widen_all(updates, &mut room[..updates.len()]);
        let updates = room.as_ptr().cast();
        let these = IndexedJob { n, updates, updates_step: bytes as isize, ..job.rest(done) };
        // SAFETY: the caller's promise, for some of the rows, whose updates have been widened.
        let taken = unsafe { elements::<R, CONTIGUOUS>(&these, bytes, &row) };
        done += taken;
        if taken < n {
            break;
        }
    }
    done
}

/// Reduces updates that have been widened.
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

/// # Safety
/// As for [`ReduceFn`], for records of the reduction; K7: the machine has AVX2.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
unsafe fn take_avx2<A: Accumulate, const NOTE: usize>(job: &ReduceJob<'_>) {
    let &ReduceJob { rows, row } = job;
    if row.elements == 1 {
        // SAFETY: the caller's promise. AVX2 does no better by single elements.
        return unsafe { take_scalar::<A, NOTE>(job) };
    }
    debug_assert_eq!(row.bytes, row.elements * size_of::<A::Item>(), "S3");
    // SAFETY: the caller's promise.
    unsafe { each(rows, &Noted::<A, NOTE, LINE>(row.elements, PhantomData)) }
}
