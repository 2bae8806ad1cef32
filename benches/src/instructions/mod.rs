//! A gate that noise cannot fool: how many instructions one call takes, compared with committed counts and with
//! limits.
//!
//! ```text
//! for each kernel and level:  set up, call once, [ call ] counted by callgrind, check the output
//! compare each count with benches/record/instructions.txt, and some with a limit
//! ```
//!
//! Times on a shared machine differ by tens of percent from run to run. Instructions of the same machine code on the
//! same input do not differ at all. A count says nothing about caches and stalls. It finds a check that has moved into
//! a loop, a function that is no longer inlined, a kernel that is no longer chosen.
//!
//! Callgrind needs nothing but options for this: it counts while [`kernels::gather_counted_call`] is on the stack and
//! writes its counts down when that returns. So one run of valgrind counts every kernel, and nothing has to be linked.
//! `gungraun` does the same with one process a kernel and a runner of the same version, which a fresh machine has to
//! compile first. It keeps its baselines as profiles under `target/`; ours are one number a line, to be committed and
//! read in a diff.

pub mod baseline;
pub mod callgrind;
pub mod calls;
pub mod kernels;
pub mod limits;
pub mod scatters;
pub mod short;
pub mod specialized;

use std::path::{Path, PathBuf};

use baseline::{Baselines, Verdict};
use limits::LIMITS;

/// Where the baselines are.
#[must_use]
pub fn path() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("record/instructions.txt")
}

/// Counts every kernel and compares; with `bless` writes the counts down instead. Returns the text to print, and
/// whether the gate is passed.
///
/// # Errors
/// A text: valgrind failed, or the baselines cannot be read or written.
pub fn gate(bless: bool) -> Result<(String, bool), String> {
    if let Some(reason) = callgrind::missing() {
        return Ok((format!("skipped: {reason}"), true));
    }
    let counted = Baselines { toolchain: toolchain(), counts: callgrind::count()? };
    let path = path();
    if bless {
        std::fs::write(&path, counted.to_string()).map_err(|error| format!("{}: {error}", path.display()))?;
        return Ok((format!("blessed {} counts in {}", counted.counts.len(), path.display()), true));
    }
    let text = std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    let verdict = Verdict::of(&text.parse()?, &counted, &LIMITS);
    Ok((verdict.to_string(), verdict.passes()))
}

/// What the counts depend on besides the code.
fn toolchain() -> String {
    format!("{} on {}", env!("GATHER_RUSTC"), std::env::consts::ARCH)
}
