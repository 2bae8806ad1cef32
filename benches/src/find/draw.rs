//! Random shapes, strides and indices.

use gather_core::{Layout, Level, View, ViewMut};

use crate::find::policy::Id;
use crate::number::Number;
use crate::random::Random;

/// Fewest elements of an output: shorter calls are those of the benchmark `short`.
pub(super) const FEWEST: usize = 64;

/// The most elements of an output, and of what is indexed.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Of the output.
    pub out: usize,
    /// Of the tensor that is indexed.
    pub data: usize,
}

/// A source of cases.
pub(super) struct Draw {
    random: Random,
    pub(super) limits: Limits,
    pub(super) level: Level,
}

impl Draw {
    pub(super) fn new(seed: u64, number: u64, limits: Limits, level: Level) -> Self {
        // Generators whose states differ by a number share their later numbers, so the state is a random number.
        let state = Random::new(seed).bits() ^ Random::new(number).bits().rotate_left(32);
        Draw { random: Random::new(state), limits, level }
    }

    pub(super) fn percent(&mut self, percent: usize) -> bool {
        self.random.below(100) < percent
    }

    pub(super) fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.random.below(of.len())]
    }

    /// A number from `least` to `most`.
    pub(super) fn between(&mut self, least: usize, most: usize) -> usize {
        least + self.random.below(most.max(least) - least + 1)
    }

    /// A number from `least` to `most`, as often below the geometric mean of them as above.
    pub(super) fn size(&mut self, least: usize, most: usize) -> usize {
        let (least, most) = (least as f64, most.max(least) as f64 + 1.0);
        (least * (most / least).powf(self.random.fraction())) as usize
    }

    /// Sizes of dimensions whose product is near `total`. Some are 1.
    pub(super) fn shape(&mut self, rank: usize, total: usize) -> Vec<usize> {
        let mut parts: Vec<f64> =
            (0..rank).map(|_| if self.percent(15) { 0.0 } else { self.random.fraction() }).collect();
        // Now and then a dimension has most of the elements.
        if self.percent(40) && rank > 0 {
            let dim = self.random.below(rank);
            parts[dim] *= 8.0;
        }
        let sum: f64 = parts.iter().sum();
        let share = |part: &f64| (total as f64).powf(part / sum.max(1e-9)).round() as usize;
        parts.iter().map(|part| share(part).max(1)).collect()
    }

    /// Where the elements of a shape lie: row-major, or in one of the other ways that views allow.
    pub(super) fn place(&mut self, shape: &[usize]) -> Place {
        let mut place = Place::contiguous(shape);
        if shape.is_empty() || self.percent(65) {
            return place;
        }
        let dim = self.random.below(shape.len());
        match self.random.below(4) {
            0 => place = self.permuted(shape),
            1 => {
                for (&size, stride) in shape.iter().zip(&mut place.strides) {
                    if self.percent(50) && size > 1 {
                        place.start += (size as isize - 1) * *stride;
                        *stride = -*stride;
                    }
                }
                place.way = "reversed";
            }
            2 => {
                let mut wider = shape.to_vec();
                wider[dim] = 2 * shape[dim] + 1;
                place = Place::contiguous(&wider);
                place.start = place.strides[dim];
                place.strides[dim] *= 2;
                place.shape = shape.to_vec();
                place.way = "spaced";
            }
            _ => {
                let mut narrower = shape.to_vec();
                narrower[dim] = 1;
                place = Place::contiguous(&narrower);
                place.strides[dim] = 0;
                place.shape = shape.to_vec();
                place.way = "stretched";
            }
        }
        place
    }

    /// Dimensions in another order in memory.
    pub(super) fn permuted(&mut self, shape: &[usize]) -> Place {
        let order = self.random.permutation(shape.len());
        let inner = Place::contiguous(&order.iter().map(|&dim| shape[dim]).collect::<Vec<_>>());
        let mut place = Place { shape: shape.to_vec(), way: "permuted", ..inner.clone() };
        order.iter().zip(inner.strides).for_each(|(&dim, stride)| place.strides[dim] = stride);
        place
    }

    /// As many numbers.
    pub(super) fn numbers<T: Number>(&mut self, len: usize) -> Vec<T> {
        (0..len).map(|_| T::of(self.random.fraction() - 0.5)).collect()
    }

    /// Numbers whose products neither overflow nor vanish, however often they are made.
    pub(super) fn units<T: Number>(&mut self, len: usize) -> Vec<T> {
        (0..len).map(|_| T::unit(self.random.below(2) == 0)).collect()
    }

    /// Values of any bits.
    pub(super) fn values<T: bytemuck::Pod>(&mut self, len: usize) -> Vec<T> {
        let mut values = vec![T::zeroed(); len];
        for chunk in bytemuck::cast_slice_mut::<T, u8>(&mut values).chunks_mut(8) {
            chunk.copy_from_slice(&self.random.bits().to_le_bytes()[..chunk.len()]);
        }
        values
    }

    /// Indices of an axis each: `sizes` in turn.
    pub(super) fn indices<I: Id>(&mut self, count: usize, sizes: &[usize], bad: Bad) -> (Vec<I>, &'static str) {
        let (negative, order) = (bad.negative && self.percent(30), self.random.below(10));
        let mut indices = Vec::with_capacity(count);
        let same = self.random.bits();
        for at in 0..count {
            let size = sizes[at % sizes.len()];
            let reached = usize::try_from(I::of(i64::MAX).long()).map_or(size, |most| size.min(most.saturating_add(1)));
            let index = match order {
                0 => (same % reached as u64) as usize,
                1 | 2 => ((at as u128 * reached as u128) / count as u128) as usize,
                3 => at / sizes.len() % reached,
                _ => self.random.below(reached),
            } as i64;
            let is_bad = bad.percent > 0 && self.percent(bad.percent);
            let from = size as i64;
            let index = match (is_bad, self.random.below(2) == 0) {
                (true, true) if bad.negative => -from - 1 - index,
                (true, _) => from + index,
                (false, true) if negative => index - from,
                _ => index,
            };
            indices.push(I::of(index));
        }
        (indices, ["all equal", "sorted", "sorted", "ascending"].get(order).copied().unwrap_or("random"))
    }
}

