//! Models of how calls share their work between threads, and of pools of memory. They compile `helpers.rs` and
//! `pool/blocks.rs` of gather-core unchanged. shuttle chooses which thread goes on at each lock, and the pools of
//! threads here choose which job a thread takes.
//!
//! Each test runs `GATHER_MODEL_ROUNDS` orders that are drawn from a fixed seed, and as many that change threads at a
//! few points only (PCT). An order that fails is printed; `shuttle::replay` runs it again.

#![cfg(test)]

extern crate alloc;

mod call;
#[path = "../../gather-core/src/exec/helpers.rs"]
mod helpers;
mod memory;
mod pool;
mod sync;
mod tensor;
mod types;

use std::panic::resume_unwind;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

use shuttle::scheduler::{PctScheduler, RandomScheduler, Scheduler};
use shuttle::sync::{Arc, Barrier, Mutex};
use shuttle::{Config, Runner};

use crate::call::{BROKEN, promise, share};
use crate::pool::Pool;

/// Runs a scenario in many orders.
pub(crate) fn check(scenario: impl Fn() + Send + Sync + Copy + 'static) {
    let rounds = std::env::var("GATHER_MODEL_ROUNDS").map_or(2000, |rounds| rounds.parse().expect("a number"));
    fn run(scheduler: impl Scheduler + 'static, scenario: impl Fn() + Send + Sync + 'static) {
        let mut config = Config::default();
        config.stack_size = 1 << 17;
        config.silence_warnings = true;
        Runner::new(scheduler, config).run(move || {
            scenario();
            assert_eq!(BROKEN.get(), 0, "promises were broken");
        });
    }
    run(RandomScheduler::new_from_seed(34, rounds), scenario);
    run(PctScheduler::new_from_seed(34, 3, rounds), scenario);
}

/// A call whose pieces do nothing.
fn short_call(helpers: usize, pieces: usize) {
    share(helpers, pieces, |_| ()).unwrap_or_else(|panic| resume_unwind(panic));
}

/// A call that ends only if `helpers` helpers come, all at the same time.
fn call_with_all(helpers: usize) {
    let helpers = helpers.min(pool::others());
    let barrier = Barrier::new(helpers + 1);
    share(helpers, helpers + 1, move |_| _ = barrier.wait()).unwrap_or_else(|panic| resume_unwind(panic));
}

#[test]
fn helpers_may_come_late_or_never() {
    check(|| {
        Pool::with(2, true, |pool| {
            pool.spawn(|| short_call(1, 2));
            short_call(2, 3);
            short_call(2, 2);
        });
    });
}

#[test]
fn calls_from_outside_and_inside_share_a_pool() {
    check(|| {
        Pool::with(3, true, |pool| {
            let outside = shuttle::thread::spawn(|| short_call(3, 4));
            (0..3).for_each(|_| pool.spawn(|| short_call(2, 3)));
            short_call(2, 3);
            outside.join().unwrap();
        });
    });
}

/// While all threads but the caller's wait, and while they come back.
#[test]
fn many_calls_beside_busy_threads_leave_few_offers() {
    check(|| {
        Pool::with(3, false, |pool| {
            let free = Arc::new(Barrier::new(3));
            for _ in 0..2 {
                let free = Arc::clone(&free);
                pool.spawn(move || _ = free.wait());
            }
            pool.spawn(move || {
                (0..6).for_each(|_| short_call(2, 2));
                promise(helpers::known().calls == 0);
                free.wait();
                (0..2).for_each(|_| short_call(2, 2));
            });
        });
        Pool::with(2, true, |pool| {
            let free = Arc::new(Barrier::new(3));
            for _ in 0..2 {
                let free = Arc::clone(&free);
                pool.spawn(move || _ = free.wait());
            }
            (0..6).for_each(|_| short_call(2, 2));
            free.wait();
            short_call(2, 2);
        });
    });
}

/// Each call needs every thread of the pool, whatever is known of it, and whatever calls have left behind.
#[test]
fn every_free_thread_that_a_call_wants_comes() {
    check(|| {
        Pool::with(4, true, |pool| {
            // Threads make pools of their own first.
            (0..3).for_each(|_| pool.spawn(|| short_call(3, 2)));
            pool.wait();
            call_with_all(4);
            pool.spawn(|| call_with_all(3));
            pool.wait();
            short_call(1, 2);
            call_with_all(4);
        });
    });
}

