//! Uninitialised scratch of the workers of a call, in whole cache lines.

use alloc::vec::Vec;
use core::cell::UnsafeCell;
use core::mem::MaybeUninit;

use crate::kernels::LINE;
use crate::plan::IndexPlan;
use crate::tensor::memory;
use crate::types::error::Error;

/// A cache line that may be written through a shared reference to its owner.
#[repr(align(64))]
pub(super) struct Line(#[expect(dead_code, reason = "written by its address")] UnsafeCell<MaybeUninit<[u8; LINE]>>);

const _: () = assert!(align_of::<Line>() == LINE && size_of::<Line>() == LINE);

impl Line {
    #[inline(always)]
    pub(super) const fn uninit() -> Self {
        Line(UnsafeCell::new(MaybeUninit::uninit()))
    }
}

/// Scratch of each worker of a call.
///
/// **R1** Each worker for which the scratch was made has `lines` lines to itself, at fixed addresses.
pub(super) struct WorkerScratch<'a> {
    /// Only the capacity is used. `of` derives every pointer from the vector anew, so the memory has one owner. All
    /// pointers point to cells.
    memory: Vec<Line>,
    /// The caller's buffer, if it is long enough.
    near: &'a [Line],
    /// Lines of each worker; no line is shared.
    lines: usize,
}

// SAFETY: X2: the lines are cells, and workers with distinct numbers use different lines (R1).
unsafe impl Sync for WorkerScratch<'_> {}

impl<'a> WorkerScratch<'a> {
    /// Scratch of `bytes` bytes for each of `workers` workers, in `near` if it is long enough.
    ///
    /// # Errors
    /// [`Error::AllocationFailed`].
    pub(super) fn new(bytes: usize, workers: usize, near: &'a [Line]) -> Result<Self, Error> {
        let lines = bytes.div_ceil(LINE);
        let all = lines.saturating_mul(workers);
        let (memory, near) = match near.get(..all) {
            Some(near) => (Vec::new(), near),
            None => (memory::reserve(all)?, &[][..]),
        };
        Ok(WorkerScratch { memory, near, lines })
    }

    /// Scratch for the rows that a plan decodes; `None` if it decodes none.
    ///
    /// # Errors
    /// [`Error::AllocationFailed`].
    #[inline(always)]
    pub(super) fn of_rows(plan: &IndexPlan, workers: usize) -> Result<Option<Self>, Error> {
        let Some(decoded) = plan.decoded() else { return Ok(None) };
        // On an axis without elements no row is read.
        let reads = plan.axes().iter().all(|axis| axis.dim > 0);
        Self::new(if reads { decoded.bytes() } else { 0 }, workers, &[]).map(Some)
    }

    /// Bytes of each worker.
    pub(super) fn bytes(&self) -> usize {
        self.lines * LINE
    }

    /// R1: the first byte of a worker's lines.
    #[inline(always)]
    pub(super) fn of(&self, worker: usize) -> *mut u8 {
        let (first, count) = match self.near {
            [] => (self.memory.as_ptr(), self.memory.capacity()),
            near => (near.as_ptr(), near.len()),
        };
        assert!((worker + 1) * self.lines <= count, "a worker without a scratch");
        first.wrapping_add(worker * self.lines).cast_mut().cast()
    }
}
