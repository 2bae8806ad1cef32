//! Searches for calls that the plain loop beats: `find_cliffs [--seed N] [--minutes M] [--only NAME] [--quick]`,
//! or `find_cliffs --case SEED:NUMBER` for one of them.
//!
//! Calls are drawn at random; those of 64 elements and more are timed. `--only Scatter` leaves those whose operator's
//! name begins so. Row functions, fused rows, tables of them and nulls have numbers from 2^32 on.
//! Outputs are compared first, to the bit. Then both are timed, in turn, by the time that the thread had a CPU for;
//! where the loop is faster, three times again, of which the median counts. Tables list the calls with the least loop /
//! ours, long and short ones, and those that hold the most memory of their own, beside the bytes of inputs and output.
//! `--quick` only compares outputs, of some small calls.

use std::process::ExitCode;
use std::time::{Duration, Instant};

use gather_benches::allocations::Counting;
use gather_benches::cliffs::WANTED;
use gather_benches::find::{Found, LIMITS, Limits, ROWS};
use gather_benches::pin;
use gather_core::Level;
use lexopt::{Arg, ValueExt};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Calls of `--quick`, and their sizes.
const QUICK: u64 = 2000;
const QUICK_LIMITS: Limits = Limits { out: 1 << 11, data: 1 << 12 };

/// Rounds of a call on its own, and of one that is slower than the loop in a first one.
const ROUNDS: usize = 9;
const AGAIN: usize = 3;

/// Lines of the table of memory. That of times has all that fall short, and as many at least.
const LINES: usize = 20;

/// The least milliseconds of a loop beside which our call is a long one. Shorter calls have a table of their own: what
/// a call costs before its first element decides there.
const LONG: f64 = 0.003;

/// A scratch below this is no find, whatever its share is.
const SMALL: usize = 64 << 10;

struct Options {
    seed: u64,
    minutes: f64,
    quick: bool,
    only: String,
    case: Option<u64>,
}

/// A line of the tables.
struct Line {
    number: u64,
    name: String,
    method: String,
    ratio: f64,
    times: [f64; 2],
    scratch: usize,
    share: f64,
}

fn main() -> ExitCode {
    let options = match options() {
        Ok(options) => options,
        Err(error) => {
            eprintln!(
                "find_cliffs: {error} (usage: find_cliffs [--seed N] [--minutes M] [--only NAME] [--quick] | \
                 --case SEED:NUMBER)"
            );
            return ExitCode::from(2);
        }
    };
    if options.quick {
        return check(options.seed);
    }
    if let Err(why) = pin::to_one_cpu() {
        eprintln!("find_cliffs: not pinned to a CPU: {why}");
    }
    match options.case {
        Some(number) => one(options.seed, number),
        None => search(options.seed, Duration::from_secs_f64(options.minutes * 60.0), &options.only),
    }
}

/// A call of each list of numbers.
fn kinds(number: u64) -> [u64; 2] {
    [number, ROWS + number]
}

