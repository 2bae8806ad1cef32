//! Ready-made maps: gathering with a conversion gives, to the bit, what gathering and then converting gives.

use std::fmt::Debug;
use std::mem::MaybeUninit;

use gather_core::{
    Element, Error, Gather, GatherElements, GatherNd, GatherOperator, Given, Index, IndexAttributes, Map, Method,
    NegativeIndex, OutOfBounds, Par, Params, Tensor, View, ViewMut, maps,
};
use gather_tests::oracle::{self, Dense};
use gather_tests::values::bytes;
use half::{bf16, f16};

use crate::support::{RULES, Spread, levels, narrow, view};

/// The result of two steps: gather, then convert each element by its position along the axis.
fn two_steps<A: IndexAttributes, T: Element, U: Element, I: Index>(
    op: &GatherOperator<A>,
    axis: usize,
    data: &View<'_, T>,
    indices: &View<'_, I>,
    convert: impl Fn(T, usize) -> U,
) -> Result<Tensor<U>, Error> {
    // The position along the axis at every coordinate, counted from 1, so that 0 marks what is out of range.
    let positions: Vec<u64> = (1..=data.shape()[axis] as u64).collect();
    let mut strides = vec![0; data.rank()];
    strides[axis] = 1;
    let positions = View::strided(&positions, data.shape(), &strides, 0)?;
    let (values, positions) = (op.run(data, indices)?, op.run(&positions, indices)?);
    let pairs = values.as_slice().iter().zip(positions.as_slice());
    let converted = pairs.map(|(&value, &at)| if at == 0 { U::ZERO } else { convert(value, at as usize - 1) });
    Tensor::new(converted.collect(), values.shape())
}

/// Compares every door of a map with the two steps.
pub(crate) fn holds<A: IndexAttributes + Clone + Debug, T: Element, U: Element, P: Params, I: Index>(
    map: &Map<T, U, P>,
    op: &GatherOperator<A>,
    (axis, data, indices): (usize, &View<'_, T>, &View<'_, I>),
    given: P::Given<'_>,
    convert: impl Fn(T, usize) -> U,
) {
    let what = || format!("{} {op:?} {:?} {:?} {}", map.name(), data.shape(), indices.shape(), I::TYPE);
    let expected = two_steps(op, axis, data, indices, convert);
    let got = op.run(&data.map(map, given), indices);
    let plan = op.plan(&data.map(map, given), indices).unwrap();
    match (&got, plan.run(&data.map(map, given), indices)) {
        (Err(got), planned) => assert_eq!(planned.err().as_ref(), Some(got), "{}, planned", what()),
        (Ok(got), planned) => assert_eq!(bytes(got.as_slice()), bytes(planned.unwrap().as_slice()), "{}", what()),
    }
    for &method in Method::ALL {
        match (&got, op.clone().method(method).run(&data.map(map, given), indices)) {
            (_, Err(Error::MethodUnavailable { .. })) => assert_ne!(method, Method::Direct, "{}", what()),
            (Err(got), forced) => assert_eq!(forced.err().as_ref(), Some(got), "{} by {method}", what()),
            (Ok(got), forced) => {
                assert!(matches!(method, Method::Direct | Method::Blocks | Method::Streamed), "{} by {method}", what());
                assert_eq!(bytes(got.as_slice()), bytes(forced.unwrap().as_slice()), "{} by {method}", what());
            }
        }
    }
    let expected = match (expected, got) {
        (Err(expected), Err(got)) => return assert_eq!(expected, got, "{}", what()),
        (Ok(expected), Ok(got)) => {
            assert_eq!(expected.shape(), got.shape(), "{}", what());
            assert_eq!(bytes(expected.as_slice()), bytes(got.as_slice()), "{}", what());
            expected
        }
        (expected, got) => panic!("{}: {:?}, {:?}", what(), expected.err(), got.err()),
    };

    // Spread out, with the last dimension reversed.
    let shape = expected.shape();
    let mut strides = vec![0isize; shape.len()];
    let mut step = 2isize;
    for (stride, &dim) in strides.iter_mut().zip(shape).rev() {
        *stride = step;
        step = step * dim.max(1) as isize + 1;
    }
    let mut offset = 1;
    if let (Some(stride), Some(&dim)) = (strides.last_mut(), shape.last()) {
        offset += *stride as usize * dim.saturating_sub(1);
        *stride = -*stride;
    }
    let mut memory = vec![U::ZERO; step as usize + 2];
    let mut out = ViewMut::strided(&mut memory, shape, &strides, offset).unwrap();
    op.run_into(&data.map(map, given), indices, &mut out).unwrap();
    let written = View::strided(&memory, shape, &strides, offset).unwrap();
    for (coords, value) in oracle::coords(shape).zip(expected.as_slice()) {
        assert_eq!(bytes(&[*written.get(&coords).unwrap()]), bytes(&[*value]), "{} at {coords:?}", what());
    }

    let mut memory = vec![MaybeUninit::<U>::uninit(); expected.len()];
    op.run_into(&data.map(map, given), indices, &mut ViewMut::new(&mut memory, shape).unwrap()).unwrap();
    // SAFETY: `run_into` has succeeded.
    let got: Vec<U> = memory.iter().map(|value| unsafe { value.assume_init() }).collect();
    assert_eq!(bytes(expected.as_slice()), bytes(&got), "{}", what());

    let mut out = vec![U::ZERO; expected.len()];
    plan.run_into(&data.map(map, given), indices, &mut ViewMut::new(&mut out, shape).unwrap()).unwrap();
    assert_eq!(bytes(expected.as_slice()), bytes(&out), "{}, planned", what());
    let mut memory = vec![MaybeUninit::<U>::uninit(); expected.len()];
    plan.run_into(&data.map(map, given), indices, &mut ViewMut::new(&mut memory, shape).unwrap()).unwrap();
    // SAFETY: `run_into` has succeeded.
    let got: Vec<U> = memory.iter().map(|value| unsafe { value.assume_init() }).collect();
    assert_eq!(bytes(expected.as_slice()), bytes(&got), "{}, planned", what());
}

