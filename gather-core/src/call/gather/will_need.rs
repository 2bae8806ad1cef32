//! Requests for the pages of a mapped table, ahead of the call that will touch them.

use core::borrow::Borrow;

use smallvec::SmallVec;

use crate::call::attributes::IndexAttributes;
use crate::call::gather::GatherOperator;
use crate::call::gather::converted;
use crate::call::gather::kinds::{GatherKind, GatheredBy};
use crate::call::gather::plan::{GatherPlan, Plan};
use crate::call::source::Source;
use crate::call::source::checked::check_planned;
use crate::call::source::kind::IndexKind;
use crate::call::source::reader::Reader;
use crate::exec::Ids;
use crate::kernels::convert::ErasedParams;
use crate::kernels::{Cursor, Loop};
use crate::plan::Action;
use crate::plan::fold::for_each;
use crate::tensor::needed_pages::{AdviceStats, PageRequests};
use crate::tensor::residency::Residency;
use crate::tensor::typing::Typing;
use crate::types::index::by_index;

impl<A: IndexAttributes> GatherOperator<A> {
    /// Asks the system for the pages that a call on these indices will read: a hint for a table in mapped files that is
    /// larger than memory, or not yet in memory. They are the pages of the rows and of their values: the parameters of
    /// a map, the scales and zero points of blocks, in each of several chunks. Parameters of row functions are left
    /// out.
    ///
    /// Without it, the call stops at each missing page and waits for the disk, page after page. Pages requested
    /// together arrive at the same time. Requests are ranges; each page of the call is requested once, and adjacent
    /// pages share a range. `will_need` returns before the pages have arrived, and the call may follow at once.
    ///
    /// There are no errors. A call that the operator would refuse requests nothing, requests that the system refuses
    /// are dropped, and indices out of range are skipped. Data outside mapped files is left as it is. The result counts
    /// rows and ranges requested: 0 without the feature `std`, and on systems other than Unix.
    ///
    /// Cost: one pass over the indices, and a sort of the ranges. Some releases of Linux take 256 ranges in a system
    /// call, other systems one. For a table in memory this time is lost: with a [`Residency`], the plan's
    /// [`will_need_in`](Plan::will_need_in) saves it.
    ///
    /// ```
    /// use gather_core::{Gather, View};
    ///
    /// fn main() -> Result<(), gather_core::Error> {
    ///     // A mapped file in real life.
    ///     let table = vec![0u8; 1 << 20];
    ///     let (table, ids) = (View::new(&table, &[4096, 256])?, [7u32, 4000, 8]);
    ///     let gather = Gather::new(0);
    ///     let told = gather.will_need(&table, &ids);
    ///     let rows = gather.run(&table, &ids)?;
    /// #   assert_eq!(rows.shape(), [3, 256]);
    /// #   if cfg!(unix) {
    ///     assert_eq!(told.rows, 3);
    /// #   }
    ///     Ok(())
    /// }
    /// ```
    pub fn will_need<S, X>(&self, data: &S, indices: &X) -> AdviceStats
    where
        S: Source<Kind: GatheredBy<A>> + ?Sized,
        X: Source<Kind: IndexKind> + ?Sized,
    {
        self.plan(data, indices).map(|plan| plan.will_need(data, indices)).unwrap_or_default()
    }
}

impl<K: GatherKind, I: IndexKind> Plan<K, I> {
    /// Requests the pages that a run on these indices will read, or none for other layouts or types than the plan's:
    /// see [`GatherOperator::will_need`].
    pub fn will_need<S, X>(&self, data: &S, indices: &X) -> AdviceStats
    where
        S: Source<Kind = K> + ?Sized,
        X: Source<Kind = I> + ?Sized,
    {
        self.request(data, indices, None)
    }

