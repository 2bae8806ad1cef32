//! Compares every small shape, axis, index and policy with the oracle.

mod space;

use gather_core::{Gather, GatherElements, GatherNd};
use gather_tests::oracle::{self, Dense};

use crate::support::{RULES, narrow, same, view};

/// Every shape of a rank with dimensions up to `max`.
fn shapes(rank: u32, max: usize) -> impl Iterator<Item = Vec<usize>> {
    (0..(max + 1).pow(rank)).map(move |mut code| {
        (0..rank)
            .map(|_| {
                let dim = code % (max + 1);
                code /= max + 1;
                dim
            })
            .collect()
    })
}

fn numbered(shape: &[usize]) -> Dense<u16> {
    Dense::from_fn(shape, |at| at as u16 + 1)
}

/// Indices that run through every value from `-(n + 2)` to `n + 1`, starting at a value that depends on `seed`. Only
/// those in range when `tame`.
fn indices(shape: &[usize], dim: usize, seed: usize, tame: bool) -> Dense<i128> {
    let n = dim as i128;
    let (low, count) = if tame && n > 0 { (-n, 2 * n) } else { (-n - 2, 2 * n + 4) };
    Dense::from_fn(shape, |at| low + ((at * 7 + seed) as i128) % count)
}

#[test]
fn gather_of_every_small_shape() {
    for (data_rank, max) in [(1, 3), (2, 3), (3, 2), (4, 2)] {
        for shape in shapes(data_rank, max) {
            let data = numbered(&shape);
            for axis in 0..shape.len() {
                for batch in 0..=axis.min(2) {
                    for index_shape in [vec![], vec![0], vec![1], vec![5], vec![2, 3]] {
                        let index_shape = [&shape[..batch], &index_shape[..]].concat();
                        for (seed, (negative, out, rules)) in RULES.into_iter().enumerate() {
                            for tame in [false, true] {
                                let indices = indices(&index_shape, shape[axis], seed, tame);
                                let expected = oracle::gather(&data, &indices, axis, batch, rules, &0);
                                let op = Gather::new(axis as i64).batch_dims(batch as i64);
                                let op = op.negative_index(negative).out_of_bounds(out);
                                let got = op.run(&view(&data), &view(&narrow::<i32>(&indices)));
                                same(&expected, got, || format!("{op:?} {shape:?} {indices:?}"));
                            }
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn gather_elements_of_every_small_shape() {
    for (rank, max) in [(1, 3), (2, 3), (3, 2), (4, 2)] {
        for shape in shapes(rank, max) {
            let data = numbered(&shape);
            for axis in 0..shape.len() {
                for (trim, along) in [(0, 3), (1, 2), (0, 0), (0, 9)] {
                    let mut index_shape: Vec<usize> = shape.iter().map(|&dim| dim.saturating_sub(trim)).collect();
                    index_shape[axis] = along;
                    for (seed, (negative, out, rules)) in RULES.into_iter().enumerate() {
                        for tame in [false, true] {
                            let indices = indices(&index_shape, shape[axis], seed, tame);
                            let expected = oracle::gather_elements(&data, &indices, axis, rules, &0);
                            let op = GatherElements::new(axis as i64).negative_index(negative).out_of_bounds(out);
                            let got = op.run(&view(&data), &view(&narrow::<i8>(&indices)));
                            same(&expected, got, || format!("{op:?} {shape:?} {indices:?}"));
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn gather_nd_of_every_small_shape() {
    for (rank, max) in [(1, 3), (2, 3), (3, 2), (4, 2)] {
        for shape in shapes(rank, max) {
            let data = numbered(&shape);
            for batch in 0..shape.len() {
                for tuple in 0..=shape.len() - batch {
                    for outer in [vec![], vec![0], vec![4], vec![2, 3]] {
                        let index_shape = [&shape[..batch], &outer[..], &[tuple]].concat();
                        for (seed, (negative, out, rules)) in RULES.into_iter().enumerate() {
                            for tame in [false, true] {
                                let widest = shape[batch..batch + tuple].iter().copied().max().unwrap_or(0);
                                let narrowest = shape[batch..batch + tuple].iter().copied().min().unwrap_or(0);
                                let dim = if tame { narrowest } else { widest };
                                let indices = indices(&index_shape, dim, seed, tame);
                                let expected = oracle::gather_nd(&data, &indices, batch, rules, &0);
                                let op = GatherNd::new().batch_dims(batch as i64);
                                let op = op.negative_index(negative).out_of_bounds(out);
                                let got = op.run(&view(&data), &view(&narrow::<i64>(&indices)));
                                same(&expected, got, || format!("{op:?} {shape:?} {indices:?}"));
                            }
                        }
                    }
                }
            }
        }
    }
}
