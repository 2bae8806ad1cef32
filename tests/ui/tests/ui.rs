//! What the macros and the operators say: every program fails with exactly the errors that stand beside it, all of its mistakes at once.
//! Those that build are in `tests/macros`: with one of them here, all dependencies would be built once more, where now
//! they are only checked.
//!
//! `TRYBUILD=overwrite cargo test -p gather-tests-ui` writes the errors down again.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use trybuild::TestCases;

/// Kinds of mistakes that the macros word themselves: the same with every compiler.
const WORDED_HERE: [&str; 37] = [
    "attributes",
    "bad_index_type",
    "bad_list",
    "bad_ranks",
    "budget",
    "derive_bad_attribute",
    "derive_enum_with_fields",
    "derive_enum_without_repr",
    "derive_enum_without_zero",
    "derive_generics",
    "derive_many_mistakes",
    "derive_no_bytes",
    "derive_no_repr",
    "derive_reference",
    "derive_union",
    "duplicate_element",
    "duplicate_word",
    "empty_list",
    "header",
    "many_mistakes",
    "map_grammar",
    "missing_key",
    "misspelt_key",
    "punctuation",
    "rank_zero",
    "reduce_grammar",
    "repeated_key",
    "rows_grammar",
    "specialize_attributes",
    "specialize_blocks",
    "specialize_bounds",
    "specialize_grammar",
    "specialize_shapes",
    "specialize_types",
    "unknown_op",
    "unknown_width",
    "width_class",
];

/// Kinds of mistakes that the compiler finds, in words of its release: in what the macros emit, and in calls of gathers
/// (`sources`).
const WORDED_BY_COMPILER: [&str; 20] = [
    "attributes_shadowed",
    "by_hand",
    "derive_doctored",
    "derive_empty_array",
    "derive_field",
    "derive_not_copy",
    "derive_numbers",
    "derive_padding",
    "derive_rewritten",
    "derive_shadowed",
    "derive_wrong_zero",
    "kernels_doctored",
    "loop_nests",
    "map_types",
    "not_an_element",
    "rows_types",
    "sources",
    "specialize_by_compiler",
    "width_claim",
    "wrong_crate",
];

/// The release whose words stand in the files.
const COMPILER: &str = "rustc 1.95.";

