//! Every strategy on every shape that it takes, and resolving at every level, against the oracle.

use gather_core::{
    Element, Error, Gather, GatherElements, GatherNd, Index, Layout, Level, Op, OutOfBounds, Par, Strategy, Tensor,
};
use gather_tests::oracle::{self, BadIndex, Dense};

use crate::support::{RULES, Spread, dense, narrow, view};

/// Lengths around the vectors of 4, 8 and 32 lanes and the block of 512.
const LENGTHS: [usize; 17] = [0, 1, 3, 4, 7, 8, 9, 16, 31, 32, 33, 65, 127, 511, 512, 513, 1030];

/// Index types with the values that they do not share.
trait Probe: Index + TryFrom<i128> {
    /// Values of the type around every edge of an axis, of 32 bits and of the type itself.
    fn edges(dim: i128) -> Vec<i128> {
        let around = [0, dim, -dim, 1 << 7, 1 << 8, 1 << 15, 1 << 16, 1 << 31, 1 << 32, 1 << 63, 1 << 64, -(1 << 31)];
        let near = around.into_iter().flat_map(|edge| (-2..=2).map(move |by| edge + by));
        near.chain([-(1 << 32), -(1 << 63), (1 << 32) + dim]).filter(|&value| Self::try_from(value).is_ok()).collect()
    }
}
impl<I: Index + TryFrom<i128>> Probe for I {}

/// Indices of `len` lanes: in range but for one edge value every `every` lanes.
fn indices<I: Probe>(shape: &[usize], dim: usize, every: usize) -> Dense<i128> {
    let edges = I::edges(dim as i128);
    let most = I::max_value().to_i128().unwrap_or(i128::MAX).min(dim as i128 - 1) as usize;
    Dense::from_fn(shape, |at| {
        if at % every == every - 1 { edges[at / every % edges.len()] } else { (at * 7919 % (most + 1)) as i128 }
    })
}

fn same<T: Element + PartialEq + std::fmt::Debug>(
    expected: Result<Dense<T>, BadIndex>,
    got: Result<Tensor<T>, Error>,
    what: impl Fn() -> String,
) {
    match (expected, got) {
        (Ok(expected), Ok(got)) => assert!(dense(&got) == expected, "{}", what()),
        (Err(bad), Err(Error::IndexOutOfRange { position, index, .. })) => {
            assert_eq!((position, index), (bad.position, bad.index), "{}", what());
        }
        (expected, got) => panic!("{}: expected {:?}, got {:?}", what(), expected.err(), got.err()),
    }
}

fn levels() -> impl Iterator<Item = Level> {
    Level::ALL.into_iter().filter(|level| level.is_available())
}

fn resolve_every_way<I: Probe>() {
    for dim in [1, 2, 7, 100, 127, 128, 255, 256, 300] {
        let data = Dense::from_fn(&[dim], |at| at as u16 + 1);
        for len in LENGTHS {
            for every in [1, 5, 600] {
                let indices = indices::<I>(&[len], dim, every);
                let narrowed = narrow::<I>(&indices);
                let spread = Spread::new(&narrowed);
                for (negative, out, rules) in RULES {
                    let expected = oracle::gather(&data, &indices, 0, 0, rules, &0);
                    for level in levels() {
                        let op = Gather::new(0).negative_index(negative).out_of_bounds(out).level(level);
                        let what = || format!("{op:?} of {dim}, {} x {len}, every {every}", I::TYPE);
                        same(expected.clone(), op.run(&view(&data), &view(&narrowed)), what);
                        same(expected.clone(), op.run(&view(&data), &spread.view()), what);
                    }
                }
            }
        }
    }
}

fn resolve_tuples_every_way<I: Probe>() {
    for components in 1..=5 {
        // The last component varies most slowly in none of them.
        let shape = &[3, 5, 2, 4, 3][..components];
        let data = Dense::from_fn(shape, |at| at as u32 + 1);
        for len in [0, 1, 7, 8, 9, 40, 511, 520] {
            for every in [1, 7, 600] {
                let edges = I::edges(4);
                let indices = Dense::from_fn(&[len, components], |at| {
                    let dim = shape[at % components];
                    if at % every == every - 1 { edges[at / every % edges.len()] } else { (at * 31 % dim) as i128 }
                });
                let narrowed = narrow::<I>(&indices);
                for (negative, out, rules) in RULES {
                    let expected = oracle::gather_nd(&data, &indices, 0, rules, &0);
                    for level in levels() {
                        let op = GatherNd::new().negative_index(negative).out_of_bounds(out).level(level);
                        let what = || format!("{op:?} of {shape:?}, {} x {len}, every {every}", I::TYPE);
                        same(expected.clone(), op.run(&view(&data), &view(&narrowed)), what);
                    }
                }
            }
        }
    }
}

