//! BatchToSpace: blocks of the batch become neighbours in space.

#![forbid(unsafe_code)]

use crate::call::Sealed;
use crate::call::space::{PermutationAttributes, SpaceAttributes, SpaceOperator};
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

/// Moves blocks of the batch into the spatial dimensions, then crops these dimensions.
///
/// With `B = block_shape` and data of shape `[batch, D1, .., Dn]`, the result equals
///
/// ```text
/// reshape   [B1, .., Bn, batch / (B1·..·Bn), D1, .., Dn]
/// transpose [batch / (B1·..·Bn), D1, B1, .., Dn, Bn]
/// reshape   [batch / (B1·..·Bn), D1·B1, .., Dn·Bn]
/// crop      crops_begin[k] from the start and crops_end[k] from the end of each dimension
/// ```
///
/// in one pass. Each parameter has one entry for each dimension of data; the first entries are 1, 0 and 0.
/// [`run`](SpaceOperator::run) makes a tensor, [`run_into`](SpaceOperator::run_into) writes into your memory, and
/// [`plan`](SpaceOperator::plan) does the work that depends on shapes once.
///
/// # Errors
/// In this order: [`Error::TooManyElements`] for data, [`Error::RankOutOfRange`] below 2; for `block_shape`,
/// `crops_begin` and `crops_end` each [`Error::ArgumentLengthMismatch`] and [`Error::ArgumentOutOfRange`];
/// [`Error::BatchNotDivisible`], [`Error::CropsTooLarge`], and [`Error::TooManyElements`] for the result.
///
/// # Examples
/// The batch of 4 becomes blocks of 2 x 2, without crops:
/// ```
/// use gather_core::{BatchToSpace, View};
///
/// fn main() -> Result<(), gather_core::Error> {
///     let data = [1, 2, 3, 4];
///     let op = BatchToSpace::openvino2(&[1, 2, 2], &[0, 0, 0], &[0, 0, 0]);
///     let out = op.run(&View::new(&data, &[4, 1, 1])?)?;
///     assert_eq!((out.shape(), out.as_slice()), (&[1, 2, 2][..], &[1, 2, 3, 4][..]));
///     Ok(())
/// }
/// ```
/// The shapes of the specification's example:
/// ```
/// use gather_core::BatchToSpace;
///
/// fn main() -> Result<(), gather_core::Error> {
///     let op = BatchToSpace::openvino2(&[1, 6, 5, 1, 16], &[0, 2, 0, 0, 0], &[0, 0, 1, 0, 0]);
///     assert_eq!(op.output_shape(&[960, 6, 13, 128, 16])?, [2, 34, 64, 128, 256]);
///     Ok(())
/// }
/// ```
///
/// # Definition
/// OpenVINO
/// [BatchToSpace-2](https://docs.openvino.ai/2026/documentation/openvino-ir-format/operation-sets/operation-specs/movement/batch-to-space-2.html).
/// The transpose printed there is off by one; the shapes next to it are correct.
#[doc(alias("batch_to_space_nd"))]
pub type BatchToSpace = SpaceOperator<BatchToSpaceAttributes>;

/// The attributes of [`BatchToSpace`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct BatchToSpaceAttributes(Blocks);

const LISTS: [Argument; 3] = [Argument::BlockShape, Argument::CropsBegin, Argument::CropsEnd];

impl BatchToSpace {
    /// BatchToSpace with parameters of one entry for each dimension of data, checked when the operator is used.
    #[must_use]
    pub fn new(block_shape: &[i64], crops_begin: &[i64], crops_end: &[i64]) -> Self {
        Self::from_attributes(BatchToSpaceAttributes(Blocks::new(block_shape, crops_begin, crops_end)))
    }

    /// OpenVINO BatchToSpace-2: the same as [`BatchToSpace::new`].
    #[must_use]
    pub fn openvino2(block_shape: &[i64], crops_begin: &[i64], crops_end: &[i64]) -> Self {
        Self::new(block_shape, crops_begin, crops_end)
    }

