//! Cases of BatchToSpace and SpaceToBatch.

use arbitrary::{Result, Unstructured};
use gather_core::{
    Argument, BatchToSpace, BatchToSpaceAttributes, DynView, Error, Op, SpaceToBatch, SpaceToBatchAttributes, Tensor,
    View,
};

use super::elements::WordKind;
use super::space::{self, Model, Other, Shaped};
use super::{MOST_OUT, Outcome, draw, shapes};
use crate::oracle::{self, Dense};

/// Blocks, and what is cropped or padded at both ends.
#[derive(Debug)]
struct Parameters {
    block: Vec<i64>,
    begin: Vec<i64>,
    end: Vec<i64>,
}

#[derive(Debug)]
struct ToSpace(Parameters);

#[derive(Debug)]
struct ToBatch(Parameters);

/// Runs BatchToSpace through every door and compares with the oracle.
///
/// # Errors
/// When there are not enough bytes for a case.
pub fn batch_to_space(u: &mut Unstructured<'_>) -> Result<Outcome> {
    if draw::one_in(u, 8)? {
        let data = shapes::wild(u)?;
        let parameters = Parameters::wild(u, data.len())?;
        return space::infer(u, &ToSpace(parameters), &data);
    }
    let (parameters, data, _) = draw(u)?;
    space::run(u, &ToSpace(parameters), &data)
}

/// Runs SpaceToBatch through every door and compares with the oracle.
///
/// # Errors
/// When there are not enough bytes for a case.
pub fn space_to_batch(u: &mut Unstructured<'_>) -> Result<Outcome> {
    if draw::one_in(u, 8)? {
        let data = shapes::wild(u)?;
        let parameters = Parameters::wild(u, data.len())?;
        return space::infer(u, &ToBatch(parameters), &data);
    }
    let (parameters, _, data) = draw(u)?;
    space::run(u, &ToBatch(parameters), &data)
}

/// Parameters, and the shapes of a tensor in blocks and of one that is whole.
fn draw(u: &mut Unstructured<'_>) -> Result<(Parameters, Vec<usize>, Vec<usize>)> {
    let rank = draw::rank(u)?;
    let rank = if draw::one_in(u, 24)? { rank } else { rank.max(2) };
    let image = draw::dims(u, rank, MOST_OUT)?;
    let mut parameters = Parameters::none(rank);
    let (mut blocks, mut whole) = (image.clone(), image.clone());
    for (k, &dim) in image.iter().enumerate().skip(1) {
        // Blocks that some levels have special code for, and others.
        let block = *u.choose(&[1, 2, 4, 3, 8, 2, 1, 5])?;
        let room = MOST_OUT / blocks.iter().map(|&dim| dim.max(1)).product::<usize>().max(1);
        let block = if block > room { 1 } else { block };
        blocks[0] *= block;
        parameters.block[k] = draw::attribute(u, block as i64, block as i64)?;
        let size = (dim * block) as i64;
        parameters.begin[k] = margin(u, size)?;
        parameters.end[k] = margin(u, size - parameters.begin[k].clamp(0, size))?;
        whole[k] = (size - parameters.begin[k].clamp(0, size)) as usize;
        whole[k] -= parameters.end[k].clamp(0, whole[k] as i64) as usize;
    }
    if draw::one_in(u, 60)? {
        parameters.spoil(u)?;
    }
    Ok((parameters, blocks, whole))
}

/// A crop or a pad: mostly none or a small one, sometimes all of the dimension.
fn margin(u: &mut Unstructured<'_>, size: i64) -> Result<i64> {
    match u.int_in_range(0..=3)? {
        0..=1 => Ok(0),
        2 => draw::attribute(u, 0, size.min(3)),
        _ => draw::attribute(u, 0, size),
    }
}

impl Parameters {
    fn none(rank: usize) -> Self {
        Parameters { block: vec![1; rank], begin: vec![0; rank], end: vec![0; rank] }
    }

    /// Small ones for absurd shapes.
    fn wild(u: &mut Unstructured<'_>, rank: usize) -> Result<Self> {
        let mut parameters = Parameters::none(rank);
        for k in 1..rank {
            parameters.block[k] = draw::attribute(u, 1, 4)?;
            parameters.begin[k] = draw::attribute(u, 0, 4)?;
            parameters.end[k] = draw::attribute(u, 0, 4)?;
        }
        if draw::one_in(u, 8)? {
            parameters.spoil(u)?;
        }
        Ok(parameters)
    }

