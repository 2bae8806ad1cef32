//! Descriptions of the plans of bags.

#![forbid(unsafe_code)]

use alloc::vec::Vec;
use core::fmt;

use crate::plan::bag::{BagPlan, Bounds};
use crate::plan::explain::{Description, Explain, kind, name_of};
use crate::tensor::layout::Layout;
use crate::types::method::Method;
use crate::types::op::Op;

/// A plan of one table with its bags and the layout of its output.
struct OneTable<'a>(&'a BagPlan, &'a Bounds, &'a Layout);

/// The plans of several tables, without bags.
struct SeveralTables<'a>(Vec<&'a BagPlan>);

impl<'a> Explain<'a> {
    pub(crate) fn bag(plan: &'a BagPlan, bounds: &'a Bounds, out: &'a Layout, threads: impl FnOnce() -> usize) -> Self {
        Explain::new(OneTable(plan, bounds, out), plan.tasks(bounds, threads))
    }

    pub(crate) fn tables(plans: impl Iterator<Item = &'a BagPlan>) -> Self {
        Explain::new(SeveralTables(plans.collect()), 0)
    }
}

impl Description for OneTable<'_> {
    fn kernel(&self) -> &'static str {
        name_of(self.0.action(self.1), "bag")
    }

    fn method(&self) -> Method {
        Method::Accumulated
    }

    fn bytes(&self) -> usize {
        self.0.work(self.1).bytes
    }

    fn write(&self, tasks: usize, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let &OneTable(plan, bounds, out) = self;
        writeln!(f, "{}: {} -> {:?}", Op::EmbeddingBag, self.kernel(), out.shape())?;
        writeln!(f, "  {} bags of {} rows, {} in the longest", bounds.bags(), bounds.used(), bounds.longest())?;
        for (depth, l) in plan.loops.iter().enumerate() {
            let kind = kind(depth, plan.loops.len());
            writeln!(f, "  {kind} of {}: output +{}, data +{} bytes", l.n, l.out, l.data)?;
        }
        let (dim, stride) = (plan.rule.dim, plan.stride);
        writeln!(f, "  index ({}) along axis 0 of {}: data +{stride} bytes", plan.index, dim)?;
        write!(f, "  method {}", self.method())?;
        if plan.prefetch_distance > 0 {
            write!(f, ", fetched {} ahead", plan.prefetch_distance)?;
        }
        if let Some(row_fn) = plan.converting {
            let conversion = plan.conversion(bounds, row_fn);
            write!(f, ", {} rows of {} columns converted at a time", conversion.rows, conversion.columns)?;
        }
        write!(f, "\n  takes ")?;
        if plan.converting.is_some() || plan.fused.is_some() {
            write!(f, "{} bytes a row, converted into ", plan.row_in)?;
        }
        let (row, bytes, level) = (plan.row, plan.work(bounds).bytes, *plan.level);
        write!(f, "{row} bytes a row, {bytes} in all; level {level}, tasks {tasks}")
    }
}

impl Description for SeveralTables<'_> {
    fn kernel(&self) -> &'static str {
        "bag"
    }

    fn method(&self) -> Method {
        Method::Accumulated
    }

    fn bytes(&self) -> usize {
        0
    }

    fn write(&self, _: usize, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let SeveralTables(plans) = self;
        write!(f, "{}: {} of {} tables", Op::EmbeddingBag, self.kernel(), plans.len())?;
        for (number, plan) in plans.iter().enumerate() {
            let (dim, stride) = (plan.rule.dim, plan.stride);
            write!(f, "\n  table {number}: index ({}) along axis 0 of {}: data +{stride} bytes", plan.index, dim)?;
            write!(f, "\n    takes {} bytes a row, converted into {}", plan.row_in, plan.row)?;
            if plan.prefetch_distance > 0 {
                write!(f, ", fetched {} ahead", plan.prefetch_distance)?;
            }
        }
        plans.first().map_or(Ok(()), |plan| write!(f, "\n  method {}; level {}", self.method(), *plan.level))
    }
}
