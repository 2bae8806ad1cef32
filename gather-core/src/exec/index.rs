//! Execution of the plan of an operator on indices.

use crate::exec::cuts::{Cuts, share};
use crate::exec::first_bad_index::{self, IndexCheck};
use crate::exec::panels::{PanelScratch, Panelled, columns_before_line};
use crate::exec::scratch::WorkerScratch;
use crate::exec::threads::{CHUNKS_PER_THREAD, pool_threads};
use crate::kernels::convert::row::DecodingJob;
use crate::kernels::remap;
use crate::kernels::{BLOCK, Cursor, IndexArgs, KernelSpec, Loop, Loops, Outcome};
use crate::plan::{Action, FewRows, IndexPlan, IndexRequest, NestPlan, Work};
use crate::tensor::layout::Layout;
use crate::tensor::output::{Resize, Target};
use crate::types::declare::accessors;
use crate::types::element::DType;
use crate::types::error::Error;
use crate::types::index::IndexType;

/// The indices of a call.
///
/// Invariant V1: values of the index type `of` may be read along `layout` from `start` on, during the borrow `'a`.
#[derive(Clone, Copy)]
pub(crate) struct Ids<'a> {
    start: *const u8,
    layout: &'a Layout,
    of: IndexType,
}

impl<'a> Ids<'a> {
    /// # Safety
    /// V1: at all coordinates of the layout, from `start` on, there are values of the index type `of`, which may be
    /// read during the borrow of the layout.
    #[inline(always)]
    pub(crate) unsafe fn new(start: *const u8, layout: &'a Layout, of: IndexType) -> Self {
        Ids { start, layout, of }
    }

    accessors! { self:
        /// The address of the index at coordinate 0.
        pub(crate) fn start() -> *const u8 => self.start;
        pub(crate) fn layout() -> &'a Layout => self.layout;
        pub(crate) fn of() -> IndexType => self.of;
    }
}

/// The tensors of a call, at coordinate 0. `O` is the output: a [`Target`], a tensor to resize, or memory.
///
/// Invariant: the contract of [`Operands::new`]. A run also needs a plan for these layouts (X1).
#[derive(Clone, Copy)]
pub(crate) struct Operands<'a, O = *mut u8> {
    out: O,
    inputs: Inputs<'a>,
}

#[derive(Clone, Copy)]
struct Inputs<'a> {
    data: *const u8,
    data_layout: &'a Layout,
    ids: Ids<'a>,
    /// The address of `ConversionArgs` (K8); null without a conversion.
    params: *const (),
    /// Bytes of an element of the output.
    #[cfg(debug_assertions)]
    size: usize,
}

