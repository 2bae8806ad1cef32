//! Times the operators that rearrange space beside the plain loop and prints a table of medians: `spaces [FILTER]`.
//!
//! The ways of a workload are timed in turn, in one process, into warm memory. Every output is compared with the loop's
//! first. Times are milliseconds; the last columns are times of the loop, and of a copy of as many bytes.

use std::process::ExitCode;
use std::time::{Duration, Instant};

use gather_benches::spaces::{SPACES, Space};

/// How long the rounds of a workload take together, and the fewest there are.
const BUDGET: Duration = Duration::from_secs(6);
const ROUNDS: usize = 5;

fn main() -> ExitCode {
    let filter = std::env::args().nth(1).unwrap_or_default();
    let chosen: Vec<&Space> = SPACES.iter().filter(|space| space.name.contains(&filter)).collect();
    if chosen.is_empty() {
        eprintln!("spaces: no workload has `{filter}` in its name");
        return ExitCode::from(2);
    }
    println!("| workload | 1 thread | 2 threads | loop | copy | loop / 1 thread | 1 thread / copy |");
    println!("|---|---|---|---|---|---|---|");
    for space in chosen {
        if let Err(why) = measure(space) {
            eprintln!("spaces: {}: {why}", space.name);
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}

/// Times the ways of a workload in turn and prints a row.
fn measure(space: &Space) -> Result<(), String> {
    let data: Vec<f32> = (0..space.shape.iter().product()).map(|at: usize| at as f32 + 0.5).collect();
    let plans = [1, 2].map(|threads| space.planned(threads).0);
    let len = plans[0].output_shape().iter().product();
    let (mut expected, mut out) = (vec![-1.0; len], vec![-1.0; len]);
    (space.plain)(&data, space.shape, &mut expected);
    for plan in &plans {
        out.fill(-1.0);
        plan.run_slices(&data, &mut out).map_err(|error| error.to_string())?;
        if out != expected {
            return Err("not what the plain loop gives".into());
        }
    }
    // A copy of the output's bytes.
    let source = expected;
    let mut times: [Vec<f64>; 4] = Default::default();
    let start = Instant::now();
    while times[0].len() < ROUNDS || start.elapsed() < BUDGET {
        for (way, times) in times.iter_mut().enumerate() {
            let begin = Instant::now();
            match way {
                0 | 1 => plans[way].run_slices(&data, &mut out).expect("it has run before"),
                2 => (space.plain)(&data, space.shape, &mut out),
                _ => out.copy_from_slice(&source),
            }
            std::hint::black_box(&mut out);
            times.push(begin.elapsed().as_secs_f64() * 1e3);
        }
    }
    let [one, two, plain, copy] = times.map(median);
    println!(
        "| {} | {one:.3} | {two:.3} | {plain:.3} | {copy:.3} | {:.2} | {:.2} |",
        space.name,
        plain / one,
        one / copy
    );
    Ok(())
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}
