//! H20: strides at the ends of their type, along dimensions that are never stepped along.

use gather_core::{
    Argument, BatchToSpace, DynView, DynViewMut, Element, Error, Gather, GatherElements, GatherNd, Op, OutOfBounds,
    Tensor, View, ViewMut,
};

use super::{Faces, SIX, call_space, text};

const ENDS: [isize; 4] = [isize::MAX, isize::MIN, isize::MIN + 1, isize::MAX / 2 + 1];

#[test]
fn h20_one_element_may_have_any_stride() {
    for stride in ENDS {
        let data = View::strided(SIX, &[1, 1], &[stride, stride], 4).unwrap();
        let list = View::strided(&[0i64, 1], &[1, 1], &[stride, stride], 0).unwrap();
        assert_eq!(text(Gather::new(0).call(&data, &list)), "[1, 1, 1] [5]");
        assert_eq!(text(GatherElements::new(1).call(&data, &list)), "[1, 1] [5]");
        assert_eq!(text(GatherNd::new().call(&data, &list)), "[1, 1] [5]");
        assert_eq!(text(call_space(&BatchToSpace::new(&[1, 1], &[0, 0], &[0, 0]), &data)), "[1, 1] [5]");

        let mut out = [9];
        let mut view = ViewMut::strided(&mut out, &[1, 1], &[stride, stride], 0).unwrap();
        GatherElements::new(0).run_into(&data, &list, &mut view).unwrap();
        assert_eq!((out, data.get(&[0, 0]), data.get(&[0, 1])), ([5], Some(&5), None));
    }
}

#[test]
fn h20_parameters_of_one_entry_may_have_any_stride() {
    let two = [2i64, 0].map(i64::to_ne_bytes).concat();
    for stride in ENDS {
        let entry = |offset| DynView::strided(i64::DTYPE, &two, &[1], &[stride], offset).unwrap();
        let op = BatchToSpace::from_tensors(&entry(0), &entry(1), &entry(1)).unwrap();
        let argument = Argument::BlockShape;
        let rank = Error::ArgumentLengthMismatch { op: Op::BatchToSpace, argument, len: 1, rank: 2 };
        assert_eq!(op.output_shape(&[2, 3]), Err(rank));
    }
}

#[test]
fn h20_no_element_may_have_any_stride() {
    let none: &[i32] = &[];
    let zero = OutOfBounds::Zero;
    for stride in ENDS {
        let data = View::strided(none, &[3, 0], &[stride, stride], 0).unwrap();
        let list = View::strided(&[2i64, 0, 1, 0], &[2, 2], &[2, 1], 0).unwrap();
        assert_eq!(text(GatherNd::new().out_of_bounds(zero).call(&data, &list)), "[2] [0, 0]");
        assert_eq!(
            text(GatherNd::new().call(&data, &list)),
            "gather_nd: index 0 at position 1 is out of range for axis 1 of size 0"
        );
        assert_eq!(text(Gather::new(0).call(&data, &list)), "[2, 2, 0] []");
        assert_eq!(text(Gather::new(1).out_of_bounds(zero).call(&data, &list)), text(Ok(zeros(&[3, 2, 2]))));
        assert_eq!(text(GatherElements::new(1).out_of_bounds(zero).call(&data, &list)), text(Ok(zeros(&[2, 2]))));
        assert_eq!(text(call_space(&BatchToSpace::new(&[1, 3], &[0, 0], &[0, 0]), &data)), "[1, 0] []");
    }
}

fn zeros(shape: &[usize]) -> Tensor<i32> {
    Tensor::full(shape, 0).unwrap()
}

#[test]
fn h20_steps_beyond_memory_are_refused() {
    let mut bytes = [0u8; 12];
    for stride in ENDS {
        for shape in [&[2, 1][..], &[1, 3], &[2, 2]] {
            let strides = [stride, stride];
            let refused = |error| matches!(error, Error::StridesOutOfBounds { .. });
            assert!(refused(View::strided(SIX, shape, &strides, 3).unwrap_err()));
            assert!(refused(DynView::strided(i32::DTYPE, &bytes, shape, &strides, 1).unwrap_err()));
            assert!(refused(DynViewMut::strided(i32::DTYPE, &mut bytes, shape, &strides, 1).unwrap_err()));
        }
    }
    for offset in [7, usize::MAX] {
        let beyond = |error| error == Error::OffsetOutOfBounds { offset, len: 6 };
        assert!(beyond(View::strided(SIX, &[0], &[1], offset).unwrap_err()));
        assert!(View::strided(SIX, &[1], &[1], offset).is_err());
    }
}

/// A view of a few hundred indices with more coordinates than could ever be looked at. No output shows them, but they
/// are checked.
#[test]
#[cfg(target_pointer_width = "64")]
fn h20_overlapping_indices_without_an_output_take_no_time() {
    let data = View::new(&[0f32; 0], &[5, 0]).unwrap();
    let mut ids = vec![4u8; 63 * 10 + 1];
    for bad in [None, Some(630), Some(64), Some(0)] {
        if let Some(bad) = bad {
            ids.fill(4);
            ids[bad] = 5;
        }
        let ids = View::strided(&ids, &[64; 10], &[1; 10], 0).unwrap();
        // The first coordinate that leads there is 0 as long as what follows leads there too.
        let position = bad.map(|bad| (0..10).fold(0, |at, d| at * 64 + bad.saturating_sub(63 * (9 - d)).min(63)));
        match (Gather::new(0).run(&data, &ids), position) {
            (Ok(out), None) => assert!(out.is_empty()),
            (Err(Error::IndexOutOfRange { position, index: 5, .. }), Some(expected)) => assert_eq!(position, expected),
            (got, _) => panic!("{bad:?}: {:?}", got.map(|_| ())),
        }
    }
    // Index 3 is in range of axis 0, and out of range of axis 1.
    let data = View::new(&[0f32; 0], &[5, 3, 0]).unwrap();
    let mut rising = vec![2u8; 63 * 9 + 2];
    rising[566] = 3;
    let tuples = View::strided(&rising, &[64, 64, 64, 64, 64, 64, 64, 64, 64, 2], &[1; 10], 0).unwrap();
    let got = GatherNd::new().run(&data, &tuples).unwrap_err();
    // It is the second component at coordinates whose sum is 565: 61 and eight times 63 come first.
    let position = (0..9).fold(0, |at, d| at * 64 + if d == 0 { 61 } else { 63 }) * 2 + 1;
    let axis_1 = matches!(got, Error::IndexOutOfRange { position: at, index: 3, axis: 1, .. } if at == position);
    assert!(axis_1, "{got}, and not at {position}");
    let data = View::new(&[0f32; 0], &[5, 0]).unwrap();
    let tuples = View::strided(&ids, &[64, 64, 64, 64, 64, 64, 64, 64, 64, 1], &[1; 10], 0).unwrap();
    let got = GatherNd::new().run(&data, &tuples).unwrap_err();
    assert!(matches!(got, Error::IndexOutOfRange { position: 0, index: 5, .. }), "{got}");
}

gather_tests::needs_64_bits!(h20_overlapping_indices_without_an_output_take_no_time);
