//! The positions of a block of indices, and which indices are out of range.

use core::mem::MaybeUninit;

/// Maximum indices of a block. Their positions take 2 KiB, a small part of any first-level cache.
pub(crate) const BLOCK: usize = 512;

/// A buffer for the positions of a block, aligned to a line: a read soon after a store across two lines is slow.
#[repr(align(64))]
pub(crate) struct Positions([MaybeUninit<i32>; BLOCK]);

impl Positions {
    #[inline(always)]
    pub(crate) fn new() -> Self {
        Positions([const { MaybeUninit::uninit() }; BLOCK])
    }

    #[inline(always)]
    pub(crate) fn as_ptr(&self) -> *const i32 {
        self.0.as_ptr().cast()
    }

    #[inline(always)]
    pub(crate) fn as_mut_ptr(&mut self) -> *mut i32 {
        self.0.as_mut_ptr().cast()
    }

    /// Writes the first positions, at most the length of the buffer.
    #[inline(always)]
    pub(crate) fn write(&mut self, positions: impl Iterator<Item = i32>) {
        self.0.iter_mut().zip(positions).for_each(|(slot, position)| {
            slot.write(position);
        });
    }

    /// The first `n` positions as a slice.
    ///
    /// # Safety
    /// The first `n` positions have been written.
    #[inline(always)]
    pub(crate) unsafe fn written(&mut self, n: usize) -> &mut [i32] {
        debug_assert!(n <= BLOCK);
        // SAFETY: by the caller's contract, the first `n` positions have been written, so `n <= BLOCK`.
        unsafe { core::slice::from_raw_parts_mut(self.as_mut_ptr(), n) }
    }
}

/// Whether an index of a resolved block is out of range, and which positions mark such an index.
#[derive(Clone, Copy)]
pub(crate) struct Block {
    has_bad: bool,
    /// Positions below `least` mark an index out of range, if `has_bad`.
    least: i32,
}

/// The position of a tuple out of range: -1 may be a valid position, if scales are negative.
pub(in crate::kernels) const BAD_TUPLE: i32 = i32::MIN;

impl Block {
    #[inline(always)]
    pub(crate) fn new() -> Self {
        Block { has_bad: false, least: 0 }
    }

    #[inline(always)]
    pub(crate) fn has_bad(&self) -> bool {
        self.has_bad
    }

    /// Positions below `least` mark an index out of range, if [`Block::has_bad`].
    #[inline(always)]
    pub(crate) fn least(&self) -> i32 {
        self.least
    }

    /// Whether a position marks an index out of range, if [`Block::has_bad`].
    #[inline(always)]
    pub(crate) fn is_bad(&self, position: i32) -> bool {
        position < self.least
    }

    /// Notes whether an index is out of range, with -1 as its position.
    #[inline(always)]
    pub(crate) fn note(&mut self, out_of_range: bool) {
        *self = Block { has_bad: out_of_range, least: 0 };
    }

    /// Notes that a tuple is out of range, with [`BAD_TUPLE`] as its position.
    #[inline(always)]
    pub(in crate::kernels) fn note_bad_tuple(&mut self) {
        *self = Block { has_bad: true, least: BAD_TUPLE + 1 };
    }
}
