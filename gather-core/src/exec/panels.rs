//! Running GatherElements panel by panel.
//!
//! ```text
//! for each coordinate of the loops that step through data, and each panel of lanes:
//!     pack: scratch[i][lane] = data[i][first + lane]     for every i of the axis
//!     run the nest's other loops over the panel's lanes, with the scratch for data
//! ```
//!
//! as matrix products pack panels. Off the last axis, a lane's element lies anywhere in its column, a row of data from
//! the next one: read where it lies, each element is a cache line and often a page of its own, of which the neighbouring
//! lanes use the rest when it is long gone; and rows a power of two apart meet in the same few sets of the cache. A panel
//! is contiguous and stays in the second-level cache while all of the panel's indices are looked up.
//!
//! The scratch is the one allocation of a planned call, made before anything is written.

use alloc::vec::Vec;
use core::mem::MaybeUninit;

use smallvec::SmallVec;

use crate::error::Error;
use crate::exec::cuts::share;
use crate::exec::index::{Nest, Operands};
use crate::kernels::{Cursor, IndexKernel, Loop, Verdict, prefetch};
use crate::plan::{IndexPlan, Panels};

/// Bytes that the scratches of all tasks take together, unless one alone takes more.
const SCRATCH: usize = 32 << 20;
/// Rows that are fetched ahead while packing: they lie too far apart for the hardware to guess.
const PACK_AHEAD: usize = 8;

/// Runs a plan panel by panel.
///
/// # Errors
/// [`Error::Allocation`] for the scratch.
///
/// # Safety
/// The promise of [`super::run_index`]; the kernel is the plan's, which has panels.
pub(crate) unsafe fn run(
    plan: &IndexPlan,
    kernel: IndexKernel,
    panels: &Panels,
    operands: &Operands<'_>,
) -> Result<Verdict, Error> {
    let [moving @ .., lane] = plan.loops.as_slice() else { unreachable!("a nest has at least the loop over lanes") };
    let per_coordinate = lane.n.div_ceil(panels.lanes);
    let coordinates: usize = moving[..panels.moving].iter().map(|l| l.n).product();
    let items = coordinates * per_coordinate;
    let bytes = panels.rows * panels.lanes * plan.row;
    let tasks = plan.tasks().min(items).min((SCRATCH / bytes).max(1));

    let mut scratch: Vec<MaybeUninit<u8>> = Vec::new();
    let total = bytes.saturating_mul(tasks);
    scratch.try_reserve_exact(total).map_err(|_| Error::Allocation { bytes: total })?;
    // SAFETY: the capacity is `total` or more; these elements need not be initialised.
    unsafe { scratch.set_len(total) };

    let origin = Cursor { out: operands.out, data: operands.data, index: operands.index };
    let scratch = scratch.as_mut_ptr().cast();
    let panels = Run { plan, kernel, panels, fill: operands.fill, origin, per_coordinate, scratch, bytes };
    // SAFETY: the caller's promise; the scratch has room for every task.
    Ok(unsafe { panels.run_shared(tasks, items) })
}

/// A plan's panels.
struct Run<'a> {
    plan: &'a IndexPlan,
    kernel: IndexKernel,
    panels: &'a Panels,
    fill: &'a [u8],
    origin: Cursor,
    /// Panels that the lanes of one coordinate are cut into.
    per_coordinate: usize,
    /// The tasks' scratches, of `bytes` bytes each.
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
    unsafe fn run_shared(&self, tasks: usize, items: usize) -> Verdict {
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
    unsafe fn panel(&self, coordinate: usize, panel: usize, scratch: usize) -> Verdict {
        let (moving, inner) = self.plan.loops.split_at(self.panels.moving);
        let [still @ .., lane] = inner else { unreachable!("a nest has at least the loop over lanes") };
        let (mut at, mut left) = (self.origin, coordinate);
        for along in moving.iter().rev() {
            at = at.skip(along, left % along.n);
            left /= along.n;
        }
        let first = panel * self.panels.lanes;
        at = at.skip(lane, first);
        let n = self.panels.lanes.min(lane.n - first);
        let width = n * self.plan.row;
        let scratch = self.scratch.wrapping_add(scratch * self.bytes);
        for row in 0..self.panels.rows {
            let from = at.data.wrapping_offset(self.plan.unit.wrapping_mul(row as isize));
            prefetch(from.wrapping_offset(self.plan.unit.wrapping_mul(PACK_AHEAD as isize)), width);
            // SAFETY: the lanes are contiguous in data, where every row of the axis may be read; the scratch is ours, and has
            // room for as many rows of up to `panels.lanes >= n` lanes.
            unsafe { scratch.wrapping_add(row * width).copy_from_nonoverlapping(from, width) };
        }
        let mut loops: SmallVec<[Loop; 6]> = still.into();
        loops.push(Loop { n, ..*lane });
        let nest = Nest { origin: Cursor { data: scratch, ..at }, loops: &loops, unit: width as isize, ahead: 0 };
        // SAFETY: the kernel contract: the loops are some of the operands' loops, and the scratch holds the elements that
        // they reach, with a row of the axis every `unit` bytes. The plan picked the kernel for these loops.
        unsafe { nest.call(self.plan, self.kernel, self.fill) }
    }
}
