//! Chunks through every door: elements of every kind with every setting, what they may hold, what is refused, and the
//! pages that calls need.

use std::mem::MaybeUninit;

use gather_core::{
    AdviceStats, Bags, Codes, DynTensor, DynView, EmbeddingBag, Error, FusedFormat, FusedRows, Gather, GatherElements,
    GatherNd, Given, Nulls, Op, OutOfBounds, Reduction, Residency, Spec, Tensor, View, ViewMut, chunks, maps, rows,
};

use crate::common::{Line, Lines, Packed, Point, Sample, set, settings};

/// The rows of each chunk: from, to. One is empty.
const PARTS: [[usize; 2]; 4] = [[0, 1], [1, 1], [1, 4], [4, 5]];

/// The five rows of three elements in chunks.
fn parts<T>(values: &[T]) -> [View<'_, T>; 4] {
    PARTS.map(|[from, to]| View::new(&values[3 * from..3 * to], &[to - from, 3]).unwrap())
}

/// Gathers rows of chunks through every door with every setting.
fn elements<T: Sample>() {
    let values: Vec<T> = (0..15).map(T::sample).collect();
    let parts = parts(&values);
    let table = chunks(&parts).unwrap();
    assert_eq!(table.shape(), [5, 3]);
    for indices in [vec![0i32, 4, 2, 1, 3, 0, 2], vec![4, -1, -5, 3, 9, 0, i32::MIN]] {
        let exact: Vec<i128> = indices.iter().map(|&index| index.into()).collect();
        let indices = View::new(&indices, &[7]).unwrap();
        for setting in settings() {
            let expected = setting.gather(&values, 3, &exact, T::ZERO);
            let judge = |door: &str, got| setting.judge(Op::Gather, door, &expected, got);
            let op = set!(Gather::new(0), &setting);
            judge("run", op.run(&table, &indices).map(Tensor::into_vec));
            judge("run by dyn", op.run(&table, &DynView::from(&indices)).map(Tensor::into_vec));
            let mut written = vec![T::sample(99); 21];
            let ran = op.run_into(&table, &indices, &mut ViewMut::new(&mut written, &[7, 3]).unwrap());
            judge("run_into", ran.map(|()| written));
            let mut fresh = vec![MaybeUninit::new(T::sample(99)); 21];
            // Safe code cannot read what was written; what the call says must be right still.
            let ran = op.run_into(&table, &indices, &mut ViewMut::new(&mut fresh, &[7, 3]).unwrap());
            judge("run_uninit", ran.map(|()| expected.clone().unwrap_or_default()));
            let plan = op.plan(&Spec::<T>::new(&[5, 3]).unwrap().chunks(3), &indices);
            judge("plan", plan.and_then(|plan| plan.run(&table, &indices)).map(Tensor::into_vec));
            let plan = op.plan_any_count(&table, &Spec::<i32>::new(&[2]).unwrap());
            judge("plan_any_count", plan.and_then(|plan| plan.run(&table, &indices)).map(Tensor::into_vec));
            let nullable = op.nullable().run(&table, &indices, Nulls::default());
            judge("nullable", nullable.map(|(rows, _)| rows.into_vec()));
            assert!(op.will_need(&table, &indices).rows <= 7);
        }
    }
}

#[test]
fn elements_of_every_kind() {
    elements::<u8>();
    elements::<u64>();
    elements::<Point>();
    elements::<Packed>();
    elements::<Line>();
    elements::<Lines>();
}

