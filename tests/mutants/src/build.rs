//! The tree with all mutants in it, and its tests.

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::sites::{Site, Source, mutate};

/// What the mutated library asks: whether a mutant is the one that the environment names.
const MUTANT: &str = r#"
#[doc(hidden)]
pub mod mutant {
    extern crate std;
    static CHOSEN: std::sync::OnceLock<usize> = std::sync::OnceLock::new();
    pub fn is(n: usize) -> bool {
        let chosen = || std::env::var("GATHER_MUTANT").ok().and_then(|n| n.parse().ok()).unwrap_or(usize::MAX);
        *CHOSEN.get_or_init(chosen) == n
    }
}
"#;

/// The tests that look for mutants, the fastest first.
const TESTS: [&str; 8] = ["-p", "gather-tests", "-p", "gather-tests-types", "--test", "it", "--test", "types"];

/// Copies what the repository tracks; returns where.
pub(crate) fn copy(target: &Path) -> Result<PathBuf, Box<dyn Error>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).ok_or("no root")?;
    let tree = std::path::absolute(target)?.join("tree");
    let listed = Command::new("git").args(["ls-files", "-z"]).current_dir(root).output()?;
    for name in String::from_utf8(listed.stdout)?.split('\0').filter(|name| !name.is_empty()) {
        let (from, to) = (root.join(name), tree.join(name));
        if from.is_file() {
            let text = fs::read(&from)?;
            // What is as it was keeps its time, so that nothing is built twice.
            if fs::read(&to).is_ok_and(|old| old == text) {
                continue;
            }
            fs::create_dir_all(to.parent().ok_or("no parent")?)?;
            fs::write(to, text)?;
        }
    }
    Ok(tree)
}

/// Builds the tests with all mutants in them, less those that do not compile; returns the test programs.
pub(crate) fn tests(
    tree: &Path,
    target: &Path,
    sources: &[Source],
    drawn: &mut Vec<Site>,
) -> Result<Vec<PathBuf>, Box<dyn Error>> {
    let root = tree.join("gather-core/src/lib.rs");
    let text = fs::read_to_string(&root)?;
    fs::write(&root, text + MUTANT)?;
    let mut kept: Vec<_> = drawn.drain(..).map(Some).collect();
    loop {
        for (number, Source { path, text }) in sources.iter().enumerate() {
            fs::write(path, mutate(number, text, &kept))?;
        }
        let checked =
            cargo(tree, target, &["check", "-p", "gather-core", "--all-features", "--message-format", "short"])?;
        let mut dropped = 0;
        for line in checked.lines().filter(|line| line.contains(": error")) {
            let mut parts = line.split(':');
            let (Some(file), Some(Ok(at))) = (parts.next(), parts.next().map(str::parse::<usize>)) else { continue };
            for site in &mut kept {
                let here = |site: &Site| site.line == at && sources[site.source].path == tree.join(file);
                if site.as_ref().is_some_and(here) {
                    *site = None;
                    dropped += 1;
                }
            }
        }
        if dropped == 0 {
            if checked.contains(": error") || checked.contains("error:") {
                return Err(format!("the mutated library does not compile:\n{checked}").into());
            }
            break;
        }
    }
    // Numbers follow from what is kept, so that they are written once more.
    drawn.extend(kept.into_iter().flatten());
    let last: Vec<_> = drawn.drain(..).map(Some).collect();
    for (number, Source { path, text }) in sources.iter().enumerate() {
        fs::write(path, mutate(number, text, &last))?;
    }
    drawn.extend(last.into_iter().flatten());
    let built = cargo(tree, target, &[&["test", "--no-run"][..], &TESTS].concat())?;
    let program = |line: &str| Some(tree.join(line.trim().strip_prefix("Executable")?.split(['(', ')']).nth(1)?));
    let programs: Vec<_> = built.lines().filter_map(program).collect();
    if programs.len() != 2 { Err(format!("the tests were not built:\n{built}").into()) } else { Ok(programs) }
}

/// Runs cargo in the tree; returns what it says.
fn cargo(tree: &Path, target: &Path, args: &[&str]) -> Result<String, Box<dyn Error>> {
    let mut command = Command::new("cargo");
    command.args(args).current_dir(tree).env("CARGO_TARGET_DIR", std::path::absolute(target)?.join("build"));
    // Mutants leave code unreachable and parentheses unused.
    command.env("RUSTFLAGS", "-A warnings").env("CARGO_TERM_COLOR", "never");
    Ok(String::from_utf8_lossy(&command.output()?.stderr).into_owned())
}
