//! Sums in memory: for any reduction, in little code.
//!
//! ```text
//! for each panel of columns, as wide as there is room for sums of:
//!     for each bag, and each batch of its rows that count:        (`reduce_bags`, for all types)
//!         sums = the first row
//!         for each other row, in order: sums (op)= the row        (`reduce_rows`, for each reduction, type and level)
//!         out = sums, rounded or divided
//! ```
//!
//! A row is taken vector by vector. The last one ends with the last column. So it may share columns with the one before
//! it, which then are summed up twice, each in a place of its own, and no columns are left for shorter vectors. Columns
//! that are fewer than a vector has are left to the scalar level, and there taken one by one.

use core::marker::PhantomData;
use core::mem::MaybeUninit;
use core::ops::Range;

use crate::kernels::args::start_of_part;
use crate::kernels::by_level::{ByLevel, by_level};
use crate::kernels::moves::prefetch::prefetch_row;
use crate::kernels::reduce::bag::step::Step;
use crate::kernels::reduce::bag::{BagRows, Begin, CompiledBagFn, LEFT_OUT};
use crate::kernels::reduce::scatter::rows::between_ends;
use crate::types::element::{Element, Unaligned};

/// Reduces a batch.
///
/// # Safety
/// The contract of [`Batch`], for the type of the reduction. K7.
type BatchFn = unsafe fn(&Batch<'_>);

/// Rows of one bag that follow one another.
///
/// - **M1** Every row may be read for `columns` elements, at any alignment, that are values of the type that is
///   reduced, or it takes any bytes; so may its weight for one, where rows are weighted.
/// - **M2** `sums` has room for the sums of all vectors of the columns, at any alignment, which nothing else uses until
///   the bag ends. Where the bag has begun before, the batch before has left its own there.
/// - **M3** Where the bag ends, `out` may be written for as many elements, which nothing else uses meanwhile.
/// - **M4** A bag that begins with its first row has one.
struct Batch<'a> {
    rows: &'a [Row],
    begin: Begin,
    columns: usize,
    sums: *mut u8,
    out: *mut u8,
    /// How many rows of the bag count, where it ends.
    count: Option<usize>,
}

/// A row that counts.
#[derive(Clone, Copy)]
struct Row {
    at: *const u8,
    weight: *const u8,
}

/// Bytes of sums for which there is room on the stack, unless one sum has more.
const ROOM: usize = 2 << 10;
/// Rows of a batch.
const ROWS: usize = 16;

/// The functions of a reduction.
pub(in crate::kernels::reduce) const fn fns<S: Step>() -> ByLevel<CompiledBagFn> {
    by_level!(scalar::<S>, avx2::<S>)
}

/// The scalar level of a reduction.
pub(in crate::kernels::reduce) fn scalar<S: Step>(bag: &BagRows<'_>) {
    // SAFETY: the caller's promise.
    unsafe { in_room::<S>(bag, batch_scalar::<S>, const { vector_of::<S>(SCALAR_VECTOR) }) }
}

/// The AVX2 level of a reduction.
#[cfg(target_arch = "x86_64")]
pub(in crate::kernels::reduce) fn avx2<S: Step>(bag: &BagRows<'_>) {
    // SAFETY: the caller's promise.
    unsafe { in_room::<S>(bag, batch_avx2::<S>, const { vector_of::<S>(VECTOR) }) }
}

