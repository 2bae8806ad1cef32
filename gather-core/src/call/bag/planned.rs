//! A plan of the bags of one table with the layouts that it was made for, whatever the types.

use crate::call::bag::erased::{self, BagTensors, ErasedBags, Made, Starts, one};
use crate::call::checks::{check_layout, check_target};
use crate::exec::pool_threads;
use crate::kernels::convert::DecodeFns;
use crate::plan::{BagPlan, BagRequest, Explain, PreparedBags};
use crate::tensor::layout::Layout;
use crate::types::element::DType;
use crate::types::error::Error;
use crate::types::index::IndexType;
use crate::types::op::Argument;

#[derive(Clone)]
pub(super) struct PlannedBag {
    pub(super) plan: BagPlan,
    /// That were planned for, whose indices have this layout.
    bags: PreparedBags,
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
        let Made { plan, bags: prepared, fresh } = request.plan(data, bags, None)?;
        let (data, indices) = (data.clone(), bags.indices.layout.clone());
        Ok(PlannedBag { plan, bags: prepared, indices, out: fresh.expect("no output is fixed"), data })
    }

    /// The types of rows and of indices.
    #[inline]
    pub(super) fn types(&self) -> (DType, IndexType) {
        (self.plan.dtype, self.plan.index)
    }

    pub(super) fn output_shape(&self) -> &[usize] {
        self.out.shape()
    }

    pub(super) fn explain(&self) -> Explain<'_> {
        Explain::bag(&self.plan, &self.bags.bounds, &self.out, pool_threads)
    }

    /// Checks the tensors of a call, and reads where bags begin and end: `None` for the bags that were planned.
    ///
    /// # Errors
    /// [`Error::PlanMismatch`] for data, those of [`erased::bounds`] or [`Error::PlanMismatch`] for indices in planned
    /// bags, then those of weights.
    pub(super) fn check(&self, tensors: &BagTensors<'_, '_>) -> Result<Option<PreparedBags>, Error> {
        let (data, bags) = (tensors.data().layout, one(tensors.bags()));
        check_layout(Argument::Data, &self.data, data)?;
        let are_planned = self.indices.matches(bags.indices.layout);
        let prepared = match bags.starts {
            Starts::AsPlanned => {
                check_layout(Argument::Indices, &self.indices, bags.indices.layout)?;
                None
            }
            // Bags of one length follow from the layout.
            Starts::EachRow if are_planned && self.indices.rank() == 2 => None,
            _ => Some(self.plan.prepare(bags.bounds(data, self.plan.include_last_offset)?, bags.indices.layout)),
        };
        bags.check_weights(self.plan.weighted)?;
        Ok(prepared)
    }

    /// Runs the plan, which has no map, on tensors of its types.
    ///
    /// # Errors
    /// Those of [`PlannedBag::check`] and of [`PlannedBag::run_checked`].
    pub(super) fn run(&self, tensors: BagTensors<'_, '_>) -> Result<(), Error> {
        let bags = self.check(&tensors)?;
        // SAFETY: these are the bags of the tensors; no map converts.
        unsafe { self.run_checked(bags.as_ref(), tensors, None) }
    }

    /// Checks the layout of a fixed output, and runs the plan with the bags that [`PlannedBag::check`] has read.
    ///
    /// # Errors
    /// [`Error::TooManyElements`], [`Error::PlanMismatch`], then those of [`erased::run`].
    ///
    /// # Safety
    /// [`PlannedBag::check`] has returned these bags for the tensors. Where the plan has a map, this one is of its
    /// types, and what is given is of its parameters, and has been checked (K8).
    pub(super) unsafe fn run_checked(
        &self,
        bags: Option<&PreparedBags>,
        tensors: BagTensors<'_, '_>,
        map: Option<DecodeFns>,
    ) -> Result<(), Error> {
        let bags = bags.unwrap_or(&self.bags);
        let n = bags.bounds.bags();
        let other;
        let layout = if n == self.out.shape()[0] {
            &self.out
        } else {
            other = erased::output(&self.data, n)?;
            &other
        };
        check_target(layout, tensors.out())?;
        // SAFETY: X1: layouts, bounds and weights of the inputs have been checked, by the contract, and the layout of
        // the output just now. Rows of row-major results of any number of bags are the same step apart.
        unsafe { erased::run(&self.plan, bags, map, Some(layout), tensors) }
    }
}
