//! ScatterNd: updates of elements or slices by tuples of indices.

#![forbid(unsafe_code)]

use crate::call::Sealed;
use crate::call::checks::check_updates;
use crate::call::scatter::{ScatterAttributes, ScatterOperator};
use crate::ops::gather_nd::lower_tuples;
use crate::plan::IndexLowered;
use crate::tensor::layout::Layout;
use crate::tensor::owned::Tensor;
use crate::tensor::view::View;
use crate::types::element::Element;
use crate::types::error::Error;
use crate::types::index::Index;
use crate::types::op::Op;
use crate::types::policy::NegativeIndex;
use crate::types::reduction::Reduction;

/// Updates elements or slices of data by index tuples: `out = data`, then for every tuple, in row-major order,
/// `out[b.., indices[b.., j.., :].., s..] (op)= updates[b.., j.., s..]`.
///
/// `b` runs over the first `batch_dims` dimensions, which data and indices share. `j` runs over the other dimensions
/// of indices but the last, whose size `K` is the length of a tuple. `s` runs over `data.shape[batch_dims + K..]`.
/// Updates have the shape `indices.shape[..-1] + data.shape[batch_dims + K..]`. The result has the shape of data.
/// Tuples of length 0 select all of data. The [`Reduction`] defines `(op)=`.
///
/// [`run`](ScatterOperator::run) makes a tensor, [`run_on`](ScatterOperator::run_on) changes data in place,
/// [`run_into`](ScatterOperator::run_into) writes into your memory, and [`plan`](ScatterOperator::plan) does the work
/// that depends on shapes once.
///
/// # Errors
/// Of attributes and shapes, in this order: [`Error::RankOutOfRange`], [`Error::BatchDimsOutOfRange`],
/// [`Error::BatchMismatch`], [`Error::TupleLengthOutOfRange`] and [`Error::UpdatesShapeMismatch`].
///
/// # Examples
/// Rows, then elements:
/// ```
/// use gather_core::{Reduction, ScatterNd, View};
///
/// fn main() -> Result<(), gather_core::Error> {
///     let data = [1, 2, 3, 4, 5, 6];
///     let data = View::new(&data, &[3, 2])?;
///     let (rows, updates) = (View::new(&[2i64, 0], &[2, 1])?, [10, 20, 30, 40]);
///     let out = ScatterNd::onnx18(Reduction::Add).run(&data, &rows, &View::new(&updates, &[2, 2])?)?;
///     assert_eq!(out.as_slice(), [31, 42, 3, 4, 15, 26]);
///
///     let (points, updates) = (View::new(&[2i64, 0, 0, 1], &[2, 2])?, [10, 20]);
///     let out = ScatterNd::onnx18(Reduction::None).run(&data, &points, &View::new(&updates, &[2])?)?;
///     assert_eq!(out.as_slice(), [1, 20, 3, 4, 10, 6]);
///     Ok(())
/// }
/// ```
///
/// # Definition
/// ONNX [ScatterND](https://onnx.ai/onnx/operators/onnx__ScatterND.html) 11 to 18, with the batch dimensions of
/// GatherND. OpenVINO ScatterNDUpdate-15 and
/// [`tf.tensor_scatter_nd_update`](https://www.tensorflow.org/api_docs/python/tf/tensor_scatter_nd_update) are presets.
#[doc(alias("ScatterND", "ScatterNDUpdate", "tensor_scatter_nd_update", "index_put"))]
pub type ScatterNd = ScatterOperator<ScatterNdAttributes>;

/// The attributes of [`ScatterNd`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ScatterNdAttributes {
    batch_dims: i64,
    /// The minimum length of a tuple.
    least: usize,
}

impl Default for ScatterNd {
    fn default() -> Self {
        Self::new()
    }
}

impl ScatterNd {
    /// ScatterNd without batch dimensions and without a reduction. Tuples may be empty. Negative indices count from
    /// the end; out-of-range indices are errors.
    #[must_use]
    pub fn new() -> Self {
        Self::from_attributes(ScatterNdAttributes { batch_dims: 0, least: 0 })
    }

