//! Single elements that are reduced by their indices, and parts of them.

#![forbid(unsafe_code)]

use crate::kernels::args::Loop;
use crate::kernels::moves::prefetch::NextSlice;
use crate::kernels::reduce::scatter::by_index::MovedFn;
use crate::types::policy::IndexPolicy;

/// Elements of the inner loops of a plane.
#[derive(Clone, Copy)]
pub(crate) struct IndexedJob {
    /// Elements of an inner loop, at least 1.
    pub(crate) n: usize,
    /// The loop around the inner ones.
    pub(crate) outer: Loop,
    pub(crate) index: *const u8,
    /// The size of the axis.
    pub(crate) dim: u64,
    pub(crate) policy: IndexPolicy,
    /// Bytes of an index.
    pub(crate) index_bytes: usize,
    /// Whether the index type has values below 0.
    pub(crate) is_signed: bool,
    /// The position of an index that is none, under the policies `Clamp` and `Wrap`.
    pub(crate) moved: MovedFn,
    pub(crate) updates: *const u8,
    /// Bytes from one iteration to the next, of indices and of updates.
    pub(crate) index_step: isize,
    pub(crate) updates_step: isize,
    /// The destination at position 0 of the first iteration.
    pub(crate) destination: *mut u8,
    /// Bytes of the destination from one position to the next, and from one iteration to the next.
    pub(crate) stride: isize,
    pub(crate) destination_step: isize,
    /// The part of the next coordinate's destination to prefetch at the same time.
    pub(crate) next: NextSlice,
}

impl IndexedJob {
    /// The inner loops after some.
    #[inline(always)]
    pub(in crate::kernels::reduce) fn after(&self, planes: usize) -> IndexedJob {
        let (outer, along) = (self.outer, |step: isize| step.wrapping_mul(planes as isize));
        IndexedJob {
            outer: Loop { n: outer.n - planes, ..outer },
            index: self.index.wrapping_offset(along(outer.index)),
            updates: self.updates.wrapping_offset(along(outer.out)),
            destination: self.destination.wrapping_offset(along(outer.data)),
            next: self.next.moved(along(outer.data)),
            ..*self
        }
    }

    /// The first inner loops.
    #[inline(always)]
    pub(in crate::kernels::reduce) fn first(&self, planes: usize) -> IndexedJob {
        IndexedJob { outer: Loop { n: planes, ..self.outer }, ..*self }
    }

    /// The first elements of each inner loop.
    #[inline(always)]
    pub(in crate::kernels::reduce) fn up_to(&self, elements: usize) -> IndexedJob {
        IndexedJob { n: self.n.min(elements), ..*self }
    }

    /// The inner loop from an iteration on.
    #[inline(always)]
    pub(in crate::kernels::reduce) fn rest(&self, done: usize) -> IndexedJob {
        let along = |step: isize| step.wrapping_mul(done as isize);
        IndexedJob {
            n: self.n - done,
            outer: Loop::ONCE,
            index: self.index.wrapping_offset(along(self.index_step)),
            updates: self.updates.wrapping_offset(along(self.updates_step)),
            destination: self.destination.wrapping_offset(along(self.destination_step)),
            next: NextSlice::NONE,
            ..*self
        }
    }
}
