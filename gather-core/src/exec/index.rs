//! Running the plan of an index operator.

use smallvec::SmallVec;

use crate::error::Error;
use crate::exec::cuts::{Cuts, share};
use crate::exec::{culprit, panels};
use crate::index::IndexType;
use crate::kernels::{BLOCK, Cursor, Fill, IndexArgs, IndexKernel, Loop, Verdict, Wide, index_nest_any};
use crate::ops::OutOfBounds;
use crate::plan::{Chosen, IndexPlan, Route};
use crate::shape::Layout;
use crate::threads::PIECES;

/// The three tensors of a call, at coordinate 0, and what the zero policy writes for one element.
#[derive(Clone, Copy)]
pub(crate) struct Operands<'a> {
    pub(crate) out: *mut u8,
    pub(crate) data: *const u8,
    pub(crate) index: *const u8,
    pub(crate) indices: &'a Layout,
    pub(crate) fill: &'a [u8],
}

/// What stands in for the indices of tuples without components.
static NO_INDEX: u64 = 0;

/// Runs a plan.
///
/// # Errors
/// [`Error::IndexOutOfRange`] for the first such index in row-major order, under `OutOfBounds::Error` or on an axis
/// without elements. The output then holds moved elements, or what it held before, in an unspecified mix.
///
/// # Safety
/// The operands are tensors with exactly the layouts and element types that the plan was made for: data and indices may
/// be read, the output may be written and overlaps neither them nor itself; `fill` is one element.
#[inline]
pub(crate) unsafe fn run(plan: &IndexPlan, operands: &Operands<'_>) -> Result<(), Error> {
    let kernel: IndexKernel = match plan.route {
        Route::Nothing => return Ok(()),
        Route::Check => {
            // SAFETY: the indices may be read along their layout.
            return unsafe { culprit::check(&plan.blame(), operands.index, operands.indices) };
        }
        Route::Fill => index_nest_any::<Fill>,
        Route::Kernel(entry) => entry.run,
        Route::Wide => wide(plan.index),
    };
    let index = if plan.axes.is_empty() { (&raw const NO_INDEX).cast() } else { operands.index };
    let verdict = match &plan.chosen {
        // SAFETY: the promise about the operands; the plan has panels, and so has picked the kernel.
        Chosen::Panels(panels) => unsafe { panels::run(plan, kernel, panels, operands) }?,
        // SAFETY: the promise about the operands; the plan has picked the kernel.
        _ => unsafe { run_nest(plan, kernel, index, operands) },
    };
    if verdict.out_of_range && plan.rules.out_of_bounds == OutOfBounds::Error {
        // SAFETY: the indices may be read along their layout.
        return Err(unsafe { culprit::find(&plan.blame(), operands.index, operands.indices) });
    }
    Ok(())
}

/// Runs the whole nest of a plan, in as many tasks as the plan says.
///
/// # Safety
/// The promise of [`run`]; the kernel is the plan's, and `index` what it reads indices from.
#[inline]
pub(super) unsafe fn run_nest<K, C: Kernel>(
    plan: &IndexPlan<K>,
    kernel: C,
    index: *const u8,
    operands: &Operands<'_>,
) -> Verdict {
    let origin = Cursor { out: operands.out, data: operands.data, index };
    let nest = Nest { origin, loops: &plan.loops, unit: plan.unit, ahead: plan.ahead };
    if plan.whole {
        // SAFETY: the promise about the operands is that of `Task::call`, which says why it gives the kernel contract.
        return unsafe { nest.call(plan, kernel, operands.fill) };
    }
    // SAFETY: the promise about the operands is the task's.
    unsafe { Task { plan, kernel, fill: operands.fill, nest }.run_in_parts() }
}

/// What a nest is run by.
pub(super) trait Kernel: Copy {
    /// Runs a nest.
    ///
    /// # Safety
    /// The kernel contract for `args`, and what else the kernel asks for.
    unsafe fn call(self, args: &IndexArgs<'_>) -> Verdict;
}

impl Kernel for IndexKernel {
    #[inline(always)]
    unsafe fn call(self, args: &IndexArgs<'_>) -> Verdict {
        // SAFETY: the caller's promise.
        unsafe { self(args) }
    }
}

/// The kernel for axes and offsets beyond `i32`.
#[cold]
fn wide(index: IndexType) -> IndexKernel {
    match index.word() {
        IndexType::I8 => index_nest_any::<Wide<i8>>,
        IndexType::I16 => index_nest_any::<Wide<i16>>,
        IndexType::I32 => index_nest_any::<Wide<i32>>,
        IndexType::I64 | IndexType::Isize => index_nest_any::<Wide<i64>>,
        IndexType::U8 => index_nest_any::<Wide<u8>>,
        IndexType::U16 => index_nest_any::<Wide<u16>>,
        IndexType::U32 => index_nest_any::<Wide<u32>>,
        IndexType::U64 | IndexType::Usize => index_nest_any::<Wide<u64>>,
    }
}

/// A part of a nest: the same kernel over fewer iterations from a later origin.
struct Task<'a, K, C> {
    plan: &'a IndexPlan<K>,
    kernel: C,
    fill: &'a [u8],
    nest: Nest<'a>,
}

impl<K, C: Copy> Clone for Task<'_, K, C> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<K, C: Copy> Copy for Task<'_, K, C> {}

