//! Loop nests: unrolled for ranks of 1 to 8, which the macro emits, and for any rank an odometer in place of loops.

use smallvec::SmallVec;

use crate::kernels::bodies::rearranged::SpaceBody;
use crate::kernels::bodies::{Body, State};
use crate::kernels::nest::args::{IndexArgs, Outcome};
use crate::kernels::nest::plane::Plane;
use crate::kernels::space::args::{BlockCursor, SpaceArgs};

// SAFETY: the loops of a nest are all those of the arguments around the plane. Each runs as many times as it says, and
// its cursor steps once each time: so the cursor inside is that of a coordinate of them.
gather_macros::loop_nests! { unsafe }

/// A loop nest around the body of an index operator.
type IndexNest = fn(&IndexArgs<'_>, Body) -> Outcome;

/// A loop nest around the body of an operator that rearranges space.
type SpaceNest = fn(&SpaceArgs<'_>, SpaceBody);

/// Loops that are counted without a heap allocation.
const INLINE: usize = 16;

/// Loops of a loop nest that runs inside one of a higher rank.
const UNROLLED: usize = 8;

/// A loop nest of any rank around the body of an index operator. To count takes longer than an unrolled loop: so loops
/// are counted around a nest of rank 8, where there are more.
pub(crate) fn index_nest_any(args: &IndexArgs<'_>, body: Body) -> Outcome {
    if args.loops().len() > UNROLLED {
        let mut out_of_range = false;
        args.each_inside(UNROLLED, |args| out_of_range |= index_nest_r8(args, body).out_of_range);
        return Outcome { out_of_range };
    }
    let mut state = State::new(args);
    Plane::each(args, |plane| body(&mut state, plane));
    state.outcome()
}

/// A loop nest of any rank around the body of an operator that rearranges space.
pub(crate) fn space_nest_any(args: &SpaceArgs<'_>, body: SpaceBody) {
    let around = &args.all_loops()[..args.all_loops().len().saturating_sub(2)];
    let mut counters: SmallVec<[(BlockCursor, usize); INLINE]> = SmallVec::new();
    let mut at = args.origin();
    loop {
        for along in &around[counters.len()..] {
            let cursor = at.enter(along);
            at = cursor.at();
            counters.push((cursor, along.n));
        }
        body(args, at);
        let Some(depth) = counters.iter().rposition(|&(_, left)| left > 1) else {
            return;
        };
        let (cursor, left) = counters[depth];
        counters.truncate(depth);
        let cursor = cursor.step(&around[depth]);
        counters.push((cursor, left - 1));
        at = cursor.at();
    }
}
