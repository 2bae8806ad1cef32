//! Names and limits: what the macros know by name, how much of it they take, and what they name.
//!
//! gather-core takes the limits from here through `limit!`.

use proc_macro2::TokenStream;
use quote::{ToTokens, format_ident, quote};

use crate::grid::Size;

/// The path of the module of gather-core that emitted code uses. Its name has the version of both crates, so that a
/// crate does not build with another release of the other one.
pub(crate) fn private(krate: &TokenStream) -> TokenStream {
    let module = format_ident!("__private_{}", env!("CARGO_PKG_VERSION").replace(|c: char| !c.is_alphanumeric(), "_"));
    quote!(#krate::#module)
}

/// A level that kernels are emitted for.
pub(crate) struct Level {
    /// In kernels' names.
    pub(crate) name: &'static str,
    /// The names of its `Level` and of its type.
    pub(crate) variant: &'static str,
    /// The condition on the target.
    pub(crate) needs: Needs,
}

/// The condition of a level on the target.
pub(crate) enum Needs {
    /// Nothing: every machine has it.
    Nothing,
    /// An architecture, of which not every machine has it.
    Machine(&'static str),
    /// A target that has a feature: all of its code is compiled for that.
    Target(&'static str, &'static str),
}

impl Level {
    /// The attribute of what exists on its targets only.
    pub(crate) fn cfg(&self) -> Option<TokenStream> {
        match self.needs {
            Needs::Nothing => None,
            Needs::Machine(arch) => Some(quote!(#[cfg(target_arch = #arch)])),
            // Where lanes are numbered as bytes are.
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

/// The gathers, which share their kernels, and the names of their `Op`s.
pub(crate) const INDEX_OPS: [(&str, &str); 3] =
    [("gather", "Gather"), ("gather_elements", "GatherElements"), ("gather_nd", "GatherNd")];

/// The scatters, which share their kernels, and the names of their `Op`s.
pub(crate) const SCATTER_OPS: [(&str, &str); 2] =
    [("scatter_elements", "ScatterElements"), ("scatter_nd", "ScatterNd")];

/// The operators that rearrange space, which have no indices and share their kernels, and the names of their `Op`s.
pub(crate) const SPACE_OPS: [(&str, &str); 4] = [
    ("batch_to_space", "BatchToSpace"),
    ("space_to_batch", "SpaceToBatch"),
    ("depth_to_space", "DepthToSpace"),
    ("space_to_depth", "SpaceToDepth"),
];

/// The names of all operators.
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

/// The name of the `IndexType` of an index type.
pub(crate) fn index_variant(index: &str) -> &'static str {
    INDICES.iter().find(|(name, _)| *name == index).map_or("", |(_, variant)| variant)
}

/// The keys of a call, and a value for each.
pub(crate) const KEYS: [(&str, &str); 5] = [
    ("elements", "[f32, i64]"),
    ("indices", "[i32, i64]"),
    ("ranks", "1..=4"),
    ("ops", "[gather]"),
    ("widths", "[x128]"),
];

/// The keys that a call must have: the first ones.
pub(crate) const NEEDED: usize = 4;

/// Keys as others call them, and the keys that are meant.
const SYNONYMS: [(&str, &str); 4] =
    [("units", "widths"), ("types", "elements"), ("dtypes", "elements"), ("operators", "ops")];

/// The most loops of a loop nest that is unrolled.
pub(crate) const MAX_RANK: u8 = 8;

/// The most functions that one call may emit for the operators on indices at each level: one and a half times as many
/// as gather-core's own sets have together for gathers.
pub(crate) const BUDGET: usize = 648;

/// The most parameters of a map.
pub(crate) const MAX_PARAMS: usize = 4;

/// The keys, in words.
pub(crate) fn keys() -> String {
    let keys = KEYS.map(|(key, _)| key);
    let (needed, optional) = keys.split_at(NEEDED);
    format!("the keys are `{}`, and optionally `{}`", needed.join("`, `"), optional.join("`, `"))
}

/// A value for a key, or for one that is spelt like it.
pub(crate) fn example(key: &str) -> &'static str {
    let known = nearest_key(key);
    KEYS.iter().find(|(key, _)| Some(*key) == known).map_or("..", |(_, example)| example)
}

/// The key that is meant by another word.
pub(crate) fn nearest_key(key: &str) -> Option<&'static str> {
    let synonym = SYNONYMS.iter().find(|(synonym, _)| *synonym == key);
    synonym.map(|&(_, key)| key).or_else(|| nearest(key, KEYS.map(|(key, _)| key)))
}

/// The width classes: names and bytes.
pub(crate) const WIDTHS: [(&str, usize); 5] = [("x8", 1), ("x16", 2), ("x32", 4), ("x64", 8), ("x128", 16)];

/// The bytes of the primitive types that share a width class.
pub(crate) fn primitive_bytes(name: &str) -> Option<usize> {
    Some(match name {
        "bool" | "i8" | "u8" => 1,
        "i16" | "u16" => 2,
        "i32" | "u32" | "f32" => 4,
        "i64" | "u64" | "f64" => 8,
        _ => return None,
    })
}

/// The name of rows of any length among the widths.
pub(crate) const ROWS: &str = "rows";

/// A width by name.
pub(crate) fn size(name: &str) -> Option<Size> {
    if name == ROWS {
        return Some(Size::Any);
    }
    WIDTHS.iter().find(|(class, _)| *class == name).map(|&(_, bytes)| Size::Bytes(bytes))
}

/// The rank of a loop nest in kernels' names.
pub(crate) fn rank(rank: u8) -> String {
    if rank == 0 { "rn".into() } else { format!("r{rank}") }
}

/// The nearest of `known` to a misspelt name, when it is near enough to be meant.
pub(crate) fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let near = |candidate: &&str| distance(name, candidate) <= 2 * (1 + candidate.len() / 4);
    known.into_iter().filter(near).min_by_key(|candidate| distance(name, candidate))
}

/// Edits from one word to another: 2 for a letter too many, missing or replaced, 1 for two neighbours that are
/// swapped.
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

/// `; did you mean ..?`, where a name is near.
pub(crate) fn suggestion<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    did_you_mean(nearest(name, known))
}

/// `; did you mean ..?`, where there is something to suggest.
pub(crate) fn did_you_mean(near: Option<&str>) -> String {
    near.map_or_else(String::new, |near| format!("; did you mean `{near}`?"))
}

/// A type as its author wrote it, more or less.
pub(crate) fn readable(ty: &impl ToTokens) -> String {
    let spaces = [(" :: ", "::"), ("< ", "<"), (" <", "<"), (" >", ">"), ("& ", "&")];
    let text = ty.to_token_stream().to_string();
    spaces.iter().fold(text, |text, (spaced, close)| text.replace(spaced, close))
}

/// A number of bytes in words.
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