macro_rules! every_index_type {
    ($($name:ident $ty:ident;)*) => {$(
        #[test]
        fn $name() {
            resolve_every_way::<$ty>();
            resolve_tuples_every_way::<$ty>();
        }
    )*};
}
every_index_type! {
    i8_indices_resolve_as_the_oracle_has_it i8;
    i16_indices_resolve_as_the_oracle_has_it i16;
    i32_indices_resolve_as_the_oracle_has_it i32;
    i64_indices_resolve_as_the_oracle_has_it i64;
    u8_indices_resolve_as_the_oracle_has_it u8;
    u16_indices_resolve_as_the_oracle_has_it u16;
    u32_indices_resolve_as_the_oracle_has_it u32;
    u64_indices_resolve_as_the_oracle_has_it u64;
    usize_indices_resolve_as_the_oracle_has_it usize;
}

/// Tables of every length that registers hold, and the first that they do not.
fn tables<T: Element + PartialEq + std::fmt::Debug, I: Probe>(most: usize, element: impl Fn(usize) -> T) {
    for dim in 1..=most + 1 {
        let data = Dense::from_fn(&[dim], &element);
        let op = Gather::new(0).strategy(Strategy::Table).out_of_bounds(OutOfBounds::Zero);
        for len in if dim % 16 < 2 { &LENGTHS[..] } else { &[2, 40, 513] } {
            let indices = indices::<I>(&[*len], dim, 3);
            let got = op.run(&view(&data), &view(&narrow::<I>(&indices)));
            if dim > most && *len > 0 {
                let refused = Error::StrategyUnavailable { op: Op::Gather, strategy: Strategy::Table };
                assert_eq!(got.unwrap_err(), refused);
                continue;
            }
            let expected = oracle::gather(&data, &indices, 0, 0, RULES[1].2, &T::ZERO);
            same(expected, got, || format!("a table of {dim} x {} bytes, {} x {len}", size_of::<T>(), I::TYPE));
        }
    }
}

#[test]
fn tables_in_registers() {
    if !Level::Avx2.is_available() || Level::preferred() != Level::Avx2 {
        return;
    }
    let byte = |at: usize| (at * 37 + 11) as u8;
    tables::<u8, u8>(256, byte);
    tables::<u8, i32>(256, byte);
    tables::<u8, i64>(256, byte);
    tables::<f32, u8>(16, |at| at as f32 + 0.5);
    tables::<f32, i64>(16, |at| at as f32 + 0.5);
    tables::<u64, i32>(8, |at| (at as u64 + 1) * 0x0102_0304_0506_0708);
    tables::<[u16; 4], u16>(8, |at| [at as u16, 1, 2, 0xffff]);
}

#[test]
fn a_table_of_each_row_of_data() {
    // 6 tables of 16; a tuple of components that reach 12 contiguous units.
    let data = Dense::from_fn(&[6, 16], |at| at as u32);
    let indices = Dense::from_fn(&[70], |at| (at % 32) as i128 - 16);
    let op = Gather::new(1);
    let expected = oracle::gather(&data, &indices, 1, 0, RULES[0].2, &0).unwrap();
    let plan = op.plan::<u32, i16>(view(&data).layout(), &Layout::contiguous(&[70]).unwrap()).unwrap();
    let table = Level::preferred() == Level::Avx2;
    assert_eq!(plan.explain().strategy(), if table { Strategy::Table } else { Strategy::Direct });
    assert_eq!(dense(&plan.run(&view(&data), &view(&narrow::<i16>(&indices))).unwrap()), expected);

    let data = Dense::from_fn(&[3, 4], |at| at as u32);
    let indices = Dense::from_fn(&[100, 2], |at| (at * 5 % 3) as i128);
    let expected = oracle::gather_nd(&data, &indices, 0, RULES[0].2, &0).unwrap();
    assert_eq!(dense(&GatherNd::new().run(&view(&data), &view(&narrow::<u8>(&indices))).unwrap()), expected);
}

