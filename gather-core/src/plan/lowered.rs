//! Operators after the check of attributes against shapes: unfolded loops over the output. Strides are in elements.

#![forbid(unsafe_code)]

use core::cmp::Ordering;

use smallvec::SmallVec;

use crate::kernels::{BlockLoop, Step};
use crate::plan::fold::{BlockLoops, push_block, take_row};
use crate::tensor::layout::Shape;
use crate::types::method::Method;
use crate::types::op::Op;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Dim {
    pub(crate) n: usize,
    pub(crate) data: isize,
    pub(crate) index: isize,
}

/// A component of an index, which names a position along one axis of data.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Axis {
    /// Position of the axis in data.
    pub(crate) axis: usize,
    pub(crate) dim: usize,
    pub(crate) data: isize,
    /// Stride from the first component of a tuple to this one.
    pub(crate) index: isize,
}

impl Axis {
    /// The axis of tuples without components: one position, along which data does not move.
    pub(crate) const STAND_IN: Self = Axis { axis: usize::MAX, dim: 1, data: 0, index: 0 };

    pub(crate) fn is_of_data(&self) -> bool {
        self.axis != usize::MAX
    }
}

#[derive(Clone, Debug)]
pub struct IndexLowered {
    pub(crate) op: Op,
    pub(crate) output: Shape,
    /// The loops over the output, in the order of its dimensions: the first `merged` loops form one dimension together.
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

    #[inline]
    pub(crate) fn push(&mut self, n: usize, data: isize, index: isize) {
        self.output.push(n);
        self.dims.push(Dim { n, data, index });
    }

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

/// A dimension of an operator that rearranges space, of its whole tensor: the output if blocks are interleaved, data
/// if they are deinterleaved. The other tensor, in blocks, has the same rank.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BlockDim {
    /// Elements to move.
    pub(crate) n: usize,
    pub(crate) block: usize,
    /// Position of the first element in the blocks, after cropping or padding.
    pub(crate) begin: usize,
    /// Elements to move or pad; `n` without padding.
    pub(crate) padded: usize,
    /// Coordinates between blocks, along the same dimension of the tensor in blocks.
    pub(crate) period: usize,
    /// Coordinates between adjacent positions in a block, along the holder dimension.
    pub(crate) step: usize,
}

impl BlockDim {
    /// A dimension of `n` elements without blocks.
    pub(crate) fn plain(n: usize) -> Self {
        BlockDim { n, block: 1, begin: 0, padded: n, period: 1, step: 0 }
    }
}

#[derive(Clone, Debug)]
pub struct SpaceLowered {
    pub(crate) op: Op,
    pub(crate) output: Shape,
    pub(crate) len: usize,
    pub(crate) dims: SmallVec<[BlockDim; 6]>,
    /// The dimension of the tensor in blocks that holds the positions in a block: its batch or its depth.
    pub(crate) holder: usize,
}

impl SpaceLowered {
    /// An operator without dimensions: attributes add them in place.
    pub(crate) fn new(op: Op) -> Self {
        SpaceLowered { op, output: Shape::default(), len: 0, dims: SmallVec::new(), holder: 0 }
    }

    /// `Interleaved` if the output is whole, `Deinterleaved` if data is.
    pub(crate) fn method(&self) -> Method {
        match self.op {
            Op::SpaceToBatch | Op::SpaceToDepth => Method::Deinterleaved,
            _ => Method::Interleaved,
        }
    }

    pub(crate) fn pads(&self) -> bool {
        self.op == Op::SpaceToBatch && self.dims.iter().any(|dim| dim.padded != dim.n)
    }

    /// The coordinate of data for a coordinate of the output, if data is whole; out of range in the padding.
    pub(crate) fn source(&self, at: &[usize]) -> SmallVec<[usize; 6]> {
        let places = at[self.holder];
        let coordinate = |(k, dim): (usize, &BlockDim)| match dim.block {
            1 if k == self.holder => places / dim.period % dim.n,
            1 => at[k].wrapping_sub(dim.begin),
            block => (at[k] * block + places / dim.step % block).wrapping_sub(dim.begin),
        };
        self.dims.iter().enumerate().map(coordinate).collect()
    }

