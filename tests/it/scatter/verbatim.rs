//! Indices that are positions as they stand are taken from where they lie, block by block, up to the first that is none.
//! So one index is changed, at every place where a block, a chunk or a round can begin or end.

use gather_core::{Error, Index, Method, Reduction, ScatterAttributes, ScatterElements, ScatterNd, ScatterOperator};
use gather_core::{Level, ScatterOutOfBounds, View, ViewMut};

use crate::support::mixed;

const LEN: usize = 1400;
const DIM: usize = 300;
/// Enough data to be asked for ahead.
const FAR_DIM: usize = 300_000;
const PLACES: [usize; 9] = [0, 1, 127, 128, 511, 512, 640, 1279, LEN - 1];
const METHODS: [Option<Method>; 6] = [
    None,
    Some(Method::Blocks),
    Some(Method::Chunks),
    Some(Method::Prefetched),
    Some(Method::Direct),
    Some(Method::Grouped),
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
        let levels = || Level::ALL.iter().copied().filter(|level| level.is_available());
        for (method, level) in METHODS.iter().flat_map(|&method| levels().map(move |level| (method, level))) {
            let op = op.clone().out_of_bounds(policy).level(level);
            let op = method.map_or(op.clone(), |method| op.method(method));
            let mut out = vec![0; dim * row];
            let ran = op.run_on(&mut ViewMut::new(&mut out, shape).unwrap(), &indices, &updates);
            let what = || format!("{method:?}, {level:?}, {policy:?}, {}", core::any::type_name::<I>());
            match (ran, &expected) {
                (Err(Error::MethodUnavailable { .. }), _) if method.is_some() => {}
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
            // In range from the end, and one too far each way; what is in range but for its upper half.
            for (which, index) in
                [-1, -1 - last, last, -2 - last, last + 1, 1 << 32, i128::from(u64::MAX)].into_iter().enumerate()
            {
                // Destinations far apart take time: one place of each is enough.
                if dim != FAR_DIM || which == k % 7 {
                    let mut list = plain.clone();
                    list[place] = index;
                    run(&list);
                }
            }
        }
    }
}
