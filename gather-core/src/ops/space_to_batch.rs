//! SpaceToBatch: neighbours in space become blocks of the batch.

#![forbid(unsafe_code)]

use crate::call::source::clones::CloneSource;
use crate::call::space::{SpaceAttributes, SpaceOperator};
use crate::call::{Sealed, cloned};
use crate::ops::blocks::{Blocks, product};
use crate::plan::{BlockDim, SpaceLowered};
use crate::tensor::dynamic::DynView;
use crate::tensor::layout::Shape;
use crate::tensor::owned::Tensor;
use crate::tensor::view::View;
use crate::types::declare::accessors;
use crate::types::element::Element;
use crate::types::error::Error;
use crate::types::op::{Argument, Op};

/// Pads the spatial dimensions, then moves blocks of them into the batch: the inverse of
/// [`BatchToSpace`](crate::BatchToSpace).
///
/// With `B = block_shape` and data of shape `[batch, D1, .., Dn]`, the result equals
///
/// ```text
/// pad       pads_begin[k] at the start and pads_end[k] at the end of each dimension: [batch, P1, .., Pn]
/// reshape   [batch, P1 / B1, B1, .., Pn / Bn, Bn]
/// transpose [B1, .., Bn, batch, P1 / B1, .., Pn / Bn]
/// reshape   [B1·..·Bn·batch, P1 / B1, .., Pn / Bn]
/// ```
///
/// in one pass. Each parameter has one entry for each dimension of data; the first entries are 1, 0 and 0. The padding
/// is [`Element::ZERO`]. [`run`](SpaceOperator::run) makes a tensor, [`run_into`](SpaceOperator::run_into) writes into
/// your memory, and [`plan`](SpaceOperator::plan) does the work that depends on shapes once.
///
/// # Errors
/// In this order: [`Error::TooManyElements`] for data, [`Error::RankOutOfRange`] below 2; for `block_shape`,
/// `pads_begin` and `pads_end` each [`Error::ArgumentLengthMismatch`] and [`Error::ArgumentOutOfRange`];
/// [`Error::SpaceNotDivisible`], [`Error::DimensionTooLarge`] for the batch, and [`Error::TooManyElements`] for the
/// result.
///
/// # Examples
/// An image of 2 x 3 pixels becomes four of 1 x 2, after a column of zeros is added at its end:
/// ```
/// use gather_core::{SpaceToBatch, View};
///
/// fn main() -> Result<(), gather_core::Error> {
///     let op = SpaceToBatch::openvino2(&[1, 2, 2], &[0, 0, 0], &[0, 0, 1]);
///     let out = op.run(&View::new(&[1, 2, 3, 4, 5, 6], &[1, 2, 3])?)?;
///     assert_eq!((out.shape(), out.as_slice()), (&[4, 1, 2][..], &[1, 3, 2, 0, 4, 6, 5, 0][..]));
///     Ok(())
/// }
/// ```
///
/// # Definition
/// OpenVINO
/// [SpaceToBatch-2](https://docs.openvino.ai/2026/documentation/openvino-ir-format/operation-sets/operation-specs/movement/space-to-batch-2.html).
#[doc(alias("space_to_batch_nd"))]
pub type SpaceToBatch = SpaceOperator<SpaceToBatchAttributes>;

/// The attributes of [`SpaceToBatch`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SpaceToBatchAttributes(Blocks);

const LISTS: [Argument; 3] = [Argument::BlockShape, Argument::PadsBegin, Argument::PadsEnd];

impl SpaceToBatch {
    /// SpaceToBatch with parameters of one entry for each dimension of data, checked when the operator is used.
    #[must_use]
    pub fn new(block_shape: &[i64], pads_begin: &[i64], pads_end: &[i64]) -> Self {
        Self::from_attributes(SpaceToBatchAttributes(Blocks::new(block_shape, pads_begin, pads_end)))
    }

    /// OpenVINO SpaceToBatch-2: the same as [`SpaceToBatch::new`].
    #[must_use]
    pub fn openvino2(block_shape: &[i64], pads_begin: &[i64], pads_end: &[i64]) -> Self {
        Self::new(block_shape, pads_begin, pads_end)
    }

    /// `tf.space_to_batch`: blocks and pads of the dimensions after the batch. Pads are a pair of begin and end.
    /// Dimensions beyond the entries have blocks of 1 and no pads.
    ///
    /// ```
    /// use gather_core::{SpaceToBatch, View};
    ///
    /// fn main() -> Result<(), gather_core::Error> {
    ///     let images = View::new(&[1, 2, 3, 4], &[1, 2, 2, 1])?;
    ///     let out = SpaceToBatch::tensorflow(&[2, 2], &[[0, 0], [0, 0]]).run(&images)?;
    ///     assert_eq!((out.shape(), out.as_slice()), (&[4, 1, 1, 1][..], &[1, 2, 3, 4][..]));
    ///     Ok(())
    /// }
    /// ```
    #[must_use]
    pub fn tensorflow(block_shape: &[i64], pads: &[[i64; 2]]) -> Self {
        Self::from_attributes(SpaceToBatchAttributes(Blocks::behind_batch(block_shape, pads)))
    }

