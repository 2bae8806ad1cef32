//! What `helpers` of gather-core takes from the standard library and from rayon, of shuttle and of the pools here: the
//! counterpart of `exec/sync.rs`.

use shuttle::lazy_static::Lazy;
pub(super) use shuttle::sync::{Arc, Condvar, Mutex, MutexGuard};
pub(super) use shuttle::thread_local;
pub(super) use std::sync::PoisonError;

pub(super) use crate::pool::{is_in_pool, offer as spawn};

/// One look is as good as many, whose orders would only be more to try.
pub(super) const LOOKS: usize = 1;

pub(super) fn pause() {
    shuttle::thread::yield_now();
}

/// A value that each execution makes anew.
pub(super) struct LazyLock<T: Sync>(Lazy<T>);

impl<T: Sync> LazyLock<T> {
    pub(super) const fn new(init: fn() -> T) -> Self {
        LazyLock(Lazy::new(init))
    }

    pub(super) fn force(this: &'static Self) -> &'static T {
        this.0.get()
    }
}
