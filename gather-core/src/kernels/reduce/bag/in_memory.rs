//! Sums in memory: any reduction, in little code.
//!
//! ```text
//! for each panel of columns, as wide as the sums that fit in the scratch:
//!     for each bag, and each batch of its rows that count:        (`reduce_bags`, for all types)
//!         sums = the first row
//!         for each other row, in order: sums (op)= the row        (`ReduceBatch`, for each reduction, type and level)
//!         out = sums, rounded or divided
//! ```
//!
//! A row is reduced vector by vector, and the last vector ends with the last column. It may overlap the previous
//! vector: shared columns are then summed twice, in separate places. Rows narrower than a vector use the scalar level;
//! rows narrower than its vector, one column at a time.

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

/// Reduces a batch of elements of the function's type.
type BatchFn = for<'a> fn(&'a Batch<'a>);

/// Bytes of the sums' scratch on the stack, unless a single sum is larger.
const SCRATCH: usize = 2 << 10;
const ROWS: usize = 16;

pub(in crate::kernels::reduce) const fn fns<A: Accumulate<Item: Element>, const WEIGHTED: bool>()
-> ByLevel<CompiledBagFn> {
    by_level!(fn InMemory<A, WEIGHTED>)
}

/// A reduction by vectors of the level's length, with scratch for at least one sum.
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
        if size_of::<A::Sum>() <= SCRATCH {
            let mut scratch = [const { MaybeUninit::<u8>::uninit() }; SCRATCH];
            let most = SCRATCH / size_of::<A::Sum>().max(1);
            by.reduce_bags(bag, SumsBuffer { sums: scratch.as_mut_ptr().cast(), most, of: PhantomData });
        } else {
            let mut scratch = MaybeUninit::<A::Sum>::uninit();
            by.reduce_bags(bag, SumsBuffer { sums: scratch.as_mut_ptr().cast(), most: 1, of: PhantomData });
        }
    }
}

/// Scratch for `most` sums of a reduction.
#[derive(Clone, Copy)]
struct SumsBuffer<'a> {
    sums: *mut u8,
    most: usize,
    of: PhantomData<&'a mut u8>,
}

/// The batch function of a reduction, with its sizes.
#[derive(Clone, Copy)]
struct ByStep {
    reduce: BatchFn,
    /// Bytes per element.
    item: usize,
    /// Bytes per sum.
    sum: usize,
    vector: usize,
}

impl ByStep {
    /// Reduces rows in panels of at most `scratch.most` columns and about equal size.
    #[inline(never)]
    fn reduce_bags(&self, bag: &BagRows<'_>, scratch: SumsBuffer<'_>) {
        let elements = bag.elements();
        let vector = if elements < self.vector { 1 } else { self.vector };
        let vectors = elements.div_ceil(vector);
        let panels = vectors.div_ceil(scratch.most / vector);
        for i in 0..panels {
            // If there are several panels, the last has whole vectors, too.
            let [first, end] = [i, i + 1].map(|part| start_of_part(vectors, part, panels));
            debug_assert!((end - first) * vector <= scratch.most, "M2");
            self.reduce_panel(bag, &(first * vector..(end * vector).min(elements)), scratch);
        }
    }

    fn reduce_panel(&self, bag: &BagRows<'_>, columns: &Range<usize>, scratch: SumsBuffer<'_>) {
        let columns = bag.columns(columns, self.item, self.sum);
        let sums = if columns.carried().is_null() { scratch.sums } else { columns.carried() };
        let (rows, n) = ([BatchRow::NONE; ROWS], 0);
        let (out, begin, columns_of_rows) = (core::ptr::null_mut(), Start::Row, columns.columns());
        columns.reduce(&mut InBatches { by: *self, columns: columns_of_rows, sums, out, begin, rows, n });
    }
}

/// The current batch of a bag.
struct InBatches {
    by: ByStep,
    columns: usize,
    /// The scratch for the sums of the panel, or the carried sums.
    sums: *mut u8,
    out: *mut u8,
    begin: Start,
    /// The rows of the batch are `rows[..n]`.
    rows: [BatchRow; ROWS],
    n: usize,
}

