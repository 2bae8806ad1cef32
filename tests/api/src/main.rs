//! The public API of gather-core as a text: a line for each item, with its signature.
//!
//! Compares it with `gather-core/public-api.txt`, and prints the lines that differ. With `GATHER_BLESS=1` it writes
//! that file.
//!
//! ```text
//! cargo run --manifest-path tests/api/Cargo.toml --target-dir target
//! ```
//!
//! rustdoc describes the library as JSON, of a format that changes with releases of Rust. Where the toolchain has
//! another format than the one that is read here, the program says so, and exits with 3.

use std::collections::BTreeSet;
use std::error::Error;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::{env, fs};

/// The format of rustdoc 1.95, which the dependency `public-api` reads.
const FORMAT: u64 = 57;
/// The exit code where the toolchain has another format.
const SKIPPED: u8 = 3;
const SNAPSHOT: &str = "gather-core/public-api.txt";

/// The variable that has the program stand in for rustdoc, which it names.
const RUSTDOC: &str = "GATHER_API_RUSTDOC";

/// What rustdoc writes about the library with all features.
fn described(root: &Path) -> Result<PathBuf, Box<dyn Error>> {
    let target = env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), |folder| root.join(folder));
    let done = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
        .args(["rustdoc", "--quiet", "--locked", "--package", "gather-core", "--lib", "--all-features", "--target-dir"])
        .arg(&target)
        .args(["--", "-Z", "unstable-options", "--output-format", "json"])
        .env(RUSTDOC, env::var_os("RUSTDOC").unwrap_or_else(|| "rustdoc".into()))
        .env("RUSTDOC", env::current_exe()?)
        .current_dir(root)
        .status()?;
    if !done.success() {
        return Err("rustdoc failed".into());
    }
    Ok(target.join("doc/gather_core.json"))
}

/// Runs rustdoc with the flags that are not stable. For rustdoc alone: with that variable, cargo would check anew what
/// `cargo doc` has checked.
fn rustdoc(program: &OsStr) -> Result<ExitCode, Box<dyn Error>> {
    let done = Command::new(program).args(env::args_os().skip(1)).env("RUSTC_BOOTSTRAP", "1").status()?;
    Ok(if done.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Traits that the compiler implements, and that hardly a program names.
const UNNAMED: [&str; 6] = ["Freeze", "Unpin", "UnsafeUnpin", "StructuralPartialEq", "UnwindSafe", "RefUnwindSafe"];
/// Methods of derived traits: the line of the trait is enough.
const DERIVED: [&str; 7] = ["clone(&", "eq(&", "cmp(&", "partial_cmp(&", "hash<", "fmt(&", "default() -> "];

/// Whether a line says what no other line does.
fn counts(line: &str) -> bool {
    let unnamed = |name: &str| line.starts_with("impl") && line.contains(&format!("::{name} for "));
    let derived = |method: &str| line.starts_with("pub fn ") && line.contains(&format!("::{method}"));
    !UNNAMED.iter().any(|name| unnamed(name)) && !DERIVED.iter().any(|method| derived(method))
}

/// The items, a line for each: but for what is implemented for every type. An `impl` of a trait is listed with the type
/// and with the trait, and stays where it comes first.
fn listed(json: &Path) -> public_api::Result<String> {
    let builder = public_api::Builder::from_rustdoc_json(json).omit_blanket_impls(true);
    let api = builder.include_function_parameter_names(true).build()?;
    let mut lines = BTreeSet::new();
    let first = |line: &String| counts(line) && lines.insert(line.clone());
    Ok(api.items().map(|item| format!("{item}\n")).filter(first).collect())
}

fn run() -> Result<ExitCode, Box<dyn Error>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize()?;
    let json = described(&root)?;
    let format = serde_json::from_str::<serde_json::Value>(&fs::read_to_string(&json)?)?["format_version"].as_u64();
    if format != Some(FORMAT) {
        println!("rustdoc writes format {format:?}, and format {FORMAT} is read here");
        return Ok(ExitCode::from(SKIPPED));
    }
    let found = listed(&json)?;
    let path = root.join(SNAPSHOT);
    if env::var_os("GATHER_BLESS").is_some() {
        fs::write(&path, &found)?;
        println!("{SNAPSHOT}: {} lines", found.lines().count());
        return Ok(ExitCode::SUCCESS);
    }
    let written = fs::read_to_string(&path)?;
    let [written, found] = [&written, &found].map(|text| text.lines().collect::<BTreeSet<_>>());
    if written == found {
        println!("{SNAPSHOT} has the {} lines of the public API", found.len());
        return Ok(ExitCode::SUCCESS);
    }
    written.difference(&found).for_each(|line| println!("- {line}"));
    found.difference(&written).for_each(|line| println!("+ {line}"));
    println!("the public API differs from {SNAPSHOT}; with GATHER_BLESS=1 this program writes it");
    Ok(ExitCode::FAILURE)
}

fn main() -> ExitCode {
    env::var_os(RUSTDOC).map_or_else(run, |program| rustdoc(&program)).unwrap_or_else(|error| {
        eprintln!("{error}");
        ExitCode::FAILURE
    })
}
