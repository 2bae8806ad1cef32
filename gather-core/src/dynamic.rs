//! Tensors whose data type is known at run time.

use alloc::alloc::{alloc, dealloc};
use alloc::vec::Vec;
use core::alloc::Layout as Memory;
use core::fmt;
use core::marker::PhantomData;
use core::ptr::NonNull;

use smallvec::SmallVec;

use crate::element::{DType, Element, Validity};
use crate::error::Error;
use crate::pages;
use crate::shape::{Layout, Shape};
use crate::tensor::Tensor;
use crate::view::View;

/// A borrowed tensor whose data type is known at run time.
///
/// Invariants: V1 as for [`View`], with elements of the data type at any alignment; V3: every element is a value of it.
#[derive(Clone)]
pub struct DynView<'a> {
    origin: *const u8,
    layout: Layout,
    dtype: DType,
    memory: PhantomData<&'a [u8]>,
}

// SAFETY: a view only reads, and elements are `Send + Sync`.
unsafe impl Send for DynView<'_> {}
// SAFETY: as above.
unsafe impl Sync for DynView<'_> {}

impl fmt::Debug for DynView<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DynView")
            .field("dtype", &self.dtype)
            .field("shape", &self.shape())
            .field("strides", &self.layout.strides())
            .finish()
    }
}

impl<'a, T: Element> From<&View<'a, T>> for DynView<'a> {
    fn from(view: &View<'a, T>) -> Self {
        DynView { origin: view.origin().cast(), layout: view.layout().clone(), dtype: T::DTYPE, memory: PhantomData }
    }
}

impl<'a> DynView<'a> {
    /// A row-major view of bytes, at any alignment, in the machine's byte order.
    ///
    /// # Errors
    /// [`Error::TooManyElements`], [`Error::TooManyBytes`], [`Error::Length`] (in bytes), then [`Error::InvalidBytes`]
    /// when the bytes are no values of the type: a `bool` is 0 or 1, and of a derived type only its own crate can tell
    /// (see [`DynView::from_bytes_unchecked`]).
    pub fn from_bytes(dtype: DType, bytes: &'a [u8], shape: &[usize]) -> Result<Self, Error> {
        match dtype.validity() {
            Validity::AnyBits => {}
            Validity::Bool => {
                if let Some(position) = bytes.iter().position(|&byte| byte > 1) {
                    return Err(Error::InvalidBytes { dtype, position: Some(position) });
                }
            }
            Validity::Unknown => {
                return Err(Error::InvalidBytes { dtype, position: None });
            }
        }
        // SAFETY: the bytes have been checked to be values of the type.
        unsafe { Self::from_bytes_unchecked(dtype, bytes, shape) }
    }

    /// As [`DynView::from_bytes`] for any data type, without looking at the bytes.
    ///
    /// # Errors
    /// [`Error::TooManyElements`], [`Error::TooManyBytes`], [`Error::Length`] (in bytes).
    ///
    /// # Safety
    /// The bytes are values of the data type, one after the other.
    pub unsafe fn from_bytes_unchecked(dtype: DType, bytes: &'a [u8], shape: &[usize]) -> Result<Self, Error> {
        let layout = Layout::contiguous(shape)?;
        let expected = Shape::checked_bytes(shape, dtype.size())?;
        if bytes.len() != expected {
            return Err(Error::Length { len: bytes.len(), expected });
        }
        Ok(DynView { origin: bytes.as_ptr(), layout, dtype, memory: PhantomData })
    }

    /// The same elements with the dimensions in another order.
    ///
    /// # Errors
    /// [`Error::Permutation`] when `axes` does not name every dimension once.
    pub fn permuted(&self, axes: &[usize]) -> Result<Self, Error> {
        Ok(DynView { layout: self.layout.permuted(axes)?, ..self.clone() })
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

    /// Shape and strides.
    #[must_use]
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    pub(crate) fn origin(&self) -> *const u8 {
        self.origin
    }
}

/// An owned row-major tensor whose data type is known at run time.
///
/// Invariant V4: `memory` was allocated for `layout.len()` elements of the data type, and holds as many values of it.
pub struct DynTensor {
    memory: Allocation,
    layout: Layout,
    dtype: DType,
}

impl fmt::Debug for DynTensor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DynTensor").field("dtype", &self.dtype).field("shape", &self.shape()).finish()
    }
}

impl DynTensor {
    /// A tensor of a row-major layout whose memory `write` initialises, all of it when it returns `Ok`.
    ///
    /// # Errors
    /// [`Error::TooManyBytes`], [`Error::Allocation`], then those of `write`.
    pub(crate) fn fill(
        dtype: DType,
        layout: &Layout,
        write: impl FnOnce(*mut u8) -> Result<(), Error>,
    ) -> Result<Self, Error> {
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
        // SAFETY: the memory holds `bytes` initialised bytes: elements have no padding.
        unsafe { core::slice::from_raw_parts(self.memory.start.as_ptr(), self.memory.bytes()) }
    }

    /// A view of the whole tensor.
    #[must_use]
    pub fn view(&self) -> DynView<'_> {
        DynView {
            origin: self.memory.start.as_ptr(),
            layout: self.layout.clone(),
            dtype: self.dtype,
            memory: PhantomData,
        }
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
        // SAFETY: the memory was allocated by the global allocator for `len` elements of the size and alignment of `T`
        // (or is dangling for none), and holds as many values of it; it is not freed elsewhere.
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
        let memory = Memory::from_size_align(bytes, align).map_err(|_| Error::Allocation { bytes })?;
        let start = if bytes == 0 {
            NonNull::new(core::ptr::without_provenance_mut(align))
        } else {
            // SAFETY: the layout has a size other than 0.
            NonNull::new(unsafe { alloc(memory) })
        };
        let start = start.ok_or(Error::Allocation { bytes })?;
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

/// One element's worth of bytes.
pub(crate) type ElementBytes = SmallVec<[u8; 32]>;
