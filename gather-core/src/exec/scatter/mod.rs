//! Execution of the plan of a scatter.
//!
//! Updates of an element keep their order, so one thread applies all updates of an element. Threads share a scatter in
//! the first way that fits:
//!
//! - by the *segments* of equal targets, if targets ascend (`segments`);
//! - by chunks of the *free loops*, whose coordinates reach different elements (P1);
//! - by sorted *destinations*, if the plan sorts updates (`grouped`);
//! - by *columns*, if rows are long: every thread takes all updates, and a range of their columns.
//!
//! If the destination must survive an error, all indices are checked before the first write. A small destination with
//! many indices is copied instead, and restored on an error. If negative indices are skipped and other indices out of
//! range are errors, kernels drop both, so all indices are checked first in any case.
//!
//! Means, sums that are rounded once, and reductions without `include_self` use records, or reduce in place with counts
//! (`accumulated`). If the destination is much larger than the updates, these reductions sort updates by destination
//! (`grouped`). Elements off the last axis of a large destination go panel by panel (`exec/panels.rs`).

mod accumulated;
mod copy;
mod few;
mod grouped;
mod part;
mod segments;

pub(crate) use copy::Original;

use crate::exec::cuts::Cuts;
use crate::exec::first_bad_index::{self, IndexCheck};
use crate::exec::index::{NO_INDEX, index_check};
use crate::exec::panels;
use crate::exec::scatter::part::{ScatterPart, Scratch};
use crate::exec::threads::{CHUNKS_PER_THREAD, pool_threads};
use crate::kernels::{Cursor, LINE, Loop, Loops};
use crate::plan::fold::{merge_into, put_inside};
use crate::plan::{Action, FewUpdates, ReducePlan, Strategy, is_free};
use crate::tensor::layout::Layout;
use crate::tensor::output::Target;
use crate::types::declare::accessors;
use crate::types::error::Error;
use crate::types::order::sort_by_key;

