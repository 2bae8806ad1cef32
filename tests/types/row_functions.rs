//! Row functions: running one while rows are gathered gives, to the bit, what a loop over gathered rows gives, at every
//! level, by every method, for any number of threads, under every policy.

use std::mem::MaybeUninit;
use std::panic::{AssertUnwindSafe, catch_unwind};

use gather_core::{
    Argument, Element, Error, Gather, Given, Index, Layout, Level, Method, NegativeIndex, Op, OutOfBounds, Par, Per,
    RowFunction, RowParams, Spec, Tensor, View, ViewMut, row_kernels, rows,
};
use gather_tests::support::{available_levels, mixed, runs_as};
use gather_tests::values::bytes;
use half::{bf16, f16};

row_kernels! {
    /// A value of everything that a function is given.
    static MIXED = |
        row: &[f32],
        query: &[f32],
        #[any_len] more: &[i32],
        #[optional] added: &[f32],
        scale: f64,
    | -> f32 { mixture(row, query, more, added, scale) };

    /// A row of everything that a function is given; the first element that is written twice shows what it held.
    static SPREAD = |
        row: &[f32],
        out: &mut [f32],
        query: &[f32],
        #[any_len] more: &[i32],
        #[optional] added: &[f32],
        scale: f64,
    | {
        let value = mixture(row, query, more, added, scale);
        for (at, out) in out.iter_mut().enumerate() {
            if at % 3 != 1 {
                *out += value + at as f32;
            }
        }
    };

    /// Rows of 24 bits: a size that is no power of two.
    static BYTES = |row: &[[u8; 3]]| -> [u8; 3] { row.iter().fold([0; 3], |sum, part| add(sum, *part)) };

    static SUM_F16 = |row: &[f16]| -> f32 { rows::lanes::sum(row) };

    static SUM_BF16 = |row: &[bf16]| -> f32 { rows::lanes::sum(row) };

    static EARLY = |mut row: &[u8], limit: u8| -> u8 {
        while let [first, rest @ ..] = row {
            if *first > limit {
                return *first;
            }
            row = rest;
        }
        0
    };

    static PANICS = |row: &[u8], out: &mut [u8]| {
        assert!(row[0] != 7, "a seven");
        out.copy_from_slice(row);
    };
}

fn add(a: [u8; 3], b: [u8; 3]) -> [u8; 3] {
    std::array::from_fn(|at| a[at].wrapping_add(b[at]))
}

fn mixture(row: &[f32], query: &[f32], more: &[i32], added: &[f32], scale: f64) -> f32 {
    assert_eq!(row.len(), query.len());
    assert!(added.is_empty() || added.len() == row.len());
    let more: i32 = more.iter().sum();
    rows::lanes::dot(row, query) * scale as f32 + more as f32 - rows::lanes::max(added).max(-1000.0)
}

const WIDTHS: [usize; 8] = [0, 1, 3, 31, 32, 33, 64, 768];

fn floats(n: usize, seed: u64) -> Vec<f32> {
    (0..n).map(|at| (mixed(seed, at) % 2001) as f32 / 500.0 - 2.0).collect()
}

/// The plain program of sums: 32 lanes, then halves.
fn lanes(terms: impl Iterator<Item = f32>, join: fn(f32, f32) -> f32, start: f32) -> f32 {
    let mut lanes = [start; 32];
    for (at, term) in terms.enumerate() {
        lanes[at % 32] = join(lanes[at % 32], term);
    }
    let mut half = 16;
    while half > 0 {
        for at in 0..half {
            lanes[at] = join(lanes[at], lanes[at + half]);
        }
        half /= 2;
    }
    lanes[0]
}

fn summed(terms: impl Iterator<Item = f32>) -> f32 {
    lanes(terms, |a, b| a + b, 0.0)
}

#[test]
fn sums_are_those_of_the_plain_program() {
    for width in (0..140).chain(WIDTHS) {
        let (a, b) = (floats(width, 1), floats(width, 2));
        let pairs = || a.iter().zip(&b);
        let same = |ours: f32, theirs: f32| assert_eq!(ours.to_bits(), theirs.to_bits(), "{width} wide");
        same(rows::lanes::dot(&a, &b), summed(pairs().map(|(a, b)| a * b)));
        same(rows::lanes::sum(&a), summed(a.iter().copied()));
        same(rows::lanes::sum_of_squares(&a), summed(a.iter().map(|a| a * a)));
        same(rows::lanes::l2_squared(&a, &b), summed(pairs().map(|(a, b)| (a - b) * (a - b))));
        same(rows::lanes::max(&a), a.iter().copied().fold(f32::NEG_INFINITY, f32::max));
        let halves: Vec<f16> = a.iter().map(|&a| f16::from_f32(a)).collect();
        same(rows::lanes::dot(&halves, &b), summed(halves.iter().zip(&b).map(|(a, b)| a.to_f32() * b)));
        let brains: Vec<bf16> = a.iter().map(|&a| bf16::from_f32(a)).collect();
        same(
            rows::lanes::l2_squared(&brains, &b),
            summed(brains.iter().zip(&b).map(|(a, b)| (a.to_f32() - b).powi(2))),
        );
        let (x, y): (Vec<i8>, Vec<u8>) = (0..width).map(|at| (mixed(3, at) as i8, mixed(4, at) as u8)).unzip();
        let exact = |terms: &mut dyn Iterator<Item = i32>| terms.sum::<i32>();
        assert_eq!(rows::lanes::dot(&x, &y), exact(&mut x.iter().zip(&y).map(|(&x, &y)| i32::from(x) * i32::from(y))));
        assert_eq!(rows::lanes::sum_of_squares(&x), exact(&mut x.iter().map(|&x| i32::from(x).pow(2))));
        assert_eq!(rows::lanes::max(&x), x.iter().map(|&x| i32::from(x)).max().unwrap_or(i32::MIN));
    }
    assert_eq!(rows::lanes::max(&[f64::NAN, -1.0]), -1.0);
    assert_eq!(rows::lanes::sum(&[-0.0f32; 40]).to_bits(), 0);
    assert_eq!(rows::lanes::dot(&[i8::MIN; 131_071], &[i8::MIN; 131_071]), 131_071 << 14);
}

