//! The plan of an operator on indices: a folded loop nest, and the kernel that runs it.

#![forbid(unsafe_code)]

mod build;
mod few_rows;
mod shaped;

pub(crate) use few_rows::{FewRows, LeadingAxes};

use core::ops::{Deref, DerefMut};

use crate::kernels::IndexKernel;
use crate::kernels::convert::row::DecodeLayout;
use crate::kernels::select::Kernels;
use crate::plan::method::Panels;
use crate::plan::nest::NestPlan;
use crate::plan::tasks::Work;
use crate::tensor::layout::Shape;
use crate::types::declare::accessors;
use crate::types::element::DType;
use crate::types::index::IndexType;
use crate::types::level::Level;
use crate::types::method::Method;
use crate::types::op::Op;
use crate::types::policy::{KernelPolicy, Options};

/// The inputs of a plan other than layouts.
#[derive(Clone, Copy)]
pub(crate) struct IndexRequest {
    pub(crate) op: Op,
    pub(crate) kernels: Kernels,
    /// The data type of the output, and of data unless a map converts.
    pub(crate) dtype: DType,
    pub(crate) index: IndexType,
    pub(crate) policy: KernelPolicy,
    pub(crate) options: Options,
    pub(crate) converting: Option<Converting>,
}

/// A map or a row function, type-erased.
#[derive(Clone, Copy)]
pub(crate) struct Converting {
    /// Bytes of an element of data.
    pub(crate) size_in: usize,
    /// The kernel of maps for the index type.
    pub(crate) kernel: fn(Level, Method) -> IndexKernel,
    pub(crate) whole: Option<WholeRows>,
}

/// Rows of a row function; the plan's loops go around them.
#[derive(Clone, Copy)]
pub(crate) struct WholeRows {
    /// Elements of a row of data.
    pub(crate) elements: usize,
    /// Elements of a row of the output.
    pub(crate) results: usize,
}

/// The plan of an operator on indices.
///
/// Made by [`IndexPlan::new`] alone, from attributes that have been checked against the layouts of data, indices and
/// output. So, for tensors of these layouts and types:
///
/// - **P1** `loops` reach the elements of the output, each once, and the elements of data and indices that the
///   operator reads for them (K1, K3), for every position `0..dim` of the axes (K2).
/// - **P2** `spec`, `stride` and `kernel` match: the kernel has `spec.level`, the index type, rows of `spec.row` bytes
///   and the nest's rank, and takes the nest by `spec.method` (K5 to K9).
/// - **P3** With `panels`, P2 holds for the loops after the first `panels.moving`, with data packed into panels.
/// - **P4** If `action` is `Run`, the output has elements.
#[derive(Clone, Debug)]
pub(crate) struct IndexPlan {
    /// P1, P2, P4.
    nest: NestPlan,
    output: Shape,
    /// P3.
    panels: Option<Panels>,
    /// The rows that a row function reads, if data is decoded first (K8).
    decoded: Option<DecodeLayout>,
    /// Whether the inner loop runs block by block, so that outer loops revisit a block's indices.
    blocked: bool,
    /// Whether a call is one call of the kernel, on one thread: no panels, no blocks, no remapping, no rows decoded
    /// into a scratch. The plan has an axis: tuples without components need `NO_INDEX` as the address of their indices.
    whole: bool,
}

impl IndexPlan {
    pub(crate) fn output(&self) -> &Shape {
        &self.output
    }

    pub(crate) fn panels(&self) -> Option<&Panels> {
        self.panels.as_ref()
    }

    /// Sets the fill of rows out of range, if they are filled, to the bytes of a value of the output's type (K6).
    pub(crate) fn set_fill(&mut self, fill: &[u8]) {
        if !self.spec.fill.is_empty() {
            debug_assert_eq!(self.spec.fill.len(), fill.len(), "K6");
            self.spec.fill = fill.into();
        }
    }

    /// Decodes rows first, for the row function that reads them (K8).
    pub(crate) fn decode_rows(&mut self, decoded: DecodeLayout) {
        if self.spec.conversion.is_some() {
            self.decoded = Some(decoded);
            self.whole = false;
        }
    }

    #[inline]
    pub(crate) fn decoded(&self) -> Option<&DecodeLayout> {
        self.decoded.as_ref()
    }

    /// Whether `fill` is the fill of rows out of range, or no rows are filled.
    #[inline]
    pub(crate) fn fills_by(&self, fill: &[u8]) -> bool {
        self.spec.fill.is_empty() || self.spec.fill[..] == *fill
    }

    accessors! { self:
        pub(crate) fn is_blocked() -> bool => self.blocked;
        pub(crate) fn is_whole() -> bool => self.whole;
        pub(crate) fn method() -> Method => if self.panels.is_some() { Method::Panels } else { self.spec.method };
        /// Whether a pass over indices precedes the kernel.
        pub(crate) fn remaps() -> bool => self.spec.policy.remap.is_some();
    }

    /// Whether a call of this much work is one call of the kernel, except for a pass over its indices.
    #[inline]
    pub(crate) fn is_one_call(&self, work: Work) -> bool {
        !self.blocked
            && self.panels.is_none()
            && !self.axes.is_empty()
            && self.decoded.is_none()
            && work.is_for_one(self.options.par)
    }
}

impl Deref for IndexPlan {
    type Target = NestPlan;

    #[inline(always)]
    fn deref(&self) -> &NestPlan {
        &self.nest
    }
}

impl DerefMut for IndexPlan {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut NestPlan {
        &mut self.nest
    }
}
