//! Running the plan of an operator on indices.

use crate::exec::cuts::{Cuts, share};
use crate::exec::first_bad_index::{self, IndexCheck};
use crate::exec::panels::{Panelled, Scratch, columns_before_line};
use crate::exec::threads::{PIECES, pool_threads};
use crate::kernels::{BLOCK, Cursor, IndexArgs, Loop, Loops, Outcome};
use crate::plan::{Action, FewRows, IndexPlan, IndexRequest, NestPlan, Work};
use crate::tensor::layout::Layout;
use crate::types::error::Error;
use crate::types::policy::OutOfBounds;

/// The tensors of a call, at coordinate 0.
#[derive(Clone, Copy)]
pub(crate) struct Operands<'a> {
    pub(crate) out: *mut u8,
    pub(crate) data: *const u8,
    pub(crate) index: *const u8,
    pub(crate) indices: &'a Layout,
    /// The lookups of a map's parameters, or the `Quantized` of block-quantised data; null where nothing converts.
    pub(crate) params: *const (),
}

/// The address of the indices of tuples without components.
pub(super) static NO_INDEX: u64 = 0;

/// Runs a plan.
///
/// # Errors
/// [`Error::AllocationFailed`] for the scratch of panels. [`Error::IndexOutOfRange`] for the first such index in
/// row-major order, under `OutOfBounds::Error` or on an axis without elements; the output then holds moved elements,
/// or what it held before, in an unspecified mix.
///
/// # Safety
/// X1. For the plan of a map: data and output are aligned for its types, and `params` are lookups of its parameters,
/// which threads may share and which reach a value for every position along the axis, or the `Quantized` of
/// block-quantised data (K8).
#[inline(always)]
pub(crate) unsafe fn run(plan: &IndexPlan, operands: Operands<'_>) -> Result<(), Error> {
    if plan.is_whole() {
        // SAFETY: the caller's promise; a call is one call of the kernel, as just checked.
        return unsafe { call(plan, operands) };
    }
    // SAFETY: the caller's promise.
    unsafe { run_in_parts(plan, plan.loops(), plan.work(), operands) }
}

/// As [`run`], for a plan that is one call of its kernel.
///
/// # Errors
/// [`Error::IndexOutOfRange`], as there.
///
/// # Safety
/// As there, for a plan of which a call is one call of its kernel.
#[inline(always)]
pub(crate) unsafe fn call(plan: &IndexPlan, operands: Operands<'_>) -> Result<(), Error> {
    debug_assert!(plan.is_whole());
    // SAFETY: X1 for the plan, with its own loops.
    let outcome = unsafe { Part::new(plan, plan.loops(), operands) }.call();
    // SAFETY: as above.
    if outcome.out_of_range { unsafe { check_met(plan, operands.index, operands.indices) } } else { Ok(()) }
}

/// Moves a few rows.
///
/// # Errors
/// [`Error::IndexOutOfRange`], as [`run`].
///
/// # Safety
/// X1 for the request and the layouts of the inputs that the rows were found in, and for a row-major output of the
/// shape that [`FewRows::output`] gives.
#[inline(always)]
pub(crate) unsafe fn run_few_rows(rows: &FewRows, request: &IndexRequest, operands: Operands<'_>) -> Result<(), Error> {
    let Operands { out, data, index, indices, params } = operands;
    let (spec, inner) = (rows.spec(request, FewRows::fill(request)?), rows.inner(request));
    let (origin, loops) = (Cursor { out, data, index }, core::slice::from_ref(&inner));
    // SAFETY: the kernel contract holds as for `Part::call`: loop, spec and kernel are those of the layouts (P1, P2).
    let args = unsafe { IndexArgs::new(&spec, origin, loops, rows.stride(), params) };
    // SAFETY: the kernel was found for the width, the index type and the level of these rows (P2).
    let outcome = unsafe { (rows.kernel)(&args) };
    if !outcome.out_of_range || request.policy.out_of_bounds != OutOfBounds::Error {
        return Ok(());
    }
    let (axis, IndexRequest { op, policy, index: index_type, .. }) = (rows.axis(), *request);
    let checked =
        IndexCheck { op, axes: core::slice::from_ref(&axis), policy, index: index_type, skips_negative: false };
    // SAFETY: X1: the indices may be read along their layout.
    Err(unsafe { first_bad_index::find(&checked, index, indices) })
}

/// The result of a run that has met an index out of range.
///
/// # Errors
/// [`Error::IndexOutOfRange`] for the first such index, under `OutOfBounds::Error`.
///
/// # Safety
/// X1 for the indices.
#[cold]
pub(super) unsafe fn check_met(plan: &IndexPlan, index: *const u8, indices: &Layout) -> Result<(), Error> {
    if plan.spec().policy.out_of_bounds != OutOfBounds::Error {
        return Ok(());
    }
    // SAFETY: X1: the indices may be read along their layout.
    Err(unsafe { first_bad_index::find(&index_check(plan), index, indices) })
}

