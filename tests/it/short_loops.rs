//! Innermost loops of few rows: selections of a few elements of each row, gathers with batches, a few columns. The plan
//! keeps them inside, where one pass, a loop over elements or a gather by vectors runs along them.

use gather_core::{Element, Gather, GatherElements, GatherNd, Index, Layout, Level, OutOfBounds, Par, Spec, View};
use gather_tests::oracle::{self, Dense};

use crate::support::{RULES, available_levels, gathers, is_fallback, narrow, same, view};

/// Around the lengths at which another kernel runs along a loop, and the ends of vectors.
const COUNTS: [usize; 11] = [1, 2, 3, 4, 7, 8, 16, 17, 33, 63, 65];

/// Indices from the front, from the end, and at `bad` of every hundred places out of range.
fn indices<I: Index>(shape: &[usize], dim: usize, bad: usize) -> Dense<i128> {
    let (dim, is_signed) = (dim as i128, I::TYPE.bounds().0 < 0);
    Dense::from_fn(shape, |at| match (at * 7919 + 13) % 100 {
        place if place < bad => dim + (at % 3) as i128,
        place => (at * 31 + place) as i128 % dim - if is_signed && at % 3 == 0 { dim } else { 0 },
    })
}

/// All operators, policies and levels, for rows of a type through indices of another.
fn check<T: Element + PartialEq + std::fmt::Debug, I: Index + TryFrom<i128>>(make: fn(usize) -> T) {
    let (rows, dim) = (70, 20);
    for n in COUNTS {
        // A few of each row; the same in the middle, trimmed, so that no two loops are one; a few columns; rows.
        let matrix = Dense::from_fn(&[rows, dim], make);
        let trimmed = Dense::from_fn(&[9, dim, n + 1], make);
        let wide = Dense::from_fn(&[rows, dim, 3], make);
        // Elements of several values, and data with gaps.
        let pairs = Dense::from_fn(&[rows, dim, 2], make);
        let gaps: Vec<T> = (0..2 * rows * dim).map(|at| make(at / 2)).collect();
        let gaps = View::strided(&gaps, &[rows, dim], &[2 * dim as isize, 2], 0).unwrap();
        for bad in [0, 2, 60] {
            let each = indices::<I>(&[rows, n], dim, bad);
            let middle = indices::<I>(&[8, 11, n], dim, bad);
            let columns = indices::<I>(&[n], dim, bad);
            for (negative, out_of_bounds, rules) in RULES {
                let fill = T::ZERO;
                let expected = [
                    oracle::gather_elements(&matrix, &each, 1, rules, &fill),
                    oracle::gather_elements(&trimmed, &middle, 1, rules, &fill),
                    oracle::gather(&matrix, &each, 1, 1, rules, &fill),
                    oracle::gather(&wide, &each, 1, 1, rules, &fill),
                    oracle::gather_elements(&matrix, &each, 1, rules, &fill),
                    oracle::gather(&pairs, &each, 1, 1, rules, &fill),
                    oracle::gather(&matrix, &columns, 1, 0, rules, &fill),
                    oracle::gather(&wide, &columns, 1, 0, rules, &fill),
                ];
                let levels = available_levels().into_iter();
                for (level, par) in levels.flat_map(|level| [Par::Seq, Par::Threads(3)].map(|par| (level, par))) {
                    let elements = GatherElements::torch(1).negative_index(negative).out_of_bounds(out_of_bounds);
                    let elements = elements.level(level).par(par);
                    let gather = |batch| {
                        let op = Gather::openvino8(1, batch).negative_index(negative);
                        op.out_of_bounds(out_of_bounds).level(level).par(par)
                    };
                    let (each, middle, columns) = (narrow::<I>(&each), narrow::<I>(&middle), narrow::<I>(&columns));
                    let got = [
                        elements.run(&view(&matrix), &view(&each)),
                        elements.run(&view(&trimmed), &view(&middle)),
                        gather(1).run(&view(&matrix), &view(&each)),
                        gather(1).run(&view(&wide), &view(&each)),
                        elements.run(&gaps, &view(&each)),
                        gather(1).run(&view(&pairs), &view(&each)),
                        gather(0).run(&view(&matrix), &view(&columns)),
                        gather(0).run(&view(&wide), &view(&columns)),
                    ];
                    for (call, (expected, got)) in expected.iter().zip(got).enumerate() {
                        let what = || format!("call {call}, {n} of {dim}, {elements:?}, {}, {bad} bad", T::DTYPE);
                        same(expected, got, what);
                    }
                }
            }
        }
    }
}

#[test]
fn short_loops_of_bytes() {
    check::<u8, i64>(|at| (at * 37 % 251) as u8);
}

#[test]
fn short_loops_of_two_bytes() {
    check::<u16, u8>(|at| (at * 37) as u16);
}

#[test]
fn short_loops_of_four_bytes() {
    check::<u32, i64>(|at| (at as u32).wrapping_mul(0x9E37_79B9));
    check::<u32, u64>(|at| (at as u32).wrapping_mul(0x9E37_79B9));
}

