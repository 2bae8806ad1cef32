//! In place, every index is checked before the first write: blocks of valid indices in one way, and those
//! in which an index is negative or out of range in another. So one index is changed, at every place where a block, a
//! chunk or a round can begin or end.

use gather_core::{Error, Index, Method, Reduction, ScatterAttributes, ScatterElements, ScatterNd, ScatterOperator};
use gather_core::{Par, ScatterOutOfBounds, View, ViewMut};

use crate::support::{levels, mixed};

const LEN: usize = 1400;
const DIM: usize = 300;
/// Enough data to be prefetched.
const FAR_DIM: usize = 300_000;
const PLACES: [usize; 12] = [0, 1, 15, 16, 31, 127, 128, 511, 512, 640, 1279, LEN - 1];
const METHODS: [Option<Method>; 7] = [
    None,
    Some(Method::Blocks),
    Some(Method::Chunks),
    Some(Method::Prefetched),
    Some(Method::Direct),
    Some(Method::Grouped),
    Some(Method::Accumulated),
];

/// What the plain loop makes of zeros; `None` where an index is out of range and that is an error.
fn expected(list: &[i128], dim: usize, row: usize, drops: bool) -> Option<Vec<i32>> {
    let mut out = vec![0; dim * row];
    for (at, &index) in list.iter().enumerate() {
        let position = if index < 0 { index + dim as i128 } else { index };
        match usize::try_from(position).ok().filter(|&position| position < dim) {
            Some(position) => (0..row).for_each(|k| out[position * row + k] += (at * row + k) as i32),
            None if drops => {}
            None => return None,
        }
    }
    Some(out)
}

fn check<I: Index + TryFrom<i128>, A: ScatterAttributes + Clone>(
    op: &ScatterOperator<A>,
    list: &[i128],
    (dim, row): (usize, usize),
    index_shape: &[usize],
) {
    let Some(indices) = list.iter().map(|&index| I::try_from(index).ok()).collect::<Option<Vec<I>>>() else {
        return;
    };
    let updates: Vec<i32> = (0..(list.len() * row) as i32).collect();
    let (shape, update_shape) = if row == 1 { (&[dim][..], &[LEN][..]) } else { (&[dim, row][..], &[LEN, row][..]) };
    let indices = View::new(&indices, index_shape).unwrap();
    let updates = View::new(&updates, update_shape).unwrap();
    for drops in [false, true] {
        let policy = if drops { ScatterOutOfBounds::Drop } else { ScatterOutOfBounds::Error };
        let expected = expected(list, dim, row, drops);
        for (method, level) in METHODS.iter().flat_map(|&method| levels().map(move |level| (method, level))) {
            let op = op.clone().out_of_bounds(policy).level(level);
            let op = method.map_or(op.clone(), |method| op.method(method));
            let mut out = vec![0; dim * row];
            let ran = op.run_on(&mut ViewMut::new(&mut out, shape).unwrap(), &indices, &updates);
            let what = || format!("{method:?}, {level:?}, {policy:?}, {}", core::any::type_name::<I>());
            match (ran, &expected) {
                (Ok(()), Some(expected)) => assert!(out == *expected, "{}", what()),
                (Err(Error::IndexOutOfRange { .. }), None) => assert!(out.iter().all(|&x| x == 0), "{}", what()),
                (got, _) => panic!("{got:?}: {}", what()),
            }
        }
    }
}

fn every_index_type<A: ScatterAttributes + Clone>(
    op: &ScatterOperator<A>,
    list: &[i128],
    sizes: (usize, usize),
    index_shape: &[usize],
) {
    check::<i64, A>(op, list, sizes, index_shape);
    check::<u64, A>(op, list, sizes, index_shape);
    check::<i32, A>(op, list, sizes, index_shape);
    check::<u32, A>(op, list, sizes, index_shape);
    check::<i16, A>(op, list, sizes, index_shape);
}

#[test]
fn one_index_that_is_no_position() {
    for (dim, row) in [(DIM, 1), (FAR_DIM, 1), (DIM, 5)] {
        let plain: Vec<i128> = (0..LEN).map(|at| i128::from(mixed(7, at) % dim as u64)).collect();
        let run = |list: &[i128]| match row {
            1 => every_index_type(&ScatterElements::new(0).reduction(Reduction::Add), list, (dim, row), &[LEN]),
            _ => every_index_type(&ScatterNd::new().reduction(Reduction::Add), list, (dim, row), &[LEN, 1]),
        };
        run(&plain);
        let last = dim as i128 - 1;
        for (k, &place) in PLACES.iter().enumerate() {
            // In range from the end, and one too far each way; what is in range except for its upper half; all bits.
            let others = [-1, -1 - last, -2 - last, last + 1, 1 << 32, (1 << 32) + last, i128::from(u64::MAX)];
            for (which, index) in others.into_iter().enumerate() {
                // Destinations far apart take time: one place of each is enough.
                if dim != FAR_DIM || which == k % others.len() {
                    let mut list = plain.clone();
                    list[place] = index;
                    run(&list);
                }
            }
        }
    }
}

