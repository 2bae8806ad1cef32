//! Borrowed tensors: a layout over a slice, checked once at construction.

use core::fmt;
use core::marker::PhantomData;

use crate::error::Error;
use crate::shape::Layout;

/// What both views say of their layouts.
macro_rules! layout_methods {
    () => {
        /// The sizes of the dimensions.
        #[must_use]
        pub fn shape(&self) -> &[usize] {
            self.layout.shape()
        }

        /// The element strides.
        #[must_use]
        pub fn strides(&self) -> &[isize] {
            self.layout.strides()
        }

        /// The number of dimensions.
        #[must_use]
        pub fn rank(&self) -> usize {
            self.layout.rank()
        }

        /// The number of elements.
        #[must_use]
        pub fn len(&self) -> usize {
            self.layout.len()
        }

        /// Whether there is no element.
        #[must_use]
        pub fn is_empty(&self) -> bool {
            self.layout.is_empty()
        }

        /// Whether the elements lie in row-major order without gaps.
        #[must_use]
        pub fn is_contiguous(&self) -> bool {
            self.layout.is_contiguous()
        }

        /// Shape and strides.
        #[must_use]
        pub fn layout(&self) -> &Layout {
            &self.layout
        }
    };
}

/// A borrowed tensor: shape and element strides over a slice.
///
/// Invariant V1: every coordinate of the layout, taken from `origin`, is an element of the slice borrowed for `'a`.
pub struct View<'a, T> {
    /// The element at coordinate 0 (dangling for an empty view).
    origin: *const T,
    layout: Layout,
    slice: PhantomData<&'a [T]>,
}

// SAFETY: a view is a `&[T]` with a layout: it only ever reads, so it may move to another thread when `&[T]` may.
unsafe impl<T: Sync> Send for View<'_, T> {}
// SAFETY: as above.
unsafe impl<T: Sync> Sync for View<'_, T> {}

impl<T> Clone for View<'_, T> {
    fn clone(&self) -> Self {
        View { origin: self.origin, layout: self.layout.clone(), slice: PhantomData }
    }
}

impl<T> fmt::Debug for View<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("View").field("shape", &self.shape()).field("strides", &self.strides()).finish()
    }
}

impl<'a, T> View<'a, T> {
    /// A row-major view of a whole slice.
    ///
    /// ```
    /// let view = gather_core::View::new(&[1, 2, 3, 4, 5, 6], &[2, 3])?;
    /// assert_eq!(view.get(&[1, 0]), Some(&4));
    /// # Ok::<(), gather_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::TooManyElements`], then [`Error::Length`] when the slice has not as many elements as the shape.
    pub fn new(values: &'a [T], shape: &[usize]) -> Result<Self, Error> {
        let layout = Layout::contiguous(shape)?;
        if values.len() != layout.len() {
            return Err(Error::Length { len: values.len(), expected: layout.len() });
        }
        Ok(View { origin: values.as_ptr(), layout, slice: PhantomData })
    }

    /// A view with any element strides (negative and 0 too), whose first coordinate is element `offset` of the slice.
    ///
    /// ```
    /// // The transpose of a 2 x 3 matrix, and one row read backwards.
    /// let values = [1, 2, 3, 4, 5, 6];
    /// let transposed = gather_core::View::strided(&values, &[3, 2], &[1, 3], 0)?;
    /// assert_eq!(transposed.get(&[2, 1]), Some(&6));
    /// let backwards = gather_core::View::strided(&values, &[3], &[-1], 2)?;
    /// assert_eq!(backwards.get(&[0]), Some(&3));
    /// # Ok::<(), gather_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::StridesLength`], [`Error::TooManyElements`], then [`Error::StridesOutOfBounds`] when a coordinate lies
    /// outside the slice ([`Error::Length`] when `offset` does, in a view without elements).
    pub fn strided(values: &'a [T], shape: &[usize], strides: &[isize], offset: usize) -> Result<Self, Error> {
        let layout = Layout::strided(shape, strides)?;
        layout.check_within(offset, values.len())?;
        // `offset` is at most `values.len()`, so the address is inside the slice or one past it.
        Ok(View { origin: values.as_ptr().wrapping_add(offset), layout, slice: PhantomData })
    }

