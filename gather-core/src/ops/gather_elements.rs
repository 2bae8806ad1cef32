//! GatherElements: one element of data for each index.

#![forbid(unsafe_code)]

use crate::call::Sealed;
use crate::call::attributes::IndexAttributes;
use crate::call::gather::GatherOperator;
use crate::ops::{axis_size, normalize_axis};
use crate::plan::{Axis, IndexLowered, LeadingAxes};
use crate::tensor::layout::Layout;
use crate::tensor::owned::Tensor;
use crate::tensor::view::View;
use crate::types::element::Element;
use crate::types::error::Error;
use crate::types::index::Index;
use crate::types::op::{Argument, Op};
use crate::types::policy::NegativeIndex;

/// Takes one element of data for each index: `out[c] = data[c with c[axis] := indices[c]]`.
///
/// Data and indices have the same rank, which is at least 1. In dimensions other than the axis, indices may be smaller
/// than data, but not larger. The result has the shape of indices. A negative `axis` counts from the end.
///
/// [`run`](GatherOperator::run) makes a tensor, [`run_into`](GatherOperator::run_into) writes into your memory, and
/// [`plan`](GatherOperator::plan) does shape-dependent work once. [`Source`](crate::Source) lists the operands.
///
/// # Errors
/// Of attributes and shapes, in this order: [`Error::RankOutOfRange`], [`Error::AxisOutOfRange`] and
/// [`Error::IndicesShapeMismatch`].
///
/// # Examples
/// From the specification of GatherElements-13, with `axis = 1`, then with `axis = 0` and negative indices:
/// ```
/// use gather_core::{GatherElements, View};
///
/// fn main() -> Result<(), gather_core::Error> {
///     let data = [1, 2, 3, 4];
///     let indices = [0i64, 0, 1, 0];
///     let (data, indices) = (View::new(&data, &[2, 2])?, View::new(&indices, &[2, 2])?);
///     let out = GatherElements::onnx13(1).run(&data, &indices)?;
///     assert_eq!(out.as_slice(), [1, 1, 4, 3]);
///
///     let data = [1, 2, 3, 4, 5, 6, 7, 8, 9];
///     let indices = [-1i32, -2, 0, -2, 0, 0];
///     let (data, indices) = (View::new(&data, &[3, 3])?, View::new(&indices, &[2, 3])?);
///     let out = GatherElements::onnx13(0).run(&data, &indices)?;
///     assert_eq!(out.as_slice(), [7, 5, 3, 4, 2, 3]);
///     Ok(())
/// }
/// ```
///
/// # Definition
/// ONNX [GatherElements](https://onnx.ai/onnx/operators/onnx__GatherElements.html) 11 and 13. OpenVINO
/// GatherElements-6 and [`torch.gather`](https://docs.pytorch.org/docs/stable/generated/torch.gather.html) are
/// presets.
#[doc(alias("torch.gather", "take_along_axis", "take_along_dim"))]
pub type GatherElements = GatherOperator<GatherElementsAttributes>;

/// The attributes of [`GatherElements`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct GatherElementsAttributes {
    axis: i64,
    shapes: Shapes,
}

/// The allowed differences of the shapes of data and indices.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Shapes {
    /// In dimensions other than the axis, indices may be smaller than data.
    Trimmed,
    /// In dimensions other than the axis, the sizes are equal.
    Equal,
    /// As `Trimmed`. Rank 0 counts as shape `[1]`. Empty indices may have any rank.
    Torch,
}

impl GatherElements {
    /// GatherElements along `axis`. Negative axes and indices count from the end; out-of-range indices are errors.
    #[must_use]
    pub fn new(axis: i64) -> Self {
        Self::from_attributes(GatherElementsAttributes { axis, shapes: Shapes::Trimmed })
    }

    /// ONNX GatherElements-11: the same as [`GatherElements::onnx13`].
    #[must_use]
    pub fn onnx11(axis: i64) -> Self {
        Self::new(axis)
    }

    /// ONNX GatherElements-13: negative indices count from the end; out-of-range indices are errors.
    #[must_use]
    pub fn onnx13(axis: i64) -> Self {
        Self::new(axis)
    }

    /// OpenVINO GatherElements-6: in dimensions other than the axis, sizes are equal. Negative indices count from the
    /// end, as in OpenVINO 2025.3 and later; out-of-range indices are errors.
    #[must_use]
    pub fn openvino6(axis: i64) -> Self {
        Self::new(axis).with_attributes(|attributes| attributes.shapes = Shapes::Equal)
    }

    /// `torch.gather`: negative and out-of-range indices are errors. Rank 0 counts as shape `[1]`. Empty indices may
    /// have any rank, and give an empty result.
    #[must_use]
    pub fn torch(axis: i64) -> Self {
        Self::new(axis)
            .negative_index(NegativeIndex::Reject)
            .with_attributes(|attributes| attributes.shapes = Shapes::Torch)
    }
}

