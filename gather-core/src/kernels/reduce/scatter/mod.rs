//! Scatters: the loop nest of a gather, with reads and writes exchanged.
//!
//! ```text
//! data[Σ c·data_stride + stride · position(c)]  (op)=  out[Σ c·out_stride]      for each coordinate c, in order
//! ```
//!
//! A scatter reads the memory that a gather writes: `out` are the updates. It changes the memory that a gather reads:
//! `data` is the destination. So loops, cursors, resolving and loop nests are shared with the gathers, and the adjoints
//! of gathers are scatters. A kernel is a loop nest of the gathers around a body of `bodies/scattered.rs`, for each
//! index type, rank and level; it does not depend on the width of rows. The body hands rows to a [`RowConsumer`], which
//!
//! - reduces them into the destination in order (`rows`): a function for each reduction, type and level, in a form that
//!   compilers vectorise. Single elements are reduced by their indices (`by_index`). If rows are divided, or
//!   `include_self` is `false`, their updates are counted first (`counts`);
//! - or reduces them into separate accumulators, by the same functions with records in place of rows (`accumulators`);
//! - or collects entries of updates and targets (`entries`), to be sorted by destination and reduced group by group;
//! - or ignores them, if only indices are checked.
//!
//! Updates with ascending targets need no kernel: they are reduced segment by segment, in registers (`segments`).
//! Common reductions are *hot* and have specialised loops over elements; all others are *cold*, and their rows are
//! buffered before they are reduced (`stepped`).
//!
//! # The contract
//!
//! A job proves the properties of its rows: its fields are private, and its constructor states them. Functions access a
//! row as `values`, whose loads and stores are safe.
//!
//! The contract is the contract of the kernels, with S1 to S4 in place of K1, K2 and K8. By K4 the destination, which
//! is written, shares no byte with updates and indices, which are read; updates and indices may overlap each other.
//!
//! - **S1** Along every coordinate of the loops, `out` reaches `row` bytes of updates that may be read.
//! - **S2** Memory that K2 lets a gather read may be written, too. Nothing else reads or writes the memory that the
//!   threads of this call share. Rows that begin at different addresses share no byte, and the rows of one thread are
//!   given to no other.
//! - **S3** `params` is a [`RowConsumer`] that outlives the call. The `row` bytes are `elements` elements of the type
//!   that it reduces, at any alignment; so are the `row` bytes at the destination, or the type takes any bytes. A
//!   consumer is used by one thread at a time.
//! - **S4** If the consumer has functions that take elements by their indices, they are for the plan's types. The plan
//!   has found rows of the functions' number of elements, and indices of one component, or an inner loop that does not
//!   move the tuple.

pub(in crate::kernels::reduce) mod accumulators;
pub(in crate::kernels::reduce) mod by_index;
mod consumer;
pub(in crate::kernels::reduce) mod counts;
mod entries;
mod finders;
mod indexed;
mod read;
pub(in crate::kernels::reduce) mod rows;
pub(in crate::kernels::reduce) mod segments;
mod stepped;
pub(in crate::kernels::reduce) mod store;
mod values;

pub(crate) use accumulators::{AccumulatorFns, FEW_ELEMENTS, RecordedRows, RowsFn, RowsJob};
pub(crate) use by_index::{Elements, FusedScatterFns, STREAM_AHEAD};
pub(crate) use consumer::{Consume, RowConsumer, SelectedRows};
pub(crate) use counts::{COUNT, begin_rows, count};
pub(crate) use entries::{Entry, part_of, sort};
pub(crate) use indexed::{IndexedElements, IndexedJob};
pub(crate) use rows::{ChosenRows, Ends, ReduceFn, ReduceJob, Row};
pub(crate) use segments::{Segment, SegmentFns, SegmentsJob, SinglesJob, SortedIndices};
pub(crate) use stepped::StridedUpdates;