    /// A view of one element as a tensor of rank 0.
    #[must_use]
    pub fn scalar(value: &'a T) -> Self {
        let layout = Layout::contiguous(&[]).expect("rank 0 has one element");
        View { origin: value, layout, slice: PhantomData }
    }

    layout_methods!();

    /// The element at a coordinate; `None` outside the shape or for a coordinate of another rank.
    #[must_use]
    pub fn get(&self, coords: &[usize]) -> Option<&'a T> {
        let inside = coords.len() == self.rank() && coords.iter().zip(self.shape()).all(|(&c, &dim)| c < dim);
        if !inside {
            return None;
        }
        let offset: isize = coords.iter().zip(self.strides()).map(|(&c, &stride)| c as isize * stride).sum();
        // SAFETY: every coordinate is below its dimension, so by V1 the element belongs to the slice borrowed for 'a.
        Some(unsafe { &*self.origin.wrapping_offset(offset) })
    }

    /// The same elements with the dimensions in another order.
    ///
    /// # Errors
    /// [`Error::Permutation`] when `axes` does not name every dimension once.
    pub fn permuted(&self, axes: &[usize]) -> Result<Self, Error> {
        Ok(View { origin: self.origin, layout: self.layout.permuted(axes)?, slice: PhantomData })
    }

    pub(crate) fn origin(&self) -> *const T {
        self.origin
    }

    /// A view of a layout that has been checked against the slice (V1).
    pub(crate) fn from_parts(origin: *const T, layout: Layout) -> Self {
        View { origin, layout, slice: PhantomData }
    }
}

/// A borrowed tensor that is written: shape and element strides over a mutable slice.
///
/// `T` may be `MaybeUninit<U>` for memory that holds no values yet. Invariants: V1 as for [`View`]; V2: no two
/// coordinates share an element.
pub struct ViewMut<'a, T> {
    origin: *mut T,
    layout: Layout,
    slice: PhantomData<&'a mut [T]>,
}

// SAFETY: a mutable view is a `&mut [T]` with a layout, and moves to another thread as that does.
unsafe impl<T: Send> Send for ViewMut<'_, T> {}
// SAFETY: through a shared reference it gives out its layout only.
unsafe impl<T: Sync> Sync for ViewMut<'_, T> {}

impl<T> fmt::Debug for ViewMut<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ViewMut").field("shape", &self.shape()).field("strides", &self.strides()).finish()
    }
}

impl<'a, T> ViewMut<'a, T> {
    /// A row-major view of a whole slice.
    ///
    /// # Errors
    /// As for [`View::new`].
    pub fn new(values: &'a mut [T], shape: &[usize]) -> Result<Self, Error> {
        let layout = Layout::contiguous(shape)?;
        if values.len() != layout.len() {
            return Err(Error::Length { len: values.len(), expected: layout.len() });
        }
        Ok(ViewMut { origin: values.as_mut_ptr(), layout, slice: PhantomData })
    }

    /// A view with any element strides, whose first coordinate is element `offset` of the slice.
    ///
    /// # Errors
    /// As for [`View::strided`], then [`Error::Overlap`] when two coordinates share an element or the strides do not
    /// show that none do: ordered by length, each must step over all that the shorter ones reach.
    pub fn strided(values: &'a mut [T], shape: &[usize], strides: &[isize], offset: usize) -> Result<Self, Error> {
        let layout = Layout::strided(shape, strides)?;
        layout.check_within(offset, values.len())?;
        layout.check_disjoint()?;
        Ok(ViewMut { origin: values.as_mut_ptr().wrapping_add(offset), layout, slice: PhantomData })
    }

    layout_methods!();

    pub(crate) fn origin(&mut self) -> *mut T {
        self.origin
    }
}
