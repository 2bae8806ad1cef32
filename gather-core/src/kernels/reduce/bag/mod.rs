//! Reductions of the rows of bags, many columns at a time.
//!
//! ```text
//! for each panel of columns, as wide as the sums that fit:
//!     for each bag:                               (`rows.rs`: one loop shared by all modules below)
//!         begin: sums of no row                   (or the sums carried from the previous partial bag)
//!         for each row, in order:
//!             prefetch a later row                (of any bag)
//!             add the row, if it counts           (times its weight)
//!         end: out = sums, rounded or divided     (or the sums are carried to the next partial bag)
//! ```
//!
//! Types that implement [`AddRows`](rows::AddRows) and [`ReduceBags`](rows::ReduceBags) add the rows: panels of vectors
//! in registers (`in_registers`, and `fused_avx2` for codes), batches of rows in memory (`in_memory`) and decoded rows
//! (`fused`).
//!
//! Vectors run across columns, so each sum equals the sum of the plain loop to the bit. Sums, means and maxima of
//! floats are in registers (`in_registers`), all other reductions in the first-level cache (`in_memory`).
//!
//! # The contract
//!
//! The contract holds for every [`BagRows`], which only [`BagRows::new`] makes:
//!
//! - **B1** Each non-negative position of a row reaches `elements` elements that may be read, at any alignment;
//!   adjacent positions are `stride` bytes apart. The elements are values of the reduced type, or that type takes any
//!   bytes. The same holds for `zeros` if there are positions of [`ZERO_ROW`]. Only functions of that type are given
//!   the rows: functions that reduce it, or a map of it (`exec/bag/converted.rs`).
//! - **B2** For each bag, `out` may be written for `elements` elements; adjacent bags are `out_stride` bytes apart.
//!   Nothing else uses this memory meanwhile.
//! - **B3** If rows are weighted, each has a weight of the same type, `weight_step` bytes apart, and only functions
//!   with weights are given the rows. Otherwise only functions without weights are.
//! - **B4** Each bag that begins with its first row has a row that counts. A bag that is not partial may have no rows
//!   at all; zeros are its result, and the zero of the output's elements consists of zero bytes. A partial bag that
//!   does not end, or that continues carried sums, has `carried`: memory for `elements + SPARE` sums ([`SPARE`]), at
//!   any alignment, in which the previous partial bag has left its sums.
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

/// The number of sums in `carried` after the sums of all columns.
pub(crate) const SPARE: usize = 32;
/// The position of a skipped row, which does not count.
pub(crate) const SKIP: i64 = -1;
/// The position of a row of zeros, which counts.
pub(crate) const ZERO_ROW: i64 = -2;

pub(crate) type BagFn = fn(&BagRows<'_>);

pub(crate) type CompiledBagFn = unsafe fn(&BagRows<'_>);

level_pointers! { fn(&BagRows<'_>); }

/// The functions that reduce bags of elements of a type.
#[derive(Clone, Copy)]
pub(crate) struct BagFns {
    pub(crate) plain: ByLevel<CompiledBagFn>,
    /// `None` for a reduction without weights.
    pub(crate) weighted: Option<ByLevel<CompiledBagFn>>,
    pub(crate) sum: usize,
    /// The value of [`BagArgs::divides`].
    pub(crate) divides: bool,
}

impl BagFns {
    pub(in crate::kernels::reduce) const fn plain<A: Accumulate<Item: Element>>() -> Self {
        BagFns { plain: in_memory::fns::<A, false>(), weighted: None, sum: size_of::<A::Sum>(), divides: false }
    }

    /// A sum, with and without weights.
    pub(in crate::kernels::reduce) const fn weighted<A: Accumulate<Item: Element>>() -> Self {
        assert!(A::WEIGHS, "a reduction with weights");
        BagFns { weighted: Some(in_memory::fns::<A, true>()), ..Self::plain::<A>() }
    }
}
