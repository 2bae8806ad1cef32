//! The tree with all mutants in it, and its tests.

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::sites::{Site, Source, mutate};

/// What the mutated library asks: whether a mutant is the one that the environment names. With a file named instead, it
/// appends the numbers of the mutants that were asked for, each once.
const MUTANT: &str = r#"
#[doc(hidden)]
pub mod mutant {
    extern crate std;
    use std::io::Write as _;
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
    static CHOSEN: AtomicUsize = AtomicUsize::new(0);
    static ASKED: [AtomicBool; 1 << 16] = [const { AtomicBool::new(false) }; 1 << 16];
    pub fn is(n: usize) -> bool {
        let chosen = match CHOSEN.load(Relaxed) {
            0 => choose(),
            chosen => chosen,
        };
        if chosen == 2 && !ASKED[n].load(Relaxed) {
            record(n);
        }
        chosen == n + 3
    }
    #[cold]
    fn choose() -> usize {
        let number = std::env::var("GATHER_MUTANT").ok().and_then(|n| n.parse::<usize>().ok());
        let no_mutant = if std::env::var_os("GATHER_MUTANTS_ASKED").is_some() { 2 } else { 1 };
        let chosen = number.map_or(no_mutant, |n| n + 3);
        CHOSEN.store(chosen, Relaxed);
        chosen
    }
    #[cold]
    fn record(n: usize) {
        if !ASKED[n].swap(true, Relaxed) {
            let path = std::env::var_os("GATHER_MUTANTS_ASKED").unwrap();
            let mut file = std::fs::OpenOptions::new().create(true).append(true).open(path).unwrap();
            file.write_all(std::format!("{n}\n").as_bytes()).unwrap();
        }
    }
}
"#;

/// The tests that look for mutants. Those of the macros and of `specialize!` are left out: what they run is mostly
/// constant evaluation, which has no mutants.
const TESTS: [&str; 17] = [
    "-p",
    "gather-core",
    "-p",
    "gather-tests",
    "-p",
    "gather-tests-types",
    "-p",
    "gather-tests-doors",
    "--lib",
    "--test",
    "it",
    "--test",
    "types",
    "--test",
    "guards",
    "--test",
    "pools",
];

/// The root of the repository.
pub(crate) fn root() -> Result<&'static Path, Box<dyn Error>> {
    Ok(Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).ok_or("no root")?)
}

/// Copies what the repository tracks to `tree`, with mutants in the sources. What is as it was keeps its time, so that
/// nothing is built twice.
fn lay(tree: &Path, sources: &[Source], mutants: &[Option<Site>]) -> Result<(), Box<dyn Error>> {
    let root = root()?;
    let listed = Command::new("git").args(["ls-files", "-z"]).current_dir(root).output()?;
    for name in String::from_utf8(listed.stdout)?.split('\0').filter(|name| !name.is_empty()) {
        let (from, to) = (root.join(name), tree.join(name));
        if !from.is_file() {
            continue;
        }
        let mut text = match sources.iter().position(|source| source.path == Path::new(name)) {
            Some(number) => mutate(number, &sources[number].text, mutants).into_bytes(),
            None => fs::read(&from)?,
        };
        if name == "gather-core/src/lib.rs" {
            text.extend_from_slice(MUTANT.as_bytes());
        }
        if fs::read(&to).is_ok_and(|old| old == text) {
            continue;
        }
        fs::create_dir_all(to.parent().ok_or("no parent")?)?;
        fs::write(to, text)?;
    }
    Ok(())
}

/// Builds the tests with all mutants in them, less those that do not compile; returns the test programs.
pub(crate) fn tests(target: &Path, sources: &[Source], drawn: &mut Vec<Site>) -> Result<Vec<PathBuf>, Box<dyn Error>> {
    let target = std::path::absolute(target)?;
    // A tree of its own finds what does not compile, so that the tree of the tests is written once.
    let (checked, tree) = (target.join("checked"), target.join("tree"));
    let mut kept: Vec<_> = drawn.drain(..).map(Some).collect();
    loop {
        lay(&checked, sources, &kept)?;
        let said =
            cargo(&checked, &target, &["check", "-p", "gather-core", "--all-features", "--message-format", "short"])?;
        let mut dropped = 0;
        for line in said.lines().filter(|line| line.contains(": error")) {
            let mut parts = line.split(':');
            let (Some(file), Some(Ok(at))) = (parts.next(), parts.next().map(str::parse::<usize>)) else { continue };
            for site in &mut kept {
                let here = |site: &Site| site.line == at && sources[site.source].path == Path::new(file);
                if site.as_ref().is_some_and(here) {
                    *site = None;
                    dropped += 1;
                }
            }
        }
        if dropped == 0 {
            if said.contains(": error") || said.contains("error:") {
                return Err(format!("the mutated library does not compile:\n{said}").into());
            }
            break;
        }
    }
    // Numbers follow from what is kept.
    let last: Vec<_> = kept.into_iter().flatten().map(Some).collect();
    lay(&tree, sources, &last)?;
    drawn.extend(last.into_iter().flatten());
    let built = cargo(&tree, &target, &[&["test", "--no-run"][..], &TESTS].concat())?;
    let program = |line: &str| Some(tree.join(line.trim().strip_prefix("Executable")?.split(['(', ')']).nth(1)?));
    let programs: Vec<_> = built.lines().filter_map(program).collect();
    if programs.is_empty() { Err(format!("the tests were not built:\n{built}").into()) } else { Ok(programs) }
}

/// Runs cargo in the tree; returns what it says.
fn cargo(tree: &Path, target: &Path, args: &[&str]) -> Result<String, Box<dyn Error>> {
    let mut command = Command::new("cargo");
    command.args(args).current_dir(tree).env("CARGO_TARGET_DIR", target.join("build"));
    // Mutants leave code unreachable and parentheses unused, and some overflow wherever they run.
    let flags = "--cfg gather_whole_scalar -A warnings -A arithmetic_overflow -A unconditional_panic";
    command.env("RUSTFLAGS", flags);
    command.env("CARGO_TERM_COLOR", "never");
    Ok(String::from_utf8_lossy(&command.output()?.stderr).into_owned())
}
