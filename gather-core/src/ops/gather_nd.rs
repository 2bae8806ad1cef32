//! GatherNd: elements or slices of data by tuples of indices.

#![forbid(unsafe_code)]

use crate::call::Sealed;
use crate::call::attributes::IndexAttributes;
use crate::call::gather::GatherOperator;
use crate::plan::{Axis, IndexLowered, LeadingAxes};
use crate::tensor::layout::Layout;
use crate::tensor::owned::Tensor;
use crate::tensor::view::View;
use crate::types::element::Element;
use crate::types::error::Error;
use crate::types::index::Index;
use crate::types::op::{Argument, Op};
use crate::types::policy::NegativeIndex;

/// Takes elements or slices of data by index tuples: `out[b.., j.., s..] = data[b.., indices[b.., j.., :].., s..]`.
///
/// `b` runs over the first `batch_dims` dimensions, which data and indices share. `K = indices.shape[-1]` is the length
/// of a tuple; `j` runs over `indices.shape[batch_dims..-1]`, `s` over `data.shape[batch_dims + K..]`. The result has
/// the shape `indices.shape[..-1] + data.shape[batch_dims + K..]`. Tuples of length 0 copy all of data.
///
/// [`run`](GatherOperator::run) makes a tensor, [`run_into`](GatherOperator::run_into) writes into your memory, and
/// [`plan`](GatherOperator::plan) does shape-dependent work once. [`Source`](crate::Source) lists the operands.
///
/// # Errors
/// Of attributes and shapes, in this order: [`Error::RankOutOfRange`], [`Error::BatchDimsOutOfRange`],
/// [`Error::BatchMismatch`] and [`Error::TupleLengthOutOfRange`].
///
/// # Examples
/// From the documentation of `tf.gather_nd`: elements, slices, and one batch dimension.
/// ```
/// use gather_core::{GatherNd, View};
///
/// fn main() -> Result<(), gather_core::Error> {
///     let params = ["a", "b", "c", "d"];
///     let params = View::new(&params, &[2, 2])?;
///     let tuples = View::new(&[0i32, 0, 1, 1], &[2, 2])?;
///     let elements = GatherNd::tensorflow(0).run_cloned(&params, &tuples)?;
///     assert_eq!(elements.as_slice(), ["a", "d"]);
///     let tuples = View::new(&[1i32, 0], &[2, 1])?;
///     let slices = GatherNd::tensorflow(0).run_cloned(&params, &tuples)?;
///     assert_eq!((slices.shape(), slices.as_slice()), (&[2, 2][..], &["c", "d", "a", "b"][..]));
///
///     let params = [1, 2, 3, 4, 5, 6, 7, 8];
///     let indices = [1i64, 0];
///     let (params, indices) = (View::new(&params, &[2, 2, 2])?, View::new(&indices, &[2, 1])?);
///     let batched = GatherNd::tensorflow(1).run(&params, &indices)?;
///     assert_eq!((batched.shape(), batched.as_slice()), (&[2, 2][..], &[3, 4, 5, 6][..]));
///     Ok(())
/// }
/// ```
///
/// # Definition
/// [`tf.gather_nd`](https://www.tensorflow.org/api_docs/python/tf/gather_nd) with `batch_dims`. ONNX
/// [GatherND](https://onnx.ai/onnx/operators/onnx__GatherND.html) and OpenVINO GatherND-5 and -8 are presets.
#[doc(alias("tf.gather_nd", "GatherND"))]
pub type GatherNd = GatherOperator<GatherNdAttributes>;

/// The attributes of [`GatherNd`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct GatherNdAttributes {
    batch_dims: i64,
    /// The minimum length of a tuple.
    least: usize,
    /// Whether the result merges two or more batch dimensions into one.
    flatten: bool,
}

impl Default for GatherNd {
    fn default() -> Self {
        Self::new()
    }
}

impl GatherNd {
    /// GatherNd without batch dimensions. Tuples may be empty. Negative indices count from the end; out-of-range
    /// indices are errors.
    #[must_use]
    pub fn new() -> Self {
        Self::from_attributes(GatherNdAttributes { batch_dims: 0, least: 0, flatten: false })
    }

    /// `tf.gather_nd` on a CPU: tuples may be empty. Negative and out-of-range indices are errors. On a GPU,
    /// TensorFlow behaves as [`OutOfBounds::Zero`](crate::OutOfBounds::Zero).
    #[must_use]
    pub fn tensorflow(batch_dims: i64) -> Self {
        Self::new().batch_dims(batch_dims).negative_index(NegativeIndex::Reject)
    }

    /// ONNX GatherND-11: as [`GatherNd::onnx13`], without batch dimensions.
    #[must_use]
    pub fn onnx11() -> Self {
        Self::onnx13(0)
    }

