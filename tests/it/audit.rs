//! The unsafe code of the library: where it is, and that `gather-core/UNSAFE.md` says so.
//!
//! `GATHER_BLESS=1 cargo test -p gather-tests --test it audit` updates the table.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Unsafe blocks, unsafe functions, and unsafe traits with their implementations, in a file.
type Counts = [usize; 3];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the workspace").to_owned()
}

/// Every Rust file under a folder.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
    let (folders, files): (Vec<_>, Vec<_>) = entries.partition(|path| path.is_dir());
    let files = files.into_iter().filter(|path| path.extension().is_some_and(|found| found == "rs"));
    files.chain(folders.iter().flat_map(|folder| sources(folder))).collect()
}

fn counts(text: &str) -> Counts {
    let code = || text.lines().map(str::trim).filter(|line| !line.starts_with("//"));
    let count = |what: &str| code().map(|line| line.matches(what).count()).sum::<usize>();
    // A type such as `unsafe fn(&Args)` has no name behind `fn`.
    let functions = count("unsafe fn ");
    [count("unsafe {"), functions, count("unsafe impl") + count("unsafe trait")]
}

/// The files of gather-core with unsafe code, by their names in the table.
fn found() -> BTreeMap<String, Counts> {
    let src = root().join("gather-core/src");
    let named = sources(&src).into_iter().map(|path| {
        let name = path.strip_prefix(&src).expect("a source").to_str().expect("a name").replace('\\', "/");
        (name, counts(&fs::read_to_string(&path).expect("a text")))
    });
    named.filter(|(_, counts)| *counts != [0; 3]).collect()
}

/// A row of the table: `| file | blocks | functions | impls | ...`.
fn row(line: &str) -> Option<(String, Counts, String)> {
    let cells: Vec<&str> = line.split('|').map(str::trim).collect();
    let [_, file, blocks, functions, impls, rest @ ..] = cells.as_slice() else { return None };
    let file = file.strip_prefix('`')?.strip_suffix('`').filter(|file| file.ends_with(".rs"))?;
    let counts = [blocks.parse().ok()?, functions.parse().ok()?, impls.parse().ok()?];
    Some((file.to_owned(), counts, rest.join(" | ").trim_end_matches([' ', '|']).to_owned()))
}

#[test]
fn the_table_of_unsafe_code_is_that_of_the_sources() {
    let path = root().join("gather-core/UNSAFE.md");
    let text = fs::read_to_string(&path).unwrap();
    let found = found();
    if std::env::var_os("GATHER_BLESS").is_some() {
        let lines = text.lines().map(|line| {
            match row(line).and_then(|(file, _, rest)| Some((found.get(&file)?, file, rest))) {
                Some(([blocks, functions, impls], file, rest)) => {
                    format!("| `{file}` | {blocks} | {functions} | {impls} | {rest} |\n")
                }
                None => format!("{line}\n"),
            }
        });
        fs::write(&path, lines.collect::<String>()).unwrap();
        return;
    }
    let written: BTreeMap<String, Counts> =
        text.lines().filter_map(row).map(|(file, counts, _)| (file, counts)).collect();
    assert_eq!(written, found, "the table of UNSAFE.md on the left, the sources on the right");
}

#[test]
fn every_unsafe_block_has_an_argument_and_every_other_module_forbids() {
    let src = root().join("gather-core/src");
    for path in sources(&src) {
        let text = fs::read_to_string(&path).unwrap();
        let lines: Vec<&str> = text.lines().map(str::trim).collect();
        let name = path.strip_prefix(&src).unwrap().display();
        if counts(&text) == [0; 3] {
            // A file that declares modules with unsafe code cannot forbid it. A `mod.rs` that forbids it does so for
            // its folder.
            let holds = lines.iter().any(|line| line.starts_with("mod ") || line.starts_with("pub(crate) mod "));
            let parent = path.with_file_name("mod.rs");
            let inherits = fs::read_to_string(&parent).is_ok_and(|text| text.contains("#![forbid(unsafe_code)]"));
            assert!(holds || inherits || lines.contains(&"#![forbid(unsafe_code)]"), "{name} needs no unsafe code");
        }
    }
}

#[test]
fn the_programs_that_show_what_the_macros_take_are_there() {
    let text = fs::read_to_string(root().join("gather-core/UNSAFE.md")).unwrap();
    let (_, table) = text.split_once("| macro | what |").expect("the table of the macros");
    let rows: Vec<&str> = table.lines().skip(2).take_while(|line| line.starts_with('|')).collect();
    assert!(rows.len() > 20, "{} rows", rows.len());
    for row in rows {
        let programs = row.rsplit('|').nth(1).expect("a cell").split(',').map(|name| name.trim().trim_matches('`'));
        for program in programs {
            let is_in = |folder| root().join(folder).join(program).is_file();
            assert!(is_in("tests/ui/programs") || is_in("tests/macros/tests"), "{program:?} in {row}");
        }
    }
}
