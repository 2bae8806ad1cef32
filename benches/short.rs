//! Short calls beside the plain loop, with ids that differ from call to call: `short/CALL/WAY`.
//!
//! Every output is compared with the loop's before it is timed. `cargo run --release -p gather-benches --bin short`
//! prints the same calls as one table, in less time.

use std::time::Duration;

use criterion::{Criterion, criterion_group, criterion_main};
use gather_benches::pin;
use gather_benches::short::{Tables, check, grid, time};

fn short(criterion: &mut Criterion) {
    if let Err(why) = pin::to_one_cpu() {
        eprintln!("short: not pinned to a CPU: {why}");
    }
    let tables = Tables::default();
    for short in grid() {
        let mut call = short.prepare(&tables);
        if let Err(why) = check(&mut *call) {
            panic!("{}: {why}", short.name());
        }
        let mut group = criterion.benchmark_group(format!("short/{}", short.name()));
        group.sample_size(20).warm_up_time(Duration::from_millis(50)).measurement_time(Duration::from_millis(200));
        for &way in call.ways() {
            group.bench_function(way.name(), |bencher| bencher.iter_custom(|calls| time(&mut *call, way, calls)));
        }
        group.finish();
    }
}

criterion_group!(benches, short);
criterion_main!(benches);
