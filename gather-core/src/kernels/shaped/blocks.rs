//! The loops of BatchToSpace for shapes known at compile time.
//!
//! ```text
//! for each coordinate of the output but its row:
//!     copy the row from    Σ (x + phase) / block · period + (x + phase) % block · step
//! ```
//!
//! The blocks are constants: short loops have no divisions, and other loops only cheap divisions. Dimensions are folded
//! as in plans, so that the loops of a call can be compared with the loops of a declaration.

use core::marker::PhantomData;

use crate::kernels::shaped::fold::at_the_end;
use crate::kernels::shaped::size::{Size, SizeSource, Sizes, Slots};
use crate::types::declared::{ANY, Declaration, Declared, MAX_DIMS, times};
use crate::types::element::Element;

/// A loop along a dimension of the output, with its steps through data in elements.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BlockedLoop {
    /// Iterations before cropping.
    pub(crate) whole: Size,
    /// The number of cropped iterations.
    pub(crate) cropped: usize,
    pub(crate) block: usize,
    /// The place of the first iteration in its block, below `block`.
    pub(crate) phase: usize,
    /// Elements of data from one place in a block to the next.
    pub(crate) step: Size,
    /// Elements of data from one block to the next.
    pub(crate) period: Size,
}

/// The loops of BatchToSpace for declared shapes.
///
/// Only [`SpaceShape::of`] makes values. An open batch is given as the batch divided by the product of the blocks (D4).
/// For slices of `data_len` elements and of the elements that the loops reach, if no output dimension is 0:
///
/// - **D5** The loops reach the rows of the output, front to back, and a row of data for each, from `begin` on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SpaceShape {
    /// D5. The last `len` are in use, outermost first; the loops before them run once.
    pub(crate) loops: [BlockedLoop; MAX_DIMS],
    pub(crate) len: usize,
    /// D5. Elements of a row.
    pub(crate) row: Size,
    pub(crate) data_len: Size,
    /// D5. Elements of data that crops skip: `Σ count * elements` over the first `begins` entries.
    begin: [(usize, Size); 2 * MAX_DIMS],
    begins: usize,
}

const ONCE: BlockedLoop =
    BlockedLoop { whole: Size::ONE, cropped: 0, block: 1, phase: 0, step: Size::ZERO, period: Size::ZERO };

impl BlockedLoop {
    /// The iterations; `None` on overflow, or if more are cropped than exist.
    #[inline(always)]
    pub(crate) fn n<const ARGS: usize>(&self, sizes: &Sizes<ARGS>) -> Option<usize> {
        self.whole.checked_at(sizes)?.checked_sub(self.cropped)
    }

    /// Elements of data before iteration `x`.
    #[inline(always)]
    pub(crate) fn data<const ARGS: usize>(&self, x: usize, sizes: &Sizes<ARGS>) -> usize {
        let (period, step) = (self.period.at(sizes), self.step.at(sizes));
        if self.block == 1 {
            return x.wrapping_mul(period);
        }
        let x = x.wrapping_add(self.phase);
        (x / self.block).wrapping_mul(period).wrapping_add((x % self.block).wrapping_mul(step))
    }
}

