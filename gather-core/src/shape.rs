//! Shapes and layouts: sizes and strides without memory, checked once where they are made.

#![forbid(unsafe_code)]

use core::fmt;
use core::ops::Deref;

use smallvec::SmallVec;

use crate::error::Error;

/// Dimensions that fit without a heap allocation.
const INLINE: usize = 6;

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

    pub(crate) fn extend(&mut self, dims: &[usize]) {
        self.0.extend_from_slice(dims);
    }

    /// The number of elements, where it is at most `isize::MAX` with zero dimensions left aside: a shape that passes
    /// can be given strides and iterated without overflow.
    #[inline]
    pub(crate) fn checked_len(dims: &[usize]) -> Result<usize, Error> {
        len_within(dims, MOST).ok_or_else(|| Error::TooManyElements { shape: dims.into() })
    }

    /// As [`Shape::checked_len`], for elements of `size` bytes: also the byte count fits in `isize`.
    #[inline]
    pub(crate) fn checked_bytes(dims: &[usize], size: usize) -> Result<usize, Error> {
        let len = Self::checked_len(dims)?;
        bytes_within(len, size, MOST).ok_or_else(|| Error::TooManyBytes { shape: dims.into(), element: size })
    }
}

/// What memory holds at most: of elements, and of their bytes.
const MOST: usize = isize::MAX as usize;

/// The product of the dimensions, 0 where one of them is 0; `None` where the others have more than `most` elements.
#[inline]
fn len_within(dims: &[usize], most: usize) -> Option<usize> {
    let (mut product, mut empty) = (1usize, false);
    for &dim in dims {
        empty |= dim == 0;
        product = product.checked_mul(dim.max(1)).filter(|&product| product <= most)?;
    }
    Some(if empty { 0 } else { product })
}

/// The bytes of `len` elements of `size` bytes, at most `most`.
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

/// Shape and element strides of a tensor, without its memory.
///
/// A plan is made from layouts; a view is a layout over a slice. Invariant: one stride a dimension, and the number of
/// elements fits in `isize` even with the zero dimensions left aside.
#[derive(Clone, Debug)]
pub struct Layout {
    shape: Shape,
    strides: SmallVec<[isize; INLINE]>,
    len: usize,
    /// Whether the strides follow from the shape, as [`Layout::contiguous`] makes them. Others may still be contiguous.
    row_major: bool,
}

impl PartialEq for Layout {
    /// Dimension by dimension: there are too few for the call of a comparison of memory to be worth it.
    #[inline]
    fn eq(&self, other: &Self) -> bool {
        let (shape, others) = (&self.shape[..], &other.shape[..]);
        shape.len() == others.len()
            && shape.iter().zip(others).all(|(mine, theirs)| mine == theirs)
            && ((self.row_major && other.row_major)
                || self.strides.iter().zip(&other.strides).all(|(mine, theirs)| mine == theirs))
    }
}

impl Eq for Layout {}

impl Layout {
    /// The row-major layout of a shape.
    ///
    /// # Errors
    /// [`Error::TooManyElements`].
    pub fn contiguous(shape: &[usize]) -> Result<Self, Error> {
        let len = Shape::checked_len(shape)?;
        let mut strides: SmallVec<[isize; INLINE]> = SmallVec::from_elem(0, shape.len());
        let mut step = 1usize;
        for (stride, &dim) in strides.iter_mut().zip(shape).rev() {
            // `step` is a product of nonzero dimensions that `checked_len` has bounded by `isize::MAX`.
            *stride = step as isize;
            step *= dim.max(1);
        }
        Ok(Layout { shape: shape.into(), strides, len, row_major: true })
    }

    /// A layout with any element strides, negative and 0 too.
    ///
    /// # Errors
    /// [`Error::StridesLength`], then [`Error::TooManyElements`].
    pub fn strided(shape: &[usize], strides: &[isize]) -> Result<Self, Error> {
        if strides.len() != shape.len() {
            return Err(Error::StridesLength { strides: strides.len(), rank: shape.len() });
        }
        let len = Shape::checked_len(shape)?;
        Ok(Layout { shape: shape.into(), strides: SmallVec::from_slice(strides), len, row_major: false })
    }

    /// The sizes of the dimensions.
    #[must_use]
    #[inline]
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// The distance between neighbours along each dimension, in elements.
    #[must_use]
    #[inline]
    pub fn strides(&self) -> &[isize] {
        &self.strides
    }

    /// The number of dimensions.
    #[must_use]
    #[inline]
    pub fn rank(&self) -> usize {
        self.shape.len()
    }

