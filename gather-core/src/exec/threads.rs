//! Sharing of the chunks of a call between the threads of the caller's rayon pool.

#![forbid(unsafe_code)]

#[cfg(feature = "rayon")]
use core::error::Error as _;
use core::sync::atomic::{AtomicUsize, Ordering};
#[cfg(feature = "rayon")]
use std::panic::catch_unwind;
#[cfg(feature = "rayon")]
use std::sync::OnceLock;

#[cfg(feature = "rayon")]
use crate::exec::helpers;

/// Chunks per task. With several, threads that are early take chunks from threads that are late.
pub(crate) const CHUNKS_PER_THREAD: usize = 4;

/// The number of threads that can work on a call: only the calling thread.
#[cfg(not(feature = "rayon"))]
pub(crate) fn pool_threads() -> usize {
    1
}

/// Calls `run(chunk, worker)` for each chunk of `0..n` once, on this thread and on up to `tasks - 1` others as they
/// become free. Workers have distinct numbers below `tasks`. All calls have ended when this returns.
pub(crate) fn parallel_for(tasks: usize, n: usize, run: impl Fn(usize, usize) + Sync) {
    let (next, workers) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let work = || {
        let worker = workers.fetch_add(1, Ordering::Relaxed);
        let next = || Some(next.fetch_add(1, Ordering::Relaxed)).filter(|&chunk| chunk < n);
        core::iter::from_fn(next).for_each(|chunk| run(chunk, worker));
    };
    help(tasks.min(n).saturating_sub(1), &work);
}

/// Calls `work` here, and on up to `helpers` other threads.
#[cfg(feature = "rayon")]
fn help(helpers: usize, work: &(impl Fn() + Sync)) {
    let helpers = if helpers == 0 { 0 } else { helpers.min(others()) };
    if helpers == 0 { work() } else { helpers::run(helpers, work) }
}

/// Threads of the current pool except this one.
#[cfg(feature = "rayon")]
fn others() -> usize {
    pool_threads().saturating_sub(usize::from(rayon_core::current_thread_index().is_some()))
}

/// The number of threads of this thread's pool, or else of the global pool; 0 if the global pool cannot start.
#[cfg(feature = "rayon")]
pub(crate) fn pool_threads() -> usize {
    static GLOBAL_STARTS: OnceLock<bool> = OnceLock::new();
    if rayon_core::current_thread_index().is_some() || *GLOBAL_STARTS.get_or_init(start_global) {
        rayon_core::current_num_threads()
    } else {
        0
    }
}

/// Starts the global pool unless it has started. Returns whether it exists.
///
/// rayon starts the pool on first use. If the system refuses the threads, the first use and every later use panic.
#[cfg(feature = "rayon")]
fn start_global() -> bool {
    // On targets without threads rayon falls back to a pool of the calling thread, but not in `build_global`.
    if !cfg!(target_family = "wasm") {
        match rayon_core::ThreadPoolBuilder::new().build_global() {
            Ok(()) => return true,
            // The system refused the threads.
            Err(error) if error.source().is_some() => return false,
            // An earlier call has tried.
            Err(_) => {}
        }
    }
    catch_unwind(rayon_core::current_num_threads).is_ok()
}

#[cfg(not(feature = "rayon"))]
fn help(_: usize, work: &(impl Fn() + Sync)) {
    work();
}

#[cfg(all(test, feature = "rayon"))]
mod tests {
    use alloc::sync::Arc;
    use alloc::vec::Vec;
    use core::sync::atomic::{AtomicUsize, Ordering::SeqCst};
    use std::panic::{AssertUnwindSafe, catch_unwind, panic_any};
    use std::sync::{Barrier, Mutex, MutexGuard, PoisonError};
    use std::thread::ThreadId;
    use std::time::Instant;

    use super::parallel_for;
    use crate::exec::helpers::{Known, known};
    #[cfg(all(target_os = "linux", target_pointer_width = "64", not(miri)))]
    use crate::types::level::tests::this_test;