/// Reduces rows by the function of a reduction at a level, with room for some sums, or one.
///
/// # Safety
/// As for [`BagFn`], for the type of the reduction.
#[inline(always)]
unsafe fn in_room<S: Step>(bag: &BagRows<'_>, reduce: BatchFn, vector: usize) {
    bag.debug_check(S::WEIGHTED);
    let by = By { reduce, item: size_of::<S::Item>(), sum: size_of::<S::Sum>(), vector };
    if size_of::<S::Sum>() <= ROOM {
        let mut room = [const { MaybeUninit::<u8>::uninit() }; ROOM];
        // SAFETY: the caller's promise, and room for as many sums.
        unsafe { by.reduce_bags(bag, room.as_mut_ptr().cast(), ROOM / size_of::<S::Sum>().max(1)) }
    } else {
        let mut room = MaybeUninit::<S::Sum>::uninit();
        // SAFETY: the caller's promise, and room for a sum.
        unsafe { by.reduce_bags(bag, room.as_mut_ptr().cast(), 1) }
    }
}

/// The function that batches are reduced by.
#[derive(Clone, Copy)]
struct By {
    reduce: BatchFn,
    /// Bytes of an element and of a sum.
    item: usize,
    sum: usize,
    /// Columns of a vector.
    vector: usize,
}

impl By {
    /// Reduces rows in panels of up to `most` columns, all of about as many.
    ///
    /// # Safety
    /// As for [`BagFn`], for the type of the reduction; there is room for `most` sums.
    #[inline(never)]
    unsafe fn reduce_bags(&self, bag: &BagRows<'_>, room: *mut u8, most: usize) {
        let vector = if bag.elements < self.vector { 1 } else { self.vector };
        let vectors = bag.elements.div_ceil(vector);
        let panels = vectors.div_ceil(most / vector);
        for i in 0..panels {
            // Where there are several panels, the last one too has whole vectors.
            let [first, end] = [i, i + 1].map(|part| start_of_part(vectors, part, panels));
            let columns = first * vector..(end * vector).min(bag.elements);
            let carried = bag.part.map_or(core::ptr::null_mut(), |part| part.carried);
            let sums = if carried.is_null() { room } else { carried.wrapping_add(columns.start * self.sum) };
            // SAFETY: the caller's promise, for columns that there are, which all panels make up; M2 by B4 where sums
            // are carried.
            unsafe { self.reduce_panel(bag, &columns, sums) };
        }
    }

    /// Reduces a panel.
    ///
    /// # Safety
    /// As for [`BagFn`], for the type of the reduction and columns that there are; M2 for all bags.
    unsafe fn reduce_panel(&self, bag: &BagRows<'_>, columns: &Range<usize>, sums: *mut u8) {
        let (start, bytes) = (columns.start * self.item, columns.len() * self.item);
        let ask = |position: i64| prefetch_row(bag.later_row(position).wrapping_add(start), bytes);
        let mut rows = [Row { at: core::ptr::null(), weight: core::ptr::null() }; ROWS];
        let (mut at, mut out) = (0, bag.out.wrapping_add(start));
        for number in 0..bag.bags.bags() {
            let (first, end) = (at, bag.bags.end(number));
            let (mut begin, mut n) = (bag.begin(), 0);
            // SAFETY: M1 by B1 and B3, M2 by the caller's promise, M3 by B2, M4 by B4: rows that do not count are left
            // out, so that the first batch has one.
            let reduce = |rows: &[Row], begin, count| unsafe {
                (self.reduce)(&Batch { rows, begin, columns: columns.len(), sums, out, count });
            };
            while at < end {
                if bag.distance > 0 {
                    ask(bag.positions[at + bag.distance]);
                }
                if bag.positions[at] != LEFT_OUT {
                    let row = bag.row(bag.positions[at]).wrapping_add(start);
                    rows[n] = Row { at: row, weight: bag.weight(at) };
                    n += 1;
                }
                at += 1;
                if n == ROWS {
                    reduce(&rows, begin, None);
                    (begin, n) = (Begin::Carried, 0);
                }
            }
            let count = bag.count(end - first);
            if n > 0 || count.is_some() {
                reduce(&rows[..n], begin, count);
            }
            out = out.wrapping_offset(bag.out_stride);
        }
    }
}

