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

use crate::kernels::by_level::{ByLevel, by_level};
use crate::kernels::level_fn::{LevelFn, Token, scalar};
use crate::kernels::nest::args::start_of_part;
use crate::kernels::prefetch::prefetch_row;
use crate::kernels::reduce::accumulate::{Accumulate, between_ends, weigh};
use crate::kernels::reduce::bag::batch::{Batch, BatchRow, PendingBatch};
use crate::kernels::reduce::bag::rows::{AddRows, Bag, BagRow, ReduceBags};
use crate::kernels::reduce::bag::{BagRows, CompiledBagFn, Start};
use crate::types::element::{Element, Unaligned};
use crate::types::level::Level;

/// Reduces a batch of the type of the function.
type BatchFn = for<'a> fn(&'a Batch<'a>);

/// Bytes of sums for which there is room on the stack, unless one sum has more.
const ROOM: usize = 2 << 10;
/// Rows of a batch.
const ROWS: usize = 16;

/// The functions of a reduction.
pub(in crate::kernels::reduce) const fn fns<A: Accumulate<Item: Element>, const WEIGHTED: bool>()
-> ByLevel<CompiledBagFn> {
    by_level!(fn InMemory<A, WEIGHTED>)
}

/// A reduction, by vectors as long as the level has them, with room for some sums, or one.
pub(in crate::kernels::reduce) struct InMemory<A, const WEIGHTED: bool>(PhantomData<A>);

impl<A: Accumulate<Item: Element>, const WEIGHTED: bool> LevelFn for InMemory<A, WEIGHTED> {
    type Args<'a> = &'a BagRows<'a>;
    type Output = ();

    #[inline(always)]
    fn call<Here: Token>(level: Here, bag: &BagRows<'_>) {
        bag.debug_check(WEIGHTED);
        let (item, sum) = (size_of::<A::Item>(), size_of::<A::Sum>());
        let by = ByStep {
            reduce: level.entry::<ReduceBatch<A, WEIGHTED>>(),
            item,
            sum,
            vector: const { vector_at::<Here, A>() },
        };
        if size_of::<A::Sum>() <= ROOM {
            let mut room = [const { MaybeUninit::<u8>::uninit() }; ROOM];
            let most = ROOM / size_of::<A::Sum>().max(1);
            by.reduce_bags(bag, SumsBuffer { sums: room.as_mut_ptr().cast(), most, of: PhantomData });
        } else {
            let mut room = MaybeUninit::<A::Sum>::uninit();
            by.reduce_bags(bag, SumsBuffer { sums: room.as_mut_ptr().cast(), most: 1, of: PhantomData });
        }
    }
}

/// Room for `most` sums of the type of a reduction.
#[derive(Clone, Copy)]
struct SumsBuffer<'a> {
    sums: *mut u8,
    most: usize,
    of: PhantomData<&'a mut u8>,
}

/// The function that batches are reduced by.
#[derive(Clone, Copy)]
struct ByStep {
    reduce: BatchFn,
    /// Bytes of an element and of a sum.
    item: usize,
    sum: usize,
    /// Columns of a vector.
    vector: usize,
}

impl ByStep {
    /// Reduces rows in panels of up to `room.most` columns, all of about the same number.
    #[inline(never)]
    fn reduce_bags(&self, bag: &BagRows<'_>, room: SumsBuffer<'_>) {
        let elements = bag.elements();
        let vector = if elements < self.vector { 1 } else { self.vector };
        let vectors = elements.div_ceil(vector);
        let panels = vectors.div_ceil(room.most / vector);
        for i in 0..panels {
            // Where there are several panels, the last one too has whole vectors.
            let [first, end] = [i, i + 1].map(|part| start_of_part(vectors, part, panels));
            debug_assert!((end - first) * vector <= room.most, "M2");
            self.reduce_panel(bag, &(first * vector..(end * vector).min(elements)), room);
        }
    }

    /// Reduces a panel, for whose vectors there is room.
    fn reduce_panel(&self, bag: &BagRows<'_>, columns: &Range<usize>, room: SumsBuffer<'_>) {
        let columns = bag.columns(columns, self.item, self.sum);
        let sums = if columns.carried().is_null() { room.sums } else { columns.carried() };
        let (rows, n) = ([BatchRow::NONE; ROWS], 0);
        let (out, begin, columns_of_rows) = (core::ptr::null_mut(), Start::Row, columns.columns());
        columns.reduce(&mut InBatches { by: *self, columns: columns_of_rows, sums, out, begin, rows, n });
    }
}

/// The batch of a bag that is filled.
struct InBatches {
    by: ByStep,
    columns: usize,
    /// Room for the sums of the panel, or those that are carried.
    sums: *mut u8,
    /// The output of the bag.
    out: *mut u8,
    begin: Start,
    /// The first `n` are rows of the bag.
    rows: [BatchRow; ROWS],
    n: usize,
}

