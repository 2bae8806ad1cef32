//! The lines that changed since a commit.

use std::collections::BTreeMap;
use std::error::Error;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Changed lines of files, by their paths in the repository. Where lines were only removed, it is the line before them.
pub(crate) type Changed = BTreeMap<PathBuf, Vec<RangeInclusive<usize>>>;

/// What the sources of gather-core have changed since a commit, uncommitted changes among them.
pub(crate) fn changed(root: &Path, commit: &str) -> Result<Changed, Box<dyn Error>> {
    let arguments = ["diff", "--unified=0", "--no-color", "--no-ext-diff", "--no-prefix", commit, "--"];
    let output = Command::new("git").args(arguments).arg("gather-core/src").current_dir(root).output()?;
    if !output.status.success() {
        return Err(format!("git diff {commit}: {}", String::from_utf8_lossy(&output.stderr)).into());
    }
    Ok(of_diff(&String::from_utf8(output.stdout)?))
}

/// The changed lines that a diff without context tells: `+++ path`, then `@@ -old +new @@` for each place.
fn of_diff(diff: &str) -> Changed {
    let mut changed = Changed::new();
    let mut path = PathBuf::new();
    for line in diff.lines() {
        if let Some(new) = line.strip_prefix("+++ ") {
            path = PathBuf::from(new);
        } else if let Some(place) = line.strip_prefix("@@ ") {
            changed.entry(path.clone()).or_default().extend(new_lines(place));
        }
    }
    changed
}

/// The lines of the new file in `-old +first,count @@`; one where there is no count.
fn new_lines(place: &str) -> Option<RangeInclusive<usize>> {
    let new = place.split(' ').find_map(|part| part.strip_prefix('+'))?;
    let (first, count) = new.split_once(',').unwrap_or((new, "1"));
    let (first, count): (usize, usize) = (first.parse().ok()?, count.parse().ok()?);
    Some(first..=first + count.max(1) - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_a_diff_are_those_of_the_new_file() {
        let diff = "diff --git a.rs a.rs\n--- a.rs\n+++ a.rs\n@@ -3 +3,2 @@ fn f() {\n+x\n+y\n@@ -9,4 +10,0 @@\n-z\n\
                    --- b.rs\n+++ b.rs\n@@ -1 +1 @@\n";
        let changed = of_diff(diff);
        assert_eq!(changed[Path::new("a.rs")], [3..=4, 10..=10]);
        assert_eq!(changed[Path::new("b.rs")], [1..=1]);
    }
}
