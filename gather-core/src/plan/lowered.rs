//! Operators whose attributes have been checked against shapes: loops over the output, not folded yet. Strides in
//! elements.

#![forbid(unsafe_code)]

use core::cmp::Ordering;

use smallvec::SmallVec;

use crate::kernels::{BlockLoop, Step};
use crate::tensor::layout::Shape;
use crate::types::method::Method;
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

impl Axis {
    /// Of tuples without components: one position, along which data does not move.
    pub(crate) const STAND_IN: Self = Axis { axis: usize::MAX, dim: 1, data: 0, index: 0 };

    /// Whether data has the axis.
    pub(crate) fn is_of_data(&self) -> bool {
        self.axis != usize::MAX
    }
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

/// One dimension of an operator that rearranges space: of the tensor that is whole, which is the output where streams
/// are interleaved, and data where they are taken apart. The other tensor, in blocks, has as many dimensions.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BlockDim {
    /// Elements that are moved.
    pub(crate) n: usize,
    pub(crate) block: usize,
    /// Where the first of them lies in the blocks: what is cropped or padded before it.
    pub(crate) begin: usize,
    /// Elements that are moved or padded; `n` where nothing is.
    pub(crate) padded: usize,
    /// Coordinates from one block to the next, along the same dimension of the tensor in blocks.
    pub(crate) period: usize,
    /// Coordinates from one place in a block to the next, along the dimension that holds them.
    pub(crate) step: usize,
}

impl BlockDim {
    /// A dimension of `n` elements that has no blocks.
    pub(crate) fn plain(n: usize) -> Self {
        BlockDim { n, block: 1, begin: 0, padded: n, period: 1, step: 0 }
    }
}

/// An operator that rearranges space.
#[derive(Clone, Debug)]
pub struct SpaceLowered {
    pub(crate) op: Op,
    pub(crate) output: Shape,
    pub(crate) dims: SmallVec<[BlockDim; 6]>,
    /// The dimension of the tensor in blocks that holds the places in a block: its batch or its depth.
    pub(crate) holder: usize,
}

impl SpaceLowered {
    /// `Interleaved` where the output is whole, `Deinterleaved` where data is.
    pub(crate) fn method(&self) -> Method {
        match self.op {
            Op::SpaceToBatch | Op::SpaceToDepth => Method::Deinterleaved,
            _ => Method::Interleaved,
        }
    }

    /// Whether the output has elements that are no elements of data.
    pub(crate) fn pads(&self) -> bool {
        self.dims.iter().any(|dim| dim.padded != dim.n)
    }

    /// The coordinate of data that a coordinate of the output comes from, where data is whole; outside of data where
    /// the output is padded.
    pub(crate) fn source(&self, at: &[usize]) -> SmallVec<[usize; 6]> {
        let places = at[self.holder];
        let coordinate = |(k, dim): (usize, &BlockDim)| match dim.block {
            1 if k == self.holder => places / dim.period % dim.n,
            1 => at[k].wrapping_sub(dim.begin),
            block => (at[k] * block + places / dim.step % block).wrapping_sub(dim.begin),
        };
        self.dims.iter().enumerate().map(coordinate).collect()
    }

    /// The loops, with strides in elements, and the steps to their first element.
    pub(crate) fn loops<'a>(&'a self, data: &'a [isize], out: &'a [isize]) -> (impl Iterator<Item = BlockLoop>, Step) {
        self.loops_over(self.dims.iter().map(|dim| (dim.n, dim.begin)), data, out)
    }

    /// As [`SpaceLowered::loops`], over what is padded: for each dimension, and for each of its ends, the elements
    /// beyond it that lie within those moved in all dimensions before.
    ///
    /// Padding may be filled in any order, so loops over whole blocks become plain ones. Data is not read. Its steps
    /// are those of the output, so that they keep no loops from folding.
    pub(crate) fn loops_of_pads(
        &self,
        out: &[isize],
    ) -> impl Iterator<Item = (smallvec::IntoIter<[BlockLoop; 6]>, Step)> {
        let ends = |at: usize| {
            let BlockDim { n, begin, padded, .. } = self.dims[at];
            [(at, begin, 0), (at, padded - n - begin, begin + n)]
        };
        let pads = (0..self.dims.len()).filter(|&at| self.dims[at].padded != self.dims[at].n).flat_map(ends);
        pads.filter(|&(_, n, _)| n != 0).map(move |(at, n, begin)| {
            let range = |(k, dim): (usize, &BlockDim)| match k.cmp(&at) {
                Ordering::Less => (dim.n, dim.begin),
                Ordering::Equal => (n, begin),
                Ordering::Greater => (dim.padded, 0),
            };
            let (loops, origin) = self.loops_over(self.dims.iter().enumerate().map(range), out, out);
            let unread = |step: Step| Step { data: step.out, ..step };
            let loops = loops.flat_map(|along| along.apart());
            let loops = loops.map(|l| BlockLoop { step: unread(l.step), wrap: unread(l.wrap), ..l });
            // In a list, which has no lifetimes: few operators pad.
            (loops.collect::<SmallVec<_>>().into_iter(), origin)
        })
    }

    /// Loops over ranges of the dimensions: of how many elements, and where the first lies in the blocks. Strides of
    /// layouts over no slice may wrap.
    fn loops_over<'a>(
        &'a self,
        ranges: impl Iterator<Item = (usize, usize)> + Clone,
        data: &'a [isize],
        out: &'a [isize],
    ) -> (impl Iterator<Item = BlockLoop>, Step) {
        let blocks_are_data = self.method() == Method::Interleaved;
        let (whole, blocks) = if blocks_are_data { (out, data) } else { (data, out) };
        // A step of the whole tensor and one of that in blocks.
        let both = move |whole: isize, blocks: isize| {
            if blocks_are_data { Step { out: whole, data: blocks } } else { Step { out: blocks, data: whole } }
        };
        // From one block to the next, and from one place in a block to the next.
        let steps = move |k: usize, dim: &BlockDim| {
            (blocks[k].wrapping_mul(dim.period as isize), blocks[self.holder].wrapping_mul(dim.step as isize))
        };
        let dims = self.dims.iter().zip(ranges).enumerate();
        let origin = dims.clone().fold(Step::NONE, |origin, (k, (dim, (_, begin)))| {
            let (period, step) = steps(k, dim);
            let (first, phase) = ((begin / dim.block) as isize, (begin % dim.block) as isize);
            origin.and(both(0, period).times(first)).and(both(0, step).times(phase))
        });
        let loops = dims.map(move |(k, (dim, (n, begin)))| {
            let (period, step) = steps(k, dim);
            let wrap = period.wrapping_sub(step.wrapping_mul(dim.block as isize - 1));
            let (step, wrap) = (both(whole[k], step), both(whole[k], wrap));
            BlockLoop { n, block: dim.block, phase: begin % dim.block, step, wrap }
        });
        (loops, origin)
    }
}
