//! Gather: slices of data by index along one axis.

#![forbid(unsafe_code)]

use alloc::vec::Vec;

use crate::call::Sealed;
use crate::call::attributes::IndexAttributes;
use crate::call::gather::GatherOperator;
use crate::call::gather::rows::RowAttributes;
use crate::ops::gather_elements::as_list;
use crate::ops::{axis_size, normalize_axis};
use crate::plan::{Axis, IndexLowered, LeadingAxes};
use crate::tensor::layout::Layout;
use crate::tensor::owned::Tensor;
use crate::tensor::view::{View, ViewMut};
use crate::types::element::Element;
use crate::types::error::Error;
use crate::types::index::Index;
use crate::types::op::{Argument, Op};
use crate::types::policy::{NegativeIndex, OutOfBounds};

/// Takes slices of data by index along one axis: rows of a table by their ids, with `axis == 0`.
///
/// ```
/// use gather_core::{Gather, View};
///
/// fn main() -> Result<(), gather_core::Error> {
///     let table = [0.0f32, 0.1, 1.0, 1.1, 2.0, 2.1]; // three rows of two
///     let rows = Gather::new(0).run(&View::new(&table, &[3, 2])?, &[2u32, 0])?;
///     assert_eq!((rows.shape(), rows.as_slice()), (&[2, 2][..], &[2.0, 2.1, 0.0, 0.1][..]));
///     Ok(())
/// }
/// ```
///
/// In general `out[p.., i.., q..] = data[p.., indices[batch of p, i..], q..]`, where `p` runs over `data.shape[..axis]`,
/// `i` over `indices.shape[batch_dims..]` and `q` over `data.shape[axis + 1..]`. Data and indices share the first
/// `batch_dims` dimensions. The result has the shape
/// `data.shape[..axis] + indices.shape[batch_dims..] + data.shape[axis + 1..]`.
///
/// A negative `axis` counts from the end of data's dimensions, and a negative `batch_dims` from the end of indices'
/// dimensions. The presets set the policies for negative and out-of-range indices.
///
/// [`run`](GatherOperator::run) makes a tensor, [`run_into`](GatherOperator::run_into) writes into your memory, and
/// [`plan`](GatherOperator::plan) does the work that depends on shapes once. All three take these sources of data:
///
/// | data | becomes |
/// |---|---|
/// | [`View`], [`Tensor`], slices, `Vec`, [`DynView`](crate::DynView) | the same elements |
/// | [`view.map(&MAP, params)`](View::map) | each element converted |
/// | [`view.rows(&FUNCTION, params)`](View::rows) | each row computed: a value, or another row |
/// | [`fused.to::<f32>()`](crate::FusedRows::to) | fused rows as numbers |
/// | [`codes.blocks(codes, block_size, &scales)`](View::blocks) | codes with a scale for each block as numbers |
///
/// Indices are integers of any type, or a `DynView`. With [`nullable`](GatherOperator::nullable) both may have nulls.
///
/// # Errors
/// Of attributes and shapes, in this order: [`Error::RankOutOfRange`] for [`Gather::torch`],
/// [`Error::AxisOutOfRange`], [`Error::BatchDimsOutOfRange`] and [`Error::BatchMismatch`].
///
/// # Examples
/// From the specification of Gather-8, with `axis = 1` and `batch_dims = 1`:
/// ```
/// use gather_core::{Gather, View};
///
/// fn main() -> Result<(), gather_core::Error> {
///     let data = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10];
///     let indices = [0i64, 0, 4, 4, 0, 0];
///     let (data, indices) = (View::new(&data, &[2, 5])?, View::new(&indices, &[2, 3])?);
///     let out = Gather::openvino8(1, 1).run(&data, &indices)?;
///     assert_eq!((out.shape(), out.as_slice()), (&[2, 3][..], &[1, 1, 5, 10, 6, 6][..]));
///     Ok(())
/// }
/// ```
/// Negative indices count from the end; out-of-range indices yield zeros:
/// ```
/// use gather_core::Gather;
///
/// fn main() -> Result<(), gather_core::Error> {
///     let out = Gather::openvino8(0, 0).run(&[1, 2, 3, 4, 5], &[0i8, -2, -1, 5, -6])?;
///     assert_eq!(out.as_slice(), [1, 4, 5, 0, 0]);
///     Ok(())
/// }
/// ```
///
/// # Definition
/// OpenVINO
/// [Gather-8](https://docs.openvino.ai/2026/documentation/openvino-ir-format/operation-sets/operation-specs/movement/gather-8.html),
/// ONNX [Gather](https://onnx.ai/onnx/operators/onnx__Gather.html) and
/// [`tf.gather`](https://www.tensorflow.org/api_docs/python/tf/gather).
#[doc(alias("take", "index_select", "embedding", "embedding_lookup", "lookup"))]
#[doc(alias("KV", "KV cache", "kv_cache", "paged attention"))]
pub type Gather = GatherOperator<GatherAttributes>;

