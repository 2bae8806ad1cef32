//! Running the plan of a scatter.
//!
//! Threads never change one element in turns, so that updates keep their order. The first of these ways that fits is
//! taken:
//!
//! - *free loops* are cut: their coordinates reach different elements (P1);
//! - *rows* are cut, where they are long: every thread takes all updates, and some columns of each;
//! - *runs* are cut, where targets ascend (`runs`);
//! - one thread does all, where the others would gain nothing.
//!
//! Where the destination is to be kept on an error, all indices are looked at before the first write; but a small
//! destination with many indices is copied, and put back on an error.
//!
//! Means, sums that are rounded once, and reductions without what the destination holds are reduced beside it, or where
//! they lie with counts beside them (`accumulated`), or group by group where the destination is much larger than the updates (`grouped`); elements off
//! the last axis of a large destination panel by panel (`exec/panels.rs`).

mod accumulated;
mod copy;
mod grouped;
mod runs;

pub(crate) use copy::Original;

use core::mem::MaybeUninit;

use smallvec::SmallVec;

use crate::exec::cuts::{Cuts, share};
use crate::exec::first_bad_index;
use crate::exec::index::{NO_INDEX, index_check};
use crate::exec::panels::{self, Panelled};
use crate::exec::threads::{PIECES, pool_threads};
use crate::kernels::reduce::scatter::{Sink, Take};
use crate::kernels::{Cursor, IndexArgs, KernelSpec, LINE, Loop, Outcome, fits_i32, start_of_part};
use crate::plan::{Accumulators, Action, Panels, ReducePlan, Way, is_free};
use crate::tensor::layout::Layout;
use crate::types::error::Error;
use crate::types::method::Method;
use crate::types::order::sort_by_key;
use crate::types::policy::{NegativeIndex, OutOfBounds};

/// The tensors of a scatter, at coordinate 0.
#[derive(Clone, Copy)]
pub(crate) struct ScatterOperands<'a> {
    pub(crate) destination: *mut u8,
    pub(crate) updates: *const u8,
    pub(crate) index: *const u8,
    pub(crate) indices: &'a Layout,
}

/// When indices are checked.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Check {
    /// All of them before the first write, since the destination is to be kept on an error: or that is put back.
    First,
    /// On the way, since the destination is dropped on an error.
    OnTheWay,
}

