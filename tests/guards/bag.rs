//! Bags of rows of every length, whose table, indices, offsets, weights and output each end, or begin, at a page that
//! cannot be touched.

use gather_core::{Bags, EmbeddingBag, FusedFormat, FusedRows, Gather, Given, Par, Reduction, View, ViewMut, maps};
use gather_tests::fused;
use gather_tests::guard::{Guarded, Side};
use gather_tests::oracle::{self, BagRows, Dense};

use crate::levels;

/// Rows around every width of a panel.
const ROWS: [usize; 26] =
    [1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 66, 127, 128, 129, 255, 257, 511, 513, 1025];

#[test]
fn rows_of_every_length() {
    let (mut table, mut list, mut begins) = (Guarded::new(1), Guarded::new(1), Guarded::new(1));
    let (mut factors, mut result) = (Guarded::new(1), Guarded::new(1));
    for row in ROWS {
        for (number, bounds) in [&[0usize, 1][..], &[0, 0, 3, 70], &[0, 600, 601]].into_iter().enumerate() {
            let (dim, count, bags) = (5, bounds[bounds.len() - 1], bounds.len() - 1);
            let data = Dense::from_fn(&[dim, row], |at| (at * 7 + 1) as u8);
            let weights = Dense::from_fn(&[count], |at| (at * 13 + number) as u8);
            let ids = Dense::from_fn(&[count], |at| ((at * 3 + number) % dim) as i128);
            let rules = gather_tests::policies::RULES[0].2;
            for (reduction, weighted) in [(Reduction::Add, true), (Reduction::Max, false), (Reduction::Mean, false)] {
                let reduce = |terms: &[(usize, u8)]| match reduction {
                    Reduction::Add => {
                        terms.iter().fold(0u8, |sum, &(at, x)| sum.wrapping_add(x.wrapping_mul(weights.values[at])))
                    }
                    Reduction::Max => terms.iter().map(|&(_, x)| x).max().unwrap(),
                    _ => (terms.iter().map(|&(_, x)| u32::from(x)).sum::<u32>() / terms.len() as u32) as u8,
                };
                let expected = oracle::embedding_bag(&data, &ids, bounds, rules, BagRows::default(), &0, reduce);
                let expected = expected.unwrap().values;
                for side in Side::ALL {
                    let data = table.place(side, 0, dim * row, |at| data.values[at]);
                    let weights = factors.place(side, 0, count, |at| weights.values[at]);
                    let ids = list.place(side, 0, count, |at| ids.values[at] as i16);
                    let offsets = begins.place(side, 0, bags, |at| bounds[at] as u32);
                    let out = result.place(side, 0, bags * row, |_| 0u8);
                    let (data, weights) =
                        (View::new(data, &[dim, row]).unwrap(), View::new(weights, &[count]).unwrap());
                    let (ids, offsets) = (View::new(ids, &[count]).unwrap(), View::new(offsets, &[bags]).unwrap());
                    let bags_of = Bags::new(&ids, &offsets);
                    let bags_of = bags_of.weights(weighted.then_some(&weights));
                    for level in levels() {
                        out.fill(99);
                        let op = EmbeddingBag::new(reduction).level(level).par(Par::Threads(1 + number));
                        op.run_into(&data, &bags_of, &mut ViewMut::new(out, &[bags, row]).unwrap()).unwrap();
                        assert!(out == expected, "{op:?} of rows of {row}: {bounds:?}");
                    }
                }
            }
        }
    }
}

