//! Descriptions of the plans of scatters.

#![forbid(unsafe_code)]

use alloc::boxed::Box;
use core::fmt;

use crate::plan::explain::{Explain, name_of, write_nest};
use crate::plan::reduce::{Accumulators, ReducePlan, Strategy};
use crate::tensor::layout::Layout;

impl<'a> Explain<'a> {
    /// The description of a plan with the layout of its destination.
    pub(crate) fn reduce(plan: &'a ReducePlan, out: &'a Layout, threads: impl FnOnce() -> usize) -> Self {
        Explain {
            kernel: name_of(plan.action(), plan.kernel_name()),
            method: plan.method(),
            bytes: plan.work().bytes,
            tasks: plan.tasks(plan.work(), threads),
            write: Box::new(move |explain, f| explain.write_reduce(plan, out, f)),
        }
    }

    fn write_reduce(&self, plan: &ReducePlan, out: &Layout, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let spec = plan.spec();
        writeln!(f, "{}: {} -> {:?}", plan.op(), self.kernel, out.shape())?;
        write_nest(f, plan, plan.loops(), ["updates", "output"])?;
        write!(f, "  method {}", self.method)?;
        if let Some(block) = plan.block {
            write!(f, ", in blocks of {block}")?;
        }
        if let Strategy::Accumulated(Accumulators { bytes, record, .. }) = &plan.way {
            write!(f, " by {}, {record} bytes a row of the output, {bytes} in all", spec.method)?;
        }
        self.write_end(f, "takes", (spec.row, spec.prefetch_distance, *spec.level))
    }
}