use crate::kernels::by_level::ByLevel;
use crate::kernels::prefetch::LINE;
use crate::kernels::reduce::accumulate::Combine;
use crate::kernels::reduce::scatter::by_index::ChooseFused;

/// The functions of a scatter for one reduction and type.
#[derive(Clone, Copy)]
pub struct ScatterFns {
    /// Reduces rows in place; `None` if intermediate results are not elements.
    pub(crate) rows: Option<RowFns>,
    /// A line of initial elements for rows without `include_self`; `None` if there is no identity.
    pub(crate) identity: Option<fn() -> [u8; LINE]>,
    /// Divides rows by `updates + include_self`.
    pub(crate) divide: Option<RowsFn>,
    pub(crate) beside: Option<SeparateFns>,
    /// Reduces segments.
    pub(crate) segments: Option<SegmentFns>,
    /// The reduction if `updates + 1 >= 2^32`; `None` if it is this one.
    pub(in crate::kernels::reduce) of_many: Option<&'static ScatterFns>,
    /// Whether the last update wins: the destination never counts.
    pub(crate) replaces: bool,
}

/// Reduces rows in separate records.
#[derive(Clone, Copy)]
pub(crate) struct SeparateFns {
    /// For any `include_self`.
    pub(in crate::kernels::reduce) noted: AccumulatorFns,
    /// For `include_self`, if cheaper.
    pub(in crate::kernels::reduce) begun: Option<AccumulatorFns>,
}

impl SeparateFns {
    /// The functions for records that begin with the destination iff `include_self`.
    pub(crate) fn records(&self, include_self: bool) -> &AccumulatorFns {
        self.begun.as_ref().filter(|_| include_self).unwrap_or(&self.noted)
    }
}

impl ScatterFns {
    /// Whether rows may be reduced in place, if need be after their updates are counted.
    pub(crate) fn takes_in_place(&self, include_self: bool) -> bool {
        self.rows.is_some() && (self.replaces || include_self || self.identity.is_some())
    }

    pub(crate) fn of_many(&'static self) -> &'static Self {
        self.of_many.unwrap_or(self)
    }

    pub(in crate::kernels::reduce) const NONE: Self = ScatterFns {
        rows: None,
        identity: None,
        divide: None,
        beside: None,
        segments: None,
        of_many: None,
        replaces: false,
    };

    /// A reduction whose intermediate results are elements.
    pub(in crate::kernels::reduce) const fn cold<C: Combine>() -> Self {
        let rows = Some(rows::reduce::<C>(by_index::cold::<C>));
        if C::IDENTITY.is_some() {
            return ScatterFns { rows, identity: Some(counts::identity::<C>), ..Self::NONE };
        }
        let beside = SeparateFns { noted: AccumulatorFns::cold::<C>(), begun: None };
        ScatterFns { rows, beside: Some(beside), ..Self::NONE }
    }

    /// [`ScatterFns::cold`] with specialised loops; short rows without `include_self` have loops into records.
    pub(in crate::kernels::reduce) const fn hot<C: Combine>() -> Self {
        let rows = Some(rows::reduce::<C>(by_index::hot::<C, false>));
        let beside = Some(SeparateFns { noted: AccumulatorFns::hot::<C>(), begun: None });
        ScatterFns { rows, beside, segments: Some(segments::fns::<C>()), ..Self::cold::<C>() }
    }

    /// [`ScatterFns::hot`] with a loop for histograms.
    pub(in crate::kernels::reduce) const fn counting<C: Combine>() -> Self {
        ScatterFns { rows: Some(rows::reduce::<C>(by_index::hot::<C, true>)), ..Self::hot::<C>() }
    }
}

#[derive(Clone, Copy)]
pub(crate) struct RowFns {
    /// Rows with resolved indices.
    pub(crate) resolved: ByLevel<unsafe fn(&ReduceJob<'_>)>,
    /// A few elements, by their indices: one function for all levels, since no level is faster.
    pub(crate) by_index: ChooseFused,
}
