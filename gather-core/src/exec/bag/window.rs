//! Positions of a stretch of the indices of bags, resolved ahead of their use, across the ends of bags.

use core::mem::MaybeUninit;

use crate::kernels::reduce::bag::{BagIndices, PositionsFn};

/// The most rows that are reduced at a time.
pub(super) const PART: usize = 512;
/// The most rows that are prefetched.
pub(super) const AHEAD: usize = 32;
/// Positions of a window: those of two parts, so that fewer positions are moved along with a window than are resolved.
const ROOM: usize = 2 * PART + AHEAD;

/// The position after the last one. To prefetch its row does no harm.
pub(super) const PLACEHOLDER: MaybeUninit<i64> = MaybeUninit::new(0);

/// The buffer for the positions of a window, which would be moved with it.
pub(super) struct Room([MaybeUninit<i64>; ROOM]);

impl Room {
    #[inline(always)]
    pub(super) fn new() -> Self {
        Room([const { MaybeUninit::uninit() }; ROOM])
    }
}

/// Positions of indices that follow one another.
pub(super) struct Window<'a> {
    positions: PositionsFn,
    indices: BagIndices<'a>,
    /// The first index that is not the caller's.
    end: usize,
    /// How many positions follow those of rows, to be prefetched.
    ahead: usize,
    /// W1: positions of the indices from `start` to `stop` are initialised, from the first of the buffer on, and at the
    /// end of the indices as many more as are to follow.
    room: &'a mut [MaybeUninit<i64>; ROOM],
    start: usize,
    stop: usize,
    bad: bool,
}

impl<'a> Window<'a> {
    /// A window onto the indices before `end`, which has none yet.
    pub(super) fn new(
        room: &'a mut Room,
        positions: PositionsFn,
        indices: BagIndices<'a>,
        end: usize,
        ahead: usize,
    ) -> Self {
        debug_assert!(ahead <= AHEAD && end <= indices.n());
        let room = &mut room.0;
        if end == 0 {
            room[..ahead].fill(PLACEHOLDER);
        }
        Window { positions, indices, end, ahead, room, start: 0, stop: 0, bad: false }
    }

    /// The positions of `n <= PART` indices or more from `at` on, and behind them those to be prefetched. From call to
    /// call `at` does not decrease; `at + n` is at most the window's end.
    #[inline]
    pub(super) fn rows(&mut self, at: usize, n: usize) -> &[i64] {
        debug_assert!(at >= self.start && at + n <= self.end && n <= PART);
        if self.stop < self.end && at + n + self.ahead > self.stop {
            self.advance(at);
        }
        let follow = if self.stop == self.end { self.ahead } else { 0 };
        let known = &self.room[at - self.start..self.stop + follow - self.start];
        // SAFETY: W1: positions of the window, and those that follow the last one.
        unsafe { &*(core::ptr::from_ref(known) as *const [i64]) }
    }

    /// Moves the window on to index `at`, and fills it.
    fn advance(&mut self, at: usize) {
        let kept = self.stop.saturating_sub(at);
        self.room.copy_within(self.stop - self.start - kept..self.stop - self.start, 0);
        let first = at + kept;
        let more = (ROOM - AHEAD - kept).min(self.end - first);
        self.bad |= (self.positions)((self.indices, first, &mut self.room[kept..kept + more]));
        (self.start, self.stop) = (at, first + more);
        if self.stop == self.end {
            self.room[kept + more..][..self.ahead].fill(PLACEHOLDER);
        }
    }

    /// Whether an index was out of range where that is an error.
    pub(super) fn is_bad(&self) -> bool {
        self.bad
    }
}
