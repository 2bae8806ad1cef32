//! The blocks of a pool: which are kept, and which a tensor takes.
//!
//! ```text
//! take:       the smallest block that is kept, of the alignment, and of one to two times the size; else a new one
//! give_back:  keep the block, or free it where the limit would be passed
//! ```
//!
//! A tensor holds a [`Lender`], which does not keep the pool alive. A block that comes back when the pool is gone is
//! freed. Nothing is allocated or freed under the lock, except the list of blocks itself.

#![forbid(unsafe_code)]

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use super::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use crate::tensor::allocation::Allocation;
use crate::types::error::Error;

/// The blocks that a pool and its clones share.
pub(super) struct Shared {
    /// The most bytes that are kept.
    pub(super) limit: usize,
    kept: Mutex<Kept>,
}

/// The blocks that a pool keeps.
#[derive(Default)]
struct Kept {
    /// By alignment and bytes.
    blocks: BTreeMap<(usize, usize), Vec<Allocation>>,
    stats: PoolStats,
}

/// The memory that a pool holds, and how often that was of use: [`Pool::stats`](crate::Pool::stats).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct PoolStats {
    /// Bytes that are held for tensors to come.
    pub bytes: usize,
    /// The blocks that they are.
    pub blocks: usize,
    /// How often a tensor took a block that was held.
    pub taken_again: u64,
    /// How often one asked the allocator.
    pub allocated: u64,
}

impl Shared {
    pub(super) fn with_limit(limit: usize) -> Arc<Self> {
        Arc::new(Shared { limit, kept: Mutex::new(Kept::default()) })
    }

    pub(super) fn stats(&self) -> PoolStats {
        self.lock().stats
    }

    /// No call panics in the midst of a change: the list and its numbers agree in any case.
    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take(&self, bytes: usize, align: usize) -> Result<Allocation, Error> {
        let size = size_of_block(bytes);
        let mut kept = self.lock();
        let mut fitting = kept.blocks.range_mut((align, size)..=(align, size.saturating_mul(2)));
        let found = fitting.find_map(|(_, blocks)| blocks.pop());
        if let Some(block) = found {
            kept.stats.taken_again += 1;
            kept.stats.blocks -= 1;
            kept.stats.bytes -= block.bytes();
            return Ok(block);
        }
        kept.stats.allocated += 1;
        drop(kept);
        Allocation::new(size, align).or_else(|_| {
            self.trim();
            Allocation::new(size, align)
        })
    }

    /// Frees all blocks.
    pub(super) fn trim(&self) {
        let mut kept = self.lock();
        (kept.stats.bytes, kept.stats.blocks) = (0, 0);
        let blocks = core::mem::take(&mut kept.blocks);
        // Freed when the lock is no longer held.
        drop(kept);
        drop(blocks);
    }

    fn give_back(&self, block: Allocation) {
        let mut kept = self.lock();
        let bytes = kept.stats.bytes.saturating_add(block.bytes());
        if bytes > self.limit {
            // Freed when the lock is no longer held.
            drop(kept);
            return drop(block);
        }
        kept.stats.bytes = bytes;
        kept.stats.blocks += 1;
        kept.blocks.entry((block.align(), block.bytes())).or_default().push(block);
    }
}

/// A pool as its tensors know it.
pub(super) struct Lender(Weak<Shared>);

impl Lender {
    pub(super) fn of(pool: &Arc<Shared>) -> Self {
        Lender(Arc::downgrade(pool))
    }

    /// A block of an alignment for `bytes` bytes, at least one. Where the pool is gone, it is as large as that.
    ///
    /// # Errors
    /// [`Error::AllocationFailed`].
    pub(super) fn take(&self, bytes: usize, align: usize) -> Result<Allocation, Error> {
        self.0.upgrade().map_or_else(|| Allocation::new(bytes, align), |pool| pool.take(bytes, align))
    }

    /// Gives a block back to the pool, or frees it where that is gone.
    pub(super) fn give_back(&self, block: Allocation) {
        if let Some(pool) = self.0.upgrade().filter(|_| block.bytes() > 0) {
            pool.give_back(block);
        }
    }
}

/// The size of blocks for `bytes` bytes: eight for each power of two, and whole lines.
fn size_of_block(bytes: usize) -> usize {
    const LEAST: usize = 512;
    let bytes = bytes.max(LEAST);
    // More than memory holds.
    if bytes > isize::MAX as usize {
        return bytes;
    }
    let step = (bytes + 1).next_power_of_two() / 16;
    bytes.checked_next_multiple_of(step).unwrap_or(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_an_eighth_too_large_at_most() {
        for bytes in (1..5000).chain([1 << 20, (1 << 20) + 1, 3 << 30]) {
            let size = size_of_block(bytes);
            assert!(size >= bytes && size.is_multiple_of(64), "{bytes}: {size}");
            assert!(size <= bytes.max(512) + bytes.max(512) / 8, "{bytes}: {size}");
            assert_eq!(size_of_block(size), size);
        }
        assert_eq!([usize::MAX, isize::MAX as usize].map(size_of_block), [usize::MAX, 1 << (usize::BITS - 1)]);
    }
}
