//! Cases of GatherElements.

use arbitrary::{Result, Unstructured};
use gather_core::{Argument, Error, GatherElements, Op};

use super::gather::normal;
use super::index::Model;
use super::index_op::IndexOp;
use super::{MOST_DATA, MOST_OUT, Outcome, draw, index};
use crate::oracle::{self, BadIndex, Dense, Rules};
use crate::policies;

#[derive(Debug)]
pub(super) struct Attributes {
    pub(super) axis: i64,
    /// Whether shapes must be equal off the axis.
    pub(super) equal: bool,
}

/// Runs GatherElements through every door and compares with the oracle.
///
/// # Errors
/// When there are not enough bytes for a case.
pub fn gather_elements(u: &mut Unstructured<'_>) -> Result<Outcome> {
    if draw::one_in(u, 8)? {
        let model = Attributes { axis: draw::attribute(u, -3, 3)?, equal: u.arbitrary()? };
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
        let model = Attributes { axis, equal: draw::one_in(u, 6)? };
        let mut indices = data.clone();
        let (mut room, trimmed) = (MOST_OUT, u.arbitrary()?);
        for (at, dim) in indices.iter_mut().enumerate() {
            let on_axis = normal(axis, rank) == Some(at);
            // Off the axis, indices are no larger than data, except by a deliberate mistake.
            let most = if on_axis { draw::dims(u, 1, room)?[0] } else { *dim + usize::from(draw::one_in(u, 60)?) };
            *dim = if trimmed && !on_axis { u.int_in_range(0..=most)? } else { most }.min(room.max(1));
            room /= (*dim).max(1);
        }
        if draw::one_in(u, 60)? {
            indices.push(1);
        }
        Ok((model, data, indices))
    }
}

impl Model for Attributes {
    fn operator(&self) -> IndexOp {
        if self.equal { GatherElements::openvino6(self.axis).into() } else { GatherElements::new(self.axis).into() }
    }

    fn axis(&self, data: &[usize], _: &[usize]) -> Option<usize> {
        normal(self.axis, data.len())
    }

    fn shape(&self, data: &[usize], indices: &[usize]) -> std::result::Result<Vec<usize>, Error> {
        let (op, rank) = (Op::GatherElements, data.len());
        if rank == 0 {
            return Err(Error::RankOutOfRange { op, argument: Argument::Data, rank, min: 1, max: usize::MAX });
        }
        if indices.len() != rank {
            return Err(Error::RankOutOfRange {
                op,
                argument: Argument::Indices,
                rank: indices.len(),
                min: rank,
                max: rank,
            });
        }
        let axis = normal(self.axis, rank).ok_or(Error::AxisOutOfRange { op, axis: self.axis, rank })?;
        let fits = |dim: usize| if self.equal { indices[dim] == data[dim] } else { indices[dim] <= data[dim] };
        match (0..rank).find(|&dim| dim != axis && !fits(dim)) {
            Some(dim) => Err(Error::IndicesShapeMismatch { op, dim, indices: indices[dim], data: data[dim] }),
            None => Ok(indices.to_vec()),
        }
    }

    fn dim(&self, data: &[usize], _: usize) -> usize {
        normal(self.axis, data.len()).map_or(1, |axis| data[axis])
    }

    fn values(
        &self,
        data: &Dense<Option<usize>>,
        indices: &Dense<i128>,
        rules: Rules,
    ) -> std::result::Result<Dense<Option<usize>>, Error> {
        let axis = normal(self.axis, data.shape.len()).expect("shapes fit");
        oracle::gather_elements(data, indices, axis, rules, &None).map_err(|BadIndex { position, index }| {
            let (dim, negative) = (data.shape[axis], policies::negative(rules));
            Error::IndexOutOfRange { op: Op::GatherElements, position, index, axis, dim, negative }
        })
    }
}
