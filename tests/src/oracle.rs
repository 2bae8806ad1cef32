//! The oracle: the operators as their equations define them, coordinate by coordinate, on tensors in row-major order.
//! It shares no code with gather-core. It is plain and slow.

#![forbid(unsafe_code)]

mod bags;
mod nulls;
mod space;

pub use bags::{BagRows, embedding_bag};
pub use nulls::{IndexKind, with_nulls};
pub use space::{depth_to_space, space_to_batch, space_to_depth};

/// A tensor in row-major order.
#[derive(Clone, Debug, PartialEq)]
pub struct Dense<T> {
    /// The sizes of the dimensions.
    pub shape: Vec<usize>,
    /// The elements.
    pub values: Vec<T>,
}

/// What an index out of range does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// The call fails at the first in row-major order.
    Error,
    /// It gives the fill value.
    Zero,
    /// It names the nearest element.
    Clamp,
    /// It is taken modulo the size.
    Wrap,
}

/// The index for which the oracle refuses a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BadIndex {
    /// Its row-major position in the indices.
    pub position: usize,
    /// The index.
    pub index: i128,
}

/// How a call treats indices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rules {
    /// Whether negative indices count from the end.
    pub from_end: bool,
    /// What an index out of range does.
    pub out_of_range: Rule,
}

impl<T: Clone> Dense<T> {
    /// A tensor whose elements are computed from their row-major positions.
    pub fn from_fn(shape: &[usize], value: impl FnMut(usize) -> T) -> Self {
        let len = shape.iter().product();
        Dense { shape: shape.to_vec(), values: (0..len).map(value).collect() }
    }

    /// The element at a coordinate.
    #[must_use]
    pub fn at(&self, coords: &[usize]) -> T {
        self.values[self.position(coords)].clone()
    }

    /// Changes the element at a coordinate.
    fn change(&mut self, coords: &[usize], change: impl FnOnce(&T) -> T) {
        let position = self.position(coords);
        self.values[position] = change(&self.values[position]);
    }

    pub(crate) fn position(&self, coords: &[usize]) -> usize {
        let mut position = 0;
        for (coord, dim) in coords.iter().zip(&self.shape) {
            assert!(coord < dim, "coordinate {coords:?} outside {:?}", self.shape);
            position = position * dim + coord;
        }
        position
    }
}

/// Every coordinate of a shape in row-major order.
pub fn coords(shape: &[usize]) -> impl Iterator<Item = Vec<usize>> {
    let shape = shape.to_vec();
    let len: usize = shape.iter().product();
    (0..len).map(move |mut position| {
        let mut coords = vec![0; shape.len()];
        for d in (0..shape.len()).rev() {
            coords[d] = position % shape[d];
            position /= shape[d];
        }
        coords
    })
}

impl Rules {
    /// `Ok(Some(i))` is element `i`, `Ok(None)` the fill value, `Err(())` a refusal.
    fn apply(self, index: i128, dim: usize) -> Result<Option<usize>, ()> {
        let dim = dim as i128;
        if dim == 0 {
            return if self.out_of_range == Rule::Zero { Ok(None) } else { Err(()) };
        }
        if self.out_of_range == Rule::Wrap {
            return Ok(Some(index.rem_euclid(dim) as usize));
        }
        let index = if index < 0 && self.from_end { index + dim } else { index };
        if index >= 0 && index < dim {
            return Ok(Some(index as usize));
        }
        match self.out_of_range {
            Rule::Error => Err(()),
            Rule::Zero => Ok(None),
            Rule::Clamp => Ok(Some(if index < 0 { 0 } else { dim as usize - 1 })),
            Rule::Wrap => unreachable!("handled above"),
        }
    }

    /// Finds the first index that is refused.
    fn check(self, indices: &Dense<i128>, dim: impl Fn(usize) -> usize) -> Result<(), BadIndex> {
        for (position, &index) in indices.values.iter().enumerate() {
            let refused = self.apply(index, dim(position)).is_err();
            if refused {
                return Err(BadIndex { position, index });
            }
        }
        Ok(())
    }
}

