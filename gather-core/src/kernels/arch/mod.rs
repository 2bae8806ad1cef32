//! The levels as types: each runs the same bodies, compiled for its instructions, or its own where they are better.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod fused;
#[cfg(target_arch = "x86_64")]
mod lookup;
#[cfg(target_arch = "x86_64")]
mod resolve;
mod scalar;
#[cfg(target_arch = "x86_64")]
mod zip;

#[cfg(target_arch = "x86_64")]
pub use avx2::Avx2;
#[cfg(target_arch = "x86_64")]
pub(crate) use lookup::entries as lookup_entries;
pub use scalar::Scalar;

use crate::index::Index;
use crate::kernels::args::Loop;
use crate::kernels::interleave::Streams;
use crate::kernels::resolve::{self as lanes, GoOn, Resolve, Tuples};
use crate::kernels::unit::Lanes;

/// The pieces of a kernel that depend on the level.
pub trait Tier: 'static {
    /// Resolves a block of indices; returns whether one was out of range (its lane then holds -1).
    ///
    /// # Safety
    /// K3 and K7; `job.out` has room for `job.n`.
    unsafe fn resolve<I: Index>(job: &Resolve) -> bool;

    /// Resolves indices, any number of them, in turns: up to [`TURN`](lanes::TURN) of them, then calls `each` on their number
    /// and on whether one of them was out of range; then the next into the same room, for as long as `each` says.
    ///
    /// # Safety
    /// K3 and K7; `job.out` has room for a turn.
    #[inline(always)]
    unsafe fn resolve_in_turns<I: Index>(job: &Resolve, each: &mut dyn FnMut(usize, bool) -> GoOn) {
        let resolve = |job: &Resolve| {
            // SAFETY: the caller's promise, for some of the indices.
            unsafe { Self::resolve::<I>(job) }
        };
        lanes::in_turns(job, resolve, each);
    }

    /// Resolves a block of tuples of several components and adds them up in units; returns whether one was out of range
    /// (its lane then holds -1), or `None` when the level has no way of its own for them.
    ///
    /// # Safety
    /// K2, K3 and K7; `job.out` has room for `job.n`.
    #[inline(always)]
    unsafe fn resolve_tuples<I: Index>(_: &Tuples<'_>) -> Option<bool> {
        None
    }

    /// Moves lanes of `BYTES` bytes.
    ///
    /// # Safety
    /// K1, K2, K4, K6 and K7.
    unsafe fn move_fixed<const BYTES: usize>(lanes: &Lanes);

    /// Resolves indices of one component and moves lanes of `BYTES` bytes by them, at once: the lanes of one coordinate of
    /// `outer` after the other; returns whether an index was out of range, or `None` when the level has no way of its own
    /// for these lanes. Lanes out of range get the fill, and unit -1 where units are kept. Under `OutOfBounds::Error` what comes
    /// after the coordinate of the first is not moved.
    ///
    /// # Safety
    /// K1, K2, K3, K4, K6 and K7 along `outer`; `job.out`, which are the lanes' units, has room for `job.n`, the lanes'
    /// number, or for [`STEP`](crate::kernels::unit::STEP) where they are not kept, which `OutOfBounds::Wrap` needs.
    #[inline(always)]
    unsafe fn fused<const BYTES: usize, I: Index>(_: &Resolve, _: &Lanes, _: &Loop) -> Option<bool> {
        None
    }

    /// Looks lanes of one byte up in a table, straight from indices of one byte, up to a vector of them with one that is out
    /// of range or not whole; returns how many. No unit is written.
    ///
    /// # Safety
    /// K1, K2, K3, K4, K6 and K7 for the `job.n` lanes, any number; `lanes.table` as the kernel is given it.
    #[inline(always)]
    unsafe fn look_up<I: Index>(_: &Resolve, _: &Lanes) -> usize {
        0
    }

    /// Moves lanes of `row` bytes.
    ///
    /// # Safety
    /// K1, K2, K4 and K7.
    unsafe fn move_rows(lanes: &Lanes);

    /// Interleaves streams of `BYTES` bytes.
    ///
    /// # Safety
    /// The contract of `interleave`, and K7.
    unsafe fn copy_fixed<const BYTES: usize>(streams: &Streams);

    /// Interleaves streams of `row` bytes.
    ///
    /// # Safety
    /// The contract of `interleave`, and K7.
    unsafe fn copy_rows(streams: &Streams);
}
