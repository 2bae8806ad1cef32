//! Gather: slices of data by index along one axis.

#![forbid(unsafe_code)]

use crate::element::Element;
use crate::error::{Argument, Error, Op};
use crate::index::Index;
use crate::ops::face::{IndexOperator, normalize_axis};
use crate::ops::methods::index_operator;
use crate::ops::{IndexRules, NegativeIndex, OutOfBounds, Tuning};
use crate::plan::{Axis, IndexLowered};
use crate::shape::Layout;
use crate::tensor::Tensor;
use crate::view::View;

/// Takes slices of data by index along one axis:
/// `out[p.., i.., q..] = data[p.., indices[batch of p, i..], q..]`.
///
/// `p` runs over `data.shape[..axis]`, `i` over `indices.shape[batch_dims..]` and `q` over `data.shape[axis + 1..]`; the
/// first `batch_dims` dimensions of data and indices are shared. The result has the shape
/// `data.shape[..axis] + indices.shape[batch_dims..] + data.shape[axis + 1..]`.
///
/// `axis` may be negative (plus rank of data), and so may `batch_dims` (plus rank of indices). Follows OpenVINO
/// [Gather-8](https://docs.openvino.ai/2026/documentation/openvino-ir-format/operation-sets/operation-specs/movement/gather-8.html),
/// ONNX Gather and `tf.gather`; the presets set their policies for negative and out-of-range indices.
///
/// # Examples
/// From the specification of Gather-8, with `axis = 1` and `batch_dims = 1`:
/// ```
/// use gather_core::{Gather, View};
///
/// let data = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10];
/// let indices = [0i64, 0, 4, 4, 0, 0];
/// let out = Gather::openvino8(1, 1).run(&View::new(&data, &[2, 5])?, &View::new(&indices, &[2, 3])?)?;
/// assert_eq!((out.shape(), out.as_slice()), (&[2, 3][..], &[1, 1, 5, 10, 6, 6][..]));
/// # Ok::<(), gather_core::Error>(())
/// ```
/// Negative indices count from the end, and those out of range yield zeros:
/// ```
/// # use gather_core::{Gather, View};
/// let data = [1, 2, 3, 4, 5];
/// let indices = [0i8, -2, -1, 5, -6];
/// let out = Gather::openvino8(0, 0).run(&View::new(&data, &[5])?, &View::new(&indices, &[5])?)?;
/// assert_eq!(out.as_slice(), [1, 4, 5, 0, 0]);
/// # Ok::<(), gather_core::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Gather {
    axis: i64,
    batch_dims: i64,
    /// Index lists only: indices of rank 0 count as one index in a list, data of rank 0 as one element in a list.
    lists: bool,
    rules: IndexRules,
    tuning: Tuning,
}

impl Gather {
    /// Gather along an axis, negative ones counting from the end. Without batch dimensions; negative indices count from
    /// the end, out-of-range ones are errors.
    #[must_use]
    pub fn new(axis: i64) -> Self {
        Gather { axis, batch_dims: 0, lists: false, rules: IndexRules::default(), tuning: Tuning::default() }
    }

    /// OpenVINO Gather-8: negative indices count from the end, out-of-range ones yield zeros.
    #[must_use]
    pub fn openvino8(axis: i64, batch_dims: i64) -> Self {
        Self::new(axis).batch_dims(batch_dims).out_of_bounds(OutOfBounds::Zero)
    }

    /// ONNX Gather-11: as [`Gather::onnx13`].
    #[must_use]
    pub fn onnx11(axis: i64) -> Self {
        Self::new(axis)
    }

    /// ONNX Gather-13: negative indices count from the end, out-of-range ones are errors.
    #[must_use]
    pub fn onnx13(axis: i64) -> Self {
        Self::new(axis)
    }

    /// `tf.gather` on a CPU: negative and out-of-range indices are errors.
    #[must_use]
    pub fn tensorflow(axis: i64, batch_dims: i64) -> Self {
        Self::new(axis).batch_dims(batch_dims).negative_index(NegativeIndex::Reject)
    }

    /// `torch.index_select`: indices of rank 0 (which counts as `[1]`) or 1; negative and out-of-range ones are errors.
    /// Data of rank 0 counts as `[1]`.
    #[must_use]
    pub fn torch(axis: i64) -> Self {
        Gather { lists: true, ..Self::new(axis).negative_index(NegativeIndex::Reject) }
    }

    /// Sets how many leading dimensions data and indices share; negative counts from the rank of indices.
    #[must_use]
    pub fn batch_dims(mut self, batch_dims: i64) -> Self {
        self.batch_dims = batch_dims;
        self
    }

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

impl IndexOperator for Gather {
    const OP: Op = Op::Gather;

    #[inline]
    fn lower(&self, data: &Layout, indices: &Layout, lowered: &mut IndexLowered) -> Result<(), Error> {
        if !self.lists {
            return self.lower_dims(data, indices, lowered);
        }
        if indices.rank() > 1 {
            let (argument, rank) = (Argument::Indices, indices.rank());
            return Err(Error::Rank { op: Op::Gather, argument, rank, min: 0, max: 1 });
        }
        let scalar = data.rank() == 0;
        let as_list = |layout: &Layout| {
            if layout.rank() == 0 { Layout::contiguous(&[1]) } else { Ok(layout.clone()) }
        };
        self.lower_dims(&as_list(data)?, &as_list(indices)?, lowered)?;
        if scalar && lowered.output.len() == 1 && lowered.output[0] == 1 {
            // One element selected from a tensor of rank 0 is a tensor of rank 0.
            lowered.output = [].into();
            lowered.dims.clear();
        }
        Ok(())
    }

    fn rules(&self) -> IndexRules {
        self.rules
    }

    fn tuning(&self) -> Tuning {
        self.tuning
    }
}

index_operator!(Gather);

/// [`Gather`] along an axis, in its plain form: negative indices count from the end, out-of-range ones are errors.
///
/// ```
/// use gather_core::{View, gather};
///
/// let table = [1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0];
/// let rows = gather(&View::new(&table, &[3, 2])?, &View::new(&[2u8, 0], &[2])?, 0)?;
/// assert_eq!(rows.as_slice(), [5.0, 6.0, 1.0, 2.0]);
/// # Ok::<(), gather_core::Error>(())
/// ```
///
/// # Errors
/// As for [`Gather::run`].
pub fn gather<T: Element, I: Index>(data: &View<'_, T>, indices: &View<'_, I>, axis: i64) -> Result<Tensor<T>, Error> {
    Gather::new(axis).run(data, indices)
}
