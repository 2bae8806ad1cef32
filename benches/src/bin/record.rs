//! Times the workloads in one process, in turn, and prints tables of medians:
//! `record [FILTER] [--seconds S] [--threads N] [--offset BYTES] [--no-rates]`.
//!
//! Every output is checked against the plain loop before it is timed. Times are milliseconds, of calls from inside a
//! pool of N threads: ours planned into warm memory with one thread and with N, ours with one thread into fresh memory,
//! the plain loop, and a warm copy of the output's bytes, which is a reference. The limits are those of
//! [`gather_benches::limits`], measured in the same turns; `by` says which of the two times it is. With an offset all
//! buffers begin that number of bytes after a cache line.
//!
//! The first table has the rates of the machine, in gigabytes a second, which `--no-rates` leaves out. After the
//! workloads come the same at every level of instructions that the machine has, one thread, planned, in turn. The last
//! table has gathers by indices of every type, planned, beside the plain loop: one thread, its processor time, medians
//! in turn.

use std::process::ExitCode;
use std::time::Duration;

use gather_benches::buffer::begin_after_lines;
use gather_benches::case::Case;
use gather_benches::clock::{ROUNDS, medians};
use gather_benches::ids;
use gather_benches::limits::Limit;
use gather_benches::limits::rates::{NAMES, rates};
use gather_benches::peers::{NotRun, at_level, peer, prepare_checked, with_threads};
use gather_benches::workloads::WORKLOADS;
use gather_core::Level;
use lexopt::{Arg, ValueExt};

const USAGE: &str = "record [FILTER] [--seconds S] [--threads N] [--offset BYTES] [--no-rates]";

fn main() -> ExitCode {
    let options = match Options::read() {
        Ok(options) => options,
        Err(error) => {
            eprintln!("record: {error} (usage: {USAGE})");
            return ExitCode::from(2);
        }
    };
    match run(&options) {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("record: {why}");
            ExitCode::FAILURE
        }
    }
}

struct Options {
    filter: String,
    budget: Duration,
    threads: usize,
    offset: usize,
    rates: bool,
}

impl Options {
    fn read() -> Result<Self, lexopt::Error> {
        let budget = Duration::from_secs(1);
        let mut options = Options { filter: String::new(), budget, threads: 2, offset: 0, rates: true };
        let mut parser = lexopt::Parser::from_env();
        while let Some(arg) = parser.next()? {
            match arg {
                Arg::Value(value) => options.filter = value.string()?,
                Arg::Long("seconds") => {
                    options.budget =
                        Duration::try_from_secs_f64(parser.value()?.parse()?).map_err(|error| error.to_string())?;
                }
                Arg::Long("threads") => options.threads = parser.value()?.parse()?,
                Arg::Long("offset") => options.offset = parser.value()?.parse()?,
                Arg::Long("no-rates") => options.rates = false,
                other => return Err(other.unexpected()),
            }
        }
        match options.threads {
            0 => Err("at least one thread works".into()),
            _ => Ok(options),
        }
    }
}

fn run(options: &Options) -> Result<(), String> {
    begin_after_lines(options.offset)?;
    let threads = options.threads;
    if options.rates {
        print_rates(threads)?;
    }
    println!("Buffers begin {} bytes after a cache line.\n", options.offset);
    let heads = ["loop", "copy", "limit, 1 thread", "by", &format!("limit, {threads} threads"), "by"].join(" | ");
    println!("| workload | 1 thread | {threads} threads | fresh | {heads} | 1/limit | {threads}/limit |");
    println!("|{}", "---|".repeat(12));
    for workload in WORKLOADS.iter().filter(|workload| workload.name.contains(&options.filter)) {
        let case = Case::new(workload);
        // From inside a pool, like a program of many calls: a call from outside also waits for a thread to wake up.
        let row = with_threads(threads, || row(&case, options));
        println!("| {} | {} |", workload.name, row.map_err(|why| format!("{}: {why}", workload.name))?);
    }
    print_levels(options)?;
    print_ids(&options.filter)
}

