//! The parameters of BatchToSpace and SpaceToBatch: a block, and crops or pads, for each dimension.

use core::ops::Index;

use smallvec::SmallVec;

use crate::tensor::dynamic::DynView;
use crate::types::error::Error;
use crate::types::index::IndexType;
use crate::types::op::{Argument, Op};

type Entries = SmallVec<[i64; 6]>;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Blocks {
    pub(super) block: Entries,
    pub(super) begin: Entries,
    pub(super) end: Entries,
    /// Whether dimensions beyond the entries have blocks of 1 and neither crops nor pads.
    completes: bool,
}

/// The given entries of a parameter, and the value for all dimensions beyond them.
pub(super) struct Completed<'a> {
    /// `given.len() <= data.rank()`.
    pub(super) given: &'a [i64],
    beyond: i64,
}

impl Index<usize> for Completed<'_> {
    type Output = i64;

    #[inline]
    fn index(&self, dim: usize) -> &i64 {
        self.given.get(dim).unwrap_or(&self.beyond)
    }
}

impl Blocks {
    pub(super) fn new(block: &[i64], begin: &[i64], end: &[i64]) -> Self {
        let [block, begin, end] = [block, begin, end].map(Entries::from_slice);
        Blocks { block, begin, end, completes: false }
    }

    /// Blocks, and pairs of begin and end, of the dimensions after the batch.
    pub(super) fn behind_batch(block: &[i64], ends: &[[i64; 2]]) -> Self {
        let behind_batch =
            |batch: i64, entries: &mut dyn Iterator<Item = i64>| core::iter::once(batch).chain(entries).collect();
        Blocks {
            block: behind_batch(1, &mut block.iter().copied()),
            begin: behind_batch(0, &mut ends.iter().map(|&[begin, _]| begin)),
            end: behind_batch(0, &mut ends.iter().map(|&[_, end]| end)),
            completes: true,
        }
    }

    pub(super) fn from_tensors(op: Op, names: [Argument; 3], tensors: [&DynView<'_>; 3]) -> Result<Self, Error> {
        let list = |at: usize| integers(op, names[at], tensors[at]);
        Ok(Blocks { block: list(0)?, begin: list(1)?, end: list(2)?, completes: false })
    }

    /// Checks the rank of data, and that each parameter has one entry for each dimension of data.
    pub(super) fn check(&self, op: Op, names: [Argument; 3], rank: usize) -> Result<[Completed<'_>; 3], Error> {
        if rank < 2 {
            return Err(Error::RankOutOfRange { op, argument: Argument::Data, rank, min: 2, max: usize::MAX });
        }
        let [block, begin, end] = names;
        Ok([
            self.entries(op, block, &self.block, rank, 1)?,
            self.entries(op, begin, &self.begin, rank, 0)?,
            self.entries(op, end, &self.end, rank, 0)?,
        ])
    }

    /// The entries of a parameter: each at least `min`, the first exactly `min`.
    fn entries<'a>(
        &self,
        op: Op,
        argument: Argument,
        given: &'a [i64],
        rank: usize,
        min: i64,
    ) -> Result<Completed<'a>, Error> {
        // If the lengths differ, one of the parameters fits no rank.
        let agree = self.begin.len() == self.block.len() && self.end.len() == self.block.len();
        let completes = self.completes && agree && given.len() < rank;
        if given.len() != rank && !completes {
            return Err(Error::ArgumentLengthMismatch { op, argument, len: given.len(), rank });
        }
        for (dim, &value) in given.iter().enumerate() {
            let max = if dim == 0 { min } else { i64::MAX };
            if !(min..=max).contains(&value) {
                return Err(Error::ArgumentOutOfRange { op, argument, dim, value, min, max });
            }
        }
        Ok(Completed { given, beyond: min })
    }
}

/// The product of blocks; `None` if it exceeds `usize`.
pub(super) fn product(blocks: &[i64]) -> Option<usize> {
    blocks.iter().try_fold(1usize, |product, &block| product.checked_mul(usize::try_from(block).ok()?))
}

fn integers(op: Op, argument: Argument, tensor: &DynView<'_>) -> Result<Entries, Error> {
    let dtype = tensor.dtype();
    let read = IndexType::from_dtype(dtype).ok_or(Error::NotAnIndexType { dtype })?.reader();
    let &[len] = tensor.shape() else {
        return Err(Error::RankOutOfRange { op, argument, rank: tensor.shape().len(), min: 1, max: 1 });
    };
    // The stride of a tensor of one element may have any value, so the product may wrap; it is never used.
    let stride = tensor.layout().strides()[0].wrapping_mul(dtype.size() as isize);
    let value = |at: usize| {
        // SAFETY: V1: `at < len` is a coordinate of the tensor, and `read` is the reader of its data type.
        let value = unsafe { read(tensor.origin().wrapping_offset(stride.wrapping_mul(at as isize))) };
        value.clamp(i64::MIN.into(), i64::MAX.into()) as i64
    };
    let mut values = SmallVec::new();
    // A tensor of stride 0 may have more elements than memory can hold.
    values.try_reserve(len).map_err(|_| Error::AllocationFailed { bytes: len.saturating_mul(size_of::<i64>()) })?;
    values.extend((0..len).map(value));
    Ok(values)
}
