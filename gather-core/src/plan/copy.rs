//! The plan of BatchToSpace: folded loops with phases.

#![forbid(unsafe_code)]

use smallvec::SmallVec;

use crate::dispatch;
use crate::error::Error;
use crate::kernels::{CopyEntry, KernelSet, Phased};
use crate::level::Level;
use crate::ops::{Par, Tuning};
use crate::plan::fold::fold_phased;
use crate::shape::{Layout, Shape};
use crate::threads;

/// One output dimension of a lowered BatchToSpace. Strides in elements.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PhasedDim {
    pub(crate) n: usize,
    pub(crate) block: usize,
    pub(crate) phase: usize,
    /// Data from one phase to the next.
    pub(crate) step: isize,
    /// Data from a phase to the same one of the next coordinate.
    pub(crate) period: isize,
}

impl PhasedDim {
    /// Data from the last phase to the first of the next coordinate.
    pub(crate) fn wrap(&self) -> isize {
        self.period.wrapping_sub(self.step.wrapping_mul(self.block as isize - 1))
    }
}

/// BatchToSpace with its parameters checked against the shape of data.
#[derive(Clone, Debug)]
pub(crate) struct CopyLowered {
    pub(crate) output: Shape,
    pub(crate) dims: SmallVec<[PhasedDim; 6]>,
    /// Element of data that the first element of the output comes from.
    pub(crate) origin: isize,
}

/// The plan of BatchToSpace.
#[derive(Clone, Debug)]
pub(crate) struct CopyPlan {
    pub(crate) output: Shape,
    pub(crate) loops: SmallVec<[Phased; 6]>,
    /// Bytes from the origin of data to the first lane.
    pub(crate) origin: isize,
    pub(crate) row: usize,
    /// `None` when there is nothing to write.
    pub(crate) entry: Option<&'static CopyEntry>,
    pub(crate) level: Level,
    pub(crate) par: Par,
    /// Bytes that a call writes.
    pub(crate) bytes: usize,
}

impl CopyPlan {
    /// Plans a lowered BatchToSpace for elements of `size` bytes and an output layout.
    pub(crate) fn new(
        set: &'static KernelSet,
        lowered: CopyLowered,
        size: usize,
        out: &Layout,
        tuning: Tuning,
    ) -> Result<Self, Error> {
        let level = Level::resolve(tuning.level)?;
        let CopyLowered { output, dims, origin } = lowered;
        let bytes = Shape::checked_bytes(&output, size)?;
        let step = size as isize;
        let in_bytes = dims.iter().zip(out.strides()).map(|(dim, &out)| Phased {
            n: dim.n,
            block: dim.block,
            phase: dim.phase,
            out: out.wrapping_mul(step),
            step: dim.step.wrapping_mul(step),
            wrap: dim.wrap().wrapping_mul(step),
        });
        let (loops, row) = fold_phased(in_bytes, size);
        let entry = if bytes == 0 { None } else { dispatch::copy_kernel(set, row, loops.len(), level) };
        Ok(CopyPlan { output, loops, origin: origin.wrapping_mul(step), row, entry, level, par: tuning.par, bytes })
    }

    /// Tasks that a call is cut into here and now.
    #[inline]
    pub(crate) fn tasks(&self) -> usize {
        threads::tasks(self.par, self.bytes, 0)
    }
}