/// Threads that each made a call first come to know each other, so that a call finds all with one round of offers.
#[test]
fn threads_of_a_pool_get_to_know_each_other() {
    static ALL: AtomicUsize = AtomicUsize::new(0);
    static NOT_ALL: AtomicUsize = AtomicUsize::new(0);
    check(|| {
        Pool::with(3, false, |pool| {
            let all = Arc::new(Barrier::new(3));
            for _ in 0..3 {
                let all = Arc::clone(&all);
                pool.spawn(move || {
                    all.wait();
                    short_call(2, 2);
                });
            }
            pool.wait();
            for _ in 0..4 {
                pool.spawn(|| call_with_all(2));
                pool.wait();
            }
            pool.spawn(|| {
                let known = helpers::known();
                promise(known.calls == 0 && (1..=3).contains(&known.threads));
                if known.threads == 3 { &ALL } else { &NOT_ALL }.fetch_add(1, SeqCst);
            });
        });
    });
    let (all, not_all) = (ALL.load(SeqCst), NOT_ALL.load(SeqCst));
    println!("{all} times all threads, {not_all} times fewer");
    assert!(all > not_all, "{all} times all threads, {not_all} times fewer");
}

#[test]
fn a_pool_of_one_thread_helps_calls_from_outside() {
    check(|| {
        Pool::with(1, true, |pool| {
            pool.spawn(|| short_call(4, 3));
            short_call(4, 3);
            call_with_all(1);
            pool.spawn(|| {
                short_call(4, 3);
                promise(helpers::known().open == 0);
            });
        });
    });
}

#[test]
fn maps_may_run_calls() {
    fn nested(helpers: usize, depth: usize) {
        let piece = move |_| {
            if depth > 0 {
                nested(helpers, depth - 1)
            }
        };
        share(helpers, 2, piece).unwrap_or_else(|panic| resume_unwind(panic));
    }
    check(|| {
        for threads in [1, 2] {
            Pool::with(threads, true, |pool| {
                pool.spawn(|| nested(2, 1));
                nested(2, 2);
            });
        }
    });
}

/// No protocol keeps a map that itself waits in rayon from running other jobs. It harms nobody who holds no lock.
#[test]
fn maps_may_wait_in_rayon() {
    check(|| {
        Pool::with(3, false, |pool| {
            for _ in 0..4 {
                pool.spawn(|| share(2, 3, |_| pool::yield_now()).unwrap_or_else(|panic| resume_unwind(panic)));
            }
        });
    });
}

/// A task that holds a lock over a call. Other tasks want it.
#[test]
fn callers_may_hold_locks() {
    check(|| {
        Pool::with(3, false, |pool| {
            let lock = Arc::new(Mutex::new(()));
            for _ in 0..4 {
                let lock = Arc::clone(&lock);
                pool.spawn(move || {
                    let _held = lock.lock().unwrap();
                    short_call(2, 3);
                });
            }
        });
    });
}

/// A payload that says which piece panicked. Its drop panics too, with another one.
struct Bomb(usize);

impl Bomb {
    /// Panics without the hook, by which shuttle would report the panic.
    fn explode(piece: usize) -> ! {
        resume_unwind(Box::new(Bomb(piece)))
    }
}

impl Drop for Bomb {
    fn drop(&mut self) {
        Bomb::explode(self.0);
    }
}

/// A call whose pieces in `panics` panic. The call panics as one of these did.
fn call_that_panics(helpers: usize, pieces: usize, panics: fn(usize) -> bool) {
    let result = share(helpers, pieces, move |piece| {
        if panics(piece) {
            Bomb::explode(piece);
        }
    });
    let bomb = result.expect_err("a panic").downcast::<Bomb>().unwrap_or_else(|panic| resume_unwind(panic));
    promise(panics(bomb.0));
    std::mem::forget(bomb);
}

#[test]
fn panics_on_any_side_are_the_callers() {
    check(|| {
        Pool::with(2, true, |pool| {
            pool.spawn(|| call_that_panics(1, 3, |piece| piece == 0));
            call_that_panics(2, 4, |piece| piece == 1);
            call_that_panics(2, 3, |_| true);
            short_call(2, 2);
        });
    });
}

/// A map panics in a call that is nested in a piece of another one.
#[test]
fn panics_of_nested_calls_pass_through() {
    check(|| {
        Pool::with(2, true, |pool| {
            let nested = || {
                let result = share(1, 2, |_| call_that_panics(1, 2, |_| true));
                promise(result.is_ok());
                let result = share(1, 2, |piece| {
                    let inner = share(1, 2, move |_| Bomb::explode(piece));
                    inner.unwrap_or_else(|panic| resume_unwind(panic));
                });
                std::mem::forget(result.expect_err("a panic"));
            };
            pool.spawn(nested);
            nested();
        });
    });
}