/// Every message of the macros, except for what it names.
const MESSAGES: [&str; 211] = [
    "expected `crate`",
    "`gather_tests_rewrite::exchanges` cannot stand here: an attribute may rewrite what the macro emits (use one of doc,",
    "`unsafe` cannot stand here",
    "`derive` cannot stand here",
    "expected a condition, and attributes behind it",
    "a kernel of another width, index type, rank or level than its place in the table",
    "an element of another size than its width",
    "an index type with other values than its representation",
    "a kernel table of another length",
    "what runs the rest of a set lacks kernels too",
    "what runs the rest of a set has other index types",
    "more widths, index types, ranks or levels than a set can have",
    "a name for each parameter",
    "an argument for each open size but the first of a tensor",
    "the declaration of an operator on indices",
    "the axis lies outside data",
    "data and indices have different ranks",
    "off the axis, indices have the shape of data",
    "a tuple has more components than data has axes",
    "a declared tensor has at most 8 dimensions\n",
    "loop nests take no input",
    "a set of kernels cannot be `mut`",
    "expected `static`: a call begins with the name of its set, as in `pub static KERNELS;`",
    "expected the name of the set, as in `pub static KERNELS;`",
    "the macro writes the type of the static; leave it out",
    "expected `;` after `MY`",
    "expected a key (the keys are `elements`, `indices`, `ranks`, `ops`, and optionally `widths`)",
    "expected `:` after `elements`",
    "expected `;` after the value of `elements`",
    "`ops` has no value; write `ops: [gather];`",
    "unknown key `threads` (the keys are `elements`, `indices`, `ranks`, `ops`, and optionally `widths`)",
    "unknown key `elemnts`; did you mean `elements`? (the keys are",
    "unknown key `units`; did you mean `widths`? (the keys are",
    "`elements` is given twice",
    "`ranks` is missing; add `ranks: 1..=4;`",
    "`elements` takes a list in square brackets, such as `[f32, i64]`",
    "`indices` is empty; list at least one, such as `[i32, i64]`",
    "nothing can follow the list of `elements`; put all entries between its brackets",
    "expected `,` before this",
    "expected a type, such as `i32`",
    "expected the name of an operator, such as `gather`",
    "expected a width, such as `x32` or `rows`",
    "expected a width class, such as `x32`",
    "`f32` is listed twice",
    "`i32` is listed twice",
    "`gather` is listed twice",
    "`rows` is listed twice",
    "`any` is listed twice",
    "rank 3 is listed twice",
    "ranks 4, 5 are listed twice",
    "`[f32; 0]` has no bytes, so it cannot be an element",
    "`f32` has 4 bytes, not 8",
    "unknown width class `x23`; did you mean `x32`? (use one of x8, x16, x32, x64, x128)",
    "an element with attributes needs a width class, such as `as x32`",
    "`Colour` has 4 bytes; give it the class `x32`",
    "`Point` does not have 16 bytes",
    "`i23` cannot index; did you mean `i32`? (use one of",
    "`ranks` is empty; name at least one rank, such as `1..=4`",
    "ranks stand without brackets, as in `1..=4, any`",
    "`ayn` is no rank; did you mean `any`? (use 1 to 8 or `any`)",
    "expected a rank: 1 to 8, a range such as `1..=4`, or `any`",
    "this range has no last rank; write `1..=8`",
    "a range of ranks includes its last; write `1..=4`",
    "the ranks 4..=1 are empty; write `1..=4`",
    "rank 0 cannot be unrolled; use 1 to 8 (`any` runs the others)",
    "unknown operator `gahter`; did you mean `gather`? (use one of",
    "unknown width `x46`; did you mean `x64`? (use one of x8, x16, x32, x64, x128, rows)",
    "this set has 864 kernels for each level, more than 648: ",
    "a union cannot be an element: its bytes may be uninitialised",
    "`zero` is given twice",
    "`crate` is given twice",
    "`zero` needs a value, such as `zero = VARIANT`",
    "`crate` needs the path of gather-core, such as `crate = ::gather_core`",
    "expected a value, such as `zero = VARIANT`",
    "expected the path of gather-core, such as `crate = ::gather_core`",
    "unknown key `zeor`; did you mean `zero`? (the keys are `zero`, `numbers` and `crate`)",
    "`numbers` needs a built-in type, such as `numbers = f32`",
    "`numbers` is given twice",
    "`numbers` and `zero` exclude each other: the zero is that of the numbers",
    "a struct alone is made of numbers",
    "field `tag` is not made of `f32`, as `numbers` says of the type",
    "`numbers` names `Silent`, which is no built-in type",
    "a type of numbers is as much aligned as these, by 4 bytes, and not packed",
    "`#[element(..)]` belongs to the type, not to a field",
    "`#[element(..)]` belongs to the type, not to a variant",
    "an element needs a fixed layout; add `#[repr(C)]`, `#[repr(transparent)]` or `#[repr(C, packed)]`",
    "only a `#[repr(transparent)]` element can be generic: the padding of others depends on the parameters",
    "an enum with parameters cannot be an element; write an enum for each of their values",
    "an element cannot borrow; hold the data itself",
    "references and pointers cannot be elements; hold the data itself",
    "a type without bytes cannot be an element",
    "`Padded` cannot be an element: 1 byte of padding after field `tag`; add fields that fill them",
    "`Padded` cannot be an element: 7 bytes of padding after field `0`, 6 bytes of padding after field `2`; add fields",
    ", and 4 more; 30 bytes in all; add fields that fill them",
    "`Switch` cannot be an element: it has 4 bytes, and its representation has 1",
    "`[u8; 0]` has no bytes, so it cannot be an element",
    "`Padded` cannot be an element: 28 bytes of padding after field `value`; add fields that fill them",
    "an enum needs a fixed representation to be an element; add `#[repr(u8)]` (or u16, u32, u64, i8, i16, i32, i64)",
    "an enum with fields cannot be an element: its variants leave bytes uninitialised",
    "an enum has no zero of its own; say what `OutOfBounds::Zero` writes: `#[element(zero = Adenine)]`",
    "`char` is not an element",
    "there is no map; write one, such as `pub static SCALE = ",
    "expected `static`: a map is written `pub static SCALE = ",
    "a map cannot be `mut`",
    "expected the name of the map, such as `SCALE`",
    "expected `=` after `D`",
    "a map captures nothing and waits for nothing; leave `move` out",
    "expected a closure, such as `|value: u8, scale: f32| -> f32 { .. }`",
    "`G` has no input; name what is read, such as `|value: u8|`",
    "expected a name and a type, such as `scale: f32`",
    "`value` needs a type, such as `value: f32`",
    "`scale` is named twice",
    "`J` has more than 4 parameters; make several one tuple or array",
    "expected `,` or `|`",
    "expected `|` after the inputs of `O`",
    "expected the type of the result after the inputs of `K`, such as `-> f32`",
    "expected the body of `M` in braces, such as `{ f32::from(value) }`",
    "expected `;` after the body of `N`",
    "`GOOD` is the name of two maps",
    "`table` borrows; a map takes and gives values, such as `f32` or `[f32; 16]`; slices are for `row_kernels!`",
    "the result of `C` borrows; a map takes and gives values",
    "`kept` borrows; a reduction takes and gives values, such as `f32`",
    "there is no reduction; write one, such as `pub static MAX_ABS = ",
    "`H` has 1 input; a reduction has two: what is kept, and what is new",
    "`I` has 3 inputs; a reduction has two: what is kept, and what is new",
    "`J` reduces `u8`: both inputs and the result have this type, not `i8`",
    "there is no row function; write one, such as `pub static DOT = ",
    "`E` has no input; name the row that is read, such as `|row: &[f32]|`",
    "`F` reads rows: its first input is a slice, such as `row: &[f32]`",
    "`G` writes its result to `out`; leave `-> f32` out",
    "`H` has no result; add `-> f32` for a value, or `out: &mut [f32]` behind the row for a row",
    "the result of `I` is a value; for a row add `out: &mut [f32]` behind the row",
    "`out` cannot be written to: the one row of results stands behind the row that is read",
    "`scale` is a value, such as `f32`, or a slice without a lifetime, such as `&[f32]`",
    "`#[optional]` stands before a parameter that is a slice",
    "an input takes one attribute: `#[any_len]`, for a slice that need not be as long as the row, or `#[optional]`",
    "there is no function; declare one, such as `pub fn embed = gather(axis = 0) (f32[_, 64], u32[_]);`",
    "expected `fn`: a function is declared as in `pub fn embed = ",
    "expected `=` after `no_equals`: a function is declared as in",
    "a call has one set of kernels",
    "expected `;` after the declaration",
    "`good` is the name of two functions",
    "expected the attributes of the operator in parentheses, such as `(axis = 0)`",
    "expected the tensors in parentheses, such as `(f32[_, 64], u32[_])`",
    "expected a value, as in `axis = ..`",
    "axis 2 lies outside data of rank 2; use -2 to 1",
    "axis 0 of data without dimensions; there is none",
    "batch_dims 2 lies beyond the axis; use 0 to 1",
    "batch_dims 2 lies beyond the rank of indices; use 0 to 1",
    "batch_dims 1 lies beyond data or the tuples; use 0 to 0",
    "batch_dims 1 lies beyond what ONNX GatherND-11 has; use 0 to 0",
    "`axis` decides what the loops are, so it is a number, not a constant",
    "`axis` cannot be inferred; write a number",
    "`gather` needs `axis`, such as `axis = 0`",
    "`batch_to_space` needs `block`, such as `block = [1, 2, 2]`",
    "`gather` has no attribute `axs`; did you mean `axis`? (it has",
    "`axis` is given twice",
    "`out_of_bounds` cannot be `zeros`; did you mean `zero`? (use one of error, zero, clamp, wrap)",
    "unknown operator `gahter`; did you mean `gather`? (use one of gather, gather_elements, gather_nd, batch_to_space)",
    "`gather` has no preset `openvino9`; did you mean `openvino8`? (use one of",
    "batch dimension 1 has 3 elements in data and 4 in indices",
    "dimension 1 of indices has 9 elements, more than the 8 of data",
    "dimension 1 of indices has 7 elements, not the 8 of data",
    "indices have rank 1; `gather_elements` takes the rank of data, 2",
    "a tuple of 3 components in data with 2 axes to index; use 1 to 2",
    "the components of a tuple cannot be inferred: they decide what the loops are; write a number",
    "indices of `gather_nd` have rank 1 or more: the last dimension is the components of a tuple",
    "a size of 0 leaves nothing to do; sizes are at least 1",
    "-16 is no size",
    "expected a size: a number, a constant, or `_`",
    "a declared tensor has at most 8 dimensions, not 9",
    "`gather::torch` takes indices of rank 1, not 2",
    "the output has more bytes than a tensor can have (isize::MAX)",
    "data has more bytes than a tensor can have (isize::MAX)",
    "`block` cannot be inferred; write a number",
    "the type of the elements cannot be inferred; write it, such as `f32`",
    "blocks of 6 images do not divide the batch of 8",
    "crops of 5 and 3 leave nothing of the 8 elements of dimension 1",
    "`block` has 2 entries for data of rank 4; write one for each dimension",
    "the first entry of `block` is for the batch, which has none; write 1",
    "`block` takes a number for each dimension, such as `[1, 2, 2]`",
    "`batch_to_space` takes data of rank 2 or more, not 0",
    "`f32` cannot index (use one of i8, i16,",
    "`u23` cannot index; did you mean",
    "`char` is not an element; others than numbers derive `gather_core::Element`",
    "a tuple has no fixed layout; an element is a number, an array, or a derived type",
    "`gather` has no data; give its type and shape, such as `(f32[_, 64])`",
    "`gather` has no indices; give their type and shape, such as `u32[_]`",
    "`gather` takes data and indices",
    "`batch_to_space` takes data, and no indices",
    "expected the shape of the tensor in square brackets, such as `f32[_, 64]`",
    "expected `,` between the tensors",
    "a map needs the type of its results behind the tensors, such as `-> f32`",
    "the output has the type of data, unless a `map` makes another",
    "`map` takes the name of a map, such as `map = maps::convert`",
    "sizes are constants of the source, not of a function; use `_`, or a `const`",
    "elements and indices do not borrow; leave the lifetime out",
    "dimension 1 has 9 elements in indices, more than 8 in data",
    "`embd` is no function of this call; did you mean `embed`?",
    "`embed::<f32>` is listed twice",
    "`embed` has 1 type parameter, not 2",
    "`rows` has no type parameters; it is in the set by itself",
    "`widen` has a map, and calls with maps take no kernels from a set",
    "expected functions with their types in square brackets, such as `[embed::<f32>]`",
    "expected a generic function with its types, such as `embed::<f32>`",
    "expected a type, such as `f32`",
    "expected `;` after the list of functions",
    "`scale` is given twice",
    "`indices` is the name of another argument; take another one here",
    "a map has at most 4 parameters, not 5",
    "expected a parameter of the map with its type, such as `scale: f32`",
];