/// Sums rows of zeros and one number, which has every bit pattern in turn, at every level.
fn every_number<T: Element>(sum: &RowFunction<T, f32>, of: fn(u16) -> T, widened: fn(T) -> f32) {
    const WIDTH: usize = 8 + 3;
    let numbers = (0..=u16::MAX)
        .flat_map(|bits| (0..WIDTH).map(move |at| of(if at == usize::from(bits) * 7 % WIDTH { bits } else { 0 })));
    let (numbers, ids): (Vec<T>, Vec<u32>) = (numbers.collect(), (0..1 << 16).collect());
    let (data, ids) = (View::new(&numbers, &[1 << 16, WIDTH]).unwrap(), View::new(&ids, &[1 << 16]).unwrap());
    for level in available_levels() {
        let sums = Gather::new(0).level(level).run(&data.rows(sum, ()), &ids).unwrap();
        for (bits, sum) in (0..=u16::MAX).zip(sums.as_slice()) {
            let expected = 0.0 + widened(of(bits));
            let same = sum.to_bits() == expected.to_bits() || (sum.is_nan() && expected.is_nan());
            assert!(same, "{bits:#06x}: {sum} for {expected} at {level}");
        }
    }
}

#[test]
fn every_half_number_is_summed() {
    every_number(&SUM_F16, f16::from_bits, f16::to_f32);
    every_number(&SUM_BF16, bf16::from_bits, bf16::to_f32);
}

/// How each row is found: at a place of data, or out of range.
struct Found {
    shape: Vec<usize>,
    positions: Vec<u64>,
}

/// The rows of a gather, by gathering their numbers, counted from 1: those of `lead` dimensions of data.
fn find<I: Index>(gather: &Gather, lead: &[usize], indices: &View<'_, I>) -> Result<Found, Error> {
    let numbers: Vec<u64> = (1..=lead.iter().product::<usize>() as u64).collect();
    let gathered = gather.run(&View::new(&numbers, lead)?, indices)?;
    Ok(Found { shape: gathered.shape().to_vec(), positions: gathered.as_slice().to_vec() })
}

/// Runs a function by every door, level, method and number of threads, and compares with results made row by row.
fn holds<T: Element, U: Element, P: RowParams, I: Index>(
    function: &RowFunction<T, U, P>,
    gather: &Gather,
    (data, indices): (&View<'_, T>, &View<'_, I>),
    params: P::Given<'_>,
    (shape, expected): (&[usize], &[U]),
) {
    for level in available_levels() {
        for threads in [1, 2] {
            let gather = gather.level(level).par(Par::Threads(threads));
            let what =
                || format!("{function:?} {:?} {:?} at {level}, {threads} threads", data.shape(), indices.shape());
            let got = gather.run(&data.rows(function, params), indices).unwrap();
            assert_eq!((got.shape(), bytes(got.as_slice())), (shape, bytes(expected)), "{}", what());
            let plan = gather.plan(&data.rows(function, params), indices).unwrap();
            assert_eq!(plan.output_shape(), shape);
            let mut used = Tensor::full(&[5], U::ZERO).unwrap();
            for _ in 0..2 {
                plan.run_into(&data.rows(function, params), indices, &mut used).unwrap();
                assert_eq!((used.shape(), bytes(used.as_slice())), (shape, bytes(expected)), "{}, planned", what());
            }
            if let Ok(plan) = gather.plan_any_count(&data.rows(function, params), indices) {
                let got = plan.run(&data.rows(function, params), indices).unwrap();
                assert_eq!((got.shape(), bytes(got.as_slice())), (shape, bytes(expected)), "{}, any count", what());
            }
            for &method in Method::ALL {
                match gather.method(method).run(&data.rows(function, params), indices) {
                    Err(error) => {
                        assert!(matches!(error, Error::MethodUnavailable { .. }) && method != Method::Direct);
                    }
                    Ok(got) => assert_eq!(bytes(got.as_slice()), bytes(expected), "{}, {method}", what()),
                }
            }
            let mut memory = vec![MaybeUninit::<U>::uninit(); expected.len()];
            let mut out = ViewMut::new(&mut memory, shape).unwrap();
            gather.run_into(&data.rows(function, params), indices, &mut out).unwrap();
            // SAFETY: `run_into` has succeeded.
            let got: Vec<U> = memory.iter().map(|value| unsafe { value.assume_init() }).collect();
            assert_eq!(bytes(&got), bytes(expected), "{}, uninitialised", what());
        }
    }
}

/// Slices of a length, one for each index.
fn of_each<V>(len: usize, values: &[V]) -> Given<'_, &[V], V> {
    Given::PerIndexOf { len, values }
}

const POLICIES: &[OutOfBounds] = OutOfBounds::ALL;