    /// As [`Plan::will_need`], for pages of files that are not known to be in memory; then they are known. Nothing is
    /// visited or counted if every page of the files is known; else the call passes over all indices.
    pub fn will_need_in<S, X>(&self, data: &S, indices: &X, pages: &mut Residency<'_>) -> AdviceStats
    where
        S: Source<Kind = K> + ?Sized,
        X: Source<Kind = I> + ?Sized,
    {
        self.request(data, indices, Some(pages))
    }

    fn request<S, X>(&self, data: &S, indices: &X, pages: Option<&mut Residency<'_>>) -> AdviceStats
    where
        S: Source<Kind = K> + ?Sized,
        X: Source<Kind = I> + ?Sized,
    {
        let GatherPlan { dtype, index, .. } = self.plan;
        if K::Out::check(dtype, data.dtype()).is_err()
            || I::Out::check(index.dtype(), indices.dtype()).is_err()
            || check_planned(indices, self.plan.planned.plan(), || Ok(())).is_err()
        {
            return AdviceStats::default();
        }
        let (held, ids) = (data.held(), indices.held());
        // SAFETY: V1 of a source of this layout; its type is the planned type, as just checked.
        let ids = unsafe { Ids::new(indices.start(), ids.borrow(), index) };
        let (reader, mut told) = (data.reader(held.borrow()), AdviceStats::default());
        if let Some(requests) = PageRequests::new(pages) {
            let mut requests = Some(requests);
            // Arguments that a run refuses request nothing.
            let _refused = converted::with_params(&self.plan, &reader, &mut |params| {
                if let Some(requests) = requests.take() {
                    told = advise(&self.plan, &reader, ids, params, requests);
                }
                Ok(())
            });
        }
        told
    }
}

/// Requests the pages that a plan touches on operands of its types; none for other layouts. Reads no byte of data.
fn advise(
    GatherPlan { planned, .. }: &GatherPlan,
    reader: &Reader<'_>,
    ids: Ids<'_>,
    params: ErasedParams<'_>,
    mut requests: PageRequests<'_, '_>,
) -> AdviceStats {
    let Ok(count) = planned.check_inputs(reader.layout, ids.layout()) else { return AdviceStats::default() };
    let (plan, loops) = planned.loops(count);
    debug_assert_eq!(plan.index(), ids.of());
    if plan.action() != Action::Run || plan.axes().iter().any(|axis| axis.dim == 0) {
        return AdviceStats::default();
    }
    let spec = plan.spec();
    let (elements, size) = spec.conversion.map_or((1, spec.row), |of| (of.elements, of.size_in));
    // Tuples without components have no index to read.
    let components = if plan.axes().is_empty() { &[] } else { &spec.components[..] };
    let origin = Cursor { out: core::ptr::null_mut(), data: reader.start, index: ids.start() };
    let step = |at: Cursor, along: &Loop| at.step(along);
    // Loops with stride 0 in indices and data would request their rows again.
    let moving = loops.iter().copied().filter(|along| along.data != 0 || along.index != 0);
    let loops: SmallVec<[Loop; 6]> = moving.collect();
    for_each(&loops, origin, step, &mut |at: Cursor| {
        let (mut from, mut row) = (Some(at.data), 0);
        for component in components {
            let index = at.index.wrapping_offset(component.index);
            let position = by_index!(ids.of(), I => {
                // SAFETY: V1: the loops and components of the plan reach coordinates of its indices (P1).
                // `matches_inputs` compared their layout with the layout of `ids`.
                let index: I = unsafe { index.cast::<I>().read_unaligned() };
                spec.policy.resolve(index, component.dim)
            });
            row = position.unwrap_or(0) as usize;
            let position = position.map(|at| at.wrapping_mul(component.scale) as isize);
            from = from.zip(position).map(|(from, at)| from.wrapping_offset(at.wrapping_mul(plan.stride())));
        }
        if let Some(from) = from {
            requests.count_row();
            params.ranges((from, size), row, elements, &mut |start, bytes| requests.add(start, bytes));
        }
    });
    requests.finish()
}
