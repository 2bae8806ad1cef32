//! Checked indices, pairs, unique ids and outputs that grow, through every door.

use gather_core::{
    Append, Argument, Bags, Bitmap, Checked, DynView, EmbeddingBag, Error, Gather, GatherElements, IndexPolicy, Nulls,
    Op, OutOfBounds, Reduction, ScatterElements, Tensor, Unique, View, chunks, zeros,
};

use crate::common::{Line, Lines, Packed, Point, Sample, set, settings};

/// Rows of `T` by checked indices, with every setting: an error where a call by the indices is an error.
fn checked<T: Sample>() {
    let values: Vec<T> = (0..15).map(T::sample).collect();
    let data = View::new(&values, &[5, 3]).unwrap();
    for indices in [vec![0i32, 4, 2, 1, 3, 0, 2], vec![4, -1, -5, 3, 9, 0, i32::MIN], vec![]] {
        let exact: Vec<i128> = indices.iter().map(|&index| index.into()).collect();
        for setting in settings() {
            let expected = setting.gather(&values, 3, &exact, T::ZERO);
            let judge = |door: &str, got| setting.judge(Op::Gather, door, &expected, got);
            let op = set!(Gather::new(0), &setting);
            let policy = IndexPolicy { negative: op.get_negative_index(), out_of_bounds: op.get_out_of_bounds() };
            let view = View::new(&indices, &[indices.len()]).unwrap();
            let (wide, narrow) = (DynView::from(&view), Checked::<i32>::new(&indices, 5, policy));
            let Ok(ids) = narrow else {
                assert!(matches!(narrow, Err(Error::IndexOutOfRange { .. })) && expected.is_err(), "{setting:?}");
                continue;
            };
            let wide = Checked::<i64>::new(&wide, 5, policy).unwrap();
            judge("run by 64 bits", op.run(&data, &wide).map(Tensor::into_vec));
            assert_eq!((ids.n(), ids.positions().shape()), (5, &[indices.len()][..]));
            judge("run", op.run(&data, &ids).map(Tensor::into_vec));
            judge("plan", op.plan(&data, &ids).and_then(|plan| plan.run(&data, &ids)).map(Tensor::into_vec));
            let plan = op.plan_any_count(&data, &ids);
            judge("plan_any_count", plan.and_then(|plan| plan.run(&data, &ids)).map(Tensor::into_vec));
            let nullable = op.nullable().run(&data, &ids, Nulls::default());
            judge("nullable", nullable.map(|(rows, _)| rows.into_vec()));
            let mut all = vec![T::sample(77)];
            let ran = op.run_into(&data, &ids, &mut Append(&mut all));
            judge("append", ran.map(|()| all.split_off(1)));
            let mut rows = Tensor::new(values[..3].to_vec(), &[1, 3]).unwrap();
            let ran = op.run_into(&data, &ids, &mut Append(&mut rows));
            judge("append to a tensor", ran.map(|()| rows.into_vec().split_off(3)));
        }
    }
}

#[test]
fn checked_indices_through_every_operator() {
    checked::<u8>();
    checked::<u64>();
    checked::<Point>();
    checked::<Packed>();
    checked::<Line>();
    checked::<Lines>();
    let (data, policy) = ([1.0f32, 2.0, 3.0], IndexPolicy::from(OutOfBounds::Error));
    let valid = Bitmap::new(&[0b01], 0, 2).unwrap();
    let ids = Checked::<i32>::with_nulls(&[2u8, 200], valid, 3, policy).unwrap();
    let nulls = Nulls { indices: Some(valid), ..Nulls::default() };
    let (taken, validity) = Gather::new(0).nullable().run(&data, &ids, nulls).unwrap();
    assert_eq!((taken.as_slice(), validity.unwrap().as_bytes()), (&[3.0, 0.0][..], &[0b01][..]));
    assert_eq!(GatherElements::new(0).run(&data, &ids).unwrap().as_slice(), [3.0, 0.0]);
    let owned = Checked::<i32>::new(&[2i32, 0], 3, policy).unwrap().into_owned().unwrap();
    assert_eq!(GatherElements::new(0).run(&data, &owned).unwrap().as_slice(), [3.0, 1.0]);
    let updates = [10.0f32, 20.0];
    assert_eq!(Gather::new(0).adjoint().run(&data, &ids, &updates).unwrap().as_slice(), [1.0, 2.0, 13.0]);
    let mut own = data;
    ScatterElements::new(0).run_on(&mut own, &ids, &updates).unwrap();
    assert_eq!(own, [1.0, 2.0, 10.0]);
    let mean = EmbeddingBag::new(Reduction::Mean);
    assert_eq!(mean.run(&data, &Bags::new(&ids, &[0u8])).unwrap().as_slice(), [1.5]);
    let refused = Checked::<i32>::with_nulls(&[2u8, 200], Bitmap::new(&[0b10], 0, 2).unwrap(), 3, policy);
    assert!(matches!(refused, Err(Error::IndexOutOfRange { position: 1, index: 200, dim: 3, .. })));
    assert!(matches!(
        Checked::<i32>::with_nulls(&[2u8, 200], Bitmap::new(&[0], 0, 1).unwrap(), 3, policy),
        Err(Error::BitmapLengthMismatch { argument: Argument::Indices, len: 1, rows: 2, .. })
    ));
}

#[test]
fn pairs_of_chunks() {
    let values: Vec<Point> = (0..5).map(Point::sample).collect();
    let parts = [View::new(&values[..2], &[2]).unwrap(), View::new(&values[2..], &[3]).unwrap()];
    let table = chunks(&parts).unwrap();
    let pairs: Checked<'_, i64> = table.pairs(&[1i8, 0, 1], &[2usize, 1, 0]).unwrap();
    assert_eq!(Gather::new(0).run(&table, &pairs).unwrap().as_slice(), [values[4], values[1], values[2]]);
    let refused = table.pairs::<i32, _, _>(&[0u64, u64::MAX], &[i64::MAX, 0]);
    assert!(matches!(refused, Err(Error::PairOutOfRange { position: 0, rows: Some(2), .. })));
}

#[test]
fn unique_ids() {
    let unique = Unique::new(&[i64::MAX, 4, i64::MIN, 4]).unwrap();
    assert_eq!(unique.ids(), [i64::MIN, 4, i64::MAX]);
    let counts = Gather::new(0).adjoint().run(&zeros(&[3]).unwrap(), unique.inverse(), &[1u8; 4]).unwrap();
    assert_eq!(counts.as_slice(), [1, 2, 1]);
    assert_eq!(Unique::<u32>::new(&[]).unwrap().ids(), []);
    assert_eq!(Unique::new(&[u64::MAX, 0]).unwrap().into_ids(), [0, u64::MAX]);
    assert_eq!(Unique::new(&[3usize, 3]).unwrap().into_ids(), [3]);
}
