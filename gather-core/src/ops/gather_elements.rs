//! GatherElements: one element of data for each index.

#![forbid(unsafe_code)]

use crate::element::Element;
use crate::error::{Argument, Error, Op};
use crate::index::Index;
use crate::ops::face::{IndexOperator, normalize_axis};
use crate::ops::methods::index_operator;
use crate::ops::{IndexRules, NegativeIndex, Tuning};
use crate::plan::{Axis, IndexLowered};
use crate::shape::Layout;
use crate::tensor::Tensor;
use crate::view::View;

/// Takes one element of data for each index: `out[c] = data[c with c[axis] := indices[c]]`.
///
/// Data and indices have one rank, at least 1; off the axis indices may be smaller than data, never larger. The result
/// has the shape of indices. Follows ONNX [GatherElements](https://onnx.ai/onnx/operators/onnx__GatherElements.html) 11
/// and 13; `torch.gather` and OpenVINO GatherElements-6 are presets.
///
/// # Examples
/// From the specification of GatherElements-13, with `axis = 1`, then with `axis = 0` and negative indices:
/// ```
/// use gather_core::{GatherElements, View};
///
/// let data = [1, 2, 3, 4];
/// let indices = [0i64, 0, 1, 0];
/// let out = GatherElements::onnx13(1).run(&View::new(&data, &[2, 2])?, &View::new(&indices, &[2, 2])?)?;
/// assert_eq!(out.as_slice(), [1, 1, 4, 3]);
///
/// let data = [1, 2, 3, 4, 5, 6, 7, 8, 9];
/// let indices = [-1i32, -2, 0, -2, 0, 0];
/// let out = GatherElements::onnx13(0).run(&View::new(&data, &[3, 3])?, &View::new(&indices, &[2, 3])?)?;
/// assert_eq!(out.as_slice(), [7, 5, 3, 4, 2, 3]);
/// # Ok::<(), gather_core::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct GatherElements {
    axis: i64,
    shapes: Shapes,
    rules: IndexRules,
    tuning: Tuning,
}

/// How the shapes of data and indices may differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Shapes {
    /// Off the axis indices may be smaller.
    Trimmed,
    /// Off the axis they are equal.
    Equal,
    /// As `Trimmed`; rank 0 counts as `[1]`, and indices without elements, of any rank, give a result without any.
    Torch,
}

impl GatherElements {
    /// GatherElements along an axis, negative ones counting from the end. Negative indices count from the end,
    /// out-of-range ones are errors.
    #[must_use]
    pub fn new(axis: i64) -> Self {
        GatherElements { axis, shapes: Shapes::Trimmed, rules: IndexRules::default(), tuning: Tuning::default() }
    }

    /// ONNX GatherElements-11: as [`GatherElements::onnx13`].
    #[must_use]
    pub fn onnx11(axis: i64) -> Self {
        Self::new(axis)
    }

    /// ONNX GatherElements-13: negative indices count from the end, out-of-range ones are errors.
    #[must_use]
    pub fn onnx13(axis: i64) -> Self {
        Self::new(axis)
    }

    /// OpenVINO GatherElements-6: off the axis the shapes are equal; negative and out-of-range indices are errors.
    #[must_use]
    pub fn openvino6(axis: i64) -> Self {
        GatherElements { shapes: Shapes::Equal, ..Self::new(axis).negative_index(NegativeIndex::Reject) }
    }

    /// `torch.gather`: negative and out-of-range indices are errors; rank 0 counts as `[1]`; indices without elements,
    /// of any rank, give a result without elements.
    #[must_use]
    pub fn torch(axis: i64) -> Self {
        GatherElements { shapes: Shapes::Torch, ..Self::new(axis).negative_index(NegativeIndex::Reject) }
    }

    fn lower_dims(&self, data: &Layout, indices: &Layout, lowered: &mut IndexLowered) -> Result<(), Error> {
        const OP: Op = Op::GatherElements;
        let rank = data.rank();
        if rank == 0 {
            return Err(Error::Rank { op: OP, argument: Argument::Data, rank, min: 1, max: usize::MAX });
        }
        if indices.rank() != rank {
            let (argument, got) = (Argument::Indices, indices.rank());
            return Err(Error::Rank { op: OP, argument, rank: got, min: rank, max: rank });
        }
        let axis = normalize_axis(OP, self.axis, rank)?;
        for dim in 0..rank {
            let (d, i) = (data.shape()[dim], indices.shape()[dim]);
            let fits = if self.shapes == Shapes::Equal { i == d } else { i <= d };
            if dim != axis && !fits {
                return Err(Error::IndicesShape { op: OP, dim, indices: i, data: d });
            }
            lowered.push(i, if dim == axis { 0 } else { data.strides()[dim] }, indices.strides()[dim]);
        }
        lowered.axes.push(Axis { axis, dim: data.shape()[axis], data: data.strides()[axis], index: 0 });
        Ok(())
    }
}

impl IndexOperator for GatherElements {
    const OP: Op = Op::GatherElements;

    #[inline]
    fn lower(&self, data: &Layout, indices: &Layout, lowered: &mut IndexLowered) -> Result<(), Error> {
        if self.shapes != Shapes::Torch {
            return self.lower_dims(data, indices, lowered);
        }
        if indices.is_empty() {
            normalize_axis(Op::GatherElements, self.axis, data.rank().max(1))?;
            for &n in indices.shape() {
                lowered.push(n, 0, 0);
            }
            return Ok(());
        }
        let as_list = |layout: &Layout| {
            if layout.rank() == 0 { Layout::contiguous(&[1]) } else { Ok(layout.clone()) }
        };
        self.lower_dims(&as_list(data)?, &as_list(indices)?, lowered)?;
        if indices.rank() == 0 {
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

index_operator!(GatherElements);

/// [`GatherElements`] along an axis, in its plain form: negative indices count from the end, out-of-range ones are
/// errors.
///
/// ```
/// use gather_core::{View, gather_elements};
///
/// // The score of the chosen class of each sample.
/// let scores = [0.1f32, 0.7, 0.2, 0.5, 0.3, 0.2];
/// let chosen = gather_elements(&View::new(&scores, &[2, 3])?, &View::new(&[1u8, 0], &[2, 1])?, 1)?;
/// assert_eq!(chosen.as_slice(), [0.7, 0.5]);
/// # Ok::<(), gather_core::Error>(())
/// ```
///
/// # Errors
/// As for [`GatherElements::run`].
pub fn gather_elements<T: Element, I: Index>(
    data: &View<'_, T>,
    indices: &View<'_, I>,
    axis: i64,
) -> Result<Tensor<T>, Error> {
    GatherElements::new(axis).run(data, indices)
}
