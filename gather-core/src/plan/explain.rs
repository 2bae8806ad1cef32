//! What a plan will do, in words.

#![forbid(unsafe_code)]

use core::fmt;

use crate::plan::{Chosen, IndexPlan, Panels, RawCopyPlan, Route, Strategy};

/// What a plan will do: kernel, loops after folding, bytes moved per lane and in all, threads. Printed by `Display`.
pub struct Explain<'a> {
    plan: Kind<'a>,
}

enum Kind<'a> {
    Index(&'a IndexPlan),
    Copy(&'a RawCopyPlan),
}

impl<'a> Explain<'a> {
    pub(crate) fn index(plan: &'a IndexPlan) -> Self {
        Explain { plan: Kind::Index(plan) }
    }

    pub(crate) fn copy(plan: &'a RawCopyPlan) -> Self {
        Explain { plan: Kind::Copy(plan) }
    }

    /// The name of the kernel that runs; of the route where no kernel of the table does.
    #[must_use]
    pub fn kernel(&self) -> &'static str {
        match self.plan {
            Kind::Index(plan) => match plan.route {
                Route::Nothing => "nothing to do",
                Route::Check => "check only",
                Route::Fill => "fill",
                Route::Kernel(entry) => entry.name,
                Route::Wide => "wide",
            },
            Kind::Copy(plan) => plan.entry.map_or("nothing to do", |entry| entry.name),
        }
    }

    /// How a call gets at its data; always directly for BatchToSpace.
    #[must_use]
    pub fn strategy(&self) -> Strategy {
        match self.plan {
            Kind::Index(plan) => plan.chosen.strategy(),
            Kind::Copy(_) => Strategy::Direct,
        }
    }

    /// Bytes that a call writes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        match self.plan {
            Kind::Index(plan) => plan.bytes,
            Kind::Copy(plan) => plan.bytes,
        }
    }

    /// Tasks that a call is cut into here and now.
    #[must_use]
    pub fn tasks(&self) -> usize {
        match self.plan {
            Kind::Index(plan) => plan.tasks(),
            Kind::Copy(plan) => plan.tasks(),
        }
    }
}

impl fmt::Debug for Explain<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for Explain<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.plan {
            Kind::Index(plan) => {
                writeln!(f, "{}: {} -> {:?}", plan.op, self.kernel(), plan.output)?;
                for (depth, l) in plan.loops.iter().enumerate() {
                    let lanes = if depth + 1 == plan.loops.len() { "lanes" } else { "loop" };
                    writeln!(
                        f,
                        "  {lanes} of {}: output +{}, data +{}, indices +{} bytes",
                        l.n, l.out, l.data, l.index
                    )?;
                }
                for (axis, component) in plan.axes.iter().zip(&plan.components) {
                    // Plans can be made from layouts over no slice, whose steps need not fit in 64 bits.
                    let step = i128::from(component.scale) * plan.unit as i128;
                    writeln!(
                        f,
                        "  index ({}) along axis {} of {}: data +{step} bytes",
                        plan.index, axis.axis, axis.dim
                    )?;
                }
                let reuse = if plan.blocked { ", lanes block by block" } else { "" };
                let ahead = if plan.ahead > 0 { ", fetched ahead" } else { "" };
                let stream = if plan.stream { ", written past the caches" } else { "" };
                match plan.chosen {
                    Chosen::Direct => {}
                    Chosen::Table(entries) => writeln!(f, "  data as a table of {entries} units in registers")?,
                    Chosen::Panels(Panels { rows, lanes, .. }) => {
                        writeln!(f, "  data in packed panels of {rows} x {lanes} lanes")?;
                    }
                }
                write!(
                    f,
                    "  moves {} bytes a lane, {} in all; level {}, tasks {}{reuse}{ahead}{stream}",
                    plan.row,
                    self.bytes(),
                    plan.level,
                    self.tasks(),
                )
            }
            Kind::Copy(plan) => {
                writeln!(f, "batch_to_space: {} -> {:?}", self.kernel(), plan.output)?;
                for (depth, l) in plan.loops.iter().enumerate() {
                    let lanes = if depth + 1 == plan.loops.len() { "lanes" } else { "loop" };
                    writeln!(f, "  {lanes} of {} in blocks of {}: output +{} bytes", l.n, l.block, l.out)?;
                }
                write!(
                    f,
                    "  moves {} bytes a lane, {} in all; level {}, tasks {}",
                    plan.row,
                    self.bytes(),
                    plan.level,
                    self.tasks(),
                )
            }
        }
    }
}
