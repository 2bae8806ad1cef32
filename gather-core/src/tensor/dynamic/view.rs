//! Borrowed tensors whose data type is known at run time.

use core::marker::PhantomData;
use core::ptr::NonNull;

use crate::tensor::dynamic::{check_aligned, check_dtype};
use crate::tensor::layout::{Layout, Shape};
use crate::tensor::view::{View, ViewMut, layout_methods};
use crate::types::declare::debug_by;
use crate::types::element::{DType, Element, ValidBytes};
use crate::types::error::Error;

debug_by!(self: [] DynView<'_> { dtype: self.dtype, shape: self.shape(), strides: self.layout.strides() });
debug_by!(self: [] DynViewMut<'_> { dtype: self.dtype, shape: self.shape(), strides: self.layout.strides() });

/// A borrowed tensor whose data type is known at run time.
///
/// Its elements may lie at any alignment.
#[derive(Clone)]
pub struct DynView<'a> {
    /// The first byte of the element at coordinate 0, whether or not the layout has elements.
    ///
    /// V1: for `'a`, the bytes of the elements at all coordinates of the layout belong to one allocation and may be
    /// read. V3: the bytes of each element are a value of the data type.
    origin: NonNull<u8>,
    layout: Layout,
    dtype: DType,
    memory: PhantomData<&'a [u8]>,
}

// SAFETY: a view only reads, and elements are `Send + Sync`.
unsafe impl Send for DynView<'_> {}
// SAFETY: a shared view only reads its elements, which threads may share.
unsafe impl Sync for DynView<'_> {}

impl<'a, T: Element> From<&View<'a, T>> for DynView<'a> {
    fn from(view: &View<'a, T>) -> Self {
        // SAFETY: V1 of the view. V3: its elements are values of `T`, and the data type is `T::DTYPE`.
        unsafe { Self::from_raw_parts(T::DTYPE, view.origin().cast(), view.layout().clone()) }
    }
}

/// A tensor of rank 1.
impl<'a, T: Element> From<&'a [T]> for DynView<'a> {
    fn from(values: &'a [T]) -> Self {
        let view = View::new(values, &[values.len()]).expect("a slice is a tensor of one dimension");
        DynView::from(&view)
    }
}

impl<'a, T: Element> View<'a, T> {
    /// A row-major view of bytes in the machine's byte order, such as a mapped file. The element type accepts any
    /// bytes: numbers, `f16` and `bf16` included, and arrays of numbers. The bytes of a `bool` are checked.
    ///
    /// ```
    /// use gather_core::{DynTensor, Tensor, View};
    ///
    /// fn main() -> Result<(), gather_core::Error> {
    ///     // A mapped file in real life.
    ///     let file = DynTensor::from(Tensor::new(vec![0.5f32, 1.0, 1.5, 2.0], &[2, 2])?);
    ///     let table = View::<f32>::from_bytes(file.as_bytes(), &[2, 2])?;
    ///     assert_eq!(table.get(&[1, 0]), Some(&1.5));
    ///     Ok(())
    /// }
    /// ```
    ///
    /// # Errors
    /// As for [`DynView::from_bytes`], then [`Error::Misaligned`], unless the slice is empty.
    pub fn from_bytes(bytes: &'a [u8], shape: &[usize]) -> Result<Self, Error> {
        DynView::from_bytes(T::DTYPE, bytes, shape)?.downcast()
    }
}

impl<'a> DynView<'a> {
    /// A row-major view of bytes, at any alignment, in the machine's byte order.
    ///
    /// # Errors
    /// [`Error::TooManyElements`], [`Error::TooManyBytes`], [`Error::LengthMismatch`] (in bytes), then
    /// [`Error::InvalidBytes`] if the bytes are no values of the type. A `bool` is 0 or 1; the values of a derived
    /// type are known to its own crate only (see [`DynView::from_bytes_unchecked`]).
    pub fn from_bytes(dtype: DType, bytes: &'a [u8], shape: &[usize]) -> Result<Self, Error> {
        let layout = row_major(dtype, bytes.len(), shape)?;
        check_values(dtype, bytes, 0)?;
        // SAFETY: the elements of a row-major layout are contiguous, and take `bytes.len()` bytes of checked values.
        Ok(unsafe { Self::from_raw_parts(dtype, bytes.as_ptr(), layout) })
    }