/// Gather along `axis` with `batch` shared dimensions.
///
/// # Errors
/// The first index that is refused.
pub fn gather<T: Clone>(
    data: &Dense<T>,
    indices: &Dense<i128>,
    axis: usize,
    batch: usize,
    rules: Rules,
    fill: &T,
) -> Result<Dense<T>, BadIndex> {
    let shape = [&data.shape[..axis], &indices.shape[batch..], &data.shape[axis + 1..]].concat();
    if rules.out_of_range == Rule::Error || !shape.contains(&0) {
        rules.check(indices, |_| data.shape[axis])?;
    }
    let inner = axis + indices.shape.len() - batch;
    let values = coords(&shape).map(|out| {
        let index = indices.at(&[&out[..batch], &out[axis..inner]].concat());
        match rules.apply(index, data.shape[axis]) {
            Ok(Some(i)) => data.at(&[&out[..axis], &[i], &out[inner..]].concat()),
            _ => fill.clone(),
        }
    });
    Ok(Dense { values: values.collect(), shape })
}

/// GatherElements along `axis`.
///
/// # Errors
/// The first index that is refused.
pub fn gather_elements<T: Clone>(
    data: &Dense<T>,
    indices: &Dense<i128>,
    axis: usize,
    rules: Rules,
    fill: &T,
) -> Result<Dense<T>, BadIndex> {
    rules.check(indices, |_| data.shape[axis])?;
    let values = coords(&indices.shape).map(|out| {
        let mut from = out.clone();
        match rules.apply(indices.at(&out), data.shape[axis]) {
            Ok(Some(i)) => {
                from[axis] = i;
                data.at(&from)
            }
            _ => fill.clone(),
        }
    });
    Ok(Dense { values: values.collect(), shape: indices.shape.clone() })
}

/// GatherNd with `batch` shared dimensions.
///
/// # Errors
/// The first index that is refused.
pub fn gather_nd<T: Clone>(
    data: &Dense<T>,
    indices: &Dense<i128>,
    batch: usize,
    rules: Rules,
    fill: &T,
) -> Result<Dense<T>, BadIndex> {
    let outer = indices.shape.len() - 1;
    let tuple = indices.shape[outer];
    let shape = [&indices.shape[..outer], &data.shape[batch + tuple..]].concat();
    if rules.out_of_range == Rule::Error || !shape.contains(&0) {
        rules.check(indices, |position| data.shape[batch + position % tuple])?;
    }
    let values = coords(&shape).map(|out| {
        let mut from = out[..batch].to_vec();
        for k in 0..tuple {
            let index = indices.at(&[&out[..outer], &[k]].concat());
            match rules.apply(index, data.shape[batch + k]) {
                Ok(Some(i)) => from.push(i),
                _ => return fill.clone(),
            }
        }
        from.extend_from_slice(&out[outer..]);
        data.at(&from)
    });
    Ok(Dense { values: values.collect(), shape })
}

/// ScatterElements along `axis`. `combine` makes an element of what it was and of an update.
///
/// # Errors
/// The first index that is refused.
pub fn scatter_elements<T: Clone>(
    data: &Dense<T>,
    indices: &Dense<i128>,
    updates: &Dense<T>,
    axis: usize,
    rules: Rules,
    mut combine: impl FnMut(&T, &T) -> T,
) -> Result<Dense<T>, BadIndex> {
    rules.check(indices, |_| data.shape[axis])?;
    let mut out = data.clone();
    for from in coords(&indices.shape) {
        if let Ok(Some(i)) = rules.apply(indices.at(&from), data.shape[axis]) {
            let mut to = from.clone();
            to[axis] = i;
            out.change(&to, |kept| combine(kept, &updates.at(&from)));
        }
    }
    Ok(out)
}

