//! What the matrix has met, so that it cannot become empty unnoticed.

use std::collections::{BTreeMap, BTreeSet};

use gather_core::{IndexType, Level, Method, Op};
use gather_tests::support::{METHODS, skipped, table_entries};

use super::indices::{IndexLayout, TYPES};
use super::variants::COUNTS;
use super::{Cell, WIDTHS};

/// What a method has met where it was not refused.
#[derive(Default)]
struct Met {
    calls: usize,
    refused: usize,
    variants: BTreeSet<&'static str>,
    tables: BTreeSet<usize>,
    lanes: BTreeSet<usize>,
    widths: BTreeSet<usize>,
    levels: BTreeSet<Level>,
    types: BTreeSet<IndexType>,
    layouts: BTreeSet<IndexLayout>,
}

#[derive(Default)]
pub(super) struct Coverage {
    met: BTreeMap<&'static str, Met>,
    impossible: BTreeMap<IndexType, usize>,
}

const CHOICE: &str = "the plan's choice";

/// The operators that a method is meant for.
fn is_meant(op: Op, method: Method) -> bool {
    match method {
        Method::Panels => op == Op::GatherElements,
        Method::Interleaved => op == Op::BatchToSpace,
        Method::Deinterleaved => op == Op::SpaceToBatch,
        // Those of scatters and of bags.
        Method::Grouped | Method::Accumulated => false,
        _ => true,
    }
}

/// The widths of elements, or of rows, that a method takes at some of the levels.
fn widths(method: Method, levels: &[Level]) -> Vec<usize> {
    let takes = |&width: &usize| match method {
        Method::Gathered => matches!(width, 4 | 8 | 12),
        Method::Table => levels.iter().any(|&level| table_entries(level, width) > 0),
        Method::Streamed => width >= 64,
        _ => true,
    };
    WIDTHS.into_iter().filter(takes).collect()
}

impl Coverage {
    /// Notes a call and whether its method was refused.
    pub(super) fn note(
        &mut self,
        cell: &Cell<'_>,
        method: Option<Method>,
        refused: bool,
        width: usize,
        level: Level,
        ty: IndexType,
    ) {
        let met = self.met.entry(method.map_or(CHOICE, Method::name)).or_default();
        if refused {
            met.refused += 1;
            return;
        }
        met.calls += 1;
        met.variants.insert(cell.variant.name);
        met.tables.insert(cell.turn.table);
        met.lanes.insert(cell.turn.lanes);
        met.widths.insert(width);
        met.levels.insert(level);
        met.types.insert(ty);
        met.layouts.insert(cell.layout);
    }

    /// A cell whose index type has no value out of range.
    pub(super) fn note_impossible(&mut self, ty: IndexType) {
        *self.impossible.entry(ty).or_default() += 1;
    }

    /// Prints the counts, and checks that nothing is missing that must be there.
    pub(super) fn check(&self, op: Op, levels: &[Level]) {
        for (method, met) in &self.met {
            println!("{op} by {method}: {} calls, {} refused, widths {:?}", met.calls, met.refused, met.widths);
        }
        for (ty, cells) in &self.impossible {
            println!("{op}: in {cells} cells {ty} has no value out of range");
        }
        for (method, met) in &self.met {
            // What takes any shape has met everything; the rest at least something.
            if [CHOICE, Method::Direct.name(), Method::Blocks.name()].contains(method) {
                let met = (met.lanes.len(), met.widths.len(), met.levels.len(), met.types.len(), met.layouts.len());
                let all = (COUNTS.len(), WIDTHS.len(), levels.len(), TYPES.len(), IndexLayout::ALL.len());
                assert_eq!(met, all, "{op} by {method}: lanes, widths, levels, index types, layouts");
            }
        }
        for &method in METHODS {
            let met = self.met.get(method.name());
            let calls = met.map_or(0, |met| met.calls);
            if !is_meant(op, method) {
                assert_eq!(calls, 0, "{op}: {method} has taken what it is not meant for");
            } else if calls == 0 && levels.len() < Level::ALL.len() {
                skipped(&format!("{op} by {method}: not all levels are available"));
            } else {
                assert!(calls > 0, "{op}: no call was run by the method {method}");
                let met: Vec<usize> = met.map(|met| met.widths.iter().copied().collect()).unwrap_or_default();
                let due = widths(method, levels);
                // Where elements are contiguous in data and in the result, a row is several.
                let is_met =
                    if method == Method::Streamed { due.iter().all(|width| met.contains(width)) } else { met == due };
                assert!(is_met, "{op} by {method}: widths {met:?}, due are {due:?}");
            }
        }
    }
}
