//! Running the plan of an operator on indices.

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
/// Invariant V1: from `start` on they may be read along `layout` as values of the index type `of`, as long as they are
/// borrowed.
#[derive(Clone, Copy)]
pub(crate) struct Ids<'a> {
    start: *const u8,
    layout: &'a Layout,
    of: IndexType,
}

impl<'a> Ids<'a> {
    /// # Safety
    /// From `start` on there are values of the index type `of` at all coordinates of the layout, which may be read as
    /// long as the layout is borrowed (V1).
    #[inline(always)]
    pub(crate) unsafe fn new(start: *const u8, layout: &'a Layout, of: IndexType) -> Self {
        Ids { start, layout, of }
    }

    accessors! { self:
        /// The address of the index at coordinate 0.
        pub(crate) fn start() -> *const u8 => self.start;
        pub(crate) fn layout() -> &'a Layout => self.layout;
        /// The index type.
        pub(crate) fn of() -> IndexType => self.of;
    }
}

/// The tensors of a call, at coordinate 0. `O` is where results go: a [`Target`], a tensor that takes their shape, or
/// memory that is there.
///
/// Invariant: what [`Operands::new`] asks for. A run asks besides that its plan was made for these layouts (X1).
#[derive(Clone, Copy)]
pub(crate) struct Operands<'a, O = *mut u8> {
    out: O,
    inputs: Inputs<'a>,
}

/// The inputs of a call.
#[derive(Clone, Copy)]
struct Inputs<'a> {
    data: *const u8,
    data_layout: &'a Layout,
    ids: Ids<'a>,
    /// The parameters of what converts, as the call gives them (K8); null where nothing converts.
    params: *const (),
    /// Bytes of an element that the call makes.
    #[cfg(debug_assertions)]
    size: usize,
}

impl<'a, O> Operands<'a, O> {
    /// The tensors of a call that gives nothing to what converts: data and indices with their layouts, indices with
    /// their type, and the output; and the type that the call makes.
    ///
    /// # Safety
    /// V1, V3: at all coordinates of its layout data has elements of the type that the call reads, and there are
    /// indices of their type at those of theirs, all of which may be read as long as the layouts are borrowed. (Where a
    /// dynamic [`Prepared`](super::Prepared) runs, it is told the size of the first dimension of indices, whatever the
    /// layout says.) O1: the output takes elements of the type that the call makes; memory may be written at all
    /// coordinates of its layout, no two of which share a byte. It overlaps neither data nor indices.
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

    /// Checks that a plan of these types is one for such operands.
    #[inline(always)]
    #[cfg_attr(not(debug_assertions), allow(unused_variables, reason = "builds with debug assertions compare them"))]
    pub(crate) fn debug_check(&self, index: IndexType, dtype: DType) {
        debug_assert_eq!(index, self.inputs.ids.of, "X1");
        #[cfg(debug_assertions)]
        debug_assert_eq!(dtype.size(), self.inputs.size, "X1");
    }

    /// The address of data, and its layout.
    #[inline(always)]
    pub(crate) fn data(&self) -> (*const u8, &'a Layout) {
        (self.inputs.data, self.inputs.data_layout)
    }

    /// The layout of indices, and their type.
    #[inline(always)]
    pub(crate) fn indices(&self) -> (&'a Layout, IndexType) {
        (self.inputs.ids.layout, self.inputs.ids.of)
    }

    /// The same by other indices: positions in place of indices. The output, being borrowed mutably, does not overlap
    /// them.
    #[inline(always)]
    pub(crate) fn by(self, ids: Ids<'a>) -> Self {
        Operands { inputs: Inputs { ids, ..self.inputs }, ..self }
    }

    /// With what is given for the parameters of what converts: a run says what they are (K8).
    #[inline(always)]
    pub(crate) fn given(self, params: *const ()) -> Self {
        Operands { inputs: Inputs { params, ..self.inputs }, ..self }
    }
}

