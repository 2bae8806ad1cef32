//! A plan of the bags of one table, with the planned layouts, of any types.

use crate::call::bag::erased::{self, BagStarts, BagTensors, ErasedBags, one};
use crate::call::checks::{check_layout, check_target};
use crate::exec::{BagMap, pool_threads};
use crate::plan::{BagReducePlan, BagRequest, Explain, PreparedBags};
use crate::tensor::layout::Layout;
use crate::types::declare::accessors;
use crate::types::element::DType;
use crate::types::error::Error;
use crate::types::index::IndexType;
use crate::types::op::Argument;

#[derive(Clone)]
pub(super) struct PlannedBag {
    pub(super) plan: BagReducePlan,
    /// The planned bags, whose indices have the layout `indices`.
    pub(super) bags: PreparedBags,
    /// Whether each row of the planned indices is a bag.
    is_packed: bool,
    indices: Layout,
    out: Layout,
    data: Layout,
}

impl PlannedBag {
    /// A plan into a row-major output, for data of a layout. Reads the offsets of `bags`.
    ///
    /// # Errors
    /// As for [`BagRequest::plan`].
    pub(super) fn new(request: &BagRequest<'_>, data: &Layout, bags: &ErasedBags<'_>) -> Result<Self, Error> {
        let (layout, indices) = (data.clone(), bags.indices.layout.clone());
        let is_packed = matches!(bags.starts, BagStarts::EachRow);
        request.plan(data, &bags.planned(), None, |plan, bags, fresh| {
            let out = fresh.expect("no output is fixed").clone();
            Ok(PlannedBag { plan: plan.clone(), bags, is_packed, indices, out, data: layout })
        })
    }

    accessors! { self:
        /// The types of rows and of indices.
        pub(super) fn types() -> (DType, IndexType) => (self.plan.dtype, self.plan.index);
        pub(super) fn output_shape() -> &[usize] => self.out.shape();
        pub(super) fn explain() -> Explain<'_> => Explain::bag(&self.plan, &self.bags.bounds, &self.out, pool_threads);
    }

    /// Checks the tensors of a call. Reads the bounds of bags, unless the bags are the planned ones.
    ///
    /// # Errors
    /// [`Error::PlanMismatch`] for data, as for [`ErasedBags::bounds`] or [`Error::PlanMismatch`] for indices in
    /// planned bags, then errors of weights.
    #[inline(always)]
    pub(super) fn check<'a>(
        &'a self,
        data: &Layout,
        bags: &ErasedBags<'_>,
        read: &'a mut Option<PreparedBags>,
    ) -> Result<&'a PreparedBags, Error> {
        check_layout(Argument::Data, &self.data, data)?;
        let are_planned = match bags.starts {
            BagStarts::AsPlanned => {
                check_layout(Argument::Indices, &self.indices, bags.indices.layout).map(|()| true)?
            }
            BagStarts::EachRow => self.is_packed && self.indices.matches(bags.indices.layout),
            BagStarts::At(_) => false,
        };
        let prepared = if are_planned { &self.bags } else { self.read(data, bags, read)? };
        bags.check(self.data.shape()[0], self.plan.weighted)?;
        Ok(prepared)
    }

    #[inline(never)]
    fn read<'a>(
        &self,
        data: &Layout,
        bags: &ErasedBags<'_>,
        read: &'a mut Option<PreparedBags>,
    ) -> Result<&'a PreparedBags, Error> {
        let bounds = bags.bounds(data, self.plan.include_last_offset)?;
        Ok(read.insert(self.plan.prepare(bounds, bags.indices.layout)))
    }

    /// Runs a plan without a map on tensors of its types.
    ///
    /// # Errors
    /// As for [`PlannedBag::check`] and [`PlannedBag::run_checked`].
    pub(super) fn run(&self, tensors: BagTensors<'_, '_>) -> Result<(), Error> {
        let mut read = None;
        let bags = self.check(tensors.data().layout, one(tensors.bags()), &mut read)?;
        // SAFETY: `check` returned these bags for the tensors; there is no map.
        unsafe { self.run_checked(bags, tensors, None) }
    }

    /// Checks the layout of a fixed output, and runs the plan with the bags of [`PlannedBag::check`].
    ///
    /// # Errors
    /// [`Error::TooManyElements`], [`Error::PlanMismatch`], then as for [`erased::run`].
    ///
    /// # Safety
    /// [`PlannedBag::check`] has returned these bags for the tensors. If the plan has a map, `map` has its types, and
    /// its params have been checked (K8).
    #[inline(always)]
    pub(super) unsafe fn run_checked(
        &self,
        bags: &PreparedBags,
        tensors: BagTensors<'_, '_>,
        map: Option<&BagMap<'_>>,
    ) -> Result<(), Error> {
        let other;
        // The planned bags have the planned output layout.
        let layout = if core::ptr::eq(bags, &self.bags) || bags.bounds.bags() == self.out.shape()[0] {
            &self.out
        } else {
            other = erased::output(&self.data, bags.bounds.bags())?;
            &other
        };
        check_target(layout, tensors.out())?;
        // SAFETY: X1: `check` compared layouts and weights of the inputs, by the contract; `check_target` the output's
        // layout. Row-major results have one row stride for any number of bags.
        unsafe { erased::run((&self.plan, bags), map, Some(layout), tensors) }
    }
}
