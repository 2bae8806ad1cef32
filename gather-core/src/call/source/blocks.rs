//! Block-quantised tables: codes of a few bits, with a scale and an optional zero point per block.

#![forbid(unsafe_code)]

use alloc::boxed::Box;
use core::marker::PhantomData;

use crate::call::source::block_shapes::BlockShapes;
use crate::call::source::spec::Spec;
use crate::kernels::convert::ErasedParams;
use crate::kernels::convert::chunks::OwnedParams;
use crate::tensor::view::View;
use crate::types::codes::{Codes, Float};
use crate::types::error::Error;
use crate::types::op::Op;

/// Block-quantised data, read as the type of its scales: the result of [`View::blocks`].
#[derive(Clone, Copy, Debug)]
pub struct BlocksView<'a, U> {
    pub(super) data: &'a View<'a, u8>,
    pub(super) format: BlockFormat,
    pub(super) params: BlockParams<'a, U>,
}

/// The format of a table of codes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::call) struct BlockFormat {
    pub(in crate::call) codes: Codes,
    /// The number of values per scale; 0 if all values of the last axis share a scale.
    pub(in crate::call) block_size: usize,
}

impl BlockFormat {
    /// Checks the block size.
    ///
    /// # Errors
    /// [`Error::BlockSizeOutOfRange`].
    pub(in crate::call) fn check(self, op: Op) -> Result<(), Error> {
        let BlockFormat { codes, block_size } = self;
        let whole_rows = codes.is_float() && block_size == 0;
        if whole_rows || block_size.is_power_of_two() && block_size >= 16 {
            return Ok(());
        }
        Err(Error::BlockSizeOutOfRange { op, block_size: block_size as i128 })
    }
}

/// The arguments of blocks in a call, without the type of scales.
pub(in crate::call) trait BlockArgs: Sync {
    /// Compares scales and zero points with the shapes of a plan. Calls `run` with the arguments that the functions of
    /// blocks read (K8), for data of an address and a shape.
    ///
    /// # Errors
    /// [`Error::ShapeMismatch`] and [`Error::NotRowMajor`] for scales, then for zero points; then the errors of `run`.
    fn with(
        &self,
        blocks: &BlockShapes,
        op: Op,
        data: (usize, &[usize]),
        run: &mut dyn FnMut(ErasedParams<'_>) -> Result<(), Error>,
    ) -> Result<(), Error>;

    /// As [`BlockArgs::with`]; returns the arguments.
    ///
    /// # Errors
    /// As for [`BlockArgs::with`].
    fn owned<'s>(
        &'s self,
        blocks: &BlockShapes,
        op: Op,
        data: (usize, &[usize]),
    ) -> Result<Box<dyn OwnedParams + 's>, Error>;
}

#[derive(Debug)]
pub(in crate::call) struct BlockParams<'a, U> {
    pub(in crate::call) scales: &'a View<'a, U>,
    pub(in crate::call) zero_points: Option<&'a View<'a, u8>>,
}

impl<U> Clone for BlockParams<'_, U> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<U> Copy for BlockParams<'_, U> {}

impl<U: Float> BlockArgs for BlockParams<'_, U> {
    fn with(
        &self,
        blocks: &BlockShapes,
        op: Op,
        data: (usize, &[usize]),
        run: &mut dyn FnMut(ErasedParams<'_>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        run(blocks.quantized(op, data, *self)?.erased())
    }

    fn owned<'s>(
        &'s self,
        blocks: &BlockShapes,
        op: Op,
        data: (usize, &[usize]),
    ) -> Result<Box<dyn OwnedParams + 's>, Error> {
        Ok(Box::new(blocks.quantized(op, data, *self)?))
    }
}