#[test]
fn mistakes_are_reported() {
    let cases = TestCases::new();
    for kind in WORDED_HERE {
        cases.compile_fail(format!("programs/{kind}/*.rs"));
    }
    if is_compiler(COMPILER) {
        for kind in WORDED_BY_COMPILER {
            cases.compile_fail(format!("programs/{kind}/*.rs"));
        }
    } else {
        eprintln!("not {COMPILER}x: its words are not compared");
    }
}

#[test]
fn every_program_is_run_and_has_its_errors() {
    let mut known: Vec<&str> = WORDED_HERE.into_iter().chain(WORDED_BY_COMPILER).collect();
    known.sort_unstable();
    let mut folders: Vec<String> = entries(&root()).iter().map(|path| name(path)).collect();
    folders.sort_unstable();
    assert_eq!(folders, known, "the folders of programs and the kinds that are run");

    for folder in folders {
        let files = entries(&root().join(&folder));
        let with = |extension: &str| -> BTreeSet<PathBuf> {
            let files = files.iter().filter(|path| path.extension().is_some_and(|found| found == extension));
            files.map(|path| path.with_extension("")).collect()
        };
        let (programs, errors) = (with("rs"), with("stderr"));
        assert!(!programs.is_empty(), "{folder} holds no program");
        assert_eq!(files.len(), programs.len() + errors.len(), "{folder} holds other files");
        assert_eq!(errors, programs, "{folder}: programs without errors, or errors without a program");
    }
}

