//! While a call waits, its thread runs no other job. Calls that get no help take no memory.

use std::cell::{Cell, RefCell};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Barrier, Mutex, PoisonError};
use std::time::{Duration, Instant};

use gather_core::{Gather, Par, Plan, Spec, View, ViewMut, map_kernels};
use gather_tests::support::ends;
use rayon::{ThreadPool, ThreadPoolBuilder};

/// A plan that four threads share, with the data and the indices of its calls.
struct Call {
    plan: Plan<u64, u32>,
    data: Vec<u64>,
    indices: Vec<u32>,
}

impl Call {
    fn new(indices: usize) -> Self {
        let plan = Gather::new(0)
            .par(Par::Threads(4))
            .plan(&Spec::new(&[1000]).unwrap(), &Spec::new(&[indices]).unwrap())
            .unwrap();
        let scattered = |at: u32| at.wrapping_mul(0x9e37_79b1) % 1000;
        Call { plan, data: (0..1000).map(|at| at * 3).collect(), indices: (0..indices as u32).map(scattered).collect() }
    }

    fn run_into(&self, out: &mut [u64]) {
        let len = out.len();
        let (data, indices) = (View::new(&self.data, &[1000]).unwrap(), View::new(&self.indices, &[len]).unwrap());
        self.plan.run_into(&data, &indices, &mut ViewMut::new(out, &[len]).unwrap()).unwrap();
    }

    fn check(&self, out: &[u64]) {
        assert!(out.iter().zip(&self.indices).all(|(&out, &index)| out == u64::from(index) * 3));
    }
}

fn pool(threads: usize) -> ThreadPool {
    ThreadPoolBuilder::new().num_threads(threads).build().unwrap()
}

#[test]
fn an_output_of_a_thread_is_never_found_borrowed() {
    thread_local!(static OUT: RefCell<Vec<u64>> = RefCell::new(vec![0; 20_000]));
    ends(|| {
        let (call, borrowed) = (Call::new(20_000), AtomicUsize::new(0));
        pool(4).scope(|scope| {
            for _ in 0..400 {
                scope.spawn(|_| {
                    OUT.with(|out| match out.try_borrow_mut() {
                        Ok(mut out) => call.run_into(&mut out),
                        Err(_) => _ = borrowed.fetch_add(1, Ordering::Relaxed),
                    });
                });
            }
        });
        assert_eq!(borrowed.into_inner(), 0, "tasks that began on the thread of a call that had not ended");
    });
}

/// How many elements the maps below convert: few enough that each may take milliseconds.
const FEW: u32 = 64;

/// Maps `FEW` elements with up to `threads` threads.
macro_rules! run_map {
    ($map:ident, $threads:expr) => {{
        let (data, indices): (Vec<u32>, Vec<u32>) = ((0..FEW).collect(), (0..FEW).rev().collect());
        let (data, indices) =
            (View::new(&data, &[FEW as usize]).unwrap(), View::new(&indices, &[FEW as usize]).unwrap());
        Gather::new(0).par(Par::Threads($threads)).run(&data.map(&$map, ()), &indices).unwrap().into_vec()
    }};
}

thread_local! {
    /// Whether a call of `while_a_caller_waits` is on this thread.
    static IN_CALL: Cell<bool> = const { Cell::new(false) };
}

/// Runs a call whose helper spawns `job`, and takes so long that the caller has nothing left to do but to wait. Returns
/// how long the call took. Holds `guard` meanwhile.
fn while_a_caller_waits<G>(job: fn(), guard: impl FnOnce() -> G + Send) -> Duration {
    static ALONE: Mutex<()> = Mutex::new(());
    static JOB: Mutex<Option<fn()>> = Mutex::new(None);
    static HAS_HELPER: AtomicBool = AtomicBool::new(false);
    map_kernels! {
        static WAITS = |value: u32| -> u32 {
            if IN_CALL.get() {
                let begin = Instant::now();
                while !HAS_HELPER.load(Ordering::SeqCst) && begin.elapsed() < Duration::from_secs(20) {
                    std::thread::yield_now();
                }
            } else if let Some(job) = JOB.lock().unwrap().take() {
                HAS_HELPER.store(true, Ordering::SeqCst);
                rayon::spawn(job);
                std::thread::sleep(Duration::from_millis(300));
            }
            value + 1
        };
    }
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    HAS_HELPER.store(false, Ordering::SeqCst);
    *JOB.lock().unwrap() = Some(job);
    pool(2).install(|| {
        let begin = Instant::now();
        let guard = guard();
        IN_CALL.set(true);
        let got = run_map!(WAITS, 2);
        IN_CALL.set(false);
        drop(guard);
        assert!(got.into_iter().eq((1..=FEW).rev()));
        assert!(HAS_HELPER.load(Ordering::SeqCst), "the other thread was free to help");
        begin.elapsed()
    })
}

