//! Views with any strides, outputs with any strides, and uninitialised outputs.

use std::mem::MaybeUninit;

use gather_core::{
    Bags, BatchToSpace, Element, EmbeddingBag, Error, Gather, GatherElements, GatherNd, Level, Method, OutOfBounds,
    Par, Reduction, ScatterElements, ScatterNd, View, ViewMut, rows, rows_into,
};
use gather_tests::oracle::{self, Dense, Rule, Rules};

use crate::support::{Spread, dense, narrow, view};

const ERROR: Rules = Rules { from_end: true, out_of_range: Rule::Error };

#[test]
fn transposed_reversed_and_repeated_data_gathers_as_its_copy() {
    let values: Vec<u32> = (0..24).collect();
    let views = [
        View::strided(&values, &[6, 4], &[1, 6], 0).unwrap(),
        View::strided(&values, &[6, 4], &[-4, 1], 20).unwrap(),
        View::strided(&values, &[6, 4], &[4, -1], 3).unwrap(),
        View::strided(&values, &[6, 4], &[0, 1], 5).unwrap(),
        View::strided(&values, &[6, 4], &[3, 0], 2).unwrap(),
        View::strided(&values, &[6, 4], &[0, 0], 7).unwrap(),
    ];
    for data in views {
        let copy = Dense::from_fn(&[6, 4], |at| *data.get(&[at / 4, at % 4]).unwrap());
        for axis in 0..2 {
            let dim = copy.shape[axis] as i128;
            let list = Dense::from_fn(&[2, 5], |at| at as i128 % (2 * dim) - dim);
            let got = Gather::new(axis as i64).run(&data, &view(&narrow::<i16>(&list))).unwrap();
            assert_eq!(dense(&got), oracle::gather(&copy, &list, axis, 0, ERROR, &0).unwrap());

            let full = Dense::from_fn(&[6, 4], |at| at as i128 % (2 * dim) - dim);
            let got = GatherElements::new(axis as i64).run(&data, &view(&narrow::<i16>(&full))).unwrap();
            assert_eq!(dense(&got), oracle::gather_elements(&copy, &full, axis, ERROR, &0).unwrap());
        }
        let tuples = Dense::from_fn(&[9, 2], |at| at as i128 % 4 - 2);
        let got = GatherNd::new().run(&data, &view(&narrow::<i16>(&tuples))).unwrap();
        assert_eq!(dense(&got), oracle::gather_nd(&copy, &tuples, 0, ERROR, &0).unwrap());
        let got = BatchToSpace::new(&[1, 3], &[0, 1], &[0, 2]).run(&data).unwrap();
        assert_eq!(dense(&got), oracle::batch_to_space(&copy, &[1, 3], &[0, 1], &[0, 2]));
    }
}

/// One index serves the whole inner loop, which steps through data: in one piece, and cut where the steps are long.
#[test]
fn lanes_that_one_index_serves_are_gathered_as_from_a_copy() {
    walks::<u8>([1, 300], |at| at as u8);
    walks::<u16>([1, 130], |at| at as u16);
    walks::<f32>([600, 2], |at| at as f32);
    walks::<f32>([1, 65], |at| at as f32);
    walks::<u64>([256, -1], |at| at as u64);
    walks::<[u8; 3]>([1, 90], |at| [at as u8, (at >> 8) as u8, 7]);
    walks::<[u64; 2]>([2, 20], |at| [at as u64, 7]);
}

