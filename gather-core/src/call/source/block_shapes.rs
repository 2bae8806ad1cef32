//! Shapes of block-quantised data in a plan, which a call compares with scales and zero points.

use crate::call::source::blocks::{BlockFormat, BlockParams};
use crate::kernels::convert::quantized::{Quantized, ScaleRows, ZeroPoints};
use crate::plan::Axis;
use crate::tensor::layout::{Layout, Shape};
use crate::tensor::view::View;
use crate::types::codes::Float;
use crate::types::error::Error;
use crate::types::op::{Argument, Op};

/// The blocks of a plan's data, and the values of its output.
#[derive(Clone)]
pub(in crate::call) struct BlockShapes {
    format: BlockFormat,
    /// `log2` of the bytes of a block.
    block_log2: u32,
    scales: Shape,
    zero_points: Shape,
    /// The shape of the result, at the expected count if dynamic. Empty if a row function reads the values.
    pub(in crate::call) output: Shape,
}

impl BlockShapes {
    /// Checks data and the output's shape in `bytes`, before decoding. Finds the shapes of scales and zero points.
    ///
    /// # Errors
    /// [`Error::QuantizedAxis`], [`Error::RankOutOfRange`], [`Error::DimensionTooLarge`], [`Error::NotRowMajor`],
    /// [`Error::TooManyElements`].
    pub(in crate::call) fn new(
        (op, axes): (Op, &[Axis]),
        data: &Layout,
        format: BlockFormat,
        bytes: Option<&[usize]>,
    ) -> Result<Self, Error> {
        let BlockFormat { codes, block_size } = format;
        let per_byte = codes.per_byte();
        let whole_rows = codes.is_float() && block_size == 0;
        let last = data.rank().saturating_sub(1);
        if let Some(axis) = axes.iter().find(|axis| axis.is_of_data() && axis.axis >= last) {
            return Err(Error::QuantizedAxis { op, axis: axis.axis });
        }
        if data.rank() == 0 {
            return Err(Error::RankOutOfRange { op, argument: Argument::Data, rank: 0, min: 1, max: usize::MAX });
        }
        let in_values = |size: usize, dim| {
            let values = size.checked_mul(per_byte);
            values.ok_or(Error::DimensionTooLarge { op, dim, size, blocks: Some(per_byte) })
        };
        let values = in_values(data.shape()[last], last)?;
        // Each byte of the result becomes `per_byte` values, also if its last dimension comes from indices.
        let wide = |bytes: &[usize]| in_values(bytes.last().copied().unwrap_or(1), bytes.len().saturating_sub(1));
        let output = bytes.map(|bytes| Ok(with_last(bytes, wide(bytes)?))).transpose()?.unwrap_or_default();
        if !data.is_contiguous() {
            return Err(Error::NotRowMajor { op, argument: Argument::Data });
        }
        Shape::checked_len(&output)?;
        let blocks = if whole_rows { 1 } else { values.div_ceil(block_size) };
        let scales = with_last(data.shape(), blocks);
        let zero_points = if codes.is_float() {
            [0].into()
        } else if codes.lists_zero_points() {
            [Shape::checked_len(&scales)?.div_ceil(per_byte)].into()
        } else {
            with_last(&scales, blocks.div_ceil(per_byte))
        };
        // `1 << (usize::BITS - 1)` bytes are longer than any row.
        let block_log2 = if whole_rows { usize::BITS - 1 } else { (block_size / per_byte).ilog2() };
        Ok(BlockShapes { format, block_log2, scales, zero_points, output })
    }

    /// Checks that data has the planned codes and block size.
    ///
    /// # Errors
    /// [`Error::PlanBlocksMismatch`].
    pub(in crate::call) fn check_format(&self, op: Op, got: BlockFormat) -> Result<(), Error> {
        if self.format == got {
            return Ok(());
        }
        let [expected, got] = [self.format, got].map(|format| (format.codes, format.block_size));
        Err(Error::PlanBlocksMismatch { op, expected, got })
    }

    /// Scales and zero points as the plan's functions read them (K8), for data at the address `data`, of shape `shape`.
    ///
    /// # Errors
    /// [`Error::ShapeMismatch`] and [`Error::NotRowMajor`] for scales, then for zero points.
    pub(super) fn quantized<'a, U: Float>(
        &self,
        op: Op,
        (data, shape): (usize, &[usize]),
        BlockParams { scales, zero_points }: BlockParams<'a, U>,
    ) -> Result<Quantized<'a, U>, Error> {
        let codes = self.format.codes;
        let (scales, scale_rows) = self.scales(op, scales)?;
        let zeros = zero_points.map(|given| values(op, Argument::ZeroPoints, &self.zero_points, given)).transpose()?;
        let zero_points = match zeros {
            // For floating-point codes the list is empty.
            Some(zeros) if !codes.is_float() => {
                let blocks = self.scales.last().copied().unwrap_or(0);
                let lists = codes.lists_zero_points();
                let row = if lists { blocks } else { blocks.next_multiple_of(codes.per_byte()) };
                ZeroPoints::Packed { codes: zeros, row }
            }
            _ => ZeroPoints::All(codes.default_zero_point().into()),
        };
        let row = shape.last().copied().unwrap_or(0).max(1);
        let (block_log2, per_byte) = (self.block_log2, codes.per_byte());
        Ok(Quantized { data, row, block_log2, per_byte, scales, scale_rows, zero_points })
    }

    /// The scales, and how rows of data map to them.
    fn scales<'a, U>(&self, op: Op, given: &'a View<'a, U>) -> Result<(&'a [U], ScaleRows), Error> {
        let fits = |(&own, &expected): (&usize, &usize)| own == expected || own == 1;
        match (&self.scales[..], given.layout().shape()) {
            ([rows @ .., expected], [own @ .., blocks])
                if self.format.codes.is_float()
                    && blocks == expected
                    && own.len() == rows.len()
                    && own.iter().zip(rows).all(fits) =>
            {
                Ok((in_order(op, Argument::Scales, given)?, ScaleRows::new(rows, own)))
            }
            _ => Ok((values(op, Argument::Scales, &self.scales, given)?, ScaleRows::default())),
        }
    }
}

/// The elements of a row-major tensor of shape `expected`.
fn values<'a, V>(op: Op, argument: Argument, expected: &Shape, given: &'a View<'a, V>) -> Result<&'a [V], Error> {
    if expected[..] != *given.layout().shape() {
        let (expected, got) = (expected[..].into(), given.layout().shape().into());
        return Err(Error::ShapeMismatch { op, argument, expected, got });
    }
    in_order(op, argument, given)
}

fn in_order<'a, V>(op: Op, argument: Argument, given: &'a View<'a, V>) -> Result<&'a [V], Error> {
    check_row_major(op, argument, given.layout())?;
    if given.is_empty() {
        return Ok(&[]);
    }
    // SAFETY: V1: the elements of a view may be read during `'a`; `check_row_major` found them contiguous.
    Ok(unsafe { core::slice::from_raw_parts(given.origin(), given.layout().len()) })
}

/// Checks that a tensor is row-major.
///
/// # Errors
/// [`Error::NotRowMajor`].
pub(in crate::call) fn check_row_major(op: Op, argument: Argument, layout: &Layout) -> Result<(), Error> {
    if layout.is_contiguous() { Ok(()) } else { Err(Error::NotRowMajor { op, argument }) }
}

/// A shape with another last dimension.
pub(in crate::call) fn with_last(shape: &[usize], last: usize) -> Shape {
    let lead = shape.len().saturating_sub(1);
    shape[..lead].iter().copied().chain([last]).collect()
}
