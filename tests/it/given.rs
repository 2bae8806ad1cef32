//! What each kind of parameter takes of [`Given`], by calls and by plans: its results, or its error, before anything is
//! written.

use gather_core::{
    Bags, EmbeddingBag, Error, Gather, GatherElements, GatherNd, Given, Op, Per, Reduction, Source, Tensor, View,
    ViewMut, maps, row_kernels,
};

row_kernels! {
    static TIMES = |row: &[i32], by: i32| -> i32 { row.iter().sum::<i32>() * by };
    static DOT = |row: &[i32], query: &[i32]| -> i32 { row.iter().zip(query).map(|(a, b)| a * b).sum() };
    static LISTED = |row: &[i32], #[any_len] more: &[i32]| -> i32 { row[0] + more.iter().sum::<i32>() };
    static SHIFTED = |row: &[i32], #[optional] added: &[i32]| -> i32 { row[0] + added.iter().sum::<i32>() };
}

gather_core::specialize! {
    /// Two columns.
    fn scaled = gather(axis = 0, map = maps::dequantize(scale: f32, zero: u8))(u8[_, 2], u32[_]) -> f32;
}

/// By which unit something is given that a map does not take.
fn unavailable(op: Op, function: &'static str, parameter: &'static str, per: Per) -> Error {
    Error::ParameterUnavailable { op, function, parameter, per }
}

const SCALES: [f32; 6] = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0];