/// Maps on GatherElements and GatherNd, from contiguous data and indices, and others.
#[test]
fn every_operator_converts() {
    let codes = Dense::from_fn(&[9, 40], |at| (at * 31 + 7) as u8);
    let (scales, spread) = (scales(9), Spread::new(&codes));
    let zeros: Vec<u8> = (0..9).map(|at| (at * 37 + 5) as u8).collect();
    let dequantized = |code: u8, at: usize| (f32::from(code) - f32::from(zeros[at])) * scales[at];
    let given = (Given::PerRow(&scales[..]), Given::PerRow(&zeros[..]));
    let one = |code: u8, _: usize| (f32::from(code) - 128.0) * 0.5;
    for (negative, out, _) in RULES {
        for level in levels() {
            for (count, far) in [(1, 0), (7, 0), (70, 0), (700, 0), (70, 3), (700, 3)] {
                let index = |at: usize| (at * 7 % (9 + far)) as i32 - if far > 0 { 1 } else { 0 };
                let square = Dense::from_fn(&[count, 40], index);
                let elements = GatherElements::new(0).negative_index(negative).out_of_bounds(out).level(level);
                let apart = Spread::new(&square);
                holds(&maps::dequantize(), &elements, (0, &view(&codes), &view(&square)), given, dequantized);
                holds(&maps::dequantize(), &elements, (0, &spread.view(), &apart.view()), given, dequantized);
                let nd = GatherNd::new().negative_index(negative).out_of_bounds(out).level(level);
                let tuples = Dense::from_fn(&[count, 1], |at| index(at) as i64);
                let apart = Spread::new(&tuples);
                holds(&maps::dequantize(), &nd, (0, &view(&codes), &view(&tuples)), given, dequantized);
                holds(&maps::dequantize(), &nd, (0, &spread.view(), &apart.view()), given, dequantized);
                let pairs = Dense::from_fn(&[count, 2], |at| index(at) as i16);
                let by_one = (Given::All(0.5), Given::All(128));
                holds(&maps::dequantize(), &nd, (0, &view(&codes), &view(&pairs)), by_one, one);
            }
        }
    }
}

