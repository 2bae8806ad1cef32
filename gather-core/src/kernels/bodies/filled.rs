//! Blocks in which an index is out of range, under `OutOfBounds::Zero`: some of their rows are moved, the others
//! filled.
//!
//! ```text
//! none of the rows is moved:      fill all of them
//! short rows:                     select the source of each, its own row or the fill       (no branch)
//! elements from a table,
//! or converted ones:              move all, those out of range from position 0, and blend the fill in
//! other rows:                     move or fill rows that follow one another together
//! ```

use crate::kernels::args::IndexArgs;
use crate::kernels::levels::Isa;
use crate::kernels::moves::MoveJob;
use crate::kernels::moves::fill::{Blend, FillJob, FillRow, MOST_SELECTED, SelectFn};
use crate::kernels::resolve::block::{BLOCK, Block, Positions};

/// Moves the rows of a resolved block whose indices are in range, and fills the others: rows by `move_rows`, or by
/// `select` where there is one.
///
/// # Safety
/// K1, K2, K4 and K6 to K9 for the rows, which were resolved into the block and are at most [`BLOCK`]. `select` is that
/// of their width; `move_rows` may be called for any of them whose indices are in range.
#[cold]
#[inline(never)]
pub(crate) unsafe fn move_some<L: Isa>(
    level: L,
    args: &IndexArgs<'_>,
    job: &MoveJob,
    block: &Block,
    fill: &mut FillRow,
    select: Option<SelectFn>,
    move_rows: &mut dyn FnMut(&MoveJob),
) {
    debug_assert!(job.n <= BLOCK && block.has_bad());
    // SAFETY: the caller's promise: as many positions have been written.
    let positions = unsafe { core::slice::from_raw_parts(job.positions, job.n) };
    let row = args.spec.row;
    if positions.iter().fold(true, |all, &position| all & block.is_bad(position)) {
        // SAFETY: K1 and K6 for the rows.
        return unsafe { fill.fill(args, job.out, job.n) };
    }
    if let Some(select) = select
        && row <= MOST_SELECTED
    {
        // SAFETY: K6 for rows that are short.
        let fill = unsafe { fill.row(args) };
        return select(&FillJob { job, fill, least: block.least() });
    }
    if matches!(row, 1 | 2 | 4 | 8) && job.out_step == row as isize && select.is_none() {
        let mut inside = Positions::new();
        inside.write(positions.iter().map(|&position| if block.is_bad(position) { 0 } else { position }));
        move_rows(&MoveJob { positions: inside.as_ptr(), ..*job });
        // SAFETY: K6 for rows that are short.
        let fill = unsafe { fill.row(args) };
        // SAFETY: the caller's promise; all rows have been written, and follow one another.
        return level.entry::<Blend>()(&FillJob { job, fill, least: block.least() });
    }
    let mut first = 0;
    for rows in positions.chunk_by(|&a, &b| block.is_bad(a) == block.is_bad(b)) {
        let run = MoveJob { n: rows.len(), ..job.from(first) };
        first += rows.len();
        if block.is_bad(rows[0]) {
            // SAFETY: K1 and K6 for the rows.
            unsafe { fill.fill(args, run.out, run.n) };
        } else {
            move_rows(&run);
        }
    }
}
