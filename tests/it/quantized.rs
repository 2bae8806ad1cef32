//! Gathering from block-quantised data, against values of ONNX Runtime (`tests/data/tables/quantized.jsonl`).

use gather_core::{Argument, NegativeIndex, OutOfBounds, Spec};
use gather_core::{Codes, Error, Float, Gather, Index, Layout, Op, Par, Tensor, View, ViewMut};
use half::f16;
use serde_json::Value;

use crate::support::levels;
use crate::support::{lines, unhex};

/// A tensor of a case.
struct Part {
    shape: Vec<usize>,
    value: Value,
}

impl Part {
    fn new(case: &Value, name: &str) -> Self {
        let value = case[name].clone();
        let shape = value["shape"].as_array().unwrap().iter().map(|dim| dim.as_u64().unwrap() as usize).collect();
        Part { shape, value }
    }

    fn bytes(&self) -> Tensor<u8> {
        Tensor::new(unhex(self.value["bytes"].as_str().unwrap()), &self.shape).unwrap()
    }

    fn numbers<T>(&self, key: &str, number: impl Fn(i64) -> T) -> Tensor<T> {
        let values = self.value[key].as_array().unwrap().iter().map(|value| number(value.as_i64().unwrap()));
        Tensor::new(values.collect(), &self.shape).unwrap()
    }
}

/// Bits, and whether they are NaN.
trait Bits: Float {
    fn bits(self) -> (u32, bool);
    fn of(bits: i64) -> Self;
}

impl Bits for f32 {
    fn bits(self) -> (u32, bool) {
        (self.to_bits(), self.is_nan())
    }
    fn of(bits: i64) -> Self {
        f32::from_bits(bits as u32)
    }
}

impl Bits for f16 {
    fn bits(self) -> (u32, bool) {
        (self.to_bits().into(), self.is_nan())
    }
    fn of(bits: i64) -> Self {
        f16::from_bits(bits as u16)
    }
}

fn codes(name: &str) -> Codes {
    match name {
        "Bits2" => Codes::Bits2,
        "Bits4" => Codes::Bits4,
        "Bits8" => Codes::Bits8,
        "U4" => Codes::U4,
        "I4" => Codes::I4,
        "E4M3" => Codes::E4M3,
        "E4M3Fnuz" => Codes::E4M3Fnuz,
        "E5M2" => Codes::E5M2,
        "E5M2Fnuz" => Codes::E5M2Fnuz,
        "E2M1" => Codes::E2M1,
        other => panic!("{other}"),
    }
}

fn same<T: Bits>(got: (&[usize], &[T]), expected: &Tensor<T>, what: &str) {
    assert_eq!(got.0, expected.shape(), "{what}");
    for (at, (got, expected)) in got.1.iter().zip(expected.as_slice()).enumerate() {
        let (got, expected) = (got.bits(), expected.bits());
        assert!(got.0 == expected.0 || got.1 && expected.1, "{what}: value {at} is {got:x?} and not {expected:x?}");
    }
}

/// Every door at every level gives the expected values.
fn gives<T: Bits, I: Index>(case: &Value, what: &str, indices: &Tensor<I>) {
    let (data, scales) = (Part::new(case, "data").bytes(), Part::new(case, "scales").numbers("bits", T::of));
    let zero_points = (!case["zero_points"].is_null()).then(|| Part::new(case, "zero_points").bytes());
    let zero_points = zero_points.as_ref().map(Tensor::view);
    let expected = Part::new(case, "out").numbers("bits", T::of);
    let block_size = case["block_size"].as_u64().unwrap() as usize;
    let op = Gather::new(case["axis"].as_i64().unwrap()).out_of_bounds(OutOfBounds::Zero);
    let (data, indices, scales) = (data.view(), indices.view(), scales.view());
    let blocks = data.blocks(codes(case["codes"].as_str().unwrap()), block_size, &scales);
    let blocks = zero_points.as_ref().map_or(blocks, |zero_points| blocks.zero_points(zero_points));
    for level in levels() {
        for par in [Par::Seq, Par::Threads(3)] {
            let op = op.level(level).par(par);
            let what = format!("{what} {op:?}");
            let got = op.run(&blocks, &indices).unwrap();
            same((got.shape(), got.as_slice()), &expected, &what);

            let mut out = vec![T::ZERO; expected.len()];
            let mut view = ViewMut::new(&mut out, expected.shape()).unwrap();
            op.run_into(&blocks, &indices, &mut view).unwrap();
            same((expected.shape(), &out), &expected, &what);

            let counted = op.plan_any_count(&blocks, &indices);
            let counted = counted.or_else(|error| match error {
                Error::AnyCountUnavailable { .. } => op.plan(&blocks, &indices),
                other => Err(other),
            });
            for plan in [op.plan(&blocks, &indices).unwrap().clone(), counted.unwrap()] {
                assert_eq!(plan.output_shape(), expected.shape(), "{what}");
                let got = plan.run(&blocks, &indices).unwrap();
                same((got.shape(), got.as_slice()), &expected, &what);
                assert!(plan.explain().to_string().contains("gather"), "{what}");
            }
        }
    }
}

