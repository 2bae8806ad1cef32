//! Every small shape against the oracle, by every door and method.

use gather_core::{
    DynView, Error, Method, Reduction, ScatterAttributes, ScatterElements, ScatterNd, ScatterOperator, Tensor,
};
use gather_tests::oracle::{self, BadIndex, Dense};

use super::{policies, under};
use crate::support::{Spread, narrow, same, view};

/// Every shape of a rank with dimensions up to `max`.
fn shapes(rank: u32, max: usize) -> impl Iterator<Item = Vec<usize>> {
    (0..(max + 1).pow(rank)).map(move |code| (0..rank).map(|d| code / (max + 1).pow(d) % (max + 1)).collect())
}

fn numbered(shape: &[usize], first: u16) -> Dense<u16> {
    Dense::from_fn(shape, |at| (at as u16).wrapping_mul(0x9e37).wrapping_add(first))
}

/// Indices around an axis; only those in range when `tame`.
fn indices(shape: &[usize], dim: usize, seed: usize, tame: bool) -> Dense<i128> {
    let n = dim as i128;
    let (low, count) = if tame && n > 0 { (-n, 2 * n) } else { (-n - 2, 2 * n + 4) };
    Dense::from_fn(shape, |at| low + ((at * 7 + seed) as i128) % count)
}

/// The reductions that `u16` has one after the other.
const REDUCTIONS: [Reduction; 6] =
    [Reduction::None, Reduction::Add, Reduction::Sub, Reduction::Mul, Reduction::Min, Reduction::Max];

fn combine(reduction: Reduction, kept: u16, new: u16) -> u16 {
    match reduction {
        Reduction::None => new,
        Reduction::Add => kept.wrapping_add(new),
        Reduction::Sub => kept.wrapping_sub(new),
        Reduction::Mul => kept.wrapping_mul(new),
        Reduction::Min => kept.min(new),
        _ => kept.max(new),
    }
}

/// Runs an operator through all doors and by all methods.
fn check<A: ScatterAttributes + Clone + std::fmt::Debug>(
    op: &ScatterOperator<A>,
    data: &Dense<u16>,
    indices: &Dense<i128>,
    updates: &Dense<u16>,
    expected: &Result<Dense<u16>, BadIndex>,
) {
    let what = || format!("{op:?} {:?} {indices:?}", data.shape);
    let same = |got: Result<Tensor<u16>, Error>, door: &str| same(expected, got, || format!("{door}: {}", what()));
    let list = narrow::<i32>(indices);
    let (a, i, u) = (view(data), view(&list), view(updates));
    same(op.run(&a, &i, &u), "fresh");
    for method in [Method::Direct, Method::Blocks, Method::Prefetched, Method::Grouped] {
        same(op.clone().method(method).run(&a, &i, &u), method.name());
    }
    for method in [Method::Panels, Method::Chunks, Method::Accumulated] {
        match op.clone().method(method).run(&a, &i, &u) {
            Err(Error::MethodUnavailable { .. }) => {}
            got => same(got, method.name()),
        }
    }
    let (spread_list, spread_updates) = (Spread::new(&list), Spread::new(updates));
    let mut out = Tensor::new(data.values.clone(), &data.shape).unwrap();
    let ran = op.run_on(&mut out.view_mut(), &spread_list.view(), &spread_updates.view());
    assert!(ran.is_ok() || out.as_slice() == data.values, "changed before an error: {}", what());
    same(ran.map(|()| out), "in place");
    let ran = op.run(&DynView::from(&a), &DynView::from(&i), &DynView::from(&u));
    same(ran.map(|out| out.downcast().unwrap()), "dyn");
    if op.get_reduction() == Reduction::None {
        same(op.run_cloned(&a, &i, &u), "cloned");
    }
}

#[test]
fn scatter_elements_of_every_small_shape() {
    let mut turn = 0;
    for (rank, max) in [(1, 3), (2, 3), (3, 2), (4, 1)] {
        for shape in shapes(rank, max) {
            let data = numbered(&shape, 1);
            for axis in 0..shape.len() {
                for (trim, along) in [(0, 3), (1, 2), (0, 0), (0, 9)] {
                    let mut index_shape: Vec<usize> = shape.iter().map(|&dim| dim.saturating_sub(trim)).collect();
                    index_shape[axis] = along;
                    let updates = numbered(&index_shape, 77);
                    for (seed, policy) in policies().enumerate() {
                        let reduction = REDUCTIONS[turn % REDUCTIONS.len()];
                        turn += 1;
                        let indices = indices(&index_shape, shape[axis], seed, turn % 2 == 0);
                        let expected =
                            oracle::scatter_elements(&data, &indices, &updates, axis, policy.2, |&kept, &new| {
                                combine(reduction, kept, new)
                            });
                        let op = under(ScatterElements::new(axis as i64).reduction(reduction), policy);
                        check(&op, &data, &indices, &updates, &expected);
                    }
                }
            }
        }
    }
}

#[test]
fn scatter_nd_of_every_small_shape() {
    let mut turn = 0;
    for (rank, max) in [(1, 3), (2, 3), (3, 2), (4, 1)] {
        for shape in shapes(rank, max) {
            let data = numbered(&shape, 1);
            for batch in 0..shape.len() {
                for tuple in 0..=shape.len() - batch {
                    for outer in [vec![], vec![0], vec![4], vec![2, 3]] {
                        let index_shape = [&shape[..batch], &outer[..], &[tuple]].concat();
                        let updates = [&shape[..batch], &outer[..], &shape[batch + tuple..]].concat();
                        let updates = numbered(&updates, 77);
                        for (seed, policy) in policies().enumerate() {
                            let reduction = REDUCTIONS[turn % REDUCTIONS.len()];
                            turn += 1;
                            let tame = turn % 2 == 0;
                            let sizes = shape[batch..batch + tuple].iter().copied();
                            let dim = if tame { sizes.min() } else { sizes.max() }.unwrap_or(0);
                            let indices = indices(&index_shape, dim, seed, tame);
                            let expected =
                                oracle::scatter_nd(&data, &indices, &updates, batch, policy.2, |&kept, &new| {
                                    combine(reduction, kept, new)
                                });
                            let op = ScatterNd::new().batch_dims(batch as i64).reduction(reduction);
                            check(&under(op, policy), &data, &indices, &updates, &expected);
                        }
                    }
                }
            }
        }
    }
}
