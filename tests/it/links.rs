//! The links of what is written in Markdown: they lead to files and headings of a checkout, and on the pages of rustdoc
//! to chapters.

use std::collections::BTreeMap;
use std::path::Path;
use std::{fs, iter};

use crate::words;

/// Folders that hold no text of ours.
const LEFT_OUT: [&str; 5] = ["target", "corpus", "artifacts", ".git", "node_modules"];

/// A text without its blocks of code.
fn prose(text: &str) -> String {
    let mut inside = false;
    let mut kept = String::new();
    for line in text.lines() {
        let fence = line.trim_start().starts_with("```");
        inside ^= fence;
        if !inside && !fence {
            kept.push_str(line);
            kept.push('\n');
        }
    }
    kept
}

/// The definitions `[label]: target` of a text.
fn definitions(text: &str) -> BTreeMap<String, String> {
    let definition = |line: &str| {
        let (label, target) = line.strip_prefix('[')?.split_once("]: ")?;
        (!target.contains(' ')).then(|| (label.to_owned(), target.to_owned()))
    };
    text.lines().filter_map(definition).collect()
}

/// What stands between two marks, wherever it does.
fn between<'t>(text: &'t str, open: &'t str, close: char) -> impl Iterator<Item = &'t str> {
    let mut rest = text;
    iter::from_fn(move || {
        let begin = rest.find(open)? + open.len();
        let len = rest[begin..].find(close)?;
        let found = &rest[begin..begin + len];
        rest = &rest[begin + len..];
        Some(found)
    })
}

/// Whether a link leads to a file: not to an address, and not to an item by its path in Rust.
fn leads_to_a_file(target: &str) -> bool {
    !target.contains("::") && !target.contains("://") && !target.starts_with("mailto:") && !target.starts_with("crate")
}

/// The anchors of the headings of a text.
fn anchors(text: &str) -> Vec<String> {
    let anchor = |line: &str| {
        let title = line.strip_prefix('#')?.trim_start_matches('#').trim().to_lowercase();
        let kept = title.chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
        Some(kept.map(|c| if c == ' ' { '-' } else { c }).collect())
    };
    prose(text).lines().filter_map(anchor).collect()
}

/// Why a link of a file leads nowhere.
fn fault(file: &Path, target: &str) -> Option<String> {
    let (path, anchor) = target.split_once('#').map_or((target, None), |(path, anchor)| (path, Some(anchor)));
    let found = if path.is_empty() { file.to_owned() } else { file.parent().expect("a folder").join(path) };
    if !found.exists() {
        return Some(format!("{}: there is no {target}", file.display()));
    }
    let anchor = anchor.filter(|_| found.extension().is_some_and(|end| end == "md"))?;
    let text = fs::read_to_string(&found).expect("a text");
    (!anchors(&text).iter().any(|known| known == anchor)).then(|| format!("{}: no heading {target}", file.display()))
}

#[test]
fn relative_links_lead_to_files_and_headings() {
    let mut faults = Vec::new();
    for file in words::files(&words::root(), &["md"], &LEFT_OUT) {
        let text = prose(&fs::read_to_string(&file).expect("a text"));
        let definitions = definitions(&text);
        let targets = between(&text, "](", ')').chain(definitions.values().map(String::as_str));
        faults.extend(targets.filter(|target| leads_to_a_file(target)).filter_map(|target| fault(&file, target)));
        for label in between(&text, "][", ']') {
            let label = label.split_whitespace().collect::<Vec<_>>().join(" ");
            if !definitions.contains_key(&label) {
                faults.push(format!("{}: [{label}] is not defined", file.display()));
            }
        }
    }
    assert!(faults.is_empty(), "{} links:\n{}", faults.len(), faults.join("\n"));
}

/// A link from chapter to chapter is a label that `chapters.txt` defines too, for the pages of rustdoc.
#[test]
fn chapters_link_to_chapters_on_the_pages_of_rustdoc() {
    let guide = words::root().join("gather-core/src/guide");
    let on_pages = definitions(&fs::read_to_string(guide.join("chapters.txt")).expect("the definitions"));
    let chapters = fs::read_to_string(guide.join("mod.rs")).expect("the modules");
    let front = fs::read_to_string(guide.join("README.md")).expect("the list of chapters");
    for file in words::files(&guide, &["md"], &[]) {
        let text = prose(&fs::read_to_string(&file).expect("a text"));
        for target in between(&text, "](", ')').filter(|target| leads_to_a_file(target)) {
            assert!(target.starts_with('#'), "{}: {target} needs a label and a definition", file.display());
        }
        for (label, target) in definitions(&text).iter().filter(|(_, target)| leads_to_a_file(target)) {
            assert_eq!(label, target, "{}", file.display());
            let page = on_pages.get(label).unwrap_or_else(|| panic!("{label} of {} in chapters.txt", file.display()));
            if let Some((chapter, anchor)) = label.split_once(".md") {
                assert_eq!(*page, format!("crate::guide::{chapter}{anchor}"));
            }
        }
        let name = file.file_stem().expect("a name").to_str().expect("in UTF-8");
        if name != "README" {
            assert!(chapters.split_whitespace().any(|chapter| chapter == name), "{name} is no module");
            assert!(front.contains(&format!("[{name}.md]: {name}.md")), "{name} is not in the list of chapters");
        }
    }
}

/// The front pages of the repository and of the library begin with the same sentence.
#[test]
fn front_pages_begin_with_the_same_sentence() {
    let sentence = |text: &str, mark: &str| {
        let lines = text.lines().skip_while(|line| !line.starts_with(&format!("{mark}Gather")));
        let lines = lines.map(|line| line.strip_prefix(mark).unwrap_or("")).take_while(|line| !line.is_empty());
        lines.collect::<Vec<_>>().join(" ").split_once(". ").map_or_else(String::new, |(first, _)| first.to_owned())
    };
    let text = |path: &str| fs::read_to_string(words::root().join(path)).expect("a text");
    let library = text("gather-core/src/lib.rs").replace("OpenVINO.\n", "OpenVINO. \n");
    let (readme, library) = (sentence(&text("README.md"), ""), sentence(&library, "//! "));
    assert!(readme.len() > 100);
    assert_eq!(readme, library);
}