fn print_levels(options: &Options) -> Result<(), String> {
    let levels: Vec<Level> = Level::ALL.iter().copied().filter(|level| level.is_available()).collect();
    let heads: Vec<&str> = levels.iter().map(|level| level.name()).collect();
    let gains = heads.windows(2).map(|pair| format!(" {} / {} |", pair[0], pair[1])).collect::<String>();
    println!("\n| workload | {} |{gains}\n|{}", heads.join(" | "), "---|".repeat(2 * levels.len()));
    for workload in WORKLOADS.iter().filter(|workload| workload.name.contains(&options.filter)) {
        let case = Case::new(workload);
        let mut calls: Vec<Box<dyn FnMut() + '_>> = Vec::new();
        for &level in &levels {
            let ready = prepare_checked(&*at_level(level), &case, 1);
            let mut ready = ready.map_err(|why| format!("{}: {why}", workload.name))?;
            calls.push(Box::new(move || ready.run()));
        }
        let times = medians(&mut calls, options.budget);
        let cells: String = times.iter().map(|time| format!(" {time:.6} |")).collect();
        let gains: String = times.windows(2).map(|pair| format!(" {:.2} |", pair[0] / pair[1])).collect();
        println!("| {} |{cells}{gains}", workload.name);
    }
    Ok(())
}

fn print_ids(filter: &str) -> Result<(), String> {
    println!("\n| indices | 1 thread | loop | loop/1 |\n|---|---|---|---|");
    for case in ids::cases().into_iter().filter(|case| case.name.contains(filter)) {
        let mut row = case.row(Level::preferred());
        if !row.agrees() {
            return Err(format!("{}: not what the loop gives", case.name));
        }
        let [ours, looped] = row.time(ROUNDS);
        println!("| {} | {ours:.6} | {looped:.6} | {:.2} |", case.name, looped / ours);
    }
    Ok(())
}

fn print_rates(threads: usize) -> Result<(), String> {
    let tables = [1, threads].map(|threads| with_threads(threads, || rates(threads)));
    let heads = [1, threads].map(|threads| NAMES.map(|name| format!("{name}, {threads}")).join(" | "));
    println!("| GB/s of buffers in | bytes | {} |", heads.join(" | "));
    println!("|{}", "---|".repeat(2 + 2 * NAMES.len()));
    let [one, more] = tables;
    for (one, more) in one?.iter().zip(&more?) {
        let cells: Vec<String> = one.gigabytes.iter().chain(&more.gigabytes).map(|rate| format!("{rate:.1}")).collect();
        println!("| {} | {} | {} |", one.name, one.bytes, cells.join(" | "));
    }
    println!();
    Ok(())
}

/// Times a workload. The cells of its row.
fn row(case: &Case, options: &Options) -> Result<String, NotRun> {
    let call = |name, threads| prepare_checked(&*peer(name).expect("a peer that is always there"), case, threads);
    let peers = [
        call("gather-core", 1)?,
        call("gather-core", options.threads)?,
        call("gather-core-fresh", 1)?,
        call("loop", 1)?,
        call("copy", 1)?,
    ];
    let limits = [1, options.threads].map(|threads| Limit::new(case, threads));
    let mut calls: Vec<Box<dyn FnMut() + '_>> = Vec::new();
    for mut peer in peers {
        calls.push(Box::new(move || peer.run()));
    }
    for limit in limits {
        calls.extend(limit.calls());
    }
    let times = medians(&mut calls, options.budget);
    let &[single, more, fresh, looped, copy, stream_1, touch_1, stream_n, touch_n] = &times[..] else {
        unreachable!("a time for each call");
    };
    let limit = |stream: f64, touch: f64| if stream >= touch { (stream, "stream") } else { (touch, "lines") };
    let ((limit_1, by_1), (limit_n, by_n)) = (limit(stream_1, touch_1), limit(stream_n, touch_n));
    let times = [single, more, fresh, looped, copy].map(|time| format!("{time:.6}")).join(" | ");
    let limits = format!("{limit_1:.6} | {by_1} | {limit_n:.6} | {by_n}");
    Ok(format!("{times} | {limits} | {:.2} | {:.2}", single / limit_1, more / limit_n))
}