/// Runs a plan: on what the destination holds, or on a copy of the original, if there is one.
///
/// # Errors
/// [`Error::AllocationFailed`] for a scratch, [`Error::IndexOutOfRange`] for the first such index in
/// row-major order, under `OutOfBounds::Error` or on an axis without elements; those of the copy. With
/// [`Check::First`] nothing has been written on an error of the former.
///
/// # Safety
/// X1 for indices and updates. The destination may be read and written along the layout that the plan was made for, no
/// two of whose coordinates share a byte, and overlaps neither indices nor updates. It holds values of the plan's data
/// type, or bytes where that takes any; or there is an original that X1 holds for, of the destination's shape and the
/// plan's data type, whose `out` is the destination's layout.
pub(crate) unsafe fn run(
    plan: &ReducePlan,
    mut operands: ScatterOperands<'_>,
    check: Check,
    original: Option<&Original<'_>>,
) -> Result<(), Error> {
    let destination = operands.destination;
    // SAFETY: the caller's promise.
    let begin = || original.map_or(Ok(()), |original| unsafe { copy::run(original, destination) });
    let checked = index_check(plan);
    match plan.action() {
        Action::Nothing => return begin(),
        Action::Check => {
            // SAFETY: X1: the indices may be read along their layout.
            unsafe { first_bad_index::check(&checked, operands.index, operands.indices) }?;
            return begin();
        }
        Action::Run => {}
    }
    if plan.axes().is_empty() {
        operands.index = (&raw const NO_INDEX).cast();
    }
    let tasks = plan.tasks(plan.work(), pool_threads);
    let errors = plan.spec().policy.out_of_bounds == OutOfBounds::Error && may_be_out_of_range(plan);
    let found = |outcome: Outcome| {
        if !errors || !outcome.out_of_range {
            return Ok(());
        }
        // SAFETY: X1: the indices may be read along their layout.
        Err(unsafe { first_bad_index::find(&checked, operands.index, operands.indices) })
    };
    let whole = Part::new(plan, &operands);
    // SAFETY: X1: the indices may be read along their layout.
    if let Some(ascending) = unsafe { runs::find(plan, operands.index) } {
        begin()?;
        // SAFETY: the caller's promise; these are the indices of the plan.
        unsafe { ascending.run(&whole, tasks) };
        return Ok(());
    }
    let scratch = match plan.way() {
        Way::RowByRow => Scratch::None,
        Way::Panels(panels) => Scratch::Panels(panels, panels::Scratch::new(plan, plan.loops(), panels, tasks, 0)?),
        Way::Accumulated(beside) => Scratch::Accumulators(beside, accumulated::Scratch::new(plan, beside, tasks)?),
        Way::Sorted => Scratch::Entries(grouped::Scratch::new(plan, tasks)?),
    };
    let writes_last = original.is_none() && scratch.writes_last();
    let checks = errors && check == Check::First && !writes_last;
    let kept = if checks && original.is_none() { few_bytes(plan) } else { None };
    if checks && kept.is_none() {
        // SAFETY: the caller's promise.
        found(unsafe { whole.check(tasks) })?;
    }
    begin()?;
    let reduce = || match scratch {
        // SAFETY: the caller's promise.
        Scratch::None => unsafe { whole.run(tasks) },
        // SAFETY: the caller's promise; the scratch is that of the plan and of as many tasks.
        Scratch::Panels(panels, scratch) => unsafe { whole.run_panels(panels, scratch) },
        // SAFETY: as above.
        Scratch::Accumulators(beside, scratch) => unsafe { accumulated::run(whole, beside, scratch, errors) },
        // SAFETY: as above.
        Scratch::Entries(scratch) => unsafe { grouped::run(whole, scratch, errors) },
    };
    let outcome = match kept {
        // SAFETY: the caller's promise: all of these bytes are rows of the destination.
        Some(bytes) => unsafe { put_back(destination, bytes, reduce) },
        None => reduce(),
    };
    found(outcome)
}

/// Bytes of a destination that is copied in place of looking at all indices first: on the stack, since calls in place
/// allocate nothing but scratch. And how many times as many indices have at least.
const KEPT: usize = 32 << 10;
const INDICES_TO_KEPT: usize = 4;

/// The bytes of a plan's destination, from coordinate 0 on, if they are few and all are bytes of its rows.
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
    // No two rows share a byte: as many as there are between the first and the last leave none between them.
    (rows == bytes && bytes <= KEPT.min(indices / INDICES_TO_KEPT)).then_some(bytes)
}

/// Calls `run`, and puts back what the destination held if an index is out of range.
///
/// # Safety
/// The bytes, at most [`KEPT`], may be read and written, and nothing but `run` does so.
#[inline(never)]
unsafe fn put_back(destination: *mut u8, bytes: usize, run: impl FnOnce() -> Outcome) -> Outcome {
    let mut held = [const { MaybeUninit::<u8>::uninit() }; KEPT];
    let (destination, held) = (destination.cast::<MaybeUninit<u8>>(), held[..bytes].as_mut_ptr());
    // SAFETY: the caller's promise; the copy is as long.
    unsafe { held.copy_from_nonoverlapping(destination, bytes) };
    let outcome = run();
    if outcome.out_of_range {
        // SAFETY: as above.
        unsafe { destination.copy_from_nonoverlapping(held, bytes) };
    }
    outcome
}

/// Whether the index type has a value that is out of range of an axis.
fn may_be_out_of_range(plan: &ReducePlan) -> bool {
    let (least, most) = plan.index().bounds();
    plan.axes().iter().any(|axis| {
        let below = if plan.spec().policy.negative == NegativeIndex::FromEnd { -(axis.dim as i128) } else { 0 };
        least < below || most >= axis.dim as i128
    })
}

