//! Rows whose index is out of range, under `OutOfBounds::Zero`: at every share, size, method and level, and for fills
//! whose bytes differ.

use std::collections::HashSet;
use std::fmt::Debug;

use gather_core::{
    Element, Error, Gather, GatherElements, GatherNd, GatherOperator, Index, IndexAttributes, Layout, Level, Method,
    OutOfBounds, View, ViewMut,
};
use gather_tests::oracle::{self, Dense, Rule, Rules};

use crate::support::{Spread, available_levels, dense, gathers, mixed, narrow, view};

const ZERO: Rules = Rules { from_end: true, out_of_range: Rule::Zero };
/// One index in this number is out of range; 0 stands for no such index.
const SHARES: [u64; 5] = [0, 64, 8, 2, 1];
/// Bytes of a row around those that are moved differently.
const ROWS: [usize; 23] = [1, 2, 3, 4, 5, 7, 8, 12, 16, 20, 31, 32, 33, 48, 63, 64, 65, 100, 128, 256, 300, 1000, 4096];

/// An element whose zero is bytes that differ.
#[derive(Clone, Copy, Debug, PartialEq, Element)]
#[repr(C)]
#[element(zero = Pair { low: 0x12, high: 0xfe })]
struct Pair {
    low: u8,
    high: u8,
}

/// An element whose zero is one repeated byte other than 0.
#[derive(Clone, Copy, Debug, PartialEq, Element)]
#[repr(u8)]
#[element(zero = Off)]
enum Switch {
    Off = 0xa5,
    On = 1,
}

/// Indices from either end of an axis, and at one of `share` places out of range.
fn indices<I: Index>(shape: &[usize], dim: usize, share: u64) -> Dense<i128> {
    let (least, most) = I::TYPE.bounds();
    let dim = dim as i128;
    let bad: Vec<i128> =
        [dim, -dim - 1, most, least, dim + 300].into_iter().filter(|x| (least..=most).contains(x)).collect();
    Dense::from_fn(shape, |at| {
        let random = mixed(7, at);
        if share > 0 && (random >> 40).is_multiple_of(share) {
            return bad[random as usize % bad.len()];
        }
        let position = i128::from(random % dim as u64);
        if least < 0 && random >> 33 & 1 == 1 { position - dim } else { position }
    })
}

/// Runs an operator by every method and at every level, into contiguous memory and with gaps; notes which methods ran.
fn check<T: Element + PartialEq + Debug, I: Index + TryFrom<i128>, A: IndexAttributes + Clone + Debug>(
    op: &GatherOperator<A>,
    data: &View<'_, T>,
    indices: &Dense<i128>,
    expected: &Dense<T>,
    ran: &mut HashSet<(Method, Level)>,
) {
    let ids = narrow::<I>(indices);
    let out_layout = Layout::contiguous(&expected.shape).unwrap();
    for level in available_levels() {
        for method in [None].into_iter().chain(Method::ALL.iter().copied().map(Some)) {
            let mut op = op.clone().out_of_bounds(OutOfBounds::Zero).level(level);
            if let Some(method) = method {
                op = op.method(method);
            }
            let what = || format!("{op:?} on {} {:?}, {:?}", T::DTYPE, data.shape(), indices.shape);
            let mut out = vec![data.get(&vec![0; data.shape().len()]).copied().unwrap_or(T::ZERO); out_layout.len()];
            match op.run_into(data, &view(&ids), &mut ViewMut::new(&mut out, &expected.shape).unwrap()) {
                Err(Error::MethodUnavailable { .. }) if method.is_some() => continue,
                ran_into => ran_into.unwrap_or_else(|error| panic!("{}: {error}", what())),
            }
            assert!(out == expected.values, "{}", what());
            ran.extend(method.map(|method| (method, level)));
            // Rows with gaps: no byte between them changes.
            let Some((&last, outer)) = expected.shape.split_last() else { continue };
            let (gap, rows) = (last + 3, outer.iter().product::<usize>());
            let mut out = vec![T::ZERO; gap * rows];
            let mut strides: Vec<isize> = vec![1; expected.shape.len()];
            let mut step = gap;
            for (stride, &n) in strides[..outer.len()].iter_mut().zip(outer).rev() {
                (*stride, step) = (step as isize, step * n);
            }
            let mut spread = ViewMut::strided(&mut out, &expected.shape, &strides, 0).unwrap();
            match op.run_into(data, &view(&ids), &mut spread) {
                Err(Error::MethodUnavailable { .. }) if method.is_some() => continue,
                ran_into => ran_into.unwrap_or_else(|error| panic!("{}: {error}", what())),
            }
            for (got, row) in out.chunks_exact(gap).zip(expected.values.chunks_exact(last)) {
                assert!(&got[..last] == row && got[last..].iter().all(|&x| x == T::ZERO), "gaps, {}", what());
            }
        }
    }
}

