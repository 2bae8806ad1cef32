//! The order of loops: short innermost ones stay inside where that is fast, blocks of long ones come back to the same
//! lines, and no element meets its updates in another order.

use gather_core::{Gather, Layout, Method, Par, Reduction, ScatterElements, ScatterNd, Spec, Tensor, View, ViewMut};
use gather_tests::oracle::{self, Dense};

use crate::support::{RULES, available_levels, dense, mixed, narrow, runs_as, same, view};

/// Thin, wide and square tensors, with the axis.
const SHAPES: [([usize; 3], usize); 12] = [
    ([300, 4, 8], 1),
    ([100, 16, 4], 1),
    ([1000, 2, 4], 1),
    ([10_000, 2, 1], 1),
    ([4, 8, 300], 1),
    ([8, 300, 4], 1),
    ([3000, 1, 2], 0),
    ([700, 3, 1], 0),
    ([20, 20, 20], 0),
    ([20, 20, 20], 2),
    ([2, 700, 3], 2),
    ([1, 3, 2000], 1),
];

/// The strides of a tensor in order, with its dimensions reversed, and with two of them exchanged.
fn strides([a, b, c]: [usize; 3]) -> [[isize; 3]; 3] {
    [[b * c, c, 1], [1, a, a * b], [c, a * c, 1]].map(|strides| strides.map(|stride| stride as isize))
}

/// A tensor's elements along strides, and the view of them.
fn lay<T: Copy + Default>(dense: &Dense<T>, strides: [isize; 3]) -> Vec<T> {
    let mut memory = vec![T::default(); dense.values.len()];
    let [_, b, c] = [dense.shape[0], dense.shape[1], dense.shape[2]];
    for (at, &value) in dense.values.iter().enumerate() {
        let place = [at / (b * c), at / c % b, at % c].iter().zip(strides).map(|(&i, s)| i as isize * s).sum::<isize>();
        memory[place as usize] = value;
    }
    memory
}

fn scatters_in<I: gather_core::Index + TryFrom<i128>>() {
    for (shape, axis) in SHAPES {
        let dim = shape[axis].min(100);
        // Sums that depend on the order of their addends.
        let data = Dense::from_fn(&shape, |at| at as f32 * 0.1);
        let updates = Dense::from_fn(&shape, |at| (mixed(5, at) % 1000) as f32 * 1.01e3 - 3.3e5);
        let indices = Dense::from_fn(&shape, |at| (mixed(9, at) % dim as u64) as i128);
        let narrowed = narrow::<I>(&indices);
        for (reduction, combine) in [
            (Reduction::Add, (|kept: &f32, new: &f32| kept + new) as fn(&f32, &f32) -> f32),
            (Reduction::None, |_, new| *new),
        ] {
            let expected =
                oracle::scatter_elements(&data, &indices, &updates, axis, RULES[0].2, combine).unwrap().values;
            for (of_data, of_updates) in strides(shape).into_iter().flat_map(|a| strides(shape).map(|b| (a, b))) {
                let new = lay(&updates, of_updates);
                let new = View::strided(&new, &shape, &of_updates, 0).unwrap();
                for level in available_levels() {
                    for (method, par) in [
                        (None, Par::Seq),
                        (None, Par::Threads(3)),
                        (Some(Method::Blocks), Par::Seq),
                        (Some(Method::Direct), Par::Seq),
                    ] {
                        let op = ScatterElements::new(axis as i64).reduction(reduction).level(level).par(par);
                        let op = if let Some(method) = method { op.method(method) } else { op };
                        let mut out = lay(&data, of_data);
                        let mut to = ViewMut::strided(&mut out, &shape, &of_data, 0).unwrap();
                        op.run_on(&mut to, &view(&narrowed), &new).unwrap();
                        let expected = Dense { shape: shape.to_vec(), values: expected.clone() };
                        let what = "sums in another order";
                        assert!(
                            lay(&expected, of_data) == out,
                            "{what}: {op:?}, {shape:?}, {of_data:?} {of_updates:?}"
                        );
                    }
                }
            }
        }
    }
}

#[test]
fn scatters_by_long_indices() {
    scatters_in::<i64>();
}

#[test]
fn scatters_by_bytes() {
    scatters_in::<u8>();
}

