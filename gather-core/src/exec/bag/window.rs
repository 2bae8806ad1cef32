//! Positions of a stretch of the indices of bags, resolved ahead of their use, across the ends of bags.

use core::mem::MaybeUninit;

use crate::kernels::reduce::{BagIndices, PositionsFn};

/// The most rows that are reduced at a time.
pub(super) const PART: usize = 512;
/// Positions of a window. Twice a part, so that what is kept of it is a part and some rows ahead at most.
const ROOM: usize = 2 * PART;

/// Positions of indices that follow one another.
pub(super) struct Window<'a> {
    positions: PositionsFn,
    indices: &'a BagIndices,
    /// The first index that is not the caller's.
    end: usize,
    /// W1: positions of the indices from `start` to `stop` are initialised, from the first of the room on.
    room: [MaybeUninit<i64>; ROOM],
    start: usize,
    stop: usize,
    bad: bool,
}

impl<'a> Window<'a> {
    /// A window onto the indices before `end`, which has none yet.
    pub(super) fn new(positions: PositionsFn, indices: &'a BagIndices, end: usize) -> Self {
        let room = [const { MaybeUninit::uninit() }; ROOM];
        Window { positions, indices, end, room, start: 0, stop: 0, bad: false }
    }

    /// The positions of `n <= PART` indices from `at` on, and of up to `ahead` after them. No call goes back.
    ///
    /// # Safety
    /// The indices before the window's end may be read as values of their type (K3); `at + n` is at most that.
    pub(super) unsafe fn rows(&mut self, at: usize, n: usize, ahead: usize) -> (&[i64], &[i64]) {
        debug_assert!(at >= self.start && at + n <= self.end && n <= PART && ahead <= PART / 2);
        if self.stop < self.end && at + n + ahead > self.stop {
            // SAFETY: the caller's promise.
            unsafe { self.advance(at) };
        }
        let from = &self.room[at - self.start..self.stop - self.start];
        // SAFETY: W1.
        let known = unsafe { &*(core::ptr::from_ref(from) as *const [i64]) };
        let (rows, after) = known.split_at(n);
        (rows, &after[..ahead.min(after.len())])
    }

    /// Moves the window on to index `at`, and fills it.
    ///
    /// # Safety
    /// As for [`Window::rows`].
    unsafe fn advance(&mut self, at: usize) {
        let kept = self.stop.saturating_sub(at);
        self.room.copy_within(self.stop - self.start - kept..self.stop - self.start, 0);
        let first = at + kept;
        let more = (ROOM - kept).min(self.end - first);
        // SAFETY: as many indices, before the end.
        self.bad |= unsafe { (self.positions)(self.indices, first, &mut self.room[kept..kept + more]) };
        (self.start, self.stop) = (at, first + more);
    }

    /// Whether an index was out of range where that is an error.
    pub(super) fn is_bad(&self) -> bool {
        self.bad
    }
}
