//! DepthToSpace and SpaceToDepth: positions in a block are adjacent in the depth, or in space.

#![forbid(unsafe_code)]

use smallvec::SmallVec;

use crate::call::Sealed;
use crate::call::space::{PermutationAttributes, SpaceAttributes, SpaceOperator};
use crate::plan::{BlockDim, SpaceLowered};
use crate::tensor::layout::Shape;
use crate::tensor::owned::Tensor;
use crate::tensor::view::View;
use crate::types::element::Element;
use crate::types::error::Error;
use crate::types::op::{Argument, Op};
use crate::types::policy::DepthMode;

/// Moves blocks of the depth into the spatial dimensions.
///
/// With `b = block_size` and data of shape `[batch, depth, D1, .., Dn]`, where `C = depth / b^n`, the result equals
///
/// ```text
///            DepthMode::Dcr                               DepthMode::Crd
/// reshape    [batch, b, .., b, C, D1, .., Dn]             [batch, C, b, .., b, D1, .., Dn]
/// transpose  [batch, C, D1, b, .., Dn, b]                 [batch, C, D1, b, .., Dn, b]
/// reshape    [batch, C, D1·b, .., Dn·b]                   [batch, C, D1·b, .., Dn·b]
/// ```
///
/// in one pass. [`run`](SpaceOperator::run) makes a tensor, [`run_into`](SpaceOperator::run_into) writes into your
/// memory, and [`plan`](SpaceOperator::plan) does the work that depends on shapes once.
///
/// # Errors
/// In this order: [`Error::TooManyElements`] for data, [`Error::RankOutOfRange`] below 3, or other than 4 with the
/// presets of ONNX, [`Error::BlockSizeOutOfRange`], [`Error::DepthNotDivisible`], [`Error::DimensionTooLarge`] and
/// [`Error::TooManyElements`] for the result.
///
/// # Examples
/// ```
/// use gather_core::{DepthMode, DepthToSpace, View};
///
/// fn main() -> Result<(), gather_core::Error> {
///     let data = [1, 2, 3, 4, 5, 6, 7, 8];
///     let data = View::new(&data, &[1, 8, 1, 1])?;
///     let dcr = DepthToSpace::onnx13(2, DepthMode::Dcr).run(&data)?;
///     assert_eq!((dcr.shape(), dcr.as_slice()), (&[1, 2, 2, 2][..], &[1, 3, 5, 7, 2, 4, 6, 8][..]));
///     let crd = DepthToSpace::onnx13(2, DepthMode::Crd).run(&data)?;
///     assert_eq!(crd.as_slice(), [1, 2, 3, 4, 5, 6, 7, 8]);
///     Ok(())
/// }
/// ```
///
/// # Definition
/// ONNX [DepthToSpace](https://onnx.ai/onnx/operators/onnx__DepthToSpace.html), OpenVINO
/// [DepthToSpace-1](https://docs.openvino.ai/2026/documentation/openvino-ir-format/operation-sets/operation-specs/movement/depth-to-space-1.html).
#[doc(alias("pixel_shuffle"))]
pub type DepthToSpace = SpaceOperator<DepthToSpaceAttributes>;

/// Moves blocks of the spatial dimensions into the depth: the inverse of [`DepthToSpace`].
///
/// With `b = block_size` and data of shape `[batch, C, D1, .., Dn]`, the result equals
///
/// ```text
///            DepthMode::Dcr                               DepthMode::Crd
/// reshape    [batch, C, D1 / b, b, .., Dn / b, b]         [batch, C, D1 / b, b, .., Dn / b, b]
/// transpose  [batch, b, .., b, C, D1 / b, .., Dn / b]     [batch, C, b, .., b, D1 / b, .., Dn / b]
/// reshape    [batch, b^n·C, D1 / b, .., Dn / b]           [batch, C·b^n, D1 / b, .., Dn / b]
/// ```
///
/// in one pass. [`run`](SpaceOperator::run) makes a tensor, [`run_into`](SpaceOperator::run_into) writes into your
/// memory, and [`plan`](SpaceOperator::plan) does the work that depends on shapes once.
///
/// # Errors
/// In this order: [`Error::TooManyElements`] for data, [`Error::RankOutOfRange`] below 3, or other than 4 with the
/// presets of ONNX, [`Error::BlockSizeOutOfRange`], [`Error::SpaceNotDivisible`], [`Error::DimensionTooLarge`] for the
/// depth, and [`Error::TooManyElements`] for the result.
///
/// # Examples
/// ```
/// use gather_core::{DepthMode, SpaceToDepth, View};
///
/// fn main() -> Result<(), gather_core::Error> {
///     let data = [1, 3, 5, 7, 2, 4, 6, 8];
///     let out = SpaceToDepth::onnx13(2).run(&View::new(&data, &[1, 2, 2, 2])?)?;
///     assert_eq!((out.shape(), out.as_slice()), (&[1, 8, 1, 1][..], &[1, 2, 3, 4, 5, 6, 7, 8][..]));
///     Ok(())
/// }
/// ```
///
/// # Definition
/// ONNX [SpaceToDepth](https://onnx.ai/onnx/operators/onnx__SpaceToDepth.html), OpenVINO
/// [SpaceToDepth-1](https://docs.openvino.ai/2026/documentation/openvino-ir-format/operation-sets/operation-specs/movement/space-to-depth-1.html).
#[doc(alias("pixel_unshuffle"))]
pub type SpaceToDepth = SpaceOperator<SpaceToDepthAttributes>;

