//! Panels of GatherElements off the last axis, against the oracle.

use gather_core::{Element, Error, GatherElements, Index, Method, OutOfBounds, Par, View, ViewMut};
use gather_tests::oracle::{self, Dense};

use crate::methods::indices;
use crate::support::{RULES, levels, narrow, same, view};

#[test]
fn panels_of_every_shape() {
    // The last dimension is the longest, so that the inner loop runs along it. There are outer loops that step through
    // data and some that do not, trimmed indices, and panels that end inside the inner loop.
    // The last panel is larger than any second-level cache of one core.
    let cases: [(&[usize], &[usize], usize); 9] = [
        (&[3, 5], &[3, 5], 0),
        (&[4, 6, 7], &[4, 6, 7], 1),
        (&[2, 2, 4, 5], &[2, 2, 4, 5], 2),
        (&[2, 3, 4, 9], &[2, 7, 3, 8], 1),
        (&[6, 40], &[9, 33], 0),
        (&[1, 9], &[4, 9], 0),
        (&[700, 300], &[650, 300], 0),
        (&[3, 500, 290], &[3, 20, 290], 1),
        (&[13_000, 70], &[40, 70], 0),
    ];
    for (shape, index_shape, axis) in cases {
        for every in [4, 5000, usize::MAX] {
            let data = Dense::from_fn(shape, |at| at as u32);
            let indices = indices::<i32>(index_shape, shape[axis], every);
            let narrowed = narrow::<i32>(&indices);
            for (negative, out, rules) in RULES {
                let expected = oracle::gather_elements(&data, &indices, axis, rules, &0);
                for (par, level) in
                    [Par::Seq, Par::Threads(3)].into_iter().flat_map(|par| levels().map(move |l| (par, l)))
                {
                    let op = GatherElements::new(axis as i64).negative_index(negative).out_of_bounds(out);
                    let op = op.method(Method::Panels).par(par).level(level);
                    let got = op.run(&view(&data), &view(&narrowed));
                    same(&expected, got, || format!("{op:?} {shape:?} {index_shape:?}"));
                }
            }
        }
    }
}

/// Indices that only their sign or their high half tells from positions, one at a time.
#[test]
fn panels_refuse_what_looks_like_a_position() {
    fn check<I: Index, T: Element + PartialEq + std::fmt::Debug>(good: fn(usize) -> I, bad: &[I]) {
        let (data, dim) = (Dense::from_fn(&[50, 64], |at| at), 50);
        let values: Vec<T> = vec![T::ZERO; data.values.len()];
        let values = View::new(&values, &[dim, 64]).unwrap();
        for (place, &bad) in
            [0, 7, 8, 63, 64, 1023, 1024, 60 * 64 - 1].iter().flat_map(|p| bad.iter().map(move |b| (*p, b)))
        {
            let mut list: Vec<I> = (0..60 * 64).map(|at| good(at * 7 % dim)).collect();
            list[place] = bad;
            let list = View::new(&list, &[60, 64]).unwrap();
            for level in levels() {
                let op = GatherElements::new(0).method(Method::Panels).level(level);
                let error = op.run(&values, &list).unwrap_err();
                assert!(matches!(error, Error::IndexOutOfRange { position, .. } if position == place), "{error}");
            }
        }
    }
    fn widths<I: Index>(good: fn(usize) -> I, bad: &[I]) {
        check::<I, f32>(good, bad);
        check::<I, f64>(good, bad);
    }
    widths(|at| at as i64, &[1 << 32 | 5, -(1 << 32) | 5, i64::from(i32::MIN), i64::MIN, i64::MAX, 50]);
    widths(|at| at as u64, &[1 << 32 | 5, 1 << 63 | 3, u64::MAX, 50]);
    widths(|at| at as i32, &[i32::MIN, i32::MAX, 50]);
    widths(|at| at as u32, &[1 << 31, 1 << 31 | 5, u32::MAX, 50]);
    widths(|at| at as i8, &[i8::MIN, i8::MAX, 50]);
    widths(|at| at as u16, &[1 << 15, u16::MAX, 50]);
}

#[test]
fn panels_of_elements_of_every_size() {
    fn check<T: Element + PartialEq + std::fmt::Debug>(element: impl Fn(usize) -> T) {
        let data = Dense::from_fn(&[50, 77], element);
        let indices = indices::<i64>(&[60, 77], 50, 9);
        let expected = oracle::gather_elements(&data, &indices, 0, RULES[1].2, &T::ZERO);
        let op = GatherElements::new(0).method(Method::Panels).out_of_bounds(OutOfBounds::Zero);
        same(&expected, op.run(&view(&data), &view(&narrow::<i64>(&indices))), || format!("{} bytes", size_of::<T>()));
    }
    check(|at| at as u8);
    check(|at| at as u16);
    check(|at| [at as u8, 1, 2]);
    check(|at| at as f32);
    check(|at| at as u64);
    check(|at| [at as u32, 1, 2]);
    check(|at| [at as u64, 1]);
    check(|at| [at as u64; 5]);
}

#[test]
fn panels_of_outputs_that_begin_anywhere_in_a_line() {
    fn check<T: Element + PartialEq + std::fmt::Debug>(element: impl Fn(usize) -> T) {
        let (shape, data) = ([5, 1100], Dense::from_fn(&[5, 1100], element));
        let indices = indices::<i32>(&shape, 5, usize::MAX);
        let expected = oracle::gather_elements(&data, &indices, 0, RULES[0].2, &T::ZERO).unwrap();
        let narrowed = narrow::<i32>(&indices);
        for (begin, par) in (0..64).flat_map(|begin| [(begin, Par::Seq), (begin, Par::Threads(2))]) {
            let mut memory = vec![T::ZERO; begin + 5500 + 1];
            let mut out = ViewMut::new(&mut memory[begin..begin + 5500], &shape).unwrap();
            let op = GatherElements::new(0).method(Method::Panels).par(par);
            op.run_into(&view(&data), &view(&narrowed), &mut out).unwrap();
            assert!(memory[begin..begin + 5500] == expected.values[..], "{} bytes, {begin}", size_of::<T>());
            assert!(memory[..begin].iter().chain(&memory[begin + 5500..]).all(|&value| value == T::ZERO));
        }
    }
    check(|at| at as u8 | 1);
    check(|at| at as f32 + 1.0);
    check(|at| at as u64 + 1);
    check(|at| [at as u32 + 1, 1, 2]);
}
