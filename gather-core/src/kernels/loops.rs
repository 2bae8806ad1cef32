//! Loop nests: unrolled for ranks 1 to 8, emitted by the macro, and an odometer for any rank.

#![forbid(unsafe_code)]

use crate::kernels::bodies::rearranged::SpaceBody;
use crate::kernels::bodies::{Body, State};
use crate::kernels::nest::args::{IndexArgs, Outcome};
use crate::kernels::nest::plane::{Plane, Planes};
use crate::kernels::space::args::SpaceArgs;
use crate::kernels::space::plane::{SpacePlane, SpacePlanes};

gather_macros::loop_nests! {}

type IndexNest = fn(&IndexArgs<'_>, Body) -> Outcome;

type SpaceNest = fn(&SpaceArgs<'_>, SpaceBody);

/// The greatest unrolled rank, used for the inner loops of higher ranks.
const UNROLLED: usize = 8;

/// A loop nest of any rank around the body of an index operator. An odometer is slower than unrolled loops: with more
/// than `UNROLLED` loops, it runs only the outer loops, around an unrolled nest.
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

pub(crate) fn space_nest_any(args: &SpaceArgs<'_>, body: SpaceBody) {
    SpacePlane::each(args, body);
}