    /// As [`DynView::from_bytes`] for any data type, without checking the bytes.
    ///
    /// # Errors
    /// [`Error::TooManyElements`], [`Error::TooManyBytes`], [`Error::LengthMismatch`] (in bytes).
    ///
    /// # Safety
    /// The bytes are contiguous values of the data type.
    pub unsafe fn from_bytes_unchecked(dtype: DType, bytes: &'a [u8], shape: &[usize]) -> Result<Self, Error> {
        let layout = row_major(dtype, bytes.len(), shape)?;
        // SAFETY: the elements of a row-major layout are contiguous `bytes.len()` bytes: values by the caller's
        // contract.
        Ok(unsafe { Self::from_raw_parts(dtype, bytes.as_ptr(), layout) })
    }

    /// A view of bytes, of any strides and alignment, that begins at `offset`. Strides and offset count elements.
    ///
    /// ```
    /// use gather_core::{DynView, Element};
    ///
    /// fn main() -> Result<(), gather_core::Error> {
    ///     let matrix: Vec<u8> = [1u16, 2, 3, 4, 5, 6].iter().flat_map(|number| number.to_ne_bytes()).collect();
    ///     let columns = DynView::strided(u16::DTYPE, &matrix, &[3, 2], &[1, 3], 0)?;
    ///     assert_eq!((columns.shape(), columns.layout().strides()), (&[3, 2][..], &[1, 3][..]));
    ///     Ok(())
    /// }
    /// ```
    ///
    /// # Errors
    /// [`Error::StridesLengthMismatch`], [`Error::TooManyElements`], [`Error::StridesOutOfBounds`] if a coordinate
    /// lies outside the whole elements among the bytes, or [`Error::OffsetOutOfBounds`] if the view is empty and
    /// `offset` lies outside; then [`Error::InvalidBytes`] as for [`DynView::from_bytes`], for the bytes from the
    /// first element reached to the last.
    pub fn strided(
        dtype: DType,
        bytes: &'a [u8],
        shape: &[usize],
        strides: &[isize],
        offset: usize,
    ) -> Result<Self, Error> {
        let layout = within(dtype, bytes.len(), shape, strides, offset)?;
        let reached = reached_bytes(dtype, &layout, offset);
        check_values(dtype, &bytes[reached.clone()], reached.start)?;
        let origin = bytes.as_ptr().wrapping_add(offset * dtype.size());
        // SAFETY: `within` has checked that coordinates lie in the slice, and `check_values` the bytes reached.
        Ok(unsafe { Self::from_raw_parts(dtype, origin, layout) })
    }

    /// A view of memory that is no slice, such as a tensor of another crate or language.
    ///
    /// `origin` is the first byte of the element at coordinate 0, wherever in memory the strides (in elements) lead.
    ///
    /// # Safety
    /// - `origin` is not null, even if the layout is empty. It needs no alignment.
    /// - For `'a`, the bytes of the elements at all coordinates of the layout may be read: they lie in one allocation,
    ///   which `origin` may access, and nothing writes to them.
    /// - The bytes of each element are a value of the data type.
    #[must_use]
    #[inline]
    pub unsafe fn from_raw_parts(dtype: DType, origin: *const u8, layout: Layout) -> Self {
        // SAFETY: by the caller's contract, `origin` is not null.
        let origin = unsafe { NonNull::new_unchecked(origin.cast_mut()) };
        DynView { origin, layout, dtype, memory: PhantomData }
    }

    /// The same elements with the dimensions in another order.
    ///
    /// # Errors
    /// [`Error::InvalidPermutation`] if `axes` does not name every dimension once.
    pub fn permuted(&self, axes: &[usize]) -> Result<Self, Error> {
        let layout = self.layout.permuted(axes)?;
        // SAFETY: the coordinates are the permuted coordinates of this view (V1, V3).
        Ok(unsafe { Self::from_raw_parts(self.dtype, self.origin(), layout) })
    }

