//! Every workload with every peer, for `report`. Ids are `operator/width/index/rank-axis/size/distribution/engine`,
//! followed by `/N` where N threads are more than one; workloads beside the fixed ones of gathers go by their names.
//!
//! Every output is checked against the plain loop before it is timed. Peers that do not run a workload are named with
//! the reason. `GATHER_BENCH_THREADS` is a list of numbers of threads, such as `1,2`; one without it. With more than
//! one, peers that run on one thread whatever they are told are left out.
//!
//! Times are criterion's. What else a report needs, such as the machine, the peers and why some have no time, is
//! written into `peers.json` beside them.

use std::panic::catch_unwind;
use std::time::{Duration, Instant, SystemTime};

use criterion::{Criterion, Throughput};
use gather_benches::limits::Limit;
use gather_benches::machine::{Machine, commit, load, rustc};
use gather_benches::peers::{NotRun, Peer, Ready, peers, with_threads};
use gather_benches::probe::{self, probe};
use gather_benches::report::criterion::{LIMITS, folder, save};
use gather_benches::report::model::{LIMIT, Measured, PeerInfo, Report, Run};
use gather_benches::sections::{self, Held, Section, Work, WorkloadInfo};

fn main() {
    probe::answer();
    let threads = std::env::var("GATHER_BENCH_THREADS").unwrap_or_else(|_| "1".into());
    let number = |text: &str| text.parse().expect("GATHER_BENCH_THREADS are numbers");
    let threads: Vec<usize> = threads.split(',').map(number).collect();
    let (peers, chosen, begin) = (peers(), chosen(), Instant::now());
    let run = Run {
        date: humantime::format_rfc3339_seconds(SystemTime::now()).to_string(),
        commit: commit(),
        rustc: rustc(),
        mode: if has("--quick") { "quick" } else { "full" }.into(),
        threads: threads.clone(),
        ..Run::default()
    };
    let machine = Machine::here().expect("a system that describes itself");
    let workloads = chosen.iter().map(|(_, info)| info.clone()).collect();
    let limit = PeerInfo {
        name: LIMIT.into(),
        version: "-".into(),
        unequal: "no gather: the lines of memory that have to be moved, each once".into(),
        ..PeerInfo::default()
    };
    let infos = peers.iter().map(|peer| info(&**peer)).chain([limit]).collect();
    let mut report = Report { machine, run, peers: infos, workloads, ..Report::default() };
    for (done, (work, info)) in chosen.iter().enumerate() {
        let held = work.hold();
        for &threads in &threads {
            // From inside a pool, like a program of many calls: a call from outside also waits for a thread to wake up.
            let missing = with_threads(threads, || compare(info, &held, &peers, threads));
            report.results.extend(missing);
        }
        report.run.loads.extend(load());
        let left = begin.elapsed() / (done as u32 + 1) * (chosen.len() - done - 1) as u32;
        let left = humantime::format_duration(Duration::from_secs(left.as_secs()));
        eprintln!("[{}/{}] {}: {left} left", done + 1, chosen.len(), info.name);
        report.run.seconds = begin.elapsed().as_secs_f64();
        // After each workload, so that a run that was stopped has a report too.
        if has("--bench") && !has("--test") && !has("--list") {
            save(&report).expect("a folder that can be written");
        }
    }
    criterion().final_summary();
}

fn has(flag: &str) -> bool {
    std::env::args().any(|arg| arg == flag)
}

fn criterion() -> Criterion {
    let criterion = Criterion::default().output_directory(&folder()).configure_from_args();
    if has("--quick") { criterion.without_plots() } else { criterion }
}

/// The workloads that the filter may choose: criterion looks at it when inputs are made and outputs are checked. Where
/// each benchmark runs once only, as a test, those are the fixed ones of gathers.
fn chosen() -> Vec<(Work, WorkloadInfo)> {
    let plain = |word: &String| word.chars().all(|letter| letter.is_alphanumeric() || "_/".contains(letter));
    let filter = std::env::args().skip(1).find(|arg| !arg.starts_with('-')).filter(plain).unwrap_or_default();
    let all = sections::all().into_iter().filter(|(section, _)| has("--bench") || *section == Section::Workloads);
    let all = all.map(|(section, work)| (work, work.info(section)));
    let of_peer = peers().iter().any(|peer| filter.contains(peer.name()));
    all.filter(|(_, info)| of_peer || info.id.contains(&filter)).collect()
}

fn info(peer: &dyn Peer) -> PeerInfo {
    let version = catch_unwind(std::panic::AssertUnwindSafe(|| peer.version())).unwrap_or_else(|_| "unknown".into());
    let unequal = peer.unequal().into();
    PeerInfo { name: peer.name().into(), version, unequal, fresh: peer.fresh(), python: false }
}

/// Times a workload with a number of threads. Returns the peers that do not run it.
fn compare(info: &WorkloadInfo, held: &Held, peers: &[Box<dyn Peer>], threads: usize) -> Vec<Measured> {
    let (mut criterion, mut missing) = (criterion(), Vec::new());
    let mut group = criterion.benchmark_group(&info.id);
    let (warm_up, measurement) = if has("--quick") { (50, 200) } else { (200, 1000) };
    group.warm_up_time(Duration::from_millis(warm_up)).measurement_time(Duration::from_millis(measurement));
    group.sample_size(10);
    group.throughput(Throughput::Bytes(info.output_bytes as u64));
    let id = |name: &str| if threads == 1 { name.to_owned() } else { format!("{name}/{threads}") };
    for peer in peers.iter().filter(|peer| info.section.takes(peer.name(), threads)) {
        match prepare(&**peer, info, held, threads) {
            Ok(mut call) => drop(group.bench_function(id(peer.name()), |bencher| bencher.iter(|| call.run()))),
            Err(why) => {
                eprintln!("{}/{}: {why}", info.id, peer.name());
                missing.push(Measured::new(&info.name, peer.name(), threads, Err(why)));
            }
        }
    }
    if let (Section::Workloads, Held::Gather(case)) = (info.section, held) {
        for (name, mut call) in LIMITS.into_iter().zip(Limit::new(case, threads).calls()) {
            group.bench_function(id(name), |bencher| bencher.iter(&mut call));
        }
    }
    group.finish();
    missing
}

/// The call of a peer, checked. A peer that can end our process is tried in another one first.
fn prepare<'a>(peer: &dyn Peer, info: &WorkloadInfo, held: &'a Held, threads: usize) -> Result<Ready<'a>, NotRun> {
    if peer.native() && peer.missing().is_none() {
        probe(peer, &info.name, threads)?;
    }
    held.prepare(peer, threads)
}
