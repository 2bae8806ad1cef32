//! Reducing the rows of bags, many columns at a time.
//!
//! ```text
//! for each panel of columns, as wide as there is room for sums of:
//!     for each bag:
//!         sums = the first row that counts        (or what an earlier part of the bag has left, or what out holds)
//!         for each other row, in order:
//!             prefetch a later row                (of any bag)
//!             sums (op)= the row                  (times its weight)
//!         out = sums, rounded or divided          (or they are left for the next part)
//! ```
//!
//! Vectors run across columns, so that each sum is that of the plain loop, to the bit. Sums are in the first-level
//! cache for any reduction (`in_memory`); for sums, means and greatest values of floats, in registers (`in_registers`).
//!
//! # The contract
//!
//! - **B1** Each position of a row that is not negative reaches `elements` elements that may be read, `stride` bytes
//!   apart from one position to the next, at any alignment. They are values of the type that is reduced, or it takes
//!   any bytes. So do `zeros` where there are positions of [`ZEROS`].
//! - **B2** `out` may be written for `elements` elements for each bag, `out_stride` bytes apart from one bag to the
//!   next, which nothing else uses meanwhile.
//! - **B3** Where rows are weighted, there is a weight for each, `weight_step` bytes apart, of the same type.
//! - **B4** Each bag that begins with its first row has one that counts. A part of a bag that does not end, or goes on
//!   with what is carried, has `carried`: room for as many sums and [`SPARE`] more, at any alignment, where the part
//!   before it has left its own.
//! - **B6** There are positions for all rows, and `distance` more.
//! - K7 holds too.

mod fused;
#[cfg(target_arch = "x86_64")]
mod fused_avx2;
pub(in crate::kernels::reduce) mod in_memory;
#[cfg(target_arch = "x86_64")]
pub(in crate::kernels::reduce) mod in_registers;
mod positions;
pub(in crate::kernels::reduce) mod step;
#[cfg(target_arch = "x86_64")]
pub(in crate::kernels::reduce) mod vectors;

pub(crate) use fused::{FusedBag, FusedOutput, fused};
pub(crate) use positions::{BagIndices, CompiledPositionsFn, PositionsFn, positions, positions_of};

use crate::kernels::by_level::{ByLevel, level_pointers};
use crate::kernels::reduce::bag::step::{Accumulate, Plain, Weigh, Weighted};
use crate::types::element::Element;

/// Sums for which there is room besides those of all columns, where sums are carried.
pub(crate) const SPARE: usize = 32;
/// The position of a row that is left out, and does not count.
pub(crate) const LEFT_OUT: i64 = -1;
/// The position of a row of zeros, which counts.
pub(crate) const ZEROS: i64 = -2;

