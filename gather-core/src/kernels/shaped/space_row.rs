//! Kernels for declared shapes of BatchToSpace, as rows of a set.

use core::marker::PhantomData;

use crate::kernels::by_level::{ByLevel, by_level};
use crate::kernels::kernel::SpaceEntry;
use crate::kernels::level_fn::{self, LevelFn, Token};
use crate::kernels::shaped::blocks::{ShapedBlocks, SpaceShape, SpaceShapeOf};
use crate::kernels::shaped::size::{SizeSource, Sizes};
use crate::kernels::space::args::{BlockLoop, SpaceArgs};
use crate::types::declared::{Declaration, MAX_DIMS};
use crate::types::element::Element;
use crate::types::level::Level;

/// The kernels of a declared BatchToSpace.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ShapedSpace {
    shape: &'static SpaceShape,
    size: usize,
    entries: ByLevel<SpaceEntry>,
}

impl ShapedSpace {
    pub(super) const fn new<D: Declaration, T: Element, const ARGS: usize>(name: &'static str) -> Self {
        // SAFETY: E1: a `SpaceEntry` is not a `LevelPointer`.
        let entries = unsafe {
            by_level!(
                SpaceEntry { name, run: level_fn::scalar::<ShapedSpaceKernel<D, T, ARGS>> },
                SpaceEntry { name, run: level_fn::avx2::<ShapedSpaceKernel<D, T, ARGS>> }
            )
        };
        ShapedSpace { shape: &SpaceShapeOf::<D>::SHAPE, size: size_of::<T>(), entries }
    }

    /// The number of loops of the shape.
    pub(crate) fn rank(&self) -> usize {
        self.shape.len
    }

    pub(crate) fn entry(&self, level: Level) -> &SpaceEntry {
        self.entries.get(level)
    }

    /// Whether folded loops match the shape for some open sizes (K10). Every loop of the shape needs a folded loop,
    /// even a loop that runs once.
    pub(crate) fn matches(&self, loops: &[BlockLoop], row: usize) -> bool {
        let (shape, size) = (self.shape, self.size);
        if loops.len() != shape.len {
            return false;
        }
        // The maximum number of arguments of a declaration.
        let Some(sizes) = open_sizes::<MAX_DIMS>(shape, loops, row / size) else { return false };
        let same = |own: usize, given: isize| usize::try_from(given) == Ok(own.wrapping_mul(size));
        let mut written = Some(row);
        for (own, given) in shape.own().iter().zip(loops).rev() {
            let Some(out) = written.filter(|_| own.n(&sizes) == Some(given.n)) else { return false };
            written = out.checked_mul(given.n);
            if given.n == 1 {
                continue;
            }
            let out =
                isize::try_from(out) == Ok(given.wrap.out) && (given.block == 1 || given.step.out == given.wrap.out);
            let steps = own.block == 1 || same(own.step.at(&sizes), given.step.data);
            let blocks = (own.block, own.phase) == (given.block, given.phase);
            if !(out && blocks && steps && same(own.period.at(&sizes), given.period().data)) {
                return false;
            }
        }
        shape.row.at(&sizes).checked_mul(size) == Some(row)
    }
}

/// The open sizes, read from loops and rows of `row` elements.
#[inline(always)]
fn open_sizes<const ARGS: usize>(shape: &SpaceShape, loops: &[BlockLoop], row: usize) -> Option<Sizes<ARGS>> {
    let value = |source: SizeSource| match source {
        SizeSource::Loop(at) => loops[at].n.saturating_add(shape.own()[at].cropped),
        SizeSource::Row => row,
        SizeSource::Axis(_) | SizeSource::Unused => 1,
    };
    Sizes::read(|slot| shape.source(slot), value)
}

struct ShapedSpaceKernel<D, T, const ARGS: usize>(PhantomData<(D, T)>);

impl<D: Declaration, T: Element, const ARGS: usize> LevelFn for ShapedSpaceKernel<D, T, ARGS> {
    type Args<'a> = &'a SpaceArgs<'a>;
    type Output = ();

    #[inline(always)]
    fn call<Here: Token>(_: Here, args: &SpaceArgs<'_>) {
        let shape = const { &SpaceShapeOf::<D>::SHAPE };
        let sizes = open_sizes::<ARGS>(shape, args.all_loops(), args.row() / size_of::<T>());
        let sizes = sizes.expect("K10: the open sizes are found");
        // The offset of the loops' phases in their first blocks, which the origin includes.
        let phases = shape.own().iter().fold(0usize, |phases, along| phases.wrapping_add(along.data(0, &sizes)));
        let data = args.origin().data().cast::<T>().wrapping_sub(phases);
        // SAFETY: D5 by K1 and K4; data may be read along the loops, which match the shape for these sizes (K10).
        unsafe { ShapedBlocks::<D, T, ARGS>::new(data, args.origin().out().cast(), &sizes) }.move_rows();
    }
}
