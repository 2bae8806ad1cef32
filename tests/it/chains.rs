//! Row functions of rows that are decoded first: what a map makes, fused rows, blocks of codes. Each beside the same
//! function on a table that has been decoded before, to the bit, through every door.

use std::fmt::Debug;

use gather_core::maps::{self, Block, Q4_K, Q8_0};
use gather_core::{
    Argument, Bitmap, Codes, Element, Error, FusedFormat, FusedRows, Gather, Given, Layout, Method, NegativeIndex,
    Nulls, Op, OutOfBounds, Par, Per, RowFunction, Source, Spec, TableOf, Tensor, View, ViewMut, map_kernels,
    row_kernels, rows,
};

use crate::support::{levels, mixed};

map_kernels! {
    static SCALED = |value: u8, scale: f32, zero: u8| -> f32 { (f32::from(value) - f32::from(zero)) * scale };
    static HALVED = |value: u8, scale: f32, zero: u8| -> f32 { (f32::from(value) - f32::from(zero)) * scale * 0.5 };
    static NAMED = |value: u8, size: f32, zero: u8| -> f32 { f32::from(value) * size + f32::from(zero) };
    static PAIR = |value: u8| -> [i16; 2] { [i16::from(value), -i16::from(value)] };
    static WIDE = |value: u8| -> [f64; 3] { [f64::from(value), 0.5, -f64::from(value)] };
    static POINT = |value: u8| -> Point { Point { x: f32::from(value), y: 1.0 } };
    static FAILS = |value: u8| -> f32 { assert!(value != 200, "a map that panics"); f32::from(value) };
}

row_kernels! {
    static SHIFTED = |row: &[f32], out: &mut [f32], by: f32, #[optional] more: &[f32]| {
        for (at, out) in out.iter_mut().enumerate() {
            *out = row[at] * 3.0 + by + more.get(at).unwrap_or(&0.0);
        }
    };
    static LEAST = |row: &[f32]| -> f32 { row.iter().copied().fold(f32::MAX, f32::min) };
    static TWICE = |row: &[f32], out: &mut [f32]| { out.iter_mut().zip(row).for_each(|(to, from)| *to = from * 2.0) };
    static SUM_OF_PAIRS = |row: &[i16]| -> i32 { row.iter().enumerate().map(|(at, &x)| i32::from(x) * at as i32).sum() };
    static ENDS = |row: &[f64], out: &mut [f64]| { (out[0], out[1]) = (row[0], row[row.len() - 1]) };
}

/// An element of two numbers.
#[derive(Clone, Copy, Debug, PartialEq, Element)]
#[repr(C)]
#[element(numbers = f32)]
struct Point {
    x: f32,
    y: f32,
}

/// A result, whose bits are compared.
trait Bits: Element + Debug + PartialEq {
    fn bits(self) -> u64;
}

macro_rules! bits {
    ($($ty:ty: |$value:ident| $bits:expr;)*) => {$(
        impl Bits for $ty {
            fn bits(self) -> u64 {
                let $value = self;
                $bits
            }
        }
    )*};
}
bits! {
    f32: |value| value.to_bits().into();
    f64: |value| value.to_bits();
    i32: |value| value as u64;
}

type Results = Result<(Vec<usize>, Vec<u64>), Error>;

fn bits<T: Bits>(got: Result<Tensor<T>, Error>) -> Results {
    got.map(|tensor| (tensor.shape().to_vec(), tensor.as_slice().iter().map(|value| value.bits()).collect()))
}

/// Operators with every policy, on one thread and on three.
fn operators(axis: i64) -> impl Iterator<Item = (Gather, bool)> {
    levels().flat_map(move |level| {
        OutOfBounds::ALL.iter().enumerate().map(move |(at, &policy)| {
            let par = if at % 2 == 1 { Par::Threads(3) } else { Par::Seq };
            (Gather::new(axis).level(level).par(par).out_of_bounds(policy), policy == OutOfBounds::Error)
        })
    })
}