    /// `tf.batch_to_space`: blocks and crops of the dimensions after the batch. A crop is a pair of begin and end.
    /// Dimensions beyond the entries have blocks of 1 and no crops.
    ///
    /// An image of 2 x 4 pixels of one channel, whose first column is cropped:
    /// ```
    /// use gather_core::{BatchToSpace, View};
    ///
    /// fn main() -> Result<(), gather_core::Error> {
    ///     let images = View::new(&[1, 3, 2, 4, 5, 7, 6, 8], &[4, 1, 2, 1])?;
    ///     let out = BatchToSpace::tensorflow(&[2, 2], &[[0, 0], [1, 0]]).run(&images)?;
    ///     assert_eq!((out.shape(), out.as_slice()), (&[1, 2, 3, 1][..], &[2, 3, 4, 6, 7, 8][..]));
    ///     Ok(())
    /// }
    /// ```
    #[must_use]
    pub fn tensorflow(block_shape: &[i64], crops: &[[i64; 2]]) -> Self {
        Self::from_attributes(BatchToSpaceAttributes(Blocks::behind_batch(block_shape, crops)))
    }

    /// BatchToSpace with its parameters as tensors of rank 1 and of any integer type, as graphs store them. A value
    /// beyond `i64` is clamped to `i64`; no shape of data allows the clamped value either.
    ///
    /// # Errors
    /// For `block_shape`, then `crops_begin`, then `crops_end`: [`Error::NotAnIndexType`],
    /// [`Error::RankOutOfRange`] and [`Error::AllocationFailed`].
    pub fn from_tensors(
        block_shape: &DynView<'_>,
        crops_begin: &DynView<'_>,
        crops_end: &DynView<'_>,
    ) -> Result<Self, Error> {
        let blocks = Blocks::from_tensors(Op::BatchToSpace, LISTS, [block_shape, crops_begin, crops_end])?;
        Ok(Self::from_attributes(BatchToSpaceAttributes(blocks)))
    }

    accessors! { self:
        /// The crops at the start of each dimension, as given.
        pub fn get_crops_begin() -> &[i64] => &self.attributes().0.begin;
        /// The crops at the end of each dimension, as given.
        pub fn get_crops_end() -> &[i64] => &self.attributes().0.end;
    }
}

attribute!(BatchToSpace: block_shape);

impl Sealed for BatchToSpaceAttributes {}

impl SpaceAttributes for BatchToSpaceAttributes {
    fn op(&self) -> Op {
        Op::BatchToSpace
    }

    fn lower(&self, data: &[usize], to: &mut SpaceLowered) -> Result<(), Error> {
        let op = Op::BatchToSpace;
        let [block, begin, end] = self.0.check(op, LISTS, data.len())?;
        let batch = data[0];
        let product = match product(block.given) {
            Some(product) if batch.is_multiple_of(product) => product,
            product => return Err(Error::BatchNotDivisible { batch, product }),
        };
        let images = batch / product;
        to.output.push(images);
        to.dims.push(BlockDim::plain(images));
        let mut step = batch;
        for k in 1..data.len() {
            // Blocks are positive, crops are not negative, and the product of the blocks fits.
            let (block, begin, end) = (block[k] as usize, begin[k], end[k]);
            let size = data[k].checked_mul(block);
            let crop = |size: usize, crop: i64| size.checked_sub(usize::try_from(crop).ok()?);
            let n = size.and_then(|size| crop(crop(size, begin)?, end));
            let Some(n) = n else { return Err(Error::CropsTooLarge { dim: k, begin, end, size }) };
            // Between adjacent positions in a block, data skips the images of all blocks of later dimensions.
            step /= block;
            to.output.push(n);
            to.dims.push(BlockDim { block, begin: begin as usize, step, ..BlockDim::plain(n) });
        }
        to.len = Shape::checked_len(&to.output)?;
        Ok(())
    }
}

impl PermutationAttributes for BatchToSpaceAttributes {}

/// Moves blocks of the batch into the spatial dimensions, then crops these dimensions: runs [`BatchToSpace::new`].
///
/// # Errors
/// As for [`BatchToSpace::run`](SpaceOperator::run).
///
/// # Examples
/// ```
/// use gather_core::{View, batch_to_space};
///
/// fn main() -> Result<(), gather_core::Error> {
///     let out = batch_to_space(&View::new(&[1u8, 2, 3, 4], &[2, 2])?, &[1, 2], &[0, 1], &[0, 0])?;
///     assert_eq!((out.shape(), out.as_slice()), (&[1, 3][..], &[3, 2, 4][..]));
///     Ok(())
/// }
/// ```
#[doc(alias("batch_to_space_nd"))]
pub fn batch_to_space<T: Element>(
    data: &View<'_, T>,
    block_shape: &[i64],
    crops_begin: &[i64],
    crops_end: &[i64],
) -> Result<Tensor<T>, Error> {
    BatchToSpace::new(block_shape, crops_begin, crops_end).run(data)
}