    /// Folds the loops over the moved elements, of `size` bytes, into an empty list. Returns the steps to their first
    /// element, and the bytes of a row.
    #[inline]
    pub(crate) fn fold(&self, loops: &mut BlockLoops, size: usize, data: &[isize], out: &[isize]) -> (Step, usize) {
        let blocks_are_data = self.method() == Method::Interleaved;
        let (whole, blocks) = if blocks_are_data { (out, data) } else { (data, out) };
        let both = |whole: isize, blocks: isize| {
            if blocks_are_data { Step { out: whole, data: blocks } } else { Step { out: blocks, data: whole } }
        };
        let range = |_: usize, dim: &BlockDim| (dim.n, dim.begin);
        let origin = self.each_loop(size, [whole, blocks], both, range, |along| push_block(loops, along));
        (origin, take_row(loops, size))
    }

    /// [`SpaceLowered::fold`] over the padding. For each of the two ends of each dimension, calls `part` with the
    /// padding beyond that end, within the moved elements of all previous dimensions.
    ///
    /// Padding may be filled in any order, so loops over whole blocks become plain ones. Data is not read; its steps
    /// equal the output's, so that they prevent no folding.
    pub(crate) fn fold_pads(&self, size: usize, out: &[isize], mut part: impl FnMut(BlockLoops, Step, usize)) {
        for (at, &BlockDim { n, begin, padded, .. }) in self.dims.iter().enumerate() {
            for (n, begin) in [(begin, 0), (padded - n - begin, begin + n)] {
                if n == 0 {
                    continue;
                }
                let range = |k: usize, dim: &BlockDim| match k.cmp(&at) {
                    Ordering::Less => (dim.n, dim.begin),
                    Ordering::Equal => (n, begin),
                    Ordering::Greater => (dim.padded, 0),
                };
                let unread = |_: isize, out: isize| Step { out, data: out };
                let mut loops = BlockLoops::new();
                let push = |along: BlockLoop| along.apart().for_each(|along| push_block(&mut loops, along));
                let origin = self.each_loop(size, [out; 2], unread, range, push);
                let row = take_row(&mut loops, size);
                part(loops, origin, row);
            }
        }
    }

    /// Visits the loops over ranges of the dimensions: `range` gives the number of elements and the position of the
    /// first in the blocks. Returns the steps to the first element. `both(whole, blocks)` combines the steps of both
    /// tensors, in bytes. The strides of a `Spec` may wrap.
    #[inline(always)]
    fn each_loop(
        &self,
        size: usize,
        [whole, blocks]: [&[isize]; 2],
        both: impl Fn(isize, isize) -> Step,
        range: impl Fn(usize, &BlockDim) -> (usize, usize),
        mut visit: impl FnMut(BlockLoop),
    ) -> Step {
        let bytes = |stride: isize, count: usize| stride.wrapping_mul(count as isize).wrapping_mul(size as isize);
        let mut origin = Step::NONE;
        let holder = blocks[self.holder];
        for (k, (dim, (&whole, &blocks))) in self.dims.iter().zip(whole.iter().zip(blocks)).enumerate() {
            // Between blocks, and between adjacent positions in a block.
            let (period, step) = (bytes(blocks, dim.period), bytes(holder, dim.step));
            let ((n, begin), whole) = (range(k, dim), bytes(whole, 1));
            let (first, phase) = if begin == 0 { (0, 0) } else { (begin / dim.block, begin % dim.block) };
            let begin = period.wrapping_mul(first as isize).wrapping_add(step.wrapping_mul(phase as isize));
            origin = origin.and(both(0, begin));
            let wrap = period.wrapping_sub(step.wrapping_mul(dim.block as isize - 1));
            visit(BlockLoop { n, block: dim.block, phase, step: both(whole, step), wrap: both(whole, wrap) });
        }
        origin
    }
}
