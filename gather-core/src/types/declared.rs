//! Operators as declared in source: emitted by [`specialize!`](crate::specialize!) for each function.
//!
//! The macro emits the declaration only. Constants here and in `kernels::shaped` compute everything else from the
//! declaration. So a false declaration cannot make a loop unsound: it fails to compile.

#![forbid(unsafe_code)]

use crate::types::op::Op;
use crate::types::policy::{IndexPolicy, NegativeIndex, OutOfBounds};
use crate::types::text::Text;

pub(crate) type Message = Text<256>;

/// An open size: `_` in source.
pub const ANY: usize = usize::MAX;

/// Maximum number of elements of a tensor.
pub(crate) const MOST: usize = isize::MAX as usize;

pub(crate) const MAX_DIMS: usize = gather_macros::limit!(max_rank);

/// An operator with its attributes and shapes.
#[derive(Clone, Copy, Debug)]
pub struct Declared {
    pub(crate) op: Op,
    /// The shape of data: sizes from 1 to [`MOST`], or [`ANY`].
    pub(crate) data: &'static [usize],
    /// The shape of indices: sizes from 1 to [`MOST`], or [`ANY`].
    pub(crate) indices: &'static [usize],
    /// Counted from the front.
    pub(crate) axis: usize,
    pub(crate) batch_dims: usize,
    pub(crate) policy: IndexPolicy,
    pub(crate) blocks: Blocks,
    /// Whether GatherElements requires indices of data's shape, except along the axis.
    pub(crate) equal: bool,
}

/// Attributes of BatchToSpace, one entry per dimension.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Blocks {
    pub(crate) block: &'static [usize],
    pub(crate) begin: &'static [usize],
    pub(crate) end: &'static [usize],
}

/// A declaration, as a type. Emitted code implements it for a type of its own.
pub trait Declaration: 'static {
    /// The operator.
    const DECLARED: Declared;
}

/// Checks a size that is a constant of the caller's, and returns the size.
///
/// # Panics
/// At compile time if no tensor can have the size.
#[must_use]
#[track_caller]
pub const fn size(n: usize) -> usize {
    if n == 0 {
        panic!("a size of 0 leaves nothing to do; sizes are at least 1")
    }
    assert!(n <= MOST, "no tensor has this number of elements");
    n
}

impl Declared {
    const fn new(op: Op, data: &'static [usize], indices: &'static [usize]) -> Self {
        let policy = IndexPolicy { negative: NegativeIndex::FromEnd, out_of_bounds: OutOfBounds::Error };
        let blocks = Blocks { block: &[], begin: &[], end: &[] };
        check_sizes(data);
        check_sizes(indices);
        Declared { op, data, indices, axis: 0, batch_dims: 0, policy, blocks, equal: false }
    }

    /// Gather along an axis. The axis and the batch dimensions count from the front.
    ///
    /// # Panics
    /// At compile time if the shapes do not fit, here and in the other constructors.
    #[must_use]
    #[track_caller]
    pub const fn gather(data: &'static [usize], indices: &'static [usize], axis: usize, batch_dims: usize) -> Self {
        let this = Self::new(Op::Gather, data, indices);
        assert!(axis < data.len(), "the axis lies outside data");
        assert!(batch_dims <= axis && batch_dims <= indices.len(), "batch_dims lies beyond the axis or the indices");
        this.check_batch(batch_dims);
        Declared { axis, batch_dims, ..this }
    }

    /// GatherElements along an axis, counted from the front.
    #[must_use]
    #[track_caller]
    pub const fn gather_elements(data: &'static [usize], indices: &'static [usize], axis: usize) -> Self {
        let this = Self::new(Op::GatherElements, data, indices);
        assert!(axis < data.len(), "the axis lies outside data");
        assert!(data.len() == indices.len(), "data and indices have different ranks");
        let mut dim = 0;
        while dim < data.len() {
            let (d, i) = (data[dim], indices[dim]);
            if dim != axis && d != ANY && i != ANY && i > d {
                let text = Message::new().text("dimension ").number(dim).text(" has ").number(i);
                text.text(" elements in indices, more than ").number(d).text(" in data").panic()
            }
            dim += 1;
        }
        Declared { axis, ..this }
    }