/// What a map takes for a table of three rows of two: the factors of all elements, or none.
fn factors() -> [(Given<'static, f32>, Option<[f32; 6]>); 6] {
    [
        (Given::All(2.0), Some([2.0; 6])),
        (Given::PerRow(&SCALES[..3]), Some([1.0, 1.0, 2.0, 2.0, 4.0, 4.0])),
        (Given::PerElement(&SCALES), Some(SCALES)),
        (Given::PerIndex(&SCALES[..2]), None),
        (Given::PerIndexOf { len: 1, values: &SCALES[..2] }, None),
        (Given::PerIndexOf { len: 2, values: &SCALES[..4] }, None),
    ]
}

#[test]
fn maps_take_values_for_the_call_rows_and_elements() -> Result<(), Error> {
    let codes = [1u8, 2, 3, 4, 5, 6];
    let table = View::new(&codes, &[3, 2])?;
    for (scale, factors) in factors() {
        let expected = |op| match factors {
            Some(by) => Ok([2, 0].map(|row| [0, 1].map(|at| f32::from(codes[row * 2 + at]) * by[row * 2 + at]))),
            None => Err(unavailable(op, "dequantize", "scale", Per::Index)),
        };
        let numbers = table.map(&maps::dequantize(), (scale, Given::All(0)));
        macro_rules! check {
            ($op:expr, $name:expr, $ids:expr) => {{
                let (op, ids) = ($op, $ids);
                let expected = expected($name).map(|rows| rows.as_flattened().to_vec());
                let values = |got: Result<Tensor<f32>, Error>| got.map(|got| got.as_slice().to_vec());
                assert_eq!(values(op.run(&numbers, &ids)), expected, "{scale:?}");
                let plan = op.plan(&numbers, &ids)?;
                assert_eq!(values(plan.run(&numbers, &ids)), expected, "{scale:?}");
                let shape = op.output_shape(table.shape(), ids.shape())?;
                for planned in [false, true] {
                    let mut out = [-1.0; 4];
                    let mut view = ViewMut::new(&mut out, &shape)?;
                    let ran = match planned {
                        true => plan.run_into(&numbers, &ids, &mut view),
                        false => op.run_into(&numbers, &ids, &mut view),
                    };
                    assert_eq!(ran.map(|()| out.to_vec()), expected, "{scale:?}");
                    assert!(expected.is_ok() || out == [-1.0; 4]);
                }
            }};
        }
        check!(Gather::new(0), Op::Gather, View::new(&[2u32, 0], &[2])?);
        check!(GatherNd::new(), Op::GatherNd, View::new(&[2i64, 0], &[2, 1])?);
        check!(GatherElements::new(0), Op::GatherElements, View::new(&[2i16, 2, 0, 0], &[2, 2])?);

        let mut out = [-1.0; 4];
        let ran = scaled(&codes, &[2, 0], scale, Given::All(0), &mut out);
        assert_eq!(ran.map(|()| out), expected(Op::Gather).map(|rows| *rows.as_flattened().as_array().unwrap()));
        assert!(factors.is_some() || out == [-1.0; 4]);
    }
    Ok(())
}

#[test]
fn maps_of_bags_take_what_maps_take() -> Result<(), Error> {
    let codes = [1u8, 2, 3, 4, 5, 6];
    let (table, ids) = (View::new(&codes, &[3, 2])?, [2u32, 0]);
    let ids = View::new(&ids, &[1, 2])?;
    let (op, map, bags) = (EmbeddingBag::new(Reduction::Add), &maps::dequantize(), Bags::packed(&ids));
    let plan = op.plan(&table.map(map, (Given::All(0.0), Given::All(0))), &bags)?;
    let planned = Bags::planned(&ids);
    for (scale, factors) in factors() {
        let expected = match factors {
            Some(by) => Ok([0, 1].map(|at| f32::from(codes[at]) * by[at] + f32::from(codes[4 + at]) * by[4 + at])),
            None => Err(unavailable(Op::EmbeddingBag, "dequantize", "scale", Per::Index)),
        };
        let numbers = table.map(map, (scale, Given::All(0)));
        for got in [op.run(&numbers, &bags), plan.run(&numbers, &planned), plan.run(&numbers, &bags)] {
            assert_eq!(got.map(|got| [0, 1].map(|at| got.as_slice()[at])), expected, "{scale:?}");
        }
        for verb in 0..3 {
            let mut out = [-1.0; 2];
            let mut view = ViewMut::new(&mut out, &[1, 2])?;
            let ran = match verb {
                0 => op.run_into(&numbers, &bags, &mut view),
                1 => plan.run_into(&numbers, &planned, &mut view),
                _ => plan.run_into(&numbers, &bags, &mut view),
            };
            assert_eq!(ran.map(|()| out), expected, "{scale:?}");
            assert!(factors.is_some() || out == [-1.0; 2]);
        }
    }
    Ok(())
}

/// Checks what a source gives for rows 2 and 0, by calls and by a plan.
fn check<S>(source: &S, expected: Result<[i32; 2], Error>, text: &str) -> Result<(), Error>
where
    S: Source<Kind = gather_core::ByRow<i32, i32>>,
{
    let (op, ids) = (Gather::new(0), View::new(&[2u32, 0], &[2])?);
    let plan = op.plan(source, &ids)?;
    for got in [op.run(source, &ids), plan.run(source, &ids)] {
        assert_eq!(got.map(|got| [0, 1].map(|at| got.as_slice()[at])), expected, "{text}");
    }
    let mut out = [-1; 2];
    let ran = op.run_into(source, &ids, &mut ViewMut::new(&mut out, &[2])?);
    assert_eq!(ran.map(|()| out), expected, "{text}");
    assert!(expected.is_ok() || out == [-1; 2], "{text}");
    let mut out = [-1; 2];
    let ran = plan.run_into(source, &ids, &mut ViewMut::new(&mut out, &[2])?);
    assert_eq!(ran.map(|()| out), expected, "{text}");
    assert!(expected.is_ok() || out == [-1; 2], "{text}");
    Ok(())
}

#[test]
fn row_functions_take_values_for_the_call_rows_and_indices() -> Result<(), Error> {
    let (op, values) = (Op::Gather, [1, 10, 100, 1000, 10_000, 100_000]);
    let table = View::new(&[1i32, 2, 3, 4, 5, 6], &[3, 2])?;
    let length = |function, parameter, len, expected| {
        Err(Error::RowParameterLengthMismatch { op, function, parameter, per: Per::Slice, len, expected })
    };
    let element = |function, parameter| Err(unavailable(op, function, parameter, Per::Element));
    let of = |len, values| Given::PerIndexOf { len, values };

    // A value: the sums of rows are 11 and 3.
    for (given, expected) in [
        (Given::All(2), Ok([22, 6])),
        (Given::PerRow(&values[..3]), Ok([1100, 3])),
        (Given::PerIndex(&values[..2]), Ok([11, 30])),
        (Given::PerIndexOf { len: 1, values: &values[..2] }, Ok([11, 30])),
        (Given::PerIndexOf { len: 2, values: &values[..4] }, length("TIMES", "by", 2, 1)),
        (Given::PerIndexOf { len: 0, values: &[] }, length("TIMES", "by", 0, 1)),
        (Given::PerElement(&values), element("TIMES", "by")),
    ] {
        check(&table.rows(&TIMES, (given,)), expected, &format!("{given:?}"))?;
    }
    // A slice as long as a row.
    for (given, expected) in [
        (Given::All(&values[..2]), Ok([65, 21])),
        (Given::PerRow(&values), Ok([650_000, 21])),
        (Given::PerIndex(&values[..4]), Ok([65, 2100])),
        (of(2, &values[..4]), Ok([65, 2100])),
        (of(1, &values[..2]), length("DOT", "query", 1, 2)),
        (Given::PerElement(&values), element("DOT", "query")),
    ] {
        check(&table.rows(&DOT, (given,)), expected, &format!("{given:?}"))?;
    }
    // A slice of any length: the rows begin with 5 and 1.
    for (given, expected) in [
        (Given::All(&values[1..4]), Ok([1115, 1111])),
        (Given::PerRow(&values[..3]), Ok([105, 2])),
        (Given::PerIndex(&values[..4]), Ok([16, 1101])),
        (of(2, &values[..4]), Ok([16, 1101])),
        (
            of(4, &values[..4]),
            Err(Error::RowParameterLengthMismatch {
                op,
                function: "LISTED",
                parameter: "more",
                per: Per::Index,
                len: 4,
                expected: 8,
            }),
        ),
        (Given::PerElement(&values), element("LISTED", "more")),
    ] {
        check(&table.rows(&LISTED, (given,)), expected, &format!("{given:?}"))?;
    }
    // A slice as long as a row, or none.
    for (given, expected) in [
        (Given::All(&[][..]), Ok([5, 1])),
        (Given::All(&values[..2]), Ok([16, 12])),
        (Given::PerRow(&values), Ok([110_005, 12])),
        (Given::PerIndex(&values[..4]), Ok([16, 1101])),
        (of(2, &values[..4]), Ok([16, 1101])),
        (of(0, &[]), length("SHIFTED", "added", 0, 2)),
        (Given::PerElement(&values), element("SHIFTED", "added")),
    ] {
        check(&table.rows(&SHIFTED, (given,)), expected, &format!("{given:?}"))?;
    }
    Ok(())
}

#[test]
fn the_first_parameter_that_does_not_fit_is_named() -> Result<(), Error> {
    let table = View::new(&[1u8, 2, 3, 4, 5, 6], &[3, 2])?;
    let error = |scale, zero| Gather::new(0).run(&table.map(&maps::dequantize(), (scale, zero)), &[2u32, 0]).err();
    let by_index = |parameter| Some(unavailable(Op::Gather, "dequantize", parameter, Per::Index));
    assert_eq!(error(Given::PerIndex(&[]), Given::PerIndex(&[])), by_index("scale"));
    assert_eq!(error(Given::All(1.0), Given::PerIndex(&[1, 2])), by_index("zero_point"));
    let short = error(Given::PerRow(&SCALES[..2]), Given::PerIndex(&[1, 2]));
    assert!(matches!(short, Some(Error::MapParameterLengthMismatch { parameter: "scale", len: 2, dim: 3, .. })));
    // What is given is looked at before indices are.
    let far = Gather::new(0).run(&table.map(&maps::dequantize(), (Given::PerIndex(&[]), Given::All(0))), &[9u32]);
    assert_eq!(far.err(), by_index("scale"));
    Ok(())
}
