//! BatchToSpace: blocks of the batch become neighbours in space.

use smallvec::SmallVec;

use crate::call::Sealed;
use crate::call::space::{SpaceAttributes, SpaceOperator};
use crate::plan::{BlockDim, SpaceLowered};
use crate::tensor::dynamic::DynView;
use crate::tensor::layout::{Layout, Shape};
use crate::tensor::owned::Tensor;
use crate::tensor::view::View;
use crate::types::element::Element;
use crate::types::error::Error;
use crate::types::index::IndexType;
use crate::types::op::{Argument, Op};

/// Moves blocks of the batch into the spatial dimensions, then crops these.
///
/// With `B = block_shape` and data of shape `[batch, D1, .., Dn]`, the result is that of
///
/// ```text
/// reshape   [B1, .., Bn, batch / (B1·..·Bn), D1, .., Dn]
/// transpose [batch / (B1·..·Bn), D1, B1, .., Dn, Bn]
/// reshape   [batch / (B1·..·Bn), D1·B1, .., Dn·Bn]
/// crop      crops_begin[k] from the begin and crops_end[k] from the end of each dimension
/// ```
///
/// in one pass. Each of the three parameters has one entry for each dimension of data. Their first entries are 1, 0
/// and 0.
///
/// # Errors
/// As listed at [`output_shape`](SpaceOperator::output_shape).
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
/// Its printed transpose is off by one. The shapes beside it say what is meant.
#[doc(alias("batch_to_space_nd"))]
pub type BatchToSpace = SpaceOperator<BatchToSpaceAttributes>;

/// The attributes of [`BatchToSpace`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct BatchToSpaceAttributes {
    block_shape: Entries,
    crops_begin: Entries,
    crops_end: Entries,
    /// Whether dimensions beyond the entries have blocks of 1 and no crops.
    completes: bool,
}

/// One entry for each dimension.
type Entries = SmallVec<[i64; 6]>;

impl BatchToSpace {
    /// BatchToSpace with its parameters, each of one entry for each dimension of data. They are checked when it is
    /// used.
    #[must_use]
    pub fn new(block_shape: &[i64], crops_begin: &[i64], crops_end: &[i64]) -> Self {
        Self::from_attributes(BatchToSpaceAttributes {
            block_shape: SmallVec::from_slice(block_shape),
            crops_begin: SmallVec::from_slice(crops_begin),
            crops_end: SmallVec::from_slice(crops_end),
            completes: false,
        })
    }

    /// OpenVINO BatchToSpace-2: the same as [`BatchToSpace::new`].
    #[must_use]
    pub fn openvino2(block_shape: &[i64], crops_begin: &[i64], crops_end: &[i64]) -> Self {
        Self::new(block_shape, crops_begin, crops_end)
    }

    /// `tf.batch_to_space`: blocks and crops of the dimensions behind the batch. A crop is a pair of begin and end.
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
        let behind_batch =
            |batch: i64, entries: &mut dyn Iterator<Item = i64>| core::iter::once(batch).chain(entries).collect();
        Self::from_attributes(BatchToSpaceAttributes {
            block_shape: behind_batch(1, &mut block_shape.iter().copied()),
            crops_begin: behind_batch(0, &mut crops.iter().map(|&[begin, _]| begin)),
            crops_end: behind_batch(0, &mut crops.iter().map(|&[_, end]| end)),
            completes: true,
        })
    }

    /// BatchToSpace with its parameters as tensors of rank 1 and of any integer type, as graphs hold them.
    ///
    /// A value beyond `i64` becomes the nearest one there is. No shape of data allows that one either.
    ///
    /// # Errors
    /// For `block_shape`, then `crops_begin`, then `crops_end`: [`Error::NotAnIndexType`],
    /// [`Error::RankOutOfRange`] and [`Error::AllocationFailed`].
    pub fn from_tensors(
        block_shape: &DynView<'_>,
        crops_begin: &DynView<'_>,
        crops_end: &DynView<'_>,
    ) -> Result<Self, Error> {
        Ok(Self::new(
            &integers(Argument::BlockShape, block_shape)?,
            &integers(Argument::CropsBegin, crops_begin)?,
            &integers(Argument::CropsEnd, crops_end)?,
        ))
    }

    /// The blocks, as they were given: that of the batch first.
    #[must_use]
    pub fn get_block_shape(&self) -> &[i64] {
        &self.attributes().block_shape
    }

    /// The crops at the begin of each dimension, as they were given.
    #[must_use]
    pub fn get_crops_begin(&self) -> &[i64] {
        &self.attributes().crops_begin
    }

    /// The crops at the end of each dimension, as they were given.
    #[must_use]
    pub fn get_crops_end(&self) -> &[i64] {
        &self.attributes().crops_end
    }
}

impl Sealed for BatchToSpaceAttributes {}