/// Bytes of a vector of AVX2.
#[cfg(target_arch = "x86_64")]
const VECTOR: usize = 32;
/// The same of the scalar level: half of it where there is another level.
const SCALAR_VECTOR: usize = if cfg!(target_arch = "x86_64") { 16 } else { 32 };

/// Columns of a vector of `bytes` bytes of elements, or of sums where these are longer; or one. So it is where rows are
/// widened, in loops over all columns.
const fn vector_of<S: Step>(bytes: usize) -> usize {
    if S::WIDENS {
        return 1;
    }
    let (item, sum) = (size_of::<S::Item>(), size_of::<S::Sum>());
    let longer = if item > sum { item } else { sum };
    if longer >= bytes { 1 } else { bytes / longer.next_power_of_two() }
}

/// The scalar level of a batch. It reduces columns that are fewer than a vector of AVX2 at that level, too.
///
/// # Safety
/// As for [`BatchFn`], for the type of the reduction.
unsafe fn batch_scalar<S: Step>(batch: &Batch<'_>) {
    if batch.columns < const { vector_of::<S>(SCALAR_VECTOR) } {
        // SAFETY: the caller's promise.
        return unsafe { Columns::<S, 1>::of(batch).reduce(batch) };
    }
    // SAFETY: the caller's promise, for a vector of columns or more.
    unsafe { reduce_vectors::<S, SCALAR_VECTOR>(batch) }
}

/// The AVX2 level of a batch.
///
/// # Safety
/// As for [`BatchFn`], for the type of the reduction; K7: the machine has AVX2.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
unsafe fn batch_avx2<S: Step>(batch: &Batch<'_>) {
    if batch.columns < const { vector_of::<S>(VECTOR) } {
        // SAFETY: the caller's promise. The scalar level has shorter vectors.
        return unsafe { batch_scalar::<S>(batch) };
    }
    // SAFETY: the caller's promise, for a vector of columns or more.
    unsafe { reduce_vectors::<S, VECTOR>(batch) }
}

/// Reduces a batch by vectors of `BYTES` bytes.
///
/// # Safety
/// As for [`BatchFn`], for the type of the reduction; there are as many columns as a vector has, or more.
#[inline(always)]
unsafe fn reduce_vectors<S: Step, const BYTES: usize>(batch: &Batch<'_>) {
    macro_rules! by_vectors {
        ($($vector:literal)*) => {
            match const { vector_of::<S>(BYTES) } {
                // SAFETY: the caller's promise.
                $($vector => unsafe { Columns::<S, $vector>::of(batch).reduce(batch) },)*
                _ => unreachable!("no such vector"),
            }
        };
    }
    by_vectors!(32 16 8 4 2 1)
}

/// Columns of a batch, `N` or more, in as many vectors of `N` as they need.
struct Columns<S: Step, const N: usize> {
    sums: *mut u8,
    n: usize,
    step: PhantomData<S>,
}

impl<S: Step, const N: usize> Columns<S, N> {
    #[inline(always)]
    fn of(batch: &Batch<'_>) -> Self {
        debug_assert!(batch.columns >= N);
        Columns { sums: batch.sums, n: batch.columns, step: PhantomData }
    }

    /// Reduces the batch of the columns.
    ///
    /// # Safety
    /// As for [`BatchFn`], for the type of the reduction.
    #[inline(always)]
    unsafe fn reduce(&self, batch: &Batch<'_>) {
        let mut rows = batch.rows;
        if const { S::WIDENS } {
            // SAFETY: the caller's promise; there is one sum for each column.
            return unsafe { self.reduce_widened(batch) };
        }
        match (batch.begin, rows) {
            (Begin::Row, [first, others @ ..]) => {
                // SAFETY: M1.
                let weight = unsafe { weight::<S>(first) };
                // SAFETY: M1, M2.
                unsafe { self.make(first.at, |new| S::first(new, weight)) };
                rows = others;
            }
            (Begin::Row, []) => unreachable!("M4: no row counts"),
            (Begin::Carried, _) => {}
        }
        for row in rows {
            // SAFETY: M1, M2: the sums have begun.
            unsafe { self.add(row) };
        }
        if let Some(count) = batch.count {
            // SAFETY: M2, M3: the sums have begun.
            unsafe { self.end(batch.out, count) };
        }
    }

