//! What a run has measured. It is saved as `measurements.json`, read again by `--read`, and all that pages and charts
//! are made from.

use serde::{Deserialize, Serialize};

use super::machine::Machine;
use super::stats::{Summary, geometric_mean};
use crate::peers::NotRun;

/// What is compared with all peers: planned calls into warm memory.
pub const OURS: &str = "gather-core";
/// Unplanned calls into warm memory.
pub const UNPLANNED: &str = "gather-core-unplanned";
/// Unplanned calls into fresh memory.
pub const FRESH: &str = "gather-core-fresh";
/// One of gather-core's ways to call it, through its module for Python: what engines of Python took turns with.
#[must_use]
pub fn in_python(ours: &str) -> String {
    format!("{ours} (Python)")
}
/// A copy of the output's bytes: a reference and no peer, since it gathers nothing.
pub const COPY: &str = "copy";
/// Fewer bytes of output than these take less time than what surrounds a call.
const FEW_BYTES: usize = 1024;
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
    /// Where the times of the engines of Python come from.
    #[serde(default)]
    pub engines: Vec<EngineRun>,
}

impl Run {
    /// The day on which it began.
    #[must_use]
    pub fn day(&self) -> &str {
        self.date.split('T').next().unwrap_or_default()
    }
}

/// A run of `benches/native/measure.py`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EngineRun {
    /// When it began, in UTC.
    pub date: String,
    /// The processor's name.
    pub cpu: String,
    /// The number of threads of every engine.
    pub threads: usize,
    /// The version of Python.
    pub python: String,
}

/// A peer.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PeerInfo {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
    /// What is not equal about the comparison.
    pub unequal: String,
    /// Whether every call makes a new output.
    #[serde(default)]
    pub fresh: bool,
    /// Whether it was called through Python, and took turns with gather-core called in the same way.
    #[serde(default)]
    pub python: bool,
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
    /// Scatters, operators that rearrange space, and bags: the same tables and charts.
    Inverses,
    /// Rows of 1 to 4096 bytes.
    RowBytes,
    /// Tables from the first-level cache to memory.
    TableBytes,
    /// Calls on a few bytes.
    Latency,
}

impl Section {
    /// Those whose workloads are compared one by one, with what is in them.
    pub const COMPARED: [(Section, &str); 2] =
        [(Section::Workloads, "gathers"), (Section::Inverses, "scatters, rearrangements and bags")];
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
    /// Its output was right, and its samples are not in the file that was read.
    Summed(Summary),
    /// Its output was right. Nanoseconds a call, one entry a sample, in the order of time.
    Timed(Vec<f64>),
    /// It has no time.
    Not(Lost),
}

/// Why a peer has no time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lost {
    /// In a word.
    pub status: Status,
    /// Why.
    pub detail: String,
}

impl From<NotRun> for Lost {
    fn from(reason: NotRun) -> Self {
        let (status, detail) = match reason {
            NotRun::Unsupported(detail) => (Status::Unsupported, detail),
            NotRun::NotSet(detail) => (Status::NotSet, detail),
            NotRun::Failed(detail) => (Status::Failed, detail),
            NotRun::Wrong(detail) => (Status::Wrong, detail),
        };
        Lost { status, detail }
    }
}

/// Why a peer has no time, in a word.
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

