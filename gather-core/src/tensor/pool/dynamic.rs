//! Pooled tensors whose data type is known at run time.

use core::fmt;

use super::blocks::Lender;
use crate::tensor::dynamic::{DynTensor, DynView, DynViewMut};
use crate::tensor::output::{DynOutput, Output, Resize, Sealed, Target};
use crate::tensor::typing::Dyn;
use crate::types::declare::accessors;
use crate::types::element::DType;
use crate::types::error::Error;

/// A [`DynOutput`] whose memory comes from a [`Pool`](crate::Pool), and returns to it on drop.
///
/// It takes the data type and the shape of each result written to it. After an error it is unchanged or empty.
///
/// ```
/// use gather_core::{DynView, Element, Gather, Pool, Registry, View};
///
/// fn main() -> Result<(), gather_core::Error> {
///     let (pool, registry) = (Pool::new(), Registry::builtin());
///     let (table, ids) = (View::new(&[0.5f32, 1.5], &[2])?, View::new(&[1u32, 0, 1], &[3])?);
///     let mut out = pool.dyn_tensor(f32::DTYPE);
///     Gather::new(0).run_into(&DynView::from(&table), &DynView::from(&ids), &mut out)?;
///     assert_eq!(out.view().downcast::<f32>()?.get(&[2]), Some(&1.5));
///     Ok(())
/// }
/// ```
pub struct DynPooled {
    pub(super) tensor: DynTensor,
    pub(super) pool: Lender,
}

impl fmt::Debug for DynPooled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DynPooled").field("dtype", &self.dtype()).field("shape", &self.shape()).finish_non_exhaustive()
    }
}

impl DynPooled {
    accessors! { self:
        /// The data type.
        pub fn dtype() -> DType => self.tensor.dtype();
        /// The sizes of the dimensions.
        pub fn shape() -> &[usize] => self.tensor.shape();
        /// The elements in row-major order, as bytes in the machine's byte order.
        pub fn as_bytes() -> &[u8] => self.tensor.as_bytes();
        /// A view of the whole tensor.
        pub fn view() -> DynView<'_> => self.tensor.view();
    }

    /// A mutable view of the whole tensor.
    #[must_use]
    pub fn view_mut(&mut self) -> DynViewMut<'_> {
        self.tensor.view_mut()
    }

    /// The tensor with its memory, which does not return to the pool. Nothing is copied.
    #[must_use]
    pub fn into_tensor(mut self) -> DynTensor {
        let none = DynTensor::empty(self.dtype());
        core::mem::replace(&mut self.tensor, none)
    }

    fn release(&mut self) {
        self.pool.give_back(self.tensor.take_memory());
    }
}

impl Drop for DynPooled {
    fn drop(&mut self) {
        self.release();
    }
}

impl Resize for DynPooled {
    fn allocate(&mut self, shape: &[usize], len: usize) -> Result<*mut u8, Error> {
        let dtype = self.tensor.dtype();
        let bytes = len.saturating_mul(dtype.size());
        if self.tensor.capacity() < bytes {
            self.release();
            self.tensor.give_memory(self.pool.take(bytes, dtype.align())?);
        }
        self.tensor.allocate(shape, len)
    }

    unsafe fn assume_init(&mut self, shape: &[usize], len: usize) {
        // SAFETY: by the caller's contract `allocate` was called last; it called the tensor's `allocate` for `len` elements.
        unsafe { self.tensor.assume_init(shape, len) }
    }
}

// SAFETY: O1: the tensor has elements of the data type.
unsafe impl Sealed<Dyn> for DynPooled {
    fn target_of(&mut self, dtype: DType) -> Result<Target<'_>, Error> {
        if self.tensor.dtype().align() != dtype.align() {
            self.release();
        }
        self.tensor.retype(dtype);
        Ok(Target::Resized(self))
    }
}

impl Output<Dyn> for DynPooled {}
impl DynOutput for DynPooled {}