/// Rows of `bytes` bytes along the first axis, in a long loop and in two.
fn rows_of<T: Element + PartialEq + Debug>(
    bytes: usize,
    make: impl Fn(usize) -> T,
    ran: &mut HashSet<(Method, Level)>,
) {
    let Some(elements) = bytes.is_multiple_of(size_of::<T>()).then(|| bytes / size_of::<T>()) else { return };
    let dim = if bytes <= 8 { 6 } else { 9 };
    let data = Dense::from_fn(&[dim, elements], make);
    let n = if bytes <= 64 { 600 } else { 140 };
    for share in SHARES {
        for shape in [&[n][..], &[5], &[3, 70]] {
            let indices = indices::<i64>(shape, dim, share);
            let expected = oracle::gather(&data, &indices, 0, 0, ZERO, &T::ZERO).unwrap();
            check::<T, i64, _>(&Gather::new(0), &view(&data), &indices, &expected, ran);
        }
    }
}

#[test]
fn rows_of_every_size_share_method_and_level() {
    let mut ran = HashSet::new();
    for bytes in ROWS {
        rows_of(bytes, |at| (at * 37 + 11) as u8, &mut ran);
        rows_of(bytes, |at| Pair { low: (at * 3) as u8, high: (at * 7 + 1) as u8 }, &mut ran);
        rows_of(bytes, |at| if at % 3 == 0 { Switch::Off } else { Switch::On }, &mut ran);
        rows_of(bytes, |at| at as f32 + 0.5, &mut ran);
        rows_of(bytes, |at| [Switch::On, if at % 2 == 0 { Switch::Off } else { Switch::On }, Switch::On], &mut ran);
    }
    for level in available_levels() {
        let mut expected = vec![Method::Direct, Method::Blocks, Method::Chunks, Method::Prefetched];
        if level.to_string() != "scalar" {
            expected.push(Method::Table);
        }
        if gathers(level) {
            expected.push(Method::Gathered);
        }
        if cfg!(target_arch = "x86_64") {
            expected.push(Method::Streamed);
        }
        for method in expected {
            assert!(ran.contains(&(method, level)), "{method} has not run at {level}");
        }
    }
}

