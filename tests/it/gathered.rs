//! `Method::Gathered` takes one path while indices are valid indices, and another from the first that is
//! none. So one index is changed, at every place where the paths may meet: among sixteen rows, in what is left after
//! them, and in a later row of many.

use gather_core::{Element, Error, Gather, GatherElements, GatherOperator, IndexAttributes, Method, OutOfBounds, View};

use crate::support::levels;
use crate::support::mixed;

/// Rows and columns of data and of indices. A row of indices has whole groups of sixteen, and a few more.
const SHAPE: [usize; 2] = [40, 83];
const LEN: usize = SHAPE[0] * SHAPE[1];
/// Where an index is changed: in the first row, in the second, at the end.
const PLACES: [usize; 12] = [0, 1, 15, 16, 31, 79, 80, 82, 83, 84 + 15, 83 + 80, LEN - 1];
const POLICIES: &[OutOfBounds] = OutOfBounds::ALL;

/// The position of an index under a policy; `None` where it is out of range.
fn position(index: i64, dim: usize, policy: OutOfBounds) -> Option<usize> {
    let dim = dim as i64;
    let from_end = if index < 0 { index + dim } else { index };
    match policy {
        OutOfBounds::Clamp => Some(from_end.clamp(0, dim - 1) as usize),
        OutOfBounds::Wrap => Some(index.rem_euclid(dim) as usize),
        _ => (0..dim).contains(&from_end).then_some(from_end as usize),
    }
}

/// Runs an operator by `Method::Gathered` at every level that has it, and returns at how many.
fn check<T: Element + PartialEq, A: IndexAttributes + Clone>(
    op: &GatherOperator<A>,
    data: &View<'_, T>,
    indices: &View<'_, i64>,
    expected: Option<&[T]>,
    what: &str,
) -> usize {
    let mut ran = 0;
    for level in levels() {
        let op = op.clone().level(level).method(Method::Gathered);
        match (op.run(data, indices), expected) {
            (Err(Error::MethodUnavailable { .. }), _) => continue,
            (Ok(got), Some(expected)) => assert!(got.as_slice() == expected, "{what}, {level}"),
            (Err(Error::IndexOutOfRange { .. }), None) => {}
            (got, _) => panic!("{what}, {level}: {}", if got.is_ok() { "values" } else { "another error" }),
        }
        ran += 1;
    }
    ran
}

/// Data whose elements are all different, except for the element at 0.
fn numbers<T: Element>(count: usize, number: impl Fn(usize) -> T) -> Vec<T> {
    (0..count).map(number).collect()
}

/// What `at` gives for each of `count` coordinates; `None` where one has no position and the policy is an error.
fn collected<T: Element>(count: usize, policy: OutOfBounds, at: impl Fn(usize) -> Option<T>) -> Option<Vec<T>> {
    let filled = |k| at(k).or((policy == OutOfBounds::Zero).then_some(T::ZERO));
    (0..count).map(filled).collect()
}

/// Every axis, policy and place, with elements of one type, and with rows of three of them.
fn elements_of<T: Element + PartialEq>(number: impl Fn(usize) -> T) -> usize {
    let mut ran = 0;
    let data = numbers(LEN, &number);
    let tensor = View::new(&data, &SHAPE).unwrap();
    for (axis, policy, place) in [0, 1]
        .into_iter()
        .flat_map(|axis| POLICIES.iter().map(move |&policy| (axis, policy)))
        .flat_map(|(axis, policy)| {
            let places = core::iter::once(None).chain(PLACES.map(Some));
            places.map(move |place| (axis, policy, place))
        })
    {
        let dim = SHAPE[axis];
        for index in [-1, -(dim as i64) - 1, dim as i64, i64::MIN, 1 << 32] {
            let mut list: Vec<i64> = (0..LEN).map(|at| (mixed(11, at) % dim as u64) as i64).collect();
            if let Some(place) = place {
                list[place] = index;
            }
            let what = format!("axis {axis}, {policy:?}, {index} at {place:?}, {} bytes", size_of::<T>());
            let expected = collected(LEN, policy, |at| {
                let (row, column) = (at / SHAPE[1], at % SHAPE[1]);
                let position = position(list[at], dim, policy)?;
                Some(data[if axis == 0 { position * SHAPE[1] + column } else { row * SHAPE[1] + position }])
            });
            let op = GatherElements::new(axis as i64).out_of_bounds(policy);
            ran += check(&op, &tensor, &View::new(&list, &SHAPE).unwrap(), expected.as_deref(), &what);

            // Single elements, and rows of three.
            let few = &list[..SHAPE[1] + 100];
            let indices = View::new(few, &[few.len()]).unwrap();
            let op = Gather::new(0).out_of_bounds(policy);
            let expected = collected(few.len(), policy, |at| position(few[at], dim, policy).map(|at| data[at]));
            ran += check(&op, &View::new(&data[..dim], &[dim]).unwrap(), &indices, expected.as_deref(), &what);
            let expected = collected(few.len() * 3, policy, |at| {
                position(few[at / 3], dim, policy).map(|position| data[position * 3 + at % 3])
            });
            ran += check(&op, &View::new(&data[..dim * 3], &[dim, 3]).unwrap(), &indices, expected.as_deref(), &what);
        }
    }
    ran
}

#[test]
fn one_index_that_is_no_position() {
    let ran = elements_of(|at| at as u32) + elements_of(|at| at as u64 * 0x1_0000_0001) + elements_of(|at| at as f32);
    let gathers = levels().filter(|level| level.to_string().starts_with("avx")).count();
    assert!(ran > 0 || gathers == 0, "no level has gathered");
}
