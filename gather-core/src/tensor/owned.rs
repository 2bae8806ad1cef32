//! Owned results: a `Vec` with a shape.

#![forbid(unsafe_code)]

use alloc::vec::Vec;
use core::fmt;
use core::ops::{Index, IndexMut};

#[cfg(feature = "std")]
use crate::tensor::dynamic::DynTensor;
use crate::tensor::memory;
use crate::tensor::shape::Shape;
use crate::tensor::view::{View, ViewMut};
use crate::types::declare::accessors;
#[cfg(feature = "std")]
use crate::types::element::Element;
use crate::types::error::Error;

/// An owned row-major tensor: a `Vec<T>` with a shape. [`Tensor::into_vec`] returns the `Vec` without a copy.
#[derive(Clone, PartialEq)]
pub struct Tensor<T> {
    values: Vec<T>,
    /// The shape has `values.len()` elements, and passes [`Shape::checked_len`].
    shape: Shape,
}

/// A tensor of shape `[0]`, without memory.
impl<T> Default for Tensor<T> {
    fn default() -> Self {
        Tensor { values: Vec::new(), shape: [0].into() }
    }
}

/// Shows the shape and the first elements.
impl<T: fmt::Debug> fmt::Debug for Tensor<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const SHOWN: usize = 16;
        let shown = &self.values[..self.values.len().min(SHOWN)];
        let mut out = f.debug_struct("Tensor");
        out.field("shape", &&self.shape[..]).field("values", &shown);
        if shown.len() < self.values.len() { out.finish_non_exhaustive() } else { out.finish() }
    }
}

impl<T> Tensor<T> {
    /// A tensor from its elements in row-major order.
    ///
    /// # Errors
    /// [`Error::TooManyElements`], then [`Error::LengthMismatch`].
    pub fn new(values: Vec<T>, shape: &[usize]) -> Result<Self, Error> {
        let expected = Shape::checked_len(shape)?;
        if values.len() != expected {
            return Err(Error::LengthMismatch { len: values.len(), expected, shape: shape.into() });
        }
        Ok(Tensor { values, shape: shape.into() })
    }

    /// A tensor of a shape known to have `values.len()` elements.
    pub(crate) fn from_parts(values: Vec<T>, shape: Shape) -> Self {
        debug_assert_eq!(Shape::checked_len(&shape).ok(), Some(values.len()));
        Tensor { values, shape }
    }

    /// The elements and the shape, which must change together.
    pub(crate) fn parts_mut(&mut self) -> (&mut Vec<T>, &mut Shape) {
        (&mut self.values, &mut self.shape)
    }

    /// A tensor of one value, such as an output to reuse, on [huge pages](crate::guide::large_tables) if that pays.
    ///
    /// # Errors
    /// [`Error::TooManyElements`], then [`Error::AllocationFailed`].
    pub fn full(shape: &[usize], value: T) -> Result<Self, Error>
    where
        T: Clone,
    {
        let len = Shape::checked_len(shape)?;
        let mut values = memory::reserve(len)?;
        values.resize(len, value);
        Ok(Tensor { values, shape: shape.into() })
    }

    /// A tensor of `value(0)`, `value(1)` and so on, in row-major order. Each element is written once, on [huge
    /// pages](crate::guide::large_tables) if that pays.
    ///
    /// ```
    /// fn main() -> Result<(), gather_core::Error> {
    ///     let table = gather_core::Tensor::from_fn(&[2, 3], |at| at as f32 / 2.0)?;
    ///     assert_eq!(table.as_slice(), [0.0, 0.5, 1.0, 1.5, 2.0, 2.5]);
    ///     Ok(())
    /// }
    /// ```
    ///
    /// # Errors
    /// [`Error::TooManyElements`], then [`Error::AllocationFailed`].
    ///
    /// # Panics
    /// If `value` panics.
    pub fn from_fn(shape: &[usize], value: impl FnMut(usize) -> T) -> Result<Self, Error> {
        let len = Shape::checked_len(shape)?;
        let mut values = memory::reserve(len)?;
        values.extend((0..len).map(value));
        Ok(Tensor { values, shape: shape.into() })
    }

