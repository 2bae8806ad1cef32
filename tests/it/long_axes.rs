//! Axes around and beyond 32 bits by every index type, at every level and under every policy: what no dense reference
//! holds is compared with the formulas of the policies.
//!
//! Unsigned indices beyond the signed ones of their width are positions here, and never count from the end.

#![cfg(target_pointer_width = "64")]

use gather_core::{Element, Error, Gather, GatherNd, Index, NegativeIndex, Op, OutOfBounds, View};

use crate::support::{RULES, levels};

/// Rows of one call: one pass, a block and more, what is gathered.
const COUNTS: [usize; 3] = [5, 64, 700];

/// The position of an index, by the formulas.
fn position(negative: NegativeIndex, out_of_bounds: OutOfBounds, index: i128, dim: i128) -> Option<i128> {
    let counted = if index < 0 && negative == NegativeIndex::FromEnd { index + dim } else { index };
    match out_of_bounds {
        OutOfBounds::Clamp => Some(counted.clamp(0, dim - 1)),
        OutOfBounds::Wrap => Some(index.rem_euclid(dim)),
        _ => (0..dim).contains(&counted).then_some(counted),
    }
}

/// Values of the type around what a signed type of 32 or of 64 bits ends at, and around the axis.
fn edges<I: Index + TryFrom<i128>>(dim: i128) -> Vec<i128> {
    let around = [0, dim, -dim, 1 << 31, -(1 << 31), 1 << 32, 1 << 33, 1 << 63, -(1 << 63), 1 << 64];
    let near = around.into_iter().flat_map(|edge| (-1..=1).map(move |by| edge + by));
    near.filter(|&value| I::try_from(value).is_ok()).collect()
}

/// One edge value among indices in range, or only edge values: which are errors and where, and what of each row is
/// given in place of one that is out of range. `value` is the element at a position.
fn by<T: Element + Copy + PartialEq + std::fmt::Debug, I: Index + TryFrom<i128>>(
    data: &View<'_, T>,
    at_index: impl Fn(i128) -> Vec<T>,
) {
    let (dim, row) = (data.shape()[0] as i128, data.shape()[1..].iter().product::<usize>());
    let to = |value: i128| I::try_from(value).ok().unwrap();
    let edges = edges::<I>(dim);
    for (count, &edge) in COUNTS.iter().flat_map(|&count| edges.iter().map(move |edge| (count, edge))) {
        let values: Vec<i128> =
            (0..count).map(|at| if at % 7 == count.min(5) - 1 { edge } else { at as i128 % 3 }).collect();
        let ids: Vec<I> = values.iter().map(|&value| to(value)).collect();
        let ids = View::new(&ids, &[count]).unwrap();
        for (level, (negative, out_of_bounds, _)) in levels().flat_map(|level| RULES.map(|rule| (level, rule))) {
            let what = || format!("{} {edge} of {dim}, {count} rows, {negative:?} {out_of_bounds:?} {level}", I::TYPE);
            let op = Gather::new(0).negative_index(negative).out_of_bounds(out_of_bounds).level(level);
            let positions = values.iter().map(|&value| position(negative, out_of_bounds, value, dim));
            let got = op.run(data, &ids);
            match positions.clone().position(|position| position.is_none()) {
                Some(first) if out_of_bounds == OutOfBounds::Error => {
                    let (dim, index) = (dim as usize, values[first]);
                    let expected =
                        Error::IndexOutOfRange { op: Op::Gather, position: first, index, axis: 0, dim, negative };
                    assert_eq!(got.map(|_| ()), Err(expected.clone()), "{}", what());
                    assert!(expected.to_string().contains(&index.to_string()), "{expected}");
                }
                _ => {
                    let zeros = || vec![T::ZERO; row];
                    let expected: Vec<T> =
                        positions.flat_map(|position| position.map_or_else(zeros, &at_index)).collect();
                    assert_eq!(got.unwrap().as_slice(), expected, "{}", what());
                }
            }
        }
    }
}

macro_rules! by_every_type {
    ($data:expr, $at_index:expr) => {
        by_every_type!($data, $at_index; i8 u8 i16 u16 i32 u32 i64 u64 isize usize)
    };
    ($data:expr, $at_index:expr; $($I:ty)*) => {
        $(by::<_, $I>($data, $at_index);)*
    };
}

