//! How a call gets at its data.

#![forbid(unsafe_code)]

use crate::types::declare::closed_set;

closed_set! {
/// How a call gets at its data. Plans choose by shapes, widths and levels; force one to test it or to compare.
///
/// A method that is forced on a call that it does not take is refused with
/// [`Error::MethodUnavailable`](crate::Error::MethodUnavailable). All methods give the same result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Method {
    /// Rows are resolved in 64 bits and moved from where they lie, one by one or a few at a time. Takes any shape.
    /// Chosen for few rows or short inner loops, for rows of up to 64 bytes by contiguous indices unless they are
    /// prefetched or gathered, for elements whose indices are not contiguous, and for axes beyond 32 bits.
    Direct = "direct",
    /// Up to 512 indices are resolved, then their rows are moved. Outer loops that come back to the same indices find
    /// them resolved. Takes axes within 32 bits.
    Blocks = "blocks",
    /// As `Blocks`, in chunks of 64 rows, of 128 in a scatter. Takes indices of one component.
    Chunks = "chunks",
    /// Indices are resolved in registers, and rows are loaded by them, in one loop. Takes rows of 4 and 8
    /// bytes, and by indices of 4 and 8 bytes those of 12 bytes, that are contiguous in the output, and contiguous
    /// indices of one component, at the levels `Avx2` and `Avx512`.
    Gathered = "gathered",
    /// As `Blocks`, and the rows of the next indices are prefetched. Takes rows of up to 256 bytes, in a scatter any.
    /// Chosen for data beyond the caches.
    Prefetched = "prefetched",
    /// Data lies in registers and is looked up by shuffles. Takes indices that reach at most 256 contiguous elements
    /// of 1 byte, 16 of 4 bytes or 8 of 8 bytes, at levels with vectors; at the levels `Neon` and `Simd128` also 32 of
    /// 2 bytes, and at the level `Avx512` 64 of 2 bytes, 32 of 4 bytes and 16 of 8 bytes. Bytes are looked up straight
    /// by contiguous indices of one byte, without positions between.
    Table = "table",
    /// Columns of data are copied into a contiguous scratch of the size of a cache, and gathered from there. Takes
    /// [`GatherElements`](crate::GatherElements) and [`ScatterElements`](crate::ScatterElements) off the last axis. A
    /// call allocates half a MiB a task for it, or a cache line for every element of the axis where that is more; at
    /// most 32 MiB unless one task needs more.
    Panels = "panels",
    /// One index serves the whole inner loop, which is a strided copy. Takes inner loops along which indices do not
    /// move.
    StridedCopy = "strided_copy",
    /// As `Blocks`, or as `Prefetched` for rows of up to 256 bytes, with whole cache lines of the output written by
    /// non-temporal stores. Takes rows of a line or more, on x86-64; converted ones where they are contiguous, of
    /// elements of up to 4 KiB that are aligned to a line at most. Chosen for outputs beyond the caches.
    Streamed = "streamed",
    /// The updates of a scatter are sorted by the row that they go to, in their order, so that each row is read,
    /// reduced and written once. Takes any scatter. Chosen as `Accumulated` is, where updates are few and the
    /// destination is large. Allocates 32 bytes for each row of updates that a task has at a time, and a row of sums for
    /// each task, where sums are no elements.
    Grouped = "grouped",
    /// Rows are reduced into accumulators. Those of bags are in registers or in the first-level cache, many columns at
    /// a time; [`EmbeddingBag`](crate::EmbeddingBag) has no other method. Those of scatters are in memory of their own,
    /// beside the destination; where sums are elements they stay in the destination, and only counts of updates are
    /// beside it. Takes scatters with a reduction. Chosen for means, for sums and products of `f16` and `bf16`, and
    /// where what the destination holds does not count. Allocates a count for each row, and a sum for each element
    /// where sums are no elements, of the part of the destination that a task has at a time, and is chosen where that
    /// is at most 16 bytes for each row of updates, or a quarter of a longer row. Where targets ascend, nothing is
    /// allocated, whatever the plan says.
    Accumulated = "accumulated",
    /// Streams of data are interleaved. The one method of [`BatchToSpace`](crate::BatchToSpace) and
    /// [`DepthToSpace`](crate::DepthToSpace).
    Interleaved = "interleaved",
    /// Data is taken apart into streams. The one method of [`SpaceToBatch`](crate::SpaceToBatch) and
    /// [`SpaceToDepth`](crate::SpaceToDepth).
    Deinterleaved = "deinterleaved",
}
/// Every method.
pub const ALL;
/// The method's name, as plans print it.
pub const fn name;
}
