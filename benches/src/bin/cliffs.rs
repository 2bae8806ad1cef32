//! Times calls that were once many times slower than the plain loop, beside that loop:
//! `cliffs [FILTER] [--level NAME] [--quick]`.
//!
//! Every output is compared with the loop's, to the bit, before it is timed. Times are milliseconds that the thread had
//! a CPU for, medians, in turn. A row that falls short of what is wanted is marked. `--quick` times each call once.

use std::process::ExitCode;

use gather_benches::{cliffs, pin};
use gather_core::Level;
use lexopt::{Arg, ValueExt};

/// Rounds of a row.
const ROUNDS: usize = 9;

struct Options {
    filter: String,
    level: Level,
    rounds: usize,
}

fn main() -> ExitCode {
    let Options { filter, level, rounds } = match options() {
        Ok(options) => options,
        Err(error) => {
            eprintln!("cliffs: {error} (usage: cliffs [FILTER] [--level NAME] [--quick])");
            return ExitCode::from(2);
        }
    };
    if let Err(why) = pin::to_one_cpu() {
        eprintln!("cliffs: not pinned to a CPU: {why}");
    }
    println!("Level {}.\n", level.name());
    println!("| call | ours | reference | | reference/ours | wanted | |\n|---|---|---|---|---|---|---|");
    let (mut short, mut wrong) = (0, 0);
    for case in cliffs::cases().into_iter().filter(|case| case.name.contains(&filter)) {
        let mut row = case.row(level);
        if !row.agrees() {
            eprintln!("cliffs: {}: not what the loop gives", case.name);
            wrong += 1;
            continue;
        }
        let [ours, reference] = row.time(rounds);
        let ratio = reference / ours;
        let mark = if ratio < row.wanted { "short" } else { "" };
        short += usize::from(ratio < row.wanted);
        let (name, beside, wanted) = (case.name, row.beside, row.wanted);
        println!("| {name} | {ours:.3} | {reference:.3} | {beside} | {ratio:.2} | {wanted:.2} | {mark} |");
    }
    println!("\n{short} short of what is wanted.");
    if wrong == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn options() -> Result<Options, lexopt::Error> {
    let mut options = Options { filter: String::new(), level: Level::preferred(), rounds: ROUNDS };
    let mut parser = lexopt::Parser::from_env();
    while let Some(arg) = parser.next()? {
        match arg {
            Arg::Value(value) => options.filter = value.string()?,
            Arg::Long("level") => options.level = level(&parser.value()?.string()?)?,
            Arg::Long("quick") => options.rounds = 1,
            other => return Err(other.unexpected()),
        }
    }
    Ok(options)
}

fn level(name: &str) -> Result<Level, lexopt::Error> {
    let level = Level::ALL.iter().find(|level| level.name() == name && level.is_available());
    level.copied().ok_or_else(|| format!("this machine has no level {name}").into())
}
