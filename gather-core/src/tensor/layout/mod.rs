//! Layouts: sizes and strides without memory, checked at construction.

#![forbid(unsafe_code)]

use alloc::boxed::Box;
use core::mem;
use core::ops::Range;

use smallvec::SmallVec;

pub use crate::tensor::shape::Shape;
use crate::tensor::shape::{INLINE, too_many_bytes, too_many_elements};
use crate::types::declare::{accessors, debug_by};
use crate::types::error::Error;
use crate::types::order::sort_by_key;

/// Shape and element strides of a tensor, without its memory.
///
/// A plan is made from layouts; a view is a layout over memory.
//
// A layout is made for every view, before calls that take a few hundred instructions. So up to `INLINE` dimensions are
// stored inline, and the fields are words without padding, which compilers keep in registers.
#[derive(Clone)]
pub struct Layout {
    /// The sizes of up to `INLINE` dimensions, then zeros. L2: the product of nonzero sizes fits in `isize`.
    sizes: [usize; INLINE],
    /// L1: the strides of the same dimensions, then zeros.
    strides: [isize; INLINE],
    /// All dimensions if there are more than `INLINE`, else `None`.
    spilled: Option<Box<Spilled>>,
    /// L3: the product of the sizes.
    len: usize,
    /// L4: the number of inline dimensions; 0 if they are spilled.
    rank: u32,
    order: Order,
}

/// Sizes and strides of more than `INLINE` dimensions.
#[derive(Clone)]
struct Spilled {
    sizes: Box<[usize]>,
    strides: Box<[isize]>,
}

#[derive(Clone, Copy, PartialEq)]
#[repr(u32)]
enum Order {
    /// L5: the strides that [`Layout::contiguous`] gives the shape.
    RowMajor,
    /// Other strides. The layout may still be contiguous, since the stride of a dimension of size 1 does not matter.
    Any,
}

#[inline(always)]
const fn kind(rank: u32, order: Order) -> u64 {
    (order as u64) << 32 | rank as u64
}

const ROW_MAJOR_1: u64 = kind(1, Order::RowMajor);
const ROW_MAJOR_2: u64 = kind(2, Order::RowMajor);
const ROW_MAJOR_MOST: u64 = kind(INLINE as u32, Order::RowMajor);

debug_by!(self: [] Layout { shape: self.shape(), strides: self.strides() });

impl PartialEq for Layout {
    #[inline]
    fn eq(&self, other: &Self) -> bool {
        self.shape() == other.shape() && self.strides() == other.strides()
    }
}

impl Eq for Layout {}

impl Layout {
    /// The row-major layout of a shape.
    ///
    /// # Errors
    /// [`Error::TooManyElements`].
    #[inline(always)]
    pub fn contiguous(shape: &[usize]) -> Result<Self, Error> {
        if shape.len() > INLINE {
            return Self::contiguous_spilled(shape);
        }
        let (mut sizes, mut strides) = ([0; INLINE], [0; INLINE]);
        let mut product = Product::new();
        // Constant bounds: the loop is unrolled, and the arrays are kept in registers.
        for d in (0..INLINE).rev() {
            if let Some(&dim) = shape.get(d) {
                sizes[d] = dim;
                strides[d] = product.step as isize;
                product.multiply(dim);
            }
        }
        let len = product.len().ok_or_else(|| too_many_elements(shape))?;
        Ok(Layout { sizes, strides, spilled: None, len, rank: shape.len() as u32, order: Order::RowMajor })
    }

    #[cold]
    #[inline(never)]
    fn contiguous_spilled(shape: &[usize]) -> Result<Self, Error> {
        let mut product = Product::new();
        let mut strides: Box<[isize]> = shape.iter().map(|_| 0).collect();
        for (stride, &dim) in strides.iter_mut().zip(shape).rev() {
            *stride = product.step as isize;
            product.multiply(dim);
        }
        let len = product.len().ok_or_else(|| too_many_elements(shape))?;
        Ok(Self::spilled(shape, strides, len, Order::RowMajor))
    }

