//! Sharing work between the calling thread and threads of a rayon pool.
//!
//! Functions of rayon that wait, such as `join` and `scope`, run other jobs of the pool while they wait. Such a job may
//! want a lock that the caller holds, or take longer than the call. So a call only spawns jobs. It works itself from
//! the start, and waits at the end for the helpers that have begun, which do nothing but its work. It does not wait for
//! a helper that has not begun.
//!
//! ```text
//! run:  add the call to the list of its pool           offer:  take a call from the list, or leave
//!       spawn offers, if fewer are open than wanted            spawn offers, if fewer are open than wanted
//!       work                                                   work
//!       remove the call from the list
//!       wait for the helpers that have begun
//! ```
//!
//! An offer is a job that helps a call of its pool: the first of the list when a thread takes the offer. Until then the
//! offer is open. Offers that a busy pool leaves open serve later calls. So there is no need for more open offers than
//! threads, however many calls there are.
//!
//! - **X4** A helper takes the work and counts itself as busy in one step, under the lock of the call, and only while
//!   there is work to take. It counts itself as free when its call of the work has ended. Before [`run`] ends, by a
//!   panic too, it takes the work away and waits until no helper is busy. So the work is alive during every call of
//!   it.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::any::Any;
use core::cell::RefCell;
use core::mem;
use core::sync::atomic::{AtomicUsize, Ordering};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use super::sync::{
    Arc, Condvar, LOOKS, LazyLock, Mutex, MutexGuard, PoisonError, is_in_pool, pause, spawn, thread_local,
};

/// Work that several threads may do at the same time.
type SharedWork<'a> = dyn Fn() + Sync + 'a;

/// Calls `work` on this thread, and on up to `helpers` others of its pool as they become free. A thread that is in no
/// pool is helped by the global one, which the caller has started.
///
/// # Panics
/// When `work` does, on any of the threads.
pub(super) fn run(helpers: usize, work: &SharedWork<'_>) {
    // SAFETY: X4: no call of the work begins or goes on after this function, so it does not outlive the borrow.
    let work: &'static SharedWork<'static> =
        unsafe { mem::transmute::<&SharedWork<'_>, &'static SharedWork<'static>>(work) };
    let call = Arc::new(HelpedCall {
        state: Mutex::new(HelperState { work: Some(work), busy: 0 }),
        free: Condvar::new(),
        panics: FirstPanic::default(),
    });
    let end = End { call: &call, pool: Pool::of_this_thread() };
    if let Some(pool) = &end.pool {
        pool.add(&call, helpers);
    }
    call.panics.catch(work);
    drop(end);
    call.panics.resume();
}

/// The state that a caller and its helpers share.
struct HelpedCall {
    state: Mutex<HelperState>,
    /// Notified when the last busy helper is free.
    free: Condvar,
    panics: FirstPanic,
}

struct HelperState {
    /// `None` when the work is over.
    work: Option<&'static SharedWork<'static>>,
    /// Helpers that call the work.
    busy: usize,
}

impl HelpedCall {
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
    fn take(&self) -> Option<&'static SharedWork<'static>> {
        let mut state = lock(&self.state);
        state.busy += usize::from(state.work.is_some());
        state.work
    }
}

/// When it is dropped, takes the work away and waits for the helpers that are busy.
struct End<'a> {
    call: &'a Arc<HelpedCall>,
    pool: Option<Arc<Pool>>,
}