impl<'a, O> Operands<'a, O> {
    /// The tensors of a call without params: data, indices with their type, the output, and the output's data type.
    ///
    /// # Safety
    /// V1, V3: data has elements of the type that the call reads, and `start` has indices of type `of`, at all
    /// coordinates of their layouts. Both may be read during the borrow of the layouts. (A run of a dynamic
    /// [`Prepared`](super::Prepared) replaces the size of the first dimension of indices by its argument `count`.) O1:
    /// the output takes elements of type `dtype`. Its memory may be written at all coordinates of its layout, no two of
    /// which share a byte. It overlaps neither data nor indices.
    #[inline(always)]
    #[cfg_attr(not(debug_assertions), allow(unused_variables, reason = "builds with debug assertions compare it"))]
    pub(crate) unsafe fn new(
        (data, data_layout): (*const u8, &'a Layout),
        (start, layout, of): (*const u8, &'a Layout, IndexType),
        out: O,
        dtype: DType,
    ) -> Self {
        let inputs = Inputs {
            data,
            data_layout,
            ids: Ids { start, layout, of },
            params: core::ptr::null(),
            #[cfg(debug_assertions)]
            size: dtype.size(),
        };
        Operands { out, inputs }
    }

    /// Asserts, in debug builds, that the operands have the types of a plan.
    #[inline(always)]
    #[cfg_attr(not(debug_assertions), allow(unused_variables, reason = "builds with debug assertions compare them"))]
    pub(crate) fn debug_check(&self, index: IndexType, dtype: DType) {
        debug_assert_eq!(index, self.inputs.ids.of, "X1");
        #[cfg(debug_assertions)]
        debug_assert_eq!(dtype.size(), self.inputs.size, "X1");
    }

    #[inline(always)]
    pub(crate) fn data(&self) -> (*const u8, &'a Layout) {
        (self.inputs.data, self.inputs.data_layout)
    }

    #[inline(always)]
    pub(crate) fn indices(&self) -> (&'a Layout, IndexType) {
        (self.inputs.ids.layout, self.inputs.ids.of)
    }

    /// Replaces the indices, for example by positions. The output is borrowed mutably, so it does not overlap them.
    #[inline(always)]
    pub(crate) fn by(self, ids: Ids<'a>) -> Self {
        Operands { inputs: Inputs { ids, ..self.inputs }, ..self }
    }

    /// Sets the params of a conversion. The contract of the run covers the params (K8).
    #[inline(always)]
    pub(crate) fn given(self, params: *const ()) -> Self {
        Operands { inputs: Inputs { params, ..self.inputs }, ..self }
    }
}

impl<'a, 'o> Operands<'a, Target<'o>> {
    accessors! { self:
        /// The indices, along the layout given to [`Operands::new`]. Before a caller runs a plan for any count, it
        /// compares that layout with the planned layout: the first dimension may have another size.
        pub(crate) fn ids() -> Ids<'a> => self.inputs.ids;
        pub(crate) fn out_layout() -> Option<&Layout> => self.out.layout();
        pub(crate) fn out() -> &Target<'o> => &self.out;
    }

    /// `Ok` with the layout of a fixed output, or `Err` with a tensor that takes the result's shape.
    #[inline(always)]
    pub(crate) fn fixed(self) -> Result<(Operands<'a>, &'o Layout), Operands<'a, &'o mut dyn Resize>> {
        let Operands { out, inputs } = self;
        match out {
            Target::Fixed(out, layout) => Ok((Operands { out, inputs }, layout)),
            Target::Resized(out) => Err(Operands { out, inputs }),
        }
    }

    /// Calls `run` on the memory of a fixed output, or on a new row-major result of the shape and length from `fresh`.
    ///
    /// # Errors
    /// From `run` if the output is fixed. Otherwise from `fresh`, [`Error::AllocationFailed`], then from `run`.
    #[inline(always)]
    pub(crate) fn write<'s>(
        self,
        fresh: impl FnOnce() -> Result<(&'s [usize], usize), Error>,
        run: impl FnOnce(Operands<'a>) -> Result<Written, Error>,
    ) -> Result<(), Error> {
        match self.fixed() {
            Ok((operands, _)) => run(operands).map(Written::all),
            Err(operands) => {
                let (shape, len) = fresh()?;
                operands.fill(shape, len, run)
            }
        }
    }
}

impl<'a> Operands<'a> {
    /// The address of the output.
    #[inline(always)]
    pub(crate) fn memory(&self) -> *const u8 {
        self.out
    }

    #[inline(always)]
    fn origin(&self) -> Cursor {
        Cursor { out: self.out, data: self.inputs.data, index: self.inputs.ids.start }
    }

    /// The error of an incomplete run of a plan on these operands.
    ///
    /// # Safety
    /// X1: the plan was made for the layout and the type of the indices.
    #[inline(always)]
    pub(super) unsafe fn first_bad_index(self, plan: &IndexPlan) -> Error {
        let ids = self.inputs.ids;
        debug_assert_eq!(plan.index(), ids.of, "X1");
        // SAFETY: X1 by the caller's contract.
        unsafe { first_bad_index_of(plan, ids) }
    }

    /// The layout of the indices with `count` as the size of the first dimension. Indices of a plan for any count have
    /// a first dimension.
    ///
    /// # Errors
    /// [`Error::TooManyElements`].
    pub(super) fn resized(&self, count: usize) -> Result<Layout, Error> {
        self.inputs.ids.layout.resized(count).expect("indices with a free dimension")
    }

    /// Replaces the layout of the indices.
    ///
    /// # Safety
    /// V1: the indices have this layout, which differs from the old one at most in the size of the first dimension.
    pub(super) unsafe fn with_layout<'b>(self, layout: &'b Layout) -> Operands<'b>
    where
        'a: 'b,
    {
        self.by(Ids { layout, ..self.inputs.ids })
    }
}

impl<'a> Operands<'a, &mut dyn Resize> {
    /// Makes the output a row-major result of shape `shape`, whose `len` elements `run` writes.
    ///
    /// # Errors
    /// [`Error::AllocationFailed`], then from `run`.
    #[inline(always)]
    pub(crate) fn fill(
        self,
        shape: &[usize],
        len: usize,
        run: impl FnOnce(Operands<'a>) -> Result<Written, Error>,
    ) -> Result<(), Error> {
        let Operands { out, inputs } = self;
        let run = |out: *mut u8| {
            // Makes tests see a row that a kernel skips.
            #[cfg(debug_assertions)]
            // SAFETY: O1: the tensor has reserved memory for `len` elements of the output's type.
            unsafe {
                out.write_bytes(0xA5, len * inputs.size);
            }
            let written = run(Operands { out, inputs })?;
            written.debug_check(out, len);
            Ok(())
        };
        // SAFETY: X3: `run` returned a `Written` of these operands, so all `len` elements are written. Callers pass the
        // number of elements of `shape` as `len`.
        unsafe { out.fill(shape, len, run) }
    }
}

/// Proof of X3: a run has written every element of the output of its operands.
pub(crate) struct Written {
    /// The address of the output, if it has elements.
    #[cfg(debug_assertions)]
    out: Option<*const u8>,
}

impl Written {
    /// The proof for an output without elements.
    pub(super) const NOTHING: Written = Written {
        #[cfg(debug_assertions)]
        out: None,
    };

    /// The proof for an output at address `out`, if the outcome of the kernels that write this output is complete.
    #[inline(always)]
    #[cfg_attr(not(debug_assertions), allow(unused_variables, reason = "builds with debug assertions compare it"))]
    pub(super) fn by(outcome: Outcome, out: *const u8) -> Option<Self> {
        outcome.is_complete().then_some(Written {
            #[cfg(debug_assertions)]
            out: Some(out),
        })
    }

    /// Checks that the proof is for the output at `out` of `len` elements.
    #[inline(always)]
    #[cfg_attr(not(debug_assertions), allow(unused_variables, reason = "there is nothing to compare with"))]
    fn debug_check(&self, out: *const u8, len: usize) {
        #[cfg(debug_assertions)]
        debug_assert!(len == 0 || self.out == Some(out), "X3: the run of another output");
    }

    #[inline(always)]
    pub(crate) fn all(self) {}
}

/// The index of tuples without components: kernels resolve it to position 0 of `NO_COMPONENT`.
pub(super) static NO_INDEX: u64 = 0;

/// Runs a plan.
///
/// # Errors
/// [`Error::AllocationFailed`] for the scratch of panels and of decoded rows. [`Error::IndexOutOfRange`] for the first
/// index out of range in row-major order, under `OutOfBounds::Error`, or under `Clamp` and `Wrap` on an axis without
/// elements; the output then holds moved elements and old contents in an unspecified mix.
///
/// # Safety
/// X1: the plan was made for the layouts and types of the operands, and for the layout of their output. K8, for a plan
/// that converts: data and output are aligned for the types of the conversion. The params point to the plan's
/// `ConversionArgs`; they are null without a conversion. Threads may share the params, and the params have the values
/// that K8 asks for.
#[inline(always)]
pub(crate) unsafe fn run(plan: &IndexPlan, operands: Operands<'_>) -> Result<Written, Error> {
    if plan.is_whole() {
        // SAFETY: X1 and K8 by the caller's contract; `is_whole` has just been checked.
        return unsafe { call(plan, operands) };
    }
    // SAFETY: X1 and K8 by the caller's contract; loops and work are the plan's.
    unsafe { run_in_parts(plan, plan.loops(), plan.work(), operands) }
}

/// [`run`] for a plan that is one call of its kernel.
///
/// # Errors
/// [`Error::IndexOutOfRange`], as for [`run`].
///
/// # Safety
/// X1 and K8 as for [`run`]. The plan is whole ([`IndexPlan::is_whole`]).
#[inline(always)]
pub(crate) unsafe fn call(plan: &IndexPlan, operands: Operands<'_>) -> Result<Written, Error> {
    debug_assert!(plan.is_whole());
    // SAFETY: X1 and K8 by the caller's contract; the loops are the plan's.
    let outcome = unsafe { IndexPart::new(plan, plan.loops(), operands) }.call();
    // SAFETY: X1: the plan has just run on these operands.
    Written::by(outcome, operands.out).ok_or_else(|| unsafe { operands.first_bad_index(plan) })
}

/// Moves a few rows.
///
/// # Errors
/// [`Error::IndexOutOfRange`], as [`run`].
///
/// # Safety
/// X1: `rows` was made of `request` and of the operands' layouts. The operands have the request's types, and their
/// output is row-major, of the shape from
/// [`LeadingAxes::output_shape`](crate::plan::LeadingAxes::output_shape). K8 as for [`run`], if the request converts.
#[inline(always)]
pub(crate) unsafe fn run_few_rows(
    rows: &FewRows,
    request: &IndexRequest,
    operands: Operands<'_>,
) -> Result<Written, Error> {
    let Operands { out, inputs: Inputs { data, data_layout, ids, params, .. } } = operands;
    let (index, shape) = (ids.start, data_layout.shape());
    let mut spec = KernelSpec::new(rows.method, rows.level, request.policy);
    if request.policy.fills() {
        spec.fill = request.dtype.zero()?;
    }
    rows.complete(&mut spec, request, shape);
    let inner = rows.inner(request);
    let (origin, loops) = (Cursor { out, data, index }, core::slice::from_ref(&inner));
    // SAFETY: X1 and K8 by the caller's contract; P1 and P2 of `FewRows` give the other clauses of the kernel contract,
    // as in `IndexPart::new`.
    let args = unsafe { IndexArgs::new(&spec, origin, loops, rows.stride(), params) };
    // SAFETY: P2: `FewRows::of` selected the kernel by the width, the index type and the level of the rows.
    let outcome = unsafe { (rows.kernel)(&args) };
    if let Some(written) = Written::by(outcome, out) {
        return Ok(written);
    }
    let (axes, IndexRequest { op, policy, index: index_type, .. }) = (rows.axes(shape), *request);
    let checked = IndexCheck { op, axes: &axes, policy, index: index_type, skips_negative: false };
    debug_assert_eq!(index_type, ids.of);
    // SAFETY: V1: the operands' indices may be read along their layout, as values of the request's index type.
    Err(unsafe { first_bad_index::find(&checked, index, ids.layout) })
}

/// The error of an incomplete run: [`Error::IndexOutOfRange`] for the first index out of range. Takes `Ids`: to pass
/// operands, the inlined public functions would have to write them to the stack.
///
/// # Safety
/// X1: the plan was made for the layout and the type of these indices.
#[cold]
unsafe fn first_bad_index_of(plan: &IndexPlan, ids: Ids<'_>) -> Error {
    // SAFETY: V1: `ids` may be read along their layout, and have the plan's type (X1).
    unsafe { first_bad_index::find(&index_check(plan), ids.start, ids.layout) }
}

pub(super) fn index_check(plan: &NestPlan) -> IndexCheck<'_> {
    IndexCheck {
        op: plan.op(),
        axes: plan.axes(),
        policy: plan.spec().policy,
        index: plan.index(),
        skips_negative: false,
    }
}

/// [`run`] over `loops` of cost `work`, in any number of calls of the kernel. `loops` are the plan's loops, or the
/// plan's loops with another size of the dynamic loop.
///
/// # Safety
/// X1 and K8 as for [`run`], with `loops` in place of the plan's: `loops` reach coordinates of the operands' layouts.
#[inline(never)]
pub(super) unsafe fn run_in_parts(
    plan: &IndexPlan,
    loops: &[Loop],
    work: Work,
    mut operands: Operands<'_>,
) -> Result<Written, Error> {
    if plan.action() == Action::Nothing {
        return Ok(Written::NOTHING);
    }
    if plan.action() == Action::Check {
        let Ids { start, layout, .. } = operands.inputs.ids;
        // SAFETY: V1: the operands' indices may be read along their layout; their index type is the plan's (X1).
        unsafe { first_bad_index::check(&index_check(plan), start, layout) }?;
        return Ok(Written::NOTHING);
    }
    if plan.axes().is_empty() {
        operands.inputs.ids.start = (&raw const NO_INDEX).cast();
    }
    let tasks = plan.tasks(work, pool_threads);
    let outcome = if let Some(panels) = plan.panels() {
        let skipped = columns_before_line(plan, loops, panels, operands.out);
        let scratch = PanelScratch::new(plan, loops, panels, tasks, skipped)?;
        let origin = operands.origin();
        let (kernel, params) = (plan.kernel(), core::ptr::null());
        let panelled = Panelled { plan, loops, panels, origin, kernel, params, unpacks: false, scratch };
        // SAFETY: X1 by the caller's contract; panels and kernel are the plan's, and the scratch was made for these
        // loops and panels. A plan with panels converts nothing (K8).
        unsafe { panelled.run() }
    } else {
        let scratch = WorkerScratch::of_rows(plan, tasks)?;
        // SAFETY: X1 and K8 for the plan with these loops, by the caller's contract.
        let part = unsafe { IndexPart::new(plan, loops, operands) };
        if tasks == 1 { part.run_in(scratch.as_ref(), 0) } else { part.run_shared(tasks, scratch.as_ref()) }
    };
    // SAFETY: X1: the plan has just run on these operands.
    Written::by(outcome, operands.out).ok_or_else(|| unsafe { operands.first_bad_index(plan) })
}

/// A chunk of a plan's loop nest: the same kernel over fewer iterations. The kernel contract holds for `args`.
#[derive(Clone, Copy)]
pub(super) struct IndexPart<'a> {
    plan: &'a IndexPlan,
    args: IndexArgs<'a>,
}

// SAFETY: X2: threads run disjoint chunks. Besides the tensors, kernels read only the params, which threads may share
// (K8), and a worker's own scratch (R1).
unsafe impl Sync for IndexPart<'_> {}

impl<'a> IndexPart<'a> {
    /// The whole loop nest of a plan, with loops `loops`.
    ///
    /// # Safety
    /// X1 and K8 as for [`run`], for the plan with these loops. The kernel contract follows: K1, K3 and K4 since the
    /// loops belong to the operands' layouts (P1, X1); K2 since every position in range names an element of data, as
    /// the axes' sizes are data's; K5 to K7, K9 and K10 by the plan (P2): a plan with a kernel of a declared shape is
    /// never cut; K8 by the contract of [`run`].
    #[inline(always)]
    pub(super) unsafe fn new(plan: &'a IndexPlan, loops: &'a [Loop], operands: Operands<'_>) -> Self {
        let (origin, params) = (operands.origin(), operands.inputs.params);
        // SAFETY: the kernel contract, as argued above.
        let args = unsafe { IndexArgs::new(plan.spec(), origin, loops, plan.stride(), params) };
        IndexPart { plan, args }
    }