/// The axes and the policies that the indices of a plan are compared with.
pub(super) fn index_check(plan: &NestPlan) -> IndexCheck<'_> {
    IndexCheck {
        op: plan.op(),
        axes: plan.axes(),
        policy: plan.spec().policy,
        index: plan.index(),
        skips_negative: false,
    }
}

/// As [`run`], for the loops of a plan or for another size of the free one, where `work` is their cost: for what is not
/// one call of a kernel.
///
/// # Safety
/// As for [`run`], with the loops in place of the plan's.
#[inline(never)]
pub(super) unsafe fn run_in_parts(
    plan: &IndexPlan,
    loops: &[Loop],
    work: Work,
    mut operands: Operands<'_>,
) -> Result<(), Error> {
    if plan.action() == Action::Nothing {
        return Ok(());
    }
    if plan.action() == Action::Check {
        // SAFETY: X1: the indices may be read along their layout.
        return unsafe { first_bad_index::check(&index_check(plan), operands.index, operands.indices) };
    }
    if plan.axes().is_empty() {
        operands.index = (&raw const NO_INDEX).cast();
    }
    let tasks = plan.tasks(work, pool_threads);
    let outcome = if let Some(panels) = plan.panels() {
        let skipped = columns_before_line(plan, loops, panels, operands.out);
        let scratch = Scratch::new(plan, loops, panels, tasks, skipped)?;
        let origin = Cursor { out: operands.out, data: operands.data, index: operands.index };
        let (kernel, params) = (plan.kernel(), core::ptr::null());
        let panelled = Panelled { plan, loops, panels, origin, kernel, params, unpacks: false };
        // SAFETY: the caller's promise; the panels and the kernel are the plan's.
        unsafe { panelled.run(scratch) }
    } else {
        // SAFETY: X1 for the plan with these loops.
        let part = unsafe { Part::new(plan, loops, operands) };
        if tasks == 1 { part.run() } else { part.run_shared(tasks) }
    };
    // SAFETY: the caller's promise.
    if outcome.out_of_range { unsafe { check_met(plan, operands.index, operands.indices) } } else { Ok(()) }
}

/// A part of a plan's loop nest: the same kernel over fewer iterations from a later origin. It carries the kernel
/// contract.
#[derive(Clone, Copy)]
pub(super) struct Part<'a> {
    plan: &'a IndexPlan,
    args: IndexArgs<'a>,
}

// SAFETY: X2: threads that share a part run different parts of it. What a kernel reads beside the operands, a map's
// lookups, may be shared between threads, as the operands of a plan promise.
unsafe impl Sync for Part<'_> {}

impl<'a> Part<'a> {
    /// The whole loop nest of a plan, with its loops.
    ///
    /// # Safety
    /// X1 for the plan with these loops. It gives the kernel contract: K1, K3 and K4 since the loops are those of the
    /// operands' layouts (P1, X1); K2 since any position in range is an element of data, as the axes' sizes are its own;
    /// K5 to K7 and K9 by the plan (P2); K8 by the promise about maps.
    #[inline(always)]
    pub(super) unsafe fn new(plan: &'a IndexPlan, loops: &'a [Loop], operands: Operands<'_>) -> Self {
        let Operands { out, data, index, params, .. } = operands;
        // SAFETY: the kernel contract, as argued above.
        let args = unsafe { IndexArgs::new(plan.spec(), Cursor { out, data, index }, loops, plan.stride(), params) };
        Part { plan, args }
    }

    /// Runs the part.
    #[inline]
    fn run(self) -> Outcome {
        if self.plan.is_blocked() { self.run_blocked() } else { self.call() }
    }

    /// Runs the part block by block of its inner loop, so that the outer loops come back to the indices of a block.
    fn run_blocked(self) -> Outcome {
        let (mut loops, last, n) = (Loops::new(), self.args.loops().len() - 1, self.args.inner().n);
        let mut out_of_range = false;
        for start in (0..n).step_by(BLOCK) {
            let range = |depth, n| if depth == last { start..(start + BLOCK).min(n) } else { 0..n };
            out_of_range |= Part { plan: self.plan, args: self.args.part(&mut loops, range) }.call().out_of_range;
        }
        Outcome { out_of_range }
    }

    /// Calls the kernel.
    #[inline(always)]
    pub(super) fn call(self) -> Outcome {
        // SAFETY: P2: the kernel is that of the rank, the width, the index type and the method of the plan, whose loops
        // these are, or some of their iterations.
        unsafe { self.plan.kernel()(&self.args) }
    }

    /// Runs the part on up to `tasks` threads, piece by piece.
    fn run_shared(self, tasks: usize) -> Outcome {
        let lengths = self.args.loops().iter().map(|along| along.n);
        let cuts = Cuts::new(lengths, tasks.saturating_mul(PIECES));
        let part = &self;
        share(tasks, cuts.pieces(), |piece, _| part.run_piece(&cuts, piece))
    }

    /// Runs one of the pieces that the part is cut into.
    fn run_piece(&self, cuts: &Cuts, piece: usize) -> Outcome {
        let mut loops = Loops::new();
        let args = self.args.part(&mut loops, |depth, n| cuts.range(piece, depth, n));
        Part { plan: self.plan, args }.run()
    }
}