/// A peer on a workload, beside gather-core.
pub struct Beside<'a> {
    /// Its name.
    pub peer: &'a str,
    /// Its median in nanoseconds.
    pub nanos: f64,
    /// How many times as fast as it gather-core is, under the same clock.
    pub ratio: f64,
    /// Whether that is its time with one thread, beside more of gather-core.
    pub alone: bool,
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
            Outcome::Summed(summary) => Some(*summary),
            Outcome::Not(_) => None,
        }
    }

    /// The median of a peer on a workload in nanoseconds.
    #[must_use]
    pub fn nanos(&self, workload: &str, peer: &str, threads: usize) -> Option<f64> {
        self.summary(workload, peer, threads).map(|summary| summary.median)
    }

    /// A peer on a workload beside one of gather-core's ways to call it. A peer that runs on one thread has only the
    /// time of one.
    #[must_use]
    pub fn beside<'a>(&self, workload: &str, peer: &'a PeerInfo, ours: &str, threads: usize) -> Option<Beside<'a>> {
        let own = if peer.python { &in_python(ours) } else { ours };
        let (own, all) = (self.nanos(workload, own, threads)?, self.nanos(workload, &peer.name, threads));
        let nanos = all.or_else(|| self.nanos(workload, &peer.name, 1))?;
        Some(Beside { peer: &peer.name, nanos, ratio: nanos / own, alone: all.is_none() })
    }

    /// Peers that gather-core is compared with.
    pub fn rivals(&self) -> impl Iterator<Item = &PeerInfo> {
        self.peers.iter().filter(|peer| peer.is_rival())
    }

    /// Whether something must be set before a peer runs anything, so that it has no other outcome.
    #[must_use]
    pub fn is_absent(&self, peer: &PeerInfo) -> bool {
        let absent = |outcome: &Outcome| matches!(outcome, Outcome::Not(Lost { status: Status::NotSet, .. }));
        let mut outcomes = self.results.iter().filter(|result| result.peer == peer.name).peekable();
        outcomes.peek().is_some() && outcomes.all(|result| absent(&result.outcome))
    }

    /// Those of them that stand beside gather-core on a workload of a section, and those that do not.
    #[must_use]
    pub fn timed_rivals(&self, section: Section, threads: usize) -> (Vec<&PeerInfo>, Vec<&PeerInfo>) {
        let beside = |peer: &PeerInfo, work: &WorkloadInfo| self.beside(&work.name, peer, OURS, threads).is_some();
        self.rivals().partition(|peer| self.section(section).any(|work| beside(peer, work)))
    }

    /// The fastest of them on a workload, with at most `threads` threads. With gather-core's fresh outputs only those are
    /// compared that make fresh outputs, too.
    #[must_use]
    pub fn best(&self, workload: &str, ours: &str, threads: usize) -> Option<Beside<'_>> {
        self.best_of(workload, ours, threads, |_| true)
    }

    /// As [`Report::best`], among some peers.
    pub fn best_of(
        &self,
        workload: &str,
        ours: &str,
        threads: usize,
        among: impl Fn(&PeerInfo) -> bool,
    ) -> Option<Beside<'_>> {
        let rivals = self.rivals().filter(|peer| among(peer) && (peer.fresh || ours != FRESH));
        let beside = rivals.filter_map(|peer| self.beside(workload, peer, ours, threads));
        beside.min_by(|a, b| a.ratio.total_cmp(&b.ratio))
    }

    /// How many times as fast as the best peer one of gather-core's ways to call it is.
    #[must_use]
    pub fn ratio(&self, workload: &str, ours: &str, threads: usize) -> Option<f64> {
        self.best(workload, ours, threads).map(|best| best.ratio)
    }

    /// The workloads of a section that means are of: calls on a few bytes are left out, unless there are no others.
    pub fn averaged(&self, section: Section) -> impl Iterator<Item = &WorkloadInfo> {
        let more = |workload: &&WorkloadInfo| workload.output_bytes >= FEW_BYTES;
        let any = self.section(section).any(|workload| more(&workload));
        self.section(section).filter(move |workload| !any || more(workload))
    }

    /// The geometric mean of the ratios on the workloads of a section.
    #[must_use]
    pub fn mean_ratio(&self, section: Section, ours: &str, threads: usize) -> Option<f64> {
        geometric_mean(self.averaged(section).filter_map(|workload| self.ratio(&workload.name, ours, threads)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::samples::report;

    #[test]
    fn the_best_peer_is_neither_ours_nor_the_copy_nor_a_wrong_one() {
        let report = report();
        let (timed, others) = report.timed_rivals(Section::Workloads, 1);
        assert_eq!((&*timed[0].name, timed.len(), &*others[0].name, others.len()), (LOOP, 1, "broken", 1));
        let best = report.best("gather/a", OURS, 1).expect("a peer was timed");
        assert_eq!((best.peer, best.nanos, best.alone), (LOOP, 2000.0, false));
        assert_eq!(report.ratio("gather/a", OURS, 1), Some(2.0));
        assert!(report.best("gather/absent", OURS, 1).is_none());
    }

    #[test]
    fn peers_of_one_thread_compete_with_that() {
        let report = report();
        assert_eq!(report.nanos("gather/a", LOOP, 2), None);
        assert_eq!(report.best("gather/a", OURS, 2).map(|best| (best.nanos, best.alone)), Some((2000.0, true)));
        assert_eq!(report.ratio("gather/a", OURS, 2), Some(4.0));
        assert_eq!(report.ratio("gather/b", OURS, 2), None);
    }

    #[test]
    fn the_mean_is_over_workloads_that_have_a_ratio() {
        let report = report();
        assert_eq!(report.ratio("gather/b", OURS, 1), Some(0.5));
        let mean = report.mean_ratio(Section::Workloads, OURS, 1).expect("two ratios");
        assert!((mean - 1.0).abs() < 1e-12, "{mean}");
    }

    #[test]
    fn what_is_saved_is_read() {
        let json = serde_json::to_string(&report()).expect("plain data");
        assert_eq!(serde_json::from_str::<Report>(&json).expect("its own text"), report());
    }
}
