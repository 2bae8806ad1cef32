//! Names: what the macro knows by name, and what it names.

use crate::grid::Width;

/// The operators, in the order of the table, and what runs each.
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

/// The keys of a call.
pub(crate) const KEYS: [&str; 5] = ["elements", "indices", "ranks", "ops", "units"];

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
    let near = |candidate: &&str| distance(name, candidate) <= 1 + candidate.len() / 4;
    known.into_iter().filter(near).min_by_key(|candidate| distance(name, candidate))
}

/// Edits (insert, delete, replace) from one word to another.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, &y) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(x != y);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

/// `; did you mean ..?`, where a name is near.
pub(crate) fn suggestion<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    nearest(name, known).map_or_else(String::new, |near| format!("; did you mean `{near}`?"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name_is_suggested_and_a_far_one_is_not() {
        assert_eq!(nearest("elemnts", KEYS), Some("elements"));
        assert_eq!(nearest("gather_element", OPS.map(|(op, _)| op)), Some("gather_elements"));
        assert_eq!(nearest("colour", KEYS), None);
    }
}
