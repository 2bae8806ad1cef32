//! Presets, attributes and what plans say: the doors that make operators, and those that describe what they do.

use gather_core::{
    Error, Gather, GatherElements, GatherNd, Given, Layout, Level, Method, NegativeIndex, OutOfBounds, Par, Spec, View,
    maps,
};
use half::{bf16, f16};

use crate::common::set;

const LEGAL: [i64; 2] = [1, 0];
const NEGATIVE: [i64; 2] = [1, -1];
const OUTSIDE: [i64; 2] = [1, 2];

/// What an operator says to indices that are legal, negative and out of range: the elements, or `None` for an error.
type Answers = [Option<[u32; 2]>; 3];

const STRICT: Answers = [Some([20, 10]), None, None];
const FROM_END: Answers = [Some([20, 10]), Some([20, 20]), None];
const ZERO_FROM_END: Answers = [Some([20, 10]), Some([20, 20]), Some([20, 0])];
const ZERO: Answers = [Some([20, 10]), Some([20, 0]), Some([20, 0])];

/// Runs an operator on two elements with indices of a shape.
macro_rules! answers {
    ($op:expr, $shape:expr) => {
        [LEGAL, NEGATIVE, OUTSIDE].map(|indices| {
            let (data, op) = ([10u32, 20], $op);
            let data = View::new(&data, &[2]).unwrap();
            match op.run(&data, &View::new(&indices, $shape).unwrap()) {
                Ok(out) => Some([out.as_slice()[0], out.as_slice()[1]]),
                Err(Error::IndexOutOfRange { position: 1, .. }) => None,
                Err(error) => panic!("{op:?}: {error}"),
            }
        })
    };
}

#[test]
fn gather_presets() {
    for (op, expected) in [
        (Gather::new(0), FROM_END),
        (Gather::openvino8(0, 0), ZERO_FROM_END),
        (Gather::onnx11(0), FROM_END),
        (Gather::onnx13(0), FROM_END),
        (Gather::tensorflow(0, 0), STRICT),
        (Gather::torch(0), STRICT),
        (Gather::new(-1).negative_index(NegativeIndex::Reject), STRICT),
        (Gather::new(0).negative_index(NegativeIndex::Reject).out_of_bounds(OutOfBounds::Zero), ZERO),
    ] {
        assert_eq!(answers!(op, &[2]), expected, "{op:?}");
    }
    let (data, ids) = ([1u8, 2, 3, 4], [1u8, 0]);
    let (data, ids) = (View::new(&data, &[2, 2]).unwrap(), View::new(&ids, &[2, 1]).unwrap());
    assert_eq!(Gather::new(1).batch_dims(1).run(&data, &ids).unwrap().as_slice(), [2, 3]);
    assert!(Gather::new(1).batch_dims(3).run(&data, &ids).is_err() && Gather::new(2).run(&data, &ids).is_err());
}

#[test]
fn gather_elements_presets() {
    for (op, expected) in [
        (GatherElements::new(0), FROM_END),
        (GatherElements::onnx11(0), FROM_END),
        (GatherElements::onnx13(0), FROM_END),
        (GatherElements::openvino6(0), FROM_END),
        (GatherElements::torch(0), STRICT),
    ] {
        assert_eq!(answers!(op, &[2]), expected, "{op:?}");
    }
}

#[test]
fn gather_nd_presets() {
    for (op, expected) in [
        (GatherNd::new(), FROM_END),
        (GatherNd::tensorflow(0), STRICT),
        (GatherNd::onnx11(), FROM_END),
        (GatherNd::onnx12(0), FROM_END),
        (GatherNd::onnx13(0), FROM_END),
        (GatherNd::openvino5(0), FROM_END),
        (GatherNd::openvino8(0), FROM_END),
    ] {
        assert_eq!(answers!(op, &[2, 1]), expected, "{op:?}");
    }
    let (data, ids) = ([1u8, 2, 3, 4], [1u8, 0]);
    let (data, ids) = (View::new(&data, &[2, 2]).unwrap(), View::new(&ids, &[2, 1]).unwrap());
    assert_eq!(GatherNd::new().batch_dims(1).run(&data, &ids).unwrap().as_slice(), [2, 3]);
    assert!(GatherNd::new().batch_dims(3).run(&data, &ids).is_err());
}

#[test]
fn plans_say_what_they_do() {
    let (data, ids) = (Layout::contiguous(&[100, 3]).unwrap(), Layout::contiguous(&[50]).unwrap());
    let setting = crate::common::Setting {
        level: Some(Level::Scalar),
        method: Some(Method::Direct),
        par: Par::Seq,
        ..Default::default()
    };
    let plan =
        set!(Gather::new(0), &setting).plan(&Spec::<u32>::from_layout(&data), &Spec::<i64>::from_layout(&ids)).unwrap();
    let explain = plan.explain();
    assert_eq!((explain.method(), explain.bytes(), explain.tasks()), (Method::Direct, 600, 1));
    assert!(explain.kernel().contains("gather"), "{}", explain.kernel());
}

#[test]
fn every_ready_made_map() {
    let ids = View::new(&[0u8, 1, 2], &[3]).unwrap();
    let op = Gather::new(0);
    let singles = [1.0, -2.0, f32::INFINITY];
    let (halves, brains) = (singles.map(f16::from_f32), singles.map(bf16::from_f32));
    let (half, brain) = (View::new(&halves, &[3]).unwrap(), View::new(&brains, &[3]).unwrap());
    let single = View::new(&singles, &[3]).unwrap();
    assert_eq!(op.run(&half.map(&maps::convert::<_, f32>(), ()), &ids).unwrap().as_slice(), singles);
    assert_eq!(op.run(&brain.map(&maps::convert::<_, f32>(), ()), &ids).unwrap().as_slice(), singles);
    assert_eq!(op.run(&single.map(&maps::convert::<_, half::f16>(), ()), &ids).unwrap().as_slice(), halves);
    assert_eq!(op.run(&single.map(&maps::convert::<_, half::bf16>(), ()), &ids).unwrap().as_slice(), brains);
    let scaled = |zero_point| (Given::All(0.5), Given::All(zero_point));
    let bytes = View::new(&[0u8, 128, 255], &[3]).unwrap();
    assert_eq!(op.run(&bytes.map(&maps::dequantize(), scaled(128)), &ids).unwrap().as_slice(), [-64.0, 0.0, 63.5]);
    let (bytes, scaled) = ([-128i8, 0, 127], (Given::All(0.5), Given::All(-1)));
    let bytes = View::new(&bytes, &[3]).unwrap();
    assert_eq!(op.run(&bytes.map(&maps::dequantize(), scaled), &ids).unwrap().as_slice(), [-63.5, 0.5, 64.0]);
}
