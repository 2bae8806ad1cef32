//! Fused rows: any bytes as tables of every format, of right and of wrong widths, through every door.

use gather_core::{
    Argument, Bags, DynTensor, DynView, DynViewMut, Element, EmbeddingBag, Error, Float, FusedFormat, FusedRows,
    Gather, Level, Method, Op, OutOfBounds, Reduction, Spec, View, ViewMut, tables, tables_dyn,
};
use half::{bf16, f16};

#[test]
fn rows_of_every_width() {
    let bytes = [0xffu8; 64];
    for &format in FusedFormat::ALL {
        assert_eq!(format.row_bytes(usize::MAX).is_some(), format.bits() == 2);
        for columns in [0, 1, 3, 4, 5, 8, 9, usize::MAX / 4, usize::MAX - 8, usize::MAX] {
            let expected = format.row_bytes(columns);
            for width in 0..16 {
                let table = FusedRows::new(View::new(&bytes[..4 * width], &[4, width]).unwrap(), format, columns);
                let fits = expected == Some(width);
                let mismatch = Error::FusedRowMismatch { format, columns, expected, got: width };
                assert_eq!(table.map(|table| table.rows()), if fits { Ok(4) } else { Err(mismatch) });
            }
        }
        let width = format.row_bytes(3).unwrap();
        for shape in [&[][..], &[width], &[1, 1, width]] {
            let view = View::strided(&bytes, shape, &vec![0; shape.len()], 0).unwrap();
            assert!(matches!(FusedRows::new(view, format, 3), Err(Error::RankOutOfRange { .. })));
        }
        let backwards = View::strided(&bytes, &[2, width], &[16, -1], 40).unwrap();
        assert!(matches!(FusedRows::new(backwards, format, 3), Err(Error::RowsNotContiguous { .. })));
        // Rows that lie in one another, or backwards, are rows.
        for step in [0, 1, -3] {
            let table = FusedRows::new(View::strided(&bytes, &[3, width], &[step, 1], 40).unwrap(), format, 3).unwrap();
            assert_eq!((table.columns(), table.format(), table.data().strides()[0]), (3, format, step));
            let rows = Gather::new(0).run(&table.to::<f32>(), &View::new(&[2u8, 0], &[2]).unwrap()).unwrap();
            assert!(rows.as_slice().iter().all(|value| value.is_nan()));
        }
        let nan = [f32::NAN, f32::INFINITY, -f32::MAX, f32::MAX, 0.0, -0.0];
        for shape in [[1, 6], [6, 1], [2, 3], [0, 6], [6, 0]] {
            let values = &nan[..shape[0] * shape[1]];
            let made = FusedRows::quantize(format, &View::new(values, &shape).unwrap()).unwrap();
            assert_eq!(made.shape(), [shape[0], format.row_bytes(shape[1]).unwrap()]);
        }
        let wide = View::strided(&nan[..1], &[1, usize::MAX >> 1], &[0, 0], 0).unwrap();
        let wide = FusedRows::quantize(format, &wide).err();
        assert!(matches!(wide, Some(Error::TooManyElements { .. } | Error::AllocationFailed { .. })), "{wide:?}");
        let list = View::new(&nan, &[6]).unwrap();
        assert!(matches!(FusedRows::quantize(format, &list), Err(Error::RankOutOfRange { .. })));
    }
}

