//! Descriptions of the plans of scatters.

#![forbid(unsafe_code)]

use core::fmt;

use crate::plan::explain::{Description, Explain, kind, name_of};
use crate::plan::reduce::{Accumulators, ReducePlan, Way};
use crate::tensor::layout::Layout;
use crate::types::method::Method;

/// A plan with the layout of its destination.
struct Described<'a>(&'a ReducePlan, &'a Layout);

impl<'a> Explain<'a> {
    pub(crate) fn reduce(plan: &'a ReducePlan, out: &'a Layout, threads: impl FnOnce() -> usize) -> Self {
        Explain::new(Described(plan, out), plan.tasks(plan.work(), threads))
    }
}

impl Description for Described<'_> {
    fn kernel(&self) -> &'static str {
        name_of(self.0.action(), self.0.kernel_name())
    }

    fn method(&self) -> Method {
        self.0.method()
    }

    fn bytes(&self) -> usize {
        self.0.work().bytes
    }

    fn write(&self, tasks: usize, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let &Described(plan, out) = self;
        let spec = plan.spec();
        writeln!(f, "{}: {} -> {:?}", plan.op(), self.kernel(), out.shape())?;
        for (depth, l) in plan.loops().iter().enumerate() {
            let kind = kind(depth, plan.loops().len());
            writeln!(f, "  {kind} of {}: updates +{}, output +{}, indices +{} bytes", l.n, l.out, l.data, l.index)?;
        }
        for (axis, component) in plan.axes().iter().zip(&spec.components) {
            let step = i128::from(component.scale) * plan.stride() as i128;
            writeln!(f, "  index ({}) along axis {} of {}: output +{step} bytes", plan.index(), axis.axis, axis.dim)?;
        }
        write!(f, "  method {}", plan.method())?;
        if let Some(block) = plan.block {
            write!(f, ", in blocks of {block}")?;
        }
        if let Way::Accumulated(Accumulators { bytes, record, .. }) = &plan.way {
            write!(f, " by {}, {record} bytes a row of the output, {bytes} in all", spec.method)?;
        }
        if spec.prefetch_distance > 0 {
            write!(f, ", fetched {} ahead", spec.prefetch_distance)?;
        }
        let (row, bytes, level) = (spec.row, plan.work().bytes, *spec.level);
        write!(f, "\n  takes {row} bytes a row, {bytes} in all; level {level}, tasks {}", tasks)
    }
}
