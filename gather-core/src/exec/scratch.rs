//! Memory of the workers of a call, uninitialised: whole lines of the cache.

use alloc::vec::Vec;
use core::cell::UnsafeCell;
use core::mem::MaybeUninit;

use crate::kernels::LINE;
use crate::plan::IndexPlan;
use crate::tensor::memory;
use crate::types::error::Error;

/// A line of the cache that may be written where its owner is shared.
#[repr(align(64))]
pub(super) struct Line(#[expect(dead_code, reason = "written by its address")] UnsafeCell<MaybeUninit<[u8; LINE]>>);

const _: () = assert!(align_of::<Line>() == LINE && size_of::<Line>() == LINE);

impl Line {
    #[inline(always)]
    pub(super) const fn uninit() -> Self {
        Line(UnsafeCell::new(MaybeUninit::uninit()))
    }
}

/// Memory for each worker of a call.
///
/// **R1** Each of the workers that a scratch was made for has `lines` lines of it to itself. They stay where they are
/// as long as the scratch lives.
pub(super) struct WorkerScratch<'a> {
    /// Only its capacity is used. Every pointer is taken from here anew, so that the memory has one owner, and points
    /// to cells.
    memory: Vec<Line>,
    /// The caller's buffer, where it has enough lines.
    near: &'a [Line],
    /// Lines of each worker, which threads do not share.
    lines: usize,
}

// SAFETY: X2: the lines are cells, and workers have numbers of their own, and so different lines (R1).
unsafe impl Sync for WorkerScratch<'_> {}

impl<'a> WorkerScratch<'a> {
    /// For `workers` workers, of `bytes` bytes each, in `near` where that is enough.
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

    /// For the rows that a plan decodes; `None` where it decodes nothing.
    ///
    /// # Errors
    /// [`Error::AllocationFailed`].
    #[inline(always)]
    pub(super) fn of_rows(plan: &IndexPlan, workers: usize) -> Result<Option<Self>, Error> {
        let Some(decoded) = plan.decoded() else { return Ok(None) };
        // Of an axis without elements no row is read.
        let reads = plan.axes().iter().all(|axis| axis.dim > 0);
        Self::new(if reads { decoded.rows.saturating_mul(decoded.stride) } else { 0 }, workers, &[]).map(Some)
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
