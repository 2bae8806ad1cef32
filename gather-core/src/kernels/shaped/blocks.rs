//! The loops of BatchToSpace, for shapes that the source knows.
//!
//! ```text
//! for each coordinate of the output but its row:
//!     copy the row from    Σ (x + begin) / block · period + (x + begin) % block · step
//! ```
//!
//! The blocks are constants. So in short loops nothing is left of the divisions, and in others little.

use crate::kernels::shaped::size::{Size, Sizes, Slots};
use crate::types::declared::{ANY, Declaration, Declared, MAX_DIMS, times};
use crate::types::element::Element;

/// A loop along a dimension of the output, with its steps through data in elements.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BlockedLoop {
    /// Iterations before the crops.
    pub(crate) whole: Size,
    /// Iterations that the crops take, and those of them at the begin.
    pub(crate) cropped: usize,
    pub(crate) begin: usize,
    pub(crate) block: usize,
    /// Data from one phase of a block to the next, and from a block to the next.
    pub(crate) step: Size,
    pub(crate) period: Size,
}

/// The loops of BatchToSpace whose shapes are declared.
///
/// Made by [`SpaceShape::of`] alone. So, for slices of `data_len` elements and of as many as the loops reach, where an
/// open batch stands as the images of a block each (D4), and no dimension of the output is 0:
///
/// - **D5** The loops reach the rows of the output, front to back, and a row of data for each.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SpaceShape {
    /// D5. The last `len` count, outermost first; those before them run once.
    pub(crate) loops: [BlockedLoop; MAX_DIMS],
    pub(crate) len: usize,
    /// D5. Elements of a row.
    pub(crate) row: Size,
    pub(crate) data_len: Size,
}

const ONCE: BlockedLoop =
    BlockedLoop { whole: Size::ONE, cropped: 0, begin: 0, block: 1, step: Size::ZERO, period: Size::ZERO };

impl BlockedLoop {
    /// The iterations; `None` where the crops take more than there are.
    #[inline(always)]
    pub(crate) fn n<const ARGS: usize>(&self, sizes: &Sizes<ARGS>) -> Option<usize> {
        self.whole.checked_at(sizes)?.checked_sub(self.cropped)
    }

    /// Data before iteration `x`.
    #[inline(always)]
    fn data<const ARGS: usize>(&self, x: usize, sizes: &Sizes<ARGS>) -> usize {
        let x = x.wrapping_add(self.begin);
        let (period, step) = (self.period.at(sizes), self.step.at(sizes));
        if self.block == 1 {
            return x.wrapping_mul(period);
        }
        (x / self.block).wrapping_mul(period).wrapping_add((x % self.block).wrapping_mul(step))
    }
}

impl SpaceShape {
    /// # Panics
    /// At compile time, when a tensor would have more elements than a tensor can have.
    pub(crate) const fn of(declared: &Declared) -> Self {
        let (rank, blocks) = (declared.data.len(), &declared.blocks);
        let mut product = 1;
        let mut dim = 1;
        while dim < rank {
            product = times(product, blocks.block[dim]);
            dim += 1;
        }
        let mut sizes: [Size; MAX_DIMS] = Slots::new().sizes(declared.data, 0);
        // D4.
        let images = match declared.data[0] {
            ANY => sizes[0],
            batch => Size::of(batch / product),
        };
        sizes[0] = images.times(Size::of(product));
        let image = Self::stride(&sizes, 0, rank);
        let shape = SpaceShape { loops: [ONCE; MAX_DIMS], len: 0, row: Size::ONE, data_len: sizes[0].times(image) };
        let mut shape = shape.push(BlockedLoop { whole: images, period: image, ..ONCE });
        let mut later = product;
        let mut dim = 1;
        while dim < rank {
            let block = blocks.block[dim];
            later /= block;
            let whole = sizes[dim].times(Size::of(block));
            shape = shape.push(BlockedLoop {
                whole,
                cropped: times(blocks.begin[dim], 1) + times(blocks.end[dim], 1),
                begin: blocks.begin[dim],
                block,
                // From one phase to the next, data steps over the blocks of all later dimensions.
                step: if block == 1 { Size::ZERO } else { image.times(images).times(Size::of(later)) },
                period: Self::stride(&sizes, dim, rank),
            });
            dim += 1;
        }
        shape.finish()
    }

    const fn stride(sizes: &[Size; MAX_DIMS], dim: usize, rank: usize) -> Size {
        let (mut stride, mut inner) = (Size::ONE, dim + 1);
        while inner < rank {
            stride = stride.times(sizes[inner]);
            inner += 1;
        }
        stride
    }

