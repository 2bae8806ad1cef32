//! A plan of the bags of one table with the layouts that it was made for, whatever the types.

use crate::call::bag::erased::{self, Made, Request, Rules, Starts, Tensors};
use crate::call::{check_layout, check_target};
use crate::exec::pool_threads;
use crate::kernels::convert::ConvertFns;
use crate::plan::{BagPlan, Bounds, Explain};
use crate::tensor::layout::Layout;
use crate::tensor::output::Target;
use crate::types::element::DType;
use crate::types::error::Error;
use crate::types::index::IndexType;
use crate::types::op::Argument;

#[derive(Clone)]
pub struct Planned {
    pub(super) plan: BagPlan,
    /// Of the bags that were planned for, whose indices have this layout.
    bounds: Bounds,
    indices: Layout,
    out: Layout,
    data: Layout,
    rules: Rules,
}

impl Planned {
    /// A plan into a row-major output. Of the tensors, the offsets are read, and of others their layouts.
    ///
    /// # Errors
    /// Those of [`Request::plan`].
    pub(super) fn new(request: &Request<'_>, tensors: &Tensors<'_>) -> Result<Self, Error> {
        let Made { plan, bounds, out } = request.plan(tensors, None)?;
        let (data, indices) = (tensors.data.layout.clone(), tensors.bags.indices.layout.clone());
        Ok(Planned { plan, bounds, indices, out, data, rules: request.rules() })
    }

    /// The types of rows and of indices.
    #[inline]
    pub(super) fn types(&self) -> (DType, IndexType) {
        (self.plan.request().dtype, self.plan.index())
    }

    pub(super) fn output_shape(&self) -> &[usize] {
        self.out.shape()
    }

    pub(super) fn explain(&self) -> Explain<'_> {
        Explain::bag(self.plan.call(&self.bounds), &self.out, pool_threads)
    }

    /// Checks the tensors of a call, and reads where bags begin and end: `None` for the bags that were planned.
    ///
    /// # Errors
    /// [`Error::PlanMismatch`] for data, those of [`erased::bounds`] or [`Error::PlanMismatch`] for indices in planned
    /// bags, then those of weights.
    pub(super) fn check(&self, tensors: &Tensors<'_>) -> Result<Option<Bounds>, Error> {
        check_layout(Argument::Data, &self.data, tensors.data.layout)?;
        let bounds = if let Starts::AsPlanned = tensors.bags.starts {
            check_layout(Argument::Indices, &self.indices, tensors.bags.indices.layout)?;
            None
        } else {
            Some(erased::bounds(tensors.data.layout, &tensors.bags, self.rules.include_last_offset)?)
        };
        erased::check_weights(self.rules.unweighted, &tensors.bags)?;
        Ok(bounds)
    }

    /// Runs the plan, with a map of the planned types where it has one.
    ///
    /// # Errors
    /// Those of [`Planned::check`] and of [`Planned::run_checked`].
    ///
    /// # Safety
    /// As for [`Planned::run_checked`], except for layouts and bounds.
    pub(super) unsafe fn run(
        &self,
        tensors: &Tensors<'_>,
        map: Option<ConvertFns>,
        out: Target<'_>,
    ) -> Result<(), Error> {
        let bounds = self.check(tensors)?;
        // SAFETY: the layouts and bounds of the inputs have just been checked; the rest is the caller's promise.
        unsafe { self.run_checked(bounds.as_ref(), tensors, map, out) }
    }

    /// Checks the layout of a fixed output, and runs the plan with the bags that [`Planned::check`] has read.
    ///
    /// # Errors
    /// [`Error::TooManyElements`], [`Error::PlanMismatch`], then those of [`erased::run`].
    ///
    /// # Safety
    /// As for [`erased::run`], except for the layout of the output, whose type is the plan's (O1). The map is of the
    /// planned types, and there is one where the plan has one.
    pub(super) unsafe fn run_checked(
        &self,
        bounds: Option<&Bounds>,
        tensors: &Tensors<'_>,
        map: Option<ConvertFns>,
        out: Target<'_>,
    ) -> Result<(), Error> {
        let bounds = bounds.unwrap_or(&self.bounds);
        let other;
        let layout = if bounds.bags() == self.out.shape()[0] {
            &self.out
        } else {
            other = erased::output(&self.data, bounds.bags())?;
            &other
        };
        check_target(layout, &out)?;
        let call = self.plan.call_by(bounds, map);
        // SAFETY: the caller's promise; the layout of the output has just been checked. Rows of row-major results of any
        // number of bags are the same step apart.
        unsafe { erased::run(&call, layout, tensors, out) }
    }
}
