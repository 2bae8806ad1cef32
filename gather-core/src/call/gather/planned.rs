//! Plans of gathers and their layouts, without types: the shared part of all plans, compiled once.

use alloc::boxed::Box;

use smallvec::SmallVec;

use crate::call::checks::{check_dynamic, check_fresh, check_layout, mismatch, other_count};
use crate::call::gather::erased::Request;
use crate::call::gather::kinds::Outputs;
use crate::exec::{Operands, Prepared, Written, pool_threads};
use crate::kernels::Loop;
use crate::plan::{Action, Dim, Explain, IndexLowered, IndexPlan, IndexRequest};
use crate::tensor::layout::{Layout, Shape};
use crate::tensor::output::Target;
use crate::types::declare::accessors;
use crate::types::error::Error;
use crate::types::op::Argument;

/// The names of the parameters of a map or a row function.
pub(in crate::call) type Params = &'static [&'static str];

#[derive(Clone)]
pub(super) struct PlanInner {
    prepared: Prepared,
    pub(super) data: Layout,
    pub(super) indices: Layout,
    pub(super) out: Layout,
    /// Whether all three layouts are row-major, as slices are.
    contiguous: bool,
}

impl PlanInner {
    pub(super) fn new(request: &Request<'_>, outputs: Outputs<'_>) -> Result<Self, Error> {
        let (prepared, out) = match outputs {
            Outputs::RowMajor => request.plan().map(|(plan, out)| (Prepared::new(plan), out))?,
            Outputs::Of(out) => (Prepared::new(request.plan_into(out)?), out.clone()),
            Outputs::AnyCount => Self::prepare_any_count(request)?,
        };
        let (data, indices) = (request.data.clone(), request.indices.clone());
        // `is_contiguous` ignores the stride of a dimension of size 0 or 1; calls of other sizes step along it.
        let in_order = if prepared.dynamic().is_some() { indices.is_row_major() } else { indices.is_contiguous() };
        let contiguous = data.is_contiguous() && in_order && out.is_contiguous();
        Ok(PlanInner { prepared, data, indices, out, contiguous })
    }

    /// Plans a gather whose calls choose the size of the first dimension of indices. Also returns the output's layout.
    fn prepare_any_count(request: &Request<'_>) -> Result<(Prepared, Layout), Error> {
        // K10: a kernel for declared shapes takes only the declared count.
        let kernels = request.planned.kernels.with_shaped(&[]);
        let planned = IndexRequest { kernels, ..*request.planned };
        let request = &Request { planned: &planned, ..*request };
        let fixed = || Error::AnyCountUnavailable { op: request.planned.op };
        let resized = |count| request.indices.resized(count).ok_or_else(fixed)?;
        let plan_for = |count: usize| {
            let (plan, _) = Request { indices: &resized(count)?, ..*request }.plan()?;
            Ok(plan)
        };
        let (plan, out) = request.plan()?;
        let expected = *request.indices.shape().first().ok_or_else(fixed)?;
        // If the dimension is also a dimension of data, `lower` refuses another size.
        let other = other_count(expected);
        let (mut lowered, indices) = (IndexLowered::new(request.planned.op), resized(other)?);
        Request { indices: &indices, ..*request }.lower(&mut lowered).map_err(|_| fixed())?;
        // If the axis is 0, no dimension of data comes before it. Tuples without components have no axis: their plan is
        // dynamic only if the output is empty.
        let axis = lowered.axes.first().filter(|axis| axis.is_of_data());
        let along_first = axis.map_or(lowered.output.contains(&0), |axis| axis.axis == 0);
        let free = |dim: &Dim| dim.n == other && (dim.index != 0 || indices.is_empty());
        if !along_first || !lowered.dims.first().is_some_and(free) {
            return Err(fixed());
        }
        let (action, layouts) = (Action::of(&lowered, request.planned.policy), [request.indices, &out]);
        let prepared = Prepared::new(plan).with_any_count(plan_for, action, expected, layouts)?;
        Ok((prepared, out))
    }

