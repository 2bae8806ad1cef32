//! Loop nests: unrolled for ranks of 1 to 8, which the macro emits, and for any rank an odometer in place of loops.

#![forbid(unsafe_code)]

use crate::kernels::bodies::rearranged::SpaceBody;
use crate::kernels::bodies::{Body, State};
use crate::kernels::nest::args::{IndexArgs, Outcome};
use crate::kernels::nest::plane::{Plane, Planes};
use crate::kernels::space::args::SpaceArgs;
use crate::kernels::space::plane::{SpacePlane, SpacePlanes};

gather_macros::loop_nests! {}

/// A loop nest around the body of an index operator.
type IndexNest = fn(&IndexArgs<'_>, Body) -> Outcome;

/// A loop nest around the body of an operator that rearranges space.
type SpaceNest = fn(&SpaceArgs<'_>, SpaceBody);

/// Loops of a loop nest that runs inside one of a higher rank.
const UNROLLED: usize = 8;

/// A loop nest of any rank around the body of an index operator. To count takes longer than an unrolled loop: so loops
/// are counted around a nest of rank 8, where there are more.
pub(crate) fn index_nest_any(args: &IndexArgs<'_>, body: Body) -> Outcome {
    if args.loops().len() > UNROLLED {
        let mut outcome = Outcome::NOTHING;
        args.each_inside(UNROLLED, |args| outcome = outcome.and(index_nest_r8(args, body)));
        return outcome;
    }
    let mut state = State::new(args);
    Plane::each(args, |plane| body(&mut state, plane));
    state.outcome()
}

/// A loop nest of any rank around the body of an operator that rearranges space.
pub(crate) fn space_nest_any(args: &SpaceArgs<'_>, body: SpaceBody) {
    SpacePlane::each(args, body);
}
