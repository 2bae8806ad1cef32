//! Threads: how many tasks a call is cut into, and running two at once in the caller's rayon pool.

#![forbid(unsafe_code)]

use crate::ops::Par;

/// Work that one task should have at least, in bytes copied: about 40 microseconds. Two tasks of as much take 0.48 to 0.54
/// times as long as one thread, in workloads of 75 to 115 microseconds that follow one another (2026-11-21, 2-core EPYC of
/// the Zen 4 class, `record`). Calls far apart, which find the pool asleep, were not measured at this threshold; 64 KiB a
/// task made them slower by up to a half.
#[cfg(feature = "rayon")]
const WORK_PER_TASK: usize = 1 << 20;

/// What resolving and moving one lane costs, in bytes copied.
#[cfg(feature = "rayon")]
const LANE: usize = 24;

/// The number of tasks for a nest that copies `bytes` bytes and resolves `lanes` indices.
#[cfg(feature = "rayon")]
#[inline]
pub(crate) fn tasks(par: Par, bytes: usize, lanes: usize) -> usize {
    let work = bytes.saturating_add(lanes.saturating_mul(LANE));
    match par {
        Par::Seq => 1,
        Par::Threads(n) => n.max(1),
        // Small calls do not even ask for the pool, which would start it.
        Par::Auto if work < 2 * WORK_PER_TASK => 1,
        Par::Auto => rayon::current_num_threads().min(work / WORK_PER_TASK),
    }
}

/// The number of tasks: one.
#[cfg(not(feature = "rayon"))]
pub(crate) fn tasks(_: Par, _: usize, _: usize) -> usize {
    1
}

/// Runs both, on two threads if one is free.
#[cfg(feature = "rayon")]
pub(crate) fn join<A: Send, B: Send>(a: impl FnOnce() -> A + Send, b: impl FnOnce() -> B + Send) -> (A, B) {
    rayon::join(a, b)
}

/// Runs both, one after the other.
#[cfg(not(feature = "rayon"))]
pub(crate) fn join<A, B>(a: impl FnOnce() -> A, b: impl FnOnce() -> B) -> (A, B) {
    (a(), b())
}
