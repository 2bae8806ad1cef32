//! What was measured: all that pages and charts are made from. The bench `peers` saves what criterion does not.

use serde::{Deserialize, Serialize};

use super::stats::{Summary, geometric_mean};
use crate::machine::Machine;
use crate::peers::NotRun;
use crate::sections::{Section, WorkloadInfo};

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
/// What memory allows: a reference, too.
pub const LIMIT: &str = "limit";
/// No more bytes of output than these take less time than what surrounds a call.
const FEW_BYTES: usize = 1024;
/// The plain loop.
pub const LOOP: &str = "loop";

/// A run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
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
    /// What other benches have measured.
    #[serde(skip)]
    pub others: Vec<Other>,
    /// What other programs have measured.
    #[serde(skip)]
    pub record: Vec<RecordPage>,
}

/// A page of the record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordPage {
    /// Its file, without the extension.
    pub name: String,
    /// Its title.
    pub title: String,
    /// What comes after the title, as Markdown.
    pub text: String,
}

/// A benchmark that is compared with nothing.
#[derive(Clone, Debug, PartialEq)]
pub struct Other {
    /// Its name.
    pub name: String,
    /// When it was timed, in UTC.
    pub date: String,
    /// Its times in nanoseconds.
    pub summary: Summary,
}

/// When, of what, and how.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
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
    /// How long it took.
    pub seconds: f64,
    /// The system's load average over one minute, after each workload.
    pub loads: Vec<f64>,
    /// Where the times of the engines of Python come from, in words.
    #[serde(skip)]
    pub engines: Vec<String>,
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
    pub fresh: bool,
    /// Whether it was called through Python, and took turns with gather-core called in the same way.
    pub python: bool,
}

impl PeerInfo {
    /// Whether gather-core is compared with it.
    #[must_use]
    pub fn is_rival(&self) -> bool {
        ![COPY, LIMIT].contains(&&*self.name) && !self.name.starts_with(OURS)
    }
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
    /// Its times in nanoseconds, or why it has none.
    pub outcome: Result<Summary, NotRun>,
    /// Seconds of CPUs that a second took, where that was measured.
    pub busy: Option<f64>,
}

/// A call that keeps less than this number of CPUs busy runs on one thread, whatever it was told.
const SEVERAL: f64 = 1.2;

impl Measured {
    /// One peer on one workload.
    #[must_use]
    pub fn new(workload: &str, peer: &str, threads: usize, outcome: Result<Summary, NotRun>) -> Self {
        Measured { workload: workload.into(), peer: peer.into(), threads, outcome, busy: None }
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
    /// Whether it ran on one thread, beside more of gather-core.
    pub alone: bool,
}

impl Report {
    /// The workloads of a section.
    pub fn section(&self, section: Section) -> impl Iterator<Item = &WorkloadInfo> {
        self.workloads.iter().filter(move |workload| workload.section == section)
    }

    /// A peer on a workload.
    #[must_use]
    pub fn measured(&self, workload: &str, peer: &str, threads: usize) -> Option<&Measured> {
        let same = |each: &&Measured| each.workload == workload && each.peer == peer && each.threads == threads;
        self.results.iter().find(same)
    }

    /// The times of a peer on a workload, if it has any.
    #[must_use]
    pub fn summary(&self, workload: &str, peer: &str, threads: usize) -> Option<Summary> {
        self.measured(workload, peer, threads)?.outcome.as_ref().ok().copied()
    }

    /// The median of a peer on a workload in nanoseconds.
    #[must_use]
    pub fn nanos(&self, workload: &str, peer: &str, threads: usize) -> Option<f64> {
        self.summary(workload, peer, threads).map(|summary| summary.median)
    }

    /// A peer on a workload beside one of gather-core's ways to call it. A peer that takes one thread only has only the
    /// time of one.
    #[must_use]
    pub fn beside<'a>(&self, workload: &str, peer: &'a PeerInfo, ours: &str, threads: usize) -> Option<Beside<'a>> {
        let own = if peer.python { &in_python(ours) } else { ours };
        let own = self.nanos(workload, own, threads)?;
        let all = self.measured(workload, &peer.name, threads).filter(|measured| measured.outcome.is_ok());
        let idle = all.and_then(|measured| measured.busy).is_some_and(|busy| threads > 1 && busy < SEVERAL);
        let nanos = self.nanos(workload, &peer.name, if all.is_some() { threads } else { 1 })?;
        Some(Beside { peer: &peer.name, nanos, ratio: nanos / own, alone: idle || all.is_none() })
    }

    /// Peers that gather-core is compared with.
    pub fn rivals(&self) -> impl Iterator<Item = &PeerInfo> {
        self.peers.iter().filter(|peer| peer.is_rival())
    }

    /// Whether something must be set before a peer runs anything, so that it has no other outcome.
    #[must_use]
    pub fn is_absent(&self, peer: &PeerInfo) -> bool {
        let mut outcomes = self.results.iter().filter(|result| result.peer == peer.name).peekable();
        outcomes.peek().is_some() && outcomes.all(|result| matches!(result.outcome, Err(NotRun::NotSet(_))))
    }

    /// Those of them that stand beside gather-core on a workload of a section.
    #[must_use]
    pub fn timed_rivals(&self, section: Section, threads: usize) -> Vec<&PeerInfo> {
        let beside = |peer: &PeerInfo, work: &WorkloadInfo| self.beside(&work.name, peer, OURS, threads).is_some();
        self.rivals().filter(|peer| self.section(section).any(|work| beside(peer, work))).collect()
    }

    /// The fastest of them on a workload, with at most `threads` threads. With gather-core's fresh outputs only those are
    /// compared that make fresh outputs, too.
    #[must_use]
    pub fn best(&self, workload: &str, ours: &str, threads: usize) -> Option<Beside<'_>> {
        let rivals = self.rivals().filter(|peer| peer.fresh || ours != FRESH);
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
        let more = |workload: &&WorkloadInfo| workload.output_bytes > FEW_BYTES;
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
        let timed = report.timed_rivals(Section::Workloads, 1);
        assert_eq!((&*timed[0].name, timed.len()), (LOOP, 1));
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
}
