//! Rows that a map converts first: the bits of the plain loop over converted rows, through every door, under every
//! policy, in bags and rows that are taken in one piece or in many.

mod doors;
mod params;

use gather_core::maps::{self, Q8_0};
use gather_core::{
    Bags, Element, EmbeddingBag, Error, Given, Level, OutOfBounds, Par, Params, Reducible, Reduction, Spec,
};
use gather_core::{Tensor, View, ViewMut};
use gather_tests::oracle::{BagRows, Dense};
use gather_tests::values::bytes;
use half::f16;

use crate::support::{RULES, Spread, mixed, numbers, view};
use doors::{Case, Mapped, Value, holds};

gather_core::map_kernels! {
    /// To a wider type, whose sums wrap.
    static BROADEN = |value: u16, shift: u32| -> u64 { u64::from(value) << shift };
    /// To an array that is longer than the scratch.
    static SPREAD_OUT = |value: i16| -> [f32; 4096] {
        let mut out = [0.0; 4096];
        for (at, out) in out.iter_mut().enumerate() {
            *out = f32::from(value) + at as f32 * 0.1;
        }
        out
    };
    /// To arrays of arrays.
    static CORNERS = |value: [i8; 2], scale: f32| -> [[f32; 2]; 2] {
        let [x, y] = value.map(|part| f32::from(part) * scale);
        [[x, y], [x + 1.0, y + 1.0]]
    };
}

const REDUCTIONS: [(Reduction, bool); 5] = [
    (Reduction::Add, false),
    (Reduction::Add, true),
    (Reduction::Mean, false),
    (Reduction::Max, false),
    (Reduction::Min, false),
];

/// Every policy and reduction, with rows that are left out or stand in.
fn under_all<T: Element, U: Reducible<Number: Value>, P: Params>(mapped: &Mapped<'_, T, U, P>, data: &Dense<T>) {
    let dim = data.shape[0];
    for (turn, (_, out_of_bounds, rules)) in RULES.into_iter().enumerate() {
        for (number, (reduction, weighted)) in REDUCTIONS.into_iter().enumerate() {
            // Of every second policy all indices are in range.
            let reach = if turn % 2 == number % 2 { 0..dim as i128 } else { -7..8 };
            let width = (reach.end - reach.start) as u64;
            let indices = Dense::from_fn(&[13], |at| reach.start + i128::from(mixed(turn as u64, at + number) % width));
            let named = |odd: usize| (number % 2 == odd).then_some((turn + number) % dim);
            let rows = BagRows { padding: named(1), default: named(turn % 2), ..BagRows::default() };
            let bounds = &[0, 0, 4, 5, 5, 13];
            let case = Case { indices: &indices, bounds, reduction, weighted, rows, rules, out_of_bounds };
            holds(mapped, (data, &view(data)), &case);
            let spread = Spread::new(data);
            holds(mapped, (data, &spread.view()), &case);
        }
    }
}

fn halves(shape: &[usize]) -> Dense<f16> {
    let edges = [f16::NEG_ZERO, f16::MIN_POSITIVE, f16::from_bits(1), f16::ZERO];
    let values = numbers(shape.iter().product(), 3, &edges, |bits| f16::from_f32((bits % 2000) as f32 / 7.0 - 100.0));
    Dense { values, shape: shape.into() }
}

fn blocks(shape: &[usize]) -> Dense<Q8_0> {
    Dense::from_fn(shape, |at| {
        let mut bytes: [u8; 34] = std::array::from_fn(|k| (mixed(9, at) >> (k % 8)) as u8 ^ k as u8);
        bytes[..2].copy_from_slice(&f16::from_f32((mixed(4, at) % 100) as f32 / 64.0 - 0.7).to_le_bytes());
        Q8_0::from(bytes)
    })
}

fn q8_0(block: Q8_0) -> Vec<f32> {
    maps::Block::to_f32(block).to_vec()
}

#[test]
fn every_policy_and_reduction() {
    for columns in [1, 3, 40] {
        let data = halves(&[5, columns]);
        let values = |x: f16, _, _| vec![x.to_f32()];
        under_all(&Mapped { map: &maps::convert::<_, f32>(), given: (), values: &values }, &data);
    }
    let scales = [0.5f32, -0.25, 3.0, 0.1, 1e-3];
    let data = Dense::from_fn(&[5, 2, 3], |at| mixed(1, at) as u8);
    let values = |x: u8, row: usize, _| vec![(f32::from(x) - 100.0) * scales[row]];
    let given = (Given::PerRow(&scales[..]), Given::All(100));
    under_all(&Mapped { map: &maps::dequantize(), given, values: &values }, &data);
    under_all(&Mapped { map: &maps::convert::<_, f32>(), given: (), values: &|x, _, _| q8_0(x) }, &blocks(&[5, 2]));
    let values = |x: f32, _, _| vec![f16::from_f32(x)];
    let singles = Dense::from_fn(&[5, 7], |at| (mixed(2, at) % 4000) as f32 / 9.0 - 222.0);
    under_all(&Mapped { map: &maps::convert::<_, half::f16>(), given: (), values: &values }, &singles);
}

