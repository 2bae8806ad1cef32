//! Policies of index operators: the allowed indices, and the execution of a call.

#![forbid(unsafe_code)]

use crate::types::declare::closed_set;
use crate::types::level::Level;
use crate::types::method::Method;

closed_set! {
/// The meaning of a negative index.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum NegativeIndex {
    /// It counts from the end: -1 is the last element.
    #[default]
    FromEnd,
    /// It is out of range.
    Reject,
}
/// Every policy, in the order of declaration.
pub const ALL;
}

closed_set! {
/// The policy of a gather for an index out of range, after [`NegativeIndex`] has been applied.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum OutOfBounds {
    /// The call fails with [`Error::IndexOutOfRange`](crate::Error::IndexOutOfRange).
    #[default]
    Error,
    /// The result is [`Element::ZERO`](crate::Element::ZERO).
    Zero,
    /// The nearest element is read: the first if the index is below 0, else the last. `Clamp` and [`Wrap`](Self::Wrap)
    /// cost a pass over the indices; for tuples of 4 or more components the pass allocates a copy of their axes.
    Clamp,
    /// The index is taken modulo the size of the axis. `NegativeIndex` makes no difference then.
    Wrap,
}
/// Every policy, in the order of declaration.
pub const ALL;
}

closed_set! {
/// The policy of a scatter for an update whose index is out of range, after [`NegativeIndex`] has been applied.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ScatterOutOfBounds {
    /// The call fails with [`Error::IndexOutOfRange`](crate::Error::IndexOutOfRange).
    #[default]
    Error,
    /// The update is skipped.
    Drop,
    /// The update goes to the nearest element: the first if the index is below 0, else the last. `Clamp` and
    /// [`Wrap`](Self::Wrap) cost a pass over the indices, as in gathers.
    Clamp,
    /// The index is taken modulo the size of the axis. `NegativeIndex` makes no difference then.
    Wrap,
}
/// Every policy, in the order of declaration.
pub const ALL;
}

/// The order of the depth dimension of [`DepthToSpace`](crate::DepthToSpace) and
/// [`SpaceToDepth`](crate::SpaceToDepth).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum DepthMode {
    /// `[block positions, channels]`, outermost first. ONNX `DCR`, OpenVINO `blocks_first`.
    #[default]
    Dcr,
    /// `[channels, block positions]`. ONNX `CRD`, OpenVINO `depth_first`, `torch.pixel_shuffle`.
    Crd,
}

impl ScatterOutOfBounds {
    /// The policy of the adjoint of a gather: updates of filled rows are dropped.
    pub(crate) fn of_gather(out_of_bounds: OutOfBounds) -> Self {
        match out_of_bounds {
            OutOfBounds::Error => ScatterOutOfBounds::Error,
            OutOfBounds::Zero => ScatterOutOfBounds::Drop,
            OutOfBounds::Clamp => ScatterOutOfBounds::Clamp,
            OutOfBounds::Wrap => ScatterOutOfBounds::Wrap,
        }
    }

    /// Lowers the policies of a scatter. If negative indices are skipped, no index is remapped.
    pub(crate) fn lower(self, negative: NegativeIndex, skips_negative: bool) -> KernelPolicy {
        let negative = if skips_negative { NegativeIndex::Reject } else { negative };
        let (missing, remap) = match self {
            ScatterOutOfBounds::Error => (Missing::Fail, None),
            ScatterOutOfBounds::Drop => (Missing::Skip, None),
            ScatterOutOfBounds::Clamp => (Missing::Fail, Some(Remap::Clamp)),
            ScatterOutOfBounds::Wrap => (Missing::Fail, Some(Remap::Wrap)),
        };
        KernelPolicy::new(negative, missing, remap.filter(|_| !skips_negative))
    }
}

/// Parallelism of a call: its maximum threads. The result is the same for any number.
///
/// A call from a rayon thread uses the pool of that thread; any other call uses the global pool. The first large call
/// starts the global pool, so configure it before.
///
/// The calling thread always works. It offers work to the pool, and free threads take chunks of it. At the end the
/// call waits for threads that have begun a chunk, and for no others. While it waits, its thread runs no other job: a
/// task may hold a lock or a `RefCell` across a call, whatever other tasks do. However many calls wait for help, a busy
/// pool holds at most one offer per pool thread, and one more for calls from outside.
///
/// A map or a reduction of yours may run calls of this crate. It may wait in rayon, by `join`, `scope`, `install` or a
/// parallel iterator. Then rayon may run any job of the pool, inside the call and on its thread. A job that waits in
/// rayon may be given a chunk of a call, and with it your map. So do not hold a lock across a wait in rayon if another
/// job or a map takes the same lock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Par {
    /// The calling thread only.
    Seq,
    /// The number of threads that pays off, up to the size of the pool. Without the feature `rayon`: `Seq`.
    #[default]
    Auto,
    /// At most this number, including the calling thread, however little there is to move. 0 counts as 1, and more
    /// than 1,024 as 1,024. Without the feature `rayon`: `Seq`.
    Threads(usize),
}

