//! ScatterElements: one update for each index.

#![forbid(unsafe_code)]

use crate::call::Sealed;
use crate::call::checks::check_updates;
use crate::call::scatter::{ScatterAttributes, ScatterOperator};
use crate::ops::axis_size;
use crate::ops::gather_elements::{Shapes, as_list, lower_elements};
use crate::plan::IndexLowered;
use crate::tensor::layout::Layout;
use crate::tensor::owned::Tensor;
use crate::tensor::view::View;
use crate::types::element::Element;
use crate::types::error::Error;
use crate::types::index::Index;
use crate::types::op::{Argument, Op};
use crate::types::policy::NegativeIndex;
use crate::types::reduction::Reduction;

/// Updates one element of data for each index: `out = data`, then for every coordinate `c` of indices, in row-major
/// order, `out[c with c[axis] := indices[c]] (op)= updates[c]`.
///
/// Data, indices and updates have the same rank, which is at least 1. In dimensions other than the axis, indices may
/// be smaller than data, but not larger. Updates have the shape of indices. The result has the shape of data. A
/// negative `axis` counts from the end. The [`Reduction`] defines `(op)=`.
///
/// [`run`](ScatterOperator::run) makes a tensor, [`run_on`](ScatterOperator::run_on) changes data in place,
/// [`run_into`](ScatterOperator::run_into) writes into your memory, and [`plan`](ScatterOperator::plan) does the work
/// that depends on shapes once.
///
/// # Errors
/// Of attributes and shapes, in this order: [`Error::RankOutOfRange`], [`Error::AxisOutOfRange`],
/// [`Error::IndicesShapeMismatch`] and [`Error::UpdatesShapeMismatch`].
///
/// # Examples
/// Two updates of one element replace it in order, or add up:
/// ```
/// use gather_core::{Reduction, ScatterElements, View};
///
/// fn main() -> Result<(), gather_core::Error> {
///     let data = [1.0f32, 2.0, 3.0, 4.0, 5.0];
///     let (indices, updates) = ([1i64, 1, -1], [0.5f32, 0.25, 8.0]);
///     let (data, indices) = (View::new(&data, &[1, 5])?, View::new(&indices, &[1, 3])?);
///     let updates = View::new(&updates, &[1, 3])?;
///
///     let replaced = ScatterElements::onnx18(1, Reduction::None).run(&data, &indices, &updates)?;
///     assert_eq!(replaced.as_slice(), [1.0, 0.25, 3.0, 4.0, 8.0]);
///     let added = ScatterElements::onnx18(1, Reduction::Add).run(&data, &indices, &updates)?;
///     assert_eq!(added.as_slice(), [1.0, 2.75, 3.0, 4.0, 13.0]);
///     Ok(())
/// }
/// ```
///
/// # Definition
/// ONNX [ScatterElements](https://onnx.ai/onnx/operators/onnx__ScatterElements.html) 11 to 18. OpenVINO
/// ScatterElementsUpdate-12 and [`torch.scatter`](https://docs.pytorch.org/docs/stable/generated/torch.scatter.html)
/// with `torch.scatter_reduce` are presets.
#[doc(alias("torch.scatter", "scatter_add", "scatter_reduce", "ScatterElementsUpdate", "put_along_axis"))]
pub type ScatterElements = ScatterOperator<ScatterElementsAttributes>;

/// The attributes of [`ScatterElements`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ScatterElementsAttributes {
    axis: i64,
    shapes: Shapes,
}

impl ScatterElements {
    /// ScatterElements along an axis, without a reduction. A negative axis and negative indices count from the end;
    /// out-of-range indices are errors.
    #[must_use]
    pub fn new(axis: i64) -> Self {
        Self::from_attributes(ScatterElementsAttributes { axis, shapes: Shapes::Trimmed })
    }

    /// ONNX ScatterElements-11, without reductions: the same as [`ScatterElements::new`].
    #[must_use]
    pub fn onnx11(axis: i64) -> Self {
        Self::new(axis)
    }

    /// ONNX ScatterElements-13: the same as [`ScatterElements::onnx11`].
    #[must_use]
    pub fn onnx13(axis: i64) -> Self {
        Self::new(axis)
    }

    /// ONNX ScatterElements-16, with reductions `None`, `Add` and `Mul`: as [`ScatterElements::onnx18`].
    #[must_use]
    pub fn onnx16(axis: i64, reduction: Reduction) -> Self {
        Self::onnx18(axis, reduction)
    }

