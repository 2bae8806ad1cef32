//! Times small requests from several threads at once, as a server has them: `servers [--rounds N] [--quick]`.
//!
//! A request has 8 to 64 ids for each of its tables, of 100,000 rows of `f32`: `rows` wants their rows, `sums` the sum
//! of each eight. Plans for any count write into tensors that are used again, beside the plain loop into vectors that
//! are used again; the threads take turns with both. Every answer is compared with the loop's first, to the bit. `busy`
//! says that each thread of the global rayon pool has other work meanwhile, which requests neither wait for nor run.
//! Latencies are microseconds by the clock: medians, and 99th percentiles. `--quick` is one round of a few.

use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use gather_benches::servers::{Kind, Requests, time};
use gather_core::Level;
use lexopt::{Arg, ValueExt};

/// Threads of the pool.
const POOL: usize = 2;

/// Tables of a request, and their columns.
const TABLES: [(usize, usize); 5] = [(2, 64), (1, 64), (1, 128), (4, 64), (4, 128)];
/// Threads that serve, and whether the pool is busy.
const THREADS: [(usize, bool); 5] = [(2, true), (1, true), (1, false), (2, false), (4, false)];

fn main() -> ExitCode {
    let (rounds, quick) = match options() {
        Ok(options) => options,
        Err(error) => {
            eprintln!("servers: {error} (usage: servers [--rounds N] [--quick])");
            return ExitCode::from(2);
        }
    };
    rayon::ThreadPoolBuilder::new().num_threads(POOL).build_global().expect("no pool before");
    println!("Level {}.\n", Level::preferred().name());
    println!("| request | tables | threads | pool | ours | 99% | loop | 99% | ours/s | loop/s | loop/ours |");
    println!("|---|---|---|---|---|---|---|---|---|---|---|");
    for (kind, name) in [(Kind::Rows, "rows"), (Kind::Sums, "sums")] {
        for &(tables, columns) in &TABLES[..if quick { 1 } else { TABLES.len() }] {
            let requests = Arc::new(Requests::new(kind, tables, columns));
            for &(threads, busy) in &THREADS[..if quick { 1 } else { THREADS.len() }] {
                let [ours, plain] = if busy {
                    beside_work(|| time(&requests, threads, rounds))
                } else {
                    time(&requests, threads, rounds)
                };
                let pool = if busy { "busy" } else { "idle" };
                let [latencies, of_loop] =
                    [ours, plain].map(|rates| format!("{:.2} | {:.2}", rates.median, rates.percentile_99));
                let (rate, rate_of_loop) = (ours.per_second, plain.per_second);
                print!("| {name} of {columns} | {tables} | {threads} | {pool} | {latencies} | {of_loop} ");
                println!("| {rate:.0} | {rate_of_loop:.0} | {:.2} |", plain.median / ours.median);
            }
        }
    }
    ExitCode::SUCCESS
}

/// Calls a function while every thread of the pool has other work.
fn beside_work<R>(call: impl FnOnce() -> R) -> R {
    let done = Arc::new(AtomicBool::new(false));
    for _ in 0..POOL {
        let done = done.clone();
        rayon::spawn(move || {
            let mut x = 1u64;
            while !done.load(Relaxed) {
                x = std::hint::black_box(x.wrapping_mul(3));
            }
        });
    }
    let result = call();
    done.store(true, Relaxed);
    result
}

/// The number of rounds, and whether the table is short.
fn options() -> Result<(usize, bool), lexopt::Error> {
    let (mut rounds, mut quick) = (20, false);
    let mut parser = lexopt::Parser::from_env();
    while let Some(arg) = parser.next()? {
        match arg {
            Arg::Long("rounds") => rounds = parser.value()?.parse()?,
            Arg::Long("quick") => quick = true,
            other => return Err(other.unexpected()),
        }
    }
    Ok((if quick { 1 } else { rounds.max(1) }, quick))
}
