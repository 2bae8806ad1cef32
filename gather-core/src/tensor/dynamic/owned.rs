//! Owned tensors whose data type is known at run time.

#[cfg(feature = "std")]
use std::io;

use crate::tensor::allocation::Allocation;
#[cfg(feature = "std")]
use crate::tensor::dynamic::view::check_values;
use crate::tensor::dynamic::{DynView, DynViewMut, check_dtype};
use crate::tensor::layout::{Layout, Shape};
use crate::tensor::memory;
use crate::tensor::output::Resize;
use crate::tensor::owned::Tensor;
use crate::types::declare::{accessors, debug_by};
use crate::types::element::{DType, Element, IsElement};
use crate::types::error::Error;

/// An owned row-major tensor whose data type is known at run time.
pub struct DynTensor {
    /// V4: has the alignment of the data type, and begins with `layout.len()` values of it.
    memory: Allocation,
    /// Row-major. Its elements have at most `isize::MAX` bytes.
    layout: Layout,
    dtype: DType,
}

debug_by!(self: [] DynTensor { dtype: self.dtype, shape: self.shape() });

impl DynTensor {
    /// A tensor of shape `[0]`, without memory.
    #[must_use]
    pub fn empty(dtype: DType) -> Self {
        DynTensor { memory: Allocation::empty(dtype.align()), layout: no_elements(), dtype }
    }

    /// A tensor of zeros, in the sense of [`Element::ZERO`]: the zero of a derived type may have any bytes.
    ///
    /// # Errors
    /// [`Error::TooManyElements`], [`Error::TooManyBytes`], then [`Error::AllocationFailed`].
    pub fn zeros<T: Element>(shape: &[usize]) -> Result<Self, Error> {
        Shape::checked_bytes(shape, size_of::<T>())?;
        Ok(Tensor::new(memory::zeros::<T>(Shape::checked_len(shape)?)?, shape)?.into())
    }

    /// A copy of bytes: row-major elements in the machine's byte order.
    ///
    /// # Errors
    /// As for [`DynView::from_bytes`], then [`Error::AllocationFailed`].
    pub fn from_bytes(dtype: DType, bytes: &[u8], shape: &[usize]) -> Result<Self, Error> {
        let layout = DynView::from_bytes(dtype, bytes, shape)?.layout().clone();
        // SAFETY: `DynView::from_bytes` has checked the `layout.len()` values; its layout is row-major.
        unsafe { Self::copied(dtype, bytes, layout) }
    }

    /// A tensor of rank 0 that holds [`Element::ZERO`].
    ///
    /// # Errors
    /// [`Error::AllocationFailed`].
    pub(crate) fn zero(dtype: DType) -> Result<Self, Error> {
        let (zero, layout) = (dtype.zero()?, Layout::contiguous(&[])?);
        // SAFETY: the bytes are one value of the type, and a layout of rank 0 has one element.
        unsafe { Self::copied(dtype, &zero, layout) }
    }

    /// A copy of the bytes of elements.
    ///
    /// # Safety
    /// The bytes are `layout.len()` values of the data type, and the layout is row-major.
    unsafe fn copied(dtype: DType, bytes: &[u8], layout: Layout) -> Result<Self, Error> {
        debug_assert_eq!(bytes.len(), layout.len() * dtype.size());
        let memory = Allocation::new(bytes.len(), dtype.align())?;
        // SAFETY: the memory has `bytes.len()` bytes, and was just allocated.
        unsafe { memory.start().copy_from_nonoverlapping(bytes.as_ptr(), bytes.len()) };
        Ok(DynTensor { memory, layout, dtype })
    }

    /// A tensor read from a file or any other reader: row-major elements in the machine's byte order.
    ///
    /// The bytes are read into the tensor's own memory, on [huge pages](crate::guide::large_tables) if that pays.
    ///
    /// # Errors
    /// Of the kind `InvalidInput`: [`Error::TooManyElements`], [`Error::TooManyBytes`], then
    /// [`Error::AllocationFailed`]. Then the errors of the reader, `UnexpectedEof` among them. Of the kind
    /// `InvalidData`: [`Error::InvalidBytes`], as for [`DynView::from_bytes`]. For a derived type, whose valid values
    /// are not known, `InvalidBytes` comes before `AllocationFailed`.
    ///
    /// All of the memory is written before the first byte is read: check a file's shape against its length first.
    #[cfg(feature = "std")]
    pub fn from_reader(dtype: DType, mut reader: impl io::Read, shape: &[usize]) -> io::Result<Self> {
        let input = |error: Error| io::Error::new(io::ErrorKind::InvalidInput, error);
        let layout = Layout::contiguous(shape).map_err(input)?;
        let bytes = Shape::checked_bytes(shape, dtype.size()).map_err(input)?;
        let wrong = |error: Error| io::Error::new(io::ErrorKind::InvalidData, error);
        check_values(dtype, &[], 0).map_err(wrong)?;
        let memory = Allocation::new(bytes, dtype.align()).map_err(input)?;
        // If a read is the first to touch a huge page, Linux takes longer than if zeros are written first.
        // SAFETY: the memory has `bytes` bytes, and was just allocated.
        unsafe { memory.start().write_bytes(0, bytes) };
        // SAFETY: all bytes have just been written, with 0; nothing else has the address yet.
        let bytes = unsafe { core::slice::from_raw_parts_mut(memory.start(), bytes) };
        reader.read_exact(bytes)?;
        check_values(dtype, bytes, 0).map_err(wrong)?;
        Ok(DynTensor { memory, layout, dtype })
    }