#[test]
fn adjoints_into_transposed_tables() {
    for (rows, columns, n) in [(50, 8, 3000), (40, 64, 1500), (300, 300, 700), (7, 1, 2000)] {
        let ids: Vec<i64> = (0..n).map(|at| (mixed(2, at) % rows as u64) as i64).collect();
        let gradient: Vec<f32> = (0..n * columns).map(|at| (mixed(3, at) % 1000) as f32 * 1.01e3).collect();
        let mut expected = vec![0.5f32; rows * columns];
        for (at, &row) in ids.iter().enumerate() {
            for column in 0..columns {
                expected[column * rows + row as usize] += gradient[at * columns + column];
            }
        }
        let (ids, gradient) = (View::new(&ids, &[n]).unwrap(), View::new(&gradient, &[n, columns]).unwrap());
        for level in available_levels() {
            for par in [Par::Seq, Par::Threads(2)] {
                let mut table = vec![0.5f32; rows * columns];
                let mut to = ViewMut::strided(&mut table, &[rows, columns], &[1, rows as isize], 0).unwrap();
                Gather::new(0).level(level).par(par).adjoint().run_on(&mut to, &ids, &gradient).unwrap();
                assert!(table == expected, "[{rows}, {columns}] by {n}, {level}, {par:?}");
            }
        }
    }
}

/// Slices of a destination beyond the caches, of which the next is prefetched.
#[test]
fn slices_with_as_many_updates_as_lines() {
    let (slices, dim, n) = (160, 2048, 160);
    let (ids, new) =
        (Dense::from_fn(&[slices, n], |at| mixed(3, at) as i64 & 2047), Dense::from_fn(&[slices, n], |at| at as i32));
    let mut expected = vec![1; slices * dim];
    for (at, (&id, new)) in ids.values.iter().zip(&new.values).enumerate() {
        expected[at / n * dim + id as usize] += new;
    }
    for level in available_levels() {
        let mut out = vec![1; slices * dim];
        let mut to = ViewMut::new(&mut out, &[slices, dim]).unwrap();
        let op = ScatterElements::new(1).reduction(Reduction::Add).level(level).par(Par::Seq);
        op.run_on(&mut to, &view(&ids), &view(&new)).unwrap();
        assert!(out == expected, "{level}");
    }
}

#[test]
fn plans_say_which_loop_is_inside() {
    let explained = |shape: [usize; 3], axis: i64, of_updates: [isize; 3]| {
        let whole = Layout::contiguous(&shape).unwrap();
        let updates = Layout::strided(&shape, &of_updates).unwrap();
        let op = ScatterElements::new(axis).reduction(Reduction::Add).par(Par::Seq);
        op.plan(
            &Spec::<f32>::new(&shape).unwrap(),
            &Spec::<i64>::from_layout(&whole),
            &Spec::<f32>::from_layout(&updates),
        )
        .unwrap()
        .explain()
        .to_string()
    };
    for (shape, inner) in [([30_000, 4, 8], 8), ([10_000, 16, 4], 4), ([100_000, 2, 4], 4), ([1_000_000, 2, 1], 2)] {
        let text = explained(shape, 1, strides(shape)[0]);
        assert!(text.contains(&format!("inner loop of {inner}:")), "{text}");
    }
    // Updates whose loops are reversed: the lines of 32 of them stay near while those of the destination are passed
    // once.
    let text = explained([30_000, 8, 4], 1, strides([30_000, 8, 4])[1]);
    assert!(text.contains("inner loop of 4:"), "{text}");
    // One long loop.
    let text = explained([4, 8, 30_000], 1, strides([4, 8, 30_000])[0]);
    assert!(text.contains("inner loop of 30000:") && !text.contains("blocks of"), "{text}");

    let (table, ids) = (Layout::strided(&[10_000, 64], &[1, 10_000]).unwrap(), Layout::contiguous(&[50_000]).unwrap());
    let gradient = Layout::contiguous(&[50_000, 64]).unwrap();
    let plan = Gather::new(0)
        .par(Par::Seq)
        .adjoint()
        .plan_into(
            &Spec::<f32>::from_layout(&table),
            &Spec::<i64>::from_layout(&ids),
            &Spec::<f32>::from_layout(&gradient),
            &table,
        )
        .unwrap();
    let text = plan.explain().to_string();
    assert!(text.contains(", in blocks of ") || text.contains("inner loop of 50000:"), "{text}");
}

