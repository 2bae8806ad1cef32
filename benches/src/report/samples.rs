//! A made-up report, for tests.

use super::model::{COPY, LOOP, Measured, OURS, PeerInfo, Report, Run};
use super::stats::Summary;
use crate::machine::{Cache, Machine};
use crate::peers::NotRun;
use crate::sections::{Section, WorkloadInfo};

/// What `measure.py --filter lastaxis --seconds 0.05 --json` has written on a machine with NumPy alone.
pub(super) fn engines<T: serde::de::DeserializeOwned>() -> T {
    serde_json::from_str(include_str!("samples/engines.json")).expect("a file of measure.py")
}

/// Two workloads and one of each other section: ours, the copy, the loop, and a peer that is wrong and crashes.
pub(super) fn report() -> Report {
    let peer = |name: &str| PeerInfo {
        name: name.into(),
        version: "1".into(),
        unequal: "nothing".into(),
        ..PeerInfo::default()
    };
    let workload = |name: &str, section, data_bytes| WorkloadInfo {
        name: name.into(),
        id: name.into(),
        section,
        what: "Gather".into(),
        data_bytes,
        output_bytes: 4096,
    };
    let timed = |workload: &str, peer: &str, threads, nanos: f64| {
        Measured::new(workload, peer, threads, Ok(Summary::of(&[nanos, 0.9 * nanos, 1.1 * nanos]).expect("times")))
    };
    let not = |workload: &str, threads, why| Measured::new(workload, "broken", threads, Err(why));
    let wrong = || NotRun::Wrong("byte 3 is 1 instead of 2".into());
    Report {
        machine: Machine {
            cpu: "Test CPU".into(),
            cores: 2,
            caches: vec![Cache { name: "L1".into(), bytes: 32 << 10 }],
            ..Machine::default()
        },
        run: Run { date: "2026-01-01T00:00:00Z".into(), threads: vec![1, 2], loads: vec![1.0], ..Run::default() },
        peers: [OURS, "gather-core-fresh", COPY, LOOP, "broken"].map(peer).to_vec(),
        workloads: vec![
            workload("gather/a", Section::Workloads, 4096),
            workload("gather/b", Section::Workloads, 4096),
            workload("gather/lastaxis_4096x1024_512", Section::Workloads, 4096),
            workload("row_bytes/64", Section::RowBytes, 4096),
        ],
        results: vec![
            timed("gather/a", OURS, 1, 1000.0),
            timed("gather/a", COPY, 1, 500.0),
            timed("gather/a", LOOP, 1, 2000.0),
            not("gather/a", 1, wrong()),
            timed("gather/a", OURS, 2, 500.0),
            not("gather/a", 2, wrong()),
            timed("gather/b", OURS, 1, 400.0),
            timed("gather/b", LOOP, 1, 200.0),
            not("gather/b", 1, NotRun::Failed("signal 11".into())),
            timed("row_bytes/64", OURS, 1, 1000.0),
            timed("row_bytes/64", LOOP, 1, 3000.0),
        ],
        ..Report::default()
    }
}
