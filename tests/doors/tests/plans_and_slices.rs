//! Plans for strided outputs, for any number of indices, of types known at run time and of maps; calls that write where
//! a type-erased view says; slices in the place of views; rows of a table.

use std::mem::MaybeUninit;

use gather_core::{
    BatchToSpace, DynView, DynViewMut, Element, Error, Gather, GatherElements, GatherNd, Given, IndexType, Layout, Op,
    Spec, View, ViewMut, rows, rows_into,
};

use crate::common::{Sample, Setting, policies};

gather_core::map_kernels! {
    static SHIFTED = |value: u32, by: u32| -> u64 { u64::from(value) + u64::from(by) };
}

const INDICES: [[i32; 4]; 2] = [[0, 4, 2, 1], [4, -1, 9, -8]];

fn values() -> Vec<u32> {
    (0..15).map(u32::sample).collect()
}

fn exact(indices: &[i32]) -> Vec<i128> {
    indices.iter().map(|&index| i128::from(index)).collect()
}

/// Every policy with indices in range and out of range.
fn cases() -> impl Iterator<Item = (Setting, [i32; 4])> {
    policies().flat_map(|(negative, out_of_bounds)| {
        let setting = Setting { negative, out_of_bounds, ..Setting::default() };
        INDICES.into_iter().map(move |indices| (setting, indices))
    })
}

#[test]
fn plans_into_strided_outputs() {
    let values = values();
    let table = View::new(&values, &[5, 3]).unwrap();
    for (setting, indices) in cases() {
        let ids = View::new(&indices, &[4]).unwrap();
        let expected = setting.gather(&values, 3, &exact(&indices), 0);
        // Rows with a gap of one element between them, from the last to the first.
        let (shape, strides) = ([4, 3], [-4isize, 1]);
        let op = Gather::new(0).negative_index(setting.negative).out_of_bounds(setting.out_of_bounds);
        let layout = Layout::strided(&shape, &strides).unwrap();
        let plan = op.plan_into(&table, &ids, &layout).unwrap();
        let mut memory = vec![77u32; 16];
        let ran = plan.run_into(&table, &ids, &mut ViewMut::strided(&mut memory, &shape, &strides, 12).unwrap());
        assert!(memory.chunks(4).all(|row| row[3] == 77), "the gaps are left alone");
        let picked: Vec<u32> = memory.chunks(4).rev().flat_map(|row| &row[..3]).copied().collect();
        setting.judge(Op::Gather, "plan_into", &expected, ran.map(|()| picked));
        let mut dense = [0; 12];
        let refused = plan.run_into(&table, &ids, &mut ViewMut::new(&mut dense, &shape).unwrap());
        assert!(matches!(refused, Err(Error::PlanMismatch { .. })), "{refused:?}");
    }
}

#[test]
fn plans_for_any_number_of_indices() {
    let values = values();
    let table = View::new(&values, &[5, 3]).unwrap();
    for (setting, indices) in cases() {
        let op = Gather::new(0).negative_index(setting.negative).out_of_bounds(setting.out_of_bounds);
        let one = Layout::contiguous(&[1]).unwrap();
        let plan = op.plan_any_count(&table, &Spec::<i32>::from_layout(&one)).unwrap();
        for count in [0, 1, 3, 4] {
            let ids = View::new(&indices[..count], &[count]).unwrap();
            let expected = setting.gather(&values, 3, &exact(&indices[..count]), 0);
            setting.judge(Op::Gather, "plan.run", &expected, plan.run(&table, &ids).map(|out| out.into_vec()));
            let mut out = vec![77; 3 * count];
            let ran = plan.run_slices(&values, &indices[..count], &mut out);
            setting.judge(Op::Gather, "plan.run_slices", &expected, ran.map(|()| out));
        }
    }
}

#[test]
fn plans_on_slices() {
    let values = values();
    let (table, ids) = (Layout::contiguous(&[5, 3]).unwrap(), Layout::contiguous(&[4]).unwrap());
    for (setting, indices) in cases() {
        let op = Gather::new(0).negative_index(setting.negative).out_of_bounds(setting.out_of_bounds);
        let plan = op.plan(&Spec::<u32>::from_layout(&table), &Spec::<i32>::from_layout(&ids)).unwrap();
        let mut out = vec![77; 12];
        let ran = plan.run_slices(&values, &indices, &mut out);
        setting.judge(
            Op::Gather,
            "plan.run_slices",
            &setting.gather(&values, 3, &exact(&indices), 0),
            ran.map(|()| out),
        );
        let mut out = [77; 12];
        assert!(plan.run_slices(&values[..14], &indices, &mut out).is_err());
        assert!(plan.run_slices(&values, &indices[..3], &mut out).is_err());
        assert!(plan.run_slices(&values, &indices, &mut out[..11]).is_err());
        assert_eq!(out, [77; 12], "nothing is written when a length is wrong");
    }
    let blocks = BatchToSpace::new(&[1, 2], &[0, 0], &[0, 0]).plan(&Spec::<u32>::new(&[2, 3]).unwrap()).unwrap();
    let mut out = [0; 6];
    blocks.run_slices(&[1, 2, 3, 4, 5, 6], &mut out).unwrap();
    assert_eq!(out, [1, 4, 2, 5, 3, 6]);
    assert!(blocks.run_slices(&[1], &mut out).is_err() && blocks.run_slices(&[1; 6], &mut out[..5]).is_err());
}

