//! The plan of BatchToSpace: folded loops with phases.

#![forbid(unsafe_code)]

use smallvec::SmallVec;

use crate::kernels::BlockLoop;
use crate::kernels::SpaceEntry;
use crate::kernels::select::Kernels;
use crate::plan::fold::fold_blocks;
use crate::plan::lowered::SpaceLowered;
use crate::plan::tasks::Work;
use crate::tensor::layout::{Layout, Shape};
use crate::types::error::Error;
use crate::types::level::Level;
use crate::types::method::Method;
use crate::types::op::Op;
use crate::types::policy::{Options, Par};

/// The plan of BatchToSpace.
///
/// Made by [`SpacePlan::new`] alone, from parameters that have been checked against the layouts of data and output.
/// So, for tensors of these layouts and of elements of the planned size:
///
/// - **P1** `origin` and `loops` reach the elements of the output, each once, and those of data that the operator
///   reads for them.
/// - **P2** `entry` is the kernel of `level`, of rows of `row` bytes and of the loop nest's rank; `None` where there is
///   nothing to write.
#[derive(Clone, Debug)]
pub(crate) struct SpacePlan {
    op: Op,
    output: Shape,
    /// P1.
    loops: SmallVec<[BlockLoop; 6]>,
    /// P1. Bytes from the first element of data to the first that is read.
    origin: isize,
    row: usize,
    /// P2.
    entry: Option<&'static SpaceEntry>,
    level: Level,
    par: Par,
    /// Bytes that a call writes.
    bytes: usize,
}

impl SpacePlan {
    /// Plans a lowered BatchToSpace for elements of `size` bytes and an output layout.
    ///
    /// # Errors
    /// [`Error::LevelUnavailable`], [`Error::TooManyBytes`], [`Error::MethodUnavailable`].
    pub(crate) fn new(
        kernels: Kernels,
        lowered: SpaceLowered,
        size: usize,
        out: &Layout,
        options: Options,
    ) -> Result<Self, Error> {
        let level = Level::resolve(options.level)?;
        let SpaceLowered { op, output, dims, origin } = lowered;
        let bytes = Shape::checked_bytes(&output, size)?;
        if let Some(method) = options.method.filter(|&method| method != Method::Interleaved) {
            return Err(Error::MethodUnavailable { op, method });
        }
        let (mut loops, elements) = fold_blocks(dims.iter().zip(out.strides()).map(|(dim, &out)| BlockLoop {
            n: dim.n,
            block: dim.block,
            phase: dim.phase,
            out,
            step: dim.step,
            wrap: dim.wrap(),
        }));
        let step = size as isize;
        for l in &mut loops {
            // Strides in bytes wrap for layouts over no slice; a view's cannot overflow.
            l.out = l.out.wrapping_mul(step);
            l.step = l.step.wrapping_mul(step);
            l.wrap = l.wrap.wrapping_mul(step);
        }
        let row = elements.saturating_mul(size);
        let entry = (bytes != 0).then(|| kernels.space_kernel(row, loops.len(), level));
        let (origin, par) = (origin.wrapping_mul(step), options.par);
        Ok(SpacePlan { op, output, loops, origin, row, entry, level, par, bytes })
    }

    pub(crate) fn op(&self) -> Op {
        self.op
    }

    pub(crate) fn output(&self) -> &Shape {
        &self.output
    }

    pub(crate) fn loops(&self) -> &[BlockLoop] {
        &self.loops
    }

    pub(crate) fn origin(&self) -> isize {
        self.origin
    }

    pub(crate) fn row(&self) -> usize {
        self.row
    }

    pub(crate) fn entry(&self) -> Option<&'static SpaceEntry> {
        self.entry
    }

    pub(crate) fn level(&self) -> Level {
        self.level
    }

    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Tasks that a call is cut into here and now, where the pool has `threads()` threads.
    #[inline]
    pub(crate) fn tasks(&self, threads: impl FnOnce() -> usize) -> usize {
        Work { bytes: self.bytes, rows: 0 }.tasks(self.par, threads)
    }
}