#[test]
fn maps_of_ones_own() {
    let shorts = Dense::from_fn(&[5, 6], |at| mixed(6, at) as u16);
    let shifts: Vec<u32> = (0..5).map(|row| row * 12).collect();
    let values = |x: u16, row: usize, _| vec![u64::from(x) << (row * 12)];
    under_all(&Mapped { map: &BROADEN, given: (Given::PerRow(&shifts[..]),), values: &values }, &shorts);
    let pairs = Dense::from_fn(&[5, 3], |at| [at as i8, at as i8 - 8]);
    let values = |pair: [i8; 2], _, _| {
        let [x, y] = pair.map(|part| f32::from(part) * 0.3);
        vec![x, y, x + 1.0, y + 1.0]
    };
    under_all(&Mapped { map: &CORNERS, given: (Given::All(0.3),), values: &values }, &pairs);
}

/// Bags of many lengths: none, a few rows, more than are converted at a time.
const BOUNDS: [usize; 8] = [0, 1, 1, 3, 40, 41, 700, 703];
const PADDING: usize = 3;

fn long<T: Element, U: Reducible<Number: Value>, P: Params>(mapped: &Mapped<'_, T, U, P>, data: &Dense<T>) {
    let (dim, count) = (data.shape[0], BOUNDS[BOUNDS.len() - 1]);
    let indices = Dense::from_fn(&[count], |at| i128::from(mixed(3, at) % dim as u64));
    let (_, out_of_bounds, rules) = RULES[0];
    for (number, (reduction, weighted)) in REDUCTIONS[..4].iter().copied().enumerate() {
        let rows =
            BagRows { padding: number.is_multiple_of(2).then_some(PADDING), default: None, ..BagRows::default() };
        let case = Case { indices: &indices, bounds: &BOUNDS, reduction, weighted, rows, rules, out_of_bounds };
        holds(mapped, (data, &view(data)), &case);
    }
}

#[test]
fn long_bags_and_wide_rows() {
    for columns in [1, 64, 257] {
        let values = |x: f16, _, _| vec![x.to_f32()];
        long(&Mapped { map: &maps::convert::<_, f32>(), given: (), values: &values }, &halves(&[11, columns]));
    }
    for columns in [1, 9] {
        long(
            &Mapped { map: &maps::convert::<_, f32>(), given: (), values: &|x, _, _| q8_0(x) },
            &blocks(&[11, columns]),
        );
    }
    let data = Dense::from_fn(&[11, 40], |at| mixed(1, at) as u8);
    let scales: Vec<f32> = (0..440).map(|at| (at % 17) as f32 * 0.1).collect();
    let values = |x: u8, _, at: usize| vec![(f32::from(x) - 7.0) * scales[at]];
    let given = (Given::PerElement(&scales[..]), Given::All(7));
    long(&Mapped { map: &maps::dequantize(), given, values: &values }, &data);
}

#[test]
fn elements_longer_than_the_scratch() {
    let data = Dense::from_fn(&[4, 2], |at| at as i16 * 31 - 100);
    let values = |x: i16, _, _| (0..4096).map(|at| f32::from(x) + at as f32 * 0.1).collect();
    let mapped = Mapped { map: &SPREAD_OUT, given: (), values: &values };
    let indices = Dense::from_fn(&[5], |at| [3, 0, 3, 1, 9][at]);
    for (_, out_of_bounds, rules) in [RULES[1], RULES[2]] {
        let (rows, bounds) = (BagRows { padding: Some(1), default: Some(2), ..BagRows::default() }, &[0, 3, 4, 5]);
        let (reduction, weighted) = (Reduction::Add, true);
        let case = Case { indices: &indices, bounds, reduction, weighted, rows, rules, out_of_bounds };
        holds(&mapped, (&data, &view(&data)), &case);
    }
}