/// Shares of indices out of range, in percent, and whether indices may be negative.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bad {
    pub(super) percent: usize,
    pub(super) negative: bool,
}

/// Where the elements of a tensor lie in a slice.
#[derive(Clone, Debug)]
pub(super) struct Place {
    pub(super) shape: Vec<usize>,
    pub(super) strides: Vec<isize>,
    pub(super) start: isize,
    /// The length of the slice.
    pub(super) len: usize,
    way: &'static str,
}

impl Place {
    pub(super) fn contiguous(shape: &[usize]) -> Self {
        let mut strides = vec![1; shape.len()];
        for dim in (1..shape.len()).rev() {
            strides[dim - 1] = strides[dim] * shape[dim] as isize;
        }
        Place { shape: shape.to_vec(), strides, start: 0, len: shape.iter().product(), way: "" }
    }

    /// The same of elements that are `numbers` numbers each.
    pub(super) fn of_numbers(&self, numbers: usize) -> Self {
        let mut place = self.clone();
        place.strides.iter_mut().for_each(|stride| *stride *= numbers as isize);
        place.start *= numbers as isize;
        place
    }

    pub(super) fn is_contiguous(&self) -> bool {
        self.way.is_empty()
    }

    pub(super) fn view<'a, T>(&self, values: &'a [T]) -> View<'a, T> {
        View::strided(values, &self.shape, &self.strides, self.start as usize).expect("a view inside its slice")
    }

    pub(super) fn view_mut<'a, T>(&self, values: &'a mut [T]) -> ViewMut<'a, T> {
        ViewMut::strided(values, &self.shape, &self.strides, self.start as usize).expect("a view inside its slice")
    }

    pub(super) fn layout(&self) -> Layout {
        Layout::strided(&self.shape, &self.strides).expect("a layout that fits")
    }

    /// The shape, and where it is not row-major.
    pub(super) fn name(&self) -> String {
        if self.way.is_empty() { format!("{:?}", self.shape) } else { format!("{:?} {}", self.shape, self.way) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: Limits = Limits { out: 4096, data: 4096 };

    #[test]
    fn places_lie_inside_their_slices() {
        for number in 0..200 {
            let mut draw = Draw::new(1, number, LIMITS, Level::Scalar);
            let rank = draw.between(0, 10);
            let shape = draw.shape(rank, 1000);
            let place = draw.place(&shape);
            assert_eq!(place.view(&vec![0u8; place.len]).shape(), shape);
        }
    }

    #[test]
    fn indices_are_as_bad_as_they_are_asked_to_be() {
        let mut draw = Draw::new(1, 1, LIMITS, Level::Scalar);
        for percent in [0, 100] {
            let (indices, _) = draw.indices::<i64>(300, &[7, 9], Bad { percent, negative: true });
            let inside = |(at, index): (usize, &i64)| {
                let size = [7, 9][at % 2];
                (-size..size).contains(index)
            };
            assert_eq!(indices.iter().enumerate().filter(|at| inside(*at)).count(), if percent == 0 { 300 } else { 0 });
        }
    }
}