/// The attributes of [`DepthToSpace`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DepthToSpaceAttributes(Depth);

/// The attributes of [`SpaceToDepth`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SpaceToDepthAttributes(Depth);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Depth {
    block_size: i64,
    mode: DepthMode,
    /// The minimum and the maximum rank of data.
    ranks: [usize; 2],
}

/// Any number of spatial dimensions.
const SPATIAL: [usize; 2] = [3, usize::MAX];
/// The ranks that ONNX takes.
const IMAGES: [usize; 2] = [4, 4];

impl DepthToSpace {
    /// DepthToSpace of any number of spatial dimensions. The block size is checked when the operator is used.
    #[must_use]
    pub fn new(block_size: i64, mode: DepthMode) -> Self {
        Self::from_attributes(DepthToSpaceAttributes(Depth { block_size, mode, ranks: SPATIAL }))
    }

    /// ONNX DepthToSpace-13: two spatial dimensions.
    #[must_use]
    pub fn onnx13(block_size: i64, mode: DepthMode) -> Self {
        Self::from_attributes(DepthToSpaceAttributes(Depth { block_size, mode, ranks: IMAGES }))
    }

    /// ONNX DepthToSpace-28: the same as [`DepthToSpace::onnx13`].
    #[must_use]
    pub fn onnx28(block_size: i64, mode: DepthMode) -> Self {
        Self::onnx13(block_size, mode)
    }

    /// OpenVINO DepthToSpace-1: the same as [`DepthToSpace::new`]. `blocks_first` is [`DepthMode::Dcr`], and
    /// `depth_first` is [`DepthMode::Crd`].
    #[must_use]
    pub fn openvino1(block_size: i64, mode: DepthMode) -> Self {
        Self::new(block_size, mode)
    }
}

attribute!(DepthToSpace: block_size and mode);

impl SpaceToDepth {
    /// SpaceToDepth of any number of spatial dimensions. The block size is checked when the operator is used.
    #[must_use]
    pub fn new(block_size: i64, mode: DepthMode) -> Self {
        Self::from_attributes(SpaceToDepthAttributes(Depth { block_size, mode, ranks: SPATIAL }))
    }

    /// ONNX SpaceToDepth-13: two spatial dimensions, and [`DepthMode::Dcr`].
    #[must_use]
    pub fn onnx13(block_size: i64) -> Self {
        Self::onnx28(block_size, DepthMode::Dcr)
    }

    /// ONNX SpaceToDepth-28: two spatial dimensions.
    #[must_use]
    pub fn onnx28(block_size: i64, mode: DepthMode) -> Self {
        Self::from_attributes(SpaceToDepthAttributes(Depth { block_size, mode, ranks: IMAGES }))
    }

    /// OpenVINO SpaceToDepth-1: the same as [`SpaceToDepth::new`]. `blocks_first` is [`DepthMode::Dcr`], and
    /// `depth_first` is [`DepthMode::Crd`].
    #[must_use]
    pub fn openvino1(block_size: i64, mode: DepthMode) -> Self {
        Self::new(block_size, mode)
    }
}

attribute!(SpaceToDepth: block_size and mode);

impl Depth {
    fn check(&self, op: Op, rank: usize) -> Result<(), Error> {
        let [min, max] = self.ranks;
        if !(min..=max).contains(&rank) {
            let argument = Argument::Data;
            return Err(Error::RankOutOfRange { op, argument, rank, min, max });
        }
        if self.block_size < 1 {
            return Err(Error::BlockSizeOutOfRange { op, block_size: self.block_size.into() });
        }
        Ok(())
    }

    /// `(block_size, block_size^n)` for `n = rank - 2` spatial dimensions; `None` if either exceeds `usize`.
    fn places(&self, rank: usize) -> Option<(usize, usize)> {
        let block = usize::try_from(self.block_size).ok()?;
        let places = (2..rank).try_fold(1usize, |places, _| places.checked_mul(block));
        Some((block, places?))
    }

    /// Adds the dimensions of the tensor that is not divided into blocks in space, of shape `whole`.
    fn add_dims(&self, whole: &[usize], block: usize, places: usize, dims: &mut SmallVec<[BlockDim; 6]>) {
        let depth = whole[1];
        // Distances in the depth of the other tensor: `period` between elements of adjacent depths, `step` between
        // neighbours in the last spatial dimension.
        let (period, mut step) = match self.mode {
            DepthMode::Dcr => (1, depth),
            DepthMode::Crd => (places, 1),
        };
        dims.extend(whole.iter().map(|&n| BlockDim::plain(n)));
        dims[1].period = period;
        for dim in dims[2..].iter_mut().rev() {
            (dim.block, dim.step) = (block, step);
            step = step.wrapping_mul(block);
        }
    }
}