/// Compares a chain with the function on a table that has been decoded: `decoded`.
fn same<U: Bits, S, T>(axis: i64, dim: usize, chain: &S, decoded: &T)
where
    S: TableOf<Gather, U>,
    T: TableOf<Gather, U>,
{
    let within: Vec<i32> =
        (0..45).map(|at| (mixed(3, at) % dim as u64) as i32 - if at % 5 == 0 { dim as i32 } else { 0 }).collect();
    let beyond: Vec<i32> =
        within.iter().enumerate().map(|(at, &id)| if at % 7 == 3 { id + dim as i32 * 3 } else { id }).collect();
    for (op, errors) in operators(axis) {
        for (ids, bad) in [(&within, false), (&beyond, true)] {
            for method in [None, Some(Method::Direct), Some(Method::Blocks), Some(Method::Streamed)] {
                let op = method.map_or(op, |method| op.method(method));
                let expected = bits(op.run(decoded, ids));
                assert_eq!(bits(op.run(chain, ids)), expected, "{op:?}");
                if let Err(error) = &expected {
                    assert!(errors && bad || matches!(error, Error::MethodUnavailable { .. }), "{op:?}: {error}");
                }
            }
            let expected = bits(op.run(decoded, ids));
            let plan = op.plan(chain, ids);
            assert_eq!(bits(plan.and_then(|plan| plan.run(chain, ids))), expected, "{op:?}, planned");
            let few = &ids[..5];
            let expected_few = bits(op.run(decoded, few));
            match op.plan_any_count(chain, &Spec::<i32>::new(&[20]).unwrap()) {
                Err(error) => assert!(matches!(error, Error::AnyCountUnavailable { .. }) && axis != 0, "{error}"),
                Ok(plan) => {
                    assert_eq!(bits(plan.run(chain, ids)), expected, "{op:?}, of any count");
                    assert_eq!(bits(plan.run(chain, few)), expected_few, "{op:?}, of any count");
                }
            }
            // Into a view.
            let Ok((shape, values)) = &expected else { continue };
            let mut out = vec![U::ZERO; values.len()];
            op.run_into(chain, ids, &mut ViewMut::new(&mut out, shape).unwrap()).unwrap();
            assert_eq!(&out.iter().map(|value| value.bits()).collect::<Vec<_>>(), values, "{op:?}, into a view");
        }
        nulls(&op, &within, chain, decoded);
    }
}

/// Compares calls with nulls.
fn nulls<U: Bits>(op: &Gather, ids: &[i32], chain: &impl TableOf<Gather, U>, decoded: &impl TableOf<Gather, U>) {
    let valid: Vec<u8> = (0..9).map(|at| mixed(5, at) as u8).collect();
    let nulls = Nulls { indices: Some(Bitmap::new(&valid, 0, ids.len()).unwrap()), ..Nulls::default() };
    let judge = |got: Result<(Tensor<U>, _), Error>| {
        let (expected, validity) = op.nullable().run(decoded, ids, nulls).unwrap();
        let (got, got_validity) = got.unwrap();
        assert_eq!(bits(Ok(got)), bits(Ok(expected)), "{op:?}, with nulls");
        assert_eq!(got_validity, validity, "{op:?}");
    };
    judge(op.nullable().run(chain, ids, nulls));
    judge(op.nullable().plan(chain, ids).unwrap().run(chain, ids, nulls));
}

/// All rows of a source of numbers, one after the other.
fn decode<N: Element, U: Element, S: TableOf<Gather, U>>(source: &S, rows: usize, flat: fn(&[U]) -> Vec<N>) -> Vec<N> {
    let ids: Vec<u32> = (0..rows as u32).collect();
    flat(Gather::new(0).run(source, &ids).unwrap().as_slice())
}

fn bytes(n: usize) -> Vec<u8> {
    (0..n).map(|at| mixed(11, at) as u8).collect()
}

/// What is given for each of `n` places.
fn floats(n: usize) -> Vec<f32> {
    (0..n).map(|at| (mixed(17, at) % 1000) as f32 / 64.0 - 4.0).collect()
}