fn walks<T: Element + PartialEq + std::fmt::Debug>(strides: [isize; 2], value: fn(usize) -> T) {
    let values: Vec<T> = (0..80_000).map(value).collect();
    let policies = [
        (OutOfBounds::Error, Rule::Error),
        (OutOfBounds::Zero, Rule::Zero),
        (OutOfBounds::Clamp, Rule::Clamp),
        (OutOfBounds::Wrap, Rule::Wrap),
    ];
    let ways = [(Level::Scalar, Par::Seq), (Level::preferred(), Par::Seq), (Level::preferred(), Par::Threads(3))];
    for columns in [1, 2, 65, 128, 130, 256] {
        let data = View::strided(&values, &[20, columns], &strides, 300).unwrap();
        let copy = Dense::from_fn(&[20, columns], |at| *data.get(&[at / columns, at % columns]).unwrap());
        for reach in [20, 22] {
            let list = Dense::from_fn(&[90], |at| at as i128 * 7 % (2 * reach) - reach);
            let indices = narrow::<i32>(&list);
            for (out_of_bounds, out_of_range) in policies {
                let expected =
                    oracle::gather(&copy, &list, 0, 0, Rules { from_end: true, out_of_range }, &T::ZERO).ok();
                for (level, par) in ways {
                    let op = Gather::new(0).out_of_bounds(out_of_bounds).level(level).par(par);
                    let got = op.run(&data, &view(&indices)).map(|out| dense(&out)).ok();
                    assert_eq!(got, expected, "{columns} columns, {out_of_bounds:?}, {level}, {par:?}");
                }
            }
        }
    }
}

/// A component for an axis of stride 0 moves nothing, and is checked all the same.
#[test]
fn tuples_are_checked_along_axes_without_a_stride() {
    let values: Vec<u32> = (1..=9).collect();
    let data = View::strided(&values, &[8, 33], &[1, 0], 1).unwrap();
    let copy = Dense::from_fn(&[8, 33], |at| *data.get(&[at / 33, at % 33]).unwrap());
    // One component in eight is out of range.
    let tuples = Dense::from_fn(&[64, 2], |at| if at % 8 == 5 { 33 } else { at as i128 % 8 });
    let zero = Rules { from_end: true, out_of_range: Rule::Zero };
    for level in [Level::Scalar, Level::preferred()] {
        for op in [GatherNd::new(), GatherNd::new().method(Method::Direct)] {
            let op = op.level(level);
            let indices = narrow::<i64>(&tuples);
            let got = op.out_of_bounds(OutOfBounds::Zero).run(&data, &view(&indices)).unwrap();
            assert_eq!(dense(&got), oracle::gather_nd(&copy, &tuples, 0, zero, &0).unwrap());
            let error = op.run(&data, &view(&indices)).unwrap_err();
            assert!(matches!(error, Error::IndexOutOfRange { index: 33, axis: 1, dim: 33, .. }), "{error}");
        }
    }
}

#[test]
fn strided_outputs_are_written_at_their_coordinates_only() {
    let data = Dense::from_fn(&[5, 3], |at| at as i64 + 1);
    let list = Dense::from_fn(&[2, 4], |at| at as i128 % 5);
    let expected = oracle::gather(&data, &list, 0, 0, ERROR, &0).unwrap();
    // [2, 4, 3] within larger memory, with each dimension reversed or spread.
    let mut memory = vec![-7i64; 200];
    let (strides, offset) = ([-50isize, 12, -3], 60);
    let mut out = ViewMut::strided(&mut memory, &[2, 4, 3], &strides, offset).unwrap();
    Gather::new(0).run_into(&view(&data), &view(&narrow::<u64>(&list)), &mut out).unwrap();
    let mut touched = 0;
    for (coords, value) in oracle::coords(&[2, 4, 3]).zip(&expected.values) {
        let at: isize = coords.iter().zip(&strides).map(|(&c, &s)| c as isize * s).sum();
        assert_eq!(memory[(offset as isize + at) as usize], *value);
        touched += 1;
    }
    assert_eq!(memory.iter().filter(|&&value| value == -7).count(), 200 - touched);
}

