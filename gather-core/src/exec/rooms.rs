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

/// Room for rows that are decoded, for each worker of a call.
pub(super) struct RowRooms {
    /// Only its capacity is used.
    memory: Vec<Line>,
    /// Lines of a worker; `None` where nothing is decoded.
    lines: Option<usize>,
}

// SAFETY: X2: the lines are cells, and workers that share the rooms write to lines of their own.
unsafe impl Sync for RowRooms {}

impl RowRooms {
    /// Rooms for the rows of a plan.
    ///
    /// # Errors
    /// [`Error::AllocationFailed`].
    #[inline(always)]
    pub(super) fn new(plan: &IndexPlan, workers: usize) -> Result<Self, Error> {
        let Some(decoded) = plan.decoded() else { return Ok(RowRooms { memory: Vec::new(), lines: None }) };
        // Of an axis without elements no row is read.
        let reads = plan.axes().iter().all(|axis| axis.dim > 0);
        let bytes = if reads { decoded.rows.saturating_mul(decoded.stride) } else { 0 };
        Self::of_lines(bytes.div_ceil(LINE), workers)
    }

    #[cold]
    fn of_lines(lines: usize, workers: usize) -> Result<Self, Error> {
        Ok(RowRooms { memory: memory::reserve(lines.saturating_mul(workers))?, lines: Some(lines) })
    }

    /// The room of a worker, aligned to a line; `None` where nothing is decoded.
    #[inline(always)]
    pub(super) fn of(&self, worker: usize) -> Option<*mut u8> {
        let lines = self.lines?;
        assert!((worker + 1) * lines <= self.memory.capacity(), "a worker without a room");
        Some(self.memory.as_ptr().wrapping_add(worker * lines).cast_mut().cast())
    }
}