    /// Runs the chunk as a worker, which decodes rows in its scratch if the plan decodes rows.
    #[inline]
    fn run_in(self, scratch: Option<&WorkerScratch<'_>>, worker: usize) -> Outcome {
        let (Some(decoded), Some(scratch)) = (self.plan.decoded(), scratch) else { return self.run() };
        // SAFETY: K8: arguments and `decoded` are of the plan that the scratch was made for, and the params of its runs
        // are `DecodedRowParams`; no other worker uses these lines (R1).
        let job = unsafe { DecodingJob::new(&self.args, *decoded, scratch.of(worker)) };
        let args = job.args();
        // SAFETY: K8: the params of a kernel that decodes rows are `ConversionArgs` of a `DecodingJob`.
        let args = unsafe { self.args.given((&raw const args).cast()) };
        IndexPart { plan: self.plan, args }.run()
    }

    #[inline]
    fn run(self) -> Outcome {
        if self.plan.is_blocked() { self.run_blocked() } else { self.call_remapped() }
    }

    /// Runs the chunk block by block of its inner loop, so that the outer loops reuse a block's indices.
    fn run_blocked(self) -> Outcome {
        let (mut loops, last, n) = (Loops::new(), self.args.loops().len() - 1, self.args.inner().n);
        let mut outcome = Outcome::NOTHING;
        for start in (0..n).step_by(BLOCK) {
            let range = |depth, n| if depth == last { start..(start + BLOCK).min(n) } else { 0..n };
            outcome =
                outcome.and(IndexPart { plan: self.plan, args: self.args.part(&mut loops, range) }.call_remapped());
        }
        outcome
    }