/// Goes through the row functions of floats, for a chain and for a table that has been decoded.
macro_rules! functions {
    ($decoded:expr, $chain:expr) => {{
        let (decoded, chain) = (&$decoded, $chain);
        let (dim, row) = (decoded.shape()[0], decoded.shape()[1..].iter().product::<usize>());
        let (by, query, rows) = (floats(dim), floats(row), floats(7 * row));
        same(0, dim, &chain.rows(&LEAST, ()), &decoded.rows(&LEAST, ()));
        let filled = LEAST.with_fill(7.5);
        same(0, dim, &chain.rows(&filled, ()), &decoded.rows(&filled, ()));
        let params = (Given::PerRow(&by[..]), Given::All(&query[..]));
        same(0, dim, &chain.rows(&SHIFTED, params), &decoded.rows(&SHIFTED, params));
        let (norm, params) = (rows::rms_norm(), (Given::All(&query[..]), Given::All(&[][..]), Given::All(1e-5)));
        same(0, dim, &chain.rows(&norm, params), &decoded.rows(&norm, params));
        // A row for each of seven positions, which two sequences share.
        let ids: Vec<u8> = (0..14).map(|at| (at * 3 % dim) as u8).collect();
        let ids = View::new(&ids, &[2, 7]).unwrap();
        let params = (Given::All(0.25), Given::PerIndex(&rows[..]));
        for (op, _) in operators(0) {
            let expected = bits(op.run(&decoded.rows(&SHIFTED, params), &ids));
            assert!(expected.is_ok());
            assert_eq!(bits(op.run(&chain.rows(&SHIFTED, params), &ids)), expected);
        }
    }};
}

#[test]
fn maps_of_elements() {
    let values = bytes(9 * 40);
    let (scales, each) = (floats(9), floats(9 * 40));
    let zeros = bytes(9);
    let table = View::new(&values, &[9, 40]).unwrap();
    for params in [
        (Given::All(0.5), Given::All(128)),
        (Given::PerRow(&scales[..]), Given::PerRow(&zeros[..])),
        (Given::PerElement(&each[..]), Given::PerRow(&zeros[..])),
    ] {
        let numbers = table.map(&SCALED, params);
        let decoded = Tensor::new(decode(&numbers, 9, <[f32]>::to_vec), &[9, 40]).unwrap();
        functions!(decoded.view(), numbers);
    }
    // Rows that lie apart, and backwards; and rows of two dimensions.
    let apart = View::strided(&values, &[4, 30], &[-80, 1], 250).unwrap();
    let numbers = apart.map(&SCALED, (Given::PerRow(&scales[..4]), Given::All(3)));
    let decoded = Tensor::new(decode(&numbers, 4, <[f32]>::to_vec), &[4, 30]).unwrap();
    functions!(decoded.view(), numbers);
    let deep = View::new(&values, &[9, 5, 8]).unwrap();
    let numbers = deep.map(&SCALED, (Given::PerElement(&each[..]), Given::All(3)));
    let decoded = Tensor::new(decode(&numbers, 9, <[f32]>::to_vec), &[9, 5, 8]).unwrap();
    functions!(decoded.view(), numbers);
}

/// Along an axis in the middle, rows are named once for each coordinate before it.
#[test]
fn an_axis_in_the_middle() {
    let values = bytes(3 * 6 * 20);
    let (scales, each, by) = (floats(6), floats(3 * 6 * 20), floats(6));
    let table = View::new(&values, &[3, 6, 20]).unwrap();
    for scales in [Given::PerRow(&scales[..]), Given::PerElement(&each[..])] {
        let numbers = table.map(&SCALED, (scales, Given::All(3)));
        let decoded = Gather::new(1).run(&numbers, &[0, 1, 2, 3, 4, 5]).unwrap();
        let decoded = decoded.view();
        same(1, 6, &numbers.rows(&LEAST, ()), &decoded.rows(&LEAST, ()));
        let params = (Given::PerRow(&by[..]), Given::All(&[][..]));
        same(1, 6, &numbers.rows(&SHIFTED, params), &decoded.rows(&SHIFTED, params));
    }
    let scales = floats(3 * 6);
    let scales = View::new(&scales, &[3, 6, 1]).unwrap();
    let numbers = table.blocks(Codes::Bits4, 64, &scales);
    let decoded = Gather::new(1).run(&numbers, &[0, 1, 2, 3, 4, 5]).unwrap();
    same(1, 6, &numbers.rows(&LEAST, ()), &decoded.view().rows(&LEAST, ()));
}

