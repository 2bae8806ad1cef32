//! Memory of the workers of a call: rows that a map has converted, and the sums of long bags, between their parts.

#![forbid(unsafe_code)]

use core::ptr;

use crate::exec::bag::{BagCall, BagPartition};
use crate::exec::scratch::{Line, WorkerScratch};
use crate::kernels::reduce::bag::SPARE;
use crate::types::error::Error;

/// An uninitialised buffer for the scratch of a short call, which then needs no memory from the allocator.
pub(super) type Near = [Line; 64];

/// The buffer.
#[inline(always)]
pub(super) const fn near() -> Near {
    [const { Line::uninit() }; 64]
}

/// Each worker has lines to itself (R1): first the rows of its conversion, then, where a bag has several parts, the sums
/// of all its columns, with some to spare (B4).
pub(super) struct Scratch<'a> {
    memory: WorkerScratch<'a>,
    /// Bytes of a worker's rows, and of its sums behind them.
    rows: usize,
    sums: usize,
}

impl<'a> Scratch<'a> {
    /// For `workers` workers, in `near` where that has as many lines.
    ///
    /// # Errors
    /// [`Error::AllocationFailed`].
    pub(super) fn new(call: &BagCall<'_>, cut: &BagPartition, workers: usize, near: &'a [Line]) -> Result<Self, Error> {
        let rows = call.map.map_or(0, |map| map.conversion.bytes());
        let sums = sums(call, cut);
        Ok(Scratch { memory: WorkerScratch::new(rows.saturating_add(sums), workers, near)?, rows, sums })
    }

    /// Whether a call that runs on one thread finds its scratch near.
    pub(super) fn is_near(call: &BagCall<'_>) -> bool {
        call.map.is_none() && sums(call, &BagPartition::ONE) <= size_of::<Near>()
    }

    /// R1: the rows of a worker.
    pub(super) fn rows(&self, worker: usize) -> *mut u8 {
        self.memory.of(worker)
    }

    /// R1: the sums of a worker; null where no bag has several parts.
    pub(super) fn sums(&self, worker: usize) -> *mut u8 {
        if self.sums == 0 { ptr::null_mut() } else { self.rows(worker).wrapping_add(self.rows) }
    }
}

/// Bytes of the sums of a worker; 0 where no bag has several parts.
fn sums(call: &BagCall<'_>, cut: &BagPartition) -> usize {
    let plan = call.plan;
    if call.bags.bounds.longest() <= call.part() {
        return 0;
    }
    let elements = match *cut {
        BagPartition::Bags(_) => plan.elements,
        // Ends are moved by less than a unit.
        BagPartition::Columns(parts) => plan.elements.min(plan.elements.div_ceil(parts) + BagPartition::unit(plan)),
    };
    sums_of_run(call, elements).saturating_mul(plan.runs).saturating_mul(plan.fns.sum)
}

/// Elements of the buffer for the sums of a run of `columns` columns: those of the columns that are reduced at a
/// time, with some to spare (B4), and so on.
pub(super) fn sums_of_run(call: &BagCall<'_>, columns: usize) -> usize {
    let times = call.map.map_or(1, |map| columns.div_ceil(map.conversion.columns));
    columns.saturating_mul(call.plan.values).saturating_add(times.saturating_mul(SPARE))
}
