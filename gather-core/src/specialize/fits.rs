//! Lengths of slices against declared shapes, as the loops of `kernels::shaped` require.

#![forbid(unsafe_code)]

use crate::kernels::shaped::blocks::SpaceShapeOf;
use crate::kernels::shaped::fold::IndexShape;
use crate::kernels::shaped::rows::IndexShapeOf;
use crate::kernels::shaped::size::{Size, Sizes};
use crate::types::declared::{ANY, Declaration, Declared, MAX_DIMS};
use crate::types::op::Op;

/// The open size of a tensor of `len` elements, or 1 if `!is_open`. `None` if the open size is 0, or no size gives
/// `len`. In `sizes` the open size is 1.
#[inline(always)]
fn open_size<const ARGS: usize>(is_open: bool, len: usize, tensor: Size, sizes: &Sizes<ARGS>) -> Option<usize> {
    if !is_open {
        return (len == tensor.known).then_some(1);
    }
    let others = tensor.checked_at(sizes)?;
    let size = len.checked_div(others)?;
    (size > 0 && size.wrapping_mul(others) == len).then_some(size)
}

/// The open sizes of a call of an operator on indices. `None` if a size is 0, two sizes of one dimension differ, or
/// the length of a slice is not the size of its shape.
#[inline(always)]
pub(super) fn index_sizes<D: Declaration, const ARGS: usize>(
    [data, indices, out]: [usize; 3],
    args: [usize; ARGS],
) -> Option<Sizes<ARGS>> {
    let shape = const { &IndexShapeOf::<D>::SHAPE };
    let mut sizes = Sizes { first: [1; 2], args };
    sizes.first[0] = open_size(const { Declared::open(D::DECLARED.data) > 0 }, data, shape.data_len, &sizes)?;
    sizes.first[1] = open_size(const { Declared::open(D::DECLARED.indices) > 0 }, indices, shape.indices_len, &sizes)?;
    let fits = (const { !has_open_pairs(&D::DECLARED) } || agree::<D, ARGS>(shape, &sizes))
        && shape.out_len.checked_at(&sizes) == Some(out);
    fits.then_some(sizes)
}

/// The number of dimensions that both tensors share.
pub(super) const fn shared(declared: &Declared) -> usize {
    if matches!(declared.op, Op::GatherElements) { declared.data.len() } else { declared.batch_dims }
}

/// Whether a size that must fit a size of the other tensor is open.
const fn has_open_pairs(declared: &Declared) -> bool {
    let (mut open, mut dim) = (false, 0);
    while dim < shared(declared) {
        open |= declared.data[dim] == ANY || declared.indices[dim] == ANY;
        dim += 1;
    }
    open
}

/// Whether the sizes of both tensors fit in each shared dimension with an open size.
#[inline(always)]
fn agree<D: Declaration, const ARGS: usize>(shape: &IndexShape, sizes: &Sizes<ARGS>) -> bool {
    let declared = const { &D::DECLARED };
    let elements = const { matches!(D::DECLARED.op, Op::GatherElements) };
    for dim in 0..shared(declared) {
        if declared.data[dim] != ANY && declared.indices[dim] != ANY {
            continue;
        }
        let (d, i) = (shape.data_dims[dim].at(sizes), shape.index_dims[dim].at(sizes));
        let fits = if elements && !declared.equal { i <= d } else { i == d };
        let is_axis = elements && dim == declared.axis;
        if !(fits || is_axis) {
            return false;
        }
    }
    true
}

/// The open sizes of a call of BatchToSpace. `None` if a size is 0, the blocks do not divide the batch, the crops
/// leave no elements, or the length of a slice is not the size of its shape.
#[inline(always)]
pub(super) fn space_sizes<D: Declaration, const ARGS: usize>(
    [data, out]: [usize; 2],
    args: [usize; ARGS],
) -> Option<Sizes<ARGS>> {
    let shape = const { &SpaceShapeOf::<D>::SHAPE };
    let mut sizes = Sizes { first: [1; 2], args };
    sizes.first[0] = open_size(const { Declared::open(D::DECLARED.data) > 0 }, data, shape.data_len, &sizes)?;
    let mut len = shape.row.at(&sizes);
    for along in &shape.loops[const { MAX_DIMS - SpaceShapeOf::<D>::SHAPE.len }..] {
        let n = along.n(&sizes).filter(|&n| n > 0)?;
        len = len.checked_mul(n)?;
    }
    (len == out).then_some(sizes)
}