#[test]
fn every_width_policy_and_parameter() {
    const ROWS: usize = 7;
    for width in WIDTHS {
        let table = floats(ROWS * width, 5);
        let data = View::new(&table, &[ROWS, width]).unwrap();
        let row = |at: usize| &table[at * width..][..width];
        let ids: Vec<i64> = (0..60).map(|at| (mixed(6, at) % 18) as i64 - 9).collect();
        for &policy in POLICIES {
            let ids: Vec<i64> = match policy {
                OutOfBounds::Error => ids.iter().map(|id| id.rem_euclid(ROWS as i64)).collect(),
                _ => ids.clone(),
            };
            let gather = Gather::new(0).out_of_bounds(policy);
            let indices = View::new(&ids, &[5, 12]).unwrap();
            let found = find(&gather, &[ROWS], &indices).unwrap();

            let (query, per_row, per_index) = (floats(width, 7), floats(ROWS * width, 8), floats(60 * width, 9));
            let (more, scales): (Vec<i32>, Vec<f64>) = (0..60).map(|at| (at * 3, f64::from(at) / 2.0)).unzip();
            // What each parameter is given, and where its values for an index and a row lie.
            let queries = [Given::All(&query[..]), Given::PerRow(&per_row), Given::PerIndex(&per_index)];
            for (kind, given) in queries.into_iter().enumerate() {
                let mores = [Given::All(&more[..5]), Given::PerRow(&more[..2 * ROWS]), of_each(1, &more)];
                let added = [Given::All(&[][..]), Given::PerIndex(&per_index[..12 * width]), queries[1]];
                let values = [Given::All(0.5), Given::PerIndex(&scales), Given::PerRow(&scales[..ROWS])];
                let params = (given, mores[kind], added[kind], values[kind]);
                let value = |at: usize, row_at: usize| {
                    let (query, more, added, scale) = match kind {
                        0 => (&query[..], &more[..5], &[][..], 0.5),
                        1 => (
                            &per_row[row_at * width..][..width],
                            &more[2 * row_at..][..2],
                            &per_index[at % 12 * width..][..width],
                            scales[at],
                        ),
                        _ => (
                            &per_index[at * width..][..width],
                            &more[at..][..1],
                            &per_row[row_at * width..][..width],
                            scales[row_at],
                        ),
                    };
                    mixture(row(row_at), query, more, added, scale)
                };
                let places = || found.positions.iter().enumerate();
                let fill = 9.5;
                let expected: Vec<f32> =
                    places().map(|(at, &row)| if row == 0 { fill } else { value(at, row as usize - 1) }).collect();
                holds(&MIXED.with_fill(fill), &gather, (&data, &indices), params, (&[5, 12], &expected));

                for len in [0, 1, 5, 16, 40] {
                    let element = |at: usize, row: u64, k: usize| match row {
                        0 => 0.0,
                        _ if k % 3 == 1 => 0.0,
                        row => value(at, row as usize - 1) + k as f32,
                    };
                    let expected: Vec<f32> =
                        places().flat_map(|(at, &row)| (0..len).map(move |k| element(at, row, k))).collect();
                    holds(&SPREAD.with_len(len), &gather, (&data, &indices), params, (&[5, 12, len], &expected));
                }
            }
        }
    }
}

#[test]
fn rows_lie_anywhere() {
    // [2, 3, 5, 2, 4]: an axis in the middle; rows of two dimensions; strides of the others apart, and reversed.
    let memory = floats(4000, 3);
    let strides = [1200, -400, 60, 4, 1];
    let data = View::strided(&memory, &[2, 3, 5, 2, 4], &strides, 900).unwrap();
    let row = |number: usize| -> Vec<f32> {
        let (a, b, c) = (number / 15, number / 5 % 3, number % 5);
        let at = (900 + a as isize * 1200 - b as isize * 400 + c as isize * 60) as usize;
        memory[at..at + 8].to_vec()
    };
    let ids: Vec<i16> = (0..300).map(|at| (mixed(2, at) % 10) as i16 - 5).collect();
    let query = floats(8, 4);
    for (batch_dims, shape, strides) in [
        (0, &[4][..], &[3][..]),
        (0, &[][..], &[][..]),
        (1, &[2, 3][..], &[-40, 5][..]),
        (2, &[2, 3, 70][..], &[0, 33, 1][..]),
    ] {
        let indices = View::strided(&ids, shape, strides, 80).unwrap();
        for axis in [2, -3] {
            let gather = Gather::new(axis).batch_dims(batch_dims);
            let found = find(&Gather::new(2).batch_dims(batch_dims), &[2, 3, 5], &indices).unwrap();
            let all = found.positions.len();
            let lead = &found.shape[..];
            let rows: Vec<Vec<f32>> = found.positions.iter().map(|&number| row(number as usize - 1)).collect();
            let dots: Vec<f32> = rows.iter().map(|row| rows::lanes::dot(row, &query)).collect();
            holds(&rows::dot(), &gather, (&data, &indices), (Given::All(&query),), (lead, &dots));
            let each = floats(all * 8, 9);
            let dots: Vec<f32> =
                rows.iter().enumerate().map(|(at, row)| rows::lanes::dot(row, &each[at * 8..][..8])).collect();
            holds(&rows::dot(), &gather, (&data, &indices), (Given::PerIndex(&each),), (lead, &dots));

            // Rows of the output spread out: evenly, backwards and with gaps.
            let len: isize = 8;
            let shape = [lead, &[8]].concat();
            let params = (Given::PerIndex(&each[..]), Given::All(1e-3));
            let plain = gather.run(&data.rows(&rows::l2_normalize(), params), &indices).unwrap();
            let mut strides: Vec<isize> = Vec::new();
            let mut step = -(len + 3);
            for &dim in lead.iter().rev() {
                strides.insert(0, step);
                step *= dim as isize;
            }
            strides.push(1);
            let mut out = vec![f32::NAN; all * 11];
            let mut view = ViewMut::strided(&mut out, &shape, &strides, (all - 1) * 11).unwrap();
            gather.run_into(&data.rows(&rows::l2_normalize(), params), &indices, &mut view).unwrap();
            for (at, values) in plain.as_slice().chunks(8).enumerate() {
                assert_eq!(bytes(&out[(all - 1 - at) * 11..][..8]), bytes(values), "row {at}");
            }
            assert_eq!(out.iter().filter(|value| value.is_nan()).count(), all * 3);
        }
    }
}

