//! Doors of calls with nulls: elements of every kind, with every setting, and bitmaps that do not fit.

use gather_core::{
    Argument, Bitmap, DynTensor, DynView, DynViewMut, Element, Error, Gather, GatherElements, GatherNd, Nulls, Op,
    OutOfBounds, Spec, Tensor, Validity, View, ViewMut,
};

use crate::common::{Bad, Line, Lines, Packed, Point, Sample, Setting, set, settings};

/// Indices, of which every third is null, whatever it names.
const INDICES: [i32; 70] = {
    let mut indices = [0; 70];
    let mut at = 0;
    while at < 70 {
        indices[at] = if at % 3 == 0 { i32::MIN + at as i32 } else { (at * 7 % 19) as i32 - 9 };
        at += 1;
    }
    indices
};

/// What rows of three elements a call gives, and which are valid. Row 1 of data is null.
fn expected<T: Sample>(setting: &Setting, values: &[T]) -> Result<(Vec<T>, Vec<bool>), Bad> {
    let (mut rows, mut valid) = (Vec::new(), Vec::new());
    let numbers: Vec<T> = (0..5).map(T::sample).collect();
    for (position, &index) in INDICES.iter().enumerate() {
        if position % 3 == 0 {
            rows.extend([T::ZERO; 3]);
            valid.push(false);
            continue;
        }
        let one = |values: &[T], row| setting.gather(values, row, &[i128::from(index)], T::ZERO);
        rows.extend(one(values, 3).map_err(|bad| Bad { position, ..bad })?);
        valid.push(one(&numbers, 1).map_err(|bad| Bad { position, ..bad })?[0] != T::sample(1));
    }
    Ok((rows, valid))
}

/// Bits of a bitmap.
fn bits(bitmap: Bitmap<'_>) -> Vec<bool> {
    (0..bitmap.len()).map(|at| bitmap.get(at).expect("a bit")).collect()
}

/// Goes through every door with every setting.
fn every_setting<T: Sample>() {
    let values: Vec<T> = (0..15).map(T::sample).collect();
    let (data, indices) = (View::new(&values, &[5, 3]).unwrap(), View::new(&INDICES, &[70]).unwrap());
    // From bit 3 on; from bit 0 on.
    let valid_indices: Vec<u8> = (0..10)
        .map(|byte| {
            (0..8).fold(0, |bits, bit| {
                let at: i32 = 8 * byte + bit - 3;
                bits | u8::from(at % 3 != 0) << bit
            })
        })
        .collect();
    let nulls = Nulls {
        indices: Some(Bitmap::new(&valid_indices, 3, 70).unwrap()),
        data: Some(Bitmap::new(&[0b1_1101], 0, 5).unwrap()),
    };
    let (erased, list) = (DynView::from(&data), DynView::from(&indices));
    for setting in settings().step_by(5) {
        let expected = expected(&setting, &values);
        let (rows, valid) = (expected.clone().map(|(rows, _)| rows), expected.map(|(_, valid)| valid));
        let op = set!(Gather::new(0), &setting);
        let judge = |door: &str, ran: Result<(Vec<T>, Vec<bool>), Error>| {
            if let (Ok(valid), Ok((_, got))) = (&valid, &ran) {
                assert_eq!(valid, got, "{door} with {setting:?}");
            }
            setting.judge(Op::Gather, door, &rows, ran.map(|(rows, _)| rows));
        };
        let given = |validity: Option<Validity>| bits(validity.expect("nulls").bitmap());
        let op = op.nullable();
        let ran = op.run(&data, &indices, nulls);
        judge("run", ran.map(|(rows, validity)| (rows.into_vec(), given(validity))));
        let ran = op.run(&erased, &list, nulls);
        let known = !matches!(ran, Err(Error::UnknownDType { .. }));
        let typed = |tensor: DynTensor| tensor.downcast::<T>().expect("the type of data").into_vec();
        if known {
            judge("run, at run time", ran.map(|(rows, validity)| (typed(rows), given(validity))));
        }

        let plan = op.plan(&data, &indices);
        let ran = plan.and_then(|plan| plan.run(&data, &indices, nulls));
        judge("plan", ran.map(|(rows, validity)| (rows.into_vec(), given(validity))));
        let plan = op.plan_any_count(&data, &Spec::<i32>::new(&[1]).unwrap());
        let (mut out, mut bytes) = (Tensor::default(), [0xff; 9]);
        let ran = plan.and_then(|plan| plan.run_into(&data, &indices, nulls, &mut out, &mut bytes));
        judge("plan_any_count", ran.map(|_| (out.into_vec(), bits(Bitmap::new(&bytes, 0, 70).unwrap()))));
        let plan = op.plan(&erased, &list);
        if known {
            let ran = plan.and_then(|plan| plan.run(&erased, &list, nulls));
            judge("plan, at run time", ran.map(|(rows, validity)| (typed(rows), given(validity))));
        }

        let (mut out, mut bytes) = (vec![T::sample(99); 210], [0xff; 9]);
        let ran = op.run_into(&data, &indices, nulls, &mut ViewMut::new(&mut out, &[70, 3]).unwrap(), &mut bytes);
        let got = bits(Bitmap::new(&bytes, 0, 70).unwrap());
        assert!(ran.as_ref().is_ok_and(|&nulls| nulls == got.iter().filter(|&&valid| !valid).count()) || ran.is_err());
        judge("run_into", ran.map(|_| (out, got)));
        let (mut out, mut bytes) = (vec![T::sample(99); 210], [0xff; 9]);
        let mut view = ViewMut::new(&mut out, &[70, 3]).unwrap();
        let ran = op.run_into(&erased, &list, nulls, &mut DynViewMut::from(&mut view), &mut bytes);
        if known {
            judge("run_into, at run time", ran.map(|_| (out, bits(Bitmap::new(&bytes, 0, 70).unwrap()))));
        }
    }
}

