//! Owned tensors whose data type is known at run time.

use alloc::alloc::{alloc, dealloc};
use alloc::vec::Vec;
use core::alloc::Layout as Memory;
use core::fmt;
use core::ptr::NonNull;

use crate::tensor::dynamic::{DynView, DynViewMut};
use crate::tensor::layout::{Layout, Shape};
use crate::tensor::owned::Tensor;
use crate::tensor::pages;
use crate::types::element::{DType, Element};
use crate::types::error::Error;

/// An owned row-major tensor whose data type is known at run time.
pub struct DynTensor {
    /// V4: allocated for `layout.len()` elements of the data type, of its alignment, and holds as many values of it.
    memory: Allocation,
    /// Row-major.
    layout: Layout,
    dtype: DType,
}

impl fmt::Debug for DynTensor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DynTensor").field("dtype", &self.dtype).field("shape", &self.shape()).finish()
    }
}

impl DynTensor {
    /// A tensor of a row-major layout whose memory `write` initialises.
    ///
    /// # Errors
    /// [`Error::TooManyBytes`], [`Error::AllocationFailed`], then those of `write`.
    ///
    /// # Safety
    /// The layout is one that [`Layout::contiguous`] made. `write` returns `Ok` only when the memory holds
    /// `layout.len()` values of the data type.
    pub(crate) unsafe fn fill(
        dtype: DType,
        layout: &Layout,
        write: impl FnOnce(*mut u8) -> Result<(), Error>,
    ) -> Result<Self, Error> {
        debug_assert!(layout.is_contiguous());
        let bytes = Shape::checked_bytes(layout.shape(), dtype.size())?;
        let memory = Allocation::new(bytes, dtype.align())?;
        write(memory.start.as_ptr())?;
        Ok(DynTensor { memory, layout: layout.clone(), dtype })
    }

    /// The data type.
    #[must_use]
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// The sizes of the dimensions.
    #[must_use]
    pub fn shape(&self) -> &[usize] {
        self.layout.shape()
    }

    /// The elements in row-major order, as bytes in the machine's byte order.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        // SAFETY: by V4 the memory holds as many initialised bytes: elements have no padding.
        unsafe { core::slice::from_raw_parts(self.memory.start.as_ptr(), self.memory.bytes()) }
    }

    /// A view of the whole tensor.
    #[must_use]
    pub fn view(&self) -> DynView<'_> {
        // SAFETY: by V4 the coordinates of the row-major layout are the values in this tensor's memory.
        unsafe { DynView::from_raw_parts(self.dtype, self.memory.start.as_ptr(), self.layout.clone()) }
    }

    /// A mutable view of the whole tensor.
    #[must_use]
    pub fn view_mut(&mut self) -> DynViewMut<'_> {
        // SAFETY: as in `view`; the tensor is borrowed mutably, and a row-major layout has each element once.
        unsafe { DynViewMut::from_raw_parts(self.dtype, self.memory.start.as_ptr(), self.layout.clone()) }
    }

    /// The tensor with its type, without a copy.
    ///
    /// # Errors
    /// [`Error::DTypeMismatch`].
    pub fn downcast<T: Element>(self) -> Result<Tensor<T>, Error> {
        if self.dtype != T::DTYPE {
            return Err(Error::DTypeMismatch { expected: T::DTYPE, got: self.dtype });
        }
        let len = self.layout.len();
        let start = self.memory.into_raw().cast::<T>();
        // SAFETY: by V4 the memory came from the global allocator for `len` elements of the size and alignment of `T`
        // (or is dangling for none), and holds as many values of it; `into_raw` has given up its ownership.
        let values = unsafe { Vec::from_raw_parts(start.as_ptr(), len, len) };
        Tensor::new(values, self.layout.shape())
    }
}

/// Memory from the global allocator; dangling for 0 bytes.
struct Allocation {
    start: NonNull<u8>,
    memory: Memory,
}

// SAFETY: it owns its memory, which holds `Send + Sync` elements.
unsafe impl Send for Allocation {}
// SAFETY: as above.
unsafe impl Sync for Allocation {}

impl Allocation {
    fn new(bytes: usize, align: usize) -> Result<Self, Error> {
        let memory = Memory::from_size_align(bytes, align).map_err(|_| Error::AllocationFailed { bytes })?;
        let start = if bytes == 0 {
            NonNull::new(core::ptr::without_provenance_mut(align))
        } else {
            // SAFETY: the layout has a size other than 0.
            NonNull::new(unsafe { alloc(memory) })
        };
        let start = start.ok_or(Error::AllocationFailed { bytes })?;
        pages::advise(start.as_ptr(), bytes);
        Ok(Allocation { start, memory })
    }

    fn bytes(&self) -> usize {
        self.memory.size()
    }

    fn into_raw(self) -> NonNull<u8> {
        core::mem::ManuallyDrop::new(self).start
    }
}

impl Drop for Allocation {
    fn drop(&mut self) {
        if self.memory.size() != 0 {
            // SAFETY: allocated in `new` with this layout, and owned.
            unsafe { dealloc(self.start.as_ptr(), self.memory) };
        }
    }
}
