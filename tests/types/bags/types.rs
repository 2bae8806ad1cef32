//! Every reduction of every type against the plain loop, to the bit: rows of many lengths, at every level, with every
//! index type, in short bags and in long ones, of several parts.

use std::fmt::Debug;

use gather_core::{Bags, Element, EmbeddingBag, Error, Index, Par, Reduction, Spec, View, reduce_kernels};
use gather_tests::values::bytes;
use half::{bf16, f16};
use num_complex::Complex;

use crate::support::{available_levels, mixed, numbers};

/// The steps of the plain loop: from an element and its weight to a term, from a sum and a term to a sum, and back.
struct Loop<T, S> {
    term: fn(T, Option<T>) -> S,
    add: fn(S, S) -> S,
    end: fn(S, usize) -> T,
    /// What sums begin with; the first term where there is none.
    zero: Option<S>,
}

const ROWS: usize = 23;
const PADDING: usize = 3;

/// Bags with many lengths: none, a few rows, more than a part has.
const BOUNDS: [u32; 8] = [0, 1, 1, 3, 40, 41, 1400, 1403];

fn plain<T: Element, S: Copy>(
    data: &[T],
    list: &[i64],
    weights: Option<&[T]>,
    columns: usize,
    steps: &Loop<T, S>,
) -> Vec<T> {
    let mut out = Vec::new();
    for bag in BOUNDS.windows(2) {
        for q in 0..columns {
            let (mut sum, mut count) = (steps.zero, 0);
            for at in bag[0] as usize..bag[1] as usize {
                if list[at] as usize != PADDING {
                    let element = data[list[at] as usize * columns + q];
                    let term = (steps.term)(element, weights.map(|weights| weights[at]));
                    sum = Some(sum.map_or(term, |sum| (steps.add)(sum, term)));
                    count += 1;
                }
            }
            out.push(if count == 0 { T::ZERO } else { (steps.end)(sum.unwrap(), count) });
        }
    }
    out
}

fn check<T: Element<Number = T> + Debug, S: Copy>(
    reduction: Reduction,
    weighted: bool,
    numbers: impl Fn(usize, u64) -> Vec<T>,
    steps: &Loop<T, S>,
    same: impl Fn(&T, &T) -> bool,
) {
    let count = *BOUNDS.last().unwrap() as usize;
    let list: Vec<i64> = (0..count).map(|at| (mixed(3, at) % ROWS as u64) as i64).collect();
    let weights = numbers(count, 5);
    let weights = weighted.then_some(&weights[..]);
    for columns in [1, 2, 3, 5, 8, 15, 16, 31, 40, 64, 90, 100, 130, 250, 260, 530] {
        let data = numbers(ROWS * columns, 1);
        let expected = plain(&data, &list, weights, columns, steps);
        let op = EmbeddingBag::new(reduction).padding_index(PADDING as i64).include_last_offset(true);
        let data = View::new(&data, &[ROWS, columns]).unwrap();
        let (ids, bounds) = (View::new(&list, &[count]).unwrap(), View::new(&BOUNDS, &[BOUNDS.len()]).unwrap());
        let weights = weights.map(|weights| View::new(weights, &[count]).unwrap());
        let bags = Bags::new(&ids, &bounds);
        let bags = bags.weights(weights.as_ref());
        for level in available_levels() {
            for par in [Par::Seq, Par::Threads(3)] {
                let got = op.level(level).par(par).run(&data, &bags).unwrap().into_vec();
                let differs = got.iter().zip(&expected).position(|(got, expected)| !same(got, expected));
                let differs = differs.map(|at| format!("{at}: {:?}, not {:?}", got[at], expected[at]));
                assert_eq!(differs, None, "{reduction} of {columns} {} at {level}, {par:?}", T::DTYPE);
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
            let steps = |add, zero| Loop::<$ty, $ty> {
                term: |x, w| x.wrapping_mul(w.unwrap_or(1)), add, end: |sum, _| sum, zero,
            };
            check(Reduction::Add, false, numbers, &steps($ty::wrapping_add, Some(0)), same_bits);
            check(Reduction::Add, true, numbers, &steps($ty::wrapping_add, Some(0)), same_bits);
            check(Reduction::Min, false, numbers, &steps(Ord::min, None), same_bits);
            check(Reduction::Max, false, numbers, &steps(Ord::max, None), same_bits);
            let mean = Loop::<$ty, i128> {
                term: |x, _| x as i128,
                add: |sum, new| sum + new,
                end: |sum, count| sum.div_euclid(count as i128) as $ty,
                zero: Some(0),
            };
            check(Reduction::Mean, false, numbers, &mean, same_bits);
        }
    )*};
}
integers!(i8 i16 i32 i64 u8 u16 u32 u64 isize usize);

