//! Plans of calls with a row function.

use core::marker::PhantomData;

use crate::call::plan_type::plan_type;
use crate::call::planned::{Inputs, Planned};
use crate::call::row_functions::{RowCall, aligned};
use crate::call::will_need::will_need;
use crate::kernels::convert::row::{GivenRows, RowParams, Types};
use crate::tensor::dynamic::check_aligned;
use crate::tensor::layout::Shape;
use crate::tensor::output::{Output, Target, written};
use crate::tensor::typing::{Input, Typing};
use crate::types::error::Error;

/// Everything about a call with a [`RowFunction`](crate::RowFunction) that depends on shapes and types: made once by
/// [`plan_rows`](crate::Gather::plan_rows) or [`plan_rows_any_count`](crate::Gather::plan_rows_any_count), run many
/// times, from any thread.
pub struct RowPlan<T, U, P, I> {
    pub(super) planned: Planned,
    pub(super) call: RowCall,
    pub(super) types: PhantomData<Types<T, U, (P, I)>>,
}

plan_type!(RowPlan<T, U, P, I>: planned);
will_need!(RowPlan<T, U, P, I>: planned, T, I);

impl<T: Typing, U: Typing, P: RowParams, I: Typing> RowPlan<T, U, P, I> {
    /// Runs the plan into a fresh tensor.
    ///
    /// # Errors
    /// [`Error::DTypeMismatch`] and [`Error::Misaligned`] for types that are known at run time,
    /// [`Error::PlanMismatch`], [`Error::RowParameterLengthMismatch`] and [`Error::RowParameterLengthUnstated`],
    /// [`Error::AllocationFailed`], then [`Error::IndexOutOfRange`].
    ///
    /// # Panics
    /// When the function does.
    pub fn run(&self, data: &impl Input<T>, indices: &impl Input<I>, params: P::Given<'_>) -> Result<U::Tensor, Error> {
        written(self.empty(), |out| self.run_into(data, indices, params, out))
    }

    /// A result without elements.
    pub(in crate::call) fn empty(&self) -> U::Tensor {
        U::empty(self.call.erased.types.1)
    }

    /// Runs the plan into an [`Output`]: a row-major view, uninitialised memory, or a tensor that is used again.
    /// Allocates nothing but the memory of a tensor that is too small.
    ///
    /// # Errors
    /// As for [`RowPlan::run`]; the output is then as after [`Gather::run_rows_into`](crate::Gather::run_rows_into).
    ///
    /// # Panics
    /// When the function does.
    pub fn run_into(
        &self,
        data: &impl Input<T>,
        indices: &impl Input<I>,
        params: P::Given<'_>,
        out: &mut impl Output<U>,
    ) -> Result<(), Error> {
        let (from, to) = self.call.erased.types;
        data.check(from)?;
        indices.check(self.planned.plan.index().dtype())?;
        check_aligned(from, data.start())?;
        // SAFETY: the inputs are of the plan's types, and aligned, as just checked; O1 for the type that the function
        // writes; the output is borrowed mutably, so that it overlaps no input.
        unsafe { self.run_by(Inputs::new(data, indices), params, aligned(out, to)?) }
    }

    /// As [`RowPlan::run_into`], for tensors of the plan's types.
    ///
    /// # Safety
    /// As for [`IndexOperator::run_rows_by`].
    unsafe fn run_by(&self, inputs: Inputs<'_>, params: P::Given<'_>, target: Target<'_>) -> Result<(), Error> {
        let RowPlan { planned, call, .. } = self;
        let count = planned.check_inputs(inputs.data_layout, inputs.indices)?;
        if let Some(layout) = target.layout() {
            planned.check_output(layout, count)?;
        }
        let mut buffer = Shape::default();
        let (shape, len) = planned.fresh(count, &mut buffer)?;
        let given = call.given::<P>(&planned.plan, shape, &params)?;
        let run = |out: *mut u8| {
            let given = GivenRows::<P> { out: out.addr(), ..given };
            let inputs = Inputs { params: (&raw const given).cast(), ..inputs };
            // SAFETY: the layouts have just been checked; the rest as in `IndexOperator::run_rows_by`.
            unsafe { planned.execute(inputs.operands(out), count) }
        };
        // SAFETY: a run that succeeds has initialised every element of the result (X3).
        unsafe { target.write(|| Ok((shape, len)), run) }
    }
}
