//! Panel-wise execution of GatherElements, and of scatters off the last axis.
//!
//! ```text
//! for each coordinate of the loops that step through data, and each panel of columns:
//!     pack: scratch[i][column] = data[i][first + column]     for every i of the axis
//!     run the other loops of the nest over the panel's columns, with the scratch as data
//!     unpack, if data is the destination of a scatter
//! ```
//!
//! Matrix products pack panels in the same way. Off the last axis, adjacent elements along the axis lie a row of data
//! apart. Read in place, each element takes a cache line, and often a page. The line is evicted before the adjacent
//! columns need it, even sooner if rows lie a power of two apart and share few cache sets. A panel is contiguous, and
//! stays in the L2 cache while all of its indices are looked up.
//!
//! The scratch is the only allocation of a planned call, made before anything is written.

use smallvec::SmallVec;

use crate::exec::cuts::share;
use crate::exec::scratch::WorkerScratch;
use crate::kernels::remap;
use crate::kernels::{Cursor, IndexArgs, IndexKernel, LINE, Loop, Outcome, OutputRows, StridedRows, pack_rows};
use crate::plan::{NestPlan, Panels, is_free};
use crate::types::error::Error;

/// Maximum bytes of the scratches of all tasks, unless a single one needs more.
const SCRATCH: usize = 32 << 20;
/// Rows to prefetch while packing and unpacking.
const PACK_AHEAD: usize = 8;

/// Scratch of the panels in progress, and the partition of columns into panels.
pub(super) struct PanelScratch {
    memory: WorkerScratch<'static>,
    tasks: usize,
    /// Columns by which the first panel of a coordinate is shorter.
    skipped: usize,
    /// Panels per coordinate of the free loops.
    per_coordinate: usize,
    /// Panels in total.
    items: usize,
}

impl PanelScratch {
    /// Allocates the scratch of up to `tasks` tasks for the loops of a plan with panels.
    ///
    /// # Errors
    /// [`Error::AllocationFailed`].
    pub(super) fn new(
        plan: &NestPlan,
        loops: &[Loop],
        panels: &Panels,
        tasks: usize,
        skipped: usize,
    ) -> Result<Self, Error> {
        let [around @ .., inner] = loops else { unreachable!("K5: a loop nest has an inner loop") };
        let per_coordinate = (inner.n + skipped).div_ceil(panels.columns);
        let coordinates: usize = around.iter().filter(|along| is_free(along)).map(|along| along.n).product();
        let items = coordinates * per_coordinate;
        let bytes = (panels.rows * panels.columns * plan.spec().row).next_multiple_of(LINE);
        let tasks = tasks.min(items).min((SCRATCH / bytes).max(1));
        Ok(PanelScratch { memory: WorkerScratch::new(bytes, tasks, &[])?, tasks, skipped, per_coordinate, items })
    }
}

/// Columns by which the first panel of a row is shorter, so that the others start at cache lines of the output: a line
/// shared by two panels is written twice. 0 for short rows. If rows are not whole lines, only the first row is aligned.
pub(super) fn columns_before_line(plan: &NestPlan, loops: &[Loop], panels: &Panels, out: *const u8) -> usize {
    let [.., inner] = loops else { unreachable!("K5: a loop nest has an inner loop") };
    let (row, past) = (plan.spec().row, out.addr() % LINE);
    let aligns =
        inner.n >= 4 * panels.columns && (panels.columns * row).is_multiple_of(LINE) && past.is_multiple_of(row);
    if aligns { past / row } else { 0 }
}

pub(super) struct Panelled<'a> {
    pub(super) plan: &'a NestPlan,
    pub(super) loops: &'a [Loop],
    pub(super) panels: &'a Panels,
    pub(super) origin: Cursor,
    /// Kernel for the loops of a panel.
    pub(super) kernel: IndexKernel,
    pub(super) params: *const (),
    /// Whether to unpack panels: data is the destination of a scatter.
    pub(super) unpacks: bool,
    pub(super) scratch: PanelScratch,
}

// SAFETY: X2: threads run different panels, so they write different columns and scratches. Params are only read.
unsafe impl Sync for Panelled<'_> {}

impl Panelled<'_> {
    /// Runs the loop nest panel by panel.
    ///
    /// # Safety
    /// The contract of [`super::index::run_in_parts`], or of [`super::scatter::run`], for the plan with these loops.
    /// The panels and the kernel for the loops of a panel are the plan's; the scratch was made for them.
    pub(super) unsafe fn run(self) -> Outcome {
        share(self.scratch.tasks, self.scratch.items, |item, worker| {
            // SAFETY: by the caller's contract; X2: `share` gives each panel to one thread, and workers distinct
            // numbers below `tasks`.
            unsafe { self.run_one(item, worker) }
        })
    }

    /// Packs a panel, runs it, and unpacks it if it is a destination.
    ///
    /// # Safety
    /// The contract of [`Panelled::run`]; no other thread has the panel, or the scratch of this worker.
    unsafe fn run_one(&self, item: usize, worker: usize) -> Outcome {
        let Panelled { plan, loops, panels, mut origin, kernel, params, unpacks, ref scratch } = *self;
        let memory = scratch.memory.of(worker);
        let [around @ .., inner] = loops else { unreachable!("K5: a loop nest has an inner loop") };
        let (mut coordinate, panel) = (item / scratch.per_coordinate, item % scratch.per_coordinate);
        let mut loops = SmallVec::<[Loop; 6]>::new();
        for along in around {
            if is_free(along) {
                origin = origin.skip(along, coordinate % along.n);
                coordinate /= along.n;
            } else {
                loops.push(*along);
            }
        }
        let first = (panel * panels.columns).saturating_sub(scratch.skipped);
        let end = ((panel + 1) * panels.columns - scratch.skipped).min(inner.n);
        origin = origin.skip(inner, first);
        let n = end - first;
        let width = n * plan.spec().row;
        debug_assert!(panels.rows * width <= scratch.memory.bytes(), "a panel beyond its scratch");
        loops.push(Loop { n, ..*inner });
        let (apart, apart_step) = (origin.data, plan.stride());
        // SAFETY: the scratch is this worker's, and fits the rows of the axis with `panels.columns >= n` columns.
        let packed = unsafe { OutputRows::new(memory, width as isize, panels.rows) };
        // SAFETY: P3: the columns are contiguous in data, where every row of the axis may be read (X1).
        pack_rows(&unsafe { StridedRows::new(apart, apart_step, packed, width) }, PACK_AHEAD);
        let origin = Cursor { data: memory, ..origin };
        // SAFETY: the loops are a subset of the nest's, and the scratch holds the elements that they reach, with a row
        // of the axis every `width` bytes.
        let args = unsafe { IndexArgs::new(plan.spec(), origin, &loops, width as isize, params) };
        // SAFETY: the plan picked the kernel for these loops (P3).
        let outcome = unsafe { remap::call(kernel, plan.index(), &args) };
        if unpacks {
            // SAFETY: X1: the columns of the destination may be written; no other thread has this panel.
            let rows = unsafe { OutputRows::new(apart.cast_mut(), apart_step, panels.rows) };
            // SAFETY: the scratch holds the same number of rows, and does not overlap the destination.
            pack_rows(&unsafe { StridedRows::new(memory, width as isize, rows, width) }, PACK_AHEAD);
        }
        outcome
    }
}
