//! Keeps the program on one CPU, so that the scheduler does not move it to cold caches between two calls.

/// Pins the calling thread, and the threads that it starts later, to the last CPU that it may use. Returns the CPU's
/// number.
///
/// # Errors
/// A text: the system refuses, or is none that pins threads.
#[cfg(target_os = "linux")]
pub fn to_one_cpu() -> Result<usize, String> {
    use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

    let allowed = sched_getaffinity(None).map_err(|error| error.to_string())?;
    let last = (0..CpuSet::MAX_CPU).rev().find(|&cpu| allowed.is_set(cpu)).ok_or("no CPU is allowed")?;
    let mut one = CpuSet::new();
    one.set(last);
    sched_setaffinity(None, &one).map_err(|error| error.to_string())?;
    Ok(last)
}

/// Pins nothing: there is no portable way.
///
/// # Errors
/// Always.
#[cfg(not(target_os = "linux"))]
pub fn to_one_cpu() -> Result<usize, String> {
    Err("threads are pinned on Linux only".into())
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn a_pinned_thread_stays_on_its_cpu() {
        // A thread of its own: the other tests keep their CPUs.
        let pinned = std::thread::spawn(|| to_one_cpu().map(|cpu| (cpu, rustix::thread::sched_getcpu())));
        let (asked, got) = pinned.join().expect("no panic").expect("a CPU that we may use");
        assert_eq!(asked, got);
    }
}
