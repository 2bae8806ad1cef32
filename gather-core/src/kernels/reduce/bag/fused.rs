//! Bags of fused rows: rows are decoded while they are reduced.
//!
//! ```text
//! for each panel of columns:                  `PANEL` columns, decoded at a time
//!     for each bag:
//!         sums = 0                            (or the first row, or the sums carried from a partial bag)
//!         for each row, in order:
//!             prefetch a later row            (of any bag, once)
//!             values = codes * scale + bias   of the row
//!             sums (op)= values               (times its weight)
//!         out = sums, divided and rounded     (or the sums are carried to the next partial bag)
//! ```
//!
//! Sums are `f32`, and rounded once per bag if the output has another type. At AVX2 sums and means are in registers
//! (`fused_avx2`). Other levels and reductions have sums in memory, in this module.
//!
//! # The contract
//!
//! The contract of bags, with B7 in place of B1 and B3:
//!
//! - **B7** `fused` is given. Each non-negative position of a row reaches `row.bytes()` bytes that may be read;
//!   adjacent positions are `stride` bytes apart. The same holds for `zeros` if there are positions of
//!   [`ZERO_ROW`](super::ZERO_ROW). `elements` columns of the row are reduced, from a multiple of eight on; if
//!   `elements` is no multiple of eight, the columns end with the row. `end` writes elements of the output. If rows are
//!   weighted, each has an `f32`, `weight_step` bytes apart.

use core::marker::PhantomData;

use crate::kernels::by_level::{ByLevel, by_level, level_pointers};
#[cfg(target_arch = "x86_64")]
use crate::kernels::columns_avx2::Eight as Columns;
use crate::kernels::level_fn::{LevelFn, Token};
use crate::kernels::prefetch::prefetch_row;
use crate::kernels::reduce::accumulate::Combine;
#[cfg(target_arch = "x86_64")]
use crate::kernels::reduce::bag::fused_avx2::SumsInRegisters;
use crate::kernels::reduce::bag::rows::{AddRows, Bag, BagOutput, BagRow, ReduceBags};
use crate::kernels::reduce::bag::{BagFns, BagRows, CompiledBagFn, Start};
use crate::kernels::reduce::number::{Add, Max, Min};
use crate::types::codes::{Float, by_scale};
use crate::types::element::{DType, Unaligned};
#[cfg(not(target_arch = "x86_64"))]
use crate::types::fused::Coding as Columns;
use crate::types::fused::{Coding, FusedFormat, FusedRow, by_coding};
use crate::types::level::Available;
use crate::types::reduction::Reduction;

/// The additional arguments of bags of fused rows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FusedBag {
    pub(crate) row: FusedRow,
    pub(crate) end: EndFn,
    /// Bytes per output element; four means `f32`.
    pub(crate) size: usize,
}

pub(crate) type EndFn = for<'a> fn((&'a [f32], BagOutput<'a>));

type CompiledEndFn = for<'a> unsafe fn((&'a [f32], BagOutput<'a>));

level_pointers! { for<'a> fn((&'a [f32], BagOutput<'a>)); }

/// The functions that reduce fused rows to elements `U`, with `U` erased.
#[derive(Clone, Copy)]
pub(crate) struct FusedOutput {
    end: ByLevel<CompiledEndFn>,
    size: usize,
}

impl FusedOutput {
    pub(crate) const fn of<U: Float>() -> Self {
        let end: ByLevel<CompiledEndFn> = by_level!(fn RoundSums<U>);
        FusedOutput { end, size: size_of::<U>() }
    }

    /// The functions of a data type; `None` if sums are not rounded to it.
    pub(crate) fn of_dtype(dtype: DType) -> Option<Self> {
        by_scale!(dtype, U => Some(const { Self::of::<U>() }), None)
    }

    /// The arguments of a level for bags of fused rows.
    pub(crate) fn bag(&self, row: FusedRow, level: Available) -> FusedBag {
        FusedBag { row, end: self.end.at(level), size: self.size }
    }
}

struct RoundSums<U>(PhantomData<U>);

impl<U: Float> LevelFn for RoundSums<U> {
    type Args<'a> = (&'a [f32], BagOutput<'a>);
    type Output = ();

    #[inline(always)]
    fn call<Here: Token>(_: Here, (sums, out): Self::Args<'_>) {
        for (to, &sum) in out.elements().iter_mut().zip(sums) {
            to.write(Unaligned(U::from_f32(sum)));
        }
    }
}

/// The functions that reduce bags of fused rows of a format; `None` if there is no such reduction.
#[cfg_attr(not(feature = "registry"), inline)]
pub(crate) fn fused(format: FusedFormat, reduction: Reduction) -> Option<&'static BagFns> {
    by_coding!(format, C => by_reduction::<C>(reduction))
}

fn by_reduction<C: Columns>(reduction: Reduction) -> Option<&'static BagFns> {
    match reduction {
        Reduction::Add => Some(const { &BagFns { weighted: Some(sums_of::<C, true>()), ..all::<C>() } }),
        Reduction::Mean => Some(const { &BagFns { divides: true, ..all::<C>() } }),
        Reduction::Max => Some(const { &BagFns { plain: in_memory::<C, Max<f32>>(), ..all::<C>() } }),
        Reduction::Min => Some(const { &BagFns { plain: in_memory::<C, Min<f32>>(), ..all::<C>() } }),
        _ => None,
    }
}

/// The unweighted sum.
const fn all<C: Columns>() -> BagFns {
    BagFns { plain: sums_of::<C, false>(), weighted: None, sum: size_of::<f32>(), divides: false }
}

