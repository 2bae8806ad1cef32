//! Cases of GatherNd.

use arbitrary::{Result, Unstructured};
use gather_core::{Argument, Error, GatherNd, Op};

use super::gather::batches;
use super::index::Model;
use super::index_op::IndexOp;
use super::{MOST_DATA, MOST_OUT, Outcome, draw, index};
use crate::oracle::{self, BadIndex, Dense, Rules};
use crate::policies;

#[derive(Debug)]
pub(super) struct Attributes {
    pub(super) batch_dims: i64,
    /// Whether tuples must have at least one component.
    pub(super) components: bool,
    /// Whether batch dimensions are merged into one.
    pub(super) flatten: bool,
}

impl Attributes {
    fn draw(u: &mut Unstructured<'_>, most: i64) -> Result<Self> {
        let batch_dims = if u.arbitrary()? { draw::attribute(u, 0, most)? } else { 0 };
        let flatten = draw::one_in(u, 6)?;
        Ok(Attributes { batch_dims, flatten, components: flatten || draw::one_in(u, 6)? })
    }

    /// Draws attributes, and shapes of data and indices that mostly fit them.
    pub(super) fn with_shapes(u: &mut Unstructured<'_>) -> Result<(Self, Vec<usize>, Vec<usize>)> {
        let rank = draw::rank(u)?;
        let data = draw::dims(u, rank, MOST_DATA)?;
        let outer = draw::rank(u)?;
        let model = Attributes::draw(u, outer.min(rank) as i64)?;
        let batch = model.batch().min(outer.min(rank));
        let tuple = u.int_in_range(0..=rank - batch)?;
        let taken: usize = data[..batch].iter().chain(&data[batch + tuple..]).map(|&dim| dim.max(1)).product();
        let own = draw::dims(u, outer - batch, MOST_OUT / taken.max(1))?;
        let tuple = tuple + usize::from(draw::one_in(u, 60)?);
        let mut indices = [&data[..batch], &own, &[tuple]].concat();
        if batch > 0 && draw::one_in(u, 24)? {
            indices[batch - 1] += 1;
        }
        if draw::one_in(u, 60)? {
            indices.clear();
        }
        Ok((model, data, indices))
    }

    fn batch(&self) -> usize {
        usize::try_from(self.batch_dims).unwrap_or(0)
    }
}

/// Runs GatherNd through every door and compares with the oracle.
///
/// # Errors
/// When there are not enough bytes for a case.
pub fn gather_nd(u: &mut Unstructured<'_>) -> Result<Outcome> {
    if draw::one_in(u, 8)? {
        let model = Attributes::draw(u, 3)?;
        return index::infer(u, &model);
    }
    let (model, data, indices) = Attributes::with_shapes(u)?;
    index::run(u, &model, &data, &indices)
}

impl Model for Attributes {
    fn operator(&self) -> IndexOp {
        match (self.flatten, self.components) {
            (true, _) => GatherNd::openvino5(self.batch_dims).into(),
            (_, true) => GatherNd::onnx13(self.batch_dims).into(),
            _ => GatherNd::new().batch_dims(self.batch_dims).into(),
        }
    }

    fn axis(&self, _: &[usize], indices: &[usize]) -> Option<usize> {
        (indices.last() == Some(&1)).then(|| self.batch())
    }

    fn shape(&self, data: &[usize], indices: &[usize]) -> std::result::Result<Vec<usize>, Error> {
        let op = Op::GatherNd;
        let Some((&len, outer)) = indices.split_last() else {
            return Err(Error::RankOutOfRange { op, argument: Argument::Indices, rank: 0, min: 1, max: usize::MAX });
        };
        let max = outer.len().min(data.len());
        if !(0..=max as i64).contains(&self.batch_dims) {
            return Err(Error::BatchDimsOutOfRange { op, batch_dims: self.batch_dims, min: 0, max: max as i64 });
        }
        let batch = self.batch();
        batches(op, batch, data, outer)?;
        let (least, most) = (usize::from(self.components), data.len() - batch);
        if !(least..=most).contains(&len) {
            return Err(Error::TupleLengthOutOfRange { op, len, min: least, max: most });
        }
        Ok(self.flattened([outer, &data[batch + len..]].concat()))
    }

    fn dim(&self, data: &[usize], last: usize) -> usize {
        data.get(self.batch() + last).copied().unwrap_or(1)
    }

    fn values(
        &self,
        data: &Dense<Option<usize>>,
        indices: &Dense<i128>,
        rules: Rules,
    ) -> std::result::Result<Dense<Option<usize>>, Error> {
        let batch = self.batch();
        let found = oracle::gather_nd(data, indices, batch, rules, &None);
        let found = found.map_err(|BadIndex { position, index }| {
            let axis = batch + position % indices.shape[indices.shape.len() - 1];
            let (dim, negative) = (data.shape[axis], policies::negative(rules));
            Error::IndexOutOfRange { op: Op::GatherNd, position, index, axis, dim, negative }
        })?;
        Ok(Dense { shape: self.flattened(found.shape), values: found.values })
    }
}

impl Attributes {
    fn flattened(&self, shape: Vec<usize>) -> Vec<usize> {
        let batch = self.batch();
        if !self.flatten || batch < 2 {
            return shape;
        }
        [&[shape[..batch].iter().product()], &shape[batch..]].concat()
    }
}
