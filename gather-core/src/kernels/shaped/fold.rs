//! The loops of a declared operator on indices, as constants: the counterpart of `ops` and `plan::fold`, which work on
//! shapes known at run time.
//!
//! The output is row-major, with dimensions in the order of the loops. So the output is written front to back, and
//! loops need no strides of the output.

#![forbid(unsafe_code)]

use crate::kernels::shaped::size::{Size, SizeSource, Sizes, Slots};
use crate::types::declared::{ANY, Declared, MAX_DIMS};
use crate::types::op::Op;

/// A loop, with its strides in elements.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ShapedLoop {
    pub(crate) n: Size,
    pub(crate) data: Size,
    pub(crate) index: Size,
}

/// An axis of data that a component of an index indexes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ShapedAxis {
    /// Position of the axis in data.
    pub(crate) axis: usize,
    pub(crate) dim: Size,
    pub(crate) stride: Size,
}

/// Maximum number of loops with counters: the last three loops are loops in the code.
pub(crate) const OUTER: usize = MAX_DIMS - 3;

/// The loops of an operator on indices for declared shapes.
///
/// Only [`IndexShape::of`] makes values. For slices of `data_len`, `indices_len` and `out_len` elements, if no open
/// size is 0 and open sizes of a dimension in both tensors are equal:
///
/// - **D1** The loops reach `out_len / row` rows of `row` elements of the output, front to back.
/// - **D2** Along every coordinate, `data + Σ_k stride_k · p_k`, for all `p_k < dim_k`, reaches `row` elements of data.
/// - **D3** Along every coordinate, `index` reaches `axes_len` contiguous indices.
#[derive(Clone, Copy, Debug)]
pub(crate) struct IndexShape {
    /// D1 to D3. The last `len` are in use, outermost first; the loops before them run once.
    pub(crate) loops: [ShapedLoop; MAX_DIMS],
    pub(crate) len: usize,
    /// D2. The first `axes_len` are in use.
    pub(crate) axes: [ShapedAxis; MAX_DIMS],
    pub(crate) axes_len: usize,
    /// D1. Elements moved per index tuple.
    pub(crate) row: Size,
    pub(crate) data_len: Size,
    pub(crate) indices_len: Size,
    pub(crate) out_len: Size,
    /// The declared sizes of data.
    pub(crate) data_dims: [Size; MAX_DIMS],
    /// The declared sizes of indices.
    pub(crate) index_dims: [Size; MAX_DIMS],
}

const ONCE: ShapedLoop = ShapedLoop { n: Size::ONE, data: Size::ZERO, index: Size::ZERO };
const NO_AXIS: ShapedAxis = ShapedAxis { axis: 0, dim: Size::ONE, stride: Size::ZERO };

impl IndexShape {
    /// # Panics
    /// At compile time, if a tensor would have more elements than a tensor can have.
    pub(crate) const fn of(declared: &Declared) -> Self {
        let mut slots = Slots::new();
        let data: [Size; MAX_DIMS] = slots.sizes(declared.data, 0);
        let index_dims: [Size; MAX_DIMS] = slots.sizes(declared.indices, 1);
        let mut indices = index_dims;
        let (rank, index_rank) = (declared.data.len(), declared.indices.len());
        let (data_len, indices_len) = (product(&data, 0, rank), product(&index_dims, 0, index_rank));
        // A dimension in both tensors has one size: from data, unless only indices have a known one.
        let mut dims = data;
        let mut dim = 0;
        while dim < declared.batch_dims {
            if declared.data[dim] == ANY && declared.indices[dim] != ANY {
                dims[dim] = indices[dim];
            }
            indices[dim] = dims[dim];
            dim += 1;
        }
        let empty = IndexShape {
            loops: [ONCE; MAX_DIMS],
            len: 0,
            axes: [NO_AXIS; MAX_DIMS],
            axes_len: 0,
            row: Size::ONE,
            data_len,
            indices_len,
            out_len: Size::ONE,
            data_dims: data,
            index_dims,
        };
        let tensors = Tensors { data: dims, rank, indices, index_rank, declared };
        match declared.op {
            Op::GatherElements => tensors.gather_elements(empty),
            Op::GatherNd => tensors.gather_nd(empty),
            _ => tensors.gather(empty),
        }
        .finish()
    }

    /// The open sizes, read from folded loops by `value`; `None` if one cannot be read.
    #[inline(always)]
    pub(crate) fn sizes<const ARGS: usize>(&self, value: impl Fn(SizeSource) -> usize) -> Option<Sizes<ARGS>> {
        Sizes::read(|slot| self.source(slot), value)
    }