/// A map that makes blocks: the function reads their numbers.
#[test]
fn maps_of_blocks() {
    let memory = bytes(5 * 2 * size_of::<Q4_K>());
    // Scales that are numbers.
    let blocks: Vec<Q4_K> = Q4_K::from_bytes(&memory).0.to_vec();
    let table = View::new(&blocks, &[5, 2]).unwrap();
    let numbers = table.map(&maps::convert::<_, f32>(), ());
    let decoded = decode(&numbers, 5, |blocks: &[[f32; 256]]| {
        blocks.as_flattened().iter().map(|&x| if x.is_nan() { 0.0 } else { x }).collect()
    });
    let decoded = Tensor::new(decoded, &[5, 512]).unwrap();
    assert!(decoded.as_slice().iter().any(|&x| x != 0.0));
    same(0, 5, &numbers.rows(&LEAST, ()), &decoded.view().rows(&LEAST, ()));

    let memory: Vec<u8> = bytes(6 * 3 * 34)
        .chunks_exact_mut(34)
        .flat_map(|block| {
            block[1] = 0x30;
            block.to_vec()
        })
        .collect();
    let table = View::new(Q8_0::from_bytes(&memory).0, &[6, 3]).unwrap();
    let numbers = table.map(&maps::convert::<_, f32>(), ());
    let decoded = Tensor::new(decode(&numbers, 6, |of: &[[f32; 32]]| of.as_flattened().to_vec()), &[6, 96]).unwrap();
    functions!(decoded.view(), numbers);

    // Other numbers, and structs of numbers.
    let values = bytes(7 * 5);
    let table = View::new(&values, &[7, 5]).unwrap();
    let numbers = table.map(&PAIR, ());
    let decoded = Tensor::new(decode(&numbers, 7, |of: &[[i16; 2]]| of.as_flattened().to_vec()), &[7, 10]).unwrap();
    same(0, 7, &numbers.rows(&SUM_OF_PAIRS, ()), &decoded.view().rows(&SUM_OF_PAIRS, ()));
    let numbers = table.map(&WIDE, ());
    let decoded = Tensor::new(decode(&numbers, 7, |of: &[[f64; 3]]| of.as_flattened().to_vec()), &[7, 15]).unwrap();
    let ends = ENDS.with_len(2);
    same(0, 7, &numbers.rows(&ends, ()), &decoded.view().rows(&ends, ()));
    let numbers = table.map(&POINT, ());
    let of_points = |of: &[Point]| of.iter().flat_map(|point| [point.x, point.y]).collect();
    let decoded = Tensor::new(decode(&numbers, 7, of_points), &[7, 10]).unwrap();
    functions!(decoded.view(), numbers);
}

#[test]
fn fused_rows() {
    let numbers = floats(8 * 37);
    let numbers = View::new(&numbers, &[8, 37]).unwrap();
    for &format in FusedFormat::ALL {
        let bytes = FusedRows::quantize(format, &numbers).unwrap();
        let table = FusedRows::new(bytes.view(), format, 37).unwrap();
        let decoded = Tensor::new(decode(&table.to::<f32>(), 8, <[f32]>::to_vec), &[8, 37]).unwrap();
        functions!(decoded.view(), table.to::<f32>());
    }
    let bytes = FusedRows::quantize(FusedFormat::Fbgemm4, &numbers).unwrap();
    let table = FusedRows::new(bytes.view(), FusedFormat::Fbgemm4, 37).unwrap();
    let decoded = Gather::new(0).run(&table.to::<half::f16>(), &[0, 1, 2, 3, 4, 5, 6, 7]).unwrap();
    let (query, decoded) = (floats(37), decoded.view());
    let params = (Given::All(&query[..]),);
    same(0, 8, &table.to::<half::f16>().rows(&rows::dot(), params), &decoded.rows(&rows::dot(), params));
}

