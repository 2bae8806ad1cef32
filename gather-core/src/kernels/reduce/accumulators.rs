//! Reductions whose intermediate results lie beside the destination, and reductions of updates sorted by destination.
//!
//! A scatter with accumulators is a scatter into a buffer of *records*, one for each row of the destination:
//!
//! ```text
//! begin:  record = the row of the destination, widened; or zeros, where it does not count
//! take:   record (op)= a row of updates                       (in their order)
//! end:    the row of the destination = the record, rounded or divided, if an update has met it
//! ```
//!
//! A record is a sum for each element and a *note*: how many updates have met the row, or whether one has. Where sums
//! begin with the destination, what no update has met is what it was, and a record of halves needs no note.
//!
//! Sorted updates need no records: those of one destination follow one another, and are reduced a vector of columns at
//! a time, in registers.
//!
//! # The contract
//!
//! - **A1** A job of rows ([`RowsJob`]) has `n` records side by side, which nothing else uses meanwhile. The rows of the
//!   destination are `step` bytes apart, reach `elements` elements each that may be read and written, at any alignment,
//!   and hold values of the type, or it takes any bytes. To end, every record has begun.
//! - **A2** A sorted job ([`SortedJob`]) has for each entry a row of updates as in S1, and a row of the destination as
//!   in S2, at the distances from `updates` and `destination` that the entry says.
//! - K7 holds too. For `take` the contract of a scatter holds, with records for the destination.

use core::hint::select_unpredictable;
use core::marker::PhantomData;
use core::mem::MaybeUninit;

use crate::kernels::by_level::{ByLevel, by_level};
use crate::kernels::moves::prefetch::{LINE, prefetch};
use crate::kernels::reduce::by_index::{ByIndexFn, by_index};
use crate::kernels::reduce::entries::SortedRows;
use crate::kernels::reduce::rows::{ReduceFn, ReduceJob, TakeRow, Unaligned, each, each_short};
use crate::kernels::reduce::step::Accumulate;

/// The functions of a reduction with accumulators.
#[derive(Clone, Copy)]
pub(crate) struct AccumulatorFns {
    /// Reduces rows of updates into records.
    pub(crate) take: ByLevel<ReduceFn>,
    /// The same for records of one sum, by indices of a size, as long as these are positions.
    pub(crate) by_index: fn(index: usize) -> Option<ByIndexFn>,
    /// Makes records of rows of the destination.
    pub(crate) begin: ByLevel<RowsFn>,
    /// Makes rows of the destination of records that updates have met.
    pub(crate) end: ByLevel<RowsFn>,
    /// Bytes of a sum, and of a note.
    sum: usize,
    note: usize,
}

impl AccumulatorFns {
    /// Bytes of a record of so many sums.
    pub(crate) const fn record(&self, elements: usize) -> usize {
        record(self.sum, self.note, elements)
    }
}

/// What reduces updates that are grouped by destination.
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
        GroupFns { noted: fns::<A, Count>(), begun: None, sorted: by_level!(sorted_scalar::<A>, sorted_avx2::<A>) }
    }

    /// The functions of a reduction that does not ask how many updates there were.
    pub(super) const fn plain<A: Accumulate>() -> Self {
        GroupFns { noted: fns::<A, Met>(), ..Self::counting::<A>() }
    }

    /// As [`GroupFns::plain`], of which elements that no update has met are told from others by their sums.
    #[cfg(feature = "half")]
    pub(super) const fn rounded<A: Accumulate>() -> Self {
        GroupFns { begun: Some(fns::<A, Unnoted>()), ..Self::plain::<A>() }
    }

    /// The functions with accumulators.
    pub(crate) fn accumulators(&self, include_self: bool) -> &AccumulatorFns {
        self.begun.as_ref().filter(|_| include_self).unwrap_or(&self.noted)
    }
}

