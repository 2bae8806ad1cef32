//! Search for the first index out of range: after a kernel has met one, or if nothing can be written.

use smallvec::SmallVec;

use crate::exec::coordinates::{CountedDim, first_coordinate, place_of};
use crate::plan::Axis;
use crate::tensor::layout::Layout;
use crate::types::error::Error;
use crate::types::index::IndexType;
use crate::types::op::Op;
use crate::types::policy::KernelPolicy;

pub(crate) struct IndexCheck<'a> {
    pub(crate) op: Op,
    pub(crate) axes: &'a [Axis],
    pub(crate) policy: KernelPolicy,
    pub(crate) index: IndexType,
    /// Whether negative indices are skipped, and so never out of range.
    pub(crate) skips_negative: bool,
}

/// Checks every index in row-major order.
///
/// A view may show an index at many coordinates. Along a dimension without a stride only coordinate 0 is read. If the
/// coordinates still far outnumber the offsets, each offset is read once.
///
/// # Errors
/// [`Error::IndexOutOfRange`] for the first index that names no element.
///
/// # Safety
/// V1: the indices may be read along their layout as values of the check's index type.
#[cold]
pub(crate) unsafe fn check(checked: &IndexCheck<'_>, index: *const u8, indices: &Layout) -> Result<(), Error> {
    let read = checked.index.reader();
    let size = checked.index.size() as isize;
    let tuples = matches!(checked.op, Op::GatherNd | Op::ScatterNd);
    let (shape, strides) = (indices.shape(), indices.strides());
    // Each component of a tuple has its own axis, even if components share an index (stride 0).
    let (dims, components, component_stride) = match (tuples, shape, strides) {
        (true, [dims @ .., components], [.., stride]) => (dims, *components, *stride),
        _ => (shape, 1, 0),
    };
    let dims: SmallVec<[CountedDim; 8]> =
        dims.iter().zip(strides).map(|(&n, &stride)| CountedDim { n, stride }).collect();
    // The first bad component of the tuple at the offset of a coordinate, and its value.
    let first_bad = |place: isize| {
        (0..components).find_map(|component| {
            let place = place.wrapping_add(component_stride.wrapping_mul(component as isize));
            // SAFETY: V1: `first_coordinate` passes only offsets of coordinates, so there is an index at `place`.
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
    /// The error of an index out of range, given its component of a tuple, its position and its value.
    pub(super) fn error(&self, component: usize, position: usize, index: i128) -> Error {
        let (Axis { axis, dim, .. }, negative) = (self.axes[component], self.policy.negative);
        Error::IndexOutOfRange { op: self.op, position, index, axis, dim, negative }
    }
}

/// The error of the first index that names no element, after a kernel has met one and left the output partly written.
///
/// # Panics
/// If every index is in range: the indices have changed since the run, such as by another process in a mapped file.
///
/// # Safety
/// V1 for the indices, as for [`check`].
#[cold]
pub(crate) unsafe fn find(checked: &IndexCheck<'_>, index: *const u8, indices: &Layout) -> Error {
    // SAFETY: V1 by the caller's contract.
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
