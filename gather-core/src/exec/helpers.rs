//! Sharing work between the calling thread and threads of a rayon pool.
//!
//! `rayon_core::join` and `rayon_core::scope` hand the work of a thread that is not in the pool to the pool as a
//! whole. The caller sleeps, a thread of the pool wakes up for it, other threads wake up for the parts, and in the end
//! the caller wakes up again. Here the caller starts at once. Threads of the pool help when they have woken up. When
//! all the work is done, the caller does not wait for those that have not come: they find that the work is over, and
//! leave.
//!
//! - **X4** A helper takes the work and counts itself as busy in one step, under the lock, and only while there is
//!   work to take. It counts itself as free when its call of the work has ended. Before [`run`] ends, by a panic too,
//!   it takes the work away and waits until no helper is busy. So the work is alive during every call of it.

use alloc::boxed::Box;
use alloc::sync::Arc;
use core::any::Any;
use core::mem;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// How often the caller looks for busy helpers before it sleeps, and how long it pauses between two looks. Together
/// they take about as long as waking up.
const LOOKS: usize = 32;
const PAUSES: usize = 64;

/// Work that several threads may do at the same time.
type Work<'a> = dyn Fn() + Sync + 'a;

/// Calls `work` on this thread, which is in no pool, and on up to `helpers` threads of the global pool, as they come.
///
/// # Panics
/// When `work` does, on any of the threads.
pub(crate) fn run(helpers: usize, work: &Work<'_>) {
    // SAFETY: X4: no call of the work begins or goes on after this function, so it does not outlive the borrow.
    let work: &'static Work<'static> = unsafe { mem::transmute::<&Work<'_>, &'static Work<'static>>(work) };
    let shared = Arc::new(Shared {
        state: Mutex::new(State { work: Some(work), busy: 0 }),
        free: Condvar::new(),
        panics: FirstPanic::default(),
    });
    let end = End(&shared);
    for _ in 0..helpers {
        let shared = Arc::clone(&shared);
        rayon_core::spawn(move || shared.help());
    }
    shared.panics.catch(work);
    drop(end);
    shared.panics.resume();
}

/// Calls `work` on this thread, which is in a pool, and on up to `helpers` others of that pool.
///
/// # Panics
/// When `work` does, on any of the threads.
pub(crate) fn run_in_pool(helpers: usize, work: &Work<'_>) {
    let panics = FirstPanic::default();
    rayon_core::scope(|scope| {
        for _ in 0..helpers {
            scope.spawn(|_| panics.catch(work));
        }
        panics.catch(work);
    });
    panics.resume();
}

/// What caller and helpers share.
struct Shared {
    state: Mutex<State>,
    /// Notified when the last busy helper is free.
    free: Condvar,
    panics: FirstPanic,
}

struct State {
    /// `None` when the work is over.
    work: Option<&'static Work<'static>>,
    /// Helpers that call the work.
    busy: usize,
}

impl Shared {
    /// Works along, unless the work is over.
    fn help(&self) {
        let Some(work) = self.take() else {
            return;
        };
        self.panics.catch(work);
        let mut state = lock(&self.state);
        state.busy -= 1;
        if state.busy == 0 {
            self.free.notify_one();
        }
    }

    /// The work, for a helper that is busy from now on.
    fn take(&self) -> Option<&'static Work<'static>> {
        let mut state = lock(&self.state);
        state.busy += usize::from(state.work.is_some());
        state.work
    }
}

/// When it is dropped, takes the work away and waits for the helpers that are busy.
struct End<'a>(&'a Shared);

impl Drop for End<'_> {
    fn drop(&mut self) {
        lock(&self.0.state).work = None;
        for _ in 0..LOOKS {
            if lock(&self.0.state).busy == 0 {
                return;
            }
            (0..PAUSES).for_each(|_| core::hint::spin_loop());
        }
        let mut state = lock(&self.0.state);
        while state.busy > 0 {
            state = self.0.free.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

/// The payload of the first of several panics.
#[derive(Default)]
struct FirstPanic(Mutex<Option<Box<dyn Any + Send>>>);

impl FirstPanic {
    /// Calls `work`, and keeps what it panics with if nothing did before.
    fn catch(&self, work: &Work<'_>) {
        let Err(panic) = catch_unwind(AssertUnwindSafe(work)) else {
            return;
        };
        let mut first = lock(&self.0);
        if first.is_none() {
            *first = Some(panic);
        } else {
            drop(first);
            discard(panic);
        }
    }

    /// Panics as the first did, if any.
    fn resume(&self) {
        let first = lock(&self.0).take();
        if let Some(panic) = first {
            resume_unwind(panic);
        }
    }
}

/// Drops the payload of a panic. That drop may panic too. The payload of the second panic is leaked, so that this ends.
fn discard(panic: Box<dyn Any + Send>) {
    if let Err(another) = catch_unwind(AssertUnwindSafe(|| drop(panic))) {
        mem::forget(another);
    }
}

/// Nothing panics while it holds a lock of this module.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