impl Drop for End<'_> {
    fn drop(&mut self) {
        if let Some(pool) = &self.pool {
            pool.remove(self.call);
        }
        lock(&self.call.state).work = None;
        for _ in 0..LOOKS {
            if lock(&self.call.state).busy == 0 {
                return;
            }
            pause();
        }
        let mut state = lock(&self.call.state);
        while state.busy > 0 {
            state = self.call.free.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

/// The calls of a rayon pool that want help, and the offers that are open.
///
/// rayon does not tell which threads are of one pool, so this is learned. A thread of a pool begins with a `Pool` of
/// its own, whose only thread it is. Calls from outside share the oldest one, which begins without threads. An offer
/// goes to threads of the rayon pool that it was made in. The thread that takes it moves to the `Pool` of the offer, if
/// that is the older one. So all threads of a rayon pool come to one `Pool`.
///
/// A `Pool` has at most one open offer for each of its threads. So a rayon pool has, whatever has been learned. One
/// offer more may be open until calls from outside know a first thread.
struct Pool {
    /// Differs from that of every other. The oldest is 0.
    age: usize,
    offers: Mutex<Offers>,
}

struct Offers {
    /// The threads of this pool.
    threads: usize,
    /// Offers that no thread has taken.
    open: usize,
    /// The calls that want help, the first one first, with the number of helpers that each wants still.
    calls: Vec<(Arc<HelpedCall>, usize)>,
}

thread_local! {
    /// The pool of this thread, if the thread belongs to one, and has made or helped a call.
    static POOL: RefCell<Option<Arc<Pool>>> = const { RefCell::new(None) };
}

impl Pool {
    fn new(age: usize, threads: usize) -> Arc<Self> {
        Arc::new(Pool { age, offers: Mutex::new(Offers { threads, open: 0, calls: Vec::new() }) })
    }

    /// The pool by which a call from this thread is helped. `None` in a thread that ends.
    fn of_this_thread() -> Option<Arc<Self>> {
        static AGES: AtomicUsize = AtomicUsize::new(1);
        static OUTSIDE: LazyLock<Arc<Pool>> = LazyLock::new(|| Pool::new(0, 0));
        if !is_in_pool() {
            return Some(Arc::clone(LazyLock::force(&OUTSIDE)));
        }
        let begin = || Pool::new(AGES.fetch_add(1, Ordering::Relaxed), 1);
        POOL.try_with(|pool| Arc::clone(pool.borrow_mut().get_or_insert_with(begin))).ok()
    }

    /// Adds a call that wants help.
    fn add(self: &Arc<Self>, call: &Arc<HelpedCall>, helpers: usize) {
        let mut offers = lock(&self.offers);
        offers.calls.push((Arc::clone(call), helpers));
        let missing = offers.open_missing();
        drop(offers);
        self.spawn(missing);
    }

    /// Removes a call, if it wants help still.
    fn remove(&self, call: &Arc<HelpedCall>) {
        lock(&self.offers).calls.retain(|(other, _)| !Arc::ptr_eq(other, call));
    }

    /// Spawns offers, which are counted as open.
    fn spawn(self: &Arc<Self>, offers: usize) {
        for _ in 0..offers {
            let pool = Arc::clone(self);
            spawn(move || pool.take_offer());
        }
    }

    /// The work of a thread that takes an offer.
    fn take_offer(self: &Arc<Self>) {
        let moves = POOL.try_with(|pool| self.moves_here(&mut pool.borrow_mut())).unwrap_or(false);
        let mut offers = lock(&self.offers);
        offers.open -= 1;
        offers.threads += usize::from(moves);
        let call = offers.next_call();
        let missing = offers.open_missing();
        drop(offers);
        self.spawn(missing);
        if let Some(call) = call {
            call.help();
        }
    }

    /// Makes this the pool of a thread, if the one that it has is younger and lets it go. Returns whether it did.
    fn moves_here(self: &Arc<Self>, pool: &mut Option<Arc<Self>>) -> bool {
        let moves = pool.as_ref().is_none_or(|pool| self.age < pool.age && lock(&pool.offers).lose_thread());
        if moves {
            *pool = Some(Arc::clone(self));
        }
        moves
    }
}

impl Offers {
    /// Counts as open what is missing to as many offers as calls want helpers, or else as there are threads. Returns
    /// how many these are.
    fn open_missing(&mut self) -> usize {
        let wanted: usize = self.calls.iter().map(|&(_, helpers)| helpers).sum();
        // Without threads: calls from outside that know none yet.
        let missing = wanted.min(self.threads.max(1)).saturating_sub(self.open);
        self.open += missing;
        missing
    }

    /// The first call of the list, which gets one of the helpers that it wants.
    fn next_call(&mut self) -> Option<Arc<HelpedCall>> {
        let (call, helpers) = self.calls.first_mut()?;
        if *helpers > 1 {
            *helpers -= 1;
            return Some(Arc::clone(call));
        }
        Some(self.calls.remove(0).0)
    }

    /// Counts one thread less, unless there are as many open offers as threads.
    fn lose_thread(&mut self) -> bool {
        let loses = self.open < self.threads;
        self.threads -= usize::from(loses);
        debug_assert!(self.threads > 0 || self.calls.is_empty(), "calls keep offers open, up to the number of threads");
        loses
    }
}

/// The payload of the first of several panics.
#[derive(Default)]
struct FirstPanic(Mutex<Option<Box<dyn Any + Send>>>);

impl FirstPanic {
    /// Calls `work`, and keeps what it panics with if nothing did before.
    fn catch(&self, work: &SharedWork<'_>) {
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

/// The state of a pool, as far as it is known.
#[cfg(test)]
pub(super) struct Known {
    pub(super) threads: usize,
    /// Offers that no thread has taken.
    pub(super) open: usize,
    /// Calls that want help.
    pub(super) calls: usize,
}

/// The state of this thread's pool, as far as it is known.
#[cfg(test)]
pub(super) fn known() -> Known {
    let pool = Pool::of_this_thread().expect("a thread that does not end");
    let offers = lock(&pool.offers);
    Known { threads: offers.threads, open: offers.open, calls: offers.calls.len() }
}
