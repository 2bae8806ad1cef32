//! A few updates in one loop: what most short scatters are. A call that is not planned ahead goes by these alone, which
//! are found without folding loops or choosing a method.

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

/// Rows in one loop by one component, which are reduced one by one where they lie, on one thread: few enough for all
/// positions to be resolved before the first row is written.
///
/// Made by [`ScatterNest::few`] alone. So, for the layouts that they were found in, they have what P1 and P2 say of a
/// plan: `resolve` takes indices of the type `index` at `level`, and `take` rows of the data type.
//
// The fields are words: to copy a plan that has just been written would have to wait for the stores.
#[derive(Clone, Copy)]
pub(crate) struct FewUpdates {
    pub(crate) op: Op,
    pub(crate) index: IndexType,
    pub(crate) level: Available,
    pub(crate) policy: KernelPolicy,
    pub(crate) skips_negative: bool,
    /// Whether rows are prefetched.
    pub(crate) is_far: bool,
    /// The axis of the destination, and its size, at least 1.
    pub(crate) axis: usize,
    pub(crate) dim: i32,
    /// `1..=MOST` updates.
    pub(crate) n: usize,
    pub(crate) resolve: CompiledResolveFn,
    pub(crate) take: ReduceFn,
    pub(crate) row: Row,
    /// Bytes from the start of the indices to the first.
    pub(crate) first: isize,
    /// Bytes from one update to the next: of indices, of updates, and of the destination, beside its positions.
    pub(crate) steps: [isize; 3],
    /// Bytes of the destination from one position to the next.
    pub(crate) stride: isize,
}

impl FewUpdates {
    /// The most updates.
    pub(crate) const MOST: usize = 128;

    /// Updates of rows of a destination along its first axis, all three tensors row-major. The first `lead` dimensions
    /// of indices are those of updates before a row. `None` where they are no [few](ScatterNest::few), lie otherwise,
    /// or where anything is asked for that only [`ReducePlan`](super::ReducePlan) does or refuses.
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
        // An update for each index, and no more bytes than memory holds.
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

    /// The same rows, of which there are `n`; `None` for too many or none, or more than one thread is worth.
    #[inline(always)]
    pub(super) fn resized(self, n: usize, options: Options) -> Option<Self> {
        let work = Work { bytes: self.row.bytes.saturating_mul(n), rows: n, read: 0 };
        let is_few = (1..=Self::MOST).contains(&n) && work.is_for_one(options.par);
        is_few.then_some(FewUpdates { n, ..self })
    }
}

impl ScatterNest<'_> {
    /// The nest as a few updates along an axis, whose rows have this number of elements; `None` where they are more, or
    /// another method is asked for.
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
