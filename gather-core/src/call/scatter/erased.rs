//! The type-erased scatter that every public method builds, and its pipeline.
//!
//! ```text
//! lower (attributes against shapes)  ->  plan (loops, method, kernel)  ->  check indices, copy data, run
//! ```
//!
//! A call with a few rows along the first axis of data is neither lowered nor planned: `FewUpdates` replaces the plan.

use crate::call::checks::{check_output, other_count};
use crate::call::scatter::ScatterAttributes;
use crate::exec::{self, ScatterOperands};
use crate::plan::{Dim, DynamicReducePlan, FewUpdates, IndexLowered, ReducePlan, ReduceRequest};
use crate::tensor::layout::Layout;
use crate::types::error::Error;

/// # Errors
/// Errors of the operator.
#[inline(never)]
pub(super) fn lower(
    attributes: &dyn ScatterAttributes,
    destination: &Layout,
    indices: &Layout,
    updates: &Layout,
) -> Result<IndexLowered, Error> {
    let mut lowered = IndexLowered::new(attributes.op());
    attributes.lower(destination, indices, updates, &mut lowered)?;
    Ok(lowered)
}

/// The call to plan, without its types.
pub(super) struct ScatterCallRequest<'a> {
    pub(super) attributes: &'a dyn ScatterAttributes,
    pub(super) planned: ReduceRequest,
    pub(super) indices: &'a Layout,
    pub(super) updates: &'a Layout,
}

impl<'a> ScatterCallRequest<'a> {
    /// # Errors
    /// Errors of the operator and of [`ReducePlan::new`].
    #[inline(never)]
    pub(super) fn plan(&self, destination: &Layout) -> Result<ReducePlan, Error> {
        let lowered = lower(self.attributes, destination, self.indices, self.updates)?;
        ReducePlan::new(&lowered, &self.planned, destination, self.updates)
    }

    /// A dynamic plan for a destination: the first dimension of indices and updates may have any size.
    ///
    /// # Errors
    /// [`Error::AnyCountUnavailable`].
    pub(super) fn dynamic(&self, plan: &ReducePlan, destination: &Layout) -> Result<DynamicReducePlan, Error> {
        let fixed = || Error::AnyCountUnavailable { op: plan.op() };
        let resized = |layout: &Layout, count| layout.resized(count).ok_or_else(fixed)?;
        let both = |count| Ok::<_, Error>((resized(self.indices, count)?, resized(self.updates, count)?));
        let plan_for = |count| {
            let (indices, updates) = both(count)?;
            ScatterCallRequest { indices: &indices, updates: &updates, ..*self }.plan(destination)
        };
        let (&[expected, ..], &[update, ..]) = (self.indices.shape(), self.updates.strides()) else {
            return Err(fixed());
        };
        // If the dimension is also a dimension of data, `lower` refuses another size.
        let other = other_count(expected);
        let (indices, updates) = both(other)?;
        let lowered = lower(self.attributes, destination, &indices, &updates).map_err(|_| fixed())?;
        let size = |n: usize| n as isize;
        let changes = ReducePlan::changes(&lowered, self.planned.policy);
        // Empty indices may be dynamic only if they change nothing.
        let is_dynamic = |dim: &Dim| dim.n == other && (dim.index != 0 || indices.is_empty() && !changes);
        match lowered.dims.first() {
            Some(&dim) if lowered.merged == 1 && is_dynamic(&dim) => {
                let index = dim.index.wrapping_mul(size(self.planned.index.size()));
                let strides = (index, update.wrapping_mul(size(self.planned.dtype.size())));
                DynamicReducePlan::new(plan_for, (plan.op(), expected, changes), dim, strides)
            }
            _ => Err(fixed()),
        }
    }

    /// Checks `data.shape() == out.shape()`. If they differ, errors of attributes and shapes come first.
    ///
    /// # Errors
    /// Errors of the operator, then [`Error::ShapeMismatch`].
    #[inline(always)]
    pub(super) fn check_output(&self, data: &Layout, out: &Layout) -> Result<(), Error> {
        if data.shape() == out.shape() {
            return Ok(());
        }
        let lowered = lower(self.attributes, data, self.indices, self.updates)?;
        check_output(lowered.op, data.shape(), out.shape())
    }

    /// Runs on tensors of the request's types and layouts.
    ///
    /// # Errors
    /// Errors of the operator, [`Error::ShapeMismatch`] for a fixed output that receives a copy, errors of
    /// [`ReducePlan::new`] and of the run. On an error a fixed output is untouched.
    pub(super) fn run(&self, operands: &mut ScatterOperands<'_>) -> Result<(), Error> {
        debug_assert_eq!(operands.inputs(), [self.indices, self.updates]);
        let row_major;
        let layout = match operands.out().layout() {
            Some(layout) => layout,
            None => {
                row_major = Layout::contiguous(operands.original().map_or(&[], Layout::shape))?;
                &row_major
            }
        };
        if let Some(data) = operands.original() {
            self.check_output(data, layout)?;
        }
        let lead = self.attributes.rows_by(layout, self.indices);
        let few = lead.and_then(|lead| FewUpdates::new(&self.planned, [layout, self.indices, self.updates], lead));
        if let Some(few) = &few {
            // SAFETY: X1: `few` was made for these layouts; `check_output` compared the output's shape with data's.
            return unsafe { exec::run_few_updates(few, operands) };
        }
        // The plan stays in the result: a move of hundreds of bytes takes as long as a short call.
        let planned = self.plan(layout);
        let Ok(plan) = &planned else { return planned.map(drop) };
        // SAFETY: X1: the plan was made for these layouts; `check_output` compared the output's shape with data's.
        unsafe { exec::run_scatter(plan, operands) }
    }
}
