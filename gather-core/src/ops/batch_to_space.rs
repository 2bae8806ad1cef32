//! BatchToSpace: blocks of the batch become neighbours in space.

use smallvec::SmallVec;

use crate::dynamic::DynView;
use crate::element::Element;
use crate::error::{Argument, Error, Op};
use crate::index::IndexType;
use crate::level::Level;
use crate::ops::{Par, Tuning};
use crate::plan::{CopyLowered, PhasedDim};
use crate::shape::{Layout, Shape};
use crate::tensor::Tensor;
use crate::view::View;

/// Moves blocks of the batch into the spatial dimensions, then crops them.
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
/// in one pass. All three parameters have one entry a dimension of data; the first are 1, 0 and 0. Follows OpenVINO
/// [BatchToSpace-2](https://docs.openvino.ai/2026/documentation/openvino-ir-format/operation-sets/operation-specs/movement/batch-to-space-2.html),
/// whose printed transpose is off by one; the shapes beside it say what is meant.
///
/// # Examples
/// The batch of 4 becomes blocks of 2 x 2, without crops:
/// ```
/// use gather_core::{BatchToSpace, View};
///
/// let data = [1, 2, 3, 4];
/// let op = BatchToSpace::openvino2(&[1, 2, 2], &[0, 0, 0], &[0, 0, 0]);
/// let out = op.run(&View::new(&data, &[4, 1, 1])?)?;
/// assert_eq!((out.shape(), out.as_slice()), (&[1, 2, 2][..], &[1, 2, 3, 4][..]));
/// # Ok::<(), gather_core::Error>(())
/// ```
/// The shapes of the specification's example:
/// ```
/// # use gather_core::BatchToSpace;
/// let op = BatchToSpace::openvino2(&[1, 6, 5, 1, 16], &[0, 2, 0, 0, 0], &[0, 0, 1, 0, 0]);
/// assert_eq!(op.output_shape(&[960, 6, 13, 128, 16])?, [2, 34, 64, 128, 256]);
/// # Ok::<(), gather_core::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct BatchToSpace {
    block_shape: SmallVec<[i64; 6]>,
    crops_begin: SmallVec<[i64; 6]>,
    crops_end: SmallVec<[i64; 6]>,
    tuning: Tuning,
}

impl BatchToSpace {
    /// BatchToSpace with its parameters, one entry a dimension of data each; they are checked when it is used.
    #[must_use]
    pub fn new(block_shape: &[i64], crops_begin: &[i64], crops_end: &[i64]) -> Self {
        BatchToSpace {
            block_shape: SmallVec::from_slice(block_shape),
            crops_begin: SmallVec::from_slice(crops_begin),
            crops_end: SmallVec::from_slice(crops_end),
            tuning: Tuning::default(),
        }
    }

    /// OpenVINO BatchToSpace-2: as [`BatchToSpace::new`].
    #[must_use]
    pub fn openvino2(block_shape: &[i64], crops_begin: &[i64], crops_end: &[i64]) -> Self {
        Self::new(block_shape, crops_begin, crops_end)
    }

    /// BatchToSpace with its parameters as tensors of rank 1 and of any integer type, as graphs hold them.
    ///
    /// Values beyond `i64` are taken as the nearest there is, which no data allows.
    ///
    /// # Errors
    /// For `block_shape`, then `crops_begin`, then `crops_end`: [`Error::NotAnIndexType`] and [`Error::Rank`].
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

    /// Sets how many threads a call may use.
    #[must_use]
    pub fn par(mut self, par: Par) -> Self {
        self.tuning.par = par;
        self
    }

    /// Forces a level.
    #[must_use]
    pub fn level(mut self, level: Level) -> Self {
        self.tuning.level = Some(level);
        self
    }

    pub(crate) fn tuning(&self) -> Tuning {
        self.tuning
    }

