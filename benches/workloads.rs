//! The workloads: planned calls with one thread and two, fresh calls, the plain loop, and a copy of the output's bytes.
//! Every output is checked against the plain loop first.

use std::time::Duration;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use gather_benches::runner::prepare;
use gather_benches::workloads::WORKLOADS;
use gather_core::Par;

fn workloads(criterion: &mut Criterion) {
    for workload in &WORKLOADS {
        let mut group = criterion.benchmark_group(workload.name);
        group.sample_size(20).warm_up_time(Duration::from_millis(200)).measurement_time(Duration::from_secs(1));
        let mut one = prepare(workload, Par::Seq);
        one.check();
        group.throughput(Throughput::Bytes(one.bytes() as u64));
        group.bench_function("gather-core/1", |bencher| bencher.iter(|| one.planned()));
        group.bench_function("gather-core-fresh/1", |bencher| bencher.iter(|| one.fresh()));
        group.bench_function("loop/1", |bencher| bencher.iter(|| one.naive()));
        group.bench_function("copy/1", |bencher| bencher.iter(|| one.copy()));
        drop(one);
        let mut two = prepare(workload, Par::Auto);
        two.check();
        group.bench_function("gather-core/2", |bencher| bencher.iter(|| two.planned()));
        group.finish();
    }
}

criterion_group!(benches, workloads);
criterion_main!(benches);