/// The other shapes of loops: elements along an axis, tuples, several loops, one index for a whole loop.
fn shapes_of<T: Element + PartialEq + Debug, I: Index + TryFrom<i128>>(make: fn(usize) -> T) {
    let mut ran = HashSet::new();
    for share in SHARES {
        let cube = Dense::from_fn(&[7, 5, 40], make);
        for axis in 0..3 {
            let indices = indices::<I>(&[7, 5, 40], cube.shape[axis], share);
            let expected = oracle::gather_elements(&cube, &indices, axis, ZERO, &T::ZERO).unwrap();
            check::<T, I, _>(&GatherElements::new(axis as i64), &view(&cube), &indices, &expected, &mut ran);
            let spread = Spread::new(&cube);
            check::<T, I, _>(&GatherElements::new(axis as i64), &spread.view(), &indices, &expected, &mut ran);
        }
        let wide = Dense::from_fn(&[30, 90], make);
        let many = indices::<I>(&[30, 90], 30, share);
        let expected = oracle::gather_elements(&wide, &many, 0, ZERO, &T::ZERO).unwrap();
        check::<T, I, _>(&GatherElements::new(0), &view(&wide), &many, &expected, &mut ran);
        // Rows whose elements are apart.
        let turned = View::strided(&wide.values, &[90, 30], &[1, 90], 0).unwrap();
        let columns = Dense::from_fn(&[90, 30], |at| wide.values[at % 30 * 90 + at / 30]);
        let few = indices::<I>(&[5], 90, share);
        let expected = oracle::gather(&columns, &few, 0, 0, ZERO, &T::ZERO).unwrap();
        check::<T, I, _>(&Gather::new(0), &turned, &few, &expected, &mut ran);
        for shape in [&[3][..], &[70], &[530]] {
            for axis in 1..3 {
                let indices = indices::<I>(shape, cube.shape[axis], share);
                let expected = oracle::gather(&cube, &indices, axis, 0, ZERO, &T::ZERO).unwrap();
                check::<T, I, _>(&Gather::new(axis as i64), &view(&cube), &indices, &expected, &mut ran);
            }
        }
        for components in 1..=3 {
            let indices = indices::<I>(&[300, components], 5, share * components as u64);
            let expected = oracle::gather_nd(&cube, &indices, 0, ZERO, &T::ZERO).unwrap();
            check::<T, I, _>(&GatherNd::new(), &view(&cube), &indices, &expected, &mut ran);
            // An axis from its end: scales of both signs.
            let strides = [-200, 40, 1];
            let turned = View::strided(&cube.values, &[7, 5, 40], &strides, 1200).unwrap();
            let flipped = Dense::from_fn(&[7, 5, 40], |at| cube.values[(6 - at / 200) * 200 + at % 200]);
            let expected = oracle::gather_nd(&flipped, &indices, 0, ZERO, &T::ZERO).unwrap();
            check::<T, I, _>(&GatherNd::new(), &turned, &indices, &expected, &mut ran);
        }
    }
    assert!(ran.iter().any(|&(method, _)| method == Method::StridedCopy), "no strided copy has run");
    assert!(ran.iter().any(|&(method, _)| method == Method::Panels), "no panels have run");
}

#[test]
fn shapes_of_bytes() {
    shapes_of::<u8, i64>(|at| (at * 37 % 251) as u8);
}

#[test]
fn shapes_of_words() {
    shapes_of::<u32, u32>(|at| (at as u32 + 1).wrapping_mul(0x0101_0307));
}

#[test]
fn shapes_of_longs() {
    shapes_of::<u64, u64>(|at| (at as u64 + 1).wrapping_mul(0x0101_0307_0000_0501));
}

#[test]
fn shapes_of_pairs() {
    shapes_of::<Pair, i32>(|at| Pair { low: at as u8, high: (at * 5 + 3) as u8 });
}

#[test]
fn a_byte_table_goes_on_after_an_index_out_of_range() {
    let table: Vec<u8> = (0..50).map(|at| at * 5 + 1).collect();
    for share in SHARES {
        let indices = indices::<u8>(&[5000], 50, share);
        let narrowed = narrow::<u8>(&indices);
        let data = Dense { shape: vec![50], values: table.clone() };
        let expected = oracle::gather(&data, &indices, 0, 0, ZERO, &0).unwrap();
        for level in available_levels() {
            let op = Gather::new(0).out_of_bounds(OutOfBounds::Zero).level(level);
            let got = op.run(&view(&data), &view(&narrowed)).unwrap();
            assert!(dense(&got) == expected, "{level}, one of {share}");
        }
    }
}
