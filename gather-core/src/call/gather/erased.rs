//! Gathers without types: requests for plans, and the pipeline of unplanned calls that convert nothing.
//!
//! ```text
//! lower (attributes against shapes)  ->  plan (loops, method, kernel)  ->  run
//! ```
//!
//! A call that only moves a few rows of a table is neither lowered nor planned: `FewRows` replaces the plan.

use crate::call::attributes::IndexAttributes;
use crate::call::checks::check_output;
use crate::exec::{self, Operands, Written};
use crate::plan::{FewRows, IndexLowered, IndexPlan, IndexRequest, LeadingAxes};
use crate::tensor::layout::{Layout, Shape};
use crate::tensor::output::{Resize, Target};
use crate::types::error::Error;

/// A request to plan a call, without types.
#[derive(Clone, Copy)]
pub(super) struct Request<'a> {
    pub(super) attributes: &'a dyn IndexAttributes,
    pub(super) planned: &'a IndexRequest,
    pub(super) data: &'a Layout,
    pub(super) indices: &'a Layout,
}

impl<'a> Request<'a> {
    /// The request for operands, whose types are the types of `planned`.
    #[inline(always)]
    pub(super) fn of<O>(
        attributes: &'a dyn IndexAttributes,
        planned: &'a IndexRequest,
        operands: &Operands<'a, O>,
    ) -> Self {
        operands.debug_check(planned.index, planned.dtype);
        let ((_, data), (indices, _)) = (operands.data(), operands.indices());
        Request { attributes, planned, data, indices }
    }

    /// Checks the attributes against the shapes, and lowers the operator into `lowered`, which is empty.
    ///
    /// # Errors
    /// The errors of the operator.
    #[inline(always)]
    pub(super) fn lower(&self, lowered: &mut IndexLowered) -> Result<(), Error> {
        self.attributes.lower(self.data, self.indices, lowered)
    }

    /// The rows of a call that only moves or maps a few rows of a table: into an output of layout `out`, or into a
    /// fresh output for `None`.
    #[inline(always)]
    pub(super) fn few_rows(&self, out: Option<&Layout>) -> Option<(FewRows, LeadingAxes)> {
        let leading = self.attributes.leading_axes(self.data, self.indices)?;
        if !out.is_none_or(|out| leading.fits_output(out, self.data, self.indices)) {
            return None;
        }
        Some((FewRows::of(self.planned, leading, self.data, self.indices)?, leading))
    }

    /// Plans for a row-major output; returns the output's layout with the plan.
    ///
    /// # Errors
    /// The errors of [`Request::lower`] and of [`IndexPlan::new`].
    #[inline(always)]
    pub(super) fn plan(&self) -> Result<(IndexPlan, Layout), Error> {
        let mut lowered = IndexLowered::new(self.planned.op);
        self.lower(&mut lowered)?;
        let out = Layout::contiguous(&lowered.output)?;
        Ok((IndexPlan::new(&lowered, self.planned, &out)?, out))
    }

    /// Plans for a given output.
    ///
    /// # Errors
    /// The errors of [`Request::lower`], [`Error::ShapeMismatch`], then the errors of [`IndexPlan::new`].
    #[inline(always)]
    pub(super) fn plan_into(&self, out: &Layout) -> Result<IndexPlan, Error> {
        let mut lowered = IndexLowered::new(self.planned.op);
        self.lower(&mut lowered)?;
        check_output(lowered.op, &lowered.output, out.shape())?;
        IndexPlan::new(&lowered, self.planned, out)
    }
}

/// Runs a call that converts nothing. The request `planned` has the types of the operands.
///
/// # Errors
/// The errors of [`Request::plan_into`] for a fixed output, else of [`Request::plan`]; then the errors of the run.
#[inline(always)]
pub(super) fn run(
    attributes: &dyn IndexAttributes,
    planned: &IndexRequest,
    operands: Operands<'_, Target<'_>>,
) -> Result<(), Error> {
    match operands.fixed() {
        Ok((operands, layout)) => run_fixed(attributes, planned, &operands, layout),
        Err(operands) => run_resized(attributes, planned, operands),
    }
}

/// [`run`] for a fixed output. The plan stays in place: a move of hundreds of bytes takes longer than a small call.
#[inline(never)]
fn run_fixed(
    attributes: &dyn IndexAttributes,
    planned: &IndexRequest,
    operands: &Operands<'_>,
    layout: &Layout,
) -> Result<(), Error> {
    let request = Request::of(attributes, planned, operands);
    if let Some((rows, _)) = request.few_rows(Some(layout)) {
        // SAFETY: X1: `few_rows` found the rows in the layouts of the operands, and checked that the output is
        // row-major and has the shape of the result. The operands have the types of `planned`. Callers request no
        // conversion.
        return unsafe { exec::run_few_rows(&rows, planned, *operands) }.map(Written::all);
    }
    let made = request.plan_into(layout);
    let Ok(plan) = &made else { return made.map(drop) };
    // SAFETY: X1: the plan is for the types and layouts of the operands, and for the layout of their output. Callers
    // request no conversion.
    unsafe { exec::run_index(plan, *operands) }.map(Written::all)
}

#[inline(never)]
fn run_resized(
    attributes: &dyn IndexAttributes,
    planned: &IndexRequest,
    operands: Operands<'_, &mut dyn Resize>,
) -> Result<(), Error> {
    let request = Request::of(attributes, planned, &operands);
    if let Some((rows, leading)) = request.few_rows(None) {
        let shape = leading.output_shape(request.data, request.indices);
        let len = Shape::checked_len(&shape)?;
        // SAFETY: X1: `few_rows` found the rows in the layouts of the operands; `fill` makes a row-major output of this
        // shape. The operands have the types of `planned`. Callers request no conversion.
        return operands.fill(&shape, len, |operands| unsafe { exec::run_few_rows(&rows, planned, operands) });
    }
    let made = request.plan();
    let Ok((plan, layout)) = &made else { return made.map(drop) };
    // SAFETY: X1: the plan is for the types and layouts of the operands, and for this row-major output. Callers request
    // no conversion.
    operands.fill(plan.output(), layout.len(), |operands| unsafe { exec::run_index(plan, operands) })
}
