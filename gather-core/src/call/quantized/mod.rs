//! Gathering from block-quantised data: codes of a few bits, with a scale and a zero point for each block.

mod plan;

use core::marker::PhantomData;

use crate::call::Sealed;
use crate::call::erased::Request;
use crate::call::gather::{Gathering, IndexAttributes, IndexOperator};
use crate::call::operator::{Operator, TakesIndices, takes_indices};
use crate::call::planned::Planned;
pub use crate::call::quantized::plan::BlockQuantizedPlan;
use crate::call::quantized::plan::Blocks;
use crate::kernels::convert;
use crate::kernels::convert::quantized::convert_fns;
use crate::kernels::select::Kernels;
use crate::plan::{Converting, IndexRequest};
use crate::tensor::layout::{Layout, Shape};
use crate::tensor::output::{Output, written};
use crate::tensor::owned::Tensor;
use crate::tensor::view::View;
use crate::types::codes::{Codes, Scale};
use crate::types::element::{DType, Element};
use crate::types::error::Error;
use crate::types::index::Index;
use crate::types::op::Argument;
use crate::types::policy::{NegativeIndex, OutOfBounds};

/// The kind of an operator on block-quantised data: the one on its indices, and the format of its codes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Dequantizing<A> {
    gathering: Gathering<A>,
    codes: Codes,
    block_size: usize,
}

/// An operator on indices whose data is block-quantised, made by
/// [`Gather::block_quantized`](crate::Gather::block_quantized).
pub type BlockQuantized<A> = Operator<Dequantizing<A>>;

impl<A> Sealed for Dequantizing<A> {}

takes_indices!(Dequantizing<A>: gathering.policy.negative, gathering.policy.out_of_bounds: OutOfBounds);

impl<A> BlockQuantized<A> {
    pub(crate) fn from_operator(operator: IndexOperator<A>, codes: Codes, block_size: usize) -> Self {
        Operator { kind: Dequantizing { gathering: operator.kind, codes, block_size }, options: operator.options }
    }

    /// How data holds its codes.
    #[must_use]
    pub fn get_codes(&self) -> Codes {
        self.kind.codes
    }

    /// How many values of the last axis share a scale; 0 for all of them.
    #[must_use]
    pub fn get_block_size(&self) -> usize {
        self.kind.block_size
    }
}

impl<A: IndexAttributes> BlockQuantized<A> {
    /// Runs the operator into a fresh tensor: `(code - zero point) * scale` of every value, computed in `f32` and
    /// rounded to the type of the scales.
    ///
    /// - `data` is bytes of codes. Its last axis has [`Codes::per_byte`] values a byte; blocks run along it.
    /// - `scales` has the shape of data, except for the last axis, which has an entry for each block: values divided by
    ///   `block_size`, rounded up. The last block of a row may be short.
    /// - `zero_points` are codes as data has them, one for each block. For [`Codes::Bits2`], [`Codes::Bits4`] and
    ///   [`Codes::Bits8`] the shape is that of scales, except for the last axis, divided by [`Codes::per_byte`] and
    ///   rounded up. For [`Codes::U4`] and [`Codes::I4`] they are one list of bytes, half as many as scales, rounded
    ///   up. Without them, [`Codes::default_zero_point`] holds for all.
    ///
    /// Where codes are floating-point numbers ([`Codes::is_float`]), each dimension of scales but the last may be 1:
    /// all of data along it share those scales. Such codes have no zero points, so that only an empty list of shape
    /// `[0]` is taken.
    ///
    /// The result has the shape that the operator gives for data whose last axis counts values, and not bytes.
    ///
    /// Cost: one pass over the indices, one over the bytes of the result, one allocation.
    ///
    /// # Errors
    /// [`Error::BlockSizeOutOfRange`], errors of attributes and shapes, [`Error::LevelUnavailable`],
    /// [`Error::TooManyBytes`], [`Error::QuantizedAxis`], [`Error::DimensionTooLarge`], [`Error::NotRowMajor`] for
    /// data; then for scales, and after them for zero points, [`Error::ShapeMismatch`] and
    /// [`Error::NotRowMajor`];
    /// [`Error::AllocationFailed`], then [`Error::IndexOutOfRange`], which [`OutOfBounds::Zero`] excludes.
    ///
    /// # Examples
    /// Two rows of 16 values in bytes of two, with a scale for each row:
    /// ```
    /// use gather_core::{Codes, Gather, View};
    ///
    /// fn main() -> Result<(), gather_core::Error> {
    ///     let codes = [[0x98u8; 8], [0x1f; 8]];
    ///     let (table, ids) = (View::new(codes.as_flattened(), &[2, 8])?, View::new(&[1i64, 2, -2], &[3])?);
    ///     let scales = View::new(&[0.5f32, 2.0], &[2, 1])?;
    ///     let rows = Gather::block_quantized(0, Codes::Bits4, 16).run(&table, &ids, &scales, None)?;
    ///     assert_eq!(rows.shape(), [3, 16]);
    ///     assert_eq!(rows.as_slice()[..2], [14.0, -14.0]);
    ///     // Out of range, and the first row, by a negative index.
    ///     assert_eq!(rows.as_slice()[16..18], [0.0, 0.0]);
    ///     assert_eq!(rows.as_slice()[32..34], [0.0, 0.5]);
    ///     Ok(())
    /// }
    /// ```
    pub fn run<T: Scale, I: Index>(
        &self,
        data: &View<'_, u8>,
        indices: &View<'_, I>,
        scales: &View<'_, T>,
        zero_points: Option<&View<'_, u8>>,
    ) -> Result<Tensor<T>, Error> {
        written(Tensor::default(), |out| self.run_into(data, indices, scales, zero_points, out))
    }