#[test]
fn blocks_of_codes() {
    let values = bytes(6 * 24);
    let table = View::new(&values, &[6, 24]).unwrap();
    for (codes, block) in [(Codes::Bits2, 16), (Codes::Bits4, 32), (Codes::U4, 16), (Codes::I4, 32), (Codes::Bits8, 16)]
    {
        let per_row = (24 * codes.per_byte()).div_ceil(block);
        let scales = floats(6 * per_row);
        let scales = View::new(&scales, &[6, per_row]).unwrap();
        let numbers = table.blocks(codes, block, &scales);
        let shape = [6, 24 * codes.per_byte()];
        let decoded = Tensor::new(decode(&numbers, 6, <[f32]>::to_vec), &shape).unwrap();
        functions!(decoded.view(), numbers);
        let listed = [(6 * per_row).div_ceil(2)];
        let packed = [6, per_row.div_ceil(codes.per_byte())];
        let of: &[usize] = if matches!(codes, Codes::U4 | Codes::I4) { &listed } else { &packed };
        let zero_points = bytes(of.iter().product());
        let zero_points = View::new(&zero_points, of).unwrap();
        let numbers = numbers.zero_points(&zero_points);
        let decoded = Tensor::new(decode(&numbers, 6, <[f32]>::to_vec), &shape).unwrap();
        functions!(decoded.view(), numbers);
    }
    // Floating-point codes with a scale for each column of a row of rows, and rows of two dimensions.
    let deep = View::new(&values, &[3, 2, 24]).unwrap();
    let scales = floats(2);
    let scales = View::new(&scales, &[1, 2, 1]).unwrap();
    let numbers = deep.blocks(Codes::E2M1, 0, &scales);
    let decoded = Tensor::new(decode(&numbers, 3, <[f32]>::to_vec), &[3, 2, 48]).unwrap();
    functions!(decoded.view(), numbers);
}

/// Long rows of many ids, which threads share.
#[test]
fn many_rows_on_threads() {
    let values = bytes(64 * 1500);
    let table = View::new(&values, &[64, 1500]).unwrap();
    let scales = floats(64);
    let numbers = table.map(&SCALED, (Given::PerRow(&scales[..]), Given::All(9)));
    let decoded = Tensor::new(decode(&numbers, 64, <[f32]>::to_vec), &[64, 1500]).unwrap();
    let decoded = decoded.view();
    let ids: Vec<u16> = (0..700).map(|at| (mixed(29, at) % 64) as u16).collect();
    for par in [Par::Seq, Par::Threads(2), Par::Threads(7), Par::Auto] {
        let op = Gather::new(0).par(par);
        let expected = bits(op.run(&decoded.rows(&TWICE, ()), &ids));
        assert_eq!(bits(op.run(&numbers.rows(&TWICE, ()), &ids)), expected);
        let plan = op.plan_any_count(
            &Spec::from_layout(table.layout()).map(&SCALED).rows(&TWICE),
            &Spec::<u16>::new(&[9]).unwrap(),
        );
        assert_eq!(bits(plan.unwrap().run(&numbers.rows(&TWICE, ()), &ids)), expected);
        let expected = bits(op.run(&decoded.rows(&LEAST, ()), &ids));
        assert_eq!(bits(op.run(&numbers.rows(&LEAST, ()), &ids)), expected);
    }
}