    /// ONNX GatherND-12: the same as [`GatherNd::onnx13`].
    #[must_use]
    pub fn onnx12(batch_dims: i64) -> Self {
        Self::onnx13(batch_dims)
    }

    /// ONNX GatherND-13: as [`GatherNd::new`] with `batch_dims`, but tuples have at least one component.
    #[must_use]
    pub fn onnx13(batch_dims: i64) -> Self {
        Self::new().batch_dims(batch_dims).with_attributes(|attributes| attributes.least = 1)
    }

    /// OpenVINO GatherND-5: as [`GatherNd::openvino8`], but the result merges two or more batch dimensions into one.
    #[must_use]
    pub fn openvino5(batch_dims: i64) -> Self {
        Self::openvino8(batch_dims).with_attributes(|attributes| attributes.flatten = true)
    }

    /// OpenVINO GatherND-8: the same as [`GatherNd::onnx13`].
    #[must_use]
    pub fn openvino8(batch_dims: i64) -> Self {
        Self::onnx13(batch_dims)
    }
}

attribute!(GatherNd: batch_dims);

impl Sealed for GatherNdAttributes {}

impl IndexAttributes for GatherNdAttributes {
    fn op(&self) -> Op {
        Op::GatherNd
    }

    #[inline]
    fn leading_axes(&self, data: &Layout, indices: &Layout) -> Option<LeadingAxes> {
        let &[ref outer @ .., axes] = indices.shape() else { return None };
        let takes_rows = self.batch_dims == 0 && (1..=data.rank()).contains(&axes);
        if takes_rows { Some(LeadingAxes { axes, outer: outer.len() }) } else { None }
    }

    fn lower(&self, data: &Layout, indices: &Layout, lowered: &mut IndexLowered) -> Result<(), Error> {
        let batch_dims = lower_tuples((Op::GatherNd, self.batch_dims, self.least), data, indices, lowered)?;
        if self.flatten {
            lowered.merge_leading(batch_dims);
        }
        Ok(())
    }
}

/// Lowers an operator on elements or slices of data by index tuples; returns the number of shared dimensions.
pub(super) fn lower_tuples(
    (op, given, least): (Op, i64, usize),
    data: &Layout,
    indices: &Layout,
    lowered: &mut IndexLowered,
) -> Result<usize, Error> {
    let [outer @ .., len] = indices.shape() else {
        return Err(Error::RankOutOfRange { op, argument: Argument::Indices, rank: 0, min: 1, max: usize::MAX });
    };
    let (rank, len) = (data.rank(), *len);
    let max = outer.len().min(rank) as i64;
    if !(0..=max).contains(&given) {
        return Err(Error::BatchDimsOutOfRange { op, batch_dims: given, min: 0, max });
    }
    let batch_dims = given as usize;
    for (dim, (&d, &i)) in data.shape().iter().zip(outer).enumerate().take(batch_dims) {
        if d != i {
            return Err(Error::BatchMismatch { op, dim, data: d, indices: i });
        }
    }
    let most = rank - batch_dims;
    if !(least..=most).contains(&len) {
        return Err(Error::TupleLengthOutOfRange { op, len, min: least, max: most });
    }
    for (dim, &n) in outer.iter().enumerate() {
        let stride = if dim < batch_dims { data.strides()[dim] } else { 0 };
        lowered.push(n, stride, indices.strides()[dim]);
    }
    for dim in batch_dims + len..rank {
        lowered.push(data.shape()[dim], data.strides()[dim], 0);
    }
    let along = indices.strides()[outer.len()];
    for k in 0..len {
        let axis = batch_dims + k;
        let index = along.wrapping_mul(k as isize);
        lowered.axes.push(Axis { axis, dim: data.shape()[axis], data: data.strides()[axis], index });
    }
    Ok(batch_dims)
}

/// Elements or slices of data by index tuples, without batch dimensions: runs [`GatherNd::new`]. Negative indices
/// count from the end; out-of-range indices are errors.
///
/// # Errors
/// As for [`GatherNd::run`](GatherOperator::run).
///
/// # Examples
/// ```
/// use gather_core::{View, gather_nd};
///
/// fn main() -> Result<(), gather_core::Error> {
///     let image = [10u8, 11, 12, 20, 21, 22];
///     let points = [0u16, 2, 1, 0];
///     let values = gather_nd(&View::new(&image, &[2, 3])?, &View::new(&points, &[2, 2])?)?;
///     assert_eq!(values.as_slice(), [12, 20]);
///     Ok(())
/// }
/// ```
#[doc(alias("tf.gather_nd", "GatherND"))]
pub fn gather_nd<T: Element, I: Index>(data: &View<'_, T>, indices: &View<'_, I>) -> Result<Tensor<T>, Error> {
    GatherNd::new().run(data, indices)
}