const fn fns<A: Accumulate, N: Note>() -> AccumulatorFns {
    AccumulatorFns {
        take: by_level!(take_scalar::<A, N>, take_avx2::<A, N>),
        by_index: choose::<A, N>,
        begin: by_level!(begin_scalar::<A, N>, begin_avx2::<A, N>),
        end: by_level!(end_scalar::<A, N>, end_avx2::<A, N>),
        sum: size_of::<A::Sum>(),
        note: N::BYTES,
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

/// What a record says about the updates that have met its row: a number, which is 0 where the row has not begun.
trait Note: 'static {
    /// Bytes of it.
    const BYTES: usize;

    /// The note that an update leaves.
    fn next(note: u32) -> u32;

    /// Reads a note.
    ///
    /// # Safety
    /// As many bytes may be read, at any alignment, and are a note.
    unsafe fn read(at: *const u8) -> u32;

    /// Writes a note.
    ///
    /// # Safety
    /// As many bytes may be written, at any alignment.
    unsafe fn write(at: *mut u8, note: u32);
}

/// The note of a row that has begun with the destination.
const KEPT: u32 = 1;

/// How many updates have met the row, and the destination if that counts.
enum Count {}

impl Note for Count {
    const BYTES: usize = 4;

    #[inline(always)]
    fn next(note: u32) -> u32 {
        note + 1
    }

    #[inline(always)]
    unsafe fn read(at: *const u8) -> u32 {
        // SAFETY: the caller's promise.
        unsafe { at.cast::<u32>().read_unaligned() }
    }

    #[inline(always)]
    unsafe fn write(at: *mut u8, note: u32) {
        // SAFETY: the caller's promise.
        unsafe { at.cast::<u32>().write_unaligned(note) }
    }
}

/// Whether an update has met the row.
enum Met {}

impl Note for Met {
    const BYTES: usize = 1;

    #[inline(always)]
    fn next(note: u32) -> u32 {
        note | 2
    }

    #[inline(always)]
    unsafe fn read(at: *const u8) -> u32 {
        // SAFETY: the caller's promise.
        u32::from(unsafe { at.read() })
    }

    #[inline(always)]
    unsafe fn write(at: *mut u8, note: u32) {
        // SAFETY: the caller's promise.
        unsafe { at.write(note as u8) }
    }
}

/// Nothing: every row has begun.
#[cfg(feature = "half")]
enum Unnoted {}

#[cfg(feature = "half")]
impl Note for Unnoted {
    const BYTES: usize = 0;

    #[inline(always)]
    fn next(note: u32) -> u32 {
        note
    }

    #[inline(always)]
    unsafe fn read(_: *const u8) -> u32 {
        KEPT
    }

    #[inline(always)]
    unsafe fn write(_: *mut u8, _: u32) {}
}

/// Records that lie side by side, and the rows of the destination that they stand for.
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
    fn merged<A: Accumulate, N: Note>(&self) -> Self {
        let row = self.elements * size_of::<A::Item>();
        if N::BYTES == 0 && self.step == row as isize {
            return RowsJob { n: 1, elements: self.n * self.elements, ..*self };
        }
        *self
    }

    /// The record and the row of number `i`.
    #[inline(always)]
    fn ends<A: Accumulate, N: Note>(&self, i: usize) -> (*mut u8, *mut u8) {
        let record = record(size_of::<A::Sum>(), N::BYTES, self.elements);
        (self.records.wrapping_add(i * record), self.destination.wrapping_offset(self.step.wrapping_mul(i as isize)))
    }
}

/// Elements that begin, end or are added together: as many as a line has, of sums or of elements.
const fn columns<A: Accumulate>(bytes: usize) -> usize {
    let (item, sum) = (size_of::<A::Item>(), size_of::<A::Sum>());
    bytes / if item > sum { item } else { sum }
}

