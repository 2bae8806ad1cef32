//! A scatter without its types: what every door of the scatters makes, and the one pipeline behind it.
//!
//! ```text
//! lower (attributes against shapes)  ->  plan (loops, method, kernel)  ->  check indices, copy data, run
//! ```

use crate::call::scatter::ScatterAttributes;
use crate::call::{check_output, other_count};
use crate::exec::{self, Check, Original, ScatterOperands};
use crate::plan::{CountedReducePlan, Dim, IndexLowered, ReducePlan, ReduceRequest};
use crate::tensor::layout::Layout;
use crate::tensor::output::Target;
use crate::types::error::Error;

/// Checks the attributes against the shapes.
///
/// # Errors
/// Those of the operator.
#[inline(always)]
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
pub(super) struct Request<'a> {
    pub(super) attributes: &'a dyn ScatterAttributes,
    pub(super) planned: ReduceRequest,
    pub(super) indices: &'a Layout,
    pub(super) updates: &'a Layout,
}

/// Where indices and updates begin.
#[derive(Clone, Copy)]
pub(super) struct Tensors {
    pub(super) index: *const u8,
    pub(super) updates: *const u8,
}

impl Tensors {
    /// With the destination and the layout of the indices.
    pub(super) fn operands(self, destination: *mut u8, indices: &Layout) -> ScatterOperands<'_> {
        ScatterOperands { destination, updates: self.updates, index: self.index, indices }
    }
}

impl<'a> Request<'a> {
    /// Plans for a destination.
    ///
    /// # Errors
    /// Those of the operator and of [`ReducePlan::new`].
    #[inline(always)]
    pub(super) fn plan(&self, destination: &Layout) -> Result<ReducePlan, Error> {
        let mut lowered = IndexLowered::new(self.planned.op);
        self.attributes.lower(destination, self.indices, self.updates, &mut lowered)?;
        ReducePlan::new(&lowered, &self.planned, destination, self.updates)
    }

    /// A plan for a destination with any size of the first dimension of indices and updates.
    ///
    /// # Errors
    /// [`Error::FixedCount`].
    pub(super) fn counted(&self, plan: &ReducePlan, destination: &Layout) -> Result<CountedReducePlan, Error> {
        let fixed = || Error::FixedCount { op: plan.op() };
        let resized = |layout: &Layout, count| layout.resized(count).ok_or_else(fixed)?;
        let both = |count| Ok::<_, Error>((resized(self.indices, count)?, resized(self.updates, count)?));
        let plan_for = |count| {
            let (indices, updates) = both(count)?;
            Request { indices: &indices, updates: &updates, ..*self }.plan(destination)
        };
        let (&[expected, ..], &[update, ..]) = (self.indices.shape(), self.updates.strides()) else {
            return Err(fixed());
        };
        // A dimension that is tied to one of data has no other size.
        let other = other_count(expected);
        let (indices, updates) = both(other)?;
        let lowered = lower(self.attributes, destination, &indices, &updates).map_err(|_| fixed())?;
        let size = |n: usize| n as isize;
        let changes = ReducePlan::changes(&lowered, self.planned.policy);
        // Indices without elements are counted only where nothing is changed by them.
        let counted = |dim: &Dim| dim.n == other && (dim.index != 0 || indices.is_empty() && !changes);
        match lowered.dims.first() {
            Some(&dim) if lowered.merged == 1 && counted(&dim) => {
                let index = dim.index.wrapping_mul(size(self.planned.index.size()));
                let strides = (index, update.wrapping_mul(size(self.planned.dtype.size())));
                CountedReducePlan::new(plan_for, (plan.op(), expected, changes), dim, strides)
            }
            _ => Err(fixed()),
        }
    }

    /// Checks that an output has the shape of data. Errors of attributes and shapes come first.
    ///
    /// # Errors
    /// Those of the operator, then [`Error::ShapeMismatch`].
    #[inline(always)]
    pub(super) fn check_output(&self, data: &Layout, out: &Layout) -> Result<(), Error> {
        if data.shape() == out.shape() {
            return Ok(());
        }
        let lowered = lower(self.attributes, data, self.indices, self.updates)?;
        check_output(lowered.op, data.shape(), out.shape())
    }

    /// Runs in place.
    ///
    /// # Errors
    /// Those of [`Request::plan`] and of the run. The destination is untouched then.
    ///
    /// # Safety
    /// Indices and updates may be read along the request's layouts as values of its types. The destination may be read
    /// and written along its layout, overlaps neither, and holds values of the data type, or bytes where that takes
    /// any.
    pub(super) unsafe fn run_on(
        &self,
        tensors: Tensors,
        (destination, layout): (*mut u8, &Layout),
    ) -> Result<(), Error> {
        // Not moved out of the result: to move hundreds of bytes takes as long as a short call.
        let planned = self.plan(layout);
        let Ok(plan) = &planned else { return planned.map(drop) };
        // SAFETY: X1: the plan was made for these layouts and types; the rest is the caller's promise.
        unsafe { exec::run_scatter(plan, tensors.operands(destination, self.indices), Check::First, None) }
    }

    /// Runs on a copy of data, in an output.
    ///
    /// # Errors
    /// As for [`Request::run_on`], with [`Error::ShapeMismatch`] for a fixed output after errors of shapes.
    ///
    /// # Safety
    /// Data, indices and updates may be read along their layouts as values of the request's types. O1 for its data
    /// type; a fixed output overlaps no input.
    pub(super) unsafe fn run(
        &self,
        data: (*const u8, &Layout),
        tensors: Tensors,
        out: Target<'_>,
    ) -> Result<(), Error> {
        let row_major;
        let (layout, check) = match &out {
            Target::Fixed(_, layout) => {
                self.check_output(data.1, layout)?;
                (*layout, Check::First)
            }
            Target::Resized(_) => {
                row_major = Layout::contiguous(data.1.shape())?;
                (&row_major, Check::OnTheWay)
            }
        };
        let planned = self.plan(layout);
        let Ok(plan) = &planned else { return planned.map(drop) };
        let original = Original::new(&self.planned, data, layout);
        let run = |out| {
            let operands = tensors.operands(out, self.indices);
            // SAFETY: X1: the plan was made for these layouts and types; data has the destination's shape, as just
            // checked; memory that is not fixed is fresh and row-major; the rest is the caller's promise.
            unsafe { exec::run_scatter(plan, operands, check, Some(&original)) }
        };
        // SAFETY: a run that succeeds has copied every element.
        unsafe { out.write(|| Ok((layout.shape(), layout.len())), run) }
    }
}