    /// The typed view, for methods of typed views only, such as maps and block-quantised gathers.
    ///
    /// ```
    /// use gather_core::{DynView, Gather, Given, View, maps};
    ///
    /// fn main() -> Result<(), gather_core::Error> {
    ///     // From a file, say.
    ///     let (codes, ids) = (View::new(&[128u8, 130, 126, 129], &[2, 2])?, View::new(&[1u32], &[1])?);
    ///     let table = DynView::from(&codes);
    ///     let params = (Given::All(0.5), Given::All(128));
    ///     let rows = Gather::new(0).run(&table.downcast::<u8>()?.map(&maps::dequantize(), params), &ids)?;
    ///     assert_eq!(rows.as_slice(), [-1.0, 0.5]);
    ///     Ok(())
    /// }
    /// ```
    ///
    /// # Errors
    /// [`Error::DTypeMismatch`], then [`Error::Misaligned`]. An empty view may have any address.
    pub fn downcast<T: Element>(&self) -> Result<View<'a, T>, Error> {
        check_dtype(T::DTYPE, self.dtype)?;
        check_aligned(T::DTYPE, self.origin(), &self.layout)?;
        // The origin of an empty view may be misaligned; a typed view needs an aligned one.
        let origin = if self.layout.is_empty() { NonNull::dangling().as_ptr() } else { self.origin.cast().as_ptr() };
        // SAFETY: V1 and V3 of this view: its bytes are values of `T`, whose data type was compared. The first element
        // was just checked to be aligned, and so are all others, since sizes are multiples of alignments. An empty
        // view has no coordinate; its origin is aligned and not null.
        Ok(unsafe { View::from_raw_parts(origin, self.layout.clone()) })
    }

    /// The data type.
    #[must_use]
    #[inline]
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    layout_methods!(shape and layout);

    #[inline]
    pub(crate) fn origin(&self) -> *const u8 {
        self.origin.as_ptr()
    }
}

/// A mutably borrowed tensor whose data type is known at run time.
///
/// Its elements may lie at any alignment. Calls write whole values of the data type. A call in place first reads the
/// elements, as bytes that need not be valid values.
pub struct DynViewMut<'a> {
    /// The first byte of the element at coordinate 0, whether or not the layout has elements.
    ///
    /// V1: for `'a`, the bytes of the elements at all coordinates of the layout belong to one allocation, are
    /// initialised, and may be read and written, through this view only. V2: no two coordinates share an element. V3:
    /// the memory may hold any value of the data type.
    origin: NonNull<u8>,
    layout: Layout,
    dtype: DType,
    memory: PhantomData<&'a mut [u8]>,
}

// SAFETY: a mutable view has exclusive access to its elements (V1), which are `Send + Sync`.
unsafe impl Send for DynViewMut<'_> {}
// SAFETY: a shared reference gives out the layout and the data type only.
unsafe impl Sync for DynViewMut<'_> {}

impl<'a, T: Element> From<&'a mut ViewMut<'_, T>> for DynViewMut<'a> {
    fn from(view: &'a mut ViewMut<'_, T>) -> Self {
        let layout = view.layout().clone();
        // SAFETY: V1 and V2 of the view, which is borrowed mutably for 'a; its memory holds values of `T`.
        unsafe { Self::from_raw_parts(T::DTYPE, view.origin().cast(), layout) }
    }
}

impl<'a> DynViewMut<'a> {
    /// A row-major view of bytes as any data type, at any alignment, in the machine's byte order.
    ///
    /// # Errors
    /// [`Error::TooManyElements`], [`Error::TooManyBytes`], [`Error::LengthMismatch`] (in bytes).
    pub fn from_bytes(dtype: DType, bytes: &'a mut [u8], shape: &[usize]) -> Result<Self, Error> {
        let layout = row_major(dtype, bytes.len(), shape)?;
        // SAFETY: the elements of a row-major layout are contiguous, disjoint and take `bytes.len()` bytes, of any
        // value.
        Ok(unsafe { Self::from_raw_parts(dtype, bytes.as_mut_ptr(), layout) })
    }

    /// A view of bytes, of any strides and alignment, that begins at `offset`. Strides and offset count elements.
    ///
    /// # Errors
    /// [`Error::StridesLengthMismatch`], [`Error::TooManyElements`], [`Error::StridesOutOfBounds`] if a coordinate
    /// lies outside the whole elements among the bytes, or [`Error::OffsetOutOfBounds`] if the view is empty and
    /// `offset` lies outside; then [`Error::StridesOverlap`] as for [`ViewMut::strided`].
    pub fn strided(
        dtype: DType,
        bytes: &'a mut [u8],
        shape: &[usize],
        strides: &[isize],
        offset: usize,
    ) -> Result<Self, Error> {
        let layout = within(dtype, bytes.len(), shape, strides, offset)?;
        layout.check_disjoint()?;
        let origin = bytes.as_mut_ptr().wrapping_add(offset * dtype.size());
        // SAFETY: `within` has checked that coordinates lie in the slice; no two share an element (`check_disjoint`).
        Ok(unsafe { Self::from_raw_parts(dtype, origin, layout) })
    }

