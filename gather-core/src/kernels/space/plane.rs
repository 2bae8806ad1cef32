//! Planes of the loop nest of a kernel that rearranges space. They carry its contract to the rows.

#![forbid(unsafe_code)]

use crate::kernels::nest::plane::{around_plane, outermost};
use crate::kernels::space::args::{BlockLoop, SpaceArgs, SpaceCursor};

/// A plane of a loop nest: the inner loop and the loop around it, at one coordinate of the loops around both.
#[derive(Clone, Copy)]
pub struct SpacePlane<'a> {
    args: &'a SpaceArgs<'a>,
    at: SpaceCursor,
}

impl<'a> SpacePlane<'a> {
    /// Calls `run` with every plane of a loop nest.
    pub(crate) fn each(args: &'a SpaceArgs<'a>, mut run: impl FnMut(Self)) {
        let around = &args.all_loops()[..args.all_loops().len().saturating_sub(2)];
        Self::each_along(around, args, args.origin(), &mut run);
    }

    /// Calls `run` with every plane along the loops from `at` on. At most 63 of them have two or more iterations.
    fn each_along(around: &[BlockLoop], args: &'a SpaceArgs<'a>, at: SpaceCursor, run: &mut impl FnMut(Self)) {
        let [first, inside @ ..] = around else { return run(SpacePlane { args, at }) };
        let mut cursor = at.enter(first);
        for _ in 0..first.n {
            Self::each_along(inside, args, cursor.at(), run);
            cursor = cursor.step(first);
        }
    }

    #[inline(always)]
    pub(crate) fn args(self) -> &'a SpaceArgs<'a> {
        self.args
    }

    /// The cursor of the first row.
    #[inline(always)]
    pub(crate) fn at(self) -> SpaceCursor {
        self.at
    }
}

/// The planes of a loop nest at one coordinate of the loops entered so far; `LOOPS` loops around the planes remain.
///
/// Invariant: the cursor is at that coordinate. [`SpacePlanes::of`] and [`SpacePlanes::along`] alone make values.
#[derive(Clone, Copy)]
pub(crate) struct SpacePlanes<'a, const LOOPS: usize> {
    args: &'a SpaceArgs<'a>,
    loops: &'a [BlockLoop; LOOPS],
    at: SpaceCursor,
}

impl<'a, const LOOPS: usize> SpacePlanes<'a, LOOPS> {
    /// All planes of a loop nest of rank `RANK`, which has `LOOPS` loops around a plane.
    ///
    /// # Panics
    /// If the loop nest has another rank: the dispatcher picks kernels by rank.
    #[inline(always)]
    pub(crate) fn of<const RANK: usize>(args: &'a SpaceArgs<'a>) -> Self {
        SpacePlanes { args, loops: around_plane(args.loops::<RANK>()), at: args.origin() }
    }

    /// Calls `run` with the planes of each iteration of the outermost loop; `REST = LOOPS - 1` loops remain.
    #[inline(always)]
    pub(crate) fn along<const REST: usize>(self, mut run: impl FnMut(SpacePlanes<'a, REST>)) {
        let (first, loops) = outermost(self.loops);
        let mut cursor = self.at.enter(first);
        for _ in 0..first.n {
            run(SpacePlanes { args: self.args, loops, at: cursor.at() });
            cursor = cursor.step(first);
        }
    }
}

impl<'a> SpacePlanes<'a, 0> {
    #[inline(always)]
    pub(crate) fn plane(self) -> SpacePlane<'a> {
        SpacePlane { args: self.args, at: self.at }
    }
}