#[test]
fn plans() -> Result<(), Error> {
    let values = bytes(4 * 6);
    let table = View::new(&values, &[4, 6])?;
    let spec = Spec::from_layout(table.layout()).map(&SCALED).rows(&LEAST);
    let (op, ids) = (Gather::new(0), [3u8, 0, 3]);
    let plan = op.plan(&spec, &ids)?;
    assert_eq!(plan.output_shape(), [3]);
    let params = (Given::All(0.5), Given::All(100));
    let run = |map: &gather_core::Map<u8, f32, (f32, u8)>| {
        let numbers = table.map(map, params);
        let decoded = Gather::new(0).run(&numbers, &[0u8, 1, 2, 3])?;
        let expected = bits(op.run(&decoded.view().rows(&LEAST, ()), &ids));
        assert_eq!(bits(plan.run(&numbers.rows(&LEAST, ()), &ids)), expected);
        let counted = op.plan_any_count(&spec, &[0u8])?;
        assert_eq!(bits(counted.run(&numbers.rows(&LEAST, ()), &ids)), expected);
        Ok(())
    };
    run(&SCALED)?;
    // Another map, and another function, of the same parameters.
    run(&HALVED)?;
    let numbers = table.map(&HALVED, params);
    let decoded = Gather::new(0).run(&numbers, &[0u8, 1, 2, 3])?;
    static GREATEST: RowFunction<f32, f32> = MOST;
    let expected = bits(op.run(&decoded.view().rows(&GREATEST, ()), &ids));
    assert_eq!(bits(plan.run(&numbers.rows(&GREATEST, ()), &ids)), expected);

    let refused = plan.run(&table.map(&NAMED, params).rows(&LEAST, ()), &ids).unwrap_err();
    let (expected, got): (&[&str], &[&str]) = (&["scale", "zero"], &["size", "zero"]);
    assert_eq!(refused, Error::PlanParametersMismatch { op: Op::Gather, function: "NAMED", expected, got });

    let bytes = FusedRows::quantize(FusedFormat::Torch8, &View::new(&floats(24), &[4, 6])?)?;
    let table = FusedRows::new(bytes.view(), FusedFormat::Torch8, 6)?;
    let plan = op.plan(&table.to::<f32>().rows(&LEAST, ()), &ids)?;
    let other = FusedRows::quantize(FusedFormat::Torch4, &View::new(&floats(24), &[4, 6])?)?;
    let other = FusedRows::new(other.view(), FusedFormat::Torch4, 6)?;
    let refused = plan.run(&other.to::<f32>().rows(&LEAST, ()), &ids).unwrap_err();
    let (expected, got) = (FusedFormat::Torch8, FusedFormat::Torch4);
    assert_eq!(refused, Error::FusedFormatMismatch { expected, got });

    let codes = View::new(&values, &[4, 6])?;
    let scales = [1.0f32; 4];
    let scales = View::new(&scales, &[4, 1])?;
    let plan = op.plan(&Spec::from_layout(codes.layout()).blocks::<f32>(Codes::Bits4, 16).rows(&TWICE), &ids)?;
    assert_eq!(plan.output_shape(), [3, 12]);
    let numbers = codes.blocks(Codes::Bits4, 16, &scales);
    let decoded = op.run(&numbers, &[0u8, 1, 2, 3])?;
    let expected = bits(op.run(&decoded.view().rows(&TWICE, ()), &ids));
    assert_eq!(bits(plan.run(&numbers.rows(&TWICE, ()), &ids)), expected);
    let refused = plan.run(&codes.blocks(Codes::I4, 16, &scales).rows(&TWICE, ()), &ids).unwrap_err();
    let (expected, got) = ((Codes::Bits4, 16), (Codes::I4, 16));
    assert_eq!(refused, Error::PlanBlocksMismatch { op: Op::Gather, expected, got });
    let out = Layout::contiguous(plan.output_shape())?;
    let into = op.plan_into(&numbers.rows(&TWICE, ()), &ids, &out)?;
    assert_eq!(into.run(&numbers.rows(&TWICE, ()), &ids)?.shape(), [3, 12]);
    Ok(())
}

row_kernels! {
    static MOST = |row: &[f32]| -> f32 { row.iter().copied().fold(f32::MIN, f32::max) };
}

