//! Single elements reduced by their indices, and chunks of them.

use core::ops::Deref;

use crate::kernels::nest::args::Loop;
use crate::kernels::prefetch::NextSlice;
use crate::kernels::reduce::scatter::read::ReadIndex;
use crate::kernels::reduce::scatter::rows::Ends;
use crate::kernels::reduce::scatter::stepped::StridedUpdates;
use crate::kernels::reduce::scatter::values::RowPair;
use crate::types::element::Unaligned;
use crate::types::policy::KernelPolicy;

/// Elements of the inner loops of a plane: addresses only, without a proof.
#[derive(Clone, Copy)]
pub(crate) struct IndexedElements {
    /// Elements per inner loop, at least 1.
    pub(crate) n: usize,
    /// The loop around the inner ones.
    pub(crate) outer: Loop,
    pub(crate) index: *const u8,
    pub(crate) dim: u64,
    pub(crate) policy: KernelPolicy,
    pub(crate) index_bytes: usize,
    pub(crate) is_signed: bool,
    pub(crate) updates: *const u8,
    /// Bytes of indices between iterations.
    pub(crate) index_step: isize,
    /// Bytes of updates between iterations.
    pub(crate) updates_step: isize,
    /// The destination at position 0 of the first iteration.
    pub(crate) destination: *mut u8,
    /// Bytes of the destination between positions.
    pub(crate) stride: isize,
    /// Bytes of the destination between iterations.
    pub(crate) destination_step: isize,
    /// The chunk of the next coordinate's destination to prefetch meanwhile.
    pub(crate) next: NextSlice,
}

/// Elements whose indices may be read. An element may be reduced if its index is in range.
#[derive(Clone, Copy)]
pub(crate) struct IndexedJob(IndexedElements);

/// A position in range along the axis of its job.
#[derive(Clone, Copy)]
pub(in crate::kernels::reduce) struct Position(u64);

impl Deref for IndexedJob {
    type Target = IndexedElements;

    #[inline(always)]
    fn deref(&self) -> &IndexedElements {
        &self.0
    }
}

impl IndexedJob {
    /// The job of `elements`.
    ///
    /// # Safety
    /// K3 for the indices; S1, S2, S3 and K4 for the elements whose indices are in range. The job is given only to
    /// functions that reduce rows of these elements, by indices of this size (S4).
    #[inline(always)]
    pub(crate) unsafe fn new(elements: IndexedElements) -> Self {
        IndexedJob(elements)
    }

    /// The inner loops from `planes` on.
    #[inline(always)]
    pub(in crate::kernels::reduce) fn after(&self, planes: usize) -> IndexedJob {
        debug_assert!(planes <= self.outer.n);
        let (outer, along) = (self.outer, |step: isize| step.wrapping_mul(planes as isize));
        IndexedJob(IndexedElements {
            outer: Loop { n: outer.n - planes, ..outer },
            index: self.index.wrapping_offset(along(outer.index)),
            updates: self.updates.wrapping_offset(along(outer.out)),
            destination: self.destination.wrapping_offset(along(outer.data)),
            next: self.next.moved(along(outer.data)),
            ..self.0
        })
    }

    /// The first `planes` inner loops.
    #[inline(always)]
    pub(in crate::kernels::reduce) fn take(&self, planes: usize) -> IndexedJob {
        debug_assert!(planes <= self.outer.n);
        IndexedJob(IndexedElements { outer: Loop { n: planes, ..self.outer }, ..self.0 })
    }

    /// The first `elements` elements of each inner loop.
    #[inline(always)]
    pub(in crate::kernels::reduce) fn up_to(&self, elements: usize) -> IndexedJob {
        IndexedJob(IndexedElements { n: self.n.min(elements), ..self.0 })
    }

    /// The first inner loop from iteration `done` on.
    #[inline(always)]
    pub(in crate::kernels::reduce) fn rest(&self, done: usize) -> IndexedJob {
        debug_assert!(done <= self.n && self.outer.n > 0);
        let along = |step: isize| step.wrapping_mul(done as isize);
        IndexedJob(IndexedElements {
            n: self.n - done,
            outer: Loop::ONCE,
            index: self.index.wrapping_offset(along(self.index_step)),
            updates: self.updates.wrapping_offset(along(self.updates_step)),
            destination: self.destination.wrapping_offset(along(self.destination_step)),
            next: NextSlice::NONE,
            ..self.0
        })
    }