#[test]
fn outputs_that_overlap_themselves_are_refused() {
    let mut memory = vec![0u8; 100];
    let overlap = |memory: &mut [u8], shape: &[usize], strides: &[isize]| {
        ViewMut::strided(memory, shape, strides, 0).map(|_| ()).unwrap_err()
    };
    assert_eq!(
        overlap(&mut memory, &[4], &[0]),
        Error::StridesOverlap { dim: 0, stride: 0, needed: 1, strides: [0].into() }
    );
    assert_eq!(
        overlap(&mut memory, &[3, 4], &[2, 1]),
        Error::StridesOverlap { dim: 0, stride: 2, needed: 4, strides: [2, 1].into() }
    );
    assert!(ViewMut::strided(&mut memory, &[3, 4], &[4, 1], 0).is_ok());
    assert!(ViewMut::strided(&mut memory, &[4, 3], &[1, 4], 0).is_ok());
    // A dimension of one element has no step to overlap with.
    assert!(ViewMut::strided(&mut memory, &[1, 4], &[0, 1], 0).is_ok());
}

/// Errors of shapes name the shapes that the caller has passed.
#[test]
fn errors_name_the_shapes_that_were_passed() {
    let said = |error: Error| error.to_string();
    let table = [0.0f32; 6];
    let whole = "the table has 6 elements, which are no whole number of rows of 4";
    assert_eq!(said(rows(&table, 4, &[0u8]).unwrap_err()), whole);
    assert_eq!(said(rows_into(&table, 4, &[0u8], &mut [0.0; 4]).unwrap_err()), whole);
    let none = "the table has 6 elements, which are no whole number of rows of 0";
    assert_eq!(said(rows(&table, 0, &[0u8]).unwrap_err()), none);
    assert_eq!(rows::<f32, u8>(&[], 0, &[]), Ok(vec![]));

    let data = View::new(&table, &[3, 2]).unwrap();
    let scattered = ScatterNd::new().run(&data, &[0u8, 1], &data).unwrap_err();
    let expected = "updates have shape [3, 2]; data of shape [3, 2] and indices of shape [2]";
    assert_eq!(said(scattered), format!("scatter_nd: {expected}, tuples of 2, ask for []"));
    let ids = View::new(&[0u8, 1], &[1, 2]).unwrap();
    let scattered = ScatterElements::new(0).run(&data, &ids, &data).unwrap_err();
    let expected = "updates have shape [3, 2]; data of shape [3, 2] and indices of shape [1, 2]";
    assert_eq!(said(scattered), format!("scatter_elements: {expected} ask for [1, 2]"));
    let scattered = Gather::new(0).adjoint().run(&data, &ids, &data).unwrap_err();
    assert_eq!(said(scattered), format!("gather: {expected} ask for [1, 2, 2]"));

    let bags = EmbeddingBag::new(Reduction::Add).run(&data, &Bags::new(&[0u8, 1], &[1, 2])).unwrap_err();
    assert_eq!(said(bags), "embedding_bag: the first offset is 1; it must be 0, where the first bag begins");
    let bags = EmbeddingBag::new(Reduction::Add).run(&data, &Bags::new(&[0u8, 1], &[0, 3])).unwrap_err();
    assert_eq!(said(bags), "embedding_bag: offset 3 at position 1 is out of range; allowed there is 0..=2");
}

#[test]
fn views_outside_their_slice_are_refused() {
    let values = [0u8; 10];
    assert_eq!(
        View::new(&values, &[3, 4]).unwrap_err(),
        Error::LengthMismatch { len: 10, expected: 12, shape: [3, 4].into() }
    );
    let reach = |first, last| Error::StridesOutOfBounds { first: Some(first), last: Some(last), len: 10 };
    assert_eq!(View::strided(&values, &[5], &[3], 0).unwrap_err(), reach(0, 12));
    assert_eq!(View::strided(&values, &[3], &[-1], 1).unwrap_err(), reach(-1, 1));
    let overflow = View::strided(&values, &[3], &[isize::MAX], 0).unwrap_err();
    assert_eq!(overflow, Error::StridesOutOfBounds { first: Some(0), last: None, len: 10 });
    let strides = View::strided(&values, &[3], &[1, 1], 0).unwrap_err();
    assert_eq!(strides, Error::StridesLengthMismatch { strides: 2, rank: 1 });
    let shape: &[usize] = &[usize::MAX, 2];
    assert_eq!(View::new(&values, shape).unwrap_err(), Error::TooManyElements { shape: shape.into() });
    assert_eq!(
        View::new(&values[..0], &[0, usize::MAX]).unwrap_err(),
        Error::TooManyElements { shape: [0, usize::MAX].into() }
    );
}