/// Runs a body for `N` columns at a time, then for half as many, and so on: `$n` is a constant in it, and `$at` the
/// first of them.
macro_rules! by_columns {
    ($columns:expr, $elements:expr, |$n:ident, $at:ident| $body:expr) => {{
        let (elements, mut $at) = ($elements, 0usize);
        by_columns!(@loops elements, $at, $n, $columns, $body, 64 32 16);
        by_columns!(@last elements, $at, $n, $columns, $body, 8);
        by_columns!(@last elements, $at, $n, $columns, $body, 4);
        while $at < elements {
            const $n: usize = 1;
            $body;
            $at += 1;
        }
    }};
    (@loops $elements:ident, $at:ident, $n:ident, $columns:expr, $body:expr, $($number:literal)*) => {$(
        if const { $columns == $number } {
            while $elements - $at >= $number {
                const $n: usize = $number;
                $body;
                $at += $number;
            }
        }
    )*};
    (@last $elements:ident, $at:ident, $n:ident, $columns:expr, $body:expr, $number:literal) => {
        if const { $columns >= $number } {
            while $elements - $at >= $number {
                const $n: usize = $number;
                $body;
                $at += $number;
            }
        }
    };
}

/// `N` values from `column` on, at any alignment.
#[inline(always)]
fn at<T: Copy, const N: usize>(first: *const u8, column: usize) -> *mut [Unaligned<T>; N] {
    first.cast::<Unaligned<T>>().wrapping_add(column).cast_mut().cast()
}

/// Writes each of `N` values.
///
/// # Safety
/// They may be written, at any alignment.
#[inline(always)]
unsafe fn write_each<T: Copy, const N: usize>(to: *mut [Unaligned<T>; N], value: impl Fn(usize) -> T) {
    for k in 0..N {
        // SAFETY: the caller's promise.
        unsafe { to.cast::<Unaligned<T>>().wrapping_add(k).write(Unaligned(value(k))) };
    }
}

/// # Safety
/// As for [`RowsFn`].
#[inline(always)]
unsafe fn begin<A: Accumulate, N: Note, const BYTES: usize>(job: &RowsJob) {
    let job = job.merged::<A, N>();
    for i in 0..job.n {
        let (record, row) = job.ends::<A, N>(i);
        by_columns!(columns::<A>(BYTES), job.elements, |WIDTH, column| {
            // SAFETY: A1.
            let kept = unsafe { at::<A::Item, WIDTH>(row, column).read() };
            // SAFETY: A1: sums of the record.
            unsafe { write_each(at::<A::Sum, WIDTH>(record, column), |k| A::widen(kept[k].0)) };
        });
        // SAFETY: A1: the note of the record.
        unsafe { N::write(note_of::<A>(record, job.elements), KEPT) };
    }
}