    /// The number of elements.
    #[must_use]
    #[inline]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there is no element.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Whether the elements lie in row-major order without gaps (true of every empty layout).
    #[must_use]
    pub fn is_contiguous(&self) -> bool {
        let mut step = 1isize;
        for (&stride, &dim) in self.strides.iter().zip(self.shape.iter()).rev() {
            if dim != 1 {
                if stride != step && self.len != 0 {
                    return false;
                }
                step *= dim.max(1) as isize;
            }
        }
        true
    }

    /// The dimensions in another order.
    pub(crate) fn permuted(&self, axes: &[usize]) -> Result<Self, Error> {
        let rank = self.rank();
        if axes.len() != rank || !(0..rank).all(|d| axes.contains(&d)) {
            return Err(Error::Permutation { rank });
        }
        let shape = axes.iter().map(|&d| self.shape[d]).collect();
        let strides = axes.iter().map(|&d| self.strides[d]).collect();
        Ok(Layout { shape, strides, len: self.len, row_major: false })
    }

    /// The least and greatest element position relative to the first coordinate, inclusive; `None` for an empty layout.
    ///
    /// # Errors
    /// An end that is not representable comes back as `None` in the pair.
    pub(crate) fn reach(&self) -> Option<(Option<isize>, Option<isize>)> {
        if self.len == 0 {
            return None;
        }
        let (mut first, mut last) = (Some(0isize), Some(0isize));
        for (&stride, &dim) in self.strides.iter().zip(self.shape.iter()) {
            // A nonempty layout has dimensions of at most `isize::MAX`.
            let span = stride.checked_mul((dim - 1) as isize);
            let end = if stride < 0 { &mut first } else { &mut last };
            *end = end.zip(span).and_then(|(end, span)| end.checked_add(span));
        }
        Some((first, last))
    }

    /// Checks that every coordinate, taken from element `offset`, lies in a slice of `len` elements.
    pub(crate) fn check_within(&self, offset: usize, len: usize) -> Result<(), Error> {
        let Some((first, last)) = self.reach() else {
            return if offset <= len { Ok(()) } else { Err(Error::Length { len, expected: offset }) };
        };
        let shift = |end: Option<isize>| end.and_then(|end| isize::try_from(offset).ok()?.checked_add(end));
        let (first, last) = (shift(first), shift(last));
        match (first, last) {
            (Some(low), Some(high)) if low >= 0 && (high as usize) < len => Ok(()),
            _ => Err(Error::StridesOutOfBounds { first, last, len }),
        }
    }

    /// Checks that no two coordinates share an element: ordered by length, every stride steps over all that the shorter
    /// ones reach. Sufficient for outputs made by slicing, permuting and reversing; other disjoint layouts are refused.
    pub(crate) fn check_disjoint(&self) -> Result<(), Error> {
        if self.len == 0 || self.is_contiguous() {
            return Ok(());
        }
        let mut order: SmallVec<[usize; INLINE]> = (0..self.rank()).filter(|&d| self.shape[d] > 1).collect();
        order.sort_by_key(|&d| self.strides[d].unsigned_abs());
        let mut reached = 0usize;
        for d in order {
            let stride = self.strides[d].unsigned_abs();
            if stride <= reached {
                return Err(Error::Overlap { dim: d, stride: self.strides[d], needed: reached.saturating_add(1) });
            }
            reached = stride.saturating_mul(self.shape[d] - 1).saturating_add(reached);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What memory holds at most where pointers have 32 bits; the products of such a machine overflow no `usize` here, so
    /// that only the limit refuses them. The tests themselves run on such a machine too: see the README.
    const MOST_OF_32_BITS: usize = i32::MAX as usize;

    #[test]
    fn elements_and_bytes_of_32_bits_are_counted() {
        let len = |dims: &[usize]| len_within(dims, MOST_OF_32_BITS);
        let side = 1 << 16;
        assert_eq!(len(&[]), Some(1));
        assert_eq!(len(&[MOST_OF_32_BITS]), Some(MOST_OF_32_BITS));
        assert_eq!(len(&[MOST_OF_32_BITS, 1, 0]), Some(0));
        assert_eq!(len(&[side, side / 2 - 1]), Some(side * (side / 2 - 1)));
        assert_eq!(len(&[side, side / 2]), None);
        // In 32 bits these products are 0 and 1.
        assert_eq!(len(&[side, side]), None);
        assert_eq!(len(&[side + 1, side - 1, 0]), None);

        let bytes = |len, size| bytes_within(len, size, MOST_OF_32_BITS);
        let most = MOST_OF_32_BITS / 16;
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