    /// Checks the parameters against the shape of data; returns blocks and crops in `usize`.
    pub(crate) fn lower(&self, data: &Layout) -> Result<CopyLowered, Error> {
        let rank = data.rank();
        if rank < 2 {
            let (op, argument) = (Op::BatchToSpace, Argument::Data);
            return Err(Error::Rank { op, argument, rank, min: 2, max: usize::MAX });
        }
        check_entries(Argument::BlockShape, &self.block_shape, rank, 1)?;
        check_entries(Argument::CropsBegin, &self.crops_begin, rank, 0)?;
        check_entries(Argument::CropsEnd, &self.crops_end, rank, 0)?;

        let batch = data.shape()[0];
        let product = self.block_shape.iter().try_fold(1usize, |p, &b| p.checked_mul(usize::try_from(b).ok()?));
        let product = match product {
            Some(product) if batch.is_multiple_of(product) => product,
            product => return Err(Error::BatchNotDivisible { batch, product }),
        };
        let mut output = Shape::default();
        let mut dims = SmallVec::new();
        let mut origin = 0isize;
        output.push(batch / product);
        dims.push(PhasedDim { n: batch / product, block: 1, phase: 0, step: 0, period: data.strides()[0] });

        // Data from one phase of dimension k to the next: a block of the batch for each of the later dimensions.
        let mut blocks = product;
        for k in 1..rank {
            // Entries are positive (blocks) or not negative (crops), and blocks divide a product that fits.
            let (block, begin, end) = (self.block_shape[k] as usize, self.crops_begin[k], self.crops_end[k]);
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
            dims.push(PhasedDim { n, block, phase, step, period });
        }
        Shape::checked_len(&output)?;
        Ok(CopyLowered { output, dims, origin })
    }
}

/// The values of a parameter tensor.
fn integers(argument: Argument, tensor: &DynView<'_>) -> Result<SmallVec<[i64; 6]>, Error> {
    let dtype = tensor.dtype();
    let read = IndexType::from_dtype(dtype).ok_or(Error::NotAnIndexType { dtype })?.reader();
    let &[len] = tensor.shape() else {
        let (op, rank) = (Op::BatchToSpace, tensor.shape().len());
        return Err(Error::Rank { op, argument, rank, min: 1, max: 1 });
    };
    let stride = tensor.layout().strides()[0] * dtype.size() as isize;
    let value = |at: usize| {
        // SAFETY: V1: `at` is a coordinate of the tensor, whose type the reader was made for.
        let value = unsafe { read(tensor.origin().wrapping_offset(stride * at as isize)) };
        value.clamp(i64::MIN.into(), i64::MAX.into()) as i64
    };
    Ok((0..len).map(value).collect())
}

/// Checks one entry a dimension, each of `min` or more, the first exactly `min`.
fn check_entries(argument: Argument, entries: &[i64], rank: usize, min: i64) -> Result<(), Error> {
    if entries.len() != rank {
        return Err(Error::ParameterLength { argument, len: entries.len(), rank });
    }
    for (dim, &value) in entries.iter().enumerate() {
        let max = if dim == 0 { min } else { i64::MAX };
        if !(min..=max).contains(&value) {
            return Err(Error::Parameter { argument, dim, value, min, max });
        }
    }
    Ok(())
}

/// [`BatchToSpace`] in its plain form.
///
/// ```
/// use gather_core::{View, batch_to_space};
///
/// let out = batch_to_space(&View::new(&[1u8, 2, 3, 4], &[2, 2])?, &[1, 2], &[0, 1], &[0, 0])?;
/// assert_eq!((out.shape(), out.as_slice()), (&[1, 3][..], &[3, 2, 4][..]));
/// # Ok::<(), gather_core::Error>(())
/// ```
///
/// # Errors
/// As for [`BatchToSpace::run`].
pub fn batch_to_space<T: Element>(
    data: &View<'_, T>,
    block_shape: &[i64],
    crops_begin: &[i64],
    crops_end: &[i64],
) -> Result<Tensor<T>, Error> {
    BatchToSpace::new(block_shape, crops_begin, crops_end).run(data)
}