#[test]
fn short_loops_of_eight_bytes() {
    check::<u64, i32>(|at| (at as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15));
}

#[test]
fn short_loops_of_sixteen_bytes_and_of_others() {
    check::<[u64; 2], i16>(|at| [at as u64, !(at as u64)]);
    check::<[u16; 3], i8>(|at| [at as u16, 7, !(at as u16)]);
}

/// Tuples in batches, which are resolved without a branch for each component.
#[test]
fn short_loops_of_tuples() {
    for (n, k) in COUNTS.into_iter().flat_map(|n| [(n, 2), (n, 3)]) {
        let data = Dense::from_fn(&[&[9][..], &[6; 3]].concat(), |at| at as u32);
        for bad in [0, 2] {
            let tuples = indices::<i64>(&[9, n, k], 6, bad);
            for (negative, out_of_bounds, rules) in RULES {
                let expected = oracle::gather_nd(&data, &tuples, 1, rules, &0);
                for level in available_levels() {
                    let op = GatherNd::tensorflow(1).negative_index(negative).out_of_bounds(out_of_bounds).level(level);
                    let got = op.run(&view(&data), &view(&narrow::<i64>(&tuples)));
                    same(&expected, got, || format!("{n} tuples of {k}, {op:?}, {bad} bad"));
                }
            }
        }
    }
}

/// Indices of 64 bits without a sign, where a sum with the size of the axis would wrap.
#[test]
fn the_greatest_indices_are_out_of_range() {
    let data = Dense::from_fn(&[70, 20], |at| at as u32);
    for n in COUNTS {
        for greatest in [u64::MAX, u64::MAX - 19, 1 << 63, 20] {
            let picks = Dense { shape: vec![70, n], values: vec![greatest; 70 * n] };
            for level in available_levels() {
                let op = GatherElements::torch(1).level(level).out_of_bounds(OutOfBounds::Zero);
                let got = op.run(&view(&data), &view(&picks)).unwrap();
                assert!(got.as_slice().iter().all(|&value| value == 0), "{n} of {greatest}, {level}");
            }
        }
    }
}

/// Elements of an axis beyond 32 bits, which lie on one another.
#[test]
#[cfg(target_pointer_width = "64")]
fn elements_beyond_32_bits() {
    let dim = 1i64 << 33;
    let data = View::strided(&[7u32], &[dim as usize], &[0], 0).unwrap();
    for level in available_levels() {
        let op = Gather::new(0).level(level).out_of_bounds(OutOfBounds::Zero);
        let picks = [0, -1, dim - 1, 1 << 32, dim, -dim - 1];
        let got = op.run(&data, &View::new(&picks, &[6]).unwrap()).unwrap();
        assert_eq!(got.as_slice(), [7, 7, 7, 7, 0, 0], "{level}");
    }
}

gather_tests::needs_64_bits!(elements_beyond_32_bits);

/// Which loop is the inner one, and what runs along it.
#[test]
fn plans_keep_short_loops_inside() {
    let layout = |shape: &[usize]| Layout::contiguous(shape).unwrap();
    let inner = |explained: String, what: &str, method: &str, level: Level| {
        assert!(explained.contains(what), "{level}: {explained}");
        assert!(explained.contains(&format!("method {method}")), "{level}: {explained}");
    };
    for level in available_levels().into_iter().filter(|&level| !is_fallback(level)) {
        let elements = |axis| GatherElements::onnx13(axis).level(level);
        let few = elements(1)
            .plan(&Spec::<f32>::from_layout(&layout(&[64, 100])), &Spec::<i64>::from_layout(&layout(&[64, 20])))
            .unwrap();
        inner(few.explain().to_string(), "inner loop of 20: output +4, data +0, indices +8 bytes", "direct", level);
        let two = elements(1)
            .plan(&Spec::<u8>::from_layout(&layout(&[64, 100])), &Spec::<i64>::from_layout(&layout(&[64, 2])))
            .unwrap();
        inner(two.explain().to_string(), "inner loop of 2: output +1, data +0, indices +8 bytes", "direct", level);
        let columns = elements(0)
            .plan(&Spec::<f32>::from_layout(&layout(&[4096, 50])), &Spec::<i64>::from_layout(&layout(&[4096, 50])))
            .unwrap();
        let method = if gathers(level) { "gathered" } else { "direct" };
        inner(columns.explain().to_string(), "inner loop of 50: output +4, data +4, indices +8", method, level);
        let picked = Gather::new(1)
            .level(level)
            .plan(&Spec::<f32>::from_layout(&layout(&[1000, 16])), &Spec::<i64>::from_layout(&layout(&[10])))
            .unwrap();
        inner(picked.explain().to_string(), "inner loop of 10: output +4, data +0, indices +8 bytes", "direct", level);
        let long = Gather::new(1)
            .level(level)
            .plan(&Spec::<f32>::from_layout(&layout(&[1000, 16])), &Spec::<i64>::from_layout(&layout(&[2])))
            .unwrap();
        inner(long.explain().to_string(), "inner loop of 1000", "strided_copy", level);
    }
}
