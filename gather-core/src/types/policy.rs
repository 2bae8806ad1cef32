//! The policies that all index operators share: what an index may be, and how a call runs.

#![forbid(unsafe_code)]

use crate::types::level::Level;
use crate::types::method::Method;

/// The meaning of a negative index.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum NegativeIndex {
    /// It counts from the end: -1 is the last element.
    #[default]
    FromEnd,
    /// It is out of range.
    Reject,
}

/// The result of a gather for an index out of range, after [`NegativeIndex`] has been applied.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum OutOfBounds {
    /// The call fails with [`Error::IndexOutOfRange`](crate::Error::IndexOutOfRange).
    #[default]
    Error,
    /// It yields [`Element::ZERO`](crate::Element::ZERO).
    Zero,
    /// It names the nearest element: the first when it is below 0, else the last.
    Clamp,
    /// It is taken modulo the size of the axis. `NegativeIndex` makes no difference then.
    Wrap,
}

/// How [`DepthToSpace`](crate::DepthToSpace) and [`SpaceToDepth`](crate::SpaceToDepth) order the depth dimension.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Mode {
    /// `[block positions, channels]`, outermost first. ONNX `DCR`, OpenVINO `blocks_first`.
    #[default]
    Dcr,
    /// `[channels, block positions]`. ONNX `CRD`, OpenVINO `depth_first`, `torch.pixel_shuffle`.
    Crd,
}

/// The effect of an update whose index is out of range, after [`NegativeIndex`] has been applied.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ScatterOutOfBounds {
    /// The call fails with [`Error::IndexOutOfRange`](crate::Error::IndexOutOfRange).
    #[default]
    Error,
    /// It is left out.
    Drop,
    /// It goes to the nearest element: the first when the index is below 0, else the last.
    Clamp,
    /// Its index is taken modulo the size of the axis. `NegativeIndex` makes no difference then.
    Wrap,
}

impl ScatterOutOfBounds {
    /// The policy of the adjoint of a gather: what was filled is dropped.
    pub(crate) fn of_gather(out_of_bounds: OutOfBounds) -> Self {
        match out_of_bounds {
            OutOfBounds::Error => ScatterOutOfBounds::Error,
            OutOfBounds::Zero => ScatterOutOfBounds::Drop,
            OutOfBounds::Clamp => ScatterOutOfBounds::Clamp,
            OutOfBounds::Wrap => ScatterOutOfBounds::Wrap,
        }
    }

    /// The policies for the indices alone, as kernels resolve them: they mark what is to be dropped as they mark what
    /// is to be filled. Where negative indices are skipped, no other index is moved to a position.
    pub(crate) fn of_indices(self, negative: NegativeIndex, skips_negative: bool) -> IndexPolicy {
        let negative = if skips_negative { NegativeIndex::Reject } else { negative };
        let out_of_bounds = match self {
            ScatterOutOfBounds::Error => OutOfBounds::Error,
            ScatterOutOfBounds::Drop => OutOfBounds::Zero,
            ScatterOutOfBounds::Clamp | ScatterOutOfBounds::Wrap if skips_negative => OutOfBounds::Error,
            ScatterOutOfBounds::Clamp => OutOfBounds::Clamp,
            ScatterOutOfBounds::Wrap => OutOfBounds::Wrap,
        };
        IndexPolicy { negative, out_of_bounds }
    }
}

/// How many threads a call may use. The result is the same for any number.
///
/// A call from a rayon thread uses that pool; any other uses the global pool. The first large call starts the global
/// pool, so configure it before.
///
/// The calling thread always works. It offers work to the pool, and threads that are free take a part of it. At the end
/// the call waits for threads that have begun a part, and for no others. While it waits, its thread runs no other job:
/// a task may hold a lock or a `RefCell` over a call, whatever other tasks do. However many calls a busy pool leaves
/// without help, it holds at most one offer for each of its threads, and one more for calls from outside.
///
/// A map or a reduction of the caller's may run calls of this crate. If it waits in rayon, by `join`, `scope`,
/// `install` or a parallel iterator, rayon may run any job of the pool while it waits, inside the call and on its
/// thread. A job that waits in rayon may be given a part of a call to do, and with it the caller's map. So do not hold
/// a lock over a wait in rayon if another job or a map wants that lock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Par {
    /// The calling thread only.
    Seq,
    /// As many as pay off, up to the size of the pool. Without the feature `rayon`: `Seq`.
    #[default]
    Auto,
    /// At most this many, the calling thread among them, whatever there is to move. 0 counts as 1, and more than 1,024
    /// as 1,024. Without the feature `rayon`: `Seq`.
    Threads(usize),
}

/// The unit that values of a parameter are given for, of a map or a row function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Per {
    /// The whole call.
    Call,
    /// Each index.
    Index,
    /// Each row of data.
    Row,
    /// Each element of data.
    Element,
    /// Each slice that is given.
    Slice,
}

impl core::fmt::Display for Per {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(match self {
            Per::Call => "for the call",
            Per::Index => "per index",
            Per::Row => "per row of data",
            Per::Element => "per element",
            Per::Slice => "per slice",
        })
    }
}

/// Both policies of an index operator.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct IndexPolicy {
    pub(crate) negative: NegativeIndex,
    pub(crate) out_of_bounds: OutOfBounds,
}

impl IndexPolicy {
    /// Whether an index that names no element is an error, where the output is `empty` or an axis has no elements.
    pub(crate) fn refuses(self, empty: bool, nowhere: bool) -> bool {
        match self.out_of_bounds {
            OutOfBounds::Error => true,
            OutOfBounds::Zero => false,
            // An axis without elements has none to name instead.
            OutOfBounds::Clamp | OutOfBounds::Wrap => !empty && nowhere,
        }
    }
}

/// How a call runs, whatever it computes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Options {
    pub(crate) par: Par,
    pub(crate) level: Option<Level>,
    pub(crate) method: Option<Method>,
}
