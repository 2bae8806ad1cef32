//! Memory of outputs that is used again: [`Pool`].

use alloc::collections::BTreeMap;
use alloc::sync::{Arc, Weak};
use alloc::vec::Vec;
use core::fmt;
use core::marker::PhantomData;
use core::slice;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::tensor::allocation::Allocation;
use crate::tensor::layout::Shape;
use crate::tensor::output::{Output, Resize, Sealed, Target};
use crate::tensor::owned::Tensor;
use crate::tensor::view::{View, ViewMut};
use crate::types::element::{DType, Element, IsElement};
use crate::types::error::Error;

/// Memory of outputs that is used again, as the caching allocators of engines do.
///
/// A fresh output of some megabytes costs more than the gather that fills it: the system clears its pages, and takes a
/// fault for each. A pool hands out [`Pooled`] tensors, whose memory comes back to it when they are
/// dropped, on any thread. They are an [`Output`]: every `run_into` whose types the compiler knows takes them. Memory
/// is shared by elements of any type of the same alignment.
///
/// A clone is the same pool. When the last one is dropped, so is the memory that it holds; tensors that are still there
/// keep theirs, and free it themselves.
///
/// Cost: a lock for each tensor that takes memory, and one when it is dropped. Memory is taken from the allocator in
/// sizes of which there are eight for each power of two, from 512 bytes on. A block that is held serves where it is at
/// most twice the size that would be taken. Where the allocator has no memory, all that is held is freed first.
///
/// ```
/// use gather_core::{Gather, Pool, View};
///
/// fn main() -> Result<(), gather_core::Error> {
///     let (pool, table) = (Pool::new(), [0.0f32, 0.5, 1.0, 1.5, 2.0, 2.5]);
///     let table = View::new(&table, &[3, 2])?;
///     for ids in [&[2u32, 0][..], &[1]] {
///         // The second call takes the memory of the first.
///         let mut rows = pool.tensor();
///         Gather::new(0).run_into(&table, &View::new(ids, &[ids.len()])?, &mut rows)?;
///         assert_eq!(rows.shape(), [ids.len(), 2]);
///     }
///     assert_eq!((pool.stats().taken_again, pool.stats().blocks), (1, 1));
///     Ok(())
/// }
/// ```
#[derive(Clone)]
pub struct Pool {
    shared: Arc<Shared>,
}

struct Shared {
    /// The most bytes that are held.
    limit: usize,
    held: Mutex<Held>,
}

/// The memory that a pool holds.
#[derive(Default)]
struct Held {
    /// By alignment and bytes.
    blocks: BTreeMap<(usize, usize), Vec<Allocation>>,
    stats: PoolStats,
}

/// The memory that a pool holds, and how often that was of use: [`Pool::stats`].
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

impl Default for Pool {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Pool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pool").field("limit", &self.shared.limit).field("stats", &self.stats()).finish()
    }
}

impl Pool {
    /// A pool that holds all memory that comes back to it.
    #[must_use]
    pub fn new() -> Self {
        Self::with_limit(usize::MAX)
    }

    /// A pool that holds up to `limit` bytes. What comes back beyond that is freed.
    #[must_use]
    pub fn with_limit(limit: usize) -> Self {
        Pool { shared: Arc::new(Shared { limit, held: Mutex::default() }) }
    }

    /// An output of shape `[0]`, which takes memory from the pool when a call writes to it.
    #[must_use]
    pub fn tensor<T: Element>(&self) -> Pooled<T> {
        const { IsElement::<T>::CHECK };
        let memory = Allocation::empty(align_of::<T>());
        Pooled { memory, len: 0, shape: [0].into(), pool: Arc::downgrade(&self.shared), elements: PhantomData }
    }

    /// Frees all memory that is held.
    pub fn trim(&self) {
        self.shared.trim();
    }

    /// The memory that the pool holds, and how often that was of use.
    #[must_use]
    pub fn stats(&self) -> PoolStats {
        self.shared.lock().stats
    }
}