impl InBatches {
    /// Reduces the batch, and ends the bag if `count` is given.
    #[inline(always)]
    fn reduce(&mut self, count: Option<usize>) {
        let InBatches { by, columns, sums, out, begin, ref rows, n } = *self;
        // SAFETY: M1: the columns of rows of the job that the function is given. M2: the scratch takes the vectors of
        // the panel (`reduce_bags`), or by B4 `carried` takes the sums of its columns and `SPARE` more; the previous
        // batch or partial bag has left its sums there. M3: `out` is the output of this bag (B8). M4 by B4: rows that
        // do not count are skipped, so the first batch has a row.
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

const VECTOR: usize = 32;
/// Bytes of a vector of the scalar level: half of `VECTOR` on x86-64, which has other levels.
const SCALAR_VECTOR: usize = if cfg!(target_arch = "x86_64") { 16 } else { 32 };

/// Columns per vector of `bytes` bytes, of elements or of sums, whichever are larger; at least 1. It is 1 if rows are
/// widened, in loops over all columns.
const fn vector_of<A: Accumulate>(bytes: usize) -> usize {
    if A::WIDENS {
        return 1;
    }
    let (item, sum) = (size_of::<A::Item>(), size_of::<A::Sum>());
    let longer = if item > sum { item } else { sum };
    if longer >= bytes { 1 } else { bytes / longer.next_power_of_two() }
}

const fn vector_at<Here: Token, A: Accumulate>() -> usize {
    vector_of::<A>(if matches!(Here::LEVEL, Level::Scalar) { SCALAR_VECTOR } else { VECTOR })
}

/// Reduces a batch by vectors of the level's length. The scalar level also reduces fewer columns than a vector has.
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

/// Reduces a batch of at least `N` columns, in `columns.div_ceil(N)` vectors.
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
    // SAFETY: `make` has begun all sums, or by M2 the previous batch has left them.
    let mut begun = unsafe { batch.begun() };
    for &row in others {
        add::<A, WEIGHTED, N>(&batch, &mut begun, row);
    }
    if let Some(count) = batch.count() {
        end::<A, N>(batch.columns(), &mut begun, count);
    }
}

/// Reduces rows that are widened first, `WIDENED` columns at a time, in loops over slices.
#[inline(always)]
fn reduce_widened<A: Accumulate<Item: Element>, const WEIGHTED: bool>(mut batch: Batch<'_>) {
    let [mut scratch, mut other_scratch] = [[A::widen(A::Item::ZERO); WIDENED]; 2];
    let columns = batch.columns();
    for first in (0..columns).step_by(WIDENED) {
        let n = WIDENED.min(columns - first);
        let (begins_with, rows) = batch.rows();
        if let Some(row) = begins_with {
            let weight = A::widen(weight::<A, WEIGHTED>(row));
            let new = widened::<A>(&batch, row, first, &mut scratch[..n]);
            for (to, new) in batch.sums::<A::Sum>(first, n).iter_mut().zip(new) {
                to.write(Unaligned(A::begin(weigh::<A, WEIGHTED>(*new, weight))));
            }
        }
        // SAFETY: the sums of these columns have begun above, or by M2 the previous batch has left them.
        let mut begun = unsafe { batch.begun() };
        let sums = begun.sums::<A::Sum>(first, n);
        // Two rows at a time halve the loads and stores of sums.
        let mut pairs = rows.chunks_exact(2);
        for pair in &mut pairs {
            let weights = [pair[0], pair[1]].map(|row| A::widen(weight::<A, WEIGHTED>(row)));
            let new = widened::<A>(&batch, pair[0], first, &mut scratch[..n]);
            let other = widened::<A>(&batch, pair[1], first, &mut other_scratch[..n]);
            for ((sum, new), other) in sums.iter_mut().zip(new).zip(other) {
                *sum = Unaligned(A::plus(
                    A::plus(sum.0, weigh::<A, WEIGHTED>(*new, weights[0])),
                    weigh::<A, WEIGHTED>(*other, weights[1]),
                ));
            }
        }
        for &row in pairs.remainder() {
            let weight = A::widen(weight::<A, WEIGHTED>(row));
            let new = widened::<A>(&batch, row, first, &mut scratch[..n]);
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

/// The first sum and the first column of each vector.
#[inline(always)]
fn vectors<const N: usize>(columns: usize) -> impl Iterator<Item = (usize, usize)> {
    let last = columns - N;
    (0..columns).step_by(N).map(move |at| (at, at.min(last)))
}

/// Begins the sums with the first row.
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

/// Stores the output when the bag ends.
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

#[inline(always)]
fn array<T: Copy, const N: usize>(slice: &[T]) -> [T; N] {
    *slice.first_chunk().expect("as many elements")
}

const WIDENED: usize = 64;

/// Widens the elements of a row from column `first` on, into all of `scratch`.
#[inline(always)]
fn widened<'a, A: Accumulate>(
    batch: &Batch<'_>,
    row: BatchRow,
    first: usize,
    scratch: &'a mut [A::Sum],
) -> &'a [A::Sum] {
    A::widen_all(batch.elements(row, first, scratch.len()), scratch);
    scratch
}

/// The weight of a row; zero without weights.
#[inline(always)]
fn weight<A: Accumulate<Item: Element>, const WEIGHTED: bool>(row: BatchRow) -> A::Item {
    if WEIGHTED { row.weight() } else { A::Item::ZERO }
}