    /// Calls the kernel of a plan that does not remap.
    #[inline(always)]
    pub(super) fn call(self) -> Outcome {
        debug_assert!(!self.plan.remaps());
        // SAFETY: P2, as for `call_remapped`.
        unsafe { self.plan.kernel()(&self.args) }
    }

    /// Calls the kernel, on remapped indices if the policy remaps.
    fn call_remapped(self) -> Outcome {
        // SAFETY: P2: the kernel has the rank, the width, the index type and the method of the plan. The loops are the
        // plan's, or a subset of their iterations.
        unsafe { remap::call(self.plan.kernel(), self.plan.index(), &self.args) }
    }

    /// Runs the nest on up to `tasks` threads, chunk by chunk.
    fn run_shared(self, tasks: usize, scratch: Option<&WorkerScratch<'_>>) -> Outcome {
        let lengths = self.args.loops().iter().map(|along| along.n);
        let cuts = Cuts::new(lengths, tasks.saturating_mul(CHUNKS_PER_THREAD));
        let part = &self;
        share(tasks, cuts.chunks(), |chunk, worker| {
            let mut loops = Loops::new();
            let args = part.args.part(&mut loops, |depth, n| cuts.range(chunk, depth, n));
            IndexPart { plan: part.plan, args }.run_in(scratch, worker)
        })
    }
}