    /// A view of memory that is no slice: the writable form of [`DynView::from_raw_parts`].
    ///
    /// # Safety
    /// - `origin` is not null, even if the layout is empty. It needs no alignment.
    /// - For `'a`, the bytes of the elements at all coordinates of the layout may be read and written: they lie in one
    ///   allocation, which `origin` may access, they are initialised, and nothing else reads or writes them.
    /// - Any value of the data type may be written there: later readers of the memory accept all of them.
    /// - No two coordinates share an element.
    #[must_use]
    #[inline]
    pub unsafe fn from_raw_parts(dtype: DType, origin: *mut u8, layout: Layout) -> Self {
        // SAFETY: by the caller's contract, `origin` is not null.
        let origin = unsafe { NonNull::new_unchecked(origin) };
        DynViewMut { origin, layout, dtype, memory: PhantomData }
    }

    /// The data type.
    #[must_use]
    #[inline]
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    layout_methods!(shape and layout);

    #[inline]
    pub(crate) fn origin(&mut self) -> *mut u8 {
        self.origin.as_ptr()
    }
}

/// The row-major layout of a shape; its elements must take `len` bytes.
fn row_major(dtype: DType, len: usize, shape: &[usize]) -> Result<Layout, Error> {
    let layout = Layout::contiguous(shape)?;
    let expected = Shape::checked_bytes(shape, dtype.size())?;
    if len == expected { Ok(layout) } else { Err(Error::LengthMismatch { len, expected, shape: shape.into() }) }
}

/// A strided layout, checked to lie in `len` bytes if it begins at element `offset`.
fn within(dtype: DType, len: usize, shape: &[usize], strides: &[isize], offset: usize) -> Result<Layout, Error> {
    let layout = Layout::strided(shape, strides)?;
    layout.check_within(offset, len / dtype.size())?;
    Ok(layout)
}

/// The byte range from the first element reached to the last. The layout has been checked to lie in the slice.
fn reached_bytes(dtype: DType, layout: &Layout, offset: usize) -> core::ops::Range<usize> {
    match layout.reach() {
        Some((Some(first), Some(last))) => {
            let [start, end] = [first, last].map(|element| offset.wrapping_add_signed(element));
            start * dtype.size()..(end + 1) * dtype.size()
        }
        _ => 0..0,
    }
}