    /// Adds a loop inside the others, or makes it one with the last where neither has blocks or crops.
    const fn push(mut self, inner: BlockedLoop) -> Self {
        if inner.whole.is(Size::ONE) && inner.block == 1 && inner.cropped == 0 {
            return self;
        }
        if self.len > 0 && inner.block == 1 && inner.cropped == 0 {
            let outer = self.loops[self.len - 1];
            let apart = outer.whole.slots & inner.whole.slots == 0 && inner.period.slots & inner.whole.slots == 0;
            if outer.block == 1 && outer.cropped == 0 && apart && outer.period.is(inner.period.times(inner.whole)) {
                self.loops[self.len - 1] = BlockedLoop { whole: outer.whole.times(inner.whole), ..inner };
                return self;
            }
        }
        self.loops[self.len] = inner;
        self.len += 1;
        self
    }

    /// Makes the innermost loop a row where data lies side by side, and puts the loops at the end.
    const fn finish(mut self) -> Self {
        if self.len > 0 {
            let inner = self.loops[self.len - 1];
            if inner.block == 1 && inner.cropped == 0 && inner.period.is(Size::ONE) {
                self.row = inner.whole;
                self.len -= 1;
            }
        }
        let (mut loops, mut at) = ([ONCE; MAX_DIMS], 0);
        while at < self.len {
            loops[MAX_DIMS - self.len + at] = self.loops[at];
            at += 1;
        }
        SpaceShape { loops, ..self }
    }
}

/// What follows from a declaration of BatchToSpace.
pub(crate) struct SpaceShapeOf<D>(D);

/// Loops that are not among the last two, which have loops of their own in the code.
const OUTER: usize = MAX_DIMS - 2;

impl<D: Declaration> SpaceShapeOf<D> {
    pub(crate) const SHAPE: SpaceShape = SpaceShape::of(&D::DECLARED);
    /// The first of the loops that are counted.
    const FIRST: usize = OUTER - Self::SHAPE.len.saturating_sub(2);
    const LINES: BlockedLoop = Self::SHAPE.loops[OUTER];
    const INNER: BlockedLoop = Self::SHAPE.loops[OUTER + 1];
}

/// Moves every row.
///
/// # Safety
/// `data` has `data_len` elements for the sizes, and `out` may be written for as many as the loops reach. D4 holds for
/// the sizes, and every loop has iterations.
#[inline(always)]
pub(crate) unsafe fn move_blocks<D: Declaration, T: Element, const ARGS: usize>(
    data: &[T],
    mut out: *mut T,
    sizes: &Sizes<ARGS>,
) {
    let mut counters = [0usize; OUTER];
    loop {
        let mut start = 0usize;
        let outer = SpaceShapeOf::<D>::SHAPE.loops.iter().zip(&counters).skip(SpaceShapeOf::<D>::FIRST);
        for (along, &at) in outer {
            start = start.wrapping_add(along.data(at, sizes));
        }
        // SAFETY: the caller's promise: D5 for a coordinate of the outer loops.
        out = unsafe { move_plane::<D, T, ARGS>(data, start, out, sizes) };
        // The next coordinate.
        let mut depth = OUTER;
        loop {
            if depth == SpaceShapeOf::<D>::FIRST {
                return;
            }
            depth -= 1;
            counters[depth] += 1;
            if counters[depth] < SpaceShapeOf::<D>::SHAPE.loops[depth].n(sizes).unwrap_or(0) {
                break;
            }
            counters[depth] = 0;
        }
    }
}

/// Runs the last two loops from a place of data on; returns the place behind them in the output.
///
/// # Safety
/// As for [`move_blocks`], for the coordinate of the place.
#[inline(always)]
unsafe fn move_plane<D: Declaration, T: Element, const ARGS: usize>(
    data: &[T],
    start: usize,
    mut out: *mut T,
    sizes: &Sizes<ARGS>,
) -> *mut T {
    let (lines, inner) = (const { SpaceShapeOf::<D>::LINES }, const { SpaceShapeOf::<D>::INNER });
    let row = const { SpaceShapeOf::<D>::SHAPE }.row.at(sizes);
    for line in 0..lines.n(sizes).unwrap_or(0) {
        let start = start.wrapping_add(lines.data(line, sizes));
        for x in 0..inner.n(sizes).unwrap_or(0) {
            let from = start.wrapping_add(inner.data(x, sizes));
            debug_assert!(from + row <= data.len(), "D5: {from} and {row} elements");
            // SAFETY: D5: a row lies here in data, and the output holds one; a slice that is borrowed overlaps none
            // that may be written.
            unsafe { core::ptr::copy_nonoverlapping(data.as_ptr().wrapping_add(from), out, row) };
            out = out.wrapping_add(row);
        }
    }
    out
}
