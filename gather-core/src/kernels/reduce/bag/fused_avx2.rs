//! Sums of fused rows in registers: an AVX2 vector decodes eight columns of codes at a time.
//!
//! A panel has a constant number of vectors of sums. The last `ENDING` vectors end with the last column, and overlap
//! the vectors before them if the columns need fewer vectors. If one panel has all columns, it takes bag after bag.
//! Otherwise all panels take [`BLOCK`] rows of a bag before the next [`BLOCK`] rows: a row is prefetched and read while
//! its page is in the TLB. A block is a partial bag with carried sums.

use core::marker::PhantomData;
use core::mem::MaybeUninit;
use core::ops::Range;

use crate::kernels::columns_avx2::{Eight, ParamsAt, Tail};
use crate::kernels::level_fn::{Avx2, LevelFn, Token};
use crate::kernels::prefetch::prefetch;
use crate::kernels::reduce::bag::fused::FusedBag;
use crate::kernels::reduce::bag::rows::{AddRows, Bag, BagRow, ReduceBags};
use crate::kernels::reduce::bag::{BagArgs, BagLengths, BagRows, PartialBag, Start};
use crate::kernels::reduce::vectors::{First, FirstLanes, Stored, SumVector};
use crate::kernels::x86::__m256;
use crate::types::element::Unaligned;

const EIGHT: usize = 8;
/// Vectors of the widest panel: their sums, a scale, a bias and a row fill the AVX2 registers.
const WIDEST: usize = 13;
/// Columns per panel if rows need several panels.
const WIDE: usize = 8 * EIGHT;
/// Rows that all panels take before the next rows.
const BLOCK: usize = 32;
/// Columns whose sums fit in the scratch on the stack.
const SCRATCH: usize = 1024;

/// Reduces rows: a function of a coding at this level.
type Reduce<'a> = &'a dyn Fn(&BagRows<'_>);

/// Sums and means at AVX2.
pub(in crate::kernels::reduce) struct SumsInRegisters<C, const WEIGHTED: bool>(PhantomData<C>);

impl<C: Eight, const WEIGHTED: bool> LevelFn for SumsInRegisters<C, WEIGHTED> {
    type Args<'a> = &'a BagRows<'a>;
    type Output = ();

    #[inline(always)]
    fn call<Here: Token>(here: Here, bag: &BagRows<'_>) {
        bag.debug_check(WEIGHTED);
        let columns = bag.elements();
        if bag.fused().0.size != size_of::<f32>() {
            rounded(bag, &|bag| here.run::<Self>(bag));
        } else if columns <= WIDEST * EIGHT {
            here.run::<ReducePanel<C, WEIGHTED>>((bag, 0..columns));
        } else {
            in_blocks(bag, &|bag, columns| here.run::<ReducePanel<C, WEIGHTED>>((bag, columns)));
        }
    }
}

/// Reduces rows to output elements other than `f32`: chunks of bags to `f32` scratch on the stack, then rounded.
#[inline(never)]
fn rounded(all: &BagRows<'_>, reduce: Reduce<'_>) {
    let (args, (fused, first_column), elements) = (*all.args(), all.fused(), all.elements());
    let mut scratch = MaybeUninit::<[f32; SCRATCH]>::uninit();
    let scratch: *mut f32 = scratch.as_mut_ptr().cast();
    let single = FusedBag { size: size_of::<f32>(), ..*fused };
    for first in (0..elements).step_by(SCRATCH) {
        let columns = first..(first + SCRATCH).min(elements);
        let n = columns.len();
        let rows = all.fused_columns(&columns);
        let mut bags = rows.bags();
        let part = args.part.map(|part| PartialBag { carried: rows.carried(), ..part });
        for chunk in args.bags.chunks((SCRATCH / n).max(1)) {
            // SAFETY: a range of columns (B7) of consecutive bags, with their positions and weights (B6, B7), and their
            // carried sums (B4). `scratch` has an `f32` for each column of each bag (B2).
            let bags_in_scratch = unsafe {
                BagRows::new(BagArgs {
                    out: scratch.cast(),
                    out_stride: (n * size_of::<f32>()) as isize,
                    elements: n,
                    part,
                    fused: Some((&single, first_column + first)),
                    ..args.of_rows(chunk.rows, chunk.lengths)
                })
            };
            reduce(&bags_in_scratch);
            for (number, mut bag) in bags.by_ref().take(chunk.lengths.bags()).enumerate() {
                if bag.count().is_some() {
                    // SAFETY: `reduce` has just written the `n` sums of bag `number` of the chunk.
                    let sums = unsafe { core::slice::from_raw_parts(scratch.wrapping_add(number * n), n) };
                    (fused.end)((sums, bag.output()));
                }
            }
        }
    }
}

/// Reduces rows of many columns, `BLOCK` rows of a bag at a time, panel by panel.
#[inline(never)]
fn in_blocks(all: &BagRows<'_>, panel: &dyn Fn(&BagRows<'_>, Range<usize>)) {
    let (args, elements) = (*all.args(), all.elements());
    let mut scratch = MaybeUninit::<[f32; SCRATCH]>::uninit();
    for first in (0..elements).step_by(SCRATCH) {
        let columns = first..(first + SCRATCH).min(elements);
        // The address that the sum of column 0 would have: the sum of column `c` is at `own + c`.
        let own = scratch.as_mut_ptr().cast::<f32>().wrapping_sub(first).cast();
        for mut bag in all.fused_columns(&columns).bags() {
            if bag.has_no_rows() {
                bag.zero();
                continue;
            }
            let (Range { start, end }, mut begin, count) = (bag.rows(), bag.begin(), bag.count());
            let out = bag.output().start().wrapping_sub(first * size_of::<f32>());
            let carried = match args.part {
                Some(PartialBag { carried, .. }) if !carried.is_null() => carried,
                _ => own,
            };
            let mut at = start;
            loop {
                let stop = end.min(at + BLOCK);
                let ends = stop == end && count.is_some();
                let part = Some(PartialBag { counted: count.unwrap_or(0), begin, ends, carried });
                // SAFETY: consecutive rows of the bag, with their positions and weights (B6, B7), and the output of the
                // bag (B2). Carried sums are the sums of the bag (B4), or are in `scratch` for these columns, and only
                // these columns are reduced.
                let block = unsafe {
                    let bags = BagLengths::Every { len: stop - at, bags: 1 };
                    BagRows::new(BagArgs { out, part, ..args.of_rows(at..stop, bags) })
                };
                for first in columns.clone().step_by(WIDE) {
                    panel(&block, first..columns.end.min(first + WIDE));
                }
                if stop == end {
                    break;
                }
                (at, begin) = (stop, Start::Carried);
            }
        }
    }
}