#[test]
fn plans_say_how_often_indices_are_resolved() {
    let layout = |shape: &[usize]| Layout::contiguous(shape).unwrap();
    // Each index is used once.
    let op = ScatterElements::new(1).reduction(Reduction::Add).par(Par::Seq);
    let once = op
        .plan(
            &Spec::<f32>::new(&[200, 300]).unwrap(),
            &Spec::<i64>::from_layout(&layout(&[200, 300])),
            &Spec::<f32>::from_layout(&layout(&[200, 300])),
        )
        .unwrap();
    assert_eq!(once.explain().method(), runs_as(Method::Chunks), "{once:?}");
    // An outer loop comes back to the indices of a long one, in blocks of which they are resolved once.
    let op = Gather::new(1).par(Par::Seq);
    let often = op
        .adjoint()
        .plan_into(
            &Spec::<i32>::from_layout(&layout(&[3, 40, 4])),
            &Spec::<i64>::from_layout(&layout(&[5000])),
            &Spec::<i32>::from_layout(&layout(&[3, 5000, 4])),
            &layout(&[3, 40, 4]),
        )
        .unwrap();
    let text = often.explain().to_string();
    assert!(text.contains("inner loop of 5000:") && text.contains("method blocks, in blocks of "), "{text}");
}

/// Two loops that move nothing but the index, of which the inner one is long and has the longer steps: to run it in
/// blocks would exchange updates of one row.
#[test]
fn rows_by_transposed_indices_meet_in_their_order() {
    let (short, long, rows) = (4, 2000, 50);
    let ids: Vec<u16> = (0..short * long).map(|at| (mixed(11, at) % rows as u64) as u16).collect();
    let new: Vec<f32> = (0..3 * ids.len()).map(|at| (mixed(12, at) % 1000) as f32 * 1.01e3 - 3.3e5).collect();
    let (mut sums, mut last) = (vec![0.1f32; 3 * rows], vec![0.1f32; 3 * rows]);
    for (at, new) in new.chunks_exact(3).enumerate() {
        let row = 3 * usize::from(ids[at % long * short + at / long]);
        sums[row..row + 3].iter_mut().zip(new).for_each(|(sum, new)| *sum += new);
        last[row..row + 3].copy_from_slice(new);
    }
    let ids = View::strided(&ids, &[short, long, 1], &[1, short as isize, 1], 0).unwrap();
    let new = View::new(&new, &[short, long, 3]).unwrap();
    for (reduction, expected) in [(Reduction::Add, sums), (Reduction::None, last)] {
        for level in available_levels() {
            for par in [Par::Seq, Par::Threads(3)] {
                let op = ScatterNd::new().reduction(reduction).level(level).par(par);
                let mut out = vec![0.1f32; 3 * rows];
                op.run_on(&mut ViewMut::new(&mut out, &[rows, 3]).unwrap(), &ids, &new).unwrap();
                assert!(out == expected, "{reduction:?}, {level}, {par:?}");
            }
        }
    }
}

#[test]
fn loops_beyond_the_unrolled_ranks() {
    for rank in [9, 10, 12, 14] {
        let shape = vec![2; rank];
        let turned: Vec<isize> = (0..rank).map(|d| 1 << d).collect();
        let values: Vec<u32> = (0..1 << rank).map(|at| at * 7 + 1).collect();
        let data = View::strided(&values, &shape, &turned, 0).unwrap();
        let reversed = |at: usize| (0..rank).map(|d| (at >> d & 1) << (rank - 1 - d)).sum::<usize>();
        let plain = Dense::from_fn(&shape, |at| values[reversed(at)]);
        for axis in [0, 3, rank - 1] {
            for list in [&[1i128, 0][..], &[-1, 1, 0, 5], &[7, -9]] {
                let indices = Dense { shape: vec![list.len()], values: list.to_vec() };
                let narrowed = narrow::<i64>(&indices);
                for (negative, out, rules) in RULES {
                    let expected = oracle::gather(&plain, &indices, axis, 0, rules, &0);
                    for level in available_levels() {
                        let op = Gather::new(axis as i64).negative_index(negative).out_of_bounds(out).level(level);
                        let got: Result<Tensor<u32>, _> = op.run(&data, &view(&narrowed));
                        same(&expected, got, || format!("rank {rank}, axis {axis}, {list:?}, {op:?}"));
                    }
                }
            }
        }
        let back = Gather::new(3).run(&data, &View::new(&[0i64, 1], &[2]).unwrap()).unwrap();
        assert_eq!(dense(&back), plain);
    }
}
