//! Parameters of maps that have a value for each element of data.

use gather_core::{
    Error, Gather, GatherElements, GatherNd, GatherOperator, Given, IndexAttributes, Method, Op, OutOfBounds, Par,
    View, maps,
};

use crate::support::levels;

/// What a map of bytes gives with scales per element: what gathering the scales too, and multiplying then, gives.
/// Returns at how many levels rows were streamed.
fn by_element<A: IndexAttributes + Clone>(
    op: &GatherOperator<A>,
    shape: &[usize],
    indices: &View<'_, i32>,
    scales: &[f32],
) -> usize {
    let mut streamed = 0;
    let codes: Vec<u8> = (0..scales.len()).map(|at| (at * 31 + 7) as u8).collect();
    let (data, by) = (View::new(&codes, shape).unwrap(), View::new(scales, shape).unwrap());
    for level in levels() {
        for method in [None, Some(Method::Direct), Some(Method::Blocks), Some(Method::Streamed)] {
            let op = op.clone().level(level);
            let op = if let Some(method) = method { op.method(method) } else { op };
            let plain = op.clone().method(Method::Direct);
            let (values, factors) = (plain.run(&data, indices).unwrap(), plain.run(&by, indices).unwrap());
            // What is out of range is 0 in both.
            let pairs = values.as_slice().iter().zip(factors.as_slice());
            let expected: Vec<f32> = pairs.map(|(&value, factor)| (f32::from(value) - 3.0) * factor + 0.0).collect();
            let given = (Given::PerElement(scales), Given::All(3));
            let got = match op.run(&data.map(&maps::dequantize(), given), indices) {
                Err(Error::MethodUnavailable { method: Method::Streamed, .. }) => continue,
                got => got.unwrap(),
            };
            let got: Vec<f32> = got.as_slice().iter().map(|value| value + 0.0).collect();
            assert_eq!(got, expected, "{shape:?} at {level}, {method:?}");
            streamed += usize::from(method == Some(Method::Streamed));
        }
    }
    streamed
}

#[test]
fn a_parameter_with_a_value_for_each_element() {
    let scales = |count: usize| (0..count).map(|at| 1.0 + at as f32 / 8.0).collect::<Vec<_>>();
    let list = [1i32, -1, 0, 9, 2, 1];
    let (row, pairs) = (View::new(&list, &[6]).unwrap(), View::new(&list, &[3, 2]).unwrap());
    for axis in 0..3 {
        let op = Gather::new(axis).out_of_bounds(OutOfBounds::Zero);
        by_element(&op, &[3, 4, 70], &row, &scales(840));
        by_element(&op, &[3, 4, 70], &pairs, &scales(840));
        by_element(&op, &[3, 4, 1], &row, &scales(12));
    }
    let nd = GatherNd::new().out_of_bounds(OutOfBounds::Zero);
    by_element(&nd, &[3, 4, 70], &pairs, &scales(840));
    by_element(&nd, &[3, 4], &pairs, &scales(12));
    let square: Vec<i32> = (0..3 * 70).map(|at| at % 4 - 1).collect();
    let square = View::new(&square, &[3, 70]).unwrap();
    by_element(&GatherElements::new(0).out_of_bounds(OutOfBounds::Zero), &[3, 70], &square, &scales(210));
    by_element(&GatherElements::new(1).out_of_bounds(OutOfBounds::Zero), &[3, 70], &square, &scales(210));

    // Rows that are prefetched piece by piece, on several threads.
    let (rows, len) = (5000, 900);
    let many: Vec<i32> = (0..700).map(|at| at * 7919 % 5001).collect();
    let many = View::new(&many, &[700]).unwrap();
    for par in [Par::Seq, Par::Threads(3)] {
        let op = Gather::new(0).out_of_bounds(OutOfBounds::Zero).par(par);
        let streamed = by_element(&op, &[rows, len], &many, &scales(rows * len));
        assert_eq!(streamed, if cfg!(target_arch = "x86_64") { levels().count() } else { 0 });
    }
}

#[test]
fn blocks_with_their_scales_in_a_tensor_of_their_own() {
    let codes: Vec<u8> = (0..5 * 9 * 16).map(|at| (at * 101 + 3) as u8).collect();
    let scales: Vec<u8> = (0..45).map(|at| 110 + at).collect();
    let blocks: &[[u8; 16]] = codes.as_chunks().0;
    let table = View::new(blocks, &[5, 9]).unwrap();
    let ids = View::new(&[4u8, 0, 2, 2], &[4]).unwrap();
    for level in levels() {
        let op = Gather::new(0).level(level);
        let got = op.run(&table.map(&maps::mxfp4_pairs::<f32>(), (Given::PerElement(&scales),)), &ids).unwrap();
        assert_eq!(got.shape(), [4, 9]);
        for (row, id) in [4, 0, 2, 2].into_iter().enumerate() {
            for block in 0..9 {
                let (bytes, scale) = (&blocks[id * 9 + block], maps::e8m0_to_f32(scales[id * 9 + block]));
                for i in 0..32 {
                    let expected = maps::e2m1_to_f32(bytes[i / 2] >> (i % 2 * 4)) * scale;
                    assert_eq!(got.as_slice()[row * 9 + block][i].to_bits(), expected.to_bits());
                }
            }
        }
    }
}

#[test]
fn values_per_element_are_counted_and_take_row_major_data() {
    let (codes, scales) = ([1u8, 2, 3, 4, 5, 6], [1.0f32; 7]);
    let data = View::new(&codes, &[3, 2]).unwrap();
    let ids = View::new(&[0u8], &[1]).unwrap();
    let run = |data: &View<'_, u8>, count: usize| {
        let given = (Given::PerElement(&scales[..count]), Given::All(0));
        let data = data.map(&maps::dequantize(), given);
        let planned = Gather::new(0).plan(&data, &ids).unwrap().run(&data, &ids).err();
        let got = Gather::new(0).run(&data, &ids).err();
        assert_eq!(got, planned);
        got
    };
    let error = |len, row_major| {
        let (op, map, parameter) = (Op::Gather, "dequantize", "scale");
        Some(Error::MapParameterPerElement { op, map, parameter, len, elements: 6, row_major })
    };
    assert_eq!(run(&data, 6), None);
    for len in [0, 1, 5, 7] {
        assert_eq!(run(&data, len), error(len, true));
    }
    let turned = View::strided(&codes, &[3, 2], &[1, 3], 0).unwrap();
    assert_eq!(run(&turned, 6), error(6, false));
    let backwards = View::strided(&codes, &[3, 2], &[-2, 1], 4).unwrap();
    assert_eq!(run(&backwards, 6), error(6, false));
}
