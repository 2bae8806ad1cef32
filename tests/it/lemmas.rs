//! The lemmas of `tests/lemmas` quote functions of gather-core: each quote must be in its file, word by word. Whoever
//! changes such a function reads the lemma beside the new text, and copies the text into it.

use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the workspace").to_owned()
}

/// Rust without lines of comments, its white space one space, as `tests/lemmas/frame.py` has it.
fn normalised(text: &str) -> String {
    let lines = text.lines().map(str::trim).filter(|line| !line.starts_with("//"));
    lines.flat_map(str::split_whitespace).collect::<Vec<_>>().join(" ")
}

/// The quotes of a file of lemmas, `rust("path", """text""")` or `rust("path", "text")`: paths and texts.
fn quotes(lemmas: &str) -> Vec<(&str, &str)> {
    let quote = |call| -> Option<(&str, &str)> {
        let (path, rest) = str::split_once(call, "\", \"")?;
        let text = match rest.strip_prefix("\"\"") {
            Some(rest) => rest.split_once("\"\"\"")?.0,
            None => rest.split_once('"')?.0,
        };
        Some((path, text))
    };
    lemmas.split("rust(\"").skip(1).map(|call| quote(call).expect("a path and a text")).collect()
}

#[test]
fn functions_are_those_that_lemmas_speak_of() {
    let (folder, src) = (root().join("tests/lemmas"), root().join("gather-core/src"));
    let (mut found, mut changed) = (0, Vec::new());
    for entry in fs::read_dir(folder).expect("the lemmas") {
        let path = entry.expect("an entry").path();
        if path.extension().is_none_or(|extension| extension != "py") {
            continue;
        }
        let lemmas = fs::read_to_string(&path).expect("a file of lemmas");
        for (file, text) in quotes(&lemmas) {
            found += 1;
            let source = fs::read_to_string(src.join(file)).unwrap_or_default();
            if !normalised(&source).contains(&normalised(text)) {
                let first = text.trim().lines().next().unwrap_or_default();
                changed.push(format!("{file}: `{first}`, quoted in {}", path.display()));
            }
        }
    }
    assert!(found > 40, "{found} quotes");
    assert!(
        changed.is_empty(),
        "changed since lemmas were proved of it:\n{}\nRead the lemma beside the new text. Where it still says what the \
         code does, copy the text into it; else change the lemma, and run tests/lemmas/run.py.",
        changed.join("\n")
    );
}

#[test]
fn a_changed_text_is_noticed() {
    let lemmas = "A = rust(\"a.rs\", \"x + 1\")\nB = rust(\"b/c.rs\", \"\"\"\n    // Why.\n    x < \"y\"\n\"\"\")\n";
    let found: Vec<_> = quotes(lemmas).into_iter().map(|(path, text)| (path, normalised(text))).collect();
    assert_eq!(found, [("a.rs", "x + 1".into()), ("b/c.rs", "x < \"y\"".into())]);
    let source = normalised("fn f() {\n    x\n        // Another reason.\n        < \"y\"\n}");
    assert!(source.contains(&found[1].1) && !source.contains(&found[0].1));
}