/// Compares outputs alone.
fn check(seed: u64) -> ExitCode {
    let differs = |number: &u64| {
        let mut found = Found::new(seed, *number, QUICK_LIMITS, Level::preferred());
        let agrees = found.check().0;
        if !agrees {
            eprintln!("find_cliffs: {seed}:{number} (quick): {}: not what the loop gives", found.name);
        }
        !agrees
    };
    let wrong = (0..QUICK).flat_map(kinds).filter(differs).count();
    println!("{} calls drawn, {wrong} of them not what the loop gives", 2 * QUICK);
    if wrong == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Times a call, and says what its plan is.
fn one(seed: u64, number: u64) -> ExitCode {
    let mut found = Found::new(seed, number, LIMITS, Level::preferred());
    let (agrees, scratch) = found.check();
    println!("{}\n{}\nscratch {scratch} bytes, inputs and output {}", found.name, found.explained, found.bytes);
    if !agrees {
        eprintln!("find_cliffs: not what the loop gives");
        return ExitCode::FAILURE;
    }
    let (ratio, [ours, plain]) = found.time(ROUNDS);
    println!("ours {ours:.5} ms, loop {plain:.5} ms, loop / ours {ratio:.2}");
    ExitCode::SUCCESS
}

fn search(seed: u64, budget: Duration, only: &str) -> ExitCode {
    let (start, mut lines, mut wrong) = (Instant::now(), Vec::new(), 0);
    for number in (0..).flat_map(kinds) {
        if start.elapsed() > budget {
            break;
        }
        let mut found = Found::new(seed, number, LIMITS, Level::preferred());
        if !found.name.starts_with(only) {
            continue;
        }
        let (agrees, scratch) = found.check();
        if !agrees {
            eprintln!("find_cliffs: {seed}:{number}: {}: not what the loop gives", found.name);
            wrong += 1;
            continue;
        }
        if found.thin {
            continue;
        }
        let (mut ratio, mut times) = found.time(1);
        if ratio < WANTED {
            (ratio, times) = found.time(AGAIN);
        }
        let (share, method) = (scratch as f64 / found.bytes as f64, found.method().to_owned());
        lines.push(Line { number, name: found.name, method, ratio, times, scratch, share });
    }
    println!("Level {}, seed {seed}, {} calls.\n", Level::preferred().name(), lines.len());
    report(seed, lines);
    if wrong == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn report(seed: u64, mut lines: Vec<Line>) {
    lines.sort_by(|a, b| a.ratio.total_cmp(&b.ratio));
    let (long, short): (Vec<_>, Vec<_>) = lines.iter().partition(|line| line.times[1] >= LONG);
    for (name, lines) in [("long", long), ("short", short)] {
        let slow = lines.partition_point(|line| line.ratio < WANTED);
        let logs: f64 = lines.iter().map(|line| line.ratio.ln()).sum();
        let mean = (logs / lines.len().max(1) as f64).exp();
        println!("{} {name} calls: {slow} below {WANTED}; {mean:.2} in geometric mean.\n", lines.len());
        println!("| case | call | method | ours, ms | loop, ms | loop / ours |\n|---|---|---|---|---|---|");
        for Line { number, name, method, ratio, times: [ours, plain], .. } in lines.iter().take(slow.max(LINES)) {
            println!("| {seed}:{number} | {name} | {method} | {ours:.5} | {plain:.5} | {ratio:.2} |");
        }
        println!();
    }
    lines.retain(|line| line.scratch >= SMALL);
    lines.sort_by(|a, b| b.share.total_cmp(&a.share));
    println!("| case | call | method | scratch, KiB | scratch / (inputs + output) |\n|---|---|---|---|---|");
    for Line { number, name, method, scratch, share, .. } in lines.iter().take(LINES) {
        println!("| {seed}:{number} | {name} | {method} | {} | {share:.2} |", scratch >> 10);
    }
}

fn options() -> Result<Options, lexopt::Error> {
    let mut options = Options { seed: 1, minutes: 1.0, quick: false, only: String::new(), case: None };
    let mut parser = lexopt::Parser::from_env();
    while let Some(arg) = parser.next()? {
        match arg {
            Arg::Long("seed") => options.seed = parser.value()?.parse()?,
            Arg::Long("minutes") => options.minutes = parser.value()?.parse()?,
            Arg::Long("only") => options.only = parser.value()?.string()?,
            Arg::Long("quick") => options.quick = true,
            Arg::Long("case") => {
                let value = parser.value()?.string()?;
                let (seed, number) = value.split_once(':').ok_or("a case is SEED:NUMBER")?;
                options.seed = seed.parse().map_err(|_| "a case is SEED:NUMBER")?;
                options.case = Some(number.parse().map_err(|_| "a case is SEED:NUMBER")?);
            }
            other => return Err(other.unexpected()),
        }
    }
    Ok(options)
}