const fn sums_of<C: Columns, const WEIGHTED: bool>() -> ByLevel<CompiledBagFn> {
    by_level!(fn FusedInMemory<C, Add<f32>, WEIGHTED>, fn SumsInRegisters<C, WEIGHTED>)
}

/// Columns decoded at a time: whole bytes of codes.
const PANEL: usize = 64;

/// Decodes the columns of a row from column `first` on, which begins a byte: one per element of `values`.
struct Decode<C>(PhantomData<C>);

impl<C: Coding> LevelFn for Decode<C> {
    type Args<'a> = (&'a FusedRow, &'a [u8], usize, &'a mut [f32]);
    type Output = ();

    #[inline(always)]
    fn call<Here: Token>(_: Here, (row, codes, first, values): Self::Args<'_>) {
        row.decode::<C, f32, _>(codes, first, values);
    }
}

/// Reduces values into sums, and begins the sums with them if they have not begun.
struct Fold<R>(PhantomData<R>);

impl<R: Combine<Item = f32>> LevelFn for Fold<R> {
    type Args<'a> = (&'a mut [f32], &'a [f32], bool);
    type Output = ();

    #[inline(always)]
    fn call<Here: Token>(_: Here, (sums, values, has_begun): Self::Args<'_>) {
        if has_begun {
            sums.iter_mut().zip(values).for_each(|(sum, &value)| *sum = R::combine(*sum, value));
        } else {
            sums.iter_mut().zip(values).for_each(|(sum, &value)| *sum = R::first(value));
        }
    }
}

/// The reduction `R` of a coding in memory.
const fn in_memory<C: Columns, R: Combine<Item = f32>>() -> ByLevel<CompiledBagFn> {
    by_level!(fn FusedInMemory<C, R, false>)
}

struct FusedInMemory<C, R, const WEIGHTED: bool>(PhantomData<(C, R)>);

impl<C: Coding, R: Combine<Item = f32>, const WEIGHTED: bool> LevelFn for FusedInMemory<C, R, WEIGHTED> {
    type Args<'a> = &'a BagRows<'a>;
    type Output = ();

    #[inline(always)]
    fn call<Here: Token>(level: Here, bag: &BagRows<'_>) {
        reduce(bag, level.entry::<Decode<C>>(), level.entry::<Fold<R>>(), WEIGHTED);
    }
}

type DecodeFn = for<'a> fn((&'a FusedRow, &'a [u8], usize, &'a mut [f32]));

type FoldFn = for<'a> fn((&'a mut [f32], &'a [f32], bool));

/// Reduces rows in memory: decoded by `decode`, reduced by `fold`.
fn reduce(bag: &BagRows<'_>, decode: DecodeFn, fold: FoldFn, weighted: bool) {
    bag.debug_check(weighted);
    let (fused, first_column) = bag.fused();
    for first in (0..bag.elements()).step_by(PANEL) {
        let n = PANEL.min(bag.elements() - first);
        let columns = bag.fused_columns(&(first..first + n));
        let (sums, values) = ([0f32; PANEL], [0f32; PANEL]);
        let (divides, prefetches, first) = (columns.divides(), first == 0, first_column + first);
        columns.reduce(&mut Decoded {
            fused,
            decode,
            fold,
            weighted,
            divides,
            prefetches,
            first,
            n,
            sums,
            values,
            has_begun: false,
        });
    }
}

/// The sums of a panel of columns of decoded rows.
struct Decoded<'a> {
    fused: &'a FusedBag,
    decode: DecodeFn,
    fold: FoldFn,
    weighted: bool,
    divides: bool,
    /// Whether this is the first panel, which prefetches whole rows.
    prefetches: bool,
    /// The first column.
    first: usize,
    n: usize,
    /// The sums are `sums[..n]`, the columns of a decoded row `values[..n]`.
    sums: [f32; PANEL],
    values: [f32; PANEL],
    has_begun: bool,
}

impl AddRows for Decoded<'_> {
    #[inline(always)]
    fn prefetch(&self, later: *const u8) {
        if self.prefetches {
            prefetch_row(later, self.fused.row.bytes());
        }
    }

    #[inline(always)]
    fn add(&mut self, row: BagRow<'_>) {
        let (sums, values) = (&mut self.sums[..self.n], &mut self.values[..self.n]);
        (self.decode)((&self.fused.row, row.bytes(), self.first, values));
        if self.weighted {
            let weight = row.weight::<f32>();
            values.iter_mut().for_each(|value| *value *= weight);
        }
        (self.fold)((sums, values, self.has_begun));
        self.has_begun = true;
    }
}

impl ReduceBags for Decoded<'_> {
    #[inline(always)]
    fn begin(&mut self, bag: &Bag<'_>) {
        self.has_begun = bag.begin() == Start::Carried;
        if self.has_begun {
            self.sums.iter_mut().zip(bag.carried()).for_each(|(sum, carried)| *sum = carried.0);
        }
    }

    #[inline(always)]
    fn end(&mut self, bag: &mut Bag<'_>) {
        let sums = &mut self.sums[..self.n];
        let Some(count) = bag.count() else {
            return bag.carry().iter_mut().zip(&*sums).for_each(|(to, &sum)| {
                to.write(Unaligned(sum));
            });
        };
        if self.divides {
            sums.iter_mut().for_each(|sum| *sum /= count as f32);
        }
        (self.fused.end)((sums, bag.output()));
    }
}
