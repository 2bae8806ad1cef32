//! Plans of scatters for any size of the first dimension of indices and updates.

#![forbid(unsafe_code)]

use alloc::vec::Vec;

use crate::plan::lowered::Dim;
use crate::plan::nest::{Action, DynamicPlan};
use crate::plan::reduce::{FewUpdates, ReducePlan};
use crate::tensor::layout::{Layout, Shape};
use crate::types::error::Error;
use crate::types::op::Op;

/// Plans with one dynamic loop, over the first dimension of indices and updates. If updates change nothing, whatever
/// their number, there is one plan, which checks indices.
///
/// Invariant C1: the destination does not move along the dynamic dimension, so P1 holds for any size of it.
#[derive(Clone)]
pub(crate) struct DynamicReducePlan {
    /// By ascending planned size of the dynamic dimension. At least one.
    plans: Vec<DynamicPlan<ReducePlan>>,
    /// The plan for more rows than accumulators can count.
    huge: Result<DynamicPlan<ReducePlan>, Error>,
}

/// Sizes to plan for, plus the expected one: the best method depends on the updates per element of the destination.
const PLANNED: [usize; 4] = [32, 1 << 10, 1 << 15, 1 << 20];
/// Minimum rows that accumulators cannot count. With 32-bit addresses no call has this many.
const HUGE: u64 = u32::MAX as u64;

impl DynamicReducePlan {
    /// Plans for any size of the first dimension. `plan_for` makes the plan for one size.
    ///
    /// `dim` is the lowered first dimension of the operator; `strides` are the strides of indices and updates along
    /// it, in bytes. `changes`: whether one or more updates change the destination.
    ///
    /// # Errors
    /// [`Error::MethodUnavailable`]; [`Error::AnyCountUnavailable`] if not exactly one loop covers the dimension.
    pub(crate) fn new(
        plan_for: impl Fn(usize) -> Result<ReducePlan, Error>,
        (op, expected, changes): (Op, usize, bool),
        dim: Dim,
        strides: (isize, isize),
    ) -> Result<Self, Error> {
        let mut sizes = PLANNED.to_vec();
        sizes.extend((expected > PLANNED[0]).then_some(expected));
        sizes.sort_unstable();
        sizes.dedup();
        let fixed = Error::AnyCountUnavailable { op };
        if dim.data != 0 {
            return Err(fixed);
        }
        if !changes {
            let idle = DynamicPlan::idle(plan_for(expected.max(1))?);
            return Ok(DynamicReducePlan { plans: Vec::from([idle.clone()]), huge: Ok(idle) });
        }
        let planned = |size| plan_for(size).and_then(|plan| dynamic_plan(size, plan, strides).ok_or(fixed.clone()));
        let first = planned(PLANNED[0]).map_err(|error| match error {
            Error::MethodUnavailable { .. } => error,
            // The size depends on a dimension of the destination.
            _ => fixed.clone(),
        })?;
        let rows = first.plan.work.rows / first.planned;
        let huge = planned((HUGE as usize).div_ceil(rows.max(1)).max(first.planned));
        // Sizes without a plan use the plan of a smaller size.
        let larger = sizes.into_iter().skip(1).filter_map(|size| planned(size).ok());
        let plans = core::iter::once(first).chain(larger).collect();
        Ok(DynamicReducePlan { plans, huge })
    }

    /// The plan for a size of the dynamic dimension, and updates of this layout.
    ///
    /// # Errors
    /// [`Error::TooManyBytes`]. For more rows than accumulators can count, errors of the plan for this number.
    pub(crate) fn at(&self, count: usize, updates: &Layout) -> Result<ReducePlan, Error> {
        let smallest = &self.plans[0];
        Shape::checked_bytes(updates.shape(), smallest.plan.size)?;
        let rows = |dynamic: &DynamicPlan<ReducePlan>| (dynamic.plan.work.rows / dynamic.planned).saturating_mul(count);
        let fitting = self.fitting(count);
        let fitting = if rows(fitting) as u64 >= HUGE { self.huge.as_ref().map_err(Error::clone)? } else { fitting };
        Ok(resized(fitting, count))
    }

    /// The few updates of a size of the dynamic dimension, without a copy of the plan; `None` if they need
    /// [`DynamicReducePlan::at`].
    #[inline(always)]
    pub(crate) fn few_at(&self, count: usize) -> Option<FewUpdates> {
        let DynamicPlan { plan, times, .. } = self.fitting(count);
        let few = plan.few.filter(|_| plan.action == Action::Run)?;
        few.resized(count.saturating_mul(*times), plan.options)
    }

    #[inline(always)]
    fn fitting(&self, count: usize) -> &DynamicPlan<ReducePlan> {
        self.plans.iter().rfind(|dynamic| dynamic.planned <= count).unwrap_or(&self.plans[0])
    }
}

/// A plan whose loop has the strides of the dynamic dimension, and does not move the destination.
fn dynamic_plan(planned: usize, plan: ReducePlan, strides: (isize, isize)) -> Option<DynamicPlan<ReducePlan>> {
    DynamicPlan::new(planned, plan, |_, along| {
        let times = (along.n / planned) as isize;
        let steps = (along.index.wrapping_mul(times), along.out.wrapping_mul(times));
        along.data == 0 && steps == strides
    })
}

fn resized(dynamic: &DynamicPlan<ReducePlan>, count: usize) -> ReducePlan {
    let mut plan = dynamic.plan.clone();
    if count == 0 {
        (plan.nest.action, plan.few) = (Action::Nothing, None);
    }
    if plan.action == Action::Run {
        // Updates of this many elements exist, so the product does not overflow.
        plan.nest.loops[dynamic.position].n = dynamic.times * count;
        plan.nest.work = plan.work.scaled(dynamic.planned, count);
        plan.few = plan.few.and_then(|few| few.resized(plan.loops[dynamic.position].n, plan.options));
    }
    plan
}
