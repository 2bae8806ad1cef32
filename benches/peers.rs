//! Every workload with every peer. Ids are `operator/width/index/rank-axis/size/distribution/engine`.
//!
//! Every output is checked against the plain loop before it is timed. Peers that do not run a workload are named with
//! the reason. `GATHER_BENCH_THREADS` sets the number of threads, which is one otherwise. With more than one, peers
//! that run on one thread whatever they are told are left out.

use std::time::Duration;

use criterion::{Criterion, Throughput};
use gather_benches::case::Case;
use gather_benches::peers::{NotRun, Peer, Ready, peers, prepare_checked, with_threads};
use gather_benches::probe::{self, probe};
use gather_benches::workloads::WORKLOADS;

fn main() {
    probe::answer();
    let threads = std::env::var("GATHER_BENCH_THREADS");
    let threads = threads.map_or(1, |number| number.parse().expect("GATHER_BENCH_THREADS is a number"));
    // From inside a pool, like a program of many calls: a call from outside also waits for a thread to wake up.
    with_threads(threads, || {
        let mut criterion = Criterion::default().configure_from_args();
        if quick() {
            criterion = criterion.without_plots();
        }
        let (peers, missing): (Vec<_>, Vec<_>) = peers().into_iter().partition(|peer| peer.missing().is_none());
        for peer in missing {
            eprintln!("{}: not run: {}", peer.name(), peer.missing().unwrap_or_default());
        }
        for workload in &WORKLOADS {
            compare(&mut criterion, &Case::new(workload), &peers, threads);
        }
        criterion.final_summary();
    });
}

/// Whether the run is to be short: criterion's own flag saves only part of the time.
fn quick() -> bool {
    std::env::args().any(|arg| arg == "--quick")
}

fn compare(criterion: &mut Criterion, case: &Case, peers: &[Box<dyn Peer>], threads: usize) {
    let id = case.workload.id();
    let mut group = criterion.benchmark_group(&id);
    let (warm_up, measurement) = if quick() { (50, 200) } else { (200, 1000) };
    group.warm_up_time(Duration::from_millis(warm_up)).measurement_time(Duration::from_millis(measurement));
    group.sample_size(10);
    group.throughput(Throughput::Bytes(case.expected.len() as u64));
    for peer in peers {
        match prepare(&**peer, case, threads) {
            Ok(mut call) => drop(group.bench_function(peer.name(), |bencher| bencher.iter(|| call.run()))),
            Err(why) => eprintln!("{id}/{}: {why}", peer.name()),
        }
    }
    group.finish();
}

/// Like [`prepare_checked`]. A peer that can end our process is tried in another one first.
fn prepare<'a>(peer: &dyn Peer, case: &'a Case, threads: usize) -> Result<Ready<'a>, NotRun> {
    if peer.native() {
        probe(peer, &case.workload, threads)?;
    }
    prepare_checked(peer, case, threads)
}