fn gathers<U: Float + std::fmt::Debug>(table: &FusedRows<'_>, zeros: &FusedRows<'_>) {
    let ids = View::new(&[3i64, -1, i64::MIN, i64::MAX], &[4]).unwrap();
    let columns = table.columns();
    let op = Gather::new(0).out_of_bounds(OutOfBounds::Zero);
    let rows = op.run(&table.to::<U>(), &ids).unwrap();
    assert_eq!(rows.shape(), [4, columns]);
    assert!(rows.as_slice()[2 * columns..].iter().all(|&value| value.to_f32() == 0.0));
    let mut out = vec![U::ZERO; 4 * columns];
    op.run_into(&table.to::<U>(), &ids, &mut ViewMut::new(&mut out, &[4, columns]).unwrap()).unwrap();
    let plan = op.plan(&table.to::<U>(), &ids).unwrap();
    assert_eq!((plan.output_shape(), plan.clone().explain().to_string().is_empty()), (rows.shape(), false));
    plan.run_into(&table.to(), &ids, &mut ViewMut::new(&mut out, &[4, columns]).unwrap()).unwrap();
    assert_eq!(plan.run(&table.to(), &ids).unwrap().len(), out.len());
    assert!(plan.will_need(&table.to(), &ids).rows <= 4);
    let mut short = ViewMut::new(&mut out, &[columns, 4]).unwrap();
    assert!(op.run_into(&table.to::<U>(), &ids, &mut short).is_err() || columns == 4);
    let any = op.plan_any_count(&table.to::<U>(), &Spec::<u8>::new(&[9]).unwrap()).unwrap();
    assert_eq!(any.run(&table.to(), &[0u8; 300]).unwrap().shape(), [300, columns]);
    assert!(any.run(&zeros.to(), &[0u8]).is_err());
    let refused = Gather::new(0).run(&table.to::<U>(), &ids);
    assert!(matches!(refused, Err(Error::IndexOutOfRange { position: 2, .. })), "{refused:?}");
    for axis in [1, -1] {
        let refused = Gather::new(axis).run(&table.to::<U>(), &ids).err();
        assert!(matches!(refused, Some(Error::QuantizedAxis { axis: 1, .. })), "{refused:?}");
        assert!(Gather::new(axis).plan(&table.to::<U>(), &ids).is_err());
    }
}

fn bags<U: Float + std::fmt::Debug>(table: &FusedRows<'_>, other: &FusedRows<'_>) {
    let (ids, weights, offsets) = ([3i64, -1, i64::MIN, i64::MAX, 1], [f32::NAN, 0.0, f32::MAX, 1.0, 2.0], [0i8, 3, 3]);
    let (ids, weights) = (View::new(&ids, &[5]).unwrap(), View::new(&weights, &[5]).unwrap());
    let offsets = View::new(&offsets, &[3]).unwrap();
    let (list, columns) = (Bags::new(&ids, &offsets), table.columns());
    for reduction in Reduction::ALL.iter().copied() {
        let op = EmbeddingBag::new(reduction).out_of_bounds(OutOfBounds::Clamp).default_index(0).padding_index(2);
        let known = [Reduction::Add, Reduction::Mean, Reduction::Max, Reduction::Min].contains(&reduction);
        let got = op.run(&table.to::<U>(), &list);
        if !known {
            assert!(matches!(got, Err(Error::ReductionUnavailable { .. })), "{got:?}");
            continue;
        }
        assert_eq!(got.unwrap().shape(), [3, columns]);
        let weighted = op.run(&table.to::<U>(), &list.weights(&weights));
        assert_eq!(weighted.is_ok(), reduction == Reduction::Add, "{weighted:?}");
        let mut out = vec![U::ZERO; 3 * columns];
        let mut into = ViewMut::new(&mut out, &[3, columns]).unwrap();
        op.run_into(&table.to::<U>(), &list, &mut into).unwrap();
        let plan = op.plan(&table.to::<U>(), &list).unwrap();
        assert_eq!((plan.output_shape(), plan.clone().explain().to_string().is_empty()), (&[3, columns][..], false));
        plan.run_into(&table.to(), &Bags::planned(&ids), &mut into).unwrap();
        plan.run_into(&table.to(), &list, &mut into).unwrap();
        assert_eq!(plan.run(&table.to(), &Bags::planned(&ids)).unwrap().len(), 3 * columns);
        assert_eq!(
            plan.run(&table.to(), &Bags::new(&ids, &ids)).err().map(|error| error.to_string().is_empty()),
            Some(false)
        );
        assert!(plan.run(&other.to(), &Bags::planned(&ids)).is_err() && plan.run(&other.to(), &list).is_err());
        let refused = op.out_of_bounds(OutOfBounds::Error).run(&table.to::<U>(), &list);
        assert!(matches!(refused, Err(Error::IndexOutOfRange { position: 2, .. })), "{refused:?}");
        let mut apart = ViewMut::strided(&mut out, &[3, columns], &[1, 3], 0).unwrap();
        let refused = op.run_into(&table.to::<U>(), &list, &mut apart).err();
        assert!(columns < 2 || matches!(refused, Some(Error::RowsNotContiguous { .. })), "{refused:?}");
    }
}

