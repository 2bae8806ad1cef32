//! The process of one peer. It takes workloads, checks and times them. If it dies, the others live on.

use std::io::{BufRead, BufReader, Lines, Stdin, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use super::protocol::{Answer, Request};
use super::workloads::{self, Held};
use crate::peers::{self, Call, NotRun, Peer};

/// Serves one peer until standard input ends.
///
/// # Errors
/// A text: there is no such peer or workload, or a request breaks the protocol.
pub fn serve(peer: &str) -> Result<(), String> {
    let peer = peers::peer(peer).ok_or_else(|| format!("no peer {peer}"))?;
    let version = catch_unwind(AssertUnwindSafe(|| peer.version())).unwrap_or_else(|_| "unknown".into());
    say(&Answer::Hello { version })?;
    let mut requests = Requests(BufReader::new(std::io::stdin()).lines());
    let mut held = None;
    let mut next = requests.next()?;
    while let Some(request) = next {
        next = match request {
            Request::Prepare { workload, threads } => {
                let tensors = take(&mut held, &workload)?;
                peers::with_threads(threads, || hold(&*peer, tensors, threads, &mut requests))?
            }
            Request::Drop => {
                held = None;
                say(&Answer::Dropped).and_then(|()| requests.next())?
            }
            Request::Time { .. } => return Err("nothing is prepared".into()),
        };
    }
    Ok(())
}

struct Requests(Lines<BufReader<Stdin>>);

impl Requests {
    fn next(&mut self) -> Result<Option<Request>, String> {
        let line = self.0.next().transpose().map_err(|error| error.to_string())?;
        line.map(|line| Request::parse(&line)).transpose()
    }
}

fn say(answer: &Answer) -> Result<(), String> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{}", answer.line()).and_then(|()| out.flush()).map_err(|error| error.to_string())
}

/// The tensors of a workload. They take the place of another workload's.
fn take<'a>(held: &'a mut Option<(String, Held)>, workload: &str) -> Result<&'a Held, String> {
    if held.as_ref().is_none_or(|(name, _)| name != workload) {
        // The old tensors are freed before the new ones are made.
        *held = None;
    }
    let work = workloads::find(workload).ok_or_else(|| format!("no workload {workload}"))?;
    Ok(&held.get_or_insert_with(|| (workload.into(), work.hold())).1)
}

/// Keeps a call as long as requests time it; returns the first other request.
fn hold(peer: &dyn Peer, tensors: &Held, threads: usize, requests: &mut Requests) -> Result<Option<Request>, String> {
    let mut call = match tensors.prepare(peer, threads) {
        Ok(call) => call,
        Err(reason) => return say(&Answer::Not(reason.into())).and_then(|()| requests.next()),
    };
    say(&Answer::Ready)?;
    loop {
        match requests.next()? {
            Some(Request::Time { millis, least }) => say(&timed(&mut *call, Duration::from_millis(millis), least))?,
            other => return Ok(other),
        }
    }
}

fn timed(call: &mut dyn Call, budget: Duration, least: usize) -> Answer {
    let times = catch_unwind(AssertUnwindSafe(|| time(|| call.run(), budget, least)));
    times.map_or_else(|_| Answer::Not(NotRun::Failed("a panic while it was timed".into()).into()), Answer::Times)
}

/// One part of the budget in this number goes to calls that do not count: other processes have had the caches.
const SETTLING: u32 = 8;
/// Samples in a budget: at least half as many and at most twice as many, unless a single call takes longer.
const SAMPLES: u32 = 20;
/// The shortest sample. The clock is read twice for each.
const SHORTEST: Duration = Duration::from_micros(100);

/// Times calls for about as long as the budget. Returns nanoseconds a call; each sample is the mean of calls in a row.
fn time(mut call: impl FnMut(), budget: Duration, least: usize) -> Vec<f64> {
    let (start, sample) = (Instant::now(), (budget / SAMPLES).max(SHORTEST));
    let (mut calls, mut settled, mut took) = (1u32, false, Duration::ZERO);
    let mut times = Vec::new();
    while times.len() < least || start.elapsed() + took < budget {
        let begin = Instant::now();
        (0..calls).for_each(|_| call());
        took = begin.elapsed();
        if took < sample / 2 {
            calls = calls.saturating_mul(2);
        } else if settled {
            let nanos = took.as_secs_f64() * 1e9 / f64::from(calls);
            // Tenths of a nanosecond: more digits mean nothing and make long files.
            times.push((nanos * 10.0).round() / 10.0);
        }
        settled = start.elapsed() >= budget / SETTLING;
    }
    times
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slow_calls_get_the_least_number_of_samples() {
        let mut calls = 0;
        let slow = || {
            calls += 1;
            std::thread::sleep(Duration::from_millis(2));
        };
        let times = time(slow, Duration::from_millis(1), 3);
        assert_eq!((times.len(), calls), (3, 4));
        assert!(times.iter().all(|&nanos| nanos >= 2e6), "{times:?}");
    }

    #[test]
    fn fast_calls_are_timed_many_at_once() {
        let mut calls = 0u64;
        let times = time(|| calls = std::hint::black_box(calls + 1), Duration::from_millis(10), 1);
        assert!(!times.is_empty() && times.len() <= 2 * SAMPLES as usize, "{}", times.len());
        assert!(calls > 100 * times.len() as u64, "{calls} calls in {} samples", times.len());
    }
}