    /// A layout of more than `INLINE` dimensions, checked for L1 to L5.
    fn spilled(shape: &[usize], strides: Box<[isize]>, len: usize, order: Order) -> Self {
        let spilled = Some(Box::new(Spilled { sizes: shape.into(), strides }));
        Layout { sizes: [0; INLINE], strides: [0; INLINE], spilled, len, rank: 0, order }
    }

    /// A layout with any element strides, including negative ones and 0.
    ///
    /// # Errors
    /// [`Error::StridesLengthMismatch`], then [`Error::TooManyElements`].
    pub fn strided(shape: &[usize], strides: &[isize]) -> Result<Self, Error> {
        if strides.len() != shape.len() {
            return Err(Error::StridesLengthMismatch { strides: strides.len(), rank: shape.len() });
        }
        let mut product = Product::new();
        let mut order = Order::RowMajor;
        for (&stride, &dim) in strides.iter().zip(shape).rev() {
            if stride != product.step as isize {
                order = Order::Any;
            }
            product.multiply(dim);
        }
        let len = product.len().ok_or_else(|| too_many_elements(shape))?;
        let (mut own_sizes, mut own_strides) = ([0; INLINE], [0; INLINE]);
        if shape.len() > INLINE {
            return Ok(Self::spilled(shape, strides.into(), len, order));
        }
        own_sizes[..shape.len()].copy_from_slice(shape);
        own_strides[..shape.len()].copy_from_slice(strides);
        Ok(Layout { sizes: own_sizes, strides: own_strides, spilled: None, len, rank: shape.len() as u32, order })
    }

    /// The same strides with another size of the first dimension; `None` if the rank is 0.
    ///
    /// # Errors
    /// [`Error::TooManyElements`].
    pub(crate) fn resized(&self, count: usize) -> Option<Result<Self, Error>> {
        let mut shape = SmallVec::<[usize; INLINE]>::from_slice(self.shape());
        *shape.first_mut()? = count;
        Some(Self::strided(&shape, self.strides()))
    }

    /// The sizes of the dimensions.
    #[must_use]
    #[inline]
    pub fn shape(&self) -> &[usize] {
        match &self.spilled {
            None => &self.sizes[..self.rank as usize],
            Some(spilled) => &spilled.sizes,
        }
    }

    /// The distance between adjacent elements along each dimension, in elements.
    #[must_use]
    #[inline]
    pub fn strides(&self) -> &[isize] {
        match &self.spilled {
            None => &self.strides[..self.rank as usize],
            Some(spilled) => &spilled.strides,
        }
    }

    /// The number of dimensions.
    #[must_use]
    #[inline]
    pub fn rank(&self) -> usize {
        match &self.spilled {
            None => self.rank as usize,
            Some(spilled) => spilled.sizes.len(),
        }
    }

    accessors! { self:
        /// The number of elements.
        pub fn len() -> usize => self.len;
        /// Whether there is no element.
        pub fn is_empty() -> bool => self.len == 0;
    }

    /// Whether the elements lie in row-major order without gaps (true of every empty layout).
    #[must_use]
    pub fn is_contiguous(&self) -> bool {
        if self.order == Order::RowMajor || self.len == 0 {
            return true;
        }
        let mut step = 1isize;
        for (&stride, &dim) in self.strides().iter().zip(self.shape()).rev() {
            if dim != 1 {
                if stride != step {
                    return false;
                }
                // The dimensions of a nonempty layout are at most `isize::MAX`, and so is their product (L2).
                step *= dim as isize;
            }
        }
        true
    }

    /// Whether the strides are row-major (L5), also along dimensions of size 0 or 1. Such strides stay row-major for
    /// any other size of the first dimension.
    #[inline]
    pub(crate) fn is_row_major(&self) -> bool {
        self.order == Order::RowMajor
    }

    /// Whether two layouts have the same shape, and the same stride along each dimension of size 2 or more. Calls step
    /// along no other dimension, and along none of an empty tensor.
    ///
    /// Plans compare three layouts before calls that take a few dozen instructions. Row-major layouts of few
    /// dimensions are compared word by word, without a loop.
    #[inline(always)]
    pub(crate) fn matches(&self, other: &Self) -> bool {
        let kind = self.kind();
        if kind == other.kind() {
            if kind == ROW_MAJOR_1 {
                return self.sizes[0] == other.sizes[0];
            }
            if kind == ROW_MAJOR_2 {
                return self.sizes[0] == other.sizes[0] && self.sizes[1] == other.sizes[1];
            }
            if kind > ROW_MAJOR_2 && kind <= ROW_MAJOR_MOST {
                return self.sizes == other.sizes;
            }
        }
        self.matches_any(other)
    }