#[test]
fn elements_of_every_size() {
    let table: Vec<[u8; 3]> = (0..70).map(|at: u8| [at, at.wrapping_mul(7), 255 - at]).collect();
    let (data, ids) = (View::new(&table, &[10, 7]).unwrap(), [9u8, 0, 10, 3]);
    let indices = View::new(&ids, &[4]).unwrap();
    let sum = |row: usize| table[row * 7..][..7].iter().fold([0; 3], |sum, &part| add(sum, part));
    let gather = Gather::new(0).out_of_bounds(OutOfBounds::Zero);
    holds(&BYTES.with_fill([1, 2, 3]), &gather, (&data, &indices), (), (&[4], &[sum(9), sum(0), [1, 2, 3], sum(3)]));

    let data = View::new(table.as_flattened(), &[70, 3]).unwrap();
    let indices = View::new(&[1usize, 69], &[2]).unwrap();
    holds(&EARLY, &Gather::new(0), (&data, &indices), (Given::All(6),), (&[2], &[7, 69]));
}

/// Scores of long rows, which are scored three at a time, and of short ones, which have a loop for each length, are
/// those of each row.
#[test]
fn scores_of_rows_of_every_length() {
    fn hold<T: rows::Scored>(width: usize, element: fn(f32) -> T, query: &[T::Query]) {
        let mut table = floats(5 * width, 1);
        // The sum of zeros below zero is zero.
        table[3 * width..4 * width].fill(-0.0);
        let table: Vec<T> = table.into_iter().map(element).collect();
        let data = View::new(&table, &[5, width]).unwrap();
        let ids = [4u32, 0, 3, 3, 1, 2, 0, 4];
        for count in [1, 2, 3, 4, 5, 6, 8] {
            let ids = &ids[..count];
            let row = |&id: &u32| &table[id as usize * width..][..width];
            let (gather, indices, query) = (Gather::new(0), View::new(ids, &[count]).unwrap(), &query[..width]);
            let dots: Vec<_> = ids.iter().map(|id| rows::lanes::dot(row(id), query)).collect();
            holds(&rows::dot(), &gather, (&data, &indices), (Given::All(query),), (&[count], &dots));
            let squares: Vec<_> = ids.iter().map(|id| rows::lanes::l2_squared(row(id), query)).collect();
            holds(&rows::l2_squared(), &gather, (&data, &indices), (Given::All(query),), (&[count], &squares));
        }
    }
    let query = floats(2000, 2);
    let small: Vec<i8> = (0..2000).map(|at| mixed(3, at) as i8).collect();
    for width in (1..=10).chain([256, 257, 263, 271, 300, 513, 1031]) {
        hold::<f32>(width, |value| value, &query);
        hold::<f16>(width, f16::from_f32, &query);
        hold::<bf16>(width, bf16::from_f32, &query);
        hold::<i8>(width, |value| (value * 63.0) as i8, &small);
    }
}

#[test]
fn ready_made_functions() {
    let (table, query) = (floats(40 * 50, 1), floats(50, 2));
    let ids = [39u32, 0, 17, 17];
    let (data, indices) = (View::new(&table, &[40, 50]).unwrap(), View::new(&ids, &[4]).unwrap());
    let row = |id: u32| &table[id as usize * 50..][..50];
    let lengths: Vec<f32> = (0..40).map(|id| rows::lanes::sum_of_squares(row(id)).sqrt()).collect();
    let length = rows::lanes::sum_of_squares(&query).sqrt();
    let gather = Gather::new(0);
    let cosines = ids.map(|id| rows::lanes::dot(row(id), &query) / (lengths[id as usize] * length));
    let params = (Given::All(&query[..]), Given::PerRow(&lengths[..]), Given::All(length));
    holds(&rows::cosine(), &gather, (&data, &indices), params, (&[4], &cosines));
    let distances = ids.map(|id| rows::lanes::l2_squared(row(id), &query));
    holds(&rows::l2_squared(), &gather, (&data, &indices), (params.0,), (&[4], &distances));

    let (gains, biases, added) = (floats(50, 3), floats(50, 4), floats(4 * 50, 5));
    let normed = |rms: bool, all: bool, row: &[f32], at: usize| -> Vec<f32> {
        let mut x: Vec<f32> = row.to_vec();
        if all {
            x.iter_mut().zip(&added[at * 50..]).for_each(|(x, added)| *x += added);
        }
        if !rms {
            let mean = rows::lanes::sum(&x) / 50.0;
            x.iter_mut().for_each(|x| *x -= mean);
        }
        let scale = 1.0 / (rows::lanes::sum_of_squares(&x) / 50.0 + 1e-5).sqrt();
        let one = |(at, x): (usize, &f32)| match (all, rms) {
            (false, _) => x * scale,
            (true, true) => x * scale * gains[at],
            (true, false) => x * scale * gains[at] + biases[at],
        };
        x.iter().enumerate().map(one).collect()
    };
    let all =
        |rms, all| -> Vec<f32> { ids.iter().enumerate().flat_map(|(at, &id)| normed(rms, all, row(id), at)).collect() };
    let (none, eps) = (Given::All(&[][..]), Given::All(1e-5));
    let given = (Given::PerIndex(&added[..]), Given::All(&gains[..]), Given::All(&biases[..]));
    let shape = [4, 50];
    holds(&rows::rms_norm(), &gather, (&data, &indices), (none, none, eps), (&shape, &all(true, false)));
    holds(&rows::rms_norm(), &gather, (&data, &indices), (given.0, given.1, eps), (&shape, &all(true, true)));
    holds(&rows::layer_norm(), &gather, (&data, &indices), (none, none, none, eps), (&shape, &all(false, false)));
    holds(
        &rows::layer_norm(),
        &gather,
        (&data, &indices),
        (given.0, given.1, given.2, eps),
        (&shape, &all(false, true)),
    );
    let mean = all(false, true).iter().sum::<f32>();
    assert!(mean.is_finite());

    let halves: Vec<f16> = table.iter().map(|&value| f16::from_f32(value)).collect();
    let widened: Vec<f32> = halves.iter().map(|value| value.to_f32()).collect();
    let (halves, widened) = (View::new(&halves, &[40, 50]).unwrap(), View::new(&widened, &[40, 50]).unwrap());
    let dots = gather.run(&widened.rows(&rows::dot(), (params.0,)), &indices).unwrap();
    holds(&rows::dot(), &gather, (&halves, &indices), (params.0,), (&[4], dots.as_slice()));
    let units = gather.run(&widened.rows(&rows::l2_normalize(), (none, Given::All(0.0))), &indices).unwrap();
    let given = (none, Given::All(0.0));
    holds(&rows::l2_normalize(), &gather, (&halves, &indices), given, (&shape, units.as_slice()));
    for unit in units.as_slice().chunks(50) {
        assert!((rows::lanes::sum_of_squares(unit) - 1.0).abs() < 1e-5);
    }
    let codes: Vec<i8> = (0..2000).map(|at| mixed(9, at) as i8).collect();
    let codes = View::new(&codes, &[40, 50]).unwrap();
    let query: Vec<i8> = (0..50).map(|at| mixed(8, at) as i8).collect();
    let dots = gather.run(&codes.rows(&rows::dot(), (Given::All(&query),)), &indices).unwrap();
    let scaled: Vec<f32> = dots.as_slice().iter().map(|&dot| dot as f32 / 6.0).collect();
    let params = (Given::All(&query[..]), Given::All(2.0), Given::All(3.0));
    holds(&rows::cosine(), &gather, (&codes, &indices), params, (&[4], &scaled));
}

