//! Plans of scatters for any size of the first dimension of indices and updates.

#![forbid(unsafe_code)]

use alloc::vec::Vec;

use crate::kernels::Loop;
use crate::plan::lowered::Dim;
use crate::plan::nest::Action;
use crate::plan::reduce::ReducePlan;
use crate::tensor::layout::{Layout, Shape};
use crate::types::error::Error;

/// Plans whose one loop is free: that over the first dimension of indices and updates.
///
/// Invariant C1: the destination does not move along the free dimension, so that P1 holds for any size of it.
#[derive(Clone)]
pub(crate) struct CountedReducePlan {
    /// By the size of the free dimension that they were planned for, which ascends. There is one.
    plans: Vec<Free>,
    /// For more rows than accumulators can count.
    huge: Option<Free>,
}

#[derive(Clone)]
struct Free {
    plan: ReducePlan,
    /// Position of the free loop, and its iterations for each along the free dimension.
    free: usize,
    times: usize,
    /// The size of the free dimension that was planned for.
    planned: usize,
}

/// Sizes that plans are made for, besides the one that is expected: which method is best depends on how many updates
/// there are for each element of the destination.
const PLANNED: [usize; 4] = [32, 1 << 10, 1 << 15, 1 << 20];
/// Rows that accumulators cannot count.
const HUGE: u64 = u32::MAX as u64;

impl CountedReducePlan {
    /// Plans for any size of the first dimension, by plans for given sizes of it.
    ///
    /// `dim` is that dimension of the operator, lowered for destination, indices and updates; `strides` are those of
    /// indices and updates along it, in bytes.
    ///
    /// # Errors
    /// [`Error::FixedCount`] where no loop is that of the dimension.
    pub(crate) fn new(
        plan_for: impl Fn(usize) -> Result<ReducePlan, Error>,
        expected: &ReducePlan,
        dim: Dim,
        strides: (isize, isize),
    ) -> Result<Self, Error> {
        let mut sizes = PLANNED.to_vec();
        sizes.extend((dim.n > PLANNED[0]).then_some(dim.n));
        sizes.sort_unstable();
        sizes.dedup();
        // No tensor has a size that cannot be planned for.
        let planned = |size| plan_for(size).ok().and_then(|plan| Free::new(size, plan, strides));
        let plans: Vec<Free> = sizes.into_iter().map_while(planned).collect();
        let huge = usize::try_from(HUGE).ok().and_then(planned);
        if plans.is_empty() || dim.data != 0 || dim.index == 0 {
            return Err(Error::FixedCount { op: expected.op });
        }
        Ok(CountedReducePlan { plans, huge })
    }

    /// The plan for a size of the free dimension, and updates of this layout.
    ///
    /// # Errors
    /// [`Error::TooManyBytes`].
    pub(crate) fn at(&self, count: usize, updates: &Layout) -> Result<ReducePlan, Error> {
        let smallest = &self.plans[0];
        Shape::checked_bytes(updates.shape(), smallest.plan.spec.row / smallest.plan.elements)?;
        let rows = |free: &Free| (free.plan.work.rows / free.planned).saturating_mul(count);
        let fitting = self.plans.iter().rfind(|free| free.planned <= count).unwrap_or(smallest);
        let is_huge = rows(fitting) as u64 >= HUGE;
        Ok(self.huge.as_ref().filter(|_| is_huge).unwrap_or(fitting).at(count))
    }
}

impl Free {
    /// Finds the loop whose outermost part is the free dimension; `None` where that is not the only one, and where the
    /// plan has no updates to write.
    fn new(planned: usize, plan: ReducePlan, strides: (isize, isize)) -> Option<Self> {
        let is_free = |along: &Loop| {
            let times = (along.n / planned) as isize;
            let steps = (along.index.wrapping_mul(times), along.out.wrapping_mul(times));
            along.n.is_multiple_of(planned) && along.data == 0 && steps == strides
        };
        let mut found = plan.loops.iter().enumerate().filter(|(_, along)| is_free(along)).map(|(at, _)| at);
        let (free, only) = (found.next()?, found.next().is_none());
        let times = plan.loops[free].n / planned;
        (only && plan.action == Action::Run).then_some(Free { plan, free, times, planned })
    }

    fn at(&self, count: usize) -> ReducePlan {
        let mut plan = self.plan.clone();
        // Updates of as many elements exist, so that the product does not overflow.
        plan.nest.loops[self.free].n = self.times * count;
        plan.nest.work = plan.work.scaled(self.planned, count);
        if count == 0 {
            plan.nest.action = Action::Nothing;
        }
        plan
    }
}