    /// The size of another layout's first dimension, if the layout [matches](Self::matches) in every other dimension
    /// and has the same first stride. The first stride is compared even if this layout has size 0 or 1 there: `other`
    /// may step along the dimension.
    #[inline(always)]
    pub(crate) fn count_of(&self, other: &Self) -> Option<usize> {
        let kind = self.kind();
        if kind == other.kind() && (kind == ROW_MAJOR_1 || kind == ROW_MAJOR_2 && self.sizes[1] == other.sizes[1]) {
            return Some(other.sizes[0]);
        }
        match (self.shape(), other.shape()) {
            ([_, inner @ ..], [count, rest @ ..]) if inner == rest && self.steps_as(other) => Some(*count),
            _ => None,
        }
    }

    /// Rank and order in one word, for a single comparison.
    #[inline(always)]
    const fn kind(&self) -> u64 {
        kind(self.rank, self.order)
    }

    #[inline(never)]
    fn matches_any(&self, other: &Self) -> bool {
        self.shape() == other.shape() && self.steps_as(other)
    }

    /// Whether the strides of this layout step through a tensor of layout `other`, of the same rank.
    fn steps_as(&self, other: &Self) -> bool {
        let mut dims = other.shape().iter().zip(self.strides().iter().zip(other.strides()));
        other.is_empty() || dims.all(|(&n, (own, theirs))| n == 1 || own == theirs)
    }

    pub(crate) fn permuted(&self, axes: &[usize]) -> Result<Self, Error> {
        let rank = self.rank();
        let mut is_named = SmallVec::<[bool; INLINE]>::from_elem(false, rank);
        let names_another = |&d: &usize| is_named.get_mut(d).is_some_and(|is_named| !mem::replace(is_named, true));
        if axes.len() != rank || !axes.iter().all(names_another) {
            return Err(Error::InvalidPermutation { rank });
        }
        let shape: Shape = axes.iter().map(|&d| self.shape()[d]).collect();
        let strides: SmallVec<[isize; INLINE]> = axes.iter().map(|&d| self.strides()[d]).collect();
        Self::strided(&shape, &strides)
    }

    /// The layout of a range of an axis, and the position of its first coordinate; 0 if it is empty.
    ///
    /// # Errors
    /// [`Error::RangeOutOfBounds`].
    pub(crate) fn narrowed(&self, axis: usize, range: Range<usize>) -> Result<(Self, isize), Error> {
        let Range { start, end } = range;
        if start > end || self.shape().get(axis).is_none_or(|&n| end > n) {
            return Err(Error::RangeOutOfBounds { axis, start, end, shape: self.shape().into() });
        }
        let sizes = self.shape().iter().enumerate();
        let shape: Shape = sizes.map(|(d, &n)| if d == axis { end - start } else { n }).collect();
        let layout = Self::strided(&shape, self.strides())?;
        let first = if layout.is_empty() { 0 } else { self.strides()[axis] * start as isize };
        Ok((layout, first))
    }

    /// The layout of an index of an axis, without this axis, and the position of its first coordinate; 0 if it is empty.
    ///
    /// # Errors
    /// [`Error::RangeOutOfBounds`].
    pub(crate) fn selected(&self, axis: usize, index: usize) -> Result<(Self, isize), Error> {
        let (narrow, first) = self.narrowed(axis, index..index.saturating_add(1))?;
        let others = || (0..self.rank()).filter(|&d| d != axis);
        let shape: Shape = others().map(|d| narrow.shape()[d]).collect();
        let strides: SmallVec<[isize; INLINE]> = others().map(|d| narrow.strides()[d]).collect();
        Ok((Self::strided(&shape, &strides)?, first))
    }