closed_set! {
/// The unit that has its own value of a parameter of a map or a row function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Per {
    /// The whole call.
    Call = "for the call",
    /// Each index.
    Index = "per index",
    /// Each row of data.
    Row = "per row of data",
    /// Each element of data.
    Element = "per element",
    /// Each slice.
    Slice = "per slice",
}
const fn name;
}

/// The policies for indices: of a gather, a bag, and of [`Checked`](crate::Checked) indices.
///
/// A policy for indices out of range alone counts negative indices from the end:
/// `IndexPolicy::from(OutOfBounds::Zero)`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct IndexPolicy {
    /// The meaning of negative indices.
    pub negative: NegativeIndex,
    /// The policy for indices out of range.
    pub out_of_bounds: OutOfBounds,
}

impl From<OutOfBounds> for IndexPolicy {
    fn from(out_of_bounds: OutOfBounds) -> Self {
        IndexPolicy { out_of_bounds, ..IndexPolicy::default() }
    }
}

impl IndexPolicy {
    /// The policy of a call by positions, which may be missing, and then are negative, if `missing`.
    pub(crate) const fn of_positions(missing: bool) -> Self {
        let out_of_bounds = if missing { OutOfBounds::Zero } else { OutOfBounds::Error };
        IndexPolicy { negative: NegativeIndex::Reject, out_of_bounds }
    }

    /// Lowers the policies of a gather or a bag.
    pub(crate) const fn lower(self) -> KernelPolicy {
        let (missing, remap) = match self.out_of_bounds {
            OutOfBounds::Error => (Missing::Fail, None),
            OutOfBounds::Zero => (Missing::Fill, None),
            OutOfBounds::Clamp => (Missing::Fail, Some(Remap::Clamp)),
            OutOfBounds::Wrap => (Missing::Fail, Some(Remap::Wrap)),
        };
        KernelPolicy::new(self.negative, missing, remap)
    }
}

/// The action of a kernel for a missing index: an index that names no position of its axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Missing {
    /// The result is incomplete, and the call fails.
    Fail,
    /// The row of the output is filled.
    Fill,
    /// The update of a scatter is skipped.
    Skip,
}

/// A pass over indices that replaces each missing index by a position, before a kernel runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Remap {
    /// The nearest position.
    Clamp,
    /// The index modulo the size of the axis.
    Wrap,
}

/// The policies of an operator in plans and kernels. Made by [`IndexPolicy::lower`] and [`ScatterOutOfBounds::lower`];
/// nothing else compares the public policies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KernelPolicy {
    pub(crate) from_end: bool,
    pub(crate) missing: Missing,
    /// After this pass no index is missing. On an axis of size 0 the pass does nothing, and every index is missing.
    pub(crate) remap: Option<Remap>,
    /// The public policy, for messages.
    pub(crate) negative: NegativeIndex,
}

impl KernelPolicy {
    pub(crate) const fn new(negative: NegativeIndex, missing: Missing, remap: Option<Remap>) -> Self {
        let from_end = match negative {
            NegativeIndex::FromEnd => true,
            NegativeIndex::Reject => false,
        };
        // For an index in `-dim..0`, the remainder is its position from the end.
        let wraps = matches!(remap, Some(Remap::Wrap));
        KernelPolicy { from_end: from_end || wraps, missing, remap, negative }
    }

    #[inline(always)]
    pub(crate) const fn fails(self) -> bool {
        match self.missing {
            Missing::Fail => true,
            Missing::Fill | Missing::Skip => false,
        }
    }

    #[inline(always)]
    pub(crate) const fn fills(self) -> bool {
        match self.missing {
            Missing::Fill => true,
            Missing::Fail | Missing::Skip => false,
        }
    }

    /// Whether a call can fail for an index. `empty`: the output is empty; `nowhere`: an axis has size 0.
    pub(crate) const fn refuses(self, empty: bool, nowhere: bool) -> bool {
        self.fails() && (self.remap.is_none() || !empty && nowhere)
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Options {
    pub(crate) par: Par,
    pub(crate) level: Option<Level>,
    pub(crate) method: Option<Method>,
}