#[test]
fn numbers() {
    every_setting::<u8>();
    every_setting::<u32>();
}

#[test]
fn elements_of_every_kind() {
    every_setting::<Line>();
    every_setting::<Lines>();
    every_setting::<Packed>();
    every_setting::<Point>();
    every_setting::<[u64; 2]>();
}

#[test]
fn bitmaps_that_do_not_fit() {
    let (data, ids) = ([1u8, 2, 3, 4, 5, 6], [0u32, 2]);
    let (data, ids) = (View::new(&data, &[3, 2]).unwrap(), View::new(&ids, &[2]).unwrap());
    let bytes = [0u8; 2];
    let of = |len| Some(Bitmap::new(&bytes, 0, len).unwrap());
    let mismatch = |argument, len, rows, elements| {
        let op = Op::Gather;
        Some(Error::BitmapLengthMismatch { op, argument, len, rows, elements })
    };
    for (indices, rows, refused) in [
        (Some(3), None, mismatch(Argument::Indices, 3, 2, 2)),
        (Some(1), Some(1), mismatch(Argument::Indices, 1, 2, 2)),
        (Some(2), Some(2), mismatch(Argument::Data, 2, 3, 6)),
        (None, Some(4), mismatch(Argument::Data, 4, 3, 6)),
        (None, Some(6), None),
        (Some(2), Some(3), None),
    ] {
        let nulls = Nulls { indices: indices.and_then(of), data: rows.and_then(of) };
        let ran = Gather::new(0).nullable().run(&data, &ids, nulls);
        assert_eq!(ran.as_ref().err(), refused.as_ref());
        if let Ok((_, validity)) = ran {
            let validity = validity.unwrap();
            let len = if rows == Some(6) { 4 } else { 2 };
            assert_eq!((validity.len(), validity.null_count(), validity.is_empty()), (len, len, false));
            assert_eq!((validity.get(0), validity.get(len)), (Some(false), None));
        }
        let (mut out, mut bits) = (Tensor::default(), [7; 1]);
        let ran = Gather::new(0).nullable().run_into(&data, &ids, nulls, &mut out, &mut bits);
        assert_eq!(ran.as_ref().err(), refused.as_ref());
        assert_eq!((out.is_empty(), bits), if ran.is_ok() { (false, [0]) } else { (true, [7]) });
    }
    let nulls = Nulls { indices: of(2), data: None };
    let ran = Gather::new(0).nullable().run_into(&data, &ids, nulls, &mut Tensor::default(), &mut []);
    assert_eq!(ran, Err(Error::BitmapTooShort { bytes: 0, offset: 0, len: 2 }));
    let ran =
        Gather::new(0).nullable().run_into(&data, &ids, nulls, &mut ViewMut::new(&mut [0; 4], &[4]).unwrap(), &mut [0]);
    assert!(matches!(ran, Err(Error::ShapeMismatch { argument: Argument::Output, .. })), "{ran:?}");
    let floats = View::new(&[0.5f32], &[1]).unwrap();
    let ran = Gather::new(0).nullable().run(&DynView::from(&data), &DynView::from(&floats), nulls);
    assert!(matches!(ran, Err(Error::NotAnIndexType { .. })), "{ran:?}");
    for (offset, len) in [(0, 17), (16, 1), (1, usize::MAX), (usize::MAX, 1), (24, 0)] {
        assert_eq!(Bitmap::new(&bytes, offset, len).err(), Some(Error::BitmapTooShort { bytes: 2, offset, len }));
    }
    assert!(Bitmap::new(&bytes, 16, 0).unwrap().is_empty());
}

