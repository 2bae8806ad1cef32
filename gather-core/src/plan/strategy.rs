//! How a planned call gets at its data.

#![forbid(unsafe_code)]

use crate::error::Op;
use crate::kernels::{Component, Loop, lookup_entries};
use crate::level::Level;
use crate::plan::fold::Loops;

/// How an index operator gets at its data. Plans choose by shapes and widths; force one to test it or to compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Strategy {
    /// Each lane reads from where data lies. Any shape.
    Direct,
    /// Data lies in vector registers and is looked up by shuffles. For indices that reach at most 256 contiguous units of
    /// 1 byte, 16 of 4 bytes or 8 of 8 bytes, at the level [`Avx2`](Level::Avx2).
    Table,
    /// Columns of data are copied side by side into a scratch of the size of a cache, and gathered from there. For
    /// [`GatherElements`](crate::GatherElements) off the last axis. A call allocates half a MiB a task for it, or
    /// a cache line for every element of the axis where that is more; at most 32 MiB unless one task needs more.
    Panels,
}

impl Strategy {
    /// The strategy's name, as plans print it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Strategy::Direct => "direct",
            Strategy::Table => "table",
            Strategy::Panels => "panels",
        }
    }
}

impl core::fmt::Display for Strategy {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.pad(self.name())
    }
}

/// A folded nest on which a strategy is to be chosen; it has lanes.
pub(crate) struct Nest<'a> {
    pub(crate) op: Op,
    pub(crate) loops: &'a Loops,
    pub(crate) components: &'a [Component],
    pub(crate) unit: isize,
    pub(crate) row: usize,
    pub(crate) level: Level,
}

/// What a strategy needs to know.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Chosen {
    Direct,
    /// Units of data in the table.
    Table(usize),
    Panels(Panels),
}

impl Chosen {
    pub(crate) const fn strategy(&self) -> Strategy {
        match self {
            Chosen::Direct => Strategy::Direct,
            Chosen::Table(_) => Strategy::Table,
            Chosen::Panels(_) => Strategy::Panels,
        }
    }
}

/// Panels of data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Panels {
    /// Loops that step through data, outermost: each coordinate has data of its own.
    pub(crate) moving: usize,
    /// Elements of the axis: rows of a panel.
    pub(crate) rows: usize,
    /// Lanes of a panel.
    pub(crate) lanes: usize,
}

/// Bytes of a panel: half of the second-level cache of the machines that were measured. With 256 KiB or 1 MiB
/// GatherElements on [4096, 4096] along axis 0 takes longer (2026-11-21, 2-core EPYC of the Zen 4 class, `record
/// axis0_4096`).
const PANEL: usize = 512 << 10;
/// Bytes of a panel's row at least: a cache line.
const LINE: usize = 64;
/// Lanes from which on a table is worth loading.
const TABLE_LANES: usize = 64;

impl Nest<'_> {
    /// The best strategy.
    pub(crate) fn choose(&self) -> Chosen {
        if self.lane().n >= TABLE_LANES
            && let Some(chosen) = self.table()
        {
            return chosen;
        }
        self.panels().filter(|&panels| self.panels_pay(panels)).map_or(Chosen::Direct, Chosen::Panels)
    }

    /// A strategy, if it takes the nest.
    pub(crate) fn force(&self, strategy: Strategy) -> Option<Chosen> {
        match strategy {
            Strategy::Direct => Some(Chosen::Direct),
            Strategy::Table => self.table(),
            Strategy::Panels => self.panels().map(Chosen::Panels),
        }
    }

    fn lane(&self) -> &Loop {
        self.loops.last().expect("a nest has lanes")
    }

    /// A table: contiguous units that fit in registers.
    fn table(&self) -> Option<Chosen> {
        let lane = self.lane();
        let packed = self.unit == self.row as isize && lane.data == 0 && (lane.out == self.row as isize || lane.n == 1);
        let reach = |component: &Component| (component.dim - 1).saturating_mul(component.scale);
        let positive = self.components.iter().all(|component| component.scale >= 0);
        let last = self.components.iter().map(reach).fold(0, i64::saturating_add);
        let fits = last < lookup_entries(self.row) as i64;
        (self.level == Level::Avx2 && packed && positive && fits).then(|| Chosen::Table(last as usize + 1))
    }

    /// Panels: one component, and contiguous lanes that step through data and indices at once.
    fn panels(&self) -> Option<Panels> {
        let ([component], lane) = (self.components, self.lane()) else { return None };
        if self.op != Op::GatherElements || lane.data != self.row as isize {
            return None;
        }
        let rows = usize::try_from(component.dim).ok()?;
        let lanes = (PANEL / rows.saturating_mul(self.row)).max(LINE / self.row).clamp(1, lane.n);
        let moving = self.loops[..self.loops.len() - 1].iter().filter(|outer| outer.data != 0).count();
        let bytes = rows.checked_mul(lanes)?.checked_mul(self.row)?;
        isize::try_from(bytes).is_ok().then_some(Panels { moving, rows, lanes })
    }

    /// Whether panels are better than reading data where it lies: when it exceeds the cache and a panel does not, by far,
    /// and when every packed element is used about once or more.
    fn panels_pay(&self, panels: Panels) -> bool {
        let row = panels.rows.saturating_mul(self.row);
        let still: usize = self.loops[..self.loops.len() - 1].iter().filter(|l| l.data == 0).map(|l| l.n).product();
        row.saturating_mul(self.lane().n) > 4 * PANEL
            && row.saturating_mul(panels.lanes) <= 8 * PANEL
            && self.unit.unsigned_abs() > 2 * LINE
            && still >= panels.rows / 2
    }
}

/// Orders loops for panels: those that step through data go outside.
pub(crate) fn arrange_panels(loops: &mut Loops) {
    if let [outer @ .., _] = loops.as_mut_slice() {
        outer.sort_by_key(|l| l.data == 0);
    }
}
