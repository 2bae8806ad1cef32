//! Nulls over everything that a gather reads: maps, row functions, fused rows and blocks, through every door, beside
//! the same gather without nulls.

use std::fmt::Debug;

use gather_core::{
    Argument, Bitmap, Codes, DynView, DynViewMut, Element, Error, FusedFormat, FusedRows, Gather, GatherElements,
    GatherNd, Given, Layout, Nulls, Op, OutOfBounds, Spec, TableOf, Tensor, Validity, View, ViewMut, map_kernels,
    row_kernels,
};

map_kernels! {
    static TIMES = |value: u8, by: u32| -> u32 { u32::from(value) * by };
}

row_kernels! {
    static SUM = |row: &[u8], more: u32| -> u32 { row.iter().map(|&value| u32::from(value)).sum::<u32>() + more };
    static TWICE = |row: &[u8], out: &mut [u32], more: u32| {
        out.iter_mut().zip(row).for_each(|(out, &value)| *out = u32::from(value) * 2 + more);
    };
}

/// Ids of six rows, of which some are null, whatever they name; row 4 of data is null.
const IDS: [i32; 9] = [5, 77, 0, 4, -1, -99, 3, 4, 1];
const VALID_IDS: [u8; 2] = [0b1101_1101, 1];
const VALID_ROWS: [u8; 1] = [0b10_1111];
/// Of the result: neither null ids nor ids of row 4.
const VALID: [u8; 2] = [0b0101_0101, 1];

fn nulls<'a>() -> Result<Nulls<'a>, Error> {
    let (indices, data) = (Bitmap::new(&VALID_IDS, 0, 9)?, Bitmap::new(&VALID_ROWS, 0, 6)?);
    Ok(Nulls { indices: Some(indices), data: Some(data) })
}

/// Compares every door with a gather by the ids that are not null; where one is, rows are of `fill`.
fn check<U: Element + PartialEq + Debug>(source: &impl TableOf<Gather, U>, fill: U) -> Result<(), Error> {
    let op = Gather::new(0);
    let safe = std::array::from_fn::<i32, 9, _>(|at| if VALID_IDS[at / 8] >> (at % 8) & 1 == 1 { IDS[at] } else { 0 });
    let mut expected: Tensor<U> = op.run(source, &safe)?;
    let row = expected.len() / 9;
    for at in [1, 5] {
        expected.as_mut_slice()[at * row..][..row].fill(fill);
    }
    let judge = |(out, validity): (Tensor<U>, Option<Validity>)| {
        assert_eq!((out.shape(), out.as_slice()), (expected.shape(), expected.as_slice()));
        assert_eq!(validity.expect("nulls").as_bytes(), VALID);
    };
    let given = nulls()?;
    let nullable = op.nullable();
    judge(nullable.run(source, &IDS, given)?);
    let list = View::new(&IDS, &[9])?;
    judge(nullable.run(source, &DynView::from(&list), given)?);
    let plan = nullable.plan(source, &IDS)?;
    assert_eq!(plan.output_shape(), expected.shape());
    judge(plan.run(source, &IDS, given)?);
    judge(nullable.plan_any_count(source, &Spec::<i32>::new(&[2])?)?.run(source, &IDS, given)?);

    // Into memory of any shape that fits, and into none that does not.
    let bad = vec![fill; expected.len() + row];
    for planned in [false, true] {
        let (mut out, mut bits) = (bad.clone(), [0xffu8; 3]);
        let mut view = ViewMut::new(&mut out[..expected.len()], expected.shape())?;
        let count = if planned {
            plan.run_into(source, &IDS, given, &mut view, &mut bits)
        } else {
            nullable.run_into(source, &IDS, given, &mut view, &mut bits)
        };
        assert_eq!((count?, &out[..expected.len()]), (4, expected.as_slice()));
        assert_eq!(bits, [VALID[0], VALID[1], 0xff]);

        let (mut out, mut bits) = (bad.clone(), [0xffu8; 3]);
        let longer: Vec<usize> = [10].into_iter().chain(expected.shape()[1..].iter().copied()).collect();
        let mut view = ViewMut::new(&mut out, &longer)?;
        let refused = if planned {
            plan.run_into(source, &IDS, given, &mut view, &mut bits)
        } else {
            nullable.run_into(source, &IDS, given, &mut view, &mut bits)
        };
        assert!(matches!(refused, Err(Error::ShapeMismatch { .. } | Error::PlanMismatch { .. })), "{refused:?}");
        assert_eq!((out, bits), (bad.clone(), [0xff; 3]));
    }

    // Without nulls, and with an id out of range.
    let (out, validity) = nullable.run(source, &safe, Nulls::default())?;
    assert_eq!((out.as_slice(), validity), (op.run(source, &safe)?.as_slice(), None));
    let refused = nullable.run(source, &IDS, Nulls { indices: None, ..given });
    assert!(matches!(refused, Err(Error::IndexOutOfRange { position: 1, index: 77, .. })), "{:?}", refused.err());
    let zero = op.out_of_bounds(OutOfBounds::Zero);
    let (out, validity) = zero.nullable().run(source, &IDS, Nulls::default())?;
    assert_eq!((out.as_slice(), validity), (expected.as_slice(), None));
    Ok(())
}

