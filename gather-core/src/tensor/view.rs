//! Borrowed tensors: a layout over memory, checked at construction.

use core::marker::PhantomData;
use core::ops::Range;
use core::ptr::NonNull;

use crate::tensor::layout::Layout;
use crate::types::declare::debug_by;
use crate::types::element::Element;
use crate::types::error::Error;

/// Methods of views that read the layout: all of them, or the subset for views whose type is known at run time.
macro_rules! layout_methods {
    () => {
        $crate::tensor::view::layout_methods!(shape and layout);

        $crate::types::declare::accessors! { self:
            /// The element strides.
            pub fn strides() -> &[isize] => self.layout.strides();
            /// The number of dimensions.
            pub fn rank() -> usize => self.layout.rank();
            /// The number of elements.
            pub fn len() -> usize => self.layout.len();
            /// Whether there is no element.
            pub fn is_empty() -> bool => self.layout.is_empty();
            /// Whether the elements lie in row-major order without gaps.
            pub fn is_contiguous() -> bool => self.layout.is_contiguous();
        }
    };
    (shape and layout) => {
        $crate::types::declare::accessors! { self:
            /// The sizes of the dimensions.
            pub fn shape() -> &[usize] => self.layout.shape();
            /// Shape and strides, in elements.
            pub fn layout() -> &Layout => &self.layout;
        }
    };
}
pub(super) use layout_methods;

/// Methods of views that give a view of the same elements, or of some.
macro_rules! part_methods {
    ($self:ident: [$($receiver:tt)+] -> $Part:ty) => {
        /// The same elements with the dimensions in another order.
        ///
        /// # Errors
        /// [`Error::InvalidPermutation`] if `axes` does not name every dimension once.
        pub fn permuted($($receiver)+, axes: &[usize]) -> Result<$Part, Error> {
            let layout = $self.layout.permuted(axes)?;
            // SAFETY: V1, V2: the coordinates are the permuted coordinates of this view, from the same address on.
            Ok(unsafe { <$Part>::from_raw_parts($self.origin(), layout) })
        }

        /// The elements whose coordinate along `axis` is in `range`, as of `narrow` in PyTorch.
        ///
        /// # Errors
        /// [`Error::RangeOutOfBounds`] if there is no such axis, if the range descends, or if it ends beyond the axis.
        pub fn narrow($($receiver)+, axis: usize, range: Range<usize>) -> Result<$Part, Error> {
            let (layout, first) = $self.layout.narrowed(axis, range)?;
            let origin = $self.origin().wrapping_offset(first);
            // SAFETY: V1, V2: `first` is the position of a coordinate of this view, and the coordinates from there on
            // are coordinates of this view. Without a coordinate, `first` is 0.
            Ok(unsafe { <$Part>::from_raw_parts(origin, layout) })
        }

        /// The elements whose coordinate along `axis` is `index`, without this dimension, as of `select` in PyTorch.
        ///
        /// # Errors
        /// [`Error::RangeOutOfBounds`] if there is no such axis, or if `index` is not below its size.
        pub fn select($($receiver)+, axis: usize, index: usize) -> Result<$Part, Error> {
            let (layout, first) = $self.layout.selected(axis, index)?;
            let origin = $self.origin().wrapping_offset(first);
            // SAFETY: V1, V2: as in `narrow`.
            Ok(unsafe { <$Part>::from_raw_parts(origin, layout) })
        }
    };
}

/// A borrowed tensor: shape and element strides over a slice.
pub struct View<'a, T> {
    /// The address of coordinate 0; aligned even if the layout is empty.
    ///
    /// V1: for `'a`, every coordinate of the layout, counted from here, is a readable element of one allocation.
    origin: NonNull<T>,
    layout: Layout,
    memory: PhantomData<&'a [T]>,
}

// SAFETY: a view is a `&[T]` with a layout: it only reads, so it may move to another thread if `&[T]` may.
unsafe impl<T: Sync> Send for View<'_, T> {}
// SAFETY: a shared view gives out `&T` only, which threads may share if `T` is `Sync`.
unsafe impl<T: Sync> Sync for View<'_, T> {}

impl<T> Clone for View<'_, T> {
    fn clone(&self) -> Self {
        View { origin: self.origin, layout: self.layout.clone(), memory: PhantomData }
    }
}

debug_by!(self: [T] View<'_, T> { shape: self.shape(), strides: self.strides() });

impl<'a, T: Element> View<'a, T> {
    /// The bytes of the rows of a matrix; `None` if the rank is not 2, or if rows are not contiguous.
    pub(crate) fn bytes_of_rows(&self) -> Option<View<'a, u8>> {
        let size = size_of::<T>();
        let (&[rows, columns], &[row, column]) = (self.shape(), self.strides()) else { return None };
        if columns > 1 && column != 1 {
            return None;
        }
        let bytes = columns.checked_mul(size)?;
        let layout = Layout::strided(&[rows, bytes], &[row.wrapping_mul(size as isize), 1]).ok()?;
        // SAFETY: V1: the initialised bytes of each element, and no others; elements of a row are contiguous. Any
        // address is aligned for `u8`.
        Some(unsafe { View::from_raw_parts(self.origin().cast(), layout) })
    }
}

