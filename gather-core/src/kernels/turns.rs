//! Lanes whose indices serve no others: resolved and moved in turns of a few, or in one loop, with no unit kept.
//!
//! Not a part of the body: calls of few lanes, which are better off as one block, would save the registers of this.

use crate::index::Index;
use crate::kernels::arch::Tier;
use crate::kernels::args::{Cursor, IndexArgs, Loop};
use crate::kernels::block::{Block, Units};
use crate::kernels::resolve::{GoOn, Resolve, TURN};
use crate::kernels::unit::{Lanes, Next, Unit};
use crate::ops::OutOfBounds;

/// Whether turns are better than blocks for lanes whose indices serve no others.
#[inline(always)]
pub(crate) fn pay<U: Unit>(args: &IndexArgs<'_>) -> bool {
    // Wrapping comes back to the units, of which there is room for a block. One index for all lanes is resolved once, rows
    // are fetched ahead within a block, and so few lanes are one.
    let blocks =
        if U::fuses(args) { args.out_of_bounds == OutOfBounds::Wrap } else { args.ahead != 0 || args.lane().n <= TURN };
    !blocks && args.lane().index != 0
}

/// Runs lanes of one component, any number; returns whether an index was out of range.
///
/// # Safety
/// The kernel contract for the lanes from `at` on.
#[inline(never)]
pub(crate) unsafe fn run<U: Unit, I: Index, L: Tier>(
    block: &mut Block,
    units: &mut Units,
    args: &IndexArgs<'_>,
    at: Cursor,
    next: Next,
) -> bool {
    let n = args.lane().n;
    let job = Resolve::new(units, args, &args.components[0], at.index, args.lane().index, n);
    let mut lanes = Lanes::at(args, at, job.out, n, next);
    if U::fuses(args) {
        // SAFETY: the caller's promise; no units are kept.
        if let Some(out_of_range) = unsafe { U::fused::<I, L>(&job.unkept(), &lanes, &Loop::ONCE) } {
            return out_of_range;
        }
    }
    let mut any = false;
    let mut each = |n, out_of_range| -> GoOn {
        // SAFETY: the units of these lanes have been written.
        unsafe { block.note(job.out, n, out_of_range) };
        any |= out_of_range;
        if out_of_range && args.out_of_bounds == OutOfBounds::Error {
            return false;
        }
        lanes.n = n;
        // SAFETY: K1, K2, K4 and K6 for these lanes; every unit of theirs is in range or redirected to 0.
        unsafe { U::move_lanes::<L>(&lanes) };
        // SAFETY: the caller's promise.
        unsafe { block.patch(args, lanes.out) };
        lanes.advance(n);
        true
    };
    // SAFETY: K3, the caller's promise; there is room for a block, which is longer than a turn.
    unsafe { L::resolve_in_turns::<I>(&job, &mut each) };
    any
}
