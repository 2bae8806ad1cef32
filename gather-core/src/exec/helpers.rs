//! Sharing of work between the calling thread and threads of a rayon pool.
//!
//! rayon functions that wait, such as `join` and `scope`, run other jobs of the pool meanwhile. Such a job may need a
//! lock that the caller holds, or take longer than the call. So a call only spawns jobs, and works itself from the
//! start. At the end it waits for the helpers that have begun, which do nothing but its work, and for no other helper.
//!
//! ```text
//! run:  add the call to the list of its pool           offer:  take a call from the list, or leave
//!       spawn offers, if fewer are open than wanted            spawn offers, if fewer are open than wanted
//!       work                                                   work
//!       remove the call from the list
//!       wait for the helpers that have begun
//! ```
//!
//! An offer is a job that helps one call: the first in the list of its pool when a thread takes the offer. The offer is
//! open until a thread takes it. Offers that a busy pool leaves open serve later calls, so a pool needs no more open
//! offers than threads.
//!
//! - **X4** A helper takes the work and increments `busy` in one step, under the lock of the call, and only while there
//!   is work. It decrements `busy` when its call of the work has ended. Before [`run`] returns or unwinds, it takes the
//!   work away and waits for `busy == 0`. So the work is alive during every call of it.

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

/// Work that several threads may call at the same time.
type SharedWork<'a> = dyn Fn() + Sync + 'a;

