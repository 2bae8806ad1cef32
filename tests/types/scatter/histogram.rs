//! One update for all indices, of stride 0 or as often as there are indices: histograms. Elements take it by their
//! indices, which may have 1 and 2 bytes too. Some index types have no value that is out of range of their axis, so
//! that nothing is checked ahead.

use gather_core::{Element, View, ViewMut};
use gather_core::{Error, Index, Method, NegativeIndex, Par, Reduction, ScatterElements, ScatterOutOfBounds};

use crate::support::levels;

const LENS: [usize; 4] = [0, 7, 129, 700];
const DIMS: [usize; 6] = [1, 40, 128, 129, 256, 300];

/// Methods and threads.
const WAYS: [(Option<Method>, Par); 6] = [
    (None, Par::Seq),
    (None, Par::Threads(2)),
    (Some(Method::Blocks), Par::Seq),
    (Some(Method::Chunks), Par::Seq),
    (Some(Method::Prefetched), Par::Seq),
    (Some(Method::Direct), Par::Seq),
];

/// Where an index goes; an error where it is out of range.
fn position(index: i128, dim: usize, negative: NegativeIndex, out: ScatterOutOfBounds) -> Result<Option<usize>, ()> {
    let n = dim as i128;
    let counted = if index < 0 && negative == NegativeIndex::FromEnd { index + n } else { index };
    match out {
        _ if (0..n).contains(&counted) => Ok(Some(counted as usize)),
        ScatterOutOfBounds::Drop => Ok(None),
        ScatterOutOfBounds::Clamp => Ok(Some(counted.clamp(0, n - 1) as usize)),
        ScatterOutOfBounds::Wrap => Ok(Some(index.rem_euclid(n) as usize)),
        _ => Err(()),
    }
}

/// `rows` contiguous histograms of `dim` bins, on every level, by every method, against the plain loop.
fn check<I: Index + TryFrom<i128>, T: Element + Copy + PartialEq>(
    list: &[i128],
    (rows, dim): (usize, usize),
    (reduction, start, update): (Reduction, T, T),
    combine: impl Fn(T, T) -> T,
) {
    let Some(indices) = list.iter().map(|&index| I::try_from(index).ok()).collect::<Option<Vec<I>>>() else {
        return;
    };
    let columns = list.len() / rows;
    let (indices, copies) = (View::new(&indices, &[rows, columns]).unwrap(), vec![update; list.len().max(1)]);
    let one = View::strided(&copies[..1], &[rows, columns], &[0, 0], 0).unwrap();
    let copies = View::new(&copies[..list.len()], &[rows, columns]).unwrap();
    let outs =
        [ScatterOutOfBounds::Error, ScatterOutOfBounds::Drop, ScatterOutOfBounds::Clamp, ScatterOutOfBounds::Wrap];
    for (negative, out) in
        [NegativeIndex::FromEnd, NegativeIndex::Reject].into_iter().flat_map(|n| outs.map(|o| (n, o)))
    {
        let mut expected = Ok(vec![start; rows * dim]);
        for (at, &index) in list.iter().enumerate() {
            match position(index, dim, negative, out) {
                Ok(None) => {}
                Ok(Some(to)) => {
                    let kept = expected.as_mut().map(|bins| &mut bins[at / columns * dim + to]);
                    let _ = kept.map(|kept| *kept = combine(*kept, update));
                }
                Err(()) => expected = Err(()),
            }
        }
        for level in levels() {
            for ((method, par), updates) in WAYS.into_iter().flat_map(|way| [(way, &one), (way, &copies)]) {
                let op = ScatterElements::onnx18(1, reduction).negative_index(negative).out_of_bounds(out);
                let op = op.level(level).par(par);
                let op = method.map_or(op, |method| op.method(method));
                let mut bins = vec![start; rows * dim];
                let ran = op.run_on(&mut ViewMut::new(&mut bins, &[rows, dim]).unwrap(), &indices, updates);
                let what = || format!("{method:?}, {level:?}, {negative:?}, {out:?}, {}", core::any::type_name::<I>());
                match (ran, &expected) {
                    (Ok(()), Ok(expected)) => assert!(bins == *expected, "{}", what()),
                    (Err(Error::IndexOutOfRange { .. }), Err(())) => {
                        assert!(bins.iter().all(|bin| *bin == start), "{}", what());
                    }
                    (got, _) => panic!("{got:?}: {}", what()),
                }
            }
        }
    }
}

fn counts<I: Index + TryFrom<i128>>(list: &[i128], sizes: (usize, usize)) {
    check::<I, u32>(list, sizes, (Reduction::Add, u32::MAX - 2, 1), u32::wrapping_add);
}

fn others<I: Index + TryFrom<i128>>(list: &[i128], sizes: (usize, usize)) {
    check::<I, f32>(list, sizes, (Reduction::Add, -0.0, 0.1), |kept, new| kept + new);
    check::<I, i64>(list, sizes, (Reduction::Mul, 3, -7), i64::wrapping_mul);
    check::<I, u8>(list, sizes, (Reduction::None, 1, 9), |_, new| new);
}

macro_rules! every_index_type {
    ($check:ident, $list:expr, $sizes:expr) => {
        every_index_type!($check, $list, $sizes, i8 u8 i16 u16 i32 u32 i64 u64);
    };
    ($check:ident, $list:expr, $sizes:expr, $($index:ty)*) => {{
        let list: Vec<i128> = $list;
        $($check::<$index>(&list, $sizes);)*
    }};
}

#[test]
fn one_update_goes_to_all_indices() {
    for (dim, len) in DIMS.into_iter().flat_map(|dim| LENS.map(|len| (dim, len))) {
        for most in [dim, dim.min(128)] {
            every_index_type!(counts, (0..len).map(|at| (at * 37 % most) as i128).collect(), (1, dim));
            every_index_type!(others, (0..len).map(|at| (at * 37 % most) as i128).collect(), (1, dim));
        }
    }
    for dim in [100, 200, 256] {
        every_index_type!(counts, (0..600).map(|at| at * 37 % dim as i128).collect(), (3, dim));
    }
}

#[test]
fn one_index_of_all_is_negative_or_out_of_range() {
    for dim in [40, 128, 129, 256] {
        for place in [0, 8, 127, 299] {
            for bad in [-1, -(dim as i128), -(dim as i128) - 1, -128, 127, 255, dim as i128, i128::from(i64::MAX)] {
                let mut list: Vec<i128> = (0..300).map(|at| at * 37 % (dim as i128).min(128)).collect();
                list[place] = bad;
                every_index_type!(counts, list.clone(), (1, dim));
            }
        }
    }
}
