//! One update for all indices, and updates that lie apart: in histograms there is no vector of ones. With every index
//! type, at every level, by every method, with indices that are negative or out of range, under each policy.

use gather_core::{Error, Index, Method, Reduction, ScatterElements, ScatterNd, View, ViewMut};
use gather_tests::oracle::{self, Dense};

use super::{policies, under};
use crate::support::{available_levels, mixed, same};

const LEN: usize = 700;
const METHODS: [Option<Method>; 5] =
    [None, Some(Method::Direct), Some(Method::Blocks), Some(Method::Chunks), Some(Method::Prefetched)];

/// Indices from `low` up to but not including `high`; a place among them may hold another.
fn list<I: Index + TryFrom<i128>>(low: i128, high: i128, odd: Option<(usize, i128)>) -> Option<Vec<I>> {
    let mut all: Vec<i128> = (0..LEN).map(|at| low + i128::from(mixed(9, at)).rem_euclid(high - low)).collect();
    if let Some((place, index)) = odd {
        all[place] = index;
    }
    all.into_iter().map(|index| I::try_from(index).ok()).collect()
}

fn check<I: Index + TryFrom<i128> + Into<i128>>(dim: usize, indices: &[I], reduction: Reduction, step: usize) {
    let wide = Dense::from_fn(&[LEN], |at| indices[at].into());
    let given: Vec<u32> = (0..=(LEN - 1) * step).map(|at| at as u32 * 3 + 1).collect();
    let updates = Dense::from_fn(&[LEN], |at| given[at * step]);
    let data = Dense::from_fn(&[dim], |at| at as u32 * 7);
    let combine = |kept: &u32, new: &u32| match reduction {
        Reduction::Add => kept.wrapping_add(*new),
        Reduction::Max => *kept.max(new),
        _ => *new,
    };
    let a = View::new(&data.values, &[dim]).unwrap();
    let i = View::new(indices, &[LEN]).unwrap();
    let u = View::strided(&given, &[LEN], &[step as isize], 0).unwrap();
    for policy in policies() {
        let expected = oracle::scatter_elements(&data, &wide, &updates, 0, policy.2, |kept, new| combine(kept, new));
        let op = under(ScatterElements::new(0).reduction(reduction), policy);
        let nd = under(ScatterNd::new().reduction(reduction), policy);
        let tuples = View::new(indices, &[LEN, 1]).unwrap();
        for level in available_levels() {
            for method in METHODS {
                let what = || format!("{reduction} by {} at {level}, {method:?}, {policy:?}", I::TYPE);
                let (op, nd) = (op.clone().level(level), nd.clone().level(level));
                let (op, nd) = match method {
                    Some(method) => (op.method(method), nd.method(method)),
                    None => (op, nd),
                };
                same(&expected, op.run(&a, &i, &u), what);
                let mut out = data.values.clone();
                let ran = nd.run_on(&mut ViewMut::new(&mut out, &[dim]).unwrap(), &tuples, &u);
                match (ran, &expected) {
                    (Ok(()), Ok(expected)) => assert_eq!(out, expected.values, "{}", what()),
                    (Err(Error::IndexOutOfRange { .. }), Err(_)) => assert_eq!(out, data.values, "{}", what()),
                    (got, _) => panic!("{got:?}: {}", what()),
                }
            }
        }
    }
}

fn of_type<I: Index + TryFrom<i128> + Into<i128>>() {
    for dim in [5usize, 128, 129, 256] {
        let n = dim as i128;
        let odds = [-1, -n, -n - 1, n, n + 1, 127, -128, 255];
        let odd = odds.into_iter().flat_map(|odd| [0, 15, 16, 640, LEN - 1].map(|place| Some((place, odd))));
        // What the type can say of the axis.
        let high = n.min(I::try_from(n - 1).map_or(128, |_| n));
        let lists = core::iter::once(None).chain(odd).filter_map(|odd| list::<I>(0, high, odd));
        for (turn, indices) in lists.enumerate() {
            let reduction = [Reduction::Add, Reduction::Add, Reduction::Max, Reduction::None][turn % 4];
            check(dim, &indices, reduction, [0, 3, 0, 0, 1][turn % 5]);
        }
        if let Some(indices) = list::<I>(-n.min(128), high, None) {
            check(dim, &indices, Reduction::Add, 0);
        }
    }
}

macro_rules! each_type {
    ($($ty:ident)*) => {$(
        #[test]
        fn $ty() {
            of_type::<core::primitive::$ty>();
        }
    )*};
}
each_type!(i8 i16 i32 i64 u8 u16 u32 u64);