    /// The same as TensorFlow has it, where the entries of the batch are what they must be: blocks, and pairs of begin
    /// and end.
    fn behind_batch(&self) -> Option<(&[i64], Vec<[i64; 2]>)> {
        let Parameters { block, begin, end } = self;
        let ([1, block @ ..], [0, begin @ ..], [0, end @ ..]) = (&block[..], &begin[..], &end[..]) else { return None };
        let pairs: Vec<[i64; 2]> = begin.iter().zip(end).map(|(&begin, &end)| [begin, end]).collect();
        (block.len() == begin.len() && begin.len() == end.len()).then_some((block, pairs))
    }

    /// Breaks an entry, or the length of a list.
    fn spoil(&mut self, u: &mut Unstructured<'_>) -> Result<()> {
        let list = match u.int_in_range(0..=2)? {
            0 => &mut self.block,
            1 => &mut self.begin,
            _ => &mut self.end,
        };
        match list.first_mut() {
            Some(first) if u.arbitrary()? => *first = u.arbitrary::<i8>()?.into(),
            Some(_) if u.arbitrary()? => list.truncate(1),
            _ => list.push(1),
        }
        Ok(())
    }

    /// Checks the rank of data and every list; returns the product of the blocks, where it fits.
    fn check(&self, op: Op, rank: usize, names: [Argument; 3]) -> std::result::Result<Option<usize>, Error> {
        if rank < 2 {
            return Err(Error::RankOutOfRange { op, argument: Argument::Data, rank, min: 2, max: usize::MAX });
        }
        for ((argument, list), min) in names.into_iter().zip([&self.block, &self.begin, &self.end]).zip([1, 0, 0]) {
            if list.len() != rank {
                return Err(Error::ArgumentLengthMismatch { op, argument, len: list.len(), rank });
            }
            // The first entry belongs to the batch, which has neither a block nor crops or pads.
            let max = |dim: usize| if dim == 0 { min } else { i64::MAX };
            if let Some(dim) = (0..rank).find(|&dim| list[dim] < min || list[dim] > max(dim)) {
                let (value, max) = (list[dim], max(dim));
                return Err(Error::ArgumentOutOfRange { op, argument, dim, value, min, max });
            }
        }
        let product = self.block.iter().try_fold(1u128, |product, &block| {
            product.checked_mul(block as u128).filter(|&product| product <= usize::MAX as u128)
        });
        Ok(product.map(|product| product as usize))
    }

    /// The lists for the oracle.
    fn sizes(&self) -> [Vec<usize>; 3] {
        [&self.block, &self.begin, &self.end].map(|list| list.iter().map(|&entry| entry as usize).collect())
    }

