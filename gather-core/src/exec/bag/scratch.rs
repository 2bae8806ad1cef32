//! Memory of the workers of a call: rows that a map has converted, and the sums of long bags, between their parts.

#![forbid(unsafe_code)]

use alloc::vec::Vec;

use crate::exec::bag::{Cut, part};
use crate::kernels::LINE;
use crate::kernels::reduce::SPARE;
use crate::plan::BagPlan;
use crate::tensor::memory;
use crate::types::error::Error;

/// **R1** Each of the workers that a scratch was made for has `bytes` bytes of `memory` to itself, which begin with a
/// line: first the rows of its conversion, then, where a bag has several parts, room for the sums of all its columns
/// and those to spare (B4). The memory stays where it is as long as the scratch lives.
pub(super) struct Scratch {
    memory: Vec<u8>,
    /// Where that of the first worker begins, with a line.
    base: *mut u8,
    /// Bytes for each worker, whole lines.
    bytes: usize,
    /// Bytes of its rows.
    rows: usize,
}

impl Scratch {
    /// For so many workers.
    ///
    /// # Errors
    /// [`Error::AllocationFailed`].
    pub(super) fn new(plan: &BagPlan, cut: &Cut, workers: usize) -> Result<Self, Error> {
        let rows = plan.conversion().map_or(0, |conversion| conversion.bytes());
        let bytes = rows.saturating_add(sums(plan, cut)).div_ceil(LINE).saturating_mul(LINE);
        // R1: threads do not share a line, and the first line need not begin with the memory.
        let room = if bytes == 0 { 0 } else { bytes.saturating_mul(workers).saturating_add(LINE) };
        let mut memory = memory::reserve::<u8>(room)?;
        let start = memory.as_mut_ptr();
        let base = start.wrapping_add(start.addr().next_multiple_of(LINE) - start.addr());
        Ok(Scratch { memory, base, bytes, rows })
    }

    /// R1: the rows of a worker.
    pub(super) fn rows(&self, worker: usize) -> *mut u8 {
        assert!((worker + 1) * self.bytes + LINE <= self.memory.capacity(), "a worker without room");
        self.base.wrapping_add(worker * self.bytes)
    }

    /// R1: the sums of a worker; null where no bag has several parts.
    pub(super) fn sums(&self, worker: usize) -> *mut u8 {
        if self.bytes == self.rows {
            return core::ptr::null_mut();
        }
        self.rows(worker).wrapping_add(self.rows)
    }
}

/// Bytes of the sums of a worker; 0 where no bag has several parts.
fn sums(plan: &BagPlan, cut: &Cut) -> usize {
    if plan.bounds().longest() <= part(plan) {
        return 0;
    }
    let elements = match *cut {
        Cut::Bags(_) => plan.elements(),
        // Ends are moved by less than a unit.
        Cut::Columns(parts) => plan.elements().min(plan.elements().div_ceil(parts) + Cut::unit(plan)),
    };
    sums_of_run(plan, elements).saturating_mul(plan.runs()).saturating_mul(plan.request().fns.sum)
}

/// Sums of a run of so many columns for which there is room: those of the columns that are reduced at a time, with some
/// to spare (B4), and so on.
pub(super) fn sums_of_run(plan: &BagPlan, columns: usize) -> usize {
    let times = plan.conversion().map_or(1, |conversion| columns.div_ceil(conversion.columns));
    columns.saturating_mul(plan.values()).saturating_add(times.saturating_mul(SPARE))
}
