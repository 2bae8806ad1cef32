//! Expansions of the macros as readable files: each of `snapshots/*.rs` holds a call and its emitted code.
//!
//! In the files, `private` stands for the path of the module that emitted code uses, which contains the version.
//!
//! `GATHER_BLESS=1 cargo test -p gather-macros snapshots` rewrites the files.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use proc_macro2::TokenStream;

/// A call and the name of its file.
struct Case {
    name: &'static str,
    /// The function that expands the macro.
    expand: fn(TokenStream) -> TokenStream,
    call: &'static str,
}

const CASES: [Case; 24] = [
    Case { name: "loop_nests", expand: loop_nests, call: "" },
    Case {
        name: "kernels_one",
        expand: kernels,
        call: "
            /// One data type, one index type, one rank.
            pub static ONE;
            elements: [f32];
            indices: [i32];
            ranks: 1;
            ops: [gather];
        ",
    },
    Case {
        name: "kernels_widths",
        expand: kernels,
        call: "
            static WIDTHS;
            elements: [f32, f64, Colour as x32];
            indices: [i64];
            ranks: 2;
            ops: [gather];
        ",
    },
    Case {
        name: "kernels_reprs",
        expand: kernels,
        call: "
            static REPRS;
            elements: [u8];
            indices: [i32, i64, isize];
            ranks: 1;
            ops: [gather];
        ",
    },
    Case {
        name: "kernels_own_size",
        expand: kernels,
        call: "
            /// Points of 12 bytes.
            static POINTS;
            elements: [Point];
            indices: [u32];
            ranks: 1;
            ops: [gather_elements];
        ",
    },
    Case {
        name: "kernels_rows",
        expand: kernels,
        call: "
            static ROWS;
            elements: [u8];
            indices: [i64];
            ranks: 1;
            ops: [gather];
            widths: [rows];
        ",
    },
    Case {
        name: "kernels_any_rank",
        expand: kernels,
        call: "
            static ANY;
            elements: [u16];
            indices: [i32];
            ranks: 3, any;
            ops: [gather_nd];
        ",
    },
    Case {
        name: "kernels_batch_to_space",
        expand: kernels,
        call: "
            static BLOCKS;
            elements: [f32];
            indices: [i32];
            ranks: 2..=3;
            ops: [batch_to_space];
        ",
    },
    Case {
        name: "kernels_scatter",
        expand: kernels,
        call: "
            static SCATTERS;
            elements: [f32];
            indices: [i32];
            ranks: 3, any;
            ops: [scatter_elements, scatter_nd];
        ",
    },
    Case {
        name: "kernels_attributes",
        expand: kernels,
        call: "
            /// Kernels for what is configured.
            #[cfg(not(target_os = \"none\"))]
            pub(crate) static SOME;
            elements: [
                #[cfg(feature = \"half\")] half::f16 as x16,
                #[cfg(feature = \"pixels\")] Rgba as x32,
            ];
            indices: [i32];
            ranks: any;
            ops: [gather];
        ",
    },
    Case {
        name: "maps",
        expand: map_kernels,
        call: "
            /// Dequantises.
            pub static DEQUANTIZE = |q: u8, scale: f32, zero: u8| -> f32 { (f32::from(q) - f32::from(zero)) * scale };
        ",
    },
    Case {
        name: "reductions",
        expand: reduce_kernels,
        call: "
            /// The value that is further from 0.
            pub static MAX_ABS = |kept: f32, new: f32| -> f32 { if new.abs() > kept.abs() { new } else { kept } };
        ",
    },
    Case {
        name: "specialize_rows",
        expand: specialize,
        call: "
            /// Token embeddings.
            pub fn embed = gather(axis = 0) (f16[_, DIM], u32[_]);
        ",
    },
    Case {
        name: "specialize_arrays",
        expand: specialize,
        call: "
            /// Eight of 32 rows; zeros for ids out of range.
            pub fn pick = gather(axis = 0, out_of_bounds = zero) (f32[32, 16], i64[8]);
        ",
    },
    Case {
        name: "specialize_elements",
        expand: specialize,
        call: "fn neighbours = gather_elements::torch(axis = -1) ([u8; 4][8, 8], u8[8, 8]);",
    },
    Case {
        name: "specialize_arguments",
        expand: specialize,
        call: "
            pub(crate) fn points<T: Element> = gather_nd(batch_dims = 1, out_of_bounds = clamp) (
                T[_, _, _, 3],
                i32[_, _, 2],
            );
        ",
    },
    Case {
        name: "specialize_blocks",
        expand: specialize,
        call: "pub fn tiles = batch_to_space(block = [1, 2, B, 1], crops_end = [0, 1, 0, 0]) (u8[8, 64, 64, 3]);",
    },
    Case {
        name: "rows_value",
        expand: row_kernels,
        call: "
            /// The dot product.
            pub static DOT = |row: &[f32], query: &[f32]| -> f32 { rows::lanes::dot(row, query) };
        ",
    },
    Case {
        name: "rows_row",
        expand: row_kernels,
        call: "
            /// Adds a row, and scales.
            static SCALE = |mut row: &[f16], out: &mut [f32], #[optional] more: &[f32], #[any_len] code: &[u8], k: f32| {
                rescale(row, out, more, code, k);
            };
        ",
    },
    Case {
        name: "specialize_set",
        expand: specialize,
        call: "
            /// The kernels of a model, for its registry.
            pub static MODEL = [lines::<u8, i64>];
            fn widen = gather(axis = 0, map = F16_TO_F32) (f16[_, 384], u32[_]) -> f32;
            fn rows = gather::openvino8(axis = 0) (f32[_, 16], u32[_]);
            fn lines<T: Element, I: Index> = gather_elements(axis = 1) ([T; 2][_, 4], I[_, 4]);
            fn image = batch_to_space(block = [1, 2, 2]) (u8[_, 8, 8]);
        ",
    },
    Case {
        name: "specialize_map",
        expand: specialize,
        call: "
            /// Rows of a table in bytes, with a scale for each or for all.
            pub fn rows = gather(axis = 0, map = maps::dequantize(scale: f32, zero_point: u8)) (
                u8[8, 16],
                u32[4],
            ) -> f32;
        ",
    },
    Case {
        name: "element_struct",
        expand: crate::element::expand,
        call: "
            #[derive(Clone, Copy, Element)]
            #[repr(C)]
            struct Particle {
                position: [f32; 3],
                id: u32,
            }
        ",
    },
    Case {
        name: "element_transparent",
        expand: crate::element::expand,
        call: "
            #[derive(Clone, Copy, Element)]
            #[repr(transparent)]
            #[element(crate = tensors)]
            struct Metres<T: Copy>(T);
        ",
    },
    Case {
        name: "element_enum",
        expand: crate::element::expand,
        call: "
            #[derive(Clone, Copy, Element)]
            #[repr(u8)]
            #[element(zero = Unknown)]
            enum Base {
                Adenine = b'A',
                Cytosine = b'C',
                Unknown = b'N',
            }
        ",
    },
];

