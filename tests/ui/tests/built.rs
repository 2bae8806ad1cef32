//! Programs that make a data type of a type which is no element, or call the loops of a declared shape with another
//! declaration. `cargo check` evaluates no constant in a generic function, so these are built to the end: each must
//! fail in constant evaluation, and nowhere else. Beside them stands one that goes through the same doors with
//! elements, which builds and runs.
//!
//! All of them are built at once, without optimisation, over one gather-core without its features.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

/// The ways to a data type of `T`, and what a program does with it.
const DOORS: [(&str, &str); 14] = [
    ("named", "black_box(DynTensor::empty(DType::new::<T>(\"t\")));"),
    ("named_array", "black_box(DynTensor::empty(DType::new::<[T; 2]>(\"t\")));"),
    ("named_in_a_static", "static NAMED: DType = DType::new::<T>(\"t\"); black_box(NAMED);"),
    ("named_in_a_function", "fn named<U: Element>() -> DType { DType::new::<U>(\"t\") } black_box(named::<T>());"),
    ("constant", "black_box(DynTensor::empty(T::DTYPE));"),
    ("constant_of_arrays", "black_box(<[[T; 3]; 2]>::DTYPE);"),
    ("view", "black_box(DynView::from(&View::new(&[T::ZERO; 2], &[2]).unwrap()));"),
    ("view_mut", "black_box(DynViewMut::from(&mut ViewMut::new(&mut [T::ZERO; 2], &[2]).unwrap()));"),
    ("owned", "black_box(DynTensor::from(Tensor::full(&[2], T::ZERO).unwrap()));"),
    ("zeros", "black_box(DynTensor::zeros::<T>(&[2]).unwrap());"),
    ("downcast", "assert!(DynTensor::zeros::<u32>(&[2]).unwrap().view().downcast::<T>().is_err());"),
    ("kernels", "kernels! { static SET; elements: [T]; indices: [i64]; ranks: any; ops: [gather]; } black_box(&SET);"),
    (
        "kernels_of_arrays",
        "kernels! { static SET; elements: [[T; 2]]; indices: [u8]; ranks: 1; ops: [gather]; } black_box(&SET);",
    ),
    (
        "gather",
        "let (data, ids) = (View::new(&[T::ZERO; 2], &[2]).unwrap(), View::new(&[1u8], &[1]).unwrap());
         black_box(gather(&data, &ids, 0).unwrap());",
    ),
];

/// Types that are none, and why: the proof of a derived type with its parameters, one that an attribute below the
/// derive has rewritten, and one of which somebody promises what is not so. The data type of the last is one: its bytes
/// alone say what it is.
const REFUSED: [(&str, &str); 3] = [("parts", "Parts<[u8; 15]>"), ("rewritten", "Aligned<u32>"), ("promised", "Holes")];

const ELEMENTS: [(&str, &str); 2] = [("parts", "Parts<[u64; 2]>"), ("promised", "Whole")];

/// Calls of the functions behind `specialize!`, with sizes and operators that are not those of the declaration.
const CALLS: [(&str, &str); 4] = [
    ("too_few_sizes", "gather::<Rows, f32, i32, 0>(&[0.0; 64], &[0, 1], [], &mut [0.0; 16]).unwrap();"),
    ("too_many_sizes", "gather::<Rows, f32, i32, 2>(&[0.0; 64], &[0, 1], [8, 8], &mut [0.0; 16]).unwrap();"),
    ("gather_by_tiles", "gather::<Tiles, f32, i32, 0>(&[0.0; 64], &[1], [], &mut [0.0; 8]).unwrap();"),
    ("tiles_by_list", "batch_to_space::<List, f32, 0>(&[0.0; 8], [], &mut [0.0; 8]).unwrap();"),
];

const DECLARATIONS: &str = "
use gather_core::__private_0_1_0::{ANY, Declaration, Declared, batch_to_space, gather};
struct Rows;
struct Tiles;
struct List;
impl Declaration for Rows {
    const DECLARED: Declared = Declared::gather(&[ANY, ANY, 4], &[2], 0, 0);
}
impl Declaration for Tiles {
    const DECLARED: Declared = Declared::batch_to_space(&[8, 8], &[1, 2], &[0, 0], &[0, 0]);
}
impl Declaration for List {
    const DECLARED: Declared = Declared::gather(&[8], &[8], 0, 0);
}
";

const TYPES: &str = r#"
#![allow(dead_code)]
use gather_core::*;
use std::hint::black_box;

#[derive(Clone, Copy, Element)]
#[repr(transparent)]
#[element(numbers = u64)]
struct Parts<T>(T);

