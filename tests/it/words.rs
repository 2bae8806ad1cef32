//! The words of comments and documentation: titles that name the thing, and phrases that hide a number or a name.
//! CONTRIBUTING.md has the rules, which a reader checks.

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

/// Phrases that stand in place of a number, a name or an expression: `offsets[b + 1] - offsets[b]` is shorter than "as
/// many as ..".
const PHRASES: [&str; 23] = [
    "as many",
    "those of",
    "that of",
    "what is",
    "is none",
    "are none",
    "room",
    "rooms",
    "door",
    "doors",
    "of which there",
    "the one that",
    "the ones that",
    "where there is",
    "where there are",
    "what converts",
    "what it takes",
    "left out",
    "beside",
    "goes on",
    "is asked",
    "are asked",
    "behind it",
];

/// Files that quote the phrases: the rules against them.
const QUOTED: [&str; 1] = ["CONTRIBUTING.md"];

/// The most phrases in a thousand words.
const MOST_PHRASES: f64 = 1.0;

/// The comment of a line of code, or a line of a document.
fn prose(line: &str, is_code: bool) -> &str {
    let comment = line.find("//").filter(|&at| line[..at].matches('"').count().is_multiple_of(2));
    match (is_code, comment) {
        (false, _) => line,
        (true, Some(at)) => &line[at + 2..],
        (true, None) => "",
    }
}

/// The words of a text, in lower case.
fn words(text: &str) -> Vec<String> {
    let words = text.split(|c: char| !c.is_alphanumeric() && c != '\'').filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect()
}

#[test]
fn phrases_that_hide_a_number_or_a_name_are_rare() {
    let folders = ["gather-core", "gather-macros", "benches/record"].map(|folder| root().join(folder));
    let paths = folders.iter().flat_map(|folder| files(folder, &["rs", "md"], &["target"]));
    let paths =
        paths.chain(["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "SECURITY.md"].map(|name| root().join(name)));
    let phrases = PHRASES.map(|phrase| phrase.split(' ').collect::<Vec<_>>());
    let (mut all, mut found) = (0, Vec::new());
    for path in paths.filter(|path| QUOTED.iter().all(|name| !path.ends_with(name))) {
        let is_code = path.extension().is_some_and(|end| end == "rs");
        for (line, number) in fs::read_to_string(&path).expect("a text").lines().zip(1..) {
            let words = words(prose(line, is_code));
            all += words.len();
            let met = phrases.iter().filter(|phrase| words.windows(phrase.len()).any(|words| words == &phrase[..]));
            let place = path.strip_prefix(root()).expect("inside").display();
            found.extend(met.map(|phrase| format!("{place}:{number}: {}", phrase.join(" "))));
        }
    }
    let share = 1000.0 * found.len() as f64 / all as f64;
    assert!(share <= MOST_PHRASES, "{share:.2} in a thousand of {all} words:\n{}", found.join("\n"));
}

#[test]
fn a_phrase_is_found_in_a_comment_alone() {
    assert_eq!(words(prose("let room = 1; // As many rows.", true)), ["as", "many", "rows"]);
    assert_eq!(prose("let room = \"//\";", true), "");
    assert_eq!(prose("as many", false), "as many");
}
