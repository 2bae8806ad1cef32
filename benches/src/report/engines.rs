//! What `benches/native/measure.py` has measured: engines of Python, in turn with this library's module for Python.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde::Deserialize;

use super::charts::rows::key;
use super::format;
use super::model::{FRESH, Measured, OURS, PeerInfo, Report, UNPLANNED, in_python};
use super::stats::Summary;
use crate::peers::NotRun;
use crate::sections;

/// What `measure.py --json` writes, as far as it matters here.
#[derive(Deserialize)]
pub(super) struct File {
    date: String,
    threads: usize,
    offset: usize,
    cpu_model: String,
    python: String,
    /// The versions; none of an engine that is not installed.
    engines: BTreeMap<String, Option<String>>,
    ours: Vec<String>,
    fresh: Vec<String>,
    /// Whether times are those of a CPU.
    #[serde(default)]
    cpu_time: bool,
    /// The kind of pages, where one was asked for.
    pages: Option<String>,
    workloads: Vec<Row>,
}

#[derive(Deserialize)]
struct Row {
    workload: Named,
    results: BTreeMap<String, Found>,
}

#[derive(Deserialize)]
struct Named {
    name: String,
}

#[derive(Deserialize)]
struct Found {
    status: String,
    #[serde(default)]
    reason: String,
    cpu_per_wall: Option<f64>,
    #[serde(flatten)]
    times: Option<Times>,
}

#[derive(Deserialize)]
struct Times {
    min_ms: f64,
    p25_ms: f64,
    median_ms: f64,
    p75_ms: f64,
    samples: usize,
}

impl Found {
    fn outcome(self) -> Result<Summary, NotRun> {
        let Found { status, reason, times, .. } = self;
        if let Some(Times { min_ms, p25_ms, median_ms, p75_ms, samples }) = times {
            let [min, q1, median, q3] = [min_ms, p25_ms, median_ms, p75_ms].map(|millis| millis * 1e6);
            return Ok(Summary { n: samples, min, q1, median, q3 });
        }
        Err(match &*status {
            "unsupported" => NotRun::Unsupported(reason),
            "wrong" => NotRun::Wrong(reason),
            status => NotRun::Failed(format!("{status}: {reason}")),
        })
    }
}

/// Adds what a file holds about the workloads of a report. Engines that are not installed are left out.
///
/// # Errors
/// The file cannot be read, its buffers begin elsewhere than a report's, or the report has its figures already.
pub fn add(report: &mut Report, path: &Path) -> Result<(), String> {
    let at = |error: String| format!("{}: {error}", path.display());
    let text = fs::read_to_string(path).map_err(|error| at(error.to_string()))?;
    let file = serde_json::from_str(&text).map_err(|error| at(error.to_string()))?;
    join(report, file).map_err(at)
}

pub(super) fn join(report: &mut Report, file: File) -> Result<(), String> {
    let File { date, threads, offset, cpu_model: cpu, python, engines, ours, fresh, cpu_time, pages, workloads } = file;
    if cpu_time || pages.is_some_and(|pages| pages != "numpy") {
        return Err("its times are of another clock, or on other pages, than those of a report".into());
    }
    if offset != 0 {
        return Err(format!("its buffers begin {offset} bytes after a cache line, those of a report at one"));
    }
    // What this library is called here, in the way that is called so there.
    let renamed = |label: &str| match (ours.iter().any(|each| each == label), fresh.iter().any(|each| each == label)) {
        (true, false) if label.ends_with("(reused)") => in_python(UNPLANNED),
        (true, false) => in_python(OURS),
        (true, true) => in_python(FRESH),
        (false, _) => label.to_owned(),
    };
    let installed = |label: &str| engines.get(label).is_some_and(Option::is_some);
    for Row { workload, results } in workloads {
        if !report.workloads.iter().any(|known| known.name == workload.name) {
            if sections::find(&workload.name).is_none() {
                return Err(format!("no workload {}", workload.name));
            }
            continue;
        }
        for (label, found) in results.into_iter().filter(|(label, _)| installed(label)) {
            let peer = renamed(&label);
            if report.measured(&workload.name, &peer, threads).is_some() {
                return Err(format!("there is a time of {peer} on {} already", workload.name));
            }
            let busy = found.cpu_per_wall;
            report.results.push(Measured { busy, ..Measured::new(&workload.name, &peer, threads, found.outcome()) });
        }
    }
    for (label, version) in engines {
        let (name, Some(version)) = (renamed(&label), version) else { continue };
        if report.peers.iter().any(|peer| peer.name == name) {
            continue;
        }
        // The same engine, called from Rust, has no column where its feature is off.
        let absent: Vec<PeerInfo> = report.peers.iter().filter(|peer| report.is_absent(peer)).cloned().collect();
        report.peers.retain(|peer| key(&peer.name) != key(&name) || !absent.contains(peer));
        let fresh = fresh.contains(&label);
        let output = if fresh { "a fresh output" } else { "an output bound ahead" };
        let unequal = format!("through Python, in turn with {}; {output}", in_python(OURS));
        report.peers.push(PeerInfo { name, version, unequal, fresh, python: true });
    }
    report.results.retain(|result| report.peers.iter().any(|peer| peer.name == result.peer));
    report.run.engines.push(format!("{date}, {}, through Python {python}, on {cpu}", format::threads(threads)));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::samples::{self, engines, report};

    #[test]
    fn engines_become_peers_beside_ours_in_python() {
        let mut report = report();
        join(&mut report, engines()).expect("a file of measure.py");
        let names: Vec<&str> = report.peers.iter().map(|peer| &*peer.name).collect();
        assert_eq!(names[5..], ["NumPy", "gather-core (Python)", "gather-core-fresh (Python)"]);
        assert!(report.peers[5].fresh && report.peers[5].is_rival() && !report.peers[6].is_rival());
        let name = "gather/lastaxis_4096x1024_512";
        let median = |peer: &str| report.nanos(name, peer, 1).expect("a time");
        let best = report.best(name, OURS, 1).expect("NumPy was timed");
        assert_eq!((best.peer, best.nanos), ("NumPy", median("NumPy")));
        assert_eq!(best.ratio, median("NumPy") / median("gather-core (Python)"));
        let fresh = report.ratio(name, FRESH, 1);
        assert_eq!(fresh, Some(median("NumPy") / median("gather-core-fresh (Python)")));
        assert!(report.best(name, OURS, 2).is_none(), "the file is of one thread");
        assert!(report.measured(name, "PyTorch", 1).is_none(), "an engine that is not installed");
        assert!(report.run.engines[0].contains(", 1 thread, through Python 3.11.7, on "));
    }

    #[test]
    fn what_cannot_be_compared_is_refused() {
        let mut report = report();
        join(&mut report, engines()).expect("the first time");
        assert!(join(&mut report, engines()).is_err_and(|why| why.contains("already")));
        let refused = |file: File, why: &str| join(&mut samples::report(), file).is_err_and(|text| text.contains(why));
        assert!(refused(File { offset: 16, ..engines() }, "16 bytes"));
        let mut other: File = engines();
        other.workloads[0].workload.name = "gather/other".into();
        assert!(refused(other, "no workload gather/other"));
    }
}
