//! Rows that are resolved and moved in one pass, for [`Method::Direct`](crate::Method::Direct): nothing is set up
//! before the first row, which is what calls of few rows need, and short inner loops.
//!
//! ```text
//! for each row, or four short ones:
//!     resolve its index     (out of range: stop, or go on in a loop that moves or fills)
//!     move it
//! ```

use core::marker::PhantomData;

use crate::kernels::level_fn::{LevelFn, Token};
use crate::kernels::levels::Isa;
use crate::kernels::moves::left::{Left, MoveOrFill, Pass, Widen};
use crate::kernels::moves::placed::{CopyRow, NARROW};
use crate::kernels::nest::args::IndexKernel;
use crate::kernels::nest::args::{IndexArgs, Outcome};
use crate::kernels::nest::plane::{Plane, Strip, Strips};
use crate::types::index::Index;
use crate::types::policy::OutOfBounds;

/// The kernel of [`Method::Direct`](crate::Method::Direct) for one plane whose rows are resolved and moved in one
/// pass.
struct OnePass<C, I, L, const PACKED: bool>(PhantomData<(C, I, L)>);

/// [`OnePass`] at a level.
pub(super) fn kernel<C: CopyRow, I: Index, L: Isa, const PACKED: bool>() -> IndexKernel {
    L::compiled::<OnePass<C, I, L, PACKED>>()
}

impl<C: CopyRow, I: Index, L: Isa, const PACKED: bool> LevelFn for OnePass<C, I, L, PACKED> {
    type Args<'a> = &'a IndexArgs<'a>;
    type Output = Outcome;

    const NARROW: bool = C::MOST <= NARROW;

    /// K9: along the inner loop indices and rows are contiguous, and data does not move; there are one or two loops; and
    /// `PACKED` says whether elements of data are contiguous too.
    #[inline(always)]
    fn call<Here: Token>(_: Here, args: &IndexArgs<'_>) -> Outcome {
        args.debug_check();
        let (pass, mut strips) = (Pass::new::<C>(args, PACKED), Plane::of(args).strips());
        while let Some(strip) = strips.next() {
            let done = pass.run::<C, I>(&strip);
            if done < pass.n() {
                return go_on::<C, I, L>(&strip.from(done), strips);
            }
        }
        Outcome { out_of_range: false }
    }
}

/// Runs what is left of a plane: a strip whose first index is out of range, and the inner loops after it.
#[cold]
#[inline(never)]
fn go_on<'a, C: CopyRow, I: Index, L: Isa>(strip: &Strip<'a>, later: Strips<'a>) -> Outcome {
    if strip.spec().policy.out_of_bounds == OutOfBounds::Zero {
        // SAFETY: K7: kernels of the level alone name this function.
        let level = unsafe { L::of_kernel() };
        let rest = Left::new(*strip, later);
        if const { size_of::<I>() >= 4 } {
            level.entry::<MoveOrFill<C, I, false>>()(rest);
        } else if const { I::TYPE.is_signed() } {
            level.entry::<MoveOrFill<C, i32, false>>()(rest.widened(level.entry::<Widen<I>>()));
        } else {
            level.entry::<MoveOrFill<C, u32, false>>()(rest.widened(level.entry::<Widen<I>>()));
        }
    }
    Outcome { out_of_range: true }
}