    /// How often each of `n` chunks was taken, and the number of workers.
    fn taken(tasks: usize, n: usize) -> (Vec<usize>, usize) {
        let counts: Vec<AtomicUsize> = (0..n).map(|_| AtomicUsize::new(0)).collect();
        let workers = Mutex::new(Vec::new());
        parallel_for(tasks, n, |piece, worker| {
            workers.lock().unwrap().push((worker, std::thread::current().id()));
            counts[piece].fetch_add(1, SeqCst);
        });
        let mut workers = workers.into_inner().unwrap();
        workers.sort_unstable_by_key(|&(worker, _)| worker);
        workers.dedup();
        let own = workers.is_sorted_by(|a, b| a.0 < b.0) && workers.iter().all(|&(worker, _)| worker < tasks);
        assert!(own, "workers have numbers of their own: {workers:?}");
        (counts.into_iter().map(AtomicUsize::into_inner).collect(), workers.len())
    }

    fn all_are_taken_once() {
        for tasks in 1..=9 {
            for n in [0, 1, 2, 7, 8, 100] {
                let (counts, workers) = taken(tasks, n);
                assert!(counts.iter().all(|&count| count == 1), "{tasks} tasks, {n} pieces: {counts:?}");
                assert!((n.min(1)..=tasks).contains(&workers), "{tasks} tasks, {workers} workers");
            }
        }
        let (counts, workers) = taken(usize::MAX, 1000);
        assert!(counts.iter().all(|&count| count == 1) && workers <= rayon_core::current_num_threads() + 1);
    }

    #[test]
    #[cfg_attr(target_family = "wasm", ignore = "needs threads")]
    fn every_piece_is_taken_once_outside_of_a_pool_and_inside() {
        all_are_taken_once();
        for threads in [1, 2, 5] {
            let pool = rayon_core::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(all_are_taken_once);
        }
    }

    #[test]
    #[cfg_attr(target_family = "wasm", ignore = "needs threads")]
    fn a_panic_on_any_thread_is_the_callers_and_nobody_is_left_at_work() {
        for panics_on_caller in [true, false] {
            for _ in 0..200 {
                let (caller, at_work) = (std::thread::current().id(), AtomicUsize::new(0));
                let panicked = AtomicUsize::new(0);
                let panics = |id: ThreadId| (id == caller) == panics_on_caller;
                let result = catch_unwind(AssertUnwindSafe(|| {
                    parallel_for(4, 64, |piece, _| {
                        at_work.fetch_add(1, SeqCst);
                        let leaves = Leaves(&at_work);
                        let panics = panics(std::thread::current().id());
                        panicked.fetch_add(usize::from(panics), SeqCst);
                        assert!(!panics, "piece {piece}");
                        std::thread::yield_now();
                        drop(leaves);
                    });
                }));
                assert_eq!(at_work.load(SeqCst), 0);
                // The thread that should panic may come too late for a chunk.
                let message = result.err().map(|panic| *panic.downcast::<alloc::string::String>().unwrap());
                assert_eq!(message.is_some(), panicked.load(SeqCst) > 0);
                assert!(message.is_none_or(|message| message.starts_with("piece ")));
            }
        }
    }