/// Repeated rows: 2^33 of them, and as many as 31 and 32 bits end at.
#[test]
fn repeated_rows_of_long_axes() {
    for dim in [(1 << 31) - 1, 1 << 31, 1 << 32, 1 << 33] {
        by_every_type!(&View::strided(&[7u8], &[dim], &[0], 0).unwrap(), |_| vec![7]; u8 i16 i32 u32 i64 u64);
        by_every_type!(&View::strided(&[7u32], &[dim], &[0], 0).unwrap(), |_| vec![7]);
        by_every_type!(&View::strided(&[7u64], &[dim], &[0], 0).unwrap(), |_| vec![7]; i8 u32 i64 u64);
        by_every_type!(&View::strided(&[7u32, 8, 9], &[dim, 3], &[0, 1], 0).unwrap(), |_| vec![7, 8, 9]; u16 i32 u32 u64);
        by_every_type!(&View::strided(&[7u16; 40], &[dim, 40], &[0, 1], 0).unwrap(), |_| vec![7; 40]; u8 u32 i64 u64);
    }
}

/// Bytes that are told apart by their place: only those that are looked at take memory.
#[test]
#[cfg(target_os = "linux")]
#[cfg_attr(miri, ignore = "takes 2 GiB of addresses")]
fn rows_of_long_axes_are_told_apart() {
    let most = (1 << 31) + 8;
    let mut bytes = vec![0u8; most];
    for dim in [(1 << 31) - 1, 1 << 31, most] {
        let last = dim - 1;
        let wrapped =
            [u128::from(u32::MAX), u128::from(u64::MAX), 1 << 31, 1 << 63].map(|x| (x % dim as u128) as usize);
        for (number, at) in [0, 1, 2, last, last - 1, last / 2].into_iter().chain(wrapped).enumerate() {
            bytes[at] = number as u8 + 1;
        }
        let data = View::new(&bytes[..dim], &[dim]).unwrap();
        by_every_type!(&data, |position| vec![bytes[position as usize]]; u8 i32 u32 i64 u64);
    }
}

/// Tuples, each component of which has an axis of its own.
#[test]
fn tuples_along_long_axes() {
    fn check<I: Index + TryFrom<i128>>(long: usize) {
        let data = View::strided(&[1u32, 2, 3], &[long, 3], &[0, 1], 0).unwrap();
        let to = |value: i128| I::try_from(value).ok().unwrap();
        let (first, second) = (edges::<I>(long as i128), edges::<I>(3));
        for ((at, &a), &b) in first.iter().enumerate().flat_map(|a| second.iter().map(move |b| (a, b))) {
            let count = COUNTS[at % COUNTS.len()];
            let ids = [to(a), to(b)].repeat(count);
            let ids = View::new(&ids, &[count, 2]).unwrap();
            for (level, (negative, out_of_bounds, _)) in levels().flat_map(|level| RULES.map(|rule| (level, rule))) {
                let what = || format!("{} ({a}, {b}) of {long}, {negative:?} {out_of_bounds:?} {level}", I::TYPE);
                let op = GatherNd::new().negative_index(negative).out_of_bounds(out_of_bounds).level(level);
                let [first, second] =
                    [(a, long as i128), (b, 3)].map(|(index, dim)| position(negative, out_of_bounds, index, dim));
                let got = op.run(&data, &ids);
                match (first, second) {
                    (Some(_), Some(at)) => {
                        assert_eq!(got.unwrap().as_slice(), vec![at as u32 + 1; count], "{}", what());
                    }
                    _ if out_of_bounds == OutOfBounds::Error => {
                        let (position, index) = if first.is_none() { (0, a) } else { (1, b) };
                        let (axis, dim) = (position, [long, 3][position]);
                        let expected =
                            Error::IndexOutOfRange { op: Op::GatherNd, position, index, axis, dim, negative };
                        assert_eq!(got.map(|_| ()), Err(expected), "{}", what());
                    }
                    _ => assert_eq!(got.unwrap().as_slice(), vec![0; count], "{}", what()),
                }
            }
        }
    }
    for long in [(1 << 31) - 1, 1 << 31, 1 << 33] {
        check::<u8>(long);
        check::<i16>(long);
        check::<i32>(long);
        check::<u32>(long);
        check::<i64>(long);
        check::<u64>(long);
    }
}
