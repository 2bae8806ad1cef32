//! Threads: how many tasks a call is worth, and sharing its pieces between them, in the caller's rayon pool.

#![forbid(unsafe_code)]

use core::sync::atomic::{AtomicUsize, Ordering};

#[cfg(feature = "rayon")]
use crate::crew;
use crate::ops::Par;

/// Work that one task should have at least, in bytes copied: about 40 microseconds. With half as much, calls that find the pool
/// asleep take 1.0 to 1.4 times as long as on one thread; with as much, 0.5 to 1.0 (`crew.rs` has figures).
#[cfg(feature = "rayon")]
const WORK_PER_TASK: usize = 1 << 20;

/// What resolving and moving one lane costs, in bytes copied.
#[cfg(feature = "rayon")]
const LANE: usize = 24;

/// Pieces that there are for each task: threads that come late, or are held up, take fewer of them.
pub(crate) const PIECES: usize = 4;

/// Bytes copied in the time that a nest takes which copies `bytes` bytes and resolves `lanes` indices.
#[cfg(feature = "rayon")]
#[inline]
fn work(bytes: usize, lanes: usize) -> usize {
    bytes.saturating_add(lanes.saturating_mul(LANE))
}

/// Whether a nest that copies `bytes` bytes and resolves `lanes` indices is run by one thread, whatever the pool.
#[cfg(feature = "rayon")]
#[inline]
pub(crate) fn alone(par: Par, bytes: usize, lanes: usize) -> bool {
    match par {
        Par::Seq => true,
        Par::Threads(n) => n <= 1,
        Par::Auto => work(bytes, lanes) < 2 * WORK_PER_TASK,
    }
}

/// The number of tasks for a nest that copies `bytes` bytes and resolves `lanes` indices.
#[cfg(feature = "rayon")]
#[inline]
pub(crate) fn tasks(par: Par, bytes: usize, lanes: usize) -> usize {
    match par {
        Par::Threads(n) => n.max(1),
        // Small calls do not even ask for the pool, which would start it.
        Par::Auto if !alone(par, bytes, lanes) => rayon::current_num_threads().min(work(bytes, lanes) / WORK_PER_TASK),
        Par::Auto | Par::Seq => 1,
    }
}

/// Whether one thread runs it: always.
#[cfg(not(feature = "rayon"))]
pub(crate) fn alone(_: Par, _: usize, _: usize) -> bool {
    true
}

/// The number of tasks: one.
#[cfg(not(feature = "rayon"))]
pub(crate) fn tasks(_: Par, _: usize, _: usize) -> usize {
    1
}

/// The pieces of some work, which the threads take one after the other.
pub(crate) struct Pieces<'a> {
    next: &'a AtomicUsize,
    n: usize,
    /// The thread's number among those that work on the pieces.
    pub(crate) worker: usize,
}

impl Iterator for Pieces<'_> {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        let piece = self.next.fetch_add(1, Ordering::Relaxed);
        (piece < self.n).then_some(piece)
    }
}

