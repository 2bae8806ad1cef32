//! Scatters of rows of every length, whose destination, updates and indices each end, or begin, at a page that cannot
//! be touched.

use gather_core::{Method, Par, Reduction, ScatterElements, ScatterNd, View, ViewMut};
use gather_tests::guard::{Guarded, Side};
use gather_tests::oracle::{self, Dense};

use crate::levels;

/// Rows of elements with special code, and those near the limits of the size classes.
const ROWS: [usize; 24] =
    [1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 66, 127, 128, 129, 255, 257, 1025];

#[test]
fn rows_of_every_length() {
    let (mut to, mut from, mut list) = (Guarded::new(1), Guarded::new(1), Guarded::new(1));
    for row in ROWS {
        for (number, count) in [1usize, 3, 70].into_iter().enumerate() {
            let dim = 4;
            let data = Dense::from_fn(&[dim, row], |at| (at * 7 + 1) as u8);
            let updates = Dense::from_fn(&[count, row], |at| (at * 13 + number) as u8);
            let ids = Dense::from_fn(&[count, 1], |at| ((at * 3 + number) % dim) as i128);
            let rules = gather_tests::policies::RULES[0].2;
            for reduction in [Reduction::None, Reduction::Add, Reduction::Max, Reduction::Mean] {
                let mut sums: Vec<(u32, u32)> = data.values.iter().map(|&x| (u32::from(x), 1)).collect();
                let expected = oracle::scatter_nd(&data, &ids, &updates, 0, rules, |&kept, &new| match reduction {
                    Reduction::Add => kept.wrapping_add(new),
                    Reduction::Max => kept.max(new),
                    _ => new,
                });
                let mut expected = expected.unwrap().values;
                if reduction == Reduction::Mean {
                    for (at, new) in updates.values.iter().enumerate() {
                        let sum = &mut sums[ids.values[at / row] as usize * row + at % row];
                        *sum = (sum.0 + u32::from(*new), sum.1 + 1);
                    }
                    expected = sums.iter().map(|&(sum, count)| (sum / count) as u8).collect();
                }
                for side in Side::ALL {
                    let out = to.place(side, 0, dim * row, |at| data.values[at]);
                    let new = from.place(side, 0, count * row, |at| updates.values[at]);
                    let indices = list.place(side, 0, count, |at| ids.values[at] as i16);
                    let indices = View::new(indices, &[count, 1]).unwrap();
                    let new = View::new(new, &[count, row]).unwrap();
                    for level in levels() {
                        let methods = [Method::Grouped, Method::Accumulated, Method::Direct, Method::Prefetched];
                        for method in core::iter::once(None).chain(methods.map(Some)) {
                            out.copy_from_slice(&data.values);
                            let op = ScatterNd::new().reduction(reduction).level(level).par(Par::Threads(1 + number));
                            let op = match method {
                                Some(Method::Direct | Method::Prefetched) if reduction == Reduction::Mean => continue,
                                Some(Method::Accumulated) if reduction == Reduction::None => continue,
                                Some(method) => op.method(method),
                                None => op,
                            };
                            op.run_on(&mut ViewMut::new(out, &[dim, row]).unwrap(), &indices, &new).unwrap();
                            assert!(out == expected, "{op:?} of {count} rows of {row}");
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn elements_along_every_axis() {
    let (mut to, mut from, mut list) = (Guarded::new(1), Guarded::new(1), Guarded::new(1));
    for (axis, columns) in [(0i64, 1usize), (0, 5), (0, 33), (0, 64), (1, 40), (1, 600)] {
        let data = Dense::from_fn(&[9, columns], |at| at as f32);
        let updates = Dense::from_fn(&[7, columns], |at| (at % 50) as f32);
        let dim = if axis == 0 { 9 } else { columns };
        let ids = Dense::from_fn(&[7, columns], |at| ((at * 5) % dim) as i128);
        let rules = gather_tests::policies::RULES[0].2;
        let expected = oracle::scatter_elements(&data, &ids, &updates, axis as usize, rules, |a, b| a + b).unwrap();
        for side in Side::ALL {
            let out = to.place(side, 0, 9 * columns, |at| data.values[at]);
            let new = from.place(side, 0, 7 * columns, |at| updates.values[at]);
            let indices = list.place(side, 0, 7 * columns, |at| ids.values[at] as i32);
            let (indices, new) = (View::new(indices, &[7, columns]).unwrap(), View::new(new, &[7, columns]).unwrap());
            for level in levels() {
                out.copy_from_slice(&data.values);
                let op = ScatterElements::new(axis).reduction(Reduction::Add).level(level);
                op.run_on(&mut ViewMut::new(out, &[9, columns]).unwrap(), &indices, &new).unwrap();
                assert!(out == expected.values, "{op:?} of {columns}");
            }
        }
    }
}
