//! Scatters off the last axis, panel by panel, as for gathers (`exec/panels.rs`).
//!
//! ```text
//! for each coordinate of the other free loops, and each panel of columns:
//!     pack: scratch[i][column] = out[i][first + column]     for every i of the axis
//!     run the loop nest over the panel's columns, with the scratch for the destination
//!     unpack
//! ```

use alloc::vec::Vec;
use core::mem::MaybeUninit;

use smallvec::SmallVec;

use crate::exec::cuts::share;
use crate::exec::scatter::{Part, reducing};
use crate::kernels::reduce::Sink;
use crate::kernels::{Cursor, IndexArgs, Loop, Outcome, StridedRows, pack_rows};
use crate::plan::{Panels, ReducePlan, is_free};
use crate::types::error::Error;

/// Bytes that the scratches of all tasks take together, unless one alone takes more.
const SCRATCH: usize = 32 << 20;
/// How many rows are prefetched while packing and unpacking.
const PACK_AHEAD: usize = 8;

/// Memory for the panels that are worked on at a time.
pub(super) struct Scratch {
    memory: Vec<MaybeUninit<u8>>,
    bytes: usize,
    tasks: usize,
    /// Panels that the columns of one coordinate are cut into, and all of them.
    per_coordinate: usize,
    items: usize,
}

impl Scratch {
    /// The memory that up to `tasks` tasks need for a plan with panels.
    ///
    /// # Errors
    /// [`Error::AllocationFailed`].
    pub(super) fn new(plan: &ReducePlan, panels: &Panels, tasks: usize) -> Result<Self, Error> {
        let [around @ .., inner] = plan.loops() else { unreachable!("K5: a loop nest has an inner loop") };
        let per_coordinate = inner.n.div_ceil(panels.columns);
        let items =
            around.iter().filter(|along| is_free(along)).map(|along| along.n).product::<usize>() * per_coordinate;
        let bytes = panels.rows * panels.columns * plan.spec().row;
        let tasks = tasks.min(items).min((SCRATCH / bytes).max(1));
        let (mut memory, total) = (Vec::new(), bytes.saturating_mul(tasks));
        memory.try_reserve_exact(total).map_err(|_| Error::AllocationFailed { bytes: total })?;
        // SAFETY: the capacity is `total` or more; these elements need not be initialised.
        unsafe { memory.set_len(total) };
        Ok(Scratch { memory, bytes, tasks, per_coordinate, items })
    }
}

/// A plan's panels.
struct Run<'a> {
    whole: Part<'a>,
    panels: &'a Panels,
    per_coordinate: usize,
    /// The tasks' scratches, of `bytes` bytes each.
    scratch: *mut u8,
    bytes: usize,
}

// SAFETY: threads that share the panels run different ones, which reach different columns of the destination, each in a
// scratch of its own.
unsafe impl Sync for Run<'_> {}

/// Runs a plan panel by panel.
///
/// # Safety
/// The promise of [`super::run`]; the scratch was made for the plan and its panels.
pub(super) unsafe fn run(whole: Part<'_>, panels: &Panels, mut scratch: Scratch) -> Outcome {
    let Scratch { bytes, tasks, per_coordinate, items, .. } = scratch;
    let memory = scratch.memory.as_mut_ptr().cast();
    let run = Run { whole, panels, per_coordinate, scratch: memory, bytes };
    // SAFETY: the caller's promise; there are `tasks` scratches, and `items` panels.
    unsafe { run.all(tasks, items) }
}

impl Run<'_> {
    /// Runs all panels.
    ///
    /// # Safety
    /// The promise of [`run`]; there are `tasks` scratches and `items` panels.
    unsafe fn all(&self, tasks: usize, items: usize) -> Outcome {
        share(tasks, items, |item, worker| {
            // SAFETY: the caller's promise, for a panel and a scratch that this thread alone has.
            unsafe { self.one(item, worker) }
        })
    }

    /// Runs a panel in one of the scratches.
    ///
    /// # Safety
    /// The promise of [`run`]; no other thread has the panel or the scratch.
    unsafe fn one(&self, item: usize, scratch: usize) -> Outcome {
        let plan = self.whole.plan;
        let [around @ .., inner] = self.whole.loops else { unreachable!("K5: a loop nest has an inner loop") };
        let (mut coordinate, panel) = (item / self.per_coordinate, item % self.per_coordinate);
        let mut origin = self.whole.origin;
        let mut loops = SmallVec::<[Loop; 6]>::new();
        for along in around {
            if is_free(along) {
                origin = origin.skip(along, coordinate % along.n);
                coordinate /= along.n;
            } else {
                loops.push(*along);
            }
        }
        let first = panel * self.panels.columns;
        origin = origin.skip(inner, first);
        let n = self.panels.columns.min(inner.n - first);
        let width = n * plan.spec().row;
        loops.push(Loop { n, ..*inner });
        let scratch = self.scratch.wrapping_add(scratch * self.bytes);
        let (apart, apart_step) = (origin.data.cast_mut(), plan.stride());
        let pack = StridedRows {
            from: apart,
            from_step: apart_step,
            to: scratch,
            to_step: width as isize,
            n: self.panels.rows,
            row: width,
        };
        // SAFETY: the columns are contiguous in the destination, where every row of the axis may be read; the scratch
        // has room for as many rows of up to `panels.columns >= n` columns.
        unsafe { pack_rows(&pack, PACK_AHEAD) };
        let sink = Sink { take: reducing(plan, plan.spec().row), elements: plan.elements(), owner: None };
        let args = IndexArgs {
            spec: plan.spec(),
            origin: Cursor { data: scratch, ..origin },
            loops: &loops,
            stride: width as isize,
            params: (&raw const sink).cast(),
        };
        // SAFETY: the contract of a scatter, as in `Part::call`: the scratch holds the columns that the loops reach,
        // with a row of the axis every `width` bytes, and is this thread's.
        let outcome = unsafe { plan.panel_kernel()(&args) };
        let unpack = StridedRows { from: scratch, from_step: width as isize, to: apart, to_step: apart_step, ..pack };
        // SAFETY: as above; the columns may be written, and are this thread's.
        unsafe { pack_rows(&unpack, PACK_AHEAD) };
        outcome
    }
}
