//! The blocks of a pool: which ones it keeps, and which one a tensor takes.
//!
//! ```text
//! take:       the smallest kept block of the alignment and of 1 to 2 times the size; else a new one
//! give_back:  keep the block; free it if the limit would be exceeded or the pool is gone
//! ```
//!
//! Sizes are rounded up to classes, eight per power of two. A list for each class makes `take` and `give_back` short.
//! Only these lists allocate or free under the lock.

#![forbid(unsafe_code)]

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use super::sync::{Arc, Mutex, MutexGuard, PoisonError};
use crate::tensor::allocation::Allocation;
use crate::types::error::Error;

/// The owning handle of a pool, shared by its clones. Its drop frees kept blocks; blocks in use are freed on return.
pub(super) struct Owner(Arc<Shared>);

/// A tensor's handle of its pool.
#[derive(Clone)]
pub(super) struct Lender(Arc<Shared>);

struct Shared {
    /// Maximum bytes kept.
    limit: usize,
    kept: Mutex<Kept>,
}

#[derive(Default)]
struct Kept {
    /// By alignment, then by class.
    blocks: BTreeMap<usize, Vec<Vec<Allocation>>>,
    stats: PoolStats,
    /// Whether the pool is gone.
    is_over: bool,
}

/// Memory held by a pool, and how often it was reused: [`Pool::stats`](crate::Pool::stats).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct PoolStats {
    /// Bytes held for future tensors.
    pub bytes: usize,
    /// The number of blocks held.
    pub blocks: usize,
    /// The number of times a tensor took a held block.
    pub reused: u64,
    /// The number of times a tensor took memory from the allocator.
    pub allocated: u64,
}

impl Owner {
    pub(super) fn with_limit(limit: usize) -> Self {
        Owner(Arc::new(Shared { limit, kept: Mutex::new(Kept::default()) }))
    }

    pub(super) fn limit(&self) -> usize {
        self.0.limit
    }

    pub(super) fn lender(&self) -> Lender {
        Lender(Arc::clone(&self.0))
    }

    pub(super) fn stats(&self) -> PoolStats {
        self.0.lock().stats
    }

    pub(super) fn trim(&self) {
        self.0.trim(false);
    }
}

impl Drop for Owner {
    fn drop(&mut self) {
        self.0.trim(true);
    }
}

impl Lender {
    /// A block with an alignment and at least `bytes` bytes.
    ///
    /// # Errors
    /// [`Error::AllocationFailed`].
    pub(super) fn take(&self, bytes: usize, align: usize) -> Result<Allocation, Error> {
        let class = class_of(bytes).ok_or(Error::AllocationFailed { bytes })?;
        let mut kept = self.0.lock();
        if let Some(block) = kept.block(class, align) {
            kept.stats.reused += 1;
            kept.stats.blocks -= 1;
            kept.stats.bytes -= block.bytes();
            return Ok(block);
        }
        kept.stats.allocated += 1;
        drop(kept);
        let size = size_of_class(class);
        Allocation::new(size, align).or_else(|_| {
            self.0.trim(false);
            Allocation::new(size, align)
        })
    }

    /// Gives back a block that was taken; does nothing for an empty block.
    pub(super) fn give_back(&self, block: Allocation) {
        let size = block.bytes();
        let Some(class) = class_of(size).filter(|_| size > 0) else { return };
        let mut kept = self.0.lock();
        let bytes = kept.stats.bytes.saturating_add(size);
        if kept.is_over || bytes > self.0.limit {
            // Freed after the lock is released.
            drop(kept);
            return drop(block);
        }
        kept.stats.bytes = bytes;
        kept.stats.blocks += 1;
        let classes = kept.blocks.entry(block.align()).or_default();
        if classes.len() <= class {
            classes.resize_with(class + 1, Vec::new);
        }
        classes[class].push(block);
    }
}

impl Shared {
    /// Ignores poison: no call panics during a change, so lists and numbers always agree.
    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn trim(&self, for_good: bool) {
        let mut kept = self.lock();
        kept.is_over |= for_good;
        (kept.stats.bytes, kept.stats.blocks) = (0, 0);
        let blocks = core::mem::take(&mut kept.blocks);
        // Freed after the lock is released.
        drop(kept);
        drop(blocks);
    }
}

impl Kept {
    /// Removes a block of a class, or of up to twice its size.
    fn block(&mut self, class: usize, align: usize) -> Option<Allocation> {
        let classes = self.blocks.get_mut(&align)?.iter_mut().skip(class);
        classes.take(PER_POWER + 1).find_map(Vec::pop)
    }
}

/// The number of classes per power of two.
const PER_POWER: usize = 8;
/// The binary logarithm of the least size.
const MIN_LOG2: u32 = 9;

/// The least class of blocks of at least `bytes` bytes; `None` if `bytes > isize::MAX`.
fn class_of(bytes: usize) -> Option<usize> {
    let bytes = bytes.max(1 << MIN_LOG2);
    let power = bytes.ilog2();
    let step = (1 << power) / PER_POWER;
    let class = (power - MIN_LOG2) as usize * PER_POWER + (bytes.div_ceil(step) - PER_POWER);
    (bytes <= isize::MAX as usize).then_some(class)
}

fn size_of_class(class: usize) -> usize {
    (PER_POWER + class % PER_POWER) << (class / PER_POWER + (MIN_LOG2 - PER_POWER.ilog2()) as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_an_eighth_too_large_at_most() {
        for bytes in (1..5000).chain([1 << 20, (1 << 20) + 1, 3 << 29]) {
            let class = class_of(bytes).unwrap();
            let size = size_of_class(class);
            assert!(size >= bytes && size.is_multiple_of(64), "{bytes}: {size}");
            assert!(size <= bytes.max(512) + bytes.max(512) / 8, "{bytes}: {size}");
            assert_eq!((class_of(size), size_of_class(class + PER_POWER)), (Some(class), 2 * size));
        }
        let greatest = class_of(isize::MAX as usize).map(size_of_class);
        assert_eq!((greatest, class_of(usize::MAX)), (Some(1 << (usize::BITS - 1)), None));
    }
}
