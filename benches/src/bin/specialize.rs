//! Times specialised functions beside the plain loop and a loop without checks: `specialize [--quick]`.
//!
//! The ways of a case are timed in turn, in one process on one CPU. Every output is compared with the loop's first.
//! Times are medians in nanoseconds a call.

use std::process::ExitCode;
use std::time::Instant;

use gather_benches::pin;
use gather_benches::specialized::{Case, WAYS, cases};

/// Rounds of a case.
const FULL: usize = 61;
const QUICK: usize = 9;

fn main() -> ExitCode {
    let rounds = match std::env::args().skip(1).collect::<Vec<_>>().as_slice() {
        [] => FULL,
        [flag] if flag == "--quick" => QUICK,
        _ => {
            eprintln!("specialize: the only option is --quick");
            return ExitCode::from(2);
        }
    };
    match pin::to_one_cpu() {
        Ok(cpu) => eprintln!("specialize: on CPU {cpu}"),
        Err(why) => eprintln!("specialize: not pinned to a CPU: {why}"),
    }
    println!("| call | loop ns | unchecked ns | specialised ns | /loop | /unchecked |\n|---|---|---|---|---|---|");
    let mut over = Vec::new();
    for mut case in cases() {
        if let Some(way) = wrong(&mut case) {
            eprintln!("specialize: {}: {way} does not give what the loop gives", case.name);
            return ExitCode::FAILURE;
        }
        let [plain, unchecked, ours] = medians(&mut case, rounds);
        let ratios = [ours / plain, ours / unchecked];
        let [to_plain, to_unchecked] = ratios;
        println!("| {} | {plain:.1} | {unchecked:.1} | {ours:.1} | {to_plain:.2} | {to_unchecked:.2} |", case.name);
        for ((ratio, limit), of) in ratios.into_iter().zip(case.limits).zip(WAYS) {
            if let Some(limit) = limit.filter(|&limit| ratio > limit) {
                over.push(format!("{}: {ratio:.2} times `{of}`, {limit} wanted", case.name));
            }
        }
    }
    match over.as_slice() {
        [] => println!("\nEvery function is within its limits."),
        over => println!("\nOver their limits:\n\n- {}", over.join("\n- ")),
    }
    ExitCode::SUCCESS
}

/// The way whose output differs from the loop's.
fn wrong(case: &mut Case) -> Option<&'static str> {
    (0..64).find_map(|call| {
        let expected = case.run(0, call, 1);
        WAYS.iter().enumerate().find(|(way, _)| case.run(*way, call, 1) != expected).map(|(_, name)| *name)
    })
}

/// Medians in nanoseconds a call, the ways in turn, round by round.
fn medians(case: &mut Case, rounds: usize) -> [f64; 3] {
    let mut times = [(); 3].map(|()| Vec::new());
    for round in 0..rounds {
        for (way, times) in times.iter_mut().enumerate() {
            let first = (round * 3 + way) * case.calls;
            let start = Instant::now();
            case.run(way, first, case.calls);
            times.push(start.elapsed().as_secs_f64() * 1e9 / case.calls as f64);
        }
    }
    times.map(|mut times| {
        times.sort_by(f64::total_cmp);
        times[times.len() / 2]
    })
}