/// Reduces the rows of a plan, of some bytes, one by one.
fn reducing(plan: &ReducePlan, row: usize) -> Take<'static> {
    let rows = plan.reducer().rows.expect("a plan that groups no rows reduces them one by one");
    Take::Reduce(rows.resolved.at(plan.spec().level), row, plan.by_index())
}

/// Scratch memory, allocated before the first write.
enum Scratch<'a> {
    None,
    Panels(&'a Panels, panels::Scratch),
    Accumulators(&'a Accumulators, accumulated::Scratch),
    Entries(grouped::Scratch),
}

impl Scratch<'_> {
    /// Whether all indices are looked at before anything is written.
    fn writes_last(&self) -> bool {
        match self {
            Scratch::None | Scratch::Panels(..) => false,
            Scratch::Accumulators(_, scratch) => scratch.writes_last(),
            Scratch::Entries(scratch) => scratch.writes_last(),
        }
    }
}

/// How the work is cut for threads.
enum Cut {
    /// Into pieces of the free loops.
    Free(Cuts),
    /// Into ranges of columns, this number of them.
    Columns(usize),
}

/// Indices that one thread checks sooner than another one has woken up (workload
/// `scatter_elements/add_1d_1M_into_64K`).
const CHECKED_BY_ONE: usize = 1 << 17;
/// Iterations below which a loop over indices that are checked goes outside.
const SHORT_CHECK: usize = 16;
/// Bytes of a row for each thread from which on rows are cut (workload `scatter_nd/add_k2_slices_16k_128x128x256`).
const COLUMNS_FROM: usize = 1 << 10;

/// The least iterations of an inner loop that is cut so that its records fit in a cache.
const LEAST_INNER: usize = 512;

/// Whether neighbouring pieces of the destination are so narrow that two threads often write to one line.
fn is_narrow(plan: &ReducePlan, cuts: &Cuts) -> bool {
    let whole = |step: isize| step.unsigned_abs().is_multiple_of(LINE);
    let scales = plan.spec().components.iter().filter(|component| component.dim > 1).map(|component| component.scale);
    let rows_are_lines = scales.into_iter().all(|scale| whole(plan.stride().wrapping_mul(scale as isize)));
    plan.loops().iter().enumerate().any(|(d, along)| {
        let (step, n) = (along.data.unsigned_abs(), cuts.longest(d, along.n));
        let others = plan.loops().iter().enumerate().all(|(other, along)| other == d || whole(along.data));
        // Where every row begins as far after a line as the first, and lines hold whole elements, pieces begin with
        // one.
        let begins = rows_are_lines && others && along.data > 0 && LINE.is_multiple_of(step);
        let least = if begins { 2 * LINE } else { 8 * LINE };
        is_free(along) && n < along.n && step < LINE && n.saturating_mul(step) < least
    })
}

/// Where a piece ends that is to end near element `at` of `n`, elements lying `step` bytes apart from `first` on: at
/// the begin of a line, where elements share lines.
fn end_of_piece(first: *const u8, step: isize, at: usize, n: usize) -> usize {
    let step = usize::try_from(step).unwrap_or(0);
    if at == 0 || at == n || step == 0 || !LINE.is_multiple_of(step) {
        return at;
    }
    let off = first.addr() % LINE / step;
    ((at + off).next_multiple_of(LINE / step) - off).min(n)
}

/// The most rows of a piece, whose ends may be moved to the begin of a line.
fn rows_of_a_piece(plan: &ReducePlan, cut: &Cut) -> usize {
    let longest = |(d, along): (usize, &Loop)| match cut {
        Cut::Free(cuts) if is_free(along) => cuts.longest(d, along.n).saturating_add(LINE).min(along.n),
        _ => along.n,
    };
    plan.loops().iter().enumerate().map(longest).fold(1, usize::saturating_mul)
}