#[test]
#[cfg_attr(target_family = "wasm", ignore = "needs threads")]
fn any_number_of_threads() {
    for (rows, columns, lengths) in [
        (5000, 64, &[40; 300][..]),
        (20_000, 100, &[3, 100, 900, 0, 20, 1]),
        (500, 768, &[2000]),
        (500, 333, &[10, 0, 3000, 3]),
        (10, 3, &[0, 2, 0]),
    ] {
        let table: Vec<f16> = (0..rows * columns).map(|at| f16::from_f32((mixed(1, at) % 997) as f32 / 9.0)).collect();
        let singles: Vec<f32> = table.iter().map(|x| x.to_f32()).collect();
        let mut bounds = vec![0u32];
        lengths.iter().for_each(|&len| bounds.push(bounds[bounds.len() - 1] + len));
        let count = bounds[bounds.len() - 1] as usize;
        let ids: Vec<u16> = (0..count).map(|at| (mixed(2, at) % rows as u64) as u16).collect();
        let mut expected = Vec::new();
        for bag in bounds.windows(2) {
            let mut sums = vec![0.0f32; columns];
            for &id in &ids[bag[0] as usize..bag[1] as usize] {
                let row = &singles[usize::from(id) * columns..][..columns];
                sums.iter_mut().zip(row).for_each(|(sum, x)| *sum += x);
            }
            expected.extend(sums);
        }
        let (table, ids) = (View::new(&table, &[rows, columns]).unwrap(), View::new(&ids, &[count]).unwrap());
        let bounds = View::new(&bounds, &[bounds.len()]).unwrap();
        let op = EmbeddingBag::torch(Reduction::Add).include_last_offset(true);
        for threads in [1, 2, 5] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            for par in [Par::Seq, Par::Threads(threads), Par::Threads(64), Par::Auto] {
                let run = || op.par(par).run(&table.map(&maps::convert::<_, f32>(), ()), &Bags::new(&ids, &bounds));
                let got = pool.install(run).unwrap();
                assert!(bytes(got.as_slice()) == bytes(&expected), "{threads}, {par:?}: {columns} of {lengths:.9?}");
            }
        }
    }
}

#[test]
fn what_is_wrong_is_said() {
    let (codes, list) = ([1u8, 2, 3, 4, 5, 6], [2i64, 0, 1, 1]);
    let (table, ids) = (View::new(&codes, &[3, 2]).unwrap(), View::new(&list, &[2, 2]).unwrap());
    let (map, bags, op) = (&maps::dequantize(), Bags::packed(&ids), EmbeddingBag::new(Reduction::Add));
    let given = (Given::All(1.0), Given::All(0));
    let text = |op: &EmbeddingBag, given| op.run(&table.map(map, given), &bags).unwrap_err().to_string();
    let four = [0.5f32; 4];
    let error = "embedding_bag: parameter scale of dequantize has 4 values; per row it takes 3, the size of axis 0";
    assert_eq!(text(&op, (Given::PerRow(&four), Given::All(0))), error);
    let mut out = [7.0; 4];
    let mut result = ViewMut::new(&mut out, &[2, 2]).unwrap();
    let refused = op.run_into(&table.map(map, (Given::PerElement(&four), Given::All(0))), &bags, &mut result);
    assert!(matches!(refused, Err(Error::MapParameterPerElement { len: 4, elements: 6, row_major: true, .. })));
    let turned = table.permuted(&[1, 0]).unwrap();
    let six = (Given::PerElement(&[1.0; 6][..]), Given::All(0));
    let refused = op.run(&turned.map(map, six), &Bags::packed(&View::new(&[0u8], &[1, 1]).unwrap()));
    assert!(matches!(refused, Err(Error::MapParameterPerElement { row_major: false, .. })));
    // Errors of attributes, shapes and outputs come first.
    let wrong = (Given::PerRow(&four[..]), Given::All(0));
    assert_eq!(text(&op.padding_index(3), wrong), "embedding_bag: padding_index is 3; 3 rows allow -3..=2");
    assert_eq!(text(&op.reduction(Reduction::Mul), wrong), "embedding_bag: there is no reduction mul of f32");
    let mut short = ViewMut::new(&mut out[..2], &[2, 1]).unwrap();
    let error = op.run_into(&table.map(map, wrong), &bags, &mut short).unwrap_err();
    assert_eq!(error.to_string(), "embedding_bag: the output has shape [2, 1]; the result has [2, 2]");
    let weights = [1.0f32; 4];
    let (flat, square) = (View::new(&weights, &[4]).unwrap(), View::new(&weights, &[2, 2]).unwrap());
    let error = op.run(&table.map(map, wrong), &bags.weights(&flat)).unwrap_err();
    assert_eq!(error.to_string(), "embedding_bag: weights have shape [4]; indices have [2, 2]");
    let error = op.reduction(Reduction::Max).run(&table.map(map, wrong), &bags.weights(&square)).unwrap_err();
    assert_eq!(error.to_string(), "embedding_bag: the reduction max takes no weights");
    assert_eq!(out, [7.0; 4]);

    let plan = op.plan(&Spec::from_layout(table.layout()).map(map), &bags).unwrap();
    let text = plan.explain().to_string();
    let converted =
        "4 rows of 2 columns converted at a time\n  takes 2 bytes a row, converted into 8 bytes a row, 32 in all;";
    assert!(text.contains(&format!("data +2 bytes\n  method accumulated, {converted}")), "{text}");
    assert_eq!(format!("{:?}", plan.clone()), text);
    assert_eq!(plan.run(&table.map(map, given), &Bags::planned(&ids)).unwrap().as_slice(), [6.0, 8.0, 6.0, 8.0]);
    assert!(matches!(plan.run(&turned.map(map, given), &Bags::planned(&ids)), Err(Error::PlanMismatch { .. })));
    assert!(matches!(
        plan.run(&table.map(map, wrong), &Bags::planned(&ids)),
        Err(Error::MapParameterLengthMismatch { .. })
    ));
    let mut short = Tensor::full(&[4], 7.0f32).unwrap();
    let refused = plan.run_into(&table.map(map, given), &Bags::planned(&ids), &mut short.view_mut());
    assert!(matches!(refused, Err(Error::PlanMismatch { .. })) && short.as_slice() == [7.0; 4]);
}

