//! Descriptions of the plans of bags.

#![forbid(unsafe_code)]

use alloc::vec::Vec;
use core::fmt;

use crate::plan::bag::{BagCall, BagPlan};
use crate::plan::explain::{Describe, Explain, kind, name_of};
use crate::tensor::layout::Layout;
use crate::types::method::Method;
use crate::types::op::Op;

/// A plan of one table with its bags and the layout of its output.
struct OneTable<'a>(BagCall<'a>, &'a Layout);

/// The plans of several tables, without bags.
struct SeveralTables<'a>(Vec<&'a BagPlan>);

impl<'a> Explain<'a> {
    pub(crate) fn bag(call: BagCall<'a>, out: &'a Layout, threads: impl FnOnce() -> usize) -> Self {
        let tasks = call.tasks(threads);
        Explain::new(OneTable(call, out), tasks)
    }

    pub(crate) fn tables(plans: impl Iterator<Item = &'a BagPlan>) -> Self {
        Explain::new(SeveralTables(plans.collect()), 0)
    }
}

impl Describe for OneTable<'_> {
    fn kernel(&self) -> &'static str {
        name_of(self.0.action(), "bag")
    }

    fn method(&self) -> Method {
        Method::Accumulated
    }

    fn bytes(&self) -> usize {
        self.0.work().bytes
    }

    fn write(&self, tasks: usize, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let OneTable(plan, out) = self;
        writeln!(f, "{}: {} -> {:?}", plan.op(), self.kernel(), out.shape())?;
        let bounds = plan.bounds();
        writeln!(f, "  {} bags of {} rows, {} in the longest", bounds.bags(), bounds.used(), bounds.longest())?;
        for (depth, l) in plan.loops().iter().enumerate() {
            let kind = kind(depth, plan.loops().len());
            writeln!(f, "  {kind} of {}: output +{}, data +{} bytes", l.n, l.out, l.data)?;
        }
        let (axis, stride) = (plan.axis(), plan.stride());
        writeln!(f, "  index ({}) along axis 0 of {}: data +{stride} bytes", plan.index(), axis.dim)?;
        write!(f, "  method {}", self.method())?;
        if plan.prefetch_distance() > 0 {
            write!(f, ", fetched {} ahead", plan.prefetch_distance())?;
        }
        if let Some(conversion) = plan.conversion() {
            write!(f, ", {} rows of {} columns converted at a time", conversion.rows, conversion.columns)?;
        }
        write!(f, "\n  takes ")?;
        if plan.conversion().is_some() || plan.fused().is_some() {
            write!(f, "{} bytes a row, converted into ", plan.row_in())?;
        }
        let (row, bytes, level) = (plan.row(), plan.work().bytes, plan.level());
        write!(f, "{row} bytes a row, {bytes} in all; level {level}, tasks {}", tasks)
    }
}

impl Describe for SeveralTables<'_> {
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
            let (axis, stride) = (plan.axis(), plan.stride());
            write!(
                f,
                "\n  table {number}: index ({}) along axis 0 of {}: data +{stride} bytes",
                plan.index(),
                axis.dim
            )?;
            write!(f, "\n    takes {} bytes a row, converted into {}", plan.row_in(), plan.row())?;
            if plan.prefetch_distance() > 0 {
                write!(f, ", fetched {} ahead", plan.prefetch_distance())?;
            }
        }
        plans.first().map_or(Ok(()), |plan| write!(f, "\n  method {}; level {}", self.method(), plan.level()))
    }
}
