//! Work that a thread outside of rayon's pool does itself, with threads of the pool that help as they come.
//!
//! `rayon::join` and `rayon::scope` take such a thread's work to the pool whole: it sleeps, one thread of the pool wakes up
//! for its half, another for the other, and in the end the caller wakes up again. Here it begins at once; helpers join it when they
//! have woken up; and when all is done, those that have not come are not waited for: they find the crew closed, and leave.
//!
//! Microseconds for Gather on one thread, and in times of that on two: by `rayon::join`, and here. Calls follow one another at
//! once, or after pauses of the caller in which the pool falls asleep (2026-11-21, 2-core EPYC of the Zen 4 class in a virtual
//! machine, medians of 61 calls; single figures differ by a fifth and more from run to run):
//!
//! ```text
//! rows of 12 bytes   one     at once       after 0.1 ms   after 2 ms
//!    16 Ki            17   3.2  1.0       4.7  1.8       4.6  1.3
//!    32 Ki            42   1.5  0.7       2.1  1.0       1.8  0.9
//!    64 Ki            75   1.5  0.5       1.6  0.8       2.2  0.5
//!   128 Ki           139   0.7  0.5       1.2  0.7       0.9  0.9
//!   512 Ki          1121   0.8  0.4       0.8  0.4       1.3  0.5
//! ```
//!
//! - **X4** A helper counts itself before it calls the work of a crew, which it may while the crew is open alone, and no longer
//!   counts once the call has ended. The caller closes the crew, and waits until none is counted, before it leaves [`run`], by a
//!   panic too. So the work is alive whenever it is called.

use alloc::boxed::Box;
use alloc::sync::Arc;
use core::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// Looks at the helpers' number before the caller sleeps, and pauses between two looks: some 25 microseconds in all, about what
/// waking up takes.
const LOOKS: usize = 32;
const PAUSES: usize = 64;

/// Calls `work` on this thread, which is not of the pool, and on up to `helpers` threads of the pool, as they come.
///
/// # Panics
/// When `work` does, on any of the threads.
pub(crate) fn run<W: Fn() + Sync>(helpers: usize, work: &W) {
    let crew = Arc::new(Crew {
        work: (&raw const *work).cast(),
        call: call::<W>,
        state: Mutex::new(State::default()),
        left: Condvar::new(),
    });
    let closing = Closing(&crew);
    for _ in 0..helpers {
        let crew = Arc::clone(&crew);
        rayon::spawn(move || crew.help());
    }
    work();
    drop(closing);
    if let Some(panic) = crew.state().panic.take() {
        resume_unwind(panic);
    }
}

/// Calls the work behind a pointer.
///
/// # Safety
/// It points to a `W` that is alive.
unsafe fn call<W: Fn()>(work: *const ()) {
    // SAFETY: the caller's promise.
    let work = unsafe { &*work.cast::<W>() };
    work();
}

/// What caller and helpers share.
struct Crew {
    /// The work, for `call`; alive as X4 says.
    work: *const (),
    call: unsafe fn(*const ()),
    state: Mutex<State>,
    /// Notified when the last helper has left.
    left: Condvar,
}

#[derive(Default)]
struct State {
    closed: bool,
    /// Helpers at work.
    helpers: usize,
    /// What one of them panicked with.
    panic: Option<Box<dyn Any + Send>>,
}

// SAFETY: the work is `Sync` by the bound of `run`, so that any thread may call it; the rest is `Send`.
unsafe impl Send for Crew {}
// SAFETY: as above; the state is behind a lock.
unsafe impl Sync for Crew {}

impl Crew {
    fn state(&self) -> MutexGuard<'_, State> {
        // Nothing panics while it holds the lock.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Works along, unless all has been done.
    fn help(&self) {
        {
            let mut state = self.state();
            if state.closed {
                return;
            }
            state.helpers += 1;
        }
        let result = catch_unwind(AssertUnwindSafe(|| {
            // SAFETY: X4: counted just now, while the crew was open, and until below.
            unsafe { (self.call)(self.work) }
        }));
        let mut state = self.state();
        state.panic = result.err().or(state.panic.take());
        state.helpers -= 1;
        if state.helpers == 0 {
            self.left.notify_one();
        }
    }
}

/// Closes a crew when it is dropped, and waits for the helpers that are at work.
struct Closing<'a>(&'a Crew);

impl Drop for Closing<'_> {
    fn drop(&mut self) {
        self.0.state().closed = true;
        for _ in 0..LOOKS {
            if self.0.state().helpers == 0 {
                return;
            }
            (0..PAUSES).for_each(|_| core::hint::spin_loop());
        }
        let mut state = self.0.state();
        while state.helpers > 0 {
            state = self.0.left.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }
}
