//! Accumulators: records or counts, separate from the destination.

#![forbid(unsafe_code)]

use crate::kernels::reduce::scatter::{AccumulatorFns, COUNT};
use crate::kernels::{Component, Loop};
use crate::plan::fold::count;
use crate::plan::nest::is_free;
use crate::plan::reduce::ReduceRequest;

/// Records or counts for the rows of a destination (`kernels/reduce/scatter/accumulators.rs`,
/// `kernels/reduce/scatter/counts.rs`).
///
/// Numbers of records fit in an `i32`, and their offsets in bytes in an `isize`.
#[derive(Clone, Copy)]
pub(crate) struct Accumulators {
    /// The functions of records; `None` for counts, whose rows are reduced in place.
    pub(crate) records: Option<&'static AccumulatorFns>,
    /// Bytes of a record, or of a count.
    pub(crate) record: usize,
    /// Bytes of all records.
    pub(crate) bytes: usize,
    /// Bytes of the records that the indices of one coordinate reach.
    pub(crate) reach: usize,
}

/// Maximum bytes of accumulators per row of updates to prefer them to sorted entries, which take 32 bytes per row.
const BYTES_AN_UPDATE: usize = 16;
/// Divides the bytes of a long row to give this maximum: sorting reads updates out of order.
const PART_OF_AN_UPDATE: usize = 4;

/// The accumulators of a loop nest, as records or counts. `None` if the reduction has none, or if there are too many.
pub(super) fn of(
    request: &ReduceRequest,
    kind: RecordKind,
    components: &[Component],
    loops: &[Loop],
    stride: isize,
    elements: usize,
) -> Option<Accumulators> {
    let records = match kind {
        RecordKind::Records => Some(request.reducer.beside.as_ref()?.records(request.include_self)),
        RecordKind::Counts if !request.counts() => return None,
        RecordKind::Counts => None,
    };
    // Counts have 32 bits.
    u32::try_from(count(loops).checked_add(1)?).ok()?;
    let axes =
        components.iter().try_fold(1usize, |n, component| n.checked_mul(usize::try_from(component.dim).ok()?))?;
    let step = |component: &Component| stride.wrapping_mul(component.scale as isize).unsigned_abs();
    let widest = components.iter().map(step).max().unwrap_or(0);
    let free = || loops.iter().filter(|along| is_free(along));
    let product = |n: usize, along: &Loop| n.checked_mul(along.n);
    let rows = free().try_fold(axes, product)?;
    let within = free().filter(|along| along.data.unsigned_abs() < widest).try_fold(axes, product)?;
    i32::try_from(rows).ok()?;
    let record = records.map_or(COUNT, |fns| fns.record(elements));
    let bytes = rows.checked_mul(record).filter(|&bytes| isize::try_from(bytes).is_ok())?;
    Some(Accumulators { records, record, bytes, reach: within.saturating_mul(record) })
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum RecordKind {
    Records,
    Counts,
}

impl Accumulators {
    /// Whether accumulators are small enough to prefer them to sorting a nest's updates of `row` bytes each.
    pub(super) fn are_small(&self, loops: &[Loop], row: usize) -> bool {
        self.bytes <= count(loops).saturating_mul(BYTES_AN_UPDATE.max(row / PART_OF_AN_UPDATE))
    }
}
