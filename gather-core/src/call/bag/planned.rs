//! A plan of bags with the layouts that it was made for, whatever the types: what typed, mapped and dynamic plans
//! share.

use crate::call::bag::erased::{self, Erased, Made, Request, Rules, Tensors};
use crate::call::{check_layout, check_target};
use crate::exec::pool_threads;
use crate::kernels::convert::ErasedParams;
use crate::plan::{BagPlan, Bounds, Explain};
use crate::tensor::layout::Layout;
use crate::tensor::output::Target;
use crate::types::element::DType;
use crate::types::error::Error;
use crate::types::op::Argument;

#[derive(Clone)]
pub(super) struct Planned {
    pub(super) plan: BagPlan,
    /// Of the bags that were planned for, whose indices have this layout.
    pub(super) bounds: Bounds,
    indices: Layout,
    out: Layout,
    data: Layout,
    rules: Rules,
}

impl core::fmt::Debug for Planned {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        core::fmt::Display::fmt(&self.explain(), f)
    }
}

impl Planned {
    /// A plan into a row-major output. Of the tensors, the offsets are read, and of others their layouts.
    ///
    /// # Errors
    /// Those of [`Request::plan`].
    pub(super) fn new(request: &Request<'_>, tensors: &Tensors<'_>) -> Result<Self, Error> {
        let Made { plan, bounds, out } = request.plan(tensors, None)?;
        let (data, indices) = (tensors.data.layout.clone(), tensors.indices.layout.clone());
        Ok(Planned { plan, bounds, indices, out, data, rules: request.rules() })
    }

    /// The data types of rows and of indices.
    #[inline]
    pub(super) fn dtypes(&self) -> (DType, DType) {
        (self.plan.request().dtype, self.plan.index().dtype())
    }

    pub(super) fn output_shape(&self) -> &[usize] {
        self.out.shape()
    }

    pub(super) fn explain(&self) -> Explain<'_> {
        Explain::bag(self.plan.call(&self.bounds), &self.out, pool_threads)
    }

    /// Checks the tensors of a call with the planned bags.
    pub(super) fn check<'a>(
        &self,
        data: Erased<'a>,
        indices: Erased<'a>,
        weights: Option<Erased<'a>>,
    ) -> Result<Tensors<'a>, Error> {
        check_layout(Argument::Data, &self.data, data.layout)?;
        check_layout(Argument::Indices, &self.indices, indices.layout)?;
        let tensors = Tensors { data, indices, offsets: None, weights, params: ErasedParams::NONE };
        erased::check_weights(self.rules.unweighted, &tensors)?;
        Ok(tensors)
    }

    /// Checks the tensors of a call with any bags, and reads where these begin and end.
    ///
    /// # Errors
    /// [`Error::PlanMismatch`] for data, those of [`erased::bounds`], then those of weights.
    pub(super) fn check_bags(&self, tensors: &Tensors<'_>) -> Result<Bounds, Error> {
        check_layout(Argument::Data, &self.data, tensors.data.layout)?;
        let bounds = erased::bounds(tensors, self.rules.include_last_offset)?;
        erased::check_weights(self.rules.unweighted, tensors)?;
        Ok(bounds)
    }

    /// Checks the layout of a fixed output, and runs the plan with the planned bags.
    ///
    /// # Errors
    /// [`Error::PlanMismatch`], then those of [`erased::run`].
    ///
    /// # Safety
    /// As for [`erased::run`], except for the layout of the output, whose type is the plan's (O1).
    pub(super) unsafe fn run(&self, tensors: &Tensors<'_>, out: Target<'_>) -> Result<(), Error> {
        check_target(&self.out, &out)?;
        // SAFETY: the caller's promise; the layout of the output has just been checked.
        unsafe { erased::run(&self.plan.call(&self.bounds), &self.out, tensors, out) }
    }

    /// As [`Planned::run`], with the bags that [`Planned::check_bags`] has read.
    ///
    /// # Errors
    /// [`Error::TooManyElements`], then as for [`Planned::run`].
    ///
    /// # Safety
    /// As for [`Planned::run`].
    pub(super) unsafe fn run_bags(&self, bounds: &Bounds, tensors: &Tensors<'_>, out: Target<'_>) -> Result<(), Error> {
        let other;
        let layout = if bounds.bags() == self.out.shape()[0] {
            &self.out
        } else {
            other = erased::output(&self.data, bounds.bags())?;
            &other
        };
        check_target(layout, &out)?;
        // SAFETY: as for `run`: rows of row-major results of any number of bags are the same step apart.
        unsafe { erased::run(&self.plan.call(bounds), layout, tensors, out) }
    }
}
