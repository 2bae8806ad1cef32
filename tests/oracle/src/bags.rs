//! EmbeddingBag.

use super::{BadIndex, Dense, Rules, coords};

/// What rows of bags are besides those that indices name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BagRows {
    /// The row that is left out.
    pub padding: Option<usize>,
    /// The row of a bag in which nothing counts.
    pub default: Option<usize>,
    /// Whether negative indices are left out.
    pub skips_negative: bool,
    /// Whether indices that name no row are left out.
    pub skips_out_of_range: bool,
}

/// Bags `bounds[b]..bounds[b + 1]` of the indices, in row-major order. `reduce` makes an element of the places of
/// indices and the elements that they name, of which there is at least one.
///
/// # Errors
/// The first index of a bag that is refused.
pub fn embedding_bag<T: Clone>(
    data: &Dense<T>,
    indices: &Dense<i128>,
    bounds: &[usize],
    rules: Rules,
    rows: BagRows,
    fill: &T,
    mut reduce: impl FnMut(&[(usize, T)]) -> T,
) -> Result<Dense<T>, BadIndex> {
    let used = bounds.last().copied().unwrap_or(0);
    let dim = data.shape[0];
    let names_none = |index| Rules { out_of_range: super::Rule::Error, ..rules }.apply(index, dim).is_err();
    let left_out = |index: i128| rows.skips_negative && index < 0 || rows.skips_out_of_range && names_none(index);
    let shape = [&[bounds.len() - 1], &data.shape[1..]].concat();
    if rules.out_of_range == super::Rule::Error || !shape.contains(&0) {
        let refused = |&(_, &index): &(usize, &i128)| !left_out(index) && rules.apply(index, dim).is_err();
        if let Some((position, &index)) = indices.values[..used].iter().enumerate().find(refused) {
            return Err(BadIndex { position, index });
        }
    }
    let values = coords(&shape).map(|out| {
        let element = |row: usize| data.at(&[&[row], &out[1..]].concat());
        let terms: Vec<(usize, T)> = (bounds[out[0]]..bounds[out[0] + 1])
            .filter(|&place| !left_out(indices.values[place]))
            .filter_map(|place| match rules.apply(indices.values[place], dim) {
                Ok(Some(row)) if Some(row) == rows.padding => None,
                Ok(Some(row)) => Some((place, element(row))),
                _ => Some((place, fill.clone())),
            })
            .collect();
        match rows.default {
            _ if !terms.is_empty() => reduce(&terms),
            Some(row) => element(row),
            None => fill.clone(),
        }
    });
    Ok(Dense { values: values.collect(), shape })
}
