//! Rows resolved and moved in one pass, for [`Method::Direct`](crate::Method::Direct). Nothing is set up before the
//! first row, so calls of few rows and short inner loops are fast.
//!
//! ```text
//! for each row, or four short rows:
//!     resolve its index     (out of range: stop, or continue in a loop that moves or fills)
//!     move it
//! ```

use core::marker::PhantomData;

use crate::kernels::level_fn::{LevelFn, Token};
use crate::kernels::levels::Isa;
use crate::kernels::moves::placed::{CopyRow, NARROW};
use crate::kernels::moves::remainder::{MoveOrFill, Pass, Remainder, WidenTo};
use crate::kernels::nest::args::IndexKernel;
use crate::kernels::nest::args::{IndexArgs, Outcome};
use crate::kernels::nest::plane::Plane;
use crate::types::index::Index;

/// The kernel of [`Method::Direct`](crate::Method::Direct) on one plane that resolves and moves rows in one pass.
struct OnePass<C, I, L, const PACKED: bool>(PhantomData<(C, I, L)>);

/// [`OnePass`] at a level.
pub(super) fn kernel<C: CopyRow, I: Index, L: Isa, const PACKED: bool>() -> IndexKernel {
    L::compiled::<OnePass<C, I, L, PACKED>>()
}

impl<C: CopyRow, I: Index, L: Isa, const PACKED: bool> LevelFn for OnePass<C, I, L, PACKED> {
    type Args<'a> = &'a IndexArgs<'a>;
    type Output = Outcome;

    const NARROW: bool = C::MOST <= NARROW;

    /// K9: along the inner loop, indices and rows are contiguous, and data does not move; there are one or two loops.
    /// `PACKED` says whether elements of data are contiguous too.
    #[inline(always)]
    fn call<Here: Token>(_: Here, args: &IndexArgs<'_>) -> Outcome {
        args.debug_check();
        let (mut pass, plane) = (Pass::new::<C>(args, PACKED), Plane::of(args));
        if let [_] = args.loops() {
            // SAFETY: K9, and `plane.at()` is the cursor of the only loop.
            let done = unsafe { pass.run::<C, I>(plane.at()) };
            return if done == pass.n() { ALL } else { run_remainder::<C, I, L>(plane, 0, done) };
        }
        let (outer, mut at) = (*args.outer(), *plane.at());
        for strip in 0..outer.n {
            // SAFETY: K9, and `at` is the inner loop's cursor at coordinate `strip` of the outer loop.
            let done = unsafe { pass.run::<C, I>(&at) };
            if done < pass.n() {
                return run_remainder::<C, I, L>(plane, strip, done);
            }
            at = at.step(&outer);
        }
        ALL
    }
}

const ALL: Outcome = Outcome::complete_if(true);

/// Moves or fills the remainder of a plane, from row `done` of strip `strip` on. The index of that row is out of range.
/// Without a fill the outcome is incomplete.
#[cold]
#[inline(never)]
fn run_remainder<C: CopyRow, I: Index, L: Isa>(plane: Plane<'_>, strip: usize, done: usize) -> Outcome {
    let mut later = plane.strips().from(strip);
    if plane.spec().policy.fills()
        && let Some(strip) = later.next()
    {
        // SAFETY: K7: only kernels of the level or of a higher level use this function.
        let level = unsafe { L::of_kernel() };
        let left = Remainder::new(strip.skip(done), later);
        if const { size_of::<I>() >= 4 } {
            level.entry::<MoveOrFill<C, I, false>>()(left);
        } else {
            level.entry::<MoveOrFill<C, i32, false>>()(left.widened(level.entry::<WidenTo<I>>()));
        }
        return ALL;
    }
    Outcome::complete_if(false)
}
