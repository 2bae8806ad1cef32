//! Imports of `helpers` from std and rayon. The model in `tests/model` replaces this file, and schedules the threads.

#![forbid(unsafe_code)]

pub(super) use alloc::sync::Arc;
pub(super) use std::sync::{Condvar, LazyLock, Mutex, MutexGuard, PoisonError};
pub(super) use std::thread_local;

/// Number of looks for busy helpers before a caller sleeps.
pub(super) const LOOKS: usize = 32;

/// Pauses between two looks. All looks and pauses together take about as long as waking up.
pub(super) fn pause() {
    (0..64).for_each(|_| core::hint::spin_loop());
}

pub(super) fn is_in_pool() -> bool {
    rayon_core::current_thread_index().is_some()
}

/// Spawns `job`, which must not panic, in this thread's pool, or in the global pool if the thread has none.
pub(super) fn spawn(job: impl FnOnce() + Send + 'static) {
    rayon_core::spawn(job);
}