#[derive(Clone, Copy, Element)]
#[gather_tests_rewrite::becomes(#[repr(C, align(16))] pub struct Aligned<T>(T);)]
#[repr(transparent)]
pub struct Aligned<T>(T);

macro_rules! promised {
    ($name:ident, $first:ty) => {
        #[derive(Clone, Copy)]
        #[repr(C)]
        struct $name($first, u16);
        // SAFETY: of one of the two it is not so.
        unsafe impl Element for $name {
            const DTYPE: DType = DType::new::<Self>(stringify!($name));
            type Number = Self;
            const ZERO: Self = $name(0, 0);
        }
    };
}
promised!(Holes, u8);
promised!(Whole, u16);
"#;

/// A package of programs with its own folder of what is built. The packages that it needs are the workspace's.
struct Package {
    folder: PathBuf,
    manifest: String,
}

impl Package {
    fn new() -> Self {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("built");
        // What an earlier run has left is no longer true.
        drop(fs::remove_dir_all(folder.join("src")));
        fs::create_dir_all(folder.join("src/bin")).expect("a folder for programs");
        let tests = Path::new(env!("CARGO_MANIFEST_DIR"));
        fs::copy(tests.join("../../Cargo.lock"), folder.join("Cargo.lock")).expect("the lock file");
        let (core, rewrite) = (tests.join("../../gather-core"), tests.join("../rewrite"));
        let manifest = format!(
            "[package]\nname = \"built\"\nversion = \"0.0.0\"\nedition = \"2024\"\n[workspace]\n[profile.dev]\n\
             debug = false\nincremental = false\n[dependencies]\n\
             gather-core = {{ path = {core:?}, default-features = false }}\n\
             gather-tests-rewrite = {{ path = {rewrite:?} }}\n"
        );
        Package { folder, manifest }
    }

    fn program(&self, name: &str, main: &str) {
        let path = self.folder.join(format!("src/bin/{name}.rs"));
        fs::write(path, format!("{TYPES}\nfn main() {{\n{main}\n}}\n")).expect("a program");
    }

    /// Builds all of them; the messages of cargo, one a line.
    fn build(&self) -> String {
        fs::write(self.folder.join("Cargo.toml"), &self.manifest).expect("a manifest");
        let output = Command::new(env!("CARGO"))
            .args(["build", "--offline", "--keep-going", "--message-format=json", "--target-dir"])
            .arg(self.folder.join("target"))
            .current_dir(&self.folder)
            .env_remove("CARGO_BUILD_TARGET")
            .output()
            .expect("cargo runs");
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code() == Some(101), "{errors}");
        String::from_utf8(output.stdout).expect("messages in UTF-8")
    }

    fn runs(&self, name: &str) -> bool {
        let path = self.folder.join("target/debug").join(format!("{name}{}", env::consts::EXE_SUFFIX));
        Command::new(path).status().is_ok_and(|status| status.success())
    }
}

/// The codes of the errors of a program.
fn codes<'a>(messages: &'a str, name: &str) -> Vec<&'a str> {
    let of_program = format!("\"kind\":[\"bin\"],\"crate_types\":[\"bin\"],\"name\":\"{name}\"");
    let messages = messages.lines().filter(|line| line.contains(&of_program) && line.contains("\"level\":\"error\""));
    messages.filter_map(|line| line.split_once("\"code\":{\"code\":\"")?.1.split('"').next()).collect()
}

#[test]
fn what_constants_refuse_does_not_build() {
    let package = Package::new();
    for (ty, type_name) in REFUSED {
        for (door, code) in DOORS {
            package.program(&format!("{ty}_{door}"), &format!("type T = {type_name};\n{code}"));
        }
    }
    for (call, code) in CALLS {
        package.program(call, &format!("{DECLARATIONS}\n{code}"));
    }
    for (ty, type_name) in ELEMENTS {
        let mut all = format!("type T = {type_name};\n");
        for (_, code) in DOORS {
            writeln!(all, "{{ {code} }}").expect("a text");
        }
        package.program(&format!("elements_{ty}"), &all);
    }
    let messages = package.build();
    let doors = REFUSED.iter().flat_map(|(ty, _)| DOORS.map(|(door, _)| format!("{ty}_{door}")));
    for name in doors.chain(CALLS.map(|(call, _)| call.to_owned())) {
        let codes = codes(&messages, &name);
        assert!(!codes.is_empty(), "{name} builds");
        assert!(codes.iter().all(|&code| code == "E0080"), "{name} fails in another way: {codes:?}");
    }
    for (ty, _) in ELEMENTS {
        let name = format!("elements_{ty}");
        assert_eq!(codes(&messages, &name), [""; 0], "{name}");
        assert!(package.runs(&name), "{name} does not run");
    }
}
