//! Running GatherElements panel by panel.
//!
//! ```text
//! for each coordinate of the loops that step through data, and each panel of columns:
//!     pack: scratch[i][column] = data[i][first + column]     for every i of the axis
//!     run the other loops of the nest over the panel's columns, with the scratch for data
//! ```
//!
//! Matrix products pack panels in the same way. Off the last axis, neighbours along the axis lie a row of data apart.
//! Read where it lies, each element takes a cache line and often a page of its own. When the neighbouring columns
//! need the rest of that line, it is no longer in the cache. Rows a power of two apart also share few sets of the
//! cache. A panel is contiguous, and stays in the second-level cache while all of the panel's indices are looked up.
//!
//! The scratch is the one allocation of a planned call, made before anything is written.

use alloc::vec::Vec;
use core::mem::MaybeUninit;

use smallvec::SmallVec;

use crate::exec::cuts::share;
use crate::exec::index::{Operands, Part};
use crate::kernels::{Cursor, IndexArgs, LINE, Loop, Outcome, StridedRows, pack_rows};
use crate::plan::{IndexPlan, Panels};
use crate::types::error::Error;

/// Bytes that the scratches of all tasks take together, unless one alone takes more.
const SCRATCH: usize = 32 << 20;
/// How many rows are prefetched while packing.
const PACK_AHEAD: usize = 8;

/// Runs a plan panel by panel.
///
/// # Errors
/// [`Error::AllocationFailed`] for the scratch.
///
/// # Safety
/// The promise of [`super::index::run_in_parts`]; the panels are the plan's.
pub(super) unsafe fn run(
    plan: &IndexPlan,
    loops: &[Loop],
    panels: &Panels,
    tasks: usize,
    operands: &Operands<'_>,
) -> Result<Outcome, Error> {
    let [moving @ .., inner] = loops else { unreachable!("K5: a loop nest has an inner loop") };
    let skipped = columns_before_line(panels, inner, plan.spec().row, operands.out);
    let per_coordinate = (inner.n + skipped).div_ceil(panels.columns);
    let coordinates: usize = moving[..panels.moving].iter().map(|l| l.n).product();
    let items = coordinates * per_coordinate;
    let bytes = (panels.rows * panels.columns * plan.spec().row).next_multiple_of(LINE);
    let tasks = tasks.min(items).min((SCRATCH / bytes).max(1));

    let mut scratch: Vec<MaybeUninit<u8>> = Vec::new();
    let total = bytes.saturating_mul(tasks).saturating_add(LINE);
    scratch.try_reserve_exact(total).map_err(|_| Error::AllocationFailed { bytes: total })?;
    // SAFETY: the capacity is `total` or more; these elements need not be initialised.
    unsafe { scratch.set_len(total) };

    let origin = Cursor { out: operands.out, data: operands.data, index: operands.index };
    let begin = scratch.as_ptr().addr().wrapping_neg() % LINE;
    let scratch = scratch.as_mut_ptr().cast::<u8>().wrapping_add(begin);
    let run = Run { plan, loops, panels, origin, skipped, per_coordinate, scratch, bytes };
    // SAFETY: the caller's promise; the scratch has room for every task.
    Ok(unsafe { run.run_shared(tasks, items) })
}

/// How many columns the first panel of a row lacks, so that the others begin with lines of the output: lines that two
/// panels share are written twice. Rows of whole lines are what it is for; others begin anywhere except for the first.
/// None where rows are short.
fn columns_before_line(panels: &Panels, inner: &Loop, row: usize, out: *const u8) -> usize {
    let past = out.addr() % LINE;
    let aligns =
        inner.n >= 4 * panels.columns && (panels.columns * row).is_multiple_of(LINE) && past.is_multiple_of(row);
    if aligns { past / row } else { 0 }
}

/// A plan's panels.
struct Run<'a> {
    plan: &'a IndexPlan,
    loops: &'a [Loop],
    panels: &'a Panels,
    origin: Cursor,
    /// Columns that the first panel of a coordinate lacks.
    skipped: usize,
    /// Panels that the columns of one coordinate are cut into.
    per_coordinate: usize,
    /// The tasks' scratches, of `bytes` bytes each: whole lines.
    scratch: *mut u8,
    bytes: usize,
}

// SAFETY: X2: threads that share the panels run different ones, each in a scratch of its own.
unsafe impl Sync for Run<'_> {}

impl Run<'_> {
    /// Runs all panels on up to `tasks` threads.
    ///
    /// # Safety
    /// The promise of [`run`]; there are as many scratches as tasks.
    unsafe fn run_shared(&self, tasks: usize, items: usize) -> Outcome {
        share(tasks, items, |item, worker| {
            let (coordinate, panel) = (item / self.per_coordinate, item % self.per_coordinate);
            // SAFETY: X2: the caller's promise, for a panel that this thread alone has taken; there are at most as many
            // workers as tasks, with different numbers.
            unsafe { self.panel(coordinate, panel, worker) }
        })
    }

    /// Packs a panel and runs it.
    ///
    /// # Safety
    /// The promise of [`run`]; there is a scratch of this number, which no other thread uses meanwhile.
    unsafe fn panel(&self, coordinate: usize, panel: usize, scratch: usize) -> Outcome {
        let (moving, inner) = self.loops.split_at(self.panels.moving);
        let [still @ .., inner] = inner else { unreachable!("K5: a loop nest has an inner loop") };
        let (mut at, mut left) = (self.origin, coordinate);
        for along in moving.iter().rev() {
            at = at.skip(along, left % along.n);
            left /= along.n;
        }
        let first = (panel * self.panels.columns).saturating_sub(self.skipped);
        let end = ((panel + 1) * self.panels.columns - self.skipped).min(inner.n);
        at = at.skip(inner, first);
        let n = end - first;
        let width = n * self.plan.spec().row;
        let scratch = self.scratch.wrapping_add(scratch * self.bytes);
        let rows = StridedRows {
            from: at.data,
            from_step: self.plan.stride(),
            to: scratch,
            to_step: width as isize,
            n: self.panels.rows,
            row: width,
        };
        // SAFETY: the columns are contiguous in data, where every row of the axis may be read; the scratch is ours, and
        // has room for as many rows of up to `panels.columns >= n` columns.
        unsafe { pack_rows(&rows, PACK_AHEAD) };
        let mut loops: SmallVec<[Loop; 6]> = still.into();
        loops.push(Loop { n, ..*inner });
        let args = IndexArgs {
            spec: self.plan.spec(),
            origin: Cursor { data: scratch, ..at },
            loops: &loops,
            stride: width as isize,
            params: core::ptr::null(),
        };
        // SAFETY: the loops are some of the operands' loops, and the scratch holds the elements that they reach, with
        // a row of the axis every `width` bytes. The plan picked the kernel for these loops (P3).
        unsafe { Part { plan: self.plan, args }.call() }
    }
}
