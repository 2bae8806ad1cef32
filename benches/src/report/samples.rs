//! A made-up report, for tests.

use super::machine::{Cache, Machine};
use super::model::{COPY, LOOP, Lost, Measured, OURS, Outcome, PeerInfo, Report, Run, Section, Status, WorkloadInfo};

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
    let workload = |name: &str, section, data_bytes, lanes| WorkloadInfo {
        name: name.into(),
        section,
        what: "Gather".into(),
        data_bytes,
        output_bytes: 4096,
        lanes,
    };
    let timed = |workload: &str, peer: &str, threads, nanos: f64| Measured {
        workload: workload.into(),
        peer: peer.into(),
        threads,
        outcome: Outcome::Timed(vec![nanos, 0.9 * nanos, 1.1 * nanos]),
    };
    let not = |workload: &str, threads, status, detail: &str| Measured {
        workload: workload.into(),
        peer: "broken".into(),
        threads,
        outcome: Outcome::Not(Lost { status, detail: detail.into() }),
    };
    let wrong = "byte 3 is 1 instead of 2";
    Report {
        machine: Machine {
            cpu: "Test CPU".into(),
            cores: 2,
            flags: vec!["avx2".into()],
            level: "avx2".into(),
            caches: vec![Cache { name: "L1".into(), bytes: 32 << 10 }],
            memory: 8 << 30,
            os: "Test".into(),
            huge_pages: None,
            load: 0.5,
        },
        run: Run {
            date: "2026-01-01T00:00:00Z".into(),
            commit: "abc".into(),
            rustc: "rustc".into(),
            mode: "quick".into(),
            threads: vec![1, 2],
            filter: String::new(),
            seconds: 1.0,
            loads: vec![1.0],
            engines: Vec::new(),
        },
        peers: [OURS, "gather-core-fresh", COPY, LOOP, "broken"].map(peer).to_vec(),
        workloads: vec![
            workload("gather/a", Section::Workloads, 4096, 64),
            workload("gather/b", Section::Workloads, 4096, 64),
            workload("gather/lastaxis_4096x1024_512", Section::Workloads, 4096, 64),
            workload("row_bytes/1", Section::RowBytes, 4096, 4096),
            workload("row_bytes/64", Section::RowBytes, 4096, 64),
            workload("table_bytes/4096", Section::TableBytes, 4096, 64),
            workload("table_bytes/65536", Section::TableBytes, 65536, 64),
            workload("latency/x", Section::Latency, 64, 8),
        ],
        results: vec![
            timed("gather/a", OURS, 1, 1000.0),
            timed("gather/a", COPY, 1, 500.0),
            timed("gather/a", LOOP, 1, 2000.0),
            not("gather/a", 1, Status::Wrong, wrong),
            timed("gather/a", OURS, 2, 500.0),
            not("gather/a", 2, Status::Wrong, wrong),
            timed("gather/b", OURS, 1, 400.0),
            timed("gather/b", LOOP, 1, 200.0),
            not("gather/b", 1, Status::Crashed, "signal 11"),
            timed("row_bytes/1", OURS, 1, 4000.0),
            timed("row_bytes/64", OURS, 1, 1000.0),
            timed("table_bytes/4096", OURS, 1, 1000.0),
            timed("table_bytes/65536", OURS, 1, 3000.0),
            timed("latency/x", OURS, 1, 45.0),
        ],
    }
}