    /// Where an open size can be read, and its factor there; `None` if it never occurs alone.
    #[inline(always)]
    const fn source(&self, slot: usize) -> Option<(SizeSource, usize)> {
        let (mut used, mut at) = (false, 0);
        while at < self.len {
            let along = &self.loops[MAX_DIMS - self.len + at];
            if along.n.slots == 1 << slot {
                return Some((SizeSource::Loop(at), along.n.known));
            }
            used |= (along.n.slots | along.data.slots | along.index.slots) >> slot & 1 == 1;
            at += 1;
        }
        let mut at = 0;
        while at < self.axes_len {
            let axis = &self.axes[at];
            if axis.dim.slots == 1 << slot {
                return Some((SizeSource::Axis(at), axis.dim.known));
            }
            used |= (axis.dim.slots | axis.stride.slots) >> slot & 1 == 1;
            at += 1;
        }
        SizeSource::in_row(self.row, slot, used)
    }

    /// Adds an innermost loop, or merges it with the last loop.
    const fn push(mut self, inner: ShapedLoop) -> Self {
        self.out_len = self.out_len.times(inner.n);
        if inner.n.is(Size::ONE) {
            return self;
        }
        if self.len > 0 {
            let outer = self.loops[self.len - 1];
            // Loops that share an open size are not merged.
            let apart = outer.n.slots & inner.n.slots == 0;
            if apart && reaches(outer.data, inner.data, inner.n) && reaches(outer.index, inner.index, inner.n) {
                self.loops[self.len - 1] = ShapedLoop { n: outer.n.times(inner.n), ..inner };
                return self;
            }
        }
        assert!(self.len < MAX_DIMS, "the loops are too many");
        self.loops[self.len] = inner;
        self.len += 1;
        self
    }

    const fn axis(mut self, axis: ShapedAxis) -> Self {
        self.axes[self.axes_len] = axis;
        self.axes_len += 1;
        self
    }

    /// Makes the innermost loop a row if data is contiguous, and puts the loops at the end.
    const fn finish(mut self) -> Self {
        if self.len > 0 {
            let inner = self.loops[self.len - 1];
            if inner.index.is(Size::ZERO) && inner.data.is(Size::ONE) {
                self.row = inner.n;
                self.len -= 1;
            }
        }
        IndexShape { loops: at_the_end(self.loops, self.len, ONCE), ..self }
    }
}

/// The loops `own[..len]` at the end, after loops that run once.
pub(super) const fn at_the_end<L: Copy>(own: [L; MAX_DIMS], len: usize, once: L) -> [L; MAX_DIMS] {
    let (mut loops, mut at) = ([once; MAX_DIMS], 0);
    while at < len {
        loops[MAX_DIMS - len + at] = own[at];
        at += 1;
    }
    loops
}

/// Whether `outer == inner * n`: one step of the outer loop spans the inner loop.
const fn reaches(outer: Size, inner: Size, n: Size) -> bool {
    if inner.slots & n.slots != 0 { false } else { outer.is(inner.times(n)) }
}

/// The product of the sizes `from..to`.
const fn product(sizes: &[Size], from: usize, to: usize) -> Size {
    let (mut product, mut dim) = (Size::ONE, from);
    while dim < to {
        product = product.times(sizes[dim]);
        dim += 1;
    }
    product
}

/// The sizes from which strides are computed.
struct Tensors<'a> {
    data: [Size; MAX_DIMS],
    rank: usize,
    indices: [Size; MAX_DIMS],
    index_rank: usize,
    declared: &'a Declared,
}