/// The tensors of a scatter, at coordinate 0.
///
/// Invariant: the contract of [`ScatterOperands::new`]. A run also needs a plan for these layouts (X1).
pub(crate) struct ScatterOperands<'a> {
    indices: (*const u8, &'a Layout),
    updates: (*const u8, &'a Layout),
    original: Option<Original<'a>>,
    out: Target<'a>,
}

impl<'a> ScatterOperands<'a> {
    /// The operands at coordinate 0. A run first copies `original`, if there is one, to the output.
    ///
    /// # Safety
    /// V1, V3: indices, updates and the original may be read along their layouts as values of the call's types, during
    /// their borrow. O1: the output takes elements of the data type, and overlaps none of these tensors. Without an
    /// original the output is fixed, and holds values of the data type, or any bytes if the reduction allows them (Y1).
    #[inline(always)]
    pub(crate) unsafe fn new(
        indices: (*const u8, &'a Layout),
        updates: (*const u8, &'a Layout),
        original: Option<Original<'a>>,
        out: Target<'a>,
    ) -> Self {
        ScatterOperands { indices, updates, original, out }
    }

    accessors! { self:
        pub(crate) fn inputs() -> [&'a Layout; 2] => [self.indices.1, self.updates.1];
        pub(crate) fn original() -> Option<&'a Layout> => self.original.as_ref().map(|original| original.data.1);
        pub(crate) fn out() -> &Target<'a> => &self.out;
    }

    /// Calls `run` on the memory of the output, which `run` initialises by [`ScatterOperands::begin`].
    #[inline(always)]
    fn write(&mut self, run: impl FnOnce(&Self, *mut u8) -> Result<(), Error>) -> Result<(), Error> {
        match self.out {
            Target::Fixed(start, _) => run(self, start),
            Target::Resized(_) => self.write_fresh(run),
        }
    }

    /// [`ScatterOperands::write`] for an output that takes the shape of the original.
    #[inline(never)]
    fn write_fresh(&mut self, run: impl FnOnce(&Self, *mut u8) -> Result<(), Error>) -> Result<(), Error> {
        let (Some(layout), Target::Resized(tensor)) = (self.original(), &mut self.out) else {
            unreachable!("an output that is not fixed becomes a copy");
        };
        let start = tensor.allocate(layout.shape(), layout.len())?;
        run(self, start)?;
        if let Target::Resized(tensor) = &mut self.out {
            // SAFETY: `allocate` gave memory for `layout.len()` elements; `run`, which succeeded, copied the original.
            unsafe { tensor.assume_init(layout.shape(), layout.len()) };
        }
        Ok(())
    }

    /// Copies the original, if there is one, to the memory of the output.
    ///
    /// # Errors
    /// From the copy.
    fn begin(&self, start: *mut u8) -> Result<(), Error> {
        // SAFETY: V1, O1: `start` is the output, which has the original's shape, and is row-major unless fixed.
        self.original.as_ref().map_or(Ok(()), |original| unsafe { copy::run(original, start, self.out.layout()) })
    }

    /// The error of an incomplete run.
    #[cold]
    fn first_bad_index(&self, checked: &IndexCheck<'_>) -> Error {
        // SAFETY: V1: the indices may be read along their layout.
        unsafe { first_bad_index::find(checked, self.indices.0, self.indices.1) }
    }

    /// Checks each index.
    ///
    /// # Errors
    /// [`Error::IndexOutOfRange`].
    fn check_each(&self, checked: &IndexCheck<'_>) -> Result<(), Error> {
        // SAFETY: V1: the indices may be read along their layout.
        unsafe { first_bad_index::check(checked, self.indices.0, self.indices.1) }
    }
}

/// Runs a few updates.
///
/// # Errors
/// As for [`run`].
///
/// # Safety
/// X1 as for [`run`], for the updates in place of the plan.
#[inline(always)]
pub(crate) unsafe fn run_few(few: &FewUpdates, operands: &mut ScatterOperands<'_>) -> Result<(), Error> {
    // SAFETY: X1 by the caller's contract.
    operands.write(|operands, destination| unsafe { few::run(few, operands, destination) })
}

/// Runs a plan: on the values of the destination, or on a copy of the original if there is one.
///
/// # Errors
/// [`Error::AllocationFailed`] for a scratch, or [`Error::IndexOutOfRange`] for the first index out of range in
/// row-major order, under `OutOfBounds::Error` or on an axis without elements. Also errors of the copy. All leave a
/// fixed output untouched.
///
/// # Safety
/// X1: the plan was made for the layouts and types of the operands. Its destination has the layout of a fixed output,
/// or else the row-major layout of the original's shape, which a fixed output has too.
#[inline(always)]
pub(crate) unsafe fn run(plan: &ReducePlan, operands: &mut ScatterOperands<'_>) -> Result<(), Error> {
    operands.write(|operands, destination| match &plan.few {
        // SAFETY: X1 by the caller's contract: `few` has the updates of the plan.
        Some(few) => unsafe { few::run(few, operands, destination) },
        // SAFETY: X1 by the caller's contract.
        None => unsafe { run_any(plan, operands, destination) },
    })
}

/// [`run`] for a plan that is not a few updates.
///
/// # Safety
/// As for [`run`].
#[inline(never)]
unsafe fn run_any(plan: &ReducePlan, operands: &ScatterOperands<'_>, destination: *mut u8) -> Result<(), Error> {
    let checked = IndexCheck { skips_negative: plan.skips_negative, ..index_check(plan) };
    if plan.action() == Action::Check {
        operands.check_each(&checked)?;
    }
    if plan.action() != Action::Run {
        return operands.begin(destination);
    }
    let tasks = plan.tasks(plan.work(), pool_threads);
    let index = if plan.axes().is_empty() { (&raw const NO_INDEX).cast() } else { operands.indices.0 };
    let origin = Cursor { out: operands.updates.0.cast_mut(), data: destination, index };
    // SAFETY: S1, K3 and K4 by X1: the loops belong to the operands' layouts (P1), which do not overlap. S2: any
    // position in range is an element of the destination, which holds values of the type once the run has begun.
    let whole = unsafe { ScatterPart::new((plan, plan.elements), plan.spec(), origin, plan.loops(), plan.stride()) };
    if let Some(ascending) = segments::find(&whole) {
        operands.begin(destination)?;
        ascending.run(tasks);
        return Ok(());
    }
    let scratch = match &plan.way {
        Strategy::InPlace | Strategy::Panels(_) => None,
        Strategy::Accumulated(accumulators) => Some(accumulated::scratch(plan, accumulators, tasks)?),
        Strategy::Sorted => Some(grouped::scratch(plan, tasks)?),
    };
    let panels = match &plan.way {
        Strategy::Panels(panels) => Some(panels::PanelScratch::new(plan, plan.loops(), panels, tasks, 0)?),
        _ => None,
    };
    let (is_kept, is_copy) = (operands.out.layout().is_some(), operands.original.is_some());
    let errors = plan.spec().policy.refuses(false, false) && may_be_out_of_range(plan);
    let checks = errors && is_kept && (is_copy || !scratch.as_ref().is_some_and(Scratch::writes_last));
    let kept = if checks && !is_copy { few_bytes(plan) } else { None };
    if checks && kept.is_none() && !whole.check(tasks).is_complete() {
        return Err(operands.first_bad_index(&checked));
    }
    if plan.skips_negative && !whole.check(tasks).is_complete() {
        operands.check_each(&checked)?;
    }
    operands.begin(destination)?;
    let reduce = || match (&plan.way, scratch, panels) {
        (Strategy::Accumulated(accumulators), Some(scratch), _) => accumulated::run(&whole, accumulators, scratch),
        (_, Some(scratch), _) => grouped::run(&whole, scratch),
        // SAFETY: the scratch was made for the loops and the panels of the plan, and the chunk is the whole nest.
        (_, _, Some(scratch)) => unsafe { whole.run_panels(scratch) },
        (_, None, None) => whole.run(tasks),
    };
    let outcome = match kept {
        Some(bytes) => whole.put_back(bytes, reduce),
        None => reduce(),
    };
    if outcome.is_complete() { Ok(()) } else { Err(operands.first_bad_index(&checked)) }
}

/// Maximum bytes of a destination that is copied, so that indices need no check before the first write. The copy is on
/// the stack, since in-place calls allocate only scratch.
const KEPT: usize = 32 << 10;
/// Minimum ratio of the bytes of the indices to the bytes of the copied destination.
const INDICES_TO_KEPT: usize = 4;

/// The number of bytes of a plan's destination, if it is few and the destination, from coordinate 0 on, has no gaps.
fn few_bytes(plan: &ReducePlan) -> Option<usize> {
    let row = plan.spec().row;
    let free = plan.loops().iter().filter(|along| is_free(along)).map(|along| (along.data, along.n));
    let step = |scale: i64| plan.stride().wrapping_mul(scale as isize);
    let axes = plan.spec().components.iter().map(|component| (step(component.scale), component.dim as usize));
    let (mut rows, mut bytes) = (row, row);
    for (step, n) in free.chain(axes) {
        rows = rows.checked_mul(n)?;
        bytes = bytes.checked_add(usize::try_from(step).ok()?.checked_mul(n.checked_sub(1)?)?)?;
    }
    let moving = plan.loops().iter().filter(|along| along.index != 0);
    let indices = moving.fold(plan.index().size(), |bytes, along| bytes.saturating_mul(along.n));
    // No two rows share a byte, so `rows == bytes` means that there is no gap between them.
    (rows == bytes && bytes <= KEPT.min(indices / INDICES_TO_KEPT)).then_some(bytes)
}

/// Whether the index type has a value out of range of an axis.
fn may_be_out_of_range(plan: &ReducePlan) -> bool {
    let (least, most) = plan.index().bounds();
    plan.axes().iter().any(|axis| {
        let below = if plan.spec().policy.from_end { -(axis.dim as i128) } else { 0 };
        least < below || most >= axis.dim as i128
    })
}

/// Partition of the work between threads: chunks of the free loops, or a number of ranges of columns.
enum ScatterCut {
    Free(Cuts),
    Columns(usize),
}

/// Minimum indices per thread of a check: for fewer, one thread is done before others wake up (workload
/// `scatter_elements/add_1d_1M_into_64K`).
const CHECKED_BY_ONE: usize = 1 << 17;
/// Minimum iterations of the inner loop of a check; a shorter one moves outside.
const SHORT_CHECK: usize = 16;
/// Minimum bytes per thread to cut rows (workload `scatter_nd/add_k2_slices_16k_128x128x256`).
const COLUMNS_FROM: usize = 1 << 10;

/// Minimum iterations of an inner loop that is cut so that its records fit in a cache.
const LEAST_INNER: usize = 512;

/// Whether adjacent chunks of the destination are so narrow that two threads often write to one cache line.
fn is_narrow(plan: &ReducePlan, cuts: &Cuts) -> bool {
    let whole = |step: isize| step.unsigned_abs().is_multiple_of(LINE);
    let scales = plan.spec().components.iter().filter(|component| component.dim > 1).map(|component| component.scale);
    let rows_are_lines = scales.into_iter().all(|scale| whole(plan.stride().wrapping_mul(scale as isize)));
    plan.loops().iter().enumerate().any(|(d, along)| {
        let (step, n) = (along.data.unsigned_abs(), cuts.longest(d, along.n));
        let others = plan.loops().iter().enumerate().all(|(other, along)| other == d || whole(along.data));
        // If all rows start at the same offset from a line, and lines hold whole elements, chunks start at lines.
        let begins = rows_are_lines && others && along.data > 0 && LINE.is_multiple_of(step);
        let least = if begins { 2 * LINE } else { 8 * LINE };
        is_free(along) && n < along.n && step < LINE && n.saturating_mul(step) < least
    })
}

/// The end of a chunk near element `at` of `n`. Elements lie `step` bytes apart from `first` on; if they share cache
/// lines, the end moves to the start of a line.
fn end_of_chunk(first: *const u8, step: isize, at: usize, n: usize) -> usize {
    let step = usize::try_from(step).unwrap_or(0);
    if at == 0 || at == n || step == 0 || !LINE.is_multiple_of(step) {
        return at;
    }
    let off = first.addr() % LINE / step;
    ((at + off).next_multiple_of(LINE / step) - off).min(n)
}

/// Maximum rows of a chunk, whose ends may move to the start of a line.
fn rows_of_a_chunk(plan: &ReducePlan, cut: &ScatterCut) -> usize {
    let longest = |(d, along): (usize, &Loop)| match cut {
        ScatterCut::Free(cuts) if is_free(along) => cuts.longest(d, along.n).saturating_add(LINE).min(along.n),
        _ => along.n,
    };
    plan.loops().iter().enumerate().map(longest).fold(1, usize::saturating_mul)
}

impl ScatterCut {
    /// Partition of a plan for `tasks` tasks, into about `chunks` chunks if loops are cut.
    fn new(plan: &ReducePlan, tasks: usize, chunks: usize) -> Self {
        let inner = plan.loops().len() - 1;
        // With records the inner loop stays long, unless threads share it.
        let least = if matches!(plan.way, Strategy::Accumulated(_)) { LEAST_INNER } else { 1 };
        let shared = if tasks == 1 { 1 } else { tasks.saturating_mul(CHUNKS_PER_THREAD) };
        let lengths = plan.loops().iter().enumerate().map(|(d, along)| match is_free(along) {
            true if d == inner => (along.n / least).max(along.n.min(shared)),
            true => along.n,
            false => 1,
        });
        let cut = |chunks| Cuts::new(lengths.clone(), chunks);
        if tasks == 1 {
            return ScatterCut::Free(cut(chunks));
        }
        // Fewer chunks, if more would be so narrow that two threads often write to one line.
        let cuts = [cut(chunks), cut(tasks)].into_iter().find(|cuts| cuts.chunks() >= tasks && !is_narrow(plan, cuts));
        let row = plan.spec().row;
        let columns = row / tasks >= COLUMNS_FROM && plan.elements >= tasks;
        match cuts {
            Some(cuts) => ScatterCut::Free(cuts),
            // Threads share the sorted rows instead.
            None if matches!(plan.way, Strategy::Sorted) => ScatterCut::Free(cut(1)),
            None if columns => ScatterCut::Columns(tasks),
            None => ScatterCut::Free(cut(1)),
        }
    }

    fn chunks(&self) -> usize {
        match *self {
            ScatterCut::Free(ref cuts) => cuts.chunks(),
            ScatterCut::Columns(tasks) => tasks,
        }
    }
}

/// Loops that reach exactly the indices of `loops`, each once and in any order, padded to the same number of loops.
/// Also returns the bytes from the first index of `loops` to the first index of the result. Contiguous loops merge; a
/// loop of `SHORT_CHECK` iterations or more becomes the inner loop.
fn loops_of_indices(loops: &[Loop]) -> (Loops, isize) {
    if let &[only] = loops
        && only.index != 0
    {
        return (Loops::from_slice(&[Loop { out: 0, data: 0, ..only }]), 0);
    }
    let mut moving: Loops = loops.iter().filter(|along| along.index != 0).copied().collect();
    let mut first = 0isize;
    for along in &mut moving {
        first = first.wrapping_add(along.index.min(0).wrapping_mul(along.n as isize - 1));
        *along = Loop { out: 0, data: 0, index: along.index.wrapping_abs(), ..*along };
    }
    // By descending step.
    sort_by_key(&mut moving, |along| !along.index.unsigned_abs());
    let mut folded = Loops::new();
    merge_into(&mut folded, moving.into_iter());
    put_inside(&mut folded, |_| true, |inner, _| inner.n >= SHORT_CHECK);
    while folded.len() < loops.len() {
        folded.insert(0, Loop::ONCE);
    }
    (folded, first)
}
