//! Times the workloads of the scatters in one process, in turn, and prints a table of medians:
//! `scatters [FILTER] [--seconds S]`.
//!
//! Every output is checked against the plain loop before it is timed. Times are milliseconds, planned ahead. `into`
//! copies data and scatters into warm memory; `on` scatters in place, and checks every index first; `fresh` scatters
//! into a new tensor. `loop` is a copy and the plain loop. `copy` is a warm copy of data. `limit` reads data,
//! indices and updates once, and writes the output once, in order, in the fastest way that was tried.

use std::process::ExitCode;
use std::time::{Duration, Instant};

use gather_benches::limits::streams;
use gather_benches::options::filter_and_seconds;
use gather_benches::scatters::{Tensors, WORKLOADS};

/// Fewest rounds of a workload.
const ROUNDS: usize = 7;

fn main() -> ExitCode {
    let (filter, seconds) = match filter_and_seconds() {
        Ok(options) => options,
        Err(error) => {
            eprintln!("scatters: {error} (usage: scatters [FILTER] [--seconds S])");
            return ExitCode::from(2);
        }
    };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().expect("threads can be started");
    println!(
        "| workload | into 1 | into 2 | on 1 | on 2 | fresh 1 | loop | copy | limit | loop/into 1 | into 1/limit |"
    );
    println!("|{}", "---|".repeat(11));
    for workload in WORKLOADS.iter().filter(|workload| workload.name.contains(&filter)) {
        let tensors = Tensors::new(workload);
        let times = pool.install(|| time(&tensors, Duration::from_secs_f64(seconds)));
        let [into, _, _, _, _, looped, _, limit] = times;
        let cells: Vec<String> = times.iter().map(|time| format!("{time:.4}")).collect();
        println!("| {} | {} | {:.2} | {:.2} |", workload.name, cells.join(" | "), looped / into, into / limit);
    }
    ExitCode::SUCCESS
}

/// Medians in milliseconds. The calls take turns, round by round.
fn time(tensors: &Tensors, budget: Duration) -> [f64; 8] {
    let plans = [1, 2].map(|threads| tensors.plan(threads).expect("a workload of the list"));
    let mut expected = tensors.data().to_vec();
    tensors.plain(&mut expected);
    let mut memory = tensors.output();
    let out = memory.as_mut_slice();
    for plan in &plans {
        out.fill(f32::NAN);
        tensors.run_into(plan, out);
        assert!(*out == *expected, "into an output");
        out.copy_from_slice(tensors.data());
        tensors.run_on(plan, out);
        assert!(*out == *expected, "in place");
        assert!(tensors.run(plan) == expected, "fresh");
    }
    let mut limit = streams(tensors.bytes_read(), size_of_val(tensors.data()));
    let mut times: [Vec<f64>; 8] = Default::default();
    let start = Instant::now();
    while times[0].len() < ROUNDS || start.elapsed() < budget {
        let mut clock = |which: usize, call: &mut dyn FnMut(&mut [f32])| {
            call(out);
            let start = Instant::now();
            let mut calls = 0u32;
            while calls == 0 || start.elapsed() < Duration::from_millis(1) {
                call(out);
                calls += 1;
            }
            times[which].push(start.elapsed().as_secs_f64() * 1e3 / f64::from(calls));
        };
        clock(0, &mut |out| tensors.run_into(&plans[0], out));
        clock(1, &mut |out| tensors.run_into(&plans[1], out));
        clock(2, &mut |out| tensors.run_on(&plans[0], out));
        clock(3, &mut |out| tensors.run_on(&plans[1], out));
        clock(4, &mut |_| drop(tensors.run(&plans[0])));
        clock(5, &mut |out| {
            out.copy_from_slice(tensors.data());
            tensors.plain(out);
        });
        clock(6, &mut |out| out.copy_from_slice(tensors.data()));
        clock(7, &mut |_| limit());
        if times[0].len() >= ROUNDS && start.elapsed() > 4 * budget {
            break;
        }
    }
    times.map(|mut times| {
        times.sort_by(f64::total_cmp);
        times[times.len() / 2]
    })
}
