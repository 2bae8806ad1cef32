//! Times the workloads in one process, in turn, and prints a table of medians: `record [FILTER] [--seconds S]`.
//!
//! Every output is checked against the plain loop before it is timed. Times are milliseconds. `copy` is a warm copy
//! of the output's bytes. `moves` moves the rows and does nothing else. Both are references, not limits.

use std::process::ExitCode;
use std::time::{Duration, Instant};

use gather_benches::case::Case;
use gather_benches::peers::{NotRun, Ready, peer, prepare_checked, with_threads};
use gather_benches::workloads::WORKLOADS;
use lexopt::{Arg, ValueExt};

/// Fewest rounds of a workload.
const ROUNDS: usize = 9;

fn main() -> ExitCode {
    let (filter, seconds) = match options() {
        Ok(options) => options,
        Err(error) => {
            eprintln!("record: {error} (usage: record [FILTER] [--seconds S])");
            return ExitCode::from(2);
        }
    };
    println!("| workload | 1 thread | 2 threads | fresh | loop | copy | moves | loop/1 | 1/copy |");
    println!("|---|---|---|---|---|---|---|---|---|");
    for workload in WORKLOADS.iter().filter(|workload| workload.name.contains(&filter)) {
        let case = Case::new(workload);
        // From inside a pool, like a program of many calls: a call from outside also waits for a thread to wake up.
        let timed = || -> Result<_, NotRun> { Ok(time(&mut prepare(&case)?, Duration::from_secs_f64(seconds))) };
        match with_threads(2, timed) {
            Ok([single, double, fresh, looped, copy, moves]) => println!(
                "| {} | {single:.6} | {double:.6} | {fresh:.6} | {looped:.6} | {copy:.6} | {moves:.6} | {:.2} | {:.2} |",
                workload.name,
                looped / single,
                single / copy
            ),
            Err(why) => {
                eprintln!("record: {}: {why}", workload.name);
                return ExitCode::FAILURE;
            }
        }
    }
    ExitCode::SUCCESS
}

/// What is timed: planned with one thread, planned with two, fresh, the loop, the copy, the moves. BatchToSpace has
/// no moves, so the copy stands in for them.
fn prepare(case: &Case) -> Result<[Ready<'_>; 6], NotRun> {
    let call = |name, threads| prepare_checked(&*peer(name).expect("a peer that is always there"), case, threads);
    Ok([
        call("gather-core", 1)?,
        call("gather-core", 2)?,
        call("gather-core-fresh", 1)?,
        call("loop", 1)?,
        call("copy", 1)?,
        call("moves", 1).or_else(|_| call("copy", 1))?,
    ])
}

fn options() -> Result<(String, f64), lexopt::Error> {
    let (mut filter, mut seconds) = (String::new(), 1.0);
    let mut parser = lexopt::Parser::from_env();
    while let Some(arg) = parser.next()? {
        match arg {
            Arg::Value(value) => filter = value.string()?,
            Arg::Long("seconds") => seconds = parser.value()?.parse()?,
            other => return Err(other.unexpected()),
        }
    }
    Ok((filter, seconds))
}

/// Medians in milliseconds. The calls take turns, round by round.
fn time(calls: &mut [Ready<'_>; 6], budget: Duration) -> [f64; 6] {
    let mut times: [Vec<f64>; 6] = Default::default();
    let start = Instant::now();
    while times[0].len() < ROUNDS || start.elapsed() < budget {
        let round = calls.each_mut().map(|call| clock(|| call.run()));
        for (times, time) in times.iter_mut().zip(round) {
            times.push(time);
        }
        if times[0].len() >= ROUNDS && start.elapsed() > 4 * budget {
            break;
        }
    }
    times.map(|mut times| {
        times.sort_by(f64::total_cmp);
        times[times.len() / 2]
    })
}

/// Calls before the clock starts. They find the caches as another variant has left them.
const SETTLING: u32 = 3;

/// The mean of as many calls as fit in a millisecond, at least one, after some that settle the caches. Reading the
/// clock takes as long as a short call, so it is read after more and more calls.
fn clock(mut call: impl FnMut()) -> f64 {
    const ENOUGH: Duration = Duration::from_millis(1);
    (0..SETTLING).for_each(|_| call());
    let start = Instant::now();
    let (mut calls, mut batch) = (0u32, 1);
    loop {
        (0..batch).for_each(|_| call());
        calls += batch;
        let elapsed = start.elapsed();
        if elapsed > ENOUGH {
            return elapsed.as_secs_f64() * 1e3 / f64::from(calls);
        }
        if elapsed < ENOUGH / 4 {
            batch *= 2;
        }
    }
}