#[test]
fn uninitialised_outputs_come_back_written() {
    let data = Dense::from_fn(&[4, 300], |at| at as u16);
    let list = Dense::from_fn(&[700], |at| at as i128 % 4);
    let mut memory = vec![MaybeUninit::<u16>::uninit(); 700 * 300];
    let mut out = ViewMut::new(&mut memory, &[700, 300]).unwrap();
    Gather::new(0).run_into(&view(&data), &view(&narrow::<u8>(&list)), &mut out).unwrap();
    // SAFETY: `run_into` has succeeded.
    let got: Vec<u16> = memory.iter().map(|value| unsafe { value.assume_init() }).collect();
    assert_eq!(got, oracle::gather(&data, &list, 0, 0, ERROR, &0).unwrap().values);
}

#[test]
#[cfg(target_pointer_width = "64")]
fn axes_beyond_32_bits_are_gathered_from() {
    // Three billion repeated elements.
    let data = View::strided(&[7u8, 8, 9], &[1 << 33, 3], &[0, 1], 0).unwrap();
    let indices = [0i64, -1, (1 << 33) - 1, 1 << 32];
    let got = Gather::new(0).run(&data, &View::new(&indices, &[4]).unwrap()).unwrap();
    assert_eq!(got.as_slice(), [7, 8, 9].repeat(4));
    let error = Gather::new(0).run(&data, &View::new(&[1i64 << 33], &[1]).unwrap()).unwrap_err();
    let op = gather_core::Op::Gather;
    let negative = gather_core::NegativeIndex::FromEnd;
    assert_eq!(error, Error::IndexOutOfRange { op, position: 0, index: 1 << 33, axis: 0, dim: 1 << 33, negative });
}

#[test]
fn spread_and_dense_inputs_give_the_same() {
    let data = Dense::from_fn(&[3, 5, 4, 2], |at| at as f64);
    let list = Dense::from_fn(&[3, 70], |at| (at * 3 % 9) as i128 - 4);
    let (spread, narrowed) = (Spread::new(&data), narrow::<i32>(&list));
    let index = Spread::new(&narrowed);
    let op = Gather::new(2).batch_dims(1);
    let expected = oracle::gather(&data, &list, 2, 1, ERROR, &0.0).unwrap();
    assert_eq!(dense(&op.run(&spread.view(), &index.view()).unwrap()), expected);
    assert_eq!(dense(&op.run(&view(&data), &view(&narrowed)).unwrap()), expected);
}

#[test]
fn two_elements_backwards_are_gathered_from() {
    // The indices reach one element before the first.
    let data = View::strided(&[1u32, 2], &[2], &[-1], 1).unwrap();
    let list: Vec<u8> = (0..100).map(|at| at % 2).collect();
    let indices = View::new(&list, &[100]).unwrap();
    assert_eq!(Gather::new(0).run(&data, &indices).unwrap().as_slice(), [2, 1].repeat(50));
    let tuples = View::new(&list, &[100, 1]).unwrap();
    assert_eq!(GatherNd::new().run(&data, &tuples).unwrap().as_slice(), [2, 1].repeat(50));
    let refused = Gather::new(0).method(Method::Table).level(Level::Scalar).run(&data, &indices);
    assert!(matches!(refused, Err(Error::MethodUnavailable { .. })));
}

gather_tests::needs_64_bits!(axes_beyond_32_bits_are_gathered_from);
