//! Owned results: a `Vec` with a shape.

#![forbid(unsafe_code)]

use alloc::vec::Vec;

use crate::alloc_out;
use crate::error::Error;
use crate::shape::{Layout, Shape};
use crate::view::{View, ViewMut};

/// An owned row-major tensor: a `Vec<T>` with a shape, taken apart without a copy by [`Tensor::into_vec`].
#[derive(Clone, Debug, PartialEq)]
pub struct Tensor<T> {
    values: Vec<T>,
    /// Invariant: as many elements as `values`.
    shape: Shape,
}

impl<T> Tensor<T> {
    /// A tensor from its elements in row-major order.
    ///
    /// # Errors
    /// [`Error::TooManyElements`], then [`Error::Length`].
    pub fn new(values: Vec<T>, shape: &[usize]) -> Result<Self, Error> {
        let expected = Shape::checked_len(shape)?;
        if values.len() != expected {
            return Err(Error::Length { len: values.len(), expected });
        }
        Ok(Tensor { values, shape: shape.into() })
    }

    /// A tensor of a shape that is known to have as many elements.
    pub(crate) fn from_parts(values: Vec<T>, shape: Shape) -> Self {
        debug_assert_eq!(Shape::checked_len(&shape).ok(), Some(values.len()));
        Tensor { values, shape }
    }

    /// A tensor of one value everywhere: an output to be written again and again by `run_into`, say. Its memory is had as
    /// that of fresh results, on huge pages where that pays.
    ///
    /// # Errors
    /// [`Error::TooManyElements`], then [`Error::Allocation`].
    pub fn filled(shape: &[usize], value: T) -> Result<Self, Error>
    where
        T: Clone,
    {
        let len = Shape::checked_len(shape)?;
        let mut values = alloc_out::reserve(len)?;
        values.resize(len, value);
        Ok(Tensor { values, shape: shape.into() })
    }

    /// The sizes of the dimensions.
    #[must_use]
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// The number of dimensions.
    #[must_use]
    pub fn rank(&self) -> usize {
        self.shape.len()
    }

    /// The number of elements.
    #[must_use]
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// Whether there is no element.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// The elements in row-major order.
    #[must_use]
    pub fn as_slice(&self) -> &[T] {
        &self.values
    }

    /// The elements in row-major order, to be changed in place.
    #[must_use]
    pub fn as_mut_slice(&mut self) -> &mut [T] {
        &mut self.values
    }

    /// The elements in row-major order, without a copy.
    #[must_use]
    pub fn into_vec(self) -> Vec<T> {
        self.values
    }

    /// A view of the whole tensor.
    #[must_use]
    pub fn view(&self) -> View<'_, T> {
        View::from_parts(self.values.as_ptr(), self.layout())
    }

    /// A mutable view of the whole tensor.
    #[must_use]
    pub fn view_mut(&mut self) -> ViewMut<'_, T> {
        ViewMut::new(&mut self.values, &self.shape).expect("a tensor has as many values as its shape says")
    }

    fn layout(&self) -> Layout {
        Layout::contiguous(&self.shape).expect("the shape of a tensor has been checked")
    }
}