impl<'a, 'o> Operands<'a, Target<'o>> {
    accessors! { self:
        /// The indices: no plan for any count runs on what a target is for before their layout has been compared.
        pub(crate) fn ids() -> Ids<'a> => self.inputs.ids;
        /// The layout of a fixed output.
        pub(crate) fn out_layout() -> Option<&Layout> => self.out.layout();
        /// The output.
        pub(crate) fn out() -> &Target<'o> => &self.out;
    }

    /// With memory that is there and its layout, or with the tensor that takes the shape of the result.
    #[inline(always)]
    pub(crate) fn fixed(self) -> Result<(Operands<'a>, &'o Layout), Operands<'a, &'o mut dyn Resize>> {
        let Operands { out, inputs } = self;
        match out {
            Target::Fixed(out, layout) => Ok((Operands { out, inputs }, layout)),
            Target::Resized(out) => Err(Operands { out, inputs }),
        }
    }

    /// Runs on the memory of a fixed output, or on that of a row-major result of the shape and length that `fresh`
    /// says.
    ///
    /// # Errors
    /// For a fixed output those of `run`, else those of `fresh`, [`Error::AllocationFailed`], then those of `run`.
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

    /// The tensors at coordinate 0.
    #[inline(always)]
    fn origin(&self) -> Cursor {
        Cursor { out: self.out, data: self.inputs.data, index: self.inputs.ids.start }
    }

    /// The error of a run of a plan on these operands that is not complete.
    #[inline(always)]
    pub(super) fn first_bad_index(self, plan: &IndexPlan) -> Error {
        let ids = self.inputs.ids;
        debug_assert_eq!(plan.index(), ids.of);
        first_bad_index_of(plan, ids)
    }

    /// The layout of indices with a size of its first dimension, which it has.
    ///
    /// # Errors
    /// [`Error::TooManyElements`].
    pub(super) fn resized(&self, count: usize) -> Result<Layout, Error> {
        self.inputs.ids.layout.resized(count).expect("indices with a free dimension")
    }

    /// The same with another layout of the indices.
    ///
    /// # Safety
    /// V1: the indices have this layout: that of before, with the size that a run was told.
    pub(super) unsafe fn with_layout<'b>(self, layout: &'b Layout) -> Operands<'b>
    where
        'a: 'b,
    {
        self.by(Ids { layout, ..self.inputs.ids })
    }
}

impl<'a> Operands<'a, &mut dyn Resize> {
    /// Makes the output a row-major result of a shape of `len` elements, which `run` writes.
    ///
    /// # Errors
    /// [`Error::AllocationFailed`], then those of `run`.
    #[inline(always)]
    pub(crate) fn fill(
        self,
        shape: &[usize],
        len: usize,
        run: impl FnOnce(Operands<'a>) -> Result<Written, Error>,
    ) -> Result<(), Error> {
        let Operands { out, inputs } = self;
        let run = |out: *mut u8| {
            // A row that a kernel leaves out is seen by tests.
            #[cfg(debug_assertions)]
            // SAFETY: O1: the tensor has given memory for `len` elements of the type that the call makes.
            unsafe {
                out.write_bytes(0xA5, len * inputs.size);
            }
            let written = run(Operands { out, inputs })?;
            written.debug_check(out, len);
            Ok(())
        };
        // SAFETY: X3: who returns a `Written` has run on these operands, and so has written all `len` elements.
        unsafe { out.fill(shape, len, run) }
    }
}

/// X3: a run has written every element of the output of its operands.
pub(crate) struct Written {
    /// Where that is, if it has elements.
    #[cfg(debug_assertions)]
    out: Option<*const u8>,
}

impl Written {
    /// Of an output without elements.
    pub(super) const NOTHING: Written = Written {
        #[cfg(debug_assertions)]
        out: None,
    };

