//! The sizes of a tensor's dimensions.

#![forbid(unsafe_code)]

use core::fmt;
use core::ops::Deref;

use smallvec::SmallVec;

use crate::types::error::Error;

/// Maximum dimensions held without a heap allocation.
pub(crate) const INLINE: usize = 6;

/// Maximum number of elements, and of their bytes.
pub(crate) const MOST: usize = isize::MAX as usize;

/// The sizes of a tensor's dimensions, outermost first.
///
/// Dereferences to `[usize]`; up to six dimensions are held inline.
#[derive(Clone, PartialEq, Eq, Hash, Default)]
pub struct Shape(SmallVec<[usize; INLINE]>);

impl Shape {
    #[inline]
    pub(crate) fn push(&mut self, dim: usize) {
        self.0.push(dim);
    }

    #[inline]
    pub(crate) fn set(&mut self, dim: usize, size: usize) {
        self.0[dim] = size;
    }

    /// Replaces the sizes in place, and keeps the memory of spilled ones. Copied one by one: a wide load of sizes
    /// stored a moment ago would stall.
    #[inline]
    pub(crate) fn assign(&mut self, dims: &[usize]) {
        if self.0.len() != dims.len() {
            if self.0.spilled() {
                self.0.clear();
                self.0.extend_from_slice(dims);
            } else {
                *self = Self::of_both(dims, &[]);
            }
            return;
        }
        for (own, &dim) in self.0.iter_mut().zip(dims) {
            *own = dim;
        }
    }

    /// As [`Shape::assign`], but with first size `first`.
    #[inline]
    pub(crate) fn assign_resized(&mut self, dims: &[usize], first: usize) {
        self.0.clear();
        self.0.extend(dims.iter().enumerate().map(|(d, &dim)| if d == 0 { first } else { dim }));
    }

    /// The concatenation of both lists. Few sizes are copied as an array.
    #[inline]
    pub(crate) fn of_both(outer: &[usize], inner: &[usize]) -> Self {
        let len = outer.len() + inner.len();
        if len > INLINE {
            return outer.iter().chain(inner).copied().collect();
        }
        // A constant number of steps: the loop is unrolled, and the array is kept in registers.
        let size = |d: usize| outer.get(d).or_else(|| inner.get(d.wrapping_sub(outer.len()))).copied().unwrap_or(0);
        Shape(SmallVec::from_buf_and_len(core::array::from_fn(size), len))
    }

    pub(crate) fn extend(&mut self, dims: &[usize]) {
        self.0.extend_from_slice(dims);
    }

    /// The number of elements, if the nonzero sizes' product is at most `isize::MAX`: strides then never overflow.
    #[inline]
    pub(crate) fn checked_len(dims: &[usize]) -> Result<usize, Error> {
        len_within(dims, MOST).ok_or_else(|| too_many_elements(dims))
    }

    /// As [`Shape::checked_len`], for elements of `size` bytes: the byte count fits in `isize`, too.
    #[inline]
    pub(crate) fn checked_bytes(dims: &[usize], size: usize) -> Result<usize, Error> {
        Self::bytes(dims, Self::checked_len(dims)?, size)
    }

    /// As [`Shape::checked_bytes`], for a shape whose `len` has been checked.
    #[inline]
    pub(crate) fn bytes(dims: &[usize], len: usize, size: usize) -> Result<usize, Error> {
        bytes_within(len, size, MOST).ok_or_else(|| too_many_bytes(dims, size))
    }
}

#[cold]
#[inline(never)]
pub(crate) fn too_many_elements(dims: &[usize]) -> Error {
    Error::TooManyElements { shape: dims.into() }
}

#[cold]
#[inline(never)]
pub(crate) fn too_many_bytes(dims: &[usize], size: usize) -> Error {
    Error::TooManyBytes { shape: dims.into(), element: size }
}

/// The product of the dimensions, 0 if any is 0; `None` if the product of the nonzero ones exceeds `most`.
#[inline]
fn len_within(dims: &[usize], most: usize) -> Option<usize> {
    let (mut product, mut empty) = (1usize, false);
    for &dim in dims {
        empty |= dim == 0;
        product = product.checked_mul(dim.max(1)).filter(|&product| product <= most)?;
    }
    Some(if empty { 0 } else { product })
}

/// `len * size`; `None` if it exceeds `most`.
#[inline]
fn bytes_within(len: usize, size: usize, most: usize) -> Option<usize> {
    len.checked_mul(size).filter(|&bytes| bytes <= most)
}

impl Deref for Shape {
    type Target = [usize];

    #[inline]
    fn deref(&self) -> &[usize] {
        &self.0
    }
}

impl From<&[usize]> for Shape {
    #[inline]
    fn from(dims: &[usize]) -> Self {
        Shape(SmallVec::from_slice(dims))
    }
}

impl FromIterator<usize> for Shape {
    #[inline]
    fn from_iter<I: IntoIterator<Item = usize>>(dims: I) -> Self {
        Shape(dims.into_iter().collect())
    }
}

impl<const N: usize> From<[usize; N]> for Shape {
    #[inline]
    fn from(dims: [usize; N]) -> Self {
        Shape(SmallVec::from_slice(&dims))
    }
}

impl PartialEq<[usize]> for Shape {
    fn eq(&self, other: &[usize]) -> bool {
        **self == *other
    }
}

impl<const N: usize> PartialEq<[usize; N]> for Shape {
    fn eq(&self, other: &[usize; N]) -> bool {
        **self == *other
    }
}

impl fmt::Debug for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// [`MOST`] on 32-bit machines. Its products do not overflow the 64-bit `usize` here, so only the limit refuses
    /// them. The tests also run on a 32-bit machine: see the README.
    const MOST_32_BIT: usize = i32::MAX as usize;

    #[test]
    fn elements_and_bytes_of_32_bits_are_counted() {
        let len = |dims: &[usize]| len_within(dims, MOST_32_BIT);
        let side = 1 << 16;
        assert_eq!(len(&[]), Some(1));
        assert_eq!(len(&[MOST_32_BIT]), Some(MOST_32_BIT));
        assert_eq!(len(&[MOST_32_BIT, 1, 0]), Some(0));
        assert_eq!(len(&[side, side / 2 - 1]), Some(side * (side / 2 - 1)));
        assert_eq!(len(&[side, side / 2]), None);
        // In 32 bits these products are 0 and 1.
        assert_eq!(len(&[side, side]), None);
        assert_eq!(len(&[side + 1, side - 1, 0]), None);

        let bytes = |len, size| bytes_within(len, size, MOST_32_BIT);
        let most = MOST_32_BIT / 16;
        assert_eq!(bytes(most, 16), Some(most * 16));
        assert_eq!(bytes(most + 1, 16), None);
        assert_eq!(bytes(1 << 28, 16), None);
        assert_eq!(bytes(0, usize::MAX), Some(0));
    }

    #[test]
    fn the_limit_is_that_of_the_machine() {
        assert_eq!(Shape::checked_len(&[MOST, 1]), Ok(MOST));
        assert_eq!(Shape::checked_len(&[MOST, 2, 0]), Err(Error::TooManyElements { shape: [MOST, 2, 0].into() }));
        assert_eq!(Shape::checked_bytes(&[MOST / 2], 2), Ok(MOST - 1));
        let refused = Err(Error::TooManyBytes { shape: [MOST / 2 + 1].into(), element: 2 });
        assert_eq!(Shape::checked_bytes(&[MOST / 2 + 1], 2), refused);
    }
}
