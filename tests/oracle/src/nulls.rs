//! Gathers some of whose indices are null.

use super::{BadIndex, Dense, Places, Rule, Rules, coords, elements_places, gather_places, nd_places};

/// A gather with its attributes.
#[derive(Clone, Copy, Debug)]
pub enum IndexKind {
    /// Gather along `axis` with `batch` shared dimensions.
    Gather {
        /// The axis.
        axis: usize,
        /// The shared dimensions.
        batch: usize,
    },
    /// GatherElements along `axis`.
    Elements {
        /// The axis.
        axis: usize,
    },
    /// GatherNd with `batch` shared dimensions.
    Nd {
        /// The shared dimensions.
        batch: usize,
    },
}

impl IndexKind {
    /// Dimensions of data that stand before a row.
    #[must_use]
    pub fn lead(self, data: &[usize], indices: &[usize]) -> usize {
        match self {
            IndexKind::Gather { axis, .. } => axis + 1,
            IndexKind::Elements { .. } => data.len(),
            IndexKind::Nd { batch } => batch + indices[indices.len() - 1],
        }
    }

    /// The shape of the bits of indices: that of indices, without the components of a tuple.
    #[must_use]
    pub fn numbers(self, indices: &[usize]) -> &[usize] {
        match self {
            IndexKind::Nd { .. } => &indices[..indices.len() - 1],
            _ => indices,
        }
    }

    /// The coordinate of the index, or tuple, that a coordinate of the result comes from.
    fn index(self, out: &[usize], indices: usize) -> Vec<usize> {
        match self {
            IndexKind::Gather { axis, batch } => [&out[..batch], &out[axis..axis + indices - batch]].concat(),
            IndexKind::Elements { .. } => out.to_vec(),
            IndexKind::Nd { .. } => out[..indices - 1].to_vec(),
        }
    }
}

/// A gather whose index, or tuple, number `i` is valid where `valid[i]`. Another one is not looked at, and yields
/// `null`.
///
/// # Errors
/// The first valid index that is refused.
pub fn with_nulls<T: Clone>(
    kind: IndexKind,
    data: &Dense<T>,
    indices: &Dense<i128>,
    valid: &[bool],
    rules: Rules,
    (fill, null): (&T, &T),
) -> Result<Dense<T>, BadIndex> {
    let (places, nulls) = places_with_nulls(kind, &data.shape, indices, valid, rules)?;
    let mut out = data.take(&places, fill);
    for at in nulls {
        out.values[at] = null.clone();
    }
    Ok(out)
}

/// The places of the elements, and the positions in the result that are null.
fn places_with_nulls(
    kind: IndexKind,
    data: &[usize],
    indices: &Dense<i128>,
    valid: &[bool],
    rules: Rules,
) -> Result<(Places, Vec<usize>), BadIndex> {
    let rank = indices.shape.len();
    let (components, first) = match kind {
        IndexKind::Gather { axis, .. } | IndexKind::Elements { axis } => (1, axis),
        IndexKind::Nd { batch } => (indices.shape[rank - 1], batch),
    };
    let dim = |position: usize| data[first + position % components];
    let gathered = |indices: &Dense<i128>, rules: Rules| match kind {
        IndexKind::Gather { axis, batch } => gather_places(data, indices, axis, batch, rules),
        IndexKind::Elements { axis } => elements_places(data, indices, axis, rules),
        IndexKind::Nd { batch } => nd_places(data, indices, batch, rules),
    };
    // Of a result without elements, indices are checked under the rule `Error` alone.
    let checks = rules.out_of_range == Rule::Error
        || !gathered(indices, Rules { out_of_range: Rule::Zero, ..rules })?.values.is_empty();
    // Positions, or -1 for what is out of range.
    let mut positions = indices.clone();
    for (position, value) in positions.values.iter_mut().enumerate() {
        let index = *value;
        *value = match rules.apply(index, dim(position)) {
            _ if !valid[position / components] => -1,
            Ok(Some(found)) => found as i128,
            Err(()) if checks => return Err(BadIndex { position, index }),
            Ok(None) | Err(()) => -1,
        };
    }
    let places = gathered(&positions, Rules { from_end: false, out_of_range: Rule::Zero })?;
    let numbers = Dense::from_fn(kind.numbers(&indices.shape), |number| number);
    let is_null = |out: &[usize]| !valid[numbers.at(&kind.index(out, rank))];
    let nulls = coords(&places.shape).enumerate().filter(|(_, out)| is_null(out)).map(|(at, _)| at).collect();
    Ok((places, nulls))
}
