//! Reducing the rows of bags, many columns at a time.
//!
//! ```text
//! for each panel of columns, as wide as there is room for sums of:
//!     for each bag:                               (`rows.rs`: one loop, for all that follow)
//!         begin: sums of no row                   (or those that an earlier part of the bag has left)
//!         for each row, in order:
//!             prefetch a later row                (of any bag)
//!             add the row, if it counts           (times its weight)
//!         end: out = sums, rounded or divided     (or they are left for the next part)
//! ```
//!
//! What adds a row is a type: [`AddRows`](rows::AddRows) and [`ReduceBags`](rows::ReduceBags). There are panels of
//! vectors in registers (`in_registers`, and `fused_avx2` for codes), batches of rows in memory (`in_memory`) and rows
//! that are decoded (`fused`).
//!
//! Vectors run across columns, so that each sum is that of the plain loop, to the bit. Sums are in the first-level
//! cache for any reduction (`in_memory`); for sums, means and greatest values of floats, in registers (`in_registers`).
//!
//! # The contract
//!
//! It holds for every [`BagRows`], which [`BagRows::new`] alone makes:
//!
//! - **B1** Each position of a row that is not negative reaches `elements` elements that may be read, `stride` bytes
//!   apart from one position to the next, at any alignment. They are values of the type that is reduced, or it takes
//!   any bytes. So do `zeros` where there are positions of [`ZERO_ROW`]. Only what is made for that type is given the
//!   rows: functions that reduce it, or a map of it (`exec/bag/converted.rs`).
//! - **B2** `out` may be written for `elements` elements for each bag, `out_stride` bytes apart from one bag to the
//!   next, which nothing else uses meanwhile.
//! - **B3** Where rows are weighted, there is a weight for each, `weight_step` bytes apart, of the same type, and only
//!   functions with weights are given the rows; elsewhere only those without.
//! - **B4** Each bag that begins with its first row has one that counts. A bag that is no part may have no rows at all,
//!   where zeros stand for it, and the zero of the output's elements is made of zero bytes. A part of a bag that does
//!   not end, or goes on with what is carried, has `carried`: room for as many sums and [`SPARE`] more, at any
//!   alignment, where the part before it has left its own.
//! - **B6** There are positions for all rows, and `distance` more.

mod batch;
mod finders;
mod fused;
#[cfg(target_arch = "x86_64")]
mod fused_avx2;
pub(in crate::kernels::reduce) mod in_memory;
#[cfg(target_arch = "x86_64")]
pub(in crate::kernels::reduce) mod in_registers;
mod positions;
#[cfg_attr(not(target_arch = "x86_64"), allow(dead_code, reason = "what only levels with vectors use"))]
mod rows;

pub(crate) use fused::{FusedBag, FusedOutput, fused};
pub(crate) use positions::{BagIndices, BagRule, IndexRuns, PositionsFn, PositionsFns};
pub(crate) use rows::{BagArgs, BagLengths, BagRows, PartialBag, Start};

use crate::kernels::by_level::{ByLevel, level_pointers};
use crate::kernels::reduce::accumulate::Accumulate;
use crate::types::element::Element;

/// Sums for which there is room besides those of all columns, where sums are carried.
pub(crate) const SPARE: usize = 32;
/// The position of a row that is left out, and does not count.
pub(crate) const SKIP: i64 = -1;
/// The position of a row of zeros, which counts.
pub(crate) const ZERO_ROW: i64 = -2;

/// Reduces rows of bags.
pub(crate) type BagFn = fn(&BagRows<'_>);

/// [`BagFn`], compiled for a level.
pub(crate) type CompiledBagFn = unsafe fn(&BagRows<'_>);

level_pointers! { fn(&BagRows<'_>); }

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
        BagFns { plain: in_memory::fns::<A, false>(), weighted: None, sum: size_of::<A::Sum>(), divides: false }
    }

    /// A sum, which may have weights.
    pub(in crate::kernels::reduce) const fn weighted<A: Accumulate<Item: Element>>() -> Self {
        assert!(A::WEIGHS, "a reduction with weights");
        BagFns { weighted: Some(in_memory::fns::<A, true>()), ..Self::plain::<A>() }
    }
}