impl View<'_, u8> {
    /// Reads bytes of [`Codes`] as numbers: each value is `(code - zero point) * scale`, computed in `f32` and rounded
    /// to the type of the scales. `block_size` values of the last axis share a scale. `block_size` is a power of two,
    /// at least 16; for floating-point codes it may also be 0, for the whole axis.
    ///
    /// - The last axis has [`Codes::per_byte`] values per byte; blocks run along it. Gathers along it are refused.
    /// - `scales` has the shape of data, except for the last axis, which has one entry per block:
    ///   `values.div_ceil(block_size)`. The last block of a row may be short.
    /// - Without [zero points](BlocksView::zero_points), [`Codes::default_zero_point`] holds for all values.
    ///
    /// For floating-point codes ([`Codes::is_float`]), each dimension of scales except the last may be 1: all data
    /// along that dimension shares its scales.
    ///
    /// The result has the shape that the operator gives for the bytes, except that its last dimension counts values:
    /// each byte becomes [`Codes::per_byte`] values. ONNX's `GatherBlockQuantized` writes zeros for indices out of
    /// range: [`OutOfBounds::Zero`](crate::OutOfBounds::Zero).
    ///
    /// Cost: one pass over the indices, one over the bytes of the result.
    ///
    /// # Errors
    /// The errors of the call, with [`Error::BlockSizeOutOfRange`](crate::Error::BlockSizeOutOfRange) before errors of
    /// attributes and shapes. After them [`Error::QuantizedAxis`](crate::Error::QuantizedAxis),
    /// [`Error::RankOutOfRange`](crate::Error::RankOutOfRange) for data of rank 0,
    /// [`Error::DimensionTooLarge`](crate::Error::DimensionTooLarge), and
    /// [`Error::NotRowMajor`](crate::Error::NotRowMajor) for data. Then
    /// [`Error::ShapeMismatch`](crate::Error::ShapeMismatch) and [`Error::NotRowMajor`](crate::Error::NotRowMajor) for
    /// a view as output, for scales, and for zero points.
    ///
    /// # Examples
    /// Two rows of 16 values, two per byte, with a scale for each row:
    /// ```
    /// use gather_core::{Codes, Gather, OutOfBounds, View};
    ///
    /// fn main() -> Result<(), gather_core::Error> {
    ///     let codes = [[0x98u8; 8], [0x1f; 8]];
    ///     let codes = View::new(codes.as_flattened(), &[2, 8])?;
    ///     let scales = View::new(&[0.5f32, 2.0], &[2, 1])?;
    ///     let gather = Gather::new(0).out_of_bounds(OutOfBounds::Zero);
    ///     let rows = gather.run(&codes.blocks(Codes::Bits4, 16, &scales), &[1, 2, -2])?;
    ///     assert_eq!(rows.shape(), [3, 16]);
    ///     assert_eq!(rows.as_slice()[..2], [14.0, -14.0]);
    ///     // Out of range, and the first row, by a negative index.
    ///     assert_eq!(rows.as_slice()[16..18], [0.0, 0.0]);
    ///     assert_eq!(rows.as_slice()[32..34], [0.0, 0.5]);
    ///     Ok(())
    /// }
    /// ```
    #[must_use]
    pub fn blocks<'a, U: Float>(
        &'a self,
        codes: Codes,
        block_size: usize,
        scales: &'a View<'a, U>,
    ) -> BlocksView<'a, U> {
        let params = BlockParams { scales, zero_points: None };
        BlocksView { data: self, format: BlockFormat { codes, block_size }, params }
    }
}

impl<'a, U: Float> BlocksView<'a, U> {
    /// Sets the zero points: codes encoded as in data, one per block.
    ///
    /// For [`Codes::Bits2`], [`Codes::Bits4`] and [`Codes::Bits8`] they have the shape of scales, with the last axis
    /// divided by [`Codes::per_byte`] and rounded up. For [`Codes::U4`] and [`Codes::I4`] they are one list of
    /// `scales.len().div_ceil(2)` bytes. Floating-point codes accept only an empty list of shape `[0]`.
    #[must_use]
    pub fn zero_points(mut self, zero_points: &'a View<'a, u8>) -> Self {
        self.params.zero_points = Some(zero_points);
        self
    }
}

/// A [`Spec`] of block-quantised data: the result of [`Spec::blocks`].
#[derive(Clone, Debug)]
pub struct BlocksSpec<U> {
    pub(super) data: Spec<u8>,
    pub(super) format: BlockFormat,
    to: PhantomData<fn() -> U>,
}

impl Spec<u8> {
    /// As [`View::blocks`], without scales, to plan ahead. The type of scales is `U`.
    #[must_use]
    pub fn blocks<U: Float>(self, codes: Codes, block_size: usize) -> BlocksSpec<U> {
        BlocksSpec { data: self, format: BlockFormat { codes, block_size }, to: PhantomData }
    }
}