#[test]
fn floats() {
    macro_rules! float {
        ($ty:ident) => {
            let edges = [$ty::NAN, $ty::INFINITY, $ty::NEG_INFINITY, -0.0, 0.0, $ty::MIN_POSITIVE / 4.0];
            // Sums of ordinary values alone, so that not all of long bags are NaN.
            for edges in [&edges[3..], &edges] {
                let numbers = |len, seed| numbers::<$ty>(len, seed, edges, |bits| (bits % 2000) as $ty / 7.0 - 100.0);
                // Which NaN arithmetic makes is not specified.
                let same = |a: &$ty, b: &$ty| same_bits(a, b) || (a.is_nan() && b.is_nan());
                let steps =
                    |add, zero| Loop::<$ty, $ty> { term: |x, w| w.map_or(x, |w| x * w), add, end: |sum, _| sum, zero };
                check(Reduction::Add, false, numbers, &steps(|a, b| a + b, Some(0.0)), same);
                check(Reduction::Add, true, numbers, &steps(|a, b| a + b, Some(0.0)), same);
                let least = steps(|a, b| if b < a || b.is_nan() { b } else { a }, None);
                check(Reduction::Min, false, numbers, &least, same_bits);
                let greatest = steps(|a, b| if b > a || b.is_nan() { b } else { a }, None);
                check(Reduction::Max, false, numbers, &greatest, same_bits);
                let mean = Loop::<$ty, $ty> { end: |sum, n| sum / n as $ty, ..steps(|a, b| a + b, Some(0.0)) };
                check(Reduction::Mean, false, numbers, &mean, same);
            }
        };
    }
    float!(f32);
    float!(f64);
}

#[test]
fn halves() {
    macro_rules! half {
        ($ty:ident) => {
            let edges = [$ty::NEG_ZERO, $ty::ZERO, $ty::MIN_POSITIVE, $ty::NAN, $ty::INFINITY, $ty::MAX];
            for edges in [&edges[..3], &edges] {
                let numbers = |len, seed| {
                    numbers::<$ty>(len, seed, edges, |bits| $ty::from_f32((bits % 2000) as f32 / 7.0 - 100.0))
                };
                let same = |a: &$ty, b: &$ty| same_bits(a, b) || (a.is_nan() && b.is_nan());
                // Sums are rounded once.
                let sums = Loop::<$ty, f32> {
                    term: |x, w| w.map_or(x.to_f32(), |w| x.to_f32() * w.to_f32()),
                    add: |a, b| a + b,
                    end: |sum, _| $ty::from_f32(sum),
                    zero: Some(0.0),
                };
                check(Reduction::Add, false, numbers, &sums, same);
                check(Reduction::Add, true, numbers, &sums, same);
                let mean = Loop::<$ty, f32> { end: |sum, n| $ty::from_f32(sum / n as f32), ..sums };
                check(Reduction::Mean, false, numbers, &mean, same);
                let order = |add| Loop::<$ty, $ty> { term: |x, _| x, add, end: |x, _| x, zero: None };
                let least = order(|a, b| if b < a || b.is_nan() { b } else { a });
                check(Reduction::Min, false, numbers, &least, same_bits);
                let greatest = order(|a, b| if b > a || b.is_nan() { b } else { a });
                check(Reduction::Max, false, numbers, &greatest, same_bits);
            }
        };
    }
    half!(f16);
    half!(bf16);
}

