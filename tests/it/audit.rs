//! The unsafe code of the library: where it is, and that `gather-core/UNSAFE.md` says so.
//!
//! `GATHER_BLESS=1 cargo test -p gather-tests --test it audit` updates the table.

mod names;

use std::collections::{BTreeMap, BTreeSet};
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

/// The folders of gather-core with unsafe code, by their names in the table, down to the second level.
fn found() -> BTreeMap<String, Counts> {
    let src = root().join("gather-core/src");
    let mut folders: BTreeMap<String, Counts> = BTreeMap::new();
    for path in sources(&src) {
        let folder = path.strip_prefix(&src).expect("a source").parent().expect("a folder");
        let name = folder.iter().take(2).map(|part| part.to_str().expect("a name")).collect::<Vec<_>>().join("/");
        let counts = counts(&fs::read_to_string(&path).expect("a text"));
        if counts != [0; 3] {
            let sums = folders.entry(name).or_default();
            sums.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
        }
    }
    folders
}

/// A row of the table of counts: `| folder | blocks | functions | traits, impls |`.
fn row(line: &str) -> Option<(String, Counts)> {
    let cells: Vec<&str> = line.split('|').map(str::trim).collect();
    let ["", folder, blocks, functions, impls, ""] = cells.as_slice() else { return None };
    let folder = folder.strip_prefix('`')?.strip_suffix('`')?;
    Some((folder.to_owned(), [blocks.parse().ok()?, functions.parse().ok()?, impls.parse().ok()?]))
}

#[test]
fn the_counts_of_unsafe_code_are_those_of_the_sources() {
    let path = root().join("gather-core/UNSAFE.md");
    let text = fs::read_to_string(&path).unwrap();
    let found = found();
    if std::env::var_os("GATHER_BLESS").is_some() {
        let (before, rest) = text.split_once(COUNTS).expect("the table of counts");
        let after = rest.split_once("\n\n").expect("a text behind the table").1;
        let rows = found
            .iter()
            .map(|(folder, [blocks, functions, impls])| format!("| `{folder}` | {blocks} | {functions} | {impls} |\n"));
        fs::write(&path, format!("{before}{COUNTS}{}\n{after}", rows.collect::<String>())).unwrap();
        return;
    }
    let written: BTreeMap<String, Counts> = text.lines().filter_map(row).collect();
    assert_eq!(written, found, "the table of UNSAFE.md on the left, the sources on the right");
}

/// The head of the table of counts.
const COUNTS: &str = "| folder | blocks | functions | traits, impls |\n|---|---|---|---|\n";

/// The types that unsafe functions of a file make: `unsafe fn new(..) -> Self` in `impl Type`.
fn made_by_unsafe_functions(text: &str) -> BTreeSet<String> {
    let mut types = BTreeSet::new();
    for item in syn::parse_file(text).expect("a source").items {
        let syn::Item::Impl(block) = item else { continue };
        let syn::Type::Path(path) = &*block.self_ty else { continue };
        let name = path.path.segments.last().expect("a name").ident.to_string();
        let makes = block.items.iter().any(|item| {
            let syn::ImplItem::Fn(function) = item else { return false };
            let syn::ReturnType::Type(_, made) = &function.sig.output else { return false };
            let takes_self = function.sig.receiver().is_some();
            matches!(function.sig.safety, syn::Safety::Unsafe(_)) && !takes_self && is_self(made)
        });
        if makes {
            types.insert(name);
        }
    }
    types
}

/// Whether a type is `Self`, or a result of it.
fn is_self(made: &syn::Type) -> bool {
    let syn::Type::Path(path) = made else { return false };
    let last = path.path.segments.last().expect("a name");
    let inside = match &last.arguments {
        syn::PathArguments::AngleBracketed(inside) => inside.args.first(),
        _ => None,
    };
    last.ident == "Self" || matches!(inside, Some(syn::GenericArgument::Type(made)) if is_self(made))
}

#[test]
fn the_table_of_types_has_every_type_that_an_unsafe_function_makes() {
    let src = root().join("gather-core/src");
    let text = fs::read_to_string(root().join("gather-core/UNSAFE.md")).unwrap();
    let (_, table) = text.split_once("| type | in |").expect("the table of types");
    let mut rows: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for line in table.lines().skip(2).take_while(|line| line.starts_with('|')) {
        let cells: Vec<&str> = line.split('|').collect();
        let names =
            |cell: &str| cell.split(',').map(|name| name.trim().trim_matches('`').to_owned()).collect::<Vec<_>>();
        let types = names(cells[1]);
        let mut undeclared = types.clone();
        for file in names(cells[2]) {
            let source = fs::read_to_string(src.join(&file)).unwrap_or_else(|error| panic!("{file}: {error}"));
            let has = |name: &String| {
                let mut behind = ["struct ", "enum "].into_iter().flat_map(|word| source.split(word).skip(1));
                behind.any(|text| text.split(|c: char| !c.is_alphanumeric()).next() == Some(name))
            };
            assert!(types.iter().any(has), "{file} has none of {types:?}");
            undeclared.retain(|name| !has(name));
            rows.entry(file).or_default().extend(types.iter().cloned());
        }
        assert!(undeclared.is_empty(), "{undeclared:?} are not declared where {line} says");
    }
    for path in sources(&src) {
        let name = path.strip_prefix(&src).expect("a source").to_str().expect("a name").replace('\\', "/");
        let made = made_by_unsafe_functions(&fs::read_to_string(&path).expect("a text"));
        let missing: Vec<&String> =
            made.iter().filter(|made| !rows.get(&name).is_some_and(|types| types.contains(*made))).collect();
        assert!(missing.is_empty(), "{name} makes {missing:?} by unsafe functions: UNSAFE.md has no row for them");
    }
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
            // A macro of the crate emits unsafe code, which is counted where it stands.
            let emits = text.contains("level_pointers!");
            assert!(
                emits || holds || inherits || lines.contains(&"#![forbid(unsafe_code)]"),
                "{name} needs no unsafe code"
            );
        }
    }
}

#[test]
fn the_programs_that_the_tables_name_are_there() {
    let text = fs::read_to_string(root().join("gather-core/UNSAFE.md")).unwrap();
    for (head, least) in [("| macro | what |", 20), ("| named by emitted code |", 10), ("| hidden elsewhere |", 5)] {
        let (_, table) = text.split_once(head).unwrap_or_else(|| panic!("no table {head}"));
        let rows: Vec<&str> = table.lines().skip(2).take_while(|line| line.starts_with('|')).collect();
        assert!(rows.len() > least, "{} rows", rows.len());
        for row in rows {
            let programs = row.rsplit('|').nth(1).expect("a cell").split(',').map(|name| name.trim().trim_matches('`'));
            for program in programs {
                let is_in = |folder: &&str| root().join(folder).join(program).is_file();
                let folders = ["tests/ui/programs", "tests/macros/tests", "tests/ui/tests"];
                assert!(folders.iter().any(is_in), "{program:?} in {row}");
            }
        }
    }
}
