//! Description of a plan in words.

#![forbid(unsafe_code)]

use alloc::boxed::Box;
use core::fmt;
use core::panic::{RefUnwindSafe, UnwindSafe};

use crate::kernels::Loop;
use crate::plan::{Action, IndexPlan, NestPlan, Panels, SpacePart, SpacePlan};
use crate::types::declare::accessors;
use crate::types::level::Level;
use crate::types::method::Method;

/// A description of a plan: method, kernel, loops after folding, bytes moved, tasks. Printed by `Display`.
pub struct Explain<'a> {
    pub(super) kernel: &'static str,
    pub(super) method: Method,
    pub(super) bytes: usize,
    pub(super) tasks: usize,
    pub(super) write: Box<WriteFn<'a>>,
}

type WriteFn<'a> =
    dyn Fn(&Explain<'_>, &mut fmt::Formatter<'_>) -> fmt::Result + Send + Sync + UnwindSafe + RefUnwindSafe + 'a;

impl<'a> Explain<'a> {
    pub(crate) fn index(plan: &'a IndexPlan, threads: impl FnOnce() -> usize) -> Self {
        Explain {
            kernel: name_of(plan.action(), plan.kernel_name()),
            method: plan.method(),
            bytes: plan.work().bytes,
            tasks: plan.tasks(plan.work(), threads),
            write: Box::new(move |explain, f| explain.write_index(plan, f)),
        }
    }

    pub(crate) fn space(plan: &'a SpacePlan, output: &'a [usize], threads: impl FnOnce() -> usize) -> Self {
        let largest = plan.parts().max_by_key(|part| part.bytes());
        Explain {
            kernel: plan.parts().next().map_or("nothing to do", |part| part.entry.name),
            method: plan.method(),
            bytes: plan.bytes(),
            tasks: largest.map_or(1, |largest| plan.tasks(largest, threads)),
            write: Box::new(move |explain, f| explain.write_space(plan, output, f)),
        }
    }

    accessors! { self:
        /// Name of the kernel that runs, or of the action in its place.
        pub fn kernel() -> &'static str => self.kernel;
        /// The method by which a call accesses data.
        pub fn method() -> Method => self.method;
        /// Bytes that a call writes. For a scatter, bytes of its updates. For bags, bytes of their rows, after
        /// conversion by a map. 0 for several tables, whose bags come with the call.
        pub fn bytes() -> usize => self.bytes;
        /// Number of tasks of a call, with the current pool; 0 for several tables.
        pub fn tasks() -> usize => self.tasks;
    }

    fn write_index(&self, plan: &IndexPlan, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let spec = plan.spec();
        writeln!(f, "{}: {} -> {:?}", plan.op(), self.kernel, plan.output())?;
        write_nest(f, plan, plan.loops(), ["output", "data"])?;
        write!(f, "  method {}", self.method)?;
        if spec.table_entries > 0 {
            write!(f, " of {} entries", spec.table_entries)?;
        }
        if let Some(Panels { rows, columns, .. }) = plan.panels() {
            write!(f, " of {rows} x {columns}, then {}", spec.method)?;
        }
        if plan.is_blocked() {
            write!(f, ", block by block")?;
        }
        self.write_end(f, "moves", (spec.row, spec.prefetch_distance, *spec.level))
    }

    fn write_space(&self, plan: &SpacePlan, output: &[usize], f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}: {} -> {:?}", plan.op(), self.kernel, output)?;
        let moves = plan.parts().find(|part| !part.fills());
        for (depth, l) in moves.iter().flat_map(|part| part.loops.iter().enumerate()) {
            let kind = kind(depth, moves.map_or(0, |part| part.loops.len()));
            let step = if l.block == 1 { l.wrap } else { l.step };
            let (out, data) = (step.out, step.data);
            writeln!(f, "  {kind} of {} in blocks of {}: output +{out}, data +{data} bytes", l.n, l.block)?;
        }
        write!(f, "  method {}", self.method)?;
        let pads = plan.parts().filter(|part| part.fills()).map(SpacePart::bytes);
        if let Some(bytes) = pads.reduce(usize::saturating_add) {
            write!(f, "\n  fills {bytes} bytes of padding")?;
        }
        self.write_end(f, "moves", (moves.map_or(0, |part| part.row), 0, plan.level()))
    }

    pub(super) fn write_end(
        &self,
        f: &mut fmt::Formatter<'_>,
        verb: &str,
        (row, distance, level): (usize, usize, Level),
    ) -> fmt::Result {
        if distance > 0 {
            write!(f, ", fetched {distance} ahead")?;
        }
        let (bytes, tasks) = (self.bytes, self.tasks);
        write!(f, "\n  {verb} {row} bytes a row, {bytes} in all; level {level}, tasks {tasks}")
    }
}

impl fmt::Debug for Explain<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for Explain<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (self.write)(self, f)
    }
}

/// Writes the loops and the indices of a nest. `out` and `data` are names for the tensors of [`Loop`].
pub(super) fn write_nest(
    f: &mut fmt::Formatter<'_>,
    plan: &NestPlan,
    loops: &[Loop],
    [out, data]: [&str; 2],
) -> fmt::Result {
    for (depth, l) in loops.iter().enumerate() {
        let kind = kind(depth, loops.len());
        writeln!(f, "  {kind} of {}: {out} +{}, {data} +{}, indices +{} bytes", l.n, l.out, l.data, l.index)?;
    }
    for (axis, component) in plan.axes().iter().zip(&plan.spec().components) {
        // A plan of a `Spec` may have steps that do not fit in 64 bits.
        let step = i128::from(component.scale) * plan.stride() as i128;
        writeln!(f, "  index ({}) along axis {} of {}: {data} +{step} bytes", plan.index(), axis.axis, axis.dim)?;
    }
    Ok(())
}

/// The name of a kernel, or of the action in its place.
pub(super) fn name_of(action: Action, name: &'static str) -> &'static str {
    match action {
        Action::Nothing => "nothing to do",
        Action::Check => "check only",
        Action::Run => name,
    }
}

pub(super) fn kind(depth: usize, loops: usize) -> &'static str {
    if depth + 1 == loops { "inner loop" } else { "loop" }
}