/// ScatterNd with `batch` shared dimensions. `combine` makes an element of what it was and of an update.
///
/// # Errors
/// The first index that is refused.
pub fn scatter_nd<T: Clone>(
    data: &Dense<T>,
    indices: &Dense<i128>,
    updates: &Dense<T>,
    batch: usize,
    rules: Rules,
    mut combine: impl FnMut(&T, &T) -> T,
) -> Result<Dense<T>, BadIndex> {
    let outer = indices.shape.len() - 1;
    let tuple = indices.shape[outer];
    if rules.out_of_range == Rule::Error || !updates.shape.contains(&0) {
        rules.check(indices, |position| data.shape[batch + position % tuple])?;
    }
    let mut out = data.clone();
    for from in coords(&updates.shape) {
        let mut to = from[..batch].to_vec();
        for k in 0..tuple {
            let index = indices.at(&[&from[..outer], &[k]].concat());
            to.extend(rules.apply(index, data.shape[batch + k]).ok().flatten());
        }
        if to.len() == batch + tuple {
            to.extend_from_slice(&from[outer..]);
            out.change(&to, |kept| combine(kept, &updates.at(&from)));
        }
    }
    Ok(out)
}

/// BatchToSpace, as reshape, transpose, reshape, crop.
#[must_use]
pub fn batch_to_space<T: Clone>(data: &Dense<T>, block: &[usize], begin: &[usize], end: &[usize]) -> Dense<T> {
    let rank = data.shape.len();
    let batch = data.shape[0] / block.iter().product::<usize>();
    let mut shape = vec![batch];
    for k in 1..rank {
        shape.push(data.shape[k] * block[k] - begin[k] - end[k]);
    }
    let values = coords(&shape).map(|out| {
        let mut from = vec![0; rank];
        let mut blocks = 0;
        for k in 1..rank {
            let uncropped = out[k] + begin[k];
            blocks = blocks * block[k] + uncropped % block[k];
            from[k] = uncropped / block[k];
        }
        from[0] = blocks * batch + out[0];
        data.at(&from)
    });
    Dense { values: values.collect(), shape }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ERROR: Rules = Rules { from_end: true, out_of_range: Rule::Error };

    fn dense<T: Clone>(shape: &[usize], values: &[T]) -> Dense<T> {
        Dense { shape: shape.to_vec(), values: values.to_vec() }
    }

    #[test]
    fn the_printed_examples_hold() {
        let data = dense(&[2, 5], &[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
        let indices = dense(&[2, 3], &[0, 0, 4, 4, 0, 0]);
        assert_eq!(gather(&data, &indices, 1, 1, ERROR, &0).unwrap().values, [1, 1, 5, 10, 6, 6]);

        let data = dense(&[3, 3], &[1, 2, 3, 4, 5, 6, 7, 8, 9]);
        let indices = dense(&[2, 3], &[1, 2, 0, 2, 0, 0]);
        assert_eq!(gather_elements(&data, &indices, 0, ERROR, &0).unwrap().values, [4, 8, 3, 7, 2, 3]);

        let data = dense(&[2, 2, 2], &[0, 1, 2, 3, 4, 5, 6, 7]);
        let indices = dense(&[2, 2], &[0, 1, 1, 0]);
        assert_eq!(gather_nd(&data, &indices, 0, ERROR, &0).unwrap().values, [2, 3, 4, 5]);

        let data = dense(&[1, 5], &[1, 2, 3, 4, 5]);
        let (indices, updates) = (dense(&[1, 2], &[1, 1]), dense(&[1, 2], &[11, 21]));
        let added = scatter_elements(&data, &indices, &updates, 1, ERROR, |kept, new| kept + new);
        assert_eq!(added.unwrap().values, [1, 34, 3, 4, 5]);

        let data = dense(&[8], &[1, 2, 3, 4, 5, 6, 7, 8]);
        let (indices, updates) = (dense(&[4, 1], &[4, 3, 1, 7]), dense(&[4], &[9, 10, 11, 12]));
        let replaced = scatter_nd(&data, &indices, &updates, 0, ERROR, |_, new| *new);
        assert_eq!(replaced.unwrap().values, [1, 11, 3, 10, 9, 6, 7, 12]);

        let data = dense(&[4, 1, 1], &[1, 2, 3, 4]);
        assert_eq!(batch_to_space(&data, &[1, 2, 2], &[0; 3], &[0; 3]).values, [1, 2, 3, 4]);
    }
}
