//! The arguments of a kernel that rearranges space.

/// A step of output and data, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Step {
    pub(crate) out: isize,
    pub(crate) data: isize,
}

impl Step {
    pub(crate) const NONE: Step = Step { out: 0, data: 0 };

    #[inline(always)]
    pub(crate) fn map(self, f: impl Fn(isize) -> isize) -> Step {
        Step { out: f(self.out), data: f(self.data) }
    }

    /// This step `count` times.
    #[inline(always)]
    pub(crate) fn times(self, count: isize) -> Step {
        self.map(|step| step.wrapping_mul(count))
    }

    /// The sum of both steps.
    #[inline(always)]
    pub(crate) fn and(self, then: Step) -> Step {
        Step { out: self.out.wrapping_add(then.out), data: self.data.wrapping_add(then.data) }
    }
}

/// One loop of a loop nest, along a dimension of the tensor that is whole in space.
///
/// Coordinate `y` of a dimension with block `B` is coordinate `d` and phase `b` of the blocked tensor:
/// `y + begin = d * B + b`. The phase counts up to `B` and carries into `d`, so that kernels do not divide. The blocked
/// tensor is data if streams are interleaved, and the output if they are taken apart. The other tensor takes the same
/// step in every iteration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BlockLoop {
    pub(crate) n: usize,
    /// The block, at least 1.
    pub(crate) block: usize,
    /// The phase of the first iteration, below `block`.
    pub(crate) phase: usize,
    /// Step from one phase to the next.
    pub(crate) step: Step,
    /// Step from the last phase of a `d` to the first phase of the next `d`.
    pub(crate) wrap: Step,
}

impl BlockLoop {
    pub(crate) const ONCE: BlockLoop = BlockLoop { n: 1, block: 1, phase: 0, step: Step::NONE, wrap: Step::NONE };

    /// Step from a phase to the same phase of the next `d`.
    #[inline(always)]
    pub(crate) fn period(&self) -> Step {
        self.wrap.and(self.step.times(self.block as isize - 1))
    }

    /// The number of blocks; `None` if the first or the last block is not whole.
    #[inline(always)]
    pub(crate) fn blocks(&self) -> Option<usize> {
        match self.block {
            1 => Some(self.n),
            block => (self.phase == 0 && self.n.is_multiple_of(block)).then(|| self.n / block),
        }
    }

    /// The same iterations in another order, if they are whole blocks: a loop over phases around a loop over blocks.
    pub(crate) fn apart(&self) -> impl Iterator<Item = BlockLoop> + use<> {
        let plain = |n, wrap| BlockLoop { n, wrap, ..BlockLoop::ONCE };
        let (outer, inner) = match self.blocks() {
            Some(blocks) if self.block > 1 => (Some(plain(self.block, self.step)), plain(blocks, self.period())),
            _ => (None, *self),
        };
        outer.into_iter().chain([inner])
    }
}

/// Addresses in output and data. Steps wrap: a cursor may point past an end, where it is not dereferenced.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SpaceCursor {
    out: *mut u8,
    data: *const u8,
}

impl SpaceCursor {
    #[inline(always)]
    pub(crate) fn new(data: *const u8, out: *mut u8) -> Self {
        SpaceCursor { out, data }
    }

    #[inline(always)]
    pub(crate) fn out(self) -> *mut u8 {
        self.out
    }

    #[inline(always)]
    pub(crate) fn data(self) -> *const u8 {
        self.data
    }

    /// The cursor at the first iteration of a loop.
    #[inline(always)]
    #[must_use]
    pub(crate) fn enter(self, along: &BlockLoop) -> BlockCursor {
        BlockCursor { at: self, phase: along.phase }
    }

    /// The cursor a step further.
    #[inline(always)]
    pub(crate) fn after(self, step: Step) -> SpaceCursor {
        SpaceCursor { out: self.out.wrapping_offset(step.out), data: self.data.wrapping_offset(step.data) }
    }
}

/// An iteration of one loop, with its phase.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BlockCursor {
    at: SpaceCursor,
    pub(crate) phase: usize,
}

impl BlockCursor {
    #[inline(always)]
    #[must_use]
    pub(crate) fn at(self) -> SpaceCursor {
        self.at
    }

    /// The same phase a step further.
    #[inline(always)]
    #[must_use]
    pub(crate) fn after(self, step: Step) -> BlockCursor {
        BlockCursor { at: self.at.after(step), ..self }
    }

    /// One iteration further.
    #[inline(always)]
    #[must_use]
    pub(crate) fn step(self, along: &BlockLoop) -> BlockCursor {
        let next = self.phase + 1;
        let (phase, step) = if next == along.block { (0, along.wrap) } else { (next, along.step) };
        BlockCursor { at: self.at.after(step), phase }
    }
}

/// The arguments of a kernel that rearranges space: K1, K4 and K6 hold. Without a fill, data may be read along the
/// loops.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SpaceArgs<'a> {
    origin: SpaceCursor,
    loops: &'a [BlockLoop],
    row: usize,
    /// The fill of padded rows; else empty.
    fill: &'a [u8],
}

impl<'a> SpaceArgs<'a> {
    /// The rows of `row` bytes that loops reach from `origin` on.
    ///
    /// # Safety
    /// K1, K4 and K6. Without a fill, data may be read along the loops.
    #[inline(always)]
    pub(crate) unsafe fn new(origin: SpaceCursor, loops: &'a [BlockLoop], row: usize, fill: &'a [u8]) -> Self {
        debug_assert!(fill.is_empty() || row.is_multiple_of(fill.len()), "K6: a fill of {} into {row}", fill.len());
        SpaceArgs { origin, loops, row, fill }
    }

    #[inline(always)]
    pub(crate) fn row(&self) -> usize {
        self.row
    }

    #[inline(always)]
    pub(crate) fn fill(&self) -> &'a [u8] {
        self.fill
    }

    #[inline(always)]
    pub(crate) fn all_loops(&self) -> &'a [BlockLoop] {
        self.loops
    }

    /// The loops of a loop nest of rank `R`.
    ///
    /// # Panics
    /// If the loop nest has another rank: the dispatcher picks kernels by rank.
    #[inline(always)]
    #[must_use]
    pub(crate) fn loops<const R: usize>(&self) -> &'a [BlockLoop; R] {
        self.loops.try_into().expect("a kernel runs on loop nests of its own rank")
    }

    /// The cursor of the first row.
    #[inline(always)]
    #[must_use]
    pub(crate) fn origin(&self) -> SpaceCursor {
        self.origin
    }

    /// The loop around the inner one, or `BlockLoop::ONCE`.
    #[inline(always)]
    pub(crate) fn outer(&self) -> &BlockLoop {
        match self.loops {
            [.., outer, _] => outer,
            _ => const { &BlockLoop::ONCE },
        }
    }

    #[inline(always)]
    pub(crate) fn inner(&self) -> &BlockLoop {
        self.loops.last().expect("K5: a loop nest has an inner loop")
    }
}

/// The tensor that is whole, while the other consists of streams.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WholeTensor {
    Output,
    Data,
}

impl BlockLoop {
    /// The tensor that is whole along the loop, if it is contiguous and so are the streams of the other tensor, for
    /// rows of `width` bytes.
    #[inline(always)]
    pub(crate) fn whole(&self, width: isize) -> Option<WholeTensor> {
        let (step, wrap, period) = (self.step, self.wrap, self.period());
        if step.out == width && wrap.out == width && period.data == width {
            Some(WholeTensor::Output)
        } else if step.data == width && wrap.data == width && period.out == width {
            Some(WholeTensor::Data)
        } else {
            None
        }
    }
}