impl<'a, T> View<'a, T> {
    /// A row-major view of a whole slice.
    ///
    /// ```
    /// fn main() -> Result<(), gather_core::Error> {
    ///     let view = gather_core::View::new(&[1, 2, 3, 4, 5, 6], &[2, 3])?;
    ///     assert_eq!(view.get(&[1, 0]), Some(&4));
    ///     Ok(())
    /// }
    /// ```
    ///
    /// # Errors
    /// [`Error::TooManyElements`], then [`Error::LengthMismatch`] if `values.len()` is not the product of `shape`.
    #[inline(always)]
    pub fn new(values: &'a [T], shape: &[usize]) -> Result<Self, Error> {
        let layout = Layout::contiguous(shape)?;
        if values.len() != layout.len() {
            return Err(wrong_length(values.len(), layout.len(), shape));
        }
        // SAFETY: V1: the elements of a row-major layout are contiguous, and `values.len()` in number. The address of a
        // slice is non-null, and aligned.
        Ok(unsafe { Self::from_raw_parts(values.as_ptr(), layout) })
    }

    /// A view with any element strides, whose first coordinate is element `offset` of the slice.
    ///
    /// Columns 2 and 0 of a matrix, right to left:
    /// ```
    /// fn main() -> Result<(), gather_core::Error> {
    ///     let matrix = [1, 2, 3, 4, 5, 6];
    ///     let view = gather_core::View::strided(&matrix, &[2, 2], &[3, -2], 2)?;
    ///     assert_eq!((view.get(&[0, 0]), view.get(&[1, 1])), (Some(&3), Some(&4)));
    ///     Ok(())
    /// }
    /// ```
    ///
    /// # Errors
    /// [`Error::StridesLengthMismatch`], [`Error::TooManyElements`], then [`Error::StridesOutOfBounds`] if a
    /// coordinate lies outside the slice, or [`Error::OffsetOutOfBounds`] if the view is empty and `offset` lies
    /// outside.
    pub fn strided(values: &'a [T], shape: &[usize], strides: &[isize], offset: usize) -> Result<Self, Error> {
        let layout = Layout::strided(shape, strides)?;
        layout.check_within(offset, values.len())?;
        // SAFETY: V1: every coordinate has been checked to lie in the slice. `offset` is at most the slice's length, so
        // the address is an element's, or the end of the slice: non-null, and aligned.
        Ok(unsafe { Self::from_raw_parts(values.as_ptr().wrapping_add(offset), layout) })
    }

    /// A view of one element as a tensor of rank 0.
    #[must_use]
    pub fn scalar(value: &'a T) -> Self {
        let layout = Layout::contiguous(&[]).expect("rank 0 has one element");
        // SAFETY: V1: the only coordinate is the element itself; a reference is non-null, and aligned.
        unsafe { Self::from_raw_parts(value, layout) }
    }

    /// A view of memory that is no slice, such as a tensor of another crate or language. A slice from the first
    /// element to the last would claim the gaps, too.
    ///
    /// `origin` is the address of the element at coordinate 0. Negative strides lead to lower addresses.
    ///
    /// ```
    /// use gather_core::{Layout, View};
    ///
    /// fn main() -> Result<(), gather_core::Error> {
    ///     let matrix = [1, 2, 3, 4, 5, 6];
    ///     let reversed = Layout::strided(&[6], &[-1])?;
    ///     // SAFETY: the six coordinates are the six elements of the array, which is borrowed while the view is used.
    ///     let view = unsafe { View::from_raw_parts(&raw const matrix[5], reversed) };
    ///     assert_eq!(view.get(&[1]), Some(&5));
    ///     Ok(())
    /// }
    /// ```
    ///
    /// # Safety
    /// - `origin` is non-null, and aligned for `T`, even if the layout is empty.
    /// - For `'a`, the elements at all coordinates of the layout may be read: they lie in one allocation, which
    ///   `origin` may access, they are initialised, and nothing writes to them.
    #[must_use]
    #[inline]
    pub unsafe fn from_raw_parts(origin: *const T, layout: Layout) -> Self {
        debug_assert!(origin.is_aligned(), "a view needs an aligned address");
        // SAFETY: by the caller's contract, `origin` is not null.
        let origin = unsafe { NonNull::new_unchecked(origin.cast_mut()) };
        View { origin, layout, memory: PhantomData }
    }

