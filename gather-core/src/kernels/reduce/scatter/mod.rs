//! Scatters: the loop nest of a gather, run the other way.
//!
//! ```text
//! data[Σ c·data_stride + stride · position(c)]  (op)=  out[Σ c·out_stride]      for each coordinate c, in order
//! ```
//!
//! What a gather writes, a scatter reads: `out` are the updates. What a gather reads, a scatter changes: `data` is the
//! destination. So loops, cursors, resolving and loop nests are those of the gathers, and so are the adjoints of the
//! gathers scatters. A kernel is a loop nest of the gathers around a body of `bodies/scattered.rs`, for each index
//! type, rank and level; it does not depend on the width of rows. The body hands rows to a [`RowConsumer`], which
//!
//! - reduces them into the destination in their order (`rows`): a function for each reduction, type and level, in a
//!   form that compilers vectorise; single elements by their indices (`by_index`). Where rows are divided or begin
//!   anew, their updates are counted first (`counts`);
//! - or reduces them into accumulators beside the destination, by the same functions with records for rows
//!   (`accumulators`);
//! - or writes down which goes where (`entries`), to be sorted by destination and reduced group by group;
//! - or does nothing, where indices are only checked.
//!
//! Updates whose targets ascend need no kernel: they are reduced run by run, in registers (`runs`). What programs run
//! most is *hot* and has loops over elements of its own; all else is *cold*, and its rows are written down before they
//! are reduced (`stepped`).
//!
//! # The contract
//!
//! A job shows what holds of its rows: its fields are private, and it is made where that is argued for. What a function
//! is given of a row are `values`, which it loads and stores safely.
//!
//! The contract is that of the kernels, with these in place of K1, K2 and K8. By K4 the destination, which is written,
//! shares no byte with updates and indices, which are read; updates and indices may lie anywhere else.
//!
//! - **S1** Along every coordinate of the loops, `out` reaches `row` bytes of updates that may be read.
//! - **S2** What K2 lets a gather read may be written too, and nothing else reads or writes what of it this call's
//!   threads share: each row that begins at another place shares no byte with it, and the rows that one thread is given
//!   are given to no other.
//! - **S3** `params` is a [`RowConsumer`] that outlives the call. The `row` bytes are `elements` elements of the type that it
//!   reduces, at any alignment; as many bytes at the destination are values of that type, or it takes any bytes. One
//!   thread has a sink at a time.
//! - **S4** Where the sink has functions that take elements by their indices, they are those of the plan's types. The
//!   plan has found rows of as many elements as the functions take, and indices of one component, or an inner loop that
//!   stays at its tuple.

pub(in crate::kernels::reduce) mod accumulators;
pub(in crate::kernels::reduce) mod by_index;
pub(in crate::kernels::reduce) mod counts;
mod entries;
mod finders;
mod indexed;
mod read;
pub(in crate::kernels::reduce) mod rows;
pub(in crate::kernels::reduce) mod runs;
mod sink;
mod stepped;
pub(in crate::kernels::reduce) mod store;
mod values;

pub(crate) use accumulators::{AccumulatorFns, FEW_ELEMENTS, RecordedRows, RowsFn, RowsJob};
pub(crate) use by_index::{Elements, FusedScatterFns, STREAM_AHEAD};
pub(crate) use counts::{COUNT, begin_rows, count};
pub(crate) use entries::{Entry, part_of, sort};
pub(crate) use indexed::{IndexedElements, IndexedJob};
pub(crate) use rows::{Chosen, Ends, ReduceFn, ReduceJob, Row};
pub(crate) use runs::{Run, RunFns, SegmentsJob, SinglesJob, SortedIndices};
pub(crate) use sink::{Consume, RowConsumer, SelectedRows};
pub(crate) use stepped::StridedUpdates;

use crate::kernels::by_level::ByLevel;
use crate::kernels::prefetch::LINE;
use crate::kernels::reduce::accumulate::Combine;
use crate::kernels::reduce::scatter::by_index::ChooseFused;

/// The functions of a scatter that reduce elements of a type.
#[derive(Clone, Copy)]
pub struct ScatterFns {
    /// Rows one by one, where they lie; `None` where what stands between two updates is no element.
    pub(crate) rows: Option<RowFns>,
    /// A line of elements that rows begin with which do not count; `None` where there is no such element.
    pub(crate) identity: Option<fn() -> [u8; LINE]>,
    /// Divides rows by how many updates they have met, and 1 if they count themselves.
    pub(crate) divide: Option<RowsFn>,
    /// Rows that are reduced beside the destination.
    pub(crate) beside: Option<SeparateFns>,
    /// Updates that follow one another and go to one row.
    pub(crate) runs: Option<RunFns>,
    /// The same reduction for more updates than 32 bits count, where sums take more bits then.
    pub(in crate::kernels::reduce) of_many: Option<&'static ScatterFns>,
    /// Whether the last update stays: what the destination holds never counts.
    pub(crate) replaces: bool,
}

/// Reduces rows beside the destination, in records.
#[derive(Clone, Copy)]
pub(crate) struct SeparateFns {
    /// Of rows that count themselves or do not.
    pub(in crate::kernels::reduce) noted: AccumulatorFns,
    /// Of rows that count themselves, where that takes less.
    pub(in crate::kernels::reduce) begun: Option<AccumulatorFns>,
}

impl SeparateFns {
    /// The functions for rows that count themselves, or do not.
    pub(crate) fn records(&self, include_self: bool) -> &AccumulatorFns {
        self.begun.as_ref().filter(|_| include_self).unwrap_or(&self.noted)
    }
}

impl ScatterFns {
    /// Whether rows may be reduced where they lie, if need be once their updates are counted.
    pub(crate) fn takes_in_place(&self, include_self: bool) -> bool {
        self.rows.is_some() && (self.replaces || include_self || self.identity.is_some())
    }

    /// The functions for more updates than 32 bits count.
    pub(crate) fn of_many(&'static self) -> &'static Self {
        self.of_many.unwrap_or(self)
    }

    /// Nothing.
    pub(in crate::kernels::reduce) const NONE: Self = ScatterFns {
        rows: None,
        identity: None,
        divide: None,
        beside: None,
        runs: None,
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

    /// The same with loops of its own: also for short rows that do not count themselves, into records.
    pub(in crate::kernels::reduce) const fn hot<C: Combine>() -> Self {
        let rows = Some(rows::reduce::<C>(by_index::hot::<C, false>));
        let beside = Some(SeparateFns { noted: AccumulatorFns::hot::<C>(), begun: None });
        ScatterFns { rows, beside, runs: Some(runs::fns::<C>()), ..Self::cold::<C>() }
    }

    /// The same, that histograms are made by.
    pub(in crate::kernels::reduce) const fn counting<C: Combine>() -> Self {
        ScatterFns { rows: Some(rows::reduce::<C>(by_index::hot::<C, true>)), ..Self::hot::<C>() }
    }
}

/// Reduces rows one by one.
#[derive(Clone, Copy)]
pub(crate) struct RowFns {
    /// Rows whose indices have been resolved.
    pub(crate) resolved: ByLevel<unsafe fn(&ReduceJob<'_>)>,
    /// A few elements, by their indices: the same for all levels, of which none does better.
    pub(crate) by_index: ChooseFused,
}