    /// As [`Columns::reduce`], for rows that are widened first: some columns of each at a time, in loops over slices.
    ///
    /// # Safety
    /// As for [`Columns::reduce`]; a vector is one column.
    #[inline(always)]
    unsafe fn reduce_widened(&self, batch: &Batch<'_>) {
        debug_assert_eq!(N, 1, "as many sums as columns");
        let [mut room, mut other_room] = [[S::widen(S::Item::ZERO); WIDENED]; 2];
        for first in (0..self.n).step_by(WIDENED) {
            let n = WIDENED.min(self.n - first);
            let sums = self.sums.cast::<Unaligned<S::Sum>>().wrapping_add(first);
            // SAFETY: M2: room for the sums of these columns.
            let to = unsafe { core::slice::from_raw_parts_mut(sums.cast::<MaybeUninit<_>>(), n) };
            let mut rows = batch.rows;
            match (batch.begin, rows) {
                (Begin::Row, [row, others @ ..]) => {
                    // SAFETY: M1.
                    let weight = S::widen(unsafe { weight::<S>(row) });
                    // SAFETY: M1, for columns that there are.
                    let new = unsafe { widened::<S>(row.at, first, &mut room[..n]) };
                    for (to, new) in to.iter_mut().zip(new) {
                        to.write(Unaligned(S::begin(*new, weight)));
                    }
                    rows = others;
                }
                (Begin::Row, []) => unreachable!("M4: no row counts"),
                (Begin::Carried, _) => {}
            }
            // SAFETY: M2: the sums have begun, just now or in the batch before.
            let sums = unsafe { core::slice::from_raw_parts_mut(sums, n) };
            // Two rows at a time, so that sums are read and written half as often.
            let mut pairs = rows.chunks_exact(2);
            for pair in &mut pairs {
                // SAFETY: M1.
                let weights = [&pair[0], &pair[1]].map(|row| S::widen(unsafe { weight::<S>(row) }));
                // SAFETY: M1, for columns that there are.
                let new = unsafe { widened::<S>(pair[0].at, first, &mut room[..n]) };
                // SAFETY: as above.
                let other = unsafe { widened::<S>(pair[1].at, first, &mut other_room[..n]) };
                for ((sum, new), other) in sums.iter_mut().zip(new).zip(other) {
                    *sum = Unaligned(S::plus(S::plus(sum.0, *new, weights[0]), *other, weights[1]));
                }
            }
            for row in pairs.remainder() {
                // SAFETY: M1.
                let weight = S::widen(unsafe { weight::<S>(row) });
                // SAFETY: M1, for columns that there are.
                let new = unsafe { widened::<S>(row.at, first, &mut room[..n]) };
                for (sum, new) in sums.iter_mut().zip(new) {
                    *sum = Unaligned(S::plus(sum.0, *new, weight));
                }
            }
            let Some(count) = batch.count else { continue };
            let out = elements::<S, 1>(batch.out, first).cast_mut().cast::<MaybeUninit<Unaligned<S::Item>>>();
            // SAFETY: M3, for columns that there are.
            let out = unsafe { core::slice::from_raw_parts_mut(out, n) };
            for (out, sum) in out.iter_mut().zip(sums) {
                out.write(Unaligned(S::end(sum.0, count)));
            }
        }
    }

    /// The number of the first sum of each vector, and its first column.
    #[inline(always)]
    fn vectors(&self) -> impl Iterator<Item = (usize, usize)> + use<S, N> {
        let last = self.n - N;
        (0..self.n).step_by(N).map(move |at| (at, at.min(last)))
    }