#[test]
fn types_known_at_run_time() {
    let values: Vec<u32> = (0..15).map(u32::sample).collect();
    let parts = parts(&values);
    let parts: Vec<DynView<'_>> = parts.iter().map(DynView::from).collect();
    let (table, ids) = (chunks(&parts).unwrap(), [4u8, 1]);
    let expected = [&values[12..15], &values[3..6]].concat();
    let got = Gather::new(0).run(&table, &ids).unwrap().downcast::<u32>().unwrap();
    assert_eq!(got.as_slice(), expected);
    let layout = gather_core::Layout::contiguous(&[5, 3]).unwrap();
    let plan = Gather::new(0).plan(&Spec::from_dtype(table_dtype(&parts), &layout).chunks(3), &ids).unwrap();
    assert_eq!(plan.run(&table, &ids).unwrap().downcast::<u32>().unwrap().as_slice(), expected);
    let bytes = [1u8; 6];
    let others = [DynView::from(&View::new(&bytes, &[2, 3]).unwrap())];
    assert!(matches!(plan.run(&chunks(&others).unwrap(), &ids), Err(Error::DTypeMismatch { .. })));
    // Bytes at an odd address are elements of types known at run time.
    let bytes = [7u8; 41];
    let odd = [0, 1].map(|at| DynView::from_bytes(table_dtype(&parts), &bytes[at..][..24], &[2, 3]).unwrap());
    let got = Gather::new(0).run(&chunks(&odd).unwrap(), &[3u8]).unwrap();
    assert_eq!(got.downcast::<u32>().unwrap().as_slice(), [0x0707_0707; 3]);
}

