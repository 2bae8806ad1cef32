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
use core::ops::Range;

use smallvec::SmallVec;

use crate::error::Error;
use crate::exec::index::{Nest, Operands};
use crate::kernels::{Cursor, IndexKernel, Loop, Verdict, prefetch};
use crate::plan::{IndexPlan, Panels};
use crate::threads;

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
    let part = Part { plan, kernel, panels, fill: operands.fill, origin, per_coordinate, items: 0..items, tasks };
    // SAFETY: the caller's promise; the scratch has room for every task.
    Ok(unsafe { part.run_split(&mut scratch) })
}

/// Some of the panels, for some of the tasks.
struct Part<'a> {
    plan: &'a IndexPlan,
    kernel: IndexKernel,
    panels: &'a Panels,
    fill: &'a [u8],
    origin: Cursor,
    /// Panels that the lanes of one coordinate are cut into.
    per_coordinate: usize,
    items: Range<usize>,
    tasks: usize,
}

// SAFETY: X2: a part reads shared memory, and writes lanes of the output of its own.
unsafe impl Send for Part<'_> {}

impl Part<'_> {
    /// Runs the part's tasks side by side; each has an equal share of the scratch.
    ///
    /// # Safety
    /// The promise of [`run`].
    unsafe fn run_split(self, scratch: &mut [MaybeUninit<u8>]) -> Verdict {
        if self.tasks < 2 {
            // SAFETY: the caller's promise.
            return unsafe { self.run(scratch) };
        }
        let (few, rest) = (self.tasks / 2, self.tasks - self.tasks / 2);
        let cut = self.items.start + self.items.len() / self.tasks * few;
        let (mine, theirs) = scratch.split_at_mut(scratch.len() / self.tasks * few);
        let first = Part { items: self.items.start..cut, tasks: few, ..self };
        let second = Part { items: cut..self.items.end, tasks: rest, ..self };
        let (a, b) = threads::join(
            // SAFETY: X2: the two parts are different panels, which share no output.
            move || unsafe { first.run_split(mine) },
            // SAFETY: as above.
            move || unsafe { second.run_split(theirs) },
        );
        Verdict { out_of_range: a.out_of_range | b.out_of_range }
    }

    /// # Safety
    /// The promise of [`run`]; the scratch holds a panel.
    unsafe fn run(self, scratch: &mut [MaybeUninit<u8>]) -> Verdict {
        let mut out_of_range = false;
        for item in self.items.clone() {
            let (coordinate, panel) = (item / self.per_coordinate, item % self.per_coordinate);
            // SAFETY: the caller's promise.
            out_of_range |= unsafe { self.panel(coordinate, panel, scratch) }.out_of_range;
        }
        Verdict { out_of_range }
    }

    /// Packs a panel and runs it.
    ///
    /// # Safety
    /// The promise of [`run`]; the scratch holds a panel.
    unsafe fn panel(&self, coordinate: usize, panel: usize, scratch: &mut [MaybeUninit<u8>]) -> Verdict {
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
        for (row, to) in scratch.chunks_exact_mut(width).take(self.panels.rows).enumerate() {
            let from = at.data.wrapping_offset(self.plan.unit.wrapping_mul(row as isize));
            prefetch(from.wrapping_offset(self.plan.unit.wrapping_mul(PACK_AHEAD as isize)), width);
            // SAFETY: the lanes are contiguous in data, where every row of the axis may be read; the scratch is ours.
            unsafe { to.as_mut_ptr().cast::<u8>().copy_from_nonoverlapping(from, width) };
        }
        let mut loops: SmallVec<[Loop; 6]> = still.into();
        loops.push(Loop { n, ..*lane });
        let nest = Nest {
            origin: Cursor { data: scratch.as_ptr().cast(), ..at },
            loops: &loops,
            unit: width as isize,
            ahead: 0,
        };
        // SAFETY: the kernel contract: the loops are some of the operands' loops, and the scratch holds the elements that
        // they reach, with a row of the axis every `unit` bytes. The plan picked the kernel for these loops.
        unsafe { nest.call(self.plan, self.kernel, self.fill) }
    }
}
