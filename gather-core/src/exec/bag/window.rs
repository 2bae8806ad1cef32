//! Window of positions: indices of bags resolved ahead of their use, across the ends of bags.

use core::mem::MaybeUninit;

use crate::kernels::reduce::bag::{BagIndices, PositionsFn};

/// Maximum rows per reduction.
pub(super) const PART: usize = 512;
/// Maximum rows to prefetch ahead.
pub(super) const AHEAD: usize = 32;
/// Positions of a window: of two reductions, so that each `advance` but the last resolves more than `PART - AHEAD`.
const BUFFER: usize = 2 * PART + AHEAD;

/// The position to prefetch after the last index: row 0, which is harmless.
pub(super) const PLACEHOLDER: MaybeUninit<i64> = MaybeUninit::new(0);

/// The buffer of a window, separate from [`Window`] so that moving a window is cheap.
pub(super) struct PositionBuffer([MaybeUninit<i64>; BUFFER]);

impl PositionBuffer {
    #[inline(always)]
    pub(super) fn new() -> Self {
        PositionBuffer([const { MaybeUninit::uninit() }; BUFFER])
    }
}

/// Positions of contiguous indices.
pub(super) struct Window<'a> {
    positions: PositionsFn,
    indices: BagIndices<'a>,
    /// End of the caller's indices.
    end: usize,
    /// Number of positions to prefetch after the rows' positions.
    ahead: usize,
    /// W1: `buffer[..stop - start]` has the positions of `start..stop`. If `stop == end`, `ahead` placeholders follow.
    buffer: &'a mut [MaybeUninit<i64>; BUFFER],
    start: usize,
    stop: usize,
    bad: bool,
}

impl<'a> Window<'a> {
    /// An empty window onto the indices `..end`.
    pub(super) fn new(
        buffer: &'a mut PositionBuffer,
        positions: PositionsFn,
        indices: BagIndices<'a>,
        end: usize,
        ahead: usize,
    ) -> Self {
        debug_assert!(ahead <= AHEAD && end <= indices.n());
        let buffer = &mut buffer.0;
        if end == 0 {
            buffer[..ahead].fill(PLACEHOLDER);
        }
        Window { positions, indices, end, ahead, buffer, start: 0, stop: 0, bad: false }
    }

    /// The positions of at least `n` indices from `at` on (`n <= PART`), then `ahead` positions to prefetch. `at` does
    /// not decrease from call to call; `at + n <= end`.
    #[inline]
    pub(super) fn rows(&mut self, at: usize, n: usize) -> &[i64] {
        debug_assert!(at >= self.start && at + n <= self.end && n <= PART);
        if self.stop < self.end && at + n + self.ahead > self.stop {
            self.advance(at);
        }
        let follow = if self.stop == self.end { self.ahead } else { 0 };
        let known = &self.buffer[at - self.start..self.stop + follow - self.start];
        // SAFETY: W1: `known` has the positions of indices `at..stop` and, if `stop == end`, the placeholders.
        unsafe { &*(core::ptr::from_ref(known) as *const [i64]) }
    }

    /// Moves the start of the window to index `at`, and fills it.
    fn advance(&mut self, at: usize) {
        let kept = self.stop.saturating_sub(at);
        self.buffer.copy_within(self.stop - self.start - kept..self.stop - self.start, 0);
        let first = at + kept;
        let more = (BUFFER - AHEAD - kept).min(self.end - first);
        self.bad |= (self.positions)((self.indices, first, &mut self.buffer[kept..kept + more]));
        (self.start, self.stop) = (at, first + more);
        if self.stop == self.end {
            self.buffer[kept + more..][..self.ahead].fill(PLACEHOLDER);
        }
    }

    /// Whether an index was out of range under a policy that makes it an error.
    pub(super) fn is_bad(&self) -> bool {
        self.bad
    }
}