/// What a kernel is called on.
#[derive(Clone, Copy)]
pub(crate) struct Nest<'a> {
    pub(crate) origin: Cursor,
    pub(crate) loops: &'a [Loop],
    /// Bytes of data that one unit of a resolved index stands for.
    pub(crate) unit: isize,
    /// Lanes fetched ahead.
    pub(crate) ahead: usize,
}

impl Nest<'_> {
    /// Calls a kernel with what else a plan says.
    ///
    /// # Safety
    /// The kernel contract for the nest.
    #[inline]
    pub(super) unsafe fn call<K>(self, plan: &IndexPlan<K>, kernel: impl Kernel, fill: &[u8]) -> Verdict {
        let args = IndexArgs {
            origin: self.origin,
            loops: self.loops,
            components: &plan.components,
            unit: self.unit,
            row: plan.row,
            ahead: self.ahead,
            span: plan.span,
            stream: plan.stream,
            table: if let Chosen::Table(entries) = plan.chosen { entries } else { 0 },
            negative: plan.rules.negative,
            out_of_bounds: plan.rules.out_of_bounds,
            fill: fill.as_ptr(),
            fill_len: fill.len(),
        };
        // SAFETY: the caller's promise.
        unsafe { kernel.call(&args) }
    }
}

// SAFETY: X2: threads that share a task run different parts of it; what a kernel of a map reads beside the operands is `Sync`
// too, and kernels themselves are functions.
unsafe impl<K, C> Sync for Task<'_, K, C> {}

impl<K, C: Kernel> Task<'_, K, C> {
    /// Runs the whole nest in as many tasks as the plan says.
    ///
    /// # Safety
    /// The promise of [`run`].
    #[inline(never)]
    unsafe fn run_in_parts(self) -> Verdict {
        match self.plan.tasks() {
            // SAFETY: the caller's promise.
            1 => unsafe { self.run() },
            // SAFETY: as above.
            tasks => unsafe { self.run_shared(tasks) },
        }
    }

    /// Runs the part.
    ///
    /// # Safety
    /// The promise of [`run`], for this part of the nest.
    #[inline]
    unsafe fn run(self) -> Verdict {
        if self.plan.blocked {
            // SAFETY: the caller's promise.
            return unsafe { self.run_blocked() };
        }
        // SAFETY: the caller's promise.
        unsafe { self.call() }
    }

    /// Runs the part block by block of its lanes, so that the outer loops reuse the indices of a block.
    ///
    /// # Safety
    /// The promise of [`run`], for this part of the nest.
    unsafe fn run_blocked(self) -> Verdict {
        let mut loops: SmallVec<[Loop; 6]> = SmallVec::from_slice(self.nest.loops);
        let [.., lane] = loops.as_mut_slice() else { unreachable!("a nest has at least the loop over lanes") };
        let whole = *lane;
        let mut out_of_range = false;
        for start in (0..whole.n).step_by(BLOCK) {
            if let Some(lane) = loops.last_mut() {
                lane.n = (whole.n - start).min(BLOCK);
            }
            let nest = Nest { origin: self.nest.origin.skip(&whole, start), loops: &loops, ..self.nest };
            let block = Task { nest, ..self };
            // SAFETY: a sub-range of the lanes is a part of the nest.
            out_of_range |= unsafe { block.call() }.out_of_range;
        }
        Verdict { out_of_range }
    }

    /// Calls the kernel.
    ///
    /// # Safety
    /// The promise of [`run`], for this part of the nest. It gives the kernel contract: K1 to K4 since the loops are
    /// those of the operands' layouts, folded, which reach the same elements; `data` with any index in range is an
    /// element of data, as the axes' dimensions are its own; K5 and K6 by the plan, which picks the kernel by rank and
    /// row; K7 since the plan resolved the level.
    #[inline]
    unsafe fn call(self) -> Verdict {
        // SAFETY: the kernel contract holds, as argued above.
        unsafe { self.nest.call(self.plan, self.kernel, self.fill) }
    }

    /// Runs the nest on up to `tasks` threads, piece by piece.
    ///
    /// # Safety
    /// The promise of [`run`].
    unsafe fn run_shared(self, tasks: usize) -> Verdict {
        let lengths = self.nest.loops.iter().map(|along| along.n);
        let cuts = Cuts::new(lengths, tasks.saturating_mul(PIECES));
        share(tasks, cuts.pieces(), |piece, _| {
            // SAFETY: X2: the caller's promise, for a piece that this thread alone has taken.
            unsafe { self.run_piece(&cuts, piece) }
        })
    }

    /// Runs one of the pieces that the nest is cut into.
    ///
    /// # Safety
    /// The promise of [`run`], for the piece.
    unsafe fn run_piece(&self, cuts: &Cuts, piece: usize) -> Verdict {
        let (mut loops, mut origin) = (SmallVec::<[Loop; 6]>::from_slice(self.nest.loops), self.nest.origin);
        for (d, along) in loops.iter_mut().enumerate() {
            let range = cuts.range(piece, d, along.n);
            origin = origin.skip(along, range.start);
            along.n = range.len();
        }
        let part = Task { nest: Nest { loops: &loops, origin, ..self.nest }, ..*self };
        // SAFETY: sub-ranges of the loops are a part of the nest.
        unsafe { part.run() }
    }
}
