//! Methods: the ways in which calls move data.

#![forbid(unsafe_code)]

use crate::types::declare::closed_set;

closed_set! {
/// The method by which a call moves data. Plans choose by shapes, widths and levels; force one to test or compare it.
///
/// A forced method that does not support a call is refused with
/// [`Error::MethodUnavailable`](crate::Error::MethodUnavailable). All methods give the same result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Method {
    /// Indices are resolved in 64 bits and rows are moved from their places, one by one or a few at a time. Takes any
    /// shape. Chosen for few rows or short inner loops, for elements whose indices are not contiguous, for axes beyond
    /// 32 bits, and, unless they are prefetched or gathered, for rows of up to 64 bytes by contiguous indices.
    Direct = "direct",
    /// Up to 512 indices are resolved, then their rows are moved. Outer loops that return to the same indices find
    /// them resolved. Takes axes within 32 bits.
    Blocks = "blocks",
    /// As `Blocks`, in chunks of 64 rows, of 128 in a scatter. Takes indices of one component.
    Chunks = "chunks",
    /// Indices are resolved in registers, and rows are loaded by them, in one loop. Takes contiguous indices of one
    /// component and rows of 4 and 8 bytes that are contiguous in the output, at the levels `Avx2` and `Avx512`; by
    /// indices of 4 and 8 bytes also rows of 12 bytes.
    Gathered = "gathered",
    /// As `Blocks`, and the rows of the next indices are prefetched. Takes rows of up to 256 bytes, in a scatter of
    /// any length. Chosen for data beyond the caches; on AMD for rows of a cache line or less.
    Prefetched = "prefetched",
    /// Data is held in registers and looked up by shuffles. Takes indices that reach at most 256 contiguous elements
    /// of 1 byte, 16 of 4 bytes or 8 of 8 bytes, at levels with vectors; at the levels `Neon` and `Simd128` also 32 of
    /// 2 bytes, and at the level `Avx512` 64 of 2 bytes, 32 of 4 bytes and 16 of 8 bytes. Contiguous indices of one
    /// byte look up bytes directly, without positions in between.
    Table = "table",
    /// Columns of data are copied into a contiguous scratch of the size of a cache, and gathered from there. Takes
    /// [`GatherElements`](crate::GatherElements) and [`ScatterElements`](crate::ScatterElements) along any axis but the
    /// last. A call allocates per task up to 2 MiB for a gather and half a MiB for a scatter, or a cache line per
    /// element of the axis if that is more; at most 32 MiB unless one task needs more.
    Panels = "panels",
    /// One index serves the whole inner loop, a strided copy. Takes inner loops along which the index is constant.
    StridedCopy = "strided_copy",
    /// As `Blocks`, or as `Prefetched` for rows of up to 256 bytes, with whole cache lines of the output written by
    /// non-temporal stores. Takes rows of a cache line or more, on x86-64; converted rows if they are contiguous, of
    /// elements of up to 4 KiB whose alignment is at most a cache line. Chosen for outputs beyond the caches; on AMD,
    /// if data is beyond the caches too, for rows of 2 KiB or more.
    Streamed = "streamed",
    /// The updates of a scatter are stably sorted by their target row, so that each row is read, reduced and written
    /// once. Takes any scatter. Chosen like `Accumulated`, if updates are few and the destination is large. Allocates
    /// 32 bytes per row of updates that a task has at a time, and a row of sums per task if sums are not elements.
    Grouped = "grouped",
    /// Rows are reduced into accumulators. Accumulators of bags are in registers or in the first-level cache, many
    /// columns at a time; [`EmbeddingBag`](crate::EmbeddingBag) has no other method. Accumulators of scatters are in
    /// separate memory. If sums are elements, the sums stay in the destination, and only counts of updates are in
    /// separate memory. Takes scatters with a reduction. Chosen for means, for sums and products of `f16` and `bf16`,
    /// and if the values of the destination are not used. For the chunk of the destination that a task has at a time,
    /// it allocates a count per row, and a sum per element if sums are not elements. It is chosen if this memory is at
    /// most 16 bytes per row of updates, or a quarter of a longer row. If targets ascend, a call without a forced
    /// method may reduce segments of equal targets instead, which allocates nothing.
    Accumulated = "accumulated",
    /// Streams of data are interleaved. The only method of [`BatchToSpace`](crate::BatchToSpace) and
    /// [`DepthToSpace`](crate::DepthToSpace).
    Interleaved = "interleaved",
    /// Data is split into streams. The only method of [`SpaceToBatch`](crate::SpaceToBatch) and
    /// [`SpaceToDepth`](crate::SpaceToDepth).
    Deinterleaved = "deinterleaved",
}
/// Every method.
pub const ALL;
/// The method's name, as printed by plans.
pub const fn name;
}
