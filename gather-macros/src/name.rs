//! Names and limits: the names known to the macros, the limits of their input, and the names of emitted items.
//!
//! gather-core takes the limits from here through `limit!`.

use proc_macro2::TokenStream;
use quote::{ToTokens, format_ident, quote};

use crate::grid::Size;

/// The path of the module of gather-core that emitted code uses. Its name has the version of both crates, so that a
/// crate does not build with another release of the other.
pub(crate) fn private(krate: &TokenStream) -> TokenStream {
    let module = format_ident!("__private_{}", env!("CARGO_PKG_VERSION").replace(|c: char| !c.is_alphanumeric(), "_"));
    quote!(#krate::#module)
}

/// A level with kernels.
pub(crate) struct Level {
    /// The level's part of kernel names.
    pub(crate) name: &'static str,
    /// The name of the variant of `Level`, and of the level's type.
    pub(crate) variant: &'static str,
    pub(crate) needs: Needs,
}

pub(crate) enum Needs {
    /// Nothing: every machine has the level.
    Nothing,
    /// An architecture; only some of its machines have the level.
    Machine(&'static str),
    /// An architecture and a feature that all code of the target is compiled for.
    Target(&'static str, &'static str),
}

impl Level {
    /// The attribute of items that exist on the level's targets only.
    pub(crate) fn cfg(&self) -> Option<TokenStream> {
        match self.needs {
            Needs::Nothing => None,
            Needs::Machine(arch) => Some(quote!(#[cfg(target_arch = #arch)])),
            // Little-endian, where lanes are numbered like bytes.
            Needs::Target(arch, feature) => Some(quote! {
                #[cfg(all(target_arch = #arch, target_endian = "little", target_feature = #feature))]
            }),
        }
    }
}

/// The levels, in the order of `Level::ALL`.
pub(crate) const LEVELS: &[Level] = &[
    Level { name: "scalar", variant: "Scalar", needs: Needs::Nothing },
    Level { name: "avx2", variant: "Avx2", needs: Needs::Machine("x86_64") },
    Level { name: "avx512", variant: "Avx512", needs: Needs::Machine("x86_64") },
    Level { name: "neon", variant: "Neon", needs: Needs::Target("aarch64", "neon") },
    Level { name: "simd128", variant: "Simd128", needs: Needs::Target("wasm32", "simd128") },
];

/// Gathers, which share their kernels, and the names of their `Op`s.
pub(crate) const INDEX_OPS: [(&str, &str); 3] =
    [("gather", "Gather"), ("gather_elements", "GatherElements"), ("gather_nd", "GatherNd")];

/// Scatters, which share their kernels, and the names of their `Op`s.
pub(crate) const SCATTER_OPS: [(&str, &str); 2] =
    [("scatter_elements", "ScatterElements"), ("scatter_nd", "ScatterNd")];

/// Operators that rearrange space, which have no indices and share their kernels, and the names of their `Op`s.
pub(crate) const SPACE_OPS: [(&str, &str); 4] = [
    ("batch_to_space", "BatchToSpace"),
    ("space_to_batch", "SpaceToBatch"),
    ("depth_to_space", "DepthToSpace"),
    ("space_to_depth", "SpaceToDepth"),
];

pub(crate) fn ops() -> Vec<&'static str> {
    INDEX_OPS.iter().chain(&SCATTER_OPS).chain(&SPACE_OPS).map(|(op, _)| *op).collect()
}

/// The index types and the names of their `IndexType`s.
pub(crate) const INDICES: [(&str, &str); 10] = [
    ("i8", "I8"),
    ("i16", "I16"),
    ("i32", "I32"),
    ("i64", "I64"),
    ("u8", "U8"),
    ("u16", "U16"),
    ("u32", "U32"),
    ("u64", "U64"),
    ("isize", "Isize"),
    ("usize", "Usize"),
];

pub(crate) fn index_variant(index: &str) -> &'static str {
    INDICES.iter().find(|(name, _)| *name == index).map_or("", |(_, variant)| variant)
}

/// The keys of a call, with an example value for each.
pub(crate) const KEYS: [(&str, &str); 5] = [
    ("elements", "[f32, i64]"),
    ("indices", "[i32, i64]"),
    ("ranks", "1..=4"),
    ("ops", "[gather]"),
    ("widths", "[x128]"),
];

/// The number of required keys, which come first.
pub(crate) const NEEDED: usize = 4;

const SYNONYMS: [(&str, &str); 4] =
    [("units", "widths"), ("types", "elements"), ("dtypes", "elements"), ("operators", "ops")];

/// Maximum loops of an unrolled loop nest.
pub(crate) const MAX_RANK: u8 = 8;

/// Maximum functions per call and level for operators on indices: 1.5 times the gathers of gather-core's own sets.
pub(crate) const BUDGET: usize = 648;

/// Maximum parameters of a map or a row function.
pub(crate) const MAX_PARAMS: usize = 4;

pub(crate) fn keys() -> String {
    let keys = KEYS.map(|(key, _)| key);
    let (needed, optional) = keys.split_at(NEEDED);
    format!("the keys are `{}`, and optionally `{}`", needed.join("`, `"), optional.join("`, `"))
}

/// An example value for a key, or for a misspelt one.
pub(crate) fn example(key: &str) -> &'static str {
    let known = nearest_key(key);
    KEYS.iter().find(|(key, _)| Some(*key) == known).map_or("..", |(_, example)| example)
}

/// The key that another word probably means.
pub(crate) fn nearest_key(key: &str) -> Option<&'static str> {
    let synonym = SYNONYMS.iter().find(|(synonym, _)| *synonym == key);
    synonym.map(|&(_, key)| key).or_else(|| nearest(key, KEYS.map(|(key, _)| key)))
}

