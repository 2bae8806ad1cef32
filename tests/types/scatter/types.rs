//! Every reduction of every type against the plain loop, to the bit: rows of many lengths, at every level, by every
//! method, on any number of threads.

use std::fmt::Debug;

use gather_core::{Element, Error, Method, Par, Reduction, ScatterNd, Tensor, View};
use gather_tests::values::bytes;
use half::{bf16, f16};
use num_complex::Complex;

use crate::support::{available_levels, mixed, numbers};

/// A type, with the plain loop's steps: from an element to a sum, one update more, and back.
struct Loop<T, S> {
    widen: fn(T) -> S,
    add: fn(S, T) -> S,
    end: fn(S, usize) -> T,
    /// What sums begin with where the element does not count; the first update where there is none.
    zero: Option<S>,
}

/// The plain loop: rows of `inner` elements.
fn plain<T: Element, S: Copy>(
    data: &[T],
    list: &[i64],
    updates: &[T],
    inner: usize,
    include_self: bool,
    steps: &Loop<T, S>,
) -> Vec<T> {
    let mut sums: Vec<(Option<S>, usize)> =
        data.iter().map(|&x| if include_self { (Some((steps.widen)(x)), 1) } else { (steps.zero, 0) }).collect();
    let mut touched = vec![false; data.len()];
    for (row, &to) in list.iter().enumerate() {
        for q in 0..inner {
            let (at, new) = (to as usize * inner + q, updates[row * inner + q]);
            let sum = &mut sums[at];
            *sum = (Some(sum.0.map_or_else(|| (steps.widen)(new), |kept| (steps.add)(kept, new))), sum.1 + 1);
            touched[at] = true;
        }
    }
    let end = |((&kept, (sum, count)), touched): ((&T, (Option<S>, usize)), bool)| {
        sum.filter(|_| touched).map_or(kept, |sum| (steps.end)(sum, count))
    };
    data.iter().zip(sums).zip(touched).map(end).collect()
}

/// Compares one reduction of a type with the plain loop. `same` says whether two values count as equal.
fn check<T: Element + Debug, S: Copy>(
    reduction: Reduction,
    numbers: impl Fn(usize, u64) -> Vec<T>,
    steps: &Loop<T, S>,
    same: impl Fn(&T, &T) -> bool,
) {
    // Into few destinations, and into many.
    let many = |rows: usize, inner: usize| (rows, inner, 7usize);
    let few = |rows: usize, inner: usize| (rows, inner, 1000usize);
    for (count, inner, dim) in
        [many(1, 1), many(40, 1), many(1300, 1), many(300, 2), many(90, 5), many(50, 70), many(20, 200), few(300, 1)]
            .into_iter()
            .chain([few(40, 3), few(9, 65)])
            .chain([3, 4, 7, 8, 16, 33, 64, 65].map(|inner| many(40, inner)))
    {
        let (data, updates) = (numbers(dim * inner, 1), numbers(count * inner, 2));
        let list: Vec<i64> = (0..count).map(|at| (mixed(3, at) % dim as u64) as i64).collect();
        for include_self in [true, false] {
            let expected = plain(&data, &list, &updates, inner, include_self, steps);
            let op = ScatterNd::new().reduction(reduction).include_self(include_self);
            let a = View::new(&data, &[dim, inner]).unwrap();
            let i = View::new(&list, &[count, 1]).unwrap();
            let u = View::new(&updates, &[count, inner]).unwrap();
            let equal = |got: Tensor<T>, how: &str| {
                let got = got.into_vec();
                let differs = got.iter().zip(&expected).position(|(got, expected)| !same(got, expected));
                let differs = differs.map(|at| format!("{at}: {:?}, not {:?}", got[at], expected[at]));
                assert_eq!(differs, None, "{reduction} of {} rows of {inner}, {how}", T::DTYPE);
            };
            for level in available_levels() {
                let op = op.level(level);
                equal(op.run(&a, &i, &u).unwrap(), level.name());
                equal(op.method(Method::Grouped).run(&a, &i, &u).unwrap(), "grouped");
                equal(op.par(Par::Threads(3)).run(&a, &i, &u).unwrap(), "3 threads");
                let grouped = op.par(Par::Threads(3)).method(Method::Grouped);
                equal(grouped.run(&a, &i, &u).unwrap(), "grouped, 3 threads");
                let others = [Method::Direct, Method::Blocks, Method::Chunks, Method::Prefetched];
                for method in others.into_iter().chain([Method::Accumulated]) {
                    match op.method(method).run(&a, &i, &u) {
                        Ok(got) => equal(got, method.name()),
                        Err(error) => assert!(matches!(error, Error::MethodUnavailable { .. }), "{error}"),
                    }
                }
            }
        }
    }
}