#[test]
fn plans_compare_layouts_and_bitmaps() {
    let (data, ids) = ([1u8, 2, 3, 4, 5, 6], [0u32, 2]);
    let (data, ids) = (View::new(&data, &[3, 2]).unwrap(), View::new(&ids, &[2]).unwrap());
    let bytes = [2u8; 2];
    let of = |indices, data| {
        let of = |len| Bitmap::new(&bytes, 0, len).unwrap();
        Nulls { indices: Some(of(indices)), data: Some(of(data)) }
    };
    let plan = Gather::new(0).nullable().plan(&data, &ids).unwrap();
    assert_eq!((plan.output_shape(), plan.clone().explain().to_string().is_empty()), (&[2, 2][..], false));
    let any = Gather::new(0).nullable().plan_any_count(&data, &ids).unwrap();
    let bad = View::new(&[1u8, 2], &[1, 2]).unwrap();
    let (one, none) = (View::new(&[1u32], &[1]).unwrap(), View::<u32>::new(&[], &[0]).unwrap());
    assert!(matches!(plan.run(&data, &one, of(1, 3)), Err(Error::PlanMismatch { argument: Argument::Indices, .. })));
    assert!(matches!(any.run(&bad, &one, of(1, 1)), Err(Error::PlanMismatch { argument: Argument::Data, .. })));
    let (rows, validity) = any.run(&data, &one, of(1, 6)).unwrap();
    assert_eq!((rows.as_slice(), validity.unwrap().as_bytes()), (&[0, 0][..], &[0][..]));
    let (rows, validity) = any.run(&data, &none, of(0, 6)).unwrap();
    assert_eq!((rows.shape(), validity), (&[0, 2][..], None));
    for plan in [&plan, &any] {
        let refused = plan.run(&data, &ids, of(3, 3)).unwrap_err();
        let (op, argument) = (Op::Gather, Argument::Indices);
        assert_eq!(refused, Error::BitmapLengthMismatch { op, argument, len: 3, rows: 2, elements: 2 });
        let mut out = [9u8; 4];
        let mut view = ViewMut::new(&mut out, &[2, 2]).unwrap();
        let refused = plan.run_into(&data, &ids, of(2, 3), &mut view, &mut []).unwrap_err();
        assert_eq!(refused, Error::BitmapTooShort { bytes: 0, offset: 0, len: 2 });
        let mut bits = [7u8; 2];
        assert_eq!(plan.run_into(&data, &ids, of(2, 3), &mut view, &mut bits), Ok(2));
        assert_eq!(bits, [0, 7]);
        assert_eq!(plan.run_into(&data, &ids, Nulls::default(), &mut view, &mut bits), Ok(0));
        assert_eq!((out, bits), ([1, 2, 5, 6], [3, 7]));
        let mut short = ViewMut::new(&mut out, &[4, 1]).unwrap();
        let refused = plan.run_into(&data, &ids, of(2, 3), &mut short, &mut bits);
        assert!(matches!(refused, Err(Error::PlanMismatch { argument: Argument::Output, .. })), "{refused:?}");
    }
    let pairs = Spec::<u32>::new(&[4, 2]).unwrap();
    let refused = GatherNd::new().nullable().plan_any_count(&data, &pairs).err();
    assert_eq!(refused, Some(Error::AnyCountUnavailable { op: Op::GatherNd }));
    let floats = View::new(&[0.5f32], &[1]).unwrap();
    let plan = Gather::new(0).nullable().plan(&DynView::from(&data), &DynView::from(&ids));
    let refused = plan.unwrap().run(&DynView::from(&data), &DynView::from(&floats), of(2, 3)).unwrap_err();
    assert_eq!(refused, Error::DTypeMismatch { expected: u32::DTYPE, got: f32::DTYPE });
}