    /// Makes an operator from parameter tensors, of a type in which their values fit.
    fn by_tensors<O>(&self, word: WordKind, make: impl Fn(&[DynView<'_>; 3]) -> O) -> O {
        let Parameters { block, begin, end } = self;
        let all = || block.iter().chain(begin).chain(end).map(|&entry| i128::from(entry));
        let fits = all().all(|entry| word.wrap(entry) == entry);
        let word = if fits { word } else { WordKind::I64 };
        with_word!(word, I => {
            let list = |entries: &[i64]| entries.iter().map(|&entry| entry as I).collect::<Vec<I>>();
            let (block, begin, end) = (list(block), list(begin), list(end));
            let view = |list| View::new(list, &[list.len()]).expect("a list has its length");
            let (block, begin, end) = (view(&block), view(&begin), view(&end));
            make(&[DynView::from(&block), DynView::from(&begin), DynView::from(&end)])
        })
    }
}

/// A size that fits.
fn fitting(size: i128) -> Option<usize> {
    usize::try_from(size).ok()
}

impl Model for ToSpace {
    type Attributes = BatchToSpaceAttributes;

    fn operator(&self) -> BatchToSpace {
        BatchToSpace::new(&self.0.block, &self.0.begin, &self.0.end)
    }

    fn others(&self, word: WordKind) -> Vec<Other<BatchToSpaceAttributes>> {
        let from_tensors = |[block, begin, end]: &[DynView<'_>; 3]| BatchToSpace::from_tensors(block, begin, end);
        let mut others = vec![("from_tensors", self.0.by_tensors(word, from_tensors))];
        let pairs = self.0.behind_batch();
        others.extend(pairs.map(|(block, crops)| ("tensorflow", Ok(BatchToSpace::tensorflow(block, &crops)))));
        others
    }

    fn shape(&self, data: &[usize]) -> Shaped {
        let names = [Argument::BlockShape, Argument::CropsBegin, Argument::CropsEnd];
        let product = self.0.check(Op::BatchToSpace, data.len(), names)?;
        let batch = data[0];
        let Some(divisor) = product.filter(|&product| batch.is_multiple_of(product)) else {
            return Err(Error::BatchNotDivisible { batch, product });
        };
        let mut shape = vec![batch / divisor];
        for (dim, &len) in data.iter().enumerate().skip(1) {
            let (begin, end) = (self.0.begin[dim], self.0.end[dim]);
            let size = fitting(len as i128 * i128::from(self.0.block[dim]));
            let left = size.and_then(|size| fitting(size as i128 - i128::from(begin) - i128::from(end)));
            shape.push(left.ok_or(Error::CropsTooLarge { dim, begin, end, size })?);
        }
        Ok(shape)
    }

    fn values(&self, data: &Dense<Option<usize>>) -> Dense<Option<usize>> {
        let [block, begin, end] = self.0.sizes();
        oracle::batch_to_space(data, &block, &begin, &end)
    }

    fn cloned(&self, data: &View<'_, Option<Box<usize>>>) -> std::result::Result<Tensor<Option<Box<usize>>>, Error> {
        self.operator().run_cloned(data)
    }
}

impl Model for ToBatch {
    type Attributes = SpaceToBatchAttributes;

    fn operator(&self) -> SpaceToBatch {
        SpaceToBatch::new(&self.0.block, &self.0.begin, &self.0.end)
    }

    fn others(&self, word: WordKind) -> Vec<Other<SpaceToBatchAttributes>> {
        let from_tensors = |[block, begin, end]: &[DynView<'_>; 3]| SpaceToBatch::from_tensors(block, begin, end);
        let mut others = vec![("from_tensors", self.0.by_tensors(word, from_tensors))];
        let pairs = self.0.behind_batch();
        others.extend(pairs.map(|(block, pads)| ("tensorflow", Ok(SpaceToBatch::tensorflow(block, &pads)))));
        others
    }

    fn shape(&self, data: &[usize]) -> Shaped {
        let (op, names) = (Op::SpaceToBatch, [Argument::BlockShape, Argument::PadsBegin, Argument::PadsEnd]);
        let blocks = self.0.check(op, data.len(), names)?;
        let mut shape = vec![0];
        for (dim, &len) in data.iter().enumerate().skip(1) {
            let (block, begin, end) = (self.0.block[dim], self.0.begin[dim], self.0.end[dim]);
            let size = fitting(len as i128 + i128::from(begin) + i128::from(end));
            match size {
                Some(size) if (size as u128).is_multiple_of(block as u128) => {
                    shape.push((size as u128 / block as u128) as usize)
                }
                size => return Err(Error::SpaceNotDivisible { op, dim, size, block }),
            }
        }
        let batch = blocks.and_then(|blocks| fitting(data[0] as i128 * blocks as i128));
        shape[0] = batch.ok_or(Error::DimensionTooLarge { op, dim: 0, size: data[0], blocks })?;
        Ok(shape)
    }

    fn values(&self, data: &Dense<Option<usize>>) -> Dense<Option<usize>> {
        let [block, begin, end] = self.0.sizes();
        oracle::space_to_batch(data, &block, &begin, &end, &None)
    }

    fn cloned(&self, data: &View<'_, Option<Box<usize>>>) -> std::result::Result<Tensor<Option<Box<usize>>>, Error> {
        let cloned = self.operator().run_cloned(data);
        assert_eq!(self.operator().run_cloned_or(data, &None), cloned);
        cloned
    }
}