/// The type-erased doors of an operator that write or plan.
macro_rules! erased {
    ($op:expr, $name:expr, $setting:expr, $data:expr, $indices:expr, $out:expr, $expected:expr) => {{
        let (setting, out): (&Setting, &[usize]) = (&$setting, &$out);
        let op = $op.negative_index(setting.negative).out_of_bounds(setting.out_of_bounds);
        let (data, indices) = (DynView::from(&$data), DynView::from(&$indices));
        let read =
            |bytes: &[u8]| -> Vec<u32> { bytes.as_chunks().0.iter().map(|bytes| u32::from_ne_bytes(*bytes)).collect() };
        let len = 4 * out.iter().product::<usize>();
        // Memory from an odd address on.
        let mut memory = vec![0xeeu8; len + 1];
        let mut view = DynViewMut::from_bytes(u32::DTYPE, &mut memory[1..], out).unwrap();
        let ran = op.run_into(&data, &indices, &mut view);
        setting.judge($name, "run_dyn_into", &$expected, ran.map(|()| read(&memory[1..])));
        let plan = op
            .plan(
                &Spec::from_dtype(u32::DTYPE, data.layout()),
                &Spec::from_dtype(IndexType::I32.dtype(), indices.layout()),
            )
            .expect("legal shapes");
        assert_eq!(plan.output_shape(), out);
        assert!(!plan.explain().to_string().is_empty());
        setting.judge($name, "plan_dyn", &$expected, plan.run(&data, &indices).map(|out| read(out.as_bytes())));
        let mut memory = vec![0xeeu8; len];
        let mut view = DynViewMut::from_bytes(u32::DTYPE, &mut memory, out).unwrap();
        let ran = plan.run_into(&data, &indices, &mut view);
        setting.judge($name, "plan_dyn, run_into", &$expected, ran.map(|()| read(&memory)));
        let mut wrong = DynViewMut::from_bytes(i32::DTYPE, &mut memory, out).unwrap();
        assert!(plan.run_into(&data, &indices, &mut wrong).is_err(), "an output of another type");
        assert!(op.run_into(&data, &indices, &mut wrong).is_err(), "an output of another type");
        assert!(plan.run(&indices, &indices).is_err(), "data of another type");
    }};
}

#[test]
fn types_known_at_run_time_into_outputs_and_plans() {
    let values = values();
    let table = View::new(&values, &[5, 3]).unwrap();
    for (setting, indices) in cases() {
        let exact = exact(&indices);
        let ids = View::new(&indices, &[4]).unwrap();
        let expected = setting.gather(&values, 3, &exact, 0);
        erased!(Gather::new(0), Op::Gather, setting, table, ids, [4, 3], expected);
        let columns = View::new(&values[..10], &[5, 2]).unwrap();
        let ids = View::new(&indices, &[2, 2]).unwrap();
        let expected = setting.gather_elements(&values[..10], 2, &exact, 0);
        erased!(GatherElements::new(0), Op::GatherElements, setting, columns, ids, [2, 2], expected);
        let expected = setting.gather_nd(&values, 3, &exact, 0);
        erased!(GatherNd::new(), Op::GatherNd, setting, table, ids, [2], expected);
    }
    let blocks = BatchToSpace::new(&[1, 2], &[0, 0], &[0, 0]);
    let data = View::new(&[1u8, 2, 3, 4], &[2, 2]).unwrap();
    let data = DynView::from(&data);
    let mut out = [0u8; 4];
    blocks.run_into(&data, &mut DynViewMut::from_bytes(u8::DTYPE, &mut out, &[1, 4]).unwrap()).unwrap();
    assert_eq!(out, [1, 3, 2, 4]);
    let wrong = &mut DynViewMut::from_bytes(i8::DTYPE, &mut out, &[1, 4]).unwrap();
    let mismatch = Error::DTypeMismatch { expected: u8::DTYPE, got: i8::DTYPE };
    assert_eq!(blocks.run_into(&data, wrong).unwrap_err(), mismatch);
    let (one, ids) = (Layout::contiguous(&[1]).unwrap(), View::new(&[1u8, 0, 1], &[3]).unwrap());
    let plan = Gather::new(0)
        .plan_any_count(&Spec::from_dtype(u8::DTYPE, data.layout()), &Spec::from_dtype(IndexType::U8.dtype(), &one))
        .unwrap();
    assert_eq!(plan.run(&data, &DynView::from(&ids)).unwrap().as_bytes(), [3, 4, 1, 2, 3, 4]);
    let plan = blocks.plan(&data).unwrap();
    assert!(!plan.explain().to_string().is_empty());
    assert_eq!(plan.run_into(&data, wrong).unwrap_err(), mismatch);
    let flat = DynView::from_bytes(u8::DTYPE, &[1; 4], &[4, 1]).unwrap();
    assert!(matches!(plan.run(&flat), Err(Error::PlanMismatch { .. })));
    let plain = blocks.plan(&Spec::from_dtype(crate::common::Point::DTYPE, data.layout()));
    assert!(matches!(plain, Err(Error::UnknownDType { op: Op::BatchToSpace, .. })));
    assert_eq!((plan.output_shape(), plan.run(&data).unwrap().as_bytes()), (&[1, 4][..], &[1, 3, 2, 4][..]));
    out = [0; 4];
    plan.run_into(&data, &mut DynViewMut::from_bytes(u8::DTYPE, &mut out, &[1, 4]).unwrap()).unwrap();
    assert_eq!(out, [1, 3, 2, 4]);
}

