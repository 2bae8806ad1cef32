//! Times short calls beside the plain loop and prints a table of medians: `short [FILTER] [--quick]`.
//!
//! The ways of a call are timed in turn, in one process on one CPU. Every output is compared with the loop's first.
//! Ids differ from call to call. Times are nanoseconds a call; the other columns are times of the loop.

use std::process::ExitCode;
use std::time::{Duration, Instant};

use gather_benches::pin;
use gather_benches::short::{Call, Short, Tables, Way, check, grid, time};
use lexopt::{Arg, ValueExt};

/// How long all calls of the grid may take together: the inputs of all of them take some ten seconds more.
const FULL: Duration = Duration::from_secs(90);
const QUICK: Duration = Duration::from_secs(10);
/// Fewest rounds of a call.
const ROUNDS: usize = 5;
/// Batches of a way in one round.
const BATCHES: u64 = 8;

fn main() -> ExitCode {
    let (filter, budget) = match options() {
        Ok(options) => options,
        Err(error) => {
            eprintln!("short: {error} (usage: short [FILTER] [--quick])");
            return ExitCode::from(2);
        }
    };
    match pin::to_one_cpu() {
        Ok(cpu) => eprintln!("short: on CPU {cpu}"),
        Err(why) => eprintln!("short: not pinned to a CPU: {why}"),
    }
    let share = budget / grid().len() as u32;
    let chosen: Vec<_> = grid().into_iter().filter(|short| short.name().contains(&filter)).collect();
    if chosen.is_empty() {
        eprintln!("short: no call has `{filter}` in its name");
        return ExitCode::from(2);
    }
    match table(&chosen, share) {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("short: {why}");
            ExitCode::FAILURE
        }
    }
}

fn options() -> Result<(String, Duration), lexopt::Error> {
    let (mut filter, mut budget) = (String::new(), FULL);
    let mut parser = lexopt::Parser::from_env();
    while let Some(arg) = parser.next()? {
        match arg {
            Arg::Value(value) => filter = value.string()?,
            Arg::Long("quick") => budget = QUICK,
            other => return Err(other.unexpected()),
        }
    }
    Ok((filter, budget))
}

/// Prints a row for each call, and below the table what takes longer than it may.
fn table(chosen: &[Short], share: Duration) -> Result<(), String> {
    let ways = || Way::ALL.iter().copied().filter(|&way| way != Way::Loop);
    let ratios: String = ways().map(|way| format!(" {}/loop |", way.name())).collect();
    println!("| call | loop ns | planned ns |{ratios}");
    println!("|---|---|---|{}", "---|".repeat(ways().count()));
    let tables = Tables::default();
    let mut over = Vec::new();
    for short in chosen {
        let mut call = short.prepare(&tables);
        check(&mut *call).map_err(|why| format!("{}: {why}", short.name()))?;
        let medians = medians(&mut *call, share);
        let nanos = |way| medians.iter().find(|(of, _)| *of == way).map(|(_, nanos)| *nanos);
        let ratio = |way| Some(nanos(way)? / nanos(Way::Loop)?);
        let cell = |value: Option<f64>, digits| value.map_or("-".into(), |value| format!("{value:.digits$}"));
        let cells: String = ways().map(|way| format!(" {} |", cell(ratio(way), 2))).collect();
        println!("| {} | {} | {} |{cells}", short.name(), cell(nanos(Way::Loop), 1), cell(nanos(Way::Planned), 1));
        for way in ways() {
            if let (Some(ratio), Some(limit)) = (ratio(way), short.limits().of(way))
                && ratio > limit
            {
                over.push(format!("{}, {}: {ratio:.2} times the loop, {limit} wanted", short.name(), way.name()));
            }
        }
    }
    if over.is_empty() {
        println!("\nEvery call is within its limit.");
    } else {
        println!("\n{} ratios are over their limits:\n", over.len());
        over.iter().for_each(|line| println!("- {line}"));
    }
    Ok(())
}

/// Medians in nanoseconds a call, the ways in turn, round by round.
fn medians(call: &mut dyn Call, budget: Duration) -> Vec<(Way, f64)> {
    let calls = call.batch_len() as u64 * BATCHES;
    let mut times: Vec<(Way, Vec<f64>)> = call.ways().iter().map(|&way| (way, Vec::new())).collect();
    let start = Instant::now();
    while times[0].1.len() < ROUNDS || start.elapsed() < budget {
        for (way, times) in &mut times {
            times.push(time(call, *way, calls).as_secs_f64() * 1e9 / calls as f64);
        }
    }
    let median = |mut times: Vec<f64>| {
        times.sort_by(f64::total_cmp);
        times[times.len() / 2]
    };
    times.into_iter().map(|(way, times)| (way, median(times))).collect()
}
