//! Compares every method on the shapes that it takes, and index resolution at every level, with the oracle.

use gather_core::{
    DynView, Element, Error, Gather, GatherElements, GatherNd, Index, Layout, Level, Method, Op, OutOfBounds, Par,
    Reduction, ScatterElements, ScatterNd, Spec, Tensor, View, ViewMut, maps,
};
use gather_tests::oracle::{self, Dense};

use crate::support::{RULES, Spread, dense, gathers, is_fallback, levels, narrow, same, table_entries, view};

/// Lengths around the vectors of 4, 8 and 32 lanes and the block of 512.
const LENGTHS: [usize; 17] = [0, 1, 3, 4, 7, 8, 9, 16, 31, 32, 33, 65, 127, 511, 512, 513, 1030];

/// Index types, with the values that distinguish them.
pub(crate) trait Probe: Index + TryFrom<i128> {
    /// Values of the type near every edge of an axis, of 32 bits and of the type itself.
    fn edges(dim: i128) -> Vec<i128> {
        let around = [0, dim, -dim, 1 << 7, 1 << 8, 1 << 15, 1 << 16, 1 << 31, 1 << 32, 1 << 63, 1 << 64, -(1 << 31)];
        let near = around.into_iter().flat_map(|edge| (-2..=2).map(move |by| edge + by));
        near.chain([-(1 << 32), -(1 << 63), (1 << 32) + dim]).filter(|&value| Self::try_from(value).is_ok()).collect()
    }
}
impl<I: Index + TryFrom<i128>> Probe for I {}

/// Indices of a shape: in range, except that every `every`-th is an edge value.
pub(crate) fn indices<I: Probe>(shape: &[usize], dim: usize, every: usize) -> Dense<i128> {
    let edges = I::edges(dim as i128);
    let most = I::TYPE.bounds().1.min(dim as i128 - 1) as usize;
    Dense::from_fn(shape, |at| {
        if at % every == every - 1 { edges[at / every % edges.len()] } else { (at * 7919 % (most + 1)) as i128 }
    })
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
                        same(&expected, op.run(&view(&data), &view(&narrowed)), what);
                        same(&expected, op.run(&view(&data), &spread.view()), what);
                    }
                }
            }
        }
    }
}