/// The map doors of an operator, by plans and without.
macro_rules! mapped {
    ($op:expr, $name:expr, $setting:expr, $data:expr, $indices:expr, $by:expr, $out:expr, $expected:expr) => {{
        let (setting, expected, out): (&Setting, _, &[usize]) = (&$setting, &$expected, &$out);
        let op = $op.negative_index(setting.negative).out_of_bounds(setting.out_of_bounds);
        let (data, indices, by): (_, _, Given<'_, u32>) = (&$data, &$indices, $by);
        let judge = |door: &str, got| setting.judge($name, door, expected, got);
        // Safe code cannot read what was written; what the call says must be right still.
        let said =
            |door: &str, got: Result<(), Error>| judge(door, got.map(|()| expected.clone().unwrap_or_default()));
        let len = out.iter().product::<usize>();
        judge("run, a map", op.run(&data.map(&SHIFTED, (by,)), indices).map(|out| out.into_vec()));
        let plan = op.plan(&Spec::from_layout(data.layout()).map(&SHIFTED), indices).unwrap();
        assert_eq!(plan.output_shape(), out);
        assert!(!plan.explain().to_string().is_empty());
        judge("plan.run, a map", plan.run(&data.map(&SHIFTED, (by,)), indices).map(|out| out.into_vec()));
        let mut written = vec![77u64; len];
        let ran = plan.run_into(&data.map(&SHIFTED, (by,)), indices, &mut ViewMut::new(&mut written, out).unwrap());
        judge("plan.run_into, a map", ran.map(|()| written));
        let mut fresh = vec![MaybeUninit::new(77u64); len];
        let ran = plan.run_into(&data.map(&SHIFTED, (by,)), indices, &mut ViewMut::new(&mut fresh, out).unwrap());
        said("plan.run_uninit, a map", ran);
        if $name == Op::Gather {
            let ids = Layout::contiguous(&[1]).unwrap();
            let (table, ids) = (Spec::from_layout(data.layout()).map(&SHIFTED), Spec::<i32>::from_layout(&ids));
            let plan = op.plan_any_count(&table, &ids).unwrap();
            judge("plan_any_count, run, a map", plan.run(&data.map(&SHIFTED, (by,)), indices).map(|out| out.into_vec()));
        }
        let few = plan.run(&data.map(&SHIFTED, (Given::PerRow(&[1, 2, 3, 4]),)), indices);
        assert!(matches!(few, Err(Error::MapParameterLengthMismatch { op, .. }) if op == $name), "{few:?}");
        let other = View::new(&[1u32], &[1; 9]).unwrap();
        assert!(matches!(plan.run(&other.map(&SHIFTED, (by,)), indices), Err(Error::PlanMismatch { .. })));
    }};
}

#[test]
fn planned_maps() {
    let values = values();
    let by = [1u32, 20, 300, 4000, 50_000];
    let shifted = |row: usize| -> Vec<u64> {
        values[..5 * row].iter().enumerate().map(|(at, &value)| u64::from(value) + u64::from(by[at / row])).collect()
    };
    let table = View::new(&values, &[5, 3]).unwrap();
    for (setting, indices) in cases() {
        let exact = exact(&indices);
        let ids = View::new(&indices, &[4]).unwrap();
        let expected = setting.gather(&shifted(3), 3, &exact, 0);
        mapped!(Gather::new(0), Op::Gather, setting, table, ids, Given::PerRow(&by), [4, 3], expected);
        let columns = View::new(&values[..10], &[5, 2]).unwrap();
        let ids = View::new(&indices, &[2, 2]).unwrap();
        let expected = setting.gather_elements(&shifted(2), 2, &exact, 0);
        mapped!(
            GatherElements::new(0),
            Op::GatherElements,
            setting,
            columns,
            ids,
            Given::PerRow(&by),
            [2, 2],
            expected
        );
        // Pairs stand for no one row of the table.
        let by_one: Vec<u64> = values.iter().map(|&value| u64::from(value) + 7).collect();
        let expected = setting.gather_nd(&by_one, 3, &exact, 0);
        mapped!(GatherNd::new(), Op::GatherNd, setting, table, ids, Given::All(7), [2], expected);
        // Tuples of one component do.
        let tuples = View::new(&indices, &[4, 1]).unwrap();
        let expected = setting.gather(&shifted(3), 3, &exact, 0);
        mapped!(GatherNd::new(), Op::GatherNd, setting, table, tuples, Given::PerRow(&by), [4, 3], expected);
    }
}

#[test]
fn rows_of_a_table() {
    let values = values();
    for ids in [&[][..], &[4u16], &[1, 1, 0, 3]] {
        let expected: Vec<u32> = ids.iter().flat_map(|&id| &values[usize::from(id) * 3..][..3]).copied().collect();
        assert_eq!(rows(&values, 3, ids).unwrap(), expected);
        let mut out = vec![0; expected.len()];
        rows_into(&values, 3, ids, &mut out).unwrap();
        assert_eq!(out, expected);
        assert!(rows_into(&values, 3, ids, &mut vec![0; expected.len() + 1]).is_err());
    }
    assert!(matches!(rows(&values, 3, &[0u8, 5]), Err(Error::IndexOutOfRange { position: 1, index: 5, .. })));
    // A table of no whole number of rows, and rows of nothing.
    assert!(rows(&values[..14], 3, &[0u8]).is_err());
    assert!(rows(&values, 0, &[0u8]).is_err());
    assert!(rows(&values, usize::MAX, &[0u8]).is_err());
}

#[test]
fn a_preset_of_blocks() {
    let data = View::new(&[1, 2, 3, 4], &[4, 1, 1]).unwrap();
    let op = BatchToSpace::tensorflow(&[2, 2], &[[0, 0], [0, 0]]);
    assert_eq!(op.run(&data).unwrap().as_slice(), [1, 2, 3, 4]);
    assert_eq!(BatchToSpace::tensorflow(&[2, 2], &[[1, 0], [0, 1]]).run(&data).unwrap().as_slice(), [3]);
    assert!(BatchToSpace::tensorflow(&[2], &[[0, 0], [0, 0]]).run(&data).is_err());
    let op = BatchToSpace::tensorflow(&[2, 3], &[[1, 0], [4, 5]]);
    let got = (op.get_block_shape(), op.get_crops_begin(), op.get_crops_end());
    assert_eq!(got, (&[1, 2, 3][..], &[0, 1, 4][..], &[0, 0, 5][..]));
}

#[test]
fn getters_give_what_was_set() {
    use gather_core::{Level, Method, NegativeIndex, OutOfBounds, Par};

    let op = Gather::new(-1).batch_dims(1).negative_index(NegativeIndex::Reject).out_of_bounds(OutOfBounds::Wrap);
    let op = op.par(Par::Threads(3)).level(Level::Scalar).method(Method::Blocks);
    assert_eq!((op.get_axis(), op.get_batch_dims()), (-1, 1));
    assert_eq!((op.get_negative_index(), op.get_out_of_bounds()), (NegativeIndex::Reject, OutOfBounds::Wrap));
    assert_eq!(
        (op.get_par(), op.get_level(), op.get_method()),
        (Par::Threads(3), Some(Level::Scalar), Some(Method::Blocks))
    );
    assert_eq!((Gather::new(0).get_level(), Gather::new(0).get_method()), (None, None));
    assert_eq!((GatherElements::new(2).get_axis(), GatherNd::new().batch_dims(2).get_batch_dims()), (2, 2));
    let blocks = BatchToSpace::new(&[1, 2], &[0, 0], &[0, 0]).par(Par::Seq).level(Level::Scalar).method(Method::Direct);
    let got = (blocks.get_par(), blocks.get_level(), blocks.get_method());
    assert_eq!(got, (Par::Seq, Some(Level::Scalar), Some(Method::Direct)));
}
