//! A description of a plan, in words.

#![forbid(unsafe_code)]

use alloc::vec::Vec;
use core::fmt;

use crate::plan::{Accumulators, Action, BagPlan, Bounds, IndexPlan, Panels, ReducePlan, SpacePart, SpacePlan, Way};
use crate::tensor::layout::Layout;
use crate::types::method::Method;
use crate::types::op::Op;

/// A description of a plan: method, kernel, loops after folding, bytes moved, tasks. Printed by `Display`.
pub struct Explain<'a> {
    plan: PlanKind<'a>,
    /// Tasks that a call is cut into here and now.
    tasks: usize,
}

enum PlanKind<'a> {
    Index(&'a IndexPlan),
    Space(&'a SpacePlan),
    /// With the layout of the destination.
    Reduce(&'a ReducePlan, &'a Layout),
    /// With the layout of the output.
    Bag(&'a BagPlan, &'a Bounds, &'a Layout),
    /// Without bags.
    Tables(Vec<&'a BagPlan>),
}

impl<'a> Explain<'a> {
    pub(crate) fn index(plan: &'a IndexPlan, threads: impl FnOnce() -> usize) -> Self {
        Explain { plan: PlanKind::Index(plan), tasks: plan.tasks(plan.work(), threads) }
    }

    pub(crate) fn space(plan: &'a SpacePlan, threads: impl FnOnce() -> usize) -> Self {
        let mut tasks = 1;
        if let Some(largest) = plan.parts().iter().max_by_key(|part| part.bytes()) {
            tasks = plan.tasks(largest, threads);
        }
        Explain { plan: PlanKind::Space(plan), tasks }
    }

    pub(crate) fn reduce(plan: &'a ReducePlan, out: &'a Layout, threads: impl FnOnce() -> usize) -> Self {
        Explain { plan: PlanKind::Reduce(plan, out), tasks: plan.tasks(plan.work(), threads) }
    }

    pub(crate) fn bag(plan: &'a BagPlan, bounds: &'a Bounds, out: &'a Layout, threads: impl FnOnce() -> usize) -> Self {
        Explain { tasks: plan.tasks(bounds, threads), plan: PlanKind::Bag(plan, bounds, out) }
    }

    pub(crate) fn tables(plans: impl Iterator<Item = &'a BagPlan>) -> Self {
        Explain { plan: PlanKind::Tables(plans.collect()), tasks: 0 }
    }

    /// The name of the kernel that runs; where none does, what is done in its place.
    #[must_use]
    pub fn kernel(&self) -> &'static str {
        let name = |action, name| match action {
            Action::Nothing => "nothing to do",
            Action::Check => "check only",
            Action::Run => name,
        };
        match &self.plan {
            PlanKind::Index(plan) => name(plan.action(), plan.kernel_name()),
            PlanKind::Reduce(plan, _) => name(plan.action(), plan.kernel_name()),
            PlanKind::Bag(plan, bounds, _) => name(plan.action(bounds), "bag"),
            PlanKind::Tables(_) => "bag",
            PlanKind::Space(plan) => plan.parts().first().map_or("nothing to do", |part| part.entry.name),
        }
    }

    /// How a call gets at its data.
    #[must_use]
    pub fn method(&self) -> Method {
        match &self.plan {
            PlanKind::Index(plan) => plan.method(),
            PlanKind::Space(plan) => plan.method(),
            PlanKind::Reduce(plan, _) => plan.method(),
            PlanKind::Bag(..) | PlanKind::Tables(_) => Method::Accumulated,
        }
    }

    /// Bytes that a call writes; of a scatter those of its updates, of bags those of the rows in them, converted by the
    /// map if there is one. Of several tables, whose bags come with a call, it is 0.
    #[must_use]
    pub fn bytes(&self) -> usize {
        match &self.plan {
            PlanKind::Index(plan) => plan.work().bytes,
            PlanKind::Space(plan) => plan.bytes(),
            PlanKind::Reduce(plan, _) => plan.work().bytes,
            PlanKind::Bag(plan, bounds, _) => plan.work(bounds).bytes,
            PlanKind::Tables(_) => 0,
        }
    }

    /// Tasks that a call is cut into here and now; 0 for several tables.
    #[must_use]
    pub fn tasks(&self) -> usize {
        self.tasks
    }
}

impl fmt::Debug for Explain<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for Explain<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.plan {
            PlanKind::Index(plan) => self.index_plan(plan, f),
            PlanKind::Space(plan) => self.space_plan(plan, f),
            PlanKind::Reduce(plan, out) => self.reduce_plan(plan, out, f),
            PlanKind::Bag(plan, bounds, out) => self.bag_plan(plan, bounds, out, f),
            PlanKind::Tables(plans) => self.tables_plan(plans, f),
        }
    }
}

