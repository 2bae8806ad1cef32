//! What a run has measured. It is saved as `measurements.json`, read again by `--read`, and all that pages and charts
//! are made from.

use serde::{Deserialize, Serialize};

use super::machine::Machine;
use super::stats::{Summary, geometric_mean};

/// What is compared with all peers: planned calls into warm memory.
pub const OURS: &str = "gather-core";
/// Unplanned calls into warm memory.
pub const UNPLANNED: &str = "gather-core-unplanned";
/// Unplanned calls into fresh memory.
pub const FRESH: &str = "gather-core-fresh";
/// A copy of the output's bytes: a reference and no peer, since it gathers nothing.
pub const COPY: &str = "copy";
/// The plain loop.
pub const LOOP: &str = "loop";

/// A run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// The machine.
    pub machine: Machine,
    /// The run.
    pub run: Run,
    /// The peers, in the order of columns.
    pub peers: Vec<PeerInfo>,
    /// The workloads, in the order of rows.
    pub workloads: Vec<WorkloadInfo>,
    /// What came out.
    pub results: Vec<Measured>,
}

/// When, of what, and how.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// When it began, in UTC.
    pub date: String,
    /// The commit, with `-dirty` if files differed from it.
    pub commit: String,
    /// The compiler.
    pub rustc: String,
    /// `quick` or `full`.
    pub mode: String,
    /// Numbers of threads.
    pub threads: Vec<usize>,
    /// The text that the names of its workloads contain.
    pub filter: String,
    /// How long it took.
    pub seconds: f64,
    /// The system's load average over one minute, after each workload.
    #[serde(default)]
    pub loads: Vec<f64>,
}

/// A peer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PeerInfo {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
    /// What is not equal about the comparison.
    pub unequal: String,
}

impl PeerInfo {
    /// Whether gather-core is compared with it.
    #[must_use]
    pub fn is_rival(&self) -> bool {
        !is_reference(&self.name) && !self.name.starts_with(OURS)
    }
}

/// Whether an engine is a reference and not a peer: it does less than a gather.
#[must_use]
pub fn is_reference(engine: &str) -> bool {
    engine == COPY
}

/// What a workload is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Section {
    /// The fixed workloads: the tables, and the charts of ratio, throughput and threads.
    Workloads,
    /// Rows of 1 to 4096 bytes.
    RowBytes,
    /// Tables from the first-level cache to memory.
    TableBytes,
    /// Calls on a few bytes.
    Latency,
}

/// What pages and charts need of a workload.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkloadInfo {
    /// `operator/what`.
    pub name: String,
    /// What it is for.
    pub section: Section,
    /// Operator, attributes and shapes in words.
    pub what: String,
    /// Bytes of data.
    pub data_bytes: usize,
    /// Bytes of the output.
    pub output_bytes: usize,
    /// Elements or rows that are gathered: one for each index, or tuple of indices.
    pub lanes: usize,
}

/// One peer on one workload.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Measured {
    /// The workload.
    pub workload: String,
    /// The peer.
    pub peer: String,
    /// The number of threads it was given.
    pub threads: usize,
    /// What came out.
    pub outcome: Outcome,
}

/// What came out of a peer on a workload.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// Its output was right. Nanoseconds a call, one entry a sample, in the order of time.
    Timed(Vec<f64>),
    /// It has no time.
    Not {
        /// In a word.
        status: Status,
        /// Why.
        detail: String,
    },
}

/// Why a peer has no time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// It lacks an operator, an attribute or a type.
    Unsupported,
    /// Something must be set first.
    NotSet,
    /// It gave an error or panicked.
    Failed,
    /// Its output was not the expected one.
    Wrong,
    /// Its process died.
    Crashed,
    /// It gave no answer in time.
    Hung,
}

impl Status {
    /// The status as tables have it.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Status::Unsupported => "unsupported",
            Status::NotSet => "not run",
            Status::Failed => "failed",
            Status::Wrong => "wrong",
            Status::Crashed => "crashed",
            Status::Hung => "hung",
        }
    }
}

/// The fastest peer on a workload.
pub struct Best<'a> {
    /// Its name.
    pub peer: &'a str,
    /// Its median in nanoseconds.
    pub nanos: f64,
}

impl Report {
    /// The workloads of a section.
    pub fn section(&self, section: Section) -> impl Iterator<Item = &WorkloadInfo> {
        self.workloads.iter().filter(move |workload| workload.section == section)
    }