impl Cut {
    /// How a plan is cut for `tasks` tasks, into about `pieces` pieces where loops are cut.
    fn new(plan: &ReducePlan, tasks: usize, pieces: usize) -> Self {
        let inner = plan.loops().len() - 1;
        // Records of pieces: the inner loop stays long, unless threads are to share it.
        let least = if matches!(plan.way(), Way::Accumulated(_)) { LEAST_INNER } else { 1 };
        let shared = if tasks == 1 { 1 } else { tasks.saturating_mul(PIECES) };
        let lengths = plan.loops().iter().enumerate().map(|(d, along)| match is_free(along) {
            true if d == inner => (along.n / least).max(along.n.min(shared)),
            true => along.n,
            false => 1,
        });
        let cut = |pieces| Cuts::new(lengths.clone(), pieces);
        if tasks == 1 {
            return Cut::Free(cut(pieces));
        }
        // Few pieces, where more would be so narrow that two threads often write to one line.
        let cuts = [cut(pieces), cut(tasks)].into_iter().find(|cuts| cuts.pieces() >= tasks && !is_narrow(plan, cuts));
        let row = plan.spec().row;
        let columns = row / tasks >= COLUMNS_FROM && plan.elements() >= tasks;
        match cuts {
            Some(cuts) => Cut::Free(cuts),
            // Threads share what has been sorted.
            None if matches!(plan.way(), Way::Sorted) => Cut::Free(cut(1)),
            None if columns => Cut::Columns(tasks),
            None => Cut::Free(cut(1)),
        }
    }

    /// The pieces that are shared.
    fn pieces(&self) -> usize {
        match *self {
            Cut::Free(ref cuts) => cuts.pieces(),
            Cut::Columns(tasks) => tasks,
        }
    }
}

/// As many loops that reach the same indices, each once and in any order, and nothing else; and the bytes from the
/// index that `loops` begin with to the one that these do. Those along which indices follow one another become one, and
/// a loop of some length is inside.
fn loops_of_indices(loops: &[Loop]) -> (SmallVec<[Loop; 6]>, isize) {
    if let &[only] = loops
        && only.index != 0
    {
        return (SmallVec::from_slice(&[Loop { out: 0, data: 0, ..only }]), 0);
    }
    let mut first = 0isize;
    let moving = loops.iter().filter(|along| along.index != 0 && along.n > 1);
    let mut moving: SmallVec<[Loop; 6]> = moving
        .map(|along| {
            if along.index < 0 {
                first = first.wrapping_add(along.index.wrapping_mul(along.n as isize - 1));
            }
            Loop { out: 0, data: 0, index: along.index.wrapping_abs(), ..*along }
        })
        .collect();
    // The longest step first.
    sort_by_key(&mut moving, |along| !along.index.unsigned_abs());
    let mut folded: SmallVec<[Loop; 6]> = SmallVec::from_elem(Loop::ONCE, loops.len() - moving.len());
    for along in moving {
        match folded.last_mut() {
            Some(outer) if outer.n > 1 && outer.index == along.index.wrapping_mul(along.n as isize) => {
                *outer = Loop { n: outer.n * along.n, ..along };
            }
            _ => folded.push(along),
        }
    }
    if folded.last().is_some_and(|inner| inner.n < SHORT_CHECK)
        && let Some((longest, _)) = folded.iter().enumerate().max_by_key(|(_, along)| along.n)
    {
        let longest = folded.remove(longest);
        folded.push(longest);
    }
    while folded.len() < loops.len() {
        folded.insert(0, Loop::ONCE);
    }
    (folded, first)
}

/// A part of a plan's loop nest.
#[derive(Clone, Copy)]
struct Part<'a> {
    plan: &'a ReducePlan,
    origin: Cursor,
    spec: &'a KernelSpec,
    loops: &'a [Loop],
    /// Bytes of the destination from one position to the next.
    stride: isize,
    elements: usize,
}