/// Width classes: names and bytes.
pub(crate) const WIDTHS: [(&str, usize); 5] = [("x8", 1), ("x16", 2), ("x32", 4), ("x64", 8), ("x128", 16)];

/// The bytes of primitive types that share a width class.
pub(crate) fn primitive_bytes(name: &str) -> Option<usize> {
    Some(match name {
        "bool" | "i8" | "u8" => 1,
        "i16" | "u16" => 2,
        "i32" | "u32" | "f32" => 4,
        "i64" | "u64" | "f64" => 8,
        _ => return None,
    })
}

/// The width name of rows of any length.
pub(crate) const ROWS: &str = "rows";

pub(crate) fn size(name: &str) -> Option<Size> {
    if name == ROWS {
        return Some(Size::Any);
    }
    WIDTHS.iter().find(|(class, _)| *class == name).map(|&(_, bytes)| Size::Bytes(bytes))
}

/// The rank of a loop nest, as part of kernel names.
pub(crate) fn rank(rank: u8) -> String {
    if rank == 0 { "rn".into() } else { format!("r{rank}") }
}

/// The name in `known` nearest to a misspelt name, if it is near enough to be meant.
pub(crate) fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let near = |candidate: &&str| distance(name, candidate) <= 2 * (1 + candidate.len() / 4);
    known.into_iter().filter(near).min_by_key(|candidate| distance(name, candidate))
}

/// The edit distance of two words: 2 for an extra, missing or replaced letter, 1 for two adjacent letters swapped.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut rows = vec![(0..=b.len()).map(|j| 2 * j).collect::<Vec<usize>>()];
    for i in 1..=a.len() {
        let mut row = vec![2 * i];
        for j in 1..=b.len() {
            let replaced = rows[i - 1][j - 1] + 2 * usize::from(a[i - 1] != b[j - 1]);
            let mut edits = replaced.min(rows[i - 1][j] + 2).min(row[j - 1] + 2);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                edits = edits.min(rows[i - 2][j - 2] + 1);
            }
            row.push(edits);
        }
        rows.push(row);
    }
    rows[a.len()][b.len()]
}

/// `; did you mean ..?`, if a known name is near.
pub(crate) fn suggestion<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    did_you_mean(nearest(name, known))
}

/// `; did you mean ..?`, if there is a suggestion.
pub(crate) fn did_you_mean(near: Option<&str>) -> String {
    near.map_or_else(String::new, |near| format!("; did you mean `{near}`?"))
}

/// A type roughly as written by its author.
pub(crate) fn readable(ty: &impl ToTokens) -> String {
    let spaces = [(" :: ", "::"), ("< ", "<"), (" <", "<"), (" >", ">"), ("& ", "&")];
    let text = ty.to_token_stream().to_string();
    spaces.iter().fold(text, |text, (spaced, close)| text.replace(spaced, close))
}

/// `1 byte`, `2 bytes` and so on.
pub(crate) fn bytes(n: usize) -> String {
    if n == 1 { "1 byte".into() } else { format!("{n} bytes") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name_is_suggested_and_a_far_one_is_not() {
        let keys = KEYS.map(|(key, _)| key);
        assert_eq!(nearest("elemnts", keys), Some("elements"));
        assert_eq!(nearest("gather_element", ops()), Some("gather_elements"));
        assert_eq!(nearest("x23", WIDTHS.map(|(class, _)| class)), Some("x32"));
        assert_eq!(nearest("x46", WIDTHS.map(|(class, _)| class)), Some("x64"));
        assert_eq!(nearest("colour", keys), None);
    }

    #[test]
    fn a_synonym_of_a_key_is_suggested_too() {
        assert_eq!(nearest_key("units"), Some("widths"));
        assert_eq!(nearest_key("width"), Some("widths"));
        assert_eq!(nearest_key("colour"), None);
        for (synonym, key) in SYNONYMS {
            assert!(KEYS.iter().any(|(known, _)| *known == key), "{key}");
            assert!(KEYS.iter().all(|(known, _)| *known != synonym), "{synonym}");
        }
    }
}