    /// SpaceToBatch with its parameters as tensors of rank 1 and of any integer type, as graphs store them. A value
    /// beyond `i64` is clamped to `i64`; no shape of data allows the clamped value either.
    ///
    /// # Errors
    /// For `block_shape`, then `pads_begin`, then `pads_end`: [`Error::NotAnIndexType`], [`Error::RankOutOfRange`] and
    /// [`Error::AllocationFailed`].
    pub fn from_tensors(
        block_shape: &DynView<'_>,
        pads_begin: &DynView<'_>,
        pads_end: &DynView<'_>,
    ) -> Result<Self, Error> {
        let blocks = Blocks::from_tensors(Op::SpaceToBatch, LISTS, [block_shape, pads_begin, pads_end])?;
        Ok(Self::from_attributes(SpaceToBatchAttributes(blocks)))
    }

    accessors! { self:
        /// The pads at the start of each dimension, as given.
        pub fn get_pads_begin() -> &[i64] => &self.attributes().0.begin;
        /// The pads at the end of each dimension, as given.
        pub fn get_pads_end() -> &[i64] => &self.attributes().0.end;
    }

    /// Runs the operator on any `Clone` type, with the type's default as padding. Data is any [`CloneSource`].
    ///
    /// Cost: one clone for each element of the result, on the calling thread.
    ///
    /// # Errors
    /// As for [`run`](SpaceOperator::run).
    ///
    /// # Panics
    /// If a clone panics.
    pub fn run_cloned<S>(&self, data: &S) -> Result<Tensor<S::Item>, Error>
    where
        S: CloneSource<Item: Clone + Default> + ?Sized,
    {
        self.run_cloned_or(data, &cloned::default())
    }

    /// As [`Self::run_cloned`] for types without a default: the padding is clones of `fill`.
    ///
    /// # Errors
    /// As for [`run`](SpaceOperator::run).
    ///
    /// # Panics
    /// If a clone panics.
    pub fn run_cloned_or<S>(&self, data: &S, fill: &S::Item) -> Result<Tensor<S::Item>, Error>
    where
        S: CloneSource<Item: Clone> + ?Sized,
    {
        self.clone_elements(data, Some(fill))
    }
}

attribute!(SpaceToBatch: block_shape);

impl Sealed for SpaceToBatchAttributes {}

impl SpaceAttributes for SpaceToBatchAttributes {
    fn op(&self) -> Op {
        Op::SpaceToBatch
    }

    fn lower(&self, data: &[usize], to: &mut SpaceLowered) -> Result<(), Error> {
        let op = Op::SpaceToBatch;
        let [block, begin, end] = self.0.check(op, LISTS, data.len())?;
        let batch = data[0];
        // The images are set below, when all blocks are known.
        to.output.push(batch);
        to.dims.push(BlockDim::plain(batch));
        for k in 1..data.len() {
            let pad = |size: usize, pad: i64| size.checked_add(usize::try_from(pad).ok()?);
            let padded = pad(data[k], begin[k]).and_then(|size| pad(size, end[k]));
            let Some(padded) = padded.filter(|&padded| (padded as u64).is_multiple_of(block[k] as u64)) else {
                return Err(Error::SpaceNotDivisible { op, dim: k, size: padded, block: block[k] });
            };
            // If a block exceeds `usize`, so does the product below.
            let block = usize::try_from(block[k]).unwrap_or(usize::MAX);
            to.output.push(padded / block);
            // `begin[k]` fits `usize`, since `padded` includes it.
            to.dims.push(BlockDim { block, begin: begin[k] as usize, padded, ..BlockDim::plain(data[k]) });
        }
        // Any block divides an empty dimension.
        let blocks = product(block.given);
        let too_large = Error::DimensionTooLarge { op, dim: 0, size: batch, blocks };
        to.output.set(0, blocks.and_then(|blocks| batch.checked_mul(blocks)).ok_or(too_large)?);
        let mut step = batch;
        for dim in to.dims.iter_mut().rev() {
            // Between adjacent positions in a block, the output skips the images of all blocks of later dimensions.
            // The batch, the last dimension here, is not divided.
            (dim.step, step) = (step, step.wrapping_mul(dim.block));
        }
        to.len = Shape::checked_len(&to.output)?;
        Ok(())
    }
}

/// Pads the spatial dimensions with zeros, then moves blocks of them into the batch: runs [`SpaceToBatch::new`].
///
/// # Errors
/// As for [`SpaceToBatch::run`](SpaceOperator::run).
///
/// # Examples
/// ```
/// use gather_core::{View, space_to_batch};
///
/// fn main() -> Result<(), gather_core::Error> {
///     let out = space_to_batch(&View::new(&[1u8, 2, 3], &[1, 3])?, &[1, 2], &[0, 1], &[0, 0])?;
///     assert_eq!((out.shape(), out.as_slice()), (&[2, 2][..], &[0, 2, 1, 3][..]));
///     Ok(())
/// }
/// ```
#[doc(alias("space_to_batch_nd"))]
pub fn space_to_batch<T: Element>(
    data: &View<'_, T>,
    block_shape: &[i64],
    pads_begin: &[i64],
    pads_end: &[i64],
) -> Result<Tensor<T>, Error> {
    SpaceToBatch::new(block_shape, pads_begin, pads_end).run(data)
}