fn resolve_tuples_every_way<I: Probe>() {
    for components in 1..=5 {
        // The first dimensions of one shape, one for each component.
        let shape = &[3, 5, 2, 4, 3][..components];
        let data = Dense::from_fn(shape, |at| at as u32 + 1);
        for len in [0, 1, 7, 8, 9, 40, 511, 520] {
            for every in [1, 7, 300, 600, 1037] {
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
                        same(&expected, op.run(&view(&data), &view(&narrowed)), what);
                        // Several rounds: in all of them, in some, in the last one or in none an index is out of range.
                        if len > 500 {
                            let op = op.method(Method::Prefetched);
                            same(&expected, op.run(&view(&data), &view(&narrowed)), what);
                        }
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

/// Tables of every length that fits in registers, and the first that does not.
fn tables<T: Element + PartialEq + std::fmt::Debug, I: Probe>(level: Level, element: impl Fn(usize) -> T) {
    let most = table_entries(level, size_of::<T>());
    for dim in 1..=most + 1 {
        let data = Dense::from_fn(&[dim], &element);
        let op = Gather::new(0).level(level).method(Method::Table).out_of_bounds(OutOfBounds::Zero);
        for len in if dim % 16 < 2 { &LENGTHS[..] } else { &[2, 40, 513] } {
            let indices = indices::<I>(&[*len], dim, 3);
            let got = op.run(&view(&data), &view(&narrow::<I>(&indices)));
            // A single row has no neighbour.
            if dim > most || *len < 2 {
                let refused = Error::MethodUnavailable { op: Op::Gather, method: Method::Table };
                assert_eq!(got.unwrap_err(), refused);
                continue;
            }
            let expected = oracle::gather(&data, &indices, 0, 0, RULES[1].2, &T::ZERO);
            same(&expected, got, || format!("a table of {dim} x {} bytes, {} x {len}", size_of::<T>(), I::TYPE));
        }
    }
}

#[test]
fn tables_in_registers() {
    let byte = |at: usize| (at * 37 + 11) as u8;
    for level in levels() {
        tables::<u8, u8>(level, byte);
        tables::<u8, i8>(level, byte);
        tables::<u8, i32>(level, byte);
        tables::<u8, i64>(level, byte);
        tables::<u16, u8>(level, |at| at as u16 * 1021);
        tables::<u16, i64>(level, |at| at as u16 * 1021);
        tables::<f32, u8>(level, |at| at as f32 + 0.5);
        tables::<f32, i64>(level, |at| at as f32 + 0.5);
        tables::<u64, i32>(level, |at| (at as u64 + 1) * 0x0102_0304_0506_0708);
        tables::<[u16; 4], u16>(level, |at| [at as u16, 1, 2, 0xffff]);
    }
}

#[test]
fn tables_under_every_policy() {
    fn check<I: Probe>() {
        for dim in [1, 2, 16, 17, 100, 127, 128, 129, 200, 255, 256] {
            let data = Dense::from_fn(&[dim], |at| (at * 37 + 11) as u8);
            for (every, len) in [(1, 100), (50, 700), (2000, 1200)] {
                let indices = indices::<I>(&[len], dim, every);
                for (negative, out, rules) in RULES {
                    let expected = oracle::gather(&data, &indices, 0, 0, rules, &0);
                    let op = Gather::new(0).negative_index(negative).out_of_bounds(out);
                    let got = op.run(&view(&data), &view(&narrow::<I>(&indices)));
                    same(&expected, got, || format!("{op:?} of {dim}, {} x {len}, every {every}", I::TYPE));
                }
            }
        }
    }
    check::<u8>();
    check::<i8>();
    check::<i32>();
}

#[test]
fn a_table_of_each_row_of_data() {
    // 6 tables of 16, then tuples that reach 12 contiguous elements.
    let data = Dense::from_fn(&[6, 16], |at| at as u32);
    let indices = Dense::from_fn(&[70], |at| (at % 32) as i128 - 16);
    let op = Gather::new(1);
    let expected = oracle::gather(&data, &indices, 1, 0, RULES[0].2, &0).unwrap();
    let plan = op.plan(&Spec::<u32>::from_layout(view(&data).layout()), &Spec::<i16>::new(&[70]).unwrap()).unwrap();
    let table = Level::preferred() != Level::Scalar;
    assert_eq!(plan.explain().method(), if table { Method::Table } else { Method::Blocks });
    assert_eq!(dense(&plan.run(&view(&data), &view(&narrow::<i16>(&indices))).unwrap()), expected);

    let data = Dense::from_fn(&[3, 4], |at| at as u32);
    let indices = Dense::from_fn(&[100, 2], |at| (at * 5 % 3) as i128);
    let expected = oracle::gather_nd(&data, &indices, 0, RULES[0].2, &0).unwrap();
    assert_eq!(dense(&GatherNd::new().run(&view(&data), &view(&narrow::<u8>(&indices))).unwrap()), expected);
}

#[test]
fn methods_refuse_what_they_do_not_take() {
    let data = Dense::from_fn(&[4, 5], |at| at as u16);
    let indices = Dense::from_fn(&[4, 5], |at| (at % 4) as i32);
    let text = |result: Result<Tensor<u16>, Error>| result.unwrap_err().to_string();
    let elements = |axis| GatherElements::new(axis).method(Method::Panels);
    assert_eq!(
        text(elements(1).run(&view(&data), &view(&indices))),
        "gather_elements: the method panels does not take these shapes and types at this level"
    );
    assert_eq!(
        text(Gather::new(0).method(Method::Panels).run(&view(&data), &view(&indices))),
        "gather: the method panels does not take these shapes and types at this level"
    );
    // Data with gaps between its columns has no panels.
    let spread = Spread::new(&data);
    assert!(elements(0).run(&spread.view(), &view(&indices)).is_err());
    assert!(elements(0).run(&view(&data), &view(&indices)).is_ok());
}

#[test]
fn plans_choose_and_name_methods() {
    let layout = |shape: &[usize]| Layout::contiguous(shape).unwrap();
    let plan = GatherElements::new(0)
        .par(Par::Seq)
        .plan(&Spec::<f32>::from_layout(&layout(&[4096, 4096])), &Spec::<i64>::from_layout(&layout(&[4096, 4096])));
    let explain = plan.unwrap().explain().to_string();
    let within = if gathers(Level::preferred()) { "gathered" } else { "blocks" };
    assert!(explain.contains(&format!("  method panels of 4096 x 64, then {within}\n")), "{explain}");
    let op = Gather::new(0).level(Level::Scalar).par(Par::Seq);
    let plan = op.plan(&Spec::<f32>::from_layout(&layout(&[16])), &Spec::<i64>::from_layout(&layout(&[4096]))).unwrap();
    assert_eq!(plan.explain().method(), if is_fallback(Level::Scalar) { Method::Blocks } else { Method::Direct });
    let few = op.plan(&Spec::<f32>::from_layout(&layout(&[16])), &Spec::<i64>::from_layout(&layout(&[8]))).unwrap();
    assert_eq!(few.explain().method(), Method::Direct);
    // Elements with 1 GiB and more between them are not gathered with offsets of 32 bits.
    for stride in [64, 1 << 20, -(1 << 20)] {
        let spread = Layout::strided(&[1 << 10], &[stride]).unwrap();
        let op = Gather::new(0).method(Method::Gathered).par(Par::Seq);
        let plan = op.plan(&Spec::<f32>::from_layout(&spread), &Spec::<i32>::from_layout(&layout(&[100])));
        assert_eq!(plan.is_ok(), stride == 64 && gathers(Level::preferred()), "a stride of {stride}");
    }
    // The methods of a whole scalar level, which chooses them by shapes alone.
    if is_fallback(Level::Scalar) {
        return;
    }
    // Data beyond the caches: rows of up to 256 bytes are prefetched a round ahead, many of them only.
    for (row, ids, method, ahead) in [
        (1, 1000, Method::Prefetched, 128),
        (64, 1000, Method::Prefetched, 32),
        (65, 1000, Method::Blocks, 7),
        (64, 100, Method::Blocks, 8),
    ] {
        let far = op
            .plan(
                &Spec::<f32>::from_layout(&layout(&[(16 << 20) / row, row])),
                &Spec::<i64>::from_layout(&layout(&[ids])),
            )
            .unwrap();
        let explain = far.explain().to_string();
        assert!(explain.contains(&format!("  method {method}, fetched {ahead} ahead\n")), "{explain}");
    }
    // Longer rows are moved chunk by chunk.
    for (row, method) in [(16, Method::Direct), (17, Method::Chunks)] {
        let plan = op
            .plan(&Spec::<f32>::from_layout(&layout(&[50, row])), &Spec::<i64>::from_layout(&layout(&[4096])))
            .unwrap();
        assert_eq!(plan.explain().method(), method, "rows of {row}");
    }
    // Indices that are not contiguous: elements are moved one by one.
    for (row, method) in [(1, Method::Direct), (3, Method::Chunks)] {
        let apart = Layout::strided(&[100], &[2]).unwrap();
        let plan = op.plan(&Spec::<f32>::from_layout(&layout(&[50, row])), &Spec::<i64>::from_layout(&apart)).unwrap();
        assert_eq!(plan.explain().method(), method, "rows of {row}");
    }
    // A short loop over rows stays inside where one pass runs along it, but not where rows are long.
    for (row, inner) in [(64, 2), (65, 1000)] {
        let pairs = Layout::strided(&[1000, 2], &[3, 1]).unwrap();
        let explain = op
            .plan(&Spec::<f32>::from_layout(&layout(&[50, row])), &Spec::<i64>::from_layout(&pairs))
            .unwrap()
            .explain()
            .to_string();
        assert!(explain.contains(&format!("inner loop of {inner}:")), "{explain}");
    }
    // Panels of long rows, or of data beyond the caches. Those of scatters want few rows, too.
    for (rows, columns, gathered, scattered) in [
        (512, 512, false, false),
        (1024, 1024, true, true),
        (4096, 512, true, true),
        (4096, 256, false, false),
        (16384, 64, false, false),
        (32768, 64, false, false),
        (32768, 128, true, false),
        (8192, 1024, true, false),
    ] {
        let shape = [rows, columns];
        let gather = GatherElements::new(0)
            .plan(&Spec::<f32>::from_layout(&layout(&shape)), &Spec::<i64>::from_layout(&layout(&shape)))
            .unwrap();
        assert_eq!(gather.explain().method() == Method::Panels, gathered, "{shape:?}");
        let op = ScatterElements::new(0).reduction(Reduction::Add);
        let scatter = op
            .plan(
                &Spec::<f32>::new(&shape).unwrap(),
                &Spec::<i64>::from_layout(&layout(&shape)),
                &Spec::<f32>::from_layout(&layout(&shape)),
            )
            .unwrap();
        assert_eq!(scatter.explain().method() == Method::Panels, scattered, "{shape:?}");
    }
    // Scatters prefetch as many rows as have some bytes.
    for (row, ahead) in [(16, 128), (256, 8)] {
        let op = ScatterNd::new().reduction(Reduction::Add).method(Method::Prefetched);
        let plan = op
            .plan(
                &Spec::<f32>::new(&[1000, row]).unwrap(),
                &Spec::<i64>::from_layout(&layout(&[10, 1])),
                &Spec::<f32>::from_layout(&layout(&[10, row])),
            )
            .unwrap();
        let explain = plan.explain().to_string();
        assert!(explain.contains(&format!(", fetched {ahead} ahead\n")), "{explain}");
    }
    let names: Vec<String> = Method::ALL.iter().map(|method| method.to_string()).collect();
    let expected = [
        "direct",
        "blocks",
        "chunks",
        "gathered",
        "prefetched",
        "table",
        "panels",
        "strided_copy",
        "streamed",
        "grouped",
        "accumulated",
        "interleaved",
        "deinterleaved",
    ];
    assert_eq!(names, expected);
}

/// What an operator says to a forced method through each of its doors.
macro_rules! says {
    ($op:expr, $data:expr, $indices:expr, $method:expr) => {{
        let (data, indices): (&View<'_, f32>, &View<'_, i32>) = (&$data, &$indices);
        let op = $op.method($method);
        let shape = op.output_shape(data.shape(), indices.shape()).unwrap();
        let mut out = vec![7.0; shape.iter().product()];
        let (erased, list) = (DynView::from(data), DynView::from(indices));
        [
            op.run(data, indices).map(drop),
            op.run_into(data, indices, &mut ViewMut::new(&mut out, &shape).unwrap()),
            op.plan(&data, &indices).map(drop),
            op.run(&erased, &list).map(drop),
            op.run(&data.map(&maps::convert::<_, half::f16>(), ()), indices).map(drop),
        ]
    }};
}

/// The door among them that sees no index.
const PLAN: usize = 2;

/// There is nothing to choose a method for.
#[test]
fn methods_are_refused_where_nothing_is_moved() {
    let none = [0.0f32; 0];
    let ids = [0i32, 3, 1, 2];
    // An empty result, and an axis without elements.
    let (rows, empty) = (View::new(&none, &[4, 0]).unwrap(), View::new(&none, &[0, 4]).unwrap());
    let (list, row) = (View::new(&ids, &[4]).unwrap(), View::new(&ids, &[1, 4]).unwrap());
    let (no_ids, tuples) = (View::new(&ids[..0], &[0, 4]).unwrap(), View::new(&ids, &[4, 1]).unwrap());
    for &method in Method::ALL {
        for &out in OutOfBounds::ALL {
            let check = |op: Op, got: [Result<(), Error>; 5], is_bad: bool| {
                for (door, got) in got.into_iter().enumerate() {
                    if method != Method::Direct {
                        assert_eq!(got, Err(Error::MethodUnavailable { op, method }), "{out:?}");
                    } else if is_bad && door != PLAN {
                        assert!(matches!(got, Err(Error::IndexOutOfRange { .. })), "{op} under {out:?}: {got:?}");
                    } else {
                        assert_eq!(got, Ok(()), "{op} under {out:?}");
                    }
                }
            };
            let bad = out != OutOfBounds::Zero;
            check(Op::Gather, says!(Gather::new(0).out_of_bounds(out), rows, list, method), false);
            check(Op::Gather, says!(Gather::new(0).out_of_bounds(out), empty, list, method), bad);
            check(Op::Gather, says!(Gather::new(0).out_of_bounds(out), empty, no_ids, method), false);
            check(Op::GatherElements, says!(GatherElements::new(0).out_of_bounds(out), empty, row, method), bad);
            check(Op::GatherElements, says!(GatherElements::new(0).out_of_bounds(out), empty, no_ids, method), false);
            check(Op::GatherNd, says!(GatherNd::new().out_of_bounds(out), rows, tuples, method), false);
            check(Op::GatherNd, says!(GatherNd::new().out_of_bounds(out), empty, tuples, method), bad);
        }
    }
}
