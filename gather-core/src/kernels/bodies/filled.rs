//! Blocks in which an index is out of range, under `Missing::Fill`: some of their rows are moved, the others
//! filled.
//!
//! ```text
//! none of the rows is moved:      fill all of them
//! short rows:                     select the source of each, its own row or the fill       (no branch)
//! elements from a table,
//! or converted ones:              move all, those out of range from position 0, and blend the fill in
//! other rows:                     move or fill rows that follow one another together
//! ```

#![forbid(unsafe_code)]

use crate::kernels::levels::Isa;
use crate::kernels::moves::fill::{Blend, FillJob, FillRow, MOST_SELECTED, SelectFn};
use crate::kernels::nest::args::IndexArgs;
use crate::kernels::nest::positions::{BLOCK, Positions};
use crate::kernels::nest::rows::{MoveJob, ResolvedRows};

/// Moves the rows of a resolved block whose indices are in range, and fills the others: rows by `move_rows`, or by
/// `select`, that of their width, where there is one.
#[cold]
#[inline(never)]
pub(crate) fn move_some<L: Isa>(
    level: L,
    args: &IndexArgs<'_>,
    rows: &ResolvedRows<'_>,
    fill: &mut FillRow,
    select: Option<SelectFn>,
    move_rows: &mut dyn FnMut(&MoveJob<'_>),
) {
    let (spec, block, positions) = (args.spec(), rows.block(), rows.positions());
    debug_assert!(rows.n() <= BLOCK && block.has_bad());
    if positions.iter().fold(true, |all, &position| all & block.is_bad(position)) {
        return fill.fill(spec, rows.outputs());
    }
    if let Some(select) = select
        && spec.row <= MOST_SELECTED
    {
        return select(&FillJob::new(rows, fill.row(spec)));
    }
    if matches!(spec.row, 1 | 2 | 4 | 8) && rows.outputs().step() == spec.row as isize && select.is_none() {
        let mut inside = Positions::new();
        move_rows(&rows.with_zeros(&mut inside));
        // All rows have been written, and follow one another.
        return level.entry::<Blend>()(&FillJob::new(rows, fill.row(spec)));
    }
    let mut first = 0;
    for run in positions.chunk_by(|&a, &b| block.is_bad(a) == block.is_bad(b)) {
        if block.is_bad(run[0]) {
            fill.fill(spec, rows.outputs().part(first, run.len()));
        } else {
            move_rows(&rows.run(first, run.len()));
        }
        first += run.len();
    }
}
