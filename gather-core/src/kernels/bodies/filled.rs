//! Blocks with an index out of range, under `Missing::Fill`: rows in range are moved, the others are filled.
//!
//! ```text
//! no row is in range:                   fill all rows
//! short rows:                           select the source of each row: its row of data or the fill   (no branch)
//! elements looked up or converted:      move all, from position 0 if out of range, then blend the fill in
//! other rows:                           move or fill each run of rows together
//! ```

#![forbid(unsafe_code)]

use crate::kernels::level_fn::Token;
use crate::kernels::moves::fill::{Blend, FillJob, FillRow, MOST_SELECTED, Select, SelectFn};
use crate::kernels::moves::prefetching::MovePrefetchingFn;
use crate::kernels::moves::{LookUpFn, MoveJobFn, Width};
use crate::kernels::nest::args::{IndexArgs, MoveFn};
use crate::kernels::nest::positions::{BLOCK, Positions};
use crate::kernels::nest::rows::{MoveJob, ResolvedRows};

/// The functions that move the rows of blocks, and fill short rows among them.
#[derive(Clone, Copy)]
pub(crate) struct Moves {
    pub(crate) rows: MoveBy,
    pub(crate) short: Short,
}

/// A function that moves rows whose indices are in range.
#[derive(Clone, Copy)]
pub(crate) enum MoveBy {
    Rows(MoveJobFn),
    /// A function that prefetches later rows of the same job.
    Later(MovePrefetchingFn),
    /// A table, if the level has one, and a function for the remaining rows.
    Table(Option<LookUpFn>, MoveJobFn),
    Convert(MoveFn),
}

impl MoveBy {
    #[inline(always)]
    fn run(self, args: &IndexArgs<'_>, job: &MoveJob<'_>) {
        match self {
            MoveBy::Rows(move_rows) => move_rows(job),
            MoveBy::Later(move_rows) => move_rows((job, &job.later())),
            MoveBy::Table(look_up, rest) => rest(&job.skip(look_up.map_or(0, |look_up| look_up(job)))),
            MoveBy::Convert(convert) => convert(args, job),
        }
    }
}

/// How short rows are filled among rows that are moved.
#[derive(Clone, Copy)]
pub(crate) enum Short {
    /// Replaces the move: the source of each row is its row of data or the fill.
    Select(SelectFn),
    /// Overwrites missing elements after all elements have been moved, missing elements from position 0.
    Blend(SelectFn),
}

impl Short {
    #[inline(always)]
    pub(crate) fn select<W: Width>(level: impl Token, row: usize) -> Self {
        Short::Select(W::by_way::<Select>(level, row))
    }

    #[inline(always)]
    pub(crate) fn blend(level: impl Token) -> Self {
        Short::Blend(level.entry::<Blend>())
    }
}

impl Moves {
    /// Moves or fills the rows of a resolved block. Returns the number of rows written: 0 if an index is out of range
    /// and the policy does not fill.
    #[inline(always)]
    pub(super) fn block(&self, args: &IndexArgs<'_>, rows: &ResolvedRows<'_>, fill: &mut FillRow) -> usize {
        if let Some(job) = rows.in_range() {
            self.rows.run(args, job);
        } else if args.spec().policy.fills() {
            self.move_or_fill(args, rows, fill);
        } else {
            return 0;
        }
        rows.n()
    }

    #[cold]
    #[inline(never)]
    pub(super) fn move_or_fill(&self, args: &IndexArgs<'_>, rows: &ResolvedRows<'_>, fill: &mut FillRow) {
        let (spec, block, positions) = (args.spec(), rows.block(), rows.positions());
        debug_assert!(rows.n() <= BLOCK && block.has_bad());
        if positions.iter().fold(true, |all, &position| all & block.is_bad(position)) {
            return fill.fill(spec, rows.outputs());
        }
        match self.short {
            Short::Select(select) if spec.row <= MOST_SELECTED => {
                return select(&FillJob::new(rows, fill.row(spec)));
            }
            Short::Blend(blend) if matches!(spec.row, 1 | 2 | 4 | 8) && rows.outputs().step() == spec.row as isize => {
                let mut inside = Positions::new();
                self.rows.run(args, &rows.with_zeros(&mut inside));
                // All rows have been written, and are contiguous.
                return blend(&FillJob::new(rows, fill.row(spec)));
            }
            _ => {}
        }
        let mut first = 0;
        for run in positions.chunk_by(|&a, &b| block.is_bad(a) == block.is_bad(b)) {
            if block.is_bad(run[0]) {
                fill.fill(spec, rows.outputs().part(first, run.len()));
            } else {
                self.rows.run(args, &rows.run(first, run.len()));
            }
            first += run.len();
        }
    }
}