    /// Changes the plans for all numbers of indices.
    pub(super) fn change(&mut self, change: impl Fn(&mut IndexPlan)) {
        self.prepared.change(change);
    }

    /// `self` if it fills no rows, or fills rows out of range with `fill`; else a copy with `fill`, in `copy`.
    pub(super) fn filled_by<'p>(&'p self, fill: &[u8], copy: &'p mut Option<Box<Self>>) -> &'p Self {
        if self.prepared.running().fills_by(fill) {
            return self;
        }
        let filled = copy.insert(Box::new(self.clone()));
        filled.change(|plan| plan.set_fill(fill));
        filled
    }

    accessors! { self:
        /// The plan that describes calls.
        pub(super) fn plan() -> &IndexPlan => self.prepared.plan();
        /// Whether calls choose the size of the first dimension of indices.
        pub(super) fn is_dynamic() -> bool => self.prepared.dynamic().is_some();
        pub(super) fn explain() -> Explain<'_> => Explain::index(self.plan(), pool_threads);
        /// The shape of the result, for a plan for any count at the expected count.
        pub(super) fn output_shape() -> &[usize] => self.out.shape();
    }

    /// The plan for `count` indices, the result of [`PlanInner::check_inputs`], and its loops.
    pub(super) fn loops(&self, count: usize) -> (&IndexPlan, SmallVec<[Loop; 6]>) {
        self.prepared.loops(count)
    }

    /// Whether the inputs have the planned layouts, and the planned size of indices.
    #[inline(always)]
    pub(super) fn matches_inputs(&self, data: &Layout, indices: &Layout) -> bool {
        self.data.matches(data) && self.indices.matches(indices)
    }

    /// Whether a call on tensors of these layouts is one kernel call.
    #[inline(always)]
    pub(super) fn is_one_call(&self, data: &Layout, indices: &Layout, out: &Layout) -> bool {
        self.prepared.is_one_call() && self.matches_inputs(data, indices) && self.out.matches(out)
    }

    /// Checks the layouts of the inputs; returns the size of the first dimension of indices if it is dynamic, else 0.
    #[inline(always)]
    pub(super) fn check_inputs(&self, data: &Layout, indices: &Layout) -> Result<usize, Error> {
        check_layout(Argument::Data, &self.data, data)?;
        if self.is_dynamic() {
            return check_dynamic(Argument::Indices, &self.indices, indices);
        }
        check_layout(Argument::Indices, &self.indices, indices)?;
        Ok(0)
    }

    /// Checks the layout of an output for `count` indices, the result of [`PlanInner::check_inputs`].
    #[inline(always)]
    pub(super) fn check_output(&self, out: &Layout, count: usize) -> Result<(), Error> {
        if self.is_dynamic() {
            if check_dynamic(Argument::Output, &self.out, out)? == count {
                return Ok(());
            }
            let mut expected = Shape::default();
            expected.assign_resized(self.out.shape(), count);
            return Err(mismatch(Argument::Output, &expected, out.shape()));
        }
        check_layout(Argument::Output, &self.out, out)
    }

    /// Checks the lengths of slices: data, indices, then output. Returns the count, as [`PlanInner::check_inputs`].
    #[inline]
    pub(super) fn check_lens(&self, data: usize, indices: usize, out: usize) -> Result<usize, Error> {
        if !self.contiguous || data != self.data.len() {
            return Err(mismatch(Argument::Data, self.data.shape(), &[data]));
        }
        let count = match self.prepared.dynamic() {
            None => (indices == self.indices.len()).then_some(0),
            Some(dynamic) => dynamic.count(indices),
        };
        let Some(count) = count else {
            return Err(mismatch(Argument::Indices, self.indices.shape(), &[indices]));
        };
        if out != self.prepared.dynamic().map_or(self.out.len(), |dynamic| dynamic.out_len(count)) {
            return Err(mismatch(Argument::Output, self.out.shape(), &[out]));
        }
        Ok(count)
    }