fn scales(dim: usize) -> Vec<f32> {
    (0..dim).map(|at| 1.0 / (at as f32 + 3.0)).collect()
}

/// Checks all ready-made maps on tables of a shape.
fn ready_made<I: Index>(op: &Gather, axis: usize, shape: &[usize], indices: &View<'_, I>) {
    let dim = shape[axis];
    let scales = scales(dim);
    let zeros: Vec<u8> = (0..dim).map(|at| (at * 37 + 5) as u8).collect();
    let signed: Vec<i8> = zeros.iter().map(|&zero| zero as i8).collect();
    let codes = Dense::from_fn(shape, |at| (at * 31 + 7) as u8);
    let signed_codes = Dense { shape: shape.to_vec(), values: codes.values.iter().map(|&code| code as i8).collect() };
    // Every third value is special: subnormal, infinite, or NaN.
    let bits = |at: usize| {
        ((at * 2551 + 1) as u32).wrapping_mul(0x9e37_79b9) | if at.is_multiple_of(3) { 0x7f80_0000 } else { 0 }
    };
    let single = Dense::from_fn(shape, |at| f32::from_bits(bits(at)));
    let half = Dense::from_fn(shape, |at| f16::from_bits(bits(at) as u16 | if at % 3 == 1 { 0x7c00 } else { 0 }));
    let brain = Dense::from_fn(shape, |at| bf16::from_bits((bits(at) >> 15) as u16));

    for spread in [false, true] {
        let (a, b, c) = (Spread::new(&codes), Spread::new(&signed_codes), Spread::new(&single));
        let (d, e) = (Spread::new(&half), Spread::new(&brain));
        let codes = if spread { a.view() } else { view(&codes) };
        let signed_codes = if spread { b.view() } else { view(&signed_codes) };
        let single = if spread { c.view() } else { view(&single) };
        let half = if spread { d.view() } else { view(&half) };
        let brain = if spread { e.view() } else { view(&brain) };

        let byte = |value: u8, scale: f32, zero: u8| (f32::from(value) - f32::from(zero)) * scale;
        let signed_byte = |value: i8, scale: f32, zero: i8| (f32::from(value) - f32::from(zero)) * scale;
        let on = (axis, &codes, indices);
        let given = (Given::PerRow(&scales[..]), Given::PerRow(&zeros[..]));
        holds(&maps::dequantize(), op, on, given, |value, at| byte(value, scales[at], zeros[at]));
        let given = (Given::All(0.3), Given::PerRow(&zeros[..]));
        holds(&maps::dequantize(), op, on, given, |value, at| byte(value, 0.3, zeros[at]));
        let given = (Given::All(-7.1), Given::All(128));
        holds(&maps::dequantize(), op, on, given, |value, _| byte(value, -7.1, 128));
        let on = (axis, &signed_codes, indices);
        let given = (Given::PerRow(&scales[..]), Given::PerRow(&signed[..]));
        holds(&maps::dequantize(), op, on, given, |value, at| signed_byte(value, scales[at], signed[at]));
        let given = (Given::PerRow(&scales[..]), Given::All(-3));
        holds(&maps::dequantize(), op, on, given, |value, at| signed_byte(value, scales[at], -3));
        holds(&maps::convert::<_, f32>(), op, (axis, &half, indices), (), |value, _| value.to_f32());
        holds(&maps::convert::<_, f32>(), op, (axis, &brain, indices), (), |value, _| value.to_f32());
        holds(&maps::convert::<_, half::f16>(), op, (axis, &single, indices), (), |value, _| f16::from_f32(value));
        holds(&maps::convert::<_, half::bf16>(), op, (axis, &single, indices), (), |value, _| bf16::from_f32(value));
    }
}

#[test]
fn rows_of_every_length_are_converted() {
    let list = [4i64, 0, -1, 8, 7, 2, -9, 9, 2];
    let list = View::new(&list, &[3, 3]).unwrap();
    for level in levels() {
        for len in 0..=70 {
            ready_made(&Gather::new(0).out_of_bounds(OutOfBounds::Zero).level(level), 0, &[9, len], &list);
        }
    }
}