impl InBatches {
    /// Reduces the batch, which ends the bag where `count` of its rows count.
    #[inline(always)]
    fn reduce(&mut self, count: Option<usize>) {
        let InBatches { by, columns, sums, out, begin, ref rows, n } = *self;
        // SAFETY: M1: rows of these columns, of the job that the function is given. M2: there is room for the vectors
        // of the panel, or by B4 for sums of its columns and `SPARE` more, where the batch before or the part before
        // has left its own. M3: the columns of this bag. M4 by B4: rows that do not count are left out, so that the
        // first batch has one.
        let batch = unsafe { Batch::new(&rows[..n], begin, columns, sums, out, count) };
        (by.reduce)(&batch);
        (self.begin, self.n) = (Start::Carried, 0);
    }
}

impl AddRows for InBatches {
    #[inline(always)]
    fn prefetch(&self, later: *const u8) {
        prefetch_row(later, self.columns * self.by.item);
    }

    #[inline(always)]
    fn add(&mut self, row: BagRow<'_>) {
        self.rows[self.n] = BatchRow::of(row);
        self.n += 1;
        if self.n == ROWS {
            self.reduce(None);
        }
    }
}

impl ReduceBags for InBatches {
    #[inline(always)]
    fn begin(&mut self, bag: &Bag<'_>) {
        (self.begin, self.n) = (bag.begin(), 0);
    }

    #[inline(always)]
    fn end(&mut self, bag: &mut Bag<'_>) {
        let count = bag.count();
        self.out = bag.output().start();
        if self.n > 0 || count.is_some() {
            self.reduce(count);
        }
    }
}

/// Bytes of a vector of AVX2.
const VECTOR: usize = 32;
/// The same of the scalar level: half of it where there is another level.
const SCALAR_VECTOR: usize = if cfg!(target_arch = "x86_64") { 16 } else { 32 };

/// Columns of a vector of `bytes` bytes of elements, or of sums where these are longer; or one. So it is where rows are
/// widened, in loops over all columns.
const fn vector_of<A: Accumulate>(bytes: usize) -> usize {
    if A::WIDENS {
        return 1;
    }
    let (item, sum) = (size_of::<A::Item>(), size_of::<A::Sum>());
    let longer = if item > sum { item } else { sum };
    if longer >= bytes { 1 } else { bytes / longer.next_power_of_two() }
}

/// Columns of a vector of a level.
const fn vector_at<Here: Token, A: Accumulate>() -> usize {
    vector_of::<A>(if matches!(Here::LEVEL, Level::Scalar) { SCALAR_VECTOR } else { VECTOR })
}

/// Reduces a batch, by vectors as long as the level has them. The scalar level reduces columns that are fewer, too.
struct ReduceBatch<A, const WEIGHTED: bool>(PhantomData<A>);

impl<A: Accumulate<Item: Element>, const WEIGHTED: bool> LevelFn for ReduceBatch<A, WEIGHTED> {
    type Args<'a> = &'a Batch<'a>;
    type Output = ();

    #[inline(always)]
    fn call<'a, Here: Token>(_: Here, batch: &'a Batch<'a>) {
        if batch.columns() < const { vector_at::<Here, A>() } {
            return if const { matches!(Here::LEVEL, Level::Scalar) } {
                reduce::<A, WEIGHTED, 1>(*batch);
            } else {
                scalar::<Self>(batch);
            };
        }
        macro_rules! by_vectors {
            ($($vector:literal)*) => {
                match const { vector_at::<Here, A>() } {
                    $($vector => reduce::<A, WEIGHTED, $vector>(*batch),)*
                    _ => unreachable!("no such vector"),
                }
            };
        }
        by_vectors!(32 16 8 4 2 1)
    }
}

/// Reduces a batch of `N` columns or more, in as many vectors of `N` as they need.
#[inline(always)]
fn reduce<A: Accumulate<Item: Element>, const WEIGHTED: bool, const N: usize>(mut batch: Batch<'_>) {
    debug_assert!(batch.columns() >= N);
    if const { A::WIDENS } {
        return reduce_widened::<A, WEIGHTED>(batch);
    }
    let (first, others) = batch.rows();
    if let Some(first) = first {
        make::<A, WEIGHTED, N>(&mut batch, first);
    }
    // SAFETY: all sums have begun, just now or in the batch before.
    let mut begun = unsafe { batch.begun() };
    for &row in others {
        add::<A, WEIGHTED, N>(&batch, &mut begun, row);
    }
    if let Some(count) = batch.count() {
        end::<A, N>(batch.columns(), &mut begun, count);
    }
}

