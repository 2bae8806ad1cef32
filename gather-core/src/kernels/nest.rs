//! Nests of any rank: an odometer in place of unrolled loops, for the ranks that are not emitted.

use smallvec::SmallVec;

use crate::kernels::args::{CopyArgs, CopyCursor, Cursor, IndexArgs, Verdict, Walk};
use crate::kernels::block::Units;
use crate::kernels::bodies::{CopyBody, IndexBody};

/// Loops that are counted without a heap allocation.
const INLINE: usize = 16;

/// A nest of an index operator of any rank.
///
/// # Safety
/// The kernel contract for `args`.
pub unsafe fn index_nest_any<B: IndexBody>(args: &IndexArgs<'_>) -> Verdict {
    let (mut body, mut units) = (B::start(args), Units::new());
    index_odometer(args, &mut |at| {
        // SAFETY: the kernel contract; `at` is the cursor of an outer coordinate.
        unsafe { body.lanes(&mut units, args, at) }
    });
    body.verdict()
}

/// A BatchToSpace nest of any rank.
///
/// # Safety
/// The kernel contract for `args`.
pub unsafe fn copy_nest_any<B: CopyBody>(args: &CopyArgs<'_>) {
    let mut body = B::start(args);
    copy_odometer(args, &mut |at| {
        // SAFETY: the kernel contract; `at` is the cursor of an outer coordinate.
        unsafe { body.lanes(args, at) }
    });
}

/// Calls `lanes` at the cursor of every outer coordinate.
pub(crate) fn index_odometer(args: &IndexArgs<'_>, lanes: &mut dyn FnMut(Cursor)) {
    let outer = &args.loops[..args.loops.len() - 1];
    // The cursor of each loop's current iteration, and how many it has left, this one included.
    let mut turns: SmallVec<[(Cursor, usize); INLINE]> = outer.iter().map(|along| (args.origin, along.n)).collect();
    let mut at = args.origin;
    loop {
        lanes(at);
        let Some(turning) = turns.iter().rposition(|&(_, left)| left > 1) else {
            return;
        };
        let (start, left) = turns[turning];
        at = start.step(&outer[turning]);
        turns[turning] = (at, left - 1);
        for (turn, along) in turns.iter_mut().zip(outer).skip(turning + 1) {
            *turn = (at, along.n);
        }
    }
}

/// Calls `lanes` at the cursor of every outer coordinate.
fn copy_odometer(args: &CopyArgs<'_>, lanes: &mut dyn FnMut(CopyCursor)) {
    let outer = &args.loops[..args.loops.len() - 1];
    let mut turns: SmallVec<[(Walk, usize); INLINE]> = SmallVec::new();
    let mut at = args.origin;
    loop {
        for along in &outer[turns.len()..] {
            let walk = at.enter(along);
            at = walk.at();
            turns.push((walk, along.n));
        }
        lanes(at);
        let Some(turning) = turns.iter().rposition(|&(_, left)| left > 1) else {
            return;
        };
        let (walk, left) = turns[turning];
        turns.truncate(turning);
        let walk = walk.step(&outer[turning]);
        turns.push((walk, left - 1));
        at = walk.at();
    }
}