fn same_bits<T: Element>(a: &T, b: &T) -> bool {
    bytes(&[*a]) == bytes(&[*b])
}

macro_rules! integers {
    ($($ty:ident)*) => {$(
        #[test]
        fn $ty() {
            let numbers = |len, seed| numbers::<$ty>(len, seed, &[$ty::MIN, $ty::MAX, 0], |bits| bits as $ty);
            let steps = |add, zero| Loop::<$ty, $ty> { widen: |x| x, add, end: |sum, _| sum, zero };
            check(Reduction::None, numbers, &steps(|_, new| new, None), same_bits);
            check(Reduction::Add, numbers, &steps($ty::wrapping_add, Some(0)), same_bits);
            check(Reduction::Sub, numbers, &steps($ty::wrapping_sub, Some(0)), same_bits);
            check(Reduction::Mul, numbers, &steps($ty::wrapping_mul, None), same_bits);
            check(Reduction::Min, numbers, &steps(Ord::min, None), same_bits);
            check(Reduction::Max, numbers, &steps(Ord::max, None), same_bits);
            let mean = Loop::<$ty, i128> {
                widen: |x| x as i128,
                add: |sum, new| sum + new as i128,
                end: |sum, count| sum.div_euclid(count as i128) as $ty,
                zero: Some(0),
            };
            check(Reduction::Mean, numbers, &mean, same_bits);
        }
    )*};
}
integers!(i8 i16 i32 i64 u8 u16 u32 u64 isize usize);

#[test]
fn floats() {
    macro_rules! float {
        ($ty:ident) => {
            let edges = [$ty::NAN, $ty::INFINITY, $ty::NEG_INFINITY, -0.0, 0.0, $ty::MIN_POSITIVE / 4.0];
            let numbers = |len, seed| numbers::<$ty>(len, seed, &edges, |bits| (bits % 2000) as $ty / 7.0 - 100.0);
            // Which NaN arithmetic makes is not specified.
            let same = |a: &$ty, b: &$ty| same_bits(a, b) || (a.is_nan() && b.is_nan());
            let steps = |add, zero| Loop::<$ty, $ty> { widen: |x| x, add, end: |sum, _| sum, zero };
            check(Reduction::None, numbers, &steps(|_, new| new, None), same_bits);
            check(Reduction::Add, numbers, &steps(|a, b| a + b, Some(0.0)), same);
            check(Reduction::Sub, numbers, &steps(|a, b| a - b, Some(0.0)), same);
            check(Reduction::Mul, numbers, &steps(|a, b| a * b, None), same);
            check(Reduction::Min, numbers, &steps(|a, b| if b < a || b.is_nan() { b } else { a }, None), same_bits);
            check(Reduction::Max, numbers, &steps(|a, b| if b > a || b.is_nan() { b } else { a }, None), same_bits);
            let mean = Loop::<$ty, $ty> { end: |sum, n| sum / n as $ty, ..steps(|a, b| a + b, Some(0.0)) };
            check(Reduction::Mean, numbers, &mean, same);
        };
    }
    float!(f32);
    float!(f64);
}

