//! Running a plan for any size of the first dimension of indices.

use smallvec::SmallVec;

use crate::exec::index::{IndexPart, Operands, Written, run_in_parts};
use crate::kernels::Loop;
use crate::plan::{Action, Decoding, Functions, IndexPlan};
use crate::tensor::layout::Layout;
use crate::types::error::Error;

/// Plans whose one loop is free: that over the first dimension of indices, which is the outermost of the output. Where
/// any size of it leaves nothing to move, plans without a loop, which check indices.
///
/// Invariant C1: data does not move along the free dimension, so that P1 holds for any size of it, and no kernel is one
/// for declared shapes, whose sizes are fixed (K10).
#[derive(Clone, Debug)]
pub(crate) struct CountedPlan {
    /// For few indices, and for more.
    plans: [FreePlan; 2],
    /// Elements of indices and of the output for each along the free dimension.
    indices_per_count: usize,
    out_per_count: usize,
}

/// A plan with a free loop.
#[derive(Clone, Debug)]
struct FreePlan {
    plan: IndexPlan,
    /// Position of the free loop, and its iterations for each along the free dimension: 0 where nothing is moved.
    free: usize,
    times: usize,
    /// The size of the free dimension that was planned for.
    planned: usize,
}

/// Sizes of the free dimension up to which calls have few indices.
const FEW: usize = 32;
/// Sizes that plans are made for, unless a greater one is expected.
const PLANNED: [usize; 2] = [FEW, 1 << 10];

impl CountedPlan {
    /// Plans for any size of the first dimension of indices, by plans for given sizes of it. `action` is that of every
    /// size but 0.
    ///
    /// # Errors
    /// Those of the plans, then [`Error::FixedCount`] where no loop is that of the dimension.
    pub(crate) fn new(
        plan_for: impl Fn(usize) -> Result<IndexPlan, Error>,
        action: Action,
        expected: usize,
        indices: &Layout,
        out: &Layout,
    ) -> Result<Self, Error> {
        let per_count = |layout: &Layout| layout.shape().iter().skip(1).product();
        let [few, many] = PLANNED;
        let many = many.max(expected);
        let plans = if action == Action::Run {
            [FreePlan::new(few, plan_for(few)?)?, FreePlan::new(many, plan_for(many)?)?]
        } else {
            let idle = FreePlan { plan: plan_for(expected.max(1))?, free: 0, times: 0, planned: 1 };
            [idle.clone(), idle]
        };
        Ok(CountedPlan { plans, indices_per_count: per_count(indices), out_per_count: per_count(out) })
    }

    /// [`IndexPlan::set_fill`] for all plans.
    pub(crate) fn set_fill(&mut self, fill: &[u8]) {
        self.plans.iter_mut().for_each(|free| free.plan.set_fill(fill));
    }

    /// [`IndexPlan::decode_rows`] for all plans.
    pub(crate) fn decode_rows(&mut self, decoding: Decoding) {
        self.plans.iter_mut().for_each(|free| free.plan.decode_rows(decoding));
    }

    /// [`IndexPlan::set_conversion`] for all plans.
    pub(crate) fn set_conversion(&mut self, by: Functions) {
        self.plans.iter_mut().for_each(|free| free.plan.set_conversion(by));
    }

    /// The plan for few indices.
    #[inline(always)]
    pub(crate) fn for_few(&self) -> &IndexPlan {
        &self.plans[0].plan
    }

    /// The size of the free dimension of `indices` indices; `None` where there is none. Where indices have no elements,
    /// nor has the output: every size is that of no indices, and stands for any.
    #[inline(always)]
    pub(crate) fn count(&self, indices: usize) -> Option<usize> {
        match self.indices_per_count {
            1 => Some(indices),
            0 => (indices == 0).then_some(0),
            per_count => indices.is_multiple_of(per_count).then(|| indices / per_count),
        }
    }

    /// Elements of the output, for a size of the free dimension: saturated where there are too many for any slice.
    #[inline(always)]
    pub(crate) fn out_len(&self, count: usize) -> usize {
        self.out_per_count.saturating_mul(count)
    }

    /// Runs the plan for a size of the free dimension.
    ///
    /// # Errors
    /// As for [`run_index`](super::run_index).
    ///
    /// # Safety
    /// X1 for tensors with `count` along the free dimension, which is the first of the layout of the operands' indices,
    /// whatever size that says.
    #[inline]
    pub(crate) unsafe fn run(&self, operands: Operands<'_>, count: usize) -> Result<Written, Error> {
        let FreePlan { plan, free, times, planned } = &self.plans[usize::from(count > FEW)];
        // A tensor with as many elements exists, so that the product does not overflow.
        let n = times * count;
        if n == 0 {
            // SAFETY: there is no index, or the plan moves nothing for any count of them.
            return unsafe { check_only(plan, operands, count) };
        }
        let (mut only, mut several) = ([Loop::ONCE], SmallVec::<[Loop; 6]>::new());
        let loops = if let &[along] = plan.loops() {
            only[0] = Loop { n, ..along };
            &only[..]
        } else {
            several.extend_from_slice(plan.loops());
            several[*free].n = n;
            &several
        };
        let work = plan.work().scaled(*planned, count);
        let one_call = plan.is_one_call(work) && !plan.remaps();
        if one_call {
            // SAFETY: X1 for the plan with another size of its free loop: C1.
            let outcome = unsafe { IndexPart::new(plan, loops, operands) }.call();
            if let Some(written) = Written::by(outcome, operands.memory()) {
                return Ok(written);
            }
        }
        let indices = operands.resized(count)?;
        // SAFETY: V1: the tensor of indices has `count` along the first dimension.
        let operands = unsafe { operands.with_layout(&indices) };
        if one_call {
            return Err(operands.first_bad_index(plan));
        }
        // SAFETY: X1 and C1: the loops reach `count` along the free dimension, as the layout of indices does.
        unsafe { run_in_parts(plan, loops, work, operands) }
    }
}

/// Runs a call that has nothing to move: checks its indices, where the plan does.
///
/// # Errors
/// [`Error::IndexOutOfRange`], as [`run_index`](super::run_index).
///
/// # Safety
/// As for [`CountedPlan::run`], with a `count` of 0 or a plan that does not move.
#[cold]
unsafe fn check_only(plan: &IndexPlan, operands: Operands<'_>, count: usize) -> Result<Written, Error> {
    if count == 0 {
        return Ok(Written::NOTHING);
    }
    let indices = operands.resized(count)?;
    // SAFETY: V1: the tensor of indices has `count` along the first dimension.
    let operands = unsafe { operands.with_layout(&indices) };
    // SAFETY: the plan checks these indices, or does nothing: no kernel runs.
    unsafe { run_in_parts(plan, plan.loops(), plan.work(), operands) }
}

impl FreePlan {
    /// Finds the loop of a contiguous output's first dimension, for whose size `planned` the plan was made: it alone
    /// steps over all of the output.
    fn new(planned: usize, plan: IndexPlan) -> Result<Self, Error> {
        let refused = Error::FixedCount { op: plan.op() };
        if plan.action() != Action::Run {
            return Err(refused);
        }
        let is_free = |l: &Loop| {
            isize::try_from(l.n).is_ok_and(|n| n.checked_mul(l.out) == isize::try_from(plan.work().bytes).ok())
        };
        let free = plan.loops().iter().position(is_free).filter(|&free| plan.loops()[free].n.is_multiple_of(planned));
        let free = free.ok_or(refused)?;
        Ok(FreePlan { free, times: plan.loops()[free].n / planned, planned, plan })
    }
}
