//! Finding the first index that is out of range, once a kernel has met one or where nothing can be written.

use smallvec::SmallVec;

use crate::plan::Axis;
use crate::tensor::layout::Layout;
use crate::types::error::Error;
use crate::types::index::IndexType;
use crate::types::op::Op;
use crate::types::policy::{IndexPolicy, NegativeIndex, OutOfBounds};

/// What an index is compared with.
pub(crate) struct IndexCheck<'a> {
    pub(crate) op: Op,
    pub(crate) axes: &'a [Axis],
    pub(crate) policy: IndexPolicy,
    pub(crate) index: IndexType,
}

/// Checks every index in row-major order.
///
/// Along a dimension without a stride all indices are those at its first coordinate, which come first: only they are
/// looked at, however many the view says there are.
///
/// # Errors
/// [`Error::IndexOutOfRange`] for the first that names no element.
///
/// # Safety
/// The indices may be read along their layout as values of the index type.
#[cold]
pub(crate) unsafe fn check(checked: &IndexCheck<'_>, index: *const u8, indices: &Layout) -> Result<(), Error> {
    let read = checked.index.reader();
    let (shape, strides) = (indices.shape(), indices.strides());
    let size = checked.index.size() as isize;
    let tuples = matches!(checked.op, Op::GatherNd | Op::ScatterNd);
    let mut counts: SmallVec<[usize; 8]> = shape.into();
    // The components of a tuple are compared with axes of their own, even where they are one index.
    let repeatable = shape.len().saturating_sub(usize::from(tuples));
    for (count, &stride) in counts[..repeatable].iter_mut().zip(strides) {
        if stride == 0 {
            *count = (*count).min(1);
        }
    }
    let mut coords: SmallVec<[usize; 8]> = SmallVec::from_elem(0, shape.len());
    for _ in 0..counts.iter().product::<usize>() {
        let offset = coords
            .iter()
            .zip(strides)
            .fold(0isize, |at, (&c, &stride)| at.wrapping_add(stride.wrapping_mul(c as isize)));
        // SAFETY: every coordinate is below its dimension, so this is an index of the tensor.
        let value = unsafe { read(index.wrapping_offset(offset.wrapping_mul(size))) };
        let component = if tuples { coords.last().copied().unwrap_or(0) } else { 0 };
        let Axis { axis, dim, .. } = checked.axes[component];
        if !names_an_element(checked.policy, value, dim) {
            let position = coords.iter().zip(shape).fold(0, |position, (&c, &dim)| position * dim + c);
            let negative = checked.policy.negative;
            return Err(Error::IndexOutOfRange { op: checked.op, position, index: value, axis, dim, negative });
        }
        advance(&mut coords, &counts);
    }
    Ok(())
}

/// The first index that names no element, once a kernel has met one. The output is not all written then, so that no
/// call may go on as if there were none.
///
/// # Panics
/// When there is none after all: something has changed the indices since, such as another process a mapped file.
///
/// # Safety
/// As for [`check`].
#[cold]
pub(crate) unsafe fn find(checked: &IndexCheck<'_>, index: *const u8, indices: &Layout) -> Error {
    // SAFETY: the caller's promise.
    match unsafe { check(checked, index, indices) } {
        Err(error) => error,
        Ok(()) => panic!("{}: the indices have changed while they were read", checked.op),
    }
}

fn names_an_element(policy: IndexPolicy, index: i128, dim: usize) -> bool {
    match policy.out_of_bounds {
        OutOfBounds::Clamp | OutOfBounds::Wrap => dim > 0,
        OutOfBounds::Error | OutOfBounds::Zero => {
            let dim = dim as i128;
            let from = if policy.negative == NegativeIndex::FromEnd { -dim } else { 0 };
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