struct ReducePanel<C, const WEIGHTED: bool>(PhantomData<C>);

impl<C: Eight, const WEIGHTED: bool> LevelFn for ReducePanel<C, WEIGHTED> {
    type Args<'a> = (&'a BagRows<'a>, Range<usize>);
    type Output = ();

    #[inline(always)]
    fn call<Here: Token>(here: Here, (bag, columns): Self::Args<'_>) {
        let Some(level) = here.avx2() else { unreachable!("the function of AVX2") };
        match columns.len().div_ceil(EIGHT) {
            0 => {}
            1 => InPanel::<C, WEIGHTED, 1, 1>::reduce(level, bag, columns),
            2 => InPanel::<C, WEIGHTED, 2, 1>::reduce(level, bag, columns),
            3..=4 => InPanel::<C, WEIGHTED, 4, 2>::reduce(level, bag, columns),
            5..=8 => InPanel::<C, WEIGHTED, 8, 4>::reduce(level, bag, columns),
            _ => InPanel::<C, WEIGHTED, WIDEST, 5>::reduce(level, bag, columns),
        }
    }
}

/// The sums of a panel, and the place of its columns in a row.
///
/// - **F2** Only [`InPanel::reduce`] makes it. `vectors = columns.div_ceil(8)` satisfies `vectors > N - ENDING` and
///   `ENDING <= vectors <= N`. If there is `tail`, the last vector has fewer lanes, and ends with the columns.
struct InPanel<C, const WEIGHTED: bool, const N: usize, const ENDING: usize> {
    level: Avx2,
    columns: usize,
    params_at: ParamsAt,
    /// The first byte of the columns' codes.
    codes_at: usize,
    /// The first of the vectors that end with the last column.
    ending: usize,
    /// The codes and the lanes of the last vector if the columns, and the row, end inside it.
    tail: Option<(Tail, First<__m256>)>,
    /// The prefetched bytes of a row.
    fetched: Range<usize>,
    divides: bool,
    sums: [__m256; N],
    coding: PhantomData<C>,
}

impl<C: Eight, const WEIGHTED: bool, const N: usize, const ENDING: usize> InPanel<C, WEIGHTED, N, ENDING> {
    /// Reduces `columns`, which satisfy F2.
    #[inline(always)]
    fn reduce(level: Avx2, bag: &BagRows<'_>, columns: Range<usize>) {
        let (fused, first) = bag.fused();
        let (shape, rows) = (&fused.row, bag.fused_columns(&columns));
        let (vectors, whole) = (columns.len().div_ceil(EIGHT), columns.len() / EIGHT * EIGHT);
        let columns = first + columns.start..first + columns.end;
        debug_assert!(vectors > N - ENDING && vectors >= ENDING && vectors <= N);
        debug_assert!(columns.start.is_multiple_of(EIGHT) && columns.end <= shape.columns(), "B7");
        debug_assert!(columns.end.is_multiple_of(EIGHT) || columns.end == shape.columns(), "B7");
        let codes_at = shape.codes_at() + C::bytes(columns.start);
        let last = || {
            let codes = C::bytes(columns.start + whole);
            (Tail::new(shape, codes), __m256::first(level, columns.len() - whole))
        };
        let end = shape.codes_at() + C::bytes(columns.end);
        rows.reduce(&mut InPanel::<C, WEIGHTED, N, ENDING> {
            level,
            columns: columns.len(),
            params_at: shape.params_at(),
            codes_at,
            ending: vectors - ENDING,
            tail: (whole < columns.len()).then(last),
            fetched: if columns.start == 0 { 0 } else { codes_at }..if columns.end == shape.columns() {
                shape.bytes()
            } else {
                end
            },
            divides: rows.divides(),
            sums: [level.splat_single(0.0); N],
            coding: PhantomData,
        });
    }