#[test]
fn every_program_says_what_it_shows() {
    for path in files("rs") {
        let text = read(&path);
        let first = text.lines().next().unwrap_or_default();
        assert!(first.starts_with("// ") && first.len() > 12, "{} begins with {first:?}", path.display());
    }
}

#[test]
fn every_message_is_shown_and_none_names_a_machine() {
    let texts: Vec<(PathBuf, String)> = files("stderr").map(|path| (path.clone(), read(&path))).collect();
    for message in MESSAGES {
        assert!(texts.iter().any(|(_, text)| text.contains(message)), "no program gives {message:?}");
    }
    for (path, text) in &texts {
        let path = path.display();
        assert!(!text.contains("/rustc/") && !text.contains("/home/"), "{path} holds a path of a machine");
        let here = WORDED_HERE.iter().any(|kind| path.to_string().contains(&format!("/{kind}/")));
        assert!(!here || !text.contains("error[E"), "{path} holds an error of the compiler behind those of a macro");
    }
}

fn is_compiler(release: &str) -> bool {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = Command::new(rustc).arg("--version").output();
    output.is_ok_and(|output| output.stdout.starts_with(release.as_bytes()))
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("programs")
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("a folder of programs");
    entries.map(|entry| entry.expect("an entry of the folder").path()).collect()
}

fn files(extension: &str) -> impl Iterator<Item = PathBuf> {
    let files = entries(&root()).into_iter().flat_map(|folder| entries(&folder));
    files.filter(move |path| path.extension().is_some_and(|found| found == extension))
}

fn name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).expect("a text file")
}