#[test]
fn block_quantized_data_is_read_as_onnx_runtime_reads_it() {
    let cases = lines("tables/quantized.jsonl");
    assert_eq!(cases.len(), 32);
    for (number, case) in cases.iter().enumerate() {
        let what = format!("case {number}");
        let indices = Part::new(case, "indices");
        let types = (case["scales"]["type"].as_str().unwrap(), indices.value["type"].as_str().unwrap());
        match types {
            ("float32", "int32") => gives::<f32, i32>(case, &what, &indices.numbers("values", |i| i as i32)),
            ("float32", "int64") => gives::<f32, i64>(case, &what, &indices.numbers("values", |i| i)),
            ("float16", "int32") => gives::<f16, i32>(case, &what, &indices.numbers("values", |i| i as i32)),
            ("float16", "int64") => gives::<f16, i64>(case, &what, &indices.numbers("values", |i| i)),
            other => panic!("{other:?}"),
        }
    }
}

/// Runs on zeros of these shapes.
fn run(
    &(axis, codes, block_size): &(i64, Codes, usize),
    [data, scales, zero_points]: [&[usize]; 3],
) -> Result<Vec<usize>, Error> {
    let tensor = |shape: &[usize]| Tensor::new(vec![0u8; shape.iter().product()], shape).unwrap();
    let scale_values = vec![1.0f32; scales.iter().product()];
    let scales = View::new(&scale_values, scales).unwrap();
    let (data, zero_points) = (tensor(data), tensor(zero_points));
    let ids = View::new(&[0i32], &[1]).unwrap();
    let (data, zero_points) = (data.view(), zero_points.view());
    let blocks = data.blocks(codes, block_size, &scales).zero_points(&zero_points);
    let gather = Gather::new(axis).out_of_bounds(OutOfBounds::Zero);
    Ok(gather.run(&blocks, &ids)?.shape().to_vec())
}

#[test]
fn what_does_not_fit_is_refused() {
    let op = Op::Gather;
    let of = |axis, codes, block_size| (axis, codes, block_size);
    for block_size in [0, 1, 8, 24, usize::MAX] {
        let refused = run(&of(5, Codes::Bits4, block_size), [&[2, 8], &[2, 1], &[2, 1]]);
        assert_eq!(refused, Err(Error::BlockSizeOutOfRange { op, block_size: block_size as i128 }));
    }
    let fits: [&[usize]; 3] = [&[2, 24], &[2, 3], &[2, 2]];
    assert_eq!(run(&of(0, Codes::Bits4, 16), fits), Ok(vec![1, 48]));
    assert_eq!(run(&of(0, Codes::Bits4, 1 << 20), [&[2, 24], &[2, 1], &[2, 1]]), Ok(vec![1, 48]));
    assert_eq!(run(&of(0, Codes::U4, 16), [&[2, 24], &[2, 3], &[3]]), Ok(vec![1, 48]));
    assert_eq!(run(&of(5, Codes::Bits4, 16), fits), Err(Error::AxisOutOfRange { op, axis: 5, rank: 2 }));
    for axis in [-1, 1] {
        assert_eq!(run(&of(axis, Codes::Bits4, 16), fits), Err(Error::QuantizedAxis { op, axis: 1 }));
    }
    let shape = |argument, expected: &[usize], got: &[usize]| {
        Err(Error::ShapeMismatch { op, argument, expected: expected.into(), got: got.into() })
    };
    let wrong = run(&of(0, Codes::Bits4, 16), [&[2, 24], &[2, 2], &[2, 2]]);
    assert_eq!(wrong, shape(Argument::Scales, &[2, 3], &[2, 2]));
    let wrong = run(&of(0, Codes::Bits8, 16), [&[2, 24], &[2, 2], &[2, 1]]);
    assert_eq!(wrong, shape(Argument::ZeroPoints, &[2, 2], &[2, 1]));
    let wrong = run(&of(0, Codes::I4, 16), [&[2, 24], &[2, 3], &[2, 2]]);
    assert_eq!(wrong, shape(Argument::ZeroPoints, &[3], &[2, 2]));
    // Floating-point codes: a block may be a whole row, rows may share scales, and there are no zero points.
    for block_size in [1, 8, 24, usize::MAX] {
        let refused = run(&of(0, Codes::E4M3, block_size), [&[2, 8], &[2, 1], &[0]]);
        assert_eq!(refused, Err(Error::BlockSizeOutOfRange { op, block_size: block_size as i128 }));
    }
    for scales in [[2, 1], [1, 1]] {
        assert_eq!(run(&of(0, Codes::E4M3, 0), [&[2, 24], &scales, &[0]]), Ok(vec![1, 24]));
        assert_eq!(run(&of(0, Codes::E2M1, 64), [&[2, 24], &scales, &[0]]), Ok(vec![1, 48]));
    }
    for scales in [&[3, 1][..], &[0, 1], &[2, 2], &[1, 2], &[1], &[1, 1, 1], &[]] {
        let wrong = run(&of(0, Codes::E5M2, 0), [&[2, 24], scales, &[0]]);
        assert_eq!(wrong, shape(Argument::Scales, &[2, 1], scales));
    }
    assert_eq!(run(&of(0, Codes::Bits8, 32), [&[2, 24], &[1, 1], &[2, 1]]), shape(Argument::Scales, &[2, 1], &[1, 1]));
    let wrong = run(&of(0, Codes::E2M1, 16), [&[2, 24], &[2, 3], &[2, 2]]);
    assert_eq!(wrong, shape(Argument::ZeroPoints, &[0], &[2, 2]));
    assert_eq!(run(&of(0, Codes::E2M1, 0), [&[2, 0], &[2, 1], &[0]]), Ok(vec![1, 0]));
    // Without elements.
    assert_eq!(run(&of(0, Codes::Bits2, 16), [&[2, 0], &[2, 0], &[2, 0]]), Ok(vec![1, 0]));
    assert_eq!(run(&of(0, Codes::Bits2, 16), [&[0, 4], &[0, 1], &[0, 1]]), Ok(vec![1, 16]));
}