/// The attributes of [`Gather`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct GatherAttributes {
    axis: i64,
    batch_dims: i64,
    /// Whether indices must be lists. Rank 0 then counts as shape `[1]`, for indices and for data.
    lists: bool,
}

impl Gather {
    /// Gather along an axis, without batch dimensions. A negative axis and negative indices count from the end;
    /// out-of-range indices are errors.
    #[must_use]
    pub fn new(axis: i64) -> Self {
        Self::from_attributes(GatherAttributes { axis, batch_dims: 0, lists: false })
    }

    /// OpenVINO Gather-8: negative indices count from the end; out-of-range indices yield zeros.
    #[must_use]
    pub fn openvino8(axis: i64, batch_dims: i64) -> Self {
        Self::new(axis).batch_dims(batch_dims).out_of_bounds(OutOfBounds::Zero)
    }

    /// ONNX Gather-11: the same as [`Gather::onnx13`].
    #[must_use]
    pub fn onnx11(axis: i64) -> Self {
        Self::new(axis)
    }

    /// ONNX Gather-13: negative indices count from the end; out-of-range indices are errors.
    #[must_use]
    pub fn onnx13(axis: i64) -> Self {
        Self::new(axis)
    }

    /// `tf.gather` on a CPU: negative and out-of-range indices are errors.
    #[must_use]
    pub fn tensorflow(axis: i64, batch_dims: i64) -> Self {
        Self::new(axis).batch_dims(batch_dims).negative_index(NegativeIndex::Reject)
    }

    /// `torch.index_select`: indices have rank 1 or 0, and data any rank; rank 0 counts as shape `[1]` for both.
    /// Negative and out-of-range indices are errors.
    #[must_use]
    pub fn torch(axis: i64) -> Self {
        Self::new(axis).negative_index(NegativeIndex::Reject).with_attributes(|attributes| attributes.lists = true)
    }
}

attribute!(Gather: axis);
attribute!(Gather: batch_dims, "The rank of indices is added to a negative number.");

impl Sealed for GatherAttributes {}

impl GatherAttributes {
    fn lower_dims(&self, data: &Layout, indices: &Layout, lowered: &mut IndexLowered) -> Result<(), Error> {
        const OP: Op = Op::Gather;
        let axis = normalize_axis(OP, self.axis, data.rank())?;
        let batch_dims = self.normalize_batch_dims(axis, indices.rank())?;
        for dim in 0..batch_dims {
            let (d, i) = (data.shape()[dim], indices.shape()[dim]);
            if d != i {
                return Err(Error::BatchMismatch { op: OP, dim, data: d, indices: i });
            }
        }
        for p in 0..axis {
            let index = if p < batch_dims { indices.strides()[p] } else { 0 };
            lowered.push(data.shape()[p], data.strides()[p], index);
        }
        for i in batch_dims..indices.rank() {
            lowered.push(indices.shape()[i], 0, indices.strides()[i]);
        }
        for q in axis + 1..data.rank() {
            lowered.push(data.shape()[q], data.strides()[q], 0);
        }
        lowered.axes.push(Axis { axis, dim: data.shape()[axis], data: data.strides()[axis], index: 0 });
        Ok(())
    }

    fn normalize_batch_dims(&self, axis: usize, indices_rank: usize) -> Result<usize, Error> {
        let rank = indices_rank as i64;
        let max = rank.min(axis as i64);
        let given = self.batch_dims;
        let from_front = if (-rank..0).contains(&given) { given + rank } else { given };
        if (0..=max).contains(&from_front) {
            Ok(from_front as usize)
        } else {
            Err(Error::BatchDimsOutOfRange { op: Op::Gather, batch_dims: given, min: -rank, max })
        }
    }
}

impl IndexAttributes for GatherAttributes {
    fn op(&self) -> Op {
        Op::Gather
    }

    #[inline]
    fn leading_axes(&self, data: &Layout, indices: &Layout) -> Option<LeadingAxes> {
        let rank = data.rank() as i64;
        let takes_rows = rank > 0 && (self.axis == 0 || self.axis == -rank) && self.batch_dims == 0 && !self.lists;
        if takes_rows { Some(LeadingAxes::first(indices)) } else { None }
    }

    #[inline]
    fn lower(&self, data: &Layout, indices: &Layout, lowered: &mut IndexLowered) -> Result<(), Error> {
        if !self.lists {
            return self.lower_dims(data, indices, lowered);
        }
        if indices.rank() > 1 {
            let (argument, rank) = (Argument::Indices, indices.rank());
            return Err(Error::RankOutOfRange { op: Op::Gather, argument, rank, min: 0, max: 1 });
        }
        let scalar = data.rank() == 0;
        self.lower_dims(&as_list(data)?, &as_list(indices)?, lowered)?;
        if scalar && lowered.output.len() == 1 && lowered.output[0] == 1 {
            // One element selected from a tensor of rank 0 is a tensor of rank 0.
            lowered.output = [].into();
            lowered.dims.clear();
        }
        Ok(())
    }