/// Bitmaps of elements of data are refused, with numbers.
fn takes_rows_alone<U: Element + Debug>(source: &impl TableOf<Gather, U>, elements: usize) -> Result<(), Error> {
    let (op, bytes) = (Op::Gather, vec![0xff; elements.div_ceil(8)]);
    let of = |len| Ok(Nulls { data: Some(Bitmap::new(&bytes, 0, len)?), ..Nulls::default() });
    let nullable = Gather::new(0).nullable();
    let plan = nullable.plan(source, &[0u8, 1])?;
    let refused = Error::BitmapPerElement { op, rows: 6, elements };
    assert_eq!(nullable.run(source, &[0u8, 1], of(elements)?).unwrap_err(), refused);
    assert_eq!(plan.run(source, &[0u8, 1], of(elements)?).unwrap_err(), refused);
    let refused = Error::BitmapLengthMismatch { op, argument: Argument::Data, len: 5, rows: 6, elements: 6 };
    assert_eq!(nullable.run(source, &[0u8, 1], of(5)?).unwrap_err(), refused);
    assert_eq!(plan.run(source, &[0u8, 1], of(5)?).unwrap_err(), refused);
    Ok(())
}

#[test]
fn elements_and_maps() -> Result<(), Error> {
    let bytes: [u8; 18] = std::array::from_fn(|at| at as u8 + 1);
    let table = View::new(&bytes, &[6, 3])?;
    check(&table, 0)?;
    check(&table.map(&TIMES, (Given::All(3),)), 0)?;
    check(&table.map(&TIMES, (Given::PerRow(&[1, 10, 100, 1000, 10_000, 100_000]),)), 0)?;
    let each: [u32; 18] = std::array::from_fn(|at| 1 << at);
    check(&table.map(&TIMES, (Given::PerElement(&each),)), 0)?;

    // A bit for each element: the last of row 5 is null.
    let elements = [0xff, 0xff, 0b01];
    let nulls = Nulls { data: Some(Bitmap::new(&elements, 0, 18)?), ..Nulls::default() };
    let source = table.map(&TIMES, (Given::All(2),));
    let (out, validity) = Gather::new(0).nullable().run(&source, &[5u8, 0], nulls)?;
    assert_eq!((out.as_slice(), validity.unwrap().as_bytes()), (&[32, 34, 36, 2, 4, 6][..], &[0b11_1011][..]));
    Ok(())
}

#[test]
fn row_functions() -> Result<(), Error> {
    let bytes: [u8; 18] = std::array::from_fn(|at| at as u8 + 1);
    let table = View::new(&bytes, &[6, 3])?;
    let filled = SUM.with_fill(7);
    for given in [
        Given::All(1),
        Given::PerRow(&[1, 10, 100, 1000, 10_000, 100_000][..]),
        Given::PerIndex(&[1, 2, 3, 4, 5, 6, 7, 8, 9][..]),
    ] {
        check(&table.rows(&SUM, (given,)), 0)?;
        check(&table.rows(&filled, (given,)), 7)?;
        check(&table.rows(&TWICE, (given,)), 0)?;
        check(&table.rows(&TWICE.with_fill(9), (given,)), 9)?;
    }
    takes_rows_alone(&table.rows(&SUM, (Given::All(1),)), 18)?;
    takes_rows_alone(&table.rows(&TWICE, (Given::All(1),)), 18)
}

