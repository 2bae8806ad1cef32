//! Finding the index to blame, once a kernel has met one that is out of range (or before anything could be written).

use smallvec::SmallVec;

use crate::error::{Error, Op};
use crate::index::IndexType;
use crate::ops::{IndexRules, NegativeIndex, OutOfBounds};
use crate::plan::Axis;
use crate::shape::Layout;

/// What an index is held against.
pub(crate) struct Blame<'a> {
    pub(crate) op: Op,
    pub(crate) axes: &'a [Axis],
    pub(crate) rules: IndexRules,
    pub(crate) index: IndexType,
}

/// Checks every index in row-major order.
///
/// Along a dimension without a stride all indices are those at its first coordinate, which come first: only they are looked
/// at, however many the view says there are.
///
/// # Errors
/// [`Error::IndexOutOfRange`] for the first that names no element.
///
/// # Safety
/// The indices may be read along their layout as values of the index type.
#[cold]
pub(crate) unsafe fn check(blame: &Blame<'_>, index: *const u8, indices: &Layout) -> Result<(), Error> {
    let read = blame.index.reader();
    let (shape, strides) = (indices.shape(), indices.strides());
    let size = blame.index.size() as isize;
    let tuples = blame.op == Op::GatherNd;
    let mut counts: SmallVec<[usize; 8]> = shape.into();
    // The components of a tuple are held against axes of their own, even where they are one index.
    let repeatable = shape.len().saturating_sub(usize::from(tuples));
    for (count, &stride) in counts[..repeatable].iter_mut().zip(strides) {
        if stride == 0 {
            *count = (*count).min(1);
        }
    }
    let mut coords: SmallVec<[usize; 8]> = SmallVec::from_elem(0, shape.len());
    for _ in 0..counts.iter().product::<usize>() {
        let offset: isize = coords.iter().zip(strides).map(|(&c, &stride)| c as isize * stride).sum();
        // SAFETY: every coordinate is below its dimension, so this is an index of the tensor.
        let value = unsafe { read(index.wrapping_offset(offset * size)) };
        let component = if tuples { coords.last().copied().unwrap_or(0) } else { 0 };
        let Axis { axis, dim, .. } = blame.axes[component];
        if !names_an_element(blame.rules, value, dim) {
            let position = coords.iter().zip(shape).fold(0, |position, (&c, &dim)| position * dim + c);
            return Err(Error::IndexOutOfRange { op: blame.op, position, index: value, axis, dim });
        }
        advance(&mut coords, &counts);
    }
    Ok(())
}

/// The first index that names no element, once a kernel has met one. The output is not all written then, so that no call may
/// go on as if there were none.
///
/// # Panics
/// When there is none after all: something has changed the indices since, such as another process a mapped file.
///
/// # Safety
/// As for [`check`].
#[cold]
pub(crate) unsafe fn find(blame: &Blame<'_>, index: *const u8, indices: &Layout) -> Error {
    // SAFETY: the caller's promise.
    match unsafe { check(blame, index, indices) } {
        Err(error) => error,
        Ok(()) => panic!("{}: the indices have changed while they were read", blame.op),
    }
}

fn names_an_element(rules: IndexRules, index: i128, dim: usize) -> bool {
    match rules.out_of_bounds {
        OutOfBounds::Clamp | OutOfBounds::Wrap => dim > 0,
        OutOfBounds::Error | OutOfBounds::Zero => {
            let dim = dim as i128;
            let from = if rules.negative == NegativeIndex::FromEnd { -dim } else { 0 };
            (from..dim).contains(&index)
        }
    }
}

/// The next coordinate in row-major order.
fn advance(coords: &mut [usize], shape: &[usize]) {
    for (coord, &dim) in coords.iter_mut().zip(shape).rev() {
        *coord += 1;
        if *coord < dim {
            return;
        }
        *coord = 0;
    }
}