#[test]
fn tables_without_rows_and_rows_without_elements() {
    let none: &[u8] = &[];
    let (map, given) = (&maps::dequantize(), (Given::All(2.0), Given::All(5)));
    let (no_rows, no_columns) = (View::new(none, &[0, 2]).unwrap(), View::new(none, &[3, 0]).unwrap());
    let (one, empty) = (View::new(&[3u8], &[1, 1]).unwrap(), View::new(none, &[1, 0]).unwrap());
    let op = EmbeddingBag::new(Reduction::Mean);
    assert_eq!(op.run(&no_rows.map(map, given), &Bags::packed(&empty)).unwrap().as_slice(), [0.0; 2]);
    let zeros = op.out_of_bounds(OutOfBounds::Zero);
    assert_eq!(zeros.run(&no_rows.map(map, given), &Bags::packed(&one)).unwrap().as_slice(), [0.0; 2]);
    for table in [&no_rows, &no_columns] {
        let refused = op.run(&table.map(map, given), &Bags::packed(&one));
        assert!(matches!(refused, Err(Error::IndexOutOfRange { position: 0, index: 3, .. })));
    }
    assert_eq!(zeros.run(&no_columns.map(map, given), &Bags::packed(&one)).unwrap().shape(), [1, 0]);
}

#[test]
#[cfg(target_pointer_width = "64")]
fn axes_beyond_32_bits_are_converted() {
    let rows = 1usize << 33;
    let data = View::strided(&[7u16, 8, 9], &[rows, 3], &[0, 1], 0).unwrap();
    let list = [0i64, -1, (1 << 33) - 1, 1 << 33];
    let ids = View::new(&list, &[2, 2]).unwrap();
    for level in crate::support::available_levels() {
        let op = EmbeddingBag::new(Reduction::Add).level(level).out_of_bounds(OutOfBounds::Zero);
        let got = op.run(&data.map(&BROADEN, (Given::All(4),)), &Bags::packed(&ids)).unwrap();
        assert_eq!(got.as_slice(), [224, 256, 288, 112, 128, 144]);
    }
}

#[test]
#[cfg_attr(target_family = "wasm", ignore = "needs panics that unwind")]
fn a_panic_of_a_map_is_the_callers() {
    gather_core::map_kernels! {
        static CHECKED = |value: u8, most: u8| -> u8 { if value > most { panic!("too much") } else { value } };
    }
    let (table, list): (Vec<u8>, Vec<u8>) = ((0..200).collect(), (0..200).rev().collect());
    let (table, ids) = (View::new(&table, &[200, 1]).unwrap(), View::new(&list, &[40, 5]).unwrap());
    for par in [Par::Seq, Par::Threads(2)] {
        let op = EmbeddingBag::new(Reduction::Max).par(par).level(Level::Scalar);
        let run = |most| op.run(&table.map(&CHECKED, (Given::All(most),)), &Bags::packed(&ids));
        assert!(std::panic::catch_unwind(|| run(150)).is_err());
        assert_eq!(run(199).unwrap().as_slice()[..2], [199, 194]);
    }
}

gather_tests::needs_64_bits!(axes_beyond_32_bits_are_converted);
