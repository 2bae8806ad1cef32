//! A plan of bags with the layouts that it was made for, whatever the types: what typed, mapped and dynamic plans
//! share.

use crate::call::bag::erased::{self, Erased, Request, Tensors};
use crate::call::{check_layout, check_target};
use crate::exec::pool_threads;
use crate::kernels::convert::ErasedParams;
use crate::plan::{BagPlan, Explain};
use crate::tensor::layout::Layout;
use crate::tensor::output::Target;
use crate::types::error::Error;
use crate::types::op::Argument;

#[derive(Clone)]
pub(super) struct Planned {
    pub(super) plan: BagPlan,
    data: Layout,
    indices: Layout,
    /// The name of the reduction, where it takes no weights.
    unweighted: Option<&'static str>,
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
    ///
    /// # Safety
    /// As for [`Request::plan`].
    pub(super) unsafe fn new(request: &Request<'_>, tensors: &Tensors<'_>) -> Result<Self, Error> {
        // SAFETY: the caller's promise.
        let plan = unsafe { request.plan(tensors, None) }?;
        let (data, indices) = (tensors.data.layout.clone(), tensors.indices.layout.clone());
        Ok(Planned { plan, data, indices, unweighted: request.unweighted() })
    }

    pub(super) fn output_shape(&self) -> &[usize] {
        self.plan.output().shape()
    }

    pub(super) fn explain(&self) -> Explain<'_> {
        Explain::bag(&self.plan, pool_threads)
    }

    /// Checks the tensors of a call.
    pub(super) fn check<'a>(
        &self,
        data: Erased<'a>,
        indices: Erased<'a>,
        weights: Option<Erased<'a>>,
    ) -> Result<Tensors<'a>, Error> {
        check_layout(Argument::Data, &self.data, data.layout)?;
        check_layout(Argument::Indices, &self.indices, indices.layout)?;
        erased::check_weights(self.unweighted, &self.indices, weights.map(|weights| weights.layout))?;
        Ok(Tensors { data, indices, offsets: None, weights, params: ErasedParams::NONE })
    }

    /// Checks the layout of a fixed output, and runs the plan.
    ///
    /// # Errors
    /// [`Error::PlanMismatch`], then those of [`erased::run`].
    ///
    /// # Safety
    /// As for [`erased::run`], but for the layout of the output, whose type is the plan's (O1).
    pub(super) unsafe fn run(&self, tensors: &Tensors<'_>, out: Target<'_>) -> Result<(), Error> {
        check_target(self.plan.output(), &out)?;
        // SAFETY: the caller's promise; the layout of the output has just been checked.
        unsafe { erased::run(&self.plan, tensors, out) }
    }
}
