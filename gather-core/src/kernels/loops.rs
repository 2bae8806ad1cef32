//! Loop nests: unrolled for ranks of 1 to 8, which the macro emits, and for any rank an odometer in place of loops.

use smallvec::SmallVec;

use crate::kernels::args::{Cursor, IndexArgs, Loop, Outcome};
use crate::kernels::bodies::{Body, State};
use crate::kernels::space::SpaceBody;
use crate::kernels::space::args::{BlockCursor, SpaceArgs};

gather_macros::loop_nests! {}

/// A loop nest around the body of an index operator.
type IndexNest = unsafe fn(&IndexArgs<'_>, Body) -> Outcome;

/// A loop nest around the body of an operator that rearranges space.
type SpaceNest = fn(&SpaceArgs<'_>, SpaceBody);

/// Loops that are counted without a heap allocation.
const INLINE: usize = 16;

/// Loops of a loop nest that runs inside one of a higher rank.
const UNROLLED: usize = 8;

/// A loop nest of any rank around the body of an index operator. To count takes longer than an unrolled loop: so loops
/// are counted around a nest of rank 8, where there are more.
///
/// # Safety
/// The kernel contract for `args`, of whose method the body is.
pub(crate) unsafe fn index_nest_any(args: &IndexArgs<'_>, body: Body) -> Outcome {
    if let Some((around, loops)) = args.loops.split_last_chunk::<UNROLLED>()
        && !around.is_empty()
    {
        let mut out_of_range = false;
        each_coordinate(around, args.origin, |&origin| {
            // SAFETY: the kernel contract; these are the loops inside a coordinate of those around them.
            out_of_range |= unsafe { index_nest_r8(&IndexArgs { loops, origin, ..*args }, body) }.out_of_range;
        });
        return Outcome { out_of_range };
    }
    let mut state = State::new(args);
    let around = &args.loops[..args.loops.len().saturating_sub(2)];
    each_coordinate(around, args.origin, |at| {
        // SAFETY: the kernel contract; `at` is the cursor of a coordinate of the loops around the plane.
        unsafe { body(&mut state, args, at) };
    });
    state.outcome()
}

/// Runs something at the cursor of each coordinate of loops.
#[inline(always)]
fn each_coordinate(around: &[Loop], origin: Cursor, mut run: impl FnMut(&Cursor)) {
    // The cursor of each loop's current iteration, and how many it has left, this one included.
    let mut counters: SmallVec<[(Cursor, usize); INLINE]> = around.iter().map(|along| (origin, along.n)).collect();
    let mut at = origin;
    loop {
        run(&at);
        let Some(depth) = counters.iter().rposition(|&(_, left)| left > 1) else {
            return;
        };
        let (start, left) = counters[depth];
        at = start.step(&around[depth]);
        counters[depth] = (at, left - 1);
        for (counter, along) in counters.iter_mut().zip(around).skip(depth + 1) {
            *counter = (at, along.n);
        }
    }
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