impl Sealed for DepthToSpaceAttributes {}
impl Sealed for SpaceToDepthAttributes {}
impl PermutationAttributes for DepthToSpaceAttributes {}
impl PermutationAttributes for SpaceToDepthAttributes {}

impl SpaceAttributes for DepthToSpaceAttributes {
    fn op(&self) -> Op {
        Op::DepthToSpace
    }

    fn lower(&self, data: &[usize], to: &mut SpaceLowered) -> Result<(), Error> {
        let (op, attributes) = (Op::DepthToSpace, &self.0);
        attributes.check(op, data.len())?;
        let (depth, places) = (data[1], attributes.places(data.len()));
        let Some((block, places)) = places.filter(|&(_, places)| depth.is_multiple_of(places)) else {
            return Err(Error::DepthNotDivisible { depth, product: places.map(|(_, places)| places) });
        };
        to.output.extend(&[data[0], depth / places]);
        for (dim, &size) in data.iter().enumerate().skip(2) {
            let too_large = Error::DimensionTooLarge { op, dim, size, blocks: Some(block) };
            to.output.push(size.checked_mul(block).ok_or(too_large)?);
        }
        to.len = Shape::checked_len(&to.output)?;
        to.holder = 1;
        attributes.add_dims(&to.output, block, places, &mut to.dims);
        Ok(())
    }
}

impl SpaceAttributes for SpaceToDepthAttributes {
    fn op(&self) -> Op {
        Op::SpaceToDepth
    }

    fn lower(&self, data: &[usize], to: &mut SpaceLowered) -> Result<(), Error> {
        let (op, attributes) = (Op::SpaceToDepth, &self.0);
        attributes.check(op, data.len())?;
        let block = attributes.block_size as u64;
        // The depth is set below, when all blocks are known to divide.
        to.output.extend(&data[..2]);
        for (dim, &size) in data.iter().enumerate().skip(2) {
            if !(size as u64).is_multiple_of(block) {
                return Err(Error::SpaceNotDivisible { op, dim, size: Some(size), block: attributes.block_size });
            }
            to.output.push((size as u64 / block) as usize);
        }
        // Any block divides an empty dimension.
        let places = attributes.places(data.len());
        let too_large =
            Error::DimensionTooLarge { op, dim: 1, size: data[1], blocks: places.map(|(_, places)| places) };
        let Some((depth, (block, places))) = places.and_then(|both| Some((data[1].checked_mul(both.1)?, both))) else {
            return Err(too_large);
        };
        to.output.set(1, depth);
        to.len = Shape::checked_len(&to.output)?;
        to.holder = 1;
        attributes.add_dims(data, block, places, &mut to.dims);
        Ok(())
    }
}

/// Moves blocks of the depth into the spatial dimensions: runs [`DepthToSpace::new`].
///
/// # Errors
/// As for [`DepthToSpace::run`](SpaceOperator::run).
///
/// # Examples
/// ```
/// use gather_core::{DepthMode, View, depth_to_space};
///
/// fn main() -> Result<(), gather_core::Error> {
///     let out = depth_to_space(&View::new(&[1u8, 2, 3, 4], &[1, 2, 2])?, 2, DepthMode::Dcr)?;
///     assert_eq!((out.shape(), out.as_slice()), (&[1, 1, 4][..], &[1, 3, 2, 4][..]));
///     Ok(())
/// }
/// ```
#[doc(alias("pixel_shuffle"))]
pub fn depth_to_space<T: Element>(data: &View<'_, T>, block_size: i64, mode: DepthMode) -> Result<Tensor<T>, Error> {
    DepthToSpace::new(block_size, mode).run(data)
}

/// Moves blocks of the spatial dimensions into the depth: runs [`SpaceToDepth::new`].
///
/// # Errors
/// As for [`SpaceToDepth::run`](SpaceOperator::run).
///
/// # Examples
/// ```
/// use gather_core::{DepthMode, View, space_to_depth};
///
/// fn main() -> Result<(), gather_core::Error> {
///     let out = space_to_depth(&View::new(&[1u8, 3, 2, 4], &[1, 1, 4])?, 2, DepthMode::Dcr)?;
///     assert_eq!((out.shape(), out.as_slice()), (&[1, 2, 2][..], &[1, 2, 3, 4][..]));
///     Ok(())
/// }
/// ```
#[doc(alias("pixel_unshuffle"))]
pub fn space_to_depth<T: Element>(data: &View<'_, T>, block_size: i64, mode: DepthMode) -> Result<Tensor<T>, Error> {
    SpaceToDepth::new(block_size, mode).run(data)
}