#[test]
fn what_does_not_fit_is_refused_before_anything_is_written() {
    let (table, ids) = (floats(60, 1), [1u32, 2, 0]);
    let data = View::new(&table, &[10, 6]).unwrap();
    let indices = View::new(&ids, &[3]).unwrap();
    let gather = Gather::new(0);
    let (query, op) = (floats(6, 2), Op::Gather);
    let ok = (Given::All(&query[..]),);
    let refused =
        |gather: Gather, data: &View<'_, f32>, given| gather.run(&data.rows(&rows::dot(), given), &indices).err();

    assert_eq!(refused(Gather::new(2), &data, ok), Some(Error::AxisOutOfRange { op, axis: 2, rank: 2 }));
    let columns = data.permuted(&[1, 0]).unwrap();
    let argument = Argument::Data;
    assert_eq!(refused(gather, &columns, ok), Some(Error::RowsNotContiguous { op, argument }));
    assert_eq!(
        refused(gather.method(Method::Chunks), &data, ok),
        Some(Error::MethodUnavailable { op, method: Method::Chunks })
    );
    let wrong = |parameter, per, len, expected| {
        Some(Error::RowParameterLengthMismatch { op, function: "dot", parameter, per, len, expected })
    };
    for (given, per, expected) in [
        (Given::All(&table[..5]), Per::Call, 6),
        (Given::All(&table[..0]), Per::Call, 6),
        (Given::PerRow(&table[..59]), Per::Row, 60),
        (Given::PerIndex(&table[..12]), Per::Index, 18),
    ] {
        let len = match given {
            Given::All(values) | Given::PerIndex(values) | Given::PerRow(values) => values.len(),
            _ => unreachable!(),
        };
        let error = refused(gather, &data, (given,));
        assert_eq!(error, wrong("query", per, len, expected));
        let dots = data.rows(&rows::dot(), (given,));
        let plan = gather.plan(&dots, &indices).unwrap();
        assert_eq!(plan.run(&dots, &indices).err(), error);
    }
    let error = refused(gather, &data, (Given::PerIndex(&table[..12]),)).unwrap().to_string();
    let takes = "per index it takes 18, or those of its last dimensions";
    assert_eq!(error, format!("gather: parameter query of dot has 12 values; {takes}"));

    let normalize = |out: &mut ViewMut<'_, f32>, given| {
        gather.run_into(&data.rows(&rows::l2_normalize(), (given, Given::All(0.0))), &indices, out)
    };
    let mut out = [5.0; 64];
    let none = Given::All(&[][..]);
    let mut view = ViewMut::new(&mut out[..18], &[6, 3]).unwrap();
    let error = |got: &[usize]| {
        Err(Error::ShapeMismatch { op, argument: Argument::Output, expected: [3, 6].into(), got: got.into() })
    };
    assert_eq!(normalize(&mut view, none), error(&[6, 3]));
    // Rows of another length are another function: `with_len`.
    let mut view = ViewMut::new(&mut out[..15], &[3, 5]).unwrap();
    assert_eq!(normalize(&mut view, none), error(&[3, 5]));
    let mut view = ViewMut::strided(&mut out, &[3, 6], &[12, 2], 0).unwrap();
    let not_contiguous = Err(Error::RowsNotContiguous { op, argument: Argument::Output });
    assert_eq!(normalize(&mut view, none), not_contiguous);
    // A row of one element is contiguous, whatever the stride of its dimension.
    let (single, mut to) = (View::new(&[3.0f32, -5.0, 0.5], &[3, 1]).unwrap(), [0.0; 9]);
    let mut view = ViewMut::strided(&mut to, &[3, 1], &[3, 2], 0).unwrap();
    gather.run_into(&single.rows(&rows::l2_normalize(), (none, Given::All(0.0))), &indices, &mut view).unwrap();
    assert_eq!(to, [-1.0, 0.0, 0.0, 1.0, 0.0, 0.0, 1.0, 0.0, 0.0]);
    // Rows that are not evenly spaced, which matters where indices have values of their own.
    let six = [0u8, 1, 2, 3, 4, 5];
    let six = View::new(&six, &[2, 3]).unwrap();
    let uneven = |memory: &mut [f32], given| {
        let mut view = ViewMut::strided(memory, &[2, 3, 6], &[30, 7, 1], 0).unwrap();
        gather.run_into(&data.rows(&rows::l2_normalize(), (given, Given::All(0.0))), &six, &mut view)
    };
    assert_eq!(uneven(&mut out, Given::PerIndex(&table[..36])), not_contiguous);
    assert_eq!(out, [5.0; 64]);
    assert_eq!(uneven(&mut out, none), Ok(()));
    assert_eq!((out[6], out[29], out[30] == 5.0), (5.0, 5.0, false));

    // The first bad index, whatever runs.
    let bad = [1i64, -11, 10, 3];
    let bad = View::new(&bad, &[4]).unwrap();
    let (position, index, dim) = (1, -11, 10);
    let negative = NegativeIndex::FromEnd;
    let expected = Error::IndexOutOfRange { op, position, index, axis: 0, dim, negative };
    let mut tensor = Tensor::full(&[2], 1.0f32).unwrap();
    for level in available_levels() {
        let gather = gather.level(level);
        assert_eq!(gather.run(&data.rows(&rows::dot(), ok), &bad).err().as_ref(), Some(&expected));
        assert_eq!(gather.run_into(&data.rows(&rows::dot(), ok), &bad, &mut tensor), Err(expected.clone()));
        assert_eq!(tensor.len(), 0);
    }
    // Without rows nothing can be read, and indices are checked where results have no elements.
    let empty = View::new(&table[..0], &[0, 6]).unwrap();
    let one = View::new(&ids[..1], &[1]).unwrap();
    let error = Error::IndexOutOfRange { op, position: 0, index: 1, axis: 0, dim: 0, negative };
    assert_eq!(gather.run(&empty.rows(&rows::dot(), ok), &one).err(), Some(error));
    let zeros = gather.out_of_bounds(OutOfBounds::Zero);
    let got = zeros.run(&empty.rows(&rows::dot().with_fill(-1.0), ok), &one).unwrap();
    assert_eq!(got.as_slice(), [-1.0]);
    let nothing = SPREAD.with_len(0);
    let params = (ok.0, Given::All(&[][..]), none, Given::All(1.0));
    assert_eq!(gather.run(&data.rows(&nothing, params), &bad).err(), Some(expected));

    let dots = data.rows(&rows::dot(), ok);
    let plan = gather.plan(&dots, &indices).unwrap();
    let error = plan.run(&dots, &one).err();
    assert!(matches!(error, Some(Error::PlanMismatch { argument: Argument::Indices, .. })), "{error:?}");
    let along_second = Gather::new(1).plan_any_count(&dots, &indices).err();
    assert_eq!(along_second, Some(Error::AnyCountUnavailable { op }));
}

