//! Requests for the pages of mapped tables, ahead of the bags that reduce their rows.

use core::borrow::Borrow;

use crate::call::bag::bags::{BagsOf, PlanBags};
use crate::call::bag::erased::{ErasedBags, ErasedTensor};
use crate::call::bag::kinds::{BagKind, BaggedBy};
use crate::call::bag::plan::{BagPlan, PlannedBags};
use crate::call::bag::{BagOperator, maps};
use crate::call::source::Source;
use crate::call::source::kind::IndexKind;
use crate::call::source::reader::{Format, Reader};
use crate::exec;
use crate::kernels::convert::ErasedParams;
use crate::kernels::{Cursor, Loop};
use crate::plan::fold::for_each;
use crate::plan::{BagReducePlan, PreparedBags};
use crate::tensor::needed_pages::{AdviceStats, PageRequests};
use crate::tensor::residency::Residency;
use crate::tensor::typing::Typing;
use crate::types::error::Error;

impl<R> BagOperator<R> {
    /// Asks the system for the pages that a call on these bags will read, as
    /// [`Gather::will_need`](crate::GatherOperator::will_need) does: rows with their scales or parameters, in each
    /// chunk or table. Skipped rows are left out; an index out of range that is an error counts as row 0, and the
    /// default row as read.
    ///
    /// ```
    /// use gather_core::{Bags, EmbeddingBag, Reduction, View};
    ///
    /// fn main() -> Result<(), gather_core::Error> {
    ///     // A mapped file in real life.
    ///     let table = vec![0.5f32; 1 << 20];
    ///     let table = View::new(&table, &[4096, 256])?;
    ///     let (sum, bags) = (EmbeddingBag::new(Reduction::Add), Bags::new(&[7u32, 4000, 8], &[0u32, 2]));
    ///     let told = sum.will_need(&table, &bags);
    ///     let sums = sum.run(&table, &bags)?;
    /// #   assert_eq!(sums.shape(), [2, 256]);
    /// #   if cfg!(unix) {
    ///     assert_eq!(told.rows, 3);
    /// #   }
    ///     Ok(())
    /// }
    /// ```
    pub fn will_need<S, B>(&self, data: &S, bags: &B) -> AdviceStats
    where
        S: Source<Kind: BaggedBy<R>> + ?Sized,
        B: BagsOf<<S::Kind as BagKind>::Weight> + ?Sized,
    {
        self.plan(data, bags).map(|plan| plan.will_need(data, bags)).unwrap_or_default()
    }
}

impl<K: BagKind, I: IndexKind> BagPlan<K, I> {
    /// Requests the pages that a run on these bags will read, or none for other layouts or types than the plan's: see
    /// [`EmbeddingBag::will_need`](crate::BagOperator::will_need).
    pub fn will_need<S, B>(&self, data: &S, bags: &B) -> AdviceStats
    where
        S: Source<Kind = K> + ?Sized,
        B: PlanBags<K::Weight, Index = I> + ?Sized,
    {
        self.request(data, bags, None)
    }

    /// As [`BagPlan::will_need`], for pages of files that are not known to be in memory; then they are known. Nothing is
    /// visited or counted if every page of the files is known; else the call passes over all bags.
    pub fn will_need_in<S, B>(&self, data: &S, bags: &B, pages: &mut Residency<'_>) -> AdviceStats
    where
        S: Source<Kind = K> + ?Sized,
        B: PlanBags<K::Weight, Index = I> + ?Sized,
    {
        self.request(data, bags, Some(pages))
    }

    fn request<S, B>(&self, data: &S, bags: &B, pages: Option<&mut Residency<'_>>) -> AdviceStats
    where
        S: Source<Kind = K> + ?Sized,
        B: PlanBags<K::Weight, Index = I> + ?Sized,
    {
        let plan = self.inner();
        let Some(mut requests) = PageRequests::new(pages) else { return AdviceStats::default() };
        let held = data.held();
        let reader = data.reader(held.borrow());
        // Bags that a run refuses request nothing.
        let asked = K::Out::check(plan.dtype(), reader.dtype).and_then(|()| {
            bags.with(
                K::weight(reader.dtype),
                |table| plan.index(table),
                |bags| advise(plan, &reader, bags, &mut requests),
            )
        });
        if asked.is_ok() { requests.finish() } else { AdviceStats::default() }
    }
}

/// Collects the pages that a plan reads for bags.
///
/// # Errors
/// The errors of a run that come before its output.
fn advise(
    plan: &PlannedBags,
    reader: &Reader<'_>,
    bags: &[ErasedBags<'_>],
    requests: &mut PageRequests<'_, '_>,
) -> Result<(), Error> {
    match (plan, reader.format) {
        (PlannedBags::Tables(planned), Format::Tables(tables)) => {
            planned.each_table(tables, bags, &mut |of, data, bags| rows(of, data, bags, ErasedParams::NONE, requests))
        }
        (PlannedBags::Rows(planned, reads), format) => {
            let [bags] = bags else { unreachable!("one table has one `Bags`") };
            reads.check(reader)?;
            let data = match format {
                Format::Fused(table) => table.into(),
                _ => ErasedTensor { origin: reader.start, layout: reader.layout },
            };
            let mut read = None;
            let prepared = planned.check(data.layout, bags, &mut read)?;
            maps::with_params(&planned.plan, prepared, reader, &mut |params| {
                rows((&planned.plan, prepared), data, bags, params, requests);
            })
        }
        _ => unreachable!("a plan of another kind"),
    }
}

/// Collects the pages of the rows of bags, and of their params.
fn rows(
    (plan, prepared): (&BagReducePlan, &PreparedBags),
    data: ErasedTensor<'_>,
    bags: &ErasedBags<'_>,
    params: ErasedParams<'_>,
    requests: &mut PageRequests<'_, '_>,
) {
    let (elements, size) = if plan.fused.is_some() { (plan.row_in, 1) } else { (plan.elements, plan.size_in) };
    let step = |at: Cursor, along: &Loop| at.step(along);
    let mut visit = |row: usize| {
        requests.count_row();
        let from = data.origin.wrapping_offset(plan.stride.wrapping_mul(row as isize));
        let first = Cursor { out: core::ptr::null_mut(), data: from, index: core::ptr::null() };
        for_each(&plan.loops, first, step, &mut |at: Cursor| {
            params.ranges((at.data, size), row, elements, &mut |start, bytes| requests.add(start, bytes));
        });
    };
    if !plan.has_elements || plan.rule.dim == 0 {
        return;
    }
    plan.default.into_iter().for_each(&mut visit);
    // SAFETY: X1: the bags have been prepared for the plan, and their indices may be read along their layout.
    unsafe { exec::each_row(plan, prepared, bags.indices.origin, &mut visit) };
}
