//! Fused rows: every format, width, reduction and output against the plain program, and rows as PyTorch makes them.

use gather_core::{Bags, EmbeddingBag, Error, Float, FusedFormat, FusedRows, Gather, Par, Reduction, View, ViewMut};
use gather_tests::fused::{reduced, rows, same, values};
use gather_tests::values::bytes;
use half::{bf16, f16};

use crate::support::{levels, lines, unhex};

/// Around every width of a panel.
const COLUMNS: [usize; 25] =
    [1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 24, 31, 33, 40, 41, 63, 64, 65, 72, 100, 129, 768, 1023, 1033];
const ROWS: usize = 23;

fn noise(at: usize) -> u64 {
    let x = (at as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 37;
    (x ^ x >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9)
}

/// A number of an output, rounded from `f32`, as its bits; NaN is like NaN.
fn bits<U: Float>(value: U) -> u32 {
    let value = value.to_f32();
    if value.is_nan() { u32::MAX } else { value.to_bits() }
}

/// Numbers as an output has them.
fn rounded<U: Float>(numbers: &[f32]) -> Vec<U> {
    numbers.iter().map(|&number| U::from_f32(number)).collect()
}

fn assert_same<U: Float>(got: &[U], expected: &[U], what: &str) {
    // Slices are compared at once: tests are not optimised. Those that differ may hold other NaN.
    if bytes(got) != bytes(expected) {
        assert!(got.iter().map(|&value| bits(value)).eq(expected.iter().map(|&value| bits(value))), "{what}");
    }
}

#[test]
fn bags_of_every_width() {
    let bounds = [0u32, 0, 3, 70, 71, 71 + 530];
    let count = bounds[bounds.len() - 1] as usize;
    let ids: Vec<i32> = (0..count).map(|at| (noise(at) % ROWS as u64) as i32 - 3 * i32::from(at % 7 == 0)).collect();
    let weights: Vec<f32> = (0..count).map(|at| noise(at + 7) as i8 as f32 / 9.0).collect();
    let (ids_view, offsets) = (View::new(&ids, &[count]).unwrap(), View::new(&bounds, &[bounds.len()]).unwrap());
    let weights_view = View::new(&weights, &[count]).unwrap();
    let row = |id: i32| if id < 0 { (id + ROWS as i32) as usize } else { id as usize };
    for &format in FusedFormat::ALL {
        for columns in COLUMNS {
            let bytes = rows(format, columns, ROWS, noise);
            let width = format.row_bytes(columns).unwrap();
            let numbers: Vec<_> = bytes.chunks_exact(width).map(|row| values(row, format, columns)).collect();
            let table = FusedRows::new(View::new(&bytes, &[ROWS, width]).unwrap(), format, columns).unwrap();
            for (reduction, weighted, padding) in [
                (Reduction::Add, false, None),
                (Reduction::Add, true, Some(2)),
                (Reduction::Mean, false, Some(-1)),
                (Reduction::Max, false, None),
                (Reduction::Min, false, Some(2)),
            ] {
                let weight = |at: usize| if weighted { weights[at] } else { 1.0 };
                let counts = |at: &usize| padding.is_none_or(|padding| row(ids[*at]) != row(padding));
                let expected = bounds.windows(2).flat_map(|ends| {
                    let places: Vec<usize> = (ends[0] as usize..ends[1] as usize).filter(counts).collect();
                    let (numbers, ids) = (&numbers, &ids);
                    (0..columns).map(move |column| {
                        let terms = places.iter().map(|&at| (numbers[row(ids[at])][column], weight(at)));
                        reduced(reduction, &terms.collect::<Vec<_>>()).unwrap_or(0.0)
                    })
                });
                let expected: Vec<f32> = expected.collect();
                let (halves, brains) = (rounded(&expected), rounded(&expected));
                let bags = Bags::new(&ids_view, &offsets);
                let bags = bags.weights(weighted.then_some(&weights_view));
                for (level, par) in levels().flat_map(|level| [(level, Par::Seq), (level, Par::Threads(3))]) {
                    let op = EmbeddingBag::new(reduction).include_last_offset(true);
                    let op = op.padding_index(padding.map(i64::from)).level(level).par(par);
                    let what = format!("{format:?}, {columns} columns: {op:?}");
                    assert_same(op.run(&table.to::<f32>(), &bags).unwrap().as_slice(), &expected, &what);
                    if columns < 130 {
                        assert_same(op.run(&table.to::<f16>(), &bags).unwrap().as_slice(), &halves, &what);
                        assert_same(op.run(&table.to::<bf16>(), &bags).unwrap().as_slice(), &brains, &what);
                    }
                }
            }
            let expected: Vec<f32> = ids.iter().flat_map(|&id| numbers[row(id)].clone()).collect();
            let (halves, brains) = (rounded(&expected), rounded(&expected));
            for level in levels() {
                let gather = Gather::new(-2).level(level);
                let what = format!("{format:?}, {columns} columns at {level}");
                assert_same(gather.run(&table.to::<f32>(), &ids_view).unwrap().as_slice(), &expected, &what);
                assert_same(gather.run(&table.to::<f16>(), &ids_view).unwrap().as_slice(), &halves, &what);
                assert_same(gather.run(&table.to::<bf16>(), &ids_view).unwrap().as_slice(), &brains, &what);
            }
        }
    }
}

/// An output whose rows are not contiguous, a bag without rows, and the row that stands for it, whose -0.0 stays.
#[test]
fn rows_that_stand_for_bags_are_as_they_are() {
    let mut bytes = vec![0u8, 3];
    bytes.extend([1.0f32, -0.0].map(f32::to_le_bytes).as_flattened());
    bytes.extend([9, 9]);
    let view = View::strided(&bytes, &[1, 10], &[12, 1], 0).unwrap();
    let mut zeros = bytes.clone();
    zeros[2..6].copy_from_slice(&(-1.0f32).to_le_bytes());
    let negative = View::strided(&zeros, &[1, 10], &[12, 1], 0).unwrap();
    let ids = View::new(&[0u8; 0], &[0]).unwrap();
    let offsets = View::new(&[0u8, 0], &[2]).unwrap();
    for (view, expected) in [(view, [0.0f32, 3.0]), (negative, [-0.0, -3.0])] {
        let table = FusedRows::new(view, FusedFormat::Torch8, 2).unwrap();
        for level in levels() {
            let mut out = [7.0f32; 6];
            let op = EmbeddingBag::new(Reduction::Add).default_index(0).level(level);
            let mut into = ViewMut::strided(&mut out, &[2, 2], &[3, 1], 0).unwrap();
            op.run_into(&table.to::<f32>(), &Bags::new(&ids, &offsets), &mut into).unwrap();
            let [a, b] = expected;
            assert!(out.iter().zip([a, b, 7.0, a, b, 7.0]).all(|(&got, expected)| same(got, expected)), "{out:?}");
            let mut apart = ViewMut::strided(&mut out, &[2, 2], &[1, 2], 0).unwrap();
            let refused = op.run_into(&table.to::<f32>(), &Bags::new(&ids, &offsets), &mut apart);
            assert!(matches!(refused, Err(Error::RowsNotContiguous { .. })), "{refused:?}");
        }
    }
}

#[test]
fn rows_are_those_of_pytorch() {
    let mut cases = 0;
    for line in lines("tables/fused.jsonl") {
        let name = line["format"].as_str().unwrap();
        let format = *FusedFormat::ALL.iter().find(|format| format!("{format:?}") == name).unwrap();
        let columns = line["columns"].as_u64().unwrap() as usize;
        let numbers = |key: &str| -> Vec<f32> {
            let bits = line[key].as_array().unwrap().iter();
            bits.map(|bits| f32::from_bits(bits.as_u64().unwrap().try_into().unwrap())).collect()
        };
        let (numbers, unpacked) = (numbers("values"), numbers("unpacked"));
        let count = numbers.len() / columns;
        let packed = unhex(line["bytes"].as_str().unwrap());
        let made = FusedRows::quantize(format, &View::new(&numbers, &[count, columns]).unwrap()).unwrap();
        let width = format.row_bytes(columns).unwrap();
        for (at, (got, expected)) in made.as_slice().chunks(width).zip(packed.chunks(width)).enumerate() {
            assert_eq!(got, expected, "row {at} of {columns} columns in {name}");
        }
        let table = FusedRows::new(View::new(&packed, &[count, width]).unwrap(), format, columns).unwrap();
        let ids: Vec<u32> = (0..count as u32).collect();
        let rows = Gather::new(0).run(&table.to::<f32>(), &View::new(&ids, &[count]).unwrap()).unwrap();
        for (at, (&got, &expected)) in rows.as_slice().iter().zip(&unpacked).enumerate() {
            // PyTorch fuses product and sum where its compiler did. So its bits are those of one rounding or of two.
            let row = &packed[at / columns * width..][..width];
            let fused = || {
                let [scale, bias] = [8, 4].map(|back| row[width - back..].first_chunk().copied().unwrap());
                f32::from(row[at % columns]).mul_add(f32::from_le_bytes(scale), f32::from_le_bytes(bias))
            };
            let fits = same(got, expected) || format == FusedFormat::Torch8 && same(fused(), expected);
            assert!(fits, "value {at} of {columns} columns in {name} is {got}, not {expected}");
        }
        // The rows of FBGEMM are the same, with what belongs to a row before its codes.
        let others = [(FusedFormat::Torch4, FusedFormat::Fbgemm4), (FusedFormat::Torch2, FusedFormat::Fbgemm2)];
        for (_, other) in others.into_iter().filter(|&(this, _)| this == format) {
            let made = FusedRows::quantize(other, &View::new(&numbers, &[count, columns]).unwrap()).unwrap();
            let turned = packed.chunks(width).flat_map(|row| [&row[width - 4..], &row[..width - 4]].concat());
            assert_eq!(made.into_vec(), turned.collect::<Vec<u8>>(), "{other:?}");
        }
        cases += count;
    }
    assert!(cases > 100);
}

/// Rows are made of values at any strides, and read as near to these as codes allow.
#[test]
fn rows_come_back() {
    let numbers: Vec<f32> = (0..5 * 33).map(|at| noise(at) as i16 as f32 / 1000.0).collect();
    let view = View::strided(&numbers, &[33, 5], &[1, 33], 0).unwrap();
    for &format in FusedFormat::ALL {
        let bytes = FusedRows::quantize(format, &view).unwrap();
        let table = FusedRows::new(bytes.view(), format, 5).unwrap();
        assert_eq!((table.rows(), table.columns(), table.format()), (33, 5, format));
        let ids: Vec<u8> = (0..33).collect();
        let rows = Gather::new(0).run(&table.to::<f32>(), &View::new(&ids, &[33]).unwrap()).unwrap();
        for (at, row) in rows.as_slice().chunks(5).enumerate() {
            let values: Vec<f32> = (0..5).map(|column| numbers[column * 33 + at]).collect();
            let range = values.iter().fold(f32::MIN, |a, &b| a.max(b)) - values.iter().fold(f32::MAX, |a, &b| a.min(b));
            let step = range / (2f32.powi(format.bits() as i32) - 1.0);
            let rounded = if format == FusedFormat::Bf16 { 0.13 } else { 0.03 };
            let near = row.iter().zip(&values).all(|(got, value)| (got - value).abs() <= 0.51 * step + rounded);
            assert!(near, "{format:?}: {row:?} for {values:?}");
        }
    }
}