    fn dims_before_row(&self, data: &Layout) -> Result<usize, Error> {
        normalize_axis(Op::Gather, self.axis, data.rank()).map(|axis| axis + 1)
    }

    fn axis_size(&self, data: &Layout) -> Result<usize, Error> {
        axis_size((Op::Gather, self.axis), data, self.lists)
    }
}

impl RowAttributes for GatherAttributes {
    #[inline]
    fn masked_axis(&self, data: &Layout) -> Result<usize, Error> {
        let axis = normalize_axis(Op::Gather, self.axis, data.rank())?;
        match self.batch_dims {
            0 => Ok(axis),
            batch_dims => Err(Error::BatchDimsOutOfRange { op: Op::Gather, batch_dims, min: 0, max: 0 }),
        }
    }
}

/// Slices of data by index along an axis: runs [`Gather::new`]. Negative indices count from the end; out-of-range
/// indices are errors.
///
/// # Errors
/// As for [`Gather::run`](GatherOperator::run).
///
/// # Examples
/// ```
/// use gather_core::{View, gather};
///
/// fn main() -> Result<(), gather_core::Error> {
///     let table = [1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0];
///     let rows = gather(&View::new(&table, &[3, 2])?, &View::new(&[2u8, 0], &[2])?, 0)?;
///     assert_eq!(rows.as_slice(), [5.0, 6.0, 1.0, 2.0]);
///     Ok(())
/// }
/// ```
#[doc(alias("take", "index_select", "embedding", "embedding_lookup", "lookup"))]
pub fn gather<T: Element, I: Index>(data: &View<'_, T>, indices: &View<'_, I>, axis: i64) -> Result<Tensor<T>, Error> {
    Gather::new(axis).run(data, indices)
}

/// Rows of a table by their ids: the shortest form of a [`Gather`] along axis 0. Table and result hold adjacent rows
/// of `dim` elements. Negative ids count from the end, and out-of-range ids are errors.
///
/// Cost: as for [`Gather::run`](GatherOperator::run). For repeated calls,
/// [`plan_any_count`](GatherOperator::plan_any_count) is faster.
///
/// # Errors
/// [`Error::NotWholeRows`] if `table.len()` is no multiple of `dim`, then as for [`Gather::run`](GatherOperator::run).
///
/// # Examples
/// ```
/// fn main() -> Result<(), gather_core::Error> {
///     let table = [0.0f32, 0.1, 1.0, 1.1, 2.0, 2.1];
///     assert_eq!(gather_core::rows(&table, 2, &[2u32, 0])?, [2.0, 2.1, 0.0, 0.1]);
///     Ok(())
/// }
/// ```
#[doc(alias("embedding", "take", "index_select"))]
pub fn rows<T: Element, I: Index>(table: &[T], dim: usize, ids: &[I]) -> Result<Vec<T>, Error> {
    let table = whole_rows(table, dim)?;
    Ok(gather(&table, &View::new(ids, &[ids.len()])?, 0)?.into_vec())
}

/// Rows of a table by their ids, into a slice of `ids.len() * dim` elements. Allocates nothing.
///
/// # Errors
/// As for [`rows`], and [`Error::LengthMismatch`] if `out.len() != ids.len() * dim`, before any error of ids. After an
/// error of ids the output is as after [`run_into`](GatherOperator::run_into).
///
/// # Examples
/// ```
/// fn main() -> Result<(), gather_core::Error> {
///     let table = [0.0f32, 0.1, 1.0, 1.1, 2.0, 2.1];
///     let mut out = [0.0; 4];
///     gather_core::rows_into(&table, 2, &[2u32, 0], &mut out)?;
///     assert_eq!(out, [2.0, 2.1, 0.0, 0.1]);
///     Ok(())
/// }
/// ```
#[doc(alias("embedding", "take", "index_select"))]
pub fn rows_into<T: Element, I: Index>(table: &[T], dim: usize, ids: &[I], out: &mut [T]) -> Result<(), Error> {
    let table = whole_rows(table, dim)?;
    let mut out = ViewMut::new(out, &[ids.len(), dim])?;
    Gather::new(0).run_into(&table, &View::new(ids, &[ids.len()])?, &mut out)
}

/// A table of adjacent rows of `dim` elements.
fn whole_rows<T>(table: &[T], dim: usize) -> Result<View<'_, T>, Error> {
    let (len, count) = (table.len(), table.len().checked_div(dim).unwrap_or(0));
    View::new(table, &[count, dim]).map_err(|_| Error::NotWholeRows { len, columns: dim })
}