// SAFETY: threads that share a part run different pieces of it, which reach different elements of the destination (P1
// for free loops; columns by what they are) and read shared memory whose elements are `Sync`.
unsafe impl Sync for Part<'_> {}

impl<'a> Part<'a> {
    fn new(plan: &'a ReducePlan, operands: &ScatterOperands<'_>) -> Self {
        let ScatterOperands { destination, updates, index, .. } = *operands;
        let origin = Cursor { out: updates.cast_mut(), data: destination, index };
        Part { plan, origin, spec: plan.spec(), loops: plan.loops(), stride: plan.stride(), elements: plan.elements() }
    }

    /// Runs the whole, panel by panel.
    ///
    /// # Safety
    /// The promise of [`run`]; the scratch was made for the plan and its panels.
    unsafe fn run_panels(self, panels: &Panels, scratch: panels::Scratch) -> Outcome {
        let Part { plan, loops, origin, elements, .. } = self;
        let sink = Sink { take: reducing(plan, plan.spec().row), elements };
        let (kernel, params) = (plan.panel_kernel(), (&raw const sink).cast());
        // SAFETY: the contract of a scatter, as in `Part::call`; threads only read the sink.
        unsafe { Panelled { plan, loops, panels, origin, kernel, params, unpacks: true }.run(scratch) }
    }

    /// Calls the kernel, which hands its rows to `take`.
    ///
    /// # Safety
    /// The promise of [`run`], for this part. It gives the contract of a scatter: S1, K3 and K4 since the loops are
    /// those of the operands' layouts (P1), or some of their iterations and columns; S2 since any position in range is
    /// an element of the destination, and threads run different parts; S3 for a reducer of the plan's type.
    unsafe fn call(&self, take: Take) -> Outcome {
        let sink = Sink { take, elements: self.elements };
        let args = IndexArgs {
            spec: self.spec,
            origin: self.origin,
            loops: self.loops,
            stride: self.stride,
            params: (&raw const sink).cast(),
        };
        // SAFETY: the contract of a scatter holds, as argued above.
        unsafe { self.plan.kernel()(&args) }
    }