#[test]
fn complex_numbers_and_bools() {
    type C = Complex<f32>;
    let numbers_c = |len, seed| {
        numbers::<C>(len, seed, &[C::new(0.0, -0.0), C::new(1.0, 0.0)], |bits| {
            C::new((bits % 50) as f32, (bits >> 9) as f32 % 9.0 - 4.0)
        })
    };
    let sums = Loop::<C, C> {
        term: |x, w| w.map_or(x, |w| x * w),
        add: |a, b| a + b,
        end: |sum, _| sum,
        zero: Some(C::new(0.0, 0.0)),
    };
    check(Reduction::Add, false, numbers_c, &sums, same_bits);
    check(Reduction::Add, true, numbers_c, &sums, same_bits);
    let mean = Loop::<C, C> { end: |sum, count| sum / count as f32, ..sums };
    check(Reduction::Mean, false, numbers_c, &mean, same_bits);

    let numbers_b = |len, seed| numbers::<bool>(len, seed, &[true], |bits| bits.is_multiple_of(3));
    let steps = |add| Loop::<bool, bool> { term: |x, w| x & w.unwrap_or(true), add, end: |x, _| x, zero: None };
    check(Reduction::Add, false, numbers_b, &steps(|a, b| a | b), same_bits);
    check(Reduction::Add, true, numbers_b, &steps(|a, b| a | b), same_bits);
    check(Reduction::Max, false, numbers_b, &steps(|a, b| a | b), same_bits);
    check(Reduction::Min, false, numbers_b, &steps(|a, b| a & b), same_bits);
}

#[test]
fn indices_and_offsets_of_every_type() {
    fn sums<I: Index + TryFrom<i128>, O: Index + TryFrom<i128>>() -> Vec<f32> {
        let table: Vec<f32> = (0..100).map(|at| at as f32 + 0.25).collect();
        let to = |value: i128| I::try_from(value).ok().unwrap();
        let ids: Vec<I> = (0..120).map(|at| to(at * 37 % 100)).collect();
        let offsets: Vec<O> = [0, 0, 7, 100].map(|at| O::try_from(at).ok().unwrap()).into();
        let (ids, offsets) = (View::new(&ids, &[120]).unwrap(), View::new(&offsets, &[4]).unwrap());
        let op = EmbeddingBag::new(Reduction::Add);
        op.run(&View::new(&table, &[100]).unwrap(), &Bags::new(&ids, &offsets)).unwrap().into_vec()
    }
    let expected = sums::<i32, i64>();
    assert_eq!(expected[0], 0.0);
    macro_rules! each {
        ($($ty:ident)*) => {$(
            assert_eq!(sums::<$ty, u8>(), expected);
            assert_eq!(sums::<u64, $ty>(), expected);
        )*};
    }
    each!(i8 i16 i32 i64 u8 u16 u32 u64 isize usize);
}

reduce_kernels! {
    /// The value that is further from 0.
    static MAX_ABS = |kept: f32, new: f32| -> f32 { if new.abs() > kept.abs() { new } else { kept } };
    /// The one that came first, and how many there were.
    static FIRST = |kept: [u16; 3], new: [u16; 3]| -> [u16; 3] { [kept[0], kept[1].wrapping_add(new[1]), new[2]] };
}

