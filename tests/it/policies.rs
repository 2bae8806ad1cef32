//! Policies are compared in one place: a policy that is added is lowered there, or does not compile. A comparison
//! elsewhere would go on as if the policy did not exist.

use std::fs;
use std::path::{Path, PathBuf};

/// The lowering, and what may compare a policy beside it: a message, the rule that a default index is read by, and names.
const ALLOWED: [(&str, usize); 4] = [
    ("types/policy.rs", usize::MAX),
    ("types/error/mod.rs", 1),
    ("call/bag/erased.rs", 1),
    ("types/attribute_names.rs", 0),
];

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        if entry.is_dir() {
            sources(&entry, found);
        } else if entry.extension().is_some_and(|extension| extension == "rs") && !entry.ends_with("tests.rs") {
            found.push(entry);
        }
    }
}

/// Whether a line compares a policy: by an operator, a pattern of `matches!`, or an arm.
fn compares(line: &str) -> bool {
    let named = ["OutOfBounds::", "NegativeIndex::"].iter().any(|name| line.contains(name));
    let names = |part: &str| part.contains("OutOfBounds::") || part.contains("NegativeIndex::");
    named
        && (line.contains("==") && !line.contains("assert")
            || line.contains("!=")
            || line.contains("matches!")
            || line.contains("if let")
            || line.split_once("=>").is_some_and(|(pattern, _)| names(pattern)))
}

#[test]
fn comparisons_are_told_from_choices() {
    for line in [
        "if policy.out_of_bounds == OutOfBounds::Zero {",
        "NegativeIndex::Reject != negative",
        "matches!(out, OutOfBounds::Clamp | OutOfBounds::Wrap)",
        "OutOfBounds::Clamp => Some(1),",
        "if let NegativeIndex::Reject = negative {",
    ] {
        assert!(compares(line), "{line}");
    }
    for line in ["Self::new(axis).out_of_bounds(OutOfBounds::Zero)", "|negative| NegativeIndex::ALL", "a == b"] {
        assert!(!compares(line), "{line}");
    }
}

#[test]
fn no_policy_is_compared_outside_the_lowering() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../gather-core/src");
    let mut files = Vec::new();
    sources(&root, &mut files);
    assert!(files.len() > 100, "{} files", files.len());
    for file in files {
        let name = file.strip_prefix(&root).unwrap().to_str().unwrap().replace('\\', "/");
        let text = fs::read_to_string(&file).unwrap();
        let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap();
        let lines = code.lines().map(str::trim).filter(|line| !line.starts_with("//"));
        let found: Vec<&str> = lines.filter(|line| compares(line)).collect();
        let allowed = ALLOWED.iter().find(|(allowed, _)| *allowed == name).map_or(0, |(_, most)| *most);
        assert!(found.len() <= allowed, "{name}: lower the policy in `types/policy.rs` in place of {found:?}");
    }
}
