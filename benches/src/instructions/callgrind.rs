//! Runs this program under valgrind and reads what callgrind has counted.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

/// The argument that makes the program run the counted calls.
pub const CALLS: &str = "--calls";

/// Why nothing can be counted here; `None` if it can.
#[must_use]
pub fn missing() -> Option<String> {
    match Command::new("valgrind").arg("--version").output() {
        Ok(output) if output.status.success() => None,
        Ok(output) => Some(format!("valgrind --version: {}", output.status)),
        Err(error) => Some(format!("valgrind cannot be run: {error}")),
    }
}

/// Instructions of every call, by its name.
///
/// # Errors
/// A text: valgrind or the program failed, or the counts are not one for each call.
pub fn count() -> Result<BTreeMap<String, u64>, String> {
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let profile = std::env::temp_dir().join(format!("gather-instructions-{}", std::process::id()));
    let counts = run(&program, &profile);
    // A file that cannot be removed does no harm.
    let _ = std::fs::remove_file(&profile);
    counts
}

fn run(program: &Path, profile: &Path) -> Result<BTreeMap<String, u64>, String> {
    let output = Command::new("valgrind")
        .args(["--quiet", "--tool=callgrind", "--collect-atstart=no", "--combine-dumps=yes"])
        .args(["--toggle-collect=gather_counted_call", "--dump-after=gather_counted_call"])
        .arg(format!("--callgrind-out-file={}", profile.display()))
        .arg(program)
        .arg(CALLS)
        .output()
        .map_err(|error| format!("valgrind: {error}"))?;
    if !output.status.success() {
        return Err(format!("valgrind: {}\n{}", output.status, String::from_utf8_lossy(&output.stderr)));
    }
    let names = String::from_utf8_lossy(&output.stdout);
    let profile = std::fs::read_to_string(profile).map_err(|error| format!("{}: {error}", profile.display()))?;
    pair(&names, &profile)
}

/// Pairs the names that the program printed, in the order of its calls, with the totals of the parts of the profile.
fn pair(names: &str, profile: &str) -> Result<BTreeMap<String, u64>, String> {
    let totals = totals(profile)?;
    let names: Vec<&str> = names.lines().collect();
    if names.is_empty() || names.len() != totals.len() {
        return Err(format!("{} calls, but callgrind counted {}", names.len(), totals.len()));
    }
    Ok(names.into_iter().map(str::to_owned).zip(totals).collect())
}

/// The totals of a profile's parts. The last part, from the last call to the end of the program, counts nothing.
fn totals(profile: &str) -> Result<Vec<u64>, String> {
    let lines = profile.lines().filter_map(|line| line.strip_prefix("totals: "));
    let mut totals = Vec::new();
    for line in lines {
        totals.push(line.trim().parse().map_err(|error| format!("totals: {line}: {error}"))?);
    }
    totals.pop_if(|last| *last == 0);
    Ok(totals)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PROFILE: &str =
        "version: 1\npart: 1\nsummary: 7\n\nfn=(1) f\n3 7\ntotals: 7\npart: 2\n\ntotals: 9\npart: 3\n\ntotals: 0\n";

    #[test]
    fn parts_are_paired_with_names_in_order() {
        let counts = pair("b\na\n", PROFILE).expect("two parts");
        assert_eq!(counts, BTreeMap::from([("b".to_owned(), 7), ("a".to_owned(), 9)]));
    }

    #[test]
    fn a_part_too_many_or_too_few_is_an_error() {
        assert_eq!(pair("a\n", PROFILE), Err("1 calls, but callgrind counted 2".to_owned()));
        assert!(pair("a\nb\nc\n", PROFILE).is_err());
        assert!(pair("", "").is_err());
        assert!(pair("a\n", "totals: many\n").is_err());
    }
}
