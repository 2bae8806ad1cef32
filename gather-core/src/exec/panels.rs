//! Running GatherElements, and scatters off the last axis, panel by panel.
//!
//! ```text
//! for each coordinate of the loops that step through data, and each panel of columns:
//!     pack: scratch[i][column] = data[i][first + column]     for every i of the axis
//!     run the other loops of the nest over the panel's columns, with the scratch for data
//!     unpack, where data is the destination of a scatter
//! ```
//!
//! Matrix products pack panels in the same way. Off the last axis, neighbours along the axis lie a row of data apart.
//! Read where it lies, each element takes a cache line and often a page of its own. When the neighbouring columns
//! need the rest of that line, it is no longer in the cache. Rows a power of two apart also share few sets of the
//! cache. A panel is contiguous, and stays in the second-level cache while all of the panel's indices are looked up.
//!
//! The scratch is the one allocation of a planned call, made before anything is written.

use smallvec::SmallVec;

use crate::exec::cuts::share;
use crate::exec::scratch::WorkerScratch;
use crate::kernels::remap;
use crate::kernels::{Cursor, IndexArgs, IndexKernel, LINE, Loop, Outcome, OutputRows, StridedRows, pack_rows};
use crate::plan::{NestPlan, Panels, is_free};
use crate::types::error::Error;

/// Bytes that the scratches of all tasks take together, unless one alone takes more.
const SCRATCH: usize = 32 << 20;
/// How many rows are prefetched while packing and unpacking.
const PACK_AHEAD: usize = 8;

/// Memory for the panels that are worked on at a time, and how columns are cut into panels.
pub(super) struct PanelScratch {
    memory: WorkerScratch<'static>,
    tasks: usize,
    /// Columns that the first panel of a coordinate lacks.
    skipped: usize,
    /// Panels that the columns of one coordinate are cut into, and all of them.
    per_coordinate: usize,
    items: usize,
}

impl PanelScratch {
    /// The memory that up to `tasks` tasks need for the loops of a plan with panels.
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

/// How many columns the first panel of a row lacks, so that the others begin with lines of the output: lines that two
/// panels share are written twice. Rows of whole lines are what it is for; others begin anywhere except for the first.
/// None where rows are short.
pub(super) fn columns_before_line(plan: &NestPlan, loops: &[Loop], panels: &Panels, out: *const u8) -> usize {
    let [.., inner] = loops else { unreachable!("K5: a loop nest has an inner loop") };
    let (row, past) = (plan.spec().row, out.addr() % LINE);
    let aligns =
        inner.n >= 4 * panels.columns && (panels.columns * row).is_multiple_of(LINE) && past.is_multiple_of(row);
    if aligns { past / row } else { 0 }
}

/// A loop nest that is run panel by panel.
pub(super) struct Panelled<'a> {
    pub(super) plan: &'a NestPlan,
    pub(super) loops: &'a [Loop],
    pub(super) panels: &'a Panels,
    pub(super) origin: Cursor,
    /// The kernel for the loops of a panel, and its parameters.
    pub(super) kernel: IndexKernel,
    pub(super) params: *const (),
    /// Whether data is the destination of a scatter, to which panels return.
    pub(super) unpacks: bool,
    pub(super) scratch: PanelScratch,
}

// SAFETY: X2: threads that share the panels run different ones, which reach different columns of what is written, each
// in a scratch of its own. The parameters are only read.
unsafe impl Sync for Panelled<'_> {}

impl Panelled<'_> {
    /// Runs the loop nest panel by panel.
    ///
    /// # Safety
    /// The promise of [`super::index::run_in_parts`], or of [`super::scatter::run`], for the plan with these loops. The
    /// panels are the plan's, and so is the kernel for the loops of a panel; the scratch was made for them.
    pub(super) unsafe fn run(&self) -> Outcome {
        share(self.scratch.tasks, self.scratch.items, |item, worker| {
            // SAFETY: X2: the caller's promise, for a panel that this thread alone has taken; there are at most as many
            // workers as scratches, with different numbers.
            unsafe { self.run_one(item, worker) }
        })
    }

    /// Packs a panel, runs it, and unpacks it where it has changed.
    ///
    /// # Safety
    /// The promise of [`Panelled::run`]; no other thread has the panel, or the scratch of this worker.
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
        // SAFETY: the scratch is ours, and has room for the rows of the axis, of up to `panels.columns >= n` columns.
        let packed = unsafe { OutputRows::new(memory, width as isize, panels.rows) };
        // SAFETY: the columns are contiguous in data, where every row of the axis may be read.
        pack_rows(&unsafe { StridedRows::new(apart, apart_step, packed, width) }, PACK_AHEAD);
        let origin = Cursor { data: memory, ..origin };
        // SAFETY: the loops are some of the nest's loops, and the scratch holds the elements that they reach, with a
        // row of the axis every `width` bytes.
        let args = unsafe { IndexArgs::new(plan.spec(), origin, &loops, width as isize, params) };
        // SAFETY: the plan picked the kernel for these loops (P3).
        let outcome = unsafe { remap::call(kernel, plan.index(), &args) };
        if unpacks {
            // SAFETY: the columns of the destination may be written, and are this thread's.
            let rows = unsafe { OutputRows::new(apart.cast_mut(), apart_step, panels.rows) };
            // SAFETY: as many rows of the scratch, which holds them, apart from the destination.
            pack_rows(&unsafe { StridedRows::new(memory, width as isize, rows, width) }, PACK_AHEAD);
        }
        outcome
    }
}