#[test]
fn reductions_of_the_callers_own() {
    let op = EmbeddingBag::new(Reduction::None).include_last_offset(true);
    let count = *BOUNDS.last().unwrap() as usize;
    let list: Vec<u16> = (0..count).map(|at| (mixed(3, at) % ROWS as u64) as u16).collect();
    let (ids, bounds) = (View::new(&list, &[count]).unwrap(), View::new(&BOUNDS, &[BOUNDS.len()]).unwrap());
    for columns in [1, 7, 70] {
        let table = numbers(ROWS * columns, 1, &[-0.0, f32::MAX], |bits| (bits % 99) as f32 - 49.0);
        let firsts: Vec<[u16; 3]> = (0..ROWS * columns).map(|at| [at as u16, 1, at as u16 * 3]).collect();
        let (t, f) = (View::new(&table, &[ROWS, columns]).unwrap(), View::new(&firsts, &[ROWS, columns]).unwrap());
        let peaks = op.reduce_by(&MAX_ABS).run(&t, &Bags::new(&ids, &bounds)).unwrap();
        let plan = op.reduce_by(&FIRST).plan(&Spec::from_layout(f.layout()), &Bags::new(&ids, &bounds)).unwrap();
        let first = plan.run(&f, &Bags::planned(&ids)).unwrap();
        for (bag, range) in BOUNDS.windows(2).enumerate() {
            let rows = &list[range[0] as usize..range[1] as usize];
            for q in 0..columns {
                let at = |row: u16| row as usize * columns + q;
                let peak = rows.iter().map(|&row| table[at(row)]).reduce(|a, b| if b.abs() > a.abs() { b } else { a });
                assert_eq!(peaks.as_slice()[bag * columns + q].to_bits(), peak.unwrap_or(0.0).to_bits());
                let (from, to) = (rows.first().map_or(0, |&row| at(row)), rows.last().map_or(0, |&row| at(row)));
                assert_eq!(first.as_slice()[bag * columns + q], [from as u16, rows.len() as u16, to as u16 * 3]);
            }
        }
    }
    let (weights, one) = ([1.0f32; 2], [2.0f32, 3.0]);
    let (weights, one, ids) = (View::new(&weights, &[1, 2]), View::new(&one, &[2]), View::new(&[0u8, 1], &[1, 2]));
    let (weights, one, ids) = (weights.unwrap(), one.unwrap(), ids.unwrap());
    let refused = op.reduce_by(&MAX_ABS).run(&one, &Bags::packed(&ids).weights(&weights));
    assert_eq!(refused.unwrap_err().to_string(), "embedding_bag: the reduction MAX_ABS takes no weights");
}

#[test]
fn reductions_that_a_type_lacks_are_refused() {
    fn refused<T: Element<Number = T> + Debug>(value: T, reductions: &[Reduction]) {
        let (one, ids) = ([value], View::new(&[0u8], &[1, 1]).unwrap());
        let data = View::new(&one, &[1]).unwrap();
        for &reduction in Reduction::ALL {
            match EmbeddingBag::new(reduction).run(&data, &Bags::packed(&ids)) {
                Ok(got) => assert!(!reductions.contains(&reduction) && got.len() == 1, "{reduction}"),
                Err(error) => {
                    assert!(reductions.contains(&reduction), "{error}");
                    let message = format!("embedding_bag: there is no reduction {reduction} of {}", T::DTYPE);
                    assert_eq!(error.to_string(), message);
                }
            }
            let weighted = EmbeddingBag::new(reduction)
                .run(&data, &Bags::packed(&ids).weights(&View::new(&one, &[1, 1]).unwrap()));
            assert_eq!(weighted.is_ok(), reduction == Reduction::Add && !reductions.contains(&reduction));
            if let (false, Err(error)) = (reductions.contains(&reduction), weighted) {
                assert!(matches!(error, Error::WeightsUnavailable { .. }), "{error}");
            }
        }
    }
    use Reduction::{Max, Mean, Min, Mul, None, Sub};
    refused(1u8, &[None, Sub, Mul]);
    refused(true, &[None, Sub, Mul, Mean]);
    refused(Complex::new(1f32, 2.0), &[None, Sub, Mul, Min, Max]);
}
