//! Cases of DepthToSpace and SpaceToDepth.

use arbitrary::{Result, Unstructured};
use gather_core::{
    Argument, DepthMode, DepthToSpace, DepthToSpaceAttributes, Error, Op, SpaceToDepth, SpaceToDepthAttributes, Tensor,
    View,
};

use super::elements::WordKind;
use super::space::{self, Model, Other, Shaped};
use super::{MOST_OUT, Outcome, draw, shapes};
use crate::oracle::{self, Dense};

#[derive(Debug)]
struct Depth {
    block_size: i64,
    mode: DepthMode,
}

#[derive(Debug)]
struct ToSpace(Depth);

#[derive(Debug)]
struct ToDepth(Depth);

/// Runs DepthToSpace through every door and compares with the oracle.
///
/// # Errors
/// When there are not enough bytes for a case.
pub fn depth_to_space(u: &mut Unstructured<'_>) -> Result<Outcome> {
    if draw::one_in(u, 8)? {
        let data = shapes::wild(u)?;
        let depth = Depth::wild(u)?;
        return space::infer(u, &ToSpace(depth), &data);
    }
    let (depth, data, _) = draw(u)?;
    space::run(u, &ToSpace(depth), &data)
}

/// Runs SpaceToDepth through every door and compares with the oracle.
///
/// # Errors
/// When there are not enough bytes for a case.
pub fn space_to_depth(u: &mut Unstructured<'_>) -> Result<Outcome> {
    if draw::one_in(u, 8)? {
        let data = shapes::wild(u)?;
        let depth = Depth::wild(u)?;
        return space::infer(u, &ToDepth(depth), &data);
    }
    let (depth, _, data) = draw(u)?;
    space::run(u, &ToDepth(depth), &data)
}

/// Attributes, and the shapes of a tensor in blocks and of one that is whole.
fn draw(u: &mut Unstructured<'_>) -> Result<(Depth, Vec<usize>, Vec<usize>)> {
    let rank = draw::rank(u)?;
    let rank = if draw::one_in(u, 24)? { rank } else { rank.max(3) };
    // Blocks that some levels have special code for, and others.
    let mut block = *u.choose(&[2, 1, 4, 3, 8, 2, 5, 17])?;
    let places = |block: usize| (2..rank).try_fold(1usize, |places, _| places.checked_mul(block));
    if places(block).is_none_or(|places| places > MOST_OUT) {
        block = 1;
    }
    let places = places(block).expect("a number of places that has been looked at");
    let mut whole = draw::dims(u, rank, MOST_OUT / places)?;
    let mut blocks = whole.clone();
    blocks.iter_mut().skip(1).take(1).for_each(|depth| *depth *= places);
    whole.iter_mut().skip(2).for_each(|dim| *dim *= block);
    // Sometimes no block divides what it should.
    if draw::one_in(u, 60)? {
        for dims in [&mut whole, &mut blocks] {
            dims.iter_mut().skip(1).for_each(|dim| *dim += 1);
        }
        if places > MOST_OUT / 4 {
            return Err(arbitrary::Error::IncorrectFormat);
        }
    }
    Ok((Depth { block_size: draw::attribute(u, block as i64, block as i64)?, mode: Depth::mode(u)? }, blocks, whole))
}

impl Depth {
    fn mode(u: &mut Unstructured<'_>) -> Result<DepthMode> {
        Ok(*u.choose(&[DepthMode::Dcr, DepthMode::Crd])?)
    }

    /// Small blocks for absurd shapes.
    fn wild(u: &mut Unstructured<'_>) -> Result<Self> {
        Ok(Depth { block_size: draw::attribute(u, 1, 4)?, mode: Depth::mode(u)? })
    }

    /// Checks the rank of data and the block size; returns it with the places of a block, where they fit.
    fn check(&self, op: Op, rank: usize) -> std::result::Result<(u128, Option<usize>), Error> {
        if rank < 3 {
            return Err(Error::RankOutOfRange { op, argument: Argument::Data, rank, min: 3, max: usize::MAX });
        }
        if self.block_size < 1 {
            return Err(Error::BlockSizeOutOfRange { op, block_size: self.block_size.into() });
        }
        let block = self.block_size as u128;
        let places = (2..rank)
            .try_fold(1u128, |places, _| places.checked_mul(block).filter(|&places| places <= usize::MAX as u128));
        Ok((block, places.map(|places| places as usize)))
    }
}

impl Model for ToSpace {
    type Attributes = DepthToSpaceAttributes;

    fn operator(&self) -> DepthToSpace {
        DepthToSpace::new(self.0.block_size, self.0.mode)
    }

    fn others(&self, _: WordKind) -> Vec<Other<DepthToSpaceAttributes>> {
        vec![("openvino1", Ok(DepthToSpace::openvino1(self.0.block_size, self.0.mode)))]
    }

    fn shape(&self, data: &[usize]) -> Shaped {
        let op = Op::DepthToSpace;
        let (block, product) = self.0.check(op, data.len())?;
        let depth = data[1];
        let Some(places) = product.filter(|&places| depth.is_multiple_of(places)) else {
            return Err(Error::DepthNotDivisible { depth, product });
        };
        let mut shape = vec![data[0], depth / places];
        for (dim, &size) in data.iter().enumerate().skip(2) {
            let too_large = Error::DimensionTooLarge { op, dim, size, blocks: Some(block as usize) };
            shape.push(usize::try_from(size as u128 * block).map_err(|_| too_large)?);
        }
        Ok(shape)
    }

    fn values(&self, data: &Dense<Option<usize>>) -> Dense<Option<usize>> {
        oracle::depth_to_space(data, self.0.block_size as usize, self.0.mode == DepthMode::Crd)
    }

    fn cloned(&self, data: &View<'_, Option<Box<usize>>>) -> std::result::Result<Tensor<Option<Box<usize>>>, Error> {
        self.operator().run_cloned(data)
    }
}

impl Model for ToDepth {
    type Attributes = SpaceToDepthAttributes;

    fn operator(&self) -> SpaceToDepth {
        SpaceToDepth::new(self.0.block_size, self.0.mode)
    }

    fn others(&self, _: WordKind) -> Vec<Other<SpaceToDepthAttributes>> {
        vec![("openvino1", Ok(SpaceToDepth::openvino1(self.0.block_size, self.0.mode)))]
    }

    fn shape(&self, data: &[usize]) -> Shaped {
        let op = Op::SpaceToDepth;
        let (block, blocks) = self.0.check(op, data.len())?;
        let mut shape = vec![data[0], 0];
        for (dim, &size) in data.iter().enumerate().skip(2) {
            if !(size as u128).is_multiple_of(block) {
                return Err(Error::SpaceNotDivisible { op, dim, size: Some(size), block: self.0.block_size });
            }
            shape.push((size as u128 / block) as usize);
        }
        let depth = blocks.and_then(|places| usize::try_from(data[1] as u128 * places as u128).ok());
        shape[1] = depth.ok_or(Error::DimensionTooLarge { op, dim: 1, size: data[1], blocks })?;
        Ok(shape)
    }

    fn values(&self, data: &Dense<Option<usize>>) -> Dense<Option<usize>> {
        oracle::space_to_depth(data, self.0.block_size as usize, self.0.mode == DepthMode::Crd)
    }

    fn cloned(&self, data: &View<'_, Option<Box<usize>>>) -> std::result::Result<Tensor<Option<Box<usize>>>, Error> {
        self.operator().run_cloned(data)
    }
}