    /// As [`Self::run`], into an [`Output`]: a row-major view, uninitialised memory, or a tensor that is used again.
    ///
    /// # Errors
    /// As for [`Self::run`], and before the errors of scales [`Error::ShapeMismatch`] and [`Error::NotRowMajor`] for a
    /// view. The output is untouched except for [`Error::IndexOutOfRange`]: a view then holds a mix of results and what
    /// it held before.
    pub fn run_into<T: Scale, I: Index>(
        &self,
        data: &View<'_, u8>,
        indices: &View<'_, I>,
        scales: &View<'_, T>,
        zero_points: Option<&View<'_, u8>>,
        out: &mut impl Output<T>,
    ) -> Result<(), Error> {
        // Not moved out of the result: to move hundreds of bytes takes as long as a short call.
        let planned = self.plan(data.layout(), indices.layout());
        let Ok(plan) = &planned else { return planned.map(drop) };
        plan.run_into(data, indices, scales, zero_points, out)
    }

    /// Makes a plan: it does the work that depends on shapes and types once, and runs on any tensors of these layouts.
    ///
    /// # Errors
    /// As for [`Self::run`], up to [`Error::NotRowMajor`] for data.
    pub fn plan<T: Scale, I: Index>(&self, data: &Layout, indices: &Layout) -> Result<BlockQuantizedPlan<T, I>, Error> {
        let Dequantizing { gathering: Gathering { attributes, policy }, codes, block_size } = &self.kind;
        let (op, per_byte) = (attributes.op(), codes.per_byte());
        let whole_rows = codes.is_float() && *block_size == 0;
        if !whole_rows && (!block_size.is_power_of_two() || *block_size < 16) {
            return Err(Error::BlockSizeOutOfRange { op, block_size: *block_size as i128 });
        }
        let request = IndexRequest {
            op,
            policy: *policy,
            options: self.options,
            kernels: Kernels::of::<I>(),
            dtype: bytes_values::<T>(*codes),
            index: I::TYPE,
            converting: Some(Converting {
                rows: convert_fns::<T>(*codes).map(|fns| fns.rows),
                whole: None,
                size_in: 1,
                kernel: convert::kernel::<I>,
            }),
        };
        let request = Request { attributes, planned: request, data, indices };
        let (plan, out) = request.plan()?;
        let last = data.rank().saturating_sub(1);
        if let Some(axis) = plan.axes().iter().find(|axis| axis.axis >= last) {
            return Err(Error::QuantizedAxis { op, axis: axis.axis });
        }
        let size = data.shape()[last];
        let values = size.checked_mul(per_byte);
        let values = values.ok_or(Error::DimensionTooLarge { op, dim: last, size, blocks: Some(per_byte) })?;
        if !data.is_contiguous() {
            return Err(Error::NotRowMajor { op, argument: Argument::Data });
        }
        let blocks = if whole_rows { 1 } else { values.div_ceil(*block_size) };
        let (output, scales) = (with_last(out.shape(), values), with_last(data.shape(), blocks));
        Shape::checked_len(&output)?;
        let zero_points = if codes.is_float() {
            [0].into()
        } else if codes.lists_zero_points() {
            [Shape::checked_len(&scales)?.div_ceil(per_byte)].into()
        } else {
            with_last(&scales, blocks.div_ceil(per_byte))
        };
        // A block that no row reaches the end of.
        let block_log2 = if whole_rows { usize::BITS - 1 } else { (block_size / per_byte).ilog2() };
        let planned = Planned::from_parts(&request, plan, out, None);
        let blocks = Blocks { planned, codes: *codes, block_log2, scales, zero_points, output };
        Ok(BlockQuantizedPlan { blocks, types: PhantomData })
    }
}

/// A shape with another last dimension.
fn with_last(shape: &[usize], last: usize) -> Shape {
    let rest = shape.len().saturating_sub(1);
    shape[..rest].iter().copied().chain([last]).collect()
}

/// The data type of the values of a byte of codes.
fn bytes_values<T: Scale>(codes: Codes) -> DType {
    match codes.per_byte() {
        1 => <[T; 1]>::DTYPE,
        2 => <[T; 2]>::DTYPE,
        _ => <[T; 4]>::DTYPE,
    }
}