/// Reduces rows that are widened first: some columns of each at a time, in loops over slices.
#[inline(always)]
fn reduce_widened<A: Accumulate<Item: Element>, const WEIGHTED: bool>(mut batch: Batch<'_>) {
    let [mut room, mut other_room] = [[A::widen(A::Item::ZERO); WIDENED]; 2];
    let columns = batch.columns();
    for first in (0..columns).step_by(WIDENED) {
        let n = WIDENED.min(columns - first);
        let (begins_with, rows) = batch.rows();
        if let Some(row) = begins_with {
            let weight = A::widen(weight::<A, WEIGHTED>(row));
            let new = widened::<A>(&batch, row, first, &mut room[..n]);
            for (to, new) in batch.sums::<A::Sum>(first, n).iter_mut().zip(new) {
                to.write(Unaligned(A::begin(weigh::<A, WEIGHTED>(*new, weight))));
            }
        }
        // SAFETY: the sums of these columns have begun, just now or in the batch before.
        let mut begun = unsafe { batch.begun() };
        let sums = begun.sums::<A::Sum>(first, n);
        // Two rows at a time, so that sums are read and written half as often.
        let mut pairs = rows.chunks_exact(2);
        for pair in &mut pairs {
            let weights = [pair[0], pair[1]].map(|row| A::widen(weight::<A, WEIGHTED>(row)));
            let new = widened::<A>(&batch, pair[0], first, &mut room[..n]);
            let other = widened::<A>(&batch, pair[1], first, &mut other_room[..n]);
            for ((sum, new), other) in sums.iter_mut().zip(new).zip(other) {
                *sum = Unaligned(A::plus(
                    A::plus(sum.0, weigh::<A, WEIGHTED>(*new, weights[0])),
                    weigh::<A, WEIGHTED>(*other, weights[1]),
                ));
            }
        }
        for &row in pairs.remainder() {
            let weight = A::widen(weight::<A, WEIGHTED>(row));
            let new = widened::<A>(&batch, row, first, &mut room[..n]);
            for (sum, new) in sums.iter_mut().zip(new) {
                *sum = Unaligned(A::plus(sum.0, weigh::<A, WEIGHTED>(*new, weight)));
            }
        }
        let Some(count) = batch.count() else { continue };
        let (sums, out) = begun.ended::<A::Sum, A::Item>(first, first, n);
        for (out, sum) in out.iter_mut().zip(sums) {
            out.write(Unaligned(A::end(sum.0, count)));
        }
    }
}

/// The number of the first sum of each vector, and its first column.
#[inline(always)]
fn vectors<const N: usize>(columns: usize) -> impl Iterator<Item = (usize, usize)> {
    let last = columns - N;
    (0..columns).step_by(N).map(move |at| (at, at.min(last)))
}

/// Makes sums of the first row.
#[inline(always)]
fn make<A: Accumulate<Item: Element>, const WEIGHTED: bool, const N: usize>(batch: &mut Batch<'_>, row: BatchRow) {
    let weight = A::widen(weight::<A, WEIGHTED>(row));
    for (at, column) in vectors::<N>(batch.columns()) {
        let new: [Unaligned<A::Item>; N] = array(batch.elements(row, column, N));
        for (to, new) in batch.sums(at, N).iter_mut().zip(&new) {
            to.write(Unaligned(A::begin(weigh::<A, WEIGHTED>(A::widen(new.0), weight))));
        }
    }
}

/// One row more.
#[inline(always)]
fn add<A: Accumulate<Item: Element>, const WEIGHTED: bool, const N: usize>(
    batch: &Batch<'_>,
    begun: &mut PendingBatch<'_>,
    row: BatchRow,
) {
    let weight = A::widen(weight::<A, WEIGHTED>(row));
    for (at, column) in vectors::<N>(batch.columns()) {
        let new: [Unaligned<A::Item>; N] = array(batch.elements(row, column, N));
        let sums = begun.sums::<A::Sum>(at, N);
        let mut these: [_; N] = array(sums);
        for (sum, new) in these.iter_mut().zip(&new) {
            *sum = Unaligned(A::plus(sum.0, weigh::<A, WEIGHTED>(A::widen(new.0), weight)));
        }
        between_ends();
        sums.copy_from_slice(&these);
    }
}

/// Writes what sums become, where the bag ends.
#[inline(always)]
fn end<A: Accumulate, const N: usize>(columns: usize, begun: &mut PendingBatch<'_>, count: usize) {
    for (at, column) in vectors::<N>(columns) {
        let (sums, out) = begun.ended::<A::Sum, A::Item>(at, column, N);
        let sums: [_; N] = array(sums);
        for (out, sum) in out.iter_mut().zip(&sums) {
            out.write(Unaligned(A::end(sum.0, count)));
        }
    }
}

/// The elements of a slice of `N`.
#[inline(always)]
fn array<T: Copy, const N: usize>(slice: &[T]) -> [T; N] {
    *slice.first_chunk().expect("as many elements")
}

/// Columns that are widened at a time.
const WIDENED: usize = 64;

/// Widens the elements of a row from column `first` on, into all of `room`.
#[inline(always)]
fn widened<'a, A: Accumulate>(batch: &Batch<'_>, row: BatchRow, first: usize, room: &'a mut [A::Sum]) -> &'a [A::Sum] {
    A::widen_all(batch.elements(row, first, room.len()), room);
    room
}

/// The weight of a row; zero without weights.
#[inline(always)]
fn weight<A: Accumulate<Item: Element>, const WEIGHTED: bool>(row: BatchRow) -> A::Item {
    if WEIGHTED { row.weight() } else { A::Item::ZERO }
}