/// Tuples of a view of `memory`, whose shape and strides are given, into zeros of `[300, 300]` in place: the sums, or
/// zeros where an index is out of range.
fn tuples(memory: &[i64], shape: [usize; 3], strides: [isize; 3], is_valid: bool) {
    let indices = View::strided(memory, &shape, &strides, 0).unwrap();
    let n = shape[0] * shape[1];
    let updates: Vec<i32> = (1..=n as i32).collect();
    let updates = View::new(&updates, &shape[..2]).unwrap();
    let mut expected = vec![0; 300 * 300];
    for at in (0..n).filter(|_| is_valid) {
        let first = (at / shape[1]) as isize * strides[0] + (at % shape[1]) as isize * strides[1];
        let [row, column] = [first, first + strides[2]].map(|place| memory[place as usize] as usize);
        expected[row * 300 + column] += at as i32 + 1;
    }
    for level in levels() {
        let mut out = vec![0; 300 * 300];
        let op = ScatterNd::new().reduction(Reduction::Add).level(level);
        let ran = op.run_on(&mut ViewMut::new(&mut out, &[300, 300]).unwrap(), &indices, &updates);
        assert!(matches!(ran, Ok(()) | Err(Error::IndexOutOfRange { .. })) && ran.is_ok() == is_valid, "{ran:?}");
        assert!(out == expected, "{level:?}, {shape:?} by {strides:?}");
    }
}

/// What is read beside the tuples of a view would be out of range: between them, and behind the last.
#[test]
fn tuples_of_views_with_gaps_and_overlaps() {
    // 8 columns of 10.
    let (shape, strides) = ([1000, 8, 2], [20, 2, 1]);
    let place = |at: usize| (at / 20, at % 20);
    let inside = |at: usize| if place(at).1 < 16 { (mixed(5, at) % 300) as i64 } else { i64::MAX };
    let mut memory: Vec<i64> = (0..20_000).map(inside).collect();
    tuples(&memory, shape, strides, true);
    for last in [0, 14, 15, 19_994, 19_995] {
        let kept = core::mem::replace(&mut memory[last], 300);
        tuples(&memory, shape, strides, place(last).1 >= 16);
        memory[last] = kept;
    }
    // Each tuple begins one index after another one.
    let memory: Vec<i64> = (0..400).map(|at| if at < 199 { (mixed(6, at) % 300) as i64 } else { i64::MAX }).collect();
    for (shape, strides) in [([100, 50, 2], [1, 2, 1]), ([50, 100, 2], [2, 1, 1]), ([10, 50, 2], [1, 2, 1])] {
        tuples(&memory[..199], shape, strides, true);
    }
}

/// Indices and data of a scatter along each of two axes: more columns than a chunk has rows, and more than one row.
const SHAPE: [usize; 2] = [40, 150];

/// What the plain loop makes of data along an axis; `None` where an index is out of range and that is an error.
fn expected_along(axis: usize, list: &[i64], data: &[i32], adds: bool, drops: bool) -> Option<Vec<i32>> {
    let ([_, columns], mut out) = (SHAPE, data.to_vec());
    for (at, &index) in list.iter().enumerate() {
        let dim = SHAPE[axis] as i64;
        let position = if index < 0 { index + dim } else { index };
        if !(0..dim).contains(&position) {
            if drops {
                continue;
            }
            return None;
        }
        let (row, column) = (at / columns, at % columns);
        let to = if axis == 0 { position as usize * columns + column } else { row * columns + position as usize };
        out[to] = if adds { out[to] + at as i32 } else { at as i32 };
    }
    Some(out)
}

