//! The items that `helpers` takes from the standard library and from rayon. The model in `tests/model` has its own in
//! place of this file, and chooses the order in which threads run.

#![forbid(unsafe_code)]

pub(super) use alloc::sync::Arc;
pub(super) use std::sync::{Condvar, LazyLock, Mutex, MutexGuard, PoisonError};
pub(super) use std::thread_local;

/// How often a caller looks for busy helpers before it sleeps.
pub(super) const LOOKS: usize = 32;

/// The pause between two looks. All looks and pauses take about as long as waking up.
pub(super) fn pause() {
    (0..64).for_each(|_| core::hint::spin_loop());
}

/// Whether this thread belongs to a pool.
pub(super) fn is_in_pool() -> bool {
    rayon_core::current_thread_index().is_some()
}

/// Has a thread run `job`: one of the pool that this thread belongs to, or else of the global one. The job must not
/// panic.
pub(super) fn spawn(job: impl FnOnce() + Send + 'static) {
    rayon_core::spawn(job);
}