attribute!(GatherElements: axis);

impl Sealed for GatherElementsAttributes {}

/// Lowers an operator that takes one element of data for each index.
pub(super) fn lower_elements(
    (op, axis, shapes): (Op, i64, Shapes),
    data: &Layout,
    indices: &Layout,
    lowered: &mut IndexLowered,
) -> Result<(), Error> {
    if shapes != Shapes::Torch {
        return lower_dims((op, axis, shapes), data, indices, lowered);
    }
    let data = as_list(data)?;
    if indices.is_empty() {
        // Empty indices of any shape. If the shape fits, the loops equal the loops of other indices.
        let axis = normalize_axis(op, axis, data.rank())?;
        for (dim, (&n, &index)) in indices.shape().iter().zip(indices.strides()).enumerate() {
            let step = data.strides().get(dim).filter(|_| dim != axis);
            lowered.push(n, step.copied().unwrap_or(0), index);
        }
        lowered.axes.push(Axis { axis, dim: data.shape()[axis], data: data.strides()[axis], index: 0 });
        return Ok(());
    }
    lower_dims((op, axis, shapes), &data, &as_list(indices)?, lowered)?;
    if indices.rank() == 0 {
        lowered.output = [].into();
        lowered.dims.clear();
    }
    Ok(())
}

pub(super) fn as_list(layout: &Layout) -> Result<Layout, Error> {
    if layout.rank() == 0 { Layout::contiguous(&[1]) } else { Ok(layout.clone()) }
}

fn lower_dims(
    (op, axis, shapes): (Op, i64, Shapes),
    data: &Layout,
    indices: &Layout,
    lowered: &mut IndexLowered,
) -> Result<(), Error> {
    let rank = data.rank();
    if rank == 0 {
        return Err(Error::RankOutOfRange { op, argument: Argument::Data, rank, min: 1, max: usize::MAX });
    }
    if indices.rank() != rank {
        let (argument, got) = (Argument::Indices, indices.rank());
        return Err(Error::RankOutOfRange { op, argument, rank: got, min: rank, max: rank });
    }
    let axis = normalize_axis(op, axis, rank)?;
    for dim in 0..rank {
        let (d, i) = (data.shape()[dim], indices.shape()[dim]);
        let fits = if shapes == Shapes::Equal { i == d } else { i <= d };
        if dim != axis && !fits {
            return Err(Error::IndicesShapeMismatch { op, dim, indices: i, data: d });
        }
        lowered.push(i, if dim == axis { 0 } else { data.strides()[dim] }, indices.strides()[dim]);
    }
    lowered.axes.push(Axis { axis, dim: data.shape()[axis], data: data.strides()[axis], index: 0 });
    Ok(())
}

impl IndexAttributes for GatherElementsAttributes {
    fn op(&self) -> Op {
        Op::GatherElements
    }

    #[inline]
    fn leading_axes(&self, data: &Layout, indices: &Layout) -> Option<LeadingAxes> {
        let takes_rows = data.rank() == 1 && indices.rank() == 1 && matches!(self.axis, -1 | 0);
        if takes_rows { Some(LeadingAxes::first(indices)) } else { None }
    }

    #[inline]
    fn lower(&self, data: &Layout, indices: &Layout, lowered: &mut IndexLowered) -> Result<(), Error> {
        lower_elements((Op::GatherElements, self.axis, self.shapes), data, indices, lowered)
    }

    fn axis_size(&self, data: &Layout) -> Result<usize, Error> {
        axis_size((Op::GatherElements, self.axis), data, self.shapes == Shapes::Torch)
    }
}

/// One element of data for each index: runs [`GatherElements::new`]. Negative indices count from the end; out-of-range
/// indices are errors.
///
/// # Errors
/// As for [`GatherElements::run`](GatherOperator::run).
///
/// # Examples
/// ```
/// use gather_core::{View, gather_elements};
///
/// fn main() -> Result<(), gather_core::Error> {
///     // The score of the chosen class of each sample.
///     let scores = [0.1f32, 0.7, 0.2, 0.5, 0.3, 0.2];
///     let chosen = gather_elements(&View::new(&scores, &[2, 3])?, &View::new(&[1u8, 0], &[2, 1])?, 1)?;
///     assert_eq!(chosen.as_slice(), [0.7, 0.5]);
///     Ok(())
/// }
/// ```
#[doc(alias("torch.gather", "take_along_axis", "take_along_dim"))]
pub fn gather_elements<T: Element, I: Index>(
    data: &View<'_, T>,
    indices: &View<'_, I>,
    axis: i64,
) -> Result<Tensor<T>, Error> {
    GatherElements::new(axis).run(data, indices)
}
