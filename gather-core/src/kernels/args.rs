//! What a kernel is given. Built by `exec` alone; the kernel contract stands in `kernels/mod.rs`.

#![forbid(unsafe_code)]

use crate::ops::{NegativeIndex, OutOfBounds};

/// One loop of the nest of an index operator, outermost first; the last is the lanes. Strides in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Loop {
    /// Iterations, at least 1.
    pub n: usize,
    /// Step of the output.
    pub(crate) out: isize,
    /// Step of data, before the index is applied.
    pub(crate) data: isize,
    /// Step of indices; 0 where one index serves the whole loop.
    pub(crate) index: isize,
}

impl Loop {
    /// A loop of one iteration.
    pub(crate) const ONCE: Loop = Loop { n: 1, out: 0, data: 0, index: 0 };
}

/// One component of an index: the axis it runs along.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Component {
    /// Size of the axis, at least 1.
    pub(crate) dim: i64,
    /// Units of data that one step along the axis takes.
    pub(crate) scale: i64,
    /// Bytes from the first component of an index tuple to this one.
    pub(crate) index: isize,
}

/// A position in the three tensors at once. Steps wrap: a cursor may stand past an end, it is only followed inside.
#[derive(Clone, Copy, Debug)]
pub struct Cursor {
    pub(crate) out: *mut u8,
    pub(crate) data: *const u8,
    pub(crate) index: *const u8,
}

impl Cursor {
    /// The position one iteration of `along` further.
    #[inline(always)]
    #[must_use]
    pub fn step(self, along: &Loop) -> Cursor {
        Cursor {
            out: self.out.wrapping_offset(along.out),
            data: self.data.wrapping_offset(along.data),
            index: self.index.wrapping_offset(along.index),
        }
    }

    /// The position `count` iterations of `along` further.
    #[inline(always)]
    pub(crate) fn skip(self, along: &Loop, count: usize) -> Cursor {
        let count = count as isize;
        Cursor {
            out: self.out.wrapping_offset(along.out.wrapping_mul(count)),
            data: self.data.wrapping_offset(along.data.wrapping_mul(count)),
            index: self.index.wrapping_offset(along.index.wrapping_mul(count)),
        }
    }
}

/// Everything that a kernel of an index operator works on.
#[derive(Clone, Copy, Debug)]
pub struct IndexArgs<'a> {
    pub(crate) origin: Cursor,
    pub(crate) loops: &'a [Loop],
    pub(crate) components: &'a [Component],
    /// Bytes of data that one unit of a resolved index stands for.
    pub(crate) unit: isize,
    /// Bytes moved per lane.
    pub(crate) row: usize,
    /// Lanes that the row mover prefetches ahead; 0 for none.
    pub(crate) ahead: usize,
    /// Whether rows are written past the caches.
    pub(crate) stream: bool,
    /// Bytes of data that the indices of one outer coordinate reach, where those of the next are to be fetched meanwhile;
    /// else 0.
    pub(crate) span: usize,
    /// Units that the indices reach, where they are a table that fits in registers; else 0.
    pub(crate) table: usize,
    pub(crate) negative: NegativeIndex,
    pub(crate) out_of_bounds: OutOfBounds,
    /// What fills a lane under `OutOfBounds::Zero`: `fill_len` bytes, repeated over the row.
    pub(crate) fill: *const u8,
    pub(crate) fill_len: usize,
}

impl IndexArgs<'_> {
    /// The loops of a nest of rank `R`.
    ///
    /// # Panics
    /// When the nest has another rank: the dispatcher picks kernels by it.
    #[inline(always)]
    #[must_use]
    pub fn loops<const R: usize>(&self) -> &[Loop; R] {
        self.loops.first_chunk().expect("a kernel runs on nests of its own rank")
    }

    /// The position of the first lane.
    #[inline(always)]
    #[must_use]
    pub fn origin(&self) -> Cursor {
        self.origin
    }

    /// The loop around the innermost one.
    #[inline(always)]
    pub(crate) fn outer(&self) -> &Loop {
        self.loops.iter().nth_back(1).expect("a plane has a loop around the lanes")
    }

    /// The innermost loop.
    #[inline(always)]
    pub(crate) fn lane(&self) -> &Loop {
        self.loops.last().expect("a nest has at least the loop over lanes")
    }
}

/// Whether a kernel met an index that is out of range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub struct Verdict {
    pub(crate) out_of_range: bool,
}

/// One loop of a BatchToSpace nest. Strides in bytes.
///
/// Output coordinate `y` of a dimension with block `B` is data coordinate `d` of phase `b`, `y + crop = d * B + b`: the
/// phase counts up to `B` and carries into `d`, so no kernel divides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Phased {
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

impl Phased {
    /// A loop of one iteration.
    pub(crate) const ONCE: Phased = Phased { n: 1, block: 1, phase: 0, out: 0, step: 0, wrap: 0 };

    /// Step of data from a phase to the same phase of the next `d`.
    #[inline(always)]
    pub(crate) fn period(&self) -> isize {
        self.wrap.wrapping_add(self.step.wrapping_mul(self.block as isize - 1))
    }
}

/// A position in output and data.
#[derive(Clone, Copy, Debug)]
pub struct CopyCursor {
    pub(crate) out: *mut u8,
    pub(crate) data: *const u8,
}

impl CopyCursor {
    /// The position at the first iteration of a loop.
    #[inline(always)]
    #[must_use]
    pub fn enter(self, along: &Phased) -> Walk {
        Walk { at: self, phase: along.phase }
    }
}

/// A position on the way along one loop of a BatchToSpace nest.
#[derive(Clone, Copy, Debug)]
pub struct Walk {
    at: CopyCursor,
    pub(crate) phase: usize,
}

impl Walk {
    /// Where it stands.
    #[inline(always)]
    #[must_use]
    pub fn at(self) -> CopyCursor {
        self.at
    }

    /// One iteration further.
    #[inline(always)]
    #[must_use]
    pub fn step(self, along: &Phased) -> Walk {
        let next = self.phase + 1;
        let (phase, data) = if next == along.block { (0, along.wrap) } else { (next, along.step) };
        let at = CopyCursor { out: self.at.out.wrapping_offset(along.out), data: self.at.data.wrapping_offset(data) };
        Walk { at, phase }
    }
}

/// Everything that a BatchToSpace kernel works on.
#[derive(Clone, Copy, Debug)]
pub struct CopyArgs<'a> {
    pub(crate) origin: CopyCursor,
    pub(crate) loops: &'a [Phased],
    /// Bytes moved per lane.
    pub(crate) row: usize,
}

impl CopyArgs<'_> {
    /// The loops of a nest of rank `R`.
    ///
    /// # Panics
    /// When the nest has another rank: the dispatcher picks kernels by it.
    #[inline(always)]
    #[must_use]
    pub fn loops<const R: usize>(&self) -> &[Phased; R] {
        self.loops.first_chunk().expect("a kernel runs on nests of its own rank")
    }

    /// The position of the first lane.
    #[inline(always)]
    #[must_use]
    pub fn origin(&self) -> CopyCursor {
        self.origin
    }

    /// The loop around the innermost one.
    #[inline(always)]
    pub(crate) fn outer(&self) -> &Phased {
        self.loops.iter().nth_back(1).expect("a plane has a loop around the lanes")
    }

    /// The innermost loop.
    #[inline(always)]
    pub(crate) fn lane(&self) -> &Phased {
        self.loops.last().expect("a nest has at least the loop over lanes")
    }
}