#[test]
fn plans_for_any_count_take_any_count() {
    let table = floats(100 * 16, 1);
    let data = View::new(&table, &[100, 16]).unwrap();
    let gather = Gather::new(0).out_of_bounds(OutOfBounds::Zero);
    let ids = Layout::contiguous(&[7, 3]).unwrap();
    let score = rows::dot().with_fill(f32::NEG_INFINITY);
    let plan =
        gather.plan_any_count(&Spec::from_layout(data.layout()).rows(&score), &Spec::<u16>::from_layout(&ids)).unwrap();
    for count in [0, 1, 5, 32, 33, 2000] {
        let ids: Vec<u16> = (0..count * 3).map(|at| (mixed(1, at) % 101) as u16).collect();
        let indices = View::new(&ids, &[count, 3]).unwrap();
        let queries = floats(count * 3 * 16, 2);
        for given in [Given::PerIndex(&queries[..]), Given::PerIndex(&queries[..(count * 3).min(3) * 16])] {
            let expected = gather.run(&data.rows(&score, (given,)), &indices).unwrap();
            let got = plan.run(&data.rows(&score, (given,)), &indices).unwrap();
            assert_eq!((got.shape(), bytes(got.as_slice())), (expected.shape(), bytes(expected.as_slice())));
        }
    }
    let text = plan.explain().to_string();
    assert!(text.starts_with("gather: rows -> [7, 3]"), "{text}");
    let (query, ids) = (floats(16, 3), [5u16, 99, 100]);
    let indices = View::new(&ids, &[1, 3]).unwrap();
    let scores = data.rows(&score, (Given::All(&query),));
    let asked = plan.will_need(&scores, &indices);
    let again = gather.plan(&scores, &indices).unwrap().clone();
    assert_eq!(again.will_need(&scores, &indices).rows, if cfg!(unix) { 2 } else { 0 });
    assert_eq!(asked, again.will_need(&scores, &indices));
    assert_eq!(again.run(&scores, &indices).unwrap().as_slice()[2], f32::NEG_INFINITY);
}