    /// The least and greatest element position relative to the first coordinate, inclusive; `None` if empty.
    ///
    /// # Errors
    /// An end that is not representable is `None` in the pair.
    pub(crate) fn reach(&self) -> Option<(Option<isize>, Option<isize>)> {
        if self.len == 0 {
            return None;
        }
        let (mut first, mut last) = (Some(0isize), Some(0isize));
        for (&stride, &dim) in self.strides().iter().zip(self.shape()) {
            // A nonempty layout has dimensions of at most `isize::MAX`.
            let span = stride.checked_mul((dim - 1) as isize);
            let end = if stride < 0 { &mut first } else { &mut last };
            *end = end.zip(span).and_then(|(end, span)| end.checked_add(span));
        }
        Some((first, last))
    }

    /// Checks that a tensor of this layout can exist: elements of `size` bytes span at most `isize::MAX` bytes.
    ///
    /// # Errors
    /// [`Error::TooManyBytes`].
    pub(crate) fn check_bytes(&self, size: usize) -> Result<(), Error> {
        let Some((first, last)) = self.reach() else { return Ok(()) };
        let span = last.zip(first).and_then(|(last, first)| last.checked_sub(first)?.checked_add(1));
        let bytes = span.zip(isize::try_from(size).ok()).and_then(|(span, size)| span.checked_mul(size));
        if bytes.is_some() { Ok(()) } else { Err(too_many_bytes(self.shape(), size)) }
    }

    /// Checks that every coordinate, counted from element `offset`, lies in a slice of `len` elements.
    pub(crate) fn check_within(&self, offset: usize, len: usize) -> Result<(), Error> {
        let Some((first, last)) = self.reach() else {
            return if offset <= len { Ok(()) } else { Err(Error::OffsetOutOfBounds { offset, len }) };
        };
        let shift = |end: Option<isize>| end.and_then(|end| isize::try_from(offset).ok()?.checked_add(end));
        let (first, last) = (shift(first), shift(last));
        match (first, last) {
            (Some(low), Some(high)) if low >= 0 && (high as usize) < len => Ok(()),
            _ => Err(Error::StridesOutOfBounds { first, last, len }),
        }
    }

    /// Checks that no two coordinates share an element: in order of length, every stride exceeds the reach of all
    /// shorter ones. Sufficient for sliced, permuted and reversed outputs; other disjoint layouts are refused.
    pub(crate) fn check_disjoint(&self) -> Result<(), Error> {
        if self.is_contiguous() {
            return Ok(());
        }
        let (shape, strides) = (self.shape(), self.strides());
        let mut order: SmallVec<[usize; INLINE]> = (0..self.rank()).filter(|&d| shape[d] > 1).collect();
        sort_by_key(&mut order, |&d| strides[d].unsigned_abs());
        let mut reached = 0usize;
        for d in order {
            let stride = strides[d].unsigned_abs();
            if stride <= reached {
                let needed = reached.saturating_add(1);
                return Err(Error::StridesOverlap { dim: d, stride: strides[d], needed, strides: strides.into() });
            }
            reached = stride.saturating_mul(shape[d] - 1).saturating_add(reached);
        }
        Ok(())
    }
}

/// The product of sizes from last to first: each partial product is a row-major stride. `beyond` collects overflow.
struct Product {
    /// The product of the nonzero sizes.
    step: usize,
    /// The product of all sizes.
    len: usize,
    /// Nonzero once `step` has exceeded `isize::MAX`; then the other fields are meaningless.
    beyond: usize,
}

impl Product {
    #[inline(always)]
    fn new() -> Self {
        Product { step: 1, len: 1, beyond: 0 }
    }

    #[inline(always)]
    fn multiply(&mut self, dim: usize) {
        let step = self.step as u128 * dim.max(1) as u128;
        self.step = step as usize;
        self.len = self.len.wrapping_mul(dim);
        // The first excess is at most `isize::MAX * usize::MAX`, so no bit of it is lost here.
        self.beyond |= (step >> (usize::BITS - 1)) as usize;
    }

    /// The number of elements; `None` if the product of the nonzero sizes exceeds `isize::MAX`.
    #[inline(always)]
    fn len(&self) -> Option<usize> {
        if self.beyond == 0 { Some(self.len) } else { None }
    }
}

#[cfg(test)]
mod tests;