impl BatchToSpaceAttributes {
    /// The entries of a parameter, one for each dimension of data.
    fn entries(&self, argument: Argument, given: &Entries, rank: usize, least: i64) -> Result<Entries, Error> {
        let mut entries = given.clone();
        // As many crops as blocks: else one of them fits no rank.
        let agree = [&self.crops_begin, &self.crops_end].iter().all(|crops| crops.len() == self.block_shape.len());
        if self.completes && agree && entries.len() < rank {
            entries.resize(rank, least);
        }
        check_entries(argument, &entries, rank, least)?;
        Ok(entries)
    }
}

impl SpaceAttributes for BatchToSpaceAttributes {
    fn op(&self) -> Op {
        Op::BatchToSpace
    }

    fn lower(&self, data: &Layout) -> Result<SpaceLowered, Error> {
        let rank = data.rank();
        if rank < 2 {
            let (op, argument) = (Op::BatchToSpace, Argument::Data);
            return Err(Error::RankOutOfRange { op, argument, rank, min: 2, max: usize::MAX });
        }
        let block_shape = self.entries(Argument::BlockShape, &self.block_shape, rank, 1)?;
        let crops_begin = self.entries(Argument::CropsBegin, &self.crops_begin, rank, 0)?;
        let crops_end = self.entries(Argument::CropsEnd, &self.crops_end, rank, 0)?;

        let batch = data.shape()[0];
        let product = block_shape.iter().try_fold(1usize, |p, &b| p.checked_mul(usize::try_from(b).ok()?));
        let product = match product {
            Some(product) if batch.is_multiple_of(product) => product,
            product => return Err(Error::BatchNotDivisible { batch, product }),
        };
        let mut output = Shape::default();
        let mut dims = SmallVec::new();
        let mut origin = 0isize;
        output.push(batch / product);
        dims.push(BlockDim { n: batch / product, block: 1, phase: 0, step: 0, period: data.strides()[0] });

        // From one phase of dimension k to the next, data steps over the blocks of all later dimensions.
        let mut blocks = product;
        for k in 1..rank {
            // Blocks are positive, crops are not negative, and the product of the blocks fits.
            let (block, begin, end) = (block_shape[k] as usize, crops_begin[k], crops_end[k]);
            blocks /= block;
            let size = data.shape()[k].checked_mul(block);
            let n = size
                .and_then(|size| size.checked_sub(usize::try_from(begin).ok()?))
                .and_then(|size| size.checked_sub(usize::try_from(end).ok()?))
                .ok_or(Error::CropsTooLarge { dim: k, begin, end, size })?;
            let step = data.strides()[0].wrapping_mul((batch / product) as isize).wrapping_mul(blocks as isize);
            let period = data.strides()[k];
            let (first, phase) = (begin as usize / block, begin as usize % block);
            origin = origin
                .wrapping_add(period.wrapping_mul(first as isize))
                .wrapping_add(step.wrapping_mul(phase as isize));
            output.push(n);
            dims.push(BlockDim { n, block, phase, step, period });
        }
        Shape::checked_len(&output)?;
        Ok(SpaceLowered { op: Op::BatchToSpace, output, dims, origin })
    }
}

/// The values of a parameter tensor.
fn integers(argument: Argument, tensor: &DynView<'_>) -> Result<SmallVec<[i64; 6]>, Error> {
    let dtype = tensor.dtype();
    let read = IndexType::from_dtype(dtype).ok_or(Error::NotAnIndexType { dtype })?.reader();
    let &[len] = tensor.shape() else {
        let (op, rank) = (Op::BatchToSpace, tensor.shape().len());
        return Err(Error::RankOutOfRange { op, argument, rank, min: 1, max: 1 });
    };
    // Nothing steps along a tensor of one element, so that its stride may be anything.
    let stride = tensor.layout().strides()[0].wrapping_mul(dtype.size() as isize);
    let value = |at: usize| {
        // SAFETY: V1: `at` is a coordinate of the tensor, whose type the reader was made for.
        let value = unsafe { read(tensor.origin().wrapping_offset(stride.wrapping_mul(at as isize))) };
        value.clamp(i64::MIN.into(), i64::MAX.into()) as i64
    };
    let mut values = SmallVec::new();
    // A tensor whose one value is repeated may have more than memory holds.
    values.try_reserve(len).map_err(|_| Error::AllocationFailed { bytes: len.saturating_mul(size_of::<i64>()) })?;
    values.extend((0..len).map(value));
    Ok(values)
}

/// Checks that there is one entry for each dimension, each at least `min`, and the first exactly `min`.
fn check_entries(argument: Argument, entries: &[i64], rank: usize, min: i64) -> Result<(), Error> {
    if entries.len() != rank {
        return Err(Error::ParameterLengthMismatch { argument, len: entries.len(), rank });
    }
    for (dim, &value) in entries.iter().enumerate() {
        let max = if dim == 0 { min } else { i64::MAX };
        if !(min..=max).contains(&value) {
            return Err(Error::ParameterOutOfRange { argument, dim, value, min, max });
        }
    }
    Ok(())
}

/// Moves blocks of the batch into the spatial dimensions, then crops these: the plain form of [`BatchToSpace`].
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