/// Rows that are prefetched, shared between threads, and written by non-temporal stores.
#[test]
fn large_calls() {
    const ROWS: usize = 13_000;
    const COLUMNS: usize = 260;
    let table = floats(ROWS * COLUMNS, 1);
    let data = View::new(&table, &[ROWS, COLUMNS]).unwrap();
    let ids: Vec<i32> = (0..28_000).map(|at| (mixed(2, at) % ROWS as u64) as i32).collect();
    let indices = View::new(&ids, &[28, 1000]).unwrap();
    let positions = floats(1000 * COLUMNS, 3);
    let params = (Given::PerIndex(&positions[..]), Given::All(1e-6));
    let gather = Gather::new(0);
    let scalar = gather.level(Level::Scalar).method(Method::Blocks).par(Par::Seq);
    let expected = scalar.run(&data.rows(&rows::l2_normalize(), params), &indices).unwrap();
    let at = 12_345;
    let (id, position) = (ids[at] as usize, at % 1000);
    let row: Vec<f32> =
        table[id * COLUMNS..][..COLUMNS].iter().zip(&positions[position * COLUMNS..]).map(|(a, b)| a + b).collect();
    let scale = 1.0 / rows::lanes::sum_of_squares(&row).sqrt().max(1e-6);
    let row: Vec<f32> = row.iter().map(|value| value * scale).collect();
    assert_eq!(bytes(&expected.as_slice()[at * COLUMNS..][..COLUMNS]), bytes(&row));
    for par in [Par::Seq, Par::Threads(2), Par::Auto] {
        let gather = gather.par(par);
        let normalized = data.rows(&rows::l2_normalize(), params);
        let plan = gather.plan(&normalized, &indices).unwrap();
        if cfg!(target_arch = "x86_64") {
            assert_eq!(plan.explain().method(), runs_as(Method::Streamed));
        }
        assert!(plan.explain().to_string().contains(", fetched 7 ahead\n"), "{plan:?}");
        let got = plan.run(&normalized, &indices).unwrap();
        assert!(bytes(got.as_slice()) == bytes(expected.as_slice()), "{par:?}");
    }
    let plan = |rows, columns| {
        let data = Layout::contiguous(&[rows, columns]).unwrap();
        let indices = Layout::contiguous(&[10_000_000 / columns]).unwrap();
        gather
            .plan(&Spec::<f32>::from_layout(&data).rows(&rows::l2_normalize()), &Spec::<i32>::from_layout(&indices))
            .unwrap()
    };
    // Data that the second-level cache of any core holds, and data that none does.
    assert!(!plan(100, COLUMNS).explain().to_string().contains("fetched"));
    assert!(plan(10_000, 100).explain().to_string().contains(", fetched 16 ahead\n"));
    // Short rows are written as they are made, however large the output is.
    assert_eq!(plan(10_000, 127).explain().method(), Method::Blocks);
}

#[test]
#[cfg_attr(target_family = "wasm", ignore = "a panic ends the program")]
fn a_panic_of_the_function_leaves_outputs_initialised() {
    let table = [1u8, 2, 7, 8, 3, 4];
    let (data, indices) = (View::new(&table, &[3, 2]).unwrap(), View::new(&[2u8, 1, 0], &[3]).unwrap());
    for threads in [1, 2] {
        let gather = Gather::new(0).par(Par::Threads(threads));
        let panics = |run: &mut dyn FnMut()| assert!(catch_unwind(AssertUnwindSafe(run)).is_err());
        panics(&mut || drop(gather.run(&data.rows(&PANICS, ()), &indices)));
        let mut tensor = Tensor::full(&[9], 1u8).unwrap();
        panics(&mut || drop(gather.run_into(&data.rows(&PANICS, ()), &indices, &mut tensor)));
        assert!(tensor.as_slice().is_empty());
        let mut out = [9u8; 6];
        let mut view = ViewMut::new(&mut out, &[3, 2]).unwrap();
        panics(&mut || drop(gather.run_into(&data.rows(&PANICS, ()), &indices, &mut view)));
        assert!(out.iter().all(|value| [0, 1, 2, 3, 4, 9].contains(value)), "{out:?}");
    }
}

#[test]
fn functions_say_what_they_are() {
    let cosine = rows::cosine::<i8>();
    assert_eq!((cosine.name(), cosine.params()), ("cosine", &["query", "row_length", "query_length"][..]));
    assert_eq!(format!("{:?}", rows::dot::<f32>()), "RowFunction { name: \"dot\", params: [\"query\"] }");
    assert_eq!((rows::dot::<f32>().fill(), rows::dot::<f32>().with_fill(2.0).fill()), (None, Some(&2.0)));
}

row_kernels! {
    /// The first elements of a row, and how many weights there are: a value of a line.
    static HEAD = |row: &[u32], #[any_len] weights: &[u32]| -> [u32; 16] {
        core::array::from_fn(|at| if at == 15 { weights.len() as u32 } else { row[at % row.len()] })
    };
}

#[test]
fn values_of_a_line_are_streamed_and_weights_of_any_length_are_shared() {
    let table: Vec<u32> = (0..60).collect();
    let (data, ids) = (View::new(&table, &[10, 6]).unwrap(), [7u8, 0, 9, 3]);
    let indices = View::new(&ids, &[2, 2]).unwrap();
    let weights = [0u32; 40];
    let row = |id: u8, n: u32| core::array::from_fn(|at| if at == 15 { n } else { u32::from(id) * 6 + at as u32 % 6 });
    let cases = [
        (Given::All(&weights[..5]), 5),
        (of_each(3, &weights[..12]), 3),
        (of_each(1, &weights[..2]), 1),
        (Given::PerRow(&weights[..40]), 4),
        (Given::PerRow(&weights[..0]), 0),
    ];
    for level in available_levels() {
        let gather = Gather::new(0).level(level);
        for (given, n) in cases {
            let expected = ids.map(|id| row(id, n));
            for method in [Method::Direct, Method::Blocks, Method::Streamed] {
                match gather.method(method).run(&data.rows(&HEAD, (given,)), &indices) {
                    Ok(got) => assert_eq!(got.as_slice(), expected, "{level} {method}"),
                    Err(error) => assert!(matches!(error, Error::MethodUnavailable { .. }), "{error}"),
                }
            }
        }
        let error = gather.run(&data.rows(&HEAD, (Given::PerRow(&weights[..6]),)), &indices).unwrap_err();
        assert!(error.to_string().ends_with("has 6 values; per row of data it takes 10"), "{error}");
    }
}