#[test]
fn gathers_and_bags_of_any_bytes() {
    let bytes: Vec<u8> = (0..4096).map(|at: u32| (at.wrapping_mul(0x9e37_79b9) >> 13) as u8).collect();
    for &format in FusedFormat::ALL {
        for columns in [1, 5, 8, 64, 65, 200] {
            let width = format.row_bytes(columns).unwrap();
            let view = || View::strided(&bytes, &[4, width], &[width as isize + 3, 1], 1).unwrap();
            let table = FusedRows::new(view(), format, columns).unwrap();
            // Another format, or rows at another distance.
            let same_width = |other: &&FusedFormat| **other != format && other.row_bytes(columns) == Some(width);
            let other = match FusedFormat::ALL.iter().find(same_width) {
                Some(&other) => FusedRows::new(view(), other, columns).unwrap(),
                None => FusedRows::new(View::new(&bytes[..4 * width], &[4, width]).unwrap(), format, columns).unwrap(),
            };
            gathers::<f32>(&table, &other);
            gathers::<f16>(&table, &other);
            gathers::<bf16>(&table, &other);
            bags::<f32>(&table, &other);
            bags::<f16>(&table, &other);
            bags::<bf16>(&table, &other);
        }
    }
    // Rows of as many bytes with one column less.
    let [eight, seven] = [8, 7].map(|columns| {
        FusedRows::new(View::new(&bytes[..16], &[2, 8]).unwrap(), FusedFormat::Torch4, columns).unwrap()
    });
    let ids = View::new(&[1u8, 0], &[1, 2]).unwrap();
    let plan = Gather::new(0).plan(&eight.to::<f32>(), &ids).unwrap();
    assert!(matches!(plan.run(&seven.to(), &ids), Err(Error::PlanMismatch { .. })));
    let plan = EmbeddingBag::new(Reduction::Add).plan(&eight.to::<f32>(), &Bags::packed(&ids)).unwrap();
    assert!(matches!(plan.run(&seven.to(), &Bags::planned(&ids)), Err(Error::PlanMismatch { .. })));
}

/// Bags with weights or without.
type ListOf<'a> = Bags<'a, View<'a, i64>, View<'a, i64>, View<'a, f32>>;

