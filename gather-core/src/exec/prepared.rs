//! Prepared gather: the plan to run, or plans for any size of the first dimension of indices. It stores no layouts.

use alloc::boxed::Box;

use smallvec::SmallVec;

use crate::exec::index::{self, IndexPart, Operands, Written, run_in_parts};
use crate::kernels::Loop;
use crate::plan::{Action, DynamicPlan, IndexPlan};
use crate::tensor::layout::Layout;
use crate::types::error::Error;

#[derive(Clone, Debug)]
pub(crate) struct Prepared {
    /// The plan of calls with the planned number of indices.
    plan: IndexPlan,
    /// The plans of calls with any number of indices, used in place of `plan`.
    dynamic: Option<Box<DynamicIndexPlan>>,
}

impl Prepared {
    #[inline(always)]
    pub(crate) fn new(plan: IndexPlan) -> Self {
        Prepared { plan, dynamic: None }
    }

    /// Makes the plan dynamic: for any size of the first dimension of indices. `plan_for` makes the plan for one size,
    /// and `action` is the plan's action for every size but 0.
    ///
    /// # Errors
    /// From `plan_for`, then [`Error::AnyCountUnavailable`] if no loop of the plan covers the dimension.
    pub(crate) fn with_any_count(
        self,
        plan_for: impl Fn(usize) -> Result<IndexPlan, Error>,
        action: Action,
        expected: usize,
        [indices, out]: [&Layout; 2],
    ) -> Result<Self, Error> {
        let per_count = |layout: &Layout| layout.shape().iter().skip(1).product();
        let [few, many] = PLANNED;
        let many = many.max(expected);
        let plans = if action == Action::Run {
            [dynamic_plan(few, plan_for(few)?)?, dynamic_plan(many, plan_for(many)?)?]
        } else {
            let idle = DynamicPlan::idle(plan_for(expected.max(1))?);
            [idle.clone(), idle]
        };
        let dynamic = DynamicIndexPlan { plans, indices_per_count: per_count(indices), out_per_count: per_count(out) };
        Ok(Prepared { dynamic: Some(Box::new(dynamic)), ..self })
    }

    /// The plan that describes calls and has the shape of the output: for the expected count, if the plan is dynamic.
    #[inline(always)]
    pub(crate) fn plan(&self) -> &IndexPlan {
        &self.plan
    }

    /// A plan that calls run. All such plans agree in fill and functions. [`Prepared::plan`] differs if it was made for
    /// 0 indices: then it has no fill.
    #[inline(always)]
    pub(crate) fn running(&self) -> &IndexPlan {
        self.dynamic.as_deref().map_or(&self.plan, |dynamic| &dynamic.plans[0].plan)
    }

    pub(crate) fn change(&mut self, change: impl Fn(&mut IndexPlan)) {
        change(&mut self.plan);
        self.dynamic.iter_mut().flat_map(|dynamic| &mut dynamic.plans).for_each(|dynamic| change(&mut dynamic.plan));
    }

    #[inline(always)]
    pub(crate) fn dynamic(&self) -> Option<&DynamicIndexPlan> {
        self.dynamic.as_deref()
    }

    /// Whether every call is one call of the kernel: the number of indices is fixed, and one thread runs it.
    #[inline(always)]
    pub(crate) fn is_one_call(&self) -> bool {
        self.dynamic.is_none() && self.plan.is_whole()
    }

    /// The plan that runs `count` along the dynamic dimension, and its loops; `count` is unused if the plan is not
    /// dynamic.
    pub(crate) fn loops(&self, count: usize) -> (&IndexPlan, SmallVec<[Loop; 6]>) {
        let Some(dynamic) = &self.dynamic else { return (&self.plan, SmallVec::from_slice(self.plan.loops())) };
        let DynamicPlan { plan, position, times, .. } = &dynamic.plans[usize::from(count > FEW)];
        let mut loops: SmallVec<[Loop; 6]> = SmallVec::from_slice(plan.loops());
        if let Some(along) = loops.get_mut(*position) {
            along.n = times * count;
        }
        (plan, loops)
    }

    /// Runs the plan, for `count` along the dynamic dimension if the plan is dynamic.
    ///
    /// # Errors
    /// As for [`run_index`](super::run_index).
    ///
    /// # Safety
    /// X1 for operands of the planned layouts. If the plan is dynamic, `count` replaces the size of the first
    /// dimension of indices, and of the output accordingly.
    #[inline(always)]
    pub(crate) unsafe fn run(&self, operands: Operands<'_>, count: usize) -> Result<Written, Error> {
        match &self.dynamic {
            // SAFETY: X1 by the caller's contract: the operands have the planned layouts.
            None => unsafe { index::run(&self.plan, operands) },
            // SAFETY: X1 by the caller's contract, with `count` along the dynamic dimension.
            Some(dynamic) => unsafe { dynamic.run(operands, count) },
        }
    }
}

