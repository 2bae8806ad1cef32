//! The oracle: the operators as their equations define them, coordinate by coordinate, on tensors in row-major order.
//! It shares no code with gather-core. It is plain and slow.
//!
//! This crate alone of the tests is optimised. So what takes the time is in functions that are compiled here, of no type:
//! they find the positions of elements, and a few lines for each type move those.

#![forbid(unsafe_code)]

mod bags;
mod nulls;
pub mod numbered;
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
    pub fn from_fn(shape: &[usize], mut value: impl FnMut(usize) -> T) -> Self {
        let len = len(shape);
        let mut values = Vec::with_capacity(len);
        // A plain loop: what calls it is not optimised.
        while values.len() < len {
            values.push(value(values.len()));
        }
        Dense { shape: shape.to_vec(), values }
    }

    /// The element at a coordinate.
    #[must_use]
    pub fn at(&self, coords: &[usize]) -> T {
        self.values[self.position(coords)].clone()
    }

    fn position(&self, coords: &[usize]) -> usize {
        row_major(&self.shape, coords)
    }

    /// The elements at these positions of its values, and `fill` in the place of none.
    fn take(&self, from: &Places, fill: &T) -> Self {
        Dense::from_fn(&from.shape, |at| match from.values[at] {
            Some(from) => self.values[from].clone(),
            None => fill.clone(),
        })
    }

    /// Combines what lies at positions with updates. Each pair holds the position of an element and of its update.
    fn combine(mut self, updates: &Self, pairs: &[(usize, usize)], mut combine: impl FnMut(&T, &T) -> T) -> Self {
        for &(to, from) in pairs {
            self.values[to] = combine(&self.values[to], &updates.values[from]);
        }
        self
    }
}

/// Positions in the values of a tensor, for each element of another one; `None` stands for the fill value.
type Places = Dense<Option<usize>>;

impl Places {
    /// Computes the places of a shape from the coordinates.
    fn of(shape: Vec<usize>, mut place: impl FnMut(&[usize]) -> Option<usize>) -> Self {
        let mut values = Vec::with_capacity(len(&shape));
        each(&shape, |coords| values.push(place(coords)));
        Dense { values, shape }
    }
}

fn len(shape: &[usize]) -> usize {
    shape.iter().product()
}

/// The row-major position of a coordinate.
fn row_major<'a>(shape: &[usize], coords: impl IntoIterator<Item = &'a usize>) -> usize {
    let mut position = 0;
    for (coord, dim) in coords.into_iter().zip(shape) {
        assert!(coord < dim, "coordinate {coord} of {dim} in {shape:?}");
        position = position * dim + coord;
    }
    position
}

/// Visits every coordinate of a shape in row-major order.
fn each(shape: &[usize], mut visit: impl FnMut(&[usize])) {
    let mut coords = vec![0; shape.len()];
    for _ in 0..len(shape) {
        visit(&coords);
        for (coord, dim) in coords.iter_mut().zip(shape).rev() {
            *coord += 1;
            if *coord < *dim {
                break;
            }
            *coord = 0;
        }
    }
}

/// The positions in memory of the elements of a view, in row-major order: `offset` is that of the first coordinate.
///
/// # Panics
/// When one lies before the memory.
#[must_use]
pub fn strided(shape: &[usize], strides: &[isize], offset: usize) -> Vec<usize> {
    let mut positions = Vec::with_capacity(len(shape));
    each(shape, |coords| {
        let from_first: isize = coords.iter().zip(strides).map(|(&coord, &stride)| coord as isize * stride).sum();
        positions.push(offset.checked_add_signed(from_first).expect("a position in memory"));
    });
    positions
}

/// Every coordinate of a shape in row-major order.
#[must_use]
pub fn coords(shape: &[usize]) -> Coords {
    Coords { shape: shape.to_vec(), next: 0, len: len(shape) }
}

/// What [`coords`] returns.
#[derive(Clone, Debug)]
pub struct Coords {
    shape: Vec<usize>,
    next: usize,
    len: usize,
}

impl Iterator for Coords {
    type Item = Vec<usize>;

    fn next(&mut self) -> Option<Vec<usize>> {
        let mut position = (self.next < self.len).then_some(self.next)?;
        self.next += 1;
        let mut coords = vec![0; self.shape.len()];
        for (coord, dim) in coords.iter_mut().zip(&self.shape).rev() {
            *coord = position % dim;
            position /= dim;
        }
        Some(coords)
    }
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
    Ok(data.take(&gather_places(&data.shape, indices, axis, batch, rules)?, fill))
}

