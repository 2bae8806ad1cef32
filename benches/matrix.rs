//! What one call of Gather costs as one thing changes: the policy, the index type, the bytes of a row, the order of
//! the indices, the size of the table, the strides of the views. Every output is checked against the plain loop
//! first.

use std::hint::black_box;
use std::time::Duration;

use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use gather_benches::naive;
use gather_benches::random::Random;
use gather_core::{Element, Gather, Index, OutOfBounds, Par, Tensor, View};

/// Lanes of a call.
const LANES: usize = 1 << 20;

fn group<'c>(criterion: &'c mut Criterion, name: &str) -> BenchmarkGroup<'c, WallTime> {
    let mut group = criterion.benchmark_group(name);
    group.sample_size(20).warm_up_time(Duration::from_millis(200)).measurement_time(Duration::from_millis(800));
    group
}

/// Runs a planned call into warm memory.
fn run<T: Element, I: Index>(
    group: &mut BenchmarkGroup<'_, WallTime>,
    id: BenchmarkId,
    op: &Gather,
    data: &View<'_, T>,
    indices: &View<'_, I>,
) -> Tensor<T> {
    let plan = (*op).par(Par::Seq).plan(&data, &indices).expect("a legal call");
    let mut out = Tensor::full(plan.output_shape(), T::ZERO).expect("fits");
    group.throughput(Throughput::Bytes(size_of_val(out.as_slice()) as u64));
    group.bench_function(id, |bencher| {
        bencher.iter(|| plan.run_into(black_box(data), black_box(indices), &mut out.view_mut()).expect("no error"));
    });
    plan.run_into(data, indices, &mut out.view_mut()).expect("no error");
    out
}

/// Indices below `dim`. Where `wild`, every hundredth is `dim`, which is out of range.
fn indices(dim: usize, wild: bool) -> Vec<i64> {
    let mut random = Random::new(1);
    (0..LANES).map(|at| if wild && at % 100 == 99 { dim } else { random.below(dim) } as i64).collect()
}

fn policies(criterion: &mut Criterion) {
    let mut group = group(criterion, "policy");
    let dim = 1 << 16;
    let table: Vec<f32> = (0..dim).map(|at| at as f32).collect();
    let data = View::new(&table, &[dim]).expect("fits");
    for (wild, name) in [(false, "in_range"), (true, "1_percent_out")] {
        let values = indices(dim, wild);
        let view = View::new(&values, &[LANES]).expect("fits");
        for &policy in OutOfBounds::ALL {
            if wild && policy == OutOfBounds::Error {
                continue;
            }
            let id = BenchmarkId::new(format!("{policy:?}").to_lowercase(), name);
            let got = run(&mut group, id, &Gather::new(0).out_of_bounds(policy), &data, &view);
            let expected = |&index: &i64| match (index as usize == dim, policy) {
                (false, _) => index as f32,
                (true, OutOfBounds::Clamp) => (dim - 1) as f32,
                (true, _) => 0.0,
            };
            assert!(values.iter().map(expected).eq(got.as_slice().iter().copied()), "{policy:?}");
        }
    }
    group.finish();
}

fn index_types(criterion: &mut Criterion) {
    let mut group = group(criterion, "index_type");
    let table: Vec<f32> = (0..200).map(|at| at as f32).collect();
    let data = View::new(&table, &[200]).expect("fits");
    let wide: Vec<i64> = indices(120, false);
    macro_rules! each {
        ($($ty:ident)*) => {$(
            let values: Vec<$ty> = wide.iter().map(|&index| index as $ty).collect();
            let view = View::new(&values, &[LANES]).expect("fits");
            let id = BenchmarkId::from_parameter(stringify!($ty));
            let got = run(&mut group, id, &Gather::new(0), &data, &view);
            assert!(wide.iter().map(|&index| index as f32).eq(got.as_slice().iter().copied()));
        )*};
    }
    each!(u8 i8 u16 i16 u32 i32 u64 i64);
    group.finish();
}