#[test]
fn fused_rows_and_blocks() -> Result<(), Error> {
    let numbers: [f32; 96] = std::array::from_fn(|at| (at % 7) as f32);
    let table = View::new(&numbers, &[6, 16])?;
    let bytes = FusedRows::quantize(FusedFormat::Torch8, &table)?;
    let rows = FusedRows::new(bytes.view(), FusedFormat::Torch8, 16)?;
    check(&rows.to::<f32>(), 0.0)?;
    takes_rows_alone::<f32>(&rows.to::<f32>(), rows.data().shape().iter().product())?;

    let codes: [u8; 48] = std::array::from_fn(|at| at as u8 * 5);
    let scales: [f32; 6] = std::array::from_fn(|at| at as f32 + 0.5);
    let (codes, scales) = (View::new(&codes, &[6, 8])?, View::new(&scales, &[6, 1])?);
    let source = codes.blocks(Codes::Bits4, 16, &scales);
    check(&source, 0.0)?;
    takes_rows_alone::<f32>(&source, 48)
}

#[test]
fn types_known_at_run_time() -> Result<(), Error> {
    let bytes: [u8; 18] = std::array::from_fn(|at| at as u8 + 1);
    let table = View::new(&bytes, &[6, 3])?;
    let nullable = Gather::new(0).nullable();
    let (expected, validity) = nullable.run(&table, &IDS, nulls()?)?;
    let (data, plan) = (DynView::from(&table), nullable.plan(&DynView::from(&table), &IDS)?);
    for (out, bits) in [nullable.run(&data, &IDS, nulls()?)?, plan.run(&data, &IDS, nulls()?)?] {
        assert_eq!((out.downcast::<u8>()?.as_slice(), &bits), (expected.as_slice(), &validity));
    }
    let wrong = View::new(&[0.5f32; 18], &[6, 3])?;
    let (expected, got) = (u8::DTYPE, f32::DTYPE);
    assert_eq!(plan.run(&DynView::from(&wrong), &IDS, nulls()?).unwrap_err(), Error::DTypeMismatch { expected, got });
    let (mut out, mut bits) = ([0.5f32; 27], [0xff; 2]);
    let mut view = ViewMut::new(&mut out, &[9, 3])?;
    let refused = nullable.run_into(&data, &IDS, nulls()?, &mut DynViewMut::from(&mut view), &mut bits);
    assert_eq!(refused, Err(Error::DTypeMismatch { expected, got }));
    assert_eq!((out, bits), ([0.5; 27], [0xff; 2]));
    Ok(())
}

/// Outputs of any strides, of rows that are not copied: planned and called.
#[test]
fn plans_into_strided_outputs_of_rows() -> Result<(), Error> {
    let bytes: [u8; 18] = std::array::from_fn(|at| at as u8 + 1);
    let (table, op) = (View::new(&bytes, &[6, 3])?, Gather::new(0));
    let more = [1u32, 2, 3];
    for given in [Given::All(5), Given::PerIndex(&more[..])] {
        let source = table.rows(&TWICE, (given,));
        let expected = op.run(&source, &[5u8, 0, 3])?;
        strided(&source, expected.as_slice())?;
    }
    let numbers: [f32; 18] = std::array::from_fn(|at| (at % 7) as f32);
    let bytes = FusedRows::quantize(FusedFormat::Torch4, &View::new(&numbers, &[6, 3])?)?;
    let rows = FusedRows::new(bytes.view(), FusedFormat::Torch4, 3)?;
    let source = rows.to::<f32>();
    let expected = op.run(&source, &[5u8, 0, 3])?;
    strided(&source, expected.as_slice())
}

