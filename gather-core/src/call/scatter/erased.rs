//! A scatter without its types: what every door of the scatters makes, and the one pipeline behind it.
//!
//! ```text
//! lower (attributes against shapes)  ->  plan (loops, method, kernel)  ->  check indices, copy data, run
//! ```

use crate::call::checks::{check_output, other_count};
use crate::call::scatter::ScatterAttributes;
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
pub(super) struct ScatterCallRequest<'a> {
    pub(super) attributes: &'a dyn ScatterAttributes,
    pub(super) planned: ReduceRequest,
    pub(super) indices: &'a Layout,
    pub(super) updates: &'a Layout,
}

/// A tensor without its type.
pub(super) type Erased<'a> = (*const u8, &'a Layout);

/// The tensors of a call: indices, updates, and what is changed by them.
///
/// Invariant: what [`ScatterTensors::new`] asks for.
pub(super) struct ScatterTensors<'a, D> {
    indices: Erased<'a>,
    updates: Erased<'a>,
    changes: D,
}

/// A tensor that is changed in place.
pub(super) struct InPlace<'a>(pub(super) *mut u8, pub(super) &'a Layout);

/// A tensor of which an output becomes a copy that is changed.
pub(super) struct CopyOf<'a, 'o>(pub(super) Erased<'a>, pub(super) Target<'o>);

impl<'a, D> ScatterTensors<'a, D> {
    /// # Safety
    /// V1, V3: indices and updates may be read along their layouts as values of the call's types, as long as they are
    /// borrowed. So may the tensor that is copied, into an output that takes elements of its type (O1). A tensor that
    /// is changed in place may be read and written along its layout, no two of whose coordinates share a byte, and
    /// holds values of the data type, or bytes where the reduction takes any (Y1). What is written overlaps nothing
    /// that is read.
    #[inline(always)]
    pub(super) unsafe fn new(indices: Erased<'a>, updates: Erased<'a>, changes: D) -> Self {
        ScatterTensors { indices, updates, changes }
    }

    /// The layouts of indices and updates.
    #[inline(always)]
    pub(super) fn inputs(&self) -> [&'a Layout; 2] {
        [self.indices.1, self.updates.1]
    }

    #[inline(always)]
    pub(super) fn changes(&self) -> &D {
        &self.changes
    }

    /// With memory that is changed.
    #[inline(always)]
    fn operands(&self, destination: *mut u8) -> ScatterOperands<'a> {
        let (index, indices) = self.indices;
        ScatterOperands { destination, updates: self.updates.0, index, indices }
    }
}

impl<'a> ScatterTensors<'a, InPlace<'_>> {
    #[inline(always)]
    pub(super) fn in_place(&self) -> ScatterOperands<'a> {
        self.operands(self.changes.0)
    }
}

impl ScatterTensors<'_, CopyOf<'_, '_>> {
    /// Runs a plan on a copy, in an output of a layout: that of a fixed one, or a row-major one.
    ///
    /// # Errors
    /// Those of [`exec::run_scatter`]. A fixed output is untouched then.
    ///
    /// # Safety
    /// X1: the plan was made by the request, for the layouts and types of the tensors and for this layout of the
    /// output, whose shape is that of the tensor that is copied.
    pub(super) unsafe fn run(self, plan: &ReducePlan, request: &ReduceRequest, layout: &Layout) -> Result<(), Error> {
        let (indices, updates) = (self.indices, self.updates);
        let CopyOf(data, out) = self.changes;
        let check = if out.layout().is_some() { Check::First } else { Check::OnTheWay };
        let (tensors, original) =
            (ScatterTensors { indices, updates, changes: () }, Original::new(request, data, layout));
        // SAFETY: X1: the plan is one of these tensors and of the layout, which a fixed output has; other memory is
        // fresh and row-major.
        let run = |out| unsafe { exec::run_scatter(plan, tensors.operands(out), check, Some(&original)) };
        // SAFETY: a run that succeeds has copied every element.
        unsafe { out.write(|| Ok((layout.shape(), layout.len())), run) }
    }
}

impl<'a> ScatterCallRequest<'a> {
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
            ScatterCallRequest { indices: &indices, updates: &updates, ..*self }.plan(destination)
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

    /// Runs in place, on tensors of the request's types and layouts.
    ///
    /// # Errors
    /// Those of [`ScatterCallRequest::plan`] and of the run. The destination is untouched then.
    pub(super) fn run_on(&self, tensors: ScatterTensors<'_, InPlace<'_>>) -> Result<(), Error> {
        // Not moved out of the result: to move hundreds of bytes takes as long as a short call.
        let planned = self.plan(tensors.changes.1);
        let Ok(plan) = &planned else { return planned.map(drop) };
        debug_assert_eq!(tensors.inputs(), [self.indices, self.updates]);
        // SAFETY: X1: the plan was made for these layouts.
        unsafe { exec::run_scatter(plan, tensors.in_place(), Check::First, None) }
    }

    /// Runs on a copy of data, in an output, on tensors of the request's types and layouts.
    ///
    /// # Errors
    /// As for [`ScatterCallRequest::run_on`], with [`Error::ShapeMismatch`] for a fixed output after errors of shapes.
    pub(super) fn run(&self, tensors: ScatterTensors<'_, CopyOf<'_, '_>>) -> Result<(), Error> {
        let row_major;
        let CopyOf((_, data), out) = tensors.changes();
        let layout = match *out {
            Target::Fixed(_, layout) => {
                self.check_output(data, layout)?;
                layout
            }
            Target::Resized(_) => {
                row_major = Layout::contiguous(data.shape())?;
                &row_major
            }
        };
        let planned = self.plan(layout);
        let Ok(plan) = &planned else { return planned.map(drop) };
        debug_assert_eq!(tensors.inputs(), [self.indices, self.updates]);
        // SAFETY: X1: the plan was made for these layouts; that of the output has the shape of data, as just checked.
        unsafe { tensors.run(plan, &self.planned, layout) }
    }
}