/// Plans with one dynamic loop: over the first dimension of indices, the outermost of the output. If nothing moves for
/// any size, the plans have no loop and only check indices.
///
/// Invariant C1: data does not move along the dynamic dimension, so P1 holds for any size of it. No kernel is for
/// declared shapes, whose sizes are fixed (K10).
#[derive(Clone, Debug)]
pub(crate) struct DynamicIndexPlan {
    /// For a `count` up to `FEW`, and for a greater one.
    plans: [DynamicPlan<IndexPlan>; 2],
    /// Indices per step of the dynamic dimension.
    indices_per_count: usize,
    /// Elements of the output per step of the dynamic dimension.
    out_per_count: usize,
}

/// Maximum size of the dynamic dimension for the plan of few indices.
const FEW: usize = 32;
/// Sizes to plan for. `expected` replaces the second size if it is greater.
const PLANNED: [usize; 2] = [FEW, 1 << 10];

impl DynamicIndexPlan {
    /// The size of the dynamic dimension of `indices` indices; `None` if it is not whole. If a step of it has no
    /// indices, the output has no elements, and 0 stands for any size.
    #[inline(always)]
    pub(crate) fn count(&self, indices: usize) -> Option<usize> {
        match self.indices_per_count {
            1 => Some(indices),
            0 => (indices == 0).then_some(0),
            per_count => indices.is_multiple_of(per_count).then(|| indices / per_count),
        }
    }

    /// Elements of the output for a size of the dynamic dimension; saturates beyond the length of any slice.
    #[inline(always)]
    pub(crate) fn out_len(&self, count: usize) -> usize {
        self.out_per_count.saturating_mul(count)
    }

    /// Runs the plan for a size of the dynamic dimension.
    ///
    /// # Errors
    /// As for [`run_index`](super::run_index).
    ///
    /// # Safety
    /// X1 for tensors with `count` along the dynamic dimension, the first dimension of the operands' indices. `count`
    /// replaces the size in their layout.
    #[inline]
    unsafe fn run(&self, operands: Operands<'_>, count: usize) -> Result<Written, Error> {
        let DynamicPlan { plan, position, times, planned } = &self.plans[usize::from(count > FEW)];
        // A tensor with `n` elements exists, so the product does not overflow.
        let n = times * count;
        if n == 0 {
            // SAFETY: `times * count == 0`: either `count` is 0, or `times` is 0, as in a plan that moves nothing.
            return unsafe { check_only(plan, operands, count) };
        }
        let (mut only, mut several) = ([Loop::ONCE], SmallVec::<[Loop; 6]>::new());
        let loops = if let &[along] = plan.loops() {
            only[0] = Loop { n, ..along };
            &only[..]
        } else {
            several.extend_from_slice(plan.loops());
            several[*position].n = n;
            &several
        };
        let work = plan.work().scaled(*planned, count);
        let one_call = plan.is_one_call(work) && !plan.remaps();
        if one_call {
            // SAFETY: X1 by the caller's contract; C1: P1 holds with `n` as the size of the dynamic loop.
            let outcome = unsafe { IndexPart::new(plan, loops, operands) }.call();
            if let Some(written) = Written::by(outcome, operands.memory()) {
                return Ok(written);
            }
        }
        let indices = operands.resized(count)?;
        // SAFETY: V1: the tensor of indices has `count` along the first dimension.
        let operands = unsafe { operands.with_layout(&indices) };
        if one_call {
            // SAFETY: X1: the plan has just run on these operands.
            return Err(unsafe { operands.first_bad_index(plan) });
        }
        // SAFETY: X1 and C1: the loops reach `count` along the dynamic dimension, as the layout of indices does.
        unsafe { run_in_parts(plan, loops, work, operands) }
    }
}

/// Runs a call that moves nothing, and checks its indices if the plan's action is `Check`.
///
/// # Errors
/// [`Error::IndexOutOfRange`], as [`run_index`](super::run_index).
///
/// # Safety
/// As for [`DynamicIndexPlan::run`], with a `count` of 0 or a plan that does not move.
#[cold]
unsafe fn check_only(plan: &IndexPlan, operands: Operands<'_>, count: usize) -> Result<Written, Error> {
    if count == 0 {
        return Ok(Written::NOTHING);
    }
    let indices = operands.resized(count)?;
    // SAFETY: V1: the tensor of indices has `count` along the first dimension.
    let operands = unsafe { operands.with_layout(&indices) };
    // SAFETY: X1 by the caller's contract; the plan does not move, so no kernel runs.
    unsafe { run_in_parts(plan, plan.loops(), plan.work(), operands) }
}

/// A plan for size `planned` of a contiguous output's first dimension: its dynamic loop steps over all of the output.
fn dynamic_plan(planned: usize, plan: IndexPlan) -> Result<DynamicPlan<IndexPlan>, Error> {
    let refused = Error::AnyCountUnavailable { op: plan.op() };
    let is_dynamic = |plan: &IndexPlan, l: &Loop| {
        isize::try_from(l.n).is_ok_and(|n| n.checked_mul(l.out) == isize::try_from(plan.work().bytes).ok())
    };
    DynamicPlan::new(planned, plan, is_dynamic).ok_or(refused)
}
