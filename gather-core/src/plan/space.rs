//! The plan of an operator that rearranges space: folded loops with phases.

#![forbid(unsafe_code)]

use alloc::vec::Vec;

use crate::kernels::select::Kernels;
use crate::kernels::shaped::LARGE;
use crate::kernels::shaped::row::ShapedRow;
use crate::kernels::{BlockLoop, PADDING, SpaceEntry, Step};
use crate::plan::fold::BlockLoops;
use crate::plan::lowered::SpaceLowered;
use crate::plan::tasks::Work;
use crate::tensor::layout::{Layout, Shape};
use crate::types::declare::accessors;
use crate::types::element::{DType, ElementBytes};
use crate::types::error::Error;
use crate::types::level::{Available, Level};
use crate::types::method::Method;
use crate::types::op::Op;
use crate::types::policy::Par;

/// The plan of an operator that rearranges space.
///
/// Made by [`SpacePlan::make`] alone, from parameters that have been checked against the layouts of data and output.
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
    /// P1, P2. The part that moves elements.
    moved: SpacePart,
    /// P1, P2. The parts that pad.
    pads: Vec<SpacePart>,
    /// P2. The fill of the padding; empty where there is none.
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
    pub(crate) loops: BlockLoops,
    /// P1. From the first elements of both tensors to the first that the loops reach, in bytes.
    pub(crate) origin: Step,
    pub(crate) row: usize,
    /// P2. Bytes that it writes.
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

/// Bytes that a loop nest writes.
#[inline]
fn bytes(loops: &[BlockLoop], row: usize) -> usize {
    loops.iter().fold(row, |bytes, along| bytes.saturating_mul(along.n))
}

impl SpacePlan {
    /// A plan of an operator that writes nothing yet.
    #[inline(always)]
    pub(crate) fn new(lowered: &SpaceLowered, level: Available, par: Par) -> Self {
        let moved = SpacePart { loops: BlockLoops::new(), origin: Step::NONE, row: 0, bytes: 0, entry: &PADDING };
        let (op, method, fill) = (lowered.op, lowered.method(), ElementBytes::new());
        SpacePlan { op, method, moved, pads: Vec::new(), fill, level, par, bytes: 0 }
    }

    /// Plans the lowered operator, in place, for elements of a type and the layouts of both tensors.
    ///
    /// # Errors
    /// [`Error::TooManyBytes`], [`Error::MethodUnavailable`].
    pub(crate) fn make(
        &mut self,
        kernels: Kernels,
        lowered: &SpaceLowered,
        dtype: DType,
        [data, out]: [&Layout; 2],
        forced: Option<Method>,
    ) -> Result<(), Error> {
        let size = dtype.size();
        self.bytes = Shape::bytes(&lowered.output, lowered.len, size)?;
        if let Some(forced) = forced.filter(|&forced| forced != self.method) {
            return Err(Error::MethodUnavailable { op: self.op, method: forced });
        }
        if self.bytes == 0 {
            return Ok(());
        }
        let moved = &mut self.moved;
        (moved.origin, moved.row) = lowered.fold(&mut moved.loops, size, data.strides(), out.strides());
        moved.bytes = bytes(&moved.loops, moved.row);
        moved.entry = kernels.space_kernel(moved.row, moved.loops.len(), *self.level);
        if lowered.pads() {
            self.fill = dtype.zero()?;
            lowered.fold_pads(size, out.strides(), |loops, origin, row| {
                let bytes = bytes(&loops, row);
                if bytes != 0 {
                    self.pads.push(SpacePart { loops, origin, row, bytes, entry: &PADDING });
                }
            });
        }
        if !kernels.shaped().is_empty() && forced.is_none() {
            self.specialize(kernels, dtype);
        }
        Ok(())
    }

    /// Replaces the kernel of a plan that is one call of it by one for its shape, if there is one.
    ///
    /// P2 holds for it (K10): the loops are those that the kernel's shape has for its open sizes. A plan that is cut
    /// keeps its kernel, since its pieces have other shapes.
    #[inline(never)]
    fn specialize(&mut self, kernels: Kernels, dtype: DType) {
        let part = &mut self.moved;
        if !self.pads.is_empty() || part.bytes == 0 || part.bytes >= LARGE || !part.work().is_for_one(self.par) {
            return;
        }
        let folded: BlockLoops = part.loops.iter().copied().filter(|along| along.n > 1).collect();
        let rows = kernels.shaped().iter().filter(|row| row.takes(self.op, dtype, None));
        for shaped in rows.filter_map(ShapedRow::space) {
            // Outer loops of open sizes that are 1 have been folded away.
            let once = shaped.rank().saturating_sub(folded.len());
            let mut loops = BlockLoops::from_elem(BlockLoop::ONCE, once);
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

    /// The parts that write anything.
    #[inline]
    pub(crate) fn parts(&self) -> impl Iterator<Item = &SpacePart> {
        let moved = if self.moved.bytes == 0 { None } else { Some(&self.moved) };
        moved.into_iter().chain(&self.pads)
    }

    accessors! { self:
        pub(crate) fn fill() -> &[u8] => &self.fill;
        pub(crate) fn level() -> Level => *self.level;
        pub(crate) fn bytes() -> usize => self.bytes;
    }

    /// Tasks that a part is cut into here and now, where the pool has `threads()` threads.
    #[inline]
    pub(crate) fn tasks(&self, part: &SpacePart, threads: impl FnOnce() -> usize) -> usize {
        part.work().tasks(self.par, threads)
    }
}