    #[inline(always)]
    fn column(&self, vector: usize) -> usize {
        EIGHT * if vector < N - ENDING { vector } else { self.ending + vector - (N - ENDING) }
    }

    /// The elements of a vector, from the elements of all columns, and the mask of its lanes if it is not full.
    #[inline(always)]
    fn part<'a, E>(&self, all: &'a [E], vector: usize) -> (&'a [E], Option<First<__m256>>) {
        let (columns, lanes) = self.lanes(vector, all.len());
        // SAFETY: F2: the lanes of every vector are columns of the panel, and `all` has an element per column.
        (unsafe { all.get_unchecked(columns) }, lanes)
    }

    /// The columns of a vector in a panel of `all` columns, and the mask of its lanes if it is not full.
    #[inline(always)]
    fn lanes(&self, vector: usize, all: usize) -> (Range<usize>, Option<First<__m256>>) {
        let lanes = match &self.tail {
            Some((_, lanes)) if vector == N - 1 => Some(*lanes),
            _ => None,
        };
        let first = self.column(vector);
        let columns = first..first + lanes.map_or(EIGHT, First::lanes);
        debug_assert!(all == self.columns && columns.end <= all, "F2");
        (columns, lanes)
    }

    #[inline(always)]
    fn write(&self, to: &mut [MaybeUninit<Unaligned<f32>>]) {
        for (vector, &sum) in self.sums.iter().enumerate() {
            let (columns, lanes) = self.lanes(vector, to.len());
            // SAFETY: F2: the lanes of every vector are columns of the panel, and `to` has an element per column.
            let to = unsafe { to.get_unchecked_mut(columns) };
            match lanes {
                Some(lanes) => sum.write_first(to, lanes),
                None => f32::write(sum, to),
            }
        }
    }
}

impl<C: Eight, const WEIGHTED: bool, const N: usize, const ENDING: usize> AddRows for InPanel<C, WEIGHTED, N, ENDING> {
    #[inline(always)]
    fn prefetch(&self, later: *const u8) {
        let fetched = &self.fetched;
        prefetch(later.wrapping_add(fetched.start), fetched.len());
        prefetch(later.wrapping_add(fetched.end - 1), 1);
    }

    #[inline(always)]
    fn add(&mut self, row: BagRow<'_>) {
        let InPanel { level, params_at, codes_at, .. } = *self;
        let bytes = row.bytes();
        let (scale, bias) = C::params(level, bytes, params_at);
        let weight = __m256::splat(level, if WEIGHTED { row.weight() } else { 0.0 });
        let eight = |vector| {
            let first = codes_at + C::bytes(self.column(vector));
            // SAFETY: F1: the row has the codes of all columns; F2: only the last vector has fewer than eight.
            C::eight(level, unsafe { bytes.get_unchecked(first..first + C::bytes(EIGHT)) })
        };
        // The last vector is read first, so that no branch comes between the others.
        let last = match self.tail {
            Some((tail, _)) => C::last(level, bytes, &tail),
            None => eight(N - 1),
        };
        let mut sums = self.sums;
        for (vector, sum) in sums.iter_mut().enumerate() {
            let codes = if vector == N - 1 { last } else { eight(vector) };
            let values = C::values(level, codes, scale, bias);
            *sum = sum.plus(if WEIGHTED { values.times(weight) } else { values });
        }
        self.sums = sums;
    }
}

impl<C: Eight, const WEIGHTED: bool, const N: usize, const ENDING: usize> ReduceBags
    for InPanel<C, WEIGHTED, N, ENDING>
{
    #[inline(always)]
    fn begin(&mut self, bag: &Bag<'_>) {
        for vector in 0..N {
            self.sums[vector] = __m256::splat(self.level, 0.0);
        }
        if bag.begin() == Start::Carried {
            let carried = bag.carried();
            for vector in 0..N {
                self.sums[vector] = match self.part(carried, vector) {
                    (carried, Some(lanes)) => __m256::read_first(carried, lanes),
                    (carried, None) => f32::read(self.level, carried),
                };
            }
        }
    }

    #[inline(always)]
    fn end(&mut self, bag: &mut Bag<'_>) {
        let to = match bag.count() {
            None => bag.carry(),
            Some(count) => {
                if !WEIGHTED && self.divides {
                    for sum in &mut self.sums {
                        *sum = sum.divided(count);
                    }
                }
                bag.output().elements()
            }
        };
        self.write(to);
    }
}