    layout_methods!();

    /// The element at a coordinate; `None` outside the shape or for a coordinate of another rank.
    #[must_use]
    pub fn get(&self, coords: &[usize]) -> Option<&'a T> {
        let inside = coords.len() == self.rank() && coords.iter().zip(self.shape()).all(|(&c, &dim)| c < dim);
        if !inside {
            return None;
        }
        // By V1 the element and every partial sum lie between the first and the last element of an allocation.
        let offset: isize = coords.iter().zip(self.strides()).map(|(&c, &stride)| c as isize * stride).sum();
        // SAFETY: every coordinate is below its dimension, so by V1 the element may be read for 'a.
        Some(unsafe { &*self.origin().wrapping_offset(offset) })
    }

    part_methods!(self: [&self] -> View<'a, T>);

    #[inline]
    pub(crate) fn origin(&self) -> *const T {
        self.origin.as_ptr()
    }
}

/// A mutably borrowed tensor: shape and element strides over a mutable slice.
///
/// `T` may be `MaybeUninit<U>` for uninitialised memory.
pub struct ViewMut<'a, T> {
    /// The address of coordinate 0; aligned even if the layout is empty.
    ///
    /// V1 as for [`View`], and for `'a` the elements may be written, through this view only. V2: no two coordinates
    /// share an element.
    origin: NonNull<T>,
    layout: Layout,
    memory: PhantomData<&'a mut [T]>,
}

// SAFETY: a mutable view is a `&mut [T]` with a layout, and moves to another thread if `&mut [T]` does.
unsafe impl<T: Send> Send for ViewMut<'_, T> {}
// SAFETY: a shared reference gives out the layout only.
unsafe impl<T: Sync> Sync for ViewMut<'_, T> {}

debug_by!(self: [T] ViewMut<'_, T> { shape: self.shape(), strides: self.strides() });

impl<'a, T> ViewMut<'a, T> {
    /// A row-major view of a whole slice.
    ///
    /// # Errors
    /// As for [`View::new`].
    #[inline(always)]
    pub fn new(values: &'a mut [T], shape: &[usize]) -> Result<Self, Error> {
        let layout = Layout::contiguous(shape)?;
        if values.len() != layout.len() {
            return Err(wrong_length(values.len(), layout.len(), shape));
        }
        // SAFETY: V1, V2: the elements of a row-major layout are contiguous and disjoint, and `values.len()` in number.
        // The address of a slice is non-null, and aligned.
        Ok(unsafe { Self::from_raw_parts(values.as_mut_ptr(), layout) })
    }

    /// A view with any element strides, whose first coordinate is element `offset` of the slice.
    ///
    /// # Errors
    /// As for [`View::strided`], then [`Error::StridesOverlap`] if two coordinates share an element or may do so: in
    /// order of their lengths, each stride must exceed the reach of all shorter strides.
    pub fn strided(values: &'a mut [T], shape: &[usize], strides: &[isize], offset: usize) -> Result<Self, Error> {
        let layout = Layout::strided(shape, strides)?;
        layout.check_within(offset, values.len())?;
        layout.check_disjoint()?;
        // SAFETY: V1, V2: every coordinate has been checked to lie in the slice, and no two to share an element.
        // `offset` is at most the slice's length, so the address is an element's, or the end of the slice: non-null,
        // and aligned.
        Ok(unsafe { Self::from_raw_parts(values.as_mut_ptr().wrapping_add(offset), layout) })
    }

    /// A view of memory that is no slice: the writable form of [`View::from_raw_parts`].
    ///
    /// # Safety
    /// - `origin` is non-null, and aligned for `T`, even if the layout is empty.
    /// - For `'a`, the elements at all coordinates of the layout may be read and written: they lie in one allocation,
    ///   which `origin` may access, they are initialised (values of `T`, which `MaybeUninit<U>` always is), and
    ///   nothing else reads or writes them.
    /// - No two coordinates share an element.
    #[must_use]
    #[inline]
    pub unsafe fn from_raw_parts(origin: *mut T, layout: Layout) -> Self {
        debug_assert!(origin.is_aligned(), "a view needs an aligned address");
        // SAFETY: by the caller's contract, `origin` is not null.
        let origin = unsafe { NonNull::new_unchecked(origin) };
        ViewMut { origin, layout, memory: PhantomData }
    }

    layout_methods!();
    part_methods!(self: [&mut self] -> ViewMut<'_, T>);

    #[inline]
    pub(crate) fn origin(&mut self) -> *mut T {
        self.origin.as_ptr()
    }
}

#[cold]
#[inline(never)]
fn wrong_length(len: usize, expected: usize, shape: &[usize]) -> Error {
    Error::LengthMismatch { len, expected, shape: shape.into() }
}
