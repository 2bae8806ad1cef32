//! Search in a strided tensor for the first coordinate, in row-major order, with a property.

#![forbid(unsafe_code)]

use alloc::borrow::Cow;
use alloc::vec::Vec;

use smallvec::SmallVec;

use crate::tensor::memory;
use crate::types::error::Error;

#[derive(Clone, Copy)]
pub(super) struct CountedDim {
    pub(super) n: usize,
    /// Step in elements.
    pub(super) stride: isize,
}

pub(super) type Coordinates = SmallVec<[usize; 8]>;

/// Offset of a coordinate, in elements from coordinate 0.
pub(super) fn place_of(coords: &[usize], dims: &[CountedDim]) -> isize {
    coords.iter().zip(dims).fold(0, |at, (&c, dim)| at.wrapping_add(dim.stride.wrapping_mul(c as isize)))
}

/// The first coordinate whose offset satisfies `holds`. `holds` is called only with offsets of coordinates.
///
/// Time is linear in the number of coordinates. If the coordinates far outnumber the offsets in range, it is linear in
/// offsets times dimensions squared instead, with three bytes of memory per offset.
pub(super) fn first_coordinate(dims: &[CountedDim], holds: impl Fn(isize) -> bool) -> Option<Coordinates> {
    if dims.iter().any(|dim| dim.n == 0) {
        return None;
    }
    // Along a dimension without a stride the first match is at coordinate 0.
    let moves = |dim: &CountedDim| dim.n > 1 && dim.stride != 0;
    let moving: SmallVec<[CountedDim; 8]> = dims.iter().copied().filter(moves).collect();
    let found = first_of_moving(&moving, holds)?;
    let mut found = found.iter();
    Some(dims.iter().map(|dim| if moves(dim) { found.next().copied().unwrap_or(0) } else { 0 }).collect())
}

/// [`first_coordinate`] of dimensions with `n >= 2` and `stride != 0`.
fn first_of_moving(dims: &[CountedDim], holds: impl Fn(isize) -> bool) -> Option<Coordinates> {
    let shape: Coordinates = dims.iter().map(|dim| dim.n).collect();
    let coordinates = shape.iter().fold(1, |product: usize, &n| product.saturating_mul(n));
    let reach = |dim: &CountedDim| (dim.n - 1).saturating_mul(dim.stride.unsigned_abs());
    let places = dims.iter().fold(1, |places: usize, dim| places.saturating_add(reach(dim)));
    if coordinates / (2 * (dims.len() + 1).pow(2)) > places
        && let Ok(found) = first_of_overlapping(dims, places, &holds)
    {
        return found;
    }
    let mut coords = Coordinates::from_elem(0, dims.len());
    for _ in 0..coordinates {
        if holds(place_of(&coords, dims)) {
            return Some(coords);
        }
        advance(&mut coords, &shape);
    }
    None
}

/// The next coordinate in row-major order.
fn advance(coords: &mut [usize], shape: &[usize]) {
    for (coord, &dim) in coords.iter_mut().zip(shape).rev() {
        *coord += 1;
        if *coord < dim {
            return;
        }
        *coord = 0;
    }
}

/// [`first_of_moving`] if the coordinates outnumber the offsets.
///
/// # Errors
/// [`Error::AllocationFailed`].
fn first_of_overlapping(
    dims: &[CountedDim],
    places: usize,
    holds: impl Fn(isize) -> bool,
) -> Result<Option<Coordinates>, Error> {
    // Places count from the lowest offset; `origin` is the place of offset 0.
    let before = |dim: &CountedDim| if dim.stride < 0 { (dim.n - 1) * dim.stride.unsigned_abs() } else { 0 };
    let origin: usize = dims.iter().map(before).sum();
    let mut reached = flags(places)?;
    reached[origin] = true;
    for dim in dims {
        reached = any_within(&reached, CountedDim { stride: dim.stride.wrapping_neg(), ..*dim })?;
    }
    for (place, reached) in reached.iter_mut().enumerate() {
        *reached = *reached && holds(place as isize - origin as isize);
    }
    let (mut place, mut found) = (origin, Coordinates::new());
    for (dim, later) in dims.iter().zip(1..) {
        // `leads[place]`: whether coordinates of the later dimensions lead from `place` to a match. Recomputed for
        // each dimension: keeping all of them would take memory per dimension.
        let leads = dims[later..]
            .iter()
            .rev()
            .try_fold(Cow::Borrowed(&reached[..]), |leads, dim| any_within(&leads, *dim).map(Cow::Owned))?;
        let Some(coordinate) = (0..dim.n).find(|&c| leads[moved(place, dim, c)]) else {
            return Ok(None);
        };
        place = moved(place, dim, coordinate);
        found.push(coordinate);
    }
    Ok(Some(found))
}