    /// The same elements with constant steps: contiguous indices of `index` bytes and updates of `bytes` bytes.
    #[inline(always)]
    pub(in crate::kernels::reduce) fn contiguous(&self, index: usize, bytes: usize) -> IndexedJob {
        let (index_step, updates_step) = (index as isize, bytes as isize);
        debug_assert_eq!(
            [index_step, updates_step],
            [self.index_step, self.updates_step],
            "as the function takes them"
        );
        IndexedJob(IndexedElements { index_step, updates_step, ..self.0 })
    }

    /// The same elements with constant steps: rows of `bytes` bytes, contiguous along the axis of the destination,
    /// which the loop does not move.
    #[inline(always)]
    pub(in crate::kernels::reduce) fn packed(&self, bytes: usize) -> IndexedJob {
        let (stride, destination_step) = (bytes as isize, 0);
        debug_assert_eq!(
            [stride, destination_step],
            [self.stride, self.destination_step],
            "as the function takes them"
        );
        IndexedJob(IndexedElements { stride, destination_step, ..self.0 })
    }

    /// The rows of the first inner loop at `position`, if they share one index.
    #[inline(always)]
    pub(super) fn stepped(&self, position: Position) -> StridedUpdates {
        debug_assert!(self.index_step == 0 && self.outer.n > 0 && position.0 < self.dim, "S1, S2");
        let steps = [self.updates_step, self.destination_step];
        // SAFETY: S1, S2 and K4 for the `n` elements of an inner loop: a `Position` is in range.
        unsafe { StridedUpdates::new(self.ends(0, position.0), steps, self.n) }
    }

    /// The index of element `at` of the first inner loop, as an unsigned number.
    #[inline(always)]
    pub(in crate::kernels::reduce) fn index<R: ReadIndex>(&self, at: usize) -> u64 {
        debug_assert!(at < self.n && self.outer.n > 0, "K3");
        let index = self.index.wrapping_offset(self.index_step.wrapping_mul(at as isize));
        if R::bytes(self.index_bytes) > R::BYTES {
            // SAFETY: K3: index `at < n` of an inner loop, of 8 bytes, at any alignment.
            return unsafe { index.cast::<u64>().read_unaligned() };
        }
        // SAFETY: K3: index `at < n` of an inner loop, at any alignment.
        unsafe { index.cast::<R::Value>().read_unaligned() }.into()
    }

    /// The position of an index that is neither negative nor out of range.
    #[inline(always)]
    pub(in crate::kernels::reduce) fn position(&self, index: u64) -> Option<Position> {
        (index < self.dim).then_some(Position(index))
    }

    /// The row of updates of element `at` of the first inner loop, and the row at `position`.
    #[inline(always)]
    pub(in crate::kernels::reduce) fn row(&self, at: usize, position: Position, elements: usize) -> RowPair {
        let Ends { updates, destination } = self.ends(at, position.0);
        debug_assert!(at < self.n && self.outer.n > 0 && position.0 < self.dim, "S1, S2");
        // SAFETY: S1, S2 and K4 for element `at < n` of the job: a `Position` is in range. S4: the caller's function
        // takes rows of `elements` elements.
        unsafe { RowPair::new(updates, destination, elements) }
    }

    /// The ends of element `at` of the inner loop; `position` may be out of range.
    #[inline(always)]
    pub(super) fn ends(&self, at: usize, position: u64) -> Ends {
        let along = |step: isize| step.wrapping_mul(at as isize);
        Ends {
            updates: self.updates.wrapping_offset(along(self.updates_step)),
            destination: self
                .destination
                .wrapping_offset(self.stride.wrapping_mul(position as isize))
                .wrapping_offset(along(self.destination_step)),
        }
    }

    /// The updates of the first `n` elements of the inner loop: contiguous rows of `elements` values.
    #[inline(always)]
    pub(super) fn updates<T: Copy>(&self, n: usize, elements: usize) -> &[Unaligned<T>] {
        debug_assert!(n <= self.n && self.outer.n > 0, "S1");
        debug_assert_eq!(self.updates_step, (elements * size_of::<T>()) as isize, "S4");
        // SAFETY: S1 and S4: `n` contiguous rows of updates, at any alignment.
        unsafe { core::slice::from_raw_parts(self.updates.cast(), n * elements) }
    }

    /// The same elements with other updates: contiguous rows of `elements` values.
    ///
    /// # Safety
    /// The updates outlive the job, and have the type that the job's function reduces.
    #[inline(always)]
    pub(super) unsafe fn with_updates<T>(&self, updates: &[T], elements: usize) -> IndexedJob {
        debug_assert!(self.n * elements <= updates.len(), "S1");
        let updates_step = (elements * size_of::<T>()) as isize;
        IndexedJob(IndexedElements { updates: updates.as_ptr().cast(), updates_step, ..self.0 })
    }
}
