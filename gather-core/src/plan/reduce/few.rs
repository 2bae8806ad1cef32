//! Plan of a few updates in one loop: most short scatters. A call without a plan uses [`FewUpdates`], which needs no
//! folding of loops and no choice of method.

#![forbid(unsafe_code)]

use core::slice;

use crate::kernels::reduce::scatter::{ReduceFn, Row};
use crate::kernels::{CompiledResolveFn, Component, Loop};
use crate::plan::index::LeadingAxes;
use crate::plan::reduce::method::{FAR, ScatterNest};
use crate::plan::reduce::{ReduceRequest, skips_negative};
use crate::plan::tasks::Work;
use crate::tensor::layout::Layout;
use crate::types::index::IndexType;
use crate::types::level::{Available, Level};
use crate::types::op::Op;
use crate::types::policy::{KernelPolicy, Options};

/// Rows in one loop by one component, reduced one by one in place on one thread. They are few enough to resolve all
/// positions before the first row is written.
///
/// Made by [`ScatterNest::few`] alone. So they satisfy P1 and P2 of a plan for these layouts: `resolve` takes indices
/// of type `index` at `level`, and `take` rows of the data type.
//
// The fields are words: a copy of a struct that has just been written would wait for the stores.
#[derive(Clone, Copy)]
pub(crate) struct FewUpdates {
    pub(crate) op: Op,
    pub(crate) index: IndexType,
    pub(crate) level: Available,
    pub(crate) policy: KernelPolicy,
    pub(crate) skips_negative: bool,
    pub(crate) is_far: bool,
    /// The axis of the destination.
    pub(crate) axis: usize,
    /// The size of the axis, at least 1.
    pub(crate) dim: i32,
    /// `1..=MOST` updates.
    pub(crate) n: usize,
    pub(crate) resolve: CompiledResolveFn,
    pub(crate) take: ReduceFn,
    pub(crate) row: Row,
    /// Bytes from the start of the indices to the first index that is read.
    pub(crate) first: isize,
    /// Bytes between updates: in indices, in updates, and in the destination in addition to its positions.
    pub(crate) steps: [isize; 3],
    /// Bytes of the destination between positions.
    pub(crate) stride: isize,
}

impl FewUpdates {
    /// Maximum updates.
    pub(crate) const MOST: usize = 128;

    /// Updates of rows of a destination along its first axis; all three tensors are row-major. The first `lead`
    /// dimensions of indices are the dimensions of updates before a row. `None` if the updates are not
    /// [few](ScatterNest::few), if a tensor has another layout, or if the request needs a
    /// [`ReducePlan`](super::ReducePlan).
    #[inline(always)]
    pub(crate) fn new(request: &ReduceRequest, tensors: [&Layout; 3], lead: usize) -> Option<Self> {
        let [destination, indices, updates] = tensors;
        let (&[dim, ref inner @ ..], n) = (destination.shape(), indices.len()) else { return None };
        let is_few = n <= Self::MOST && destination.is_row_major() && indices.is_row_major();
        if !is_few || !(LeadingAxes { axes: 1, outer: lead }).fits_output(updates, destination, indices) {
            return None;
        }
        let elements = inner.iter().try_fold(1usize, |product, &n| product.checked_mul(n))?;
        let row = elements.checked_mul(request.dtype.size())?;
        // One update per index, and no more bytes than memory holds.
        isize::try_from(row.checked_mul(dim.max(n))?).ok().filter(|_| updates.len() == n * elements)?;
        let level = Level::resolve(request.options.level).ok()?;
        let component = Component { dim: dim as i64, scale: 1, index: 0 };
        let along = Loop { n, out: row as isize, data: 0, index: request.index.size() as isize };
        let nest = ScatterNest {
            components: slice::from_ref(&component),
            loops: slice::from_ref(&along),
            stride: row as isize,
            row,
            reach: row * dim,
            by_index: false,
        };
        nest.few(request, level, elements * request.values, 0)
    }

    /// The plan for `n` rows instead; `None` if `n` lies outside `1..=MOST`, or is worth more than one thread.
    #[inline(always)]
    pub(super) fn resized(self, n: usize, options: Options) -> Option<Self> {
        let work = Work { bytes: self.row.bytes.saturating_mul(n), rows: n, read: 0 };
        let is_few = (1..=Self::MOST).contains(&n) && work.is_for_one(options.par);
        is_few.then_some(FewUpdates { n, ..self })
    }
}

impl ScatterNest<'_> {
    /// The nest as a few updates along `axis`, in rows of `elements`; `None` if there are more, or it needs another
    /// method.
    #[inline(always)]
    pub(super) fn few(
        &self,
        request: &ReduceRequest,
        level: Available,
        elements: usize,
        axis: usize,
    ) -> Option<FewUpdates> {
        let (&[along], &[component]) = (self.loops, self.components) else { return None };
        let ReduceRequest { op, index, policy, options, .. } = *request;
        if self.row == 0 || options.method.is_some() || !request.is_in_place() {
            return None;
        }
        let few = FewUpdates {
            op,
            index,
            level,
            policy,
            skips_negative: skips_negative(request),
            is_far: self.reach > FAR,
            axis,
            dim: i32::try_from(component.dim).ok().filter(|&dim| dim > 0)?,
            n: along.n,
            resolve: request.kernels.scatter_kernel(op.scatter(), index, 1, *level).resolve,
            take: request.reducer.rows?.resolved.at(level),
            row: Row { elements, bytes: self.row, destination_bytes: self.row },
            first: component.index,
            steps: [along.index, along.out, along.data],
            stride: self.stride,
        };
        few.resized(along.n, options)
    }
}
