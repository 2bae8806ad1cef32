//! Times of calls.

use std::time::{Duration, Instant};

/// Fewest times that a median is of.
pub const ROUNDS: usize = 9;

/// Calls before the clock starts. They find the caches as another variant has left them.
const SETTLING: u32 = 3;

/// The mean in milliseconds of as many calls as fit in a millisecond, at least one, after some that settle the caches.
/// Reading the clock takes as long as a short call, so it is read after more and more calls.
pub fn time(call: &mut (impl FnMut() + ?Sized)) -> f64 {
    let start = Instant::now();
    time_by(call, || start.elapsed())
}

/// As [`time`], by what the thread had a CPU for: other programs take part of the rest. Where the system does not say,
/// by the clock.
pub fn thread_time(call: &mut (impl FnMut() + ?Sized)) -> f64 {
    time_by(call, of_thread)
}

fn time_by(call: &mut (impl FnMut() + ?Sized), now: impl Fn() -> Duration) -> f64 {
    const ENOUGH: Duration = Duration::from_millis(1);
    (0..SETTLING).for_each(|_| call());
    let start = now();
    let (mut calls, mut batch) = (0u32, 1);
    loop {
        (0..batch).for_each(|_| call());
        calls += batch;
        let elapsed = now() - start;
        if elapsed > ENOUGH {
            return elapsed.as_secs_f64() * 1e3 / f64::from(calls);
        }
        if elapsed < ENOUGH / 4 {
            batch *= 2;
        }
    }
}

/// How long the calling thread had a CPU.
#[cfg(target_os = "linux")]
fn of_thread() -> Duration {
    use rustix::time::{ClockId, clock_gettime};

    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

#[cfg(not(target_os = "linux"))]
fn of_thread() -> Duration {
    use std::sync::OnceLock;

    static START: OnceLock<Instant> = OnceLock::new();
    START.get_or_init(Instant::now).elapsed()
}

/// The medians of calls in milliseconds. They take turns, round by round, for the given time, and for [`ROUNDS`] rounds
/// at least.
pub fn medians(calls: &mut [Box<dyn FnMut() + '_>], budget: Duration) -> Vec<f64> {
    let mut times = vec![Vec::new(); calls.len()];
    let start = Instant::now();
    for round in 1.. {
        for (times, call) in times.iter_mut().zip(calls.iter_mut()) {
            times.push(time(call));
        }
        if round >= ROUNDS && start.elapsed() > budget {
            break;
        }
    }
    times.into_iter().map(middle).collect()
}

/// The median of a call in milliseconds.
pub fn median(call: &mut (impl FnMut() + ?Sized), budget: Duration) -> f64 {
    medians(&mut [Box::new(call)], budget)[0]
}

/// The median of times, of which there is one at least.
pub fn middle(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians_are_those_of_their_calls() {
        let nap = |millis| move || std::thread::sleep(Duration::from_millis(millis));
        let times = medians(&mut [Box::new(nap(1)), Box::new(nap(6))], Duration::from_millis(20));
        assert!(times[0] >= 1.0 && times[1] >= 6.0 && times[0] < times[1], "{times:?}");
        assert!(median(&mut nap(1), Duration::from_millis(5)) >= 1.0);
    }

    #[test]
    fn a_thread_that_sleeps_takes_no_time() {
        let nap = thread_time(&mut || std::thread::sleep(Duration::from_micros(200)));
        assert!(cfg!(not(target_os = "linux")) || nap < 0.15, "{nap}");
    }

    #[test]
    fn the_middle_is_no_mean() {
        assert_eq!(middle(vec![9.0, 1.0, 2.0]), 2.0);
    }
}