impl Tensors<'_> {
    const fn data_stride(&self, dim: usize) -> Size {
        product(&self.data, dim + 1, self.rank)
    }

    const fn index_stride(&self, dim: usize) -> Size {
        product(&self.indices, dim + 1, self.index_rank)
    }

    const fn axis(&self, axis: usize) -> ShapedAxis {
        ShapedAxis { axis, dim: self.data[axis], stride: self.data_stride(axis) }
    }

    const fn gather(&self, mut shape: IndexShape) -> IndexShape {
        let (axis, batch_dims) = (self.declared.axis, self.declared.batch_dims);
        let mut dim = 0;
        while dim < axis {
            let index = if dim < batch_dims { self.index_stride(dim) } else { Size::ZERO };
            shape = shape.push(ShapedLoop { n: self.data[dim], data: self.data_stride(dim), index });
            dim += 1;
        }
        let mut dim = batch_dims;
        while dim < self.index_rank {
            shape = shape.push(ShapedLoop { n: self.indices[dim], data: Size::ZERO, index: self.index_stride(dim) });
            dim += 1;
        }
        self.rest(shape, axis + 1).axis(self.axis(axis))
    }

    const fn gather_elements(&self, mut shape: IndexShape) -> IndexShape {
        let mut dim = 0;
        while dim < self.rank {
            let data = if dim == self.declared.axis { Size::ZERO } else { self.data_stride(dim) };
            shape = shape.push(ShapedLoop { n: self.indices[dim], data, index: self.index_stride(dim) });
            dim += 1;
        }
        shape.axis(self.axis(self.declared.axis))
    }

    const fn gather_nd(&self, mut shape: IndexShape) -> IndexShape {
        let (batch_dims, components) = (self.declared.batch_dims, self.declared.indices[self.index_rank - 1]);
        let mut dim = 0;
        while dim + 1 < self.index_rank {
            let data = if dim < batch_dims { self.data_stride(dim) } else { Size::ZERO };
            shape = shape.push(ShapedLoop { n: self.indices[dim], data, index: self.index_stride(dim) });
            dim += 1;
        }
        shape = self.rest(shape, batch_dims + components);
        let mut k = 0;
        while k < components {
            shape = shape.axis(self.axis(batch_dims + k));
            k += 1;
        }
        shape
    }

    /// Adds the dimensions of data from `from` on, which no index moves.
    const fn rest(&self, mut shape: IndexShape, from: usize) -> IndexShape {
        let mut dim = from;
        while dim < self.rank {
            shape = shape.push(ShapedLoop { n: self.data[dim], data: self.data_stride(dim), index: Size::ZERO });
            dim += 1;
        }
        shape
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The loops of a declaration for open sizes, and the elements per row.
    fn loops(declared: &Declared, first: [usize; 2]) -> (Vec<[usize; 3]>, usize) {
        let (shape, sizes) = (IndexShape::of(declared), Sizes { first, args: [] });
        let all = shape.loops[MAX_DIMS - shape.len..].iter();
        let loops = all.map(|l| [l.n.at(&sizes), l.data.at(&sizes), l.index.at(&sizes)]).collect();
        assert!(shape.loops[..MAX_DIMS - shape.len].iter().all(|l| l.n.is(Size::ONE)));
        (loops, shape.row.at(&sizes))
    }

    #[test]
    fn dimensions_that_lie_side_by_side_are_one_loop() {
        let rows = Declared::gather(&[ANY, 2, 8], &[ANY, 3], 0, 0);
        assert_eq!(loops(&rows, [100, 5]), (vec![[15, 0, 1]], 16));
        let middle = Declared::gather(&[2, 3, ANY, 4], &[5], 2, 0);
        assert_eq!(loops(&middle, [7, 1]), (vec![[6, 28, 0], [5, 0, 1]], 4));
        let batches = Declared::gather(&[ANY, 3, 4], &[ANY, 6], 1, 1);
        assert_eq!(loops(&batches, [2, 2]), (vec![[2, 12, 6], [6, 0, 1]], 4));
        let tuples = Declared::gather_nd(&[4, 5, 6], &[9, 2], 0);
        assert_eq!(loops(&tuples, [1, 1]), (vec![[9, 0, 2]], 6));
    }

    #[test]
    fn trimmed_indices_keep_their_loops() {
        let equal = Declared::gather_elements(&[2, 3, 4, 5], &[2, 3, 9, 5], 2);
        assert_eq!(loops(&equal, [1, 1]), (vec![[6, 20, 45], [9, 0, 5], [5, 1, 1]], 1));
        let trimmed = Declared::gather_elements(&[2, 3, 4, 5], &[2, 2, 9, 4], 2);
        assert_eq!(loops(&trimmed, [1, 1]), (vec![[2, 60, 72], [2, 20, 36], [9, 0, 4], [4, 1, 1]], 1));
        // Two open sizes may differ.
        let open = Declared::gather_elements(&[ANY, 8], &[ANY, 8], 1);
        assert_eq!(loops(&open, [4, 3]), (vec![[3, 8, 8], [8, 0, 1]], 1));
    }

    #[test]
    fn open_sizes_are_read_off_loops() {
        let read = |declared: &Declared, value: &dyn Fn(SizeSource) -> usize| {
            IndexShape::of(declared).sizes::<1>(value).map(|sizes| (sizes.first, sizes.args))
        };
        let at = |source: SizeSource| match source {
            SizeSource::Loop(at) => [15, 90][at],
            SizeSource::Axis(_) => 7,
            SizeSource::Row => 24,
            SizeSource::Unused => unreachable!("nothing is read there"),
        };
        assert_eq!(read(&Declared::gather(&[ANY, 2, 8], &[ANY, 3], 0, 0), &at), Some(([7, 5], [1])));
        assert_eq!(read(&Declared::gather(&[ANY, ANY, 8], &[3], 0, 0), &at), Some(([7, 1], [3])));
        // Here the two open sizes occur only as a product.
        assert_eq!(read(&Declared::gather(&[4, ANY, ANY], &[3], 0, 0), &at), None);
    }
}
