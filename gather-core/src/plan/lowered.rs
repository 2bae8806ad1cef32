//! Operators whose attributes have been checked against shapes: loops over the output, not folded yet. Strides in
//! elements.

#![forbid(unsafe_code)]

use smallvec::SmallVec;

use crate::tensor::layout::Shape;
use crate::types::op::Op;

/// One output dimension of an operator on indices.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Dim {
    pub(crate) n: usize,
    pub(crate) data: isize,
    pub(crate) index: isize,
}

/// One component of an index: the axis of data that it runs along.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Axis {
    /// Position of the axis in data.
    pub(crate) axis: usize,
    pub(crate) dim: usize,
    pub(crate) data: isize,
    /// From the first component of a tuple to this one.
    pub(crate) index: isize,
}

/// An operator on indices.
#[derive(Clone, Debug)]
pub struct IndexLowered {
    pub(crate) op: Op,
    pub(crate) output: Shape,
    /// One loop a dimension of the output, in its order; the first `merged` make up one dimension together.
    pub(crate) dims: SmallVec<[Dim; 6]>,
    pub(crate) merged: usize,
    /// Empty for tuples without components, which read no index.
    pub(crate) axes: SmallVec<[Axis; 3]>,
}

impl IndexLowered {
    #[inline(always)]
    pub(crate) fn new(op: Op) -> Self {
        IndexLowered { op, output: Shape::default(), dims: SmallVec::new(), merged: 1, axes: SmallVec::new() }
    }

    /// Adds a dimension to the output.
    #[inline]
    pub(crate) fn push(&mut self, n: usize, data: isize, index: isize) {
        self.output.push(n);
        self.dims.push(Dim { n, data, index });
    }

    /// Makes the first `count` dimensions come out as one.
    pub(crate) fn merge_leading(&mut self, count: usize) {
        if count > 1 {
            let merged = self.output[..count].iter().product();
            let rest: SmallVec<[usize; 6]> = self.output[count..].iter().copied().collect();
            self.output = Shape::from([merged]);
            self.output.extend(&rest);
            self.merged = count;
        }
    }
}

/// One output dimension of BatchToSpace.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BlockDim {
    pub(crate) n: usize,
    pub(crate) block: usize,
    pub(crate) phase: usize,
    /// Data from one phase to the next.
    pub(crate) step: isize,
    /// Data from a phase to the same one of the next coordinate.
    pub(crate) period: isize,
}

impl BlockDim {
    /// Data from the last phase to the first of the next coordinate.
    pub(crate) fn wrap(&self) -> isize {
        self.period.wrapping_sub(self.step.wrapping_mul(self.block as isize - 1))
    }
}

/// BatchToSpace.
#[derive(Clone, Debug)]
pub struct SpaceLowered {
    pub(crate) op: Op,
    pub(crate) output: Shape,
    pub(crate) dims: SmallVec<[BlockDim; 6]>,
    /// Element of data that the first element of the output comes from.
    pub(crate) origin: isize,
}