fn table_dtype(parts: &[DynView<'_>]) -> gather_core::DType {
    parts[0].dtype()
}

#[test]
fn maps_blocks_fused_rows_and_row_functions() {
    let codes: Vec<u8> = (0..15).collect();
    let (views, scales) = (parts(&codes), [1.0f32, 2.0, 3.0, 4.0, 5.0]);
    let (ids, op) = ([4i64, -4, 77], Gather::new(0).out_of_bounds(OutOfBounds::Zero));
    let expected = [60.0, 65.0, 70.0, 6.0, 8.0, 10.0, 0.0, 0.0, 0.0];
    let map = maps::dequantize::<u8>();
    let of = |at: usize| (Given::PerRow(&scales[PARTS[at][0]..PARTS[at][1]]), Given::All(0));
    let mapped = [0, 1, 2, 3].map(|at| views[at].map(&map, of(at)));
    let table = chunks(&mapped).unwrap();
    assert_eq!(op.run(&table, &ids).unwrap().as_slice(), expected);
    let spec = Spec::<u8>::new(&[5, 3]).unwrap();
    let plan = op.plan(&spec.map(&map).chunks(3), &ids).unwrap();
    assert_eq!(plan.run(&table, &ids).unwrap().as_slice(), expected);
    assert_eq!(plan.will_need(&table, &ids), op.will_need(&table, &ids));
    let (sum, query) = (rows::dot::<f32>(), [1.0f32, 1.0, 1.0]);
    let plan = op.plan(&Spec::<u8>::new(&[5, 3]).unwrap().map(&map).chunks(3).rows(&sum), &ids).unwrap();
    let table = table.rows(&sum, (Given::All(&query),));
    assert_eq!(plan.run(&table, &ids).unwrap().as_slice(), [195.0, 24.0, 0.0]);
    assert_eq!(op.run(&table, &ids).unwrap().as_slice(), [195.0, 24.0, 0.0]);
    let short = chunks(&mapped).unwrap().rows(&sum, (Given::All(&query[1..]),));
    assert!(matches!(op.run(&short, &ids), Err(Error::RowParameterLengthMismatch { .. })));
    assert!(op.run(&chunks(&views).unwrap(), &ids).is_ok(), "chunks of the codes themselves");

    let scales: [View<'_, f32>; 4] = PARTS.map(|[from, to]| View::new(&scales[from..to], &[to - from, 1]).unwrap());
    let blocks = [0, 1, 2, 3].map(|at| views[at].blocks(Codes::Bits8, 16, &scales[at]));
    let got = op.run(&chunks(&blocks).unwrap(), &ids).unwrap();
    assert_eq!(got.as_slice()[..3], [-580.0, -575.0, -570.0]);
    let spec = Spec::<u8>::new(&[5, 3]).unwrap().blocks::<f32>(Codes::Bits8, 16).chunks(3);
    let plan = op.plan(&spec, &ids).unwrap();
    assert_eq!(plan.run(&chunks(&blocks).unwrap(), &ids).unwrap(), got);
    assert!(op.plan(&spec.rows(&sum), &ids).is_ok());

    let bytes = [0xffu8; 12 * 3];
    let of = |rows: usize| FusedRows::new(View::new(&bytes[..12 * rows], &[rows, 12]).unwrap(), FusedFormat::Torch8, 4);
    let tables = [of(1).unwrap(), of(0).unwrap(), of(3).unwrap()];
    let floats = tables.each_ref().map(|table| table.to::<f32>());
    let got = op.run(&chunks(&floats).unwrap(), &[3u8, 9]).unwrap();
    assert!(got.as_slice()[..4].iter().all(|value| value.is_nan()));
    assert_eq!(got.as_slice()[4..], [0.0; 4]);
}

#[test]
fn chunks_that_do_not_fit() {
    let values = [1.0f32; 12];
    let view = |shape: &[usize]| View::new(&values[..shape.iter().product()], shape).unwrap();
    let none: [View<'_, f32>; 0] = [];
    assert!(matches!(chunks(&none), Err(Error::NoChunks)));
    for (shapes, at) in [([&[][..], &[]], 0), ([&[2, 3], &[2, 4]], 1), ([&[2, 3], &[6]], 1), ([&[0, 3], &[1, 0]], 1)] {
        let parts = shapes.map(view);
        let refused = chunks(&parts).unwrap_err();
        assert!(matches!(refused, Error::InChunk { chunk, .. } if chunk == at), "{refused}");
    }
    // Rows without elements, of which there are more than memory has bytes: their sum is too great.
    let many = View::<f32>::new(&[], &[isize::MAX as usize, 0]).unwrap();
    let refused = chunks(&[many.clone(), many.clone(), many]).map(drop).unwrap_err();
    assert!(matches!(refused, Error::TooManyElements { .. }), "{refused}");

    let parts = [view(&[2, 3]), view(&[1, 3])];
    let table = chunks(&parts).unwrap();
    for axis in [1, -1] {
        let refused = Gather::new(axis).run(&table, &[0u8]).unwrap_err();
        assert!(matches!(refused, Error::ChunkedAxis { axis: 1, .. }), "{refused}");
    }
    for axis in [2, -3, i64::MIN, i64::MAX] {
        let refused = Gather::new(axis).run(&table, &[0u8]).unwrap_err();
        assert!(matches!(refused, Error::AxisOutOfRange { .. }), "{refused}");
    }
    assert!(Gather::new(0).batch_dims(1).run(&table, &[0u8]).is_err());
    let mut out = [0.0f32; 3];
    let refused = Gather::new(0).run_into(&table, &[2u8], &mut ViewMut::new(&mut out, &[3, 1]).unwrap());
    assert!(refused.is_err());
    // A plan for any number of chunks, also for none.
    for count in [0, 1, 2, 3, usize::MAX] {
        let plan = Gather::new(0).plan(&Spec::<f32>::new(&[3, 3]).unwrap().chunks(count), &[2u8, 0]).unwrap();
        assert_eq!(plan.run(&table, &[2, 0]).is_ok(), count > 1, "{count}");
        assert_eq!(plan.run(&chunks(&[view(&[3, 3])]).unwrap(), &[2, 0]).is_ok(), count < 2, "{count}");
    }
    let plan = Gather::new(0).plan(&Spec::<f32>::new(&[4, 3]).unwrap().chunks(2), &[2u8]).unwrap();
    assert!(matches!(plan.run(&table, &[2]), Err(Error::PlanMismatch { .. })));
}

#[test]
fn pages_that_are_needed() {
    let values: Vec<f32> = (0..3000).map(|at| at as f32).collect();
    let file = DynTensor::from(Tensor::from_fn(&[3000], |at| at as f32).unwrap());
    let bytes = file.as_bytes();
    let of = |bytes, rows| View::<f32>::from_bytes(bytes, &[rows, 3]).unwrap();
    let parts = [of(&bytes[..3600], 300), of(&bytes[3600..], 700)];
    let (table, whole) = (chunks(&parts).unwrap(), of(bytes, 1000));
    let ids = View::new(&[0i64, i64::MIN, i64::MAX, -1], &[4]).unwrap();
    let mut pages = Residency::new([bytes]);
    for op in [Gather::new(0), Gather::new(1), Gather::new(-7), Gather::new(0).out_of_bounds(OutOfBounds::Wrap)] {
        pages.forget();
        let (told, of_whole) = (op.will_need(&table, &ids), op.will_need(&whole, &ids));
        // Along another axis there are no chunks.
        assert!(told.rows == of_whole.rows || told == AdviceStats::default(), "{told:?}, {of_whole:?}");
        let Ok(plan) = op.plan(&table, &ids) else { continue };
        pages.forget();
        assert_eq!(plan.will_need_in(&table, &ids, &mut pages), told);
        assert_eq!(plan.will_need_in(&table, &ids, &mut pages).ranges, 0);
        assert_eq!(plan.will_need(&table, &View::new(&[1i64], &[1]).unwrap()), AdviceStats::default());
    }
    let square = View::new(&[1u8, 2, 0, 1, 2, 1], &[2, 3]).unwrap();
    assert!(GatherElements::new(1).will_need(&whole, &square).rows <= 6);
    assert!(GatherNd::new().will_need(&whole, &View::new(&[9i8, 1], &[2, 1]).unwrap()).rows <= 2);
    pages.look();
    let stats = pages.stats();
    assert!(stats.known_bytes <= stats.file_bytes && stats.is_bounded.is_none(), "{stats:?}");
    // Any budget, for any memory: nothing is changed.
    for budget in [0, 1, 4096, usize::MAX] {
        let mut pages = Residency::new([bytes, &bytes[..7], &[]]).budget(budget);
        for ids in [&[0i64, 999][..], &[500], &[]] {
            let ids = View::new(ids, &[ids.len()]).unwrap();
            Gather::new(0).plan(&table, &ids).unwrap().will_need_in(&table, &ids, &mut pages);
        }
        assert_eq!(bytes, DynTensor::from(Tensor::from_fn(&[3000], |at| at as f32).unwrap()).as_bytes());
    }

    let offsets = [0u32, 2];
    for reduction in [Reduction::Add, Reduction::Max, Reduction::None] {
        let bag = EmbeddingBag::new(reduction).out_of_bounds(OutOfBounds::Wrap);
        let list = [0i64, i64::MIN, i64::MAX, -1];
        let bags = Bags::new(&list, &offsets);
        let told = bag.will_need(&table, &bags);
        let rows = if cfg!(all(unix, not(miri))) && reduction != Reduction::None { 4 } else { 0 };
        assert_eq!((told.rows, bag.will_need(&whole, &bags).rows), (rows, rows));
        let mut pages = Residency::new([bytes]);
        let Ok(plan) = bag.plan(&table, &bags) else { continue };
        assert_eq!(plan.will_need(&table, &bags), told);
        assert_eq!(plan.will_need_in(&table, &bags, &mut pages), told);
        assert_eq!(plan.will_need_in(&table, &bags, &mut pages).ranges, 0);
        // Offsets that descend, weights that do not fit, a table of another shape.
        assert_eq!(bag.will_need(&table, &Bags::new(&list, &[0u32, 3, 1])), AdviceStats::default());
        let weights = Bags::new(&list, &offsets).weights(&values[..3]);
        assert_eq!(plan.will_need(&table, &weights), AdviceStats::default());
        let other = [View::new(&values[..9], &[3, 3]).unwrap(), View::new(&values[..3], &[1, 3]).unwrap()];
        assert_eq!(plan.will_need(&chunks(&other).unwrap(), &bags), AdviceStats::default());
    }
}