#[test]
fn strides_and_policies() {
    let (bytes, ids, scales) = ([0x21u8; 32], [3i64, 0], [1.0f32; 4]);
    let data = View::new(&bytes, &[2, 16]).unwrap();
    let ids = View::new(&ids, &[2]).unwrap();
    let scales = View::new(&scales, &[2, 2]).unwrap();
    let op = Gather::new(0).out_of_bounds(OutOfBounds::Zero);
    let blocks = data.blocks(Codes::Bits4, 16, &scales);
    let not = |argument| Error::NotRowMajor { op: Op::Gather, argument };

    let turned = View::strided(&bytes, &[2, 16], &[1, 2], 0).unwrap();
    assert_eq!(op.run(&turned.blocks(Codes::Bits4, 16, &scales), &ids).unwrap_err(), not(Argument::Data));
    let turned = scales.permuted(&[1, 0]).unwrap();
    assert_eq!(op.run(&data.blocks(Codes::Bits4, 16, &turned), &ids).unwrap_err(), not(Argument::Scales));
    let zero_points = View::strided(&bytes, &[2, 1], &[2, 1], 0).unwrap();
    assert_eq!(op.run(&blocks.zero_points(&zero_points), &ids).unwrap_err(), not(Argument::ZeroPoints));
    let mut memory = [5.0f32; 64];
    let mut out = ViewMut::strided(&mut memory, &[2, 32], &[1, 2], 0).unwrap();
    assert_eq!(op.run_into(&blocks, &ids, &mut out).unwrap_err(), not(Argument::Output));
    let mut out = ViewMut::new(&mut memory, &[2, 2, 16]).unwrap();
    let refused = op.run_into(&blocks, &ids, &mut out).unwrap_err();
    assert!(matches!(refused, Error::ShapeMismatch { argument: Argument::Output, .. }), "{refused}");
    assert_eq!(memory, [5.0; 64]);

    let strict = op.out_of_bounds(OutOfBounds::Error).negative_index(NegativeIndex::Reject);
    let refused = strict.run(&blocks, &ids).unwrap_err();
    assert!(matches!(refused, Error::IndexOutOfRange { position: 0, index: 3, .. }), "{refused}");
    let clamped = op.out_of_bounds(OutOfBounds::Clamp).run(&blocks, &ids).unwrap();
    assert_eq!(clamped.as_slice()[..2], [-7.0, -6.0]);

    let plan = op.plan(&blocks, &ids).unwrap();
    let other = View::new(&bytes, &[4, 8]).unwrap();
    let other = other.blocks(Codes::Bits4, 16, &scales);
    let refused = plan.run(&other, &ids).unwrap_err();
    assert!(matches!(refused, Error::PlanMismatch { argument: Argument::Data, .. }), "{refused}");
    for (codes, block_size) in [(Codes::I4, 16), (Codes::Bits4, 32)] {
        let refused = plan.run(&data.blocks(codes, block_size, &scales), &ids).unwrap_err();
        let (expected, got) = ((Codes::Bits4, 16), (codes, block_size));
        assert_eq!(refused, Error::PlanBlocksMismatch { op: Op::Gather, expected, got });
    }
    assert_eq!(plan.will_need(&other, &ids).rows, 0);

    // A shape over no slice: more values than a dimension counts.
    let huge = Layout::contiguous(&[0, isize::MAX as usize]).unwrap();
    let twos = Spec::from_layout(&huge).blocks::<f32>(Codes::Bits2, 16);
    let refused = Gather::new(0).plan(&twos, &[0i64; 0]).unwrap_err();
    assert!(matches!(refused, Error::DimensionTooLarge { blocks: Some(4), .. }), "{refused}");
}