#[test]
fn a_caller_may_hold_a_lock_that_another_job_wants() {
    static LOCK: Mutex<u32> = Mutex::new(0);
    ends(|| {
        while_a_caller_waits(|| *LOCK.lock().unwrap() += 1, || LOCK.lock().unwrap());
    });
}

#[test]
fn a_caller_that_waits_does_not_take_up_another_job() {
    const LONG: Duration = Duration::from_secs(3);
    static FOUND_IN_CALL: AtomicBool = AtomicBool::new(false);
    ends(|| {
        let job = || {
            FOUND_IN_CALL.fetch_or(IN_CALL.get(), Ordering::SeqCst);
            std::thread::sleep(LONG);
        };
        let took = while_a_caller_waits(job, || ());
        assert!(!FOUND_IN_CALL.load(Ordering::SeqCst), "a job began inside a call, on its thread");
        assert!(took < LONG, "the call took {took:?}, as long as another job");
    });
}

#[test]
fn a_map_may_run_calls_that_use_threads_too() {
    map_kernels! {
        static INNER = |value: u32| -> u32 { value + 1 };
        static MIDDLE = |value: u32| -> u32 { run_map!(INNER, 3)[value as usize] };
        static OUTER = |value: u32| -> u32 { run_map!(MIDDLE, 4)[value as usize] };
    }
    // Each map turns the order of the elements round, which `INNER` counts from 1.
    let run = || assert!(run_map!(OUTER, 4).into_iter().eq((1..=FEW).rev()));
    ends(move || {
        run();
        for threads in [1, 2, 3] {
            let pool = pool(threads);
            pool.install(run);
            pool.scope(|scope| (0..4).for_each(|_| scope.spawn(move |_| run())));
        }
    });
}

/// Keeps all threads of the current pool but this one busy while `call` runs.
fn while_others_are_busy(call: impl FnOnce()) {
    let here = rayon::current_thread_index();
    let others = rayon::current_num_threads() - usize::from(here.is_some());
    let barriers = || Arc::new(Barrier::new(others + 1));
    let (busy, free) = (barriers(), barriers());
    rayon::spawn_broadcast({
        let (busy, free) = (busy.clone(), free.clone());
        move |thread| {
            // The broadcast comes to this thread too, when the call has ended.
            if Some(thread.index()) != here {
                busy.wait();
                free.wait();
            }
        }
    });
    busy.wait();
    call();
    free.wait();
}

#[test]
fn threads_that_are_busy_are_not_waited_for() {
    ends(|| {
        let run = || {
            let (call, mut out) = (Call::new(5000), vec![0; 5000]);
            while_others_are_busy(|| call.run_into(&mut out));
            call.check(&out);
        };
        run();
        [1, 2, 5].into_iter().for_each(|threads| pool(threads).install(run));
    });
}

/// The memory of this process, in bytes.
#[cfg(target_os = "linux")]
fn memory() -> u64 {
    let pages = std::fs::read_to_string("/proc/self/statm").unwrap();
    pages.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() * 4096
}

/// In processes of its own, whose memory nothing else changes.
#[test]
#[cfg(target_os = "linux")]
fn a_million_calls_beside_busy_threads_take_no_memory() {
    const INSIDE: &str = "GATHER_TESTS_INSIDE_A_POOL";
    let run = || {
        let (call, mut out) = (Call::new(8), [0; 8]);
        let mut run = |calls: usize| (0..calls).for_each(|_| call.run_into(&mut out));
        while_others_are_busy(|| {
            run(1000);
            let before = memory();
            run(1_000_000);
            let more = memory().saturating_sub(before);
            assert!(more < 4 << 20, "{more} bytes more");
        });
        call.check(&out);
    };
    match std::env::var(INSIDE).as_deref() {
        Ok("yes") => pool(3).install(run),
        Ok(_) => run(),
        Err(_) => {
            for inside in ["no", "yes"] {
                let mut process = gather_tests::support::this_test();
                process.args(["--exact", "threads::a_million_calls_beside_busy_threads_take_no_memory"]);
                let output = process.env(INSIDE, inside).env("RAYON_NUM_THREADS", "2").output().unwrap();
                assert!(output.status.success(), "inside: {inside}: {}", String::from_utf8_lossy(&output.stdout));
            }
        }
    }
}

/// Calls from tasks that wait for each other in rayon, and from outside, all at once.
#[test]
fn calls_from_everywhere_end() {
    ends(|| {
        let (call, pool) = (Call::new(3000), pool(3));
        let run = || {
            let mut out = vec![0; 3000];
            call.run_into(&mut out);
            call.check(&out);
        };
        std::thread::scope(|threads| {
            for _ in 0..3 {
                threads.spawn(|| (0..100).for_each(|_| run()));
                threads
                    .spawn(|| (0..100).for_each(|_| _ = pool.install(|| rayon::join(run, || rayon::join(run, run)))));
            }
        });
    });
}
