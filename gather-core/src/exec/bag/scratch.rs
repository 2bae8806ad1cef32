//! Scratch of the workers of a call: rows that a map has converted, and sums of long bags between their chunks.

#![forbid(unsafe_code)]

use core::ptr;

use crate::exec::bag::{BagCall, BagPartition};
use crate::exec::scratch::{Line, WorkerScratch};
use crate::kernels::reduce::bag::SPARE;
use crate::types::error::Error;

/// Uninitialised scratch on the stack. A call whose scratch fits in it allocates nothing.
pub(super) type Near = [Line; 64];

#[inline(always)]
pub(super) const fn near() -> Near {
    [const { Line::uninit() }; 64]
}

/// Scratch with separate lines per worker (R1): `rows` bytes for the rows of a conversion, then `sums` bytes for the
/// sums of all columns, with spare elements (B4).
pub(super) struct Scratch<'a> {
    memory: WorkerScratch<'a>,
    /// Bytes of a worker's rows.
    rows: usize,
    /// Bytes of a worker's sums, after its rows.
    sums: usize,
}

impl<'a> Scratch<'a> {
    /// Scratch for `workers` workers, in `near` if it is long enough.
    ///
    /// # Errors
    /// [`Error::AllocationFailed`].
    pub(super) fn new(call: &BagCall<'_>, cut: &BagPartition, workers: usize, near: &'a [Line]) -> Result<Self, Error> {
        let rows = call.map.map_or(0, |map| map.conversion.bytes());
        let sums = sums(call, cut);
        Ok(Scratch { memory: WorkerScratch::new(rows.saturating_add(sums), workers, near)?, rows, sums })
    }

    /// Whether `near` is long enough for a call on one thread.
    pub(super) fn is_near(call: &BagCall<'_>) -> bool {
        call.map.is_none() && sums(call, &BagPartition::ONE) <= size_of::<Near>()
    }

    /// R1: the rows of a worker.
    pub(super) fn rows(&self, worker: usize) -> *mut u8 {
        self.memory.of(worker)
    }

    /// R1: the sums of a worker; null if no bag has several chunks.
    pub(super) fn sums(&self, worker: usize) -> *mut u8 {
        if self.sums == 0 { ptr::null_mut() } else { self.rows(worker).wrapping_add(self.rows) }
    }
}

/// Bytes of the sums of a worker; 0 if no bag has several chunks.
fn sums(call: &BagCall<'_>, cut: &BagPartition) -> usize {
    let plan = call.plan;
    if call.bags.bounds.longest() <= call.part() {
        return 0;
    }
    let elements = match *cut {
        BagPartition::Bags(_) => plan.elements,
        // `BagPartition::chunk` rounds ends down by less than a unit.
        BagPartition::Columns(parts) => plan.elements.min(plan.elements.div_ceil(parts) + BagPartition::unit(plan)),
    };
    sums_of_run(call, elements).saturating_mul(plan.runs).saturating_mul(plan.fns.sum)
}

/// Elements of the sums of a run of `columns` columns, with `SPARE` more per conversion (1 without a map): B4.
pub(super) fn sums_of_run(call: &BagCall<'_>, columns: usize) -> usize {
    let times = call.map.map_or(1, |map| columns.div_ceil(map.conversion.columns));
    columns.saturating_mul(call.plan.values).saturating_add(times.saturating_mul(SPARE))
}
