//! Times the workloads of EmbeddingBag in one process, in turn, and prints a table of medians:
//! `bags [FILTER] [--seconds S]`.
//!
//! Every output is checked against the plain loop, to the bit, before it is timed. Times are milliseconds. `into` is
//! planned ahead, and writes into warm memory, on one thread and on two; `fresh` plans and writes into a new tensor.
//! `loop` is the plain loop into warm memory.
//!
//! A second table has sums of rows that a map converts: `map 1` and `map 2` in one call, on one thread and on two;
//! `gather, bag` with the converted rows between; `f32` from a table that was converted beforehand. All are planned,
//! and write into warm memory.

use std::process::ExitCode;
use std::time::{Duration, Instant};

use gather_benches::bags::{Tensors, WORKLOADS};
use gather_benches::inverse::Ways;
use gather_benches::mapped_bags;
use gather_benches::options::filter_and_seconds;

/// Fewest rounds of a workload.
const ROUNDS: usize = 7;

fn main() -> ExitCode {
    let (filter, seconds) = match filter_and_seconds() {
        Ok(options) => options,
        Err(error) => {
            eprintln!("bags: {error} (usage: bags [FILTER] [--seconds S])");
            return ExitCode::from(2);
        }
    };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().expect("threads can be started");
    println!("| workload | into 1 | into 2 | fresh 1 | loop | loop/into 1 |");
    println!("|---|---|---|---|---|---|");
    for workload in WORKLOADS.iter().filter(|workload| workload.name.contains(&filter)) {
        let tensors = Tensors::new(workload);
        let [into, into2, fresh, looped] = pool.install(|| time(&tensors, Duration::from_secs_f64(seconds)));
        let name = workload.name;
        println!("| {name} | {into:.5} | {into2:.5} | {fresh:.5} | {looped:.5} | {:.2} |", looped / into);
    }
    println!("\n| sums by a map | map 1 | map 2 | gather, bag | f32 | (gather, bag)/map 1 |");
    println!("|---|---|---|---|---|---|");
    mapped_bags::each(&filter, |ways| {
        let (name, [mut one, mut two], mut gathered, mut converted) =
            (ways.name, ways.mapped, ways.gathered, ways.converted);
        let mut ways: [&mut (dyn FnMut() + Send); 4] = [&mut *one, &mut *two, &mut *gathered, &mut *converted];
        let [one, two, gathered, converted] = pool.install(|| medians(&mut ways, Duration::from_secs_f64(seconds)));
        println!("| {name} | {one:.5} | {two:.5} | {gathered:.5} | {converted:.5} | {:.2} |", gathered / one);
    });
    ExitCode::SUCCESS
}

/// Times the ways of a workload.
fn time(tensors: &Tensors, budget: Duration) -> [f64; 4] {
    let plans = [1, 2].map(|threads| tensors.plan(threads));
    let (mut expected, mut memory) = (tensors.output(), tensors.output());
    let (expected, out) = (expected.as_mut_slice(), memory.as_mut_slice());
    tensors.plain(expected);
    let same = |got: &[f32]| got.iter().zip(&*expected).all(|(a, b)| a.to_bits() == b.to_bits());
    for plan in &plans {
        out.fill(f32::NAN);
        tensors.run_into(plan, out);
        assert!(same(out), "into an output");
    }
    assert!(same(tensors.fresh(1).as_slice()), "fresh");
    let [mut one, mut two, mut looped] = [(); 3].map(|()| tensors.output());
    medians(
        &mut [
            &mut || tensors.run_into(&plans[0], one.as_mut_slice()),
            &mut || tensors.run_into(&plans[1], two.as_mut_slice()),
            &mut || drop(tensors.fresh(1)),
            &mut || tensors.plain(looped.as_mut_slice()),
        ],
        budget,
    )
}

/// Medians of calls in milliseconds, which take turns, round by round.
fn medians(calls: &mut [&mut (dyn FnMut() + Send); 4], budget: Duration) -> [f64; 4] {
    let mut times: [Vec<f64>; 4] = Default::default();
    let start = Instant::now();
    while times[0].len() < ROUNDS || start.elapsed() < budget {
        for (call, times) in calls.iter_mut().zip(&mut times) {
            call();
            let start = Instant::now();
            let mut count = 0u32;
            while count == 0 || start.elapsed() < Duration::from_millis(1) {
                call();
                count += 1;
            }
            times.push(start.elapsed().as_secs_f64() * 1e3 / f64::from(count));
        }
    }
    times.map(|mut times| {
        times.sort_by(f64::total_cmp);
        times[times.len() / 2]
    })
}