/// Errors in their order: shapes, what decodes, the row function, ids.
#[test]
fn refusals() -> Result<(), Error> {
    let (op, bad) = (Gather::new(0), [9u8]);
    let refused = |got: Result<Tensor<f32>, Error>| got.unwrap_err();
    let values = bytes(4 * 32);
    let table = View::new(&values, &[4, 32])?;
    let (three, query) = (floats(3), floats(31));
    let short = (Given::All(&query[..]),);
    let scaled = (Given::PerRow(&three[..]), Given::All(0));
    let numbers = table.map(&SCALED, scaled);
    assert!(matches!(
        refused(op.run(&numbers.rows(&rows::dot(), short), &bad)),
        Error::MapParameterLengthMismatch { map: "SCALED", parameter: "scale", len: 3, dim: 4, .. }
    ));
    let numbers = table.map(&SCALED, (Given::All(1.0), Given::All(0)));
    assert!(matches!(
        refused(op.run(&numbers.rows(&rows::dot(), short), &bad)),
        Error::RowParameterLengthMismatch { per: Per::Call, len: 31, expected: 32, .. }
    ));
    let whole = floats(32);
    let scores = numbers.rows(&rows::dot(), (Given::All(&whole[..]),));
    assert!(matches!(refused(op.run(&scores, &bad)), Error::IndexOutOfRange { index: 9, position: 0, .. }));
    let refusal = refused(Gather::new(2).run(&scores, &bad));
    assert_eq!(refusal, Error::AxisOutOfRange { op: Op::Gather, axis: 2, rank: 2 });
    let refusal = refused(op.method(Method::Table).run(&scores, &[1u8]));
    assert_eq!(refusal, Error::MethodUnavailable { op: Op::Gather, method: Method::Table });
    // Per index no map takes values.
    let per_index = table.map(&SCALED, (Given::PerIndex(&three[..]), Given::All(0)));
    let refusal = refused(op.run(&per_index.rows(&LEAST, ()), &[1u8]));
    assert!(matches!(refusal, Error::ParameterUnavailable { function: "SCALED", per: Per::Index, .. }));
    // Rows with gaps.
    let gaps = View::strided(&values, &[4, 16], &[32, 2], 0)?;
    let refusal =
        refused(op.run(&gaps.map(&maps::dequantize(), (Given::All(1.0), Given::All(0))).rows(&LEAST, ()), &bad));
    assert_eq!(refusal, Error::RowsNotContiguous { op: Op::Gather, argument: Argument::Data });

    let fused = FusedRows::quantize(FusedFormat::Torch8, &View::new(&floats(24), &[4, 6])?)?;
    let fused = FusedRows::new(fused.view(), FusedFormat::Torch8, 6)?;
    let refusal = refused(Gather::new(1).run(&fused.to::<f32>().rows(&LEAST, ()), &bad));
    assert_eq!(refusal, Error::QuantizedAxis { op: Op::Gather, axis: 1 });
    let refusal = refused(op.run(&fused.to::<f32>().rows(&rows::dot(), short), &bad));
    assert!(matches!(refusal, Error::RowParameterLengthMismatch { len: 31, expected: 6, .. }));

    let (scales, other) = ([1.0f32; 8], [1.0f32; 12]);
    let (scales, other) = (View::new(&scales, &[4, 2])?, View::new(&other, &[4, 3])?);
    let refusal = refused(Gather::new(7).run(&table.blocks(Codes::Bits4, 15, &scales).rows(&LEAST, ()), &bad));
    assert_eq!(refusal, Error::BlockSizeOutOfRange { op: Op::Gather, block_size: 15 });
    let refusal = refused(Gather::new(1).run(&table.blocks(Codes::Bits4, 32, &scales).rows(&LEAST, ()), &bad));
    assert_eq!(refusal, Error::QuantizedAxis { op: Op::Gather, axis: 1 });
    let refusal = refused(op.run(&table.blocks(Codes::Bits4, 32, &other).rows(&rows::dot(), short), &bad));
    assert!(matches!(refusal, Error::ShapeMismatch { argument: Argument::Scales, .. }));
    let refusal = refused(op.run(&table.blocks(Codes::Bits4, 32, &scales).rows(&rows::dot(), short), &bad));
    assert!(matches!(refusal, Error::RowParameterLengthMismatch { len: 31, expected: 64, .. }));
    let apart = View::strided(&values, &[3, 32], &[-32, 1], 96)?;
    let refusal = refused(op.run(&apart.blocks(Codes::Bits4, 32, &scales).rows(&LEAST, ()), &bad));
    assert_eq!(refusal, Error::NotRowMajor { op: Op::Gather, argument: Argument::Data });
    Ok(())
}

