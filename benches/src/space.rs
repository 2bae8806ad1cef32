//! BatchToSpace in the steps of its definition, for libraries that lack the operator but can reshape and transpose.

use std::ops::Range;

use crate::workloads::{Kind, Workload};

/// Shapes and axes of the steps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Steps {
    /// Step 1: data reshaped so that every block has a dimension of its own, before the batch.
    pub split: Vec<usize>,
    /// Step 2: the transpose that puts every block after the dimension that it refines.
    pub order: Vec<usize>,
    /// Step 3: blocks merged into their dimensions, with nothing cropped yet. Here the data must be copied.
    pub merged: Vec<usize>,
    /// Step 4: the part of each dimension that is kept. Unless that is all of it, a second copy.
    pub kept: Vec<Range<usize>>,
}

impl Steps {
    /// The steps of a workload; `None` if its operator is another one.
    #[must_use]
    pub fn new(workload: &Workload) -> Option<Self> {
        let Kind::BatchToSpace { block, begin, end } = workload.kind else { return None };
        let shape = workload.shape;
        let block = block.map(|size| size as usize);
        let batch = shape[0] / block.iter().product::<usize>();
        let blocks = block.len() - 1;
        let split = [&block[1..], &[batch], &shape[1..]].concat();
        let pairs = (0..blocks).flat_map(|k| [blocks + 1 + k, k]);
        let order = std::iter::once(blocks).chain(pairs).collect();
        let grown = shape.iter().zip(&block).map(|(dim, size)| dim * size);
        let merged: Vec<usize> = std::iter::once(batch).chain(grown.skip(1)).collect();
        let crops = begin.iter().zip(&end);
        let kept = crops.zip(&merged).map(|((&begin, &end), dim)| begin as usize..dim - end as usize).collect();
        Some(Steps { split, order, merged, kept })
    }

    /// Whether anything is cropped.
    #[must_use]
    pub fn crops(&self) -> bool {
        self.kept.iter().zip(&self.merged).any(|(kept, &dim)| kept.len() != dim)
    }
}
