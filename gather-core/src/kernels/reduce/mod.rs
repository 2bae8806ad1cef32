//! Scatters: the loop nest of a gather, run the other way.
//!
//! ```text
//! data[Σ c·data_stride + stride · position(c)]  (op)=  out[Σ c·out_stride]      for each coordinate c, in order
//! ```
//!
//! What a gather writes, a scatter reads: `out` are the updates. What a gather reads, a scatter changes: `data` is the
//! destination. So loops, cursors, resolving and loop nests are those of the gathers, and so are the adjoints of the
//! gathers scatters. A kernel is a loop nest of the gathers around a body of `bodies/scattered.rs`, for each index
//! type, rank and level; it does not depend on the width of rows. The body hands rows to a [`Sink`], which
//!
//! - reduces them into the destination in their order (`rows`): a function for each reduction, type and level, in a
//!   form that compilers vectorise; single elements by their indices (`by_index`);
//! - or reduces them into accumulators beside the destination, by the same functions with records for rows
//!   (`accumulators`);
//! - or writes down which goes where (`entries`), to be sorted by destination and reduced group by group;
//! - or does nothing, where indices are only checked.
//!
//! # The contract
//!
//! That of the kernels, with these in place of K1, K2 and K8. By K4 the destination, which is written, shares no byte
//! with updates and indices, which are read; updates and indices may lie anywhere else.
//!
//! - **S1** Along every coordinate of the loops, `out` reaches `row` bytes of updates that may be read.
//! - **S2** What K2 lets a gather read may be written too, and nothing else reads or writes what of it this call's
//!   threads share: each row that begins at another place shares no byte with it, and the rows that one thread is given
//!   are given to no other.
//! - **S3** `params` is a [`Sink`] that outlives the call. The `row` bytes are `elements` elements of the type that it
//!   reduces, at any alignment; as many bytes at the destination are values of that type, or it takes any bytes. One
//!   thread has a sink at a time.
//! - **S4** Where the sink has functions that take elements by their indices, they are those of the plan's types. The
//!   plan has found rows of one element, or of as many as the functions take into records, and indices of one
//!   component, or an inner loop that stays at its tuple; and what the functions say besides ([`Updates::One`]).

mod accumulators;
mod bag;
mod builtin;
mod by_index;
mod entries;
mod fused;
#[cfg(target_arch = "x86_64")]
mod fused_avx2;
mod in_memory;
#[cfg(target_arch = "x86_64")]
mod in_registers;
mod indexed;
mod number;
mod one_update;
mod positions;
mod read;
pub(crate) mod reducer;
mod rows;
mod sink;
mod sorted;
mod step;
mod stepped;
mod store;
#[cfg(target_arch = "x86_64")]
mod vectors;

pub(crate) use accumulators::{AccumulatorFns, FEW_ELEMENTS, RowsFn, RowsJob};
pub(crate) use bag::{BagFn, BagFns, BagRows, Begin, LEFT_OUT, Lengths, Part, SPARE};
pub(crate) use builtin::Reductions;
pub(crate) use by_index::{IndexedFns, MovedFn, STREAM_AHEAD, Updates, moved};
pub(crate) use entries::{Entries, SortedRows, Span};
pub(crate) use fused::{FusedBag, FusedOutput, fused};
pub(crate) use indexed::IndexedJob;
pub(crate) use positions::{BagIndices, PositionsFn, positions, positions_of};
pub use rows::Combine;
pub(crate) use rows::{Chosen, Ends, ReduceFn};
pub(crate) use sink::{Owner, Sink, Take, Which};
pub(crate) use sorted::SortedJob;

use crate::kernels::by_level::ByLevel;
use crate::kernels::reduce::accumulators::GroupFns;
use crate::kernels::reduce::by_index::ChooseByIndex;

/// The functions of a scatter that reduce elements of a type.
#[derive(Clone, Copy)]
pub(crate) struct ScatterFns {
    /// Rows one by one; `None` where what stands between two updates is no element.
    pub(crate) rows: Option<RowFns>,
    /// Rows that are grouped by destination; `None` where the last row stays.
    pub(crate) groups: Option<GroupFns>,
}

impl ScatterFns {
    /// A reduction whose intermediate results are elements.
    const fn of<C: Combine>() -> Self {
        ScatterFns { rows: Some(rows::reduce::<C>()), groups: Some(GroupFns::plain::<C>()) }
    }
}

/// Reduces rows one by one.
#[derive(Clone, Copy)]
pub(crate) struct RowFns {
    /// Rows whose indices have been resolved.
    pub(crate) resolved: ByLevel<ReduceFn>,
    /// Single elements, by their indices: the same for all levels, of which none does better.
    pub(crate) by_index: ChooseByIndex,
}