/// Memory for rows is asked for before anything is written.
#[test]
fn rows_beyond_memory() -> Result<(), Error> {
    // One block many times over: a row of 2^50 numbers, which lie in 34 bytes... cannot be contiguous. So rows are long
    // by what a map makes of them.
    map_kernels! {
        static BLOWN_UP = |value: u8| -> [[f64; 32]; 64] { [[f64::from(value); 32]; 64] };
    }
    row_kernels! {
        static FIRST = |row: &[f64]| -> f64 { row.first().copied().unwrap_or(-1.0) };
    }
    let values = vec![3u8; 4096];
    let table = View::new(&values, &[2, 2048])?;
    let numbers = table.map(&BLOWN_UP, ());
    assert_eq!(Gather::new(0).run(&numbers.rows(&FIRST, ()), &[1u8, 1])?.as_slice(), [3.0, 3.0]);
    // No row is read of an axis without elements, however long it is.
    let none = View::<u8>::new(&[], &[0, usize::MAX >> 12])?;
    let zero = Gather::new(0).out_of_bounds(OutOfBounds::Zero);
    let filled = FIRST.with_fill(5.0);
    assert_eq!(zero.run(&none.map(&BLOWN_UP, ()).rows(&filled, ()), &[1u8])?.as_slice(), [5.0]);
    // Rows without elements.
    let empty = View::<u8>::new(&[], &[3, 0])?;
    let numbers = empty.map(&BLOWN_UP, ());
    assert_eq!(Gather::new(0).run(&numbers.rows(&FIRST, ()), &[2u8, 0])?.as_slice(), [-1.0, -1.0]);
    let columns = FusedRows::new(View::new(&[0u8; 8], &[1, 8])?, FusedFormat::Torch8, 0)?;
    let sums = Gather::new(0).run(&columns.to::<f32>().rows(&LEAST, ()), &[0u8])?;
    assert_eq!(sums.as_slice(), [f32::MAX]);
    Ok(())
}

/// Negative ids, and ids that a map would panic for, are handled as without a chain.
#[test]
fn a_map_that_panics() {
    let values = [1u8, 2, 200, 4];
    let table = View::new(&values, &[2, 2]).unwrap();
    let chain = table.map(&FAILS, ());
    let op = Gather::new(0).negative_index(NegativeIndex::Reject).out_of_bounds(OutOfBounds::Zero);
    let got = op.run(&chain.rows(&LEAST, ()), &[0, -1, 5, 0]).unwrap();
    assert_eq!(got.as_slice(), [1.0, 0.0, 0.0, 1.0]);
    let panicked = std::panic::catch_unwind(|| op.run(&table.map(&FAILS, ()).rows(&LEAST, ()), &[0, 1]));
    assert!(panicked.is_err());
}

/// A chain is a source, whatever it is made of.
#[test]
fn functions_over_any_source() -> Result<(), Error> {
    fn first<S: Source<Kind = gather_core::ByRow<gather_core::Mapped<u8, f32>, f32>>>(chain: &S) -> Result<f32, Error> {
        Ok(Gather::new(0).run(chain, &[0u8])?.as_slice()[0])
    }
    let values = bytes(4);
    let table = View::new(&values, &[2, 2])?;
    let numbers = table.map(&SCALED, (Given::All(1.0), Given::All(0)));
    let expected = f32::from(values[0].min(values[1]));
    assert_eq!(first(&numbers.rows(&LEAST, ()))?, expected);
    assert_eq!(first(&Box::new(numbers.rows(&LEAST, ())))?, expected);
    assert_eq!(first(&&numbers.rows(&LEAST, ()))?, expected);
    Ok(())
}