/// `row_kernels!` with the path that `gather_core::row_kernels!` passes. Functions of other macros below pass it too.
fn row_kernels(call: TokenStream) -> TokenStream {
    crate::rows::expand(quote::quote!(crate = ::gather_core; #call))
}

/// The loop nests up to rank 4.
fn loop_nests(input: TokenStream) -> TokenStream {
    crate::loop_nest::expand(input, 4).expect("no input")
}

fn kernels(call: TokenStream) -> TokenStream {
    crate::kernels::expand(quote::quote!(crate = ::gather_core; #call))
}

fn map_kernels(call: TokenStream) -> TokenStream {
    crate::map::expand(quote::quote!(crate = ::gather_core; #call))
}

fn reduce_kernels(call: TokenStream) -> TokenStream {
    crate::reduce::expand(quote::quote!(crate = ::gather_core; #call))
}

fn specialize(call: TokenStream) -> TokenStream {
    crate::specialize::expand(quote::quote!(crate = ::gather_core; #call))
}

/// A call, as comments, and its expansion.
fn rendered(case: &Case) -> String {
    let mut text = String::new();
    let called = match case.name.split('_').next() {
        Some("kernels") => Some("kernels"),
        Some("maps") => Some("map_kernels"),
        Some("reductions") => Some("reduce_kernels"),
        Some("rows") => Some("row_kernels"),
        Some("specialize") => Some("specialize"),
        _ => None,
    };
    let indent = if called.is_some() { "    " } else { "" };
    let lines = case.call.trim_matches([' ', '\n']).lines();
    let lines = lines.map(|line| line.strip_prefix(&" ".repeat(12)).unwrap_or(line));
    let lines: Vec<String> = lines.map(|line| format!("// {indent}{line}\n")).collect();
    let (open, close) = match called {
        Some(name) => (format!("// gather_core::{name}! {{\n"), "// }\n"),
        None => (String::new(), ""),
    };
    if !case.call.is_empty() {
        writeln!(text, "{open}{}{close}", lines.concat()).expect("text");
    }
    let tokens = case.call.parse().expect("tokens");
    let file = syn::parse2(abbreviated((case.expand)(tokens))).expect("items");
    let mut around = "///";
    for line in prettyplease::unparse(&file).lines() {
        let begins = |start: &str| line.trim_start().starts_with(start);
        if begins("///") && !around.trim_start().starts_with("///") || begins("private::KernelSet::new") {
            text.push('\n');
        }
        writeln!(text, "{line}").expect("text");
        around = line;
    }
    text
}

/// The tokens with `private` in place of the path of the module that emitted code uses.
fn abbreviated(tokens: TokenStream) -> TokenStream {
    let path = crate::name::private(&quote::quote!(::gather_core));
    tokens.to_string().replace(&path.to_string(), "private").parse().expect("tokens")
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("snapshots")
}

#[test]
fn expansions_are_as_written_down() {
    let bless = std::env::var_os("GATHER_BLESS").is_some_and(|value| value == "1");
    let mut changed = String::new();
    for case in &CASES {
        let path = folder().join(case.name).with_extension("rs");
        let now = rendered(case);
        if bless {
            fs::write(&path, &now).expect("a folder to write to");
        }
        let before = fs::read_to_string(&path).unwrap_or_default().replace("\r\n", "\n");
        if before != now {
            write!(changed, "\nsnapshots/{}.rs:\n{}", case.name, difference(&before, &now)).expect("text");
        }
    }
    assert!(changed.is_empty(), "expansions have changed (GATHER_BLESS=1 writes them down again):\n{changed}");
}

#[test]
fn every_file_is_an_expansion() {
    let files = fs::read_dir(folder()).expect("the folder of snapshots");
    let files = files.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned());
    let cases = CASES.iter().map(|case| format!("{}.rs", case.name));
    assert_eq!(files.collect::<BTreeSet<_>>(), cases.collect());
}

#[test]
fn expansions_are_short() {
    // 60 lines for each level, and 60 for code outside of levels.
    let most = 60 * (crate::name::LEVELS.len() + 1);
    for case in &CASES {
        let lines = rendered(case).lines().count();
        assert!(lines < most, "{} takes {lines} lines", case.name);
    }
}

/// A caller's `#![forbid(unsafe_code)]` does not apply to emitted code, so nothing but the proved impl of the derive
/// may be unsafe.
#[test]
fn nothing_is_unsafe_but_the_impl_of_the_derive() {
    for case in &CASES {
        let text = rendered(case);
        let allowed = if case.name.starts_with("element_") { text.matches("unsafe impl").count() } else { 0 };
        assert_eq!(text.matches("unsafe").count(), allowed, "{}", case.name);
    }
}

/// The lines in which two texts differ, in order, each with `AROUND` lines before and after it.
fn difference(before: &str, now: &str) -> String {
    const AROUND: usize = 2;
    let lines = edits(&before.lines().collect::<Vec<_>>(), &now.lines().collect::<Vec<_>>());
    let near = |at: usize| {
        let around = at.saturating_sub(AROUND)..(at + AROUND + 1).min(lines.len());
        lines[around].iter().any(|(sign, _)| *sign != ' ')
    };
    let mut text = String::new();
    let mut last = 0;
    for (at, (sign, line)) in lines.iter().enumerate().filter(|(at, _)| near(*at)) {
        if at > last + 1 {
            text.push_str("  ..\n");
        }
        writeln!(text, "{sign} {line}").expect("text");
        last = at;
    }
    text
}

/// The lines of both texts: lines of a longest common subsequence once, the others with `-` or `+`.
fn edits<'a>(before: &[&'a str], now: &[&'a str]) -> Vec<(char, &'a str)> {
    // common[i][j]: the length of the longest common subsequence of `before[i..]` and `now[j..]`.
    let mut common = vec![vec![0; now.len() + 1]; before.len() + 1];
    for i in (0..before.len()).rev() {
        for j in (0..now.len()).rev() {
            common[i][j] =
                if before[i] == now[j] { common[i + 1][j + 1] + 1 } else { common[i + 1][j].max(common[i][j + 1]) };
        }
    }
    let (mut i, mut j, mut lines) = (0, 0, Vec::new());
    while i < before.len() || j < now.len() {
        if i < before.len() && j < now.len() && before[i] == now[j] {
            lines.push((' ', now[j]));
            (i, j) = (i + 1, j + 1);
        } else if j == now.len() || i < before.len() && common[i + 1][j] >= common[i][j + 1] {
            lines.push(('-', before[i]));
            i += 1;
        } else {
            lines.push(('+', now[j]));
            j += 1;
        }
    }
    lines
}

#[test]
fn differences_are_shown_with_what_is_around_them() {
    let (before, now) = ("a\nb\nc\nd\ne\nf\ng\nh\n", "a\nB\nc\nd\ne\nf\ng\nh\ni\n");
    assert_eq!(difference(before, now), "  a\n- b\n+ B\n  c\n  d\n  ..\n  g\n  h\n+ i\n");
    assert_eq!(difference(before, before), "");
}