/// The place `c` coordinates after `place`, which is in range.
fn moved(place: usize, dim: &CountedDim, c: usize) -> usize {
    place.wrapping_add_signed(dim.stride.wrapping_mul(c as isize))
}

/// `any[p]`: whether `set[p + c * dim.stride]` holds for a `c < dim.n`. Places out of range are not set.
///
/// # Errors
/// [`Error::AllocationFailed`].
fn any_within(set: &[bool], dim: CountedDim) -> Result<Vec<bool>, Error> {
    let mut any = flags(set.len())?;
    let step = dim.stride.unsigned_abs();
    for first in 0..step.min(set.len()) {
        // Each class of places modulo `step`, from the far end: `left` coordinates still reach the last set place.
        let mut left = 0usize;
        let mut see = |place: usize| {
            left = if set[place] { dim.n } else { left.saturating_sub(1) };
            any[place] = left > 0;
        };
        let along = (first..set.len()).step_by(step);
        if dim.stride < 0 { along.for_each(&mut see) } else { along.rev().for_each(&mut see) }
    }
    Ok(any)
}

/// `n` flags, all `false`.
///
/// # Errors
/// [`Error::AllocationFailed`].
fn flags(n: usize) -> Result<Vec<bool>, Error> {
    let mut flags = memory::reserve(n)?;
    flags.resize(n, false);
    Ok(flags)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reference result: walks all coordinates.
    fn walked(dims: &[CountedDim], holds: impl Fn(isize) -> bool) -> Option<Coordinates> {
        let shape: Coordinates = dims.iter().map(|dim| dim.n).collect();
        let mut coords = Coordinates::from_elem(0, dims.len());
        for _ in 0..shape.iter().product() {
            if holds(place_of(&coords, dims)) {
                return Some(coords);
            }
            advance(&mut coords, &shape);
        }
        None
    }

    #[test]
    fn overlapping_dimensions_give_what_a_walk_gives() {
        let strides = [-3isize, -2, -1, 0, 1, 2, 3, 5];
        for (a, b, c) in (0..512).map(|k| (strides[k % 8], strides[k / 8 % 8], strides[k / 64])) {
            let dims = [(4, a), (3, b), (5, c), (16, 1), (17, -1)].map(|(n, stride)| CountedDim { n, stride });
            for bad in (-60..=66).step_by(7) {
                for also in [bad, bad + 4] {
                    let holds = |place: isize| place == bad || place == also;
                    assert_eq!(
                        first_coordinate(&dims, holds),
                        walked(&dims, holds),
                        "strides {a}, {b}, {c}; {bad}, {also}"
                    );
                }
            }
        }
    }

    #[test]
    fn only_places_that_coordinates_reach_are_asked() {
        // `n == 3`: all 27 coordinates are walked; `n == 64`: each of the 190 places is visited once.
        for (n, reach) in [(3, -8..=16), (64, -252..=504)] {
            let dims = [4, 4, -4].map(|stride| CountedDim { n, stride });
            let asked = core::cell::Cell::new(0);
            let holds = |place: isize| {
                assert!(place % 4 == 0 && reach.contains(&place), "{place}");
                asked.set(asked.get() + 1);
                false
            };
            assert_eq!(first_coordinate(&dims, holds), None);
            assert_eq!(asked.get(), if n == 3 { 27 } else { 190 });
        }
    }

    #[test]
    fn many_coordinates_of_few_places_take_no_time() {
        let dims = [CountedDim { n: 64, stride: 1 }; 10];
        assert_eq!(first_coordinate(&dims, |place| place == 630).unwrap()[..], [63; 10]);
        assert_eq!(first_coordinate(&dims, |_| false), None);
        let none = [CountedDim { n: 64, stride: 1 }, CountedDim { n: 0, stride: 1 }];
        assert_eq!(first_coordinate(&none, |_| true), None);
        assert_eq!(first_coordinate(&[], |place| place == 0).unwrap()[..], [0usize; 0]);
        let still =
            [CountedDim { n: 1, stride: isize::MIN }, dims[0], dims[0], CountedDim { n: 9, stride: 0 }, dims[0]];
        assert_eq!(first_coordinate(&still, |place| place == 100).unwrap()[..], [0, 0, 37, 0, 63]);
    }
}
