//! Plans of scatters for any size of the first dimension of indices and updates.

#![forbid(unsafe_code)]

use alloc::vec::Vec;

use crate::plan::lowered::Dim;
use crate::plan::nest::{Action, FreePlan};
use crate::plan::reduce::ReducePlan;
use crate::tensor::layout::{Layout, Shape};
use crate::types::error::Error;
use crate::types::op::Op;

/// Plans with one free loop, over the first dimension of indices and updates. If updates change nothing, whatever their
/// number, there is one plan, which checks indices.
///
/// Invariant C1: the destination does not move along the free dimension, so P1 holds for any size of it.
#[derive(Clone)]
pub(crate) struct CountedReducePlan {
    /// By ascending planned size of the free dimension. At least one.
    plans: Vec<FreePlan<ReducePlan>>,
    /// The plan for more rows than accumulators can count.
    huge: Result<FreePlan<ReducePlan>, Error>,
}

/// Sizes to plan for, plus the expected one: the best method depends on the updates per element of the destination.
const PLANNED: [usize; 4] = [32, 1 << 10, 1 << 15, 1 << 20];
/// Minimum rows that accumulators cannot count. With 32-bit addresses no call has this many.
const HUGE: u64 = u32::MAX as u64;

impl CountedReducePlan {
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
            let idle = FreePlan::idle(plan_for(expected.max(1))?);
            return Ok(CountedReducePlan { plans: Vec::from([idle.clone()]), huge: Ok(idle) });
        }
        let planned = |size| plan_for(size).and_then(|plan| free_plan(size, plan, strides).ok_or(fixed.clone()));
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
        Ok(CountedReducePlan { plans, huge })
    }

    /// The plan for a size of the free dimension, and updates of this layout.
    ///
    /// # Errors
    /// [`Error::TooManyBytes`]. For more rows than accumulators can count, errors of the plan for this number.
    pub(crate) fn at(&self, count: usize, updates: &Layout) -> Result<ReducePlan, Error> {
        let smallest = &self.plans[0];
        Shape::checked_bytes(updates.shape(), smallest.plan.size)?;
        let rows = |free: &FreePlan<ReducePlan>| (free.plan.work.rows / free.planned).saturating_mul(count);
        let fitting = self.plans.iter().rfind(|free| free.planned <= count).unwrap_or(smallest);
        let fitting = if rows(fitting) as u64 >= HUGE { self.huge.as_ref().map_err(Error::clone)? } else { fitting };
        Ok(resized(fitting, count))
    }
}

/// A plan whose loop has the strides of the free dimension, and does not move the destination.
fn free_plan(planned: usize, plan: ReducePlan, strides: (isize, isize)) -> Option<FreePlan<ReducePlan>> {
    FreePlan::new(planned, plan, |_, along| {
        let times = (along.n / planned) as isize;
        let steps = (along.index.wrapping_mul(times), along.out.wrapping_mul(times));
        along.data == 0 && steps == strides
    })
}

fn resized(free: &FreePlan<ReducePlan>, count: usize) -> ReducePlan {
    let mut plan = free.plan.clone();
    if count == 0 {
        (plan.nest.action, plan.few) = (Action::Nothing, None);
    }
    if plan.action == Action::Run {
        // Updates of this many elements exist, so the product does not overflow.
        plan.nest.loops[free.free].n = free.times * count;
        plan.nest.work = plan.work.scaled(free.planned, count);
        plan.few = plan.few.and_then(|few| few.resized(plan.loops[free.free].n, plan.options));
    }
    plan
}