    /// Empties the tensor and changes its data type; does nothing if the data type is the same.
    pub(crate) fn retype(&mut self, dtype: DType) {
        if self.dtype == dtype {
            return;
        }
        if self.dtype.align() != dtype.align() {
            self.memory = Allocation::empty(dtype.align());
        }
        (self.layout, self.dtype) = (no_elements(), dtype);
    }

    /// The bytes of the memory.
    #[cfg(feature = "std")]
    pub(crate) fn capacity(&self) -> usize {
        self.memory.bytes()
    }

    /// Takes the memory, and leaves an empty tensor.
    #[cfg(feature = "std")]
    pub(crate) fn take_memory(&mut self) -> Allocation {
        self.layout = no_elements();
        core::mem::replace(&mut self.memory, Allocation::empty(self.dtype.align()))
    }

    /// Replaces the memory, aligned for the data type, of an empty tensor.
    #[cfg(feature = "std")]
    pub(crate) fn give_memory(&mut self, memory: Allocation) {
        debug_assert_eq!(memory.align(), self.dtype.align());
        (self.layout, self.memory) = (no_elements(), memory);
    }

    accessors! { self:
        /// The data type.
        pub fn dtype() -> DType => self.dtype;
        /// The sizes of the dimensions.
        pub fn shape() -> &[usize] => self.layout.shape();
    }

    /// The elements in row-major order, as bytes in the machine's byte order.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        let bytes = self.layout.len() * self.dtype.size();
        // SAFETY: by V4 the memory holds this number of initialised bytes: elements have no padding.
        unsafe { core::slice::from_raw_parts(self.memory.start(), bytes) }
    }

    /// A view of the whole tensor.
    #[must_use]
    pub fn view(&self) -> DynView<'_> {
        // SAFETY: by V4 the elements of the row-major layout are the values in this tensor's memory.
        unsafe { DynView::from_raw_parts(self.dtype, self.memory.start(), self.layout.clone()) }
    }

    #[inline]
    pub(crate) fn layout(&self) -> &Layout {
        &self.layout
    }

    #[inline]
    pub(crate) fn start(&self) -> *const u8 {
        self.memory.start()
    }

    /// A mutable view of the whole tensor.
    #[must_use]
    pub fn view_mut(&mut self) -> DynViewMut<'_> {
        // SAFETY: by V4 the elements of the row-major layout are distinct values in memory that is borrowed mutably.
        unsafe { DynViewMut::from_raw_parts(self.dtype, self.memory.start(), self.layout.clone()) }
    }

    /// The tensor with its type, without a copy.
    ///
    /// # Errors
    /// [`Error::DTypeMismatch`].
    pub fn downcast<T: Element>(self) -> Result<Tensor<T>, Error> {
        check_dtype(T::DTYPE, self.dtype)?;
        let len = self.layout.len();
        // SAFETY: V4 for `T`, whose data type was compared: aligned memory that begins with `len` values.
        let values = unsafe { self.memory.into_vec::<T>(len) }?;
        Tensor::new(values, self.layout.shape())
    }
}

/// Forgets the type of a tensor, without a copy.
impl<T: Element> From<Tensor<T>> for DynTensor {
    fn from(tensor: Tensor<T>) -> Self {
        const { IsElement::<T>::CHECK };
        let layout = Layout::contiguous(tensor.shape()).expect("a tensor has a shape that can be laid out");
        DynTensor { memory: Allocation::of_vec(tensor.into_vec()), layout, dtype: T::DTYPE }
    }
}

impl Resize for DynTensor {
    fn allocate(&mut self, _: &[usize], len: usize) -> Result<*mut u8, Error> {
        self.layout = no_elements();
        let (size, align) = (self.dtype.size(), self.dtype.align());
        let bytes = len.saturating_mul(size);
        if self.memory.bytes() < bytes {
            // Freed first: the old and the new memory need not fit at once.
            self.memory = Allocation::empty(align);
            self.memory = Allocation::new(bytes, align)?;
        }
        Ok(self.memory.start())
    }

    unsafe fn assume_init(&mut self, shape: &[usize], len: usize) {
        debug_assert!(len * self.dtype.size() <= self.memory.bytes());
        self.layout = Layout::contiguous(shape).expect("the shape of a result can be laid out");
    }
}

fn no_elements() -> Layout {
    Layout::contiguous(&[0]).expect("an empty dimension can be laid out")
}