    /// The output that begins at an address, if the kernels that were to write it are complete.
    #[inline(always)]
    #[cfg_attr(not(debug_assertions), allow(unused_variables, reason = "builds with debug assertions compare it"))]
    pub(super) fn by(outcome: Outcome, out: *const u8) -> Option<Self> {
        outcome.is_complete().then_some(Written {
            #[cfg(debug_assertions)]
            out: Some(out),
        })
    }

    /// Checks that this is of a run on an output, which has `len` elements.
    #[inline(always)]
    #[cfg_attr(not(debug_assertions), allow(unused_variables, reason = "there is nothing to compare with"))]
    fn debug_check(&self, out: *const u8, len: usize) {
        #[cfg(debug_assertions)]
        debug_assert!(len == 0 || self.out == Some(out), "X3: the run of another output");
    }

    /// Forgets that.
    #[inline(always)]
    pub(crate) fn all(self) {}
}

/// The address of the indices of tuples without components.
pub(super) static NO_INDEX: u64 = 0;

/// Runs a plan.
///
/// # Errors
/// [`Error::AllocationFailed`] for the scratch of panels and of rows that are decoded. [`Error::IndexOutOfRange`] for
/// the first such index in row-major order, under `OutOfBounds::Error` or on an axis without elements; the output then
/// holds moved elements, or what it held before, in an unspecified mix.
///
/// # Safety
/// X1: the plan was made for the layouts and types of the operands, and for the layout of their output. For the plan of
/// a map: data and output are aligned for its types, and what is given are lookups of its parameters, which threads may
/// share and which reach a value for every position along the axis, or the `Quantized` of block-quantised data (K8).
#[inline(always)]
pub(crate) unsafe fn run(plan: &IndexPlan, operands: Operands<'_>) -> Result<Written, Error> {
    if plan.is_whole() {
        // SAFETY: X1: the plan is one of these operands; a call is one call of the kernel, as just checked.
        return unsafe { call(plan, operands) };
    }
    // SAFETY: X1: the plan is one of these operands, and the loops and their cost are its own.
    unsafe { run_in_parts(plan, plan.loops(), plan.work(), operands) }
}

/// As [`run`], for a plan that is one call of its kernel.
///
/// # Errors
/// [`Error::IndexOutOfRange`], as there.
///
/// # Safety
/// X1 as for [`run`].
#[inline(always)]
pub(crate) unsafe fn call(plan: &IndexPlan, operands: Operands<'_>) -> Result<Written, Error> {
    debug_assert!(plan.is_whole());
    // SAFETY: X1: the part is the whole loop nest of a plan of these operands.
    let outcome = unsafe { IndexPart::new(plan, plan.loops(), operands) }.call();
    Written::by(outcome, operands.out).ok_or_else(|| operands.first_bad_index(plan))
}

/// Moves a few rows.
///
/// # Errors
/// [`Error::IndexOutOfRange`], as [`run`].
///
/// # Safety
/// X1: the rows were found by this request in the layouts of the operands, whose types are the request's; their output
/// is row-major, of the shape that [`LeadingAxes::output_shape`](crate::plan::LeadingAxes::output_shape) gives.
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
    // SAFETY: the kernel contract holds as for `Part::call`: loop, spec and kernel are those of the layouts (P1, P2).
    let args = unsafe { IndexArgs::new(&spec, origin, loops, rows.stride(), params) };
    // SAFETY: the kernel was found for the width, the index type and the level of these rows (P2).
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

/// The error of a run that is not complete: [`Error::IndexOutOfRange`] for the first missing index. It takes indices of
/// the plan's type and not operands, which the public functions would have to store.
#[cold]
fn first_bad_index_of(plan: &IndexPlan, ids: Ids<'_>) -> Error {
    // SAFETY: V1: there are indices of this type along the layout.
    unsafe { first_bad_index::find(&index_check(plan), ids.start, ids.layout) }
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
/// X1 as for [`run`], with the loops in place of the plan's: they reach coordinates of the operands' layouts.
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
        // SAFETY: X1: the loops are those of a plan of these operands, whose panels and kernel these are.
        unsafe { panelled.run() }
    } else {
        let scratch = WorkerScratch::of_rows(plan, tasks)?;
        // SAFETY: X1 for the plan with these loops.
        let part = unsafe { IndexPart::new(plan, loops, operands) };
        if tasks == 1 { part.run_in(scratch.as_ref(), 0) } else { part.run_shared(tasks, scratch.as_ref()) }
    };
    Written::by(outcome, operands.out).ok_or_else(|| operands.first_bad_index(plan))
}

