//! A plan of the bags of one table with the layouts that it was made for, whatever the types.

use crate::call::bag::erased::{self, BagStarts, BagTensors, ErasedBags, one};
use crate::call::checks::{check_layout, check_target};
use crate::exec::{BagMap, pool_threads};
use crate::plan::{BagPlan, BagRequest, Explain, PreparedBags};
use crate::tensor::layout::Layout;
use crate::types::declare::accessors;
use crate::types::element::DType;
use crate::types::error::Error;
use crate::types::index::IndexType;
use crate::types::op::Argument;

#[derive(Clone)]
pub(super) struct PlannedBag {
    pub(super) plan: BagPlan,
    /// That were planned for, whose indices have this layout, and whether it says where they begin.
    pub(super) bags: PreparedBags,
    is_packed: bool,
    indices: Layout,
    out: Layout,
    data: Layout,
}

impl PlannedBag {
    /// A plan into a row-major output, for data of a layout. Of bags the offsets are read.
    ///
    /// # Errors
    /// Those of [`BagRequest::plan`].
    pub(super) fn new(request: &BagRequest<'_>, data: &Layout, bags: &ErasedBags<'_>) -> Result<Self, Error> {
        let (layout, indices) = (data.clone(), bags.indices.layout.clone());
        let is_packed = matches!(bags.starts, BagStarts::EachRow);
        request.plan(data, bags, None, |plan, bags, fresh| {
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

    /// Checks the tensors of a call, and reads where bags begin and end, unless they are those that
    /// were planned.
    ///
    /// # Errors
    /// [`Error::PlanMismatch`] for data, those of [`ErasedBags::bounds`] or [`Error::PlanMismatch`] for indices in
    /// planned bags, then those of weights.
    #[inline(always)]
    pub(super) fn check<'a>(
        &'a self,
        tensors: &BagTensors<'_, '_>,
        read: &'a mut Option<PreparedBags>,
    ) -> Result<&'a PreparedBags, Error> {
        let (data, bags) = (tensors.data().layout, one(tensors.bags()));
        check_layout(Argument::Data, &self.data, data)?;
        let are_planned = match bags.starts {
            BagStarts::AsPlanned => {
                check_layout(Argument::Indices, &self.indices, bags.indices.layout).map(|()| true)?
            }
            BagStarts::EachRow => self.is_packed && self.indices.matches(bags.indices.layout),
            BagStarts::At(_) => false,
        };
        let prepared = if are_planned { &self.bags } else { self.read(data, bags, read)? };
        bags.check_weights(self.plan.weighted)?;
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

    /// Runs the plan, which has no map, on tensors of its types.
    ///
    /// # Errors
    /// Those of [`PlannedBag::check`] and of [`PlannedBag::run_checked`].
    pub(super) fn run(&self, tensors: BagTensors<'_, '_>) -> Result<(), Error> {
        let mut read = None;
        let bags = self.check(&tensors, &mut read)?;
        // SAFETY: these are the bags of the tensors; no map converts.
        unsafe { self.run_checked(bags, tensors, None) }
    }

    /// Checks the layout of a fixed output, and runs the plan with the bags that [`PlannedBag::check`] has read.
    ///
    /// # Errors
    /// [`Error::TooManyElements`], [`Error::PlanMismatch`], then those of [`erased::run`].
    ///
    /// # Safety
    /// [`PlannedBag::check`] has returned these bags for the tensors. Where the plan has a map, this one is of its
    /// types, and what is given is of its parameters, and has been checked (K8).
    #[inline(always)]
    pub(super) unsafe fn run_checked(
        &self,
        bags: &PreparedBags,
        tensors: BagTensors<'_, '_>,
        map: Option<&BagMap<'_>>,
    ) -> Result<(), Error> {
        let other;
        // The planned bags need no count.
        let layout = if core::ptr::eq(bags, &self.bags) || bags.bounds.bags() == self.out.shape()[0] {
            &self.out
        } else {
            other = erased::output(&self.data, bags.bounds.bags())?;
            &other
        };
        check_target(layout, tensors.out())?;
        // SAFETY: X1: layouts, bounds and weights of the inputs have been checked, by the contract, and the layout of
        // the output just now. Rows of row-major results of any number of bags are the same step apart.
        unsafe { erased::run((&self.plan, bags), map, Some(layout), tensors) }
    }
}
