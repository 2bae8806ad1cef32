//! Threads: how many tasks a call is cut into, and running two at once in the caller's rayon pool.

use crate::ops::Par;

/// Bytes of output that one task should have at least.
#[cfg(feature = "rayon")]
const BYTES_PER_TASK: usize = 64 << 10;

/// The number of tasks for an output of `bytes` bytes.
#[cfg(feature = "rayon")]
pub(crate) fn tasks(par: Par, bytes: usize) -> usize {
    match par {
        Par::Seq => 1,
        Par::Threads(n) => n.max(1),
        // Small calls do not even ask for the pool, which would start it.
        Par::Auto if bytes < 2 * BYTES_PER_TASK => 1,
        Par::Auto => rayon::current_num_threads().min(bytes / BYTES_PER_TASK),
    }
}

/// The number of tasks: one.
#[cfg(not(feature = "rayon"))]
pub(crate) fn tasks(_: Par, _: usize) -> usize {
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
