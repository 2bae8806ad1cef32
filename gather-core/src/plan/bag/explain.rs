//! Descriptions of the plans of bags.

#![forbid(unsafe_code)]

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::fmt;

use crate::plan::bag::{BagReducePlan, Bounds};
use crate::plan::explain::{Explain, kind, name_of};
use crate::tensor::layout::Layout;
use crate::types::method::Method;
use crate::types::op::Op;

impl<'a> Explain<'a> {
    /// The description of a plan of one table with its bags and the layout of its output.
    pub(crate) fn bag(
        plan: &'a BagReducePlan,
        bounds: &'a Bounds,
        out: &'a Layout,
        threads: impl FnOnce() -> usize,
    ) -> Self {
        Explain {
            kernel: name_of(plan.action(bounds), "bag"),
            method: Method::Accumulated,
            bytes: plan.work(bounds).bytes,
            tasks: plan.tasks(bounds, threads),
            write: Box::new(move |explain, f| explain.write_bag(plan, bounds, out, f)),
        }
    }

    /// The description of the plans of several tables, without bags.
    pub(crate) fn tables(plans: impl Iterator<Item = &'a BagReducePlan>) -> Self {
        let plans: Vec<_> = plans.collect();
        Explain {
            kernel: "bag",
            method: Method::Accumulated,
            bytes: 0,
            tasks: 0,
            write: Box::new(move |explain, f| explain.write_tables(&plans, f)),
        }
    }

    fn write_bag(
        &self,
        plan: &BagReducePlan,
        bounds: &Bounds,
        out: &Layout,
        f: &mut fmt::Formatter<'_>,
    ) -> fmt::Result {
        writeln!(f, "{}: {} -> {:?}", Op::EmbeddingBag, self.kernel, out.shape())?;
        writeln!(f, "  {} bags of {} rows, {} in the longest", bounds.bags(), bounds.used(), bounds.longest())?;
        for (depth, l) in plan.loops.iter().enumerate() {
            let kind = kind(depth, plan.loops.len());
            writeln!(f, "  {kind} of {}: output +{}, data +{} bytes", l.n, l.out, l.data)?;
        }
        let (dim, stride) = (plan.rule.dim, plan.stride);
        writeln!(f, "  index ({}) along axis 0 of {}: data +{stride} bytes", plan.index, dim)?;
        write!(f, "  method {}", self.method)?;
        if plan.prefetch_distance > 0 {
            write!(f, ", fetched {} ahead", plan.prefetch_distance)?;
        }
        if let Some(decode_fn) = plan.converting {
            let conversion = plan.conversion(bounds, decode_fn);
            write!(f, ", {} rows of {} columns converted at a time", conversion.rows, conversion.columns)?;
        }
        write!(f, "\n  takes ")?;
        if plan.converting.is_some() || plan.fused.is_some() {
            write!(f, "{} bytes a row, converted into ", plan.row_in)?;
        }
        let (row, bytes, tasks) = (plan.row, self.bytes, self.tasks);
        write!(f, "{row} bytes a row, {bytes} in all; level {}, tasks {tasks}", *plan.level)
    }

    fn write_tables(&self, plans: &[&BagReducePlan], f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} of {} tables", Op::EmbeddingBag, self.kernel, plans.len())?;
        for (number, plan) in plans.iter().enumerate() {
            let (dim, stride) = (plan.rule.dim, plan.stride);
            write!(f, "\n  table {number}: index ({}) along axis 0 of {}: data +{stride} bytes", plan.index, dim)?;
            write!(f, "\n    takes {} bytes a row, converted into {}", plan.row_in, plan.row)?;
            if plan.prefetch_distance > 0 {
                write!(f, ", fetched {} ahead", plan.prefetch_distance)?;
            }
        }
        plans.first().map_or(Ok(()), |plan| write!(f, "\n  method {}; level {}", self.method, *plan.level))
    }
}
