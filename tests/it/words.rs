//! The words of comments and documentation: titles that name the thing. CONTRIBUTING.md has the two rules, which a
//! reader checks.

use std::fs;
use std::path::{Path, PathBuf};

/// Folders that hold no text of ours, and the record of measurements, which is of its time.
const LEFT_OUT: [&str; 6] = ["target", "corpus", "artifacts", "record", ".git", "node_modules"];

/// The root of the workspace.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the workspace").to_owned()
}

/// Every file under a folder whose name ends so, but for those in folders of these names.
pub(crate) fn files(folder: &Path, extensions: &[&str], left_out: &[&str]) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
    let (folders, files): (Vec<_>, Vec<_>) = entries.partition(|path| path.is_dir());
    let ends = |path: &PathBuf| path.extension().is_some_and(|end| extensions.iter().any(|known| end == *known));
    let inside = |path: &PathBuf| path.file_name().is_some_and(|name| left_out.iter().all(|left| name != *left));
    let deeper = folders.into_iter().filter(inside).flat_map(|folder| self::files(&folder, extensions, left_out));
    files.into_iter().filter(ends).chain(deeper).collect()
}

/// The first line of a comment names the thing, or begins with a verb: "What .." makes a reader wait for it.
#[test]
fn titles_in_the_crates_do_not_begin_with_what() {
    let mut found = Vec::new();
    let folders = ["gather-core", "gather-macros"];
    for path in folders.iter().flat_map(|folder| files(&root().join(folder), &["rs"], &LEFT_OUT)) {
        let text = fs::read_to_string(&path).expect("a text");
        let mut inside = false;
        for (line, number) in text.lines().zip(1..) {
            let comment = ["///", "//!"].iter().find_map(|mark| line.trim_start().strip_prefix(mark));
            if !inside && comment.is_some_and(|comment| comment.starts_with(" What ")) {
                found.push(format!("{}:{number}:{line}", path.strip_prefix(root()).expect("inside").display()));
            }
            inside = comment.is_some();
        }
    }
    assert!(found.is_empty(), "{} titles:\n{}", found.len(), found.join("\n"));
}