    /// ONNX ScatterElements-18, with reductions `None`, `Add`, `Mul`, `Min` and `Max`: as [`ScatterElements::new`].
    #[must_use]
    pub fn onnx18(axis: i64, reduction: Reduction) -> Self {
        Self::new(axis).reduction(reduction)
    }

    /// OpenVINO ScatterElementsUpdate-12, with reductions `None`, `Add`, `Mul`, `Min`, `Max` and `Mean`: as
    /// [`ScatterElements::new`]. `use_init_val` is [`include_self`](ScatterOperator::include_self).
    #[must_use]
    pub fn openvino12(axis: i64, reduction: Reduction, use_init_val: bool) -> Self {
        Self::new(axis).reduction(reduction).include_self(use_init_val)
    }

    /// `torch.scatter` and `torch.scatter_reduce`, with reductions `None`, `Add`, `Mul`, `Min`, `Max` and `Mean` and
    /// with [`include_self`](ScatterOperator::include_self): negative and out-of-range indices are errors. Updates may
    /// be larger than indices, and rank 0 counts as shape `[1]`. Empty indices may have any rank, and change nothing.
    #[must_use]
    pub fn torch(axis: i64, reduction: Reduction) -> Self {
        Self::new(axis)
            .reduction(reduction)
            .negative_index(NegativeIndex::Reject)
            .with_attributes(|attributes| attributes.shapes = Shapes::Torch)
    }
}

attribute!(ScatterElements: axis);

impl Sealed for ScatterElementsAttributes {}

impl ScatterAttributes for ScatterElementsAttributes {
    fn op(&self) -> Op {
        Op::ScatterElements
    }

    fn lower(
        &self,
        data: &Layout,
        indices: &Layout,
        updates: &Layout,
        lowered: &mut IndexLowered,
    ) -> Result<(), Error> {
        const OP: Op = Op::ScatterElements;
        lower_elements((OP, self.axis, self.shapes), data, indices, lowered)?;
        let given = [data, indices, updates];
        if self.shapes != Shapes::Torch {
            return check_updates(OP, given, indices.shape());
        }
        if indices.is_empty() {
            return Ok(());
        }
        let (indices, updates) = (as_list(indices)?, as_list(updates)?);
        if indices.rank() != updates.rank() {
            let (rank, allowed) = (updates.rank(), indices.rank());
            let argument = Argument::Updates;
            return Err(Error::RankOutOfRange { op: OP, argument, rank, min: allowed, max: allowed });
        }
        let larger = indices.shape().iter().zip(updates.shape()).all(|(i, u)| i <= u);
        if larger { Ok(()) } else { check_updates(OP, given, indices.shape()) }
    }

    fn rows_by(&self, data: &Layout, indices: &Layout) -> Option<usize> {
        let is_list = data.rank() == 1 && indices.rank() == 1 && matches!(self.axis, -1 | 0);
        is_list.then_some(1)
    }

    fn axis_size(&self, data: &Layout) -> Result<usize, Error> {
        axis_size((Op::ScatterElements, self.axis), data, self.shapes == Shapes::Torch)
    }
}

/// One update for each index: runs [`ScatterElements::new`]. Negative indices count from the end; out-of-range indices
/// are errors.
///
/// # Errors
/// As for [`ScatterElements::run`](ScatterOperator::run).
///
/// # Examples
/// ```
/// use gather_core::{Reduction, View, scatter_elements};
///
/// fn main() -> Result<(), gather_core::Error> {
///     // How often each class was chosen.
///     let (chosen, ones) = ([2u8, 0, 2, 2], [1u32; 4]);
///     let counts = scatter_elements(
///         &View::new(&[0; 3], &[3])?,
///         &View::new(&chosen, &[4])?,
///         &View::new(&ones, &[4])?,
///         0,
///         Reduction::Add,
///     )?;
///     assert_eq!(counts.as_slice(), [1, 0, 3]);
///     Ok(())
/// }
/// ```
#[doc(alias("torch.scatter", "scatter_add", "scatter_reduce", "ScatterElementsUpdate", "put_along_axis"))]
pub fn scatter_elements<T: Element, I: Index>(
    data: &View<'_, T>,
    indices: &View<'_, I>,
    updates: &View<'_, T>,
    axis: i64,
    reduction: Reduction,
) -> Result<Tensor<T>, Error> {
    ScatterElements::new(axis).reduction(reduction).run(data, indices, updates)
}
