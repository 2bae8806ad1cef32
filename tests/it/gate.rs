//! The long checks: each part of `.ci/deep` runs when none is named, and CONTRIBUTING.md says when it last did.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

fn text(path: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(path);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// What stands between two texts, the first time.
fn between<'a>(text: &'a str, begin: &str, end: &str) -> &'a str {
    let (_, rest) = text.split_once(begin).unwrap_or_else(|| panic!("no {begin:?}"));
    rest.split_once(end).unwrap_or_else(|| panic!("no {end:?} behind {begin:?}")).0
}

#[test]
fn every_part_of_the_long_checks_is_listed() {
    let deep = text(".ci/deep");
    let all: BTreeSet<&str> = between(&deep, "all=(", ")").split_whitespace().collect();
    // An arm of the case is indented by 4 spaces, and its commands by 8.
    let arms = deep.lines().filter(|line| line.starts_with("    ") && !line.starts_with("     "));
    let arms = arms.filter_map(|line| line.trim().split_once(')').map(|(names, _)| names));
    let names = arms.flat_map(|names| names.split(" | ")).filter(|name| {
        name.starts_with(|first: char| first.is_ascii_lowercase())
            && !name.contains(|other: char| " ($\"=".contains(other))
    });
    assert_eq!(names.collect::<BTreeSet<_>>(), all);
    let contributing = text("CONTRIBUTING.md");
    let table = between(&contributing, "| part | commit, date | result | seconds |\n", "\n\n");
    let rows = table.lines().filter_map(|row| row.strip_prefix("| ")?.split(" | ").next());
    let told: BTreeSet<&str> = rows.flat_map(|parts| parts.split(", ")).collect();
    let missing: Vec<_> = all.difference(&told).collect();
    assert!(missing.is_empty(), "CONTRIBUTING.md does not say when these last ran: {missing:?}");
}