/// Checks that `bytes` are values of a type. `start` is their position in the slice, for the error.
pub(super) fn check_values(dtype: DType, bytes: &[u8], start: usize) -> Result<(), Error> {
    let wrong = match dtype.validity() {
        ValidBytes::AnyBits => return Ok(()),
        ValidBytes::Bool => bytes.iter().position(|&byte| byte > 1),
        ValidBytes::Unknown => return Err(Error::InvalidBytes { dtype, position: None }),
    };
    wrong.map_or(Ok(()), |at| Err(Error::InvalidBytes { dtype, position: Some(start + at) }))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The elements of a view in row-major order.
    fn read<T: Element>(view: &DynView<'_>) -> Vec<T> {
        assert_eq!(view.dtype(), T::DTYPE);
        let (shape, strides) = (view.shape(), view.layout().strides());
        let mut values = Vec::new();
        for at in 0..view.layout().len() {
            let (mut rest, mut offset) = (at, 0);
            for (&dim, &stride) in shape.iter().zip(strides).rev() {
                offset += (rest % dim) as isize * stride;
                rest /= dim;
            }
            let element = view.origin().wrapping_offset(offset * size_of::<T>() as isize).cast::<T>();
            // SAFETY: the element of a coordinate may be read (V1), at any alignment, and is a value of `T` (V3).
            values.push(unsafe { element.read_unaligned() });
        }
        values
    }

    #[test]
    fn bytes_are_viewed_along_strides_at_any_alignment() {
        let numbers = [1u32, 2, 3, 4, 5, 6];
        for shift in 0..4 {
            let mut memory = vec![0u8; shift];
            memory.extend(numbers.iter().flat_map(|number| number.to_ne_bytes()));
            // Trailing bytes that are no whole element are not reached.
            memory.extend([0xFF; 3]);
            let bytes = &memory[shift..];
            let view = |shape: &[usize], strides: &[isize], offset| {
                DynView::strided(u32::DTYPE, bytes, shape, strides, offset).map(|view| read::<u32>(&view))
            };
            assert_eq!(view(&[3, 2], &[1, 3], 0), Ok(vec![1, 4, 2, 5, 3, 6]));
            assert_eq!(view(&[6], &[-1], 5), Ok(vec![6, 5, 4, 3, 2, 1]));
            assert_eq!(view(&[2, 3], &[0, 2], 1), Ok(vec![2, 4, 6, 2, 4, 6]));
            assert_eq!(view(&[0, 3], &[0, 2], 6), Ok(vec![]));
            let outside = |first, last| Err(Error::StridesOutOfBounds { first: Some(first), last: Some(last), len: 6 });
            assert_eq!(view(&[3], &[3], 0), outside(0, 6));
            assert_eq!(view(&[3], &[-3], 5), outside(-1, 5));
            assert_eq!(view(&[0], &[1], 7), Err(Error::OffsetOutOfBounds { offset: 7, len: 6 }));
            let whole = DynView::from_bytes(u32::DTYPE, &bytes[..24], &[2, 3]).unwrap();
            assert_eq!(read::<u32>(&whole.permuted(&[1, 0]).unwrap()), [1, 4, 2, 5, 3, 6]);
        }
    }

    #[test]
    fn bytes_that_are_no_values_are_refused_where_they_are_reached() {
        let bytes = [2, 0, 1, 0, 3];
        let dtype = bool::DTYPE;
        let invalid = |position| Err(Error::InvalidBytes { dtype, position });
        let view = |shape: &[usize], strides: &[isize], offset| {
            DynView::strided(dtype, &bytes, shape, strides, offset).map(|view| read::<bool>(&view))
        };
        assert_eq!(view(&[3], &[1], 1), Ok(vec![false, true, false]));
        assert_eq!(view(&[2], &[-1], 2), Ok(vec![true, false]));
        assert_eq!(view(&[3], &[1], 2), invalid(Some(4)));
        assert_eq!(view(&[2], &[1], 0), invalid(Some(0)));
        // The byte between the two elements is checked, too.
        assert_eq!(view(&[2], &[-4], 4), invalid(Some(0)));
        assert_eq!(view(&[0], &[1], 0), Ok(vec![]));
        let whole = DynView::from_bytes(dtype, &bytes, &[5]).map(|view| read::<bool>(&view));
        assert_eq!(whole, invalid(Some(0)));
        let length = DynView::from_bytes(dtype, &bytes, &[4]).map(|view| read::<bool>(&view));
        assert_eq!(length, Err(Error::LengthMismatch { len: 5, expected: 4, shape: [4].into() }));
    }

    #[test]
    fn outputs_are_viewed_with_their_type_or_as_bytes() {
        let mut numbers = [0u16; 6];
        let mut view = ViewMut::strided(&mut numbers, &[2, 2], &[-3, 2], 3).unwrap();
        let (layout, origin) = (view.layout().clone(), view.origin().cast());
        let mut erased = DynViewMut::from(&mut view);
        assert_eq!((erased.origin(), erased.dtype(), erased.layout()), (origin, u16::DTYPE, &layout));

        let mut bytes = [0u8; 9];
        let mut refused = |shape: &[usize], strides: &[isize], offset| {
            DynViewMut::strided(u16::DTYPE, &mut bytes[1..], shape, strides, offset).map(|view| view.layout().len())
        };
        assert_eq!(refused(&[2, 2], &[1, 2], 0), Ok(4));
        assert_eq!(
            refused(&[2, 2], &[1, 1], 0),
            Err(Error::StridesOverlap { dim: 1, stride: 1, needed: 2, strides: [1, 1].into() })
        );
        assert!(matches!(refused(&[2, 2], &[1, 2], 1), Err(Error::StridesOutOfBounds { last: Some(4), len: 4, .. })));
        let length = DynViewMut::from_bytes(u16::DTYPE, &mut bytes, &[4]).map(|view| view.layout().len());
        assert_eq!(length, Err(Error::LengthMismatch { len: 9, expected: 8, shape: [4].into() }));
        let whole = DynViewMut::from_bytes(bool::DTYPE, &mut bytes, &[3, 3]).unwrap();
        assert_eq!((whole.shape(), whole.dtype()), (&[3, 3][..], bool::DTYPE));
    }
}