    /// GatherNd with batch dimensions.
    #[must_use]
    #[track_caller]
    pub const fn gather_nd(data: &'static [usize], indices: &'static [usize], batch_dims: usize) -> Self {
        let this = Self::new(Op::GatherNd, data, indices);
        assert!(!indices.is_empty(), "indices have no dimension for the components of a tuple");
        assert!(batch_dims < indices.len() && batch_dims <= data.len(), "batch_dims lies beyond data or the indices");
        let len = indices[indices.len() - 1];
        assert!(len != ANY && len <= data.len() - batch_dims, "a tuple has more components than data has axes");
        this.check_batch(batch_dims);
        Declared { batch_dims, ..this }
    }

    /// BatchToSpace with one entry per dimension in each attribute.
    #[must_use]
    #[track_caller]
    pub const fn batch_to_space(
        data: &'static [usize],
        block: &'static [usize],
        begin: &'static [usize],
        end: &'static [usize],
    ) -> Self {
        let this = Self::new(Op::BatchToSpace, data, &[]);
        let rank = data.len();
        assert!(rank >= 2, "data has a batch and at least one more dimension");
        assert!(block.len() == rank && begin.len() == rank && end.len() == rank, "an entry for each dimension");
        check_sizes(block);
        assert!(block[0] == 1 && begin[0] == 0 && end[0] == 0, "the batch has no block and no crops");
        let (mut dim, mut product) = (1, 1usize);
        while dim < rank {
            assert!(block[dim] != ANY, "a block has a size");
            product = times(product, block[dim]);
            if data[dim] != ANY {
                let size = times(data[dim], block[dim]);
                let kept = match size.checked_sub(begin[dim]) {
                    Some(kept) => kept.checked_sub(end[dim]),
                    None => None,
                };
                if !matches!(kept, Some(1..)) {
                    let text = Message::new().text("the crops leave nothing of the ").number(size);
                    text.text(" elements of dimension ").number(dim).panic()
                }
            }
            dim += 1;
        }
        if data[0] != ANY && !data[0].is_multiple_of(product) {
            let text = Message::new().text("the blocks take ").number(product);
            text.text(" images each, which does not divide the batch of ").number(data[0]).panic()
        }
        Declared { blocks: Blocks { block, begin, end }, ..this }
    }

    /// Sets the policy for an index out of range.
    #[must_use]
    pub const fn out_of_bounds(mut self, out_of_bounds: OutOfBounds) -> Self {
        self.policy.out_of_bounds = out_of_bounds;
        self
    }

    /// Sets the meaning of a negative index.
    #[must_use]
    pub const fn negative_index(mut self, negative: NegativeIndex) -> Self {
        self.policy.negative = negative;
        self
    }

    /// Requires indices of data's shape, except along the axis.
    ///
    /// # Panics
    /// At compile time if their shape differs.
    #[must_use]
    #[track_caller]
    pub const fn equal(mut self) -> Self {
        let mut dim = 0;
        while dim < self.data.len() {
            let (d, i) = (self.data[dim], self.indices[dim]);
            assert!(dim == self.axis || d == ANY || i == ANY || d == i, "off the axis, indices have the shape of data");
            dim += 1;
        }
        self.equal = true;
        self
    }

    #[track_caller]
    const fn check_batch(&self, batch_dims: usize) {
        let mut dim = 0;
        while dim < batch_dims {
            let (d, i) = (self.data[dim], self.indices[dim]);
            if d != ANY && i != ANY && d != i {
                let text = Message::new().text("batch dimension ").number(dim).text(" has ").number(d);
                text.text(" elements in data and ").number(i).text(" in indices").panic()
            }
            dim += 1;
        }
    }

    pub(crate) const fn open(shape: &[usize]) -> usize {
        let (mut open, mut dim) = (0, 0);
        while dim < shape.len() {
            open += (shape[dim] == ANY) as usize;
            dim += 1;
        }
        open
    }

    /// The number of sizes passed as arguments: all open ones except the first of each tensor.
    pub(crate) const fn arguments(&self) -> usize {
        Self::open(self.data).saturating_sub(1) + Self::open(self.indices).saturating_sub(1)
    }
}

#[track_caller]
pub(crate) const fn times(a: usize, b: usize) -> usize {
    match a.checked_mul(b) {
        Some(product) if product <= MOST => product,
        _ => panic!("a shape has more elements than a tensor can have"),
    }
}

#[track_caller]
const fn check_sizes(shape: &[usize]) {
    assert!(shape.len() <= MAX_DIMS, "a declared tensor has at most 8 dimensions");
    let mut dim = 0;
    while dim < shape.len() {
        if shape[dim] != ANY {
            let _ = size(shape[dim]);
        }
        dim += 1;
    }
}
