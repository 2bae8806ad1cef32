//! Loop nests: unrolled for ranks of 1 to 8, which the macro emits, and for any rank an odometer in place of loops.

use smallvec::SmallVec;

use crate::kernels::args::{Cursor, IndexArgs, Outcome};
use crate::kernels::bodies::{Body, State};
use crate::kernels::space::SpaceBody;
use crate::kernels::space::args::{BlockCursor, SpaceArgs};

gather_macros::loop_nests! {}

/// A loop nest around the body of an index operator.
type IndexNest = unsafe fn(&IndexArgs<'_>, Body) -> Outcome;

/// A loop nest around the body of an operator that rearranges space.
type SpaceNest = unsafe fn(&SpaceArgs<'_>, SpaceBody);

/// Loops that are counted without a heap allocation.
const INLINE: usize = 16;

/// A loop nest of any rank around the body of an index operator.
///
/// # Safety
/// The kernel contract for `args`, of whose method the body is.
pub(crate) unsafe fn index_nest_any(args: &IndexArgs<'_>, body: Body) -> Outcome {
    let mut state = State::new(args);
    let around = &args.loops[..args.loops.len().saturating_sub(2)];
    // The cursor of each loop's current iteration, and how many it has left, this one included.
    let mut counters: SmallVec<[(Cursor, usize); INLINE]> = around.iter().map(|along| (args.origin, along.n)).collect();
    let mut at = args.origin;
    loop {
        // SAFETY: the kernel contract; `at` is the cursor of a coordinate of the loops around the plane.
        unsafe { body(&mut state, args, &at) };
        let Some(depth) = counters.iter().rposition(|&(_, left)| left > 1) else {
            return state.outcome();
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
///
/// # Safety
/// The kernel contract for `args`.
pub(crate) unsafe fn space_nest_any(args: &SpaceArgs<'_>, body: SpaceBody) {
    let around = &args.loops[..args.loops.len().saturating_sub(2)];
    let mut counters: SmallVec<[(BlockCursor, usize); INLINE]> = SmallVec::new();
    let mut at = args.origin;
    loop {
        for along in &around[counters.len()..] {
            let cursor = at.enter(along);
            at = cursor.at();
            counters.push((cursor, along.n));
        }
        // SAFETY: the kernel contract; `at` is the cursor of a coordinate of the loops around the plane.
        unsafe { body(args, at) };
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
