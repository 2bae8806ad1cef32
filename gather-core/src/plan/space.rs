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
/// Made by [`SpacePlan::make`] alone, from attributes that have been checked against the layouts of data and output.
/// So, for tensors of these layouts and of elements of the planned type:
///
/// - **P1** `origin` and `loops` of the parts reach the elements of the output, each once. The part that moves also
///   reaches the elements of data that the operator reads; the parts that fill reach the padding.
/// - **P2** `entry` of a part is the kernel of `level`, of rows of `row` bytes and of the loop nest's rank, or the
///   kernel that fills, or, for a plan that is one call, the kernel of its shape (K10). The length of `fill` divides
///   `row` of a part that fills. There are no parts if there is nothing to write.
#[derive(Clone, Debug)]
pub(crate) struct SpacePlan {
    op: Op,
    method: Method,
    /// P1, P2. The part that moves elements.
    moved: SpacePart,
    /// P1, P2. The parts that pad.
    pads: Vec<SpacePart>,
    /// P2. The fill of the padding; empty if there is no padding.
    fill: ElementBytes,
    level: Available,
    par: Par,
    bytes: usize,
}

/// A loop nest of a plan, and the kernel that runs it.
#[derive(Clone, Debug)]
pub(crate) struct SpacePart {
    /// P1.
    pub(crate) loops: BlockLoops,
    /// P1. From coordinate 0 of both tensors to the first elements that the loops reach, in bytes.
    pub(crate) origin: Step,
    pub(crate) row: usize,
    /// P2. Bytes that the part writes.
    bytes: usize,
    /// P2.
    pub(crate) entry: &'static SpaceEntry,
}

impl SpacePart {
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    fn work(&self) -> Work {
        Work { bytes: self.bytes, rows: 0, read: 0 }
    }

    pub(crate) fn fills(&self) -> bool {
        core::ptr::eq(self.entry, &raw const PADDING)
    }
}

#[inline]
fn bytes(loops: &[BlockLoop], row: usize) -> usize {
    loops.iter().fold(row, |bytes, along| bytes.saturating_mul(along.n))
}

impl SpacePlan {
    /// A plan that writes nothing yet.
    #[inline(always)]
    pub(crate) fn new(lowered: &SpaceLowered, level: Available, par: Par) -> Self {
        let moved = SpacePart { loops: BlockLoops::new(), origin: Step::NONE, row: 0, bytes: 0, entry: &PADDING };
        let (op, method, fill) = (lowered.op, lowered.method(), ElementBytes::new());
        SpacePlan { op, method, moved, pads: Vec::new(), fill, level, par, bytes: 0 }
    }

    /// Plans the lowered operator in place, for elements of `dtype` and the layouts of both tensors.
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

    /// Replaces the kernel of a plan that is one call by a kernel that is declared for its shape, if there is one.
    ///
    /// P2 holds for the new kernel (K10): the loops are the shape's loops at its open sizes. A plan that is cut keeps
    /// its kernel, since its chunks have other shapes.
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

    /// Number of tasks of a part, in a pool of `threads()` threads.
    #[inline]
    pub(crate) fn tasks(&self, part: &SpacePart, threads: impl FnOnce() -> usize) -> usize {
        part.work().tasks(self.par, threads)
    }
}