    /// A tensor read from a file or any other reader: row-major elements in the machine's byte order.
    ///
    /// The bytes are read into the tensor's own memory, on [huge pages](crate::guide::large_tables) if that pays.
    ///
    /// ```
    /// fn main() -> std::io::Result<()> {
    ///     let file: Vec<u8> = [0.5f32, 1.0, 1.5, 2.0].iter().flat_map(|number| number.to_ne_bytes()).collect();
    ///     let table = gather_core::Tensor::<f32>::from_reader(&file[..], &[2, 2])?;
    ///     assert_eq!(table.as_slice(), [0.5, 1.0, 1.5, 2.0]);
    ///     Ok(())
    /// }
    /// ```
    ///
    /// # Errors
    /// Of the kind `InvalidInput`: [`Error::TooManyElements`], [`Error::TooManyBytes`], then
    /// [`Error::AllocationFailed`]. Then the errors of the reader, `UnexpectedEof` among them. Of the kind
    /// `InvalidData`: [`Error::InvalidBytes`], as for [`DynView::from_bytes`](crate::DynView::from_bytes).
    #[cfg(feature = "std")]
    pub fn from_reader(reader: impl std::io::Read, shape: &[usize]) -> std::io::Result<Self>
    where
        T: Element,
    {
        DynTensor::from_reader(T::DTYPE, reader, shape)?.downcast().map_err(std::io::Error::other)
    }

    accessors! { self:
        /// The sizes of the dimensions.
        pub fn shape() -> &[usize] => &self.shape;
        /// The number of dimensions.
        pub fn rank() -> usize => self.shape.len();
        /// The number of elements.
        pub fn len() -> usize => self.values.len();
        /// Whether there is no element.
        pub fn is_empty() -> bool => self.values.is_empty();
        /// The elements in row-major order.
        pub fn as_slice() -> &[T] => &self.values;
    }

    /// The elements in row-major order, mutable.
    #[must_use]
    pub fn as_mut_slice(&mut self) -> &mut [T] {
        &mut self.values
    }

    /// An iterator over the elements, in row-major order.
    pub fn iter(&self) -> core::slice::Iter<'_, T> {
        self.values.iter()
    }

    /// The element at a coordinate; `None` outside the shape or for a coordinate of another rank, where
    /// `tensor[[row, column]]` panics.
    #[must_use]
    pub fn get(&self, coords: &[usize]) -> Option<&T> {
        self.at(coords).map(|at| &self.values[at])
    }

    /// The row-major number of the element at a coordinate.
    fn at(&self, coords: &[usize]) -> Option<usize> {
        let inside = coords.len() == self.rank() && coords.iter().zip(&self.shape[..]).all(|(&c, &dim)| c < dim);
        // Inside the shape nothing overflows: each partial result is below the number of elements.
        inside.then(|| coords.iter().zip(&self.shape[..]).fold(0, |at, (&c, &dim)| at * dim + c))
    }

    #[track_caller]
    fn at_or_panic(&self, coords: &[usize]) -> usize {
        match self.at(coords) {
            Some(at) => at,
            None => panic!("coordinate {coords:?} of a tensor of shape {:?}", self.shape),
        }
    }

    /// The elements in row-major order, without a copy.
    #[must_use]
    pub fn into_vec(self) -> Vec<T> {
        self.values
    }

    /// A view of the whole tensor.
    #[must_use]
    pub fn view(&self) -> View<'_, T> {
        View::new(&self.values, &self.shape).expect("a tensor has as many values as its shape says")
    }

    /// A mutable view of the whole tensor.
    #[must_use]
    pub fn view_mut(&mut self) -> ViewMut<'_, T> {
        ViewMut::new(&mut self.values, &self.shape).expect("a tensor has as many values as its shape says")
    }
}

/// The elements in row-major order, without a copy.
impl<T> From<Tensor<T>> for Vec<T> {
    fn from(tensor: Tensor<T>) -> Self {
        tensor.values
    }
}

/// The elements in row-major order.
impl<T> AsRef<[T]> for Tensor<T> {
    fn as_ref(&self) -> &[T] {
        &self.values
    }
}

/// The elements in row-major order.
impl<T> IntoIterator for Tensor<T> {
    type Item = T;
    type IntoIter = alloc::vec::IntoIter<T>;

    fn into_iter(self) -> Self::IntoIter {
        self.values.into_iter()
    }
}

/// The elements in row-major order.
impl<'a, T> IntoIterator for &'a Tensor<T> {
    type Item = &'a T;
    type IntoIter = core::slice::Iter<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

/// The element at a coordinate.
///
/// ```
/// fn main() -> Result<(), gather_core::Error> {
///     let mut matrix = gather_core::Tensor::new(vec![1, 2, 3, 4, 5, 6], &[2, 3])?;
///     matrix[[0, 2]] += 10;
///     assert_eq!((matrix[[0, 2]], matrix[&[1, 0][..]]), (13, 4));
///     Ok(())
/// }
/// ```
///
/// # Panics
/// Outside the shape, and for a coordinate of another rank.
impl<T> Index<&[usize]> for Tensor<T> {
    type Output = T;

    #[track_caller]
    fn index(&self, coords: &[usize]) -> &T {
        &self.values[self.at_or_panic(coords)]
    }
}

impl<T> IndexMut<&[usize]> for Tensor<T> {
    #[track_caller]
    fn index_mut(&mut self, coords: &[usize]) -> &mut T {
        let at = self.at_or_panic(coords);
        &mut self.values[at]
    }
}

impl<T, const N: usize> Index<[usize; N]> for Tensor<T> {
    type Output = T;

