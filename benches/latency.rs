//! Latency: what a call on a few bytes costs, with a plan, without one, and into fresh memory. The ids are always the
//! same, so caches and branch predictors know them; the bench `short` has ids that differ.

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use gather_core::{BatchToSpace, Gather, GatherElements, Layout, Spec, View, ViewMut};

fn latency(criterion: &mut Criterion) {
    let layout = |shape: &[usize]| Layout::contiguous(shape).expect("a small shape");

    // 8 rows of 64 bytes.
    let table: Vec<f32> = (0..32 * 16).map(|at| at as f32).collect();
    let ids = [3i64, 31, 0, 7, 7, 12, 30, 1];
    let (data, indices) = (View::new(&table, &[32, 16]).expect("fits"), View::new(&ids, &[8]).expect("fits"));
    let op = Gather::new(0);
    let plan = op
        .plan(&Spec::<f32>::from_layout(&layout(&[32, 16])), &Spec::<i64>::from_layout(&layout(&[8])))
        .expect("legal");
    let mut memory = vec![0.0f32; 8 * 16];
    let mut out = ViewMut::new(&mut memory, &[8, 16]).expect("fits");
    plan.run_into(&data, &indices, &mut out).expect("in range");
    let expected: Vec<f32> = ids.iter().flat_map(|&id| table[id as usize * 16..][..16].to_vec()).collect();
    assert_eq!(op.run(&data, &indices).expect("in range").as_slice(), expected);
    let mut group = criterion.benchmark_group("latency/gather_8x64B");
    group.bench_function("planned", |bencher| {
        bencher.iter(|| plan.run_into(black_box(&data), black_box(&indices), &mut out));
    });
    group.bench_function("unplanned", |bencher| {
        bencher.iter(|| op.run_into(black_box(&data), black_box(&indices), &mut out));
    });
    group.bench_function("fresh", |bencher| bencher.iter(|| op.run(black_box(&data), black_box(&indices))));
    group.finish();
    assert_eq!(memory, expected);

    // 64 elements.
    let values: Vec<f32> = (0..64).map(|at| at as f32).collect();
    let picks: Vec<i64> = (0..64).map(|at| at * 5 % 8).collect();
    let (data, indices) = (View::new(&values, &[8, 8]).expect("fits"), View::new(&picks, &[8, 8]).expect("fits"));
    let op = GatherElements::new(1);
    let plan = op
        .plan(&Spec::<f32>::from_layout(&layout(&[8, 8])), &Spec::<i64>::from_layout(&layout(&[8, 8])))
        .expect("legal");
    let mut memory = vec![0.0f32; 64];
    let mut out = ViewMut::new(&mut memory, &[8, 8]).expect("fits");
    let mut group = criterion.benchmark_group("latency/gather_elements_64");
    group.bench_function("planned", |bencher| {
        bencher.iter(|| plan.run_into(black_box(&data), black_box(&indices), &mut out));
    });
    group.bench_function("unplanned", |bencher| {
        bencher.iter(|| op.run_into(black_box(&data), black_box(&indices), &mut out));
    });
    group.bench_function("fresh", |bencher| bencher.iter(|| op.run(black_box(&data), black_box(&indices))));
    group.finish();
    let expected: Vec<f32> = picks.iter().enumerate().map(|(at, &pick)| values[at / 8 * 8 + pick as usize]).collect();
    assert_eq!(memory, expected);

    // 256 elements.
    let values: Vec<f32> = (0..256).map(|at| at as f32).collect();
    let data = View::new(&values, &[4, 8, 8]).expect("fits");
    let op = BatchToSpace::new(&[1, 2, 2], &[0; 3], &[0; 3]);
    let plan = op.plan(&Spec::<f32>::from_layout(&layout(&[4, 8, 8]))).expect("legal");
    let mut memory = vec![0.0f32; 256];
    let mut out = ViewMut::new(&mut memory, &[1, 16, 16]).expect("fits");
    let mut group = criterion.benchmark_group("latency/batch_to_space_256");
    group.bench_function("planned", |bencher| bencher.iter(|| plan.run_into(black_box(&data), &mut out)));
    group.bench_function("unplanned", |bencher| bencher.iter(|| op.run_into(black_box(&data), &mut out)));
    group.bench_function("fresh", |bencher| bencher.iter(|| op.run(black_box(&data))));
    group.finish();
    let expected = |at: usize| values[((at / 16 % 2) * 2 + at % 2) * 64 + at / 32 * 8 + at % 16 / 2];
    assert!(memory.iter().enumerate().all(|(at, &value)| value == expected(at)));
}

criterion_group!(benches, latency);
criterion_main!(benches);