#[test]
fn nothing_is_null() {
    let (data, ids) = ([1u8, 2, 3], [-1i64, 0]);
    let (data, ids) = (View::new(&data, &[3]).unwrap(), View::new(&ids, &[2]).unwrap());
    let all = [0xff];
    let of = |len| Some(Bitmap::new(&all, 1, len).unwrap());
    for nulls in [Nulls::default(), Nulls { indices: of(2), data: of(3) }] {
        let (out, validity) = Gather::new(0).nullable().run(&data, &ids, nulls).unwrap();
        assert_eq!((out.as_slice(), validity), (&[3, 1][..], None));
        let mut bits = [0, 7];
        let none = Gather::new(0).nullable().run_into(&data, &ids, nulls, &mut Tensor::default(), &mut bits);
        assert_eq!((none, bits), (Ok(0), [3, 7]));
    }
}

#[test]
fn an_axis_without_elements_and_one_beyond_32_bits() {
    let (none, ids) = (View::<u16>::new(&[], &[0, 2]).unwrap(), [5u64, 1 << 40, u64::MAX]);
    let ids = View::new(&ids, &[3]).unwrap();
    let nulls = |bits| Nulls { indices: Some(Bitmap::new(bits, 0, 3).unwrap()), data: None };
    let (out, validity) = Gather::new(0).nullable().run(&none, &ids, nulls(&[0])).unwrap();
    assert_eq!((out.as_slice(), validity.unwrap().into_bytes()), (&[0; 6][..], vec![0]));
    let refused = |ran: Result<_, Error>, at, value| match ran {
        Err(Error::IndexOutOfRange { position, index, .. }) => assert_eq!((position, index), (at, value)),
        ran => panic!("{:?}", ran.map(|(out, _): (Tensor<u16>, Option<Validity>)| out)),
    };
    refused(Gather::new(0).nullable().run(&none, &ids, nulls(&[2])), 1, 1 << 40);
    refused(
        Gather::new(0).out_of_bounds(OutOfBounds::Clamp).nullable().run(&none, &ids, nulls(&[4])),
        2,
        u64::MAX.into(),
    );
    let (out, validity) =
        Gather::new(0).out_of_bounds(OutOfBounds::Zero).nullable().run(&none, &ids, nulls(&[4])).unwrap();
    assert_eq!((out.shape(), validity.unwrap().as_bytes()), (&[3, 2][..], &[4][..]));

    let wide = View::strided(&[9u16], &[1 << 33], &[0], 0).unwrap();
    if usize::BITS == 64 {
        let (out, validity) =
            Gather::new(0).out_of_bounds(OutOfBounds::Wrap).nullable().run(&wide, &ids, nulls(&[6])).unwrap();
        assert_eq!((out.as_slice(), validity.unwrap().as_bytes()), (&[0, 9, 9][..], &[6][..]));
        refused(Gather::new(0).nullable().run(&wide, &ids, nulls(&[6])), 1, 1 << 40);
        let (out, _) = GatherElements::new(0).nullable().run(&wide, &ids, nulls(&[1])).unwrap();
        assert_eq!(out.as_slice(), [9, 0, 0]);
    }
    let pairs = View::new(&[0u8, 1, 7, 7], &[2, 2]).unwrap();
    let square = View::new(&[1u16, 2, 3, 4], &[2, 2]).unwrap();
    let nulls = Nulls { indices: Some(Bitmap::new(&[1], 0, 2).unwrap()), data: None };
    let (out, _) = GatherNd::new().nullable().run(&square, &pairs, nulls).unwrap();
    assert_eq!(out.as_slice(), [2, 0]);
}