impl Explain<'_> {
    fn index_plan(&self, plan: &IndexPlan, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let spec = plan.spec();
        writeln!(f, "{}: {} -> {:?}", plan.op(), self.kernel(), plan.output())?;
        for (depth, l) in plan.loops().iter().enumerate() {
            let kind = kind(depth, plan.loops().len());
            writeln!(f, "  {kind} of {}: output +{}, data +{}, indices +{} bytes", l.n, l.out, l.data, l.index)?;
        }
        for (axis, component) in plan.axes().iter().zip(&spec.components) {
            // Plans can be made from layouts over no slice, whose steps need not fit in 64 bits.
            let step = i128::from(component.scale) * plan.stride() as i128;
            writeln!(f, "  index ({}) along axis {} of {}: data +{step} bytes", plan.index(), axis.axis, axis.dim)?;
        }
        write!(f, "  method {}", plan.method())?;
        if spec.table_entries > 0 {
            write!(f, " of {} entries", spec.table_entries)?;
        }
        if let Some(Panels { rows, columns, .. }) = plan.panels() {
            write!(f, " of {rows} x {columns}, then {}", spec.method)?;
        }
        if plan.is_blocked() {
            write!(f, ", block by block")?;
        }
        if spec.prefetch_distance > 0 {
            write!(f, ", fetched {} ahead", spec.prefetch_distance)?;
        }
        write!(
            f,
            "\n  moves {} bytes a row, {} in all; level {}, tasks {}",
            spec.row,
            plan.work().bytes,
            *spec.level,
            self.tasks
        )
    }

    fn reduce_plan(&self, plan: &ReducePlan, out: &Layout, f: &mut fmt::Formatter<'_>) -> fmt::Result {
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
        if let Some(block) = plan.block() {
            write!(f, ", in blocks of {block}")?;
        }
        if let Way::Accumulated(Accumulators { bytes, record, .. }) = plan.way() {
            write!(f, " by {}, {record} bytes a row of the output, {bytes} in all", spec.method)?;
        }
        if spec.prefetch_distance > 0 {
            write!(f, ", fetched {} ahead", spec.prefetch_distance)?;
        }
        let (row, bytes, level) = (spec.row, plan.work().bytes, *spec.level);
        write!(f, "\n  takes {row} bytes a row, {bytes} in all; level {level}, tasks {}", self.tasks)
    }

    fn bag_plan(&self, plan: &BagPlan, bounds: &Bounds, out: &Layout, f: &mut fmt::Formatter<'_>) -> fmt::Result {
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
        write!(f, "{row} bytes a row, {bytes} in all; level {level}, tasks {}", self.tasks)
    }

    fn tables_plan(&self, plans: &[&BagPlan], f: &mut fmt::Formatter<'_>) -> fmt::Result {
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

    fn space_plan(&self, plan: &SpacePlan, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}: {} -> {:?}", plan.op(), self.kernel(), plan.output())?;
        let moves = plan.parts().iter().find(|part| !part.fills());
        for (depth, l) in moves.iter().flat_map(|part| part.loops.iter().enumerate()) {
            let kind = kind(depth, moves.map_or(0, |part| part.loops.len()));
            let step = if l.block == 1 { l.wrap } else { l.step };
            writeln!(
                f,
                "  {kind} of {} in blocks of {}: output +{}, data +{} bytes",
                l.n, l.block, step.out, step.data
            )?;
        }
        writeln!(f, "  method {}", plan.method())?;
        let pads = plan.parts().iter().filter(|part| part.fills()).map(SpacePart::bytes);
        if let Some(bytes) = pads.reduce(usize::saturating_add) {
            writeln!(f, "  fills {bytes} bytes of padding")?;
        }
        let (row, level) = (moves.map_or(0, |part| part.row), plan.level());
        write!(f, "  moves {row} bytes a row, {} in all; level {level}, tasks {}", plan.bytes(), self.tasks)
    }
}

/// The name of a loop.
fn kind(depth: usize, loops: usize) -> &'static str {
    if depth + 1 == loops { "inner loop" } else { "loop" }
}