    #[track_caller]
    fn index(&self, coords: [usize; N]) -> &T {
        &self[&coords[..]]
    }
}

impl<T, const N: usize> IndexMut<[usize; N]> for Tensor<T> {
    #[track_caller]
    fn index_mut(&mut self, coords: [usize; N]) -> &mut T {
        &mut self[&coords[..]]
    }
}

impl<T, const N: usize> Tensor<[T; N]> {
    /// The same elements without their arrays: the shape gains a last dimension of `N`. Nothing is copied.
    ///
    /// ```
    /// fn main() -> Result<(), gather_core::Error> {
    ///     let points = gather_core::Tensor::new(vec![[1, 2, 3], [4, 5, 6]], &[2])?;
    ///     let numbers = points.into_flattened();
    ///     assert_eq!((numbers.shape(), numbers.as_slice()), (&[2, 3][..], &[1, 2, 3, 4, 5, 6][..]));
    ///     Ok(())
    /// }
    /// ```
    ///
    /// # Panics
    /// If the product of the nonzero sizes of the result exceeds `isize::MAX`, which takes a tensor without bytes.
    #[must_use]
    pub fn into_flattened(self) -> Tensor<T> {
        let Tensor { values, mut shape } = self;
        shape.push(N);
        Shape::checked_len(&shape).expect("a tensor without bytes has too many elements to be flattened");
        Tensor { values: values.into_flattened(), shape }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coordinates_name_elements() {
        let mut tensor = Tensor::new((0..24).collect::<Vec<i32>>(), &[2, 3, 4]).unwrap();
        let view = tensor.clone();
        for coords in [[0, 0, 0], [1, 2, 3], [1, 0, 2], [0, 2, 1]] {
            let expected = view.view().get(&coords).copied();
            assert_eq!(
                (tensor.get(&coords).copied(), Some(tensor[coords]), Some(tensor[&coords[..]])),
                (expected, expected, expected)
            );
        }
        tensor[[1, 2, 3]] = -1;
        assert_eq!((tensor.iter().last(), tensor.as_ref().len()), (Some(&-1), 24));
        for coords in [&[2, 0, 0][..], &[0, 3, 0], &[0, 0, 4], &[usize::MAX, 0, 0], &[0, 0], &[0, 0, 0, 0], &[]] {
            assert_eq!(tensor.get(coords), None, "{coords:?}");
        }
        assert_eq!(Tensor::new(vec![7], &[]).unwrap()[[]], 7);
        assert_eq!((Tensor::<u8>::default().get(&[0]), (&tensor).into_iter().count()), (None, 24));
        assert_eq!((Vec::from(tensor.clone()), tensor.into_iter().collect()), (view_of(&view), view_of(&view)));
    }

    fn view_of(before: &Tensor<i32>) -> Vec<i32> {
        let mut values = before.as_slice().to_vec();
        values[23] = -1;
        values
    }

    #[test]
    #[should_panic(expected = "coordinate [1, 3] of a tensor of shape [2, 3]")]
    fn coordinates_outside_panic() {
        let _ = Tensor::full(&[2, 3], 0u8).unwrap()[[1, 3]];
    }

    #[test]
    fn arrays_are_flattened_in_place() {
        let tensor = Tensor::new(vec![[[1u8, 2], [3, 4], [5, 6]]; 4], &[2, 1, 2]).unwrap();
        let start = tensor.as_slice().as_ptr().cast::<u8>();
        let flat = tensor.into_flattened().into_flattened();
        assert_eq!((flat.shape(), flat.as_slice()), (&[2, 1, 2, 3, 2][..], &[1u8, 2, 3, 4, 5, 6].repeat(4)[..]));
        assert_eq!(flat.as_slice().as_ptr(), start);
        assert_eq!(flat.view().get(&[1, 0, 1, 2, 0]), Some(&5));

        let empty = Tensor::new(Vec::<[u8; 5]>::new(), &[3, 0]).unwrap().into_flattened();
        assert_eq!((empty.shape(), empty.len()), (&[3, 0, 5][..], 0));
        let none = Tensor::new(vec![[0u8; 0]; 3], &[3]).unwrap().into_flattened();
        assert_eq!((none.shape(), none.len()), (&[3, 0][..], 0));
    }

    #[test]
    #[should_panic(expected = "too many elements to be flattened")]
    fn a_shape_that_cannot_be_is_refused() {
        let _ = Tensor::new(Vec::<[u8; 2]>::new(), &[0, isize::MAX as usize]).unwrap().into_flattened();
    }
}