#[test]
fn every_axis_batch_and_policy() {
    let shape = [3, 4, 5];
    for level in levels() {
        for axis in 0..3 {
            for batch in 0..=axis {
                for (seed, (negative, out, _)) in RULES.into_iter().enumerate() {
                    for tame in [false, true] {
                        let index_shape = [&shape[..batch], &[2, 2]].concat();
                        let n = shape[axis] as i128;
                        let (low, count) = if tame { (0, n) } else { (-n - 1, 2 * n + 3) };
                        let indices =
                            Dense::from_fn(&index_shape, |at| low + ((at * 7 + seed) as i128).rem_euclid(count));
                        let op = Gather::new(axis as i64).batch_dims(batch as i64).level(level);
                        let op = op.negative_index(negative).out_of_bounds(out);
                        ready_made(&op, axis, &shape, &Spread::new(&narrow::<i32>(&indices)).view());
                    }
                }
            }
        }
    }
}

#[test]
fn every_index_type_at_its_own_width() {
    fn with<I: Index + TryFrom<i128>>(low: i128) {
        let indices = Dense::from_fn(&[17], |at| low.max(-7) + at as i128 % 15);
        for level in levels() {
            let op = Gather::new(1).out_of_bounds(OutOfBounds::Zero).level(level);
            ready_made(&op, 1, &[2, 6, 3], &view(&narrow::<I>(&indices)));
            ready_made(&op, 1, &[2, 6], &Spread::new(&narrow::<I>(&indices)).view());
        }
    }
    with::<i8>(-7);
    with::<i16>(-7);
    with::<i32>(-7);
    with::<i64>(-7);
    with::<isize>(-7);
    with::<u8>(0);
    with::<u16>(0);
    with::<u32>(0);
    with::<u64>(0);
    with::<usize>(0);
}

#[test]
fn lanes_of_every_length_around_a_block() {
    let table = Dense::from_fn(&[2, 40], |at| at as u8);
    let scales = scales(40);
    for lanes in (1..=20).chain(505..=520).chain(1020..=1030) {
        let list = Dense::from_fn(&[lanes], |at| (at * 11 % 42) as i128);
        let list = narrow::<u16>(&list);
        for level in levels() {
            let op = Gather::new(1).out_of_bounds(OutOfBounds::Zero).level(level);
            let given = (Given::PerRow(&scales[..]), Given::All(3));
            let convert = |value, at: usize| (f32::from(value) - 3.0) * scales[at];
            holds(&maps::dequantize(), &op, (1, &view(&table), &view(&list)), given, convert);
        }
    }
}

#[test]
fn rows_of_large_tables_which_are_fetched_ahead() {
    for len in [32, 100, 255, 256, 257, 700, 1025] {
        let rows = (1 << 20) / len + 3;
        let table = Dense::from_fn(&[rows, len], |at| (at * 31 % 253) as u8);
        let wide = Dense::from_fn(&[rows, len], |at| (at * 31 % 4093) as f32 / 64.0);
        let scales = scales(rows);
        let list = Dense::from_fn(&[530], |at| (at * 7919 % (rows + 1)) as i128 - 1);
        let list = narrow::<i32>(&list);
        for level in levels() {
            let op = Gather::new(0).negative_index(NegativeIndex::Reject).out_of_bounds(OutOfBounds::Zero).level(level);
            let given = (Given::PerRow(&scales[..]), Given::All(9));
            let convert = |value, at: usize| (f32::from(value) - 9.0) * scales[at];
            holds(&maps::dequantize(), &op, (0, &view(&table), &view(&list)), given, convert);
            holds(&maps::convert::<_, half::f16>(), &op, (0, &view(&wide), &view(&list)), (), |value, _| {
                f16::from_f32(value)
            });
        }
    }
}

