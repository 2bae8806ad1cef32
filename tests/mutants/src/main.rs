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
//! cargo run --manifest-path tests/mutants/Cargo.toml -- [--seed N] [--count N] [--under PATH]... [--since COMMIT]
//!     [--only N]... [--tests NAME]...
//! ```
//!
//! With `--since`, sites are those of functions that have changed since a commit, in all of gather-core unless `--under`
//! names a part.

mod build;
mod run;
mod since;
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
    /// The commit since when functions have changed; all functions without.
    since: Option<String>,
    only: Vec<usize>,
    /// Tests whose names hold one of these; all without.
    tests: Vec<String>,
    target: PathBuf,
}

fn options() -> Result<Options, lexopt::Error> {
    let target = PathBuf::from("target/mutants");
    let (under, only, tests) = (Vec::new(), Vec::new(), Vec::new());
    let mut options = Options { seed: 1, count: 200, under, since: None, only, tests, target };
    let mut parser = lexopt::Parser::from_env();
    while let Some(arg) = parser.next()? {
        match arg {
            Arg::Long("seed") => options.seed = parser.value()?.parse()?,
            Arg::Long("count") => options.count = parser.value()?.parse()?,
            Arg::Long("under") => options.under.push(parser.value()?.string()?),
            Arg::Long("since") => options.since = Some(parser.value()?.string()?),
            Arg::Long("only") => options.only.push(parser.value()?.parse()?),
            Arg::Long("tests") => options.tests.push(parser.value()?.string()?),
            Arg::Long("target") => options.target = parser.value()?.into(),
            _ => return Err(arg.unexpected()),
        }
    }
    if options.under.is_empty() {
        let all = options.since.as_ref().map(|_| vec![String::new()]);
        options.under = all.unwrap_or_else(|| UNDER.map(String::from).to_vec());
    }
    Ok(options)
}

fn main() -> Result<(), Box<dyn Error>> {
    let Options { seed, count, under, since, only, tests, target } = options()?;
    let root = build::root()?;
    let sources = sites::sources(root, &under)?;
    let mut all = sites::find(&sources)?;
    if let Some(commit) = since {
        let changed = since::changed(root, &commit)?;
        sites::keep_changed(&mut all, &sources, &changed);
        println!("{} files have changed since {commit}", changed.len());
        if all.is_empty() {
            println!("no function with a site has");
            return Ok(());
        }
    }
    let under: Vec<_> = under.iter().map(|under| format!("gather-core/src/{under}")).collect();
    println!("{} sites in {} files under {}; seed {seed}", all.len(), sources.len(), under.join(", "));
    let mut drawn = sites::draw(all, count, seed);
    let programs = build::tests(&target, &sources, &mut drawn)?;
    println!("{} mutants compile", drawn.len());
    run::Run { programs: &programs, sources: &sources, tests: &tests, target: &target }
        .all(&drawn, &only)
        .map_err(|failure| failure as _)
}