fn strided<U: Element + PartialEq + Debug>(source: &impl TableOf<Gather, U>, expected: &[U]) -> Result<(), Error> {
    let op = Gather::new(0);
    for (step, origin) in [(3isize, 0), (5, 0), (-4, 8)] {
        let mut memory = vec![U::ZERO; 16];
        let layout = Layout::strided(&[3, 3], &[step, 1])?;
        let plan = op.plan_into(source, &[5u8, 0, 3], &layout)?;
        for planned in [true, false] {
            memory.fill(U::ZERO);
            let mut view = ViewMut::strided(&mut memory, &[3, 3], &[step, 1], origin)?;
            if planned {
                plan.run_into(source, &[5u8, 0, 3], &mut view)?;
            } else {
                op.run_into(source, &[5u8, 0, 3], &mut view)?;
            }
            let got: Vec<U> = (0..3)
                .flat_map(|row| (0..3).map(move |at| (row, at)))
                .map(|(row, at)| memory[(origin as isize + row * step + at) as usize])
                .collect();
            assert_eq!(got, expected, "{step} {planned}");
        }
    }
    Ok(())
}

/// Codes of a byte become values along the last dimension of the result, whatever that is a dimension of.
#[test]
fn blocks_by_indices_of_the_last_dimension() -> Result<(), Error> {
    let bytes: [u8; 32] = std::array::from_fn(|at| at as u8 * 7);
    let scales = [1.0f32; 32];
    let (codes, scales_of_rows) = (View::new(&bytes, &[4, 8])?, View::new(&scales[..4], &[4, 1])?);
    let source = codes.blocks(Codes::Bits4, 16, &scales_of_rows);
    let value = |byte: u8, at: usize| f32::from(byte >> (4 * at) & 15) - 8.0;
    // Elements, of fewer columns than data has.
    for columns in [0, 3, 8] {
        let ids: Vec<u32> = (0..2 * columns).map(|at| at as u32 % 4).collect();
        let ids_view = View::new(&ids, &[2, columns])?;
        let expected: Vec<f32> = (0..2 * columns)
            .flat_map(|at| [0, 1].map(|half| value(bytes[ids[at] as usize * 8 + at % columns.max(1)], half)))
            .collect();
        let op = GatherElements::new(0);
        let (rows, _) = op.nullable().run(&source, &ids_view, Nulls::default())?;
        for rows in [op.run(&source, &ids_view)?, op.plan(&source, &ids_view)?.run(&source, &ids_view)?, rows] {
            assert_eq!((rows.shape(), rows.as_slice()), (&[2, 2 * columns][..], &expected[..]));
        }
        let mut out = vec![0.5; expected.len()];
        let mut view = ViewMut::new(&mut out, &[2, 2 * columns])?;
        op.nullable().run_into(&source, &ids_view, Nulls::default(), &mut view, &mut [0; 2])?;
        assert_eq!(out, expected);
    }

    // Tuples without components, whose dimensions are the last of the result.
    let (list, scale) = (View::new(&bytes[..8], &[8])?, View::new(&scales[..1], &[1])?);
    let source = list.blocks(Codes::Bits4, 16, &scale);
    let op = GatherNd::new().batch_dims(1);
    let tuples = View::<u32>::new(&[], &[8, 20, 0])?;
    let expected: Vec<f32> =
        (0..8).flat_map(|row| (0..40).map(move |at| (row, at % 2))).map(|(row, at)| value(bytes[row], at)).collect();
    let (with_nulls, validity) = op.nullable().run(&source, &tuples, Nulls::default())?;
    for rows in [op.run(&source, &tuples)?, op.plan(&source, &tuples)?.run(&source, &tuples)?, with_nulls] {
        assert_eq!((rows.shape(), rows.as_slice()), (&[8, 40][..], &expected[..]));
    }
    assert_eq!(validity, None);
    let bits = [0xff; 20];
    let all_but_one = [&[0xfe][..], &bits[1..]].concat();
    let nulls = Nulls { indices: Some(Bitmap::new(&all_but_one, 0, 160)?), data: None };
    let (rows, validity) = op.nullable().run(&source, &tuples, nulls)?;
    assert_eq!((&rows.as_slice()[..2], &rows.as_slice()[2..]), (&[0.0, 0.0][..], &expected[2..]));
    assert_eq!(validity.expect("a null").null_count(), 1);
    let mut out = vec![0.0; 128];
    let refused = op.run_into(&source, &tuples, &mut ViewMut::new(&mut out, &[8, 16])?);
    assert!(matches!(refused, Err(Error::ShapeMismatch { .. })), "{refused:?}");

    // A code alone has no rows of codes.
    let (alone, scale) = (View::scalar(&bytes[0]), View::scalar(&scales[0]));
    let source = alone.blocks(Codes::Bits4, 16, &scale);
    let refused = GatherNd::new().run(&source, &View::<u32>::new(&[], &[2, 0])?).unwrap_err();
    assert!(matches!(refused, Error::RankOutOfRange { rank: 0, .. }), "{refused}");
    Ok(())
}