#[test]
fn one_index_that_is_no_position_in_one_of_many_rows() {
    let len = SHAPE[0] * SHAPE[1];
    let (data, updates): (Vec<i32>, Vec<i32>) = ((0..len as i32).map(|x| -x).collect(), (0..len as i32).collect());
    for axis in [0, 1] {
        let dim = SHAPE[axis];
        let plain: Vec<i64> = (0..len).map(|at| (mixed(9, at) % dim as u64) as i64).collect();
        // All are positions; one in the first row is not, in the second at both ends and between, in the last.
        let places = [None, Some(3), Some(SHAPE[1]), Some(SHAPE[1] + 130), Some(2 * SHAPE[1] - 1), Some(len - 1)];
        for (place, index) in places.into_iter().flat_map(|place| [-1, dim as i64, 1 << 32].map(|x| (place, x))) {
            let mut list = plain.clone();
            if let Some(place) = place {
                list[place] = index;
            }
            for (reduction, policy) in [
                (Reduction::Add, ScatterOutOfBounds::Error),
                (Reduction::Add, ScatterOutOfBounds::Drop),
                (Reduction::None, ScatterOutOfBounds::Error),
                (Reduction::None, ScatterOutOfBounds::Drop),
            ] {
                let (adds, drops) = (reduction == Reduction::Add, policy == ScatterOutOfBounds::Drop);
                let expected = expected_along(axis, &list, &data, adds, drops);
                let op = ScatterElements::new(axis as i64).reduction(reduction).out_of_bounds(policy);
                every_way(&op, (axis, adds), [&data, &updates], &list, expected.as_deref());
            }
        }
    }
}

/// Runs an operator by every method and level, with one thread and with several, in place and not.
fn every_way<A: ScatterAttributes + Clone + Send + Sync>(
    op: &ScatterOperator<A>,
    (axis, reduces): (usize, bool),
    [data, updates]: [&[i32]; 2],
    indices: &[i64],
    expected: Option<&[i32]>,
) {
    let (tensor, updates) = (View::new(data, &SHAPE).unwrap(), View::new(updates, &SHAPE).unwrap());
    let indices = View::new(indices, &SHAPE).unwrap();
    let methods = METHODS.into_iter().chain((axis == 0).then_some(Some(Method::Panels)));
    let methods = methods.filter(|method| reduces || *method != Some(Method::Accumulated));
    for (method, level) in methods.flat_map(|method| levels().map(move |level| (method, level))) {
        for par in [Par::Seq, Par::Threads(3)] {
            let op = op.clone().level(level).par(par);
            let op = method.map_or(op.clone(), |method| op.method(method));
            let what = format!("axis {axis}, {method:?}, {level:?}, {par:?}");
            let mut out = data.to_vec();
            let ran = op.run_on(&mut ViewMut::new(&mut out, &SHAPE).unwrap(), &indices, &updates);
            match (ran, op.run(&tensor, &indices, &updates), expected) {
                (Ok(()), Ok(fresh), Some(expected)) => {
                    assert!(out == expected && fresh.as_slice() == expected, "{what}")
                }
                (Err(Error::IndexOutOfRange { .. }), Err(Error::IndexOutOfRange { .. }), None) => {
                    assert_eq!(out, data, "{what}");
                }
                (on, fresh, _) => panic!("{on:?}, {fresh:?}: {what}"),
            }
        }
    }
}

/// The loops that check indices have another one inside than those that reduce, on an axis beyond 32 bits.
#[test]
#[cfg(target_pointer_width = "64")]
fn indices_in_another_order_along_a_long_axis() {
    let (dim, rows) = ((1usize << 31) + 8, 1000);
    // The system gives what is not written no memory.
    let mut data = vec![0u8; 2 * dim];
    let updates = vec![1u8; 2 * rows];
    let updates = View::new(&updates, &[2, rows]).unwrap().permuted(&[1, 0]).unwrap();
    let mut indices: Vec<i64> = (0..2 * rows as i64).map(|at| (1 << 31) + at % 8 - 16 * (at % 3)).collect();
    for level in levels() {
        for is_valid in [true, false] {
            indices[1357] = if is_valid { 5 } else { 1 << 40 };
            let indices = View::new(&indices, &[rows, 2]).unwrap();
            let add = ScatterElements::new(0).reduction(Reduction::Add).level(level);
            let add = add.out_of_bounds(ScatterOutOfBounds::Error);
            let ran = add.run_on(&mut ViewMut::new(&mut data, &[dim, 2]).unwrap(), &indices, &updates);
            let touched = |index: i64, column: usize| data[2 * index as usize + column];
            let sum: usize =
                ((1 << 31) - 64..dim as i64).map(|at| usize::from(touched(at, 0)) + usize::from(touched(at, 1))).sum();
            match ran {
                Ok(()) if is_valid => assert_eq!((sum % 256, touched(5, 1)), ((2 * rows - 1) % 256, 1), "{level:?}"),
                Err(Error::IndexOutOfRange { .. }) if !is_valid => {
                    assert_eq!((sum, touched(5, 1)), (0, 0), "{level:?}")
                }
                got => panic!("{got:?}: {level:?}, {is_valid}"),
            }
            data[2 * ((1 << 31) - 64)..].fill(0);
            data[11] = 0;
        }
    }
}