    /// Decrements the count on drop, so after a panic too.
    struct Leaves<'a>(&'a AtomicUsize);

    impl Drop for Leaves<'_> {
        fn drop(&mut self) {
            self.0.fetch_sub(1, SeqCst);
        }
    }

    /// A payload whose drop panics with another payload.
    struct Bomb;

    impl Drop for Bomb {
        fn drop(&mut self) {
            panic_any(Bomb);
        }
    }

    #[test]
    #[cfg_attr(target_family = "wasm", ignore = "needs threads")]
    fn payloads_whose_drop_panics_end_in_one_panic() {
        let panics_on_two_threads = || {
            let both = Barrier::new(2);
            let result = catch_unwind(AssertUnwindSafe(|| {
                parallel_for(2, 2, |_, _| {
                    both.wait();
                    panic_any(Bomb);
                });
            }));
            let bomb = result.unwrap_err();
            assert!(bomb.is::<Bomb>());
            core::mem::forget(bomb);
        };
        panics_on_two_threads();
        let pool = rayon_core::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
        pool.install(panics_on_two_threads);
    }

    /// Runs itself in processes that cannot start threads: their stacks would exceed the address space.
    #[test]
    #[cfg(all(target_os = "linux", target_pointer_width = "64", not(miri)))]
    fn without_a_pool_the_caller_works_alone() {
        const USED_BEFORE: &str = "GATHER_TEST_POOL_USED_BEFORE";
        let unwinds = || catch_unwind(rayon_core::current_num_threads).is_err();
        if let Ok(used_before) = std::env::var(USED_BEFORE) {
            assert!(used_before != "yes" || unwinds());
            assert_eq!(super::pool_threads(), 0);
            assert_eq!(taken(4, 64), (alloc::vec![1; 64], 1));
            assert!(unwinds(), "rayon has no pool");
            return;
        }
        let module = module_path!().split_once("::").expect("a module of the crate").1;
        let name = alloc::format!("{module}::without_a_pool_the_caller_works_alone");
        for used_before in ["yes", "no"] {
            let child = this_test()
                .args([name.as_str(), "--exact", "--test-threads=1"])
                .env(USED_BEFORE, used_before)
                .env("RUST_MIN_STACK", (1_u64 << 50).to_string())
                .output()
                .unwrap();
            let output = alloc::string::String::from_utf8_lossy(&child.stdout);
            assert!(child.status.success() && output.contains("1 passed"), "{child:?}");
        }
    }

    /// Calls `call` while all other threads of this thread's pool are busy.
    fn while_others_are_busy(call: impl FnOnce()) {
        let here = rayon_core::current_thread_index();
        let both = Arc::new([Barrier::new(super::others() + 1), Barrier::new(super::others() + 1)]);
        let [busy, free] = &*both;
        let there = Arc::clone(&both);
        rayon_core::spawn_broadcast(move |thread| {
            // This thread runs the closure too, after the call has ended.
            if Some(thread.index()) != here {
                there.iter().for_each(|both| _ = both.wait());
            }
        });
        busy.wait();
        call();
        free.wait();
    }

    /// Locks out the other tests that use the global pool.
    fn alone_in_the_global_pool() -> MutexGuard<'static, ()> {
        static ALONE: Mutex<()> = Mutex::new(());
        ALONE.lock().unwrap_or_else(PoisonError::into_inner)
    }

    #[test]
    #[cfg_attr(target_family = "wasm", ignore = "needs threads")]
    fn a_pool_that_has_no_time_is_not_waited_for() {
        let calls = || while_others_are_busy(|| assert_eq!(taken(8, 50), (alloc::vec![1; 50], 1)));
        let alone = alone_in_the_global_pool();
        calls();
        drop(alone);
        for threads in [1, 2, 5] {
            rayon_core::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(calls);
        }
    }

    #[test]
    #[cfg_attr(target_family = "wasm", ignore = "needs threads")]
    fn a_pool_has_no_more_open_offers_than_threads() {
        let calls = || {
            let size = rayon_core::current_num_threads();
            let is_global = rayon_core::current_thread_index().is_none();
            while_others_are_busy(|| {
                for _ in 0..1000 {
                    assert_eq!(taken(8, 50), (alloc::vec![1; 50], 1));
                    let Known { threads, open, calls } = known();
                    assert!(open <= threads.max(1) && threads <= size, "{open} offers, {threads} of {size} threads");
                    assert_eq!(open == 0, super::others() == 0);
                    // Calls of other tests use the global pool too.
                    assert!(calls == 0 || is_global, "a call that has ended wants help");
                }
            });
        };
        let alone = alone_in_the_global_pool();
        calls();
        drop(alone);
        for threads in [1, 2, 5] {
            let pool = rayon_core::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            // Every thread makes its first call, whether or not it has helped another.
            pool.broadcast(|_| drop(taken(1 + threads, 50)));
            pool.install(calls);
            let call = || {
                taken(threads.max(2), 50);
                known()
            };
            let begin = Instant::now();
            while pool.install(call).threads != threads {
                assert!(begin.elapsed().as_secs() < 20, "threads of one pool do not get to know each other");
            }
        }
    }
}
