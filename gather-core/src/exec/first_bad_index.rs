//! Finding the first index that is out of range, once a kernel has met one or where nothing can be written.

use smallvec::SmallVec;

use crate::exec::coordinates::{CountedDim, first_coordinate, place_of};
use crate::plan::Axis;
use crate::tensor::layout::Layout;
use crate::types::error::Error;
use crate::types::index::IndexType;
use crate::types::op::Op;
use crate::types::policy::KernelPolicy;

/// The size of the axis and the policies that an index is compared with.
pub(crate) struct IndexCheck<'a> {
    pub(crate) op: Op,
    pub(crate) axes: &'a [Axis],
    pub(crate) policy: KernelPolicy,
    pub(crate) index: IndexType,
    /// Whether negative indices name nothing, and so are never out of range.
    pub(crate) skips_negative: bool,
}

/// Checks every index in row-major order.
///
/// A view may show an index at many coordinates. Along a dimension without a stride only the first coordinate is looked
/// at. Where there still are more coordinates than places in memory, each place is looked at once.
///
/// # Errors
/// [`Error::IndexOutOfRange`] for the first that names no element.
///
/// # Safety
/// V1: the indices may be read along their layout as values of the check's index type.
#[cold]
pub(crate) unsafe fn check(checked: &IndexCheck<'_>, index: *const u8, indices: &Layout) -> Result<(), Error> {
    let read = checked.index.reader();
    let size = checked.index.size() as isize;
    let tuples = matches!(checked.op, Op::GatherNd | Op::ScatterNd);
    let (shape, strides) = (indices.shape(), indices.strides());
    // The components of a tuple are compared with axes of their own, even where they are one index.
    let (dims, components, component_stride) = match (tuples, shape, strides) {
        (true, [dims @ .., components], [.., stride]) => (dims, *components, *stride),
        _ => (shape, 1, 0),
    };
    let dims: SmallVec<[CountedDim; 8]> =
        dims.iter().zip(strides).map(|(&n, &stride)| CountedDim { n, stride }).collect();
    // The first bad component of the tuple at a place that a coordinate reaches, and its value.
    let first_bad = |place: isize| {
        (0..components).find_map(|component| {
            let place = place.wrapping_add(component_stride.wrapping_mul(component as isize));
            // SAFETY: V1: `first_coordinate` asks only of places that coordinates reach, so this is an index of the
            // tensor.
            let value = unsafe { read(index.wrapping_offset(place.wrapping_mul(size))) };
            let bad = !names_an_element(checked.policy, value, checked.axes[component].dim);
            let bad = bad && !(checked.skips_negative && value < 0);
            bad.then_some((component, value))
        })
    };
    let found = if components == 0 { None } else { first_coordinate(&dims, |place| first_bad(place).is_some()) };
    let Some(coords) = found else { return Ok(()) };
    let (component, value) = first_bad(place_of(&coords, &dims)).expect("a place that was found to be bad");
    let position =
        coords.iter().zip(&dims).fold(0, |position, (&c, dim)| position * dim.n + c) * components + component;
    Err(checked.error(component, position, value))
}

impl IndexCheck<'_> {
    /// The error of an index that is out of range: which component of a tuple it is, where it stands, and its value.
    pub(super) fn error(&self, component: usize, position: usize, index: i128) -> Error {
        let (Axis { axis, dim, .. }, negative) = (self.axes[component], self.policy.negative);
        Error::IndexOutOfRange { op: self.op, position, index, axis, dim, negative }
    }
}

/// The first index that names no element, once a kernel has met one. The output is not all written then, so that no
/// call may go on as if there were none.
///
/// # Panics
/// When there is none after all: something has changed the indices since, such as another process a mapped file.
///
/// # Safety
/// V1 for the indices, as for [`check`].
#[cold]
pub(crate) unsafe fn find(checked: &IndexCheck<'_>, index: *const u8, indices: &Layout) -> Error {
    // SAFETY: V1: the layout is that of indices of the check's type.
    match unsafe { check(checked, index, indices) } {
        Err(error) => error,
        Ok(()) => panic!("{}: the indices have changed while they were read", checked.op),
    }
}

fn names_an_element(policy: KernelPolicy, index: i128, dim: usize) -> bool {
    let dim = dim as i128;
    let from = if policy.from_end { -dim } else { 0 };
    if policy.remap.is_some() { dim > 0 } else { (from..dim).contains(&index) }
}