impl Shared {
    /// Nothing panics while it is locked but what cannot: what is held is whole in any case.
    fn lock(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A block of an alignment for `bytes` bytes, at least one.
    ///
    /// # Errors
    /// [`Error::AllocationFailed`].
    fn take(&self, bytes: usize, align: usize) -> Result<Allocation, Error> {
        let size = size_of_block(bytes);
        let mut held = self.lock();
        let mut fitting = held.blocks.range_mut((align, size)..=(align, size.saturating_mul(2)));
        let found = fitting.find_map(|(_, blocks)| blocks.pop());
        if let Some(block) = found {
            held.stats.taken_again += 1;
            held.stats.blocks -= 1;
            held.stats.bytes -= block.bytes();
            return Ok(block);
        }
        held.stats.allocated += 1;
        drop(held);
        Allocation::new(size, align).or_else(|_| {
            self.trim();
            Allocation::new(size, align)
        })
    }

    /// Frees all blocks.
    fn trim(&self) {
        let mut held = self.lock();
        (held.stats.bytes, held.stats.blocks) = (0, 0);
        let blocks = core::mem::take(&mut held.blocks);
        // Freed when the lock is no longer held.
        drop(held);
        drop(blocks);
    }

    /// Takes a block back, or frees it.
    fn give_back(&self, block: Allocation) {
        let mut held = self.lock();
        let bytes = held.stats.bytes.saturating_add(block.bytes());
        if bytes > self.limit {
            // Freed when the lock is no longer held.
            drop(held);
            return drop(block);
        }
        held.stats.bytes = bytes;
        held.stats.blocks += 1;
        held.blocks.entry((block.align(), block.bytes())).or_default().push(block);
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

/// An [`Output`] whose memory comes from a [`Pool`], and goes back there when it is dropped.
///
/// It takes the shape of each result that is written to it. After an error it is unchanged, or has no elements.
pub struct Pooled<T> {
    /// V4: has the alignment of `T`, and begins with `len` values of it.
    memory: Allocation,
    len: usize,
    /// Has `len` elements.
    shape: Shape,
    pool: Weak<Shared>,
    elements: PhantomData<T>,
}

impl<T: fmt::Debug> fmt::Debug for Pooled<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pooled").field("shape", &&self.shape[..]).finish_non_exhaustive()
    }
}

impl<T> Pooled<T> {
    /// The sizes of the dimensions.
    #[must_use]
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// The elements in row-major order.
    #[must_use]
    pub fn as_slice(&self) -> &[T] {
        // SAFETY: V4.
        unsafe { slice::from_raw_parts(self.memory.start().cast(), self.len) }
    }

    /// The elements in row-major order, to be changed in place.
    #[must_use]
    pub fn as_mut_slice(&mut self) -> &mut [T] {
        // SAFETY: V4; the tensor is borrowed mutably.
        unsafe { slice::from_raw_parts_mut(self.memory.start().cast(), self.len) }
    }

    /// A view of the whole tensor.
    #[must_use]
    pub fn view(&self) -> View<'_, T> {
        View::new(self.as_slice(), &self.shape).expect("a tensor has as many values as its shape says")
    }

    /// A mutable view of the whole tensor.
    #[must_use]
    pub fn view_mut(&mut self) -> ViewMut<'_, T> {
        let shape = self.shape.clone();
        ViewMut::new(self.as_mut_slice(), &shape).expect("a tensor has as many values as its shape says")
    }

    /// The tensor with its memory, which does not go back to the pool. Nothing is copied.
    ///
    /// # Errors
    /// [`Error::AllocationFailed`], where the memory is no whole number of elements and the allocator could not take
    /// the rest back.
    pub fn into_tensor(mut self) -> Result<Tensor<T>, Error> {
        let none = Allocation::empty(align_of::<T>());
        let (memory, len) = (core::mem::replace(&mut self.memory, none), core::mem::take(&mut self.len));
        // SAFETY: V4.
        let values = unsafe { memory.into_vec::<T>(len) }?;
        Ok(Tensor::from_parts(values, core::mem::take(&mut self.shape)))
    }

    /// Gives the memory back to the pool, or frees it where there is none.
    fn release(&mut self) {
        self.len = 0;
        let memory = core::mem::replace(&mut self.memory, Allocation::empty(align_of::<T>()));
        if let Some(pool) = self.pool.upgrade().filter(|_| memory.bytes() > 0) {
            pool.give_back(memory);
        }
    }
}

impl<T> Drop for Pooled<T> {
    fn drop(&mut self) {
        self.release();
    }
}

impl<T: Element> Resize for Pooled<T> {
    fn clear(&mut self, len: usize) -> Result<*mut u8, Error> {
        self.len = 0;
        self.shape.assign(&[0]);
        let bytes = len.saturating_mul(size_of::<T>());
        if self.memory.bytes() < bytes {
            self.release();
            self.memory = match self.pool.upgrade() {
                Some(pool) => pool.take(bytes, align_of::<T>())?,
                None => Allocation::new(bytes, align_of::<T>())?,
            };
        }
        Ok(self.memory.start())
    }

    unsafe fn assume_init(&mut self, shape: &[usize], len: usize) {
        debug_assert!(len * size_of::<T>() <= self.memory.bytes());
        self.len = len;
        self.shape.assign(shape);
    }
}

// SAFETY: O1: the tensor has elements `T`.
unsafe impl<T: Element> Sealed<T> for Pooled<T> {
    fn target_of(&mut self, _: DType) -> Result<Target<'_>, Error> {
        Ok(Target::Resized(self))
    }
}

impl<T: Element> Output<T> for Pooled<T> {}

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
