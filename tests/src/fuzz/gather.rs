//! Cases of Gather.

use arbitrary::{Result, Unstructured};
use gather_core::{Error, Gather, Op};

use super::index::Model;
use super::index_op::IndexOp;
use super::{MOST_DATA, MOST_OUT, Outcome, draw, index};
use crate::oracle::{self, BadIndex, Dense, Rules};
use crate::policies;

#[derive(Debug)]
pub(super) struct Attributes {
    axis: i64,
    batch_dims: i64,
}

/// Runs Gather through every door and compares with the oracle.
///
/// # Errors
/// When there are not enough bytes for a case.
pub fn gather(u: &mut Unstructured<'_>) -> Result<Outcome> {
    if draw::one_in(u, 8)? {
        let model = Attributes { axis: draw::attribute(u, -3, 3)?, batch_dims: draw::attribute(u, -2, 3)? };
        return index::infer(u, &model);
    }
    let (model, data, indices) = Attributes::with_shapes(u)?;
    index::run(u, &model, &data, &indices)
}

impl Attributes {
    /// Draws attributes, and shapes of data and indices that mostly fit them.
    pub(super) fn with_shapes(u: &mut Unstructured<'_>) -> Result<(Self, Vec<usize>, Vec<usize>)> {
        let rank = draw::rank(u)?;
        let data = draw::dims(u, rank, MOST_DATA)?;
        let axis = draw::attribute(u, -(rank as i64), rank as i64 - 1)?;
        let index_rank = draw::rank(u)?;
        // Mostly none.
        let batch_dims = if u.arbitrary()? { draw::attribute(u, -(index_rank as i64), index_rank as i64)? } else { 0 };
        let model = Attributes { axis, batch_dims };

        let axis = model.axis_of(rank).unwrap_or(0);
        let batch = model.batch(axis, index_rank).unwrap_or(0);
        let taken: usize = data.iter().enumerate().filter(|&(at, _)| at != axis).map(|(_, &dim)| dim.max(1)).product();
        let own = draw::dims(u, index_rank - batch, MOST_OUT / taken.max(1))?;
        let mut indices = [&data[..batch], &own].concat();
        if batch > 0 && draw::one_in(u, 24)? {
            indices[batch - 1] += 1;
        }
        Ok((model, data, indices))
    }

    fn axis_of(&self, rank: usize) -> std::result::Result<usize, Error> {
        normal(self.axis, rank).ok_or(Error::AxisOutOfRange { op: Op::Gather, axis: self.axis, rank })
    }

    fn batch(&self, axis: usize, index_rank: usize) -> std::result::Result<usize, Error> {
        let given = self.batch_dims;
        let max = axis.min(index_rank);
        // `batch_dims` may be the rank of indices.
        let batch = if given == index_rank as i64 { Some(index_rank) } else { normal(given, index_rank) };
        let error = Error::BatchDimsOutOfRange {
            op: Op::Gather,
            batch_dims: given,
            min: -(index_rank as i64),
            max: max as i64,
        };
        batch.filter(|&batch| batch <= max).ok_or(error)
    }
}

/// A position that may count from the end.
pub(super) fn normal(given: i64, len: usize) -> Option<usize> {
    let given = i128::from(given);
    let from_front = if given < 0 { given + len as i128 } else { given };
    usize::try_from(from_front).ok().filter(|&at| at < len)
}

/// The first leading dimension in which two shapes differ.
pub(super) fn batches(op: Op, batch: usize, data: &[usize], indices: &[usize]) -> std::result::Result<(), Error> {
    match (0..batch).find(|&dim| data[dim] != indices[dim]) {
        Some(dim) => Err(Error::BatchMismatch { op, dim, data: data[dim], indices: indices[dim] }),
        None => Ok(()),
    }
}

impl Model for Attributes {
    fn operator(&self) -> IndexOp {
        Gather::new(self.axis).batch_dims(self.batch_dims).into()
    }

    fn axis(&self, data: &[usize], _: &[usize]) -> Option<usize> {
        self.axis_of(data.len()).ok()
    }

    fn shape(&self, data: &[usize], indices: &[usize]) -> std::result::Result<Vec<usize>, Error> {
        let axis = self.axis_of(data.len())?;
        let batch = self.batch(axis, indices.len())?;
        batches(Op::Gather, batch, data, indices)?;
        Ok([&data[..axis], &indices[batch..], &data[axis + 1..]].concat())
    }

    fn dim(&self, data: &[usize], _: usize) -> usize {
        self.axis_of(data.len()).map_or(1, |axis| data[axis])
    }

    fn values(
        &self,
        data: &Dense<Option<usize>>,
        indices: &Dense<i128>,
        rules: Rules,
    ) -> std::result::Result<Dense<Option<usize>>, Error> {
        let axis = self.axis_of(data.shape.len())?;
        let batch = self.batch(axis, indices.shape.len())?;
        oracle::gather(data, indices, axis, batch, rules, &None).map_err(|BadIndex { position, index }| {
            let (dim, negative) = (data.shape[axis], policies::negative(rules));
            Error::IndexOutOfRange { op: Op::Gather, position, index, axis, dim, negative }
        })
    }
}