    /// What came out of a peer on a workload.
    #[must_use]
    pub fn outcome(&self, workload: &str, peer: &str, threads: usize) -> Option<&Outcome> {
        let same = |each: &&Measured| each.workload == workload && each.peer == peer && each.threads == threads;
        self.results.iter().find(same).map(|measured| &measured.outcome)
    }

    /// The times of a peer on a workload, if it has any.
    #[must_use]
    pub fn summary(&self, workload: &str, peer: &str, threads: usize) -> Option<Summary> {
        match self.outcome(workload, peer, threads)? {
            Outcome::Timed(nanos) => Summary::of(nanos),
            Outcome::Not { .. } => None,
        }
    }

    /// The median of a peer on a workload in nanoseconds.
    #[must_use]
    pub fn nanos(&self, workload: &str, peer: &str, threads: usize) -> Option<f64> {
        self.summary(workload, peer, threads).map(|summary| summary.median)
    }

    /// The median with at most so many threads. A peer that runs on one thread has only that time.
    #[must_use]
    pub fn nanos_within(&self, workload: &str, peer: &str, threads: usize) -> Option<f64> {
        self.nanos(workload, peer, threads).or_else(|| self.nanos(workload, peer, 1))
    }

    /// Peers that gather-core is compared with.
    pub fn rivals(&self) -> impl Iterator<Item = &PeerInfo> {
        self.peers.iter().filter(|peer| peer.is_rival())
    }

    /// Those of them with a time on one of the fixed workloads, and those without.
    #[must_use]
    pub fn timed_rivals(&self) -> (Vec<&str>, Vec<&str>) {
        let timed =
            |peer: &&str| self.section(Section::Workloads).any(|work| self.nanos(&work.name, peer, 1).is_some());
        self.rivals().map(|peer| &*peer.name).partition(timed)
    }

    /// The fastest of them on a workload, with at most so many threads.
    #[must_use]
    pub fn best(&self, workload: &str, threads: usize) -> Option<Best<'_>> {
        let timed = |peer| Some(Best { peer, nanos: self.nanos_within(workload, peer, threads)? });
        let times = self.rivals().filter_map(|peer| timed(&peer.name));
        times.min_by(|a, b| a.nanos.total_cmp(&b.nanos))
    }

    /// How many times as fast as the best peer one of gather-core's ways to call it is.
    #[must_use]
    pub fn ratio(&self, workload: &str, ours: &str, threads: usize) -> Option<f64> {
        Some(self.best(workload, threads)?.nanos / self.nanos(workload, ours, threads)?)
    }

    /// The geometric mean of the ratios on the fixed workloads.
    #[must_use]
    pub fn mean_ratio(&self, ours: &str, threads: usize) -> Option<f64> {
        let workloads = self.section(Section::Workloads);
        geometric_mean(workloads.filter_map(|workload| self.ratio(&workload.name, ours, threads)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::samples::report;

    #[test]
    fn the_best_peer_is_neither_ours_nor_the_copy_nor_a_wrong_one() {
        let report = report();
        assert_eq!(report.timed_rivals(), (vec![LOOP], vec!["broken"]));
        let best = report.best("gather/a", 1).expect("a peer was timed");
        assert_eq!((best.peer, best.nanos), (LOOP, 2000.0));
        assert_eq!(report.ratio("gather/a", OURS, 1), Some(2.0));
        assert!(report.best("gather/absent", 1).is_none());
    }

    #[test]
    fn peers_of_one_thread_compete_with_that() {
        let report = report();
        assert_eq!(report.nanos("gather/a", LOOP, 2), None);
        assert_eq!(report.best("gather/a", 2).map(|best| best.nanos), Some(2000.0));
        assert_eq!(report.ratio("gather/a", OURS, 2), Some(4.0));
        assert_eq!(report.ratio("gather/b", OURS, 2), None);
    }

    #[test]
    fn the_mean_is_over_workloads_that_have_a_ratio() {
        let report = report();
        assert_eq!(report.ratio("gather/b", OURS, 1), Some(0.5));
        let mean = report.mean_ratio(OURS, 1).expect("two ratios");
        assert!((mean - 1.0).abs() < 1e-12, "{mean}");
    }

    #[test]
    fn what_is_saved_is_read() {
        let json = serde_json::to_string(&report()).expect("plain data");
        assert_eq!(serde_json::from_str::<Report>(&json).expect("its own text"), report());
    }
}