/// A part of a plan's loop nest: the same kernel over fewer iterations from a later origin. It carries the kernel
/// contract.
#[derive(Clone, Copy)]
pub(super) struct IndexPart<'a> {
    plan: &'a IndexPlan,
    args: IndexArgs<'a>,
}

// SAFETY: X2: threads that share a part run different parts of it. What a kernel reads beside the operands, a map's
// lookups, may be shared between threads, as the operands of a plan promise.
unsafe impl Sync for IndexPart<'_> {}

impl<'a> IndexPart<'a> {
    /// The whole loop nest of a plan, with its loops.
    ///
    /// # Safety
    /// X1 for the plan with these loops. It gives the kernel contract: K1, K3 and K4 since the loops are those of the
    /// operands' layouts (P1, X1); K2 since any position in range is an element of data, as the axes' sizes are its
    /// own; K5 to K7 and K9 by the plan (P2); K8 by the promise about maps.
    #[inline(always)]
    pub(super) unsafe fn new(plan: &'a IndexPlan, loops: &'a [Loop], operands: Operands<'_>) -> Self {
        let (origin, params) = (operands.origin(), operands.inputs.params);
        // SAFETY: the kernel contract, as argued above.
        let args = unsafe { IndexArgs::new(plan.spec(), origin, loops, plan.stride(), params) };
        IndexPart { plan, args }
    }

    /// Runs the part as a worker, which decodes rows in its scratch, if the plan decodes rows.
    #[inline]
    fn run_in(self, scratch: Option<&WorkerScratch<'_>>, worker: usize) -> Outcome {
        let (Some(decoded), Some(scratch)) = (self.plan.decoded(), scratch) else { return self.run() };
        // SAFETY: K8: the arguments and the rows are those of the plan, for which the scratch was made; the worker has
        // its lines alone (R1).
        let job = unsafe { DecodingJob::new(&self.args, *decoded, scratch.of(worker)) };
        let args = job.args();
        // SAFETY: K8: the parameters of a kernel that decodes rows.
        let args = unsafe { self.args.given((&raw const args).cast()) };
        IndexPart { plan: self.plan, args }.run()
    }

    /// Runs the part.
    #[inline]
    fn run(self) -> Outcome {
        if self.plan.is_blocked() { self.run_blocked() } else { self.call_remapped() }
    }

    /// Runs the part block by block of its inner loop, so that the outer loops come back to the indices of a block.
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

    /// Calls the kernel, on remapped indices if the policy says so.
    fn call_remapped(self) -> Outcome {
        // SAFETY: P2: the kernel is that of the rank, the width, the index type and the method of the plan, whose loops
        // these are, or some of their iterations.
        unsafe { remap::call(self.plan.kernel(), self.plan.index(), &self.args) }
    }

    /// Runs the part on up to `tasks` threads, piece by piece.
    fn run_shared(self, tasks: usize, scratch: Option<&WorkerScratch<'_>>) -> Outcome {
        let lengths = self.args.loops().iter().map(|along| along.n);
        let cuts = Cuts::new(lengths, tasks.saturating_mul(CHUNKS_PER_THREAD));
        let part = &self;
        share(tasks, cuts.pieces(), |piece, worker| {
            let mut loops = Loops::new();
            let args = part.args.part(&mut loops, |depth, n| cuts.range(piece, depth, n));
            IndexPart { plan: part.plan, args }.run_in(scratch, worker)
        })
    }
}