/// Rows of `BYTES` bytes of a table of 256 KiB, 4 MiB of them.
fn rows_of<const BYTES: usize>(group: &mut BenchmarkGroup<'_, WallTime>) {
    let (dim, count) = ((256 << 10) / BYTES, (4 << 20) / BYTES);
    let mut random = Random::new(2);
    let table: Vec<u8> = (0..dim * BYTES).map(|_| random.below(256) as u8).collect();
    let values: Vec<i32> = (0..count).map(|_| random.below(dim) as i32).collect();
    let data = View::new(&table, &[dim, BYTES]).expect("fits");
    let view = View::new(&values, &[count]).expect("fits");
    let got = run(group, BenchmarkId::from_parameter(BYTES), &Gather::new(0), &data, &view);
    let mut expected = vec![0; got.len()];
    naive::gather(&table, &[dim, BYTES], &values, &[count], 0, 0, &mut expected);
    assert!(got.as_slice() == expected);
}

fn rows(criterion: &mut Criterion) {
    let mut group = group(criterion, "row_bytes");
    macro_rules! each {
        ($($bytes:literal)*) => { $(rows_of::<$bytes>(&mut group);)* };
    }
    each!(1 2 3 4 6 8 12 16 20 24 32 48 64 96 128 256 512 1024 4096);
    group.finish();
}

fn orders(criterion: &mut Criterion) {
    let mut group = group(criterion, "order");
    for (name, dim) in [("4KiB", 1 << 10), ("256KiB", 1 << 16), ("8MiB", 1 << 21), ("64MiB", 1 << 24)] {
        let table: Vec<f32> = (0..dim).map(|at| at as f32).collect();
        let data = View::new(&table, &[dim]).expect("fits");
        let uniform = indices(dim, false);
        let mut sorted = uniform.clone();
        sorted.sort_unstable();
        let constant = vec![7; LANES];
        let ascending: Vec<i64> = (0..LANES).map(|at| (at % dim) as i64).collect();
        let orders = [("uniform", &uniform), ("sorted", &sorted), ("constant", &constant), ("ascending", &ascending)];
        for (order, values) in orders {
            let view = View::new(values, &[LANES]).expect("fits");
            let got = run(&mut group, BenchmarkId::new(order, name), &Gather::new(0), &data, &view);
            assert!(values.iter().map(|&index| index as f32).eq(got.as_slice().iter().copied()), "{order} {name}");
        }
    }
    group.finish();
}

/// A million `f32` out of a square of 4 MiB, through views of the same shape with other strides.
fn strides(criterion: &mut Criterion) {
    let mut group = group(criterion, "strides");
    const SIDE: usize = 1 << 10;
    let values: Vec<f32> = (0..2 * SIDE * SIDE).map(|at| at as f32).collect();
    let side = SIDE as isize;
    let views = [
        ("contiguous", [side, 1], 0),
        ("rows_sliced", [2 * side, 1], 0),
        ("rows_reversed", [-side, 1], SIDE * (SIDE - 1)),
        ("columns_sliced", [2 * side, 2], 0),
        ("columns_reversed", [side, -1], SIDE - 1),
        ("transposed", [1, side], 0),
        ("broadcast", [0, 1], 0),
    ];
    // Twice as many as needed: one view takes every second one.
    let wide: Vec<i64> = indices(SIDE, false)[..2 * SIDE].to_vec();
    for (name, strides, offset) in views {
        let data = View::strided(&values, &[SIDE, SIDE], &strides, offset).expect("inside");
        for (order, step) in [("", 1), ("_indices_sliced", 2)] {
            let indices = View::strided(&wide, &[SIDE], &[step], 0).expect("inside");
            for axis in [0, 1] {
                let id = BenchmarkId::new(format!("{name}{order}"), format!("axis{axis}"));
                let got = run(&mut group, id, &Gather::new(axis), &data, &indices);
                let expected = |at: usize| {
                    let mut place = [at / SIDE, at % SIDE];
                    place[axis as usize] = wide[place[axis as usize] * step as usize] as usize;
                    *data.get(&place).expect("inside")
                };
                assert!(got.as_slice().iter().enumerate().all(|(at, &value)| value == expected(at)), "{name} {axis}");
            }
        }
    }
    group.finish();
}

criterion_group!(benches, policies, index_types, rows, orders, strides);
criterion_main!(benches);