    /// The shape and the length of a fresh output for `count`, which has been checked. `buffer` holds a dynamic shape.
    ///
    /// # Errors
    /// [`Error::PlanMismatch`] if the planned output is not row-major, then the errors of [`PlanInner::output_of`].
    #[inline(always)]
    pub(super) fn fresh<'s>(&'s self, count: usize, buffer: &'s mut Shape) -> Result<(&'s [usize], usize), Error> {
        check_fresh(&self.out)?;
        self.output_of(count, buffer)
    }

    /// As [`PlanInner::fresh`], for an output of any layout.
    ///
    /// # Errors
    /// [`Error::TooManyElements`] for a plan for any count whose result is empty.
    #[inline(always)]
    pub(super) fn output_of<'s>(&'s self, count: usize, buffer: &'s mut Shape) -> Result<(&'s [usize], usize), Error> {
        Ok(match self.prepared.dynamic() {
            None => (self.plan().output(), self.out.len()),
            Some(dynamic) => {
                buffer.assign_resized(self.out.shape(), count);
                let len = match dynamic.out_len(count) {
                    // An empty result allocates nothing, so no allocation refuses its shape.
                    0 => Shape::checked_len(buffer)?,
                    len => len,
                };
                (buffer, len)
            }
        })
    }

    /// Checks the layouts of operands of the planned types, and runs on them.
    ///
    /// # Errors
    /// [`Error::PlanMismatch`], [`Error::AllocationFailed`], then [`Error::IndexOutOfRange`].
    ///
    /// # Safety
    /// The plan converts nothing (K8): its kind is plain.
    #[inline(never)]
    pub(super) unsafe fn run(&self, operands: Operands<'_, Target<'_>>) -> Result<(), Error> {
        debug_assert!(self.plan().spec().conversion.is_none(), "K8: the plan of a kind that converts");
        // SAFETY: by the caller's contract, nothing converts (K8).
        unsafe { self.run_given(operands, |_| Ok(core::ptr::null())) }
    }

    /// [`PlanInner::check_inputs`] for operands of the planned types.
    #[inline(always)]
    pub(super) fn check_operands<O>(&self, operands: &Operands<'_, O>) -> Result<usize, Error> {
        let (indices, of) = operands.indices();
        debug_assert_eq!(self.plan().index(), of);
        self.check_inputs(operands.data().1, indices)
    }

    /// As [`PlanInner::run`]. After layouts are checked, `given` makes the converter's arguments for data's layout.
    ///
    /// # Errors
    /// The errors of `given`, then the errors of a run.
    ///
    /// # Safety
    /// `given` returns arguments of the converter's parameters (K8), or the plan converts nothing.
    #[inline(always)]
    pub(super) unsafe fn run_given(
        &self,
        operands: Operands<'_, Target<'_>>,
        given: impl FnOnce(&Layout) -> Result<*const (), Error>,
    ) -> Result<(), Error> {
        let (count, mut shape) = (self.check_operands(&operands)?, Shape::default());
        let fresh = match operands.out_layout() {
            Some(layout) => self.check_output(layout, count).map(|()| (&[][..], 0))?,
            None => self.fresh(count, &mut shape)?,
        };
        let given = given(operands.data().1)?;
        operands.given(given).write(
            || Ok(fresh),
            // SAFETY: X1: `check_operands` and `check_output` compared the layouts with the planned ones; other memory
            // is fresh and row-major, as `fresh` checked.
            |operands| unsafe { self.execute(operands, count) },
        )
    }

    /// Runs the plan.
    ///
    /// # Safety
    /// X1 for operands of the planned layouts; a dynamic first dimension of indices and output has size `count`.
    #[inline(always)]
    pub(super) unsafe fn execute(&self, operands: Operands<'_>, count: usize) -> Result<Written, Error> {
        // SAFETY: X1, by the caller's contract.
        unsafe { self.prepared.run(operands, count) }
    }
}
