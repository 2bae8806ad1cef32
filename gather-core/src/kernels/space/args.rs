//! What a kernel of BatchToSpace is given.

#![forbid(unsafe_code)]

/// One loop of a loop nest of BatchToSpace. Strides are in bytes.
///
/// Output coordinate `y` of a dimension with block `B` is data coordinate `d` of phase `b`, `y + crop = d * B + b`: the
/// phase counts up to `B` and carries into `d`, so no kernel divides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockLoop {
    /// Iterations, at least 1.
    pub n: usize,
    /// The block, at least 1.
    pub(crate) block: usize,
    /// The phase of the first iteration, below `block`.
    pub(crate) phase: usize,
    /// Step of the output.
    pub(crate) out: isize,
    /// Step of data from one phase to the next.
    pub(crate) step: isize,
    /// Step of data from the last phase to the first of the next `d`.
    pub(crate) wrap: isize,
}

impl BlockLoop {
    /// A loop of one iteration.
    pub(crate) const ONCE: BlockLoop = BlockLoop { n: 1, block: 1, phase: 0, out: 0, step: 0, wrap: 0 };

    /// Step of data from a phase to the same phase of the next `d`.
    #[inline(always)]
    pub(crate) fn period(&self) -> isize {
        self.wrap.wrapping_add(self.step.wrapping_mul(self.block as isize - 1))
    }
}

/// Places in output and data.
#[derive(Clone, Copy, Debug)]
pub struct SpaceCursor {
    pub(crate) out: *mut u8,
    pub(crate) data: *const u8,
}

impl SpaceCursor {
    /// The place at the first iteration of a loop.
    #[inline(always)]
    #[must_use]
    pub fn enter(self, along: &BlockLoop) -> BlockCursor {
        BlockCursor { at: self, phase: along.phase }
    }
}

/// An iteration of one loop of BatchToSpace, with its phase.
#[derive(Clone, Copy, Debug)]
pub struct BlockCursor {
    at: SpaceCursor,
    pub(crate) phase: usize,
}

impl BlockCursor {
    /// Where it stands.
    #[inline(always)]
    #[must_use]
    pub fn at(self) -> SpaceCursor {
        self.at
    }

    /// One iteration further.
    #[inline(always)]
    #[must_use]
    pub fn step(self, along: &BlockLoop) -> BlockCursor {
        let next = self.phase + 1;
        let (phase, data) = if next == along.block { (0, along.wrap) } else { (next, along.step) };
        let at = SpaceCursor { out: self.at.out.wrapping_offset(along.out), data: self.at.data.wrapping_offset(data) };
        BlockCursor { at, phase }
    }
}

/// Everything that a BatchToSpace kernel works on.
#[derive(Clone, Copy, Debug)]
pub struct SpaceArgs<'a> {
    pub(crate) origin: SpaceCursor,
    pub(crate) loops: &'a [BlockLoop],
    /// Bytes of a row.
    pub(crate) row: usize,
}

impl SpaceArgs<'_> {
    /// The loops of a loop nest of rank `R`.
    ///
    /// # Panics
    /// When the loop nest has another rank: the dispatcher picks kernels by it.
    #[inline(always)]
    #[must_use]
    pub fn loops<const R: usize>(&self) -> &[BlockLoop; R] {
        self.loops.first_chunk().expect("a kernel runs on loop nests of its own rank")
    }

    /// The place of the first row.
    #[inline(always)]
    #[must_use]
    pub fn origin(&self) -> SpaceCursor {
        self.origin
    }

    /// The loop around the inner one; one iteration where there is none.
    #[inline(always)]
    pub(crate) fn outer(&self) -> &BlockLoop {
        match self.loops {
            [.., outer, _] => outer,
            _ => const { &BlockLoop::ONCE },
        }
    }

    /// The innermost loop.
    #[inline(always)]
    pub(crate) fn inner(&self) -> &BlockLoop {
        self.loops.last().expect("K5: a loop nest has an inner loop")
    }
}
