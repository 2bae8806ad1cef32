//! The plan of an operator that rearranges space: folded loops with phases.

#![forbid(unsafe_code)]

use smallvec::SmallVec;

use crate::kernels::select::Kernels;
use crate::kernels::shaped::LARGE;
use crate::kernels::shaped::row::ShapedRow;
use crate::kernels::{BlockLoop, PADDING, SpaceEntry, Step};
use crate::plan::fold::fold_blocks;
use crate::plan::lowered::SpaceLowered;
use crate::plan::tasks::Work;
use crate::tensor::layout::{Layout, Shape};
use crate::types::element::{DType, ElementBytes};
use crate::types::error::Error;
use crate::types::level::{Available, Level};
use crate::types::method::Method;
use crate::types::op::Op;
use crate::types::policy::{Options, Par};

/// The plan of an operator that rearranges space.
///
/// Made by [`SpacePlan::new`] alone, from parameters that have been checked against the layouts of data and output.
/// So, for tensors of these layouts and of elements of the planned type:
///
/// - **P1** `origin` and `loops` of the parts reach the elements of the output, each once: those of a part that moves
///   and the elements of data that the operator reads for them, or, where a part fills, those that are padded.
/// - **P2** `entry` of a part is the kernel of `level`, of rows of `row` bytes and of the loop nest's rank, or the one
///   that fills, or, for a plan that is one call, that of its shape (K10). The length of `fill` divides `row` where a
///   part fills. There are no parts where there is nothing to write.
#[derive(Clone, Debug)]
pub(crate) struct SpacePlan {
    op: Op,
    method: Method,
    output: Shape,
    /// P1, P2. What is moved, then what is padded.
    parts: SmallVec<[SpacePart; 1]>,
    /// P2. What is padded with; empty where nothing is.
    fill: ElementBytes,
    level: Available,
    par: Par,
    /// Bytes that a call writes.
    bytes: usize,
}

/// A loop nest of a plan, and the kernel that runs it.
#[derive(Clone, Debug)]
pub(crate) struct SpacePart {
    /// P1.
    pub(crate) loops: SmallVec<[BlockLoop; 6]>,
    /// P1. From the first elements of both tensors to the first that the loops reach, in bytes.
    pub(crate) origin: Step,
    pub(crate) row: usize,
    /// Bytes that it writes.
    bytes: usize,
    /// P2.
    pub(crate) entry: &'static SpaceEntry,
}

impl SpacePart {
    /// Bytes that it writes.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    fn work(&self) -> Work {
        Work { bytes: self.bytes, rows: 0, read: 0 }
    }

    /// Whether the part is padding.
    pub(crate) fn fills(&self) -> bool {
        core::ptr::eq(self.entry, &raw const PADDING)
    }
}

impl SpacePlan {
    /// Plans a lowered operator for elements of a type and the layouts of both tensors.
    ///
    /// # Errors
    /// [`Error::LevelUnavailable`], [`Error::TooManyBytes`], [`Error::MethodUnavailable`].
    #[inline(always)]
    pub(crate) fn new(
        kernels: Kernels,
        lowered: &SpaceLowered,
        dtype: DType,
        data: &Layout,
        out: &Layout,
        options: Options,
    ) -> Result<Self, Error> {
        let level = Level::resolve(options.level)?;
        let (method, size) = (lowered.method(), dtype.size());
        let bytes = Shape::checked_bytes(&lowered.output, size)?;
        if let Some(forced) = options.method.filter(|&forced| forced != method) {
            return Err(Error::MethodUnavailable { op: lowered.op, method: forced });
        }
        let mut parts = SmallVec::new();
        let mut fill = ElementBytes::new();
        if bytes != 0 {
            let kernel = |row, rank| kernels.space_kernel(row, rank, *level);
            push_part(&mut parts, lowered.loops(data.strides(), out.strides()), size, kernel);
            if lowered.pads() {
                fill = dtype.zero()?;
                for loops in lowered.loops_of_pads(out.strides()) {
                    push_part(&mut parts, loops, size, |_, _| &PADDING);
                }
            }
        }
        let (op, output) = (lowered.op, lowered.output.clone());
        let mut plan = SpacePlan { op, method, output, parts, fill, level, par: options.par, bytes };
        if !kernels.shaped().is_empty() && options.method.is_none() {
            plan.specialize(kernels, dtype);
        }
        Ok(plan)
    }

    /// Replaces the kernel of a plan that is one call of it by one for its shape, if there is one.
    ///
    /// P2 holds for it (K10): the loops are those that the kernel's shape has for its open sizes. A plan that is cut
    /// keeps its kernel, since its pieces have other shapes.
    #[inline(never)]
    fn specialize(&mut self, kernels: Kernels, dtype: DType) {
        let [part] = self.parts.as_mut_slice() else { return };
        if part.bytes >= LARGE || !part.work().is_for_one(self.par) {
            return;
        }
        let folded: SmallVec<[BlockLoop; 6]> = part.loops.iter().copied().filter(|along| along.n > 1).collect();
        let rows = kernels.shaped().iter().filter(|row| row.takes(self.op, dtype, None));
        for shaped in rows.filter_map(ShapedRow::space) {
            // Outer loops of open sizes that are 1 have been folded away.
            let once = shaped.rank().saturating_sub(folded.len());
            let mut loops: SmallVec<[BlockLoop; 6]> = SmallVec::from_elem(BlockLoop::ONCE, once);
            loops.extend_from_slice(&folded);
            if shaped.matches(&loops, part.row) {
                if loops.is_empty() {
                    loops.push(BlockLoop::ONCE);
                }
                (part.loops, part.entry) = (loops, shaped.entry(*self.level));
                return;
            }
        }
    }

    pub(crate) fn op(&self) -> Op {
        self.op
    }

    pub(crate) fn method(&self) -> Method {
        self.method
    }

    pub(crate) fn output(&self) -> &Shape {
        &self.output
    }

    pub(crate) fn parts(&self) -> &[SpacePart] {
        &self.parts
    }

    pub(crate) fn fill(&self) -> &[u8] {
        &self.fill
    }

    pub(crate) fn level(&self) -> Level {
        *self.level
    }

    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Tasks that a part is cut into here and now, where the pool has `threads()` threads.
    #[inline]
    pub(crate) fn tasks(&self, part: &SpacePart, threads: impl FnOnce() -> usize) -> usize {
        part.work().tasks(self.par, threads)
    }
}

/// Adds a part to those of a plan, from loops with strides in elements of `size` bytes, and from what its kernel is by
/// row and rank; nothing where there is nothing to write.
#[inline(always)]
fn push_part(
    parts: &mut SmallVec<[SpacePart; 1]>,
    (loops, origin): (impl Iterator<Item = BlockLoop>, Step),
    size: usize,
    kernel: impl Fn(usize, usize) -> &'static SpaceEntry,
) {
    let (mut loops, elements) = fold_blocks(loops);
    if elements == 0 || loops.iter().any(|along| along.n == 0) {
        return;
    }
    // Strides in bytes wrap for layouts over no slice; a view's cannot overflow.
    let in_bytes = |step: Step| step.times(size as isize);
    for along in &mut loops {
        (along.step, along.wrap) = (in_bytes(along.step), in_bytes(along.wrap));
    }
    let row = elements.saturating_mul(size);
    let bytes = loops.iter().fold(row, |bytes, along| bytes.saturating_mul(along.n));
    let entry = kernel(row, loops.len());
    parts.push(SpacePart { loops, origin: in_bytes(origin), row, bytes, entry });
}