impl SpaceShape {
    /// # Panics
    /// At compile time, if a tensor would have more elements than a tensor can have.
    pub(crate) const fn of(declared: &Declared) -> Self {
        let (rank, blocks) = (declared.data.len(), &declared.blocks);
        let mut product = 1;
        let mut dim = 1;
        while dim < rank {
            product = times(product, blocks.block[dim]);
            dim += 1;
        }
        let mut sizes: [Size; MAX_DIMS] = Slots::new().sizes(declared.data, 0);
        // D4: an open size of the batch is `batch / product`.
        let images = match declared.data[0] {
            ANY => sizes[0],
            batch => Size::of(batch / product),
        };
        sizes[0] = images.times(Size::of(product));
        let image = Self::stride(&sizes, 0, rank);
        let empty = SpaceShape {
            loops: [ONCE; MAX_DIMS],
            len: 0,
            row: Size::ONE,
            data_len: sizes[0].times(image),
            begin: [(0, Size::ZERO); 2 * MAX_DIMS],
            begins: 0,
        };
        let mut shape = empty.push(BlockedLoop { whole: images, period: image, ..ONCE });
        let mut later = product;
        let mut dim = 1;
        while dim < rank {
            let (block, begin, period) = (blocks.block[dim], blocks.begin[dim], Self::stride(&sizes, dim, rank));
            later /= block;
            shape = shape.skip(begin / block, period).push(BlockedLoop {
                whole: sizes[dim].times(Size::of(block)),
                cropped: times(begin, 1) + times(blocks.end[dim], 1),
                block,
                phase: begin % block,
                // From one phase to the next, data steps over the blocks of all later dimensions.
                step: if block == 1 { Size::ZERO } else { image.times(images).times(Size::of(later)) },
                period,
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

    /// Skips `count * elements` more elements of data.
    const fn skip(mut self, count: usize, elements: Size) -> Self {
        if count > 0 {
            self.begin[self.begins] = (count, elements);
            self.begins += 1;
        }
        self
    }

    /// Adds an innermost loop. Merges it with the last loop if the last loop has no blocks and the new loop no crops.
    const fn push(self, inner: BlockedLoop) -> Self {
        let (mut this, inner) = self.plain(inner);
        if inner.whole.is(Size::ONE) && inner.block == 1 && inner.cropped == 0 {
            return this;
        }
        let blocks = Size { known: inner.whole.known / inner.block, ..inner.whole };
        let is_whole = inner.cropped == 0 && inner.phase == 0 && blocks.known * inner.block == inner.whole.known;
        if this.len > 0 && is_whole {
            let outer = this.loops[this.len - 1];
            let apart = outer.whole.slots & inner.whole.slots == 0 && inner.period.slots & inner.whole.slots == 0;
            let crops = outer.cropped == 0 || inner.whole.slots == 0;
            // Each open size needs its own loop to be read from.
            let apart = apart && (inner.block == 1 || outer.whole.slots == 0 || inner.whole.slots == 0);
            if outer.block == 1 && crops && apart && outer.period.is(inner.period.times(blocks)) {
                let cropped = outer.cropped * inner.whole.known;
                this.loops[this.len - 1] = BlockedLoop { whole: outer.whole.times(inner.whole), cropped, ..inner };
                return this;
            }
        }
        this.loops[this.len] = inner;
        this.len += 1;
        this
    }

    /// Simplifies a loop of known length: subtracts crops, and drops the block if the loop stays inside one block.
    const fn plain(self, along: BlockedLoop) -> (Self, BlockedLoop) {
        if along.whole.slots != 0 {
            return (self, along);
        }
        let n = along.whole.known - along.cropped;
        let along = BlockedLoop { whole: Size::of(n), cropped: 0, ..along };
        if along.block == 1 || along.phase + n > along.block {
            return (self, along);
        }
        let plain = BlockedLoop { whole: along.whole, period: along.step, ..ONCE };
        (self.skip(along.phase, along.step), plain)
    }

    /// Makes the innermost loop a row if data is contiguous, and puts the loops at the end.
    const fn finish(mut self) -> Self {
        if self.len > 0 {
            let inner = self.loops[self.len - 1];
            if inner.block == 1 && inner.cropped == 0 && inner.period.is(Size::ONE) {
                self.row = inner.whole;
                self.len -= 1;
            }
        }
        SpaceShape { loops: at_the_end(self.loops, self.len, ONCE), ..self }
    }

    pub(crate) fn own(&self) -> &[BlockedLoop] {
        &self.loops[MAX_DIMS - self.len..]
    }

    /// Elements of data that the crops skip before the first row.
    #[inline(always)]
    fn begin<const ARGS: usize>(&self, sizes: &Sizes<ARGS>) -> usize {
        let begins = self.begin[..self.begins].iter();
        begins.fold(0, |begin, (count, elements)| begin.wrapping_add(count.wrapping_mul(elements.at(sizes))))
    }

    /// Where an open size can be read from folded loops, and its factor there; `None` if it never occurs alone.
    #[inline(always)]
    pub(crate) const fn source(&self, slot: usize) -> Option<(SizeSource, usize)> {
        let (mut used, mut at) = (false, 0);
        while at < self.len {
            let along = &self.loops[MAX_DIMS - self.len + at];
            if along.whole.slots == 1 << slot {
                return Some((SizeSource::Loop(at), along.whole.known));
            }
            used |= (along.whole.slots | along.step.slots | along.period.slots) >> slot & 1 == 1;
            at += 1;
        }
        SizeSource::in_row(self.row, slot, used)
    }
}

/// The constants of a declaration of BatchToSpace.
pub(crate) struct SpaceShapeOf<D>(D);

/// Maximum number of loops around the last two, which are loops in the code.
const OUTER: usize = MAX_DIMS - 2;

impl<D: Declaration> SpaceShapeOf<D> {
    pub(crate) const SHAPE: SpaceShape = SpaceShape::of(&D::DECLARED);
    /// The first outer loop in use.
    const FIRST: usize = OUTER - Self::SHAPE.len.saturating_sub(2);
    const LINES: BlockedLoop = Self::SHAPE.loops[OUTER];
    const INNER: BlockedLoop = Self::SHAPE.loops[OUTER + 1];
}

/// The tensors of a call, at any alignment, and its open sizes.
///
/// Invariant D5: along the loops, rows may be read from the first row, `data`, on, and written from `out` on. No row
/// that is read overlaps a row that is written. Every loop has iterations.
pub(crate) struct ShapedBlocks<'a, D, T, const ARGS: usize> {
    data: *const T,
    out: *mut T,
    sizes: &'a Sizes<ARGS>,
    declaration: PhantomData<D>,
}

impl<'a, D: Declaration, T: Element, const ARGS: usize> ShapedBlocks<'a, D, T, ARGS> {
    /// The tensors of a call, with the first row of data at `data`.
    ///
    /// # Safety
    /// D5.
    #[inline(always)]
    pub(crate) unsafe fn new(data: *const T, out: *mut T, sizes: &'a Sizes<ARGS>) -> Self {
        ShapedBlocks { data, out, sizes, declaration: PhantomData }
    }

    /// The tensors of a call, with `data` at its first element, which crops may skip.
    ///
    /// # Safety
    /// `data` may be read for `data_len` elements for the sizes, at any alignment. `out` may be written for the
    /// elements the loops reach, and does not overlap `data`. D4 holds for the sizes, and every loop has iterations.
    #[inline(always)]
    pub(crate) unsafe fn cropped(data: *const T, out: *mut T, sizes: &'a Sizes<ARGS>) -> Self {
        let data = data.wrapping_add(const { SpaceShapeOf::<D>::SHAPE }.begin(sizes));
        ShapedBlocks { data, out, sizes, declaration: PhantomData }
    }

    /// Moves every row.
    #[inline(always)]
    pub(crate) fn move_rows(self) {
        let (mut out, mut counters) = (self.out, [0usize; OUTER]);
        loop {
            let mut start = 0usize;
            let outer = SpaceShapeOf::<D>::SHAPE.loops.iter().zip(&counters).skip(SpaceShapeOf::<D>::FIRST);
            for (along, &at) in outer {
                start = start.wrapping_add(along.data(at, self.sizes));
            }
            out = self.move_plane(start, out);
            // The next coordinate.
            let mut depth = OUTER;
            loop {
                if depth == SpaceShapeOf::<D>::FIRST {
                    return;
                }
                depth -= 1;
                counters[depth] += 1;
                if counters[depth] < SpaceShapeOf::<D>::SHAPE.loops[depth].n(self.sizes).unwrap_or(0) {
                    break;
                }
                counters[depth] = 0;
            }
        }
    }

    /// Runs the last two loops from element `start` of data, at a coordinate of the others; returns the end of `out`.
    #[inline(always)]
    fn move_plane(&self, start: usize, mut out: *mut T) -> *mut T {
        let (lines, inner) = (const { SpaceShapeOf::<D>::LINES }, const { SpaceShapeOf::<D>::INNER });
        let (shape, sizes) = (const { &SpaceShapeOf::<D>::SHAPE }, self.sizes);
        let row = shape.row.at(sizes);
        for line in 0..lines.n(sizes).unwrap_or(0) {
            let start = start.wrapping_add(lines.data(line, sizes));
            for x in 0..inner.n(sizes).unwrap_or(0) {
                let from = start.wrapping_add(inner.data(x, sizes));
                debug_assert!(shape.begin(sizes) + from + row <= shape.data_len.at(sizes), "D5: {from} and {row}");
                let from = self.data.wrapping_add(from).cast::<u8>();
                // SAFETY: D5: a row may be read at `from` and written at `out`, and the two do not overlap.
                unsafe { core::ptr::copy_nonoverlapping(from, out.cast(), row * size_of::<T>()) };
                out = out.wrapping_add(row);
            }
        }
        out
    }
}