/// Reduces rows of bags.
///
/// # Safety
/// The contract of bags: B1 to B4, B6, and K7.
pub(crate) type BagFn = fn(&BagRows<'_>);

/// [`BagFn`], compiled for a level.
pub(crate) type CompiledBagFn = unsafe fn(&BagRows<'_>);

level_pointers! { BagFn, CompiledBagFn; }

/// Rows of whole bags that follow one another, or a part of one bag.
pub(crate) struct BagRows<'a> {
    /// Column 0 of position 0.
    pub(crate) data: *const u8,
    /// Bytes from one position to the next.
    pub(crate) stride: isize,
    /// The positions of the rows, in order, or [`LEFT_OUT`], or [`ZEROS`]; then those of rows to prefetch.
    pub(crate) positions: &'a [i64],
    pub(crate) bags: Lengths<'a>,
    /// How many rows ahead of their use rows are prefetched; 0 for none.
    pub(crate) distance: usize,
    /// The weight of the first row; null without weights.
    pub(crate) weights: *const u8,
    pub(crate) weight_step: isize,
    pub(crate) out: *mut u8,
    pub(crate) out_stride: isize,
    pub(crate) elements: usize,
    /// Whether functions that make sums in registers divide them by how many rows count.
    pub(crate) divides: bool,
    /// A row of zeros, where there are positions for one; else null.
    pub(crate) zeros: *const u8,
    pub(crate) part: Option<Part>,
    /// The format of fused rows, and the first of their columns to reduce; `None` for others.
    pub(crate) fused: Option<(&'a FusedBag, usize)>,
}

impl BagRows<'_> {
    /// Checks what the contract says about the numbers of things.
    pub(in crate::kernels::reduce) fn debug_check(&self, weighted: bool) {
        debug_assert_eq!(weighted, !self.weights.is_null(), "B3");
        debug_assert!(self.part.is_none() || self.bags.bags() == 1, "a part of several bags");
        let rows = if self.bags.bags() == 0 { 0 } else { self.bags.end(self.bags.bags() - 1) };
        debug_assert!(self.positions.len() >= rows + self.distance, "B6");
    }

    /// Where the row of a position begins that is not left out.
    #[inline(always)]
    pub(in crate::kernels::reduce) fn row(&self, position: i64) -> *const u8 {
        if position == ZEROS { self.zeros } else { self.later_row(position) }
    }

    /// The address to prefetch for a position: any, where the position names no row.
    #[inline(always)]
    pub(in crate::kernels::reduce) fn later_row(&self, position: i64) -> *const u8 {
        self.data.wrapping_offset((position as isize).wrapping_mul(self.stride))
    }

    /// The weight of a row; null without weights.
    #[inline(always)]
    pub(in crate::kernels::reduce) fn weight(&self, row: usize) -> *const u8 {
        self.weights.wrapping_offset(self.weight_step.wrapping_mul(row as isize))
    }

    /// The value that bags begin with.
    #[inline(always)]
    pub(in crate::kernels::reduce) fn begin(&self) -> Begin {
        self.part.map_or(Begin::Row, |part| part.begin)
    }

    /// How many rows of a bag count, where the bag ends with these `rows` rows.
    #[inline(always)]
    pub(in crate::kernels::reduce) fn count(&self, rows: usize) -> Option<usize> {
        match self.part {
            None => Some(rows),
            Some(part) => part.ends.then_some(part.counted),
        }
    }
}

/// Facts about the one bag that the rows belong to. Without them, all rows of all bags count.
#[derive(Clone, Copy)]
pub(crate) struct Part {
    /// How many rows count, of these and of those before.
    pub(crate) counted: usize,
    pub(crate) begin: Begin,
    /// Whether the bag ends with these.
    pub(crate) ends: bool,
    /// Sums of this bag; null where the rows are all of it.
    pub(crate) carried: *mut u8,
}

/// The value that a part of a bag begins with.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Begin {
    /// Its first row that counts.
    Row,
    /// The sums of the part before it.
    Carried,
}

/// How many rows each bag has.
#[derive(Clone, Copy)]
pub(crate) enum Lengths<'a> {
    /// `len` for each of `bags` bags.
    Every { len: usize, bags: usize },
    /// Bag `b` has as many as entry `b + 1` is more than entry `b`. There is at least one.
    Between(&'a [usize]),
}

impl Lengths<'_> {
    /// The number of bags.
    #[inline(always)]
    pub(crate) fn bags(self) -> usize {
        match self {
            Lengths::Every { bags, .. } => bags,
            Lengths::Between(bounds) => bounds.len() - 1,
        }
    }

    /// Rows of bags up to the end of bag `bag`.
    #[inline(always)]
    pub(in crate::kernels::reduce) fn end(self, bag: usize) -> usize {
        match self {
            Lengths::Every { len, .. } => len * (bag + 1),
            Lengths::Between(bounds) => bounds[bag + 1] - bounds[0],
        }
    }
}

/// The functions that reduce bags of elements of a type.
#[derive(Clone, Copy)]
pub(crate) struct BagFns {
    pub(crate) plain: ByLevel<CompiledBagFn>,
    /// With weights; `None` where there is no such reduction.
    pub(crate) weighted: Option<ByLevel<CompiledBagFn>>,
    /// Bytes of a sum.
    pub(crate) sum: usize,
    /// The value of [`BagRows::divides`].
    pub(crate) divides: bool,
}

impl BagFns {
    /// A reduction without weights.
    pub(in crate::kernels::reduce) const fn plain<A: Accumulate<Item: Element>>() -> Self {
        BagFns { plain: in_memory::fns::<Plain<A>>(), weighted: None, sum: size_of::<A::Sum>(), divides: false }
    }

    /// A sum, which may have weights.
    pub(in crate::kernels::reduce) const fn weighted<A: Weigh>() -> Self {
        BagFns { weighted: Some(in_memory::fns::<Weighted<A>>()), ..Self::plain::<A>() }
    }
}
