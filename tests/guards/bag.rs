//! Bags of rows of every length, whose table, indices, offsets, weights and output each end, or begin, at a page that
//! cannot be touched.

use gather_core::{Bags, EmbeddingBag, Par, Reduction, View, ViewMut};
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
                    let bags_of = if weighted { bags_of.weights(&weights) } else { bags_of };
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