/// Calls `work` on this thread, and on up to `helpers` other threads of its pool as they become free. A thread outside
/// any pool is helped by the global pool, which the caller has started.
///
/// # Panics
/// If `work` panics on any of the threads.
pub(super) fn run(helpers: usize, work: &SharedWork<'_>) {
    // SAFETY: X4: no call of `work` runs after this function returns or unwinds, so no use outlives the borrow.
    let work: &'static SharedWork<'static> =
        unsafe { mem::transmute::<&SharedWork<'_>, &'static SharedWork<'static>>(work) };
    let call = Arc::new(HelpedCall {
        state: Mutex::new(HelperState { work: Some(work), busy: 0 }),
        free: Condvar::new(),
        panics: FirstPanic::default(),
    });
    let end = End { call: &call, pool: HelperPool::of_this_thread() };
    if let Some(pool) = &end.pool {
        pool.add(&call, helpers);
    }
    call.panics.catch(work);
    drop(end);
    call.panics.resume();
}

struct HelpedCall {
    state: Mutex<HelperState>,
    /// Notified when `busy` becomes 0.
    free: Condvar,
    panics: FirstPanic,
}

struct HelperState {
    /// `None` after the work is over.
    work: Option<&'static SharedWork<'static>>,
    /// Number of helpers that are calling the work.
    busy: usize,
}

impl HelpedCall {
    /// Calls the work, unless it is over.
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

    /// Takes the work, and counts the calling helper as busy. `None` if the work is over.
    fn take(&self) -> Option<&'static SharedWork<'static>> {
        let mut state = lock(&self.state);
        state.busy += usize::from(state.work.is_some());
        state.work
    }
}

/// Takes the work away on drop, and waits for the busy helpers.
struct End<'a> {
    call: &'a Arc<HelpedCall>,
    pool: Option<Arc<HelperPool>>,
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

/// The calls of a rayon pool that want help, and its open offers.
///
/// rayon has no function that says which threads share a pool. So a thread of a rayon pool begins with a `HelperPool`
/// of its own, with one thread. Calls from outside share the oldest `HelperPool`, which begins without threads. An
/// offer runs on a thread of the rayon pool in which it was spawned. The thread moves to the `HelperPool` of the offer
/// if that `HelperPool` is older. So all threads of a rayon pool converge to one `HelperPool`.
///
/// Invariant: at most one open offer per thread of a `HelperPool`, and so per thread of the rayon pool. The oldest
/// `HelperPool` may have one open offer while it has no thread.
struct HelperPool {
    /// Unique: an older `HelperPool` has a smaller `age`, and the oldest has 0.
    age: usize,
    offers: Mutex<Offers>,
}

struct Offers {
    threads: usize,
    /// Offers that no thread has taken.
    open: usize,
    /// Calls that want help, in order, each with the number of helpers it still wants.
    calls: Vec<(Arc<HelpedCall>, usize)>,
}

thread_local! {
    /// The pool of this thread, if the thread belongs to one and has made or helped a call.
    static POOL: RefCell<Option<Arc<HelperPool>>> = const { RefCell::new(None) };
}

impl HelperPool {
    fn new(age: usize, threads: usize) -> Arc<Self> {
        Arc::new(HelperPool { age, offers: Mutex::new(Offers { threads, open: 0, calls: Vec::new() }) })
    }

    /// The pool that helps calls from this thread. `None` if the thread is ending.
    fn of_this_thread() -> Option<Arc<Self>> {
        static AGES: AtomicUsize = AtomicUsize::new(1);
        static OUTSIDE: LazyLock<Arc<HelperPool>> = LazyLock::new(|| HelperPool::new(0, 0));
        if !is_in_pool() {
            return Some(Arc::clone(LazyLock::force(&OUTSIDE)));
        }
        let begin = || HelperPool::new(AGES.fetch_add(1, Ordering::Relaxed), 1);
        POOL.try_with(|pool| Arc::clone(pool.borrow_mut().get_or_insert_with(begin))).ok()
    }

    fn add(self: &Arc<Self>, call: &Arc<HelpedCall>, helpers: usize) {
        let mut offers = lock(&self.offers);
        offers.calls.push((Arc::clone(call), helpers));
        let missing = offers.open_missing();
        drop(offers);
        self.spawn(missing);
    }

    /// Removes a call, if it still wants help.
    fn remove(&self, call: &Arc<HelpedCall>) {
        lock(&self.offers).calls.retain(|(other, _)| !Arc::ptr_eq(other, call));
    }

    /// Spawns offers, which `open` counts already.
    fn spawn(self: &Arc<Self>, offers: usize) {
        for _ in 0..offers {
            let pool = Arc::clone(self);
            spawn(move || pool.take_offer());
        }
    }

    /// The job of an offer.
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

    /// Moves a thread to this `HelperPool` if it has no `HelperPool`, or a younger one for which `lose_thread`
    /// succeeds. Returns whether the thread moved.
    fn moves_here(self: &Arc<Self>, pool: &mut Option<Arc<Self>>) -> bool {
        let moves = pool.as_ref().is_none_or(|pool| self.age < pool.age && lock(&pool.offers).lose_thread());
        if moves {
            *pool = Some(Arc::clone(self));
        }
        moves
    }
}

impl Offers {
    /// Raises `open` to the number of helpers wanted, capped at the number of threads. Returns the increase.
    fn open_missing(&mut self) -> usize {
        let wanted: usize = self.calls.iter().map(|&(_, helpers)| helpers).sum();
        // `threads == 0`: the `HelperPool` of calls from outside, before a thread has moved to it.
        let missing = wanted.min(self.threads.max(1)).saturating_sub(self.open);
        self.open += missing;
        missing
    }

    /// The first call of the list, with one helper less to want; removes the call from the list if that leaves 0.
    fn next_call(&mut self) -> Option<Arc<HelpedCall>> {
        let (call, helpers) = self.calls.first_mut()?;
        if *helpers > 1 {
            *helpers -= 1;
            return Some(Arc::clone(call));
        }
        Some(self.calls.remove(0).0)
    }

    /// Decrements `threads` unless `open == threads`. Returns whether it did.
    fn lose_thread(&mut self) -> bool {
        let loses = self.open < self.threads;
        self.threads -= usize::from(loses);
        debug_assert!(self.threads > 0 || self.calls.is_empty(), "calls keep offers open, up to the number of threads");
        loses
    }
}

#[derive(Default)]
struct FirstPanic(Mutex<Option<Box<dyn Any + Send>>>);

impl FirstPanic {
    /// Calls `work`, and keeps the payload of its panic if it is the first.
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

    fn resume(&self) {
        let first = lock(&self.0).take();
        if let Some(panic) = first {
            resume_unwind(panic);
        }
    }
}

/// Drops the payload of a panic. If the drop panics too, leaks the second payload, whose drop might panic again.
fn discard(panic: Box<dyn Any + Send>) {
    if let Err(another) = catch_unwind(AssertUnwindSafe(|| drop(panic))) {
        mem::forget(another);
    }
}

/// Locks a mutex of this module. No thread panics while it holds such a mutex.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
pub(super) struct Known {
    pub(super) threads: usize,
    pub(super) open: usize,
    pub(super) calls: usize,
}

#[cfg(test)]
pub(super) fn known() -> Known {
    let pool = HelperPool::of_this_thread().expect("a thread that does not end");
    let offers = lock(&pool.offers);
    Known { threads: offers.threads, open: offers.open, calls: offers.calls.len() }
}