#[test]
fn every_number_of_threads_gives_the_same() {
    let table = Dense::from_fn(&[3, 50, 70], |at| (at % 251) as u8);
    let scales = scales(50);
    let list = Dense::from_fn(&[700], |at| (at * 37 % 103) as i128 - 51);
    let list = narrow::<i64>(&list);
    for par in [Par::Seq, Par::Auto, Par::Threads(1), Par::Threads(2), Par::Threads(3), Par::Threads(64)] {
        for out in [OutOfBounds::Error, OutOfBounds::Zero, OutOfBounds::Wrap] {
            let op = Gather::new(1).out_of_bounds(out).par(par);
            let given = (Given::PerRow(&scales[..]), Given::All(9));
            let convert = |value, at: usize| (f32::from(value) - 9.0) * scales[at];
            holds(&maps::dequantize(), &op, (1, &view(&table), &view(&list)), given, convert);
        }
    }
}

/// Checks that a map of numbers gives the same bits as `expected` for every value of a list.
fn on_all<T: Element + Debug, U: Element>(map: &Map<T, U>, values: &[T], convert: impl Fn(T) -> U) {
    for level in levels() {
        let data = View::new(values, &[1, values.len()]).unwrap();
        let got = Gather::new(0).level(level).run(&data.map(map, ()), &View::new(&[0u8], &[1]).unwrap()).unwrap();
        for (got, &value) in got.as_slice().iter().zip(values) {
            assert_eq!(bytes(&[*got]), bytes(&[convert(value)]), "{} of {value:?}", map.name());
        }
    }
}

#[test]
fn half_types_are_converted_as_the_crate_half_does() {
    let all: Vec<u16> = (0..=u16::MAX).collect();
    let halves: Vec<f16> = all.iter().map(|&bits| f16::from_bits(bits)).collect();
    on_all(&maps::convert::<_, f32>(), &halves, f16::to_f32);
    let brains: Vec<bf16> = all.iter().map(|&bits| bf16::from_bits(bits)).collect();
    on_all(&maps::convert::<_, f32>(), &brains, bf16::to_f32);

    // Values near every half-precision number and every midpoint between two, and a sample of the rest.
    let mut singles: Vec<f32> = Vec::new();
    for (half, brain) in halves.iter().zip(&brains) {
        for middle in [half.to_f32().to_bits(), half.to_f32().to_bits() + 0x1000, brain.to_f32().to_bits()] {
            singles.extend([-1, 0, 1].map(|off| f32::from_bits(middle.wrapping_add_signed(off))));
        }
        singles
            .extend([-1, 0, 1].map(|off| f32::from_bits((brain.to_f32().to_bits() + 0x8000).wrapping_add_signed(off))));
    }
    // The subnormal numbers of 16 bits, and the midpoints between them.
    singles.extend((0..=4096).flat_map(|at| [-1, 0, 1].map(|off| (at as f32 / (1 << 26) as f32, off))).map(nudge));
    singles.extend((0..1 << 20).map(|at: u32| f32::from_bits(at.wrapping_mul(0x9e37_79b1))));
    on_all(&maps::convert::<_, half::f16>(), &singles, f16::from_f32);
    on_all(&maps::convert::<_, half::bf16>(), &singles, bf16::from_f32);
}

fn nudge((value, off): (f32, i32)) -> f32 {
    f32::from_bits(value.to_bits().saturating_add_signed(off))
}

#[test]
fn tensors_without_elements_and_of_rank_0() {
    let list: [i32; 0] = [];
    let empty = View::new(&list, &[0]).unwrap();
    let scalar = View::scalar(&2i64);
    let scales = scales(3);
    let given = (Given::PerRow(&scales[..]), Given::All(0));
    let table = Dense::from_fn(&[3, 2], |at| at as u8 + 1);
    for &out in OutOfBounds::ALL {
        let op = Gather::new(0).out_of_bounds(out);
        ready_made(&op, 0, &[3, 2], &empty);
        ready_made(&op, 0, &[3, 2], &scalar);
        ready_made(&op, 0, &[3], &scalar);
        // An axis without elements: zeros, or an error.
        ready_made(&op, 0, &[0, 2], &scalar);
        ready_made(&op, 0, &[3, 0], &scalar);
        ready_made(&op, 0, &[0, 2], &empty);
    }
    let got = Gather::new(0).run(&view(&table).map(&maps::dequantize(), given), &scalar).unwrap();
    assert_eq!((got.shape(), got.as_slice()), (&[2][..], &[1.0, 1.2][..]));
}