fn several<U: Float + std::fmt::Debug>(op: EmbeddingBag, only: &[&FusedRows<'_>], bags: ListOf<'_>) {
    let columns: usize = only.iter().map(|table| table.columns()).sum();
    let (all, bags) = (tables::<U>(only.iter().copied()).unwrap(), vec![bags; only.len()]);
    let got = op.run(&all, &bags);
    let Ok(got) = got else {
        assert!(matches!(got, Err(Error::InTable { .. })), "{got:?}");
        return;
    };
    assert_eq!(got.shape(), [3, columns]);
    let mut out = vec![U::ZERO; 3 * columns];
    op.run_into(&all, &bags, &mut ViewMut::new(&mut out, &[3, columns]).unwrap()).unwrap();
    let plan = op.plan(&all, &bags).unwrap();
    assert_eq!((plan.output_shape(), format!("{:?}", plan.clone()).is_empty()), (&[3, columns][..], false));
    plan.run_into(&all, &bags, &mut ViewMut::new(&mut out, &[3, columns]).unwrap()).unwrap();
    assert_eq!(plan.run(&all, &bags[..]).unwrap().len(), out.len());
    let (count, twice) = (only.len(), [only, only].concat());
    let other = tables::<U>(twice).unwrap();
    let mismatch = |argument, got| Error::TablesMismatch { argument, expected: count, got };
    assert_eq!(plan.run(&other, &bags).unwrap_err(), mismatch(Argument::Data, 2 * count));
    assert_eq!(plan.run(&all, &bags[1..]).unwrap_err(), mismatch(Argument::Indices, count - 1));
    assert_eq!(op.run(&all, &bags[1..]).unwrap_err(), mismatch(Argument::Indices, count - 1));
    assert_eq!(op.plan(&all, &bags[1..]).unwrap_err(), mismatch(Argument::Indices, count - 1));
    for shape in [&[][..], &[3 * columns], &[3, columns, 1], &[columns, 3]] {
        let mut out = vec![U::ZERO; shape.iter().product()];
        let mut out = ViewMut::new(&mut out, shape).unwrap();
        let (fresh, planned) = (op.run_into(&all, &bags, &mut out).err(), plan.run_into(&all, &bags, &mut out).err());
        assert!(matches!(fresh, Some(Error::ShapeMismatch { .. } | Error::RowsNotContiguous { .. })), "{fresh:?}");
        assert!(matches!(planned, Some(Error::ShapeMismatch { .. })), "{planned:?}");
    }
}

#[test]
fn several_tables_of_any_bytes() {
    let bytes: Vec<u8> = (0..4096).map(|at: u32| (at.wrapping_mul(0x9e37_79b9) >> 13) as u8).collect();
    let numbers = [f32::NAN, 1.0, -0.0, f32::MAX, f32::INFINITY, 2.5];
    let halves = numbers.map(f16::from_f32);
    let plain = [
        FusedRows::plain(View::strided(&numbers, &[2, 2], &[-3, 1], 4).unwrap()).unwrap(),
        FusedRows::plain(View::strided(&numbers, &[6, 1], &[1, 7], 0).unwrap()).unwrap(),
        FusedRows::plain(View::new(&halves, &[2, 3]).unwrap()).unwrap(),
        FusedRows::plain(View::new(&[bf16::ONE; 0], &[0, 3]).unwrap()).unwrap(),
        FusedRows::plain(View::new(&[bf16::ONE; 0], &[3, 0]).unwrap()).unwrap(),
    ];
    let refused = FusedRows::plain(View::strided(&numbers, &[2, 3], &[1, 2], 0).unwrap());
    assert!(matches!(refused, Err(Error::RowsNotContiguous { .. })), "{refused:?}");
    let refused = FusedRows::plain(View::new(&numbers, &[6]).unwrap());
    assert!(matches!(refused, Err(Error::RankOutOfRange { .. })), "{refused:?}");
    let ids = [1i64, -1, i64::MIN, 0, 1];
    let (ids, offsets) = (View::new(&ids, &[5]).unwrap(), View::new(&[0i64, 3, 3], &[3]).unwrap());
    let weights = View::new(&[f32::NAN, 0.0, f32::MAX, 1.0, 2.0], &[5]).unwrap();
    let bags = Bags::new(&ids, &offsets);
    for &format in FusedFormat::ALL {
        let width = format.row_bytes(9).unwrap();
        let view = View::strided(&bytes, &[4, width], &[width as isize + 3, 1], 1).unwrap();
        let fused = FusedRows::new(view, format, 9).unwrap();
        for reduction in Reduction::ALL.iter().copied() {
            for op in [
                EmbeddingBag::new(reduction).skip_negative(true),
                EmbeddingBag::new(reduction).out_of_bounds(OutOfBounds::Zero),
                EmbeddingBag::new(reduction).out_of_bounds(OutOfBounds::Wrap).default_index(1),
            ] {
                let all: Vec<_> = [&fused].into_iter().chain(&plain).collect();
                for (tables, weights) in
                    [(&all[..], None), (&all[..4], None), (&all[..1], None), (&all[..4], Some(&weights))]
                {
                    several::<f32>(op, tables, bags.weights(weights));
                    several::<f16>(op, tables, bags.weights(weights));
                    several::<bf16>(op, tables, bags.weights(weights));
                }
            }
        }
    }
}

#[test]
fn types_known_at_run_time() {
    let bytes: Vec<u8> = (0..512).map(|at: u32| (at.wrapping_mul(0x9e37_79b9) >> 13) as u8).collect();
    let (ids, offsets) = ([1i16, 0, -1, 2, 1], [0u64, 3, 3]);
    let (ids, offsets) = (View::new(&ids, &[5]).unwrap(), View::new(&offsets, &[3]).unwrap());
    let weights = View::new(&[0.5f32, 0.0, 2.0, 1.0, 2.0], &[5]).unwrap();
    let (i, o, w) = (DynView::from(&ids), DynView::from(&offsets), DynView::from(&weights));
    let bags = Bags::new(&i, &o).weights(&w);
    let typed = Bags::new(&ids, &offsets).weights(&weights);
    for &format in FusedFormat::ALL {
        let width = format.row_bytes(9).unwrap();
        let table = FusedRows::new(View::new(&bytes[..3 * width], &[3, width]).unwrap(), format, 9).unwrap();
        let op = EmbeddingBag::new(Reduction::Add);
        macro_rules! each {
            ($($ty:ty),*) => {$({
                let bits = |values: &[$ty]| values.iter().map(|value| format!("{value:?}")).collect::<Vec<_>>();
                let expected = op.run(&table.to::<$ty>(), &typed).unwrap();
                let got = op.run(&table.to_dyn(<$ty>::DTYPE), &bags).unwrap().downcast::<$ty>().unwrap();
                assert_eq!((got.shape(), bits(got.as_slice())), (expected.shape(), bits(expected.as_slice())));
                let mut out = vec![<$ty>::ZERO; 3 * 11];
                let mut view = ViewMut::strided(&mut out, &[3, 9], &[11, 1], 0).unwrap();
                op.run_into(&table.to_dyn(<$ty>::DTYPE), &bags, &mut DynViewMut::from(&mut view)).unwrap();
                assert_eq!(bits(&out[11..20]), bits(&expected.as_slice()[9..18]));
                let mut apart = ViewMut::strided(&mut out, &[3, 9], &[1, 3], 0).unwrap();
                let refused = op.run_into(&table.to_dyn(<$ty>::DTYPE), &bags, &mut DynViewMut::from(&mut apart));
                assert!(matches!(refused, Err(Error::RowsNotContiguous { .. })), "{refused:?}");
                let refused = op.run_into(&table.to_dyn(u8::DTYPE), &bags, &mut DynViewMut::from(&mut apart));
                assert!(matches!(refused, Err(Error::ReductionUnavailable { .. })), "{refused:?}");
            })*};
        }
        each!(f32, f16, bf16);
        let gather = Gather::new(0);
        macro_rules! gathered {
            ($($ty:ty),*) => {$({
                let bits = |values: &[$ty]| values.iter().map(|value| format!("{value:?}")).collect::<Vec<_>>();
                let expected = gather.run(&table.to::<$ty>(), &ids).unwrap();
                let same = |got: DynTensor| {
                    let got = got.downcast::<$ty>().unwrap();
                    assert_eq!((got.shape(), bits(got.as_slice())), (expected.shape(), bits(expected.as_slice())));
                };
                same(gather.run(&table.to_dyn(<$ty>::DTYPE), &i).unwrap());
                let mut out = DynTensor::empty(u8::DTYPE);
                gather.run_into(&table.to_dyn(<$ty>::DTYPE), &i, &mut out).unwrap();
                same(out);
                let plan = gather.plan(&table.to_dyn(<$ty>::DTYPE), &i).unwrap();
                same(plan.run(&table.to_dyn(<$ty>::DTYPE), &i).unwrap());
                let refused = Error::DTypeMismatch { expected: i16::DTYPE, got: u64::DTYPE };
                assert_eq!(plan.run(&table.to_dyn(<$ty>::DTYPE), &o).unwrap_err(), refused);
                let mut apart = vec![<$ty>::ZERO; 45];
                let mut apart = ViewMut::strided(&mut apart, &[5, 9], &[1, 5], 0).unwrap();
                let refused = gather.run_into(&table.to_dyn(<$ty>::DTYPE), &i, &mut DynViewMut::from(&mut apart));
                assert!(matches!(refused, Err(Error::RowsNotContiguous { .. })), "{refused:?}");
            })*};
        }
        gathered!(f32, f16, bf16);
        let unknown = Error::DTypeMismatch { expected: f32::DTYPE, got: u8::DTYPE };
        assert_eq!(gather.run(&table.to_dyn(u8::DTYPE), &i).unwrap_err(), unknown);
        assert_eq!(gather.plan(&table.to_dyn(u8::DTYPE), &i).unwrap_err(), unknown);
        let refused = gather.run(&table.to_dyn(f32::DTYPE), &w);
        assert!(matches!(refused, Err(Error::NotAnIndexType { .. })), "{refused:?}");
        let refused = Gather::new(1).run(&table.to_dyn(f32::DTYPE), &i);
        assert!(matches!(refused, Err(Error::QuantizedAxis { .. })), "{refused:?}");

        let refused = op.run(&table.to_dyn(f32::DTYPE), &Bags::new(&w, &o));
        assert!(matches!(refused, Err(Error::NotAnIndexType { .. })), "{refused:?}");
        let refused = op.run(&table.to_dyn(f32::DTYPE), &Bags::new(&i, &o).weights(&i));
        assert!(matches!(refused, Err(Error::DTypeMismatch { .. })), "{refused:?}");
        let mut short = [0f32; 27];
        let mut short = ViewMut::new(&mut short, &[27]).unwrap();
        let mut short = DynViewMut::from(&mut short);
        assert!(op.run_into(&table.to_dyn(f32::DTYPE), &bags, &mut short).is_err());
        assert!(matches!(op.run_into(&table.to_dyn(f16::DTYPE), &bags, &mut short), Err(Error::DTypeMismatch { .. })));
    }
}

/// Several tables, each with indices and offsets of types of its own.
#[test]
fn several_tables_of_types_known_at_run_time() {
    let bytes: Vec<u8> = (0..512).map(|at: u32| (at.wrapping_mul(0x9e37_79b9) >> 13) as u8).collect();
    let width = FusedFormat::Fbgemm8.row_bytes(5).unwrap();
    let first = FusedRows::new(View::new(&bytes[..3 * width], &[3, width]).unwrap(), FusedFormat::Fbgemm8, 5).unwrap();
    let numbers = [1.0f32, 2.0, 4.0, 8.0];
    let second = FusedRows::plain(View::new(&numbers, &[2, 2]).unwrap()).unwrap();
    let (ids, offsets) = ([1i16, 0, -1, 2, 1], [0u64, 3]);
    let (ids, offsets) = (View::new(&ids, &[5]).unwrap(), View::new(&offsets, &[2]).unwrap());
    let pairs = View::new(&[1u8, 0, 1, 1], &[2, 2]).unwrap();
    let (weights, wrong) = (View::new(&[0.5f32; 4], &[2, 2]).unwrap(), View::new(&[0.5f64; 4], &[2, 2]).unwrap());
    let (i, o, p) = (DynView::from(&ids), DynView::from(&offsets), DynView::from(&pairs));
    let (w, f) = (DynView::from(&weights), DynView::from(&wrong));
    let op = EmbeddingBag::new(Reduction::Add);
    let both = |dtype| tables_dyn(dtype, [&first, &second]).unwrap();
    let bags = [Bags::new(&i, &o).weights(None), Bags::packed(&p).weights(Some(&w))];
    let got = op.run(&both(f32::DTYPE), &bags).unwrap().downcast::<f32>().unwrap();
    let left = op.run(&first.to::<f32>(), &Bags::new(&ids, &offsets)).unwrap();
    let right = op.run(&second.to::<f32>(), &Bags::packed(&pairs).weights(&weights)).unwrap();
    let expected: Vec<f32> =
        left.as_slice().chunks(5).zip(right.as_slice().chunks(2)).flat_map(|(a, b)| [a, b].concat()).collect();
    let bits = |values: &[f32]| values.iter().map(|value| format!("{value:?}")).collect::<Vec<_>>();
    assert_eq!((got.shape(), bits(got.as_slice())), (&[2, 7][..], bits(&expected)));

    let mut out = vec![bf16::ZERO; 2 * 9];
    let mut view = ViewMut::strided(&mut out, &[2, 7], &[9, 1], 0).unwrap();
    op.run_into(&both(bf16::DTYPE), &bags, &mut DynViewMut::from(&mut view)).unwrap();
    let rounded: Vec<f32> = out.chunks(9).flat_map(|row| row[..7].iter().map(|value| value.to_f32())).collect();
    let expected: Vec<f32> = expected.iter().map(|&value| bf16::from_f32(value).to_f32()).collect();
    assert_eq!(bits(&rounded), bits(&expected));
    let mut apart = ViewMut::strided(&mut out, &[2, 7], &[1, 2], 0).unwrap();
    let refused = op.run_into(&both(bf16::DTYPE), &bags, &mut DynViewMut::from(&mut apart));
    assert!(matches!(refused, Err(Error::RowsNotContiguous { .. })), "{refused:?}");
    let refused = op.run_into(&both(f16::DTYPE), &bags, &mut DynViewMut::from(&mut apart));
    assert!(matches!(refused, Err(Error::DTypeMismatch { .. })), "{refused:?}");

    let in_table = |table, error: Error| Error::InTable { table, error: error.into() };
    let plan = op.plan(&both(f32::DTYPE), &bags).unwrap();
    let planned = [Bags::planned(&i).weights(None), Bags::planned(&p).weights(Some(&w))];
    for again in [plan.run(&both(f32::DTYPE), &bags), plan.run(&both(f32::DTYPE), &planned)] {
        assert_eq!(bits(again.unwrap().downcast::<f32>().unwrap().as_slice()), bits(got.as_slice()));
    }
    let swapped = plan.run(&both(f32::DTYPE), &[bags[1], bags[0]]).unwrap_err();
    assert_eq!(swapped, in_table(0, Error::DTypeMismatch { expected: i16::DTYPE, got: u8::DTYPE }));
    let swapped = plan.run(&both(f32::DTYPE), &[planned[0], Bags::planned(&w).weights(None)]).unwrap_err();
    assert_eq!(swapped, in_table(1, Error::DTypeMismatch { expected: u8::DTYPE, got: f32::DTYPE }));
    for (other, error) in [
        (Bags::packed(&w).weights(None), Error::NotAnIndexType { dtype: f32::DTYPE }),
        (Bags::new(&i, &w).weights(None), Error::NotAnIndexType { dtype: f32::DTYPE }),
        (Bags::packed(&p).weights(Some(&f)), Error::DTypeMismatch { expected: f32::DTYPE, got: f64::DTYPE }),
    ] {
        let refused = op.run(&both(f32::DTYPE), &[bags[0], other]).unwrap_err();
        assert_eq!(refused, in_table(1, error));
    }
    let reduction = Reduction::Add;
    let unavailable = Error::ReductionUnavailable { op: Op::EmbeddingBag, reduction, dtype: Some(u8::DTYPE) };
    assert_eq!(op.run(&both(u8::DTYPE), &bags).unwrap_err(), in_table(0, unavailable));
}

#[test]
fn plans_say_what_they_read_and_make() {
    let (bytes, numbers) = ([0u8; 39], [0f32; 4]);
    let first = FusedRows::new(View::new(&bytes, &[3, 13]).unwrap(), FusedFormat::Torch8, 5).unwrap();
    let second = FusedRows::plain(View::new(&numbers, &[2, 2]).unwrap()).unwrap();
    let op = EmbeddingBag::new(Reduction::Add).level(Level::Scalar);
    let ids = View::new(&[0u32, 1], &[1, 2]).unwrap();
    let plan = op.plan(&tables::<f16>([&first, &second]).unwrap(), &[Bags::packed(&ids); 2]).unwrap();
    let said = plan.explain();
    assert_eq!(
        said.to_string(),
        "embedding_bag: bag of 2 tables
  table 0: index (u32) along axis 0 of 3: data +13 bytes
    takes 13 bytes a row, converted into 10
  table 1: index (u32) along axis 0 of 2: data +8 bytes
    takes 8 bytes a row, converted into 4
  method accumulated; level scalar"
    );
    assert_eq!((said.kernel(), said.method(), said.bytes(), said.tasks()), ("bag", Method::Accumulated, 0, 0));
    assert_eq!(format!("{plan:?}"), said.to_string());
    assert_eq!(tables::<f32>([]).unwrap_err(), Error::NoTables);
    assert_eq!(tables_dyn(f32::DTYPE, []).unwrap_err(), Error::NoTables);

    let said = op.plan(&first.to::<f32>(), &Bags::packed(&ids)).unwrap().explain().to_string();
    assert!(
        said.ends_with("takes 13 bytes a row, converted into 20 bytes a row, 40 in all; level scalar, tasks 1"),
        "{said}"
    );
}

#[test]
fn rows_of_no_columns_and_of_very_many() {
    if usize::BITS == 64 {
        let wide = View::<f32>::new(&[], &[0, 1 << 62]).unwrap();
        let refused = FusedRows::plain(wide).unwrap_err();
        assert!(matches!(refused, Error::RowsNotContiguous { .. } | Error::TooManyBytes { .. }), "{refused}");
    }
    let bytes = [0u8; 8];
    let none = FusedRows::new(View::new(&bytes, &[1, 8]).unwrap(), FusedFormat::Torch8, 0).unwrap();
    let mut nothing: [f32; 0] = [];
    let mut out = ViewMut::strided(&mut nothing, &[1, 0], &[0, 5], 0).unwrap();
    let bags = Bags::new(&[0u32], &[0u32]);
    EmbeddingBag::new(Reduction::Add).run_into(&none.to::<f32>(), &bags, &mut out).unwrap();
}