/// Whether an index is refused depends on the result, not on the elements that were read for it.
#[test]
fn results_without_elements() -> Result<(), Error> {
    use gather_core::OutOfBounds::Clamp;
    let (nothing, op) = (View::<u8>::new(&[], &[0, 0])?, Gather::new(0).out_of_bounds(Clamp));
    let nulls = Nulls { indices: Some(Bitmap::new(&[0b01], 0, 2)?), data: None };
    let ones = nothing.rows(&SUM, (Given::All(1),));
    assert!(matches!(op.run(&ones, &[0u8, 0]), Err(Error::IndexOutOfRange { .. })));
    assert!(matches!(op.nullable().run(&ones, &[0u8, 0], nulls), Err(Error::IndexOutOfRange { .. })));
    let plan = op.nullable().plan(&ones, &[0u8, 0])?;
    assert!(matches!(plan.run(&ones, &[0u8, 0], nulls), Err(Error::IndexOutOfRange { .. })));
    let nothing = View::<u8>::new(&[], &[0, 4])?;
    let empty = TWICE.with_len(0);
    let empty = nothing.rows(&empty, (Given::All(1),));
    assert_eq!(op.run(&empty, &[0u8, 0])?.shape(), [2, 0]);
    assert_eq!(op.nullable().run(&empty, &[0u8, 0], nulls)?.0.shape(), [2, 0]);
    Ok(())
}

/// Tuples without components name no row of a table.
#[test]
fn parameters_by_row_of_empty_tuples() -> Result<(), Error> {
    let (bytes, tuples) = ([1u8, 2], View::<u32>::new(&[], &[2, 0])?);
    let table = View::new(&bytes, &[2])?;
    let source = table.map(&TIMES, (Given::PerRow(&[3]),));
    let nulls = Nulls { indices: Some(Bitmap::new(&[0b01], 0, 2)?), data: None };
    let expected = GatherNd::new().run(&source, &tuples).unwrap_err();
    assert!(matches!(expected, Error::MapParameterLengthMismatch { .. }), "{expected}");
    assert_eq!(GatherNd::new().nullable().run(&source, &tuples, nulls).unwrap_err(), expected);
    let plan = GatherNd::new().nullable().plan(&source, &tuples)?;
    assert_eq!(plan.run(&source, &tuples, nulls).unwrap_err(), expected);

    // Nothing is moved for them: any number of tuples.
    let none = View::<u8>::new(&[], &[0])?;
    let plain = GatherNd::new().plan_any_count(&none, &tuples)?;
    let plan = GatherNd::new().nullable().plan_any_count(&none, &tuples)?;
    let more = View::<u32>::new(&[], &[3, 0])?;
    assert_eq!(plain.run(&none, &more)?.shape(), [3, 0]);
    let nulls = Nulls { indices: Some(Bitmap::new(&[0b001], 0, 3)?), data: None };
    assert_eq!(plan.run(&none, &more, nulls)?.0.shape(), [3, 0]);
    Ok(())
}

#[test]
fn plans_ask_for_kernels_before_shapes() -> Result<(), Error> {
    let bytes = [0u8; 32];
    let codes = View::new(&bytes, &[4, 8])?;
    let scales = View::new(&[1.0f32; 4], &[4, 1])?;
    let source = codes.blocks(Codes::Bits4, 17, &scales);
    let refused = Gather::new(9).nullable().run(&source, &[0u8], Nulls::default()).unwrap_err();
    assert_eq!(refused, Error::BlockSizeOutOfRange { op: Op::Gather, block_size: 17 });
    let refused = Gather::new(9).nullable().plan(&source, &[0u8]).unwrap_err();
    assert_eq!(refused, Error::BlockSizeOutOfRange { op: Op::Gather, block_size: 17 });
    Ok(())
}