fn gather_places(
    data: &[usize],
    indices: &Dense<i128>,
    axis: usize,
    batch: usize,
    rules: Rules,
) -> Result<Places, BadIndex> {
    let shape = [&data[..axis], &indices.shape[batch..], &data[axis + 1..]].concat();
    if rules.out_of_range == Rule::Error || !shape.contains(&0) {
        rules.check(indices, |_| data[axis])?;
    }
    let inner = axis + indices.shape.len() - batch;
    Ok(Places::of(shape, |out| {
        let index = indices.values[row_major(&indices.shape, out[..batch].iter().chain(&out[axis..inner]))];
        let i = rules.apply(index, data[axis]).ok().flatten()?;
        Some(row_major(data, out[..axis].iter().chain([&i]).chain(&out[inner..])))
    }))
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
    Ok(data.take(&elements_places(&data.shape, indices, axis, rules)?, fill))
}

fn elements_places(data: &[usize], indices: &Dense<i128>, axis: usize, rules: Rules) -> Result<Places, BadIndex> {
    rules.check(indices, |_| data[axis])?;
    Ok(Places::of(indices.shape.clone(), |at| {
        let i = rules.apply(indices.at(at), data[axis]).ok().flatten()?;
        Some(row_major(data, at[..axis].iter().chain([&i]).chain(&at[axis + 1..])))
    }))
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
    Ok(data.take(&nd_places(&data.shape, indices, batch, rules)?, fill))
}

fn nd_places(data: &[usize], indices: &Dense<i128>, batch: usize, rules: Rules) -> Result<Places, BadIndex> {
    let outer = indices.shape.len() - 1;
    let tuple = indices.shape[outer];
    let shape = [&indices.shape[..outer], &data[batch + tuple..]].concat();
    if rules.out_of_range == Rule::Error || !shape.contains(&0) {
        rules.check(indices, |position| data[batch + position % tuple])?;
    }
    Ok(Places::of(shape, |out| nd_place(data, indices, batch, rules, out)))
}

/// The element of data that the tuple of a coordinate names. Behind those of
/// the tuple, the coordinate has the dimensions of a slice.
fn nd_place(data: &[usize], indices: &Dense<i128>, batch: usize, rules: Rules, coords: &[usize]) -> Option<usize> {
    let outer = indices.shape.len() - 1;
    // The batch, the components, the slice.
    let mut place = row_major(data, &coords[..batch]);
    for k in 0..indices.shape[outer] {
        let index = indices.values[row_major(&indices.shape, coords[..outer].iter().chain([&k]))];
        let dim = data[batch + k];
        place = place * dim + rules.apply(index, dim).ok().flatten()?;
    }
    let slice = &data[batch + indices.shape[outer]..];
    Some(place * len(slice) + row_major(slice, &coords[outer..]))
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
    combine: impl FnMut(&T, &T) -> T,
) -> Result<Dense<T>, BadIndex> {
    let pairs = pairs(&elements_places(&data.shape, indices, axis, rules)?, &updates.shape);
    Ok(data.clone().combine(updates, &pairs, combine))
}

/// The places that are some, each with the position of its coordinate in updates.
fn pairs(places: &Places, updates: &[usize]) -> Vec<(usize, usize)> {
    let mut pairs = Vec::new();
    let mut to = places.values.iter();
    each(&places.shape, |from| {
        if let Some(&Some(to)) = to.next() {
            pairs.push((to, row_major(updates, from)));
        }
    });
    pairs
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
    combine: impl FnMut(&T, &T) -> T,
) -> Result<Dense<T>, BadIndex> {
    // Updates have the shape of what is gathered.
    let places = nd_places(&data.shape, indices, batch, rules)?;
    assert_eq!(places.shape, updates.shape, "the shape of updates");
    Ok(data.clone().combine(updates, &pairs(&places, &updates.shape), combine))
}

/// BatchToSpace, as reshape, transpose, reshape, crop.
#[must_use]
pub fn batch_to_space<T: Clone>(data: &Dense<T>, block: &[usize], begin: &[usize], end: &[usize]) -> Dense<T> {
    let places = from_batch_places(&data.shape, block, begin, end);
    Dense::from_fn(&places.shape, |at| data.values[places.values[at]].clone())
}

fn from_batch_places(data: &[usize], block: &[usize], begin: &[usize], end: &[usize]) -> Dense<usize> {
    let rank = data.len();
    let batch = data[0] / len(block);
    let mut shape = vec![batch];
    for k in 1..rank {
        shape.push(data[k] * block[k] - begin[k] - end[k]);
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
        row_major(data, &from)
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
