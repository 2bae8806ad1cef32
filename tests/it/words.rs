//! The words of comments, documentation and messages: a closed list of old phrases that no file may hold, and titles
//! that name the thing. CONTRIBUTING.md has the words that stand in their place.

use std::fs;
use std::path::{Path, PathBuf};

/// Old phrases, in lower case, and the field's word for each. They are found across the ends of lines too.
const PHRASES: [(&str, &str); 39] = [
    ("side by side", "contiguous, neighbouring, at the same time"),
    ("past the caches", "by non-temporal stores"),
    ("position as it stands", "a valid index"),
    ("positions as they stand", "valid indices"),
    ("is no position", "is negative or out of range"),
    ("asked for ahead", "prefetched"),
    ("asked for a round ahead", "prefetched a round ahead"),
    ("ask for ahead", "prefetch"),
    ("asks for the lines", "prefetches the lines"),
    ("asks for the rows", "prefetches the rows"),
    ("asks for later", "prefetches later"),
    ("asks for a row", "prefetches a row"),
    ("ask for a row", "prefetch a row"),
    ("rows to ask for", "rows to prefetch"),
    ("to be asked for", "to be prefetched"),
    ("asking for memory", "prefetching"),
    ("room that holds", "an uninitialised buffer"),
    ("the room", "the buffer"),
    ("a room", "a buffer"),
    ("room of", "a buffer of"),
    ("into room", "into a buffer"),
    ("what becomes of", "name the operation or its result"),
    ("which is none", "say what it is not"),
    ("but that", "except that, except the one"),
    ("but for", "except for"),
    ("of so many", "of `n`: name the number"),
    ("into so many", "into `n`: name the number"),
    ("for so many", "for `n`: name the number"),
    ("which is had", "which is allocated"),
    ("are had before", "are allocated before"),
    ("is had before", "is allocated before"),
    ("held against", "compared with"),
    ("found out", "recognised"),
    ("by and by", "a few at a time"),
    ("lie apart", "are not contiguous, do not overlap"),
    ("falls apart into", "is divided into"),
    ("to be had", "available"),
    ("what it comes to", "its result"),
    ("stands behind as", "follows as"),
];

/// Folders that hold no text of ours, and the record of measurements, which is of its time.
const LEFT_OUT: [&str; 6] = ["target", "corpus", "artifacts", "record", ".git", "node_modules"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the workspace").to_owned()
}

/// Every file under a folder whose name ends so.
fn files(folder: &Path, extensions: &[&str]) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
    let (folders, files): (Vec<_>, Vec<_>) = entries.partition(|path| path.is_dir());
    let ends = |path: &PathBuf| path.extension().is_some_and(|end| extensions.iter().any(|known| end == *known));
    let inside = |path: &PathBuf| path.file_name().is_some_and(|name| LEFT_OUT.iter().all(|left| name != *left));
    let deeper = folders.into_iter().filter(inside).flat_map(|folder| self::files(&folder, extensions));
    files.into_iter().filter(ends).chain(deeper).collect()
}

/// All texts: sources and guides of the crates, tests and benchmarks, and what stands beside them.
fn texts() -> Vec<PathBuf> {
    let folders = ["gather-core", "gather-macros", "tests", "benches"].map(|folder| root().join(folder));
    let beside = fs::read_dir(root()).expect("the workspace").map(|entry| entry.expect("an entry").path());
    let beside = beside.filter(|path| path.extension().is_some_and(|end| end == "md"));
    let beside = beside.filter(|path| !path.ends_with("CHANGELOG.md"));
    let all = folders.iter().flat_map(|folder| files(folder, &["rs", "md"])).chain(beside);
    all.filter(|path| !path.ends_with("tests/it/words.rs")).collect()
}

/// A text in lower case in which words are apart by one space, without the marks of comments, and the line of each of
/// its bytes. The list of words in CONTRIBUTING.md, which is a table, is left out.
fn normal(path: &Path, text: &str) -> (String, Vec<usize>) {
    let (mut plain, mut lines) = (String::from(" "), vec![0]);
    for (line, number) in text.lines().zip(1..) {
        let line = line.trim_start();
        if path.ends_with("CONTRIBUTING.md") && line.starts_with('|') {
            continue;
        }
        let line = ["///", "//!", "//"].iter().find_map(|mark| line.strip_prefix(mark)).unwrap_or(line);
        for word in line.split_whitespace() {
            plain.push_str(&word.to_lowercase());
            plain.push(' ');
            lines.resize(plain.len(), number);
        }
    }
    (plain, lines)
}

/// Where a phrase stands in a normalised text: at the start of a word, and to the end of one.
fn places<'a>(plain: &'a str, phrase: &'a str) -> impl Iterator<Item = usize> + 'a {
    let is_word = |at: Option<char>| at.is_some_and(char::is_alphanumeric);
    plain.match_indices(phrase).map(|(at, _)| at).filter(move |&at| {
        !is_word(plain[..at].chars().next_back()) && !is_word(plain[at + phrase.len()..].chars().next())
    })
}

#[test]
fn old_phrases_stand_nowhere() {
    let mut found = Vec::new();
    let texts = texts();
    assert!(texts.len() > 300, "{} texts", texts.len());
    for path in texts {
        let Ok(text) = fs::read_to_string(&path) else { continue };
        let (plain, lines) = normal(&path, &text);
        for (phrase, instead) in PHRASES {
            for at in places(&plain, phrase) {
                let path = path.strip_prefix(root()).expect("inside").display();
                found.push(format!("{path}:{}: \"{phrase}\"; say: {instead}", lines[at + 1]));
            }
        }
    }
    assert!(found.is_empty(), "{} old phrases:\n{}", found.len(), found.join("\n"));
}

/// The first line of a comment names the thing, or begins with a verb: "What .." makes a reader wait for it.
#[test]
fn titles_in_the_crates_do_not_begin_with_what() {
    let mut found = Vec::new();
    for path in ["gather-core", "gather-macros"].iter().flat_map(|folder| files(&root().join(folder), &["rs"])) {
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

#[test]
fn a_phrase_is_found_across_lines_and_as_words() {
    let text = "/// Rows lie side\n/// by side, inside by sides.\n//! Beside by side.\nlet but = that;\n";
    let (plain, lines) = normal(Path::new("some.rs"), text);
    let at: Vec<usize> = places(&plain, "side by side").map(|at| lines[at + 1]).collect();
    assert_eq!(at, [1]);
    assert_eq!(places(&plain, "but that").count(), 0);
}