    /// Calls `run` on every piece, on up to `tasks` threads.
    fn share(&self, cut: &Cut, tasks: usize, run: impl Fn(&Part<'_>, usize) -> Outcome + Sync) -> Outcome {
        if cut.pieces() == 1 {
            return run(self, 0);
        }
        share(tasks, cut.pieces(), |piece, worker| self.with_piece(cut, piece, |part| run(part, worker)))
    }

    /// Calls `run` on one of the pieces that the part is cut into.
    fn with_piece(&self, cut: &Cut, piece: usize, run: impl FnOnce(&Part<'_>) -> Outcome) -> Outcome {
        match *cut {
            Cut::Free(ref cuts) => self.with_ranges(cuts, piece, run),
            Cut::Columns(tasks) => {
                let size = self.spec.row / self.elements;
                // As many columns for each, to within a line.
                let end = |task: usize| {
                    let even = start_of_part(self.elements, task, tasks);
                    end_of_piece(self.origin.data, size as isize, even, self.elements)
                };
                let (first, last) = (end(piece), end(piece + 1));
                if first >= last {
                    return Outcome::NONE;
                }
                let spec = KernelSpec { row: (last - first) * size, ..self.spec.clone() };
                let Cursor { out, data, index } = self.origin;
                let origin =
                    Cursor { out: out.wrapping_add(first * size), data: data.wrapping_add(first * size), index };
                run(&Part { spec: &spec, origin, elements: last - first, ..*self })
            }
        }
    }

    /// Calls `run` on one of the pieces that the loops are cut into.
    fn with_ranges(&self, cuts: &Cuts, piece: usize, run: impl FnOnce(&Part<'_>) -> Outcome) -> Outcome {
        let (mut loops, mut origin) = (SmallVec::<[Loop; 6]>::from_slice(self.loops), self.origin);
        for (d, along) in loops.iter_mut().enumerate() {
            let range = cuts.range(piece, d, along.n);
            let [start, end] = [range.start, range.end].map(|at| match is_free(along) {
                true => end_of_piece(self.origin.data, along.data, at, along.n),
                false => at,
            });
            if start >= end {
                return Outcome::NONE;
            }
            origin = origin.skip(along, start);
            along.n = end - start;
        }
        run(&Part { loops: &loops, origin, ..*self })
    }

    /// Looks at every index, and says whether one is out of range.
    ///
    /// # Safety
    /// The promise of [`run`].
    unsafe fn check(&self, tasks: usize) -> Outcome {
        let (loops, first) = loops_of_indices(self.loops);
        let indices = loops.iter().fold(1, |n: usize, along| n.saturating_mul(along.n));
        let tasks = tasks.min(indices / CHECKED_BY_ONE).max(1);
        let origin = Cursor { index: self.origin.index.wrapping_offset(first), ..self.origin };
        // What the plan says of its inner loop holds for no other one; and it may reduce into records, whose positions
        // fit in 32 bits where those of the destination do not (K2).
        let [of_plan, own] = [self.loops, &loops].map(|loops| loops.last().map(|inner| inner.index));
        let fits = fits_i32(&self.spec.components);
        let other;
        let spec = if of_plan == own && fits {
            self.spec
        } else {
            let method = if fits { Method::Blocks } else { Method::Direct };
            other = KernelSpec { adjacent_tuples: false, method, ..self.spec.clone() };
            &other
        };
        let part = Part { spec, loops: &loops, origin, ..*self };
        if tasks == 1 {
            // SAFETY: the caller's promise: the loops reach the indices, and nothing else is touched.
            return unsafe { part.call(Take::Nothing) };
        }
        let cuts = Cuts::new(loops.iter().map(|along| along.n), tasks.saturating_mul(PIECES));
        share(tasks, cuts.pieces(), |piece, _| {
            part.with_ranges(&cuts, piece, |part| {
                // SAFETY: the caller's promise: sub-ranges of the loops reach some of their indices, and nothing else
                // is touched.
                unsafe { part.call(Take::Nothing) }
            })
        })
    }

    /// Reduces every row into its destination, on this thread.
    ///
    /// # Safety
    /// The promise of [`run`], for a plan whose rows are reduced one by one.
    unsafe fn reduce(&self) -> Outcome {
        let Some(block) = self.plan.block() else {
            // SAFETY: the caller's promise.
            return unsafe { self.call(reducing(self.plan, self.spec.row)) };
        };
        let mut loops = SmallVec::<[Loop; 6]>::from_slice(self.loops);
        let [.., inner] = self.loops else { unreachable!("K5: a loop nest has an inner loop") };
        let (whole, mut out_of_range) = (*inner, false);
        for start in (0..whole.n).step_by(block.get()) {
            if let Some(inner) = loops.last_mut() {
                inner.n = (whole.n - start).min(block.get());
            }
            let part = Part { loops: &loops, origin: self.origin.skip(&whole, start), ..*self };
            // SAFETY: the caller's promise: a sub-range of the inner loop is a part of the loop nest.
            out_of_range |= unsafe { part.call(reducing(self.plan, self.spec.row)) }.out_of_range;
        }
        Outcome { out_of_range }
    }

    /// Reduces every row into its destination.
    ///
    /// # Safety
    /// The promise of [`run`], for a plan whose rows are reduced one by one.
    unsafe fn run(&self, tasks: usize) -> Outcome {
        if tasks == 1 {
            // SAFETY: the caller's promise.
            return unsafe { self.reduce() };
        }
        let cut = Cut::new(self.plan, tasks, tasks.saturating_mul(PIECES));
        self.share(&cut, tasks, |part, _| {
            // SAFETY: the caller's promise, for a piece that this thread alone has taken.
            unsafe { part.reduce() }
        })
    }
}