/// # Safety
/// As for [`RowsFn`]; the records have begun.
#[inline(always)]
unsafe fn end<A: Accumulate, N: Note, const BYTES: usize>(job: &RowsJob) {
    let job = job.merged::<A, N>();
    let least = u32::from(job.include_self);
    for i in 0..job.n {
        let (record, row) = job.ends::<A, N>(i);
        // SAFETY: A1: the note of the record.
        let note = unsafe { N::read(note_of::<A>(record, job.elements)) };
        if N::BYTES > 0 && note <= least {
            continue;
        }
        by_columns!(columns::<A>(BYTES), job.elements, |WIDTH, column| {
            // SAFETY: A1: sums of the record, which has begun.
            let sums = unsafe { at::<A::Sum, WIDTH>(record, column).read() };
            let row = at::<A::Item, WIDTH>(row, column);
            if N::BYTES > 0 {
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
}

/// Where the note of a record is.
#[inline(always)]
fn note_of<A: Accumulate>(record: *mut u8, elements: usize) -> *mut u8 {
    record.wrapping_add(elements * size_of::<A::Sum>())
}

/// Reduces a row of so many elements into its record, `BYTES` bytes of sums at a time.
struct Noted<A, N, const BYTES: usize>(usize, PhantomData<(A, N)>);

impl<A: Accumulate, N: Note, const BYTES: usize> TakeRow for Noted<A, N, BYTES> {
    #[inline(always)]
    unsafe fn take(&self, from: *const u8, to: *mut u8) {
        let note_at = note_of::<A>(to, self.0);
        // SAFETY: S2 for the record.
        let note = unsafe { N::read(note_at) };
        let fresh = note == 0;
        by_columns!(columns::<A>(BYTES), self.0, |WIDTH, column| {
            // SAFETY: S1.
            let new = unsafe { at::<A::Item, WIDTH>(from, column).read() };
            let sums = at::<A::Sum, WIDTH>(to, column);
            // SAFETY: S2 for the record.
            let kept = unsafe { sums.read() };
            // Which rows have begun is not to be predicted. Longer rows are worth a branch.
            let sum = |kept, new| match WIDTH {
                _ if A::FROM_ZERO => A::add(kept, new),
                1 => select_unpredictable(fresh, A::first(new), A::add(kept, new)),
                _ if fresh => A::first(new),
                _ => A::add(kept, new),
            };
            // SAFETY: S2 for the record.
            unsafe { write_each(sums, |k| sum(kept[k].0, new[k].0)) };
        });
        // SAFETY: S2 for the record.
        unsafe { N::write(note_at, N::next(note)) };
    }
}

/// # Safety
/// As for [`ReduceFn`], for records of the reduction.
#[inline(always)]
unsafe fn take_rows<A: Accumulate, N: Note, const BYTES: usize>(job: &ReduceJob<'_>) {
    let record = record(size_of::<A::Sum>(), N::BYTES, job.elements);
    // SAFETY: the caller's promise.
    unsafe { each(job, record, &Noted::<A, N, BYTES>(job.elements, PhantomData)) }
}

/// Elements of a row up to which there is a loop for each number of them.
const SHORT: usize = 4;

/// # Safety
/// As for [`ReduceFn`], for records of the reduction.
unsafe fn take_scalar<A: Accumulate, N: Note>(job: &ReduceJob<'_>) {
    debug_assert_eq!(job.these.rows.row, job.elements * size_of::<A::Item>(), "S3");
    macro_rules! fixed {
        ($($elements:literal)*) => {
            match job.elements {
                $($elements => {
                    let record = const { record(size_of::<A::Sum>(), N::BYTES, $elements) };
                    let row = Noted::<A, N, 1>($elements, PhantomData);
                    // SAFETY: the caller's promise.
                    if unsafe { each_short(job, $elements * size_of::<A::Item>(), record, &row) } {
                        return;
                    }
                })*
                _ => {}
            }
        };
    }
    fixed!(1 2 3 4);
    // SAFETY: the caller's promise.
    unsafe { take_rows::<A, N, LINE>(job) }
}

/// What reduces updates into records of one sum by indices of a size.
fn choose<A: Accumulate, N: Note>(index: usize) -> Option<ByIndexFn> {
    match index {
        4 => Some(by_index_of::<A, N, 4>),
        8 => Some(by_index_of::<A, N, 8>),
        _ => None,
    }
}

/// # Safety
/// As for [`ByIndexFn`], for records of the reduction and indices of `INDEX` bytes.
unsafe fn by_index_of<A: Accumulate, N: Note, const INDEX: usize>(job: &super::IndexedJob) -> usize {
    let one = const { record(size_of::<A::Sum>(), N::BYTES, 1) };
    // SAFETY: the caller's promise.
    unsafe { by_index::<INDEX>(job, size_of::<A::Item>(), one, &Noted::<A, N, 1>(1, PhantomData)) }
}

/// Updates in the order of their destinations.
pub(crate) struct SortedJob<'a> {
    pub(crate) entries: SortedRows<'a>,
    pub(crate) updates: *const u8,
    pub(crate) destination: *mut u8,
    pub(crate) elements: usize,
    pub(crate) include_self: bool,
}

/// Reduces sorted updates into their destinations.
///
/// # Safety
/// A2 and K7.
pub(crate) type SortedFn = unsafe fn(&SortedJob<'_>);

/// Entries by which rows are asked for ahead.
const AHEAD: usize = 16;

/// # Safety
/// As for [`SortedFn`], for the type of the reduction.
#[inline(always)]
unsafe fn sorted<A: Accumulate, const BYTES: usize>(job: &SortedJob<'_>) {
    let (mut first, n) = (0, job.entries.len());
    let from = |k: usize| job.updates.wrapping_add(job.entries.from(k));
    while first < n {
        let to = job.entries.to(first);
        let mut end = first;
        while end < n && job.entries.to(end) == to {
            if end + AHEAD < n {
                prefetch(from(end + AHEAD), 1);
            }
            end += 1;
        }
        let to = job.destination.wrapping_add(to);
        let count = end - first + usize::from(job.include_self);
        by_columns!(columns::<A>(BYTES), job.elements, |WIDTH, column| {
            // SAFETY: A2 for these entries, of which there is one or more.
            unsafe { reduce_group::<A, WIDTH>(job, first..end, at(to, column), column, count) }
        });
        first = end;
    }
}

/// Reduces `N` columns of the rows of one destination.
///
/// # Safety
/// As for [`sorted`], for entries of one destination, of which there is one or more.
#[inline(always)]
unsafe fn reduce_group<A: Accumulate, const N: usize>(
    job: &SortedJob<'_>,
    entries: core::ops::Range<usize>,
    to: *mut [Unaligned<A::Item>; N],
    column: usize,
    count: usize,
) {
    let row = |k: usize| at::<A::Item, N>(job.updates.wrapping_add(job.entries.from(k)), column);
    let mut next = entries.start;
    // SAFETY: A2.
    let first = if job.include_self { unsafe { to.read() } } else { unsafe { row(next).read() } };
    let mut sums = [const { MaybeUninit::<A::Sum>::uninit() }; N];
    for k in 0..N {
        sums[k].write(if job.include_self { A::widen(first[k].0) } else { A::first(first[k].0) });
    }
    next += usize::from(!job.include_self);
    for entry in next..entries.end {
        // SAFETY: A2.
        let new = unsafe { row(entry).read() };
        for k in 0..N {
            // SAFETY: written above.
            let sum = unsafe { sums[k].assume_init() };
            sums[k].write(A::add(sum, new[k].0));
        }
    }
    // SAFETY: written above.
    let ended = |k: usize| A::end(unsafe { sums[k].assume_init() }, count);
    // SAFETY: A2.
    unsafe { write_each(to, ended) };
}

/// The functions of a level.
macro_rules! at_levels {
    ($($how:ident: $scalar:ident, $avx2:ident, <$($generic:ident: $bound:ident),*>, $job:ty;)*) => {$(
        /// # Safety
        /// As for the type of the function.
        unsafe fn $scalar<$($generic: $bound),*>(job: &$job) {
            // SAFETY: the caller's promise.
            unsafe { $how::<$($generic,)* LINE>(job) }
        }

        /// # Safety
        /// As for the type of the function; K7: the machine has AVX2.
        #[cfg(target_arch = "x86_64")]
        #[target_feature(enable = "avx2")]
        unsafe fn $avx2<$($generic: $bound),*>(job: &$job) {
            // SAFETY: the caller's promise.
            unsafe { $how::<$($generic,)* LINE>(job) }
        }
    )*};
}
at_levels! {
    begin: begin_scalar, begin_avx2, <A: Accumulate, N: Note>, RowsJob;
    end: end_scalar, end_avx2, <A: Accumulate, N: Note>, RowsJob;
    sorted: sorted_scalar, sorted_avx2, <A: Accumulate>, SortedJob<'_>;
}

/// # Safety
/// As for [`ReduceFn`], for records of the reduction; K7: the machine has AVX2.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
unsafe fn take_avx2<A: Accumulate, N: Note>(job: &ReduceJob<'_>) {
    if job.elements <= SHORT {
        // SAFETY: the caller's promise. AVX2 does no better by so few elements.
        return unsafe { take_scalar::<A, N>(job) };
    }
    debug_assert_eq!(job.these.rows.row, job.elements * size_of::<A::Item>(), "S3");
    // SAFETY: the caller's promise.
    unsafe { take_rows::<A, N, LINE>(job) }
}
