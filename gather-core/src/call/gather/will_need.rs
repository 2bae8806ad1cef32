//! Requests for the pages of a mapped table, ahead of the call that will touch them.

use smallvec::SmallVec;

use crate::call::attributes::IndexAttributes;
use crate::call::gather::GatherOperator;
use crate::call::gather::kinds::GatheredBy;
use crate::call::gather::planned::PlanInner;
use crate::call::source::Source;
use crate::call::source::kind::IndexKind;
use crate::exec::Ids;
use crate::kernels::{Cursor, Loop};
use crate::plan::Action;
use crate::plan::fold::for_each;
use crate::tensor::layout::Layout;
use crate::tensor::pages::{AdviceStats, PageBatch};
use crate::types::index::by_index;

impl<A: IndexAttributes> GatherOperator<A> {
    /// Requests the pages of data that a call on these indices will touch: a hint for a table in a mapped file that is
    /// larger than memory, or not yet in memory.
    ///
    /// Without the hint, the call waits for the disk at each missing page, page after page. Pages requested together
    /// are read in parallel. Requests are ranges; rows of the same page and of adjacent pages share a range.
    /// `will_need` returns before the pages have arrived, and the call may follow at once.
    ///
    /// There are no errors. A call that the operator would refuse requests nothing, requests that the system refuses
    /// are dropped, and indices out of range are skipped. Data outside mapped files is left as it is. The result counts
    /// rows and ranges requested: 0 without the feature `std`, and on systems other than Unix.
    ///
    /// Cost: one pass over the indices, and a system call per range. For a table in memory this time is lost.
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

/// Requests the pages that a plan touches on operands of its types; no pages for other layouts. Reads no byte of data.
pub(super) fn advise(planned: &PlanInner, (data, layout): (*const u8, &Layout), ids: Ids<'_>) -> AdviceStats {
    if !planned.matches_inputs(layout, ids.layout()) {
        return AdviceStats::default();
    }
    let (plan, index) = (planned.plan(), ids.start());
    debug_assert_eq!(plan.index(), ids.of());
    let nothing = plan.action() != Action::Run || plan.axes().iter().any(|axis| axis.dim == 0);
    let Some(mut batch) = PageBatch::new().filter(|_| !nothing) else { return AdviceStats::default() };
    let spec = plan.spec();
    let bytes = spec.conversion.map_or(spec.row, |conversion| conversion.bytes_in());
    // Tuples without components have no index to read.
    let components = if plan.axes().is_empty() { &[] } else { &spec.components[..] };
    let origin = Cursor { out: core::ptr::null_mut(), data, index };
    let step = |at: Cursor, along: &Loop| at.step(along);
    // Loops with stride 0 in indices and data would request their rows again.
    let moving = plan.loops().iter().copied().filter(|along| along.data != 0 || along.index != 0);
    let loops: SmallVec<[Loop; 6]> = moving.collect();
    for_each(&loops, origin, step, &mut |at: Cursor| {
        let mut from = Some(at.data);
        for component in components {
            let index = at.index.wrapping_offset(component.index);
            let position = by_index!(ids.of(), I => {
                // SAFETY: V1: the loops and components of the plan reach coordinates of its indices (P1).
                // `matches_inputs` compared their layout with the layout of `ids`.
                let index: I = unsafe { index.cast::<I>().read_unaligned() };
                spec.policy.resolve(index, component.dim)
            });
            let position = position.map(|at| at.wrapping_mul(component.scale) as isize);
            from = from.zip(position).map(|(from, at)| from.wrapping_offset(at.wrapping_mul(plan.stride())));
        }
        if let Some(from) = from {
            batch.add(from.addr(), bytes);
        }
    });
    batch.finish()
}