    /// ONNX ScatterND-11, without reductions.
    #[must_use]
    pub fn onnx11() -> Self {
        Self::onnx18(Reduction::None)
    }

    /// ONNX ScatterND-13: the same as [`ScatterNd::onnx11`].
    #[must_use]
    pub fn onnx13() -> Self {
        Self::onnx11()
    }

    /// ONNX ScatterND-16, with reductions `None`, `Add` and `Mul`: as [`ScatterNd::onnx18`].
    #[must_use]
    pub fn onnx16(reduction: Reduction) -> Self {
        Self::onnx18(reduction)
    }

    /// ONNX ScatterND-18, with reductions `None`, `Add`, `Mul`, `Min` and `Max`: as [`ScatterNd::new`], but tuples
    /// have at least one component.
    #[must_use]
    pub fn onnx18(reduction: Reduction) -> Self {
        Self::new().reduction(reduction).with_attributes(|attributes| attributes.least = 1)
    }

    /// OpenVINO ScatterNDUpdate-15, with reductions `None`, `Add`, `Sub`, `Mul`, `Min` and `Max`: as
    /// [`ScatterNd::onnx18`].
    #[must_use]
    pub fn openvino15(reduction: Reduction) -> Self {
        Self::onnx18(reduction)
    }

    /// `tf.tensor_scatter_nd_update`, `_add`, `_sub`, `_min` and `_max` on a CPU: tuples may be empty. Negative and
    /// out-of-range indices are errors. On a GPU, TensorFlow behaves as
    /// [`ScatterOutOfBounds::Drop`](crate::ScatterOutOfBounds::Drop).
    #[must_use]
    pub fn tensorflow(reduction: Reduction) -> Self {
        Self::new().reduction(reduction).negative_index(NegativeIndex::Reject)
    }
}

attribute!(ScatterNd: batch_dims);

impl Sealed for ScatterNdAttributes {}

impl ScatterAttributes for ScatterNdAttributes {
    fn op(&self) -> Op {
        Op::ScatterNd
    }

    fn lower(
        &self,
        data: &Layout,
        indices: &Layout,
        updates: &Layout,
        lowered: &mut IndexLowered,
    ) -> Result<(), Error> {
        lower_tuples((Op::ScatterNd, self.batch_dims, self.least), data, indices, lowered)?;
        check_updates(Op::ScatterNd, [data, indices, updates], &lowered.output)
    }

    fn rows_by(&self, _: &Layout, indices: &Layout) -> Option<usize> {
        if let ([dims @ .., 1], 0) = (indices.shape(), self.batch_dims) { Some(dims.len()) } else { None }
    }
}

/// Updates of elements or slices by index tuples, without batch dimensions: runs [`ScatterNd::new`]. Negative indices
/// count from the end; out-of-range indices are errors.
///
/// # Errors
/// As for [`ScatterNd::run`](ScatterOperator::run).
///
/// # Examples
/// ```
/// use gather_core::{Reduction, View, scatter_nd};
///
/// fn main() -> Result<(), gather_core::Error> {
///     let points = [0u16, 2, 1, 0];
///     let image = scatter_nd(
///         &View::new(&[0u8; 6], &[2, 3])?,
///         &View::new(&points, &[2, 2])?,
///         &View::new(&[255, 128], &[2])?,
///         Reduction::None,
///     )?;
///     assert_eq!(image.as_slice(), [0, 0, 255, 128, 0, 0]);
///     Ok(())
/// }
/// ```
#[doc(alias("ScatterND", "ScatterNDUpdate", "tensor_scatter_nd_update", "index_put"))]
pub fn scatter_nd<T: Element, I: Index>(
    data: &View<'_, T>,
    indices: &View<'_, I>,
    updates: &View<'_, T>,
    reduction: Reduction,
) -> Result<Tensor<T>, Error> {
    ScatterNd::new().reduction(reduction).run(data, indices, updates)
}