    /// Where the sums of a vector are.
    #[inline(always)]
    fn sums(&self, at: usize) -> *mut [Unaligned<S::Sum>; N] {
        self.sums.cast::<Unaligned<S::Sum>>().wrapping_add(at).cast()
    }

    /// Makes sums of the elements from `from` on.
    ///
    /// # Safety
    /// M2; there are elements of all columns that may be read, at any alignment.
    #[inline(always)]
    unsafe fn make(&self, from: *const u8, sum: impl Fn(S::Item) -> S::Sum) {
        for (at, column) in self.vectors() {
            // SAFETY: the caller's promise.
            let new = unsafe { elements::<S, N>(from, column).read() };
            // SAFETY: M2.
            unsafe { write_each(self.sums(at), |k| sum(new[k].0)) };
        }
    }

    /// One row more.
    ///
    /// # Safety
    /// M1 for the row, M2; the sums have begun.
    #[inline(always)]
    unsafe fn add(&self, row: &Row) {
        // SAFETY: M1.
        let weight = unsafe { weight::<S>(row) };
        for (at, column) in self.vectors() {
            // SAFETY: M1.
            let new = unsafe { elements::<S, N>(row.at, column).read() };
            // SAFETY: M2, and the caller's promise.
            let mut sums = unsafe { self.sums(at).read() };
            for (sum, new) in sums.iter_mut().zip(&new) {
                *sum = Unaligned(S::add(sum.0, new.0, weight));
            }
            between_ends();
            // SAFETY: M2.
            unsafe { self.sums(at).write(sums) };
        }
    }

    /// Writes what sums become.
    ///
    /// # Safety
    /// M2, M3; the sums have begun.
    #[inline(always)]
    unsafe fn end(&self, out: *mut u8, count: usize) {
        for (at, column) in self.vectors() {
            // SAFETY: M2, and the caller's promise.
            let sums = unsafe { self.sums(at).read() };
            let out = elements::<S, N>(out, column).cast_mut();
            // SAFETY: M3.
            unsafe { write_each(out, |k| S::end(sums[k].0, count)) };
        }
    }
}

/// Columns that are widened at a time.
const WIDENED: usize = 64;

/// Widens the elements from column `first` on, as many as there is room for.
///
/// # Safety
/// There are elements of these columns that may be read, at any alignment.
#[inline(always)]
unsafe fn widened<S: Step>(from: *const u8, first: usize, room: &mut [S::Sum]) -> &[S::Sum] {
    let from = elements::<S, 1>(from, first).cast::<Unaligned<S::Item>>();
    // SAFETY: the caller's promise.
    S::widen_all(unsafe { core::slice::from_raw_parts(from, room.len()) }, room);
    room
}

/// The elements of a vector that begins with `column`.
#[inline(always)]
fn elements<S: Step, const N: usize>(first: *const u8, column: usize) -> *const [Unaligned<S::Item>; N] {
    first.cast::<Unaligned<S::Item>>().wrapping_add(column).cast()
}

/// Writes each of `N` values.
///
/// # Safety
/// They may be written, at any alignment.
#[inline(always)]
pub(in crate::kernels::reduce) unsafe fn write_each<T: Copy, const N: usize>(
    to: *mut [Unaligned<T>; N],
    value: impl Fn(usize) -> T,
) {
    for k in 0..N {
        // SAFETY: the caller's promise.
        unsafe { to.cast::<Unaligned<T>>().wrapping_add(k).write(Unaligned(value(k))) };
    }
}

/// The weight of a row.
///
/// # Safety
/// M1 for the row.
#[inline(always)]
unsafe fn weight<S: Step>(row: &Row) -> S::Item {
    if !S::WEIGHTED {
        return S::Item::ZERO;
    }
    // SAFETY: the caller's promise.
    unsafe { row.weight.cast::<S::Item>().read_unaligned() }
}