row_kernels! {
    static FLAGGED = |row: &[u32], #[any_len] flags: &[u32]| -> u32 { row[0] + flags.iter().sum::<u32>() };
}

/// Eight values for two sequences of two tokens are two for each token, or four for each position.
#[test]
fn slices_of_any_length_per_index_are_stated() {
    let (table, ids) = ([100u32, 200], [0u8, 1, 1, 0]);
    let (data, of_two) = (View::new(&table, &[2, 1]).unwrap(), View::new(&ids, &[2, 2]).unwrap());
    let (flags, op) = ([1u32, 2, 3, 4, 5, 6, 7, 8], Op::Gather);
    let run = |indices: &View<'_, u8>, given| {
        let got = Gather::new(0).run(&data.rows(&FLAGGED, (given,)), indices);
        let plan = Gather::new(0).plan(&data.rows(&FLAGGED, (given,)), indices).unwrap();
        assert_eq!(plan.run(&data.rows(&FLAGGED, (given,)), indices), got);
        got.map(Tensor::into_vec)
    };
    assert_eq!(run(&of_two, of_each(2, &flags)).unwrap(), [103, 207, 211, 115]);
    assert_eq!(run(&of_two, of_each(4, &flags)).unwrap(), [110, 226, 210, 126]);
    assert_eq!(run(&of_two, of_each(0, &flags[..0])).unwrap(), [100, 200, 200, 100]);
    let (function, parameter) = ("FLAGGED", "flags");
    for len in [8, 2, 6, 0] {
        let unstated = Error::RowParameterLengthUnstated { op, function, parameter, len, indices: [2, 2].into() };
        assert_eq!(run(&of_two, Given::PerIndex(&flags[..len])), Err(unstated));
    }
    let wrong = |len, expected| {
        Err(Error::RowParameterLengthMismatch { op, function, parameter, per: Per::Index, len, expected })
    };
    assert_eq!(run(&of_two, of_each(3, &flags)), wrong(8, 12));
    assert_eq!(run(&of_two, of_each(usize::MAX, &flags)), wrong(8, usize::MAX));
    // One dimension leaves one reading.
    let list = View::new(&ids, &[4]).unwrap();
    assert_eq!(run(&list, Given::PerIndex(&flags)).unwrap(), [103, 207, 211, 115]);
    assert_eq!(run(&list, Given::PerIndex(&flags[..6])), wrong(6, 4));
    assert_eq!(run(&View::scalar(&ids[1]), Given::PerIndex(&flags)).unwrap(), [236]);

    // A slice that is as long as the row is stated, or not.
    let (rows, query) = (floats(12, 1), floats(24, 2));
    let data = View::new(&rows, &[2, 6]).unwrap();
    let dots = |given| Gather::new(0).run(&data.rows(&rows::dot(), (given,)), &of_two);
    assert_eq!(dots(of_each(6, &query)), dots(Given::PerIndex(&query)));
    assert_eq!(dots(of_each(6, &query[..12])), dots(Given::PerIndex(&query[..12])));
    let error = dots(of_each(12, &query)).unwrap_err().to_string();
    assert_eq!(error, "gather: parameter query of dot has slices of 12 values; it takes slices of 6");
}

#[test]
fn outputs_without_rows_may_lie_anywhere() {
    let (table, ids) = (floats(20, 1), [0u8; 0]);
    let data = View::new(&table, &[4, 5]).unwrap();
    let indices = View::new(&ids, &[2, 0]).unwrap();
    let params = (Given::PerIndex(&[][..]), Given::All(0.0));
    let run = |data: &View<'_, f32>, out: &mut ViewMut<'_, f32>| {
        Gather::new(0).run_into(&data.rows(&rows::l2_normalize(), params), &indices, out)
    };
    assert_eq!(run(&data, &mut ViewMut::new(&mut [], &[2, 0, 5]).unwrap()), Ok(()));
    assert_eq!(run(&data, &mut ViewMut::strided(&mut [], &[2, 0, 5], &[7, 3, 2], 0).unwrap()), Ok(()));
    let apart = View::strided(&table[..0], &[0, 5], &[8, 2], 0).unwrap();
    assert_eq!(run(&apart, &mut ViewMut::new(&mut [], &[2, 0, 5]).unwrap()), Ok(()));
}

#[test]
fn rows_without_elements_behind_many_dimensions() {
    let mut memory = [7.0f32; 8];
    let (table, out) = memory.split_at_mut(0);
    let data = View::new(table, &[1, 1, 1, 1, 1, 1, 1, 1, 3, 0]).unwrap();
    let ids = [2u8, 0];
    let indices = View::new(&ids, &[2]).unwrap();
    let mut view = ViewMut::new(&mut out[..4], &[1, 1, 1, 1, 1, 1, 1, 1, 2, 2]).unwrap();
    row_kernels! {
        static COUNT = |row: &[f32], out: &mut [f32]| { out.fill(row.len() as f32 + 1.0) };
    }
    Gather::new(8).run_into(&data.rows(&COUNT.with_len(2), ()), &indices, &mut view).unwrap();
    assert_eq!(memory, [1.0, 1.0, 1.0, 1.0, 7.0, 7.0, 7.0, 7.0]);
}

#[test]
#[should_panic(expected = "has no length of a row")]
fn a_value_has_no_length() {
    let _ = rows::dot::<f32>().with_len(5);
}