/// Calls `work` on this thread, and on up to `tasks - 1` others that are free meanwhile. Between them they take the pieces
/// from 0 to `n`, each once. All of it has happened when this returns.
pub(crate) fn share(tasks: usize, n: usize, work: impl Fn(Pieces<'_>) + Sync) {
    let (next, workers) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let work = || work(Pieces { next: &next, n, worker: workers.fetch_add(1, Ordering::Relaxed) });
    help(tasks.min(n).saturating_sub(1), &work);
}

/// Calls `work` here, and on up to `helpers` other threads.
#[cfg(feature = "rayon")]
fn help(helpers: usize, work: &(impl Fn() + Sync)) {
    if helpers == 0 {
        return work();
    }
    let helpers = helpers.min(rayon::current_num_threads());
    if rayon::current_thread_index().is_none() {
        crew::run(helpers, work);
    } else {
        rayon::scope(|scope| {
            for _ in 0..helpers {
                scope.spawn(|_| work());
            }
            work();
        });
    }
}

/// Calls `work` here.
#[cfg(not(feature = "rayon"))]
fn help(_: usize, work: &(impl Fn() + Sync)) {
    work();
}

#[cfg(all(test, feature = "rayon"))]
mod tests {
    use alloc::vec::Vec;
    use core::sync::atomic::{AtomicUsize, Ordering::SeqCst};
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::sync::{Barrier, Mutex};
    use std::thread::ThreadId;

    use super::share;

    /// How often each of `n` pieces was taken, and by how many workers.
    fn taken(tasks: usize, n: usize) -> (Vec<usize>, usize) {
        let counts: Vec<AtomicUsize> = (0..n).map(|_| AtomicUsize::new(0)).collect();
        let workers = Mutex::new(Vec::new());
        share(tasks, n, |pieces| {
            workers.lock().unwrap().push(pieces.worker);
            for piece in pieces {
                counts[piece].fetch_add(1, SeqCst);
            }
        });
        let mut workers = workers.into_inner().unwrap();
        workers.sort_unstable();
        assert!(workers.iter().copied().eq(0..workers.len()), "workers have numbers of their own: {workers:?}");
        (counts.into_iter().map(AtomicUsize::into_inner).collect(), workers.len())
    }

    fn all_are_taken_once() {
        for tasks in 1..=9 {
            for n in [0, 1, 2, 7, 8, 100] {
                let (counts, workers) = taken(tasks, n);
                assert!(counts.iter().all(|&count| count == 1), "{tasks} tasks, {n} pieces: {counts:?}");
                assert!((1..=tasks).contains(&workers), "{tasks} tasks, {workers} workers");
            }
        }
        let (counts, workers) = taken(usize::MAX, 1000);
        assert!(counts.iter().all(|&count| count == 1) && workers <= rayon::current_num_threads() + 1);
    }

    #[test]
    fn every_piece_is_taken_once_outside_of_a_pool_and_inside() {
        all_are_taken_once();
        for threads in [1, 2, 5] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(all_are_taken_once);
        }
    }

    #[test]
    fn a_panic_on_any_thread_is_the_callers_and_nobody_is_left_at_work() {
        for panics_on_caller in [true, false] {
            for _ in 0..200 {
                let (caller, at_work) = (std::thread::current().id(), AtomicUsize::new(0));
                let panicked = AtomicUsize::new(0);
                let panics = |id: ThreadId| (id == caller) == panics_on_caller;
                let result = catch_unwind(AssertUnwindSafe(|| {
                    share(4, 64, |pieces| {
                        at_work.fetch_add(1, SeqCst);
                        let leaves = Leaves(&at_work);
                        let panics = panics(std::thread::current().id());
                        for piece in pieces {
                            panicked.fetch_add(usize::from(panics), SeqCst);
                            assert!(!panics, "piece {piece}");
                            std::thread::yield_now();
                        }
                        drop(leaves);
                    });
                }));
                assert_eq!(at_work.load(SeqCst), 0);
                // Whoever is to panic may come too late for a piece.
                let message = result.err().map(|panic| *panic.downcast::<alloc::string::String>().unwrap());
                assert_eq!(message.is_some(), panicked.load(SeqCst) > 0);
                assert!(message.is_none_or(|message| message.starts_with("piece ")));
            }
        }
    }

    /// One less at work, by a panic too.
    struct Leaves<'a>(&'a AtomicUsize);

    impl Drop for Leaves<'_> {
        fn drop(&mut self) {
            self.0.fetch_sub(1, SeqCst);
        }
    }

    #[test]
    fn a_pool_that_has_no_time_is_not_waited_for() {
        let threads = rayon::current_num_threads();
        let (busy, free) = (Barrier::new(threads + 1), Barrier::new(threads + 1));
        std::thread::scope(|scope| {
            scope.spawn(|| {
                rayon::broadcast(|_| {
                    busy.wait();
                    free.wait();
                });
            });
            busy.wait();
            let (counts, workers) = taken(threads + 1, 50);
            free.wait();
            assert_eq!((counts, workers), (alloc::vec![1; 50], 1));
        });
    }
}
