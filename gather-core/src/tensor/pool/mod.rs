//! Reused memory of outputs: [`Pool`].

mod blocks;
mod dynamic;
mod sync;

use alloc::sync::Arc;
use core::fmt;
use core::marker::PhantomData;
use core::slice;

use self::blocks::Owner;
use crate::tensor::dynamic::DynTensor;
use crate::tensor::layout::Shape;
use crate::tensor::output::{Output, Sealed, Target};
use crate::tensor::owned::Tensor;
use crate::tensor::view::{View, ViewMut};
use crate::types::declare::debug_by;
use crate::types::element::{DType, Element, IsElement};
use crate::types::error::Error;

pub use self::blocks::PoolStats;
pub use self::dynamic::DynPooled;

/// Reused memory of outputs, as in the caching allocators of engines.
///
/// A fresh output of some megabytes costs more than the gather that fills it: the system clears its pages, and each
/// page costs a page fault. A pool hands out [`Pooled`] tensors, whose memory returns to it when they are dropped, on
/// any thread. They are an [`Output`]: every `run_into` whose types the compiler knows takes them. Calls of types known
/// at run time take a [`DynPooled`], a [`DynOutput`](crate::DynOutput). All element types of an alignment share memory.
///
/// A clone is the same pool. Dropping the last clone frees the memory held; existing tensors keep and free their own.
///
/// Cost: one lock when a tensor takes memory, and one when it is dropped. Allocations are rounded up to one of eight
/// sizes per power of two, from 512 bytes on. A held block is reused if it is at most twice the rounded size. If the
/// allocator has no memory, all held memory is freed first.
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
///     assert_eq!((pool.stats().reused, pool.stats().blocks), (1, 1));
///     Ok(())
/// }
/// ```
#[derive(Clone)]
pub struct Pool {
    owner: Arc<Owner>,
}

impl Default for Pool {
    fn default() -> Self {
        Self::new()
    }
}

debug_by!(self: [] Pool { limit: self.owner.limit(), stats: self.stats() });

impl Pool {
    /// A pool that holds all memory that comes back to it.
    #[must_use]
    pub fn new() -> Self {
        Self::with_limit(usize::MAX)
    }

    /// A pool that holds up to `limit` bytes. Memory returned beyond the limit is freed.
    #[must_use]
    pub fn with_limit(limit: usize) -> Self {
        Pool { owner: Arc::new(Owner::with_limit(limit)) }
    }

    /// An empty output of shape `[0]`, which takes memory from the pool when a call writes to it.
    #[must_use]
    pub fn tensor<T: Element>(&self) -> Pooled<T> {
        const { IsElement::<T>::CHECK };
        Pooled { inner: self.dyn_tensor(T::DTYPE), elements: PhantomData }
    }

    /// An empty output of shape `[0]` for calls of types known at run time. It takes the data type of the result.
    #[must_use]
    pub fn dyn_tensor(&self, dtype: DType) -> DynPooled {
        DynPooled { tensor: DynTensor::empty(dtype), pool: self.owner.lender() }
    }

    /// Frees all memory that is held.
    pub fn trim(&self) {
        self.owner.trim();
    }

    /// The memory held by the pool, and how often it was reused.
    #[must_use]
    pub fn stats(&self) -> PoolStats {
        self.owner.stats()
    }
}

/// An [`Output`] whose memory comes from a [`Pool`], and returns to it on drop.
///
/// It takes the shape of each result written to it. After an error it is unchanged or empty.
pub struct Pooled<T> {
    /// V5: its data type is `T::DTYPE`.
    inner: DynPooled,
    elements: PhantomData<T>,
}

impl<T: fmt::Debug> fmt::Debug for Pooled<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pooled").field("shape", &self.shape()).finish_non_exhaustive()
    }
}

impl<T> Pooled<T> {
    /// The sizes of the dimensions.
    #[must_use]
    pub fn shape(&self) -> &[usize] {
        self.inner.shape()
    }

    /// The elements in row-major order.
    #[must_use]
    pub fn as_slice(&self) -> &[T] {
        let tensor = &self.inner.tensor;
        // SAFETY: V4, V5: the memory is aligned for `T`, and begins with the tensor's values of `T`.
        unsafe { slice::from_raw_parts(tensor.start().cast(), tensor.layout().len()) }
    }

    /// The elements in row-major order, mutable.
    #[must_use]
    pub fn as_mut_slice(&mut self) -> &mut [T] {
        let tensor = &mut self.inner.tensor;
        // SAFETY: V4, V5, as for `as_slice`; the tensor is borrowed mutably.
        unsafe { slice::from_raw_parts_mut(tensor.start().cast_mut().cast(), tensor.layout().len()) }
    }

    /// A view of the whole tensor.
    #[must_use]
    pub fn view(&self) -> View<'_, T> {
        View::new(self.as_slice(), self.shape()).expect("a tensor has as many values as its shape says")
    }

    /// A mutable view of the whole tensor.
    #[must_use]
    pub fn view_mut(&mut self) -> ViewMut<'_, T> {
        let shape = Shape::from(self.shape());
        ViewMut::new(self.as_mut_slice(), &shape).expect("a tensor has as many values as its shape says")
    }

    /// The tensor with its memory, which does not return to the pool. Nothing is copied.
    ///
    /// # Errors
    /// [`Error::AllocationFailed`], if the allocator could not take back bytes beyond a whole number of elements.
    pub fn into_tensor(mut self) -> Result<Tensor<T>, Error> {
        let (len, shape) = (self.as_slice().len(), Shape::from(self.shape()));
        let memory = self.inner.tensor.take_memory();
        // SAFETY: V4, V5: the memory is aligned for `T`, and begins with the tensor's values of `T`.
        let values = unsafe { memory.into_vec::<T>(len) }?;
        Ok(Tensor::from_parts(values, shape))
    }
}

// SAFETY: O1: the tensor has elements `T`.
unsafe impl<T: Element> Sealed<T> for Pooled<T> {
    fn target_of(&mut self, _: DType) -> Result<Target<'_>, Error> {
        Ok(Target::Resized(&mut self.inner))
    }
}

impl<T: Element> Output<T> for Pooled<T> {}