#[test]
fn halves() {
    macro_rules! half {
        ($ty:ident) => {
            let edges = [$ty::NAN, $ty::INFINITY, $ty::NEG_ZERO, $ty::ZERO, $ty::MAX, $ty::MIN_POSITIVE];
            let numbers =
                |len, seed| numbers::<$ty>(len, seed, &edges, |bits| $ty::from_f32((bits % 2000) as f32 / 7.0 - 100.0));
            let same = |a: &$ty, b: &$ty| same_bits(a, b) || (a.is_nan() && b.is_nan());
            // Sums and products are rounded once.
            let steps =
                |add, zero| Loop::<$ty, f32> { widen: $ty::to_f32, add, end: |sum, _| $ty::from_f32(sum), zero };
            check(Reduction::Add, numbers, &steps(|a, b| a + b.to_f32(), Some(0.0)), same);
            check(Reduction::Sub, numbers, &steps(|a, b| a - b.to_f32(), Some(0.0)), same);
            check(Reduction::Mul, numbers, &steps(|a, b| a * b.to_f32(), None), same);
            let mean = Loop::<$ty, f32> {
                end: |sum, n| $ty::from_f32(sum / n as f32),
                ..steps(|a, b| a + b.to_f32(), Some(0.0))
            };
            check(Reduction::Mean, numbers, &mean, same);
            let order = |add| Loop::<$ty, $ty> { widen: |x| x, add, end: |x, _| x, zero: None };
            check(Reduction::None, numbers, &order(|_, new| new), same_bits);
            check(Reduction::Min, numbers, &order(|a, b| if b < a || b.is_nan() { b } else { a }), same_bits);
            check(Reduction::Max, numbers, &order(|a, b| if b > a || b.is_nan() { b } else { a }), same_bits);
        };
    }
    half!(f16);
    half!(bf16);
}

#[test]
fn complex_numbers_and_bools() {
    type C = Complex<f64>;
    let numbers_c = |len, seed| {
        numbers::<C>(len, seed, &[C::new(0.0, -0.0), C::new(1.0, 0.0)], |bits| {
            C::new((bits % 50) as f64, (bits >> 9) as f64 % 9.0 - 4.0)
        })
    };
    let steps = |add, zero| Loop::<C, C> { widen: |x| x, add, end: |sum, _| sum, zero };
    check(Reduction::Add, numbers_c, &steps(|a, b| a + b, Some(C::new(0.0, 0.0))), same_bits);
    check(Reduction::Sub, numbers_c, &steps(|a, b| a - b, Some(C::new(0.0, 0.0))), same_bits);
    let finite = |a: &C, b: &C| same_bits(a, b) || (a.re.is_nan() || a.im.is_nan()) && (b.re.is_nan() || b.im.is_nan());
    check(Reduction::Mul, numbers_c, &steps(|a, b| a * b, None), finite);

    let numbers_b = |len, seed| numbers::<bool>(len, seed, &[true], |bits| bits.is_multiple_of(3));
    let steps = |add| Loop::<bool, bool> { widen: |x| x, add, end: |x, _| x, zero: None };
    for or in [Reduction::Add, Reduction::Max] {
        check(or, numbers_b, &steps(|a, b| a | b), same_bits);
    }
    for and in [Reduction::Mul, Reduction::Min] {
        check(and, numbers_b, &steps(|a, b| a & b), same_bits);
    }
}

#[test]
fn reductions_that_a_type_lacks_are_refused() {
    fn refused<T: Element + Debug>(value: T, reductions: &[Reduction]) {
        let one = [value];
        let (data, list) = (View::new(&one, &[1]).unwrap(), [0u8]);
        let list = View::new(&list, &[1, 1]).unwrap();
        for &reduction in Reduction::ALL {
            let got = ScatterNd::new().reduction(reduction).run(&data, &list, &data);
            if reductions.contains(&reduction) {
                let message = format!("scatter_nd: there is no reduction {reduction} of {}", T::DTYPE);
                assert_eq!(got.unwrap_err().to_string(), message);
            } else {
                assert_eq!(got.unwrap().len(), 1);
            }
        }
    }
    refused(true, &[Reduction::Sub, Reduction::Mean]);
    refused(Complex::new(1f32, 2.0), &[Reduction::Min, Reduction::Max]);
    refused(1u8, &[]);
}
