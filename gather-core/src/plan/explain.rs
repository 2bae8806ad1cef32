//! A description of a plan, in words.

#![forbid(unsafe_code)]

use alloc::boxed::Box;
use core::fmt;

use crate::plan::{Action, IndexPlan, Panels, SpacePart, SpacePlan};
use crate::types::method::Method;

/// A description of a plan: method, kernel, loops after folding, bytes moved, tasks. Printed by `Display`.
pub struct Explain<'a> {
    plan: Box<dyn Description + 'a>,
    /// Tasks that a call is cut into here and now.
    tasks: usize,
}

/// The description of a plan.
pub(super) trait Description: Send + Sync {
    /// [`Explain::kernel`].
    fn kernel(&self) -> &'static str;

    /// [`Explain::method`].
    fn method(&self) -> Method;

    /// [`Explain::bytes`].
    fn bytes(&self) -> usize;

    /// Writes the description, for calls that are cut into `tasks` tasks.
    fn write(&self, tasks: usize, f: &mut fmt::Formatter<'_>) -> fmt::Result;
}

impl<'a> Explain<'a> {
    /// The description of a plan, whose calls are cut into `tasks` tasks.
    pub(super) fn new(plan: impl Description + 'a, tasks: usize) -> Self {
        Explain { plan: Box::new(plan), tasks }
    }

    pub(crate) fn index(plan: &'a IndexPlan, threads: impl FnOnce() -> usize) -> Self {
        Explain::new(plan, plan.tasks(plan.work(), threads))
    }

    pub(crate) fn space(plan: &'a SpacePlan, output: &'a [usize], threads: impl FnOnce() -> usize) -> Self {
        let largest = plan.parts().max_by_key(|part| part.bytes());
        Explain::new((plan, output), largest.map_or(1, |largest| plan.tasks(largest, threads)))
    }

    /// The name of the kernel that runs; where none does, what is done in its place.
    #[must_use]
    pub fn kernel(&self) -> &'static str {
        self.plan.kernel()
    }

    /// How a call gets at its data.
    #[must_use]
    pub fn method(&self) -> Method {
        self.plan.method()
    }

    /// Bytes that a call writes; of a scatter those of its updates, of bags those of the rows in them, converted by the
    /// map if there is one. Of several tables, whose bags come with a call, it is 0.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.plan.bytes()
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
        self.plan.write(self.tasks, f)
    }
}

/// The name of a kernel, or what is done in its place.
pub(super) fn name_of(action: Action, name: &'static str) -> &'static str {
    match action {
        Action::Nothing => "nothing to do",
        Action::Check => "check only",
        Action::Run => name,
    }
}

impl Description for &IndexPlan {
    fn kernel(&self) -> &'static str {
        name_of(self.action(), self.kernel_name())
    }

    fn method(&self) -> Method {
        IndexPlan::method(self)
    }

    fn bytes(&self) -> usize {
        self.work().bytes
    }

    fn write(&self, tasks: usize, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plan = self;
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
        write!(f, "  method {}", self.method())?;
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
            tasks
        )
    }
}

/// A plan, and the shape of its output.
impl Description for (&SpacePlan, &[usize]) {
    fn kernel(&self) -> &'static str {
        self.0.parts().next().map_or("nothing to do", |part| part.entry.name)
    }

    fn method(&self) -> Method {
        self.0.method()
    }

    fn bytes(&self) -> usize {
        self.0.bytes()
    }

    fn write(&self, tasks: usize, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (plan, output) = self;
        writeln!(f, "{}: {} -> {:?}", plan.op(), self.kernel(), output)?;
        let moves = plan.parts().find(|part| !part.fills());
        for (depth, l) in moves.iter().flat_map(|part| part.loops.iter().enumerate()) {
            let kind = kind(depth, moves.map_or(0, |part| part.loops.len()));
            let step = if l.block == 1 { l.wrap } else { l.step };
            writeln!(
                f,
                "  {kind} of {} in blocks of {}: output +{}, data +{} bytes",
                l.n, l.block, step.out, step.data
            )?;
        }
        writeln!(f, "  method {}", self.method())?;
        let pads = plan.parts().filter(|part| part.fills()).map(SpacePart::bytes);
        if let Some(bytes) = pads.reduce(usize::saturating_add) {
            writeln!(f, "  fills {bytes} bytes of padding")?;
        }
        let (row, level) = (moves.map_or(0, |part| part.row), plan.level());
        write!(f, "  moves {row} bytes a row, {} in all; level {level}, tasks {}", plan.bytes(), tasks)
    }
}

/// The name of a loop.
pub(super) fn kind(depth: usize, loops: usize) -> &'static str {
    if depth + 1 == loops { "inner loop" } else { "loop" }
}
