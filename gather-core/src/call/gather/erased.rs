//! A call without its types: what every door of the operators on indices makes, and the one pipeline behind it.
//!
//! ```text
//! lower (attributes against shapes)  ->  plan (loops, method, kernel)  ->  run
//! ```
//!
//! A call that moves a few rows of a table skips all steps: `FewRows` has all that its kernel reads.
//!
//! Compiled once, whatever the types of a call.

use crate::call::check_output;
use crate::call::gather::IndexAttributes;
use crate::exec::{self, Operands};
use crate::plan::{FewRows, IndexLowered, IndexPlan, IndexRequest};
use crate::tensor::layout::{Layout, Shape};
use crate::tensor::output::{Resize, Target};
use crate::types::error::Error;

/// The call to plan, without its types.
#[derive(Clone, Copy)]
pub(super) struct Request<'a> {
    pub(super) attributes: &'a dyn IndexAttributes,
    pub(super) planned: IndexRequest,
    pub(super) data: &'a Layout,
    pub(super) indices: &'a Layout,
}

impl Request<'_> {
    /// Checks the attributes against the shapes, and adds loops and axes to what is empty.
    ///
    /// # Errors
    /// Those of the operator.
    #[inline(always)]
    pub(super) fn lower(&self, lowered: &mut IndexLowered) -> Result<(), Error> {
        self.attributes.lower(self.data, self.indices, lowered)
    }

    /// The few rows of a table that the call moves, if it does no more.
    #[inline(always)]
    fn few_rows(&self) -> Option<FewRows> {
        let takes_rows = self.attributes.takes_rows(self.data);
        if takes_rows { FewRows::of(&self.planned, self.data, self.indices) } else { None }
    }

    /// Plans for an output of the row-major layout that comes back with the plan.
    ///
    /// # Errors
    /// Those of [`Request::lower`] and of [`IndexPlan::new`].
    #[inline(always)]
    pub(super) fn plan(&self) -> Result<(IndexPlan, Layout), Error> {
        let mut lowered = IndexLowered::new(self.planned.op);
        self.lower(&mut lowered)?;
        let out = Layout::contiguous(&lowered.output)?;
        Ok((IndexPlan::new(&lowered, &self.planned, &out)?, out))
    }

    /// Plans for an output; returns the number of elements of the result too.
    ///
    /// # Errors
    /// For a fixed output those of [`Request::plan_into`], else those of [`Request::plan`].
    pub(super) fn plan_for(&self, out: &Target<'_>) -> Result<(IndexPlan, usize), Error> {
        match out.layout() {
            Some(layout) => Ok((self.plan_into(layout)?, layout.len())),
            None => self.plan().map(|(plan, layout)| (plan, layout.len())),
        }
    }

    /// Plans for a given output.
    ///
    /// # Errors
    /// Those of [`Request::lower`], [`Error::ShapeMismatch`], those of [`IndexPlan::new`].
    #[inline(always)]
    pub(super) fn plan_into(&self, out: &Layout) -> Result<IndexPlan, Error> {
        let mut lowered = IndexLowered::new(self.planned.op);
        self.lower(&mut lowered)?;
        check_output(lowered.op, &lowered.output, out.shape())?;
        IndexPlan::new(&lowered, &self.planned, out)
    }
}

/// A request and the tensors that are read.
///
/// Invariant X1 for data and indices: the pointers are those of views with the request's layouts and types, which
/// outlive the call. No map converts.
#[derive(Clone, Copy)]
pub(super) struct Call<'a> {
    pub(super) request: Request<'a>,
    pub(super) data: *const u8,
    pub(super) index: *const u8,
}

impl<'a> Call<'a> {
    #[inline(always)]
    fn operands(&self, out: *mut u8) -> Operands<'a> {
        let Call { request, data, index } = self;
        Operands { out, data: *data, index: *index, indices: request.indices, params: core::ptr::null() }
    }

    /// Runs into an output.
    ///
    /// # Errors
    /// For a fixed output those of [`Request::plan_into`], else those of [`Request::plan`]; then those of the run.
    ///
    /// # Safety
    /// O1 for elements of the request's data type; a fixed output overlaps no input.
    #[inline(always)]
    pub(super) unsafe fn run(&self, out: Target<'_>) -> Result<(), Error> {
        match out {
            // SAFETY: the caller's promise.
            Target::Fixed(out, layout) => unsafe { self.run_fixed(out, layout) },
            // SAFETY: the caller's promise.
            Target::Resized(out) => unsafe { self.run_resized(out) },
        }
    }

    /// As [`Call::run`]. The plan is made where it is used: moving its hundreds of bytes from function to function
    /// takes longer than a small call.
    ///
    /// # Safety
    /// As for [`Call::run`].
    #[inline(never)]
    unsafe fn run_fixed(&self, out: *mut u8, layout: &Layout) -> Result<(), Error> {
        let Request { data, indices, planned: request, .. } = &self.request;
        if FewRows::fits_output(layout, data, indices)
            && let Some(rows) = self.request.few_rows()
        {
            // SAFETY: X1: the rows were found in the layouts and types of the inputs; the output is row-major and has
            // the shape of the result, as just checked; the rest is the caller's promise.
            return unsafe { exec::run_few_rows(&rows, request, self.operands(out)) };
        }
        let planned = self.request.plan_into(layout);
        let Ok(plan) = &planned else { return planned.map(drop) };
        // SAFETY: X1: the plan was made for these layouts and types; the rest is the caller's promise.
        unsafe { exec::run_index(plan, self.operands(out)) }
    }

    /// As [`Call::run`].
    ///
    /// # Safety
    /// As for [`Call::run`].
    #[inline(never)]
    unsafe fn run_resized(&self, out: &mut dyn Resize) -> Result<(), Error> {
        let Request { data, indices, planned: request, .. } = &self.request;
        if let Some(rows) = self.request.few_rows() {
            let shape = FewRows::output(data, indices);
            let len = Shape::checked_len(&shape)?;
            // SAFETY: X1: the rows were found in the layouts and types of the inputs; the memory is fresh and
            // row-major.
            let write = |out| unsafe { exec::run_few_rows(&rows, request, self.operands(out)) };
            // SAFETY: a run that succeeds has initialised every element of the result (X3).
            return unsafe { out.fill(&shape, len, write) };
        }
        let planned = self.request.plan();
        let Ok((plan, layout)) = &planned else { return planned.map(drop) };
        // SAFETY: X1: the plan was made for these layouts and types; the memory is fresh and row-major.
        let write = |out| unsafe { exec::run_index(plan, self.operands(out)) };
        // SAFETY: as above.
        unsafe { out.fill(plan.output(), layout.len(), write) }
    }
}
