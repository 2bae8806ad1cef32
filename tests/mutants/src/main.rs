//! How good the tests of gather-core are: draws mutants of its source, and counts those that a test notices.
//!
//! ```text
//! copy the tracked files of the repository
//! draw sites from the source with a seed; write each as  (if mutant is N { the mutated expression } else { the
//! original }) build the tests once; drop the sites at which that does not compile, and build again
//! run each test alone, without a mutant: how long it takes, and which sites it reaches
//! for each mutant: run the tests that reach it with GATHER_MUTANT=N, the fastest first, up to the first that fails
//! ```
//!
//! One build serves all mutants, where a build for each would take days. Sites are expressions of one line outside of
//! constants and macros. Sites and times are kept in `target/mutants/reached` for the next run. A mutant that no test
//! reaches or notices is printed with its place, and so is the share of mutants that were caught: by a failed test, a
//! crash, or a run of several times the usual length.
//!
//! ```text
//! cargo run --manifest-path tests/mutants/Cargo.toml -- [--seed N] [--count N] [--under PATH]... [--only N]...
//!     [--tests NAME]...
//! ```

mod build;
mod run;
mod sites;

use std::error::Error;
use std::path::PathBuf;

use lexopt::{Arg, ValueExt};

/// Where mutants are drawn from, unless `--under` says otherwise.
const UNDER: [&str; 4] = ["plan", "call", "kernels/resolve", "kernels/reduce"];

/// What the command line says.
struct Options {
    seed: u64,
    count: usize,
    under: Vec<String>,
    only: Vec<usize>,
    /// Tests whose names hold one of these; all without.
    tests: Vec<String>,
    target: PathBuf,
}

fn options() -> Result<Options, lexopt::Error> {
    let target = PathBuf::from("target/mutants");
    let mut options = Options { seed: 1, count: 200, under: Vec::new(), only: Vec::new(), tests: Vec::new(), target };
    let mut parser = lexopt::Parser::from_env();
    while let Some(arg) = parser.next()? {
        match arg {
            Arg::Long("seed") => options.seed = parser.value()?.parse()?,
            Arg::Long("count") => options.count = parser.value()?.parse()?,
            Arg::Long("under") => options.under.push(parser.value()?.string()?),
            Arg::Long("only") => options.only.push(parser.value()?.parse()?),
            Arg::Long("tests") => options.tests.push(parser.value()?.string()?),
            Arg::Long("target") => options.target = parser.value()?.into(),
            _ => return Err(arg.unexpected()),
        }
    }
    if options.under.is_empty() {
        options.under = UNDER.map(String::from).to_vec();
    }
    Ok(options)
}

fn main() -> Result<(), Box<dyn Error>> {
    let Options { seed, count, under, only, tests, target } = options()?;
    let sources = sites::sources(build::root()?, &under)?;
    let all = sites::find(&sources)?;
    println!("{} sites in {} files under {}; seed {seed}", all.len(), sources.len(), under.join(", "));
    let mut drawn = sites::draw(all, count, seed);
    let programs = build::tests(&target, &sources, &mut drawn)?;
    println!("{} mutants compile", drawn.len());
    run::Run { programs: &programs, sources: &sources, tests: &tests, target: &target }
        .all(&drawn, &only)
        .map_err(|failure| failure as _)
}