/// Rows of bytes that become numbers, with parameters next to guards too.
#[test]
fn rows_that_a_map_converts() {
    let (mut table, mut list, mut begins) = (Guarded::new(1), Guarded::new(1), Guarded::new(1));
    let (mut factors, mut result, mut params) = (Guarded::new(1), Guarded::new(1), Guarded::new(1));
    for (number, row) in ROWS.into_iter().enumerate() {
        let bounds = [&[0usize, 1][..], &[0, 0, 3, 70], &[0, 300, 301]][number % 3];
        let (dim, count, bags) = (5, bounds[bounds.len() - 1], bounds.len() - 1);
        let codes = Dense::from_fn(&[dim, row], |at| (at * 7 + 1) as u8);
        let scale = |at: usize| (at % 11) as f32 * 0.25 - 1.0;
        let weight = |at: usize| (at % 13) as f32 * 0.5 - 3.0;
        let ids = Dense::from_fn(&[count], |at| ((at * 3 + number) % dim) as i128);
        let rules = gather_tests::policies::RULES[0].2;
        for per_element in [false, true] {
            let scales = if per_element { dim * row } else { dim };
            let scale_of = |at: usize| scale(if per_element { at } else { at / row });
            let numbers = Dense::from_fn(&[dim, row], |at| (f32::from(codes.values[at]) - 100.0) * scale_of(at));
            let sum = |terms: &[(usize, f32)]| terms.iter().fold(0.0, |sum, &(at, x)| sum + x * weight(at));
            let expected = oracle::embedding_bag(&numbers, &ids, bounds, rules, BagRows::default(), &0.0, sum);
            let expected = expected.unwrap().values;
            for side in Side::ALL {
                let data = table.place(side, 0, dim * row, |at| codes.values[at]);
                let scales = &*params.place(side, 0, scales, scale);
                let weights = factors.place(side, 0, count, weight);
                let ids = list.place(side, 0, count, |at| ids.values[at] as i16);
                let offsets = begins.place(side, 0, bags, |at| bounds[at] as u32);
                let out = result.place(side, 0, bags * row, |_| 0f32);
                let (data, weights) = (View::new(data, &[dim, row]).unwrap(), View::new(weights, &[count]).unwrap());
                let (ids, offsets) = (View::new(ids, &[count]).unwrap(), View::new(offsets, &[bags]).unwrap());
                let bags_of = Bags::new(&ids, &offsets).weights(&weights);
                let scales = if per_element { Given::PerElement(scales) } else { Given::PerRow(scales) };
                for level in levels() {
                    out.fill(99.0);
                    let op = EmbeddingBag::new(Reduction::Add).level(level).par(Par::Threads(1 + number % 2));
                    let (given, mut into) = ((scales, Given::All(100)), ViewMut::new(out, &[bags, row]).unwrap());
                    op.run_into(&data.map(&maps::dequantize(), given), &bags_of, &mut into).unwrap();
                    let same = out.iter().zip(&expected).all(|(got, expected)| got.to_bits() == expected.to_bits());
                    assert!(same, "{op:?} of rows of {row}: {bounds:?}");
                }
            }
        }
    }
}

/// Fused rows of every format, whose codes, scales and biases end where their rows do.
#[test]
fn fused_rows() {
    let (mut table, mut list, mut factors, mut result) =
        (Guarded::new(1), Guarded::new(1), Guarded::new(1), Guarded::new(1));
    for (number, columns) in ROWS.into_iter().enumerate() {
        for &format in FusedFormat::ALL {
            let (dim, count, bags) = (5, [1, 30, 600][number % 3], [1, 2, 1][number % 3]);
            let noise = |at: usize| (at as u64).wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            let (bytes, width) = (fused::rows(format, columns, dim, noise), format.row_bytes(columns).unwrap());
            let numbers: Vec<_> = bytes.chunks_exact(width).map(|row| fused::values(row, format, columns)).collect();
            let (id, weight) = (|at: usize| (at * 3 + number) % dim, |at: usize| (at % 13) as f32 * 0.5 - 3.0);
            let expected = (0..bags).flat_map(|bag| {
                let places = bag * (count / bags)..(bag + 1) * (count / bags);
                let numbers = &numbers;
                (0..columns).map(move |column| {
                    let terms: Vec<_> = places.clone().map(|at| (numbers[id(at)][column], weight(at))).collect();
                    fused::reduced(Reduction::Add, &terms).unwrap()
                })
            });
            let expected: Vec<f32> = expected.collect();
            for side in Side::ALL {
                let data = table.place(side, 0, dim * width, |at| bytes[at]);
                let ids = list.place(side, 0, count, |at| id(at) as u16);
                let weights = factors.place(side, 0, count, weight);
                let out = result.place(side, 0, bags * columns, |_| 0f32);
                let rows = FusedRows::new(View::new(data, &[dim, width]).unwrap(), format, columns).unwrap();
                let (shape, out_shape) = ([bags, count / bags], [bags, columns]);
                let (ids, weights) = (View::new(ids, &shape).unwrap(), View::new(weights, &shape).unwrap());
                let bags_of = Bags::packed(&ids).weights(&weights);
                for level in levels() {
                    out.fill(99.0);
                    let op = EmbeddingBag::new(Reduction::Add).level(level).par(Par::Threads(1 + number % 2));
                    op.run_into(&rows.to::<f32>(), &bags_of, &mut ViewMut::new(out, &out_shape).unwrap()).unwrap();
                    let same = out.iter().zip(&expected).all(|(&got, &expected)| fused::same(got, expected));
                    assert!(same, "{op:?} of {columns} columns of {format:?}");
                    let gathered = Gather::new(0).level(level).run(&rows.to::<f32>(), &ids).unwrap();
                    assert_eq!(gathered.len(), count * columns);
                }
            }
        }
    }
}