#[test]
fn panels_of_every_shape() {
    // The last dimension is the longest, for the lanes to run along it. Outer loops that step through data, loops that do not, trimmed indices, panels that end inside the lanes.
    let cases: [(&[usize], &[usize], usize); 8] = [
        (&[3, 5], &[3, 5], 0),
        (&[4, 6, 7], &[4, 6, 7], 1),
        (&[2, 2, 4, 5], &[2, 2, 4, 5], 2),
        (&[2, 3, 4, 9], &[2, 7, 3, 8], 1),
        (&[6, 40], &[9, 33], 0),
        (&[1, 9], &[4, 9], 0),
        (&[700, 300], &[650, 300], 0),
        (&[3, 500, 290], &[3, 20, 290], 1),
    ];
    for (shape, index_shape, axis) in cases {
        for every in [4, 5000] {
            let data = Dense::from_fn(shape, |at| at as u32);
            let indices = indices::<i32>(index_shape, shape[axis], every);
            let narrowed = narrow::<i32>(&indices);
            for (negative, out, rules) in RULES {
                let expected = oracle::gather_elements(&data, &indices, axis, rules, &0);
                for (par, level) in
                    [Par::Seq, Par::Threads(3)].into_iter().flat_map(|par| levels().map(move |l| (par, l)))
                {
                    let op = GatherElements::new(axis as i64).negative_index(negative).out_of_bounds(out);
                    let op = op.strategy(Strategy::Panels).par(par).level(level);
                    let got = op.run(&view(&data), &view(&narrowed));
                    same(expected.clone(), got, || format!("{op:?} {shape:?} {index_shape:?}"));
                }
            }
        }
    }
}

#[test]
fn panels_of_elements_of_every_size() {
    fn check<T: Element + PartialEq + std::fmt::Debug>(element: impl Fn(usize) -> T) {
        let data = Dense::from_fn(&[50, 77], element);
        let indices = indices::<i64>(&[60, 77], 50, 9);
        let expected = oracle::gather_elements(&data, &indices, 0, RULES[1].2, &T::ZERO);
        let op = GatherElements::new(0).strategy(Strategy::Panels).out_of_bounds(OutOfBounds::Zero);
        same(expected, op.run(&view(&data), &view(&narrow::<i64>(&indices))), || format!("{} bytes", size_of::<T>()));
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
fn strategies_refuse_what_they_do_not_take() {
    let data = Dense::from_fn(&[4, 5], |at| at as u16);
    let indices = Dense::from_fn(&[4, 5], |at| (at % 4) as i32);
    let text = |result: Result<Tensor<u16>, Error>| result.unwrap_err().to_string();
    let elements = |axis| GatherElements::new(axis).strategy(Strategy::Panels);
    assert_eq!(
        text(elements(1).run(&view(&data), &view(&indices))),
        "gather_elements: the strategy panels does not take these shapes and types at this level"
    );
    assert_eq!(
        text(Gather::new(0).strategy(Strategy::Panels).run(&view(&data), &view(&indices))),
        "gather: the strategy panels does not take these shapes and types at this level"
    );
    // A strided table is no panel, and its lanes are not contiguous.
    let spread = Spread::new(&data);
    assert!(elements(0).run(&spread.view(), &view(&indices)).is_err());
    assert!(elements(0).run(&view(&data), &view(&indices)).is_ok());
}

#[test]
fn plans_choose_and_name_strategies() {
    let layout = |shape: &[usize]| Layout::contiguous(shape).unwrap();
    let plan = GatherElements::new(0).par(Par::Seq).plan::<f32, i64>(&layout(&[4096, 4096]), &layout(&[4096, 4096]));
    let explain = plan.unwrap().explain().to_string();
    assert!(explain.contains("  data in packed panels of 4096 x 32 lanes\n"), "{explain}");
    let op = Gather::new(0).level(Level::Scalar).par(Par::Seq);
    let plan = op.plan::<f32, i64>(&layout(&[16]), &layout(&[4096])).unwrap();
    assert_eq!(plan.explain().strategy(), Strategy::Direct);
    let names = [Strategy::Direct, Strategy::Table, Strategy::Panels].map(|strategy| strategy.to_string());
    assert_eq!(names, ["direct", "table", "panels"]);
}
