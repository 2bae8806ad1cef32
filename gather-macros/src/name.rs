//! Names: what the macro knows by name, and what it names.

use quote::ToTokens;

use crate::grid::Width;

/// The operators and the names of their `Op`s; those on indices, which share their kernels, come first.
pub(crate) const OPS: [(&str, &str); 4] = [
    ("gather", "Gather"),
    ("gather_elements", "GatherElements"),
    ("gather_nd", "GatherNd"),
    ("batch_to_space", "BatchToSpace"),
];

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

/// The keys of a call, and a value for each.
pub(crate) const KEYS: [(&str, &str); 5] = [
    ("elements", "[f32, i64]"),
    ("indices", "[i32, i64]"),
    ("ranks", "1..=4"),
    ("ops", "[gather]"),
    ("units", "[x128]"),
];

/// The keys that a call must have: the first ones.
pub(crate) const NEEDED: usize = 4;

/// The most loops that a nest is unrolled for.
pub(crate) const MAX_RANK: u8 = 8;

/// What the keys are, in words.
pub(crate) fn keys() -> String {
    let needed = KEYS.map(|(key, _)| key)[..NEEDED].join("`, `");
    format!("the keys are `{needed}`")
}

/// A value for a key, or for one that is spelt like it.
pub(crate) fn example(key: &str) -> &'static str {
    let keys = KEYS.map(|(key, _)| key);
    let known = nearest(key, keys);
    KEYS.iter().find(|(key, _)| Some(*key) == known).map_or("..", |(_, example)| example)
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

/// A width class by name.
pub(crate) fn width(name: &str) -> Option<Width> {
    if name == "rows" {
        return Some(Width::Rows);
    }
    WIDTHS.iter().find(|(class, _)| *class == name).map(|&(_, bytes)| Width::Bytes(bytes))
}

/// The name of a nest rank in kernels' names.
pub(crate) fn rank(rank: u8) -> String {
    if rank == 0 { "rn".into() } else { format!("r{rank}") }
}

/// The nearest of `known` to a misspelt name, when it is near enough to be meant.
pub(crate) fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let near = |candidate: &&str| distance(name, candidate) <= 2 * (1 + candidate.len() / 4);
    known.into_iter().filter(near).min_by_key(|candidate| distance(name, candidate))
}

/// Edits from one word to another: 2 for a letter too many, missing or replaced, 1 for two neighbours that are swapped.
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
    nearest(name, known).map_or_else(String::new, |near| format!("; did you mean `{near}`?"))
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
        assert_eq!(nearest("gather_element", OPS.map(|(op, _)| op)), Some("gather_elements"));
        assert_eq!(nearest("x23", WIDTHS.map(|(class, _)| class)), Some("x32"));
        assert_eq!(nearest("x46", WIDTHS.map(|(class, _)| class)), Some("x64"));
        assert_eq!(nearest("colour", keys), None);
    }
}
